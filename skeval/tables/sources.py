"""Tables that are read a part at a time: Parquet, datasets of Arrow, lazy polars, Dask."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from skeval.exceptions import TableError
from skeval.tables.places import PARQUET
from skeval.tables.schema import name_of
from skeval.utils.dependencies import needed_pyarrow

CELLS = 2**20  # of a batch, for any parts that the table is stored in
MANY_ROWS = 2**18  # of a file that is not read at once
_LARGE_FILE = 2**29  # bytes; in memory it is many times as large


def batch_rows(n_columns: int) -> int:
    """Return how many rows a batch has for this number of columns."""
    return max(1, CELLS // max(1, n_columns))


class TableSource:
    """A table whose rows are read when asked for, some columns at a time."""

    on_disk = False

    def __init__(self, names: Sequence[Any], role: str) -> None:
        self.native = list(names)
        self.names = [name_of(name) for name in names]
        self.role = role
        if twice := sorted({name for name in self.names if self.names.count(name) > 1}):
            raise TableError(
                f"{role} has columns of the same name: {', '.join(twice)}. "
                "Rename or drop one of each."
            )

    @cached_property
    def n_rows(self) -> int:
        """Number of rows."""
        return self._count()

    def _count(self) -> int:
        raise NotImplementedError

    def _parts(self, names: list[Any]) -> Iterator[Any]:
        """Yield Arrow tables or batches, or pandas frames, of these columns, as they are stored."""
        raise NotImplementedError

    def parts(self, columns: Sequence[str]) -> Iterator[Any]:
        """Yield Arrow tables of some columns, in the order of the rows, of any lengths."""
        import pyarrow as pa

        native = dict(zip(self.names, self.native, strict=True))
        for part in self._parts([native[name] for name in columns]):
            if isinstance(part, pd.DataFrame):
                yield pa.Table.from_pandas(part, preserve_index=False)
            else:
                yield part if isinstance(part, pa.Table) else pa.Table.from_batches([part])

    def split(self) -> list[TableSource]:
        """Return parts that can be read on other machines, none empty; by default all is one."""
        return [self]

    def blocks(self, size: int) -> list[TableSource]:
        """Return parts of `size` rows each, the last of what is left, for other machines."""
        parts = self.split()
        ends = np.cumsum([part.n_rows for part in parts])
        blocks: list[TableSource] = []
        for start in range(0, self.n_rows, size):
            stop = min(start + size, self.n_rows)
            first, last = np.searchsorted(ends, [start, stop - 1], side="right")
            before = int(ends[first]) - parts[first].n_rows
            blocks.append(SpanSource(parts[first : last + 1], start - before, stop - before))
        return blocks

    def frames(
        self, columns: Sequence[str], rows: np.ndarray | None = None, size: int | None = None
    ) -> Iterator[pd.DataFrame]:
        """Get pandas frames of `size` rows each, the last of what is left; None for all in one."""
        import pyarrow as pa

        held: list[Any] = []
        n_held = 0
        for part in _rows_of_parts(self.parts(columns), rows):
            held.append(part)
            n_held += len(part)
            while size is not None and n_held >= size:
                whole = pa.concat_tables(held, promote_options="permissive")
                yield as_pandas(whole.slice(0, size), columns)
                held, n_held = [whole.slice(size)], n_held - size
        if n_held:
            yield as_pandas(pa.concat_tables(held, promote_options="permissive"), columns)

    def read(self, columns: Sequence[str], rows: np.ndarray | None = None) -> pd.DataFrame:
        """Return some columns of all rows, or of those at ascending positions."""
        whole = list(self.frames(columns, rows, size=None))
        return whole[0] if whole else next(self._empty(columns))

    def take_rows(self, columns: Sequence[str], rows: np.ndarray) -> Any:
        """Return some columns of the rows at ascending positions, one at least, as Arrow's table.

        Other than of a frame, the types of its columns do not hang on which rows these are.
        """
        import pyarrow as pa

        return pa.concat_tables(
            _rows_of_parts(self.parts(columns), rows), promote_options="permissive"
        )

    def _empty(self, columns: Sequence[str]) -> Iterator[pd.DataFrame]:
        for part in self.parts(columns):
            yield as_pandas(part.slice(0, 0), columns)
        yield pd.DataFrame({name: [] for name in columns})


def _rows_of_parts(parts: Iterator[Any], rows: np.ndarray | None) -> Iterator[Any]:
    """Yield what of each part lies at the positions; reading ends after the last of them."""
    start = 0
    for part in parts:
        if rows is None:
            yield part
            continue
        first, last = np.searchsorted(rows, [start, start + len(part)])
        if last > first:
            yield part.take(rows[first:last] - start)
        start += len(part)
        if last == len(rows):
            return


def as_pandas(table: Any, columns: Sequence[str]) -> pd.DataFrame:
    """Return a table of Arrow as a frame with these names and a plain index."""
    frame: pd.DataFrame = table.to_pandas()
    return frame.reset_index(drop=True).set_axis(list(columns), axis="columns")


class ArrowSource(TableSource):
    """A `pyarrow.dataset.Dataset`, such as Parquet files."""

    def __init__(self, dataset: Any, role: str) -> None:
        import pyarrow.dataset as ds

        metadata = dataset.schema.pandas_metadata or {}
        # what pandas wrote as an index is none of the columns
        index = {name for name in metadata.get("index_columns", ()) if isinstance(name, str)}
        super().__init__([name for name in dataset.schema.names if name not in index], role)
        self.dataset = dataset
        self.on_disk = isinstance(dataset, ds.FileSystemDataset)

    def _count(self) -> int:
        return int(self.dataset.count_rows())

    def split(self) -> list[TableSource]:
        """Return the groups of rows of the files, each a dataset of its own; else the files."""
        if not self.on_disk:
            return [self]
        parts = [
            self._part(group)
            for fragment in self.dataset.get_fragments()
            for group in getattr(fragment, "split_by_row_group", lambda own=fragment: [own])()
        ]
        return [part for part in parts if part.n_rows]

    def _part(self, fragment: Any) -> ArrowSource:
        import pyarrow.dataset as ds

        whole = self.dataset
        part = ArrowSource(ds.FileSystemDataset([fragment], whole.schema, whole.format), self.role)
        if hasattr(fragment, "row_groups"):  # Arrow counts the rows of the file that they are in
            part.n_rows = sum(group.num_rows for group in fragment.row_groups)
        return part

    def _parts(self, names: list[Any]) -> Iterator[Any]:
        # a batch at a time, few ahead: readers would otherwise hold much of the table
        scanned = self.dataset.to_batches(
            columns=names,
            batch_size=batch_rows(len(names)),
            batch_readahead=2,
            fragment_readahead=1,
        )
        return (batch for batch in scanned if batch.num_rows)


class SpanSource(TableSource):
    """Rows from `start` to `stop` of parts, one below the other."""

    def __init__(self, sources: Sequence[TableSource], start: int, stop: int) -> None:
        super().__init__(sources[0].native, sources[0].role)
        self.sources, self.start, self.stop = sources, start, stop

    def _count(self) -> int:
        return self.stop - self.start

    def _parts(self, names: list[Any]) -> Iterator[Any]:
        before = 0
        for part in (part for source in self.sources for part in source._parts(names)):
            first, last = max(self.start - before, 0), self.stop - before
            before += len(part)
            if first < last and first < len(part):
                yield part.slice(first, last - first)


class PolarsSource(TableSource):
    """A lazy frame of polars; each pass over the rows runs its query once."""

    def __init__(self, lazy: Any, role: str) -> None:
        super().__init__(lazy.collect_schema().names(), role)
        self.lazy = lazy

    def _count(self) -> int:
        import polars as pl

        return int(self.lazy.select(pl.len()).collect(engine="streaming").item())

    def _parts(self, names: list[Any]) -> Iterator[Any]:
        query, n_rows = self.lazy.select(names), batch_rows(len(names))
        if hasattr(query, "collect_batches"):
            batches = query.collect_batches(chunk_size=n_rows, maintain_order=True)
        else:  # a version that cannot hand them out: one query a batch
            starts = range(0, self.n_rows, n_rows)
            batches = (query.slice(at, n_rows).collect(engine="streaming") for at in starts)
        return (batch.to_arrow() for batch in batches if len(batch))


class DaskSource(TableSource):
    """A Dask frame; a partition at a time is computed, by the scheduler in use."""

    def __init__(self, frame: Any, role: str) -> None:
        super().__init__(frame.columns, role)
        self.frame = frame

    def _count(self) -> int:
        return int(self.frame.map_partitions(len).compute().sum())

    def _parts(self, names: list[Any]) -> Iterator[Any]:
        # planned once for all partitions, which are computed one by one
        computed = (part.compute() for part in self.frame[names].to_delayed())
        return (part for part in computed if len(part))


class FrameSource(TableSource):
    """A table in memory, used with others that are not."""

    def __init__(self, frame: pd.DataFrame, role: str) -> None:
        super().__init__(frame.columns, role)
        self.frame = frame

    def _count(self) -> int:
        return len(self.frame)

    def frames(
        self, columns: Sequence[str], rows: np.ndarray | None = None, size: int | None = None
    ) -> Iterator[pd.DataFrame]:
        """Yield slices of the frame; see :meth:`TableSource.frames`."""
        chosen = self.frame[list(columns)]
        chosen = chosen if rows is None else chosen.iloc[rows]
        size = size or max(1, len(chosen))
        for start in range(0, len(chosen), size):
            yield chosen.iloc[start : start + size].reset_index(drop=True)

    def _empty(self, columns: Sequence[str]) -> Iterator[pd.DataFrame]:
        yield self.frame[list(columns)].iloc[:0]


def source_of(table: Any, role: str) -> TableSource | None:
    """Return a table that need not fit in memory as a source; None if it is none of these."""
    if isinstance(table, TableSource):
        return table
    source: TableSource | None = None
    library, kind = type(table).__module__.split(".")[0], type(table).__name__
    if isinstance(table, str | Path):
        path = Path(table)
        in_parts = path.is_dir() or path.suffix.lower() in PARQUET
        source = ArrowSource(_parquet(path, role), role) if in_parts else None
    elif library == "pyarrow" and hasattr(table, "to_batches") and hasattr(table, "count_rows"):
        source = ArrowSource(table, role) if hasattr(table, "get_fragments") else None
    elif library == "polars" and kind == "LazyFrame":
        source = PolarsSource(table, role)
    elif library.startswith("dask") and hasattr(table, "npartitions") and hasattr(table, "columns"):
        source = DaskSource(table, role)
    if source is not None:
        needed_pyarrow(role)
    if source is not None and not (source.names and source.n_rows):
        raise TableError(
            f"{role} has {source.n_rows} rows and {len(source.names)} columns; "
            "at least one row and one column are needed."
        )
    return source


def is_large(path: Path) -> bool:
    """Return whether a path is a table in parts, or a Parquet file too large to read at once."""
    # A file is too large from half a gigabyte, or beyond 262,144 rows. A folder holds parts
    # if all its files are Parquet with the same columns, two at least or one whose name
    # begins with "part".
    if path.is_file():
        if path.suffix.lower() not in PARQUET:
            return False
        return path.stat().st_size > _LARGE_FILE or _has_many_rows(path)
    files = sorted(file for file in path.rglob("*") if file.is_file() and file.name[0] not in "._")
    if not files or any(file.suffix.lower() not in PARQUET for file in files):
        return False
    if len(files) == 1:
        return files[0].name.startswith("part")
    needed_pyarrow(f"{path}, a folder of Parquet files,")
    import pyarrow.parquet as pq

    first, *others = (set(pq.read_schema(file).names) for file in files)
    return all(names == first for names in others)


def _has_many_rows(path: Path) -> bool:
    try:
        import pyarrow.parquet as pq

        return int(pq.read_metadata(path).num_rows) > MANY_ROWS
    except (ImportError, OSError, ValueError):  # whoever reads the file says so
        return False


def _parquet(path: Path, role: str) -> Any:
    """Return the dataset of a Parquet file, or of all in a folder, part-2 before part-10."""
    needed_pyarrow(f"{role}: {path}")
    import pyarrow as pa
    import pyarrow.dataset as ds
    import pyarrow.parquet as pq

    files = [path] if path.is_file() else sorted(path.rglob("*"), key=_natural)
    # names with an underscore or a dot are notes that writers leave
    files = [
        file
        for file in files
        if file.is_file() and file.suffix.lower() in PARQUET and file.name[0] not in "._"
    ]
    if not files:
        what = "holds no Parquet file" if path.is_dir() else "is no Parquet file or folder of them"
        raise TableError(f"{role}: {path} {what}.")
    try:
        schemas = [pq.read_schema(file) for file in files]
    except (pa.ArrowInvalid, OSError) as error:
        raise TableError(f"{role}: {path} cannot be read as Parquet: {error}") from error
    for file, schema in zip(files, schemas, strict=True):
        if odd := set(schema.names) ^ set(schemas[0].names):
            raise TableError(
                f"{role}: {file} and {files[0]} do not have the same columns; only one of them "
                f"has {', '.join(sorted(odd))}."
            )
    try:
        # a file by itself may have a name twice, of which the source says more
        unified = (
            schemas[0]
            if len(files) == 1
            else pa.unify_schemas(schemas, promote_options="permissive")
        )
    except (pa.ArrowTypeError, pa.ArrowInvalid) as error:
        raise TableError(f"{role}: the files of {path} differ in their types: {error}") from error
    unified = unified.with_metadata(schemas[0].metadata)
    return ds.dataset([str(file) for file in files], format="parquet", schema=unified)


def _natural(path: Path) -> list[tuple[bool, int, str]]:
    """Return what sorts numbers in names by size."""
    parts = re.split(r"(\d+)", str(path))
    return [(part.isdigit(), int(part) if part.isdigit() else 0, part) for part in parts]
