from __future__ import annotations

import numpy as np
import pytest

from skeval.fidelity.alpha_precision import integrated_agreement, levels_among, rank_levels


def test_agreement_is_the_integral():
    levels = np.append(np.random.default_rng(0).beta(2, 3, size=50), np.full(7, np.inf))
    grid = (np.arange(200_000) + 0.5) / 200_000
    share = np.searchsorted(np.sort(levels), grid, side="right") / levels.size
    expected = 1.0 - 2.0 * np.abs(share - grid).mean()
    assert integrated_agreement(levels) == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize(("levels", "value"), [([0.0], 0.0), ([np.inf] * 3, 0.0), ([0.5], 0.5)])
def test_agreement_at_the_ends(levels, value):
    assert integrated_agreement(np.array(levels)) == value


def test_evenly_spaced_levels_agree():
    assert integrated_agreement(np.arange(1, 1001) / 1000) == pytest.approx(1.0, abs=2e-3)


def test_a_level_is_the_least_whose_quantile_reaches_the_value():
    rng = np.random.default_rng(0)
    reference = np.round(rng.normal(size=30), 1)  # with ties
    values = np.concatenate([rng.normal(size=40), reference])
    levels = levels_among(values, reference)
    grid = np.linspace(0, 1, 20_001)
    quantiles = np.quantile(reference, grid)
    for value, level in zip(values, levels, strict=True):
        reached = quantiles >= value - 1e-12
        expected = grid[reached.argmax()] if reached.any() else np.inf
        assert level == pytest.approx(expected, abs=1e-4)


def test_one_reference_row():
    assert levels_among(np.array([0.0, 1.0, 2.0]), np.ones(1)).tolist() == [0.0, 0.0, np.inf]


def test_ranks_of_ties():
    assert rank_levels(np.array([1.0, 1.0])).tolist() == [1.0, 1.0]
