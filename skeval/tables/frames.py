"""From whatever table a user has to one canonical frame; all faults of a frame in one sentence.

Canonical means: string column names, a plain row index, float64 numbers, ``datetime64`` dates in
UTC, and categories (booleans too) as pandas categoricals whose levels are strings, the real levels
first. Codes of two tables of one context can therefore be compared.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
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
from skeval.tables.cells import plain_values, read_column, sorted_labels, with_real_levels
from skeval.tables.schema import TableSchema

Levels = Mapping[str, Sequence[str]]
_WANTED = {
    "continuous": "numbers",
    "datetime": "dates",
    "boolean": "true/false, yes/no, y/n, t/f or 1/0",
}
# float64 holds every whole number up to here
_EXACT = 2.0**53


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
    frame: pd.DataFrame,
    schema: TableSchema,
    role: str,
    levels: Levels | None = None,
    *,
    lenient: bool = False,
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
    lenient : bool, default=False
        Whether columns that are absent, or without a value that can be read, count as empty.

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
    absent = [name for name in schema.kinds if name not in frame.columns] if lenient else []
    frame = frame.assign(**dict.fromkeys(absent)) if absent else frame
    columns = {
        name: read_column(frame[name], kind, schema.datetime_formats.get(name))
        for name, kind in schema.kinds.items()
    }
    invalid = {
        name: int((frame[name].notna() & columns[name].isna()).sum())
        for name in schema.columns("continuous", "datetime", "boolean")
    }
    if not lenient:
        _check_types(frame, schema, invalid, role)
    notices = [
        *_unreadable(frame, schema, invalid, role),
        *_infinite(columns, schema, role),
        *_merged(frame, columns, schema, role),
        *_empty({name: columns[name] for name in columns if name not in absent}, role),
    ]
    if absent:
        lacking = f"{role} lacks columns of train, which count as empty: {', '.join(absent)}."
        notices.append(InvalidValueWarning(lacking))
    if extra := [name for name in frame.columns if name not in schema.kinds]:
        notices.append(
            MetricWarning(f"{role} has columns that train lacks; ignored: {', '.join(extra)}.")
        )
    return Conformed(with_levels(pd.DataFrame(columns), levels or {}), tuple(notices))


def with_levels(frame: pd.DataFrame, levels: Levels) -> pd.DataFrame:
    """Return the canonical `frame` with the real levels first in each categorical column."""
    columns = {
        name: with_real_levels(frame[name], real)
        for name, real in levels.items()
        if list(frame[name].cat.categories[: len(real)]) != list(real)
    }
    return frame.assign(**columns)


def learn_levels(frames: Sequence[pd.DataFrame], schema: TableSchema) -> dict[str, list[str]]:
    """Return the levels of each categorical column over all `frames` (canonical), sorted."""
    return {
        name: sorted_labels({label for frame in frames for label in frame[name].cat.categories})
        for name in schema.columns("categorical", "boolean")
    }


def shared_share(train: pd.DataFrame, holdout: pd.DataFrame) -> float:
    """Return the share of holdout rows that occur in train (canonical frames).

    0 means none. Rows are the same if all cells of the measured columns are; text and ids, which
    canonical frames hold as objects, are left out: a key of its own makes no row another.
    """
    measured = train.columns[[not pd.api.types.is_object_dtype(kind) for kind in train.dtypes]]
    if measured.empty:
        return 0.0
    hashes = [
        pd.util.hash_pandas_object(frame[measured], index=False).to_numpy()
        for frame in (train, holdout)
    ]
    return float(np.isin(hashes[1], hashes[0]).mean())


def _check_types(
    frame: pd.DataFrame, schema: TableSchema, invalid: Mapping[str, int], role: str
) -> None:
    real = role in {"train", "holdout"}
    wrong = [
        name
        for name, count in invalid.items()
        if count and (real or count == int(frame[name].notna().sum()))
    ]
    if not wrong:
        return
    named = ", ".join(f"{name} ({_expected(frame[name], schema, invalid[name])})" for name in wrong)
    cure = "Convert them, or pass schema={column: kind} to fit."
    if any(_read_by_format(frame[name], schema) for name in wrong):
        cure += (
            " Where the format of dates is wrong, convert them to real datetimes, or pass "
            "schema=TableSchema({column: kind}, datetime_formats={column: format})."
        )
    raise SchemaMismatchError(
        f"{role} has columns of another type than train or its schema says: {named}. {cure}"
    )


def _expected(values: pd.Series, schema: TableSchema, count: int) -> str:
    name = str(values.name)
    if _read_by_format(values, schema):
        return (
            f"expected dates as {schema.datetime_formats[name]}, "
            f"{count} of {values.notna().sum()} cells do not read so"
        )
    return f"expected {_WANTED[schema.kinds[name]]}, got {values.dtype}"


def _read_by_format(values: pd.Series, schema: TableSchema) -> bool:
    known = values.name in schema.datetime_formats and schema.kinds[str(values.name)] == "datetime"
    return known and pd.api.types.infer_dtype(plain_values(values), skipna=True) == "string"


def _unreadable(
    frame: pd.DataFrame, schema: TableSchema, invalid: Mapping[str, int], role: str
) -> list[MetricWarning]:
    counts = ", ".join(
        f"{name} ({count} cells{_not_as(frame[name], schema)})"
        for name, count in invalid.items()
        if count
    )
    if not counts:
        return []
    return [InvalidValueWarning(f"{role} has cells of another type, counted as missing: {counts}.")]


def _not_as(values: pd.Series, schema: TableSchema) -> str:
    if not _read_by_format(values, schema):
        return ""
    return f", no dates as {schema.datetime_formats[str(values.name)]}"


def _merged(
    frame: pd.DataFrame, columns: Mapping[str, pd.Series], schema: TableSchema, role: str
) -> list[MetricWarning]:
    names = [
        name for name in schema.columns("continuous") if _loses_integers(frame[name], columns[name])
    ]
    if not names:
        return []
    return [
        InvalidValueWarning(
            f"{role} has whole numbers beyond 2**53 that are one as float64: {', '.join(names)}. "
            "Subtract an offset from the columns of all tables, or declare them id or categorical."
        )
    ]


def _loses_integers(values: pd.Series, numbers: pd.Series) -> bool:
    if not (numbers.abs() >= _EXACT).any():
        return False
    values = plain_values(values)
    return (
        pd.api.types.is_integer_dtype(values.dtype)
        or pd.api.types.infer_dtype(values, skipna=True) in {"integer", "mixed-integer-float"}
    ) and values.nunique() > numbers.nunique()


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
