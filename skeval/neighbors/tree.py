"""The compiled backend of the neighbour engine: trees of leaves with bounds."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce

import numpy as np
from numpy.typing import NDArray

from skeval.neighbors.encoding import MISSING, SUMMED_CHUNKS, Encoded, run_chunks
from skeval.neighbors.kernels import Forest, box_leaves, grow_leaves
from skeval.neighbors.sweeps import NO_ROW, TILE, count_balls, nearest_rows, spread_ties

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Queries = tuple[Floats, NDArray[np.uint8], Ints]
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
        cls, rows: Encoded, weights: Floats, n_codes: Ints, leaf_size: int | None
    ) -> TreeIndex:
        """Grow the tree; `n_codes` counts the codes of each narrow column, unseen included."""
        size = leaf_size or (SMALL_LEAF if rows.n_rows < LARGE_TABLE else LARGE_LEAF)
        order, offsets = grow_leaves(
            rows.numbers, rows.codes, weights, np.arange(rows.n_rows), size, SAMPLE
        )
        first = np.cumsum(n_codes) - n_codes
        forest = box_leaves(
            rows.numbers, rows.codes, weights, order, offsets, first, int(n_codes.sum())
        )
        return cls(forest, size)

    def nearest(
        self, queries: Encoded, n_neighbors: int, own: Ints, limits: Floats, n_jobs: int | None
    ) -> tuple[Floats, Ints]:
        """Return sums and indices of the nearest rows; `own` is skipped, -1 skips none.

        Beyond a query's limit there is nothing: infinite, index -1.
        """
        packed = self._sort(queries)
        limits = np.minimum(limits, MISSING)
        forest, bounded = self._leaves_for(packed, own, limits, n_neighbors)
        parts = run_chunks(
            _nearest_chunk, queries.n_rows, forest, packed, own, limits, n_neighbors, bounded,
            n_jobs=n_jobs, tile=TILE,
        )  # fmt: skip
        sums = np.empty((queries.n_rows, n_neighbors))
        indices = np.empty((queries.n_rows, n_neighbors), dtype=np.int64)
        sums[packed[2]] = np.concatenate([part[0] for part in parts])
        indices[packed[2]] = np.concatenate([part[1] for part in parts])
        nothing = indices == NO_ROW
        return np.where(nothing, np.inf, sums), np.where(nothing, -1, indices)

    def within(self, queries: Encoded, radii: Floats, limit: int, n_jobs: int | None) -> Ints:
        """Count for each query the balls around reference rows that hold it, up to `limit`."""
        packed = self._sort(queries)
        counts = np.zeros(queries.n_rows, dtype=np.int64)
        forest, sorted_radii = self._balls(radii[self.forest.rows])
        if forest is None:
            return counts
        largest = np.maximum.reduceat(sorted_radii, forest.offsets[:-1])
        parts = run_chunks(
            _within_chunk, queries.n_rows, forest, sorted_radii, largest, packed, limit,
            n_jobs=n_jobs, tile=TILE,
        )  # fmt: skip
        counts[packed[2]] = np.minimum(np.concatenate(parts), limit)
        return counts

    def ties(self, queries: Encoded, least: Floats, own: Ints, n_jobs: int | None) -> Floats:
        """Divide each query among its nearest rows, at distance `least`; mass of each row."""
        packed = self._sort(queries)
        forest, bounded = self._leaves_for(packed, own, least, 1)
        parts = run_chunks(
            _ties_chunk, queries.n_rows, forest, least, packed, own, bounded,
            n_jobs=n_jobs, tile=TILE, n_chunks=SUMMED_CHUNKS,
        )  # fmt: skip
        # in this order, on which the last bits of a sum depend
        total: Floats = reduce(np.add, parts)
        return total

    def _sort(self, queries: Encoded) -> Queries:
        """Lay queries out row by row, and find an order that puts close ones into one tile."""
        order, _ = grow_leaves(
            queries.numbers, queries.codes, self.forest.weights, np.arange(queries.n_rows),
            QUERY_LEAF, QUERY_SAMPLE,
        )  # fmt: skip
        return (
            np.ascontiguousarray(queries.numbers.T),
            np.ascontiguousarray(queries.codes.T),
            order,
        )

    def _leaves_for(
        self, packed: Queries, own: Ints, limits: Floats, k: int
    ) -> tuple[Forest, bool]:
        """Return the leaves to search, and whether to use their bounds."""
        n_rows, n_queries, bounded = self.forest.rows.size, len(own), self.bounded
        if bounded is None:
            bounded = n_rows > 2 * self.leaf_size
            if bounded and n_queries >= PROBE_FROM:
                # whether queries spread over the sorted order skip enough rows
                numbers, codes, order = packed
                picks = order[np.linspace(0, n_queries - 1, PROBE).astype(np.intp)]
                *_, n_read = nearest_rows(
                    self.forest, numbers, codes, own, limits, picks, k, True, BOUNDED_STEP
                )
                bounded = bool(n_read <= MOST_READ * PROBE * n_rows)
        if bounded:
            return self.forest, True
        # the same rows in even blocks; the boxes no longer fit and are not looked at
        offsets = np.append(np.arange(0, n_rows, BLOCK), n_rows)
        return self.forest._replace(offsets=offsets), False

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


def _radius_groups(radii: Floats) -> list[Ints]:
    """Rows by class of radius, small to large; negative radii hold nothing and are left out."""
    valid = np.flatnonzero(radii >= 0).astype(np.int64)
    if not valid.size:
        return []
    cuts = np.quantile(radii[valid], RADIUS_CLASSES)
    label = np.searchsorted(cuts, radii[valid])
    return [valid[label == group] for group in np.unique(label)]


def _nearest_chunk(
    start: int, stop: int, forest: Forest, packed: Queries, own: Ints, limits: Floats, k: int,
    bounded: bool,
) -> tuple[Floats, Ints]:  # fmt: skip
    numbers, codes, order = packed
    step = BOUNDED_STEP if bounded else UNBOUNDED_STEP
    sums, indices, _ = nearest_rows(
        forest, numbers, codes, own, limits, order[start:stop], k, bounded, step
    )
    return sums, indices


def _ties_chunk(
    start: int, stop: int, forest: Forest, least: Floats, packed: Queries, own: Ints, bounded: bool
) -> Floats:
    numbers, codes, order = packed
    step = BOUNDED_STEP if bounded else UNBOUNDED_STEP
    return spread_ties(forest, least, numbers, codes, own, order[start:stop], bounded, step)


def _within_chunk(
    start: int, stop: int, forest: Forest, radii: Floats, largest: Floats, packed: Queries,
    limit: int,
) -> Ints:  # fmt: skip
    numbers, codes, order = packed
    return count_balls(
        forest, radii, largest, numbers, codes, order[start:stop], limit, BOUNDED_STEP
    )
