"""Joint cells of several columns: their counts, and what samples of the rows make of them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from math import comb

import numpy as np

from skeval.stats.distributions import hypergeometric_deviation, total_variation

__all__ = [
    "drawn_subsets",
    "equivalent_fraction",
    "expected_subsample_distance",
    "independent_distance",
    "joint_counts",
]

_DENSE = 2**16  # joint cells that are always counted in an array
_LARGEST = 2**62


def joint_counts(
    codes_x: Sequence[np.ndarray], codes_y: Sequence[np.ndarray], n_cells: Sequence[int]
) -> tuple[np.ndarray, np.ndarray]:
    """Return how often each joint cell of several columns occurs in two tables.

    Parameters
    ----------
    codes_x, codes_y : sequence of ndarray of shape (n,), (m,)
        The cell of each value, column by column.
    n_cells : sequence of int
        Number of cells of each column.

    Returns
    -------
    tuple of (ndarray, ndarray)
        Counts over the same cells: all of them in the mixed base of the numbers of cells, or, where
        these are more than 65,536 and more than there are rows, those that are used.

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.stats.joint import joint_counts
    >>> x, y = [np.array([0, 0, 1]), np.array([0, 1, 1])], [np.array([1]), np.array([1])]
    >>> [counts.tolist() for counts in joint_counts(x, y, (2, 2))]
    [[1, 1, 0, 1], [0, 0, 0, 1]]
    """
    n = codes_x[0].size
    n_joint = _n_joint(n_cells)
    if n_joint <= max(_DENSE, n + codes_y[0].size):
        p, q = (
            np.bincount(_radix(codes, n_cells), minlength=int(n_joint))
            for codes in (codes_x, codes_y)
        )
        return p, q
    both = [np.concatenate(pair) for pair in zip(codes_x, codes_y, strict=True)]
    compact = _compacted(both, n_cells)
    n_used = int(compact.max()) + 1
    return np.bincount(compact[:n], minlength=n_used), np.bincount(compact[n:], minlength=n_used)


def _radix(codes: Sequence[np.ndarray], n_cells: Sequence[int]) -> np.ndarray:
    """Return one number a row, in the mixed base of the numbers of cells."""
    joint = codes[0].astype(np.int64)
    for column, k in zip(codes[1:], n_cells[1:], strict=True):
        joint *= k
        joint += column
    return joint


def _compacted(codes: Sequence[np.ndarray], n_cells: Sequence[int]) -> np.ndarray:
    """Return one number a row, 0, 1, 2, ... over the joint cells that are used."""
    joint, n_used = codes[0].astype(np.int64), n_cells[0]
    for column, k in zip(codes[1:], n_cells[1:], strict=True):
        if n_used * k > _LARGEST:
            joint = np.unique(joint, return_inverse=True)[1]
            n_used = int(joint.max()) + 1
        joint = joint * k + column
        n_used *= k
    return np.asarray(np.unique(joint, return_inverse=True)[1])


def independent_distance(
    codes: Sequence[np.ndarray],
    margins: Sequence[np.ndarray],
    counts: np.ndarray,
    n_rows: int,
    rng: np.random.Generator,
) -> float:
    """Return how far a table is from rows drawn with its columns made independent.

    Parameters
    ----------
    codes : sequence of ndarray of shape (n,)
        The cell of each value, column by column.
    margins : sequence of ndarray
        The counts of each column's cells.
    counts : ndarray
        The table's joint counts, as :func:`joint_counts` gives them.
    n_rows : int
        Number of rows to draw.
    rng : Generator
        Draws them.

    Returns
    -------
    float
        A total variation, in [0, 1].

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.stats.joint import independent_distance
    >>> codes, rng = [np.array([0, 1]), np.array([0, 1])], np.random.default_rng(0)
    >>> margins, counts = [np.array([1, 1])] * 2, np.array([1, 0, 0, 1])
    >>> round(independent_distance(codes, margins, counts, 1_000_000, rng), 2)
    0.5
    """
    n_cells = [margin.size for margin in margins]
    shares = [margin / margin.sum() for margin in margins]
    if counts.size != _n_joint(n_cells):  # too many joint cells to have an array of them
        drawn = [rng.choice(share.size, n_rows, p=share) for share in shares]
        return total_variation(*joint_counts(codes, drawn, n_cells))
    joint = np.ones(1)
    for share in shares:
        joint = np.multiply.outer(joint, share).ravel()
    return total_variation(counts, rng.multinomial(n_rows, joint / joint.sum()))


def _n_joint(n_cells: Sequence[int]) -> float:
    return float(np.prod([float(k) for k in n_cells]))


def expected_subsample_distance(counts: np.ndarray, times: np.ndarray, n_drawn: int) -> float:
    """Return the mean total variation of a sample of rows from all rows it is drawn of.

    Parameters
    ----------
    counts : ndarray of shape (n_distinct,)
        Counts of cells, over one or several tables of the same rows.
    times : ndarray of shape (n_distinct,)
        In how many cells each count occurs, a table.
    n_drawn : int
        Number of rows drawn without replacement.

    Returns
    -------
    float
        The mean over all samples and tables, in [0, 1].

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.stats.joint import expected_subsample_distance
    >>> counts = np.array([500, 300, 150, 50])
    >>> round(expected_subsample_distance(counts, np.ones(4), 100), 4)
    0.0577
    """
    n = round(float(counts @ times))
    deviation = hypergeometric_deviation(counts, n_drawn, n - n_drawn)
    return float((deviation * times).sum() / (2.0 * n_drawn))


def equivalent_fraction(distance: float, counts: np.ndarray, times: np.ndarray) -> float:
    """Return which share of the rows, drawn at random, is as far from all rows in the mean.

    Parameters
    ----------
    distance : float
        A total variation, or the mean of several.
    counts, times : ndarray of shape (n_distinct,)
        As in :func:`expected_subsample_distance`.

    Returns
    -------
    float
        1 for a distance of 0; 0 if even one row is nearer in the mean.

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.stats.joint import equivalent_fraction
    >>> round(equivalent_fraction(0.0577, np.array([500, 300, 150, 50]), np.ones(4)), 2)
    0.1
    """
    n = round(float(counts @ times))
    low, high = 0, n  # the distance falls with the number of rows, from at `low` to 0 at n
    while high - low > 1:
        middle = (low + high) // 2
        if expected_subsample_distance(counts, times, middle) > distance:
            low = middle
        else:
            high = middle
    if expected_subsample_distance(counts, times, 1) < distance:
        return 0.0
    nearer = [s for s in (low, high) if s > 0]
    gaps = [abs(expected_subsample_distance(counts, times, s) - distance) for s in nearer]
    return nearer[int(np.argmin(gaps))] / n


def drawn_subsets(
    names: Sequence[str], k: int, n_subsets: int | None, seed: int
) -> list[list[str]]:
    """Return distinct subsets of `k` names, all of them or at most so many drawn at random.

    Examples
    --------
    >>> from skeval.stats.joint import drawn_subsets
    >>> drawn_subsets(["b", "a", "c"], 2, None, 0)
    [['a', 'b'], ['a', 'c'], ['b', 'c']]
    """
    ordered = sorted(names)  # what is drawn must not depend on the order of columns
    n_all = comb(len(ordered), k)
    if n_subsets is None or n_subsets >= n_all:
        return [list(subset) for subset in combinations(ordered, k)]
    rng = np.random.default_rng(seed)
    drawn: set[tuple[int, ...]] = set()
    while len(drawn) < n_subsets:
        missing = n_subsets - len(drawn)
        for _ in range(missing):
            drawn.add(tuple(sorted(rng.choice(len(ordered), k, replace=False).tolist())))
    return [[ordered[i] for i in subset] for subset in sorted(drawn)]
