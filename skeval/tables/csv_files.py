"""Reading of CSV files, including headers, irregular rows and numbers with leading zeros."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import pandas as pd

from skeval.exceptions import MetricWarning
from skeval.tables.cells import LEADING_ZERO, datetime_format
from skeval.tables.csv_dialect import Dialect

_CHUNK = 100_000  # number of rows whose text is in memory at a time


def read_csv_file(path: Path, dialect: Dialect, *, header: bool) -> pd.DataFrame:
    """Read a CSV file with the specified or detected dialect."""
    read = dialect.detect(path)
    try:
        table = _read_csv(path, read.settings(), header=header)
    except UnicodeDecodeError:
        if dialect.encoding is not None:
            raise
        read = read.in_fallback()
        table = _read_csv(path, read.settings(), header=header)
    if guessed := dialect.describe_guesses(read, path):
        note(f"{path} was read with {guessed}. These settings were detected automatically.")
    return table


def names_of(path: Path, settings: dict[str, Any], *, header: bool) -> list[Any]:
    """Return the names in the first row of a CSV file. An empty name is missing."""
    first = pd.read_csv(path, header=None, nrows=1, dtype=str, **settings).iloc[0]
    if not header and _looks_like_values(first):
        raise ValueError(
            "the file seems to have no header, because most names in the first row are numbers or "
            "dates. Add a row of column names, or pass --header if these are the names."
        )
    names = first.tolist()
    # pandas would silently rename the second of two equal names.
    if twice := sorted({str(name) for name in names if names.count(name) > 1}):
        raise ValueError(
            f"several columns have the same name ({', '.join(twice)}). Rename or drop one of each."
        )
    return names


def _read_csv(path: Path, settings: dict[str, Any], *, header: bool) -> pd.DataFrame:
    names = names_of(path, settings, header=header)
    table = _columns_of_names(path, settings)
    if pd.isna(names[-1]) and table.shape[1] > 1 and table.iloc[:, -1].isna().all():
        note(f"The lines of {path} end in a separator. The empty last column was ignored.")
        table = table.iloc[:, :-1]
    return without_index(table, path, names[0])


def without_index(table: pd.DataFrame, path: Path, first: Any = None) -> pd.DataFrame:
    """Return a table without its first column if that column is an unnamed row index."""
    first = table.columns[0] if first is None and table.shape[1] else first
    if not _starts_with_index(first, table):
        return table
    note(f"{path} was saved with its row index. The first column, which has no name, was ignored.")
    return table.iloc[:, 1:]


def _columns_of_names(path: Path, settings: dict[str, Any]) -> pd.DataFrame:
    """Read a table whose rows may be longer than its header."""
    # If rows are longer than the header, pandas would use their first cells as an index, so each
    # name would be above the values of another column.
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        table = pd.read_csv(path, low_memory=False, index_col=False, **settings)
    if not any(issubclass(w.category, pd.errors.ParserWarning) for w in caught):
        return _with_leading_zeros(path, settings, table)
    shifted = pd.read_csv(path, low_memory=False, **settings)
    n_more = table.columns.size - shifted.notna().any().to_numpy().nonzero()[0].max(initial=-1) - 1
    if n_more < shifted.index.nlevels:
        raise ValueError(
            f"rows have {table.shape[1] + shifted.index.nlevels} cells, but the header has "
            f"{table.shape[1]} names. Name each column, and remove all lines above the names."
        )
    note(
        f"The rows of {path} end in a separator, but the header does not. The empty cells were "
        "ignored."
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pd.errors.ParserWarning)
        return _with_leading_zeros(path, settings, table)


def _with_leading_zeros(path: Path, settings: dict[str, Any], table: pd.DataFrame) -> pd.DataFrame:
    """Return the table with text for columns of integers with leading zeros, such as "00123"."""
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
    """Return whether a text column contains a code with a leading zero, such as "00123"."""
    return bool(cells.str.match(LEADING_ZERO).any())


def is_whole(values: pd.Series) -> bool:
    """Return whether a column contains integers, which missing cells may have turned to floats."""
    if values.dtype.kind == "f":
        return bool((values.dropna() % 1 == 0).all() and values.notna().any())
    return values.dtype.kind in "iu"


def _looks_like_values(names: pd.Series) -> bool:
    """Return whether most names are numbers or dates, and not consecutive such as years."""
    present = names.dropna()
    values = pd.to_numeric(present, errors="coerce")
    steps = values.dropna().diff().iloc[1:]
    if steps.size and (steps == 1).all():
        return False
    dates = present[values.isna()]
    n_dates = sum(datetime_format(dates.iloc[i : i + 1]) is not None for i in range(dates.size))
    return 2 * (int(values.notna().sum()) + n_dates) > names.size


def _starts_with_index(name: Any, table: pd.DataFrame) -> bool:
    """Return whether the first column is unnamed and contains row numbers in any order."""
    if not pd.isna(name) or table.shape[1] < 2:
        return False
    first = table.iloc[:, 0]
    return bool(pd.api.types.is_integer_dtype(first.dtype) and first.is_unique)


def note(text: str) -> None:
    """Issue a warning about a file."""
    warnings.warn(MetricWarning(text), stacklevel=4)
