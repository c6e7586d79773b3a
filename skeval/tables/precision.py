"""To how many digits tables are stored, and values of several tables at the coarsest of these.

The float32 copy of 0.1 is not the float64 0.1. If tables are stored to different precisions, values
are compared at the coarser one. Nor is 0.3 - 0.2 the float64 0.1: in a column whose real values
have few decimals, values that miss one of these by rounding errors are that value.

If nearly all values of train have one decimal and those of the holdout have three, the text of a
holdout row is longer than that of a train row. Every test that compares the two would report that
difference. Therefore, such columns are rounded to the coarser form in all tables.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from skeval.exceptions import DifferentFormWarning
from skeval.tables.schema import storage_dtype
from skeval.tables.spelling import list_columns, spelling_warning


class Decimals(NamedTuple):
    """How many decimals the values of a column have, and how far rounding errors reach."""

    places: int
    within: float
    itemsize: int = 8  # of the storage: any that is coarser decides


Storage = np.dtype | Decimals
Precision = Mapping[str, Storage]
_HALF, _SINGLE = np.dtype("float16"), np.dtype("float32")
_N_HEAD = 100  # values that settle nearly every column at a fraction of the cost
_MAX_PLACES = 9
_ROUNDING = 1e-13  # of the largest value: what arithmetic in float64 may add
_APART = 100.0  # values with the decimals of a column are as many times farther apart
_SHORT = 2.0**16  # whole numbers and few bits, such as halves, look the same in any storage


def stored_precision(
    given: pd.DataFrame, read: pd.DataFrame, *, decimals: bool = False
) -> dict[str, Storage]:
    """Return the storage of each column of numbers that holds fewer digits than float64."""
    precision: dict[str, Storage] = {}
    present = set(given.columns)
    for name, dtype in zip(read.columns, read.dtypes, strict=True):
        if dtype.kind != "f" or name not in present:
            continue
        stored = storage_dtype(given[name])
        if stored in {_HALF, _SINGLE}:
            precision[name] = stored
        elif stored.kind not in "biu" and _is_single(read[name].to_numpy()):
            precision[name] = _SINGLE
        elif decimals and (few := few_decimals(read[name].to_numpy())):
            precision[name] = few
    return precision


def few_decimals(values: np.ndarray) -> Decimals | None:
    """Return how many decimals numbers have, rounding errors aside; None if they have too many."""
    finite = values[np.isfinite(values)]
    within = _ROUNDING * float(np.abs(finite).max(initial=0.0))
    for places in range(_MAX_PLACES + 1):
        if 10.0**-places < _APART * within:
            return None
        if all(
            (np.abs(np.round(part, places) - part) <= within).all()
            for part in (finite[:_N_HEAD], finite)
        ):
            return Decimals(places, within)
    return None


def coarsest(precisions: Iterable[Precision]) -> dict[str, Storage]:
    """Return the coarsest storage of each column over several tables."""
    coarse: dict[str, Storage] = {}
    for precision in precisions:
        for name, dtype in precision.items():
            coarse[name] = min(dtype, coarse.get(name, dtype), key=lambda one: one.itemsize)
    return coarse


def at_precision(frame: pd.DataFrame, precision: Precision) -> pd.DataFrame:
    """Return a canonical frame with the values that columns have in a coarser storage."""
    # The columns stay float64. Finite values beyond the range of the storage stay as they
    # are; a frame in which nothing changes is returned itself.
    if hasattr(frame, "at_precision"):  # a large table rounds what it reads
        return frame.at_precision(precision)
    rounded = {}
    for name, dtype in precision.items():
        values = frame[name].to_numpy()
        coarse = rounded_to(values, dtype)
        if not np.array_equal(coarse, values, equal_nan=True):
            rounded[name] = coarse
    if not rounded:
        return frame
    frame = frame.copy(deep=False)
    for name, coarse in rounded.items():
        frame[name] = coarse
    return frame


def rounded_to(values: np.ndarray, dtype: Storage) -> np.ndarray:
    """Return float64 values as `dtype` stores them, those beyond its range as they are.

    For decimals, these are values that miss one by more than rounding errors.
    """
    if isinstance(dtype, np.dtype) and dtype.kind == "M":
        return values.astype(dtype).astype(values.dtype)
    if isinstance(dtype, Decimals):
        with np.errstate(invalid="ignore", over="ignore"):
            coarse = np.round(values, dtype.places) + 0.0
            fits = np.isfinite(coarse) & (np.abs(coarse - values) <= dtype.within)
            return np.where(fits, coarse, values)
    with np.errstate(over="ignore", under="ignore"):
        coarse = values.astype(dtype).astype(np.float64)
    return np.where(np.isinf(coarse), values, coarse)


class Form(NamedTuple):
    """How many values a column has, and how many of them each grid misses, the coarsest first.

    Different values are only counted up to ten, because more are never asked for.
    """

    n: int
    misses: tuple[int, ...]
    n_distinct: int


_PLACES = tuple(range(-6, _MAX_PLACES + 1))
_UNITS = {
    **{"Y": "years", "M": "months", "D": "days", "h": "hours", "m": "minutes"},
    **{"s": "seconds", "ms": "milliseconds"},
}
_TIMES = tuple(np.dtype(f"M8[{unit}]") for unit in _UNITS)
_BITS = 2.0**-24  # of a value: how far float32 is from it at most
_FEWER = 0.1  # a coarser table misses a grid at most that many times as often as a finer one
_PART = 2**15  # values that are looked at at a time
_MIN_DISTINCT = 10  # a column of fewer values, such as a constant one, fits coarse grids by chance
_MISSES = 20  # that a table of the finer form is expected to have at least


def forms_of(read: pd.DataFrame) -> dict[str, Form]:
    """Return the form of each column of numbers or dates in a canonical table."""
    return {name: form_of(read[name]) for name in read if read[name].dtype.kind in "fM"}


def form_of(values: pd.Series) -> Form:
    """Return how many values of a canonical column miss decimals, or units of time."""
    parts = _present_parts(values.to_numpy())
    grids: Sequence[Any] = _PLACES if values.dtype.kind == "f" else _TIMES
    n, n_distinct = sum(map(len, parts)), _n_distinct(parts)
    counts: list[int] = [0] * len(grids)

    def count(low: int, high: int) -> None:
        """Count misses between two grids: a finer grid has fewer of them."""
        if high - low < 2 or counts[low] == counts[high]:
            counts[low + 1 : high] = [counts[high]] * max(0, high - low - 1)
            return
        middle = (low + high) // 2
        counts[middle] = n_misses(middle)
        count(low, middle)
        count(middle, high)

    def n_misses(at: int) -> int:
        return sum(int(_misses(part, grids[at]).sum()) for part in parts)

    counts[0], counts[-1] = n_misses(0), n_misses(-1)
    count(0, len(grids) - 1)
    return Form(n, tuple(counts), n_distinct)


def _present_parts(values: np.ndarray) -> list[np.ndarray]:
    """Return the values that are there, in parts: a long column has no room in memory twice."""
    parts = (values[start : start + _PART] for start in range(0, values.size, _PART))
    return [part if (there := np.isfinite(part)).all() else part[there] for part in parts]


def _n_distinct(parts: Iterable[np.ndarray]) -> int:
    """Return how many different values there are, counted no further than is asked."""
    found: set[Any] = set()
    for part in parts:
        found.update(np.unique(part)[:_MIN_DISTINCT].tolist())
        if len(found) >= _MIN_DISTINCT:
            break
    return min(len(found), _MIN_DISTINCT)


def _misses(values: np.ndarray, grid: int | np.dtype) -> np.ndarray:
    """Return which values a number of decimals, or a unit of time, does not hold."""
    if isinstance(grid, np.dtype):
        return np.asarray(rounded_to(values, grid) != values)
    with np.errstate(over="ignore", invalid="ignore"):
        apart = np.abs(np.round(values, grid) - values)
    # numbers so large that rounding overflows are whole numbers
    return (apart > _BITS * np.abs(values)) & np.isfinite(apart)


def have_one_form(train: pd.Series, other: pd.Series) -> bool:
    """Return whether a glance shows that two canonical columns have one form, as is usual."""
    # All values of both are on a grid, and many of both are not on the next coarser grid: then
    # no grid is missed by one of the columns only.
    columns = [part[np.isfinite(part)] for part in (train.to_numpy(), other.to_numpy())]
    if not all(column.size for column in columns):
        return False
    grids: Sequence[Any] = _PLACES if train.dtype.kind == "f" else _TIMES
    head = columns[0][:_N_HEAD]
    at = next((i for i, grid in enumerate(grids) if not _misses(head, grid).any()), len(grids))
    if at < len(grids) and any(_misses(column, grids[at]).any() for column in columns):
        return False
    return at == 0 or all(_misses(column, grids[at - 1]).mean() > _FEWER for column in columns)


def coarser_of_two(train: pd.DataFrame, other: pd.DataFrame) -> dict[str, Storage]:
    """Return the coarser form of each column that two canonical tables contain differently."""
    measured = [name for name in train if train[name].dtype.kind in "fM"]
    odd = [name for name in measured if not have_one_form(train[name], other[name])]
    return coarser_forms(forms_of(train[odd]), forms_of(other[odd])) if odd else {}


def coarser_forms(train: Mapping[str, Form], holdout: Mapping[str, Form]) -> dict[str, Storage]:
    """Return the coarser form of each column that two real tables contain in different forms."""
    coarser: dict[str, Storage] = {}
    for name, form in train.items():
        at = _first_difference(form, holdout[name])
        if at is not None and len(form.misses) == len(_PLACES):
            coarser[name] = Decimals(_PLACES[at], np.inf, itemsize=0)
        elif at is not None:
            coarser[name] = _TIMES[at]
    return coarser


def _first_difference(one: Form, other: Form) -> int | None:
    """Return the coarsest grid that fits nearly all values of one table, and not of the other."""
    n = min(one.n, other.n)
    if min(one.n_distinct, other.n_distinct) < _MIN_DISTINCT:
        return None
    for i, (k, j) in enumerate(zip(one.misses, other.misses, strict=True)):
        low, high = sorted((k / one.n, j / other.n))
        if low <= _FEWER * high and high * n >= _MISSES:
            return i
    return None


def form_notices(
    coarser: Mapping[str, Storage], respelled: Sequence[str]
) -> tuple[DifferentFormWarning, ...]:
    """Return the warnings about columns that train and holdout contain in different forms."""
    said: list[DifferentFormWarning] = []
    if coarser:
        columns = [f"{name} ({said_of(form)})" for name, form in coarser.items()]
        text = (
            f"train and holdout are stored to different precision in {list_columns(columns)}. In "
            "these columns, all tables are rounded to the coarser form. Store the columns of both "
            "tables in the same form to compare all digits."
        )
        said.append(DifferentFormWarning(text))
    if respelled:
        said.append(spelling_warning("holdout", respelled))
    return tuple(said)


def said_of(form: Storage) -> str:
    """Return to which decimals or units of time values are rounded, in words."""
    if not isinstance(form, Decimals):
        return _UNITS[np.datetime_data(form)[0]]
    if form.places == 0:
        return "whole numbers"
    decimals = f"{form.places} decimal{'s' * (form.places > 1)}"
    return decimals if form.places > 0 else f"multiples of {10**-form.places:,}"


def _is_single(values: np.ndarray) -> bool:
    """Return whether all values are float32 numbers, and not only because they are short."""
    for part in (values[:_N_HEAD], values):
        finite = part[np.isfinite(part)]
        if not np.array_equal(rounded_to(finite, _SINGLE), finite):
            return False
    bits = np.frexp(finite)[0] * _SHORT
    return bool(((finite != np.rint(finite)) & (bits != np.rint(bits))).any())
