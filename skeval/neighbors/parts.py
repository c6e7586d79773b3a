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
    cluster copied to the workers that need it; where not, there is one index for as many parts as
    fit. On one machine these are built one after the other, each once a call, and on a cluster they
    stay on the workers that built them.

    Parameters
    ----------
    ranges : array-like of shape (n_columns,), default=None
        As of :class:`~skeval.neighbors.mixed.MixedNearestNeighbors`; None takes them from all parts
        together.
    categorical : array-like of bool of shape (n_columns,) or of int, default=None
        Mask or positions of the columns that hold codes.
    max_memory : int, default=None
        Bytes that an index may take while it is built, in one process. A part is never cut: one
        that needs more is an index of its own. None: no limit.
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
    Rows are read twice, once by `fit` for the codes and ranges that all parts share, once for an
    index; queries given in parts once for each index, or once on a cluster. A block of queries
    visits the indexes one after the other, and the distances so far prune what it reads there.

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
        values = [column.values for column in merged]
        self.n_features_in_ = len(values)
        self.n_samples_fit_ = sum(size_of(part) for part in parts)
        measured = scales(self.ranges, self.categorical, len(values))
        self._columns = ColumnEncoder.learn(values, *measured)
        self.backend_ = usable_backend(self.backend)
        built = (self.max_memory, self.leaf_size, self.backend_)
        self._index = index = PartsIndex(self._columns, parts, *built)
        self.n_indexes_ = len(index.groups)
        return self

    def _encode(self, Y: Any) -> Any:
        if not _is_parts(Y):
            return super()._encode(Y)
        check_is_fitted(self)
        parts = as_parts(Y)
        return Streamed(parts, sum(size_of(part) for part in parts))


class PartsIndex:
    """Indexes of groups of parts, opened one at a time here, or each by a task of a cluster.

    Attributes
    ----------
    columns : ColumnEncoder
        Of all parts.
    groups : list of list of rows
        The parts of each index.
    borders : ndarray of shape (n_groups + 1,)
        Where each group begins among all rows.
    leaf_size, backend
        Of the indexes.
    """

    def __init__(
        self,
        columns: ColumnEncoder,
        parts: list[Rows],
        max_memory: int | None,
        leaf_size: int | None,
        backend: str,
    ) -> None:
        self.columns, self.leaf_size, self.backend = columns, leaf_size, backend
        self.groups = _grouped(parts, columns, max_memory)
        sizes = [sum(size_of(part) for part in group) for group in self.groups]
        self.borders: Ints = np.cumsum([0, *sizes], dtype=np.int64)
        self._whole: Index | None = None  # of the one group, if there is one

    def nearest(
        self, queries: Any, n_neighbors: int, own: Ints, limits: Floats, n_jobs: int | None
    ) -> Best:
        """Return sums and indices of the nearest rows of all parts."""
        engine = current_engine(n_jobs)
        blocks = blocks_of(queries, engine.n_workers)
        excludes, limited = bool((own >= 0).any()), bool(np.isfinite(limits).any())
        given = [
            (own[here] if excludes else None, limits[here] if limited else None)
            for here, _ in blocks
        ]
        states = [_nothing_yet(here.stop - here.start, n_neighbors) for here, _ in blocks]
        spans = list(pairwise(self.borders.tolist()))
        bests = self._fold(engine, improve, blocks, given, states, spans, n_jobs)
        sums = np.concatenate([best[0] for best in bests])
        rows = np.concatenate([best[1] for best in bests])
        return sums, np.where(rows == NO_LIMIT, -1, rows)

    def within(self, queries: Any, radii: Floats, limit: int, n_jobs: int | None) -> Ints:
        """Count for each query the balls around the rows of all parts, up to `limit`."""
        engine = current_engine(n_jobs)
        blocks = blocks_of(queries, engine.n_workers)
        states = [np.zeros(here.stop - here.start, dtype=np.int64) for here, _ in blocks]
        mine = [radii[start:stop] for start, stop in pairwise(self.borders)]
        limits = [limit] * len(blocks)
        counts = self._fold(engine, count_more, blocks, limits, states, mine, n_jobs)
        return np.concatenate(counts)

    def divided(
        self, queries: Any, own: Ints, labels: Bytes, n_jobs: int | None
    ) -> tuple[Floats, Floats]:
        """Divide each query evenly among its nearest rows of all parts; see `TreeIndex.divided`.

        The queries are taken in the order and the chunks that one index takes them in, on which the
        last bits of a sum depend.
        """
        encoded = encoded_rows(self.columns, queries)
        least = self.nearest(encoded, 1, own, np.full(encoded.n_rows, np.inf), n_jobs)[0][:, 0]
        chunks, spans = self._chunks(encoded), [slice(*span) for span in pairwise(self.borders)]
        engine = current_engine(n_jobs)
        asked = [(_taken(encoded, chunk), least[chunk], own[chunk]) for chunk in chunks]
        tied = list(self._each(engine, find_ties, [[task] * len(spans) for task in asked]))
        among = [sum(n_tied for _, n_tied in found) for found in zip(*tied, strict=True)]
        given = [
            [(*task, tied[at][c], among[c], labels[span]) for at, span in enumerate(spans)]
            for c, task in enumerate(asked)
        ]
        masses, labelled = [], [np.zeros(chunk.size, dtype=np.int64) for chunk in chunks]
        for shares in self._each(engine, share_ties, given):
            masses.append(reduce(np.add, [mass for mass, _ in shares]))
            labelled = [n + more for n, (_, more) in zip(labelled, shares, strict=True)]
        shares_of_queries = np.empty(encoded.n_rows)
        shares_of_queries[np.concatenate(chunks)] = np.concatenate(labelled) / np.concatenate(among)
        return np.concatenate(masses), shares_of_queries

    def _each(
        self, engine: Engine, function: Callable[..., T], given: list[list[tuple[Any, ...]]]
    ) -> Iterator[list[T]]:
        """Yield for each index what a function gives of its chunks, which `given` lists first."""
        for at in range(len(self.groups)):
            index = self._opened(engine, at)
            span = (int(self.borders[at]), int(self.borders[at + 1]))
            tasks = [engine.submit(function, index, span, *chunk[at]) for chunk in given]
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
        extras: Sequence[Any],
        n_jobs: int | None,
    ) -> list[Any]:
        """Take each block of queries through all indexes: what is known goes along.

        Here an index is opened once and all blocks visit it. On a cluster the blocks of a wave
        begin at different indexes, so that all workers have work; the results are the same.
        """
        n_groups = len(self.groups)
        if not engine.n_workers:
            for at in range(n_groups):
                index = self._opened(engine, at)
                for b, (_, source) in enumerate(blocks):
                    rows = encoded_rows(self.columns, source)
                    states[b] = step(index, extras[at], rows, given[b], states[b], n_jobs)
            return states
        indexes = [self._opened(engine, at) for at in range(n_groups)]
        wave = BLOCKS_A_WORKER * engine.n_workers
        for first in range(0, len(blocks), wave):
            mine = range(first, min(first + wave, len(blocks)))
            sent = {b: engine.submit(encoded_rows, self.columns, blocks[b][1]) for b in mine}
            for turn in range(n_groups):
                for b in mine:
                    at = (b + turn) % n_groups
                    states[b] = engine.submit(
                        step, indexes[at], extras[at], sent[b], given[b], states[b], 1
                    )
            for b in mine:
                states[b] = engine.result(states[b])
        return states

    def _opened(self, engine: Engine, at: int) -> Any:
        """Return the index of a group, or the handle of the task that builds it."""
        task = (self.columns, self.groups[at], self.leaf_size, self.backend)
        if engine.n_workers:
            return engine.submit(build_part_index, *task)
        if len(self.groups) > 1:
            return build_part_index(*task)
        if self._whole is None:
            self._whole = build_part_index(*task)
        return self._whole


# -- tasks: pure functions of what they are given --------------------------------------------------


class Occurring(NamedTuple):
    """What an encoder must know of a column: the values of a code book, or the ends of a range."""

    values: Floats
    is_book: bool


def values_of_part(
    part: Rows, ranges: ArrayLike | None, categorical: ArrayLike | None
) -> list[Occurring]:
    """Return of each column what an encoder must know of it."""
    lines = column_lines(loaded(part))
    widths, coded = scales(ranges, categorical, len(lines))
    return [
        _needed(line, bool(is_code), None if widths is None else float(widths[j]))
        for j, (line, is_code) in enumerate(zip(lines, coded, strict=True))
    ]


def merge_values(parts: list[list[Occurring]]) -> list[Occurring]:
    """Join what parts have in their columns.

    Raises
    ------
    InvalidParameterError
        If parts differ in their number of columns.
    """
    if len({len(part) for part in parts}) > 1:
        raise InvalidParameterError(
            "PartitionedNearestNeighbors: parts must have one number of columns, got "
            f"{', '.join(str(len(part)) for part in parts)}."
        )
    merged = []
    for column in zip(*parts, strict=True):
        values, is_book = np.concatenate([part.values for part in column]), column[0].is_book
        merged.append(Occurring(np.unique(values) if is_book else _ends(values), is_book))
    return merged


def build_part_index(
    columns: ColumnEncoder, parts: list[Rows], leaf_size: int | None, backend: str
) -> Index:
    """Read and encode parts, and return the index over them."""
    rows = [encoded_rows(columns, part) for part in parts]
    if len(rows) > 1:
        numbers = np.concatenate([part.numbers for part in rows], axis=1)
        codes = np.concatenate([part.codes for part in rows], axis=1)
        rows = [Encoded(numbers, codes, numbers.shape[1] if numbers.size else codes.shape[1])]
    return build_index(columns, rows[0], leaf_size, backend)


def encoded_rows(columns: ColumnEncoder, rows: Any) -> Encoded:
    """Return rows as the engine reads them, whether in memory, to be read, or encoded already."""
    if isinstance(rows, Encoded):
        return rows
    if isinstance(rows, Streamed):
        parts = [encoded_rows(columns, part) for part in rows.parts]
        numbers = np.concatenate([part.numbers for part in parts], axis=1)
        codes = np.concatenate([part.codes for part in parts], axis=1)
        return Encoded(numbers, codes, rows.n_rows)
    return columns.encode(column_lines(loaded(rows)))


def improve(
    index: Index,
    span: tuple[int, int],
    queries: Encoded,
    given: tuple[Ints | None, Floats | None],
    best: Best,
    n_jobs: int | None,
) -> Best:
    """Return the nearest rows of what is known and of one index; its rows are those of `span`."""
    own, limits = given
    sums, rows = best
    reach = sums[:, -1] if limits is None else np.minimum(limits, sums[:, -1])
    mine = np.full(queries.n_rows, -1) if own is None else _own_here(own, span)
    more, places = index.nearest(queries, sums.shape[1], mine, reach, n_jobs)
    places = np.where(places < 0, NO_LIMIT, places + span[0])
    sums, rows = np.hstack([sums, more]), np.hstack([rows, places])
    kept = np.lexsort((rows, sums), axis=-1)[:, : best[0].shape[1]]
    return np.take_along_axis(sums, kept, axis=1), np.take_along_axis(rows, kept, axis=1)


def count_more(
    index: Index, radii: Floats, queries: Encoded, limit: int, counts: Ints, n_jobs: int | None
) -> Ints:
    """Add the balls of one index that hold each query, where the limit is not reached."""
    open_ones = np.flatnonzero(counts < limit)
    if not open_ones.size:
        return counts
    total = counts.copy()
    total[open_ones] += index.within(_taken(queries, open_ones), radii, limit, n_jobs)
    return np.minimum(total, limit)


def find_ties(
    index: Index, span: tuple[int, int], queries: Encoded, least: Floats, own: Ints
) -> tuple[Ints, Ints]:
    """Return the first of the nearest rows in one index, and how many there are."""
    return index.tied(queries, least, _own_here(own, span))


def share_ties(
    index: Index,
    span: tuple[int, int],
    queries: Encoded,
    least: Floats,
    own: Ints,
    tied: tuple[Ints, Ints],
    among: Ints,
    labels: Bytes,
) -> tuple[Floats, Ints]:
    """Divide queries among their nearest rows in one index; see `TreeIndex.share`."""
    return index.share(queries, least, _own_here(own, span), tied, among, labels)


def _own_here(own: Ints, span: tuple[int, int]) -> Ints:
    return np.where((own >= span[0]) & (own < span[1]), own - span[0], -1)


# -- parts and blocks ------------------------------------------------------------------------------


def as_parts(rows: Any) -> list[Rows]:
    """Return the parts of a table that have rows; an array is one part."""
    given = list(rows) if _is_parts(rows) else [rows]
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
    return isinstance(rows, list | tuple) and all(
        isinstance(part, Part) or getattr(part, "ndim", 0) == 2 for part in rows
    )


def _grouped(parts: list[Rows], columns: ColumnEncoder, max_memory: int | None) -> list[list[Rows]]:
    """Join neighbouring parts while their index fits the memory."""
    n_numbers, n_codes = len(columns.wide) + len(columns.metric), len(columns.narrow)
    # as loaded, encoded twice (in the order of the table and of the leaves), and the order itself
    row_bytes = 8 * (n_numbers + n_codes) + 2 * (8 * n_numbers + n_codes) + 8
    groups: list[list[Rows]] = []
    held = 0
    for part in parts:
        n_bytes = size_of(part) * row_bytes
        if not groups or (max_memory is not None and held + n_bytes > max_memory):
            groups.append([])
            held = 0
        groups[-1].append(part)
        held += n_bytes
    return groups


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
