"""Exact nearest neighbors among rows in parts, for tables larger than memory and for clusters."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import reduce
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from skeval.exceptions import InvalidParameterError
from skeval.neighbors.encoding import (
    SUMMED_CHUNKS,
    SUMMED_TILE,
    ColumnEncoder,
    Encoded,
    column_lines,
    cut_chunks,
)
from skeval.neighbors.mixed import NO_LIMIT, MixedNearestNeighbors, scales, usable_backend
from skeval.scale.cells import CellBounds, Floats, Ints
from skeval.scale.engines import n_workers
from skeval.scale.part_tasks import (
    MAX_CELLS,
    Best,
    Bytes,
    IndexedCell,
    build_part_index,
    count_around_cell,
    count_more,
    encoded_rows,
    improve,
    merge_values,
    share_ties,
    values_of_part,
)
from skeval.scale.parts import (
    BLOCKS_A_WORKER,
    Part,
    Rows,
    Streamed,
    T,
    are_parts,
    as_parts,
    blocks_of,
    hold,
    size_of,
    take_queries,
)
from skeval.utils.engines import Engine, LocalEngine, current_engine
from skeval.utils.parameters import Count, check_parameters, legal_sets

INDEX_BYTES = 2**30  # maximum size of an index if rows are in a file or sent to workers


class PartitionedNearestNeighbors(MixedNearestNeighbors):
    """Exact nearest neighbors in a table of several parts, bitwise equal to a single index.

    :class:`~skeval.neighbors.mixed.MixedNearestNeighbors` searches all rows at once, and this class
    searches part by part. Each part returns the rows that are closer than the best rows so far, or
    equally close with a lower index. If the index of the whole table fits in `max_memory`, it is
    built once, and on a cluster it is copied to the workers that need it. Otherwise, the table is
    cut into cells of similar rows with one index per cell. On one machine, the cells are opened one
    after the other, twice per call. On a cluster, they stay on the workers that built them.

    Parameters
    ----------
    ranges : array-like of shape (n_columns,), default=None
        See :class:`~skeval.neighbors.mixed.MixedNearestNeighbors`. If None, the ranges are computed
        from all parts together.
    categorical : array-like of bool of shape (n_columns,) or of int, default=None
        Mask or positions of the columns that contain codes.
    max_memory : int, default=None
        Approximate maximum size of an index in one process, in bytes. It is approximate because
        the cells have equal size only in a sample of rows. If None, the size is not limited.
    leaf_size : int, default=None
        Maximum number of reference rows per leaf.
    n_jobs : int, default=None
        Number of threads on this machine. Tasks on a cluster use one thread each.
    backend : {"auto", "numba", "numpy"}, default="auto"
        See :class:`~skeval.neighbors.mixed.MixedNearestNeighbors`.

    Attributes
    ----------
    n_features_in_ : int
        Number of columns.
    n_samples_fit_ : int
        Number of reference rows in all parts.
    n_indexes_ : int
        Number of indexes. It is 1 if the whole table fits.
    backend_ : str
        The backend in use.

    Notes
    -----
    `fit` reads rows once to compute the codes and ranges that all parts share. Each index reads all
    rows once more. Queries in parts are read twice per index, or once on a cluster. A query is
    first sent to the cell that contains it, and then to cells whose bounding box is at most as
    distant as the nearest row so far.

    With a Dask client (see :func:`skeval.scale.engine`) every step is a task, so an index is built
    again if its worker dies.

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.scale.partitioned import PartitionedNearestNeighbors
    >>> from skeval.scale.parts import Part
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
        """Learn the codes and ranges of all parts. Indexes are built during the first search.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_columns), or sequence of arrays and `Part`
            Reference rows, with NaN for missing values. Row indices continue from part to part.
        y : None
            Ignored. Accepted because pipelines of scikit-learn pass it.

        Returns
        -------
        PartitionedNearestNeighbors
            The fitted object itself.

        Raises
        ------
        InvalidParameterError
            If there are no rows, if a part has a wrong number of rows or columns, or if a
            parameter is not valid.
        """
        given = self.get_params(deep=False)
        check_parameters(type(self).__name__, given, legal_sets(type(self)))
        parts = as_parts(X)
        if not parts:
            raise InvalidParameterError(f"{type(self).__name__}: there are no reference rows.")
        tasks = [(part, self.ranges, self.categorical) for part in parts]
        # Rows in memory are read in this process.
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
        cells = CellBounds.learn(sample, self._columns.weights, n)
        self._index = PartsIndex(self._columns, parts, cells, n, self.leaf_size, self.backend_)
        return self

    def _search_for(self, queries: Any) -> Any:
        return self._index

    def _encode(self, Y: Any) -> Any:
        if not are_parts(Y):
            return super()._encode(Y)
        check_is_fitted(self)
        parts = as_parts(Y)
        return Streamed(parts, sum(size_of(part) for part in parts))


class PartsIndex:
    """Indexes of cells of similar rows, opened one after the other or built by cluster tasks."""

    # Parts usually have no order, so each part would contain rows close to every query. Cells
    # avoid this, so most queries only need the cell that contains them.

    def __init__(
        self,
        columns: ColumnEncoder,
        parts: list[Rows],
        cells: CellBounds,
        n_cells: int,
        leaf_size: int | None,
        backend: str,
    ) -> None:
        self.columns, self.parts, self.cells, self.n_cells = columns, parts, cells, n_cells
        self.leaf_size, self.backend = leaf_size, backend
        self._held: IndexedCell | None = None  # the most recently opened cell

    def nearest(
        self, queries: Any, n_neighbors: int, own: Ints, limits: Floats, n_jobs: int | None
    ) -> Best:
        """Return sums and indices of the nearest rows of all cells."""
        engine = current_engine(n_jobs)
        if n_workers(engine) and self.n_cells > 1 and isinstance(queries, Encoded):
            # Similar queries are sent together to the worker with the rows close to them.
            order = np.argsort(self.cells.cell_of_rows(queries), kind="stable")
            back = np.argsort(order)
            queries, own, limits = take_queries(queries, order), own[order], limits[order]
        else:
            back = None
        blocks = blocks_of(queries, n_workers(engine))
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

    def count_balls(self, queries: Any, radii: Floats, limit: int, n_jobs: int | None) -> Ints:
        """Count for each query the balls around the rows of all cells, up to `limit`."""
        engine = current_engine(n_jobs)
        blocks = blocks_of(queries, n_workers(engine))
        states = [np.zeros(here.stop - here.start, dtype=np.int64) for here, _ in blocks]
        given = [(engine.submit(hold, radii), limit)] * len(blocks)
        counts = self._fold(engine, count_more, blocks, given, states, n_jobs)
        return np.concatenate(counts)

    def find_ties(
        self, queries: Any, own: Ints, limits: Floats, n_jobs: int | None
    ) -> tuple[Floats, Ints, Ints]:
        """Return the sum and index of the nearest row, and the number of equally near rows."""
        encoded = encoded_rows(self.columns, queries)
        sums, rows = self.nearest(encoded, 1, own, limits, n_jobs)
        every, n_rows = np.arange(encoded.n_rows), sum(size_of(part) for part in self.parts)
        within = np.where(rows[:, 0] < 0, -1.0, sums[:, 0])
        marks, shares = np.ones(n_rows, np.uint8), np.zeros(encoded.n_rows)
        found = self.share(encoded, within, own, shares, marks, every, n_jobs, SUMMED_CHUNKS)
        return sums[:, 0], rows[:, 0], found[0]

    def share(
        self, queries: Any, least: Floats, own: Ints, shares: Floats, labels: Bytes, picks: Ints,
        n_jobs: int | None, n_chunks: int,
    ) -> tuple[Ints, Floats]:  # fmt: skip
        """Add the share of each picked query to each row at its `least` distance, in all cells.

        The chunks match a single index, because the last bits of a sum depend on them.
        """
        encoded = encoded_rows(self.columns, queries)
        chunks = cut_chunks(picks, SUMMED_TILE, n_chunks)
        engine = current_engine(n_jobs)
        marks = engine.submit(hold, labels)
        asked = [(take_queries(encoded, c), least[c], own[c], shares[c], marks) for c in chunks]
        sent = [(engine.submit(hold, rows), *others) for rows, *others in asked]
        masses = np.zeros(labels.size)
        marked = [np.zeros(chunk.size, dtype=np.int64) for chunk in chunks]
        for found in self._each(engine, share_ties, [[task] * self.n_cells for task in sent]):
            rows = found[0][0]
            masses[rows] = reduce(np.add, [mass for _, _, mass in found])
            marked = [n + more for n, (_, more, _) in zip(marked, found, strict=True)]
        return np.concatenate(marked), masses

    def around(self, queries: Any, limits: Floats, n_jobs: int | None) -> tuple[Ints, Ints]:
        """Count the rows within the limit of each query, and for each row the queries in reach."""
        engine = current_engine(n_jobs)
        task = engine.submit(hold, encoded_rows(self.columns, queries))
        given = [[(task, limits, n_jobs)] * self.n_cells]
        counted = [of_cell for (of_cell,) in self._each(engine, count_around_cell, given)]
        held = np.zeros(sum(rows.size for rows, _, _ in counted), dtype=np.int64)
        for rows, _, of_rows in counted:
            held[rows] = of_rows
        return np.sum([inside for _, inside, _ in counted], axis=0), held

    def _each(
        self, engine: Engine, function: Callable[..., T], given: list[list[tuple[Any, ...]]]
    ) -> Iterator[list[T]]:
        """Yield the results of a function for each cell, one result for each chunk of `given`."""
        for at in range(self.n_cells):
            cell = self._open_cell(engine, at)
            tasks = [engine.submit(function, cell, *chunk[at]) for chunk in given]
            yield [engine.result(task) for task in tasks]

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
        """Pass each block of queries through all cells, together with its results so far."""
        # On one machine, a cell is opened and all blocks visit it. On a cluster, the blocks of
        # a wave start at different cells, so that all workers are busy. The results are equal.
        if not n_workers(engine):
            for at, which in _visits(self.n_cells, home_first):
                cell = self._open_cell(engine, at)
                for b, (_, source) in enumerate(blocks):
                    rows = encoded_rows(self.columns, source)
                    states[b] = step(cell, which, rows, given[b], states[b], n_jobs)
            return states
        cells = [self._open_cell(engine, at) for at in range(self.n_cells)]
        wave = BLOCKS_A_WORKER * n_workers(engine)
        for first in range(0, len(blocks), wave):
            mine = range(first, min(first + wave, len(blocks)))
            sent = {b: engine.submit(encoded_rows, self.columns, blocks[b][1]) for b in mine}
            homes = {b: self._home(blocks[b][1], b) for b in mine}
            # The home of a block that a worker reads is not known here.
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
        return int(self.cells.cell_of_rows(take_queries(rows, slice(0, 1)))[0])

    def _open_cell(self, engine: Engine, at: int) -> Any:
        """Return the cell with its index, or the handle of the task that builds it."""
        task = (self.columns, self.parts, self.cells, at, self.leaf_size, self.backend)
        if n_workers(engine):
            return engine.submit(build_part_index, *task)
        held = self._held
        if held is None or held.at != at:
            held = self._held = None  # two cells may not fit in memory at the same time
            held = self._held = build_part_index(*task)
        return held

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_held": None}


def _visits(n_cells: int, home_first: bool) -> list[tuple[int, str]]:
    """Return the order in which cells are visited, and by which queries."""
    # A query that starts at its home cell has a bound for the distance to rows of other cells.
    # The most recently opened cell stays open for the way back.
    if n_cells == 1 or not home_first:
        return [(at, "all") for at in range(n_cells)]
    there = [(at, "home") for at in range(n_cells)]
    return there + [(at, "others") for at in reversed(range(n_cells))]


def _n_indexes(parts: list[Rows], columns: ColumnEncoder, max_memory: int | None) -> int:
    """Return the number of cells such that the index of each cell fits in memory."""
    if max_memory is None:
        return 1
    n_numbers, n_codes = len(columns.wide) + len(columns.metric), len(columns.narrow)
    # Rows are encoded twice, in table order and in leaf order, with bytes and positions.
    row_bytes = 2 * (8 * n_numbers + n_codes) + n_numbers + 16
    n_rows = sum(size_of(part) for part in parts)
    return max(1, min(-(-n_rows * row_bytes // max_memory), n_rows, MAX_CELLS))


def _nothing_yet(n_queries: int, n_neighbors: int) -> Best:
    shape = (n_queries, n_neighbors)
    return np.full(shape, np.inf), np.full(shape, NO_LIMIT)
