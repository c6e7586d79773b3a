"""The public domain of a table: what cell of each column a row counts in, and draws from cells."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from skeval.exceptions import InvalidParameterError
from skeval.generators._cells import (
    date_of,
    dates_of,
    is_date,
    is_missing,
    is_number,
    key_of,
    numbers_of,
    read_each,
)

__all__ = ["Axis", "axes_of"]

_MOST_CELLS = 4_000_000
_DAY = 86_400_000_000  # microseconds
_WANTED = (
    "one or more distinct strings or truths, two or more numbers or dates in ascending order "
    "(finite; whole ones within int64), or a CategoricalDtype with distinct categories"
)


@dataclass(frozen=True)
class Categories:
    """A column of categories: cell k is the k-th one."""

    dtype: pd.CategoricalDtype
    missing: bool

    @property
    def n_cells(self) -> int:
        """How many cells there are."""
        return len(self.dtype.categories) + self.missing

    def keys(self) -> dict[Hashable, int]:
        """Return the cell of each category, by what it is looked up by."""
        return {key_of(label): k for k, label in enumerate(self.dtype.categories)}

    def codes(self, column: pd.Series) -> np.ndarray:
        """Return the cell of each value."""
        keys, absent = self.keys(), self.n_cells - 1 if self.missing else 0

        def code(value: Any) -> int:
            return absent if is_missing(value) else keys.get(key_of(value), 0)

        return np.array(read_each(column, code, 0), dtype=np.int64)

    def draw(self, codes: np.ndarray, rng: np.random.Generator) -> pd.Series:
        """Return a value of each cell."""
        known = np.where(codes < len(self.dtype.categories), codes, -1)
        values = pd.Series(pd.Categorical.from_codes(known, dtype=self.dtype))
        if self.missing or self.dtype.categories.dtype != bool:
            return values
        return values.astype(bool)


@dataclass(frozen=True)
class Bins:
    """A column of numbers, or of dates as microseconds: bins between `edges`, int64 or float64.

    Whole numbers are drawn in multiples of `step`.
    """

    edges: np.ndarray
    missing: bool
    dates: bool = False
    step: int = 1

    @property
    def n_cells(self) -> int:
        """How many cells there are."""
        return len(self.edges) - 1 + self.missing

    def codes(self, column: pd.Series) -> np.ndarray:
        """Return the cell of each value."""
        if self.dates:
            values, absent = dates_of(column)
        else:
            values = numbers_of(column)
            absent = np.isnan(values)
        found = np.searchsorted(self.edges[1:-1], values, side="right")
        return np.where(absent, self.n_cells - 1 if self.missing else 0, found)

    def draw(self, codes: np.ndarray, rng: np.random.Generator) -> pd.Series:
        """Return a value of each cell."""
        absent = codes > len(self.edges) - 2
        bins = np.where(absent, 0, codes)
        low, high = self.edges[bins], self.edges[bins + 1]
        if self.edges.dtype.kind == "f":
            part = rng.random(len(bins))
            # their difference may be infinite; this sum lies between them but for rounding
            values = np.clip(low * (1.0 - part) + high * part, low, high)
            return pd.Series(values).mask(absent)
        last = bins == len(self.edges) - 2  # the one bin whose upper edge belongs to it
        highest = high // self.step - ~last
        whole = rng.integers(low // self.step, highest, endpoint=True) * self.step
        if self.dates:
            return pd.Series(whole.view("datetime64[us]")).mask(absent)
        return pd.Series(whole, dtype="Int64").mask(absent) if self.missing else pd.Series(whole)


Axis = Categories | Bins


def axes_of(domain: Any) -> dict[str, Axis]:
    """Read a domain.

    Raises
    ------
    InvalidParameterError
        If it is none, one error for all columns, or has more than four million cells.
    """
    if not isinstance(domain, Mapping) or not domain:
        raise InvalidParameterError(
            "DPHistogram: domain must map each column to its categories or to the edges of its "
            f"bins, got {domain!r}."
        )
    axes = {str(name): _axis_of(values) for name, values in domain.items()}
    if wrong := [name for name, axis in axes.items() if axis is None]:
        raise InvalidParameterError(
            f"DPHistogram: domain needs for each column {_WANTED}; {', '.join(wrong)} has none of "
            "these."
        )
    found = {name: axis for name, axis in axes.items() if axis is not None}
    # a whole number of Python, which does not overflow
    n_cells = math.prod(axis.n_cells for axis in found.values())
    if n_cells > _MOST_CELLS:
        raise InvalidParameterError(
            f"DPHistogram: the domain has {n_cells:,} cells, and {_MOST_CELLS:,} are the most that "
            "are counted; give it fewer columns, or wider bins."
        )
    return found


def _axis_of(values: Any) -> Axis | None:
    if isinstance(values, pd.CategoricalDtype):
        return None if values.categories is None else _distinct(Categories(values, missing=False))
    if isinstance(values, str) or not hasattr(values, "__iter__"):
        return None
    given = list(values)
    present = [value for value in given if not is_missing(value)]
    n_missing = len(given) - len(present)
    if n_missing > 1:
        return None
    for belongs, made in _KINDS:
        if all(belongs(value) for value in present):
            return made(present, n_missing == 1)
    return None


def _distinct(axis: Categories) -> Categories | None:
    """Return an axis whose categories can be told apart; None if there are none."""
    return axis if 0 < len(axis.dtype.categories) == len(axis.keys()) else None


def _categories(labels: list[Any], missing: bool) -> Categories | None:
    index = pd.Index(labels)
    return _distinct(Categories(pd.CategoricalDtype(index), missing)) if index.is_unique else None


def _date_bins(dates: list[Any], missing: bool) -> Bins | None:
    edges = np.array([date_of(date) for date in dates], dtype=np.int64)
    whole_days = not (edges % _DAY).any()
    return _ascending(Bins(edges, missing, dates=True, step=_DAY if whole_days else 1))


def _number_bins(numbers: list[Any], missing: bool) -> Bins | None:
    whole = all(isinstance(number, int | np.integer) for number in numbers)
    try:
        edges = np.array(
            [int(n) if whole else float(n.real) for n in numbers],
            dtype=np.int64 if whole else np.float64,
        )
    except OverflowError:
        return None
    return _ascending(Bins(edges, missing))


def _ascending(bins: Bins) -> Bins | None:
    low, high = bins.edges[:-1], bins.edges[1:]
    right = len(low) > 0 and bool((low < high).all()) and bool(np.isfinite(bins.edges).all())
    return bins if right else None


_KINDS: tuple[tuple[Callable[[Any], bool], Callable[[list[Any], bool], Axis | None]], ...] = (
    (lambda value: isinstance(value, str), _categories),
    (lambda value: isinstance(value, bool | np.bool_), _categories),
    (is_date, _date_bins),
    (lambda value: is_number(value) and not isinstance(value, bool | np.bool_), _number_bins),
)
