"""Means, medians and spreads of columns: known values, fresh and copied rows, odd columns."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from skeval import make_suite
from skeval.datasets import make_mixed
from skeval.exceptions import ConstantColumnWarning, DegenerateInputWarning, InvalidValueWarning
from skeval.fidelity import StatisticSimilarity
from tests.snapshots import warns

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
def test_by_hand(statistic, scale, synthetic, value):
    metric = StatisticSimilarity(statistic, scale)
    assert evaluated(metric, R, synthetic).value == pytest.approx(value, abs=1e-6)


@pytest.mark.parametrize("statistic", ["mean", "median", "std"])
def test_copied_rows_score_1_and_holdout_rows_a_little_less(statistic):
    train, holdout = make_mixed(400, 0), make_mixed(400, 1)
    metric = StatisticSimilarity(statistic).fit(train)
    assert metric.score(train) == 1.0
    assert 0.9 < metric.score(holdout) < 1.0


def test_dates():
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
    with warns(ConstantColumnWarning):
        result = StatisticSimilarity().fit(train).evaluate(train)
    assert result.value == 1.0
    assert (result.details["n_used"], result.details["n_total"]) == (1, 2)


def test_a_single_value_has_no_standard_deviation():
    with warns(DegenerateInputWarning):
        assert np.isnan(evaluated(StatisticSimilarity("std"), R, [2.0]).value)


def test_an_emptied_column_is_worst():
    train = pd.DataFrame({"x": R, "none": [np.nan] * 4})
    with warns(DegenerateInputWarning):
        assert StatisticSimilarity().fit(train).evaluate(train.assign(x=np.nan)).value == 0.0


def test_infinite_values_are_skipped():
    with warns(InvalidValueWarning):
        assert evaluated(StatisticSimilarity(), R, [*R, np.inf]).value == 1.0


def amounts(seed: int, part: int, n_rows: int = 400) -> pd.DataFrame:
    rng = np.random.default_rng([seed, part])
    columns = {"age": rng.integers(18, 90, n_rows) / 1.0, "pay": rng.lognormal(7.0, size=n_rows)}
    return pd.DataFrame(columns)


def spreads(synthetic: pd.DataFrame, seed: int):
    """Return what the report measures of the size of numbers."""
    metrics = [m for _, m in make_suite("report").metrics if isinstance(m, StatisticSimilarity)]
    (metric,) = metrics
    return metric.fit(amounts(seed, 0), amounts(seed, 1)).evaluate(synthetic)


@pytest.mark.parametrize("column", ["age", "pay"])
def test_the_report_finds_a_few_huge_values(column):
    synthetic = amounts(1, 2)
    synthetic.loc[:4, column] = 1e6
    result = spreads(synthetic, 1)
    assert result.difference[1] < 0
    assert result.details["worst"]["column"] == column
    assert spreads(amounts(1, 2), 1).difference[1] > 0
