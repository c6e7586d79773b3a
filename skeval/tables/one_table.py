"""Conversion of any table in memory to a frame with string names and a default index."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from skeval.exceptions import TableError
from skeval.tables.place import Place
from skeval.tables.reading import read_table
from skeval.tables.schema import dates_of_periods, name_of
from skeval.tables.set_columns import with_columns
from skeval.tables.sources import source_of

_LIBRARIES = frozenset({"polars", "pyarrow", "modin", "cudf", "duckdb", "dask", "ibis"})
_OBJECT = np.dtype(object)


def as_frame(table: Any, role: str) -> pd.DataFrame:
    """Return `table` as a new pandas frame with string names and a default index."""
    frame = table if isinstance(table, pd.DataFrame) else read_whole(table, role)
    names = [name_of(name) for name in frame.columns]
    if len(set(names)) < len(names):
        twice = sorted({name for name in names if names.count(name) > 1})
        raise TableError(
            f"{role} has several columns with the same name: {', '.join(twice)}. Rename or drop "
            "one of each."
        )
    if frame.shape[0] == 0 or frame.shape[1] == 0:
        raise TableError(
            f"{role} has {frame.shape[0]} rows and {frame.shape[1]} columns, "
            "but at least one row and one column are required."
        )
    frame = frame.reset_index(drop=True)  # a copy
    frame.columns = pd.Index(names)
    dtypes = dict(zip(names, frame.dtypes, strict=True))
    if complex_ones := [name for name, dtype in dtypes.items() if dtype.kind == "c"]:
        raise TableError(
            f"{role} has complex numbers in {', '.join(complex_ones)}. Store their real and "
            "imaginary parts in separate columns, or drop them."
        )
    odd = [n for n, kind in dtypes.items() if kind == _OBJECT or isinstance(kind, pd.PeriodDtype)]
    return with_columns(frame, {n: _clean_objects(frame[n]) for n in odd}) if odd else frame


def read_whole(table: Any, role: str) -> pd.DataFrame:
    """Read a table that is not a frame into memory, with its original names and index."""
    source = source_of(table, role)
    if source is not None:
        return source.read(source.names)
    if isinstance(table, str | Path | Place):
        return read_table(table)
    return _through_narwhals(table, role)


def _through_narwhals(table: Any, role: str) -> pd.DataFrame:
    library = type(table).__module__.split(".")[0]
    wrong = TableError(
        f"{role} must be a pandas, polars or pyarrow table, got {type(table).__name__}. "
        "Wrap arrays and lists in pandas.DataFrame(rows, columns=names)."
    )
    if library not in _LIBRARIES:
        raise wrong
    try:
        import narwhals as nw
    except ImportError as error:
        raise TableError(
            f"{role} is a {library} table, which requires narwhals. "
            'Install it: pip install "skeval[tables]".'
        ) from error
    try:
        native = nw.from_native(table)
    except TypeError as error:
        raise wrong from error
    whole = native.collect() if isinstance(native, nw.LazyFrame) else native
    try:
        frame: pd.DataFrame = whole.to_pandas()
    except Exception as error:  # each library raises different errors
        odd = [f"{n} ({kind})" for n, kind in whole.schema.items() if not _converts(whole, n)]
        raise TableError(
            f"{role} cannot be converted to pandas because of the types of {', '.join(odd)}. "
            "Cast these columns, for example to Int64 or Float64."
        ) from error
    return frame


def _converts(table: Any, column: str) -> bool:
    try:
        table.select(column).to_pandas()
    except Exception:
        return False
    return True


def _clean_objects(values: pd.Series) -> pd.Series:
    """Return a column of objects with valid Unicode texts and detectable missing cells.

    Periods are converted to dates, because their order and distances are meaningful.
    """
    values = dates_of_periods(values)
    if values.dtype != _OBJECT:
        return values
    try:
        values.isna()
    except ArithmeticError:  # a signaling nan raises an error in any operation
        values = values.map(lambda x: None if isinstance(x, Decimal) and x.is_snan() else x)
    try:
        "".join(cell for cell in values if type(cell) is str).encode()
    except UnicodeEncodeError:  # lone surrogates, for example from errors="surrogateescape"
        return values.map(lambda cell: name_of(cell) if type(cell) is str else cell)
    return values
