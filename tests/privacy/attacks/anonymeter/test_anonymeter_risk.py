"""The largest risk of all attacks is that of the worst of them."""

from __future__ import annotations

from inspect import signature

import numpy as np
import pandas as pd
import pytest

from skeval.datasets import make_mixed
from skeval.exceptions import InvalidParameterError, MissingInputError
from skeval.privacy import (
    AnonymeterRisk,
    InferenceRisk,
    InferenceRiskAll,
    LinkabilityRisk,
    SinglingOutRisk,
)
from skeval.privacy.attacks.anonymeter.risks import ResidualRiskMetric
from tests.snapshots import raises

# tables of few columns have rows in common by nature
pytestmark = pytest.mark.filterwarnings("ignore:.*holdout rows also occur in the training data")

TRAIN, HOLDOUT, SYNTHETIC = (make_mixed(200, random_state=seed) for seed in range(3))
COPIED = pd.concat([TRAIN.iloc[:60], SYNTHETIC.iloc[60:]], ignore_index=True)


def evaluate(synthetic, **named):
    return AnonymeterRisk(**named).fit(TRAIN, HOLDOUT).evaluate(synthetic, advise=True)


@pytest.mark.slow
@pytest.mark.parametrize("synthetic", [SYNTHETIC, COPIED], ids=["fresh", "copied"])
def test_is_the_largest(synthetic):
    found = evaluate(synthetic)
    alone = {
        "univariate singling out": SinglingOutRisk("univariate"),
        "multivariate singling out": SinglingOutRisk(),
        "linkability": LinkabilityRisk(),
        **{f"inference of {name}": InferenceRisk(name) for name in TRAIN.columns},
    }
    results = {n: m.fit(TRAIN, HOLDOUT).evaluate(synthetic) for n, m in alone.items()}
    told = found.details["attacks"]
    assert list(told) == list(alone)
    assert {n: t["residual_risk"] for n, t in told.items()} == {
        n: r.value for n, r in results.items()
    }
    worst = max(results, key=lambda name: results[name].value)
    assert (found.details["worst_attack"], found.value) == (worst, results[worst].value)
    assert found.details["n_attacks_made"] == 10
    surest = found.details["surest_attack"]
    assert (
        found.p_value == told[surest]["p_adjusted"] == min(t["p_adjusted"] for t in told.values())
    )
    for name, one in told.items():
        assert one["p_value"] == results[name].p_value
        contrast = results[name].contrast
        assert one["tested"] == {"observed": contrast.observed, "expected": contrast.expected}
        if "singling out" in name:  # two tests beside that of all attacks on the same rows
            assert one["p_adjusted"] == min(1.0, 3 * one["p_value"])
        else:
            assert one["p_adjusted"] >= min(1.0, 3 * max(one["p_value"], 1e-4)) * 0.9
    # a suite that holds both counts their test once
    assert found.contrast.comparison_key == results[surest].contrast.comparison_key
    # an attack whose attacker may abstain has a test for each of seven shares of the surest guesses
    own = 7 if "abstaining" in results[surest].details else 1
    assert (found.contrast.n_tests, results[surest].contrast.n_tests) == (10, own)
    if found.p_value <= 0.05:
        assert found.advice
    else:
        assert found.advice == ""


@pytest.mark.slow
def test_intervals_hold_at_once():
    found, one = evaluate(COPIED), LinkabilityRisk(confidence_level=1 - 0.05 / 10)
    told = found.details["attacks"]
    # the point is that of 95%, the interval wider
    alone = one.fit(TRAIN, HOLDOUT).evaluate(COPIED)
    assert told["linkability"]["interval"] == pytest.approx(alone.interval)
    assert found.interval[0] == max(t["interval"][0] for t in told.values())
    assert found.interval[0] <= found.value <= found.interval[1]


@pytest.mark.slow
def test_levels():
    value = evaluate(COPIED).value
    cases = {"low": (value + 0.01, 1.0), "medium": (value, value), "high": (0.0, value - 0.01)}
    for name, levels in cases.items():
        assert evaluate(COPIED, levels=levels).details["level"] == name


@pytest.mark.parametrize("levels", [(0.5, 0.3), (0.1,), (-0.1, 0.5), (0.5, 1.1), (True, 1), "ab"])
def test_odd_levels_are_refused(levels):
    with raises(InvalidParameterError):
        AnonymeterRisk(levels=levels).fit(TRAIN, HOLDOUT)


def test_one_column_is_refused():
    with raises(MissingInputError):
        AnonymeterRisk().fit(TRAIN[["age"]], HOLDOUT[["age"]])


def test_attacks_that_cannot_be_made_are_skipped():
    """Categories of which none is rare, and a column that never varies."""
    rng = np.random.default_rng(0)
    tables = [
        pd.DataFrame({"x": rng.choice(["a", "b"], 300), "y": rng.choice(["c", "d"], 300), "z": "e"})
        for _ in range(3)
    ]
    found = AnonymeterRisk().fit(*tables[:2]).evaluate(tables[2])
    assert "inference of z" in found.details["skipped"]
    assert "univariate singling out" in found.details["skipped"]
    assert found.details["worst_attack"] not in found.details["skipped"]


def test_fresh_rows_raise_no_alarm():
    found = evaluate(SYNTHETIC)
    assert found.p_value > 0.05
    assert found.details["level"] == "low"
    assert "(level: low)." in found.summary


def test_the_baseline_is_what_chance_gives():
    """The largest of many risks, none of them below 0, is above 0 where nothing leaks."""
    found = evaluate(SYNTHETIC)
    alone = InferenceRisk("plan").fit(TRAIN, HOLDOUT).evaluate(SYNTHETIC)
    assert 0.0 < alone.baseline < found.baseline < 0.15


def fresh(n_tables, n_rows=300, **settings):
    """Results on disjoint rows of one population."""
    for seed in range(n_tables):
        rows = make_mixed(3 * n_rows, random_state=500 + seed)
        tables = np.split(rows.index.to_numpy(), 3)
        train, holdout, synthetic = (rows.loc[one].reset_index(drop=True) for one in tables)
        yield AnonymeterRisk(**settings).fit(train, holdout).evaluate(synthetic)


@pytest.mark.calibration
def test_fresh_rows_score_the_baseline():
    results = list(fresh(120))
    values, baselines = (np.array([getattr(r, n) for r in results]) for n in ("value", "baseline"))
    error = np.std(values - baselines) / np.sqrt(len(results))
    assert values.mean() > 0.03  # which a baseline of 0 would call a leak
    assert np.mean(values - baselines) == pytest.approx(0.0, abs=3 * error)


@pytest.mark.calibration
def test_the_test_keeps_its_level():
    p_values = np.array([result.p_value for result in fresh(200, 200, n_attacks=100)])
    assert np.mean(p_values <= 0.05) <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 200)
    assert np.mean(p_values <= 0.2) <= 0.2 + 3 * np.sqrt(0.2 * 0.8 / 200)


@pytest.mark.parametrize(
    "kind", [AnonymeterRisk, InferenceRisk, InferenceRiskAll, LinkabilityRisk, SinglingOutRisk]
)
def test_what_all_residual_risks_share_is_declared_once(kind):
    shared = {"n_attacks", "levels", "ci_method", "confidence_level", "random_state"}
    of_all, own = (set(signature(one).parameters) for one in (ResidualRiskMetric, kind))
    assert shared <= of_all <= own
    assert not shared - {"n_attacks"} & set(vars(kind).get("__annotations__", ()))
    assert all(f"{name} :" in kind.__doc__ for name in shared)


def test_a_member_says_of_a_shared_parameter_what_its_nearest_base_does():
    assert "and of an estimator without a seed" in InferenceRiskAll.__doc__
    assert "Number of predicates for singling out" in AnonymeterRisk.__doc__


@pytest.mark.calibration
def test_a_hundred_columns_hide_no_leak():
    """Least p-value times number of attacks would be no alarm here: 1 / 2,000 times 103."""
    rng = np.random.default_rng(0)
    noise = [
        pd.DataFrame(rng.integers(2, size=(200, 93)).astype(str)).add_prefix("noise")
        for _ in range(3)
    ]
    tables = (pd.concat(pair, axis=1) for pair in zip((TRAIN, HOLDOUT, COPIED), noise, strict=True))
    train, holdout, synthetic = tables
    found = AnonymeterRisk(n_splits=1).fit(train, holdout).evaluate(synthetic)
    assert found.details["n_attacks_made"] == 103
    assert found.p_value < 0.002
    assert found.details["surest_attack"] == "univariate singling out"
    assert "income" in found.advice


@pytest.mark.slow
def test_columns_are_chosen():
    found = evaluate(TRAIN, columns=["age", "plan", "city"])
    assert list(found.details["attacks"])[3:] == [
        "inference of age",
        "inference of city",
        "inference of plan",
    ]
