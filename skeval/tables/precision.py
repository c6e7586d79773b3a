"""To how many digits tables are stored, and values of several tables at the coarsest of these.

The float32 copy of 0.1 is not the float64 0.1. If tables are stored to different precisions, values
are compared at the coarser one. Nor is 0.3 - 0.2 the float64 0.1: in a column whose real values
have few decimals, values that miss one of these by rounding errors are that value.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

import numpy as np
import pandas as pd

from skeval.tables.schema import storage_dtype


class Decimals(NamedTuple):
    """How many decimals the values of a column have, and how far rounding errors reach."""

    places: int
    within: float
    itemsize: int = 8  # of the storage: any that is coarser decides


Storage = np.dtype | Decimals
Precision = Mapping[str, Storage]
_HALF, _SINGLE = np.dtype("float16"), np.dtype("float32")
_N_HEAD = 100  # values that settle nearly every column at a fraction of the cost
_MOST_PLACES = 9
_ROUNDING = 1e-13  # of the largest value: what arithmetic in float64 may add
_APART = 100.0  # values with the decimals of a column are as many times farther apart
_SHORT = 2.0**16  # whole numbers and few bits, such as halves, look the same in any storage


def stored_precision(
    given: pd.DataFrame, read: pd.DataFrame, *, decimals: bool = False
) -> dict[str, Storage]:
    """Return the storage of each column of numbers that holds fewer digits than float64.

    Parameters
    ----------
    given : DataFrame
        A table as it was given.
    read : DataFrame
        The same table in canonical form.
    decimals : bool, default=False
        Whether to look for columns of few decimals too, as is done in train.

    Returns
    -------
    dict of str to dtype or Decimals
        float32 or float16 by the type of the column, or float32 by its values: those of a generator
        that computes in float32 often come as float64. Columns of float64 are not in it, but for
        those of few decimals.
    """
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
    """Return how many decimals numbers have, rounding errors aside; None if they have too many.

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.tables.precision import few_decimals
    >>> few_decimals(np.array([0.3 - 0.2, 7.0])).places
    1
    >>> few_decimals(np.array([np.pi])) is None
    True
    """
    finite = values[np.isfinite(values)]
    within = _ROUNDING * float(np.abs(finite).max(initial=0.0))
    for places in range(_MOST_PLACES + 1):
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
    """Return a canonical frame with the values that columns have in a coarser storage.

    The columns stay float64. Finite values beyond the range of the storage stay as they are; a
    frame in which nothing changes is returned itself.
    """
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
    if isinstance(dtype, Decimals):
        with np.errstate(invalid="ignore", over="ignore"):
            coarse = np.round(values, dtype.places) + 0.0
            return np.where(np.abs(coarse - values) <= dtype.within, coarse, values)
    with np.errstate(over="ignore", under="ignore"):
        coarse = values.astype(dtype).astype(np.float64)
    return np.where(np.isinf(coarse), values, coarse)


def _is_single(values: np.ndarray) -> bool:
    """Return whether all values are float32 numbers, and not only because they are short."""
    for part in (values[:_N_HEAD], values):
        finite = part[np.isfinite(part)]
        if not np.array_equal(rounded_to(finite, _SINGLE), finite):
            return False
    bits = np.frexp(finite)[0] * _SHORT
    return bool(((finite != np.rint(finite)) & (bits != np.rint(bits))).any())
