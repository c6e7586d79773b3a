from __future__ import annotations

import numpy as np
import pytest

from skeval.diagnostic.coverage import (
    expected_category_coverage,
    expected_range_coverage,
    range_coverage,
)


@pytest.mark.parametrize(
    ("train", "synthetic", "value"),
    [
        ((1, 4), (2, 5), 2 / 3),
        ((37, 97.7), (45, 95), 0.823723),
        ((0, 10), (0, 10), 1.0),
        ((0, 10), (-1e308, 1e308), 1.0),
        ((-1.5e308, 1.5e308), (-1.5e308, 0), 0.5),
        ((0, 10), (11, 12), 0.0),
        ((0, 10), (-9, -8), 0.0),
        ((0, 1e-300), (0, 5e-301), 0.5),
    ],
)
def test_ranges_by_hand(train, synthetic, value):
    assert range_coverage(train, synthetic) == pytest.approx(value, abs=1e-6)


def test_a_range_of_one_value_is_none():
    assert np.isnan(range_coverage((3, 3), (3, 3)))


def brute_force(values, n_fresh, rng, n_draws=20_000):
    """Ranks of fresh rows are those of a shuffled pool; a row between two lies in their middle."""
    x = np.sort(values)
    ends = np.concatenate([[x[0]], (x[1:] + x[:-1]) / 2, [x[-1]]])
    score = np.empty(n_draws)
    for i in range(n_draws):
        # gaps fill as an urn does in which each drawn ball is put back with another like it
        shares = rng.dirichlet(np.ones(x.size + 1))
        gaps = np.flatnonzero(rng.multinomial(n_fresh, shares))
        score[i] = max(0.0, ends[gaps[-1]] - ends[gaps[0]])
    return score.mean() / np.ptp(values)


@pytest.mark.parametrize("n_fresh", [1, 4, 30])
def test_expected_range_coverage_against_draws(n_fresh):
    values = np.array([0.0, 0.5, 1.0, 4.0, 4.0, 4.0, 7.0, 20.0])
    expected = brute_force(values, n_fresh, np.random.default_rng(0))
    assert expected_range_coverage(values, n_fresh) == pytest.approx(expected, abs=0.01)


def test_expected_range_coverage_of_uniform_rows():
    """Two of n uniform values lie 1/(n+1) from the ends in the mean."""
    rng = np.random.default_rng(0)
    found = np.mean([expected_range_coverage(rng.random(200), 200) for _ in range(50)])
    assert found == pytest.approx(0.9947, abs=0.004)


def test_expected_range_coverage_uses_the_ends_only():
    values = np.sort(np.random.default_rng(0).normal(size=100_000))
    middle = values.copy()
    middle[1000:-1000] = 0.0
    assert expected_range_coverage(values, 50_000) == expected_range_coverage(middle, 50_000)


def test_expected_range_coverage_edges():
    assert np.isnan(expected_range_coverage(np.array([]), 3))
    assert np.isnan(expected_range_coverage(np.array([2.0, 2.0]), 3))
    assert np.isnan(expected_range_coverage(np.array([1.0, 2.0]), 0))
    assert expected_range_coverage(np.array([1.0, 2.0]), 10**9) == pytest.approx(1.0)


def test_expected_category_coverage_against_draws():
    shares, rng = np.array([0.6, 0.3, 0.09, 0.01]), np.random.default_rng(0)
    drawn = [(rng.multinomial(20, shares) > 0).mean() for _ in range(5000)]
    assert expected_category_coverage(shares, 20) == pytest.approx(np.mean(drawn), abs=0.01)
    assert expected_category_coverage(np.array([1.0]), 5) == 1.0
    assert np.isnan(expected_category_coverage(np.array([]), 5))
