"""CSV files of many rows: written once, a part at a time, to a temporary file of Parquet.

The values are those that reading the file at once gives. What type a column has is known when all
of it was seen: numbers for a million rows, and a word in the last one, are texts.
"""

from __future__ import annotations

import os
import tempfile
import warnings
import weakref
from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from skeval.scale.tables import LargeTable
from skeval.tables.reading import (
    ENDINGS,
    PACKINGS,
    PLAIN,
    UNREADABLE,
    Dialect,
    check_unpacked_size,
    has_leading_zero,
    is_whole,
    names_of,
    note,
    open_file,
)
from skeval.tables.sources import MANY_ROWS, ArrowSource, TableSource, source_of

_MIN_BYTES = 2**22  # a smaller file is not looked at
_CHUNK = 100_000  # rows that are held at a time
_BLOCK = 2**20
_OPEN_FILES = Path("/proc/self/fd")


def is_long(path: Path) -> bool:
    """Return whether a CSV file has more lines than a table that is read at once has rows."""
    kinds = [suffix.lower() for suffix in path.suffixes if suffix.lower() not in PACKINGS]
    if not kinds or kinds[-1] not in ENDINGS[:2] or not path.is_file():
        return False
    if path.stat().st_size < _MIN_BYTES or find_spec("pyarrow") is None:
        return False
    n_lines = 0
    try:
        with open_file(path) as file:
            while block := file.read(_BLOCK):
                n_lines += block.count(b"\n")
                if n_lines > MANY_ROWS:
                    return True
    except UNREADABLE:  # whoever reads the file says so
        return False
    return False


def stream_csv(
    path: Path, role: str, *, header: bool = False, dialect: Dialect = PLAIN
) -> TableSource | None:
    """Return a CSV file as a source that is read a column at a time, from a temporary copy."""
    # The copy holds the rows. It is in the folder for temporary files, for its owner alone to
    # read, and goes with the source or the process; on Linux it has no name from the start,
    # so that nothing is left of it, however the process ends.
    read = dialect.detect(path)
    try:
        source = _stream_csv(path, role, read, header=header)
    except UnicodeDecodeError:
        if dialect.encoding is not None:
            return None
        read = read.in_fallback()
        try:
            source = _stream_csv(path, role, read, header=header)
        except UNREADABLE:
            return None
    except UNREADABLE:
        return None
    if source is not None and (guessed := dialect.describe_guesses(read, path)):
        note(f"{path} was read with {guessed}, as it seems to be written.")
    return source


def _stream_csv(path: Path, role: str, read: Dialect, *, header: bool) -> TableSource | None:
    settings = read.settings()
    check_unpacked_size(path)  # of its lines: there may be any number of them
    names = names_of(path, settings, header=header)
    looks = _looked_at(path, settings)
    if looks is None or any(look.type_name is None for look in looks):
        return None
    kept, notes = _columns_to_keep(path, settings, names, looks)
    whole = [place for place in kept if looks[place].is_whole]
    for place in _with_leading_zeros(path, settings, whole):
        looks[place].types = {"text"}
    source = _copy_columns(path, role, settings, {place: looks[place] for place in kept})
    for text in notes:
        note(text)
    return source


def large_source(table: Any, role: str) -> TableSource | None:
    """Get a table that need not fit in memory as a source, a long CSV file too; None for others."""
    source = source_of(table, role)
    if source is None and isinstance(table, str | Path) and is_long(Path(table)):
        return stream_csv(Path(table), role)
    return source


def large_table(table: Any, role: str) -> LargeTable | None:
    """Return a table that need not fit in memory as it was given, None for others."""
    source = large_source(table, role)
    return None if source is None else LargeTable(source)


@dataclass
class _Look:
    """What was seen of a column."""

    name: str
    types: set[str] = field(default_factory=set)
    is_whole: bool = True
    is_empty: bool = True
    has_gaps: bool = False

    def add(self, values: pd.Series) -> None:
        """See further values."""
        self.has_gaps |= bool(values.isna().any())
        if values.isna().all():
            return
        kind = values.dtype.kind
        if kind == "O" and isinstance(values.dtype, np.dtype) and _is_boolean(values):
            kind = "b"
        self.types.add(
            {"i": "int64", "u": "unsigned", "f": "float64", "b": "bool"}.get(kind, "text")
        )
        self.is_empty = False
        self.is_whole &= is_whole(values)

    @property
    def type_name(self) -> str | None:
        """The type of the whole column; None where it takes the whole column to know."""
        if self.is_empty:
            return "float64"
        if "unsigned" in self.types:
            return None
        if self.types == {"int64"}:
            return "float64" if self.has_gaps else "int64"
        if self.types <= {"int64", "float64"}:
            return "float64"
        return "bool" if self.types == {"bool"} else "text"


def _is_boolean(values: pd.Series) -> bool:
    return bool(values.dropna().map(type).eq(bool).all())


def _chunks(path: Path, settings: dict[str, Any], **how: Any) -> Iterator[pd.DataFrame]:
    """Yield the rows, some at a time, as frames with places for names."""
    given = {"low_memory": False, "index_col": False, "chunksize": _CHUNK, **settings, **how}
    with pd.read_csv(path, **given) as chunks:
        yield from chunks


def _looked_at(path: Path, settings: dict[str, Any]) -> list[_Look] | None:
    """Return what each column holds; None where rows are not as long as the header."""
    looks: list[_Look] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for chunk in _chunks(path, settings):
            looks = looks or [_Look(str(name)) for name in chunk]
            for look, (_, values) in zip(looks, chunk.items(), strict=True):
                look.add(values)
            if any(issubclass(one.category, pd.errors.ParserWarning) for one in caught):
                return None
    return looks or None


def _columns_to_keep(
    path: Path, settings: dict[str, Any], names: list[Any], looks: list[_Look]
) -> tuple[list[int], list[str]]:
    """Return the places of the columns that are one, and warnings about the others."""
    kept, notes = list(range(len(looks))), []
    if pd.isna(names[-1]) and len(kept) > 1 and looks[-1].is_empty:
        notes.append(f"the lines of {path} end in a separator; the empty last column left out.")
        kept = kept[:-1]
    if pd.isna(names[0]) and len(kept) > 1 and looks[0].type_name == "int64":
        first = pd.read_csv(path, usecols=[0], index_col=False, **settings).iloc[:, 0]
        if first.is_unique:
            notes.append(
                f"{path} was saved with its row index; its first column, without a name, left out."
            )
            kept = kept[1:]
    return kept, notes


def _with_leading_zeros(path: Path, settings: dict[str, Any], whole: list[int]) -> set[int]:
    coded: set[int] = set()
    if whole:
        for chunk in _chunks(path, settings, usecols=whole, dtype=str):
            for place, (_, cells) in zip(whole, chunk.items(), strict=True):
                if place not in coded and has_leading_zero(cells):
                    coded.add(place)
    return coded


def _copy_columns(
    path: Path, role: str, settings: dict[str, Any], looks: dict[int, _Look]
) -> TableSource:
    """Write the columns at some places to a temporary file, and return it as a source."""
    import pyarrow as pa
    import pyarrow.dataset as ds
    import pyarrow.parquet as pq

    arrow = {"int64": pa.int64(), "float64": pa.float64(), "bool": pa.bool_()}
    types = {look.name: str(look.type_name) for look in looks.values()}
    schema = pa.schema([(name, arrow.get(kind, pa.large_string())) for name, kind in types.items()])
    read_as: dict[str, Any] = {
        name: str if kind == "text" else kind for name, kind in types.items() if kind != "bool"
    }
    descriptor, copy = tempfile.mkstemp(prefix="skeval-", suffix=".parquet")  # for its owner alone
    file = os.fdopen(descriptor, "wb")
    try:
        with pq.ParquetWriter(file, schema) as writer:
            for chunk in _chunks(path, settings, usecols=list(looks), dtype=read_as):
                columns = [
                    pa.array(_cells(chunk[name], kind), schema.field(name).type, from_pandas=True)
                    for name, kind in types.items()
                ]
                writer.write_table(pa.Table.from_arrays(columns, schema=schema))
        file.flush()
        place = copy
        if _OPEN_FILES.exists():  # the open file can be read without its name
            os.unlink(copy)
            place = str(_OPEN_FILES / str(file.fileno()))
        source = ArrowSource(ds.dataset([place], format="parquet", schema=schema), role)
    except BaseException:
        file.close()
        Path(copy).unlink(missing_ok=True)
        raise
    weakref.finalize(source, _remove, file, copy)
    return source


def _cells(column: pd.Series, kind: str) -> pd.Series:
    """Return the cells of a column; of truth values with gaps as objects, a part of gaps too."""
    if kind != "bool":
        return column
    return column.astype(object).where(column.notna(), None)


def _remove(file: Any, copy: str) -> None:
    file.close()
    Path(copy).unlink(missing_ok=True)
