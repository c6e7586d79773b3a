"""Training stops near the knee of utility against leak, and seldom where nothing leaks."""

from __future__ import annotations

import pickle
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest

from skeval import Metric, MetricSuite, MetricTags
from skeval.datasets import make_mixed
from skeval.exceptions import InvalidParameterError, MetricWarning, MissingInputError, TableError
from skeval.fidelity import ContingencySimilarity, KSComplement
from skeval.model_selection import TrainingMonitor
from skeval.privacy import DCRShare, ExactMatchShare, HoldoutDistanceRatio
from skeval.reporting import TrainingDisplay
from tests.model_selection.overfitting import Overfitting

TRAIN, HOLDOUT = make_mixed(400, random_state=0), make_mixed(400, random_state=1)
SUITE = MetricSuite(
    [("pairs", ContingencySimilarity()), ("dcr", DCRShare()), ("exact", ExactMatchShare())]
)
CHEAP = MetricSuite([("ks", KSComplement()), ("dcr", DCRShare()), ("exact", ExactMatchShare())])


class Constant(Metric):
    """A utility that costs nothing."""

    tags = MetricTags("fidelity", greater_is_better=True, bounds=(0.0, 1.0))

    def _compute(self, context: Any) -> float:
        return 0.5

    def _in_relation(self, context: Any, result: Any) -> Any:
        return result


TESTS = MetricSuite(
    [("same", Constant()), *CHEAP.metrics[1:], ("ratio", HoldoutDistanceRatio())],
    check_holdout=False,
)


def watched(n_epochs: int = 20, **settings: Any) -> TrainingMonitor:
    generator = Overfitting().fit(TRAIN)
    settings = {"n_looks": 20, "patience": 20, "sample": generator.sample, **settings}
    monitor = TrainingMonitor(SUITE, TRAIN, HOLDOUT, **settings)
    for epoch in range(1, n_epochs + 1):
        generator.set_params(epochs=epoch)
        if monitor.on_epoch_end(epoch):
            break
    return monitor


@cache
def overfitted() -> TrainingMonitor:
    return watched()


# --------------------------------------------------------------------------------------- the knee


@pytest.mark.slow
def test_training_stops_soon_after_copies_come():
    """One row in ten is a copy in epoch 7, and one more in ten with every further one."""
    monitor = overfitted()
    assert monitor.stopped
    assert monitor.reason == "leak found"
    assert 7 <= monitor.history.index[-1] <= 9
    assert monitor.best_epoch in (4, 5, 6)
    assert "leak found" in monitor.sentence
    assert f"Take epoch {monitor.best_epoch}" in repr(monitor)


@pytest.mark.slow
def test_the_best_epoch_is_the_best_of_the_eligible():
    history = overfitted().history
    eligible = history[history["eligible"]]
    assert overfitted().best_epoch == eligible["utility"].idxmax()
    assert overfitted().best_score == eligible["utility"].max()
    assert history["best"].iloc[0]
    assert history.index[history["best"]][-1] == overfitted().best_epoch
    last = history.iloc[-1]
    assert not last["eligible"]
    assert last["alarm"] or last["copies"]


@pytest.mark.slow
def test_two_trainings_have_the_same_bits():
    again = watched()
    mine, other = (one.history.drop(columns="seconds") for one in (overfitted(), again))
    pd.testing.assert_frame_equal(mine, other, check_exact=True)
    assert again.best_epoch == overfitted().best_epoch


def test_looks_change_nothing_of_a_training():
    """What draws from the global generator is seeded for the look, and its state put back."""

    def sample(n):
        rows = make_mixed(n, random_state=5)
        return rows.iloc[np.random.permutation(n)]

    monitor = TrainingMonitor(CHEAP, TRAIN, HOLDOUT, sample=sample)
    np.random.seed(3)
    expected = np.random.random(3)
    np.random.seed(3)
    monitor.on_epoch_end(1)
    assert (np.random.random(3) == expected).all()


@pytest.mark.slow
def test_weights_are_kept_when_an_epoch_is_the_best():
    kept: list[int] = []
    monitor = watched(on_best=kept.append)
    assert kept == list(monitor.history.index[monitor.history["best"]])
    assert kept[-1] == monitor.best_epoch


def test_training_ends_without_gain():
    monitor = watched(patience=2, min_delta=1e9)
    assert monitor.reason == "no gain"
    assert list(monitor.history.index) == [1, 2, 3]
    assert monitor.best_epoch == 1


def test_training_ends_when_the_looks_are_used_up():
    monitor = watched(n_looks=2)
    assert monitor.reason == "looks used up"
    assert len(monitor.history) == len(monitor.results) == 2


def test_every_few_epochs_are_looked_at():
    monitor = watched(n_epochs=6, every=2)
    assert list(monitor.history.index) == [2, 4, 6]
    assert monitor.on_epoch_end(7) == monitor.stopped
    assert list(monitor.history.index) == [2, 4, 6]


def test_a_generator_that_copies_from_the_start_has_no_best_epoch():
    monitor = TrainingMonitor(SUITE, TRAIN, HOLDOUT, sample=lambda n: TRAIN[:n])
    assert monitor.on_epoch_end(1)
    assert monitor.best_epoch is None
    assert np.isnan(monitor.best_score)
    assert "No epoch is eligible" in monitor.sentence
    assert monitor.on_epoch_end(2)
    assert len(monitor.results) == 1  # what is stopped takes no more looks


# ---------------------------------------------------------------------------------------- levels


def test_the_level_is_shared_by_looks_and_copies():
    monitor = TrainingMonitor(CHEAP, TRAIN, HOLDOUT, n_looks=8, level=0.09)
    assert monitor.look_level == pytest.approx(0.01)


def n_stopped(n_trainings: int, n_looks: int, first: int = 0) -> dict[str, int]:
    """Return how many trainings of a generator that leaks nothing are stopped, and would be."""
    counts = {"leak found": 0, "at 5% a look": 0}
    for seed in range(first, first + n_trainings):
        train, holdout = (make_mixed(150, random_state=2 * seed + k) for k in (0, 1))
        monitor = TrainingMonitor(
            TESTS,
            train,
            holdout,
            sample=lambda n, random_state: make_mixed(n, random_state=random_state),
            n_looks=n_looks,
            patience=n_looks,
            random_state=seed,
        )
        for epoch in range(1, n_looks + 1):
            if monitor.on_epoch_end(epoch):
                break
        counts["leak found"] += monitor.reason == "leak found"
        counts["at 5% a look"] += bool((monitor.history["p_value"] <= 0.05).any())
    return counts


@pytest.mark.slow
def test_few_trainings_without_a_leak_are_stopped():
    assert n_stopped(12, 4)["leak found"] <= 2  # 3 of 12 have a chance of 2% at 5%


@pytest.mark.calibration
def test_at_most_five_in_a_hundred_trainings_are_stopped_for_nothing():
    counts = n_stopped(60, 8, first=1000)
    assert counts["leak found"] <= 7  # 8 of 60 have a chance of 1% at 5%
    assert counts["at 5% a look"] >= 2 * counts["leak found"]  # what the division is for


@pytest.mark.slow
def test_a_suite_without_tests_says_so():
    suite = MetricSuite([("ks", KSComplement())])
    monitor = TrainingMonitor(suite, TRAIN, HOLDOUT, sample=lambda n: HOLDOUT[:n])
    with pytest.warns(MetricWarning, match=r"ks alone decides when to stop"):
        monitor.on_epoch_end(1)
    monitor.on_epoch_end(2)  # it is said once
    assert np.isnan(monitor.history["p_value"]).all()
    assert monitor.history["eligible"].all()


# ---------------------------------------------------------------------------------- what is given


def test_utility_is_chosen_by_name_or_kind():
    def chosen(*metrics: Any, **settings: Any) -> str:
        return TrainingMonitor(MetricSuite(list(metrics)), TRAIN, HOLDOUT, **settings).utility

    ks, pairs, dcr = ("ks", KSComplement()), ("pairs", ContingencySimilarity()), ("d", DCRShare())
    assert chosen(dcr, ks, pairs) == "ks"
    assert chosen(ks, pairs, dcr, utility="pairs") == "pairs"
    with pytest.raises(InvalidParameterError, match="got d"):
        chosen(ks, dcr, utility="d")
    with pytest.raises(InvalidParameterError, match="none in the suite"):
        chosen(dcr)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"every": 0}, "every"),
        ({"n_looks": 0}, "n_looks"),
        ({"patience": -1}, "patience"),
        ({"level": 0.01}, "level"),
        ({"n_samples": 0}, "n_samples"),
        ({"min_delta": -1.0}, "min_delta"),
    ],
)
def test_parameters_are_checked(settings, message):
    with pytest.raises(InvalidParameterError, match=message):
        TrainingMonitor(CHEAP, TRAIN, HOLDOUT, **settings)


def test_faults_are_said_in_a_sentence():
    with pytest.raises(MissingInputError, match="holdout"):
        TrainingMonitor(CHEAP, TRAIN, None)
    with pytest.raises(InvalidParameterError, match="MetricSuite, got KSComplement"):
        TrainingMonitor(KSComplement(), TRAIN, HOLDOUT)
    monitor = TrainingMonitor(CHEAP, TRAIN, HOLDOUT)
    with pytest.raises(InvalidParameterError, match="nothing to sample with"):
        monitor.on_epoch_end(1)
    with pytest.raises(InvalidParameterError, match="epoch"):
        monitor.on_epoch_end(0, lambda n: HOLDOUT[:n])
    monitor.on_epoch_end(1, lambda n: HOLDOUT[:n])
    with pytest.raises(InvalidParameterError, match="epochs must grow; epoch 1 came after 1"):
        monitor.on_epoch_end(1, lambda n: HOLDOUT[:n])
    with pytest.raises(TableError):
        monitor.on_epoch_end(2, lambda n: HOLDOUT[["age"]])


def test_the_suite_of_the_caller_stays_as_it_is():
    suite = MetricSuite([("ks", KSComplement()), ("dcr", DCRShare())])
    TrainingMonitor(suite, TRAIN, HOLDOUT)
    assert not hasattr(suite, "context_")


def test_results_hold_no_rows():
    text = "".join(one.to_json() for one in overfitted().results.values())
    assert "400" in text  # sizes are there
    pickled = pickle.dumps(overfitted().results)
    for row in TRAIN.head(20).itertuples(index=False):
        assert repr(float(row.income)) not in text
    assert len(pickled) < 1_000_000


# ----------------------------------------------------------------------------------- the figure


def test_the_figure_marks_the_best_and_the_alarm():
    display = overfitted().plot()
    assert isinstance(display, TrainingDisplay)
    assert len(display.ax_) == 2
    frame = display.frame()
    assert frame["epoch"].tolist() == overfitted().history.index.tolist()
    (label,) = (text.get_text() for text in display.ax_[0].get_legend().get_texts())
    assert label.startswith(f"epoch {overfitted().best_epoch}:")
    assert "Utility over the epochs" in display.said


def test_nothing_is_drawn_before_the_first_look():
    monitor = TrainingMonitor(CHEAP, TRAIN, HOLDOUT)
    assert monitor.history.empty
    assert monitor.sentence == "No look was taken yet."
    assert monitor.plot().ax_[0].texts[0].get_text() == "no look was taken"
