from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import wasserstein_distance

from skeval.stats import distributions as o
from skeval.stats.distributions import kolmogorov_distance

VALUES = arrays(
    float, st.integers(1, 30), elements=st.sampled_from([-1.0, 0.0, 0.5, 2.0, 7.25, 1e9])
).map(np.sort)


@given(VALUES, VALUES)
@settings(deadline=None)
def test_distances_are_those_of_the_definitions(x, y):
    assert o.kolmogorov_of_sorted(x, y) == kolmogorov_distance(x, y)
    assert o.wasserstein_of_sorted(x, y) == pytest.approx(wasserstein_distance(x, y), rel=1e-9)
    assert o.wasserstein_of_sorted(x, y) == pytest.approx(o.wasserstein_of_sorted(y, x), rel=1e-9)
    assert o.wasserstein_of_sorted(x, x, 2.0) == o.kolmogorov_of_sorted(x, x) == 0.0


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
    assert o.kolmogorov_of_sorted(x, y) == kolmogorov_distance(x, y)
    assert o.kolmogorov_of_sorted(x, x) == 0.0


def test_empty_samples():
    none, some = np.array([]), np.array([1.0])
    assert o.kolmogorov_of_sorted(none, some) == o.kolmogorov_of_sorted(some, none) == 1.0
    assert np.isnan(o.kolmogorov_of_sorted(none, none))


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
    found = o.wasserstein_of_sorted(np.array(x, float), np.array(y, float), p)
    assert found == pytest.approx(distance, rel=1e-12)


def test_wasserstein_of_other_orders_by_repetition():
    rng = np.random.default_rng(0)
    x, y = np.sort(rng.normal(size=15)), np.sort(rng.normal(size=10))
    gaps = np.abs(np.repeat(x, 2) - np.repeat(y, 3))
    for p in (1.0, 1.5, 2.0, 7.0):
        expected = (gaps**p).mean() ** (1 / p)
        assert o.wasserstein_of_sorted(x, y, p) == pytest.approx(expected, rel=1e-12)


def test_expectation_over_all_relabellings():
    values = np.array([0.0, 1.0, 1.0, 4.0, 4.5])
    found = [
        o.wasserstein_of_sorted(np.sort(order[:2]), np.sort(order[2:]))
        for order in map(np.array, permutations(values))
    ]
    assert o.expected_wasserstein(values[:2], values[2:]) == pytest.approx(np.mean(found))


def test_expectation_of_long_samples_is_read_at_fewer_points(monkeypatch):
    rng = np.random.default_rng(0)
    x, y = np.sort(rng.exponential(size=9_000)), np.sort(rng.exponential(size=7_000))
    exact = o.expected_wasserstein(x, y)
    monkeypatch.setattr(o, "_N_POINTS", 1_000)
    assert o.expected_wasserstein(x, y) == pytest.approx(exact, rel=0.03)


@given(VALUES)
@settings(deadline=None)
def test_quantiles_are_numpys(x):
    q = np.linspace(0, 1, 9)
    assert o.quantiles_of_sorted(x, q) == pytest.approx(np.quantile(x, q), rel=1e-12, abs=1e-12)
