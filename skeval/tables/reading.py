"""Tables from files: CSV and Parquet, and what is odd in them."""

from __future__ import annotations

import lzma
import warnings
import zipfile
import zlib
from pathlib import Path
from typing import Any

import pandas as pd

from skeval.exceptions import MetricWarning, TableError
from skeval.tables.columns import with_columns
from skeval.tables.dialects import FALLBACK, Dialect
from skeval.tables.schema import LEADING_ZERO, datetime_format

# what reading a file raises that is none: broken text, and broken packing of it
UNREADABLE = (
    *(ValueError, OverflowError, RecursionError, OSError, EOFError),
    *(zipfile.BadZipFile, lzma.LZMAError, zlib.error, RuntimeError),  # the last of a password
)
PACKINGS = (".gz", ".bz2", ".xz", ".zip")
ENDINGS = (".csv", ".tsv", ".parquet", ".pq")
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
    b"\xd0\xcf\x11\xe0": ("a workbook of Excel", _EXPORT),
    b"SQLite format 3\x00": ("an SQLite database", _EXPORT),
    b"ARROW1": ("an Arrow or Feather file", _EXPORT),
    b"\x89HDF": ("an HDF5 file", _EXPORT),
    **{bytes([0x80, k]): ("a pickle", _EXPORT) for k in range(2, 6)},
}
_PACKED = dict(zip(PACKINGS, (b"\x1f\x8b", b"BZh", b"\xfd7zXZ\x00", b"PK"), strict=True))
_CHUNK = 100_000  # rows whose text is held at a time


def check_exists(path: Path) -> None:
    """Raise unless there is such a file."""
    if not path.is_file():
        raise TableError(f"there is no file {path}.")


def read_table(path: Path, *, header: bool = False, dialect: Dialect = PLAIN) -> pd.DataFrame:
    """Read a CSV or Parquet file; columns of numbers with leading zeros stay text.

    Parameters
    ----------
    path : Path
        Ending in .csv, .tsv (also .gz, .bz2, .xz, .zip of them), .parquet or .pq.
    header : bool, default=False
        Whether the first row of a CSV file holds names even where most read as numbers or dates.
    dialect : Dialect, default=Dialect()
        Separator, encoding and decimal sign of CSV files; what it leaves open is found out, and a
        warning says what was found where it is not comma, UTF-8 and point.

    Returns
    -------
    DataFrame

    Raises
    ------
    TableError
        If there is no such file, it cannot be read, has a column name twice, has rows longer than
        its header, or seems to have no header.
    """
    check_exists(path)
    suffixes = [suffix.lower() for suffix in path.suffixes]
    kind = next((s for s in reversed(suffixes) if s not in PACKINGS), "")
    try:
        if kind in ENDINGS:
            _check_beginning(path, kind)
        if kind in {".parquet", ".pq"}:
            return pd.read_parquet(path)
        if kind in {".csv", ".tsv"}:
            return _in_its_dialect(path, dialect, header=header)
    except UnicodeDecodeError:
        tried = dialect.encoding or f"UTF-8 or {FALLBACK}"
        raise TableError(
            f"{path} cannot be read as {kind[1:]}: it is no text in {tried}; name its encoding "
            f"with --encoding, or {_EXPORT}."
        ) from None
    except UNREADABLE as error:
        raise TableError(f"{path} cannot be read as {kind[1:]}: {error}") from error
    except ImportError as error:
        raise TableError(
            f"{path} needs a Parquet reader. Install one: pip install pyarrow."
        ) from error
    raise TableError(
        f"{path} is neither CSV nor Parquet; its name must end in .csv, .tsv or .parquet."
    )


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
    signs = [sign for sign in _BEGINNINGS if head.startswith(sign)]
    # a name of a column may begin so, too
    what, cure = _BEGINNINGS[signs[0]] if signs and (b"\0" in head or head[0] > 126) else ("", "")
    if what == "packed by zip" and b"[Content_Types].xml" in head:
        what, cure = "a workbook of Excel", _EXPORT
    if kind in {".parquet", ".pq"}:
        if head.startswith(b"PAR1"):
            return
        what, cure = what or "no Parquet file", cure or _RENAME.format("what it is, such as .csv")
    if what:
        raise ValueError(f"it is {what}; {cure}.")


def _in_its_dialect(path: Path, dialect: Dialect, *, header: bool) -> pd.DataFrame:
    read = dialect.of(path)
    try:
        table = _read_csv(path, read.settings(), header=header)
    except UnicodeDecodeError:
        if dialect.encoding is not None:
            raise
        read = read.in_fallback()
        table = _read_csv(path, read.settings(), header=header)
    if guessed := dialect.guessed(read, path):
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
    if not _starts_with_index(names[0], table):
        return table
    note(f"{path} was saved with its row index; its first column, without a name, left out.")
    return table.iloc[:, 1:]


def _columns_of_names(path: Path, settings: dict[str, Any]) -> pd.DataFrame:
    """Read a table whose first column has the first name, whatever the length of its rows."""
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
            f"{table.shape[1]} names; give each column a name."
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
    return with_columns(table, {str(name): kept[name] for name in kept})


def has_leading_zero(cells: pd.Series) -> bool:
    """Return whether a number in a column of texts begins with a zero, as codes do: "00123"."""
    return bool(cells.str.match(LEADING_ZERO).any())


def is_whole(values: pd.Series) -> bool:
    """Tell whether a column holds whole numbers, or with gaps such as were read as floats."""
    if values.dtype.kind == "f":
        return bool((values.dropna() % 1 == 0).all() and values.notna().any())
    return values.dtype.kind in "iu"


def _looks_like_values(names: pd.Series) -> bool:
    """Tell whether most names are numbers or dates, other than those that count up, as years do."""
    present = names.dropna()
    values = pd.to_numeric(present, errors="coerce")
    steps = values.dropna().diff().iloc[1:]
    if steps.size and (steps == 1).all():
        return False
    dates = present[values.isna()]
    n_dates = sum(datetime_format(dates.iloc[i : i + 1]) is not None for i in range(dates.size))
    return 2 * (int(values.notna().sum()) + n_dates) > names.size


def _starts_with_index(name: Any, table: pd.DataFrame) -> bool:
    """Tell whether the first column is unnamed and numbers the rows, in whatever order."""
    if not pd.isna(name) or table.shape[1] < 2:
        return False
    first = table.iloc[:, 0]
    return bool(pd.api.types.is_integer_dtype(first.dtype) and first.is_unique)


def note(text: str) -> None:
    """Say what was odd in a file."""
    warnings.warn(MetricWarning(text), stacklevel=4)
