"""Conversion of columns to pandas types in which their cells can be compared."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import reduce
from typing import Any

import numpy as np
import pandas as pd

from skeval.exceptions import InvalidParameterError

Value = Any  # a column or a literal: str, bool, int, float, Timestamp or Timedelta

_ISO = re.compile(r"[0-9]{4}-[0-9]{2}(-[0-9]{2}([T ][0-9:.]+)?)?(Z|[+-][0-9]{2}:?[0-9]{2})?")
_LENGTH = re.compile(r"[-+]?[0-9]+(\.[0-9]+)? ?[A-Za-z]+( [0-9:. A-Za-z]+)?|[0-9]+(:[0-9.]+)+")
_TEXT = pd.StringDtype("python")  # Arrow cannot store surrogates
_KINDS = {**dict.fromkeys("iuf", "number"), "b": "truth", "M": "date", "m": "span"}
_NUMBERS = ("integer", "floating", "mixed-integer-float", "decimal")
_DATES = ("datetime", "datetime64", "date")
_EQUALITY = (operator.eq, operator.ne)
_SIGNS = {
    **{operator.add: "+", operator.sub: "-", operator.mul: "*", operator.truediv: "/"},
    **{operator.floordiv: "//", operator.mod: "%", operator.pow: "**"},
}
_OF_CALENDARS = {
    operator.add: (("date", "span"), ("span", "date"), ("span", "span")),
    operator.sub: (("date", "date"), ("date", "span"), ("span", "span")),
}


def typed_cells(values: pd.Series) -> pd.Series:
    """Return a column in the type that fits its cells, or as objects if the cells are mixed."""
    dtype = values.dtype
    if isinstance(dtype, pd.CategoricalDtype) and len(dtype.categories):
        levels = typed_cells(pd.Series(dtype.categories))
        if dtype.ordered:
            return values.reset_index(drop=True).cat.rename_categories(pd.Index(levels))
        return levels.reindex(values.cat.codes).reset_index(drop=True)
    values = values.reset_index(drop=True)
    values = values.astype(object) if isinstance(dtype, pd.CategoricalDtype) else values
    kind = pd.api.types.infer_dtype(values, skipna=True)
    if kind == "boolean":
        return values.astype("boolean")
    if kind == "integer" and dtype.kind in "iu":
        return values.astype("UInt64" if dtype.kind == "u" else "Int64")
    with suppress(OverflowError, TypeError, ValueError):  # what is left are texts
        if kind in _NUMBERS:
            return _as_float(values)
        if kind in _DATES:
            return pd.Series(pd.DatetimeIndex(pd.to_datetime(values)).as_unit("us"))
        if kind in ("timedelta", "timedelta64"):
            return pd.Series(pd.TimedeltaIndex(pd.to_timedelta(values)).as_unit("us"))
    if kind not in ("string", "empty"):
        values = values.astype(object).map(_plain_cell, na_action="ignore")
        kind = pd.api.types.infer_dtype(values, skipna=True)
    return values.astype(_TEXT) if kind in ("string", "empty") else values


def _plain_cell(cell: Any) -> Any:
    return cell if isinstance(cell, str | bool | int | float) else str(cell)


def moment(text: str) -> pd.Timestamp:
    """Return a date that is written in a rule."""
    try:
        if not _ISO.fullmatch(text.strip()):
            raise ValueError(text)
        return pd.Timestamp(text.strip()).as_unit("us")
    except (ValueError, TypeError, OverflowError) as error:
        raise InvalidParameterError(
            f"compares a date with {text[:40]!r}, which is not a date such as '2024-01-31'"
        ) from error


def _length(text: str) -> pd.Timedelta:
    try:
        if not _LENGTH.fullmatch(text.strip()):
            raise ValueError(text)
        return pd.Timedelta(text.strip())
    except (ValueError, OverflowError) as error:
        raise InvalidParameterError(
            f"compares a length of time with {text[:40]!r}, which is not a length such as '3 days'"
        ) from error


def kind_of(value: Value) -> str:
    """Return "number", "text", "date", "span" (a length of time), "truth" or "mixture"."""
    dtype = value.dtype if isinstance(value, pd.Series) else pd.array([value]).dtype
    if isinstance(dtype, pd.CategoricalDtype):
        dtype = dtype.categories.dtype
    return _KINDS.get(dtype.kind, "text" if isinstance(dtype, pd.StringDtype) else "mixture")


def kind_in_words(value: Value) -> str:
    """Return the name of a value's type for messages."""
    kind = kind_of(value)
    return {"span": "a length of time", "truth": "a truth value"}.get(kind, f"a {kind}")


def compare_cells(compare: Callable[[Any, Any], Any], left: Value, right: Value) -> Value:
    """Return in which rows a comparison is true. Comparisons with missing cells are false."""
    left, right = _alike(left, right)
    kinds = {kind_of(left), kind_of(right)}
    if len(kinds) > 1 and "mixture" not in kinds and kinds != {"number", "truth"}:
        raise InvalidParameterError(f"compares {kind_in_words(left)} with {kind_in_words(right)}")
    if compare not in _EQUALITY:
        if "mixture" in kinds:
            raise InvalidParameterError("orders a column that mixes texts and numbers")
        left, right = _ranks(left, right)
    left, right = without_order(left), without_order(right)
    return compare(left, right) & pd.notna(left) & pd.notna(right)


def is_member(cells: Value, members: Sequence[Value]) -> Value:
    """Return which cells are among the literals. Missing cells are not."""
    is_column = isinstance(cells, pd.Series)
    if is_column and kind_of(cells) == "text" and all(isinstance(one, str) for one in members):
        return cells.isin(members)
    return reduce(operator.or_, (compare_cells(operator.eq, cells, one) for one in members))


def combine_cells(compute: Callable[[Any, Any], Any], left: Value, right: Value) -> Value:
    """Return the result of an arithmetic operation, computed with floats or with dates."""
    kinds = kind_of(left), kind_of(right)
    if set(kinds) <= {"number", "truth"}:
        left, right = _as_float(left), _as_float(right)
        result = compute(left, right)
        missing = pd.isna(left) | pd.isna(right)  # a power of 0 would be 1 there
        return result.mask(missing) if isinstance(result, pd.Series) else result
    if kinds in _OF_CALENDARS.get(compute, ()):
        return compute(*_alike(left, right))
    sign = _SIGNS[compute]
    raise InvalidParameterError(f"computes {kind_in_words(left)} {sign} {kind_in_words(right)}")


def _as_float(value: Value) -> Value:
    if isinstance(value, pd.Series):
        return pd.Series(without_order(value).to_numpy("float64", na_value=np.nan))
    return np.float64(value)  # divides by zero as columns do


def _alike(left: Value, right: Value) -> tuple[Value, Value]:
    """Return two values with texts read as dates, and dates converted to the same time zone."""
    left, right = _read_literal(left, kind_of(right)), _read_literal(right, kind_of(left))
    return _localize(left, _zone_of(right)), _localize(right, _zone_of(left))


def _read_literal(value: Value, kind: str) -> Value:
    if isinstance(value, str) and kind in ("date", "span"):
        return moment(value) if kind == "date" else _length(value)
    return value


def _localize(value: Value, zone: Any) -> Value:
    """Return a date in a time zone. Dates of columns without a zone are treated as UTC."""
    if zone is None or kind_of(value) != "date" or _zone_of(value) is not None:
        return value
    if isinstance(value, pd.Series):
        return value.dt.tz_localize("UTC")
    try:
        return value.tz_localize(zone)
    except ValueError as error:  # clocks are changed then
        raise InvalidParameterError(
            f"compares a date with '{value}', which does not exist, or exists twice, in {zone}"
        ) from error


def _zone_of(value: Value) -> Any:
    return getattr(getattr(value, "dt", value), "tz", None)


def _ranks(left: Value, right: Value) -> tuple[Value, Value]:
    """Return the ranks of ordered categories instead of their names."""
    both = left, right
    orders = [
        one.dtype for one in both if isinstance(getattr(one, "dtype", 0), pd.CategoricalDtype)
    ]
    if not orders:
        return both
    if orders[0] != orders[-1]:
        raise InvalidParameterError("orders two columns whose categories are ordered differently")
    levels, ranks = orders[0].categories, []
    for one in map(without_order, both):
        if isinstance(one, pd.Series):  # an unknown category is not equal to any category
            places = pd.Series(levels.get_indexer(one))
            ranks.append(places.where(places >= 0))
        elif one in levels:
            ranks.append(levels.get_loc(one))
        else:
            raise InvalidParameterError(f"'{one}' is not one of the ordered categories")
    return ranks[0], ranks[1]


def without_order(value: Value) -> Value:
    """Return an ordered category as a column of its labels, and other values unchanged."""
    is_ordered = isinstance(getattr(value, "dtype", None), pd.CategoricalDtype)
    return typed_cells(value.cat.as_unordered()) if is_ordered else value
