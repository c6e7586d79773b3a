from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from skeval.exceptions import (
    ConstantColumnWarning,
    DegenerateInputWarning,
    InvalidValueWarning,
    MetricWarning,
)
from skeval.fidelity import QuantileMSE, StatisticSimilarity

R, S = [1, 2, 3, 4], [2, 3, 4, 5]


def evaluated(metric, train, synthetic):
    return metric.fit(pd.DataFrame({"x": train})).evaluate(pd.DataFrame({"x": synthetic}))


@pytest.mark.parametrize(
    ("statistic", "scale", "synthetic", "value"),
    [
        ("mean", "range", S, 2 / 3),
        ("median", "range", S, 2 / 3),
        ("std", "range", S, 1.0),
        ("std", "range", [2, 2, 3, 3], 0.762119),
        ("mean", "iqr", S, 1 / 3),
        ("mean", "range", [90.0, 91.0], 0.0),
        ("mean", "range", [2.5], 1.0),
        ("median", "range", [1.0, np.nan, 2.0, 30.0], 1 - 0.5 / 3),
    ],
)
def test_statistics_by_hand(statistic, scale, synthetic, value):
    metric = StatisticSimilarity(statistic, scale)
    assert evaluated(metric, R, synthetic).value == pytest.approx(value, abs=1e-6)


def test_statistics_of_dates():
    dates, later = pd.date_range("2020", periods=5), pd.date_range("2020-01-02", periods=5)
    assert evaluated(StatisticSimilarity(), dates, later).value == pytest.approx(0.75)
    assert evaluated(
        StatisticSimilarity(), dates.astype(str), later.astype(str)
    ).value == pytest.approx(0.75)


def test_one_outlier_hides_differences_on_the_range():
    train = np.append(np.arange(100.0), 1e6)
    assert evaluated(StatisticSimilarity("median"), train, train + 50).value > 0.99
    assert evaluated(StatisticSimilarity("median", "iqr"), train, train + 50).value == 0.0


def test_constant_columns_have_no_score():
    train = pd.DataFrame({"x": [1.0, 2.0], "c": [5.0, 5.0]})
    with pytest.warns(ConstantColumnWarning, match="train has no range in c"):
        result = StatisticSimilarity().fit(train).evaluate(train)
    assert result.value == 1.0
    assert (result.details["n_used"], result.details["n_total"]) == (1, 2)


def test_a_single_value_has_no_standard_deviation():
    with (
        pytest.warns(DegenerateInputWarning, match="one value only in x"),
        pytest.warns(DegenerateInputWarning, match="no column"),
    ):
        assert np.isnan(evaluated(StatisticSimilarity("std"), R, [2.0]).value)


@pytest.mark.parametrize(("metric", "worst"), [(StatisticSimilarity(), 0.0), (QuantileMSE(2), 0.5)])
def test_emptied_columns_are_worst(metric, worst):
    train = pd.DataFrame({"x": R, "none": [np.nan] * 4})
    with pytest.warns(DegenerateInputWarning) as caught:
        result = metric.fit(train).evaluate(train.assign(x=np.nan))
    said = " ".join(str(w.message) for w in caught)
    assert "synthetic has no value in x, train has: the worst score" in said
    assert "train has no value in none: no score" in said
    assert (
        result.value == worst if isinstance(metric, StatisticSimilarity) else result.value >= 0.25
    )


def test_infinite_values():
    with pytest.warns(InvalidValueWarning) as caught:
        assert evaluated(StatisticSimilarity(), R, [*R, np.inf]).value == 1.0
    assert "left out here: x (1)" in " ".join(str(w.message) for w in caught)
    with pytest.warns(MetricWarning, match="beyond all real ones"):
        found = evaluated(QuantileMSE(4), R, [1, 2, 3, np.inf])
    assert found.value == 0.0


@pytest.mark.parametrize("n", [2, 4, 10])
def test_cells_hold_equal_shares(n):
    x = np.random.default_rng(0).normal(size=1000)
    assert evaluated(QuantileMSE(n), x, x).value == 0.0
    everything_above = evaluated(QuantileMSE(n), x, x + 100).value
    assert everything_above == pytest.approx(((1 - 1 / n) ** 2 + (n - 1) / n**2) / n, rel=1e-6)


def test_quantile_error_by_hand():
    assert evaluated(QuantileMSE(4), R, [1, 1, 2, 3]).value == pytest.approx(0.125 / 4)
    # two values have a cell each, whatever the number of quantiles
    assert evaluated(QuantileMSE(10), [0, 1], [0, 0]).value == 0.25
    # constant: below, at and above
    assert evaluated(QuantileMSE(10), [5, 5], [5, 6, 6, 4]).value == pytest.approx(
        (0.75**2 + 0.25**2 + 0.5**2) / 3
    )


def test_quantiles_with_ties_are_merged():
    train = np.repeat([0.0, *range(1, 21)], [80, *[1] * 20])
    result = evaluated(QuantileMSE(10), train, np.repeat([0.0, 15.0], [50, 50]))
    edges = np.unique(np.quantile(train, np.arange(1, 10) / 10))
    p, q = (
        np.bincount(np.searchsorted(edges, x, side="right"), minlength=edges.size + 1) / len(x)
        for x in (train, np.repeat([0.0, 15.0], [50, 50]))
    )
    assert result.value == pytest.approx(((p - q) ** 2).mean())


def test_ceilings_are_what_fresh_rows_have_in_the_mean():
    found = []
    for seed in range(60):
        rng = np.random.default_rng(seed)
        result = evaluated(QuantileMSE(5), rng.normal(size=90), rng.normal(size=60))
        found.append((result.value, result.details["ceiling"]))
    values, ceilings = np.array(found).T
    assert values.mean() == pytest.approx(ceilings.mean(), rel=0.2)
