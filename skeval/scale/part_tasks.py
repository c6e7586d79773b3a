"""Parts of a table, and what workers are asked to do with them: pure functions of what they get.

A table cut into cells of rows that are alike, so that a query has to do with few of them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_array

from skeval.exceptions import InvalidParameterError
from skeval.neighbors.encoding import (
    LARGEST,
    MISSING,
    SMALLEST_RANGE,
    CodeBook,
    ColumnEncoder,
    Encoded,
    column_lines,
    round_to_grid,
    value_range,
)
from skeval.neighbors.mixed import NO_LIMIT, Index, build_index, scales

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]
N_CODES = 256  # of a uint8 column


@dataclass(frozen=True)
class CutColumn:
    """Two sides of a column, and how either is split further."""

    column: int
    border: float | Mask
    n_left: int
    left: CutColumn | None
    right: CutColumn | None


@dataclass(frozen=True)
class CellBounds:
    """Which cell a row belongs to, by its values alone."""

    tree: CutColumn | None

    @classmethod
    def learn(cls, sample: Encoded, weights: Floats, n_cells: int) -> CellBounds:
        """Cut a sample into cells of about one size, each time where it spreads most."""
        return cls(_grown(sample, weights, np.arange(sample.n_rows), n_cells))

    def of(self, rows: Encoded) -> Ints:
        """Return the cell of each row."""
        cells = np.zeros(rows.n_rows, dtype=np.int64)
        todo = [(self.tree, np.arange(rows.n_rows), 0)]
        while todo:
            split, at, first = todo.pop()
            if split is None:
                cells[at] = first
                continue
            is_left = _is_left(rows, at, split.column, split.border)
            todo.append((split.left, at[is_left], first))
            todo.append((split.right, at[~is_left], first + split.n_left))
        return cells


@dataclass(frozen=True)
class Box:
    """What the rows of a cell have in common: no row is nearer to a query than its box."""

    low: Floats
    high: Floats
    complete: Mask
    absent: Mask

    @classmethod
    def of(cls, rows: Encoded) -> Box:
        """Measure the rows of a cell, at least one."""
        present = rows.numbers < MISSING
        absent = np.array([np.bincount(line, minlength=N_CODES) == 0 for line in rows.codes])
        return cls(
            np.min(rows.numbers, axis=1, initial=MISSING),
            np.max(rows.numbers, axis=1, initial=-MISSING, where=present),
            np.asarray(present.all(axis=1)),
            absent.reshape(len(rows.codes), N_CODES),
        )

    def bounds(self, queries: Encoded, weights: Floats) -> Floats:
        """Return a sum that no row of the cell is below; see the bounds of leaves."""
        sums = np.zeros(queries.n_rows)
        for absent, line in zip(self.absent, queries.codes, strict=True):
            sums += absent[line]
        columns = zip(queries.numbers, weights, self.low, self.high, self.complete, strict=True)
        with np.errstate(over="ignore"):  # the cap takes what overflows
            for line, weight, low, high, complete in columns:
                gap = np.maximum(0.0, np.maximum(low - line, line - high))
                sums += np.where(line < MISSING, np.minimum(1.0, gap * weight), complete)
        return round_to_grid(sums)


def _grown(rows: Encoded, weights: Floats, at: Ints, n_cells: int) -> CutColumn | None:
    if n_cells == 1:
        return None
    n_left = n_cells // 2
    column, border = _cut(rows, weights, at, n_left / n_cells)
    is_left = _is_left(rows, at, column, border)
    left = _grown(rows, weights, at[is_left], n_left)
    right = _grown(rows, weights, at[~is_left], n_cells - n_left)
    return CutColumn(column, border, n_left, left, right)


def _cut(rows: Encoded, weights: Floats, at: Ints, share: float) -> tuple[int, float | Mask]:
    """Return the column that spreads most, and what of it is to the left."""
    n_numbers = len(rows.numbers)
    if not at.size:
        return (0, 0.0) if n_numbers else (0, np.zeros(N_CODES, dtype=bool))
    spreads = []
    for line, weight in zip(rows.numbers[:, at], weights, strict=True):
        present = line[line < MISSING]
        centre = present.mean() if present.size else 0.0
        spreads.append(np.minimum(1.0, np.abs(line - centre) * weight).mean())
    counts = [np.bincount(line, minlength=N_CODES) for line in rows.codes[:, at]]
    spreads += [1.0 - count.max() / at.size for count in counts]
    column = int(np.argmax(spreads))
    if column < n_numbers:
        return column, float(np.quantile(rows.numbers[column, at], share, method="inverted_cdf"))
    # most frequent codes first, while the left side stays at or under its share
    count, left, filled = counts[column - n_numbers], np.zeros(N_CODES, dtype=bool), 0
    for code in np.argsort(-count, kind="stable"):
        if not filled or filled + count[code] <= share * at.size:
            left[code] = True
            filled += count[code]
    return column, left


def _is_left(rows: Encoded, at: Ints, column: int, border: float | Mask) -> Mask:
    n_numbers = len(rows.numbers)
    if isinstance(border, float):
        return np.asarray(rows.numbers[column, at] <= border)
    return np.asarray(border[rows.codes[column - n_numbers, at]])


Bytes = NDArray[np.uint8]
T = TypeVar("T")
Best = tuple[Floats, Ints]
MAX_SENT, MIN_SENT = 200_000, 2_000  # rows of a block of queries that goes to a worker
BLOCKS_A_WORKER = 4
SAMPLED = 2_000  # rows of each part, by which the table is cut into cells
MAX_CELLS = 256


@dataclass(frozen=True)
class Part:
    """Rows that are read where they are needed, and again wherever they were lost.

    Attributes
    ----------
    n_rows : int
        How many there are.
    load : callable
        Returns the rows, array-like of shape (n_rows, n_columns), the same ones at every call. To
        be sent to another process it must pickle: a partial of a function of a module, with a path
        and a range of rows, say.
    """

    n_rows: int
    load: Callable[[], ArrayLike]


Rows = Floats | Part


class Streamed(NamedTuple):
    """Queries that are read part by part."""

    parts: list[Rows]
    n_rows: int


@dataclass(frozen=True)
class IndexedCell:
    """The rows of a cell, with an index."""

    at: int
    cells: CellBounds
    rows: Ints
    index: Index | None
    box: Box | None
    weights: Floats

    def asked(self, which: str, queries: Encoded, reach: Floats) -> Ints:
        """Return the queries that may have rows of this cell within their reach."""
        if self.index is None:
            return np.empty(0, dtype=np.int64)
        if self.box is None:
            return np.arange(queries.n_rows)
        if which == "home":
            return np.flatnonzero(self.cells.of(queries) == self.at)
        near = self.box.bounds(queries, self.weights) <= reach
        if which == "others":
            near &= self.cells.of(queries) != self.at
        return np.flatnonzero(near)

    def own(self, own: Ints) -> Ints:
        """Return the positions of the queries' own rows in the cell, -1 for none."""
        places = np.minimum(np.searchsorted(self.rows, own), len(self.rows) - 1)
        return np.where(self.rows[places] == own, places, -1)


class Occurring(NamedTuple):
    """What an encoder must know of a column: the values of a code book, or the ends of a range."""

    values: Floats
    is_book: bool


class PartValues(NamedTuple):
    """What is learned of parts before they are indexed: of each column, and a few rows."""

    columns: list[Occurring]
    sample: Floats


def values_of_part(
    part: Rows, ranges: ArrayLike | None, categorical: ArrayLike | None
) -> PartValues:
    """Return of each column what an encoder must know of it, and a few rows."""
    rows = loaded(part)
    lines = column_lines(rows)
    widths, coded = scales(ranges, categorical, len(lines))
    columns = [
        _needed(line, bool(is_code), None if widths is None else float(widths[j]))
        for j, (line, is_code) in enumerate(zip(lines, coded, strict=True))
    ]
    return PartValues(columns, rows[:: -(-len(rows) // SAMPLED)].copy())


def merge_values(parts: list[PartValues]) -> PartValues:
    """Join what parts have in their columns."""
    widths = [len(part.columns) for part in parts]
    if len(set(widths)) > 1:
        raise InvalidParameterError(
            "PartitionedNearestNeighbors: parts must have one number of columns, got "
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
            own = np.flatnonzero(cells.of(rows) == at)
            rows = taken(rows, own)
        places.append(own + start)
        kept.append(rows)
        start += size_of(part)
    rows = _joined(kept)
    index = build_index(columns, rows, leaf_size, backend) if rows.n_rows else None
    box = Box.of(rows) if rows.n_rows and cells.tree is not None else None
    return IndexedCell(at, cells, np.concatenate(places), index, box, columns.weights)


def encoded_rows(columns: ColumnEncoder, rows: Any) -> Encoded:
    """Return rows as the engine reads them, whether in memory, to be read, or encoded already."""
    if isinstance(rows, Encoded):
        return rows
    if isinstance(rows, Streamed):
        return _joined([encoded_rows(columns, part) for part in rows.parts])
    return columns.encode(column_lines(loaded(rows)))


def _joined(parts: list[Encoded]) -> Encoded:
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
    """Return the nearest rows of what is known and of one cell."""
    own, limits = given
    k = best[0].shape[1]
    reach = best[0][:, -1] if limits is None else np.minimum(limits, best[0][:, -1])
    picks = cell.asked(which, queries, reach)
    if cell.index is None or not picks.size:
        return best
    mine = np.full(picks.size, -1) if own is None else cell.own(own[picks])
    asked = queries if picks.size == queries.n_rows else taken(queries, picks)
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
    """Add the balls of one cell that hold each query, where the limit is not reached."""
    radii, limit = given[0][cell.rows], given[1]
    if cell.index is None:
        return counts
    picks = cell.asked(which, queries, np.full(queries.n_rows, radii.max()))
    picks = picks[counts[picks] < limit]
    if not picks.size:
        return counts
    total = counts.copy()
    total[picks] += cell.index.within(taken(queries, picks), radii, limit, n_jobs)
    return np.minimum(total, limit)


def share_ties(
    cell: IndexedCell, queries: Encoded, least: Floats, own: Ints, shares: Floats, labels: Bytes
) -> tuple[Ints, Ints, Floats]:
    """Return the rows of a cell, and what the index of the cell returns of `share`."""
    marked, mass = np.zeros(queries.n_rows, dtype=np.int64), np.zeros(cell.rows.size)
    picks = cell.asked("all", queries, least)
    if cell.index is not None and picks.size:
        every = np.arange(picks.size)
        handed = taken(queries, picks), least[picks], cell.own(own[picks]), shares[picks]
        marked[picks], mass = cell.index.share(*handed, labels[cell.rows], every, 1, 1)
    return cell.rows, marked, mass


def count_around_cell(
    cell: IndexedCell, queries: Encoded, limits: Floats, n_jobs: int | None
) -> tuple[Ints, Ints, Ints]:
    """Return the rows of a cell, and what `TreeIndex.around` counts in it."""
    inside, held = np.zeros(queries.n_rows, dtype=np.int64), np.zeros(cell.rows.size, np.int64)
    picks = cell.asked("all", queries, limits)
    if cell.index is not None and picks.size:
        inside[picks], held = cell.index.around(taken(queries, picks), limits[picks], n_jobs)
    return cell.rows, inside, held


def hold(rows: T) -> T:
    """Hold what several tasks ask for."""
    return rows


# -- parts and blocks ------------------------------------------------------------------------------


def as_parts(rows: Any) -> list[Rows]:
    """Return the parts of a table that have rows; an array is one, unless it is in a file."""
    given = list(rows) if isinstance(rows, list | tuple) and are_parts(rows) else [rows]
    if is_in_file(rows):
        given = [rows[start : start + MAX_SENT] for start in range(0, len(rows), MAX_SENT)]
    parts = [
        part
        if isinstance(part, Part)
        else check_array(part, dtype=np.float64, ensure_all_finite=False, ensure_min_samples=0)
        for part in given
    ]
    return [part for part in parts if size_of(part)]


def size_of(part: Rows) -> int:
    """Return the number of rows of a part."""
    return part.n_rows if isinstance(part, Part) else len(part)


def loaded(part: Rows) -> Floats:
    """Return the rows of a part."""
    if not isinstance(part, Part):
        return part
    rows: Floats = check_array(
        part.load(), dtype=np.float64, ensure_all_finite=False, ensure_min_samples=0
    )
    if len(rows) != part.n_rows:
        raise InvalidParameterError(
            f"PartitionedNearestNeighbors: a part of {part.n_rows} rows loaded {len(rows)}."
        )
    return rows


def blocks_of(queries: Any, n_workers: int) -> list[tuple[slice, Any]]:
    """Cut queries: by their own parts, or evenly for the workers; in one where all stays here."""
    if isinstance(queries, Streamed):
        borders = np.cumsum([0, *(size_of(part) for part in queries.parts)]).tolist()
        here = [slice(start, stop) for start, stop in pairwise(borders)]
        return list(zip(here, queries.parts, strict=True))
    if not n_workers:
        return [(slice(0, queries.n_rows), queries)]
    evenly = -(-queries.n_rows // (BLOCKS_A_WORKER * n_workers))
    size = min(max(evenly, MIN_SENT), MAX_SENT)
    here = [
        slice(start, min(start + size, queries.n_rows)) for start in range(0, queries.n_rows, size)
    ]
    return [(span, taken(queries, span)) for span in here]


def taken(queries: Encoded, picks: Ints | slice) -> Encoded:
    """Return some of the queries."""
    numbers, codes = queries.numbers[:, picks], queries.codes[:, picks]
    n_rows = picks.stop - picks.start if isinstance(picks, slice) else picks.size
    return Encoded(numbers, codes, n_rows)


def are_parts(rows: Any) -> bool:
    """Tell parts from the rows of one table, which are no tables themselves."""
    return is_in_file(rows) or (
        isinstance(rows, list | tuple)
        and all(isinstance(part, Part) or getattr(part, "ndim", 0) == 2 for part in rows)
    )


def is_in_file(rows: Any) -> bool:
    """Return whether an array is in a file, of which the system holds in memory what is used."""
    while isinstance(rows, np.ndarray):
        if isinstance(rows, np.memmap):
            return True
        rows = rows.base
    return False


def _needed(line: Floats, is_code: bool, width: float | None) -> Occurring:
    if is_code or (width is not None and not SMALLEST_RANGE <= width < np.inf):
        return Occurring(CodeBook.learn(line, whole=is_code).occurring(), True)
    if width is not None:
        return Occurring(np.empty(0), False)
    finite = np.clip(line, -LARGEST, LARGEST, where=np.isfinite(line), out=line.copy())
    return Occurring(_ends(finite), False)


def _ends(values: Floats) -> Floats:
    """Return the least and the greatest number; all values where they hardly differ."""
    if value_range(values) >= SMALLEST_RANGE:
        finite = values[np.isfinite(values)]
        return np.array([finite.min(), finite.max()])
    return np.unique(values)
