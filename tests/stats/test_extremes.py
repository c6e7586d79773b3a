"""Maxima of further samples vary as those of samples do."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import digamma, polygamma

from skeval.stats.extremes import MIN_LARGEST, maxima_of_further_samples


def maxima_from(samples, n=8):
    return np.array([maxima_of_further_samples(sample, n) for sample in samples])


def spread(maxima):
    """Return the standard deviation of the maxima of further samples."""
    return np.sqrt(maxima.var(axis=1, ddof=1).mean())


def test_the_maximum_of_exponential_samples():
    """Of n values it is the sum of exponential variables with means of 1/1 to 1/n."""
    n = 500
    drawn = maxima_from(np.random.default_rng(1).exponential(size=(2_000, n)) - 100.0) + 100.0
    assert drawn.mean() == pytest.approx(digamma(n + 1) - digamma(1), abs=0.1)
    assert spread(drawn) ** 2 == pytest.approx(polygamma(1, 1) - polygamma(1, n + 1), rel=0.15)


@pytest.mark.parametrize("power", [0.3, 1.0])
def test_the_maximum_of_samples_with_a_power_law(power):
    samples = np.random.default_rng(2).random((1_000, 1_000)) ** -power
    true, drawn = np.log(samples.max(axis=1)), np.log(maxima_from(samples))
    assert drawn.mean() == pytest.approx(true.mean(), rel=0.05)
    assert spread(drawn) == pytest.approx(true.std(), rel=0.15)


@pytest.mark.parametrize("sigma", [0.3, 1.0])
def test_the_maximum_of_lognormal_samples(sigma):
    """Their logarithms have a lighter tail than exponential values."""
    samples = np.exp(sigma * np.random.default_rng(2).normal(size=(300, 10_000)))
    true, drawn = np.log(samples.max(axis=1)), np.log(maxima_from(samples))
    assert drawn.mean() == pytest.approx(true.mean(), abs=0.05 * sigma)
    assert spread(drawn) == pytest.approx(true.std(), rel=0.05)


def test_the_maximum_of_samples_of_counts():
    """Equal values are values within one step, so that few gaps are a step and most are 0."""
    samples = np.random.default_rng(2).poisson(30.0, size=(300, 10_000)).astype(float)
    true, drawn = samples.max(axis=1), maxima_from(samples)
    assert drawn.mean() == pytest.approx(true.mean(), abs=0.5)
    assert spread(drawn) == pytest.approx(true.std(), rel=0.1)
    assert maxima_from(100.0 * samples[:5]) == pytest.approx(100.0 * maxima_from(samples[:5]))


def test_the_maximum_of_bounded_samples_hardly_varies():
    samples = np.random.default_rng(3).random((50, 10_000))
    assert maxima_from(samples) == pytest.approx(1.0, abs=0.02)


def test_what_does_not_vary_has_no_other_maxima():
    tied = np.append(np.arange(100.0), np.full(2 * MIN_LARGEST, 99.0))
    assert maxima_of_further_samples(tied, 5) is None
    assert maxima_of_further_samples(np.arange(2.0 * MIN_LARGEST), 5) is None


def test_large_numbers_stay_finite():
    few = [-np.geomspace(1.0, 4e307, 100), np.append(-np.ones(100), np.full(5, 4e307))]
    for values in (np.geomspace(1e-300, 4e307, 100), *few, np.geomspace(4e305, 4e307, 100)):
        maxima = maxima_of_further_samples(values, 5)
        assert np.isfinite(maxima).all()
        assert (np.diff(maxima) >= 0.0).all()


@pytest.mark.parametrize("limit", [0.0, 5e-324, 1e-6, 0.001])
def test_values_above_a_detection_limit_are_no_tail(limit):
    values = np.append(np.full(2_000, limit), [0.6, 0.8, 1.0])
    assert maxima_of_further_samples(values, 5).max() < 3.0


def test_numbers_without_positive_values_stay_so():
    maxima = maxima_of_further_samples(-np.random.default_rng(0).exponential(size=100), 5)
    assert maxima.max() <= 0.0


def test_equal_values_far_apart_do_not_become_negative_logarithms():
    values = np.concatenate([np.zeros(30), np.ones(8), [4.0, 7.0, 10.0]])
    maxima = maxima_of_further_samples(values, 5)
    assert 4.0 < maxima[0] < maxima[-1] < 20.0


def test_a_lighter_tail_varies_less_than_its_largest_values_alone_show():
    """The largest values of both are equal, but the gaps below them are wider in one."""
    ranks = np.arange(1, 2_001)
    power_law = 1.0 / ranks
    lighter = power_law * np.exp(-(np.log(np.maximum(ranks / 14, 1.0)) ** 2))
    found = [np.ptp(maxima_of_further_samples(values, 8)) for values in (power_law, lighter)]
    assert found[1] < 0.8 * found[0]
