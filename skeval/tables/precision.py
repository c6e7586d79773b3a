"""Storage precision of tables, and rounding of several tables to the coarsest precision.

The float32 copy of 0.1 differs from the float64 0.1. If tables are stored with different precision,
values are compared with the coarser precision. Rounding errors are another difference, for example
0.3 - 0.2 and the float64 0.1. If the real values of a column have few decimals, values that differ
from such a number only by rounding errors are replaced by it.

If nearly all values of the training data have one decimal, but the values of the holdout have three
decimals, holdout rows are longer texts than training rows. Every test that compares the two would
report this difference. Therefore, such columns are rounded to the coarser form in all tables.
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
    """Number of decimals of the values of a column, and the size of rounding errors."""

    places: int
    within: float
    itemsize: int = 8  # bytes of the storage, for comparison with coarser storage


Storage = np.dtype | Decimals
Precision = Mapping[str, Storage]
_HALF, _SINGLE = np.dtype("float16"), np.dtype("float32")
_N_HEAD = 100  # number of values that are sufficient for nearly every column
_MAX_PLACES = 9
_ROUNDING = 1e-13  # size of rounding errors in float64, relative to the largest value
_APART = 100.0  # minimum ratio between the step of the decimals and the rounding errors
_SHORT = 2.0**16  # numbers with few bits, such as integers and halves, are equal in any storage


def stored_precision(
    given: pd.DataFrame, read: pd.DataFrame, *, decimals: bool = False
) -> dict[str, Storage]:
    """Return the storage of each numerical column with fewer digits than float64."""
    precision: dict[str, Storage] = {}
    stored_as = dict(zip(given.columns, given.dtypes, strict=True))
    for name, dtype in zip(read.columns, read.dtypes, strict=True):
        if dtype.kind != "f" or name not in stored_as:
            continue
        stored = stored_as[name]
        if not isinstance(stored, np.dtype):
            stored = storage_dtype(stored)
        if stored in {_HALF, _SINGLE}:
            precision[name] = stored
        elif stored.kind not in "biu" and _is_single(read[name].to_numpy()):
            precision[name] = _SINGLE
        elif decimals and (few := few_decimals(read[name].to_numpy())):
            precision[name] = few
    return precision


def few_decimals(values: np.ndarray) -> Decimals | None:
    """Return the number of decimals, ignoring rounding errors, or None if there are too many."""
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
    """Return a canonical frame with values rounded to a coarser storage."""
    # The columns remain float64. Finite values outside the range of the storage do not change. If
    # no value changes, the frame itself is returned.
    if hasattr(frame, "at_precision"):  # a large table rounds its values when it reads them
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
    """Return float64 values rounded to `dtype`, except for values outside its range.

    For decimals, values that differ from a decimal by more than rounding errors do not change.
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
    """Number of values of a column, and number of values that are not on each grid.

    The coarsest grid comes first. Distinct values are counted up to ten.
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
_BITS = 2.0**-24  # maximum relative rounding error of float32
_FEWER = 0.1  # maximum ratio of the fractions of values off the grid, coarser to finer table
_PART = 2**15  # number of values that are processed at a time
_MIN_DISTINCT = 10  # columns with fewer distinct values often fit coarse grids accidentally
_MISSES = 20  # minimum expected number of values off the grid in the finer table


def forms_of(read: pd.DataFrame) -> dict[str, Form]:
    """Return the form of each column of numbers or dates in a canonical table."""
    return {name: form_of(read[name]) for name in read if read[name].dtype.kind in "fM"}


def form_of(values: pd.Series) -> Form:
    """Count the values of a canonical column that are not on each grid of decimals or times."""
    parts = _present_parts(values.to_numpy())
    grids: Sequence[Any] = _PLACES if values.dtype.kind == "f" else _TIMES
    n, n_distinct = sum(map(len, parts)), _n_distinct(parts)
    counts: list[int] = [0] * len(grids)

    def count(low: int, high: int) -> None:
        """Count misses between two grids by bisection, because finer grids have fewer misses."""
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
    """Return the present values in parts, to avoid a copy of a long column."""
    parts = (values[start : start + _PART] for start in range(0, values.size, _PART))
    return [part if (there := np.isfinite(part)).all() else part[there] for part in parts]


def _n_distinct(parts: Iterable[np.ndarray]) -> int:
    """Count distinct values up to the required minimum."""
    found: set[Any] = set()
    for part in parts:
        found.update(np.unique(part)[:_MIN_DISTINCT].tolist())
        if len(found) >= _MIN_DISTINCT:
            break
    return min(len(found), _MIN_DISTINCT)


def _misses(values: np.ndarray, grid: int | np.dtype) -> np.ndarray:
    """Return which values are not multiples of a decimal unit or a unit of time."""
    if isinstance(grid, np.dtype):
        return np.asarray(rounded_to(values, grid) != values)
    with np.errstate(over="ignore", invalid="ignore"):
        apart = np.abs(np.round(values, grid) - values)
    # If rounding overflows, the number is so large that it is an integer.
    return (apart > _BITS * np.abs(values)) & np.isfinite(apart)


def have_one_form(train: pd.Series, other: pd.Series) -> bool:
    """Return whether a quick check shows that two canonical columns have the same form."""
    # If all values of both columns are on a grid, and many values of both are not on the next
    # coarser grid, then the columns have the same form.
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
    """Return the coarser form of each column that has different forms in two canonical tables."""
    dtypes = zip(train.columns, train.dtypes, strict=True)
    pairs = {name: (train[name], other[name]) for name, dtype in dtypes if dtype.kind in "fM"}
    odd = {name: pair for name, pair in pairs.items() if not have_one_form(*pair)}
    forms = ({name: form_of(pair[i]) for name, pair in odd.items()} for i in range(2))
    return coarser_forms(*forms) if odd else {}


def coarser_forms(train: Mapping[str, Form], holdout: Mapping[str, Form]) -> dict[str, Storage]:
    """Return the coarser form of each column whose forms in two real tables differ."""
    coarser: dict[str, Storage] = {}
    for name, form in train.items():
        at = _first_difference(form, holdout[name])
        if at is not None and len(form.misses) == len(_PLACES):
            coarser[name] = Decimals(_PLACES[at], np.inf, itemsize=0)
        elif at is not None:
            coarser[name] = _TIMES[at]
    return coarser


def _first_difference(one: Form, other: Form) -> int | None:
    """Return the coarsest grid that fits nearly all values of only one of the two tables."""
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
    """Return a text for the decimals or units of time to which values are rounded."""
    if not isinstance(form, Decimals):
        return _UNITS[np.datetime_data(form)[0]]
    if form.places == 0:
        return "integers"
    decimals = f"{form.places} decimal{'s' * (form.places > 1)}"
    return decimals if form.places > 0 else f"multiples of {10**-form.places:,}"


def _is_single(values: np.ndarray) -> bool:
    """Return whether all values are float32 numbers, and not all of them have few bits."""
    for part in (values[:_N_HEAD], values):
        finite = part[np.isfinite(part)]
        if not np.array_equal(rounded_to(finite, _SINGLE), finite):
            return False
    bits = np.frexp(finite)[0] * _SHORT
    return bool(((finite != np.rint(finite)) & (bits != np.rint(bits))).any())
