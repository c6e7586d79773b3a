"""From whatever table a user has to one canonical frame; all faults of a frame in one sentence.

Canonical means: string column names, a plain row index, float64 numbers, ``datetime64`` dates in
UTC, and categories (booleans too) as pandas categoricals whose levels are strings, the real levels
first. Codes of two tables of one context can therefore be compared.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np
import pandas as pd

from skeval.exceptions import (
    DegenerateInputWarning,
    InvalidValueWarning,
    MetricWarning,
    SchemaMismatchError,
    TableError,
)
from skeval.schema import Kind, TableSchema, datetime_format

__all__ = [
    "Levels",
    "as_frame",
    "check_columns",
    "conform",
    "learn_levels",
    "shared_share",
    "with_levels",
]

Levels = Mapping[str, Sequence[str]]

_WANTED = {
    "continuous": "numbers",
    "datetime": "dates",
    "boolean": "true or false",
}
BOOLEAN_LEVELS = ("False", "True")
_TRUTH = {"true": "True", "1": "True", "false": "False", "0": "False"}


def as_frame(table: Any, role: str) -> pd.DataFrame:
    """Return `table` as a pandas frame with string names and a plain index; the input is untouched.

    Parameters
    ----------
    table : pandas, polars or pyarrow table
        Others than pandas go through narwhals, an optional dependency.
    role : str
        How messages call the table: train, holdout or synthetic.

    Returns
    -------
    DataFrame

    Raises
    ------
    TableError
        If it is no table, has no rows or columns, or has a column name twice.
    """
    frame = table if isinstance(table, pd.DataFrame) else _through_narwhals(table, role)
    names = [str(name) for name in frame.columns]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise TableError(
            f"{role} has columns of the same name: {', '.join(twice)}. Rename or drop one of each."
        )
    if frame.shape[0] == 0 or frame.shape[1] == 0:
        raise TableError(
            f"{role} has {frame.shape[0]} rows and {frame.shape[1]} columns; "
            "at least one row and one column are needed."
        )
    return frame.set_axis(names, axis="columns").reset_index(drop=True)


def _through_narwhals(table: Any, role: str) -> pd.DataFrame:
    wrong = TableError(
        f"{role} must be a pandas, polars or pyarrow table, got {type(table).__name__}. "
        "Wrap arrays and lists: pandas.DataFrame(rows, columns=names)."
    )
    if type(table).__module__.split(".")[0] not in {
        "polars",
        "pyarrow",
        "modin",
        "cudf",
        "duckdb",
        "dask",
        "ibis",
    }:
        raise wrong
    try:
        import narwhals as nw
    except ImportError as error:
        raise TableError(
            f"{role} is a {type(table).__module__.split('.')[0]} table, read through narwhals. "
            'Install it: pip install "skeval[tables]".'
        ) from error
    try:
        native = nw.from_native(table)
    except TypeError as error:
        raise wrong from error
    frame: pd.DataFrame = (
        native.collect() if isinstance(native, nw.LazyFrame) else native
    ).to_pandas()
    return frame


def check_columns(frame: pd.DataFrame, names: Sequence[str], role: str, *, exact: bool) -> None:
    """Raise one error for all columns that are missing, and for unexpected ones if `exact`."""
    missing = [name for name in names if name not in frame.columns]
    extra = [name for name in frame.columns if name not in set(names)]
    faults = []
    if missing:
        faults.append(f"misses {', '.join(_with_near_name(name, extra) for name in missing)}")
    if extra and exact:
        faults.append(f"has unexpected {', '.join(extra)}")
    if faults:
        raise SchemaMismatchError(
            f"{role} does not have the columns of train: it {' and '.join(faults)}. "
            f"Rename, add or drop columns so that {role} has those of train."
        )


def _with_near_name(name: str, candidates: Sequence[str]) -> str:
    near = difflib.get_close_matches(name, candidates, n=1)
    return f"{name} (did you mean {near[0]}?)" if near else name


@dataclass(frozen=True)
class Conformed:
    """A canonical frame and what had to be said about it."""

    frame: pd.DataFrame
    notices: tuple[MetricWarning, ...]


def conform(
    frame: pd.DataFrame, schema: TableSchema, role: str, levels: Levels | None = None
) -> Conformed:
    """Read each column of `frame` as its kind.

    Parameters
    ----------
    frame : DataFrame
        As :func:`as_frame` returns it; it has all columns of the schema.
    schema : TableSchema
        The kinds to read the columns as.
    role : str
        The table's role. Real tables (train, holdout) with infinities or unreadable cells are
        refused, synthetic ones are used, with a warning.
    levels : mapping of str to sequence of str, optional
        The real levels of each categorical column; levels beyond them are appended, sorted.

    Returns
    -------
    Conformed

    Raises
    ------
    SchemaMismatchError
        If a column holds no value that its kind can be read from, all such columns at once.
    TableError
        If a real table has infinite values.
    """
    columns = {name: _read(frame[name], kind, schema) for name, kind in schema.kinds.items()}
    invalid = {
        name: int((frame[name].notna() & columns[name].isna()).sum())
        for name in schema.columns("continuous", "datetime", "boolean")
    }
    _check_types(frame, schema, invalid, role)
    notices = [
        *_unreadable(invalid, role),
        *_infinite(columns, schema, role),
        *_empty(columns, role),
    ]
    if extra := [name for name in frame.columns if name not in schema.kinds]:
        notices.append(
            MetricWarning(f"{role} has columns that train lacks; ignored: {', '.join(extra)}.")
        )
    return Conformed(with_levels(pd.DataFrame(columns), levels or {}), tuple(notices))


def with_levels(frame: pd.DataFrame, levels: Levels) -> pd.DataFrame:
    """Return the canonical `frame` with the real levels first in each categorical column."""
    columns = {
        name: _with_levels(frame[name], real)
        for name, real in levels.items()
        if list(frame[name].cat.categories[: len(real)]) != list(real)
    }
    return frame.assign(**columns)


def learn_levels(frames: Sequence[pd.DataFrame], schema: TableSchema) -> dict[str, list[str]]:
    """Return the levels of each categorical column over all `frames` (canonical), sorted."""
    return {
        name: _sorted_labels({label for frame in frames for label in frame[name].cat.categories})
        for name in schema.columns("categorical", "boolean")
    }


def shared_share(train: pd.DataFrame, holdout: pd.DataFrame) -> float:
    """Return the share of holdout rows that occur, cell by cell, in train (canonical frames)."""
    hashes = [
        pd.util.hash_pandas_object(frame, index=False).to_numpy() for frame in (train, holdout)
    ]
    return float(np.isin(hashes[1], hashes[0]).mean())


def _read(values: pd.Series, kind: Kind, schema: TableSchema) -> pd.Series:
    if kind == "continuous":
        return _read_numbers(values)
    if kind == "datetime":
        return _read_dates(values, schema.datetime_formats.get(str(values.name)))
    if kind in {"categorical", "boolean"}:
        return _read_labels(values, boolean=kind == "boolean")
    return values.astype(object).where(values.notna(), None)


def _read_numbers(values: pd.Series) -> pd.Series:
    if pd.api.types.is_timedelta64_dtype(values.dtype):
        return values.dt.total_seconds().astype("float64")
    if pd.api.types.is_datetime64_any_dtype(values.dtype):
        return pd.Series(np.nan, index=values.index, dtype="float64")
    if pd.api.types.infer_dtype(values, skipna=True) == "timedelta":
        return pd.to_timedelta(values).dt.total_seconds().astype("float64")
    if not pd.api.types.is_numeric_dtype(values.dtype):
        values = pd.to_numeric(values.astype(object).where(values.notna(), None), errors="coerce")
    return pd.Series(values.to_numpy(dtype="float64", na_value=np.nan), index=values.index)


def _read_dates(values: pd.Series, form: str | None) -> pd.Series:
    if pd.api.types.is_numeric_dtype(values.dtype):
        dates = pd.Series(pd.NaT, index=values.index, dtype="datetime64[us, UTC]")
    elif pd.api.types.infer_dtype(values, skipna=True) != "string":
        dates = pd.to_datetime(values, errors="coerce", utc=True)
    else:
        dates = _read_date_strings(values, form)
    return dates.astype("datetime64[us, UTC]").dt.tz_localize(None)


def _read_date_strings(values: pd.Series, form: str | None) -> pd.Series:
    """Read in the schema's format; where that reads nothing, in the strings' own."""
    dates = pd.to_datetime(values, format=form or "ISO8601", errors="coerce", utc=True)
    if dates.notna().any() or (own := datetime_format(values)) is None:
        return dates
    return pd.to_datetime(values, format=own, errors="coerce", utc=True)


def _read_labels(values: pd.Series, *, boolean: bool) -> pd.Series:
    try:
        codes, distinct = pd.factorize(values, use_na_sentinel=True)
    except TypeError as error:
        raise TableError(
            f"{values.name} holds values that are no categories ({error}). "
            "Flatten the column or drop it."
        ) from error
    labels: list[str | None] = [_label(value) for value in distinct]
    if boolean:
        labels = [_TRUTH.get(str(label).strip().lower()) for label in labels]
    levels = (
        BOOLEAN_LEVELS
        if boolean
        else _sorted_labels({label for label in labels if label is not None})
    )
    return _recoded(codes, labels, levels)


def _recoded(codes: np.ndarray, labels: Sequence[str | None], levels: Sequence[str]) -> pd.Series:
    """Return the categorical whose row i is `labels[codes[i]]`, missing where that is no level."""
    position = {level: i for i, level in enumerate(levels)}
    lookup = np.array([*(position.get(label, -1) for label in labels), -1])  # type: ignore[arg-type]
    return pd.Series(
        pd.Categorical.from_codes(lookup[codes], categories=pd.Index(levels, dtype=object))
    )


def _label(value: object) -> str:
    """Name a category so that 1, 1.0 and true integers agree, whatever their type was."""
    if isinstance(value, bool | np.bool_):
        return str(bool(value))
    if isinstance(value, Integral):
        return str(int(value))
    if isinstance(value, Real):
        number = float(value)
        return str(int(number)) if number.is_integer() else repr(number)
    return value.isoformat() if isinstance(value, pd.Timestamp) else str(value)


def _with_levels(values: pd.Series, real: Sequence[str]) -> pd.Series:
    """Put the real levels first and the others, sorted, behind them."""
    present, known = list(values.cat.categories), set(real)
    # "1.0" written by a generator is the level 1 of a column of integer codes
    same = {label: _label(number) for label in present if (number := _number(label)) is not None}
    renamed = [
        same[label] if label not in known and same.get(label) in known else label
        for label in present
    ]
    unseen = _sorted_labels({label for label in renamed if label not in known})
    return _recoded(values.cat.codes.to_numpy(), renamed, [*real, *unseen])


def _number(label: str) -> float | None:
    try:
        number = float(label)
    except ValueError:
        return None
    return number if np.isfinite(number) else None


def _sorted_labels(labels: set[str] | Sequence[str]) -> list[str]:
    """Sort numbers by size, then the rest by name."""
    numbers = {label: _number(label) for label in labels}
    return sorted(labels, key=lambda label: (numbers[label] is None, numbers[label] or 0.0, label))


def _check_types(
    frame: pd.DataFrame, schema: TableSchema, invalid: Mapping[str, int], role: str
) -> None:
    real = role in {"train", "holdout"}
    wrong = [
        f"{name} (expected {_WANTED[schema.kinds[name]]}, got {frame[name].dtype})"
        for name, count in invalid.items()
        if count and (real or count == int(frame[name].notna().sum()))
    ]
    if wrong:
        raise SchemaMismatchError(
            f"{role} has columns of another type than train or its schema says: "
            f"{', '.join(wrong)}. "
            "Convert them, or pass schema={column: kind} to fit."
        )


def _unreadable(invalid: Mapping[str, int], role: str) -> list[MetricWarning]:
    counts = ", ".join(f"{name} ({count} cells)" for name, count in invalid.items() if count)
    if not counts:
        return []
    return [InvalidValueWarning(f"{role} has cells of another type, counted as missing: {counts}.")]


def _infinite(
    columns: Mapping[str, pd.Series], schema: TableSchema, role: str
) -> list[MetricWarning]:
    names = [
        name for name in schema.columns("continuous") if np.isinf(columns[name].to_numpy()).any()
    ]
    if names and role in {"train", "holdout"}:
        raise TableError(
            f"{role} has infinite values in {', '.join(names)}. "
            "Replace them by missing values or finite ones."
        )
    if not names:
        return []
    return [
        InvalidValueWarning(
            f"{role} has infinite values, taken as beyond all real ones: {', '.join(names)}."
        )
    ]


def _empty(columns: Mapping[str, pd.Series], role: str) -> list[MetricWarning]:
    names = [name for name, values in columns.items() if values.isna().all()]
    if not names:
        return []
    return [
        DegenerateInputWarning(
            f"{role} has no value at all in {', '.join(names)}. "
            "Drop the columns from all tables, or fill them."
        )
    ]


def is_canonical(frame: pd.DataFrame, schema: TableSchema) -> bool:
    """Tell whether every measured column already has its canonical type."""
    wanted = {"continuous": np.dtype("float64"), "datetime": np.dtype("datetime64[us]")}
    return all(
        isinstance(frame[name].dtype, pd.CategoricalDtype)
        and all(isinstance(label, str) for label in frame[name].cat.categories)
        if kind in {"categorical", "boolean"}
        else frame[name].dtype == wanted.get(kind, frame[name].dtype)
        for name, kind in schema.kinds.items()
    )
