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

from skeval.neighbors.encoding import GRID_SHIFT, GRID_STEP, MISSING

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bytes = NDArray[np.uint8]
Kernel = TypeVar("Kernel", bound=Callable[..., Any])
OPTIONS: dict[str, Any] = {"cache": True, "nogil": True, "fastmath": {"nnan", "nsz"}}
FLUSH = 255  # columns that a uint8 count of differences can hold
N_CODES = 256  # of a uint8 column


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
def _absorb(sums: Floats, rows: Ints, own: int, best: Floats, best_rows: Ints) -> float:
    """Insert rows into the sorted list of the nearest; ties go to the lowest original index."""
    last = best.size - 1
    worst = best[last]
    for r in range(rows.size):
        value = sums[r]
        if value <= worst:
            row = rows[r]
            if row == own or (value == worst and row > best_rows[last]):
                continue
            slot = last
            while slot > 0 and (
                best[slot - 1] > value or (best[slot - 1] == value and best_rows[slot - 1] > row)
            ):
                best[slot], best_rows[slot] = best[slot - 1], best_rows[slot - 1]
                slot -= 1
            best[slot], best_rows[slot] = value, row
            worst = best[last]
    return float(worst)


@inlined
def visit(
    numbers: Floats, codes: Bytes, weights: Floats, rows: Ints, start: int, stop: int,
    query: Floats, query_codes: Bytes, own: int, step: int, sums: Floats, counts: Bytes,
    best: Floats, best_rows: Ints,
) -> float:  # fmt: skip
    """Read one leaf for one query; return the distance that the next rows must not exceed."""
    worst = best[best.size - 1]
    least = sum_leaf(
        numbers, codes, weights, query, query_codes, start, stop, worst, step, sums, counts
    )
    if least <= worst:
        worst = _absorb(sums, rows[start:stop], own, best, best_rows)
    return float(worst)


@jit
def _number_spread(column: Floats, weight: float, order: Ints, span: Ints, size: int) -> float:
    """Return the mean capped deviation from the mean, over a strided sample of the span."""
    start, width = span[0], span[1] - span[0]
    total, present = 0.0, 0
    for t in range(size):
        value = column[order[start + t * width // size]]
        if value < MISSING:
            total += value
            present += 1
    mean = total / max(present, 1)
    spread = 0.0
    for t in range(size):
        spread += min(1.0, abs(column[order[start + t * width // size]] - mean) * weight)
    return spread / size


@jit
def _count_codes(column: Bytes, order: Ints, span: Ints, size: int, counts: Ints) -> int:
    """Count the codes of a strided sample into `counts`; return the largest count."""
    start, width = span[0], span[1] - span[0]
    counts[:] = 0
    top = 0
    for t in range(size):
        code = column[order[start + t * width // size]]
        counts[code] += 1
        top = max(top, counts[code])
    return int(top)


@jit
def _widest_column(
    numbers: Floats, codes: Bytes, weights: Floats, order: Ints, span: Ints, size: int, counts: Ints
) -> int:
    """Return the column with the largest spread, numbers first; -1 if none varies in the sample."""
    best, widest = 0.0, -1
    for j in range(numbers.shape[0]):
        spread = _number_spread(numbers[j], weights[j], order, span, size)
        if spread > best:
            best, widest = spread, j
    for j in range(codes.shape[0]):
        spread = 1.0 - _count_codes(codes[j], order, span, size, counts) / size
        if spread > best:
            best, widest = spread, numbers.shape[0] + j
    return int(widest)


@jit
def _sample_sorted(column: Floats, order: Ints, span: Ints, size: int) -> Floats:
    """Return a strided sample of the span in ascending order (by insertion: it is small)."""
    start, width = span[0], span[1] - span[0]
    sample = np.empty(size)
    for t in range(size):
        value, slot = column[order[start + t * width // size]], t
        while slot > 0 and sample[slot - 1] > value:
            sample[slot] = sample[slot - 1]
            slot -= 1
        sample[slot] = value
    return sample


@jit
def _put_back(order: Ints, border: int, spare: Ints, held: int) -> None:
    for t in range(held):  # a slice assignment takes two seconds to compile
        order[border + t] = spare[t]


@jit
def _part_numbers(column: Floats, order: Ints, span: Ints, size: int, spare: Ints) -> int:
    """Move rows below the sample median to the left, in place and stably; return the border."""
    sample = _sample_sorted(column, order, span, size)
    median = sample[size // 2]
    take_median = sample[0] == median  # else nothing would go left
    border, held = span[0], 0
    for t in range(span[0], span[1]):
        row = order[t]
        if column[row] < median or (take_median and column[row] == median):
            order[border] = row
            border += 1
        else:
            spare[held] = row
            held += 1
    _put_back(order, border, spare, held)
    return int(border)


@jit
def _left_codes(counts: Ints, size: int) -> Bytes:
    """Mark codes for the left side: most frequent first, while it stays at or under half."""
    side = np.zeros(N_CODES, np.uint8)
    filled = 0
    while True:
        top = np.argmax(counts)
        if counts[top] == 0:
            return side
        if filled == 0 or filled + counts[top] <= size // 2:
            filled += counts[top]
            side[top] = 1
        counts[top] = 0


@jit
def _part_codes(
    column: Bytes, order: Ints, span: Ints, size: int, counts: Ints, spare: Ints
) -> int:
    """Move the rows with left codes to the left, in place and stably; return the border."""
    _count_codes(column, order, span, size, counts)
    side = _left_codes(counts, size)
    border, held = span[0], 0
    for t in range(span[0], span[1]):
        row = order[t]
        if side[column[row]]:
            order[border] = row
            border += 1
        else:
            spare[held] = row
            held += 1
    _put_back(order, border, spare, held)
    return int(border)


@jit
def _part(
    numbers: Floats, codes: Bytes, weights: Floats, order: Ints, span: Ints, size: int,
    counts: Ints, spare: Ints,
) -> int:  # fmt: skip
    """Split a span at its widest column, or in the middle if nothing separates it."""
    border = span[0]
    column = _widest_column(numbers, codes, weights, order, span, size, counts)
    if column >= numbers.shape[0]:
        border = _part_codes(codes[column - numbers.shape[0]], order, span, size, counts, spare)
    elif column >= 0:
        border = _part_numbers(numbers[column], order, span, size, spare)
    if border == span[0] or border == span[1]:
        border = (span[0] + span[1]) // 2
    return int(border)


@jit
def grow_leaves(
    numbers: Floats, codes: Bytes, weights: Floats, rows: Ints, leaf_size: int, sample_size: int
) -> tuple[Ints, Ints]:
    """Order `rows` so that close ones are neighbours, cut into leaves of at most `leaf_size`.

    Returns the ordered rows and the leaves' offsets. Of two halves the smaller goes first, so that
    the stack stays below log2(n) spans.
    """
    n = rows.size
    order, spare, counts = rows.copy(), np.empty(n, np.int64), np.zeros(N_CODES, np.int64)
    is_stop = np.zeros(n + 1, np.uint8)
    is_stop[0] = 1
    stack = np.empty((66, 2), np.int64)
    stack[0, 0], stack[0, 1] = 0, n
    depth = 1 if n > 0 else 0
    while depth > 0:
        depth -= 1
        span = stack[depth].copy()
        width = span[1] - span[0]
        if width <= leaf_size:
            is_stop[span[1]] = 1
            continue
        size = min(sample_size, width)
        border = _part(numbers, codes, weights, order, span, size, counts, spare)
        left_first = border - span[0] <= span[1] - border
        small, large = (depth + 1, depth) if left_first else (depth, depth + 1)
        stack[small, 0], stack[small, 1] = span[0], border
        stack[large, 0], stack[large, 1] = border, span[1]
        depth += 2
    return order, np.flatnonzero(is_stop)


@jit
def box_leaves(
    numbers: Floats, codes: Bytes, weights: Floats, order: Ints, offsets: Ints, first: Ints,
    n_absent: int,
) -> Forest:  # fmt: skip
    """Copy the rows into leaf order and note what each leaf holds."""
    n, n_leaves = order.size, offsets.size - 1
    low = np.full((numbers.shape[0], n_leaves), MISSING)
    high = np.full((numbers.shape[0], n_leaves), -MISSING)
    complete = np.ones((numbers.shape[0], n_leaves))
    absent = np.ones((n_absent, n_leaves), np.uint8)
    moved_numbers = np.empty((numbers.shape[0], n))
    moved_codes = np.empty((codes.shape[0], n), np.uint8)
    for j in range(numbers.shape[0]):
        for leaf in range(n_leaves):
            for t in range(offsets[leaf], offsets[leaf + 1]):
                value = numbers[j, order[t]]
                moved_numbers[j, t] = value
                if value < MISSING:
                    low[j, leaf] = min(low[j, leaf], value)
                    high[j, leaf] = max(high[j, leaf], value)
                else:
                    complete[j, leaf] = 0.0
    for j in range(codes.shape[0]):
        for leaf in range(n_leaves):
            for t in range(offsets[leaf], offsets[leaf + 1]):
                code = codes[j, order[t]]
                moved_codes[j, t] = code
                absent[first[j] + code, leaf] = 0
    return Forest(
        moved_numbers, moved_codes, weights, order, offsets, low, high, complete, absent, first
    )
