"""Compiled backend of the neighbor engine, which searches trees of leaves by bounds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from skeval.neighbors.encoding import MISSING, SUMMED_TILE, Encoded, run_chunks, sum_shares
from skeval.neighbors.kernels import NO_ROW, TILE, add_pairs, nearest_rows
from skeval.neighbors.leaves import Forest, box_leaves
from skeval.neighbors.machine_code import Bytes, Floats, Ints, jit_inline, jit_without_refcounts

N_CODES = 256  # number of codes in a uint8 column
SAMPLE = 128  # rows that are read to split a node
SMALL_LEAF, LARGE_LEAF, LARGE_TABLE = 256, 1024, 500_000
QUERY_LEAF, QUERY_SAMPLE = 16, 32  # queries are only sorted, for which a rough tree is enough
BLOCK = 512  # rows read at once without bounds
BOUNDED_STEP, UNBOUNDED_STEP = 4, 16  # number columns between two tests for an early exit
PROBE, PROBE_FROM, MAX_READ = 32, 512, 0.6


@dataclass(frozen=True)
class TreeIndex:
    """Reference rows in leaves, with bounds from which a query knows the leaves to skip."""

    forest: Forest
    leaf_size: int
    bounded: bool | None = None

    @classmethod
    def build(
        cls, rows: Encoded, weights: Floats, n_codes: Sequence[int], leaf_size: int | None
    ) -> TreeIndex:
        """Build the tree, where `n_codes` are the codes of each narrow column with unseen ones."""
        size = leaf_size or (SMALL_LEAF if rows.n_rows < LARGE_TABLE else LARGE_LEAF)
        order, offsets = grow_leaves(
            rows.numbers, rows.codes, weights, np.arange(rows.n_rows), size, SAMPLE
        )
        first = np.cumsum([0, *n_codes], dtype=np.int64)
        forest = box_leaves(
            rows.numbers, rows.codes, weights, order, offsets, first[:-1], int(first[-1])
        )
        return cls(forest, size)

    def nearest(
        self, queries: Encoded, n_neighbors: int, own: Ints, limits: Floats, n_jobs: int | None
    ) -> tuple[Floats, Ints]:
        """Return the sums and the indices of the nearest rows."""
        # The row `own` of a query is skipped, and -1 skips no row. If no row is within the limit of
        # a query, the sum is infinite and the index is -1.
        numbers, codes, order = self._sort_queries(queries)
        search = (numbers, codes, own, np.minimum(limits, MISSING), n_neighbors)
        leaves = self._leaves_for(order, *search)
        sums, indices, _ = _swept(order, *search, leaves, n_jobs)
        nothing = indices == NO_ROW
        return np.where(nothing, np.inf, sums), np.where(nothing, -1, indices)

    def count_balls(self, queries: Encoded, radii: Floats, limit: int, n_jobs: int | None) -> Ints:
        """Count for each query the balls around reference rows that contain it, up to `limit`."""
        forest = self.forest
        n_codes = np.diff(np.append(forest.first, len(forest.absent)))
        asked = TreeIndex.build(queries, forest.weights, n_codes.tolist(), None)
        # in the order of the leaves, so that close rows follow each other
        rows = _by_row(Encoded(forest.numbers, forest.codes, forest.rows.size))
        counts = asked._pairs(*rows, radii[forest.rows], np.arange(forest.rows.size), n_jobs)[1]
        return np.minimum(counts, limit)

    def around(self, queries: Encoded, limits: Floats, n_jobs: int | None) -> tuple[Ints, Ints]:
        """Count the rows within each query's limit, and the queries that each row is so near to."""
        numbers, codes, order = self._sort_queries(queries)
        return self._pairs(numbers, codes, limits, order, n_jobs)

    def _pairs(
        self, numbers: Floats, codes: Bytes, limits: Floats, order: Ints, n_jobs: int | None
    ) -> tuple[Ints, Ints]:
        marks, shares = np.ones(self.forest.rows.size, np.uint8), np.ones(order.size)
        parts = run_chunks(
            add_pairs, order, self.forest, numbers, codes, limits, np.full(order.size, -1),
            BOUNDED_STEP, marks, shares, n_jobs=n_jobs, tile=TILE,
        )  # fmt: skip
        inside = np.empty(order.size, dtype=np.int64)
        inside[order] = np.concatenate([part[0] for part in parts])
        return inside, np.sum([part[1] for part in parts], axis=0).astype(np.int64)

    def find_ties(
        self, queries: Encoded, own: Ints, limits: Floats, n_jobs: int | None
    ) -> tuple[Floats, Ints, Ints]:
        """Return the sum and the index of the nearest row, and how many rows are as near."""
        numbers, codes, order = self._sort_queries(queries)
        search = (numbers, codes, own, np.minimum(limits, MISSING), 1)
        sums, rows, n_tied = _swept(order, *search, self._leaves_for(order, *search), n_jobs)
        return sums[:, 0], rows[:, 0], n_tied

    def share(
        self, queries: Encoded, least: Floats, own: Ints, shares: Floats, labels: Bytes,
        picks: Ints, n_jobs: int | None, n_chunks: int,
    ) -> tuple[Ints, Floats]:  # fmt: skip
        """Give the share of each picked query to each row at its `least` distance.

        Returns by pick how many of these rows have a label, and the mass of each row.
        """
        numbers, codes = _by_row(queries)
        return sum_shares(run_chunks(
            add_pairs, picks, self.forest, numbers, codes, least, own, BOUNDED_STEP, labels,
            shares, n_jobs=n_jobs, tile=SUMMED_TILE, n_chunks=n_chunks,
        ))  # fmt: skip

    def _sort_queries(self, queries: Encoded) -> tuple[Floats, Bytes, Ints]:
        """Lay queries out row by row, and find an order that puts close ones into one tile."""
        rows = np.arange(queries.n_rows)  # the order asks for no reference
        order, _ = grow_leaves(
            queries.numbers, queries.codes, self.forest.weights, rows, QUERY_LEAF, QUERY_SAMPLE
        )
        return *_by_row(queries), order

    def _leaves_for(
        self, order: Ints, numbers: Floats, codes: Bytes, own: Ints, limits: Floats,
        k: int,
    ) -> tuple[Forest, bool, int]:  # fmt: skip
        """Return the leaves to search, whether to use their bounds, and the step of early exits."""
        n_rows, bounded = self.forest.rows.size, self.bounded
        if bounded is None:
            bounded = n_rows > 2 * self.leaf_size
            if bounded and order.size >= PROBE_FROM:
                # test whether queries from all parts of the sorted order skip enough rows
                picks = order[np.linspace(0, order.size - 1, PROBE).astype(np.intp)]
                *_, n_read = nearest_rows(
                    self.forest, numbers, codes, own, limits, k, True, BOUNDED_STEP, picks
                )
                bounded = bool(n_read <= MAX_READ * PROBE * n_rows)
        if bounded:
            return self.forest, True, BOUNDED_STEP
        # the same rows in even blocks, without the boxes, which no longer fit
        offsets = np.append(np.arange(0, n_rows, BLOCK), n_rows)
        return self.forest._replace(offsets=offsets), False, UNBOUNDED_STEP


def _by_row(queries: Encoded) -> tuple[Floats, Bytes]:
    return np.ascontiguousarray(queries.numbers.T), np.ascontiguousarray(queries.codes.T)


def _swept(
    order: Ints, numbers: Floats, codes: Bytes, own: Ints, limits: Floats, k: int,
    leaves: tuple[Forest, bool, int], n_jobs: int | None,
) -> tuple[Floats, Ints, Ints]:  # fmt: skip
    """Return sums and indices of the k nearest rows of each query, and the number of ties."""
    forest, bounded, step = leaves
    parts = run_chunks(
        nearest_rows, order, forest, numbers, codes, own, limits, k, bounded, step,
        n_jobs=n_jobs, tile=TILE,
    )  # fmt: skip
    sums = np.empty((order.size, k))
    indices = np.empty((order.size, k), dtype=np.int64)
    n_tied = np.empty(order.size, dtype=np.int64)
    for unsorted, at in ((sums, 0), (indices, 1), (n_tied, 2)):
        unsorted[order] = np.concatenate([part[at] for part in parts])
    return sums, indices, n_tied


@jit_inline
def _number_spread(
    column: Floats, weight: float, order: Ints, start: int, stop: int, size: int
) -> float:
    """Return the mean capped deviation from the mean, over a strided sample of the span."""
    width = stop - start
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


@jit_inline
def _count_codes(column: Bytes, order: Ints, start: int, stop: int, size: int, counts: Ints) -> int:
    """Count the codes of a strided sample in `counts`, and return the largest count."""
    width = stop - start
    for code in range(counts.size):
        counts[code] = 0
    top = 0
    for t in range(size):
        code = column[order[start + t * width // size]]
        counts[code] += 1
        top = max(top, counts[code])
    return int(top)


@jit_inline
def _widest_column(
    numbers: Floats,
    codes: Bytes,
    weights: Floats,
    order: Ints,
    start: int,
    stop: int,
    size: int,
    counts: Ints,
) -> int:
    """Return the column with the largest spread, numbers first, or -1 if no column varies."""
    best, widest = 0.0, -1
    for j in range(numbers.shape[0]):
        spread = _number_spread(numbers[j], weights[j], order, start, stop, size)
        if spread > best:
            best, widest = spread, j
    for j in range(codes.shape[0]):
        spread = 1.0 - _count_codes(codes[j], order, start, stop, size, counts) / size
        if spread > best:
            best, widest = spread, numbers.shape[0] + j
    return int(widest)


@jit_inline
def _sort_sample(
    column: Floats, order: Ints, start: int, stop: int, size: int, sample: Floats
) -> None:
    """Write a strided sample of the span in ascending order, by insertion because it is small."""
    width = stop - start
    for t in range(size):
        value, slot = column[order[start + t * width // size]], t
        while slot > 0 and sample[slot - 1] > value:
            sample[slot] = sample[slot - 1]
            slot -= 1
        sample[slot] = value


@jit_inline
def _put_back(order: Ints, border: int, spare: Ints, held: int) -> None:
    for t in range(held):  # a slice assignment needs two seconds to compile
        order[border + t] = spare[t]


@jit_inline
def _part_numbers(
    column: Floats, order: Ints, start: int, stop: int, size: int, spare: Ints, sample: Floats
) -> int:
    """Move rows below the sample median to the left, in place and stably. Return the border."""
    _sort_sample(column, order, start, stop, size, sample)
    median = sample[size // 2]
    take_median = sample[0] == median  # otherwise, no row would move to the left
    border, held = start, 0
    for t in range(start, stop):
        row = order[t]
        order[border], spare[held] = row, row  # to both, because guesses of the side often fail
        left = int((column[row] < median) | (take_median & (column[row] == median)))
        border += left
        held += 1 - left
    _put_back(order, border, spare, held)
    return int(border)


@jit_inline
def _mark_left_codes(counts: Ints, size: int, side: Bytes) -> None:
    """Mark codes for the left side, the most frequent first, up to half of the sample."""
    filled, most = 0, 1
    for code in range(side.size):
        side[code] = 0
    while most > 0:
        top, most = 0, 0
        for code in range(counts.size):
            if counts[code] > most:
                top, most = code, counts[code]
        if most > 0 and (filled == 0 or filled + most <= size // 2):
            filled += most
            side[top] = 1
        counts[top] = 0


@jit_inline
def _part_codes(
    column: Bytes,
    order: Ints,
    start: int,
    stop: int,
    size: int,
    counts: Ints,
    spare: Ints,
    side: Bytes,
) -> int:
    """Move the rows with left codes to the left, in place and stably. Return the border."""
    _count_codes(column, order, start, stop, size, counts)
    _mark_left_codes(counts, size, side)
    border, held = start, 0
    for t in range(start, stop):
        row = order[t]
        order[border], spare[held] = row, row
        left = int(side[column[row]])
        border += left
        held += 1 - left
    _put_back(order, border, spare, held)
    return int(border)


@jit_inline
def _part(
    numbers: Floats, codes: Bytes, weights: Floats, order: Ints, start: int, stop: int, size: int,
    counts: Ints, spare: Ints, side: Bytes, sample: Floats,
) -> int:  # fmt: skip
    """Split a span at its widest column, or in the middle if nothing separates it."""
    border = start
    column = _widest_column(numbers, codes, weights, order, start, stop, size, counts)
    if column >= numbers.shape[0]:
        border = _part_codes(
            codes[column - numbers.shape[0]], order, start, stop, size, counts, spare, side
        )
    elif column >= 0:
        border = _part_numbers(numbers[column], order, start, stop, size, spare, sample)
    if not start < border < stop:
        border = (start + stop) // 2
    return int(border)


def grow_leaves(
    numbers: Floats, codes: Bytes, weights: Floats, rows: Ints, leaf_size: int, sample_size: int
) -> tuple[Ints, Ints]:
    """Order `rows` so that close rows are adjacent, in leaves of at most `leaf_size` rows.

    Returns the ordered rows and the offsets of the leaves.
    """
    order, is_stop = rows.copy(), np.zeros(rows.size + 1, np.uint8)
    is_stop[0] = 1
    _grow_leaves(
        numbers, codes, weights, order, leaf_size, sample_size, is_stop,
        np.empty(rows.size, np.int64), np.empty((66, 2), np.int64), np.empty(N_CODES, np.int64),
        np.empty(N_CODES, np.uint8), np.empty(sample_size),
    )  # fmt: skip
    return order, np.flatnonzero(is_stop)


@jit_without_refcounts
def _grow_leaves(
    numbers: Floats, codes: Bytes, weights: Floats, order: Ints, leaf_size: int, sample_size: int,
    is_stop: Bytes, spare: Ints, stack: Ints, counts: Ints, side: Bytes, sample: Floats,
) -> None:  # fmt: skip
    """Order rows in place, and mark the ends of leaves.

    The smaller of two halves goes first, so that the stack stays below log2(n) spans.
    """
    stack[0, 0], stack[0, 1] = 0, order.size
    depth = 1 if order.size > 0 else 0
    while depth > 0:
        depth -= 1
        start, stop = stack[depth, 0], stack[depth, 1]
        width = stop - start
        if width <= leaf_size:
            is_stop[stop] = 1
            continue
        size = min(sample_size, width)
        border = _part(
            numbers, codes, weights, order, start, stop, size, counts, spare, side, sample
        )
        left_first = border - start <= stop - border
        small, large = (depth + 1, depth) if left_first else (depth, depth + 1)
        stack[small, 0], stack[small, 1] = start, border
        stack[large, 0], stack[large, 1] = border, stop
        depth += 2
