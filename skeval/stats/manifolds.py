"""Balls around rows as an estimate of the support of a distribution."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

import numpy as np
from scipy.spatial import cKDTree
from scipy.spatial.distance import cdist
from scipy.stats import hypergeom

TOLERANCE = 1e-12  # relative difference of distances that are equal but for rounding errors
_SMALLEST_RANGE = 1e-300  # a smaller range has no finite inverse, as in the neighbor engine
_PAIRS = 2**20  # pairs of one block: 8 MB for any number of rows
_MAX_FEATURES = 15  # a tree is not used for more features, as in scikit-learn
_SAMPLED = 16  # one in 16 balls is used to estimate how many rows a ball contains
_MAX_HELD = 0.05  # if balls contain more of all pairs, listing is slower than computing all pairs
_ROUNDED = 1e-13  # rounding error of a tree's bounds, relative to the squared extent of all rows
_SQUARED = 1e150  # larger numbers have no finite square


def row_blocks(n_queries: int, n_rows: int) -> Iterator[slice]:
    """Return slices of the queries whose pairs with all rows take little memory."""
    size = max(1, _PAIRS // max(1, n_rows))
    return (slice(at, min(at + size, n_queries)) for at in range(0, n_queries, size))


def is_within(distances: np.ndarray, radii: np.ndarray, strict: bool = False) -> np.ndarray:
    """Return which distances are at most their radius, or below their radius if `strict`."""
    # Distances that differ by one part in 10^12 are equal.
    if strict:
        inside: np.ndarray = distances < radii * (1.0 - TOLERANCE)
    else:
        inside = distances <= radii * (1.0 + TOLERANCE)
    return inside


def count_balls(
    queries: np.ndarray,
    rows: np.ndarray,
    radii: np.ndarray,
    limit: int | None = None,
    strict: bool = False,
) -> np.ndarray:
    """Count the Euclidean balls around rows that contain each query."""
    counts = _listed_balls(queries, rows, radii, strict)
    if counts is None:
        counts = np.empty(len(queries), dtype=np.int64)
        for block in row_blocks(len(queries), len(rows)):
            counts[block] = is_within(cdist(queries[block], rows), radii, strict).sum(axis=1)
    return counts if limit is None else np.minimum(counts, limit)


def _listed_balls(
    queries: np.ndarray, rows: np.ndarray, radii: np.ndarray, strict: bool
) -> np.ndarray | None:
    """Count with a tree of the queries, or return None if computing all pairs is faster."""
    small = all(np.abs(table).max(initial=0.0) < _SQUARED for table in (queries, rows))
    if queries.shape[1] > _MAX_FEATURES or not small:
        return None
    some = radii >= 0  # the tree would square a negative radius
    rows, radii = rows[some], radii[some]
    tree = cKDTree(queries, balanced_tree=False)  # a balanced tree is slow if values repeat
    # The bounds of the tree are updated from box to box. Their rounding errors are relative to
    # the extent of all rows.
    extent = np.ptp(np.vstack([queries, rows]), axis=0)
    reach = np.sqrt(radii**2 * (1.0 + 4.0 * TOLERANCE) + _ROUNDED * (extent @ extent))
    held = tree.query_ball_point(rows[::_SAMPLED], reach[::_SAMPLED], return_length=True)
    usual = max(held.mean(), 1.0) if len(held) else 1.0
    if usual > _MAX_HELD * len(queries):
        return None
    counts = np.zeros(len(queries), dtype=np.int64)
    for part in np.array_split(np.arange(len(rows)), int(usual * len(rows) / _PAIRS) + 1):
        found = tree.query_ball_point(rows[part], reach[part], return_sorted=False)
        query = np.fromiter(chain.from_iterable(found), dtype=np.int64)
        row = np.repeat(part, [len(near) for near in found])
        distances = np.sqrt(((queries[query] - rows[row]) ** 2).sum(axis=1))
        inside = is_within(distances, radii[row], strict)
        counts += np.bincount(query[inside], minlength=len(queries))
    return counts


def mixed_distances(
    queries: np.ndarray, rows: np.ndarray, ranges: np.ndarray, nominal: np.ndarray
) -> Iterator[tuple[slice, np.ndarray]]:
    """Yield the Gower distances of a few queries at a time to all rows."""
    # The distances equal the distances of the neighbor engine except for the last bits.
    coded = nominal | ~((ranges >= _SMALLEST_RANGE) & np.isfinite(ranges))
    codes = [_codes(column, len(queries)) for column in np.vstack([queries, rows]).T[coded]]
    with np.errstate(over="ignore", invalid="ignore"):  # infinite gaps are capped later
        weights = 1.0 / ranges[~coded]
        of_queries, of_rows = (
            np.clip(table[:, ~coded], -1e200, 1e200) * weights for table in (queries, rows)
        )
        low, high = (
            extreme(np.vstack([of_queries, of_rows]), axis=0) for extreme in (np.min, np.max)
        )
        plain = high - low <= 1.0  # no missing value and no difference that must be capped
    plain_queries, plain_rows = of_queries[:, plain], np.ascontiguousarray(of_rows[:, plain])
    for block in row_blocks(len(queries), len(rows)):
        sums = np.zeros((block.stop - block.start, len(rows)))
        if plain.any():
            sums += cdist(plain_queries[block], plain_rows, "cityblock")
        for a, b in codes:
            sums += a[block, None] != b
        for a, b in zip(of_queries[block, ~plain].T, of_rows[:, ~plain].T, strict=True):
            sums += _capped_gaps(a, b)
        yield block, sums / queries.shape[1]


def _codes(column: np.ndarray, n_queries: int) -> tuple[np.ndarray, np.ndarray]:
    """Return small integer codes of the values of queries and rows, including missing values."""
    codes = np.unique(column, return_inverse=True)[1].ravel().astype(np.int32)
    return codes[:n_queries], codes[n_queries:]


def _capped_gaps(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    with np.errstate(over="ignore", invalid="ignore"):
        gaps = np.minimum(np.abs(a[:, None] - b), 1.0)
    missing = np.isnan(a)[:, None], np.isnan(b)
    gaps[np.logical_or(*missing)] = 1.0
    gaps[np.logical_and(*missing)] = 0.0
    return gaps


def soft_cover(distances: np.ndarray, radius: float) -> np.ndarray:
    """Return the distance of each pair divided by the radius, at most 1."""
    # If the radius is 0, only copies cover each other.
    if radius > 0:
        return np.minimum(distances / radius, 1.0)
    return (distances > 0).astype(np.float64)


def expected_coverage(n_train: int, n_synthetic: int, k: int) -> float:
    """Return the mean coverage of two samples of the same continuous distribution."""
    a = np.arange(1, k + 1)
    return float(1.0 - np.prod((n_train - a) / (n_train + n_synthetic - a)))


def expected_clipped_coverage(n_train: int, n_good: int, k: int) -> float:
    """Return the mean clipped coverage of `n_good` new real rows."""
    j = np.arange(1, k + 1)
    return float(hypergeom.sf(j - 1, n_train - 1 + n_good, n_good, k + j - 1).mean())


def calibrated_coverage(coverage: float, n_train: int, n_synthetic: int, k: int) -> float:
    """Return the fraction of good rows among bad rows that has this clipped coverage."""
    # It is the fraction of the numbers from 0 to `n_synthetic` for which this number of good rows
    # has a lower expected coverage. It is found by bisection, because the expectation grows with
    # the number of good rows.
    low, high = 0, n_synthetic + 1
    while low < high:
        middle = (low + high) // 2
        if expected_clipped_coverage(n_train, middle, k) < coverage:
            low = middle + 1
        else:
            high = middle
    return low / (n_synthetic + 1)


def harmonic_mean(first: float, second: float) -> float:
    """Return the harmonic mean of two nonnegative numbers, or 0 if one of the two is 0."""
    total = first + second
    return 2.0 * first * second / total if total > 0 else total
