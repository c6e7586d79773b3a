"""Tasks that workers run on parts of a table. They are pure functions of their arguments."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skeval.exceptions import InvalidParameterError
from skeval.neighbors.encoding import (
    LARGEST,
    SMALLEST_RANGE,
    CodeBook,
    ColumnEncoder,
    Encoded,
    column_lines,
    value_range,
)
from skeval.neighbors.mixed import NO_LIMIT, Index, build_index, scales
from skeval.scale.cells import Box, CellBounds, Floats, Ints
from skeval.scale.parts import Rows, Streamed, load_rows, size_of, take_queries

Bytes = NDArray[np.uint8]
Best = tuple[Floats, Ints]
SAMPLED = 2_000  # number of rows per part that determine the cells of the table
MAX_CELLS = 256


@dataclass(frozen=True)
class IndexedCell:
    """The rows of a cell, with an index."""

    at: int
    cells: CellBounds
    rows: Ints
    index: Index | None
    box: Box | None
    weights: Floats

    def queries_in_reach(self, which: str, queries: Encoded, reach: Floats) -> Ints:
        """Return the queries that may have rows of this cell within their reach."""
        if self.index is None:
            return np.empty(0, dtype=np.int64)
        if self.box is None:
            return np.arange(queries.n_rows)
        if which == "home":
            return np.flatnonzero(self.cells.cell_of_rows(queries) == self.at)
        near = self.box.bounds(queries, self.weights) <= reach
        if which == "others":
            near &= self.cells.cell_of_rows(queries) != self.at
        return np.flatnonzero(near)

    def own_positions(self, own: Ints) -> Ints:
        """Return the positions of the queries' rows in the cell, or -1 for rows not in the cell."""
        places = np.minimum(np.searchsorted(self.rows, own), len(self.rows) - 1)
        return np.where(self.rows[places] == own, places, -1)


class Occurring(NamedTuple):
    """Column values for an encoder, as the values of a code book or the ends of a range."""

    values: Floats
    is_book: bool


class PartValues(NamedTuple):
    """Values of each column of a part, and a sample of its rows, read before the indexing."""

    columns: list[Occurring]
    sample: Floats


def values_of_part(
    part: Rows, ranges: ArrayLike | None, categorical: ArrayLike | None
) -> PartValues:
    """Return the values of each column for an encoder, and a sample of rows."""
    rows = load_rows(part)
    lines = column_lines(rows)
    widths, coded = scales(ranges, categorical, len(lines))
    columns = [
        _occurring_values(line, bool(is_code), None if widths is None else float(widths[j]))
        for j, (line, is_code) in enumerate(zip(lines, coded, strict=True))
    ]
    return PartValues(columns, rows[:: -(-len(rows) // SAMPLED)].copy())


def merge_values(parts: list[PartValues]) -> PartValues:
    """Merge the column values of all parts."""
    widths = [len(part.columns) for part in parts]
    if len(set(widths)) > 1:
        raise InvalidParameterError(
            "PartitionedNearestNeighbors: all parts must have the same number of columns, but got "
            f"{', '.join(map(str, widths))}."
        )
    merged = []
    for column in zip(*(part.columns for part in parts), strict=True):
        values, is_book = np.concatenate([part.values for part in column]), column[0].is_book
        merged.append(Occurring(np.unique(values) if is_book else _ends(values), is_book))
    return PartValues(merged, np.concatenate([part.sample for part in parts]))


def build_part_index(
    columns: ColumnEncoder,
    parts: list[Rows],
    cells: CellBounds,
    at: int,
    leaf_size: int | None,
    backend: str,
) -> IndexedCell:
    """Read all parts, and return the rows of one cell with their index."""
    start, places, kept = 0, [], []
    for part in parts:
        rows = encoded_rows(columns, part)
        own = np.arange(rows.n_rows)
        if cells.tree is not None:
            own = np.flatnonzero(cells.cell_of_rows(rows) == at)
            rows = take_queries(rows, own)
        places.append(own + start)
        kept.append(rows)
        start += size_of(part)
    rows = _concatenate(kept)
    index = build_index(columns, rows, leaf_size, backend) if rows.n_rows else None
    box = Box.from_rows(rows) if rows.n_rows and cells.tree is not None else None
    return IndexedCell(at, cells, np.concatenate(places), index, box, columns.weights)


def encoded_rows(columns: ColumnEncoder, rows: Any) -> Encoded:
    """Return encoded rows from rows in memory, parts to load or rows that are already encoded."""
    if isinstance(rows, Encoded):
        return rows
    if isinstance(rows, Streamed):
        return _concatenate([encoded_rows(columns, part) for part in rows.parts])
    return columns.encode(column_lines(load_rows(rows)))


def _concatenate(parts: list[Encoded]) -> Encoded:
    if len(parts) == 1:
        return parts[0]
    numbers = np.concatenate([part.numbers for part in parts], axis=1)
    codes = np.concatenate([part.codes for part in parts], axis=1)
    return Encoded(numbers, codes, sum(part.n_rows for part in parts))


def improve(
    cell: IndexedCell,
    which: str,
    queries: Encoded,
    given: tuple[Ints | None, Floats | None],
    best: Best,
    n_jobs: int | None,
) -> Best:
    """Return the nearest rows after a search in one more cell."""
    own, limits = given
    k = best[0].shape[1]
    reach = best[0][:, -1] if limits is None else np.minimum(limits, best[0][:, -1])
    picks = cell.queries_in_reach(which, queries, reach)
    if cell.index is None or not picks.size:
        return best
    mine = np.full(picks.size, -1) if own is None else cell.own_positions(own[picks])
    asked = queries if picks.size == queries.n_rows else take_queries(queries, picks)
    more, places = cell.index.nearest(asked, k, mine, reach[picks], n_jobs)
    found = np.where(places < 0, NO_LIMIT, cell.rows[places])
    if (best[1][picks] == NO_LIMIT).all():
        kept = more, found
    else:
        sums, rows = np.hstack([best[0][picks], more]), np.hstack([best[1][picks], found])
        order = np.lexsort((rows, sums), axis=-1)[:, :k]
        kept = np.take_along_axis(sums, order, axis=1), np.take_along_axis(rows, order, axis=1)
    if picks.size == queries.n_rows:
        return kept
    both = best[0].copy(), best[1].copy()
    both[0][picks], both[1][picks] = kept
    return both


def count_more(
    cell: IndexedCell,
    which: str,
    queries: Encoded,
    given: tuple[Floats, int],
    counts: Ints,
    n_jobs: int | None,
) -> Ints:
    """Add the number of balls of one cell that contain each query, up to the limit."""
    radii, limit = given[0][cell.rows], given[1]
    if cell.index is None:
        return counts
    picks = cell.queries_in_reach(which, queries, np.full(queries.n_rows, radii.max()))
    picks = picks[counts[picks] < limit]
    if not picks.size:
        return counts
    total = counts.copy()
    total[picks] += cell.index.count_balls(take_queries(queries, picks), radii, limit, n_jobs)
    return np.minimum(total, limit)


def share_ties(
    cell: IndexedCell, queries: Encoded, least: Floats, own: Ints, shares: Floats, labels: Bytes
) -> tuple[Ints, Ints, Floats]:
    """Return the rows of a cell, and the result of `share` of the index of the cell."""
    marked, mass = np.zeros(queries.n_rows, dtype=np.int64), np.zeros(cell.rows.size)
    picks = cell.queries_in_reach("all", queries, least)
    if cell.index is not None and picks.size:
        every = np.arange(picks.size)
        handed = (
            take_queries(queries, picks),
            least[picks],
            cell.own_positions(own[picks]),
            shares[picks],
        )
        marked[picks], mass = cell.index.share(*handed, labels[cell.rows], every, 1, 1)
    return cell.rows, marked, mass


def count_around_cell(
    cell: IndexedCell, queries: Encoded, limits: Floats, n_jobs: int | None
) -> tuple[Ints, Ints, Ints]:
    """Return the rows of a cell, and the counts of `TreeIndex.around` in it."""
    inside, held = np.zeros(queries.n_rows, dtype=np.int64), np.zeros(cell.rows.size, np.int64)
    picks = cell.queries_in_reach("all", queries, limits)
    if cell.index is not None and picks.size:
        inside[picks], held = cell.index.around(take_queries(queries, picks), limits[picks], n_jobs)
    return cell.rows, inside, held


def _occurring_values(line: Floats, is_code: bool, width: float | None) -> Occurring:
    if is_code or (width is not None and not SMALLEST_RANGE <= width < np.inf):
        return Occurring(CodeBook.learn(line, whole=is_code).occurring(), True)
    if width is not None:
        return Occurring(np.empty(0), False)
    finite = np.clip(line, -LARGEST, LARGEST, where=np.isfinite(line), out=line.copy())
    return Occurring(_ends(finite), False)


def _ends(values: Floats) -> Floats:
    """Return the minimum and the maximum, or all values if their range is tiny."""
    if value_range(values) >= SMALLEST_RANGE:
        finite = values[np.isfinite(values)]
        return np.array([finite.min(), finite.max()])
    return np.unique(values)
