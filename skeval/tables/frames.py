"""Canonical frames, which make the values and codes of several tables comparable.

Canonical frames have string column names, a default row index, float64 numbers, ``datetime64``
dates in UTC, and pandas categoricals of strings for categories and booleans. The categories of the
real data come first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from skeval.exceptions import MetricWarning
from skeval.tables.cells import is_plain
from skeval.tables.columns_by_kind import read_column, with_real_levels
from skeval.tables.levels import levels_together
from skeval.tables.oddities import MAX_NUMBER, Oddities, check_columns, with_infinities
from skeval.tables.one_table import as_frame
from skeval.tables.schema import Kind, TableSchema
from skeval.tables.set_columns import with_columns

Levels = Mapping[str, Sequence[str]]
_DTYPES = {"continuous": np.dtype("float64"), "datetime": np.dtype("datetime64[us]")}


def conform(
    frame: pd.DataFrame,
    schema: TableSchema,
    role: str,
    levels: Levels | None = None,
    *,
    lenient: bool = False,
) -> tuple[pd.DataFrame, tuple[MetricWarning, ...]]:
    """Read each column of `frame` as its type, and return warnings about the table."""
    oddities = Oddities(schema, role, list(frame.columns), lenient=lenient)
    frame = with_columns(frame, dict.fromkeys(oddities.absent)) if oddities.absent else frame
    read = read_as(frame, schema, levels or {}, oddities=oddities)
    return read, oddities.notices()


def read_as(
    frame: pd.DataFrame,
    schema: TableSchema,
    levels: Levels,
    *,
    names: Sequence[str] | None = None,
    oddities: Oddities | None = None,
) -> pd.DataFrame:
    """Read columns as their types, and collect problems in `oddities`.

    `names` are the columns to read, by default all columns of the schema.
    """
    columns = {}
    for name in schema.kinds if names is None else names:
        given = frame[name]
        if oddities is None:
            columns[name] = read_alone(given, schema, name, levels.get(name))
        else:
            form = schema.datetime_formats.get(name)
            read = read_column(given, schema.kinds[name], form, levels.get(name))
            columns[name] = oddities.add(given, read)
    # Series would be aligned by index, and arrays of objects would be converted to strings.
    plain = {n: c if c.dtype == object else c.array for n, c in columns.items()}
    return pd.DataFrame(plain, copy=False)


def read_alone(
    given: pd.Series, schema: TableSchema, name: str, real: Sequence[str] | None = None
) -> pd.Series:
    """Return a column read as its type, with numbers beyond the limit as infinite."""
    read = read_column(given, schema.kinds[name], schema.datetime_formats.get(name), real)
    if read.dtype != np.float64 or not (np.abs(read.to_numpy()) > MAX_NUMBER).any():
        return read
    return with_infinities(read)


def without_unread(given: pd.DataFrame, read: pd.DataFrame) -> pd.DataFrame:
    """Return the original table, with unreadable cells replaced by missing values."""
    masks = {
        name: read[name].isna().to_numpy() & given[name].notna().to_numpy(dtype=bool)
        for name in read
        if name in given.columns and not is_plain(given[name].dtype)
    }
    masked = {
        name: read[name] if read[name].dtype == np.float64 else given[name].mask(mask, None)
        for name, mask in masks.items()
        if mask.any()
    }
    return with_columns(given, masked) if masked else given


def canonical(
    frame: pd.DataFrame, schema: TableSchema, role: str, levels: Levels | None = None
) -> pd.DataFrame:
    """Return the canonical form of `frame`, or `frame` itself if it is canonical already."""
    check_columns(list(frame.columns), list(schema.kinds), role, exact=False)
    for name, kind in schema.kinds.items():
        dtype = frame[name].dtype
        if kind in {"categorical", "boolean"}:
            read = isinstance(dtype, pd.CategoricalDtype) and all(
                isinstance(label, str) for label in dtype.categories
            )
        else:
            read = dtype == _DTYPES.get(kind, dtype)
        if not read:
            return conform(frame, schema, role, levels)[0]
    return with_levels(frame[list(schema.kinds)], levels or {})


def column_values(values: pd.Series) -> np.ndarray:
    """Return a canonical column as float64 (numbers, seconds since 1970 or codes, or nan)."""
    if isinstance(values.dtype, pd.CategoricalDtype):
        codes = values.array.codes.astype(np.float64)
        codes[codes < 0] = np.nan
        return codes
    if values.dtype.kind == "M":
        seconds = values.to_numpy("datetime64[us]").astype(np.int64) / 1e6
        seconds[values.isna().to_numpy()] = np.nan
        return seconds
    return values.to_numpy(dtype=np.float64)


def learned_frame(
    table: Any, schema: TableSchema | Mapping[str, Kind] | None
) -> tuple[pd.DataFrame, TableSchema, dict[str, list[str]]]:
    """Return the canonical training table, and the types and categories of its columns."""
    frame = as_frame(table, "train")
    complete = TableSchema.infer(frame, schema)
    frame = canonical(frame, complete, "train")
    levels = learn_levels([frame], complete)
    return with_levels(frame, levels), complete, levels


def with_levels(frame: pd.DataFrame, levels: Levels) -> pd.DataFrame:
    """Return the canonical `frame` with the real categories first in each categorical column."""
    dtypes = dict(zip(frame.columns, frame.dtypes, strict=True))
    columns = {
        name: with_real_levels(frame[name], real)
        for name, real in levels.items()
        if dtypes[name].categories.tolist()[: len(real)] != list(real)
    }
    return with_columns(frame, columns) if columns else frame


def learn_levels(frames: Sequence[pd.DataFrame], schema: TableSchema) -> dict[str, list[str]]:
    """Return the categories of each categorical column over all frames, train first."""
    return levels_together(*(levels_of(frame, schema) for frame in frames))[0]


def levels_of(frame: pd.DataFrame, schema: TableSchema) -> dict[str, list[str]]:
    """Return the categories of each categorical column of a canonical table."""
    dtypes = dict(zip(frame.columns, frame.dtypes, strict=True))
    names = schema.columns("categorical", "boolean")
    return {name: dtypes[name].categories.tolist() for name in names}
