from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import ndtr

from skeval.stats.distance_bounds import (
    Confusion,
    jensen_shannon_terms,
    ks_bound,
    pooled_bound,
    separation,
    two_sided_bound,
)


def test_the_published_bounds():
    assert pooled_bound(300, 1000) == pytest.approx(0.350493, abs=5e-7)
    hoeffding = 1 - 2 * (0.3 + np.sqrt(np.log(20) / 2000))
    assert hoeffding == pytest.approx(0.322595, abs=5e-7)
    assert pooled_bound(0, 50) == pytest.approx(0.883690, abs=5e-7)
    assert pooled_bound(500, 1000) == 0.0
    assert pooled_bound(50, 50) == 0.0


def test_a_score_of_one_half_tells_nothing():
    found = Confusion.from_scores(np.array([0.1, 0.5, 0.9]), np.array([0.5, 0.8]))
    assert (found.n_real_as_synthetic, found.n_synthetic_as_synthetic) == (1, 1)
    assert found.accuracy == pytest.approx((0.5 + 0.75) / 2)
    assert found.n_errors == 2
    assert Confusion.from_scores(np.full(7, 0.5), np.full(3, 0.5)).accuracy == 0.5


def test_two_sided_bound_by_hand():
    # all right: each rate is at least 0.025 ** (1 / n)
    assert two_sided_bound(Confusion(50, 80, 0, 80, 1.0)) == pytest.approx(
        0.025 ** (1 / 50) + 0.025 ** (1 / 80) - 1
    )
    assert two_sided_bound(Confusion(10, 10, 10, 0, 0.0)) == 0.0


def test_separation_is_the_kolmogorov_statistic_of_one_side():
    from scipy.stats import ks_2samp

    rng = np.random.default_rng(0)
    real, synthetic = rng.integers(0, 9, 40) / 9, rng.integers(2, 11, 25) / 9
    # the greater the scores, the lower the distribution function
    expected = ks_2samp(synthetic, real, alternative="less").statistic
    assert separation(real, synthetic) == pytest.approx(expected)
    slack = np.sqrt(np.log(40) / 80) + np.sqrt(np.log(40) / 50)
    assert ks_bound(real, synthetic) == pytest.approx(max(0, expected - slack))
    assert ks_bound(real, real) == 0.0


def test_jensen_shannon_of_two_cells():
    # P = (3/4, 1/4), Q = (1/4, 3/4), true probabilities: the divergence itself
    real, synthetic = np.array([0.25, 0.25, 0.25, 0.75]), np.array([0.25, 0.75, 0.75, 0.75])
    divergence = 1 + 0.75 * np.log2(0.75) + 0.25 * np.log2(0.25)
    assert jensen_shannon_terms(real, synthetic)[0] == pytest.approx(divergence)
    sure = jensen_shannon_terms(np.zeros(5), np.ones(5))
    assert sure == (pytest.approx(1, abs=2e-6), pytest.approx(0, abs=1e-12))
    assert jensen_shannon_terms(np.ones(5), np.zeros(5))[0] == pytest.approx(-19)


@given(st.integers(1, 60), st.integers(1, 60), st.integers(0, 10**6))
def test_bounds_are_bounds(n, m, seed):
    rng = np.random.default_rng(seed)
    real, synthetic = rng.uniform(size=n).round(1), rng.uniform(size=m).round(1)
    called = Confusion.from_scores(real, synthetic)
    estimate = separation(real, synthetic)
    assert 0 <= ks_bound(real, synthetic) <= estimate <= 1
    assert 0 <= two_sided_bound(called) <= max(0.0, 2 * called.accuracy - 1) + 1e-12
    assert 0 <= pooled_bound(called.n_errors, n + m) <= 1


@pytest.mark.slow
@pytest.mark.parametrize("mu", [0.0, 1.0])
def test_bounds_hold_as_often_as_they_say(mu):
    """Two normal laws and the best classifier: their distance is 2 Phi(mu / 2) - 1."""
    truth, bounds = 2 * ndtr(mu / 2) - 1, {"pooled": [], "two_sided": [], "ks": []}
    for seed in range(2000):
        rng = np.random.default_rng(seed)
        real, synthetic = ndtr(rng.normal(0, 1, 200) - mu / 2), ndtr(rng.normal(mu / 2, 1, 200))
        called = Confusion.from_scores(real, synthetic)
        bounds["pooled"].append(pooled_bound(called.n_errors, 400))
        bounds["two_sided"].append(two_sided_bound(called))
        bounds["ks"].append(ks_bound(real, synthetic))
    violated = {name: np.mean(np.array(found) > truth + 1e-12) for name, found in bounds.items()}
    assert violated["pooled"] <= 0.055
    assert violated["two_sided"] <= 0.02
    assert violated["ks"] <= 0.02
    if mu:
        means = {name: np.mean(found) for name, found in bounds.items()}
        assert means == pytest.approx({"pooled": 0.301, "two_sided": 0.243, "ks": 0.219}, abs=0.02)
