"""Cells of maps are pooled until enough rows are in them, and a test of shares keeps its level."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from skeval.stats.distributions import total_variation
from skeval.stats.maps import (
    cells_on_grid,
    grid_edges,
    permuted_variations,
    pooled_regions,
    pooled_shares,
    weights_by_column,
)
from skeval.stats.pair_sums import permutation_p_value

COUNTS = arrays(np.int64, (8, 8), elements=st.integers(0, 30))


@settings(max_examples=60, deadline=None)
@given(COUNTS, st.integers(1, 40))
def test_no_region_has_fewer_rows_than_asked(counts, min_count):
    regions = pooled_regions(counts, min_count)
    for region in range(regions.max() + 1):
        assert counts[regions == region].sum() >= min_count
    assert counts[regions < 0].sum() < min_count


@settings(max_examples=60, deadline=None)
@given(COUNTS)
def test_shares_keep_all_rows_of_regions(counts):
    shares = pooled_shares(counts, 10)
    shown = ~np.isnan(shares)
    left = counts[~shown].sum()
    assert left < 10
    if counts.sum():
        assert np.nansum(shares) == pytest.approx(1.0 - left / counts.sum(), abs=1e-6)


def test_cells_with_enough_rows_stay_as_they_are():
    counts = np.full((4, 4), 12)
    assert len(np.unique(pooled_regions(counts, 10))) == 16
    assert len(np.unique(pooled_regions(counts, 13))) == 4  # blocks of two by two
    assert len(np.unique(pooled_regions(counts, 49))) == 1


def test_outer_cells_hold_what_lies_beyond():
    edges = np.array([0.0, 1.0, 2.0, 3.0, 4.0])
    points = np.array([[-1e9, 1e9], [4.0, 0.0], [1.0, 1.0]])
    assert cells_on_grid(points, (edges, edges)).tolist() == [12, 3, 5]


@pytest.mark.parametrize("value", [0.0, -3.0, 1e12])
def test_one_value_lies_in_the_middle(value):
    edges = grid_edges(np.full(50, value), 8)
    assert (np.diff(edges) > 0).all()
    assert edges[0] < value < edges[-1]


def test_no_edge_is_where_the_farthest_row_is():
    values = np.random.default_rng(0).normal(size=2000)
    outlier = np.append(values, 1e6)
    assert grid_edges(outlier, 8) == pytest.approx(grid_edges(values, 8), abs=0.05)


@pytest.mark.parametrize("n_rows", [50, 99, 300])
def test_edges_are_no_rows(n_rows):
    """They move by a tenth of one row's move at most, and are rounded."""
    values = np.random.default_rng(n_rows).normal(size=n_rows)
    edges = grid_edges(values, 8)
    width = edges[-1] - edges[0]
    assert 6.0 < width < 8.5
    for i in range(0, n_rows, 7):
        moved = values.copy()
        moved[i] = 1e9  # wherever it goes, its neighbours take its place
        assert np.abs(grid_edges(moved, 8) - edges).max() < 0.12 * width
    assert (edges[[0, -1]].round(2) == edges[[0, -1]]).all()


def test_weights_of_a_direction_sum_to_one():
    weights = weights_by_column(np.array([0.5, 0.5, 0.5, -0.5]), ["b", "a", "a", "a"])
    assert weights == {"a": 0.75, "b": 0.25}


def test_the_test_of_shares_keeps_its_level_and_finds_a_lost_fifth():
    rng = np.random.default_rng(0)
    shares = np.full(40, 1.0 / 40)
    lost = np.where(np.arange(40) < 8, 0.0, shares)
    rejected = {"same": 0, "lost": 0}
    for seed in range(200):
        holdout = rng.multinomial(300, shares)
        for name, of in (("same", shares), ("lost", lost / lost.sum())):
            other = rng.multinomial(300, of)
            permuted = permuted_variations(holdout, other, 99, seed)
            values = np.concatenate([[total_variation(holdout, other)], permuted])
            rejected[name] += permutation_p_value(values) <= 0.05
    assert rejected["same"] <= 20  # 10 are expected; more than 20 have a chance of 1 in 500
    assert rejected["lost"] >= 180
