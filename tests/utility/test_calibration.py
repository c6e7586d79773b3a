"""Calibration of models of synthetic rows: values by hand, several labels, odd tables."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skeval import MetricSuite, check_metric
from skeval.datasets import make_mixed
from skeval.exceptions import DegenerateInputWarning, InvalidParameterError, MissingInputError
from skeval.stats.bootstrap import difference_interval, inflated_interval
from skeval.steps.scoring import Predictions
from skeval.utility import TSTR, CalibrationPreservation
from skeval.utility.calibration import (
    calibration_error,
    confidences_in,
    equal_mass_bins,
    error_of_calibrated_model,
    preservation,
    reliability_curve,
)
from tests.snapshots import raises, warns

FAST = {"estimators": "linear", "n_bootstrap": 100}


class BaseRate(ClassifierMixin, BaseEstimator):
    """Gives every row the shares of labels that it has learned."""

    def fit(self, X, y):
        self.classes_, counts = np.unique(y, return_counts=True)
        self.shares_ = counts / counts.sum()
        return self

    def predict(self, X):
        return np.repeat(self.classes_[self.shares_.argmax()], len(X))

    def predict_proba(self, X):
        return np.tile(self.shares_, (len(X), 1))


def labelled(shares, n=100, seed=0):
    """Return rows with these fractions of labels, and a number without information."""
    labels = np.repeat(list(shares), [round(n * share) for share in shares.values()])
    return pd.DataFrame({"x": np.random.default_rng(seed).normal(size=n), "y": labels})


def mixed(n=300):
    return tuple(make_mixed(n, random_state=seed) for seed in range(3))


def sharpened(table, n, seed):
    """Return rows whose label is what it most likely is: a model of these is too sure."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=n)
    p = 1 / (1 + np.exp(-1.5 * x))
    return pd.DataFrame({"x": x, "y": rng.random(n) < (p if table == "real" else p > 0.5)})


def test_by_hand():
    """50% of train, 20% of the synthetic rows and 60% of the holdout are positive."""
    train, holdout, synthetic = (
        labelled({"no": 1 - share, "yes": share}, seed=i) for i, share in enumerate((0.5, 0.6, 0.2))
    )
    metric = CalibrationPreservation("y", BaseRate(), pos_label="yes")
    result = metric.fit(train, holdout).evaluate(synthetic)
    assert result.value == pytest.approx(1 - 0.3)
    assert result.baseline == 1.0
    ece = result.details["ece"]
    assert {kind: part["value"] for kind, part in ece.items()} == pytest.approx(
        {"tstr": 0.4, "trtr": 0.1, "difference": 0.3}
    )
    brier = result.details["brier"]
    assert brier["trtr"]["value"] == pytest.approx(0.25)
    assert brier["tstr"]["value"] == pytest.approx(0.6 * 0.64 + 0.4 * 0.04)
    assert brier["difference"]["value"] == pytest.approx(0.4 - 0.25)
    curve = result.details["curves"]["BaseRate"]["tstr"]
    assert curve["predicted"] == pytest.approx([0.2])
    assert curve["observed"] == pytest.approx([0.6])
    assert result.details["expected_if_calibrated"]["trtr"] == pytest.approx(
        np.sqrt(2 / np.pi * 100 * 0.25) / 100
    )


def test_several_labels_are_judged_by_the_one_called():
    train, holdout, synthetic = (
        labelled(dict(zip("abc", shares, strict=True)), seed=i)
        for i, shares in enumerate([(0.5, 0.3, 0.2), (0.4, 0.3, 0.3), (0.1, 0.8, 0.1)])
    )
    result = CalibrationPreservation("y", BaseRate()).fit(train, holdout).evaluate(synthetic)
    ece = result.details["ece"]
    assert ece["trtr"]["value"] == pytest.approx(0.5 - 0.4)
    assert ece["tstr"]["value"] == pytest.approx(0.8 - 0.3)
    assert result.value == pytest.approx(0.6)


def test_a_label_that_no_real_row_has_is_always_wrong():
    scores = np.array([[0.1, 0.2], [0.6, 0.3]])  # what is left of 1 is of another label
    predictions = Predictions(np.array([2, 0]), scores, True)
    sure, hits = confidences_in(predictions, np.array([1, 0]), None)
    assert sure == pytest.approx([0.7, 0.6])
    assert hits.tolist() == [False, True]


def test_a_model_that_is_too_sure():
    train, holdout, synthetic = (
        sharpened(kind, 1500, i) for i, kind in enumerate(("real", "real", "synthetic"))
    )
    metric = CalibrationPreservation("y", LogisticRegression()).fit(train, holdout)
    result = metric.evaluate(synthetic)
    assert result.value < 0.9
    assert result.interval[1] < 1.0
    assert result.details["ece"]["difference"]["low"] > 0.0
    assert result.details["brier"]["difference"]["low"] > 0.0
    curve = result.details["curves"]["LogisticRegression"]["tstr"]
    assert curve["predicted"][0] < curve["observed"][0]
    assert curve["predicted"][-1] > curve["observed"][-1]
    assert curve["n_rows"].tolist() == [150] * 10
    fresh = metric.evaluate(sharpened("real", 1500, 3))
    assert fresh.value > 0.97
    assert fresh.interval[1] == 1.0


def test_a_copy_of_train_is_calibrated_alike():
    train, holdout, _ = mixed()
    result = CalibrationPreservation("member", **FAST).fit(train, holdout).evaluate(train)
    assert result.value == result.baseline == 1.0
    assert result.interval[1] == 1.0


def test_intervals_of_the_value_come_from_the_difference():
    steady = np.full(50, 0.1)
    spread = 0.3 + 0.01 * np.resize([-1, 1], 50)
    spread[0] = 0.3
    value, (low, high) = preservation(spread, steady)
    assert value == pytest.approx(0.8)
    assert low < 0.8 < high < 1.0
    assert preservation(steady, spread)[0] == pytest.approx(0.8)
    assert preservation(steady, steady) == (1.0, (1.0, 1.0))
    assert preservation(steady[:1], spread[:1])[1] is None


def test_several_models_and_seeds():
    train, holdout, synthetic = mixed()
    metric = CalibrationPreservation(
        "member", ["linear", "tree"], n_repeats=2, n_bins=5, n_bootstrap=0
    )
    result = metric.fit(train, holdout).evaluate(synthetic)
    assert result.interval is None
    parts = result.details["models"]
    assert set(parts) == set(result.details["curves"]) == {"linear", "tree"}
    assert result.value == pytest.approx(
        np.mean([1 - abs(part["tstr"] - part["trtr"]) for part in parts.values()])
    )


def test_models_are_those_of_tstr(fits):
    train, holdout, synthetic = mixed()
    metrics = (
        TSTR("member", estimators="linear", n_bootstrap=0),
        CalibrationPreservation("member", **FAST),
    )
    suite = MetricSuite([(type(m).__name__, m) for m in metrics], on_error="raise")
    suite.fit(train, holdout).evaluate(synthetic)
    assert len(fits) == 2


def test_models_without_probabilities_are_refused():
    train, holdout, _ = mixed(100)
    for model in (RidgeClassifier(), make_pipeline(StandardScaler(), RidgeClassifier())):
        metric = CalibrationPreservation("member", ["linear", model])
        with raises(InvalidParameterError):
            metric.fit(train, holdout)


def test_numbers_are_refused():
    train, holdout, _ = mixed(100)
    with raises(MissingInputError):
        CalibrationPreservation("age").fit(train, holdout)
    with raises(MissingInputError):
        CalibrationPreservation("member").fit(train)


def test_a_synthetic_table_of_one_label_is_surely_wrong():
    train, holdout, synthetic = mixed()
    synthetic["member"] = True
    result = CalibrationPreservation("member", **FAST).fit(train, holdout).evaluate(synthetic)
    errors = result.details["ece"]
    assert errors["tstr"]["value"] == pytest.approx(1 - holdout["member"].mean())
    assert result.value == pytest.approx(1 - abs(errors["difference"]["value"]))


def test_a_target_that_does_not_vary():
    train, holdout, synthetic = mixed(100)
    metric = CalibrationPreservation("member", **FAST).fit(train.assign(member=True), holdout)
    with warns(DegenerateInputWarning):
        assert np.isnan(metric.score(synthetic))


def test_curves_leave_out_bins_of_few_rows():
    train, holdout, synthetic = mixed()
    metric = CalibrationPreservation("member", **FAST).fit(train, holdout.iloc[:30])
    curve = metric.evaluate(synthetic).details["curves"]["linear"]["tstr"]
    assert curve["n_rows"].tolist() == [3] * 10
    assert np.isnan(curve["observed"]).all()


def test_the_result_is_plain():
    train, holdout, synthetic = mixed()
    result = CalibrationPreservation("plan", **FAST).fit(train, holdout).evaluate(synthetic)
    low, high = result.interval
    assert 0.0 <= low <= result.value <= high <= 1.0
    content = json.loads(result.to_json())["details"]
    assert set(content["curves"]["linear"]) == {"tstr", "trtr"}
    assert content["n_tested"] == 300


@pytest.mark.slow
@pytest.mark.parametrize(
    "metric",
    [
        CalibrationPreservation("plan", "tree", n_bins=5, n_bootstrap=100),
        CalibrationPreservation("city", "bayes", task="binary", pos_label="Porto", n_repeats=2),
    ],
    ids=str,
)
def test_contract(metric):
    check_metric(metric, tables=mixed(200))


@pytest.mark.slow
def test_two_tables_of_one_law_are_calibrated_alike():
    """The interval of the difference holds 0, although chance in fitting is not in it."""
    n_runs, held = 40, 0
    for i in range(n_runs):
        train, holdout, synthetic = (make_mixed(300, random_state=3 * i + k) for k in range(3))
        metric = CalibrationPreservation("member", "linear", n_bootstrap=300)
        results = metric.fit(train, holdout).evaluate(synthetic).details["ece"]["difference"]
        held += results["low"] <= 0.0 <= results["high"]
    assert held / n_runs >= 0.9


def error(confidences, hits, n_bins=10, weights=None):
    weights = np.ones((1, len(confidences))) if weights is None else weights
    return calibration_error(np.array(confidences), np.array(hits, dtype=bool), weights, n_bins)


def by_hand(confidences, hits, n_bins):
    """Sorted rows in like numbers; for confidences without ties."""
    order = np.argsort(confidences)
    parts = np.array_split(order, n_bins)
    return sum(abs(confidences[p].mean() - hits[p].mean()) * p.size for p in parts) / order.size


def test_values_by_hand():
    assert error([0.2, 0.2, 0.8, 0.8], [0, 0, 1, 1], 2) == pytest.approx([0.2])
    assert error([0.5] * 4, [0, 1, 0, 1]) == pytest.approx([0.0])
    assert error([1.0] * 4, [0, 0, 0, 0]) == pytest.approx([1.0])
    assert error([0.9, 0.6, 0.3], [1, 1, 0], 1) == pytest.approx([abs(0.6 - 2 / 3)])


def test_bins_of_equal_numbers():
    rng = np.random.default_rng(0)
    p = rng.random(200)
    hits = rng.random(200) < p
    bins = equal_mass_bins(p)
    assert np.bincount(bins).tolist() == [20] * 10
    assert all(p[bins == k].max() < p[bins == k + 1].min() for k in range(9))
    assert error(p, hits) == pytest.approx([by_hand(p, hits, 10)])


def test_ties_stay_together():
    bins = equal_mass_bins(np.array([0.1] * 6 + [0.2, 0.3, 0.4, 0.5]), 5)
    assert bins.tolist() == [1] * 6 + [3, 3, 4, 4]
    assert np.unique(equal_mass_bins(np.full(50, 0.3))).size == 1


def test_the_order_of_rows_is_ignored():
    rng = np.random.default_rng(0)
    p = rng.random(100).round(1)
    hits, order = rng.random(100) < p, rng.permutation(100)
    assert error(p, hits) == pytest.approx(error(p[order], hits[order]))


def test_weights_count_rows_in_the_bins_of_all_rows():
    rng = np.random.default_rng(0)
    p = rng.random(40)
    hits = rng.random(40) < p
    weights = np.vstack([np.ones(40), rng.integers(0, 3, 40)])
    bins = equal_mass_bins(p)
    sums = np.bincount(bins, weights[1] * (p - hits), minlength=10)
    assert error(p, hits, weights=weights)[1] == pytest.approx(
        np.abs(sums).sum() / weights[1].sum()
    )
    assert error(p, hits, weights=weights)[0] == pytest.approx(error(p, hits)[0])


def test_what_chance_gives():
    rng = np.random.default_rng(0)
    p = rng.random(500)
    actual = [error(p, rng.random(500) < p)[0] for _ in range(300)]
    assert error_of_calibrated_model(p) == pytest.approx(np.mean(actual), rel=0.05)
    assert error_of_calibrated_model(np.array([0.0, 1.0])) == 0.0


def test_curve():
    curve = reliability_curve(np.array([0.1, 0.3, 0.6, 0.8, 0.9]), np.array([0, 1, 0, 1, 1]) > 0, 2)
    assert curve["n_rows"].tolist() == [2, 3]
    assert curve["predicted"] == pytest.approx([0.2, 23 / 30])
    assert curve["observed"] == pytest.approx([0.5, 2 / 3])
    few = reliability_curve(
        np.array([0.1, 0.3, 0.6, 0.8, 0.9]), np.array([0, 1, 0, 1, 1]) > 0, 2, 3
    )
    assert np.isnan(few["observed"]).tolist() == [True, False]


def test_curve_of_one_confidence():
    curve = reliability_curve(np.full(30, 0.4), np.arange(30) < 15)
    assert {name: values.tolist() for name, values in curve.items()} == {
        "predicted": [pytest.approx(0.4)],
        "observed": [0.5],
        "n_rows": [30],
    }


Z = np.random.default_rng(9).normal(size=200_000)


def bent(slope, shift=0.0):
    return lambda z: expit(slope * z + shift)


def mean_error(p, truth):
    sums = np.bincount(equal_mass_bins(p), p - truth, minlength=10)
    return np.abs(sums).sum() / p.size


@pytest.mark.calibration
@pytest.mark.parametrize("n_rows", [200, 1000])
@pytest.mark.parametrize(
    ("first", "second"),
    [
        (bent(1.5), bent(1.4)),
        (bent(3.0), bent(1.5)),
        (bent(2.0), bent(1.5)),
        (bent(1.5, 0.5), bent(1.5)),
        (bent(3.0), bent(3.0, 0.3)),
    ],
)
def test_coverage(n_rows, first, second):
    """Where quantiles of bootstrap differences hold the true one in 0 to 98% of cases."""
    chance, rng, n_runs = bent(1.5), np.random.default_rng(0), 150
    truth = [mean_error(model(Z), chance(Z)) for model in (first, second)]
    held = np.zeros(2)
    for _ in range(n_runs):
        z = rng.normal(size=n_rows)
        hits = rng.random(n_rows) < chance(z)
        drawn = rng.multinomial(n_rows, np.full(n_rows, 1 / n_rows), 200)
        weights = np.vstack([np.ones(n_rows), drawn])
        errors = [error(model(z), hits, weights=weights) for model in (first, second)]
        low, high = inflated_interval(errors[0])
        held[0] += low <= truth[0] <= high
        low, high = difference_interval(*errors)
        held[1] += low <= truth[0] - truth[1] <= high
    assert (held / n_runs >= (0.88, 0.82)).all(), held / n_runs
