"""The compiled backend of the neighbour engine: trees of leaves with bounds, grown and searched."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np

from skeval.neighbors.encoding import MISSING, SUMMED_CHUNKS, Encoded, run_chunks
from skeval.neighbors.kernels import (
    NO_ROW,
    TILE,
    count_balls,
    count_pairs,
    divide_queries,
    nearest_rows,
)
from skeval.neighbors.leaves import Forest, box_leaves
from skeval.neighbors.machine_code import Bytes, Floats, Ints, jit

N_CODES = 256  # of a uint8 column
SAMPLE = 128  # rows looked at to split a node
SMALL_LEAF, LARGE_LEAF, LARGE_TABLE = 256, 1024, 500_000
QUERY_LEAF, QUERY_SAMPLE = 16, 32  # queries are only sorted: a rough tree will do
BLOCK = 512  # rows read at once without bounds
BOUNDED_STEP, UNBOUNDED_STEP = 4, 16  # number columns between two tests for an early exit
PROBE, PROBE_FROM, MOST_READ = 32, 512, 0.6
RADIUS_CLASSES = (0.5, 0.75, 0.9, 0.97)  # one outlier's radius would open its leaf to everyone


@dataclass(frozen=True)
class TreeIndex:
    """Reference rows in leaves, with the bounds that tell which leaves a query can skip.

    Attributes
    ----------
    forest : Forest
        The rows in leaf order.
    leaf_size : int
        Most rows in a leaf.
    bounded : bool or None
        Whether to use bounds; None asks a few queries whether they pay.
    """

    forest: Forest
    leaf_size: int
    bounded: bool | None = None

    @classmethod
    def build(
        cls, rows: Encoded, weights: Floats, n_codes: Sequence[int], leaf_size: int | None
    ) -> TreeIndex:
        """Grow the tree; `n_codes` counts the codes of each narrow column, unseen included."""
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
        """Return sums and indices of the nearest rows; `own` is skipped, -1 skips none.

        Beyond a query's limit there is nothing: infinite, index -1.
        """
        numbers, codes, order = self._sorted(queries)
        search = (numbers, codes, own, np.minimum(limits, MISSING), n_neighbors)
        leaves = self._leaves_for(order, *search)
        sums, indices, _ = _swept(order, *search, leaves, n_jobs)
        nothing = indices == NO_ROW
        return np.where(nothing, np.inf, sums), np.where(nothing, -1, indices)

    def within(self, queries: Encoded, radii: Floats, limit: int, n_jobs: int | None) -> Ints:
        """Count for each query the balls around reference rows that hold it, up to `limit`."""
        numbers, codes, order = self._sorted(queries)
        counts = np.zeros(order.size, dtype=np.int64)
        forest, sorted_radii = self._balls(radii[self.forest.rows])
        if forest is None:
            return counts
        largest = np.maximum.reduceat(sorted_radii, forest.offsets[:-1])
        parts = run_chunks(
            count_balls, order, forest, sorted_radii, largest, numbers, codes, limit, BOUNDED_STEP,
            n_jobs=n_jobs, tile=TILE,
        )  # fmt: skip
        counts[order] = np.minimum(np.concatenate(parts), limit)
        return counts

    def around(self, queries: Encoded, limits: Floats, n_jobs: int | None) -> tuple[Ints, Ints]:
        """Count the rows within each query's limit, and the queries that each row is so near to."""
        numbers, codes, order = self._sorted(queries)
        parts = run_chunks(
            count_pairs, order, self.forest, numbers, codes, limits, BOUNDED_STEP,
            n_jobs=n_jobs, tile=TILE,
        )  # fmt: skip
        inside = np.empty(order.size, dtype=np.int64)
        inside[order] = np.concatenate([part[0] for part in parts])
        return inside, np.sum([part[1] for part in parts], axis=0)

    def divided(
        self, queries: Encoded, own: Ints, labels: Bytes, n_jobs: int | None
    ) -> tuple[Floats, Floats]:
        """Divide each query evenly among its nearest rows.

        Returns what each row gets, and by query the share of its nearest rows that have a label.
        """
        numbers, codes, order = self._sorted(queries)
        search = (numbers, codes, own, np.full(order.size, MISSING), 1)
        leaves = self._leaves_for(order, *search)
        sums, indices, n_tied = _swept(order, *search, leaves, n_jobs)
        forest, bounded, step = leaves
        parts = run_chunks(
            divide_queries, order, forest, (sums[:, 0], indices[:, 0], n_tied), n_tied, labels,
            numbers, codes, own, bounded, step, n_jobs=n_jobs, tile=TILE, n_chunks=SUMMED_CHUNKS,
        )  # fmt: skip
        labelled = np.empty(order.size)
        labelled[order] = np.concatenate([part[1] for part in parts])
        # in this order, on which the last bits of a sum depend
        return reduce(np.add, [part[0] for part in parts]), labelled / n_tied

    def tied(self, queries: Encoded, least: Floats, own: Ints) -> tuple[Ints, Ints]:
        """Return of the rows at the `least` distance, which none is below, the first and how many.

        They are asked for one query after the other.
        """
        numbers, codes = _by_row(queries)
        search = (numbers, codes, own, np.minimum(least, MISSING), 1, True, BOUNDED_STEP)
        _, first, n_tied, _ = nearest_rows(self.forest, *search, np.arange(queries.n_rows))
        return first[:, 0], n_tied

    def share(
        self, queries: Encoded, least: Floats, own: Ints, tied: tuple[Ints, Ints], among: Ints,
        labels: Bytes,
    ) -> tuple[Floats, Ints]:  # fmt: skip
        """Divide queries, one after the other, among what `tied` found, `among` in all indexes.

        Returns the mass of each row, and by query how many of its rows have a label.
        """
        return divide_queries(
            self.forest, (least, *tied), among, labels, *_by_row(queries), own, True, BOUNDED_STEP,
            np.arange(queries.n_rows),
        )  # fmt: skip

    def _sorted(self, queries: Encoded) -> tuple[Floats, Bytes, Ints]:
        """Lay queries out row by row, and find an order that puts close ones into one tile."""
        return *_by_row(queries), query_order(queries, self.forest.weights)

    def _leaves_for(
        self, order: Ints, numbers: Floats, codes: Bytes, own: Ints, limits: Floats,
        k: int,
    ) -> tuple[Forest, bool, int]:  # fmt: skip
        """Return the leaves to search, whether to use their bounds, and the step of early exits."""
        n_rows, bounded = self.forest.rows.size, self.bounded
        if bounded is None:
            bounded = n_rows > 2 * self.leaf_size
            if bounded and order.size >= PROBE_FROM:
                # whether queries spread over the sorted order skip enough rows
                picks = order[np.linspace(0, order.size - 1, PROBE).astype(np.intp)]
                *_, n_read = nearest_rows(
                    self.forest, numbers, codes, own, limits, k, True, BOUNDED_STEP, picks
                )
                bounded = bool(n_read <= MOST_READ * PROBE * n_rows)
        if bounded:
            return self.forest, True, BOUNDED_STEP
        # the same rows in even blocks; the boxes no longer fit and are not looked at
        offsets = np.append(np.arange(0, n_rows, BLOCK), n_rows)
        return self.forest._replace(offsets=offsets), False, UNBOUNDED_STEP

    def _balls(self, radii: Floats) -> tuple[Forest | None, Floats]:
        """Build one tree for each class of radii (given in leaf order); drop empty balls."""
        forest = self.forest
        groups = _radius_groups(radii)
        grown = [
            grow_leaves(forest.numbers, forest.codes, forest.weights, rows, self.leaf_size, SAMPLE)
            for rows in groups
        ]
        if not grown:
            return None, radii
        order = np.concatenate([rows for rows, _ in grown])
        starts = np.cumsum([0, *(rows.size for rows, _ in grown)])
        offsets = np.concatenate(
            [[0], *(ends[1:] + start for (_, ends), start in zip(grown, starts[:-1], strict=True))]
        )
        balls = box_leaves(
            forest.numbers, forest.codes, forest.weights, order, offsets, forest.first,
            forest.absent.shape[0],
        )  # fmt: skip
        return balls, radii[order]


def query_order(queries: Encoded, weights: Floats) -> Ints:
    """Return an order of queries in which close ones are neighbours; it asks for no reference."""
    order, _ = grow_leaves(
        queries.numbers, queries.codes, weights, np.arange(queries.n_rows), QUERY_LEAF, QUERY_SAMPLE
    )
    return order


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


def _radius_groups(radii: Floats) -> list[Ints]:
    """Rows by class of radius, small to large; negative radii hold nothing and are left out."""
    valid = np.flatnonzero(radii >= 0).astype(np.int64)
    if not valid.size:
        return []
    cuts = np.quantile(radii[valid], RADIUS_CLASSES)
    label = np.searchsorted(cuts, radii[valid])
    return [valid[label == group] for group in np.unique(label)]


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
        order[border], spare[held] = row, row  # to both: a guess at the side is wrong half the time
        left = int((column[row] < median) | (take_median & (column[row] == median)))
        border += left
        held += 1 - left
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
        order[border], spare[held] = row, row
        left = int(side[column[row]])
        border += left
        held += 1 - left
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

    Returns the ordered rows and the leaves' offsets. The smaller of two halves goes first, so that
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
