"""CSV files of many rows, which are copied once and in parts to a temporary Parquet file.

The values are the same as if the file is read at once. The type of a column is known only after all
rows were read. For example, a million numbers followed by a word in the last row are texts.
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

from skeval.tables.csv_dialect import PLAIN, Dialect
from skeval.tables.csv_files import has_leading_zero, is_whole, names_of, note
from skeval.tables.file_endings import ENDINGS, PACKINGS
from skeval.tables.packed_files import check_unpacked_size, open_file
from skeval.tables.reading import UNREADABLE
from skeval.tables.sources import MANY_ROWS, ArrowSource, TableSource

_MIN_BYTES = 2**22  # the lines of smaller files are not counted
CHUNK = 100_000  # number of rows in memory at a time
_BLOCK = 2**20
OPEN_FILES = Path("/proc/self/fd")


def is_long(path: Path) -> bool:
    """Return whether a CSV file has too many lines to be read at once."""
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
    except UNREADABLE:  # reading the file raises the error later
        return False
    return False


def stream_csv(
    path: Path, role: str, *, header: bool = False, dialect: Dialect = PLAIN
) -> TableSource | None:
    """Return a CSV file as a source that is read one column at a time from a temporary copy."""
    # The copy contains the rows. It is in the folder for temporary files, readable only by its
    # owner, and is deleted with the source or at the end of the process. On Linux, the copy has
    # no name, so it is always deleted when the process ends.
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
        note(f"{path} was read with {guessed}. These settings were detected automatically.")
    return source


def _stream_csv(path: Path, role: str, read: Dialect, *, header: bool) -> TableSource | None:
    settings = read.settings()
    check_unpacked_size(path)  # limits the length of lines, but not their number
    names = names_of(path, settings, header=header)
    looks = _looked_at(path, settings)
    if looks is None or any(look.type_name is None for look in looks):
        return None
    kept, notes = _kept(path, settings, names, looks)
    whole = [place for place in kept if looks[place].is_whole]
    for place in _with_leading_zeros(path, settings, whole):
        looks[place].types = {"text"}
    source = _copied(path, role, settings, {place: looks[place] for place in kept})
    for text in notes:
        note(text)
    return source


@dataclass
class _Look:
    """Properties of a column in the rows that were read so far."""

    name: str
    types: set[str] = field(default_factory=set)
    is_whole: bool = True
    is_empty: bool = True
    has_gaps: bool = False

    def add(self, values: pd.Series) -> None:
        """Update the properties with further values."""
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
        """Type of the column, or None if it cannot be determined from parts."""
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
    """Yield frames of some rows each."""
    given = {"low_memory": False, "index_col": False, "chunksize": CHUNK, **settings, **how}
    with pd.read_csv(path, **given) as chunks:
        yield from chunks


def _looked_at(path: Path, settings: dict[str, Any]) -> list[_Look] | None:
    """Return the properties of each column, or None if rows are longer than the header."""
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


def _kept(
    path: Path, settings: dict[str, Any], names: list[Any], looks: list[_Look]
) -> tuple[list[int], list[str]]:
    """Return the positions of the columns to keep, and warnings about ignored columns."""
    kept, notes = list(range(len(looks))), []
    if pd.isna(names[-1]) and len(kept) > 1 and looks[-1].is_empty:
        notes.append(f"The lines of {path} end in a separator. The empty last column was ignored.")
        kept = kept[:-1]
    if pd.isna(names[0]) and len(kept) > 1 and looks[0].type_name == "int64":
        first = pd.read_csv(path, usecols=[0], index_col=False, **settings).iloc[:, 0]
        if first.is_unique:
            notes.append(
                f"{path} was saved with its row index. The first column, which has no name, was "
                "ignored."
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


def _copied(
    path: Path, role: str, settings: dict[str, Any], looks: dict[int, _Look]
) -> TableSource:
    """Write the columns at some positions to a temporary file, and return it as a source."""
    import pyarrow as pa
    import pyarrow.dataset as ds
    import pyarrow.parquet as pq

    arrow = {"int64": pa.int64(), "float64": pa.float64(), "bool": pa.bool_()}
    types = {look.name: str(look.type_name) for look in looks.values()}
    schema = pa.schema([(name, arrow.get(kind, pa.large_string())) for name, kind in types.items()])
    read_as: dict[str, Any] = {
        name: str if kind == "text" else kind for name, kind in types.items() if kind != "bool"
    }
    descriptor, copy = tempfile.mkstemp(prefix="skeval-", suffix=".parquet")  # owner access only
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
        if OPEN_FILES.exists():  # the open file can be read without its name
            os.unlink(copy)
            place = str(OPEN_FILES / str(file.fileno()))
        source = ArrowSource(ds.dataset([place], format="parquet", schema=schema), role)
    except BaseException:
        file.close()
        Path(copy).unlink(missing_ok=True)
        raise
    weakref.finalize(source, _remove, file, copy)
    return source


def _cells(column: pd.Series, kind: str) -> pd.Series:
    """Return the cells of a column, with booleans as objects because they may have gaps."""
    if kind != "bool":
        return column
    return column.astype(object).where(column.notna(), None)


def _remove(file: Any, copy: str) -> None:
    file.close()
    Path(copy).unlink(missing_ok=True)
