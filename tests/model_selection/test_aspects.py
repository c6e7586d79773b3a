"""Aspects of candidates, and their intervals."""

from __future__ import annotations

import numpy as np
import pytest

from skeval import MetricSuite, OverallScore, Result, SuiteResult
from skeval.core.tags import MetricTags
from skeval.datasets import make_mixed
from skeval.exceptions import InvalidParameterError
from skeval.fidelity import KSComplement
from skeval.model_selection import aspect_intervals, aspect_table, pareto_front
from skeval.privacy import DCRShare, ExactMatchShare
from tests.snapshots import raises


@pytest.mark.slow
def test_aspects_of_candidates():
    train, holdout = make_mixed(random_state=0), make_mixed(random_state=1)
    suite = MetricSuite([("ks", KSComplement()), ("matches", ExactMatchShare())])
    suite.fit(train, holdout)
    results = {"copy": suite.evaluate(train), "fresh": suite.evaluate(make_mixed(random_state=2))}
    table = aspect_table(results, OverallScore(mean="min"))
    assert table.loc["copy", ["fidelity", "privacy"]].tolist() == [1.0, 0.0]
    assert pareto_front(table, ["fidelity", "privacy"]).tolist() == [True, True]
    with raises(InvalidParameterError):
        pareto_front(table, ["cost"])


HIGH = MetricTags("fidelity", greater_is_better=True, bounds=(0.0, 1.0))
LOW = MetricTags("fidelity", greater_is_better=False, bounds=(0.0, 1.0))
LEAK = MetricTags("privacy", greater_is_better=False, bounds=(0.0, 1.0), evidence="attack")


def candidate(value=0.6, half=0.1):
    return SuiteResult(
        {
            "high": Result(value, interval=(value - half, value + half), baseline=0.8, tags=HIGH),
            "low": Result(0.4, interval=(0.3, 0.5), baseline=0.2, tags=LOW),
            "exact": Result(0.5, baseline=1.0, tags=HIGH),
            "leak": Result(0.5, baseline=0.5, tags=LEAK),
            "undefined": Result(np.nan, tags=HIGH),
        }
    )


def test_intervals_of_aspects_by_hand():
    results = {"a": candidate(), "b": candidate(0.2, 0.05)}
    low, high = aspect_intervals(results)
    worse = np.mean([0.5 / 0.8, 0.5 / 0.8, 0.5])
    better = np.mean([0.7 / 0.8, 0.7 / 0.8, 0.5])
    assert low.loc["a", "fidelity"] == pytest.approx(worse)
    assert high.loc["a", "fidelity"] == pytest.approx(better)
    assert low["privacy"].isna().all()  # no metric of it has an interval
    assert high["utility"].isna().all()
    table = aspect_table(results)
    assert list(table.columns) == list(low.columns) == list(high.columns)
    assert (low.fillna(table) <= table).to_numpy()[:, [0, 2]].all()
    aspects = ["fidelity", "privacy"]
    assert pareto_front(table, aspects, low=low, high=high).to_dict() == {"a": True, "b": False}
    results["b"] = candidate(0.5, 0.05)
    low, high = aspect_intervals(results)
    assert pareto_front(aspect_table(results), aspects).to_dict() == {"a": True, "b": False}
    assert pareto_front(aspect_table(results), aspects, low=low, high=high).all()


def test_intervals_of_aspects_go_by_mean_weights_and_size():
    low, high = aspect_intervals({"a": candidate()}, OverallScore(mean="min"))
    assert (low.loc["a", "fidelity"], high.loc["a", "fidelity"]) == (0.5, 0.5)
    weights = {"exact": 0.0, "low": 0.0}
    low, high = aspect_intervals({"a": candidate()}, OverallScore(weights))
    assert high.loc["a", "fidelity"] == pytest.approx(0.7 / 0.8)
    sized = Result(
        0.6,
        interval=(0.5, 0.7),
        baseline=0.8,
        tags=HIGH,
        details={"at_baseline_size": {"n_rows": 5, "value": 0.4}},
    )
    low, high = aspect_intervals({"a": SuiteResult({"sized": sized})})
    assert low.loc["a", "fidelity"] == pytest.approx(0.3 / 0.8)
    assert high.loc["a", "fidelity"] == pytest.approx(0.5 / 0.8)
    assert sized.details["at_baseline_size"]["value"] == 0.4


def test_intervals_of_aspects_know_odd_ends():
    odd = Result(0.6, interval=(np.nan, np.inf), baseline=0.8, tags=HIGH)
    low, high = aspect_intervals({"a": SuiteResult({"odd": odd})})
    assert low.loc["a", "fidelity"] == pytest.approx(0.6 / 0.8)
    assert high.loc["a", "fidelity"] == 1.0


@pytest.mark.slow
def test_intervals_of_aspects_of_a_suite():
    train, holdout = make_mixed(random_state=0), make_mixed(random_state=1)
    suite = MetricSuite([("ks", KSComplement()), ("share", DCRShare())]).fit(train, holdout)
    results = {name: suite.evaluate(make_mixed(random_state=name)) for name in (2, 3, 4)}
    results["copy"] = suite.evaluate(train)
    table, (low, high) = aspect_table(results), aspect_intervals(results)
    assert (low["privacy"] < high["privacy"]).all()
    alone = pareto_front(table, ["privacy"])
    sure = pareto_front(table, ["privacy"], low=low, high=high)
    assert sure.to_dict() == {2: True, 3: True, 4: True, "copy": False}
    assert alone.sum() < sure.sum()


@pytest.mark.calibration
def test_intervals_of_aspects_hold_under_any_dependence():
    """Means of three shares, independent and of the same rows."""
    from skeval.stats.intervals import wilson

    truth, n = np.array([0.3, 0.5, 0.6]), 200
    rng = np.random.default_rng(0)
    for shared in (False, True):
        hits = 0
        for _ in range(400):
            draws = rng.random((n, 1)) if shared else rng.random((n, 3))
            counts = (np.broadcast_to(draws, (n, 3)) < truth).sum(axis=0)
            metrics = {
                str(i): Result(k / n, interval=wilson(int(k), n), tags=HIGH)
                for i, k in enumerate(counts)
            }
            low, high = aspect_intervals({"a": SuiteResult(metrics)})
            hits += low.loc["a", "fidelity"] <= truth.mean() <= high.loc["a", "fidelity"]
        assert hits / 400 >= (0.93 if shared else 0.99)
