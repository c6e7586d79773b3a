"""Conversion of columns of any dtype to ranks and exact numbers, and back."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

# Floats with at most this number of decimals are treated as rounded, and rounded when sampled.
MAX_DECIMALS = 6


@dataclass
class Codes:
    """A column as ranks of its distinct values (-1 if missing), and a row for each value."""

    codes: np.ndarray
    positions: np.ndarray
    ordered: bool


def kind_of(dtype: Any) -> str:
    """Return the dtype kind of numbers, booleans, dates and durations, or "O" for other types."""
    kind = getattr(dtype, "kind", "O")
    return kind if kind in "iufbMm" else "O"


def ordered_codes(column: pd.Series) -> Codes:
    """Rank the values of a column. Unordered values are ranked by appearance."""
    missing = column.isna().to_numpy(dtype=bool)
    ordered = kind_of(column.dtype) != "O" or bool(getattr(column.dtype, "ordered", False))
    rows = np.flatnonzero(~missing)
    keys = numbers_of(column.iloc[rows]) if ordered else pd.factorize(column.iloc[rows])[0]
    _, first, ranks = np.unique(keys, return_index=True, return_inverse=True)
    codes = np.full(len(column), -1, dtype=np.int64)
    codes[rows] = ranks
    return Codes(codes, rows[first], ordered)


def frequency_ranks(codes: np.ndarray) -> np.ndarray:
    """Recode levels, including missing, by frequency, so that the most frequent level is 0."""
    counts = np.bincount(codes + 1)
    ranks = np.empty(len(counts), dtype=np.int64)
    ranks[np.argsort(-counts, kind="stable")] = np.arange(len(counts))
    return ranks[codes + 1]


def numbers_of(present: pd.Series) -> np.ndarray:
    """Return ordered values as int64, uint64, float64, datetime64 (in UTC) or timedelta64."""
    kind = kind_of(present.dtype)
    if kind == "O":
        return np.asarray(present.cat.codes)
    if kind == "M":
        dates = pd.DatetimeIndex(present)
        return np.asarray(dates if dates.tz is None else dates.tz_convert(None))
    if kind == "m":
        return np.asarray(pd.TimedeltaIndex(present))
    return np.asarray(present.to_numpy(dtype={"u": "uint64", "f": "float64"}.get(kind, "int64")))


def as_dtype(values: np.ndarray, dtype: Any) -> pd.Series:
    """Undo :func:`numbers_of`."""
    column = pd.Series(values)
    if getattr(getattr(dtype, "pyarrow_dtype", dtype), "tz", None) is not None:
        column = column.dt.tz_localize("UTC")
    return column.astype(dtype)


@dataclass(frozen=True)
class Steps:
    """Grid of the numbers of a column, with decimals for floats and a step for other numbers."""

    decimals: int | None  # None for unrounded floats and for other numbers
    step: int

    @classmethod
    def from_values(cls, distinct: np.ndarray) -> Steps:
        """Return the grid of sorted values."""
        if distinct.dtype.kind == "f":
            return cls(_decimals_of(distinct), 1)
        # unsigned differences cannot overflow
        return cls(None, int(np.gcd.reduce(np.diff(distinct.view(np.uint64)))) or 1)

    def round_values(self, values: np.ndarray) -> np.ndarray:
        """Return floats with the decimals of the column."""
        return values if self.decimals is None else np.asarray(values.round(self.decimals))

    def between(self, lower: np.ndarray, upper: np.ndarray, part: np.ndarray) -> np.ndarray:
        """Return values at a fraction `part` of the interval from lower to upper."""
        if lower.dtype.kind == "f":
            with np.errstate(invalid="ignore", over="ignore"):
                gap = upper - lower
            return self.round_values(lower + part * np.where(np.isfinite(gap), gap, 0.0))
        # Unsigned differences cannot overflow, and float64 would lose digits of the values.
        gap = upper.view(np.uint64) - lower.view(np.uint64)
        part = np.minimum(part, np.nextafter(1.0, 0.0))  # all of 2**64 - 1 steps would overflow
        steps = np.rint(part * (gap // np.uint64(self.step))).astype(np.uint64)
        return np.asarray((lower.view(np.uint64) + steps * np.uint64(self.step)).view(lower.dtype))

    def part(self, lower: np.ndarray, upper: np.ndarray, values: np.ndarray) -> np.ndarray:
        """Return the position of values in the interval from lower (0) to upper (1)."""
        if values.dtype.kind == "f":
            # Halves are used because the difference of huge numbers is infinite.
            return (values / 2 - lower / 2) / np.where(upper > lower, upper / 2 - lower / 2, 1.0)
        way, whole = (end.view(np.uint64) - lower.view(np.uint64) for end in (values, upper))
        return way.astype(np.float64) / np.maximum(whole, 1)


def _decimals_of(distinct: np.ndarray) -> int | None:
    """Return the number of decimals that represents all floats exactly, or None if above six."""
    for decimals in range(MAX_DECIMALS + 1):
        with np.errstate(over="ignore"):  # rounding turns huge numbers into infinite ones
            rounded = distinct.round(decimals)
        if np.array_equal(rounded, distinct):
            return decimals
    return None


def frame_of(columns: Iterable[pd.Series], names: pd.Index) -> pd.DataFrame:
    """Put columns side by side with a default row index. Names may occur twice."""
    table = pd.DataFrame({j: c.reset_index(drop=True) for j, c in enumerate(columns)})
    table.columns = names
    return table
