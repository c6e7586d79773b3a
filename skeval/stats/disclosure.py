"""Rows that share a combination of codes: their number, their diversity, their presence."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

__all__ = [
    "Pairs",
    "class_counts",
    "closeness",
    "distinct_diversity",
    "entropy_diversity",
    "joint_classes",
    "ordered_closeness",
    "pair_counts",
    "presence",
    "recursive_diversity",
    "replicated_uniques",
    "share_in_small",
]

_LARGEST = 2**62


def _dense(values: np.ndarray) -> tuple[np.ndarray, int]:
    """Return codes 0, 1, ... in the order of the whole numbers `values`, and how many there are."""
    if values.size == 0:
        return values.astype(np.int64), 0
    low = int(values.min())
    span = int(values.max()) - low + 1
    if span > 4 * values.size + 1024:  # a table of all values would cost more than sorting them
        distinct, codes = np.unique(values, return_inverse=True)
        return codes.reshape(-1), distinct.size
    shifted = values.astype(np.int64) - low
    rank = np.cumsum(np.bincount(shifted, minlength=span) > 0) - 1
    return rank[shifted], int(rank[-1]) + 1


def joint_classes(codes: np.ndarray) -> np.ndarray:
    """Return the class of each row: rows are in one class where they agree in every column.

    Parameters
    ----------
    codes : ndarray of shape (n_rows, n_columns)
        Whole numbers of any range. Without columns all rows agree.

    Returns
    -------
    ndarray of shape (n_rows,)
        0, 1, ..., in the lexicographic order of the rows; every number occurs.

    Notes
    -----
    Columns are folded into one number each, which is made dense again before it overflows:
    linear in the cells of the table, but for one sort of the rows each time that happens.

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.stats.disclosure import joint_classes
    >>> joint_classes(np.array([[1, 0], [0, 7], [1, 0], [1, 7]]))
    array([1, 0, 1, 2])
    """
    classes, n_classes = np.zeros(len(codes), dtype=np.int64), 1
    for column in codes.T:
        values, n_values = _dense(column)
        if n_classes * n_values > _LARGEST:
            classes, n_classes = _dense(classes)
        classes, n_classes = classes * n_values + values, n_classes * n_values
    return _dense(classes)[0]


def class_counts(*tables: np.ndarray) -> np.ndarray:
    """Return how many rows of each table each class has, shape (n_tables, n_classes).

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.stats.disclosure import class_counts
    >>> class_counts(np.array([0, 0, 2]), np.array([1, 2, 2]))
    array([[2, 0, 1],
           [0, 1, 2]])
    """
    n_classes = max(int(classes.max(initial=-1)) for classes in tables) + 1
    return np.stack([np.bincount(classes, minlength=n_classes) for classes in tables])


def share_in_small(counts: np.ndarray, k: int) -> float:
    """Return the share of rows in classes of fewer than `k` rows: 0 if none, 1 if all.

    Parameters
    ----------
    counts : ndarray of shape (n_classes,)
        Rows in each class; not all 0.
    k : int
        The size that is large enough.

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.stats.disclosure import share_in_small
    >>> share_in_small(np.array([1, 1, 6]), 2)
    0.25
    """
    return float(counts[counts < k].sum() / counts.sum())


@dataclass(frozen=True)
class Pairs:
    """The pairs of class and value that occur, in ascending order, and how often.

    Parameters
    ----------
    classes, values, counts : ndarray of shape (n_pairs,)
        Class, value and number of rows; classes and values are numbered from 0 without gaps.
    """

    classes: np.ndarray
    values: np.ndarray
    counts: np.ndarray

    @property
    def sizes(self) -> np.ndarray:
        """Number of rows of each class."""
        return np.bincount(self.classes, weights=self.counts)

    @property
    def starts(self) -> np.ndarray:
        """Where the pairs of each class begin."""
        return np.flatnonzero(np.diff(self.classes, prepend=-1))

    @property
    def overall(self) -> np.ndarray:
        """Share of each value in the whole table."""
        return np.bincount(self.values, weights=self.counts) / self.counts.sum()


def pair_counts(classes: np.ndarray, values: np.ndarray) -> Pairs:
    """Count the values within each class.

    Parameters
    ----------
    classes, values : ndarray of shape (n_rows,)
        Whole numbers of any range; their order is kept, they are numbered from 0 without gaps.

    Returns
    -------
    Pairs
        At most one a row, however many classes and values there are.

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.stats.disclosure import pair_counts
    >>> pair_counts(np.array([0, 0, 0, 1]), np.array([5, 8, 5, 8])).counts
    array([2, 1, 1])
    """
    classes, _ = _dense(classes)
    values, n_values = _dense(values)
    pairs, codes = np.unique(classes * n_values + values, return_inverse=True)
    return Pairs(pairs // n_values, pairs % n_values, np.bincount(codes.reshape(-1)))


def distinct_diversity(pairs: Pairs) -> np.ndarray:
    """Return the number of distinct values of each class: 1 where all its rows have one value.

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.stats.disclosure import distinct_diversity, pair_counts
    >>> distinct_diversity(pair_counts(np.array([0, 0, 1, 1]), np.array([3, 4, 4, 4])))
    array([2, 1])
    """
    return np.bincount(pairs.classes)


def entropy_diversity(pairs: Pairs) -> np.ndarray:
    """Return the effective number of values of each class: 1 for one value, m for m equal shares.

    Notes
    -----
    ``exp(-sum_v p_v log p_v)`` of the shares within the class.

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.stats.disclosure import entropy_diversity, pair_counts
    >>> entropy_diversity(pair_counts(np.array([0, 0, 1]), np.array([3, 4, 4]))).round(9)
    array([2., 1.])
    """
    share = pairs.counts / pairs.sizes[pairs.classes]
    return np.exp(np.maximum(0.0, -np.bincount(pairs.classes, weights=share * np.log(share))))


def recursive_diversity(pairs: Pairs, c: float) -> np.ndarray:
    """Return the greatest l for which each class is recursively (c, l)-diverse.

    Parameters
    ----------
    pairs : Pairs
        Of classes and sensitive values.
    c : float
        How many times the rarer values the most frequent one may come to.

    Returns
    -------
    ndarray of shape (n_classes,)
        The greatest l with ``r_1 < c (r_l + ... + r_m)``, r the counts in descending order; 0
        where there is none, which `c` above 1 excludes.

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.stats.disclosure import pair_counts, recursive_diversity
    >>> values = np.array([0, 0, 0, 0, 1, 1, 2])
    >>> recursive_diversity(pair_counts(np.zeros(7, dtype=int), values), c=2.0)
    array([2])
    """
    order = np.lexsort((-pairs.counts, pairs.classes))
    counts, starts, sizes = pairs.counts[order], pairs.starts, pairs.sizes
    before = np.cumsum(counts) - counts
    rarer = sizes[pairs.classes] - (before - before[starts][pairs.classes])
    holds = counts[starts][pairs.classes] < c * rarer
    # the tail shrinks from rank to rank, so that the ranks that hold are the first ones
    return np.bincount(pairs.classes, weights=holds).astype(np.int64)


def closeness(pairs: Pairs) -> np.ndarray:
    """Return how far the values of each class are from the table's: 0 if the same, 1 if disjoint.

    Notes
    -----
    Total variation, ``sum_v |p_v - q_v| / 2``, q the shares in the whole table: the earth mover's
    distance where all values are equally far from each other. Values that a class lacks enter
    through their sum, so that the cost is that of the pairs that occur.

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.stats.disclosure import closeness, pair_counts
    >>> closeness(pair_counts(np.array([0, 0, 1, 1]), np.array([0, 0, 1, 1])))
    array([0.5, 0.5])
    """
    q = pairs.overall[pairs.values]
    share = pairs.counts / pairs.sizes[pairs.classes]
    excess = np.bincount(pairs.classes, weights=np.abs(share - q) - q)
    return np.clip((1.0 + excess) / 2.0, 0.0, 1.0)


def ordered_closeness(pairs: Pairs) -> np.ndarray:
    """Return how far the values of each class are from the table's, with steps between values.

    Returns
    -------
    ndarray of shape (n_classes,)
        0 if the shares are the same, 1 if one has the least value only and the other the greatest.

    Notes
    -----
    The earth mover's distance of ordered values, each one step from the next:
    ``sum_i |P_i - Q_i| / (m - 1)`` with P and Q the cumulated shares and m the number of values of
    the table. Between two values of a class P is constant, and the sum over such a run comes from
    cumulated sums of Q, so that the cost is that of the pairs that occur.

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.stats.disclosure import ordered_closeness, pair_counts
    >>> ordered_closeness(pair_counts(np.array([0, 0, 1, 1]), np.array([0, 1, 1, 2])))
    array([0.25, 0.25])
    """
    cumulated = np.cumsum(pairs.overall)[:-1]
    n_steps, starts = cumulated.size, pairs.starts
    if n_steps == 0:
        return np.zeros(starts.size)
    share = pairs.counts / pairs.sizes[pairs.classes]
    running = np.cumsum(share)
    reached = running - (running - share)[starts][pairs.classes]
    last = np.append(starts[1:], share.size) - 1
    stop = np.append(pairs.values[1:], n_steps)
    stop[last] = n_steps  # beyond its last value a class has cumulated all its rows
    within = _run_sums(cumulated, reached, np.minimum(pairs.values, n_steps), stop)
    below = np.append(0.0, np.cumsum(cumulated))[pairs.values[starts]]
    total = below + np.bincount(pairs.classes, weights=within)
    return np.clip(total / n_steps, 0.0, 1.0)


def _run_sums(
    ascending: np.ndarray, levels: np.ndarray, start: np.ndarray, stop: np.ndarray
) -> np.ndarray:
    """Return the sums of ``|levels[j] - ascending[i]|`` over start[j] <= i < stop[j]."""
    sums = np.append(0.0, np.cumsum(ascending))
    middle = np.clip(np.searchsorted(ascending, levels), start, stop)
    under = levels * (middle - start) - (sums[middle] - sums[start])
    return under + (sums[stop] - sums[middle]) - levels * (stop - middle)


def presence(train: np.ndarray, population: np.ndarray, released: np.ndarray) -> np.ndarray:
    """Return the share of train among the population, for each released class of the population.

    Parameters
    ----------
    train, population, released : ndarray of shape (n_classes,)
        Rows of each class in train, in the population that train is part of, and in the release.

    Returns
    -------
    ndarray of shape (n_present,)
        1 where every row of a class is in train, 0 where none is; empty if the release has no
        class of the population.

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.stats.disclosure import presence
    >>> presence(np.array([2, 1, 0, 1]), np.array([3, 3, 1, 1]), np.array([1, 1, 1, 0])).round(4)
    array([0.6667, 0.3333, 0.    ])
    """
    present = (released > 0) & (population > 0)
    return train[present] / population[present]


def replicated_uniques(train: np.ndarray, synthetic: np.ndarray) -> tuple[int, int]:
    """Return how many classes have one row in both tables, and how many have one row in train.

    Parameters
    ----------
    train, synthetic : ndarray of shape (n_classes,)
        Rows of each class.

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.stats.disclosure import replicated_uniques
    >>> replicated_uniques(np.array([1, 2, 1, 0]), np.array([2, 0, 1, 1]))
    (1, 2)
    """
    unique = train == 1
    return int((unique & (synthetic == 1)).sum()), int(unique.sum())
