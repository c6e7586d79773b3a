"""Scorers of generators in the searches of scikit-learn."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import BaseEstimator
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.model_selection import GridSearchCV, HalvingGridSearchCV, cross_validate
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer

from skeval import MetricSuite
from skeval.datasets import make_mixed
from skeval.exceptions import InvalidParameterError, MetricWarning, NotRememberedError, TableError
from skeval.fidelity import (
    KSComplement,
    NearestNeighborAdversarialAccuracy,
    TVComplement,
    WassersteinDistance,
)
from skeval.generators import (
    Bootstrap,
    GeneratorAdapter,
    IndependentMarginals,
    RandomForestImputation,
)
from skeval.model_selection import make_generator_scorer
from skeval.privacy import NNDR, DCRShare, ExactMatchShare
from skeval.text import VocabularySimilarity
from tests.snapshots import raises, warns

TABLE = make_mixed(240, random_state=1)
SUITE = MetricSuite(
    [("ks", KSComplement()), ("matches", ExactMatchShare()), ("distance", WassersteinDistance())]
)


class CountingBootstrap(Bootstrap):
    """Counts its samples."""

    samples = 0

    def sample(self, n, random_state=None):
        type(self).samples += 1
        return super().sample(n, random_state)


def test_a_metric_scores_the_test_fold_as_holdout():
    adapter = GeneratorAdapter(Bootstrap()).fit(TABLE[:160])
    scorer = make_generator_scorer(WassersteinDistance(), random_state=5)
    synthetic = adapter.sample(160, random_state=scorer.seed_of_sample(TABLE[160:]))
    metric = WassersteinDistance().fit(TABLE[:160], TABLE[160:])
    assert scorer(adapter, TABLE[160:]) == -metric.score(synthetic)  # lower is better
    fewer = make_generator_scorer(ExactMatchShare(), n_samples=10)
    assert len(fewer.evaluate(adapter, TABLE[160:]).details) > 0


def test_training_rows_are_not_measured_against_themselves():
    adapter = GeneratorAdapter(Bootstrap()).fit(TABLE)
    for rows in (TABLE, TABLE.sample(frac=1.0, random_state=0)):
        assert np.isnan(make_generator_scorer(ExactMatchShare())(adapter, rows))
        scores = make_generator_scorer(SUITE)(adapter, rows)
        assert list(scores) == ["ks", "matches", "distance", "no_alarm"]
        assert np.isnan(list(scores.values())).all()


def test_training_rows_of_arrow_are_known():
    table = pa.Table.from_pandas(TABLE)
    scores = make_generator_scorer(SUITE)(GeneratorAdapter(Bootstrap()).fit(table), table)
    assert np.isnan(list(scores.values())).all()


@pytest.mark.slow
@pytest.mark.parametrize("table", [TABLE, pl.from_pandas(TABLE)])
def test_cross_validate_with_training_scores(table):
    found = cross_validate(
        GeneratorAdapter(Bootstrap()),
        table,
        scoring=make_generator_scorer(SUITE),
        cv=3,
        return_train_score=True,
    )
    assert np.isnan(found["train_matches"]).all()
    assert found["test_matches"] == pytest.approx([-1.0] * 3)
    assert (found["test_ks"] > 0.8).all()


def test_rows_with_lists_are_told_apart():
    """The scorer accepts such rows, so metrics that accept them have scores."""
    table = pd.DataFrame({"x": np.arange(40.0), "cell": [[i % 3] for i in range(40)]})
    scorer = make_generator_scorer(KSComplement())
    adapter = GeneratorAdapter((lambda t: t, lambda t, n: t.sample(n, replace=True))).fit(
        table[:20]
    )
    assert np.isnan(scorer(adapter, table[:20][::-1]))
    with raises(TableError):
        scorer(adapter, table[20:])
    assert scorer.seed_of_sample(table[:20]) == scorer.seed_of_sample(table[:20][::-1])
    assert scorer.seed_of_sample(table[:20]) != scorer.seed_of_sample(table[20:])


class SeededBootstrap(Bootstrap):
    """Notes the seeds of its samples."""

    seeds: list[int] = []

    def sample(self, n, random_state=None):
        self.seeds.append(random_state)
        return super().sample(n, random_state)


@pytest.mark.slow
def test_candidates_share_the_seed_of_a_split_and_splits_do_not():
    def seeds(random_state, rows):
        SeededBootstrap.seeds.clear()
        GridSearchCV(
            GeneratorAdapter(SeededBootstrap()),
            {"random_state": [0, 1]},
            scoring=make_generator_scorer(KSComplement(), random_state=random_state),
            cv=3,
            refit=False,
        ).fit(rows)
        return list(SeededBootstrap.seeds)

    found = seeds(0, TABLE)
    assert found[:3] == found[3:]
    assert len(set(found)) == 3
    assert not set(found) & set(seeds(1, TABLE))
    within = np.concatenate([np.arange(80)[::-1] + i for i in (0, 80, 160)])
    assert seeds(0, TABLE.iloc[within]) == found  # the order of a fold's rows is nothing


class Failing(Bootstrap):
    """A generator that raises an error with a cell in it, or omits a column."""

    def __init__(self, random_state=None, fault=""):
        super().__init__(random_state)
        self.fault = fault

    def sample(self, n, random_state=None):
        rows = super().sample(n, random_state)
        if self.fault == "error":
            raise RuntimeError(f"cannot draw {rows.iloc[0].to_dict()}")
        return rows.drop(columns="age") if self.fault == "column" else rows


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:One or more of the test scores are non-finite")
@pytest.mark.parametrize("fault", ["error", "column"])
def test_a_candidate_that_cannot_be_sampled_costs_no_search(fault):
    for faults, best in (([fault, ""], 1), (["", fault], 0)):
        search = GridSearchCV(
            GeneratorAdapter(Failing()),
            {"generator__fault": faults},
            scoring=make_generator_scorer(SUITE),
            refit="ks",
            cv=2,
        )
        with warns(MetricWarning):
            search.fit(TABLE)
        assert search.best_index_ == best
        for name in ("ks", "matches", "distance"):
            scores = search.cv_results_[f"mean_test_{name}"]
            assert np.isnan(scores[1 - best])
            assert np.isfinite(scores[best])
    adapter = GeneratorAdapter(Failing(fault=fault)).fit(TABLE[:160])
    with pytest.raises((RuntimeError, TableError)):
        make_generator_scorer(SUITE).evaluate(adapter, TABLE[160:])


@pytest.mark.slow
def test_scores_of_texts_are_for_tables_with_texts():
    suite = MetricSuite(
        [("ks", KSComplement()), ("words", VocabularySimilarity())], optional=("text",)
    )
    noted = TABLE.assign(note=[f"a note of some words, number {i}" for i in range(len(TABLE))])
    for table, names in ((TABLE, {"ks"}), (noted, {"ks", "words"})):
        adapter = GeneratorAdapter(Bootstrap()).fit(table[:160])
        scorer = make_generator_scorer(suite)
        assert set(scorer(adapter, table[160:])) == set(scorer(adapter, table[:160])) == names


def test_faults_of_the_suite_are_raised():
    suite = MetricSuite([("ks", KSComplement(columns=["nowhere"]))])
    adapter = GeneratorAdapter(Bootstrap()).fit(TABLE[:160])
    with raises(InvalidParameterError):
        make_generator_scorer(suite)(adapter, TABLE[160:])


def test_directions_of_scores():
    signs = {"ks": 1, "matches": -1, "distance": -1, "no_alarm": 1}
    assert make_generator_scorer(SUITE).directions() == signs
    assert make_generator_scorer(ExactMatchShare()).directions() == {"score": -1}


@pytest.mark.slow
def test_a_pipeline_is_measured_behind_its_transformers():
    """Its training rows are no holdout either."""
    seen = []

    class Looking(DCRShare):
        def _prepare(self, context):
            seen.append(list(context.holdout.columns))

    kept = FunctionTransformer(lambda table: table[["age", "income", "plan"]])
    steps = [("kept", kept), ("generator", GeneratorAdapter(Bootstrap()))]
    found = cross_validate(
        Pipeline(steps), TABLE, scoring=make_generator_scorer(Looking()), cv=2,
        return_train_score=True, error_score="raise",
    )  # fmt: skip
    alone = cross_validate(
        steps[1][1], TABLE[["age", "income", "plan"]], scoring=make_generator_scorer(DCRShare()),
        cv=2,
    )  # fmt: skip
    np.testing.assert_array_equal(found["test_score"], alone["test_score"])
    assert np.isnan(found["train_score"]).all()
    assert seen == [["age", "income", "plan"]] * 2
    only = Pipeline(steps[1:]).fit(TABLE[:160])
    assert make_generator_scorer(DCRShare())(only, TABLE[160:]) < -0.5


@pytest.mark.slow
def test_a_suite_samples_once_a_fold():
    CountingBootstrap.samples = 0
    scorer = make_generator_scorer(SUITE)
    cross_validate(GeneratorAdapter(CountingBootstrap()), TABLE, scoring=scorer, cv=3)
    assert CountingBootstrap.samples == 3


@pytest.mark.parametrize("n_jobs", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_grid_search(n_jobs):
    """The more is imputed the fewer rows are copied; the numbers do not depend on processes."""
    search = GridSearchCV(
        GeneratorAdapter(RandomForestImputation(n_estimators=5)),
        {"generator__p": [0.0, 1.0]},
        scoring=make_generator_scorer(SUITE),
        refit="matches",
        cv=2,
        n_jobs=n_jobs,
    ).fit(TABLE)
    assert search.best_params_ == {"generator__p": 1.0}
    assert search.cv_results_["mean_test_matches"][0] == -1.0
    assert len(search.best_estimator_.sample(7)) == 7
    key = "numbers"
    known = test_grid_search.__dict__.setdefault(key, search.cv_results_["mean_test_ks"])
    np.testing.assert_array_equal(known, search.cv_results_["mean_test_ks"])


@pytest.mark.filterwarnings("ignore:One or more of the train scores are non-finite")
@pytest.mark.slow
def test_halving_search():
    search = HalvingGridSearchCV(
        GeneratorAdapter(RandomForestImputation(n_estimators=5)),
        {"generator__p": [0.0, 0.5, 1.0]},
        scoring=make_generator_scorer(ExactMatchShare()),
        cv=2,
        min_resources=80,
        random_state=0,
    ).fit(TABLE)
    assert search.best_params_["generator__p"] > 0.0


@pytest.mark.slow
def test_scorers_pickle_and_name_themselves():
    scorer = make_generator_scorer(SUITE, n_samples=20)
    adapter = GeneratorAdapter(IndependentMarginals()).fit(TABLE[:160])
    again = pickle.loads(pickle.dumps(scorer))
    assert again(adapter, TABLE[160:]) == scorer(adapter, TABLE[160:])
    assert "GeneratorScorer" in repr(scorer)


@pytest.mark.slow
def test_metrics_without_direction():
    with raises(InvalidParameterError):
        make_generator_scorer(NearestNeighborAdversarialAccuracy())
    with raises(InvalidParameterError):
        make_generator_scorer(MetricSuite([("aa", NearestNeighborAdversarialAccuracy())]))
    both = MetricSuite([("aa", NearestNeighborAdversarialAccuracy()), ("nndr", NNDR())])
    adapter = GeneratorAdapter(Bootstrap()).fit(TABLE[:160])
    assert list(make_generator_scorer(both)(adapter, TABLE[160:])) == ["nndr", "no_alarm"]


def test_refusals():
    with raises(InvalidParameterError):
        make_generator_scorer("ks")
    with raises(InvalidParameterError):
        make_generator_scorer(TVComplement(), n_samples=0)
    scorer = make_generator_scorer(TVComplement())
    with raises(InvalidParameterError):
        scorer(BaseEstimator(), TABLE)
    copied = pickle.loads(pickle.dumps(Bootstrap().fit(TABLE)))
    with raises(NotRememberedError):
        scorer(copied, TABLE)
    with pytest.raises(NotRememberedError):
        scorer(GeneratorAdapter(Bootstrap()).fit(TABLE).forget(), TABLE)


@pytest.mark.slow
def test_the_verdict_is_a_score_to_bound():
    suite = MetricSuite([("ks", KSComplement()), ("matches", ExactMatchShare())])
    scorer = make_generator_scorer(suite)
    scores = {
        kind: scorer(GeneratorAdapter(kind()).fit(TABLE[:160]), TABLE[160:])["no_alarm"]
        for kind in (Bootstrap, IndependentMarginals)
    }
    assert scores == {Bootstrap: 0.0, IndependentMarginals: 1.0}
    assert "no_alarm" not in make_generator_scorer(MetricSuite(suite.metrics[:1])).directions()
