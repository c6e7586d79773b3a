"""Encoding of mixed columns as numbers and narrow codes, and loops over chunks of rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial, reduce
from itertools import pairwise
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from skeval.exceptions import InvalidParameterError
from skeval.utils.cores import sharing

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Outcome = TypeVar("Outcome")
# MISSING, GRID_STEP and GRID_SHIFT never change because machine code on disk contains them
MISSING = 1e300  # a missing number. It is finite, so that no difference is NaN
LARGEST = 1e200  # numbers are clipped here, so that infinity is one distant value below MISSING
SMALLEST_RANGE = 1e-300  # a smaller range has no finite weight, so the column counts as constant
SMALLEST_WEIGHT = 1e-299  # keeps a missing value a full unit away from every number
GRID_STEP = 2.0**-32
GRID_SHIFT = 1.5 * 2.0**20  # adding and subtracting it rounds sums below 2^19 to GRID_STEP
MAX_NARROW = 254  # maximum number of codes in a uint8 column, without the code for unseen values
MAX_TABLE = 2**16  # codes below are looked up, larger ones searched for
TURN_ROWS = 1024  # rows transposed at once, within a core's cache
CHUNKS_PER_WORKER = 8  # evens out chunks of unequal cost
SUMMED_TILE = 16
SUMMED_CHUNKS = 8  # if outcomes are summed, the chunks must not depend on the workers


def column_lines(X: Floats) -> Floats:
    """Lay out each column contiguously. Copying in blocks is ten times faster."""
    if X.flags.f_contiguous:
        return X.T
    lines = np.empty(X.shape[::-1])
    for start in range(0, len(X), TURN_ROWS):
        lines[:, start : start + TURN_ROWS] = X[start : start + TURN_ROWS].T
    return lines


def round_to_grid(sums: Floats) -> Floats:
    """Round sums to the nearest multiple of 2^-32, so that ties are exact."""
    return (sums + GRID_SHIFT) - GRID_SHIFT


@dataclass(frozen=True)
class CodeBook:
    """Dense codes 0, 1, 2, ... for the values of one column, and one code for unseen values."""

    # A missing value is a value like any other. Small whole numbers are looked up in a table, which
    # needs a tenth of the time of a search.

    values: Floats | None
    table: NDArray[np.int64] | None
    n_seen: int

    @classmethod
    def learn(cls, column: Floats, *, whole: bool) -> CodeBook:
        """Collect the values of a column. Set `whole` if all are non-negative whole numbers."""
        top = np.fmax.reduce(column)
        if not whole or top >= MAX_TABLE:
            values = np.unique(np.clip(column, -LARGEST, LARGEST))
            return cls(values, None, len(values))
        size = int(np.fmax(top, 0.0)) + 3  # missing, 0 to top, larger
        slots = np.where(column >= 0, column + 1, 0.0).astype(np.intp)
        seen = np.bincount(slots, minlength=size) > 0
        n_seen = int(seen.sum())
        return cls(None, np.where(seen, np.cumsum(seen) - 1, n_seen), n_seen)

    def occurring(self) -> Floats:
        """Return each value that `learn` met once, for a book of these and other values."""
        if self.table is None:
            return np.asarray(self.values)
        slots = np.flatnonzero(self.table < self.n_seen)
        return np.where(slots == 0, np.nan, slots - 1.0)

    def encode(self, column: Floats) -> NDArray[np.int64]:
        """Translate a column into codes, `n_seen` for values that `learn` did not meet."""
        if self.table is not None:
            slots = np.where(column >= 0, column + 1, 0.0)
            np.minimum(slots, len(self.table) - 1, out=slots)
            return self.table[slots.astype(np.intp)]
        values, column = np.asarray(self.values), np.clip(column, -LARGEST, LARGEST)
        near = np.minimum(np.searchsorted(values, column), len(values) - 1)
        same = (values[near] == column) | (np.isnan(values[near]) & np.isnan(column))
        return np.where(same, near, self.n_seen).astype(np.int64)


class Encoded(NamedTuple):
    """Rows as the engine reads them, with one contiguous line for each column."""

    numbers: Floats
    codes: NDArray[np.uint8]
    n_rows: int


@dataclass(frozen=True)
class ColumnEncoder:
    """How each column of a table becomes numbers or codes."""

    # If the values of a column can only be equal or different (a categorical column or a range of
    # 0), the column gets a code book. With more than 254 codes, it precedes the numbers as 0, 1, 2,
    # ... with weight 1. Then `min(1, |a - b|)` is exactly 1 for different codes, and the sum stays
    # exact because these whole numbers are added first.

    books: dict[int, CodeBook]
    narrow: list[int]
    wide: list[int]
    metric: list[int]
    whole: frozenset[int]
    weights: Floats

    @classmethod
    def learn(
        cls, lines: Floats | Sequence[Floats], ranges: Floats | None, categorical: NDArray[np.bool_]
    ) -> ColumnEncoder:
        """Collect codes and weights from the reference rows."""
        if ranges is None:
            ranges = np.array(
                [
                    np.nan if coded else value_range(line)
                    for line, coded in zip(lines, categorical, strict=True)
                ]
            )
        metric = ~categorical & np.isfinite(ranges) & (ranges >= SMALLEST_RANGE)
        whole = frozenset(np.flatnonzero(categorical).tolist())
        books = {
            j: CodeBook.learn(lines[j], whole=j in whole) for j in np.flatnonzero(~metric).tolist()
        }
        wide = [j for j, book in books.items() if book.n_seen > MAX_NARROW]
        narrow = [j for j, book in books.items() if book.n_seen <= MAX_NARROW]
        weights = np.maximum(1.0 / ranges[metric], SMALLEST_WEIGHT)
        is_metric = np.flatnonzero(metric).tolist()
        return cls(books, narrow, wide, is_metric, whole, np.r_[np.ones(len(wide)), weights])

    def encode(self, lines: Floats) -> Encoded:
        """Translate rows, column by column."""
        n_wide, n_rows = len(self.wide), lines.shape[1]
        numbers = np.empty((n_wide + len(self.metric), n_rows))
        codes = np.empty((len(self.narrow), n_rows), dtype=np.uint8)
        rows = zip([*codes, *numbers[:n_wide]], [*self.narrow, *self.wide], strict=True)
        for row, j in rows:
            line = lines[j]
            if j in self.whole:
                legal = (line >= 0) & (np.floor(line) == line) & (line < np.inf) | np.isnan(line)
                if not legal.all():
                    raise InvalidParameterError(
                        f"MixedNearestNeighbors: column {j} is categorical and must contain whole "
                        f"numbers >= 0, or NaN for missing. Received {line[~legal][0]:g}. Encode "
                        "the categories first, or remove the column from categorical."
                    )
            row[:] = self.books[j].encode(line)
        for row, j in zip(numbers[n_wide:], self.metric, strict=True):
            np.clip(lines[j], -LARGEST, LARGEST, out=row)
            row[np.isnan(row)] = MISSING
        return Encoded(numbers, codes, n_rows)


def value_range(column: Floats) -> float:
    """Range of the finite values; NaN if there is none."""
    finite = np.clip(column[np.isfinite(column)], -LARGEST, LARGEST)
    return float(np.ptp(finite)) if finite.size else np.nan


def cut_chunks(order: Ints, tile: int, n_chunks: int) -> list[Ints]:
    """Cut into at most `n_chunks` chunks of about one size, at multiples of `tile`."""
    n_tiles = -(-order.size // tile)
    cuts = [n_tiles * i // n_chunks * tile for i in range(n_chunks + 1)]
    return [order[start:stop] for start, stop in pairwise(cuts) if start < stop]


def run_chunks(
    function: Callable[..., Outcome],
    order: Ints,
    *arguments: Any,
    n_jobs: int | None,
    tile: int,
    n_chunks: int | None = None,
) -> list[Outcome]:
    """Call `function(*arguments, chunk)` on chunks of `order`, on all cores that are idle."""
    # The outcomes are returned, not written to shared memory, so that chunks can travel to
    # other processes too.
    with sharing(n_jobs) as cores:
        n_chunks = n_chunks or (1 if cores.n == 1 else CHUNKS_PER_WORKER * cores.n)
        chunks = cut_chunks(order, tile, n_chunks)
        if len(chunks) > 1 and cores.n > 1:
            return cores.map(partial(function, *arguments), chunks)
        return [function(*arguments, chunk) for chunk in chunks]


def sum_shares(parts: list[tuple[Ints, Floats]]) -> tuple[Ints, Floats]:
    """Join the first items of chunks, and add the second in the order of the chunks.

    The last bits of a sum depend on the order.
    """
    return np.concatenate([part[0] for part in parts]), reduce(np.add, [part[1] for part in parts])
