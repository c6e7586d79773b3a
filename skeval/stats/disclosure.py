"""Rows that share a combination of codes, and what may be said of few rows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

_LARGEST = 2**62
SMALLEST = 1e-300  # a number below is as good as 0


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


def joint_classes(
    codes: np.ndarray | Iterable[np.ndarray], n_rows: int | None = None
) -> np.ndarray:
    """Return the class of each row: rows are in one class where they agree in every column.

    Parameters
    ----------
    codes : ndarray of shape (n_rows, n_columns), or iterable of ndarray of shape (n_rows,)
        Whole numbers of any range; of an iterable, a column at a time is in memory. Without columns
        all rows agree.
    n_rows : int, optional
        The number of rows, which an iterable does not say.

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
    columns, n = (codes.T, len(codes)) if isinstance(codes, np.ndarray) else (codes, n_rows or 0)
    classes, n_classes = np.zeros(n, dtype=np.int64), 1
    for column in columns:
        values, n_values = _dense(column)
        if n_classes * n_values > _LARGEST:
            classes, n_classes = _dense(classes)
        classes, n_classes = classes * n_values + values, n_classes * n_values
    return _dense(classes)[0]


def distinct_codes(
    columns: Sequence[np.ndarray], counts: np.ndarray | None = None
) -> tuple[list[np.ndarray], np.ndarray]:
    """Return the distinct rows of a table of codes, in the order of the first of each, and counts.

    Parameters
    ----------
    columns : sequence of ndarray of shape (n_rows,)
        At least one; missing (nan) is a value like any other.
    counts : ndarray of shape (n_rows,), optional
        For how many rows each stands; 1 by default.

    Returns
    -------
    columns : list of ndarray of shape (n_distinct,)
    counts : ndarray of shape (n_distinct,)

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.stats.disclosure import distinct_codes
    >>> distinct_codes([np.array([7, 7, 0, 7]), np.array([1, 2, 1, 1])])
    ([array([7, 7, 0]), array([1, 2, 1])], array([2, 1, 1]))
    """
    rows = np.zeros(len(columns[0]), dtype=np.int64)
    for column in columns:
        values, known = pd.factorize(column, use_na_sentinel=False)
        rows = pd.factorize(rows * max(1, len(known)) + values)[0]
    first = np.flatnonzero(np.diff(np.maximum.accumulate(rows), prepend=-1))
    times = np.bincount(rows, weights=counts).astype(np.int64)
    return [column[first] for column in columns], times


def class_counts(
    *tables: np.ndarray, weights: Sequence[np.ndarray | None] | None = None
) -> np.ndarray:
    """Return how many rows of each table each class has, shape (n_tables, n_classes).

    `weights` are by table for how many rows each entry stands, None for one.

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.stats.disclosure import class_counts
    >>> class_counts(np.array([0, 0, 2]), np.array([1, 2, 2]))
    array([[2, 0, 1],
           [0, 1, 2]])
    """
    n_classes = max(int(classes.max(initial=-1)) for classes in tables) + 1
    each = weights or [None] * len(tables)
    counts = [np.bincount(*one, minlength=n_classes) for one in zip(tables, each, strict=True)]
    return np.stack(counts).astype(np.int64, copy=False)


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


def pair_counts(
    classes: np.ndarray, values: np.ndarray, weights: np.ndarray | None = None
) -> Pairs:
    """Count the values within each class.

    Parameters
    ----------
    classes, values : ndarray of shape (n_rows,)
        Whole numbers of any range; their order is kept, they are numbered from 0 without gaps.
    weights : ndarray of shape (n_rows,), optional
        For how many rows each entry stands; 1 by default.

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
    counts = np.bincount(codes.reshape(-1), weights).astype(np.int64, copy=False)
    return Pairs(pairs // n_values, pairs % n_values, counts)


def rounded_ends(low: float, high: float, limit: float = np.inf) -> tuple[float, float]:
    """Return the ends moved outwards to even multiples of the second digit of their distance.

    No end is then a single row's number.

    Parameters
    ----------
    low, high : float
        The ends of an axis.
    limit : float, default=inf
        Beyond which there is no axis, on either side.

    Returns
    -------
    low, high : float
        The first is less than the second.

    Examples
    --------
    >>> from skeval.stats.disclosure import rounded_ends
    >>> rounded_ends(123.4, 987.6)
    (120.0, 1000.0)
    """
    size = max(abs(low), abs(high), SMALLEST)
    finest = max(size * 1e-12, SMALLEST)  # finer steps are lost in the ends' own digits
    span = high - low if high > low else 0.1 * size if size > SMALLEST else 10.0
    step = 2.0 * 10.0 ** (np.floor(np.log10(max(span, finest))) - 1.0)
    low, high = np.floor(low / step) * step, np.ceil(high / step) * step
    if high <= low:
        low, high = low - step, high + step
    return max(float(low), -limit), min(float(high), limit)
