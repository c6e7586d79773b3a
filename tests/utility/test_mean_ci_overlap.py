"""Overlap of intervals of means: published values, chance, columns without an interval."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm
from sklearn.datasets import load_iris

import skeval
from skeval.exceptions import (
    ConstantColumnWarning,
    DegenerateInputWarning,
    InvalidValueWarning,
    MetricWarning,
    NothingToMeasureWarning,
)
from skeval.utility import MeanCIOverlap
from tests.snapshots import warns


def evaluated(train, synthetic, **params):
    train, synthetic = pd.DataFrame({"x": train}), pd.DataFrame({"x": synthetic})
    return MeanCIOverlap(**params).fit(train).evaluate(synthetic)


def test_published_value():
    table = load_iris(as_frame=True).data
    result = MeanCIOverlap().fit(table[::2]).evaluate(table[1::2])
    assert result.details["columns"]["sepal length (cm)"] == pytest.approx(0.971234, abs=5e-7)
    assert result.value == pytest.approx(np.mean(list(result.details["columns"].values())))
    worst = min(result.details["columns"], key=result.details["columns"].get)
    assert result.details["worst"]["column"] == worst


def by_hand(x, y, confidence=0.95, per_row=False):
    (low, high), (low_other, high_other) = (
        norm.interval(confidence, v.mean(), v.std(ddof=1) / (1 if per_row else len(v) ** 0.5))
        for v in (x, y)
    )
    common = min(high, high_other) - max(low, low_other)
    return 0.5 * (common / (high - low) + common / (high_other - low_other))


@pytest.mark.parametrize("shift", [0.0, 0.2, 3.0])
def test_by_hand(shift):
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=50), rng.normal(shift, 2.0, size=30)
    assert evaluated(x, y).value == pytest.approx(by_hand(x, y))
    assert evaluated(x, y, confidence=0.8).value == pytest.approx(by_hand(x, y, 0.8))
    assert evaluated(x, y, spread="std").value == pytest.approx(by_hand(x, y, per_row=True))
    assert evaluated(x, y, clip=True).value == pytest.approx(max(0.0, by_hand(x, y)))
    assert evaluated(x, y).details["share_apart"] == (by_hand(x, y) <= 0)
    large = evaluated(x + 1e9, y + 1e9)
    assert large.value == pytest.approx(by_hand(x, y), abs=1e-4)


def test_spread_of_rows_hides_differences_of_means():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=2000), rng.normal(0.3, 1.0, size=2000)
    assert evaluated(x, y).value < 0.0
    assert evaluated(x, y, spread="std").value > 0.85


@pytest.mark.slow
@pytest.mark.parametrize("spread", ["sem", "std"])
@pytest.mark.parametrize(("n", "m"), [(80, 80), (80, 30)])
def test_ceiling_is_what_fresh_rows_have(spread, n, m):
    actual = []
    for seed in range(15):
        rng = np.random.default_rng(seed)
        columns = [f"x{j}" for j in range(32)]
        train, fresh = (pd.DataFrame(rng.normal(size=(k, 32)), columns=columns) for k in (n, m))
        result = MeanCIOverlap(spread=spread).fit(train).evaluate(fresh)
        actual.append((result.value, result.details["ceiling"]))
    values, ceilings = np.mean(actual, axis=0)
    if spread == "sem" and n == m:
        assert ceilings == pytest.approx(0.712, abs=5e-4)
    # spreads of small samples differ too, which the ceiling leaves out
    assert values == pytest.approx(ceilings, abs=0.04)


def test_the_baseline_is_that_of_fresh_rows():
    rng = np.random.default_rng(0)
    tables = [pd.DataFrame(rng.normal(size=(n, 3)), columns=list("abc")) for n in (200, 100, 200)]
    result = MeanCIOverlap().fit(*tables[:2]).evaluate(tables[2])
    assert result.baseline == MeanCIOverlap().fit(tables[0]).score(tables[1])
    assert result.details["at_baseline_size"]["n_rows"] == 100
    assert MeanCIOverlap().fit(tables[0]).score(tables[0]) == pytest.approx(1.0)


def test_dates_and_missing_values():
    days = pd.Series(pd.date_range("2020", periods=50))
    seconds = days.to_numpy("datetime64[s]").astype(float)
    later = days + pd.Timedelta(days=3)
    expected = by_hand(seconds, seconds + 3 * 86_400)
    assert evaluated(days, later).value == pytest.approx(expected)
    x = np.random.default_rng(0).normal(size=40)
    assert evaluated([*x, np.nan], [*x[:30], np.nan]).value == pytest.approx(by_hand(x, x[:30]))


def test_columns_without_an_interval_in_train():
    train = pd.DataFrame({"x": [1.0, 2.0, 3.0], "c": [5.0] * 3, "none": [np.nan] * 3})
    with warns(MetricWarning) as caught:
        result = MeanCIOverlap().fit(train).evaluate(train)
    assert ConstantColumnWarning in {w.category for w in caught}
    assert result.value == 1.0
    assert (result.details["n_used"], result.details["n_total"]) == (1, 3)


@pytest.mark.parametrize("lost", [[2.0], [2.0, 2.0], [np.nan, np.nan]])
def test_columns_without_an_interval_in_synthetic_count_as_0(lost):
    with warns(DegenerateInputWarning):
        result = evaluated([1.0, 2.0, 3.0], lost)
    assert result.value == 0.0


def test_infinite_values_are_skipped():
    x = [1.0, 2.0, 3.0]
    with warns(InvalidValueWarning):
        assert evaluated(x, [*x, np.inf]).value == 1.0


def test_no_numbers():
    table = pd.DataFrame({"a": list("xyxy")})
    with pytest.warns(NothingToMeasureWarning):
        assert np.isnan(MeanCIOverlap().fit(table).score(table))


@pytest.mark.slow
def test_contract():
    skeval.check_metric(MeanCIOverlap(clip=True, spread="std", confidence=0.5))
