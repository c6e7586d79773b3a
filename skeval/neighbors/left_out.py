"""Nearest rows in all columns but one, for each column in turn, from one search in all columns."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from skeval.neighbors.encoding import GRID_STEP, ColumnEncoder, Encoded, column_lines, round_to_grid
from skeval.neighbors.mixed import MixedNearestNeighbors, scales

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
N_LISTED = 64  # with 20 columns, they contain the nearest rows of nearly all queries
_CELLS = 2**20  # differences in memory


@dataclass(frozen=True)
class LeftOut:
    """The nearest listed rows of each query without each column.

    `complete` is False for a column and a query if a row that is not listed may be as near.
    """

    query: Ints
    row: Ints
    nearest: NDArray[np.bool_]
    distances: Floats
    complete: NDArray[np.bool_]

    def rows_without(self, column: int, n_neighbors: int) -> Ints:
        """Return the nearest rows of each query, the lowest first and -1 after the last one."""
        pairs = np.flatnonzero(self.nearest[column])
        query, rows = self.query[pairs], np.full((self.distances.shape[1], n_neighbors), -1)
        place = np.arange(query.size) - np.searchsorted(query, query)
        few = place < n_neighbors
        rows[query[few], place[few]] = self.row[pairs[few]]
        return rows


def leave_each_out(search: MixedNearestNeighbors, rows: Floats, queries: Floats) -> LeftOut:
    """Find the rows at the smallest distance to each query without each column.

    `search` was fitted to `rows`. The distances equal those of a search fitted without the column.
    """
    # A difference in one column is at most 1. Without the column, the nearest row of all columns
    # is therefore nearer than each row whose sum is larger by more than 1, and than each row that
    # is not listed if the last listed sum is larger by more than 1.
    n_columns, n_listed = rows.shape[1], min(N_LISTED, len(rows))
    distances, listed = search.kneighbors(queries, n_listed)
    sums = distances * n_columns
    listed = np.sort(np.where(sums <= sums[:, :1] + 1.0 + 2.0 * GRID_STEP, listed, len(rows)))
    horizon = sums[:, -1] - 1.0 - 2.0 * GRID_STEP if n_listed < len(rows) else np.inf
    columns = ColumnEncoder.learn(
        column_lines(rows), *scales(search.ranges, search.categorical, n_columns)
    )
    encoded = columns.encode(column_lines(rows)), columns.encode(column_lines(queries))
    parts, size = [], max(1, _CELLS // (n_columns * n_listed))
    for start in range(0, len(queries), size):
        query, place = np.nonzero(listed[start : start + size] < len(rows))
        row, query = listed[start + query, place], start + query
        without = _sums_without_each(*encoded, row, query, columns.weights)
        least = np.minimum.reduceat(without, np.flatnonzero(np.diff(query, prepend=-1)), axis=1)
        parts.append((query, row, without == least[:, query - start], least))
    order = np.argsort([*columns.narrow, *columns.wide, *columns.metric])
    query, row = (np.concatenate([part[i] for part in parts]) for i in (0, 1))
    nearest, least = (np.concatenate([part[i] for part in parts], axis=1)[order] for i in (2, 3))
    return LeftOut(query, row, nearest, least / (n_columns - 1), least < horizon)


def _sums_without_each(
    reference: Encoded, queries: Encoded, row: Ints, query: Ints, weights: Floats
) -> Floats:
    """Return the rounded sums of pairs without each column, in the order of the encoded columns."""
    # They are added in the order of the search, because the last bits depend on it. Codes add
    # whole numbers, which are exact in any order.
    differ = reference.codes[:, row] != queries.codes[:, query]
    n_codes, n_columns = len(differ), len(differ) + len(weights)
    sums = np.repeat(differ.sum(axis=0, dtype=np.float64)[None], n_columns, axis=0)
    sums[:n_codes] -= differ
    with np.errstate(over="ignore"):  # overflow is capped
        gaps = np.abs(reference.numbers[:, row] - queries.numbers[:, query]) * weights[:, None]
    for j, gap in enumerate(np.minimum(gaps, 1.0), n_codes):
        sums[:j] += gap
        sums[j + 1 :] += gap
    return round_to_grid(sums)
