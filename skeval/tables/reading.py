"""Tables from files: CSV, Parquet, JSON lines, Arrow, and what is odd in them.

How a CSV file is written: separator, decimal sign and encoding, given or as it seems.
"""

from __future__ import annotations

import bz2
import codecs
import csv
import gzip
import json
import lzma
import math
import re
import warnings
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO

import pandas as pd

from skeval.exceptions import (
    InvalidParameterError,
    MetricWarning,
    MissingDependencyError,
    TableError,
)
from skeval.tables.cells import LEADING_ZERO, datetime_format
from skeval.tables.places import DATABASES, PARQUET, WORKBOOKS, Place, gather_cells, read_part
from skeval.utils.dependencies import needed_pyarrow
from skeval.utils.formatting import format_count

_HEAD = 1 << 16  # bytes that are looked at
_MAX_LINES = 50
_SEPARATORS = (",", ";", "\t", "|")
_NAMES = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}
_REGULAR = 0.9  # share of lines that have as many cells as the header
_OPENERS: dict[str, Callable[..., Any]] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
_MARKS = {  # the first that fits: that of UTF-16 begins one of UTF-32
    **dict.fromkeys((codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE), "utf-32"),
    **dict.fromkeys((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE), "utf-16"),
    codecs.BOM_UTF8: "utf-8",
}
_HALF_EMPTY = 0.25  # share of the high bytes of UTF-16 that are 0, in a table of any script
_WITH_COMMA, _WITH_POINT = (re.compile(rf"\s*[-+]?\d+{sign}\d+\s*") for sign in (",", r"\."))
_NUMBER = re.compile(r"\s*[-+]?\d+([.,]\d+)?\s*")
_INSTRUCTION = re.compile(r"\s*\"?sep=.?\"?[\s,;|]*", re.IGNORECASE)  # of Excel
FALLBACK = "cp1252"  # of the spreadsheets of Western Europe, where a file is not in UTF-8


@dataclass(frozen=True)
class Dialect:
    """How CSV files are written; what is None is found out, file by file."""

    sep: str | None = None
    encoding: str | None = None
    decimal: str | None = None

    def __post_init__(self) -> None:
        if self.sep is not None and (len(self.sep) != 1 or self.sep in '"\r\n'):
            raise InvalidParameterError(f"sep must be one character, got {self.sep!r}.")
        if self.decimal not in (None, ".", ","):
            raise InvalidParameterError(f"decimal must be '.' or ',', got {self.decimal!r}.")
        if self.decimal is not None and self.decimal == self.sep:
            both = f"cannot both be {self.sep!r}."
            said = f"sep and decimal {both}"
            raise InvalidParameterError(said)
        if self.encoding is not None:
            try:
                "".encode(self.encoding)  # an encoding of texts: others are known as well
            except (LookupError, ValueError) as error:
                none = f"there is no encoding {self.encoding}."
                raise InvalidParameterError(none) from error

    def detect(self, path: Path) -> Dialect:
        """Return the dialect of one file: what is not given, as its first lines look."""
        plain = "\t" if ".tsv" in path.suffixes else ","
        with open_file(path) as file:
            head = file.read(_HEAD)
        encoding = self.encoding or _encoding_of(head)
        lines = head.decode(encoding, errors="replace").splitlines()
        # the last line may be cut
        lines = lines[: -1 if len(head) == _HEAD and len(lines) > 1 else None]
        _check_first_line(lines, (self.sep,) if self.sep else _SEPARATORS)
        sep = self.sep or _separator(lines, plain)
        return Dialect(sep, encoding, self.decimal or _decimal(lines, sep))

    def describe_guesses(self, read: Dialect, path: Path) -> str:
        """Say what was found out of a file, other than what is plain; nothing if all was given."""
        plain = "\t" if ".tsv" in path.suffixes else ","
        parts = [
            f"its cells as separated by {_NAMES[read.sep]}"
            if self.sep is None and read.sep in _NAMES and read.sep != plain
            else "",
            "the comma as decimal sign" if self.decimal is None and read.decimal == "," else "",
            f"its text as {read.encoding}"
            if self.encoding is None and read.encoding != "utf-8"
            else "",
        ]
        return ", ".join(filter(None, parts))

    def settings(self) -> dict[str, Any]:
        """Return the arguments of :func:`pandas.read_csv`."""
        return {"sep": self.sep, "encoding": self.encoding, "decimal": self.decimal}

    def in_fallback(self) -> Dialect:
        """Return the same of a file that is not in UTF-8."""
        return replace(self, encoding=FALLBACK)


@contextmanager
def open_file(path: Path) -> Iterator[BinaryIO]:
    """Open a file, unpacked as pandas does."""
    suffix = path.suffix.lower()
    if suffix == ".zip":
        with zipfile.ZipFile(path) as archive:
            if len(archive.namelist()) != 1:
                raise ValueError("a packed file must hold one table.")
            with archive.open(archive.namelist()[0]) as file:
                yield file  # type: ignore[misc]
    else:
        with _OPENERS.get(suffix, open)(path, "rb") as file:
            yield file


def check_unpacked_size(path: Path, most: float = math.inf) -> None:
    """Raise where few packed bytes would fill the memory, as a line without end or many lines."""
    if path.suffix.lower() not in PACKINGS:
        return
    n_bytes = line = 0
    with open_file(path) as file:
        while block := file.read(_BLOCK):
            n_bytes += len(block)
            line = line + len(block) if b"\n" not in block else len(block) - block.rindex(b"\n") - 1
            if line > _MAX_LINE_LENGTH:
                too_long = f"it unpacks to a line of over {_MAX_LINE_LENGTH >> 20} MiB"
                raise ValueError(f"{too_long}; write each row as a line.")
            if n_bytes > most:
                raise ValueError(f"it unpacks to over {_MAX_PACKED >> 20:,} MiB; unpack it before.")


def _encoding_of(head: bytes) -> str:
    """Return the encoding that the first bytes show."""
    for mark, name in _MARKS.items():
        if head.startswith(mark):
            return name
    for name, high, low in (
        ("utf-16-le", head[1::2], head[::2]),
        ("utf-16-be", head[::2], head[1::2]),
    ):
        if high.count(0) > _HALF_EMPTY * len(high) and not low.count(0):
            return name
    if b"\0" in head:
        raise ValueError("it holds bytes of 0, as no text does; write the table as CSV or Parquet.")
    return "utf-8"


def _rows(lines: list[str], sep: str) -> list[list[str]]:
    try:
        return [row for row in islice(csv.reader(lines, delimiter=sep), _MAX_LINES) if row]
    except csv.Error:
        return []


def _separator(lines: list[str], plain: str) -> str:
    """Return what splits the lines into as many cells as the header has; else the plain one."""
    regular = {}
    for sep in (plain, *_SEPARATORS):
        rows = _rows(lines, sep)
        if rows and (n_names := len(rows[0])) > 1:
            regular[sep] = sum(len(row) == n_names for row in rows) / len(rows)
    if not regular or regular.get(plain, 0.0) >= max(regular.values()):
        return plain
    best = max(regular, key=lambda sep: regular[sep])
    return best if regular[best] >= _REGULAR else plain


def _check_first_line(lines: list[str], separators: Sequence[str]) -> None:
    """Raise if the first line is an instruction for a spreadsheet, or a title above the header."""
    first = lines[0] if lines else ""
    if _INSTRUCTION.fullmatch(first):
        raise ValueError(
            f"its first line is {first.strip()}, an instruction for spreadsheets; remove this "
            "line, so that the first line contains the names of the columns."
        )
    for sep in separators:
        # with one separator, the other cell may be an unnamed column, such as an index
        if sep in first.strip(sep) or first.count(sep) == 1:
            continue
        rows = [[cell for cell in row if cell.strip()] for row in _rows(lines, sep)]
        n_titles = next((i for i, row in enumerate(rows) if len(row) > 1), 0)
        if n_titles and _has_header_of_numbers(rows[n_titles:]):
            raise ValueError(
                f"it seems to have a title of {format_count(n_titles, 'line')} above the names of "
                "its columns; remove the title, or name the separator of the cells with --sep."
            )


def _has_header_of_numbers(rows: list[list[str]]) -> bool:
    """Return whether the rows are as long as the first one, and numbers are below a name."""
    names, *others = rows
    regular = [row for row in others if len(row) == len(names)]
    if not regular or len(regular) < _REGULAR * len(others):
        return False
    return any(
        not _NUMBER.fullmatch(name) and all(_NUMBER.fullmatch(row[j]) for row in regular)
        for j, name in enumerate(names)
    )


def _decimal(lines: list[str], sep: str) -> str:
    """Return the comma where numbers have it, and none has a point."""
    if sep == ",":
        return "."
    cells = [cell for row in _rows(lines, sep)[1:] for cell in row]
    with_comma = any(_WITH_COMMA.fullmatch(cell) for cell in cells)
    return "," if with_comma and not any(_WITH_POINT.fullmatch(cell) for cell in cells) else "."


# what reading a file raises that is none: broken text, and broken packing of it
UNREADABLE = (
    *(ValueError, OverflowError, RecursionError, OSError, EOFError),
    *(zipfile.BadZipFile, lzma.LZMAError, zlib.error, RuntimeError),  # the last of a password
)
PACKINGS = (".gz", ".bz2", ".xz", ".zip")
_TEXTS, _LINES, _ARROW = (".csv", ".tsv"), (".jsonl", ".ndjson"), (".feather", ".arrow")
ENDINGS = (*_TEXTS, *PARQUET, *_LINES, *_ARROW, *WORKBOOKS)  # of files of one table
PLAIN = Dialect()
_RENAME = "rename it to end in {}"
_EXPORT = "write the table as CSV or Parquet"
# how files of other kinds begin, what they are, and what helps
_BEGINNINGS = {
    b"PAR1": ("a Parquet file", _RENAME.format(".parquet")),
    b"PK\x03\x04": ("packed by zip", _RENAME.format(".csv.zip")),
    b"\x1f\x8b": ("packed by gzip", _RENAME.format(".csv.gz")),
    b"BZh91AY&SY": ("packed by bzip2", _RENAME.format(".csv.bz2")),
    b"\xfd7zXZ\x00": ("packed by xz", _RENAME.format(".csv.xz")),
    b"\xd0\xcf\x11\xe0": ("an old workbook of Excel", "save it as .xlsx, without a password"),
    b"SQLite format 3\x00": ("an SQLite database", _RENAME.format(".sqlite")),
    b"ARROW1": ("an Arrow or Feather file", _RENAME.format(".feather")),
    b"\x89HDF": ("an HDF5 file", _EXPORT),
    **{bytes([0x80, k]): ("a pickle", _EXPORT) for k in range(2, 6)},
}
_PACKED = dict(zip(PACKINGS, (b"\x1f\x8b", b"BZh", b"\xfd7zXZ\x00", b"PK"), strict=True))
_OWN = {
    **dict.fromkeys(PARQUET, b"PAR1"),
    **dict.fromkeys(_ARROW, b"ARROW1"),
    **dict.fromkeys(WORKBOOKS, b"PK\x03\x04"),
}
_MAX_LINE_LENGTH = 2**24  # bytes of a line of JSON, or in a packed file
_MAX_PACKED = 2**30  # bytes that a packed file may hold, where it is read at once
_BLOCK = 2**20
_CHUNK = 100_000  # rows whose text is held at a time


def check_exists(path: Path) -> None:
    """Raise unless there is such a file."""
    if not path.is_file():
        raise TableError(f"there is no file {path}.")


def read_table(
    table: str | Path | Place, *, header: bool = False, dialect: Dialect = PLAIN
) -> pd.DataFrame:
    """Read a table from a file or a database; columns of numbers with leading zeros stay text."""
    place = Place.from_path(table)
    if place.path is not None:
        check_exists(place.path)
    kind = _kind_of(place)
    try:
        return _read(place, kind, header=header, dialect=dialect)
    except UnicodeDecodeError:
        tried = dialect.encoding or f"UTF-8 or {FALLBACK}"
        raise TableError(
            f"{place} cannot be read as {kind[1:]}: it is no text in {tried}; name its encoding "
            f"with --encoding, or {_EXPORT}."
        ) from None
    except (TableError, MissingDependencyError):
        raise
    except UNREADABLE as error:
        as_kind = f"as {kind[1:]}" if place.path is not None else "from"
        raise TableError(f"{place} cannot be read {as_kind}: {error}") from error
    except ImportError as error:
        raise TableError(
            f"{place} needs a Parquet reader. Install one: pip install pyarrow."
        ) from error


def read_given(table: Any) -> pd.DataFrame | None:
    """Return the table that a path or a URL names; None where it is neither."""
    return read_table(table) if isinstance(table, str | Path | Place) else None


def _kind_of(place: Place) -> str:
    """Return the ending that says how a table is stored; that of packings does not."""
    if place.path is None:
        return DATABASES[0]
    suffixes = [suffix.lower() for suffix in place.path.suffixes]
    kind = next((s for s in reversed(suffixes) if s not in PACKINGS), "")
    may_be_packed = kind in (*_TEXTS, *_LINES) or suffixes[-1:] == [kind]
    if kind not in (*ENDINGS, *DATABASES) or not may_be_packed:
        known = f"{', '.join((*ENDINGS, *DATABASES[:-1]))} or {DATABASES[-1]}"
        raise TableError(f"{place} is no table as its name says; it must end in {known}.")
    return kind


def _read(place: Place, kind: str, *, header: bool, dialect: Dialect) -> pd.DataFrame:
    path = place.path
    if path is None or kind in DATABASES:
        return read_part(place)
    _check_beginning(path, kind)
    if kind in WORKBOOKS:
        return _without_index(read_part(place), path)
    if kind in PARQUET:
        return pd.read_parquet(path)
    if kind in _ARROW:
        return _read_arrow(path)
    if kind in _LINES:
        return _read_lines(path)
    check_unpacked_size(path, _MAX_PACKED)
    return _in_its_dialect(path, dialect, header=header)


def _check_beginning(path: Path, kind: str) -> None:
    """Raise where the first bytes are those of another kind of file than its name says."""
    with path.open("rb") as file:
        head = file.read(1024)
    if not head:
        raise ValueError("it is empty; a table has its names in the first line.")
    packing = _PACKED.get(path.suffix.lower())
    if packing is not None:
        if not head.startswith(packing):
            raise ValueError(f"it is not packed; {_RENAME.format(kind)}.")
        return
    if head.startswith(_OWN.get(kind, b"")) and kind in _OWN:
        return
    signs = [sign for sign in _BEGINNINGS if head.startswith(sign)]
    # a name of a column may begin so, too
    what, cure = _BEGINNINGS[signs[0]] if signs and (b"\0" in head or head[0] > 126) else ("", "")
    if what == "packed by zip" and b"[Content_Types].xml" in head:
        what, cure = "a workbook of Excel", _RENAME.format(".xlsx")
    if kind in PARQUET:
        what, cure = what or "no Parquet file", cure or _RENAME.format("what it is, such as .csv")
    if what:
        raise ValueError(f"it is {what}; {cure}.")


def _read_arrow(path: Path) -> pd.DataFrame:
    """Read a Feather file, or one of Arrow's in either of its forms."""
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


def _read_lines(path: Path) -> pd.DataFrame:
    """Read JSON lines: an object of names and plain values each."""
    with open_file(path) as file:
        cells = gather_cells(_objects(file, is_packed=path.suffix.lower() in PACKINGS))
    nested = [
        name for name, column in cells.items() if any(isinstance(c, dict | list) for c in column)
    ]
    if nested:
        raise ValueError(
            f"{', '.join(map(str, nested))}: the cells are lists or objects; write plain values."
        )
    return pd.DataFrame(cells)


def _objects(file: BinaryIO, *, is_packed: bool) -> Iterator[Any]:
    """Yield the names and values of each line."""
    n_bytes = number = 0
    while line := file.readline(_MAX_LINE_LENGTH):
        number += 1
        n_bytes += len(line)
        if len(line) == _MAX_LINE_LENGTH or (is_packed and n_bytes > _MAX_PACKED):
            raise ValueError(f"its line {number} is too long, or all of them; {_EXPORT}.")
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):  # no JSON, no UTF-8, or nested without end
            row = None
        if not isinstance(row, dict):
            raise ValueError(f"its line {number} is no JSON object of names and values.")
        yield row.items()


def _in_its_dialect(path: Path, dialect: Dialect, *, header: bool) -> pd.DataFrame:
    read = dialect.detect(path)
    try:
        table = _read_csv(path, read.settings(), header=header)
    except UnicodeDecodeError:
        if dialect.encoding is not None:
            raise
        read = read.in_fallback()
        table = _read_csv(path, read.settings(), header=header)
    if guessed := dialect.describe_guesses(read, path):
        note(f"{path} was read with {guessed}, as it seems to be written.")
    return table


def names_of(path: Path, settings: dict[str, Any], *, header: bool) -> list[Any]:
    """Return the names in the first row of a CSV file; one that is empty is missing."""
    first = pd.read_csv(path, header=None, nrows=1, dtype=str, **settings).iloc[0]
    if not header and _looks_like_values(first):
        raise ValueError(
            "it seems to have no header, for most names in its first row are numbers or dates; "
            "write the names above it, or pass --header if these are the names."
        )
    names = first.tolist()
    # pandas would quietly rename the second of two equal names
    if twice := sorted({str(name) for name in names if names.count(name) > 1}):
        raise ValueError(
            f"columns of the same name: {', '.join(twice)}; rename or drop one of each."
        )
    return names


def _read_csv(path: Path, settings: dict[str, Any], *, header: bool) -> pd.DataFrame:
    names = names_of(path, settings, header=header)
    table = _columns_of_names(path, settings)
    if pd.isna(names[-1]) and table.shape[1] > 1 and table.iloc[:, -1].isna().all():
        note(f"the lines of {path} end in a separator; the empty last column left out.")
        table = table.iloc[:, :-1]
    return _without_index(table, path, names[0])


def _without_index(table: pd.DataFrame, path: Path, first: Any = None) -> pd.DataFrame:
    """Return a table without a first column that numbers its rows, if it has no name."""
    first = table.columns[0] if first is None and table.shape[1] else first
    if not _starts_with_index(first, table):
        return table
    note(f"{path} was saved with its row index; its first column, without a name, left out.")
    return table.iloc[:, 1:]


def _columns_of_names(path: Path, settings: dict[str, Any]) -> pd.DataFrame:
    """Read a table whose first column has the first name, with rows of any length."""
    # where rows are longer than the header, pandas would take their first cells as an index, so
    # that each name stood above the values of another column
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        table = pd.read_csv(path, low_memory=False, index_col=False, **settings)
    if not any(issubclass(w.category, pd.errors.ParserWarning) for w in caught):
        return _with_leading_zeros(path, settings, table)
    shifted = pd.read_csv(path, low_memory=False, **settings)
    n_more = table.columns.size - shifted.notna().any().to_numpy().nonzero()[0].max(initial=-1) - 1
    if n_more < shifted.index.nlevels:
        raise ValueError(
            f"its rows have {table.shape[1] + shifted.index.nlevels} cells, its header has "
            f"{table.shape[1]} names; give each column a name, and remove what is above the names."
        )
    note(f"the rows of {path} end in a separator, its header does not; that is ignored.")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pd.errors.ParserWarning)
        return _with_leading_zeros(path, settings, table)


def _with_leading_zeros(path: Path, settings: dict[str, Any], table: pd.DataFrame) -> pd.DataFrame:
    """Return the table with whole numbers as text where the file has leading zeros: "00123"."""
    whole = [i for i, name in enumerate(table) if is_whole(table[name])]
    if not whole:
        return table
    coded: set[int] = set()
    texts = {"low_memory": False, "index_col": False, "dtype": str, **settings}
    with pd.read_csv(path, usecols=whole, chunksize=_CHUNK, **texts) as chunks:
        for chunk in chunks:
            seen = ((i, chunk.iloc[:, place]) for place, i in enumerate(whole) if i not in coded)
            coded |= {i for i, cells in seen if has_leading_zero(cells)}
    if not coded:
        return table
    kept = pd.read_csv(path, usecols=sorted(coded), **texts)
    table = table.copy(deep=False)
    for name in kept:
        table[str(name)] = kept[name]
    return table


def has_leading_zero(cells: pd.Series) -> bool:
    """Return whether a number in a column of texts begins with a zero, as codes do: "00123"."""
    return bool(cells.str.match(LEADING_ZERO).any())


def is_whole(values: pd.Series) -> bool:
    """Return whether a column holds whole numbers, or with gaps such as were read as floats."""
    if values.dtype.kind == "f":
        return bool((values.dropna() % 1 == 0).all() and values.notna().any())
    return values.dtype.kind in "iu"


def _looks_like_values(names: pd.Series) -> bool:
    """Return whether most names are numbers or dates that do not count up, as years do."""
    present = names.dropna()
    values = pd.to_numeric(present, errors="coerce")
    steps = values.dropna().diff().iloc[1:]
    if steps.size and (steps == 1).all():
        return False
    dates = present[values.isna()]
    n_dates = sum(datetime_format(dates.iloc[i : i + 1]) is not None for i in range(dates.size))
    return 2 * (int(values.notna().sum()) + n_dates) > names.size


def _starts_with_index(name: Any, table: pd.DataFrame) -> bool:
    """Return whether the first column is unnamed and numbers the rows, in any order."""
    if not pd.isna(name) or table.shape[1] < 2:
        return False
    first = table.iloc[:, 0]
    return bool(pd.api.types.is_integer_dtype(first.dtype) and first.is_unique)


def note(text: str) -> None:
    """Say what was odd in a file."""
    warnings.warn(MetricWarning(text), stacklevel=4)
