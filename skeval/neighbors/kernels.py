"""Compiled loops of the neighbor engine, for distances and for sweeps of queries over leaves.

Every distance in this module is a *sum*. Each categorical column with different codes adds 1, and
each number column adds `min(1, |a - b| * weight)`, in the order of the columns. The sum is computed
in float64 and rounded at the end to a multiple of 2^-32. Bounds are summed in the same order with
the same cap and rounding. Addition, multiplication and min are monotone in IEEE arithmetic, so
`bound <= distance` is true in floats without a safety margin.

The fast-math flags do not allow reordering or fused multiply-add, so that the distance of a pair
depends on the pair alone. They promise that no NaN occurs, which the encoding ensures (a missing
number is `MISSING`), and allow `min` loops to be vectorized.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skeval.neighbors.encoding import GRID_SHIFT, GRID_STEP, MISSING
from skeval.neighbors.leaves import ABSENT, FLUSH, STEPS, Forest
from skeval.neighbors.machine_code import Bytes, Floats, Ints, jit_inline, jit_without_refcounts

NO_ROW = np.iinfo(np.int64).max
FIRST_LEAVES = 2  # leaves read best-first before the sweep
ARGMIN_BLOCK = 64
TILE = 16  # queries that sweep over the leaves together
COARSE_STEP = 16  # columns of bytes between two tests for an early exit
FIRST_ROWS = 32  # read at a time while nothing is known to be near
NEAR_BLOCK = 32  # rows that are passed over together
MAX_SINGLE = 8  # rows: if only one of this number is near, the near ones are summed by themselves


class Scratch(NamedTuple):
    """Working memory of one chunk, for the sums and counts of a leaf and the bounds of a tile."""

    sums: Floats
    counts: Bytes
    steps: NDArray[np.uint16]
    coarse: Bytes
    leaf_counts: Bytes
    bounds: Floats
    slack: Floats
    worst: Floats


@jit_without_refcounts
def _bound_leaves(
    forest: Forest, query: Floats, query_codes: Bytes, counts: Bytes, bounds: Floats
) -> None:
    """Write into `bounds` a sum that no row of the leaf is below, for every leaf."""
    n_leaves, n_codes = bounds.size, query_codes.size
    for leaf in range(n_leaves):
        bounds[leaf] = 0.0
    for begin in range(0, n_codes, FLUSH):
        for leaf in range(n_leaves):
            counts[leaf] = 0
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


@jit_inline
def _write_steps(forest: Forest, query: Floats, steps: Bytes) -> None:
    """Write the bytes of a query, which are steps from the minimum of each column (up to 127)."""
    for j in range(steps.size):
        if query[j] >= MISSING:
            steps[j] = ABSENT
        else:
            far = min(1.0, max(0.0, (query[j] - forest.base[j]) * forest.weights[j]))
            steps[j] = int(np.float64(STEPS) * far)


@jit_without_refcounts
def _count_differences(
    codes: Bytes, query_codes: Bytes, start: int, stop: int, begin: int, counts: Bytes
) -> Any:
    """Count in uint8 the columns of one flush that differ, and return the smallest count."""
    width = stop - start
    for r in range(width):  # an assignment to a slice needs seconds to compile
        counts[r] = 0
    for j in range(begin, min(begin + FLUSH, query_codes.size)):
        code, column = query_codes[j], codes[j, start:stop]
        for r in range(width):
            counts[r] += np.uint8(column[r] != code)
    least = np.uint8(FLUSH)
    for r in range(width):
        least = min(least, counts[r])
    return least


@jit_without_refcounts
def _least_of(sums: Floats, width: int) -> float:
    """Return the smallest of the first `width` sums."""
    least = MISSING
    for r in range(width):
        least = min(least, sums[r])
    return least


@jit_without_refcounts
def _count_near(
    coarse: Bytes, query_coarse: Bytes, counts: Bytes, start: int, stop: int, most: int,
    steps: NDArray[np.uint16],
) -> int:  # fmt: skip
    """Count the rows within `most` steps of the query, and write the steps.

    In each column, a row may be one step closer than its bytes indicate.
    """
    width = stop - start
    for r in range(width):
        steps[r] = np.uint16(counts[r]) * np.uint16(STEPS)
    for j in range(query_coarse.size):
        byte, column = query_coarse[j], coarse[j, start:stop]
        for r in range(width):
            apart = np.uint8(max(column[r], byte) - min(column[r], byte))
            steps[r] += np.uint16(min(apart, np.uint8(STEPS)))
        if (j + 1) % COARSE_STEP == 0:
            least = np.uint16(2**16 - 1)
            for r in range(width):
                least = min(least, steps[r])
            if least > most:
                return 0
    n_near = 0
    for r in range(width):
        n_near += steps[r] <= most
    return n_near


@jit_without_refcounts
def _sum_leaf(
    numbers: Floats, codes: Bytes, coarse: Bytes, weights: Floats, query: Floats,
    query_codes: Bytes, query_coarse: Bytes, start: int, stop: int, limit: float, step: int,
    sums: Floats, counts: Bytes, steps: NDArray[np.uint16],
) -> float:  # fmt: skip
    """Write the rounded sums of a slice of rows to `sums`, and return the smallest sum."""
    # Returns `MISSING`, with unfinished sums, as soon as no row can have a sum of at most `limit`.
    # This is tested after the categorical columns, after a comparison of all numbers in coarse
    # steps, and after every `step` number columns. Rows that certainly exceed the limit may get
    # `MISSING`.
    width, n_codes = stop - start, query_codes.size
    if np.float64(_count_differences(codes, query_codes, start, stop, 0, counts)) > limit:
        return MISSING
    if query_coarse.size and n_codes <= FLUSH and limit < FLUSH:
        most = int(limit * STEPS) + query_coarse.size + 1  # one more for rounding
        n_near = _count_near(coarse, query_coarse, counts, start, stop, most, steps)
        if n_near == 0:
            return MISSING
        if n_near * MAX_SINGLE <= width:
            return _sum_near(numbers, weights, query, start, stop, most, sums, counts, steps)
    for r in range(width):
        sums[r] = np.float64(counts[r])
    for begin in range(FLUSH, n_codes, FLUSH):
        if np.float64(_count_differences(codes, query_codes, start, stop, begin, counts)) > limit:
            return MISSING
        for r in range(width):
            sums[r] += np.float64(counts[r])
    for j in range(query.size):
        value, weight, column = query[j], weights[j], numbers[j, start:stop]
        for r in range(width):
            sums[r] += min(1.0, abs(column[r] - value) * weight)
        if (j + 1) % step == 0 and _least_of(sums, width) > limit + GRID_STEP:
            return MISSING
    for r in range(width):
        sums[r] = (sums[r] + GRID_SHIFT) - GRID_SHIFT
    return _least_of(sums, width)


@jit_without_refcounts
def _sum_near(
    numbers: Floats, weights: Floats, query: Floats, start: int, stop: int, most: int,
    sums: Floats, counts: Bytes, steps: NDArray[np.uint16],
) -> float:  # fmt: skip
    """Sum the near rows one by one, and set all others to `MISSING`."""
    least, width = MISSING, stop - start
    for r in range(width):
        sums[r] = MISSING
    for begin in range(0, width, NEAR_BLOCK):
        end = min(begin + NEAR_BLOCK, width)
        nearest = np.uint16(2**16 - 1)
        for r in range(begin, end):
            nearest = min(nearest, steps[r])
        if nearest > most:
            continue
        for r in range(begin, end):
            if steps[r] <= most:
                total = np.float64(counts[r])
                for j in range(query.size):
                    total += min(1.0, abs(numbers[j, start + r] - query[j]) * weights[j])
                sums[r] = (total + GRID_SHIFT) - GRID_SHIFT
                least = min(least, sums[r])
    return least


@jit_without_refcounts
def _absorb(
    sums: Floats, rows: Ints, own: int, best: Floats, best_rows: Ints, n_tied: Ints, at: int
) -> float:
    """Insert rows into the sorted list of the nearest rows. The lowest original index wins ties.

    For lists of one row, `n_tied[at]` counts the rows at the smallest distance.
    """
    last = best.size - 1
    worst = best[last]
    for r in range(rows.size):
        value = sums[r]
        if value <= worst:
            row = rows[r]
            if row == own:
                continue
            n_tied[at] = n_tied[at] + 1 if value == worst else 1
            if value == worst and row > best_rows[last]:
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


@jit_inline
def _visit(
    numbers: Floats, codes: Bytes, coarse: Bytes, weights: Floats, rows: Ints, start: int,
    stop: int, query: Floats, query_codes: Bytes, query_coarse: Bytes, own: int, step: int,
    sums: Floats, counts: Bytes, steps: NDArray[np.uint16], best: Floats, best_rows: Ints,
    n_tied: Ints, at: int,
) -> float:  # fmt: skip
    """Read one leaf for one query, and return the distance that the next rows must not exceed.

    Without such a distance, a few rows are read first to obtain a limit for the others.
    """
    worst = best[best.size - 1]
    while start < stop:
        end = stop if worst < MISSING else min(stop, start + FIRST_ROWS + 2 * best.size)
        least = _sum_leaf(
            numbers, codes, coarse, weights, query, query_codes, query_coarse, start, end, worst,
            step, sums, counts, steps,
        )  # fmt: skip
        if least <= worst:
            worst = _absorb(sums, rows[start:end], own, best, best_rows, n_tied, at)
        start = end
    return float(worst)


@jit_without_refcounts
def _argmin(bounds: Floats) -> int:
    """Find the first smallest bound, block by block because a plain search does not vectorize."""
    least, at = MISSING, 0
    for begin in range(0, bounds.size, ARGMIN_BLOCK):
        block = bounds[begin : begin + ARGMIN_BLOCK]
        block_least = _least_of(block, block.size)
        if block_least < least:
            least, at = block_least, begin
    while bounds[at] > least:
        at += 1
    return int(at)


@jit_without_refcounts
def _best_slack(bounds: Floats, worst: Floats, slack: Floats) -> None:
    """Write the minimum of `bound - worst` over the tile for each leaf. Above 0, skip the leaf."""
    for leaf in range(slack.size):
        slack[leaf] = MISSING
    for g in range(worst.size):
        mine, limit = bounds[g], worst[g]
        for leaf in range(slack.size):
            slack[leaf] = min(slack[leaf], mine[leaf] - limit)


@jit_inline
def _visit_closest(
    forest: Forest, query: Floats, query_codes: Bytes, query_coarse: Bytes, own: int, step: int,
    bounds: Floats, scratch: Scratch, best: Floats, best_rows: Ints, n_tied: Ints, at: int,
) -> int:  # fmt: skip
    """Bound all leaves, read the closest few and remove them. Return the number of rows read."""
    _bound_leaves(forest, query, query_codes, scratch.leaf_counts, bounds)
    numbers, codes, weights, rows = forest.numbers, forest.codes, forest.weights, forest.rows
    coarse, sums, counts, steps = forest.coarse, scratch.sums, scratch.counts, scratch.steps
    n_read = 0
    for _ in range(FIRST_LEAVES):
        leaf = _argmin(bounds)
        if bounds[leaf] > best[best.size - 1] or bounds[leaf] == MISSING:
            break
        bounds[leaf] = MISSING
        start, stop = forest.offsets[leaf], forest.offsets[leaf + 1]
        _visit(
            numbers, codes, coarse, weights, rows, start, stop, query, query_codes, query_coarse,
            own, step, sums, counts, steps, best, best_rows, n_tied, at,
        )  # fmt: skip
        n_read += stop - start
    return n_read


def _make_scratch(forest: Forest) -> Scratch:
    n_leaves, widest = forest.offsets.size - 1, int(np.diff(forest.offsets).max(initial=0))
    return Scratch(
        np.empty(widest), np.empty(widest, np.uint8), np.empty(widest, np.uint16),
        np.empty((TILE, len(forest.coarse)), np.uint8), np.empty(n_leaves, np.uint8),
        np.zeros((TILE, n_leaves)), np.empty(n_leaves), np.empty(TILE),
    )  # fmt: skip


def nearest_rows(
    forest: Forest, queries: Floats, query_codes: Bytes, own: Ints, limits: Floats, k: int,
    bounded: bool, step: int, picks: Ints,
) -> tuple[Floats, Ints, Ints, int]:  # fmt: skip
    """Find the k nearest rows of the picked queries within their limits."""
    # The results are in the order of `picks`.

    # Returns the sums and original indices, shape (n_picks, k), for k = 1 the number of rows at the
    # smallest distance, and the number of rows read. If fewer rows are within the limit, the sum is
    # the limit and the index is `NO_ROW`. If `bounded` is false, all bounds stay 0.
    best = np.repeat(limits[picks], k).reshape(picks.size, k)
    best_rows = np.full((picks.size, k), NO_ROW)
    n_tied = np.zeros(picks.size, np.int64)
    n_read = sweep_leaves(
        forest, queries, query_codes, own, limits, bounded, step, picks, _make_scratch(forest),
        best, best_rows, n_tied,
    )  # fmt: skip
    return best, best_rows, n_tied, n_read


@jit_without_refcounts
def sweep_leaves(
    forest: Forest, queries: Floats, query_codes: Bytes, own: Ints, limits: Floats, bounded: bool,
    step: int, picks: Ints, scratch: Scratch, best: Floats, best_rows: Ints, n_tied: Ints,
) -> int:  # fmt: skip
    """Fill in the results of `nearest_rows`, and return the number of rows read."""
    # For each tile of queries, the bounds are computed and the closest leaves of each query
    # are read. Then the leaves are visited in memory order, each for the queries whose k-th
    # best row it can still improve or equal.
    k, n_read = best.shape[1], 0
    bounds, slack, worst = scratch.bounds, scratch.slack, scratch.worst
    offsets, query_coarse = forest.offsets, scratch.coarse
    numbers, codes, weights, rows = forest.numbers, forest.codes, forest.weights, forest.rows
    coarse, sums, counts, steps = forest.coarse, scratch.sums, scratch.counts, scratch.steps
    for begin in range(0, picks.size, TILE):
        tile = picks[begin : begin + TILE]
        for g in range(tile.size):
            q = tile[g]
            worst[g] = limits[q]
            _write_steps(forest, queries[q], query_coarse[g])
            if bounded:
                n_read += _visit_closest(
                    forest, queries[q], query_codes[q], query_coarse[g], own[q], step, bounds[g],
                    scratch, best[begin + g], best_rows[begin + g], n_tied, begin + g,
                )  # fmt: skip
                worst[g] = best[begin + g, k - 1]
        _best_slack(bounds, worst[: tile.size], slack)
        for leaf in range(offsets.size - 1):
            if slack[leaf] > 0.0:
                continue
            start, stop = offsets[leaf], offsets[leaf + 1]
            for g in range(tile.size):
                if bounds[g, leaf] <= worst[g] and bounds[g, leaf] < MISSING:
                    q = tile[g]
                    n_read += stop - start
                    worst[g] = _visit(
                        numbers, codes, coarse, weights, rows, start, stop, queries[q],
                        query_codes[q], query_coarse[g], own[q], step, sums, counts, steps,
                        best[begin + g], best_rows[begin + g], n_tied, begin + g,
                    )  # fmt: skip
    return n_read


def add_pairs(
    forest: Forest, queries: Floats, query_codes: Bytes, limits: Floats, own: Ints, step: int,
    marks: Bytes, shares: Floats, picks: Ints,
) -> tuple[Ints, Floats]:  # fmt: skip
    """Find all pairs of a picked query and a row within the limit of the query, except `own`."""
    # Returns the sum of the marks of these rows for each pick, and the sum of the shares of
    # the queries for each row. Shares are added in the order of the picks.
    marked, mass = np.zeros(picks.size, np.int64), np.zeros(forest.rows.size)
    _add_pairs(
        forest, queries, query_codes, limits, own, step, marks, shares, picks,
        _make_scratch(forest), marked, mass,
    )  # fmt: skip
    return marked, mass


@jit_without_refcounts
def _add_pairs(
    forest: Forest, queries: Floats, query_codes: Bytes, limits: Floats, own: Ints, step: int,
    marks: Bytes, shares: Floats, picks: Ints, scratch: Scratch, marked: Ints, mass: Floats,
) -> None:  # fmt: skip
    bounds, coarse, sums, offsets = scratch.bounds, scratch.coarse, scratch.sums, forest.offsets
    slack, worst = scratch.slack, scratch.worst
    for begin in range(0, picks.size, TILE):
        tile = picks[begin : begin + TILE]
        for g in range(tile.size):
            q = tile[g]
            worst[g] = limits[q]
            _write_steps(forest, queries[q], coarse[g])
            _bound_leaves(forest, queries[q], query_codes[q], scratch.leaf_counts, bounds[g])
        _best_slack(bounds, worst[: tile.size], slack)
        for leaf in range(offsets.size - 1):
            if slack[leaf] > 0.0:
                continue
            start, stop = offsets[leaf], offsets[leaf + 1]
            for g in range(tile.size):
                limit = worst[g]
                if bounds[g, leaf] > limit:
                    continue
                q = tile[g]
                least = _sum_leaf(
                    forest.numbers, forest.codes, forest.coarse, forest.weights, queries[q],
                    query_codes[q], coarse[g], start, stop, limit, step, sums, scratch.counts,
                    scratch.steps,
                )  # fmt: skip
                if least <= limit:
                    for r in range(stop - start):
                        row = forest.rows[start + r]
                        if sums[r] <= limit and row != own[q]:
                            marked[begin + g] += marks[row]
                            mass[row] += shares[q]
