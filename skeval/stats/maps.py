"""Two-dimensional histograms of rows, pooled until each region contains enough rows."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
from scipy.stats import norm

_TAIL, _LARGEST_TAIL = 0.01, 0.25  # fractions of rows outside the ends that determine the edges
# An end is the mean of this number of rows, and at least this number of rows is outside, so that
# no edge reveals a single row.
_NEIGHBOURS = 10
_HALF_WIDTH = 3.5  # half width of the map, in standard deviations of a normal distribution


def grid_edges(values: np.ndarray, n_cells: int) -> np.ndarray:
    """Return the edges of bins of equal width, of which the outer bins extend to infinity."""
    ranked, tail = np.sort(values), _tail(values.size)
    at = int(tail * values.size)
    around = slice(max(0, at - _NEIGHBOURS // 2), at + _NEIGHBOURS // 2)
    low, high = float(ranked[around].mean()), float(ranked[::-1][around].mean())
    if high - low <= 1e-9 * max(1.0, abs(low), abs(high)):
        low, high = low - 0.5, high + 0.5  # a single value is in the middle
    margin = (_HALF_WIDTH / float(norm.isf(tail)) - 1.0) * (high - low) / 2.0
    digits = 2 - math.floor(math.log10(high - low))
    return np.linspace(round(low - margin, digits), round(high + margin, digits), n_cells + 1)


def _tail(n_rows: int) -> float:
    return min(_LARGEST_TAIL, max(_TAIL, _NEIGHBOURS / max(1, n_rows)))


def cells_on_grid(points: np.ndarray, edges: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
    """Return the bin number of each point, counted along the first coordinate."""
    columns, rows = (
        np.searchsorted(side[1:-1], values, side="right")
        for side, values in zip(edges, points.T, strict=True)
    )
    return np.asarray(rows * (edges[0].size - 1) + columns)


def pooled_regions(counts: np.ndarray, min_count: int) -> np.ndarray:
    """Pool the bins of a square grid into regions with a minimum number of rows."""
    # A bin with enough rows is a region. The remaining bins of each block of two by two bins are
    # a region if they contain enough rows together. Bins that still remain are pooled in blocks
    # of four by four, and so on.
    n = len(counts)
    regions = np.full(counts.shape, -1)
    n_regions, side = 0, 1
    while side <= n:
        left = np.where(regions < 0, counts, 0)
        blocks = left.reshape(n // side, side, n // side, side).sum(axis=(1, 3))
        enough = blocks >= min_count
        names = np.where(enough, np.cumsum(enough).reshape(enough.shape) - 1 + n_regions, -1)
        spread = np.repeat(np.repeat(names, side, axis=0), side, axis=1)
        regions = np.where(regions < 0, spread, regions)
        n_regions, side = n_regions + int(enough.sum()), 2 * side
    return regions


def pooled_shares(counts: np.ndarray, min_count: int) -> np.ndarray:
    """Get the fraction of rows in each bin, spread evenly over its region, or nan outside them."""
    regions = pooled_regions(counts, min_count)
    inside = regions >= 0
    n_rows = np.bincount(regions[inside], weights=counts[inside])
    n_cells = np.bincount(regions[inside])
    shares = np.full(counts.shape, np.nan)
    evenly = n_rows / n_cells / max(1.0, float(counts.sum()))
    shares[inside] = np.round(evenly, 8)[regions[inside]]
    return shares


def permuted_variations(
    first: np.ndarray, second: np.ndarray, n_permutations: int, seed: int
) -> np.ndarray:
    """Return the total variation of random divisions of pooled rows into tables of these sizes."""
    pooled, n, m = first + second, int(first.sum()), int(second.sum())
    drawn = np.random.default_rng(seed).multivariate_hypergeometric(
        pooled, n, size=n_permutations, method="marginals"
    )
    return np.asarray(np.abs(drawn / n - (pooled - drawn) / m).sum(axis=1) / 2.0)


def weights_by_column(loadings: np.ndarray, owners: list[str]) -> Mapping[str, float]:
    """Return the share of a direction that each column has, the largest first."""
    shares: dict[str, float] = {}
    for owner, loading in zip(owners, loadings, strict=True):
        shares[owner] = shares.get(owner, 0.0) + float(loading) ** 2
    ranked = sorted(shares.items(), key=lambda item: (-round(item[1], 9), item[0]))
    return {name: round(share, 4) for name, share in ranked}
