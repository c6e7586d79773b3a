"""The compiled loops of the nearest-neighbour engine; the only module that imports numba.

Every distance in here is a *sum*: one for each categorical column that differs, plus `min(1, |a - b| * weight)` for
each number column in the order of the columns, in float64, rounded at the very end to a multiple of 2^-32. Bounds are
summed in the same order with the same cap and rounding; addition, multiplication and min being monotone in IEEE
arithmetic, `bound <= distance` holds in floats as it does on paper, with no safety margin.

The fast-math flags allow no reordering and no fused multiply-add: a pair's distance depends on the pair alone. They
promise that no NaN occurs, which the encoding keeps (a missing number is `MISSING`), and let `min` loops vectorise.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar, cast

import numba
import numpy as np
from numpy.typing import NDArray

from skeval.stats._columns import GRID_SHIFT, GRID_STEP, MISSING

__all__ = ["Forest", "box_leaves", "count_balls", "grow_leaves", "nearest_rows"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bytes = NDArray[np.uint8]
Kernel = TypeVar("Kernel", bound=Callable[..., Any])

FLUSH = 255  # columns that a uint8 count of differences can hold
N_CODES = 256
NO_ROW = np.iinfo(np.int64).max
FIRST_LEAVES = 2  # leaves read best-first before the sweep
TILE = 16  # queries that sweep over the leaves together


def _jit(function: Kernel) -> Kernel:
    """Compile lazily, release the GIL, keep the machine code on disk."""
    compiled = numba.njit(cache=True, nogil=True, fastmath={"nnan", "nsz"})(function)
    return cast(Kernel, compiled)


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


# -- growing leaves ----------------------------------------------------------------------------------------------------


@_jit
def _number_spread(column: Floats, weight: float, order: Ints, span: Ints, size: int) -> float:
    """Mean capped deviation from the mean, over a strided sample of the span."""
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


@_jit
def _count_codes(column: Bytes, order: Ints, span: Ints, size: int, counts: Ints) -> int:
    """Count the codes of a strided sample into `counts`; return the largest count."""
    start, width = span[0], span[1] - span[0]
    counts[:] = 0
    top = 0
    for t in range(size):
        code = column[order[start + t * width // size]]
        counts[code] += 1
        top = max(top, counts[code])
    return top


@_jit
def _widest_column(
    numbers: Floats, codes: Bytes, weights: Floats, order: Ints, span: Ints, size: int, counts: Ints
) -> int:
    """Column with the largest spread, number columns first; -1 if none varies in the sample."""
    best, widest = 0.0, -1
    for j in range(numbers.shape[0]):
        spread = _number_spread(numbers[j], weights[j], order, span, size)
        if spread > best:
            best, widest = spread, j
    for j in range(codes.shape[0]):
        spread = 1.0 - _count_codes(codes[j], order, span, size, counts) / size
        if spread > best:
            best, widest = spread, numbers.shape[0] + j
    return widest


@_jit
def _part_numbers(column: Floats, order: Ints, span: Ints, size: int, spare: Ints) -> int:
    """Move rows below the sample median to the left, in place and stably; return the border."""
    start, stop = span[0], span[1]
    sample = np.empty(size)
    for t in range(size):
        sample[t] = column[order[start + t * (stop - start) // size]]
    sample.sort()
    median = sample[size // 2]
    take_median = sample[0] == median  # else nothing would go left
    border, held = start, 0
    for t in range(start, stop):
        row = order[t]
        if column[row] < median or (take_median and column[row] == median):
            order[border] = row
            border += 1
        else:
            spare[held] = row
            held += 1
    order[border:stop] = spare[:held]
    return border


@_jit
def _left_codes(counts: Ints, size: int) -> Bytes:
    """Mark codes for the left side: most frequent first, while it stays at or under half."""
    side = np.zeros(N_CODES, np.uint8)
    filled = 0
    for code in np.argsort(-counts, kind="mergesort"):
        if counts[code] == 0:
            break
        if filled == 0 or filled + counts[code] <= size // 2:
            filled += counts[code]
            side[code] = 1
    return side


@_jit
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
    order[border : span[1]] = spare[:held]
    return border


@_jit
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
    return border


@_jit
def grow_leaves(
    numbers: Floats, codes: Bytes, weights: Floats, rows: Ints, leaf_size: int, sample_size: int
) -> tuple[Ints, Ints]:
    """Order `rows` so that close ones are neighbours, cut into leaves of at most `leaf_size`.

    Returns the ordered rows and the leaves' offsets. Sampling shapes the tree only; whatever the shape, results are the
    same. Of two halves the smaller goes first, so that the stack stays below log2(n) spans.
    """
    n = rows.size
    order, spare, counts = rows.copy(), np.empty(n, np.int64), np.zeros(N_CODES, np.int64)
    stops = np.empty(n, np.int64)
    n_leaves = 0
    stack = np.empty((66, 2), np.int64)
    stack[0, 0], stack[0, 1] = 0, n
    depth = 1 if n > 0 else 0
    while depth > 0:
        depth -= 1
        span = stack[depth].copy()
        width = span[1] - span[0]
        if width <= leaf_size:
            stops[n_leaves] = span[1]
            n_leaves += 1
            continue
        size = min(sample_size, width)
        border = _part(numbers, codes, weights, order, span, size, counts, spare)
        left_first = border - span[0] <= span[1] - border
        small, large = (depth + 1, depth) if left_first else (depth, depth + 1)
        stack[small, 0], stack[small, 1] = span[0], border
        stack[large, 0], stack[large, 1] = border, span[1]
        depth += 2
    offsets = np.zeros(n_leaves + 1, np.int64)
    offsets[1:] = np.sort(stops[:n_leaves])
    return order, offsets


@_jit
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
    for leaf in range(n_leaves):
        for j in range(numbers.shape[0]):
            for t in range(offsets[leaf], offsets[leaf + 1]):
                value = numbers[j, order[t]]
                moved_numbers[j, t] = value
                if value < MISSING:
                    low[j, leaf] = min(low[j, leaf], value)
                    high[j, leaf] = max(high[j, leaf], value)
                else:
                    complete[j, leaf] = 0.0
        for j in range(codes.shape[0]):
            for t in range(offsets[leaf], offsets[leaf + 1]):
                code = codes[j, order[t]]
                moved_codes[j, t] = code
                absent[first[j] + code, leaf] = 0
    return Forest(
        moved_numbers, moved_codes, weights, order, offsets, low, high, complete, absent, first
    )


# -- one query -----------------------------------------------------------------------------------------------------------


@_jit
def _bound_leaves(
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


@_jit
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


@_jit
def _least(sums: Floats, width: int) -> float:
    least = MISSING
    for r in range(width):
        least = min(least, sums[r])
    return least


@_jit
def _sum_leaf(
    forest: Forest, query: Floats, query_codes: Bytes, start: int, stop: int, limit: float,
    step: int, scratch: Scratch,
) -> float:  # fmt: skip
    """Write the rounded sums of a slice of rows to `scratch.sums`; return the least.

    Returns `MISSING`, leaving the sums unfinished, as soon as no row can come to `limit` or below: that is tested after
    the categorical columns and after every `step` number columns.
    """
    width, n_codes = stop - start, query_codes.size
    sums, counts = scratch.sums, scratch.counts
    if n_codes == 0:
        sums[:width] = 0.0
    for begin in range(0, n_codes, FLUSH):
        least_count = _count_differences(forest.codes, query_codes, start, stop, begin, counts)
        if np.float64(least_count) > limit:
            return MISSING
        if begin == 0:
            for r in range(width):
                sums[r] = np.float64(counts[r])
        else:
            for r in range(width):
                sums[r] += np.float64(counts[r])
    for j in range(query.size):
        value, weight, column = query[j], forest.weights[j], forest.numbers[j, start:stop]
        for r in range(width):
            sums[r] += min(1.0, abs(column[r] - value) * weight)
        if (j + 1) % step == 0 and _least(sums, width) > limit + GRID_STEP:
            return MISSING
    for r in range(width):
        sums[r] = (sums[r] + GRID_SHIFT) - GRID_SHIFT
    return _least(sums, width)


@_jit
def _absorb(
    sums: Floats, rows: Ints, own: int, best: Floats, found: Ints
) -> float:
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
    return worst


@_jit
def _visit(
    forest: Forest, leaf: int, query: Floats, query_codes: Bytes, own: int, step: int,
    scratch: Scratch, best: Floats, found: Ints,
) -> None:  # fmt: skip
    """Read one leaf for one query."""
    start, stop = forest.offsets[leaf], forest.offsets[leaf + 1]
    worst = best[best.size - 1]
    if _sum_leaf(forest, query, query_codes, start, stop, worst, step, scratch) <= worst:
        _absorb(scratch.sums, forest.rows[start:stop], own, best, found)


# -- many queries ------------------------------------------------------------------------------------------------------


@_jit
def _scratch(forest: Forest) -> Scratch:
    n_leaves, widest = forest.offsets.size - 1, 0
    for leaf in range(n_leaves):
        widest = max(widest, forest.offsets[leaf + 1] - forest.offsets[leaf])
    return Scratch(
        np.empty(widest), np.empty(widest, np.uint8), np.empty(n_leaves, np.uint8),
        np.zeros((TILE, n_leaves)),
    )  # fmt: skip


@_jit
def _visit_closest(
    forest: Forest, query: Floats, query_codes: Bytes, own: int, step: int, bounds: Floats,
    scratch: Scratch, best: Floats, found: Ints,
) -> int:  # fmt: skip
    """Bound all leaves, read the closest few, strike them out; return the number of rows read."""
    _bound_leaves(forest, query, query_codes, scratch.leaf_counts, bounds)
    n_read = 0
    for _ in range(FIRST_LEAVES):
        leaf = np.argmin(bounds)
        if bounds[leaf] > best[best.size - 1] or bounds[leaf] == MISSING:
            break
        bounds[leaf] = MISSING
        _visit(forest, leaf, query, query_codes, own, step, scratch, best, found)
        n_read += forest.offsets[leaf + 1] - forest.offsets[leaf]
    return n_read


@_jit
def nearest_rows(
    forest: Forest, queries: Floats, query_codes: Bytes, own: Ints, picks: Ints, k: int,
    bounded: bool, step: int,
) -> tuple[Floats, Ints, int]:  # fmt: skip
    """Find the k nearest rows of the picked queries, in the order of `picks`.

    A tile of queries is bounded and reads its closest leaves query by query, then sweeps over the leaves in memory
    order, each leaf for those queries whose worst of k it can still better or equal. Unbounded, all bounds stay 0.
    Returns sums and original indices, shape (n_picks, k), and the number of rows read.
    """
    best = np.full((picks.size, k), MISSING)
    found = np.full((picks.size, k), NO_ROW)
    scratch = _scratch(forest)
    bounds = scratch.bounds
    n_read = 0
    for begin in range(0, picks.size, TILE):
        stop = min(begin + TILE, picks.size)
        if bounded:
            for at in range(begin, stop):
                q = picks[at]
                n_read += _visit_closest(
                    forest, queries[q], query_codes[q], own[q], step, bounds[at - begin], scratch,
                    best[at], found[at],
                )  # fmt: skip
        for leaf in range(forest.offsets.size - 1):
            for at in range(begin, stop):
                bound = bounds[at - begin, leaf]
                if bound <= best[at, k - 1] and bound < MISSING:
                    q = picks[at]
                    _visit(
                        forest, leaf, queries[q], query_codes[q], own[q], step, scratch,
                        best[at], found[at],
                    )  # fmt: skip
                    n_read += forest.offsets[leaf + 1] - forest.offsets[leaf]
    return best, found, n_read


@_jit
def _count_leaf(
    forest: Forest, leaf: int, radii: Floats, largest: float, query: Floats, query_codes: Bytes,
    step: int, scratch: Scratch,
) -> int:  # fmt: skip
    """Count the balls around one leaf's rows that hold the query."""
    start, stop = forest.offsets[leaf], forest.offsets[leaf + 1]
    inside = 0
    if _sum_leaf(forest, query, query_codes, start, stop, largest, step, scratch) <= largest:
        for r in range(stop - start):
            inside += scratch.sums[r] <= radii[start + r]
    return inside


@_jit
def count_balls(
    forest: Forest, radii: Floats, largest: Floats, queries: Floats, query_codes: Bytes,
    picks: Ints, limit: int, step: int,
) -> Ints:  # fmt: skip
    """Count the balls that hold each picked query, stopping once `limit` is reached.

    `radii` are in leaf order and on the grid of the sums; `largest` is the largest of each leaf.
    """
    inside = np.zeros(picks.size, np.int64)
    scratch = _scratch(forest)
    bounds = scratch.bounds
    for begin in range(0, picks.size, TILE):
        stop = min(begin + TILE, picks.size)
        for at in range(begin, stop):
            q = picks[at]
            _bound_leaves(
                forest, queries[q], query_codes[q], scratch.leaf_counts, bounds[at - begin]
            )
        for leaf in range(forest.offsets.size - 1):
            for at in range(begin, stop):
                if bounds[at - begin, leaf] <= largest[leaf] and inside[at] < limit:
                    q = picks[at]
                    inside[at] += _count_leaf(
                        forest, leaf, radii, largest[leaf], queries[q], query_codes[q], step,
                        scratch,
                    )  # fmt: skip
    return inside
