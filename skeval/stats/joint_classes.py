"""Classes of rows that have the same combination of codes, and counts by class."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

_LARGEST = 2**62


def _dense(values: np.ndarray) -> tuple[np.ndarray, int]:
    """Return codes 0, 1, ... in the order of the integers `values`, and the number of codes."""
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
    """Return the class of each row, where rows of a class are equal in every column."""
    # The columns are combined into one number per row, which is made dense again before it
    # overflows. The time is linear in the cells of the table, except for one sort of the rows each
    # time that a number is made dense.
    columns, n = (codes.T, len(codes)) if isinstance(codes, np.ndarray) else (codes, n_rows or 0)
    classes, n_classes = np.zeros(n, dtype=np.int64), 1
    for column in columns:
        values, n_values = _dense(column)
        if n_classes * n_values > _LARGEST:
            classes, n_classes = _dense(classes)
        classes, n_classes = classes * n_values + values, n_classes * n_values
    return _dense(classes)[0]


def first_places(classes: np.ndarray) -> np.ndarray:
    """Return the position of the first row of each class."""
    first = np.zeros(int(classes.max(initial=-1)) + 1, dtype=np.int64)
    first[classes[::-1]] = np.arange(classes.size)[::-1]  # the last of equal indices counts
    return first


def distinct_codes(
    columns: Sequence[np.ndarray], counts: np.ndarray | None = None
) -> tuple[list[np.ndarray], np.ndarray]:
    """Get the distinct rows of a table of codes in order of first occurrence, with counts."""
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
    """Return how many rows of each table each class has, shape (n_tables, n_classes)."""
    # `weights` contains for each table the number of rows that an entry represents, or None for 1.
    n_classes = max(int(classes.max(initial=-1)) for classes in tables) + 1
    each = weights or [None] * len(tables)
    counts = [np.bincount(*one, minlength=n_classes) for one in zip(tables, each, strict=True)]
    return np.stack(counts).astype(np.int64, copy=False)


@dataclass(frozen=True)
class Pairs:
    """The pairs of class and value that occur, in ascending order, with counts."""

    classes: np.ndarray
    values: np.ndarray
    counts: np.ndarray

    @property
    def sizes(self) -> np.ndarray:
        """Number of rows of each class."""
        return np.bincount(self.classes, weights=self.counts)

    @property
    def starts(self) -> np.ndarray:
        """The start of the pairs of each class."""
        return np.flatnonzero(np.diff(self.classes, prepend=-1))

    @property
    def overall(self) -> np.ndarray:
        """Fraction of each value in the whole table."""
        return np.bincount(self.values, weights=self.counts) / self.counts.sum()


def pair_counts(
    classes: np.ndarray, values: np.ndarray, weights: np.ndarray | None = None
) -> Pairs:
    """Count the values within each class."""
    classes, _ = _dense(classes)
    values, n_values = _dense(values)
    pairs, codes = np.unique(classes * n_values + values, return_inverse=True)
    counts = np.bincount(codes.reshape(-1), weights).astype(np.int64, copy=False)
    return Pairs(pairs // n_values, pairs % n_values, counts)
