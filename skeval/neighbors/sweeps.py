"""The compiled sweeps of the nearest-neighbour engine: many queries over the leaves of a tree."""

from __future__ import annotations

import numpy as np

from skeval.neighbors.encoding import MISSING
from skeval.neighbors.kernels import (
    Bytes,
    Floats,
    Forest,
    Ints,
    Scratch,
    bound_leaves,
    inlined,
    jit,
    least_of,
    sum_leaf,
    visit,
)

NO_ROW = np.iinfo(np.int64).max
FIRST_LEAVES = 2  # leaves read best-first before the sweep
ARGMIN_BLOCK = 64
TILE = 16  # queries that sweep over the leaves together


@jit
def _scratch(forest: Forest) -> Scratch:
    n_leaves, widest = forest.offsets.size - 1, 0
    for leaf in range(n_leaves):
        widest = max(widest, forest.offsets[leaf + 1] - forest.offsets[leaf])
    return Scratch(
        np.empty(widest), np.empty(widest, np.uint8), np.empty(n_leaves, np.uint8),
        np.zeros((TILE, n_leaves)),
    )  # fmt: skip


@jit
def _argmin(bounds: Floats) -> int:
    """Find the first least bound, a block at a time: a plain search does not vectorise."""
    least, at = MISSING, 0
    for begin in range(0, bounds.size, ARGMIN_BLOCK):
        block = bounds[begin : begin + ARGMIN_BLOCK]
        block_least = least_of(block, block.size)
        if block_least < least:
            least, at = block_least, begin
    while bounds[at] > least:
        at += 1
    return int(at)


@jit
def _best_slack(bounds: Floats, worst: Floats, slack: Floats) -> None:
    """Note for each leaf the least of `bound - worst` over the tile; above 0 nobody visits it."""
    for leaf in range(slack.size):
        slack[leaf] = MISSING
    for g in range(worst.size):
        mine, limit = bounds[g], worst[g]
        for leaf in range(slack.size):
            slack[leaf] = min(slack[leaf], mine[leaf] - limit)


@inlined
def _visit_closest(
    forest: Forest, query: Floats, query_codes: Bytes, own: int, step: int, bounds: Floats,
    scratch: Scratch, best: Floats, best_rows: Ints,
) -> int:  # fmt: skip
    """Bound all leaves, read the closest few, strike them out; return the number of rows read."""
    bound_leaves(forest, query, query_codes, scratch.leaf_counts, bounds)
    numbers, codes, weights, rows = forest.numbers, forest.codes, forest.weights, forest.rows
    n_read = 0
    for _ in range(FIRST_LEAVES):
        leaf = _argmin(bounds)
        if bounds[leaf] > best[best.size - 1] or bounds[leaf] == MISSING:
            break
        bounds[leaf] = MISSING
        start, stop = forest.offsets[leaf], forest.offsets[leaf + 1]
        visit(
            numbers, codes, weights, rows, start, stop, query, query_codes, own, step,
            scratch.sums, scratch.counts, best, best_rows,
        )  # fmt: skip
        n_read += stop - start
    return n_read


@jit
def nearest_rows(
    forest: Forest, queries: Floats, query_codes: Bytes, own: Ints, limits: Floats, k: int,
    bounded: bool, step: int, picks: Ints,
) -> tuple[Floats, Ints, int]:  # fmt: skip
    """Find the k nearest rows of the picked queries within their limits, in the order of `picks`.

    A tile of queries is bounded and reads its closest leaves query by query, then sweeps over the
    leaves in memory order, each leaf for those queries whose worst of k it can still better or
    equal. Unbounded, all bounds stay 0. Returns sums and original indices, shape (n_picks, k), and
    the number of rows read; where fewer rows lie within the limit, the sum is the limit and the
    index `NO_ROW`.
    """
    best = np.empty((picks.size, k))
    best_rows = np.full((picks.size, k), NO_ROW)
    worst = np.full(TILE, MISSING)
    scratch = _scratch(forest)
    bounds, offsets = scratch.bounds, forest.offsets
    numbers, codes, weights, rows = forest.numbers, forest.codes, forest.weights, forest.rows
    sums, counts = scratch.sums, scratch.counts
    slack = np.empty(offsets.size - 1)
    n_read = 0
    for begin in range(0, picks.size, TILE):
        tile = picks[begin : begin + TILE]
        for g in range(tile.size):
            q = tile[g]
            worst[g] = limits[q]
            best[begin + g] = limits[q]
            if bounded:
                n_read += _visit_closest(
                    forest, queries[q], query_codes[q], own[q], step, bounds[g], scratch,
                    best[begin + g], best_rows[begin + g],
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
                    worst[g] = visit(
                        numbers, codes, weights, rows, start, stop, queries[q], query_codes[q],
                        own[q], step, sums, counts, best[begin + g], best_rows[begin + g],
                    )  # fmt: skip
    return best, best_rows, n_read


@jit
def _gather_ties(
    forest: Forest, query: Floats, query_codes: Bytes, own: int, least: float, bounds: Floats,
    step: int, sums: Floats, counts: Bytes, tied: Ints,
) -> int:  # fmt: skip
    """Write the indices of all rows at the least distance to `tied`; return how many there are."""
    n_tied = 0
    for leaf in range(bounds.size):
        if bounds[leaf] > least:
            continue
        start, stop = forest.offsets[leaf], forest.offsets[leaf + 1]
        nearest = sum_leaf(
            forest.numbers, forest.codes, forest.weights, query, query_codes, start, stop, least,
            step, sums, counts,
        )  # fmt: skip
        if nearest > least:
            continue
        for r in range(stop - start):
            row = forest.rows[start + r]
            if sums[r] <= least and row != own:
                tied[n_tied] = row
                n_tied += 1
    return n_tied


@jit
def spread_ties(
    forest: Forest, least: Floats, queries: Floats, query_codes: Bytes, own: Ints, bounded: bool,
    step: int, picks: Ints,
) -> Floats:  # fmt: skip
    """Divide each picked query evenly among its nearest rows; return the mass of each row.

    `least` is the distance of each query to its nearest row, as `nearest_rows` finds it.
    """
    n_rows = forest.rows.size
    mass, tied = np.zeros(n_rows), np.empty(n_rows, np.int64)
    scratch = _scratch(forest)
    bounds = scratch.bounds[0]
    for at in range(picks.size):
        q = picks[at]
        if bounded:
            bound_leaves(forest, queries[q], query_codes[q], scratch.leaf_counts, bounds)
        n_tied = _gather_ties(
            forest, queries[q], query_codes[q], own[q], least[q], bounds, step, scratch.sums,
            scratch.counts, tied,
        )  # fmt: skip
        for t in range(n_tied):
            mass[tied[t]] += 1.0 / n_tied
    return mass


@inlined
def _count_leaf(
    numbers: Floats, codes: Bytes, weights: Floats, radii: Floats, start: int, stop: int,
    largest: float, query: Floats, query_codes: Bytes, step: int, sums: Floats, counts: Bytes,
) -> int:  # fmt: skip
    """Count the balls around one leaf's rows that hold the query."""
    inside = 0
    least = sum_leaf(
        numbers, codes, weights, query, query_codes, start, stop, largest, step, sums, counts
    )
    if least <= largest:
        for r in range(stop - start):
            inside += sums[r] <= radii[start + r]
    return inside


@jit
def count_balls(
    forest: Forest, radii: Floats, largest: Floats, queries: Floats, query_codes: Bytes,
    limit: int, step: int, picks: Ints,
) -> Ints:  # fmt: skip
    """Count the balls that hold each picked query, stopping once `limit` is reached.

    `radii` are in leaf order and on the grid of the sums; `largest` is the largest of each leaf.
    """
    inside = np.zeros(picks.size, np.int64)
    scratch = _scratch(forest)
    numbers, codes, weights, offsets = forest.numbers, forest.codes, forest.weights, forest.offsets
    bounds, sums, counts = scratch.bounds, scratch.sums, scratch.counts
    for begin in range(0, picks.size, TILE):
        tile = picks[begin : begin + TILE]
        for g in range(tile.size):
            q = tile[g]
            bound_leaves(forest, queries[q], query_codes[q], scratch.leaf_counts, bounds[g])
        for leaf in range(offsets.size - 1):
            start, stop = offsets[leaf], offsets[leaf + 1]
            for g in range(tile.size):
                if bounds[g, leaf] <= largest[leaf] and inside[begin + g] < limit:
                    q = tile[g]
                    inside[begin + g] += _count_leaf(
                        numbers, codes, weights, radii, start, stop, largest[leaf], queries[q],
                        query_codes[q], step, sums, counts,
                    )  # fmt: skip
    return inside
