from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from skeval.stats import proximity as s

TSPR = np.array([0.05, 0.2, 0.3, 0.9, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6])
TTPR = np.array([0.25, 0.5, 0.6, 0.8, 1, 1.1, 1.2, 1.3, 1.4, 2])


def test_ratios_of_zero():
    found = s.ratios(np.array([0.0, 1.0, 0.0, 3.0]), np.array([0.0, 0.0, 2.0, 2.0]))
    assert found.tolist() == [1.0, np.inf, 0.0, 1.5]


def test_proximity_by_hand():
    tail = s.proximity(TSPR, TTPR, 0.1)
    assert (tail.threshold, tail.p_synthetic, tail.p_real, tail.ratio) == (0.25, 0.2, 0.1, 0.5)


def test_proximity_of_the_toy_table():
    nn = {
        "SR": np.array([0, 0.2, 1, 4]),
        "HR": np.array([2, 1, 2, 2]),
        "loo": np.array([1, 1, 3, 5]),
    }
    np.testing.assert_allclose(s.ratios(nn["SR"], nn["loo"]), [0, 0.2, 1 / 3, 0.8])
    np.testing.assert_allclose(s.ratios(nn["HR"], nn["loo"]), [2, 1, 2 / 3, 0.4])


def test_no_synthetic_ratio_in_the_tail():
    assert s.proximity(TSPR + 5, TTPR, 0.1).ratio == np.inf


def resampled_shares(tspr, ttpr, q, n_bootstrap, rng):
    """Resample rows the plain way."""
    shares = []
    for _ in range(n_bootstrap):
        rows = rng.integers(0, ttpr.size, ttpr.size)
        tail = s.proximity(tspr[rows], ttpr[rows], q)
        shares.append((tail.p_synthetic, tail.p_real))
    return np.array(shares).T


@pytest.mark.parametrize("digits", [1, 8])
def test_bootstrap_is_resampling_of_rows(digits):
    rng = np.random.default_rng(0)
    tspr, ttpr = rng.exponential(size=(2, 60)).round(digits)
    fast = s.proximity_bootstrap(tspr, ttpr, 0.1, 50, np.random.default_rng(1))
    plain = resampled_shares(tspr, ttpr, 0.1, 50, np.random.default_rng(1))
    np.testing.assert_allclose(fast, plain, atol=1e-12)


def leaky_ratios(rng, n, leak):
    """Return ratios of n train rows to a synthetic table that copies each with probability `leak`."""
    train, holdout, synthetic = rng.normal(size=(3, n, 2))
    copied = rng.random(n) < leak
    synthetic[copied] = train[copied]
    nearest = [
        np.partition(np.abs(train[:, None] - other).sum(axis=2), 1, axis=1)
        for other in (synthetic, holdout, train)
    ]
    base = nearest[2][:, 1]
    return (
        s.ratios(nearest[0][:, 0], base),
        s.ratios(nearest[1][:, 0], base),
        s.ratios(nearest[1][:, 1], base),
    )


@pytest.fixture(scope="module")
def simulated():
    """Ratios of 150 independent tables at each of three leaks."""
    return {
        leak: [leaky_ratios(np.random.default_rng([7, i]), 200, leak) for i in range(150)]
        for leak in (0, 0.1, 0.3)
    }


@pytest.mark.slow
@pytest.mark.parametrize("leak", [0, 0.1, 0.3])
def test_standard_errors_are_those_of_independent_tables(simulated, leak):
    shares = [s.proximity(tspr, ttpr, 0.1).p_synthetic for tspr, ttpr, _ in simulated[leak]]
    linearised = [
        s.proximity_covariance(tspr, ttpr, 0.1) ** 0.5 for tspr, ttpr, _ in simulated[leak]
    ]
    replicates = [
        s.proximity_bootstrap(tspr, ttpr, 0.1, 100, np.random.default_rng(i))[0].std(ddof=1)
        for i, (tspr, ttpr, _) in enumerate(simulated[leak])
    ]
    truth = np.std(shares, ddof=1)
    assert 0.85 * truth < np.mean(linearised) < 1.35 * truth
    assert 0.85 * truth < np.mean(replicates) < 1.35 * truth


def test_mean_score_of_a_fresh_table(simulated):
    scores, predicted = [], []
    for tspr, ttpr, second in simulated[0]:
        tail = s.proximity(tspr, ttpr, 0.1)
        scores.append(min(1.0, tail.ratio))
        both = np.clip(2 * np.mean(second <= tail.threshold), tail.p_real**2, tail.p_real)
        predicted.append(s.null_clipped_mean(tail.p_real, both, tspr.size))
    assert np.mean(predicted) == pytest.approx(np.mean(scores), abs=0.02)


@pytest.mark.parametrize(("ties", "share"), [(0.5, 0.625), (0.0, 0.5)])
def test_closer_share_of_the_toy_table(ties, share):
    to_train, to_holdout = np.array([0, 0.2, 1, 11]), np.array([2, 0.8, 1, 8])
    assert s.closer_share(to_train, to_holdout, ties=ties) == share


def test_permutation_variance_by_exhaustion():
    masses = np.array([0.5, 0.25, 0.25, 0.0])
    shares = [masses[list(chosen)].sum() for chosen in combinations(range(4), 2)]
    assert s.permutation_variance(masses, 2) == pytest.approx(np.var(shares))
    assert s.permutation_variance(masses, 2) == pytest.approx(0.0416667, abs=1e-7)


@pytest.mark.parametrize(("n_train", "n_holdout"), [(3, 5), (6, 2)])
def test_permutation_variance_of_unequal_tables(n_train, n_holdout):
    masses = np.random.default_rng(0).dirichlet(np.ones(n_train + n_holdout))
    shares = [masses[list(chosen)].sum() for chosen in combinations(range(masses.size), n_train)]
    assert s.permutation_variance(masses, n_train) == pytest.approx(np.var(shares))


def test_standard_error_agrees_with_the_permutation_variance_at_the_null():
    masses = np.random.default_rng(1).dirichlet(np.ones(2000))
    masses[:1000] *= 0.5 / masses[:1000].sum()
    masses[1000:] *= 0.5 / masses[1000:].sum()
    assert s.share_standard_error(masses, 1000) == pytest.approx(
        s.permutation_variance(masses, 1000) ** 0.5, rel=0.01
    )
