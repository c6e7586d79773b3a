"""Exact nearest neighbours of a reference in parts: more rows than memory, or many machines."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import pairwise
from typing import Any, Literal, NamedTuple, Self, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_array, check_is_fitted

from skeval.engines import Engine, LocalEngine, current_engine
from skeval.exceptions import InvalidParameterError
from skeval.neighbors.cells import Box, Cells
from skeval.neighbors.encoding import (
    LARGEST,
    SMALLEST_RANGE,
    SUMMED_CHUNKS,
    CodeBook,
    ColumnEncoder,
    Encoded,
    column_lines,
    cut_chunks,
    value_range,
)
from skeval.neighbors.mixed import (
    NO_LIMIT,
    Index,
    MixedNearestNeighbors,
    build_index,
    scales,
    usable_backend,
)
from skeval.parameters import Count, check_parameters, legal_sets

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bytes = NDArray[np.uint8]
T = TypeVar("T")
Best = tuple[Floats, Ints]
MOST_SENT, LEAST_SENT = 200_000, 2_000  # rows of a block of queries that goes to a worker
BLOCKS_A_WORKER = 4
SAMPLED = 2_000  # rows of each part, by which the table is cut into cells
MOST_CELLS = 256


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


class PartitionedNearestNeighbors(MixedNearestNeighbors):
    """Find the nearest rows of a table in parts, exactly: the bits are those of one index.

    What :class:`~skeval.neighbors.mixed.MixedNearestNeighbors` finds among all rows at once, this
    finds part by part: each is asked for what is nearer than the best so far, or as near and of a
    lower index. Where the index of the whole table fits `max_memory` it is built once, and on a
    cluster copied to the workers that need it; where not, the table is cut into cells of alike rows
    with an index each. On one machine these are opened one after the other, twice a call, and on a
    cluster they stay on the workers that built them.

    Parameters
    ----------
    ranges : array-like of shape (n_columns,), default=None
        As of :class:`~skeval.neighbors.mixed.MixedNearestNeighbors`; None takes them from all parts
        together.
    categorical : array-like of bool of shape (n_columns,) or of int, default=None
        Mask or positions of the columns that hold codes.
    max_memory : int, default=None
        Bytes that an index may take in one process, about: it is cells of a sample of rows that are
        of one size. None: no limit.
    leaf_size : int, default=None
        Most reference rows that are read together.
    n_jobs : int, default=None
        Number of threads on this machine; tasks on a cluster have one each.
    backend : {"auto", "numba", "numpy"}, default="auto"
        As of :class:`~skeval.neighbors.mixed.MixedNearestNeighbors`.

    Attributes
    ----------
    n_features_in_ : int
        Number of columns.
    n_samples_fit_ : int
        Number of reference rows in all parts.
    n_indexes_ : int
        Number of indexes, 1 where the whole table fits.
    backend_ : str
        The backend in use.

    Notes
    -----
    Rows are read once by `fit`, for the codes and ranges that all parts share, and once for each
    index; queries given in parts twice for each index, or once on a cluster. A query is first asked
    of the cell that it lies in, and then of those whose box is as near as its nearest row so far.

    Under a client of Dask (see :func:`skeval.engine`) every step is a task: an index whose worker
    dies is built anew.

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.neighbors.parts import Part, PartitionedNearestNeighbors
    >>> young, old = np.array([[20.0, 1.0], [36.0, 1.0]]), np.array([[60.0, 0.0]])
    >>> near = PartitionedNearestNeighbors(categorical=[1])
    >>> near.fit([young, Part(1, old.copy)]).kneighbors([[58.0, 0.0]])
    (array([[0.025]]), array([[2]]))
    """

    def __init__(
        self,
        ranges: ArrayLike | None = None,
        categorical: ArrayLike | None = None,
        *,
        max_memory: Count | None = None,
        leaf_size: Count | None = None,
        n_jobs: int | None = None,
        backend: Literal["auto", "numba", "numpy"] = "auto",
    ) -> None:
        super().__init__(ranges, categorical, leaf_size=leaf_size, n_jobs=n_jobs, backend=backend)
        self.max_memory = max_memory

    def fit(self, X: Any, y: None = None) -> Self:
        """Learn the codes and ranges of all parts; indexes are built when they are searched.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_columns), or sequence of arrays and `Part`
            Reference rows, NaN where missing; their indices go on from part to part.
        y : None
            Ignored; there for scikit-learn's pipelines.

        Returns
        -------
        PartitionedNearestNeighbors
            The fitted object itself.

        Raises
        ------
        InvalidParameterError
            If there is no row, a part has another number of rows or columns than it should, or a
            parameter is outside its legal set.
        """
        given = self.get_params(deep=False)
        check_parameters(type(self).__name__, given, legal_sets(type(self)))
        parts = as_parts(X)
        if not parts:
            raise InvalidParameterError(f"{type(self).__name__}: there is no reference row.")
        tasks = [(part, self.ranges, self.categorical) for part in parts]
        # what is in memory is looked at here
        in_memory = not any(isinstance(part, Part) for part in parts)
        engine = LocalEngine() if in_memory else current_engine()
        merged = engine.reduce(values_of_part, tasks, merge_values)
        values = [column.values for column in merged.columns]
        self.n_features_in_ = len(values)
        self.n_samples_fit_ = sum(size_of(part) for part in parts)
        measured = scales(self.ranges, self.categorical, len(values))
        self._columns = ColumnEncoder.learn(values, *measured)
        self.backend_ = usable_backend(self.backend)
        self.n_indexes_ = n = _n_indexes(parts, self._columns, self.max_memory)
        sample = self._columns.encode(column_lines(merged.sample))
        cells = Cells.learn(sample, self._columns.weights, n)
        self._index = PartsIndex(self._columns, parts, cells, n, self.leaf_size, self.backend_)
        return self

    def _encode(self, Y: Any) -> Any:
        if not _is_parts(Y):
            return super()._encode(Y)
        check_is_fitted(self)
        parts = as_parts(Y)
        return Streamed(parts, sum(size_of(part) for part in parts))


class PartsIndex:
    """Indexes of cells of alike rows, opened one at a time here, or each by a task of a cluster.

    Parts are in no order as a rule: each would hold rows near every query. Cells do not, so that
    most queries have to do with the one that they lie in.

    Attributes
    ----------
    columns : ColumnEncoder
        Of all parts.
    parts : list of rows
        As they were given.
    cells : Cells
        Where each row belongs.
    n_cells : int
        Number of indexes.
    leaf_size, backend
        Of the indexes.
    """

    def __init__(
        self,
        columns: ColumnEncoder,
        parts: list[Rows],
        cells: Cells,
        n_cells: int,
        leaf_size: int | None,
        backend: str,
    ) -> None:
        self.columns, self.parts, self.cells, self.n_cells = columns, parts, cells, n_cells
        self.leaf_size, self.backend = leaf_size, backend
        self._held: Cell | None = None  # the one that was opened last

    def nearest(
        self, queries: Any, n_neighbors: int, own: Ints, limits: Floats, n_jobs: int | None
    ) -> Best:
        """Return sums and indices of the nearest rows of all cells."""
        engine = current_engine(n_jobs)
        if engine.n_workers and self.n_cells > 1 and isinstance(queries, Encoded):
            # alike queries go out together, to the worker that has what is near them
            order = np.argsort(self.cells.of(queries), kind="stable")
            back = np.argsort(order)
            queries, own, limits = _taken(queries, order), own[order], limits[order]
        else:
            back = None
        blocks = blocks_of(queries, engine.n_workers)
        excludes, limited = bool((own >= 0).any()), bool(np.isfinite(limits).any())
        given = [
            (own[here] if excludes else None, limits[here] if limited else None)
            for here, _ in blocks
        ]
        states = [_nothing_yet(here.stop - here.start, n_neighbors) for here, _ in blocks]
        bests = self._fold(engine, improve, blocks, given, states, n_jobs, home_first=True)
        sums = np.concatenate([best[0] for best in bests])
        rows = np.concatenate([best[1] for best in bests])
        rows = np.where(rows == NO_LIMIT, -1, rows)
        return (sums, rows) if back is None else (sums[back], rows[back])

    def within(self, queries: Any, radii: Floats, limit: int, n_jobs: int | None) -> Ints:
        """Count for each query the balls around the rows of all cells, up to `limit`."""
        engine = current_engine(n_jobs)
        blocks = blocks_of(queries, engine.n_workers)
        states = [np.zeros(here.stop - here.start, dtype=np.int64) for here, _ in blocks]
        given = [(engine.submit(_same, radii), limit)] * len(blocks)
        counts = self._fold(engine, count_more, blocks, given, states, n_jobs)
        return np.concatenate(counts)

    def divided(
        self, queries: Any, own: Ints, labels: Bytes, n_jobs: int | None
    ) -> tuple[Floats, Floats]:
        """Divide each query evenly among its nearest rows of all cells; see `TreeIndex.divided`.

        The queries are taken in the order and the chunks that one index takes them in, on which the
        last bits of a sum depend.
        """
        encoded = encoded_rows(self.columns, queries)
        least = self.nearest(encoded, 1, own, np.full(encoded.n_rows, np.inf), n_jobs)[0][:, 0]
        chunks = self._chunks(encoded)
        engine = current_engine(n_jobs)
        asked = [(_taken(encoded, chunk), least[chunk], own[chunk]) for chunk in chunks]
        sent = [(engine.submit(_same, rows), *others) for rows, *others in asked]
        tied = list(self._each(engine, find_ties, [[task] * self.n_cells for task in sent]))
        among = [sum(n_tied for _, n_tied in found) for found in zip(*tied, strict=True)]
        marks = engine.submit(_same, labels)
        given = [
            [(*task, tied[at][c], among[c], marks) for at in range(self.n_cells)]
            for c, task in enumerate(sent)
        ]
        masses = np.zeros(labels.size)
        labelled = [np.zeros(chunk.size, dtype=np.int64) for chunk in chunks]
        for shares in self._each(engine, share_ties, given):
            rows = shares[0][0]
            masses[rows] = reduce(np.add, [mass for _, mass, _ in shares])
            labelled = [n + more for n, (_, _, more) in zip(labelled, shares, strict=True)]
        shares_of_queries = np.empty(encoded.n_rows)
        shares_of_queries[np.concatenate(chunks)] = np.concatenate(labelled) / np.concatenate(among)
        return masses, shares_of_queries

    def around(self, queries: Any, limits: Floats, n_jobs: int | None) -> tuple[Ints, Ints]:
        """Count the rows within each query's limit, and the queries that each row is so near to."""
        engine = current_engine(n_jobs)
        task = engine.submit(_same, encoded_rows(self.columns, queries))
        given = [[(task, limits, n_jobs)] * self.n_cells]
        counted = [of_cell for (of_cell,) in self._each(engine, count_around_cell, given)]
        held = np.zeros(sum(rows.size for rows, _, _ in counted), dtype=np.int64)
        for rows, _, of_rows in counted:
            held[rows] = of_rows
        return np.sum([inside for _, inside, _ in counted], axis=0), held

    def _each(
        self, engine: Engine, function: Callable[..., T], given: list[list[tuple[Any, ...]]]
    ) -> Iterator[list[T]]:
        """Yield for each cell what a function gives of its chunks, which `given` lists first."""
        for at in range(self.n_cells):
            cell = self._opened(engine, at)
            tasks = [engine.submit(function, cell, *chunk[at]) for chunk in given]
            yield [engine.result(task) for task in tasks]

    def _chunks(self, queries: Encoded) -> list[Ints]:
        if self.backend == "numba":
            from skeval.neighbors.kernels import TILE
            from skeval.neighbors.tree import query_order

            return cut_chunks(query_order(queries, self.columns.weights), TILE, SUMMED_CHUNKS)
        from skeval.neighbors.brute import N_QUERIES

        return cut_chunks(np.arange(queries.n_rows), N_QUERIES, SUMMED_CHUNKS)

    def _fold(
        self,
        engine: Engine,
        step: Callable[..., Any],
        blocks: list[tuple[slice, Any]],
        given: Sequence[Any],
        states: list[Any],
        n_jobs: int | None,
        *,
        home_first: bool = False,
    ) -> list[Any]:
        """Take each block of queries through all cells: what is known goes along.

        Here a cell is opened and all blocks visit it. On a cluster the blocks of a wave begin at
        different cells, so that all workers have work; the results are the same.
        """
        if not engine.n_workers:
            for at, which in _visits(self.n_cells, home_first):
                cell = self._opened(engine, at)
                for b, (_, source) in enumerate(blocks):
                    rows = encoded_rows(self.columns, source)
                    states[b] = step(cell, which, rows, given[b], states[b], n_jobs)
            return states
        cells = [self._opened(engine, at) for at in range(self.n_cells)]
        wave = BLOCKS_A_WORKER * engine.n_workers
        for first in range(0, len(blocks), wave):
            mine = range(first, min(first + wave, len(blocks)))
            sent = {b: engine.submit(encoded_rows, self.columns, blocks[b][1]) for b in mine}
            homes = {b: self._home(blocks[b][1], b) for b in mine}
            # the home of a block that is read there is not known here
            sorted_here = all(isinstance(blocks[b][1], Encoded) for b in mine)
            for at, which in _visits(self.n_cells, home_first and not sorted_here):
                for b in mine:
                    cell = cells[(homes[b] + at) % self.n_cells]
                    states[b] = engine.submit(step, cell, which, sent[b], given[b], states[b], 1)
            for b in mine:
                states[b] = engine.result(states[b])
        return states

    def _home(self, rows: Any, otherwise: int) -> int:
        """Return the cell of the first query of a block."""
        if not isinstance(rows, Encoded):
            return otherwise
        return int(self.cells.of(_taken(rows, slice(0, 1)))[0])

    def _opened(self, engine: Engine, at: int) -> Any:
        """Return the cell with its index, or the handle of the task that builds it."""
        task = (self.columns, self.parts, self.cells, at, self.leaf_size, self.backend)
        if engine.n_workers:
            return engine.submit(build_part_index, *task)
        held = self._held
        if held is None or held.at != at:
            held = self._held = None  # two of them need not fit
            held = self._held = build_part_index(*task)
        return held

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_held": None}


@dataclass(frozen=True)
class Cell:
    """The rows of a cell, with an index.

    Attributes
    ----------
    at : int
        Its number.
    cells : Cells
        Of all.
    rows : ndarray of int64
        The places of its rows in the whole table, ascending.
    index : Index or None
        None where there is no row.
    box : Box or None
        None where there is but one cell, or no row.
    weights : ndarray
        Of the box.
    """

    at: int
    cells: Cells
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
        """Return where the queries' own rows stand in the cell, -1 for none."""
        places = np.minimum(np.searchsorted(self.rows, own), len(self.rows) - 1)
        return np.where(self.rows[places] == own, places, -1)


def _visits(n_cells: int, home_first: bool) -> list[tuple[int, str]]:
    """Return in what order cells are visited, and by which queries.

    A query that begins at home knows how near a row elsewhere would have to be. What was opened
    last stays open for the way back.
    """
    if n_cells == 1 or not home_first:
        return [(at, "all") for at in range(n_cells)]
    there = [(at, "home") for at in range(n_cells)]
    return there + [(at, "others") for at in reversed(range(n_cells))]


# -- tasks: pure functions of what they are given --------------------------------------------------


class Occurring(NamedTuple):
    """What an encoder must know of a column: the values of a code book, or the ends of a range."""

    values: Floats
    is_book: bool


class Learned(NamedTuple):
    """What is learned of parts before they are indexed: of each column, and a few rows."""

    columns: list[Occurring]
    sample: Floats


def values_of_part(part: Rows, ranges: ArrayLike | None, categorical: ArrayLike | None) -> Learned:
    """Return of each column what an encoder must know of it, and a few rows."""
    rows = loaded(part)
    lines = column_lines(rows)
    widths, coded = scales(ranges, categorical, len(lines))
    columns = [
        _needed(line, bool(is_code), None if widths is None else float(widths[j]))
        for j, (line, is_code) in enumerate(zip(lines, coded, strict=True))
    ]
    return Learned(columns, rows[:: -(-len(rows) // SAMPLED)].copy())


def merge_values(parts: list[Learned]) -> Learned:
    """Join what parts have in their columns.

    Raises
    ------
    InvalidParameterError
        If parts differ in their number of columns.
    """
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
    return Learned(merged, np.concatenate([part.sample for part in parts]))


def build_part_index(
    columns: ColumnEncoder,
    parts: list[Rows],
    cells: Cells,
    at: int,
    leaf_size: int | None,
    backend: str,
) -> Cell:
    """Read all parts, and return the rows of one cell with their index."""
    start, places, kept = 0, [], []
    for part in parts:
        rows = encoded_rows(columns, part)
        own = np.arange(rows.n_rows)
        if cells.tree is not None:
            own = np.flatnonzero(cells.of(rows) == at)
            rows = _taken(rows, own)
        places.append(own + start)
        kept.append(rows)
        start += size_of(part)
    rows = _joined(kept)
    index = build_index(columns, rows, leaf_size, backend) if rows.n_rows else None
    box = Box.of(rows) if rows.n_rows and cells.tree is not None else None
    return Cell(at, cells, np.concatenate(places), index, box, columns.weights)


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
    cell: Cell,
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
    asked = queries if picks.size == queries.n_rows else _taken(queries, picks)
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
    cell: Cell,
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
    total[picks] += cell.index.within(_taken(queries, picks), radii, limit, n_jobs)
    return np.minimum(total, limit)


def find_ties(cell: Cell, queries: Encoded, least: Floats, own: Ints) -> tuple[Ints, Ints]:
    """Return the first of the nearest rows in one cell, and how many there are."""
    first, n_tied = np.full(queries.n_rows, -1), np.zeros(queries.n_rows, dtype=np.int64)
    picks = cell.asked("all", queries, least)
    if cell.index is not None and picks.size:
        found = cell.index.tied(_taken(queries, picks), least[picks], cell.own(own[picks]))
        first[picks], n_tied[picks] = found
    return first, n_tied


def share_ties(
    cell: Cell,
    queries: Encoded,
    least: Floats,
    own: Ints,
    tied: tuple[Ints, Ints],
    among: Ints,
    labels: Bytes,
) -> tuple[Ints, Floats, Ints]:
    """Divide queries among their nearest rows in one cell; see `TreeIndex.share`.

    Returns the rows of the cell, what each gets, and by query how many have a label.
    """
    mass, labelled = np.zeros(cell.rows.size), np.zeros(queries.n_rows, dtype=np.int64)
    picks = np.flatnonzero(tied[1])
    if cell.index is not None and picks.size:
        here = (tied[0][picks], tied[1][picks])
        handed = (least[picks], cell.own(own[picks]), here, among[picks], labels[cell.rows])
        mass, labelled[picks] = cell.index.share(_taken(queries, picks), *handed)
    return cell.rows, mass, labelled


def count_around_cell(
    cell: Cell, queries: Encoded, limits: Floats, n_jobs: int | None
) -> tuple[Ints, Ints, Ints]:
    """Return the rows of a cell, and what `TreeIndex.around` counts in it."""
    inside, held = np.zeros(queries.n_rows, dtype=np.int64), np.zeros(cell.rows.size, np.int64)
    picks = cell.asked("all", queries, limits)
    if cell.index is not None and picks.size:
        inside[picks], held = cell.index.around(_taken(queries, picks), limits[picks], n_jobs)
    return cell.rows, inside, held


def _same(rows: T) -> T:
    """Hold what several tasks ask for."""
    return rows


# -- parts and blocks ------------------------------------------------------------------------------


def as_parts(rows: Any) -> list[Rows]:
    """Return the parts of a table that have rows; an array is one, unless it is in a file."""
    given = list(rows) if isinstance(rows, list | tuple) and _is_parts(rows) else [rows]
    if is_in_file(rows):
        given = [rows[start : start + MOST_SENT] for start in range(0, len(rows), MOST_SENT)]
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
    """Return the rows of a part.

    Raises
    ------
    InvalidParameterError
        If there are more or fewer than it says.
    """
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
    size = min(max(evenly, LEAST_SENT), MOST_SENT)
    here = [
        slice(start, min(start + size, queries.n_rows)) for start in range(0, queries.n_rows, size)
    ]
    return [(span, _taken(queries, span)) for span in here]


def _taken(queries: Encoded, picks: Ints | slice) -> Encoded:
    numbers, codes = queries.numbers[:, picks], queries.codes[:, picks]
    n_rows = picks.stop - picks.start if isinstance(picks, slice) else picks.size
    return Encoded(numbers, codes, n_rows)


def _is_parts(rows: Any) -> bool:
    """Tell parts from the rows of one table, which are no tables themselves."""
    return is_in_file(rows) or (
        isinstance(rows, list | tuple)
        and all(isinstance(part, Part) or getattr(part, "ndim", 0) == 2 for part in rows)
    )


def is_in_file(rows: Any) -> bool:
    """Tell whether an array is in a file, of which the system holds in memory what is in use."""
    while isinstance(rows, np.ndarray):
        if isinstance(rows, np.memmap):
            return True
        rows = rows.base
    return False


def _n_indexes(parts: list[Rows], columns: ColumnEncoder, max_memory: int | None) -> int:
    """Return into how many cells to cut a table so that the index of each fits the memory."""
    if max_memory is None:
        return 1
    n_numbers, n_codes = len(columns.wide) + len(columns.metric), len(columns.narrow)
    # encoded twice, in the order of the table and of the leaves, and the places of the rows
    row_bytes = 2 * (8 * n_numbers + n_codes) + 16
    n_rows = sum(size_of(part) for part in parts)
    return max(1, min(-(-n_rows * row_bytes // max_memory), n_rows, MOST_CELLS))


def _nothing_yet(n_queries: int, n_neighbors: int) -> Best:
    shape = (n_queries, n_neighbors)
    return np.full(shape, np.inf), np.full(shape, NO_LIMIT)


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
