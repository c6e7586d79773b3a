"""The compiled backend of the neighbour engine: trees of leaves with bounds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np
from numpy.typing import NDArray

from skeval.neighbors.encoding import MISSING, SUMMED_CHUNKS, Encoded, run_chunks
from skeval.neighbors.kernels import Forest, box_leaves, grow_leaves
from skeval.neighbors.sweeps import NO_ROW, TILE, count_balls, nearest_rows, spread_ties

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
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
        limits = np.minimum(limits, MISSING)
        search = (numbers, codes, own, limits, n_neighbors)
        forest, bounded, step = self._leaves_for(order, *search)
        parts = run_chunks(
            nearest_rows, order, forest, *search, bounded, step, n_jobs=n_jobs, tile=TILE
        )
        sums = np.empty((order.size, n_neighbors))
        indices = np.empty((order.size, n_neighbors), dtype=np.int64)
        sums[order] = np.concatenate([part[0] for part in parts])
        indices[order] = np.concatenate([part[1] for part in parts])
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

    def ties(self, queries: Encoded, least: Floats, own: Ints, n_jobs: int | None) -> Floats:
        """Divide each query among its nearest rows, at distance `least`; mass of each row."""
        numbers, codes, order = self._sorted(queries)
        forest, bounded, step = self._leaves_for(order, numbers, codes, own, least, 1)
        parts = run_chunks(
            spread_ties, order, forest, least, numbers, codes, own, bounded, step,
            n_jobs=n_jobs, tile=TILE, n_chunks=SUMMED_CHUNKS,
        )  # fmt: skip
        # in this order, on which the last bits of a sum depend
        total: Floats = reduce(np.add, parts)
        return total

    def _sorted(self, queries: Encoded) -> tuple[Floats, NDArray[np.uint8], Ints]:
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
        self, order: Ints, numbers: Floats, codes: NDArray[np.uint8], own: Ints, limits: Floats,
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


def _radius_groups(radii: Floats) -> list[Ints]:
    """Rows by class of radius, small to large; negative radii hold nothing and are left out."""
    valid = np.flatnonzero(radii >= 0).astype(np.int64)
    if not valid.size:
        return []
    cuts = np.quantile(radii[valid], RADIUS_CLASSES)
    label = np.searchsorted(cuts, radii[valid])
    return [valid[label == group] for group in np.unique(label)]
