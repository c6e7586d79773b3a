"""The compiled loops of the nearest-neighbour engine; the only module that imports numba.

Every distance in here is a *sum*: one for each categorical column that differs, plus `min(1, |a -
b| * weight)` for each number column in the order of the columns, in float64, rounded at the very
end to a multiple of 2^-32. Bounds are summed in the same order with the same cap and rounding;
addition, multiplication and min being monotone in IEEE arithmetic, `bound <= distance` holds in
floats as it does on paper, with no safety margin.

The fast-math flags allow no reordering and no fused multiply-add: a pair's distance depends on the
pair alone. They promise that no NaN occurs, which the encoding keeps (a missing number is
`MISSING`), and let `min` loops vectorise.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar, cast

import numba
import numpy as np
from numpy.typing import NDArray

from skeval.stats._columns import GRID_SHIFT, GRID_STEP, MISSING

__all__ = [
    "Bytes",
    "Floats",
    "Forest",
    "Ints",
    "Scratch",
    "bound_leaves",
    "inlined",
    "jit",
    "least_of",
    "sum_leaf",
    "visit",
]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bytes = NDArray[np.uint8]
Kernel = TypeVar("Kernel", bound=Callable[..., Any])

OPTIONS: dict[str, Any] = {"cache": True, "nogil": True, "fastmath": {"nnan", "nsz"}}
FLUSH = 255  # columns that a uint8 count of differences can hold


def jit(function: Kernel) -> Kernel:
    """Compile lazily, release the GIL, keep the machine code on disk."""
    return cast(Kernel, numba.njit(function, **OPTIONS))


def inlined(function: Kernel) -> Kernel:
    """Compile into the caller: handing over a dozen arrays costs as much as reading a leaf."""
    return cast(Kernel, numba.njit(function, inline="always", **OPTIONS))


class Forest(NamedTuple):
    """Reference rows in leaf order with a box around each leaf; a structure of arrays.

    Attributes
    ----------
    numbers : ndarray of shape (n_numbers, n_rows)
        Number columns; `MISSING` where missing.
    codes : ndarray of shape (n_codes, n_rows), uint8
        Narrow categorical columns.
    weights : ndarray of shape (n_numbers,)
        What a difference of one unit costs.
    rows : ndarray of shape (n_rows,)
        The original index of each row.
    offsets : ndarray of shape (n_leaves + 1,)
        Leaf `l` is the slice `offsets[l]:offsets[l + 1]`.
    low, high : ndarray of shape (n_numbers, n_leaves)
        The interval of present values.
    complete : ndarray of shape (n_numbers, n_leaves)
        1 where the leaf has no missing value, else 0.
    absent : ndarray of shape (sum of code counts, n_leaves), uint8
        1 where the leaf has no row with the code.
    first : ndarray of shape (n_codes,)
        Row of `absent` where the column's codes begin.
    """

    numbers: Floats
    codes: Bytes
    weights: Floats
    rows: Ints
    offsets: Ints
    low: Floats
    high: Floats
    complete: Floats
    absent: Bytes
    first: Ints


class Scratch(NamedTuple):
    """Working memory of one chunk: a leaf's sums and counts, a tile's bounds."""

    sums: Floats
    counts: Bytes
    leaf_counts: Bytes
    bounds: Floats


# -- one query -------------------------------------------------------------------------------------


@jit
def bound_leaves(
    forest: Forest, query: Floats, query_codes: Bytes, counts: Bytes, bounds: Floats
) -> None:
    """Write into `bounds` a sum that no row of the leaf is below, for every leaf."""
    n_leaves, n_codes = bounds.size, query_codes.size
    bounds[:] = 0.0
    for begin in range(0, n_codes, FLUSH):
        counts[:] = 0
        for j in range(begin, min(begin + FLUSH, n_codes)):
            absent = forest.absent[forest.first[j] + query_codes[j]]
            for leaf in range(n_leaves):
                counts[leaf] += absent[leaf]
        for leaf in range(n_leaves):
            bounds[leaf] += np.float64(counts[leaf])
    for j in range(query.size):
        value, weight = query[j], forest.weights[j]
        low, high, complete = forest.low[j], forest.high[j], forest.complete[j]
        if value < MISSING:
            for leaf in range(n_leaves):
                gap = max(0.0, max(low[leaf] - value, value - high[leaf]))
                bounds[leaf] += min(1.0, gap * weight)
        else:
            for leaf in range(n_leaves):
                bounds[leaf] += complete[leaf]
    for leaf in range(n_leaves):
        bounds[leaf] = (bounds[leaf] + GRID_SHIFT) - GRID_SHIFT


@jit
def _count_differences(
    codes: Bytes, query_codes: Bytes, start: int, stop: int, begin: int, counts: Bytes
) -> Any:
    """Count in uint8 the columns of one flush that differ; return the least count."""
    width = stop - start
    counts[:width] = 0
    for j in range(begin, min(begin + FLUSH, query_codes.size)):
        code, column = query_codes[j], codes[j, start:stop]
        for r in range(width):
            counts[r] += np.uint8(column[r] != code)
    least = np.uint8(FLUSH)
    for r in range(width):
        least = min(least, counts[r])
    return least


@jit
def least_of(sums: Floats, width: int) -> float:
    """Return the least of the first `width` sums."""
    least = MISSING
    for r in range(width):
        least = min(least, sums[r])
    return least


@jit
def sum_leaf(
    numbers: Floats, codes: Bytes, weights: Floats, query: Floats, query_codes: Bytes, start: int,
    stop: int, limit: float, step: int, sums: Floats, counts: Bytes,
) -> float:  # fmt: skip
    """Write the rounded sums of a slice of rows to `sums`; return the least.

    Returns `MISSING`, leaving the sums unfinished, as soon as no row can come to `limit` or below:
    that is tested after the categorical columns and after every `step` number columns.
    """
    width, n_codes = stop - start, query_codes.size
    if n_codes == 0:
        sums[:width] = 0.0
    for begin in range(0, n_codes, FLUSH):
        least_count = _count_differences(codes, query_codes, start, stop, begin, counts)
        if np.float64(least_count) > limit:
            return MISSING
        if begin == 0:
            for r in range(width):
                sums[r] = np.float64(counts[r])
        else:
            for r in range(width):
                sums[r] += np.float64(counts[r])
    for j in range(query.size):
        value, weight, column = query[j], weights[j], numbers[j, start:stop]
        for r in range(width):
            sums[r] += min(1.0, abs(column[r] - value) * weight)
        if (j + 1) % step == 0 and least_of(sums, width) > limit + GRID_STEP:
            return MISSING
    for r in range(width):
        sums[r] = (sums[r] + GRID_SHIFT) - GRID_SHIFT
    return least_of(sums, width)


@jit
def _absorb(sums: Floats, rows: Ints, own: int, best: Floats, found: Ints) -> float:
    """Insert rows into the sorted list of the nearest; ties go to the lowest original index."""
    last = best.size - 1
    worst = best[last]
    for r in range(rows.size):
        value = sums[r]
        if value <= worst:
            row = rows[r]
            if row == own or (value == worst and row > found[last]):
                continue
            slot = last
            while slot > 0 and (
                best[slot - 1] > value or (best[slot - 1] == value and found[slot - 1] > row)
            ):
                best[slot], found[slot] = best[slot - 1], found[slot - 1]
                slot -= 1
            best[slot], found[slot] = value, row
            worst = best[last]
    return float(worst)


@inlined
def visit(
    numbers: Floats, codes: Bytes, weights: Floats, rows: Ints, start: int, stop: int,
    query: Floats, query_codes: Bytes, own: int, step: int, sums: Floats, counts: Bytes,
    best: Floats, found: Ints,
) -> float:  # fmt: skip
    """Read one leaf for one query; return the distance that the next rows must not exceed."""
    worst = best[best.size - 1]
    least = sum_leaf(
        numbers, codes, weights, query, query_codes, start, stop, worst, step, sums, counts
    )
    if least <= worst:
        worst = _absorb(sums, rows[start:stop], own, best, found)
    return float(worst)
