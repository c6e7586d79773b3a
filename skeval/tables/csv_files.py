"""CSV files as tables: names in the first row, rows of any length, numbers with leading zeros."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import pandas as pd

from skeval.exceptions import MetricWarning
from skeval.tables.cells import LEADING_ZERO, datetime_format
from skeval.tables.csv_dialect import Dialect

_CHUNK = 100_000  # rows whose text is held at a time


def read_csv_file(path: Path, dialect: Dialect, *, header: bool) -> pd.DataFrame:
    """Read a CSV file as it states or seems to be written."""
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
    return without_index(table, path, names[0])


def without_index(table: pd.DataFrame, path: Path, first: Any = None) -> pd.DataFrame:
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
