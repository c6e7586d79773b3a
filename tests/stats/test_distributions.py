from __future__ import annotations

import warnings
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import hypergeom, ks_2samp, wasserstein_distance

from skeval.stats import distributions as d
from skeval.stats import distributions as o
from skeval.stats.distributions import exact_mean, kolmogorov_distance

VALUES = arrays(float, st.integers(1, 30), elements=st.sampled_from([-1.0, 0.0, 0.5, 2.0, 7.25]))


@given(VALUES, VALUES)
@settings(deadline=None)
def test_kolmogorov_is_scipys(x, y):
    with warnings.catch_warnings():  # of the p-value, which is not asked for
        warnings.simplefilter("ignore", RuntimeWarning)
        expected = ks_2samp(x, y).statistic
    assert d.kolmogorov_distance(x, y) == pytest.approx(expected, abs=1e-12)
    assert d.kolmogorov_distance(x, y) == d.kolmogorov_distance(y, x)
    assert d.kolmogorov_distance(x, x) == 0.0


@pytest.mark.parametrize(
    ("x", "y", "distance"),
    [
        ([1], [2], 1.0),
        ([1, 2, 3, 4], [2, 3, 4, 5], 0.25),
        ([1, 0], [1, 1], 0.5),
        ([-np.inf, 1], [1, np.inf], 0.5),
    ],
)
def test_kolmogorov_by_hand(x, y, distance):
    assert d.kolmogorov_distance(np.array(x, float), np.array(y, float)) == distance


def test_empty_samples():
    none, some = np.array([]), np.array([1.0])
    assert d.kolmogorov_distance(none, some) == d.kolmogorov_distance(some, none) == 1.0
    assert np.isnan(d.kolmogorov_distance(none, none))
    assert d.total_variation(np.zeros(2), np.ones(2)) == 1.0
    assert np.isnan(d.total_variation(np.zeros(2), np.zeros(2)))
    assert np.isnan(d.expected_total_variation(np.zeros(2), np.ones(2)))


COUNTS = arrays(np.int64, 5, elements=st.integers(0, 40)).filter(lambda c: c.sum() > 0)


@given(COUNTS, COUNTS)
@settings(deadline=None)
def test_total_variation(p, q):
    expected = np.abs(p / p.sum() - q / q.sum()).sum() / 2
    assert d.total_variation(p, q) == pytest.approx(expected, abs=1e-12)
    assert d.total_variation(p, 3 * p) == 0.0
    assert 0.0 <= d.total_variation(p, q) <= 1.0


@given(COUNTS, COUNTS)
@settings(deadline=None)
@pytest.mark.slow
def test_expectation_by_summing_the_hypergeometric(p, q):
    n, m = p.sum(), q.sum()
    expected = 0.0
    for pooled in p + q:
        x = np.arange(pooled + 1)
        expected += (
            hypergeom.pmf(x, n + m, pooled, n) * np.abs(x / n - (pooled - x) / m)
        ).sum() / 2
    assert d.expected_total_variation(p, q) == pytest.approx(expected, abs=1e-9)


def test_expectation_over_all_relabellings():
    rows = np.array([0, 0, 1, 2, 2])
    found = [
        d.total_variation(np.bincount(order[:2], minlength=3), np.bincount(order[2:], minlength=3))
        for order in map(np.array, permutations(rows))
    ]
    exact = d.expected_total_variation(
        np.bincount(rows[:2], minlength=3), np.bincount(rows[2:], minlength=3)
    )
    assert exact == pytest.approx(np.mean(found), abs=1e-12)


@pytest.mark.parametrize(("n", "m", "published"), [(200, 200, 0.06078), (2000, 500, 0.03072)])
def test_expectation_agrees_with_the_published_simulation(n, m, published):
    rng, p = np.random.default_rng(0), np.array([0.5, 0.3, 0.15, 0.05])
    pools = [(rng.multinomial(n, p), rng.multinomial(m, p)) for _ in range(400)]
    assert np.mean([d.expected_total_variation(x, y) for x, y in pools]) == pytest.approx(
        published, rel=0.02
    )


SORTED_VALUES = arrays(
    float, st.integers(1, 30), elements=st.sampled_from([-1.0, 0.0, 0.5, 2.0, 7.25, 1e9])
).map(np.sort)


@given(SORTED_VALUES, SORTED_VALUES)
@settings(deadline=None)
@pytest.mark.slow
def test_distances_are_those_of_the_definitions(x, y):
    assert o.kolmogorov_of_ascending(x, y) == kolmogorov_distance(x, y)
    assert o.wasserstein_of_ascending(x, y) == pytest.approx(wasserstein_distance(x, y), rel=1e-9)
    assert o.wasserstein_of_ascending(x, y) == pytest.approx(
        o.wasserstein_of_ascending(y, x), rel=1e-9
    )
    assert o.wasserstein_of_ascending(x, x, 2.0) == o.kolmogorov_of_ascending(x, x) == 0.0


@pytest.mark.parametrize("seed", range(12))
def test_kolmogorov_of_long_samples(seed):
    rng = np.random.default_rng(seed)
    n, m = rng.integers(500, 6000, 2)
    x, y = rng.normal(size=n), rng.normal([0.0, 0.02, 1.0][seed % 3], 1, size=m)
    if seed % 4 == 1:
        x, y = x.round(1), y.round(1)
    if seed % 4 == 2:
        y = np.append(x, np.inf)
    x, y = np.sort(x), np.sort(y)
    assert o.kolmogorov_of_ascending(x, y) == kolmogorov_distance(x, y)
    assert o.kolmogorov_of_ascending(x, x) == 0.0


def test_empty_samples_of_sorted():
    none, some = np.array([]), np.array([1.0])
    assert o.kolmogorov_of_ascending(none, some) == o.kolmogorov_of_ascending(some, none) == 1.0
    assert np.isnan(o.kolmogorov_of_ascending(none, none))


@pytest.mark.parametrize(
    ("x", "y", "p", "distance"),
    [
        ([1, 2, 3, 4], [2, 3, 4, 5], 1, 1.0),
        ([1, 2, 3, 4], [1, 2, 3, 9], 1, 1.25),
        ([1, 2, 3, 4], [1, 2, 3, 9], 2, 2.5),
        ([1, 2, 3, 4], [1, 2, 3, 9], np.inf, 5.0),
        ([0, 1, 3], [5, 6], 1, 25 / 6),
        ([0, 1, 3], [5, 6], 2, np.sqrt((2 * 25 + 16 + 25 + 2 * 9) / 6)),
        ([0.0], [1e300, 1e300], 2, 1e300),
    ],
)
def test_wasserstein_by_hand(x, y, p, distance):
    found = o.wasserstein_of_ascending(np.array(x, float), np.array(y, float), p)
    assert found == pytest.approx(distance, rel=1e-12)


def test_wasserstein_of_other_orders_by_repetition():
    rng = np.random.default_rng(0)
    x, y = np.sort(rng.normal(size=15)), np.sort(rng.normal(size=10))
    gaps = np.abs(np.repeat(x, 2) - np.repeat(y, 3))
    for p in (1.0, 1.5, 2.0, 7.0):
        expected = (gaps**p).mean() ** (1 / p)
        assert o.wasserstein_of_ascending(x, y, p) == pytest.approx(expected, rel=1e-12)


def test_expectation_over_all_relabellings_of_sorted():
    values = np.array([0.0, 1.0, 1.0, 4.0, 4.5])
    found = [
        o.wasserstein_of_ascending(np.sort(order[:2]), np.sort(order[2:]))
        for order in map(np.array, permutations(values))
    ]
    assert o.expected_wasserstein(values[:2], values[2:]) == pytest.approx(np.mean(found))


def test_expectation_of_long_samples_is_read_at_fewer_points():
    """Rows that are repeated a hundred times differ by a tenth as much at random."""
    rng = np.random.default_rng(0)
    x, y = np.sort(rng.exponential(size=9_000)), np.sort(rng.exponential(size=7_000))
    exact = o.expected_wasserstein(x, y)
    many = o.expected_wasserstein(np.repeat(x, 100), np.repeat(y, 100))
    assert 10.0 * many == pytest.approx(exact, rel=0.03)


@given(SORTED_VALUES)
@settings(deadline=None)
def test_quantiles_are_numpys(x):
    q = np.linspace(0, 1, 9)
    assert o.quantiles_of_ascending(x, q) == pytest.approx(np.quantile(x, q), rel=1e-12, abs=1e-12)


def test_the_mean_that_no_order_changes():
    values = np.random.default_rng(0).normal(size=1000) * 10.0 ** np.arange(1000).clip(max=30)
    assert exact_mean(values) == exact_mean(values[::-1]) == exact_mean(sorted(values.tolist()))
    assert exact_mean([np.inf, 1.0]) == np.inf
    assert np.isnan(exact_mean([np.nan, 1.0]))
    assert exact_mean(np.array([1e308, 1e308, -1e308])) == pytest.approx(1e308 / 3)
