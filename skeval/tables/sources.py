"""Tables that are read in parts, from Parquet, Arrow datasets, lazy polars frames or Dask."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from skeval.exceptions import TableError
from skeval.tables.file_endings import PARQUET
from skeval.tables.schema import name_of
from skeval.utils.dependencies import needed_pyarrow

CELLS = 2**20  # number of cells per batch, independent of the parts in which the table is stored
MANY_ROWS = 2**18  # files with more rows are not read at once
_LARGE_FILE = 2**29  # maximum bytes of a file that is read at once, as it is larger in memory


def batch_rows(n_columns: int) -> int:
    """Return the number of rows of a batch for this number of columns."""
    return max(1, CELLS // max(1, n_columns))


class TableSource:
    """A table whose rows are read on demand, some columns at a time."""

    on_disk = False

    def __init__(self, names: Sequence[Any], role: str) -> None:
        self.native = list(names)
        self.names = [name_of(name) for name in names]
        self.role = role
        if twice := sorted({name for name in self.names if self.names.count(name) > 1}):
            raise TableError(
                f"{role} has several columns with the same name: {', '.join(twice)}. "
                "Rename or drop one of each."
            )

    @cached_property
    def n_rows(self) -> int:
        """Number of rows."""
        return self._count()

    def _count(self) -> int:
        raise NotImplementedError

    def _parts(self, names: list[Any]) -> Iterator[Any]:
        """Yield Arrow tables, Arrow batches or pandas frames with these columns, as stored."""
        raise NotImplementedError

    def parts(self, columns: Sequence[str]) -> Iterator[Any]:
        """Yield Arrow tables of any length with some columns, in the order of the rows."""
        import pyarrow as pa

        native = dict(zip(self.names, self.native, strict=True))
        for part in self._parts([native[name] for name in columns]):
            if isinstance(part, pd.DataFrame):
                yield pa.Table.from_pandas(part, preserve_index=False)
            else:
                yield part if isinstance(part, pa.Table) else pa.Table.from_batches([part])

    def split(self) -> list[TableSource]:
        """Return nonempty parts that other machines can read, by default a single part."""
        return [self]

    def blocks(self, size: int) -> list[TableSource]:
        """Return parts of `size` rows each for other machines. The last part may be smaller."""
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
        """Yield pandas frames of `size` rows each, or one frame of all rows if `size` is None."""
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
        """Return some columns of all rows, or of the rows at ascending positions."""
        whole = list(self.frames(columns, rows, size=None))
        return whole[0] if whole else next(self._empty(columns))

    def take_rows(self, columns: Sequence[str], rows: np.ndarray) -> Any:
        """Return some columns of the rows at ascending positions as an Arrow table.

        In contrast to a frame, its column types do not depend on the selected rows.
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
    """Yield the selected rows of each part, and stop reading after the last position."""
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
    """Return an Arrow table as a frame with these names and a default index."""
    frame: pd.DataFrame = table.to_pandas()
    return frame.reset_index(drop=True).set_axis(list(columns), axis="columns")


class ArrowSource(TableSource):
    """A `pyarrow.dataset.Dataset`, such as Parquet files."""

    def __init__(self, dataset: Any, role: str) -> None:
        import pyarrow.dataset as ds

        metadata = dataset.schema.pandas_metadata or {}
        # An index that pandas saved is not a column.
        index = {name for name in metadata.get("index_columns", ()) if isinstance(name, str)}
        super().__init__([name for name in dataset.schema.names if name not in index], role)
        self.dataset = dataset
        self.on_disk = isinstance(dataset, ds.FileSystemDataset)

    def _count(self) -> int:
        return int(self.dataset.count_rows())

    def split(self) -> list[TableSource]:
        """Return a separate dataset for each row group, or for each file without row groups."""
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
        if hasattr(fragment, "row_groups"):  # Arrow would count all rows of the file
            part.n_rows = sum(group.num_rows for group in fragment.row_groups)
        return part

    def _parts(self, names: list[Any]) -> Iterator[Any]:
        # Few batches are read ahead. With the defaults, much of the table would be in memory.
        scanned = self.dataset.to_batches(
            columns=names,
            batch_size=batch_rows(len(names)),
            batch_readahead=2,
            fragment_readahead=1,
        )
        return (batch for batch in scanned if batch.num_rows)


class SpanSource(TableSource):
    """Rows from `start` to `stop` of several concatenated parts."""

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
    """A lazy polars frame. Each pass over the rows runs its query once."""

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
        else:  # older versions of polars require one query per batch
            starts = range(0, self.n_rows, n_rows)
            batches = (query.slice(at, n_rows).collect(engine="streaming") for at in starts)
        return (batch.to_arrow() for batch in batches if len(batch))


class DaskSource(TableSource):
    """A Dask frame. The current scheduler computes one partition at a time."""

    def __init__(self, frame: Any, role: str) -> None:
        super().__init__(frame.columns, role)
        self.frame = frame

    def _count(self) -> int:
        return int(self.frame.map_partitions(len).compute().sum())

    def _parts(self, names: list[Any]) -> Iterator[Any]:
        # The graph is created once for all partitions, which are computed one by one.
        computed = (part.compute() for part in self.frame[names].to_delayed())
        return (part for part in computed if len(part))


class FrameSource(TableSource):
    """A table in memory, for use together with tables that are not in memory."""

    def __init__(self, frame: pd.DataFrame, role: str) -> None:
        super().__init__(frame.columns, role)
        self.frame = frame

    def _count(self) -> int:
        return len(self.frame)

    def frames(
        self, columns: Sequence[str], rows: np.ndarray | None = None, size: int | None = None
    ) -> Iterator[pd.DataFrame]:
        """Yield slices of the frame. See :meth:`TableSource.frames`."""
        chosen = self.frame[list(columns)]
        chosen = chosen if rows is None else chosen.iloc[rows]
        size = size or max(1, len(chosen))
        for start in range(0, len(chosen), size):
            yield chosen.iloc[start : start + size].reset_index(drop=True)

    def _empty(self, columns: Sequence[str]) -> Iterator[pd.DataFrame]:
        yield self.frame[list(columns)].iloc[:0]


def source_of(table: Any, role: str) -> TableSource | None:
    """Return a source for a table that may not fit in memory, or None for other tables."""
    if isinstance(table, TableSource):
        return table
    source: TableSource | None = None
    library, kind = type(table).__module__.split(".")[0], type(table).__name__
    if isinstance(table, str | Path):
        path = Path(table)
        in_parts = path.is_dir() or is_parquet(path)
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
            f"{role} has {source.n_rows} rows and {len(source.names)} columns, "
            "but at least one row and one column are required."
        )
    return source


def is_parquet(path: Path) -> bool:
    """Return whether the file name has a Parquet ending."""
    return path.suffix.lower() in PARQUET


def is_large(path: Path) -> bool:
    """Return whether a path is a table in parts, or a Parquet file too large to read at once."""
    # A file is too large if it has more than half a gigabyte or 262,144 rows. A folder contains
    # parts if all files are Parquet with the same columns, and if there are two or more files or
    # the name of the only file begins with "part".
    if path.is_file():
        if not is_parquet(path):
            return False
        return path.stat().st_size > _LARGE_FILE or _has_many_rows(path)
    files = sorted(file for file in path.rglob("*") if file.is_file() and file.name[0] not in "._")
    if not files or not all(map(is_parquet, files)):
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
    except (ImportError, OSError, ValueError):  # reading the file raises the error later
        return False


def _parquet(path: Path, role: str) -> Any:
    """Return the dataset of a Parquet file, or of a folder in natural order of file names."""
    needed_pyarrow(f"{role}: {path}")
    import pyarrow as pa
    import pyarrow.dataset as ds
    import pyarrow.parquet as pq

    files = [path] if path.is_file() else sorted(path.rglob("*"), key=_natural)
    # Files whose names begin with an underscore or a dot contain metadata of the writer.
    files = [
        file for file in files if file.is_file() and is_parquet(file) and file.name[0] not in "._"
    ]
    if not files:
        what = "contains no Parquet file" if path.is_dir() else "is not a Parquet file or folder"
        raise TableError(f"{role}: {path} {what}.")
    try:
        schemas = [pq.read_schema(file) for file in files]
    except (pa.ArrowInvalid, OSError) as error:
        raise TableError(f"{role}: {path} cannot be read as Parquet: {error}") from error
    for file, schema in zip(files, schemas, strict=True):
        if odd := set(schema.names) ^ set(schemas[0].names):
            raise TableError(
                f"{role}: {file} and {files[0]} do not have the same columns. Only one of them "
                f"has {', '.join(sorted(odd))}."
            )
    try:
        # For a single file with repeated names, the source raises a better error.
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
    """Return a sort key that sorts numbers in names by size."""
    parts = re.split(r"(\d+)", str(path))
    return [(part.isdigit(), int(part) if part.isdigit() else 0, part) for part in parts]
