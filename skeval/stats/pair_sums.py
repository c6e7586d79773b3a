"""Sums over all pairs of rows of two samples, under many labels, block by block."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.spatial.distance import cdist

_BLOCK = 2**20  # maximum number of pairs in memory
_MAX_FEW_FEATURES = 32  # up to this number, differences are as fast as products
_LARGE = 1e6  # squares of larger numbers leave too few digits for the difference
_TIES = 1e-9  # smaller relative differences are ignored, because sums depend on their order
PairSums = tuple[np.ndarray, np.ndarray, np.ndarray]
Block = Callable[[np.ndarray, np.ndarray], np.ndarray]


def permuted_labels(n: int, m: int, n_permutations: int, seed: int) -> np.ndarray:
    """Return the actual labels of n + m pooled rows, followed by random permutations of them."""
    rng = np.random.default_rng(seed)
    labels = np.empty((n + m, 1 + n_permutations), dtype=np.bool_, order="F")
    labels[:, 0] = np.arange(n + m) < n
    for i in range(1, 1 + n_permutations):
        labels[:, i] = rng.permutation(labels[:, 0])
    return labels


def pair_sums(rows: np.ndarray, labels: np.ndarray, block: Block) -> PairSums:
    """Return the sums of a symmetric function over pairs within, between and within two samples."""
    # All labelings use one matrix product per block of the upper triangle, so that the whole
    # triangle is never in memory.
    n_rows = len(rows)
    of_first = labels.astype(np.float64)
    by_row, within_first = np.zeros(n_rows), np.zeros(labels.shape[1])
    step = max(1, min(n_rows, _BLOCK // n_rows))
    for start in range(0, n_rows, step):
        stop = min(start + step, n_rows)
        values, n_own = block(rows[start:stop], rows[start:]), stop - start
        by_row[start:stop] += values.sum(axis=1)
        by_row[stop:] += values[:, n_own:].sum(axis=0)
        values[:, n_own:] *= 2.0  # the lower triangle has the same sum
        within_first += np.einsum("ij,ij->j", of_first[start:stop], values @ of_first[start:])
    of_rows = by_row @ of_first
    return within_first, of_rows - within_first, by_row.sum() - 2.0 * of_rows + within_first


def squared_euclidean(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Get squared Euclidean distances of all rows of x to all rows of y, up to 1e-14 for copies."""
    peak = max(np.abs(x).max(initial=0.0), np.abs(y).max(initial=0.0))
    if x.shape[1] <= _MAX_FEW_FEATURES or peak > _LARGE:
        exact: np.ndarray = cdist(x, y, "sqeuclidean")
        return exact
    squares = x @ y.T
    squares *= -2.0
    squares += np.einsum("ij,ij->i", x, x)[:, None]
    squares += np.einsum("ij,ij->i", y, y)[None, :]
    return np.maximum(squares, 0.0, out=squares)


def euclidean(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return Euclidean distances of all rows of x to all rows of y, up to 1e-7 for copies."""
    squares = squared_euclidean(x, y)
    return np.sqrt(squares, out=squares)


def manhattan(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return sums of absolute differences of all rows of x and all rows of y."""
    distances: np.ndarray = cdist(x, y, "cityblock")
    return distances


def permutation_p_value(values: np.ndarray) -> float | None:
    """Return the fraction of all labelings, including the actual one, that reach its value."""
    if values.size < 2:
        return None
    reached = values >= values[0] - _TIES * np.abs(values).max()
    return float(reached.sum() / values.size)
