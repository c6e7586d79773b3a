"""Cross-validated evaluation of generators."""

from __future__ import annotations

import mmap
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    KFold,
    LeaveOneGroupOut,
    StratifiedKFold,
)

from skeval import MetricSuite, OverallScore
from skeval.datasets import make_mixed
from skeval.exceptions import InvalidParameterError, SharedRowsWarning
from skeval.fidelity import KSComplement, SimilarityScore
from skeval.generators import Bootstrap, GaussianCopula, GeneratorAdapter
from skeval.model_selection import (
    aspect_intervals,
    aspect_table,
    cross_validate_generator,
    efficiency,
    make_generator_scorer,
    pareto_front,
)
from skeval.privacy import DCRShare, ExactMatchShare
from skeval.stats.folds import fold_mean
from tests.calibrations import Claim, rate_of
from tests.snapshots import raises

TABLE = make_mixed(200)
SUITE = MetricSuite([("ks", KSComplement()), ("share", DCRShare())])


@pytest.mark.slow
def test_each_fold_is_a_fit_of_its_own():
    found = cross_validate_generator(Bootstrap(), TABLE, SUITE, cv=4)
    shown = repr(found)
    assert len(shown.splitlines()) <= len(found.frame()) + 2
    assert all(name in shown for name in found.frame().index)
    assert [result.sizes["holdout"] for result in found.results] == [50] * 4
    assert [result.sizes["train"] for result in found.results] == [150] * 4
    assert found.folds()["fold"].tolist() == [0, 0, 1, 1, 2, 2, 3, 3]
    frame = found.frame()
    values = [result["share"].value for result in found.results]
    assert frame.loc["share", "mean"] == pytest.approx(np.mean(values))
    error = np.sqrt((1 / 4 + 1 / 3) * np.var(values, ddof=1))
    assert frame.loc["share", "standard_error"] == pytest.approx(error)
    assert frame.loc["share", "evidence"] == "screen"
    assert frame.loc["share", "mean"] > 0.9  # copies are closer to train in every fold


@pytest.mark.slow
def test_seeds_processes_and_metrics():
    first, again, other = (
        cross_validate_generator(
            GaussianCopula(), TABLE, KSComplement(), cv=2, random_state=seed, n_jobs=n_jobs
        ).frame(efficiency=False)
        for seed, n_jobs in ((1, 1), (1, 2), (2, 1))
    )
    assert first.equals(again)
    assert not first.equals(other)
    assert first.index.tolist() == ["KSComplement"]


class Clock:
    """Stands until somebody moves it."""

    now = 0.0

    def __call__(self):
        return self.now


CLOCK = Clock()


@pytest.fixture
def clock(monkeypatch):
    monkeypatch.setattr(efficiency, "perf_counter", CLOCK)


class Costly(Bootstrap):
    """Takes time and memory in both steps, and keeps neither."""

    def fit(self, table):
        # pages of the system itself: an array may be given memory that earlier tests left, without growth
        with mmap.mmap(-1, 120 * 2**20) as held:
            held.write(bytes(120 * 2**20))
            time.sleep(0.1)  # who looks every 5 ms has to come to it on a busy machine
        CLOCK.now += 0.5
        return super().fit(table)

    def sample(self, n, random_state=None):
        CLOCK.now += 0.25
        return super().sample(n, random_state)


@pytest.mark.slow
@pytest.mark.usefixtures("clock")
def test_efficiency_of_fit_and_sample():
    costly, cheap = (
        cross_validate_generator(generator, TABLE, SUITE, cv=2)
        for generator in (Costly(), Bootstrap())
    )
    assert costly.efficiency()["fit_seconds"].tolist() == [0.5, 0.5]
    assert costly.efficiency()["sample_seconds"].tolist() == [0.25, 0.25]
    assert (costly.efficiency()["peak_mib"] > 100).any()
    assert (cheap.efficiency()["peak_mib"] < 50).all()
    frame = costly.frame()
    assert frame.index.tolist() == ["ks", "share", "fit_seconds", "sample_seconds", "peak_mib"]
    assert frame.loc["fit_seconds", "mean"] == pytest.approx(costly.efficiency().mean().iloc[0])
    assert (cheap.frame(confidence=0.999).loc["fit_seconds":, "low"] >= 0.0).all()
    assert frame["direction"].iloc[-3:].eq("lower is better").all()
    assert costly.frame(efficiency=False).index.tolist() == ["ks", "share"]


@pytest.mark.slow
@pytest.mark.usefixtures("clock")
def test_efficiency_is_a_direction_of_the_front():
    candidates = {
        name: cross_validate_generator(generator, TABLE, SUITE, cv=2)
        for name, generator in {"costly": Costly(), "cheap": Bootstrap()}.items()
    }
    table = aspect_table(candidates)
    by_fold = [OverallScore().score(one)["fidelity"] for one in candidates["cheap"].results]
    assert table.loc["cheap", "fidelity"] == pytest.approx(np.mean(by_fold))
    assert table.loc["costly", "neg_fit_seconds"] == -0.5
    assert pareto_front(table, ["fidelity", "privacy"]).tolist() == [True, True]
    alike = ["fidelity", "privacy", "neg_fit_seconds", "neg_sample_seconds"]
    assert pareto_front(table, alike).to_dict() == {"costly": False, "cheap": True}
    low, high = aspect_intervals(candidates)
    assert (low["fidelity"] <= table["fidelity"]).all()
    assert (table["fidelity"] <= high["fidelity"]).all()
    assert high.columns.tolist() == table.columns.tolist()


def test_groups_stay_together():
    twins = make_mixed(100)
    table = twins.loc[np.repeat(np.arange(100), 2)].reset_index(drop=True)
    groups = np.repeat(np.arange(100), 2)
    found = cross_validate_generator(
        GeneratorAdapter(Bootstrap()), table, ExactMatchShare(), cv=GroupKFold(2), groups=groups
    )
    assert [result["ExactMatchShare"].baseline for result in found.results] == [0.0, 0.0]


class Recorder(BaseEstimator):
    """Records its seeds. The samples of a fold depend on them."""

    seeds: list[tuple[str, int]] = []

    def __init__(self, random_state=5):
        self.random_state = random_state

    def fit(self, table):
        self.seeds.append(("fit", self.random_state))
        self.made_ = Bootstrap(self.random_state).fit(table)
        return self

    def sample(self, n, random_state=None):
        self.seeds.append(("sample", random_state))
        return self.made_.sample(n, random_state)


def seeds_of(generator, random_state=0):
    Recorder.seeds.clear()
    cross_validate_generator(
        generator, TABLE, KSComplement(), cv=3, n_samples=20, random_state=random_state
    )
    return list(Recorder.seeds)


@pytest.mark.slow
@pytest.mark.parametrize(
    "generator",
    [Recorder(), Recorder, Recorder(random_state=None), GeneratorAdapter(Recorder())],
    ids=["object", "class", "without a seed", "adapter"],
)
def test_each_fit_and_each_sample_has_a_seed_of_its_own(generator):
    found = seeds_of(generator)
    assert [kind for kind, _ in found] == ["fit", "sample"] * 3
    assert len({seed for _, seed in found}) == 6
    assert seeds_of(generator) == found
    assert not set(found) & set(seeds_of(generator, random_state=1))


def test_zero_processes_are_refused():
    with raises(InvalidParameterError):
        cross_validate_generator(Recorder(), TABLE, KSComplement(), n_jobs=0)


@pytest.mark.slow
def test_seeds_reach_generators_that_take_none():
    """They draw from NumPy's global generator, in a fit too."""
    drawn = []

    def fit(table):
        drawn.append(np.random.random())
        return table

    def sample(table, n):
        drawn.append(np.random.random())
        return table.sample(n, replace=True)

    for _ in range(2):
        cross_validate_generator((fit, sample), TABLE, KSComplement(), cv=2)
    assert len(set(drawn)) == 4
    assert drawn[:4] == drawn[4:]


class Seen(KSComplement):
    """Keeps the holdouts."""

    holdouts: list[pd.DataFrame] = []

    def fit(self, train, holdout=None, **options):
        self.holdouts.append(holdout)
        return super().fit(train, holdout, **options)


def holdouts_of(table, **options):
    Seen.holdouts.clear()
    cross_validate_generator(Bootstrap(), table, Seen(), n_samples=20, **options)
    return list(Seen.holdouts)


@pytest.mark.slow
def test_folds_in_strata():
    table = pd.DataFrame({"x": np.arange(60.0), "y": (["a"] * 6 + ["b"] * 3 + [None]) * 6})
    by_column = holdouts_of(table, cv=6, stratify="y")
    by_labels = holdouts_of(table, cv=6, stratify=table["y"].tolist())
    by_splitter = holdouts_of(table, cv=StratifiedKFold(6), stratify="y")
    for holdouts in (by_column, by_labels, by_splitter):
        counts = [fold["y"].value_counts(dropna=False).to_list() for fold in holdouts]
        assert counts == [[6, 3, 1]] * 6
    for one, other in zip(by_column, by_labels, strict=True):
        pd.testing.assert_frame_equal(one, other)


@pytest.mark.slow
def test_folds_of_groups():
    person = np.repeat(np.arange(20), 3)
    table = pd.DataFrame({"x": np.arange(60.0), "person": person, "y": person % 2})
    for options in (
        {"cv": 4, "groups": "person"},
        {"cv": 4, "groups": person, "stratify": "y"},
        {"cv": GroupKFold(4), "groups": "person"},
        {"cv": LeaveOneGroupOut(), "groups": person % 4},
    ):
        found = holdouts_of(table, **options)
        assert [len(fold) for fold in found] == [15] * 4
        assert all(fold["person"].value_counts().eq(3).all() for fold in found)
    both = holdouts_of(table, cv=5, groups="person", stratify="y")
    assert [fold["y"].sum() for fold in both] == [6] * 5
    others = holdouts_of(table, cv=4, groups="person", random_state=1)
    assert [set(f["person"]) for f in others] != [
        set(f["person"]) for f in holdouts_of(table, cv=4, groups="person")
    ]


@pytest.mark.filterwarnings("ignore:.*holdout rows also occur in the training data")
def test_folds_of_equal_rows_are_no_training_rows():
    table = pd.DataFrame({"a": [0, 1] * 20, "b": ["x", "y"] * 20})
    found = cross_validate_generator(Bootstrap(), table, ExactMatchShare(), cv=KFold(2))
    assert [result["ExactMatchShare"].value for result in found.results] == [1.0, 1.0]


def test_generators_see_the_labels_of_the_table():
    labels = []

    def fit(table):
        labels.append(list(table.columns))
        return table

    def sample(table, n):
        return table.sample(n, replace=True)

    table = pd.DataFrame({0: np.arange(20.0), 1: [0, 1] * 10})
    found = cross_validate_generator((fit, sample), table, KSComplement(), cv=2, stratify="1")
    assert labels == [[0, 1], [0, 1]]
    assert found.frame(efficiency=False)["n_folds"].tolist() == [2]


@pytest.mark.slow
def test_numbers_of_numpy_are_numbers_of_folds():
    plain, numpy_s = (holdouts_of(TABLE, cv=cv) for cv in (3, np.int64(3)))
    for one, other in zip(plain, numpy_s, strict=True):
        pd.testing.assert_frame_equal(one, other)


EVERY = np.arange(len(TABLE))


@pytest.mark.parametrize(
    "options",
    [
        {"cv": [(EVERY, EVERY)]},
        {"cv": [(EVERY[:150], EVERY[149:])]},
        {"cv": [(EVERY[:150], EVERY[:0])]},
        {"cv": []},
        {"cv": 1},
        {"cv": 201},
        {"cv": True},
        {"cv": "five"},
        {"cv": None},
        {"cv": StratifiedKFold(2)},
        {"cv": GroupKFold(2)},
        {"cv": 2, "stratify": EVERY},
        {"cv": 3, "groups": EVERY % 2},
        {"groups": "person"},
        {"stratify": [1, 2]},
        {"stratify": [[1]] * len(TABLE)},
        {"n_samples": 0},
        {"random_state": -1},
        {"random_state": None},
    ],
)
def test_refusals_of_folds(options):
    with raises(InvalidParameterError):
        cross_validate_generator(Bootstrap(), TABLE, KSComplement(), **options)


def test_refusals():
    with raises(InvalidParameterError):
        cross_validate_generator(Bootstrap(), TABLE, "ks")


def test_fold_means_by_hand():
    folds = fold_mean(np.array([1.0, 2.0, 3.0, np.nan]), 0.5)
    assert (folds["mean"], folds["n_folds"]) == (2.0, 3)
    assert folds["standard_error"] == pytest.approx(np.sqrt(1 / 3 + 0.5))
    assert folds["high"] - folds["mean"] == pytest.approx(4.302653 * folds["standard_error"])
    assert np.isnan(fold_mean(np.array([1.0]), 0.5)["low"])
    assert np.isnan(fold_mean(np.array([np.nan]), 0.5)["mean"])
    clipped = fold_mean(np.array([1.0, 2.0, 3.0]), 0.5, bounds=(0.5, np.inf))
    assert (clipped["low"], clipped["high"]) == (0.5, folds["high"])


@pytest.mark.slow
def test_intervals_of_folds_end_where_the_scale_does():
    suite = MetricSuite([("ks", KSComplement()), ("score", SimilarityScore())])
    frame = cross_validate_generator(GaussianCopula(), TABLE, suite, cv=2).frame(efficiency=False)
    reach = 12.7 * frame["standard_error"]  # Student's quantile of one degree of freedom
    assert (frame["mean"] + reach > [1.0, 100.0]).any()  # or nothing is shown
    assert (frame["high"] <= [1.0, 100.0]).all()
    assert (frame["low"] >= 0.0).all()


@pytest.mark.calibration
@pytest.mark.filterwarnings("ignore:.*holdout rows also occur in the training data")
def test_interval_of_folds_covers_what_the_generator_scores():
    """KS of a bootstrap of n rows against them: truth by fresh draws at the size of a fold."""
    from skeval.datasets import make_census

    columns = ["age", "school_years", "hours_per_week"]
    truth = np.mean(
        [
            KSComplement()
            .fit(train := make_census(160, random_state=9000 + i)[columns])
            .score(Bootstrap().fit(train).sample(160, random_state=i))
            for i in range(300)
        ]
    )

    def covers(seed):
        table = make_census(200, random_state=seed)[columns]
        found = cross_validate_generator(Bootstrap(), table, KSComplement(), random_state=seed)
        row = found.frame().iloc[0]
        return row["low"] <= truth <= row["high"]

    # the correction is on the safe side where folds share little
    found = rate_of(map(covers, range(200)), Claim(0.95, low=0.92))
    assert found.holds, found


@pytest.mark.calibration
def test_interval_of_folds_counts_the_chance_of_samples():
    """Small samples of a copula. With one seed, only 12% of intervals would contain the mean."""
    frames = []
    for seed in range(120):
        rows = np.random.default_rng(seed).normal(size=(1_000, 2))
        found = cross_validate_generator(
            GaussianCopula(),
            pd.DataFrame(rows, columns=["a", "b"]),
            KSComplement(),
            n_samples=200,
            random_state=seed,
        )
        frames.append(found.frame(efficiency=False))
    means = pd.concat(frames)
    truth = means["mean"].mean()
    assert ((means["low"] <= truth) & (truth <= means["high"])).mean() >= 0.93
    assert means["standard_error"].mean() >= means["mean"].std()  # on the safe side,
    assert means["standard_error"].mean() <= 2 * means["mean"].std()  # and not by far


@pytest.mark.slow
def test_no_rows_lie_in_files_while_processes_work(tmp_path, monkeypatch):
    # within the test, since the workers cannot import it
    class Watcher(BaseEstimator):
        """Copies rows, and ends where rows lie in the folder that joblib uses for them."""

        def __init__(self, folder="", random_state=0):
            self.folder = folder
            self.random_state = random_state

        def fit(self, train):
            if files := [path for path in Path(self.folder).rglob("*") if path.is_file()]:
                raise AssertionError(f"{len(files)} files with rows")
            self.rows_ = train.head(50)
            return self

        def sample(self, n_rows):
            return self.rows_.sample(n_rows, replace=True, random_state=self.random_state)

    monkeypatch.setenv("JOBLIB_TEMP_FOLDER", str(tmp_path))
    large = pd.DataFrame(np.random.default_rng(0).normal(size=(40_000, 10)))
    found = cross_validate_generator(
        Watcher(str(tmp_path)), large, KSComplement(), cv=2, n_samples=50, n_jobs=2
    )
    assert len(found.results) == 2


REPEATED = pd.DataFrame({"a": np.arange(60) % 12, "b": [*"xyz"] * 20})


@pytest.mark.parametrize("evaluator", [KSComplement(), MetricSuite([("ks", KSComplement())])])
def test_rows_that_folds_share_are_warned_of_once(evaluator):
    with pytest.warns(SharedRowsWarning) as told:
        cross_validate_generator(Bootstrap(), REPEATED, evaluator, cv=3, n_jobs=1)
    assert len([one for one in told if issubclass(one.category, SharedRowsWarning)]) == 1


def test_rows_that_splits_of_a_search_share_are_warned_of_once():
    search = GridSearchCV(
        GeneratorAdapter(Bootstrap()),
        {"random_state": [0, 1]},
        scoring=make_generator_scorer(KSComplement()),
        cv=3,
    )
    with pytest.warns(SharedRowsWarning) as told:
        search.fit(REPEATED)
    assert len([one for one in told if issubclass(one.category, SharedRowsWarning)]) == 1
