from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import kendalltau, norm, pearsonr, spearmanr

from skeval.stats.correlation import (
    Correlations,
    correlation_matrix,
    correlation_ratios,
    difference_interval,
    difference_p_value,
    fisher_interval,
)

METHODS = ["pearson", "spearman", "kendall"]
SCIPY = {"pearson": pearsonr, "spearman": spearmanr, "kendall": kendalltau}


@pytest.fixture
def values():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(200, 4))
    x[:, 1] += x[:, 0]
    x[:, 2] = np.round(2 * x[:, 2] - x[:, 0])  # ties
    x[:, 3] = 1e9 + np.exp(3 * x[:, 3])  # far from 0, skewed
    return x


@pytest.mark.parametrize("method", METHODS)
def test_matrix_of_scipy(values, method):
    found = correlation_matrix(values, method)
    for i in range(4):
        for j in range(4):
            expected = SCIPY[method](values[:, i], values[:, j]).statistic
            assert found.coefficients[i, j] == pytest.approx(expected, abs=1e-9)
    assert (found.n_rows == 200).all()


@pytest.mark.parametrize("method", ["pearson", "kendall"])
def test_missing_values_are_skipped_pair_by_pair(values, method):
    rng = np.random.default_rng(1)
    values[rng.random(values.shape) < 0.2] = np.nan
    values[:50, 3] = np.nan
    found = correlation_matrix(values, method)
    for i in range(4):
        for j in range(4):
            both = ~np.isnan(values[:, [i, j]]).any(axis=1)
            expected = SCIPY[method](values[both, i], values[both, j]).statistic
            assert found.coefficients[i, j] == pytest.approx(expected, abs=1e-9)
            assert found.n_rows[i, j] == both.sum()
    theirs = pd.DataFrame(values).corr(method)
    np.testing.assert_allclose(found.coefficients, theirs, atol=1e-9)


def test_ranks_are_taken_once(values):
    """Exact where both columns miss the same rows, near where they do not."""
    values[:60, :2] = np.nan
    found = correlation_matrix(values, "spearman").coefficients
    assert found[0, 1] == pytest.approx(spearmanr(values[60:, 0], values[60:, 1]).statistic)
    anew = spearmanr(values[60:, 0], values[60:, 2]).statistic
    assert found[0, 2] == pytest.approx(anew, abs=0.02)


def test_many_rows_are_summed_in_chunks():
    values = np.random.default_rng(0).normal(size=(150_000, 3))
    values[:, 1] += values[:, 0]
    values[::7, 0] = np.nan
    expected = pd.DataFrame(values).corr().to_numpy()
    np.testing.assert_allclose(correlation_matrix(values).coefficients, expected, atol=1e-9)


@pytest.mark.parametrize("method", METHODS)
def test_what_does_not_vary_has_no_correlation(method):
    x = np.arange(6.0)
    constant, empty = np.full(6, 0.1), np.full(6, np.nan)
    apart = np.where(x < 3, x, np.nan)  # shares no row with the next
    other = np.where(x < 3, np.nan, x)
    constant_beside = np.where(x < 3, 0.1, x)  # constant in the rows of `apart`
    found = correlation_matrix(
        np.column_stack([x, constant, empty, apart, other, constant_beside]), method
    )
    diagonal = np.isnan(np.diag(found.coefficients))
    assert diagonal.tolist() == [False, True, True, False, False, False]
    assert np.isnan(found.coefficients[3, 4])
    assert np.isnan(found.coefficients[0, 1:3]).all()
    if method == "pearson":
        assert np.isnan(found.coefficients[3, 5])
    assert found.n_rows[3, 4] == 0
    assert found.n_rows[0, 2] == 0


def test_one_row():
    for method in METHODS:
        assert np.isnan(correlation_matrix(np.ones((1, 2)), method).coefficients).all()


def test_infinite_values():
    values = np.array([[1.0, 1.0], [2.0, 2.0], [3.0, 4.0], [np.inf, 5.0]])
    assert correlation_matrix(values).coefficients[0, 1] == pytest.approx(
        pearsonr(values[:3, 0], values[:3, 1]).statistic
    )
    assert correlation_matrix(values, "spearman").coefficients[0, 1] == pytest.approx(1.0)


def test_huge_and_tiny_numbers_do_not_overflow():
    x = np.arange(5.0)
    for scale in (1e200, 1e-200):
        found = correlation_matrix(np.column_stack([x * scale, [2, 1, 4, 3, 5]])).coefficients
        assert found[0, 1] == pytest.approx(0.8)


@pytest.mark.parametrize("method", METHODS)
def test_correlations_keep_their_bounds(method):
    x = np.random.default_rng(0).random(50) * 1e-9
    found = correlation_matrix(np.column_stack([x, 3 * x, -x]), method).coefficients
    np.testing.assert_allclose(found, [[1, 1, -1], [1, 1, -1], [-1, -1, 1]])
    assert np.abs(found).max() <= 1.0


def test_fisher_interval_of_scipy(values):
    found = pearsonr(values[:, 0], values[:, 1])
    low, high = fisher_interval(np.array(found.statistic), np.array(200))
    assert (low, high) == pytest.approx(tuple(found.confidence_interval()))


def test_few_rows_bound_nothing():
    low, high = fisher_interval(np.array([0.5, 1.0, np.nan]), np.array([3, 2, 9]))
    assert low[:2].tolist() == [-1.0, -1.0]
    assert high[:2].tolist() == [1.0, 1.0]
    assert np.isnan([low[2], high[2]]).all()
    few = Correlations(np.array([0.5, 1.0]), np.array([3, 2]))
    assert np.isnan(difference_p_value(few, few)).all()
    low, high = difference_interval(few, few)
    assert (low <= 0.0).all()
    assert (high >= 0.0).all()


@pytest.mark.parametrize(("method", "v", "k"), [("pearson", 1, 3), ("spearman", 1.06, 3), ("kendall", 0.437, 4)])  # fmt: skip
def test_difference_by_hand(method, v, k):
    first, second = Correlations(np.array(0.6), np.array(100)), Correlations(np.array(0.3), np.array(150))  # fmt: skip
    error = np.sqrt(v / (100 - k) + v / (150 - k))
    expected = 2 * norm.sf((np.arctanh(0.6) - np.arctanh(0.3)) / error)
    assert difference_p_value(first, second, method) == pytest.approx(expected, abs=1e-9)
    (l1, u1), (l2, u2) = (fisher_interval(*c, method) for c in (first, second))
    low, high = difference_interval(first, second, method)
    assert low == pytest.approx(0.3 - np.sqrt((0.6 - l1) ** 2 + (u2 - 0.3) ** 2))
    assert high == pytest.approx(0.3 + np.sqrt((u1 - 0.6) ** 2 + (0.3 - l2) ** 2))


def test_perfect_lines():
    line = Correlations(np.array([1.0, 1.0]), np.array([50, 50]))
    other = Correlations(np.array([1.0, 0.2]), np.array([50, 50]))
    assert difference_p_value(line, other).tolist() == [1.0, 0.0]
    low, high = difference_interval(line, other)
    assert (low[0], high[0]) == (0.0, 0.0)
    assert 0.0 < low[1] < 0.8 < high[1]


@pytest.mark.slow
def test_intervals_of_differences_hold_the_truth():
    rng = np.random.default_rng(0)
    held, rejected = [], []
    for _ in range(1_500):
        x, y, z = (
            correlation_matrix(rng.multivariate_normal([0, 0], [[1, r], [r, 1]], size=n))
            for r, n in ((0.6, 100), (0.3, 150), (0.6, 150))
        )
        low, high = difference_interval(x, y)
        held.append(low[0, 1] <= 0.3 <= high[0, 1])
        rejected.append(difference_p_value(x, z)[0, 1] < 0.05)
    assert 0.935 <= np.mean(held) <= 0.965
    assert 0.035 <= np.mean(rejected) <= 0.065


def by_definition(groups, x):
    present = ~np.isnan(x)
    groups, x = groups[present], x[present]
    between = sum(
        (groups == g).sum() * (x[groups == g].mean() - x.mean()) ** 2 for g in np.unique(groups)
    )
    return np.sqrt(between / ((x - x.mean()) ** 2).sum())


def test_correlation_ratio_by_hand():
    values, groups = np.array([[1.0], [3], [2], [4], [6], [8]]), np.array([[0, 0, 1, 1, 2, 2]]).T
    eta = correlation_ratios(groups, [3], values)
    assert eta[0, 0] == pytest.approx(0.907485, abs=1e-6)
    assert eta[0, 0] ** 2 == pytest.approx(14 / 17)


def test_correlation_ratios_by_definition(values):
    rng = np.random.default_rng(0)
    groups = rng.integers(0, [3, 5], size=(200, 2))
    values[:, 0] += groups[:, 0]
    values[rng.random(values.shape) < 0.1] = np.nan
    values[groups[:, 1] == 4, 2] = np.nan  # a group without any number
    found = correlation_ratios(groups, [4, 5], values)
    expected = [[by_definition(g, x) for x in values.T] for g in groups.T]
    np.testing.assert_allclose(found, expected, atol=1e-9)


def test_correlation_ratios_that_are_not_defined():
    groups = np.array([[0, 0, 1, 1], [0, 0, 0, 0]]).T
    x = np.array([1.0, 2.0, 3.0, np.inf])
    values = np.column_stack([x, np.full(4, 7.0), np.full(4, np.nan), [1, 2, np.nan, np.nan]])
    found = correlation_ratios(groups, [2, 2], values)
    assert found[0, 0] == pytest.approx(by_definition(groups[:3, 0], x[:3]))
    assert np.isnan(found[0, 1:]).all()
    assert np.isnan(found[1]).all()
    assert correlation_ratios(groups[:, :0], [], values).shape == (0, 4)
    assert correlation_ratios(groups, [2, 2], values[:, :0]).shape == (2, 0)
