"""To how many digits tables are stored, and values of several tables at the coarsest of these.

The float32 copy of 0.1 is not the float64 0.1. Where tables are stored to different precisions,
whether values are equal, and which one is greater, is known to the coarser one only.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np
import pandas as pd

from skeval.tables.columns import with_columns
from skeval.tables.schema import storage_dtype

Precision = Mapping[str, np.dtype]
_HALF, _SINGLE = np.dtype("float16"), np.dtype("float32")
_N_HEAD = 100  # values that settle nearly every column at a fraction of the cost
_SHORT = 2.0**16  # whole numbers and few bits, such as halves, look the same in any storage


def stored_precision(given: pd.DataFrame, read: pd.DataFrame) -> dict[str, np.dtype]:
    """Return the storage of each column of numbers that holds fewer digits than float64.

    Parameters
    ----------
    given : DataFrame
        A table as it was given.
    read : DataFrame
        The same table in canonical form.

    Returns
    -------
    dict of str to dtype
        float32 or float16 by the type of the column, or float32 by its values: those of a generator
        that computes in float32 often come as float64. Columns of float64 are not in it.
    """
    precision, present = {}, set(given.columns)
    for name, dtype in zip(read.columns, read.dtypes, strict=True):
        if dtype.kind != "f" or name not in present:
            continue
        stored = storage_dtype(given[name])
        if stored in {_HALF, _SINGLE}:
            precision[name] = stored
        elif stored.kind not in "biu" and _is_single(read[name].to_numpy()):
            precision[name] = _SINGLE
    return precision


def coarsest(precisions: Iterable[Precision]) -> dict[str, np.dtype]:
    """Return the coarsest storage of each column over several tables."""
    coarse: dict[str, np.dtype] = {}
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
    return with_columns(frame, rounded) if rounded else frame


def rounded_to(values: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """Return float64 values as `dtype` stores them, those beyond its range as they are."""
    with np.errstate(over="ignore", under="ignore"):
        coarse = values.astype(dtype).astype(np.float64)
    return np.where(np.isinf(coarse), values, coarse)


def _is_single(values: np.ndarray) -> bool:
    """Tell whether all values are float32 numbers, and not only because they are short."""
    for part in (values[:_N_HEAD], values):
        finite = part[np.isfinite(part)]
        if not np.array_equal(rounded_to(finite, _SINGLE), finite):
            return False
    bits = np.frexp(finite)[0] * _SHORT
    return bool(((finite != np.rint(finite)) & (bits != np.rint(bits))).any())
