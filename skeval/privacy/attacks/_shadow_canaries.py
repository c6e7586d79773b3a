"""Rows that no table has: what a generator would betray most readily."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from skeval.context import Context
from skeval.schema import Kind

__all__ = ["canaries", "stacked"]

_NAME = "canary"
_LAST = pd.Timestamp.max.floor("us").as_unit("us")


def canaries(context: Context, k: int) -> pd.DataFrame:
    """Return rows with a new label in every category and numbers beyond the largest of train.

    Parameters
    ----------
    context : Context
        Of which train is looked at.
    k : int
        How many, each farther out than the one before.

    Returns
    -------
    DataFrame of shape (k, n_columns)
        In the types of the rows as they were given. Truths are the rarer of the two; a column
        without a value stays without.
    """
    given = context.given("train")
    made = {
        name: _cells(given[name], context.train[name], kind, k)
        for name, kind in context.schema.kinds.items()
    }
    return pd.DataFrame(made)


def _cells(given: pd.Series, read: pd.Series, kind: Kind, k: int) -> pd.Series:
    present = given[read.notna().to_numpy()]
    if present.empty:
        return pd.Series([None] * k, dtype=given.dtype)
    if kind == "boolean":
        rarest = read.value_counts().loc[lambda counts: counts > 0].idxmin()
        place = int(np.argmax(read.to_numpy() == rarest))
        return pd.Series([given.iloc[place]] * k, dtype=given.dtype)
    if kind == "datetime":
        # nanoseconds end in 2262, within a lifetime of many a column
        last = read.max().as_unit("us")
        step = (last - read.min().as_unit("us")) or pd.Timedelta(days=1)
        if pd.api.types.is_datetime64_any_dtype(present) and present.dt.unit == "ns":
            step = min(step, (_LAST - last.tz_localize(None)) / k)
        return _as_given([last + (i + 1) * step for i in range(k)], present)
    if pd.api.types.is_integer_dtype(given.dtype):
        return _whole(given, present, k)
    if pd.api.types.is_numeric_dtype(given.dtype):
        last, step = float(present.max()), float(present.max()) - float(present.min())
        return pd.Series([last + (i + 1) * (step or 1.0) for i in range(k)]).astype(given.dtype)
    if kind == "continuous":
        last, step = float(read.max()), float(read.max() - read.min())
        return _as_given([last + (i + 1) * (step or 1.0) for i in range(k)], present)
    labels: list[Any] = [f"{_NAME}-{i + 1}" for i in range(k)]
    if not isinstance(given.dtype, pd.CategoricalDtype):
        return pd.Series(labels, dtype=given.dtype)
    known = given.cat.categories
    if pd.api.types.is_numeric_dtype(known.dtype):
        labels = [known.max() + i + 1 for i in range(k)]
    ordered = bool(given.cat.ordered)
    return pd.Series(pd.Categorical(labels, categories=[*known, *labels], ordered=ordered))


def _whole(given: pd.Series, present: pd.Series, k: int) -> pd.Series:
    """Return whole numbers beyond the largest; where its type ends before, beyond the least."""
    kind = getattr(given.dtype, "numpy_dtype", given.dtype)
    limits, low, high = np.iinfo(kind), int(present.min()), int(present.max())
    step = max(1, high - low)
    if limits.max - high >= k:
        step = min(step, (limits.max - high) // k)
        return pd.Series([high + (i + 1) * step for i in range(k)], dtype=given.dtype)
    if low - limits.min >= k:
        step = min(step, (low - limits.min) // k)
        return pd.Series([low - (i + 1) * step for i in range(k)], dtype=given.dtype)
    return pd.Series([float(high + (i + 1) * step) for i in range(k)])  # all numbers are taken


def _as_given(values: Sequence[Any], present: pd.Series) -> pd.Series:
    """Write dates and numbers as a column has them: in its type, or as strings."""
    if isinstance(present.iloc[0], str):
        return pd.Series([str(value) for value in values], dtype=present.dtype)
    if present.dtype == object:
        return pd.Series(list(values), dtype=object)
    column = pd.Series(list(values))
    zone = getattr(present.dtype, "tz", None)
    return (column if zone is None else column.dt.tz_localize("UTC")).astype(present.dtype)


def stacked(frames: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Put tables below each other, in one type a column whatever rows are then taken.

    Categories are those of all tables: what a column may hold is known to everybody.
    """
    first, *others = frames
    for name in first.columns:
        kinds = [frame[name].dtype for frame in frames]
        if len(set(kinds)) > 1 and all(isinstance(kind, pd.CategoricalDtype) for kind in kinds):
            every = pd.unique(pd.Series([c for kind in kinds for c in kind.categories]))
            whole = pd.CategoricalDtype(every, ordered=all(kind.ordered for kind in kinds))
            first = first.assign(**{name: first[name].astype(whole)})
            others = [frame.assign(**{name: frame[name].astype(whole)}) for frame in others]
    return pd.concat([first, *others], ignore_index=True)
