"""Predicates that single out rows of a table, and the distinct rows of tables.

A table is an array of codes with one line per column. The codes are integers from 0 on in the order
of the values, equal for all tables, and -1 for a missing value. A predicate is a conjunction of
conditions "the code is between two bounds, and is not this one".
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import combinations
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skeval.privacy.attacks.anonymeter.matching import Codes, match_alone
from skeval.stats.joint_classes import joint_classes

NO_HOLE = -2
_BATCH = 16384  # number of predicates that are tested together
_MAX_SETS, _MAX_PAIRS = 100_000, 2_000_000  # up to these numbers, all combinations are listed


@dataclass(frozen=True)
class Predicates:
    """Conjunctions with equal numbers of conditions."""

    columns: NDArray[np.int64]
    low: Codes
    high: Codes
    hole: Codes

    def __len__(self) -> int:
        return len(self.columns)

    @property
    def parts(self) -> tuple[NDArray[np.int64], Codes, Codes, Codes]:
        """The four arrays as arguments of the loops over rows."""
        return self.columns, self.low, self.high, self.hole

    def take(self, which: np.ndarray) -> Predicates:
        """Return some of the predicates."""
        return Predicates(*(np.ascontiguousarray(part[which]) for part in self.parts))

    @classmethod
    def from_arrays(
        cls, columns: np.ndarray, low: np.ndarray, high: np.ndarray, hole: np.ndarray | None = None
    ) -> Predicates:
        """Return predicates from arrays of shape (n_predicates, n_conditions) or one column."""
        hole = np.full(np.shape(low), NO_HOLE) if hole is None else hole
        parts = [part[:, None] if part.ndim == 1 else part for part in (columns, low, high, hole)]
        kinds = (np.int64, np.int32, np.int32, np.int32)
        return cls(*(np.ascontiguousarray(x, k) for x, k in zip(parts, kinds, strict=True)))


@dataclass(frozen=True)
class Distinct:
    """The distinct rows of some tables in lexicographic order, with their counts by table."""

    codes: Codes
    counts: NDArray[np.int64]

    def table(self, i: int) -> tuple[Codes, NDArray[np.int64]]:
        """Return the distinct rows of one table and their counts."""
        there = self.counts[i] > 0
        return np.ascontiguousarray(self.codes[:, there]), self.counts[i][there]


def distinct_rows(*tables: Codes) -> Distinct:
    """Return the distinct rows of tables of codes, shape (n_columns, n_rows) each."""
    pooled = np.concatenate(tables, axis=1)
    classes = joint_classes(pooled.T)
    n_classes = int(classes.max()) + 1
    first = np.empty(n_classes, dtype=np.int64)
    first[classes] = np.arange(classes.size)
    ends = np.cumsum([table.shape[1] for table in tables])[:-1]
    counts = [np.bincount(part, minlength=n_classes) for part in np.split(classes, ends)]
    return Distinct(np.ascontiguousarray(pooled[:, first]), np.stack(counts))


def univariate_predicates(
    codes: Codes,
    is_number: np.ndarray,
    n_wanted: int,
    rng: np.random.Generator,
    *,
    distinct: bool = True,
) -> Predicates:
    """Create predicates with one condition that single out a row of a table without duplicates."""
    # The conditions for each column are: the value is missing, if exactly one value is missing;
    # the value is equal to a value that occurs once; a number is at most the minimum or at least
    # the maximum, if this value occurs once.
    parts = [_rare(column, j, is_number[j]) for j, column in enumerate(codes)]
    columns, low, high, rows = np.concatenate(parts, axis=1)
    order = rng.permutation(columns.size)
    if distinct:
        _, first = np.unique(rows[order], return_index=True)
        order = order[np.sort(first)]
    chosen = order[:n_wanted]
    return Predicates.from_arrays(columns[chosen], low[chosen], high[chosen])


def _rare(column: np.ndarray, j: int, is_number: bool) -> np.ndarray:
    """Return column, bounds and row of each condition that singles out a row, shape (4, n)."""
    present = column[column >= 0]
    missing = np.flatnonzero(column < 0)
    counts = np.bincount(present)
    once = np.flatnonzero(counts == 1)
    row_of = np.empty(counts.size, dtype=np.int64)
    row_of[present] = np.flatnonzero(column >= 0)
    conditions = [(once, once, row_of[once])]
    if missing.size == 1:
        conditions.append((np.array([-1]), np.array([-1]), missing))
    if is_number and present.size:
        ends = np.array([present.min(), present.max()])
        low, high = np.array([0, ends[1]]), np.array([ends[0], np.iinfo(np.int32).max])
        alone = counts[ends] == 1
        conditions.append((low[alone], high[alone], row_of[ends][alone]))
    low, high, rows = (np.concatenate(part) for part in zip(*conditions, strict=True))
    return np.stack([np.full(rows.size, j), low, high, rows])


def multivariate_predicates(
    codes: Codes,
    is_number: np.ndarray,
    n_wanted: int,
    n_cols: int,
    rng: np.random.Generator,
    *,
    max_attempts: int = 2_000_000,
    distinct: bool = True,
) -> Predicates:
    """Create predicates with several conditions that single out a row of a table."""
    # Each predicate is based on a random row and random columns. A category must be equal to the
    # category of the row, and a missing value must be missing. A number must be at least the
    # number of the row if that is above the median, and at most that number otherwise. The
    # predicate is kept if no other row matches. The table has no duplicates.
    n_rows, n_cols = codes.shape[1], min(n_cols, len(codes))
    shuffled = rng.permutation(n_rows)  # the table is sorted, so its first rows are similar
    scanned = np.ascontiguousarray(codes[:, shuffled])
    medians = [np.median(line[line >= 0]) if (line >= 0).any() else -1.0 for line in codes]
    seen, kept, n_kept = set[Any](), [], 0
    for rows, columns in _tries(n_rows, len(codes), n_cols, max_attempts, rng):
        tried = _around(codes, is_number, np.array(medians), rows, columns)
        alone = np.flatnonzero(match_alone(scanned, *tried.parts))
        keys = rows[alone].tolist() if distinct else map(bytes, np.hstack(tried.parts[:3])[alone])
        new = alone[_first_seen(keys, seen)[: n_wanted - n_kept]]
        kept.append(tried.take(new))
        n_kept += new.size
        if n_kept == n_wanted or (distinct and n_kept == n_rows):
            break
    return Predicates(*(np.concatenate(p) for p in zip(*(k.parts for k in kept), strict=True)))


def _tries(
    n_rows: int, n_columns: int, n_cols: int, max_attempts: int, rng: np.random.Generator
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield batches of random rows and sets of columns, or each pair once if there are few."""
    n_pairs = n_rows * comb(n_columns, n_cols)
    if n_pairs <= min(max_attempts, _MAX_PAIRS):
        listed = _listed_columns(n_columns, n_cols)
        for pairs in np.array_split(rng.permutation(n_pairs), -(-n_pairs // _BATCH)):
            rows, which = np.divmod(pairs, len(listed))
            yield rows, listed[which]
        return
    for start in range(0, max_attempts, _BATCH):
        size = min(_BATCH, max_attempts - start)
        yield rng.integers(n_rows, size=size), draw_columns(n_columns, n_cols, size, rng)


def draw_columns(n_columns: int, n_cols: int, size: int, rng: np.random.Generator) -> np.ndarray:
    """Return random sets of columns with equal probability, sorted, shape (size, n_cols)."""
    if comb(n_columns, n_cols) <= _MAX_SETS:
        listed = _listed_columns(n_columns, n_cols)
        return listed[rng.integers(len(listed), size=size)]
    everything = np.broadcast_to(np.arange(n_columns), (size, n_columns))
    return np.sort(rng.permuted(everything, axis=1)[:, :n_cols], axis=1)


def _listed_columns(n_columns: int, n_cols: int) -> np.ndarray:
    return np.array(list(combinations(range(n_columns), n_cols)))


def _around(
    codes: Codes, is_number: np.ndarray, medians: np.ndarray, rows: np.ndarray, columns: np.ndarray
) -> Predicates:
    """Return a predicate for each row that the row itself matches."""
    values = codes[columns, rows[:, None]]
    ordered = is_number[columns] & (values >= 0)
    above = values > medians[columns]
    low = np.where(ordered & ~above, 0, values)
    high = np.where(ordered & above, np.iinfo(np.int32).max, values)
    return Predicates.from_arrays(columns, low, high)


def _first_seen(keys: Iterable[Any], seen: set[Any]) -> list[int]:
    """Return the first position of each new key, and add all keys to `seen`."""
    first: dict[Any, int] = {}
    for i, key in enumerate(keys):
        first.setdefault(key, i)
    new = [i for key, i in first.items() if key not in seen]
    seen.update(first)
    return new


def random_predicates(
    codes: Codes, is_number: np.ndarray, n: int, n_cols: int, rng: np.random.Generator
) -> Predicates:
    """Create random predicates, like an attacker without the synthetic data."""
    # Each condition uses a random column, a random value among the distinct values of the table,
    # and the operator "is" or "is not". For numbers, "is less", "is more", "is at most" and "is
    # at least" are also possible.
    columns = draw_columns(len(codes), min(n_cols, len(codes)), n, rng)
    values = np.empty(columns.shape, dtype=np.int64)
    at_random = rng.random(columns.shape)
    for j, line in enumerate(codes):
        distinct, here = np.unique(line), columns == j
        values[here] = distinct[(at_random[here] * distinct.size).astype(np.int64)]
    top = np.iinfo(np.int32).max
    operator = (rng.random(columns.shape) * np.where(is_number[columns], 6, 2)).astype(np.int64)
    missing = values < 0
    operator = np.where(missing, np.minimum(operator, 1), operator)  # missing or not missing
    low = np.choose(operator, [values, np.zeros_like(values), 0, values + 1, 0, values])
    high = np.choose(operator, [values, top, values - 1, top, values, top])
    hole = np.where((operator == 1) & ~missing, values, NO_HOLE)
    return Predicates.from_arrays(columns, low, high, hole)
