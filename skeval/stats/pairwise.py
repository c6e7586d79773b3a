"""Sums over all pairs of rows of two samples, under many labels, block by block."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.spatial.distance import cdist

_BLOCK = 2**20  # pairs held at once
_FEW_FEATURES = 32  # as cheap by differences as by products
_LARGE = 1e6  # squares of larger numbers leave too few digits for the difference
_TIES = 1e-9  # statistics that differ by less, relatively, are equal: sums depend on their order

PairSums = tuple[np.ndarray, np.ndarray, np.ndarray]
Block = Callable[[np.ndarray, np.ndarray], np.ndarray]


def actual_and_permuted(n: int, m: int, n_permutations: int, seed: int) -> np.ndarray:
    """Return labels of n + m pooled rows: the actual ones, then random permutations of them.

    Parameters
    ----------
    n, m : int
        Sizes of the first and of the second sample, which are pooled in this order.
    n_permutations : int
        Number of permutations.
    seed : int
        Of the permutations.

    Returns
    -------
    ndarray of shape (n + m, 1 + n_permutations), bool
        True for the first sample.

    Examples
    --------
    >>> from skeval.stats.pairwise import actual_and_permuted
    >>> labels = actual_and_permuted(2, 3, 5, seed=0)
    >>> labels[:, 0].tolist(), labels.sum(axis=0).tolist()
    ([True, True, False, False, False], [2, 2, 2, 2, 2, 2])
    """
    rng = np.random.default_rng(seed)
    labels = np.empty((n + m, 1 + n_permutations), dtype=np.bool_, order="F")
    labels[:, 0] = np.arange(n + m) < n
    for i in range(1, 1 + n_permutations):
        labels[:, i] = rng.permutation(labels[:, 0])
    return labels


def pair_sums(rows: np.ndarray, labels: np.ndarray, block: Block) -> PairSums:
    """Return the sums of a symmetric function over pairs within, between and within two samples.

    Parameters
    ----------
    rows : ndarray of shape (n_rows, n_features)
        Pooled rows.
    labels : ndarray of shape (n_rows, n_labelings), bool
        Which rows are of the first sample, in each labelling.
    block : callable
        Takes two sets of rows and returns the matrix of the function's values.

    Returns
    -------
    within_first, between, within_second : ndarray of shape (n_labelings,)
        Over ordered pairs within a sample, a row with itself included; over each pair between the
        samples once.

    Notes
    -----
    All labellings take one matrix product with each block of the upper triangle, which is never
    held as a whole.

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.stats.pairwise import euclidean, pair_sums
    >>> rows, labels = np.array([[0.0], [1.0], [3.0]]), np.array([[True], [True], [False]])
    >>> [float(total[0]) for total in pair_sums(rows, labels, euclidean)]
    [2.0, 5.0, 0.0]
    """
    n_rows = len(rows)
    of_first = labels.astype(np.float64)
    by_row, within_first = np.zeros(n_rows), np.zeros(labels.shape[1])
    step = max(1, min(n_rows, _BLOCK // n_rows))
    for start in range(0, n_rows, step):
        stop = min(start + step, n_rows)
        values, n_own = block(rows[start:stop], rows[start:]), stop - start
        by_row[start:stop] += values.sum(axis=1)
        by_row[stop:] += values[:, n_own:].sum(axis=0)
        values[:, n_own:] *= 2.0  # the lower triangle is the same again
        within_first += np.einsum("ij,ij->j", of_first[start:stop], values @ of_first[start:])
    of_rows = by_row @ of_first
    return within_first, of_rows - within_first, by_row.sum() - 2.0 * of_rows + within_first


def squared_euclidean(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return squared Euclidean distances of all rows of x to all rows of y; 0 for copies, or 1e-14.

    Parameters
    ----------
    x, y : ndarray of shape (n, n_features), (m, n_features)

    Returns
    -------
    ndarray of shape (n, m)
    """
    peak = max(np.abs(x).max(initial=0.0), np.abs(y).max(initial=0.0))
    if x.shape[1] <= _FEW_FEATURES or peak > _LARGE:
        exact: np.ndarray = cdist(x, y, "sqeuclidean")
        return exact
    squares = x @ y.T
    squares *= -2.0
    squares += np.einsum("ij,ij->i", x, x)[:, None]
    squares += np.einsum("ij,ij->i", y, y)[None, :]
    return np.maximum(squares, 0.0, out=squares)


def euclidean(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return Euclidean distances of all rows of x to all rows of y; 0 for copies, or 1e-7.

    Parameters
    ----------
    x, y : ndarray of shape (n, n_features), (m, n_features)

    Returns
    -------
    ndarray of shape (n, m)
    """
    squares = squared_euclidean(x, y)
    return np.sqrt(squares, out=squares)


def manhattan(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return sums of absolute differences of all rows of x and all rows of y; 0 for copies.

    Parameters
    ----------
    x, y : ndarray of shape (n, n_features), (m, n_features)

    Returns
    -------
    ndarray of shape (n, m)
    """
    distances: np.ndarray = cdist(x, y, "cityblock")
    return distances


def permutation_p_value(values: np.ndarray) -> float | None:
    """Return the share of labellings, the actual one among them, that reach the actual value.

    Parameters
    ----------
    values : ndarray of shape (1 + n_permutations,)
        Of the actual labels, then of permuted ones; large ones speak against equal distributions.

    Returns
    -------
    float or None
        None if nothing was permuted.

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.stats.pairwise import permutation_p_value
    >>> permutation_p_value(np.array([3.0, 1.0, 5.0, 2.0]))
    0.5
    """
    if values.size < 2:
        return None
    reached = values >= values[0] - _TIES * np.abs(values).max()
    return float(reached.sum() / values.size)
