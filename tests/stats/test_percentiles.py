"""Percentiles of distances: by hand, by enumeration, by brute-force bootstrap."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from scipy.stats import ks_2samp

from skeval.stats import percentiles as stats

INF = np.inf
# T = {0, 1, 4, 9}, H = {2, 6, 7, 12}, S = {0, 1.2, 5, 20}, distances |a - b|
SYNTHETIC_TRAIN = np.array([0.0, 0.2, 1.0, 11.0])
HOLDOUT_TRAIN = np.array([1.0, 2.0, 2.0, 3.0])
TRAIN_TRAIN = np.array([1.0, 1.0, 3.0, 5.0])


def two_nearest(query, reference, *, itself=False):
    gaps = np.abs(np.subtract.outer(query, reference)).astype(float)
    if itself:
        np.fill_diagonal(gaps, INF)
    return np.sort(gaps, axis=1)[:, :2]


def test_toy_distances_and_ratios():
    train, holdout, synthetic = [0, 1, 4, 9], [2, 6, 7, 12], [0, 1.2, 5, 20]
    near = two_nearest(synthetic, train)
    np.testing.assert_allclose(near[:, 0], SYNTHETIC_TRAIN)
    np.testing.assert_allclose(two_nearest(holdout, train)[:, 0], HOLDOUT_TRAIN)
    np.testing.assert_allclose(two_nearest(train, train, itself=True)[:, 0], TRAIN_TRAIN)
    np.testing.assert_allclose(stats.neighbor_ratios(near), [0, 1 / 6, 1 / 4, 0.6875])
    np.testing.assert_allclose(
        stats.neighbor_ratios(two_nearest(holdout, train)), [0.5, 2 / 3, 2 / 3, 0.375]
    )
    np.testing.assert_allclose(
        stats.neighbor_ratios(two_nearest(train, train, itself=True)), [0.25, 1 / 3, 0.75, 0.625]
    )
    assert near[:, 0].mean() == pytest.approx(3.05)
    assert stats.percentile(near[:, 0], 0.5) == pytest.approx(0.6)


def test_toy_percentiles_and_ratios():
    assert stats.percentile(SYNTHETIC_TRAIN, 0.05) == pytest.approx(0.03)
    assert stats.percentile(HOLDOUT_TRAIN, 0.05) == pytest.approx(1.15)
    assert stats.percentile(TRAIN_TRAIN, 0.05) == pytest.approx(1.0)
    ratio = stats.percentile_ratio(SYNTHETIC_TRAIN, HOLDOUT_TRAIN, 0.05)
    assert ratio == pytest.approx(0.03 / 1.15)
    assert stats.percentile_ratio(SYNTHETIC_TRAIN, HOLDOUT_TRAIN, 0.5) == pytest.approx(0.3)


def test_equal_neighbours_cannot_be_told_apart():
    found = stats.neighbor_ratios(np.array([[0.0, 0.0], [0.0, 1.0], [2.0, 2.0]]))
    assert found.tolist() == [1.0, 0.0, 1.0]


@pytest.mark.parametrize("level", [0.0, 0.05, 0.3, 0.5, 0.9, 1.0])
@pytest.mark.parametrize("n", [1, 2, 7, 100])
def test_percentile_is_numpys(level, n):
    values = np.random.default_rng(n).random(n)
    assert stats.percentile(values, level) == pytest.approx(np.quantile(values, level))


def test_percentile_of_infinite_values():
    values = np.array([0.0, INF, INF, 1.0])
    assert stats.percentile(values, 0.2) == pytest.approx(0.6)
    assert stats.percentile(values, 0.5) == INF
    assert stats.percentile(values, 1.0) == INF
    assert stats.percentile(values, 1 / 3) == pytest.approx(1.0)


def test_interval_by_hand():
    # the number under the 5th percentile of 200 is binomial: 4 to 16 in 95%
    values = np.random.default_rng(0).permutation(np.arange(1.0, 201.0))
    assert stats.percentile_interval(values, 0.05, (0.0, 999.0)) == (4.0, 17.0)


@pytest.mark.parametrize("n", [1, 2, 5, 10, 50])
@pytest.mark.parametrize("level", [0.0, 0.001, 0.05, 0.5, 0.999, 1.0])
def test_interval_holds_the_value_and_reaches_the_bounds(n, level):
    values = np.random.default_rng(n).random(n)
    low, high = stats.percentile_interval(values, level, (0.0, 1.0))
    assert low <= stats.percentile(values, level) <= high
    assert (low == 0.0) == ((1 - level) ** n > 0.025)
    assert (high == 1.0) == (level**n > 0.025)


@pytest.mark.parametrize(("n", "level"), [(40, 0.05), (41, 0.5), (40, 0.5), (30, 1.0), (1, 0.3)])
def test_bootstrap_is_that_of_resampled_rows(n, level):
    rng = np.random.default_rng(0)
    values = rng.random(n) ** 2
    fast = stats.bootstrap_percentiles(values, level, 20_000, rng)
    slow = np.quantile(rng.choice(values, (20_000, n)), level, axis=1)
    for at in (0.025, 0.2, 0.5, 0.8, 0.975):
        assert np.quantile(fast, at) == pytest.approx(np.quantile(slow, at), abs=0.015)


@pytest.mark.parametrize("n", [1, 2, 7, 40])
def test_bootstrapped_medians_have_the_law_of_resampled_ones(n):
    rng = np.random.default_rng(0)
    values = rng.exponential(size=n)
    fast = stats.bootstrap_percentiles(values, 0.5, 20_000, np.random.default_rng(1))
    plain = np.median(rng.choice(values, (20_000, n)), axis=1)
    for q in (0.025, 0.25, 0.5, 0.75, 0.975):
        share = np.mean(fast <= np.quantile(plain, q) + 1e-12)
        assert share == pytest.approx(np.mean(plain <= np.quantile(plain, q) + 1e-12), abs=0.02)


def test_interval_of_a_ratio():
    rng = np.random.default_rng(0)
    values, others = rng.exponential(0.5, 300), rng.exponential(1.0, 200)
    low, high = stats.ratio_interval(values, others, 0.5, seed=1)
    assert low < stats.percentile_ratio(values, others, 0.5) < high
    assert 0.3 < low < 0.5 < high < 0.8
    assert (low, high) == stats.ratio_interval(values, others, 0.5, seed=1)
    assert (low, high) == stats.ratio_interval(values[::-1], rng.permutation(others), 0.5, seed=1)


def test_interval_of_a_ratio_of_zeros():
    zeros, ones = np.zeros(10), np.ones(10)
    assert stats.ratio_interval(zeros, ones, 0.5, seed=0) == (0.0, 0.0)
    assert stats.ratio_interval(zeros, zeros, 0.5, seed=0) == (1.0, 1.0)
    assert stats.ratio_interval(ones, zeros, 0.5, seed=0) == (INF, INF)


@pytest.mark.parametrize("seed", range(24))
def test_percentile_test_is_the_enumeration(seed):
    rng = np.random.default_rng(seed)
    n, m = rng.integers(1, 7, 2)
    level = float(rng.choice([0.0, 0.05, 0.2, 0.5, 0.7, 0.95, 1.0]))
    # half of the samples are full of ties
    pooled = rng.integers(0, 5, n + m).astype(float) if seed % 2 else rng.random(n + m)

    def gap(labels):
        low, high = (
            np.quantile(pooled[chosen], level, method="inverted_cdf")
            for chosen in (labels, ~labels)
        )
        return high - low

    every = []
    for chosen in combinations(range(n + m), n):
        labels = np.zeros(n + m, dtype=bool)
        labels[list(chosen)] = True
        every.append(gap(labels))
    observed = gap(np.arange(n + m) < n)
    expected = np.mean(np.array(every) >= observed - 1e-12)
    assert stats.percentile_test(pooled[:n], pooled[n:], level) == pytest.approx(expected)


def test_percentile_test_sees_copies():
    """Where all or some rows are copies, the percentile of nearly every division is 0 too."""
    others = np.random.default_rng(0).random(200)
    assert stats.percentile_test(np.zeros(200), others, 0.05) < 1e-50
    some = np.append(np.zeros(20), np.random.default_rng(1).random(180))
    assert stats.percentile_test(some, others, 0.05) < 0.005
    assert stats.percentile_test(others, np.zeros(200), 0.05) == pytest.approx(1.0)
    assert stats.percentile_test(np.zeros(50), np.zeros(60), 0.05) == 1.0


@pytest.mark.parametrize("level", [0.05, 0.5])
@pytest.mark.slow
def test_percentile_test_of_many_values_rejects_as_often_as_it_says(level):
    """Of many places those that hardly ever occur are skipped."""
    rng = np.random.default_rng(0)
    found = [stats.percentile_test(rng.random(6000), rng.random(5000), level) for _ in range(200)]
    assert np.mean(found) == pytest.approx(0.5, abs=0.07)
    assert np.mean(np.array(found) <= 0.1) == pytest.approx(0.1, abs=0.06)


def test_smaller_test_is_kolmogorovs():
    rng = np.random.default_rng(0)
    for n, m in ((3, 3), (40, 31), (1, 300), (700, 690), (5000, 5000)):
        values, others = rng.random(n) ** 1.1, rng.random(m)
        statistic, p_value = stats.smaller_test(values, others)
        method = "exact" if (n, m) != (700, 690) else "asymp"
        expected = ks_2samp(values, others, alternative="greater", method=method)
        assert (statistic, p_value) == (expected.statistic, expected.pvalue)
    assert stats.smaller_test(np.zeros(1), np.ones(999))[1] == pytest.approx(1 / 1000)
    assert stats.smaller_test(np.ones(50), np.zeros(50)) == (0.0, 1.0)
