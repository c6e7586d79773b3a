"""Tables that are not loaded. Single columns or selected rows are read when they are needed."""

from __future__ import annotations

import tempfile
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from os import SEEK_END
from threading import Lock
from typing import Any, NamedTuple, Self, TypeGuard, TypeVar

import numpy as np
import pandas as pd

from skeval.exceptions import MetricWarning
from skeval.scale.engines import TASKS_A_THREAD, n_workers
from skeval.tables.frames import Levels, read_as, with_levels
from skeval.tables.levels import Words, given_as_in_train, missing_as_in_train, words_of
from skeval.tables.oddities import Oddities
from skeval.tables.precision import (
    Form,
    Precision,
    Storage,
    at_precision,
    coarsest,
    forms_of,
    stored_precision,
)
from skeval.tables.reasons import ColumnReason, column_reasons, reasons_of
from skeval.tables.schema import Accept, Kind, TableSchema
from skeval.tables.set_columns import with_columns
from skeval.tables.sources import TableSource, as_pandas, batch_rows
from skeval.utils.engines import current_engine

T = TypeVar("T")
_ALIGNED = 64  # arrays in a file start at multiples of this number of bytes
IN_MEMORY = 2**18  # number of rows that are read at once, for example of halves and samples


class LargeTable:
    """The original table, of which one column or some rows are in memory at a time."""

    # The class has the interface of a frame that steps need. `table[name]` reads a complete
    # column. `table.iloc[positions]` returns a frame for few rows, and a view otherwise.

    def __init__(
        self,
        source: TableSource,
        rows: np.ndarray | None = None,
        meanings: Mapping[str, str | None] | None = None,
    ) -> None:
        self.source, self.rows, self.meanings = source, rows, meanings or {}

    @property
    def columns(self) -> pd.Index:
        """Names of the columns."""
        return pd.Index(self.source.names)

    @property
    def dtypes(self) -> pd.Series:
        """Types of the columns, which depend on their values, so each column is read."""
        return pd.Series({name: self[name].dtype for name in self.columns}, dtype=object)

    @property
    def iloc(self) -> _Rows:
        """Indexer of rows by position."""
        return _Rows(self)

    def __len__(self) -> int:
        return self.source.n_rows if self.rows is None else len(self.rows)

    def __getitem__(self, columns: Any) -> Any:
        """Read a column as a series, or a list of them as a frame."""
        if isinstance(columns, str):
            return self._read([columns], self.rows)[columns]
        return self._read(list(columns), self.rows)

    def at(self, positions: np.ndarray) -> Self | pd.DataFrame:
        """Return the rows at some positions, in their order, and in memory if there are few."""
        rows = positions if self.rows is None else self.rows[positions]
        return self.in_memory(positions) if len(rows) <= IN_MEMORY else self._with(rows=rows)

    def in_memory(self, positions: np.ndarray) -> pd.DataFrame:
        """Return the rows at any number of positions as a frame."""
        rows = positions if self.rows is None else self.rows[positions]
        return self._read(list(self.columns), rows)

    def reset_index(self, *, drop: bool) -> Self:
        """Return the table itself, because rows are only identified by position."""
        return self

    def copy(self, *, deep: bool) -> Self:
        """Return the table itself, because it is read-only."""
        return self

    def added_up(
        self,
        columns: Sequence[str],
        count: Callable[[pd.DataFrame], T],
        merge: Callable[[list[T]], T],
    ) -> T:
        """Count the rows one batch at a time, locally or on the workers of a cluster."""
        sources = self.source.split() if counted_by_workers(self) else [self.source]
        tasks = [(self.with_source(source), columns, count, merge) for source in sources]
        return current_engine().reduce(_count_part, tasks, merge)

    def frames(self, columns: Sequence[str]) -> Iterator[pd.DataFrame]:
        """Yield some columns of all rows, one batch at a time, in the order of the source."""
        rows = None if self.rows is None else np.sort(self.rows)
        for frame in self.source.frames(
            self._stored_columns(columns), rows, batch_rows(len(columns))
        ):
            yield self._canonical_frame(frame, columns)

    def with_source(self, source: TableSource) -> Self:
        """Return the table of the rows of another source, with the same settings."""
        return self._with(source=source)

    def _with(self, **changed: Any) -> Self:
        other = object.__new__(type(self))
        vars(other).update(vars(self), **changed)
        return other

    def _read(self, columns: list[str], rows: np.ndarray | None) -> pd.DataFrame:
        stored = self._stored_columns(columns)
        if rows is None or (np.diff(rows) > 0).all():
            return self._canonical_frame(_read_rows(self.source, stored, rows), columns)
        order = np.argsort(rows)  # files are read from front to back
        frame = _read_rows(self.source, stored, rows[order]).iloc[np.argsort(order)]
        return self._canonical_frame(frame.reset_index(drop=True), columns)

    def _stored_columns(self, columns: Sequence[str]) -> list[str]:
        return list(columns)

    def _canonical_frame(self, frame: pd.DataFrame, columns: Sequence[str]) -> pd.DataFrame:
        return given_as_in_train(frame, self.meanings)


class _Rows:
    """Indexer of the rows of a large table."""

    def __init__(self, table: LargeTable) -> None:
        self._table = table

    def __getitem__(self, positions: np.ndarray) -> LargeTable | pd.DataFrame:
        return self._table.at(np.asarray(positions))


class CanonicalTable(LargeTable):
    """A large table whose columns are read in canonical form."""

    def __init__(
        self,
        source: TableSource,
        schema: TableSchema,
        levels: Levels,
        precision: Precision,
        meanings: Mapping[str, str | None] | None = None,
    ) -> None:
        super().__init__(source, meanings=meanings)
        self.schema, self.levels, self.precision = schema, levels, precision

    @property
    def columns(self) -> pd.Index:
        """Names of the columns."""
        return pd.Index(list(self.schema.kinds))

    def at_precision(self, precision: Precision) -> Self:
        """Return the table with values at coarser precision. See :mod:`skeval.tables.frames`."""
        coarse = coarsest([self.precision, precision])
        return self if coarse == self.precision else self._with(precision=coarse)

    def _stored_columns(self, columns: Sequence[str]) -> list[str]:
        stored = [name for name in columns if name in self.source.names]
        return stored or self.source.names[:1]  # one column is enough for the number of rows

    def _canonical_frame(self, frame: pd.DataFrame, columns: Sequence[str]) -> pd.DataFrame:
        frame = super()._canonical_frame(frame, columns)
        absent = [name for name in columns if name not in frame.columns]
        frame = with_columns(frame, dict.fromkeys(absent))[list(columns)]
        read = read_as(frame, self.schema, self.levels, names=list(columns))
        own = {name: dtype for name, dtype in self.precision.items() if name in columns}
        return at_precision(read, own)


def counted_by_workers(table: Any) -> TypeGuard[LargeTable]:
    """Return whether batches of a table are counted on the workers of a cluster."""
    return isinstance(table, LargeTable) and table.rows is None and _seen_by_workers(table.source)


def _seen_by_workers(source: TableSource) -> bool:
    return source.on_disk and bool(n_workers(current_engine()))


def over_columns(
    table: LargeTable, names: Sequence[str], look: Callable[..., T], *arguments: Any
) -> Iterator[T]:
    """Apply a function to columns of all rows, one at a time or in groups on the workers."""
    if not counted_by_workers(table):
        yield look(table, names, *arguments)
        return
    engine = current_engine()
    size = max(1, -(-len(names) // (TASKS_A_THREAD * n_workers(engine))))
    groups = [names[i : i + size] for i in range(0, len(names), size)]
    yield from engine.map(look, [(table, group, *arguments) for group in groups])


@column_reasons.register
def _(frame: LargeTable, schema: TableSchema) -> dict[str, ColumnReason]:
    names = [name for name in schema.kinds if name in frame.columns]
    reasons: dict[str, ColumnReason] = {}
    for of_columns in over_columns(frame, names, reasons_of, schema):
        reasons |= of_columns
    return reasons


def over_blocks(
    table: LargeTable, size: int, look: Callable[..., T], *arguments: Any
) -> Iterator[T]:
    """Apply a function to blocks of rows on the workers of a cluster."""
    blocks = (table.with_source(source) for source in table.source.blocks(size))
    yield from current_engine().map(look, ((block, *arguments) for block in blocks))


def _read_rows(
    source: TableSource, columns: Sequence[str], rows: np.ndarray | None
) -> pd.DataFrame:
    """Return some columns of the rows at ascending positions. Workers select small samples."""
    if rows is None or not 0 < rows.size <= IN_MEMORY or not _seen_by_workers(source):
        return source.read(columns, rows)
    parts = source.split()
    ends = np.cumsum([part.n_rows for part in parts])
    own = np.split(rows, np.searchsorted(rows, ends[:-1]))
    tasks = [
        (part, columns, at - (end - part.n_rows))
        for part, at, end in zip(parts, own, ends, strict=True)
        if at.size
    ]
    import pyarrow as pa

    picked = list(current_engine().map(_take_rows, tasks))
    return as_pandas(pa.concat_tables(picked, promote_options="permissive"), columns)


def _take_rows(part: TableSource, columns: Sequence[str], rows: np.ndarray) -> Any:
    return part.take_rows(columns, rows)


def _count_part(
    part: LargeTable,
    columns: Sequence[str],
    count: Callable[[pd.DataFrame], T],
    merge: Callable[[list[T]], T],
) -> T:
    states = (count(frame) for frame in part.frames(columns))
    return reduce(lambda one, other: merge([one, other]), states)


@dataclass
class Learned:
    """Properties of a table that are learned in one pass over its columns."""

    schema: TableSchema
    labels: dict[str, list[str]]
    precision: dict[str, Storage]
    forms: dict[str, Form]
    words: dict[str, Words]
    notices: tuple[MetricWarning, ...]


def look_at(
    source: TableSource,
    schema: TableSchema | Mapping[str, Any] | Accept | None,
    role: str,
    levels: Levels | None = None,
    *,
    lenient: bool = False,
) -> Learned:
    """Read every column once and separately, and return the properties that contexts need."""
    known = infer_kinds(source, schema) if role == "train" else TableSchema.known(schema)
    oddities = Oddities(known, role, source.names, lenient=lenient)
    labels: dict[str, list[str]] = {}
    precision: dict[str, Storage] = {}
    forms: dict[str, Form] = {}
    words: dict[str, Words] = {}
    present = [name for name in known.kinds if name not in oddities.absent]
    given = (known, role, levels or {}, lenient)
    for of_columns in over_columns(LargeTable(source), present, _looked_at, *given):
        oddities.join(of_columns.oddities)
        labels |= of_columns.labels
        precision |= of_columns.precision
        forms |= of_columns.forms
        words |= of_columns.words
    for name in oddities.absent:
        empty = pd.Series([None], name=name, dtype=object)
        read = read_as(empty.to_frame(), known, levels or {}, names=[name], oddities=oddities)
        if isinstance(read[name].dtype, pd.CategoricalDtype):
            labels[name] = list(read[name].cat.categories)
    return Learned(known, labels, precision, forms, words, oddities.notices())


def as_in_train(
    look: Learned, train: Mapping[str, Words], role: str
) -> tuple[dict[str, list[str]], dict[str, str | None], tuple[MetricWarning, ...]]:
    """Return the labels of a table, what its missing cells mean, and notices on them."""
    meanings, notices = missing_as_in_train(train, look.words, role)
    labels = dict(look.labels)
    for name, word in meanings.items():
        if word is None:
            lost = look.words[name].words
            labels[name] = [label for label in labels[name] if label not in lost]
    return labels, meanings, notices


class _Look(NamedTuple):
    """Properties of some columns."""

    oddities: Oddities
    labels: dict[str, list[str]]
    precision: Precision
    forms: dict[str, Form]
    words: dict[str, Words]


def _looked_at(
    table: LargeTable,
    names: Sequence[str],
    known: TableSchema,
    role: str,
    levels: Levels,
    lenient: bool,
) -> _Look:
    oddities, labels = Oddities(known, role, lenient=lenient), {}
    precision: dict[str, Storage] = {}
    forms: dict[str, Form] = {}
    words: dict[str, Words] = {}
    for name in names:
        given = table[[name]]
        read = read_as(given, known, {}, names=[name], oddities=oddities)
        if isinstance(read[name].dtype, pd.CategoricalDtype):
            oddities.note_spelling(name, read[name].cat.categories, levels.get(name, []))
            read = with_levels(read, {name: levels.get(name, [])})
            labels[name] = list(read[name].cat.categories)
        if known.kinds[name] == "categorical":
            words[name] = words_of(read[name])  # in the spelling of the real tables
        precision |= stored_precision(given, read, decimals=role == "train")
        forms |= forms_of(read) if role != "synthetic" else {}
    return _Look(oddities, labels, precision, forms, words)


def infer_kinds(
    source: TableSource, schema: TableSchema | Mapping[str, Any] | Accept | None
) -> TableSchema:
    """Return the column types of all columns, inferred from the whole column if not known."""
    known = TableSchema.known(schema, source.names)
    kinds, formats = dict(known.kinds), dict(known.datetime_formats)
    open_ones = [name for name in source.names if kinds.get(name) in {None, "datetime"}]
    for read in over_columns(LargeTable(source), open_ones, _infer_schema, known):
        formats = {**read.datetime_formats, **formats}
        kinds |= read.kinds
    ordered = {name: kinds[name] for name in source.names}
    inferred = known.inferred | (frozenset(ordered) - frozenset(known.kinds))
    return replace(known, kinds=ordered, datetime_formats=formats, inferred=inferred, accept=False)


def _infer_schema(table: LargeTable, names: Sequence[str], known: TableSchema) -> TableSchema:
    kinds: dict[str, Kind] = {}
    formats: dict[str, str] = {}
    for name in names:
        own = TableSchema({n: k for n, k in known.kinds.items() if n == name}, accept=known.accept)
        read = TableSchema.infer(table[[name]], own)
        kinds |= read.kinds
        formats |= read.datetime_formats
    return TableSchema(kinds, datetime_formats=formats)


class Spill:
    """A file for arrays that are too large for memory. It is deleted with the object."""

    # Results of steps on a large table may be larger than memory. Arrays are memory-mapped, so
    # the system only loads the parts in use. The file has no name, so it is always deleted when
    # the process ends.

    def __init__(self) -> None:
        self.file: Any = None
        self._lock = Lock()

    def room(self, shape: tuple[int, int]) -> np.memmap:
        """Return a writable array of floats in the file, stored column by column."""
        with self._lock:
            start = self._end()
            self.file.truncate(start + 8 * shape[0] * shape[1])
        return np.memmap(self.file, np.float64, mode="r+", offset=start, shape=shape, order="F")

    def _end(self) -> int:
        if self.file is None:
            self.file = tempfile.TemporaryFile(prefix="skeval-")  # noqa: SIM115
            weakref.finalize(self, self.file.close)
        return int(self.file.seek(-(-self.file.seek(0, SEEK_END) // _ALIGNED) * _ALIGNED))

    def keep(self, array: np.ndarray) -> Spilled:
        """Write an array, and return its location."""
        with self._lock:
            start = self._end()
            # Arrays in column order are transposed, so that they are written in memory order.
            np.ascontiguousarray(array.T).tofile(self.file)
            self.file.flush()
        return Spilled(self, start, array.dtype, array.shape)


@dataclass(frozen=True)
class Spilled:
    """An array in the file of a :class:`Spill`."""

    spill: Spill
    start: int
    dtype: np.dtype
    shape: tuple[int, ...]

    def open(self) -> np.ndarray:
        """Return the array, read-only."""
        mapped = np.memmap(
            self.spill.file, self.dtype, mode="r", offset=self.start, shape=self.shape[::-1]
        )
        return np.asarray(mapped.T)
