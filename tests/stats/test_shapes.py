from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import gaussian_kde

from skeval.diagnostic.coverage import outside, tukey_fences
from skeval.diagnostic.smoothness import full_width

RNG = np.random.default_rng(0)


def test_fences_by_hand():
    x = np.array([*range(10), 50, -40])
    assert tukey_fences(x) == (-6.5, 15.5)
    assert tukey_fences(x, k=0.0) == (1.75, 7.25)
    assert outside(x, (-6.5, 15.5)) == 2
    assert outside(np.array([np.nan, np.inf, -np.inf, -6.5, 15.5]), (-6.5, 15.5)) == 2


def test_width_of_a_normal_density():
    """A normal kernel on a normal sample: FWHM 2.3548 times the root of the summed variances."""
    x = np.random.default_rng(1).normal(size=200_000)
    h = 0.3
    expected = 2 * np.sqrt(2 * np.log(2)) * np.hypot(1.0, h)
    assert full_width(x, h) == pytest.approx(expected, rel=0.01)


@pytest.mark.parametrize(
    "x",
    [
        RNG.normal(size=500),
        RNG.lognormal(size=500),
        RNG.poisson(1.0, 500).astype(float),
        np.r_[RNG.normal(size=300), RNG.normal(9.0, 1.0, 250)],
        RNG.standard_t(2, 500),
        np.array([0.0, 1.0]),
    ],
)
def test_width_against_the_exact_density(x):
    kde = gaussian_kde(x)
    h = kde.factor * x.std(ddof=1)
    grid = np.linspace(x.min() - 3 * h, x.max() + 3 * h, 20_001)
    density = kde(grid)
    above = grid[density >= density.max() / 2]
    step = grid[1] - grid[0]
    assert full_width(x, kde.factor) == pytest.approx(above[-1] - above[0], rel=2e-3, abs=2 * step)


def test_equal_values_have_no_width():
    assert full_width(np.full(5, 0.1), 0.3) == 0.0
    assert full_width(np.zeros(2), 0.3) == 0.0


def test_a_fine_grid_is_taken_where_the_range_is_wide():
    x = np.append(np.random.default_rng(0).normal(size=20_000), 3000.0)
    bulk = full_width(x[:-1], 0.1 * x.std(ddof=1) / x[:-1].std(ddof=1))
    assert full_width(x, 0.1, n_grid=16) == pytest.approx(bulk, rel=0.01)


def test_scale_and_place_do_not_matter():
    x = np.random.default_rng(0).normal(size=1000)
    width = full_width(x, 0.25)
    assert full_width(7.0 * x, 0.25) == pytest.approx(7.0 * width)
    assert full_width(x + 1000.0, 0.25) == pytest.approx(width)
    assert full_width(-x, 0.25) == pytest.approx(width)
    assert full_width(x[::-1], 0.25) == pytest.approx(width)
