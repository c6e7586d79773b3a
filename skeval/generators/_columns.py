"""What all generators do with tables: check them, read columns of any dtype and write them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from skeval._parameters import Constraint, Interval, check_parameters
from skeval.exceptions import TableError

__all__ = [
    "Codes",
    "Grid",
    "as_dtype",
    "check_hashable",
    "check_table",
    "kind_of",
    "numbers_of",
    "ordered_codes",
    "start_draw",
    "table_of",
]

_NUMBER: dict[str, Constraint] = {"n": Interval(int, 1, None)}
# Floats with at most so many decimals are taken as rounded, and rounded again when sampled.
_MOST_DECIMALS = 6


@dataclass
class Codes:
    """A column as ranks of its distinct values, -1 where missing, and a row to find each at."""

    codes: np.ndarray
    positions: np.ndarray
    ordered: bool


def check_table(generator: BaseEstimator, table: object) -> None:
    """Raise unless `table` is a DataFrame with rows and columns."""
    if not isinstance(table, pd.DataFrame) or table.empty:
        came = f"shape {table.shape}" if isinstance(table, pd.DataFrame) else type(table).__name__
        raise TableError(
            f"{type(generator).__name__}.fit expected a DataFrame with rows and columns, and got "
            f"{came}."
        )


def check_hashable(generator: BaseEstimator, table: pd.DataFrame) -> None:
    """Raise one error for all columns that hold lists or the like."""
    faults = [
        str(name)
        for name, column in table.items()
        if column.dtype == object and any(t.__hash__ is None for t in set(map(type, column)))
    ]
    if faults:
        raise TableError(
            f"{type(generator).__name__}.fit expected values that can be hashed, and got lists or "
            f"the like in {', '.join(faults)}. Drop these columns, or turn their values into "
            "strings."
        )


def start_draw(generator: Any, n: int, random_state: int | None) -> np.random.Generator:
    """Check that the generator is fitted and `n` positive, and seed the draw: its own seed last."""
    check_is_fitted(generator)
    check_parameters(f"{type(generator).__name__}.sample", {"n": n}, _NUMBER)
    return np.random.default_rng(generator.random_state if random_state is None else random_state)


def table_of(columns: Iterable[pd.Series], names: pd.Index) -> pd.DataFrame:
    """Put columns side by side under a plain row index; names may occur twice."""
    table = pd.DataFrame({j: c.reset_index(drop=True) for j, c in enumerate(columns)})
    table.columns = names
    return table


def kind_of(dtype: Any) -> str:
    """Return numpy's letter for numbers (i, u, f), truths (b), dates (M), durations (m); else O."""
    kind = getattr(dtype, "kind", "O")
    return kind if kind in "iufbMm" else "O"


def ordered_codes(column: pd.Series) -> Codes:
    """Rank the values of a column; unordered ones in order of appearance."""
    missing = column.isna().to_numpy(dtype=bool)
    ordered = kind_of(column.dtype) != "O" or bool(getattr(column.dtype, "ordered", False))
    rows = np.flatnonzero(~missing)
    keys = numbers_of(column.iloc[rows]) if ordered else pd.factorize(column.iloc[rows])[0]
    _, first, ranks = np.unique(keys, return_index=True, return_inverse=True)
    codes = np.full(len(column), -1, dtype=np.int64)
    codes[rows] = ranks
    return Codes(codes, rows[first], ordered)


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
class Grid:
    """What the numbers, dates or durations of a column are multiples of.

    Attributes
    ----------
    decimals : int or None
        How many decimals floats have; None if they are not rounded, or no floats.
    step : int
        The largest step that all differences of others are multiples of.
    """

    decimals: int | None
    step: int

    @classmethod
    def of(cls, distinct: np.ndarray) -> Grid:
        """Return the grid of sorted values."""
        if distinct.dtype.kind == "f":
            return cls(_decimals_of(distinct), 1)
        return cls(None, _step_of(distinct))

    def rounded(self, values: np.ndarray) -> np.ndarray:
        """Return floats with the decimals of the column."""
        return values if self.decimals is None else np.asarray(values.round(self.decimals))

    def between(self, lower: np.ndarray, upper: np.ndarray, part: np.ndarray) -> np.ndarray:
        """Return values that are a part of the way from the lower to the upper ones."""
        if lower.dtype.kind == "f":
            with np.errstate(invalid="ignore", over="ignore"):
                gap = upper - lower
            return self.rounded(lower + part * np.where(np.isfinite(gap), gap, 0.0))
        # unsigned differences cannot overflow, and float64 would lose the digits of the values
        gap = upper.view(np.uint64) - lower.view(np.uint64)
        steps = np.rint(part * (gap // np.uint64(self.step))).astype(np.uint64)
        return np.asarray((lower.view(np.uint64) + steps * np.uint64(self.step)).view(lower.dtype))


def _decimals_of(distinct: np.ndarray) -> int | None:
    """Return how many decimals write all floats exactly; None if more than six."""
    for decimals in range(_MOST_DECIMALS + 1):
        with np.errstate(over="ignore"):  # huge numbers come back infinite, which they are not
            rounded = distinct.round(decimals)
        if np.array_equal(rounded, distinct):
            return decimals
    return None


def _step_of(distinct: np.ndarray) -> int:
    """Return the largest step that all differences of sorted integers or dates are multiples of."""
    # unsigned differences cannot overflow
    return int(np.gcd.reduce(np.diff(distinct.view(np.uint64)))) or 1
