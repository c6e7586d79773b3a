"""Reading of tables from files, whose format is given by the name and confirmed by the content."""

from __future__ import annotations

import lzma
import zipfile
import zlib
from pathlib import Path

import pandas as pd

from skeval.exceptions import MissingDependencyError, TableError
from skeval.tables.csv_dialect import FALLBACK, PLAIN, Dialect
from skeval.tables.csv_files import read_csv_file, without_index
from skeval.tables.file_endings import (
    ARROW,
    DATABASES,
    ENDINGS,
    LINES,
    PACKINGS,
    PARQUET,
    TEXTS,
    WORKBOOKS,
)
from skeval.tables.files_with_many_tables import read_part
from skeval.tables.json_lines import read_json_lines
from skeval.tables.packed_files import MAX_PACKED, check_unpacked_size
from skeval.tables.place import Place
from skeval.utils.dependencies import needed_pyarrow

# Errors that occur when a file is not valid, for example broken text or broken compression.
UNREADABLE = (
    *(ValueError, OverflowError, RecursionError, OSError, EOFError),
    *(zipfile.BadZipFile, lzma.LZMAError, zlib.error, RuntimeError),  # RuntimeError for a password
)
_RENAME = "Rename it to end in {}"
_EXPORT = "Write the table as CSV or Parquet"
# First bytes of files in other formats, with the name of the format and the remedy.
_BEGINNINGS = {
    b"PAR1": ("a Parquet file", _RENAME.format(".parquet")),
    b"PK\x03\x04": ("compressed with zip", _RENAME.format(".csv.zip")),
    b"\x1f\x8b": ("compressed with gzip", _RENAME.format(".csv.gz")),
    b"BZh91AY&SY": ("compressed with bzip2", _RENAME.format(".csv.bz2")),
    b"\xfd7zXZ\x00": ("compressed with xz", _RENAME.format(".csv.xz")),
    b"\xd0\xcf\x11\xe0": ("an old Excel workbook", "Save it as .xlsx without a password"),
    b"SQLite format 3\x00": ("an SQLite database", _RENAME.format(".sqlite")),
    b"ARROW1": ("an Arrow or Feather file", _RENAME.format(".feather")),
    b"\x89HDF": ("an HDF5 file", _EXPORT),
    **{bytes([0x80, k]): ("a pickle", _EXPORT) for k in range(2, 6)},
}
_PACKED = dict(zip(PACKINGS, (b"\x1f\x8b", b"BZh", b"\xfd7zXZ\x00", b"PK"), strict=True))
_OWN = {
    **dict.fromkeys(PARQUET, b"PAR1"),
    **dict.fromkeys(ARROW, b"ARROW1"),
    **dict.fromkeys(WORKBOOKS, b"PK\x03\x04"),
}


def check_exists(path: Path) -> None:
    """Raise an error if the file does not exist."""
    if not path.is_file():
        raise TableError(f"there is no file {path}.")


def read_table(
    table: str | Path | Place, *, header: bool = False, dialect: Dialect = PLAIN
) -> pd.DataFrame:
    """Read a table from a file or a database, with leading zeros of numbers preserved as text."""
    place = table if isinstance(table, Place) else Place.from_path(table)
    if place.path is not None:
        check_exists(place.path)
    kind = _kind_of(place)
    try:
        return _read(place, kind, header=header, dialect=dialect)
    except UnicodeDecodeError:
        tried = dialect.encoding or f"UTF-8 or {FALLBACK}"
        raise TableError(
            f"{place} cannot be read as {kind[1:]}: the file is not text in {tried}. Specify the "
            "encoding with --encoding, or write the table as CSV in UTF-8 or as Parquet."
        ) from None
    except (TableError, MissingDependencyError):
        raise
    except UNREADABLE as error:
        as_kind = f"as {kind[1:]}" if place.path is not None else "from"
        raise TableError(f"{place} cannot be read {as_kind}: {error}") from error
    except ImportError as error:
        raise TableError(
            f"{place} requires a Parquet reader. Install one: pip install pyarrow."
        ) from error


def _kind_of(place: Place) -> str:
    """Return the file ending that specifies the format, without endings of compression."""
    if place.path is None:
        return DATABASES[0]
    suffixes = [suffix.lower() for suffix in place.path.suffixes]
    kind = next((s for s in reversed(suffixes) if s not in PACKINGS), "")
    may_be_packed = kind in (*TEXTS, *LINES) or suffixes[-1:] == [kind]
    if kind not in (*ENDINGS, *DATABASES) or not may_be_packed:
        known = f"{', '.join((*ENDINGS, *DATABASES[:-1]))} or {DATABASES[-1]}"
        raise TableError(f"{place} is not a table file. The file name must end in {known}.")
    return kind


def _read(place: Place, kind: str, *, header: bool, dialect: Dialect) -> pd.DataFrame:
    path = place.path
    if path is None or kind in DATABASES:
        return read_part(place)
    _check_beginning(path, kind)
    if kind in WORKBOOKS:
        return without_index(read_part(place), path)
    if kind in PARQUET:
        return pd.read_parquet(path)
    if kind in ARROW:
        return _read_arrow(path)
    if kind in LINES:
        return read_json_lines(path)
    check_unpacked_size(path, MAX_PACKED)
    return read_csv_file(path, dialect, header=header)


def _check_beginning(path: Path, kind: str) -> None:
    """Raise an error if the first bytes show a different format than the file name."""
    with path.open("rb") as file:
        head = file.read(1024)
    if not head:
        raise ValueError("the file is empty. The first line of a table must contain the names.")
    packing = _PACKED.get(path.suffix.lower())
    if packing is not None:
        if not head.startswith(packing):
            raise ValueError(f"the file is not compressed. {_RENAME.format(kind)}.")
        return
    if head.startswith(_OWN.get(kind, b"")) and kind in _OWN:
        return
    signs = [sign for sign in _BEGINNINGS if head.startswith(sign)]
    # The name of a column may also begin with these bytes.
    what, cure = _BEGINNINGS[signs[0]] if signs and (b"\0" in head or head[0] > 126) else ("", "")
    if what == "compressed with zip" and b"[Content_Types].xml" in head:
        what, cure = "an Excel workbook", _RENAME.format(".xlsx")
    if kind in PARQUET:
        what, cure = what or "not Parquet", cure or _RENAME.format("its format, for example .csv")
    if what:
        raise ValueError(f"the file is {what}. {cure}.")


def _read_arrow(path: Path) -> pd.DataFrame:
    """Read a Feather file or an Arrow file in either of the two formats."""
    pa = needed_pyarrow(str(path))
    from pyarrow import feather, ipc

    try:
        with path.open("rb") as file:
            is_stream = not file.read(6).startswith((b"ARROW1", b"FEA1"))
        if is_stream:
            with pa.OSFile(str(path)) as file:
                read: pd.DataFrame = ipc.open_stream(file).read_all().to_pandas()
                return read
        return feather.read_feather(path)
    except pa.ArrowException as error:
        raise ValueError(f"{error}.") from error
