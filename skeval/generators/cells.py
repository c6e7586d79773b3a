"""Cell-by-cell parsing, because differential privacy forbids rules that depend on all rows."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Hashable, Iterator
from decimal import Decimal
from numbers import Real
from typing import Any, TypeVar

import numpy as np
import pandas as pd

from skeval.generators.columns import kind_of

T = TypeVar("T")
# Later and earlier dates are clipped to this value, which all pandas resolutions can represent.
_LAST = (2**63 - 1) // 1_000_000 * 1_000_000
_EPOCH = datetime.datetime(1970, 1, 1)
_MICROSECOND = datetime.timedelta(microseconds=1)
_MICROSECONDS = {
    "W": 604_800_000_000,
    "D": 86_400_000_000,
    "h": 3_600_000_000,
    "m": 60_000_000,
    "s": 1_000_000,
    "ms": 1_000,
    "us": 1,
}
_PARTS = {"ns": 1_000, "ps": 10**6, "fs": 10**9, "as": 10**12}  # units per microsecond
# isinstance is faster with tuples than with unions, and exact types are faster than abstract ones.
_PLAIN = frozenset({float, int, bool})
_COMPLEX = (complex, np.complexfloating)
_REAL = (Real, Decimal, np.bool_)
_NOT_A = (float, complex, np.inexact)
_NUMPY_TIMES = (np.datetime64, np.timedelta64)
_DATES = (datetime.date, np.datetime64)


def read_each(column: pd.Series, read: Callable[[Any], T], otherwise: T) -> list[T]:
    """Read each cell separately, and return `otherwise` for cells that cannot be read."""

    def read_one(cell: Any) -> T:
        try:
            return read(cell)
        except Exception:  # cells may contain any object, and an error caused by one row is a leak
            return otherwise

    if isinstance(column.dtype, pd.CategoricalDtype):
        by_code = [*read_each(pd.Series(column.cat.categories), read, otherwise), read_one(None)]
        return [by_code[code] for code in column.cat.codes]  # the code of missing values is -1
    return [read_one(cell) for cell in _cells(column)]


def _cells(column: pd.Series) -> Iterator[Any]:
    try:
        yield from list(column)
    except (OverflowError, ValueError):  # Arrow dates that Python dates cannot represent
        for i in range(len(column)):
            try:
                yield column.iloc[i]
            except (OverflowError, ValueError):
                yield None


def read_numbers(column: pd.Series) -> np.ndarray:
    """Return a column as float64, with nan for cells that are missing or not numbers."""
    plain = kind_of(column.dtype) in "iufb" and not isinstance(column.dtype, pd.ArrowDtype)
    if plain and getattr(column.dtype, "itemsize", 0) <= 8:
        return column.to_numpy(dtype=np.float64, na_value=np.nan)
    return np.array(read_each(column, number_of, np.nan), dtype=np.float64)


def dates_of(column: pd.Series) -> tuple[np.ndarray, np.ndarray]:
    """Return a column as microseconds, and a mask of cells that are missing or not dates."""
    if isinstance(column.dtype, pd.DatetimeTZDtype) or (
        isinstance(column.dtype, np.dtype) and column.dtype.kind == "M"
    ):
        dates = pd.DatetimeIndex(column)
        return _plain_microseconds(dates.asi8, dates.unit), np.asarray(dates.isna())
    dates = read_each(column, date_of, None)
    absent = np.array([date is None for date in dates], dtype=bool)
    return np.array([0 if date is None else date for date in dates], dtype=np.int64), absent


def is_missing(cell: Any) -> bool:
    """Return whether a cell is None, NA, NaT or not a number."""
    if cell is None or cell is pd.NA or cell is pd.NaT:
        return True
    if isinstance(cell, Decimal):
        return cell.is_nan()
    if isinstance(cell, _NUMPY_TIMES):
        return bool(np.isnat(cell))
    return isinstance(cell, _NOT_A) and bool(cell != cell)


def is_number(cell: Any) -> bool:
    """Return whether a cell is a real number of any type, or a boolean."""
    if type(cell) in _PLAIN:
        return True
    if isinstance(cell, _COMPLEX):
        return bool(cell.imag == 0)  # a single complex value makes the whole column complex
    return isinstance(cell, _REAL) and not isinstance(cell, np.timedelta64)


def is_date(cell: Any) -> bool:
    """Return whether a cell is a date, with or without a time of day."""
    return isinstance(cell, _DATES) and not is_missing(cell)


def number_of(cell: Any) -> float:
    """Return a cell or a numeric string as a float, or nan if the cell is not a number."""
    if isinstance(cell, str):
        return float(cell)
    if not is_number(cell) or is_missing(cell):
        return float("nan")
    try:
        return float(cell.real)
    except OverflowError:
        return float("inf") if cell > 0 else float("-inf")


def date_of(cell: Any) -> int | None:
    """Return a date or an ISO 8601 string as microseconds since 1970 (UTC), or None."""
    if isinstance(cell, str):
        cell = _date_in(cell.strip())
    return _clip_microseconds(_microseconds(cell)) if is_date(cell) else None


def key_of(cell: Any) -> Hashable:
    """Return the lookup key of a category, equal for values that a column type may convert."""
    if isinstance(cell, str):
        return cell
    if is_number(cell):
        return number_of(cell)
    if is_date(cell):
        return "date", date_of(cell)
    if isinstance(cell, (datetime.timedelta, np.timedelta64)):
        return "duration", _clip_microseconds(_microseconds(cell))
    return cell


def _date_in(text: str) -> datetime.datetime:
    try:
        return datetime.datetime.fromisoformat(text)
    except ValueError:  # fromisoformat rejects a year or a month without a day
        return datetime.datetime.fromisoformat(text + {4: "-01-01", 7: "-01"}[len(text)])


def _clip_microseconds(microseconds: int) -> int:
    return max(-_LAST, min(microseconds, _LAST))


def _microseconds(value: Any) -> int:
    """Return a date or a duration as a Python integer, which does not overflow."""
    if isinstance(value, (pd.Timestamp, pd.Timedelta)):
        value = value.to_numpy()  # the year may be outside the range of Python dates
    if isinstance(value, _NUMPY_TIMES):
        return _numpy_microseconds(value)
    if isinstance(value, datetime.datetime):
        offset = value.utcoffset() or datetime.timedelta()
        return (value.replace(tzinfo=None) - _EPOCH) // _MICROSECOND - offset // _MICROSECOND
    if isinstance(value, datetime.date):
        return (value - _EPOCH.date()) // _MICROSECOND
    return int(value // _MICROSECOND)


def _numpy_microseconds(value: np.datetime64 | np.timedelta64) -> int:
    unit, count = np.datetime_data(value.dtype)
    if unit in {"Y", "M"}:
        value, unit, count = value.astype("datetime64[D]"), "D", 1
    number = int(value.astype(np.int64)) * count
    return number // _PARTS[unit] if unit in _PARTS else number * _MICROSECONDS[unit]


def _plain_microseconds(values: np.ndarray, unit: str) -> np.ndarray:
    """Convert an array of numbers of one unit, with the result of date_of for each number."""
    if unit in _PARTS:
        return values // _PARTS[unit]
    factor = _MICROSECONDS[unit]
    return np.clip(values, -(_LAST // factor), _LAST // factor) * factor
