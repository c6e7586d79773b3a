"""Calibration of models of synthetic rows: values by hand, several labels, odd tables."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skeval import MetricSuite, check_metric
from skeval.datasets import make_mixed
from skeval.exceptions import DegenerateInputWarning, InvalidParameterError, MissingInputError
from skeval.steps import models as families
from skeval.steps.scoring import Predictions
from skeval.utility import TSTR, CalibrationPreservation
from skeval.utility.calibration import confidences_in, preserved

FAST = {"estimators": "linear", "n_bootstrap": 100}


class BaseRate(ClassifierMixin, BaseEstimator):
    """Gives every row the shares of labels that it has learnt."""

    def fit(self, X, y):
        self.classes_, counts = np.unique(y, return_counts=True)
        self.shares_ = counts / counts.sum()
        return self

    def predict(self, X):
        return np.repeat(self.classes_[self.shares_.argmax()], len(X))

    def predict_proba(self, X):
        return np.tile(self.shares_, (len(X), 1))


def labelled(shares, n=100, seed=0):
    """Return rows of which so many per cent have each label, and a number that tells nothing."""
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
    """Of train half are positive, of synthetic rows a fifth, of the holdout 60%."""
    train, holdout, synthetic = (
        labelled({"no": 1 - share, "yes": share}, seed=i) for i, share in enumerate((0.5, 0.6, 0.2))
    )
    metric = CalibrationPreservation("y", BaseRate(), pos_label="yes")
    found = metric.fit(train, holdout).evaluate(synthetic)
    assert found.value == pytest.approx(1 - 0.3)
    assert found.baseline == 1.0
    ece = found.details["ece"]
    assert {kind: part["value"] for kind, part in ece.items()} == pytest.approx(
        {"tstr": 0.4, "trtr": 0.1, "difference": 0.3}
    )
    brier = found.details["brier"]
    assert brier["trtr"]["value"] == pytest.approx(0.25)
    assert brier["tstr"]["value"] == pytest.approx(0.6 * 0.64 + 0.4 * 0.04)
    assert brier["difference"]["value"] == pytest.approx(0.4 - 0.25)
    curve = found.details["curves"]["BaseRate"]["tstr"]
    assert curve["predicted"] == pytest.approx([0.2])
    assert curve["observed"] == pytest.approx([0.6])
    assert found.details["expected_if_calibrated"]["trtr"] == pytest.approx(
        np.sqrt(2 / np.pi * 100 * 0.25) / 100
    )


def test_several_labels_are_judged_by_the_one_called():
    train, holdout, synthetic = (
        labelled(dict(zip("abc", shares, strict=True)), seed=i)
        for i, shares in enumerate([(0.5, 0.3, 0.2), (0.4, 0.3, 0.3), (0.1, 0.8, 0.1)])
    )
    found = CalibrationPreservation("y", BaseRate()).fit(train, holdout).evaluate(synthetic)
    ece = found.details["ece"]
    assert ece["trtr"]["value"] == pytest.approx(0.5 - 0.4)
    assert ece["tstr"]["value"] == pytest.approx(0.8 - 0.3)
    assert found.value == pytest.approx(0.6)


def test_a_label_that_no_real_row_has_is_always_wrong():
    scores = np.array([[0.1, 0.2], [0.6, 0.3]])  # what is left of 1 is of another label
    found = Predictions(np.array([2, 0]), scores, True)
    sure, hits = confidences_in(found, np.array([1, 0]), None)
    assert sure == pytest.approx([0.7, 0.6])
    assert hits.tolist() == [False, True]


def test_a_model_that_is_too_sure():
    train, holdout, synthetic = (
        sharpened(kind, 1500, i) for i, kind in enumerate(("real", "real", "synthetic"))
    )
    metric = CalibrationPreservation("y", LogisticRegression()).fit(train, holdout)
    found = metric.evaluate(synthetic)
    assert found.value < 0.9
    assert found.interval[1] < 1.0
    assert found.details["ece"]["difference"]["low"] > 0.0
    assert found.details["brier"]["difference"]["low"] > 0.0
    curve = found.details["curves"]["LogisticRegression"]["tstr"]
    assert curve["predicted"][0] < curve["observed"][0]
    assert curve["predicted"][-1] > curve["observed"][-1]
    assert curve["n_rows"].tolist() == [150] * 10
    fresh = metric.evaluate(sharpened("real", 1500, 3))
    assert fresh.value > 0.97
    assert fresh.interval[1] == 1.0


def test_a_copy_of_train_is_calibrated_alike():
    train, holdout, _ = mixed()
    found = CalibrationPreservation("member", **FAST).fit(train, holdout).evaluate(train)
    assert found.value == found.baseline == 1.0
    assert found.interval[1] == 1.0


def test_intervals_of_the_value_come_from_the_difference():
    steady = np.full(50, 0.1)
    spread = 0.3 + 0.01 * np.resize([-1, 1], 50)
    spread[0] = 0.3
    value, (low, high) = preserved(spread, steady)
    assert value == pytest.approx(0.8)
    assert low < 0.8 < high < 1.0
    assert preserved(steady, spread)[0] == pytest.approx(0.8)
    assert preserved(steady, steady) == (1.0, (1.0, 1.0))
    assert preserved(steady[:1], spread[:1])[1] is None


def test_several_models_and_seeds():
    train, holdout, synthetic = mixed()
    metric = CalibrationPreservation(
        "member", ["linear", "tree"], n_repeats=2, n_bins=5, n_bootstrap=0
    )
    found = metric.fit(train, holdout).evaluate(synthetic)
    assert found.interval is None
    parts = found.details["models"]
    assert set(parts) == set(found.details["curves"]) == {"linear", "tree"}
    assert found.value == pytest.approx(
        np.mean([1 - abs(part["tstr"] - part["trtr"]) for part in parts.values()])
    )


def test_models_are_those_of_tstr(monkeypatch):
    seen = []
    fit = families.fit
    monkeypatch.setattr(families, "fit", lambda *a: seen.append(type(a[0]).__name__) or fit(*a))
    train, holdout, synthetic = mixed()
    metrics = (
        TSTR("member", estimators="linear", n_bootstrap=0),
        CalibrationPreservation("member", **FAST),
    )
    suite = MetricSuite([(type(m).__name__, m) for m in metrics], on_error="raise")
    suite.fit(train, holdout).evaluate(synthetic)
    assert len(seen) == 2


def test_models_without_probabilities_are_refused():
    train, holdout, _ = mixed(100)
    for model in (RidgeClassifier(), make_pipeline(StandardScaler(), RidgeClassifier())):
        metric = CalibrationPreservation("member", ["linear", model])
        with pytest.raises(InvalidParameterError, match="must have predict_proba"):
            metric.fit(train, holdout)


def test_numbers_are_refused():
    train, holdout, _ = mixed(100)
    with pytest.raises(MissingInputError, match="needs a target of labels, and age is one of"):
        CalibrationPreservation("age").fit(train, holdout)
    with pytest.raises(MissingInputError, match="holdout"):
        CalibrationPreservation("member").fit(train)


def test_a_synthetic_table_of_one_label_is_surely_wrong():
    train, holdout, synthetic = mixed()
    synthetic["member"] = True
    found = CalibrationPreservation("member", **FAST).fit(train, holdout).evaluate(synthetic)
    errors = found.details["ece"]
    assert errors["tstr"]["value"] == pytest.approx(1 - holdout["member"].mean())
    assert found.value == pytest.approx(1 - abs(errors["difference"]["value"]))


def test_a_target_that_does_not_vary():
    train, holdout, synthetic = mixed(100)
    metric = CalibrationPreservation("member", **FAST).fit(train.assign(member=True), holdout)
    with pytest.warns(DegenerateInputWarning, match="does not vary"):
        assert np.isnan(metric.score(synthetic))


def test_curves_leave_out_bins_of_few_rows():
    train, holdout, synthetic = mixed()
    metric = CalibrationPreservation("member", **FAST).fit(train, holdout.iloc[:30])
    curve = metric.evaluate(synthetic).details["curves"]["linear"]["tstr"]
    assert curve["n_rows"].tolist() == [3] * 10
    assert np.isnan(curve["observed"]).all()


def test_the_result_is_plain():
    train, holdout, synthetic = mixed()
    found = CalibrationPreservation("plan", **FAST).fit(train, holdout).evaluate(synthetic)
    low, high = found.interval
    assert 0.0 <= low <= found.value <= high <= 1.0
    content = json.loads(found.to_json())["details"]
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
        found = metric.fit(train, holdout).evaluate(synthetic).details["ece"]["difference"]
        held += found["low"] <= 0.0 <= found["high"]
    assert held / n_runs >= 0.9
