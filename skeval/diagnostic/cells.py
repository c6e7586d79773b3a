"""Cells of a column as arrays that numpy compares and computes with, and missing cells apart."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import reduce
from typing import Any, Literal

import numpy as np
import pandas as pd
from pandas.api import types

from skeval.exceptions import InvalidParameterError

Kind = Literal["number", "text", "date", "span", "truth", "mixture"]
_NONE = np.array(False)
_MICROSECOND = "datetime64[us]"
_SPAN = "timedelta64[us]"
_ISO = re.compile(r"[0-9]{4}-[0-9]{2}(-[0-9]{2}([T ][0-9:.]+)?)?(Z|[+-][0-9]{2}:?[0-9]{2})?")
_LENGTH = re.compile(r"[-+]?[0-9]+(\.[0-9]+)? ?[A-Za-z]+( [0-9:. A-Za-z]+)?|[0-9]+(:[0-9.]+)+")
_OF_NUMBERS: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "//": operator.floordiv,
    "%": operator.mod,
    "**": operator.pow,
}
_EQUALITY = (operator.eq, operator.ne)


@dataclass(frozen=True, eq=False)
class Cells:
    """The cells of a column, or of a literal: arrays of one element."""

    kind: Kind
    data: np.ndarray
    missing: np.ndarray = field(default_factory=lambda: _NONE)
    order: tuple[object, ...] = ()
    zone: Any = None
    is_literal: bool = False


def literal(value: float | str | bool) -> Cells:
    """Return a literal as cells."""
    if isinstance(value, str):
        return Cells("text", np.array(value, dtype=object), is_literal=True)
    if isinstance(value, bool):
        return Cells("truth", np.array(value), is_literal=True)
    fits = isinstance(value, int) and -(2**63) <= value < 2**63
    return Cells("number", np.array(value, "int64" if fits else "float64"), is_literal=True)


def moment(text: str, zone: Any = None) -> np.ndarray:
    """Return a date that is written in a rule; without an offset it is one of the zone."""
    try:
        if not _ISO.fullmatch(text.strip()):
            raise ValueError(text)
        read = pd.Timestamp(text.strip())
        if read.tzinfo is None and zone is not None:
            read = read.tz_localize(zone)
        if read.tzinfo is not None:
            read = read.tz_convert("UTC").tz_localize(None)
        return np.array(read.to_datetime64().astype(_MICROSECOND))
    except (ValueError, TypeError, OverflowError) as error:
        shown = text[:40]
        raise InvalidParameterError(
            f"compares a date with {shown!r}, which is none such as '2024-01-31'"
        ) from error


def _length(text: str) -> np.ndarray:
    try:
        if not _LENGTH.fullmatch(text.strip()):
            raise ValueError(text)
        return np.array(pd.Timedelta(text.strip()).to_timedelta64().astype(_SPAN))
    except (ValueError, OverflowError) as error:
        raise InvalidParameterError(
            f"compares a length of time with {text[:40]!r}, which is none such as '3 days'"
        ) from error


# ------------------------------------------------------------------------------------- columns


def cells_of(values: pd.Series) -> Cells:
    """Return the cells of a column of any storage."""
    dtype = values.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        return _of_codes(values)
    missing = values.isna().to_numpy(dtype=bool)
    if types.is_bool_dtype(dtype):
        return Cells("truth", values.fillna(False).to_numpy(dtype=bool), missing)
    if types.is_integer_dtype(dtype):
        unsigned = types.is_unsigned_integer_dtype(dtype)
        return Cells("number", _to_array(values, 0, "uint64" if unsigned else "int64"), missing)
    if types.is_float_dtype(dtype):
        return Cells("number", _to_array(values, np.nan, "float64"), missing)
    if types.is_datetime64_any_dtype(dtype):
        return _of_dates(values, missing)
    if types.is_timedelta64_dtype(dtype):
        return Cells("span", values.to_numpy().astype(_SPAN), missing)
    return _of_objects(values.astype(object), missing)


def _to_array(values: pd.Series, value: float, dtype: str) -> np.ndarray:
    plain = isinstance(values.dtype, np.dtype)
    return values.to_numpy(dtype=dtype) if plain else values.to_numpy(dtype=dtype, na_value=value)


def _of_dates(values: pd.Series, missing: np.ndarray) -> Cells:
    dates = pd.DatetimeIndex(values)
    zone = dates.tz
    if zone is not None:
        dates = dates.tz_convert("UTC").tz_localize(None)
    return Cells("date", dates.to_numpy().astype(_MICROSECOND), missing, zone=zone)


def _of_codes(values: pd.Series) -> Cells:
    """Return the cells of a category: those of its levels, by code."""
    levels = values.cat.categories
    codes = values.cat.codes.to_numpy()
    if not len(levels):
        return Cells("text", np.full(len(codes), "", dtype=object), codes < 0)
    own = cells_of(pd.Series(levels))
    order = tuple(own.data.tolist()) if values.cat.ordered else ()
    return Cells(own.kind, own.data[np.maximum(codes, 0)], codes < 0, order, own.zone)


def _of_objects(values: pd.Series, missing: np.ndarray) -> Cells:
    kind = types.infer_dtype(values, skipna=True)
    if kind == "boolean":
        return Cells("truth", values.eq(True).to_numpy(dtype=bool), missing)
    if kind in ("integer", "floating", "mixed-integer-float", "decimal"):
        with suppress(OverflowError, TypeError, ValueError):
            return Cells("number", values.to_numpy("float64", na_value=np.nan), missing)
    if kind in ("datetime", "datetime64", "date"):
        with suppress(OverflowError, TypeError, ValueError):
            return _of_dates(pd.to_datetime(values), missing)
    if kind in ("timedelta", "timedelta64"):
        return Cells("span", pd.to_timedelta(values).to_numpy().astype(_SPAN), missing)
    texts = [
        "" if gone else cell if isinstance(cell, str | bool | int | float) else str(cell)
        for cell, gone in zip(values, missing, strict=True)
    ]
    data = np.empty(len(texts), dtype=object)
    data[:] = texts
    return Cells("text" if all(isinstance(t, str) for t in texts) else "mixture", data, missing)


# ------------------------------------------------------------------- comparing and computing


def kind_in_words(cells: Cells) -> str:
    """Return what cells are called in messages."""
    return {"span": "a length of time", "truth": "a truth value"}.get(cells.kind, f"a {cells.kind}")


def compare_cells(compare: Callable[[Any, Any], Any], left: Cells, right: Cells) -> np.ndarray:
    """Return where a comparison holds; with missing cells it does not."""
    left, right = _alike(left, right)
    if "mixture" in (left.kind, right.kind) and compare not in _EQUALITY:
        raise InvalidParameterError("orders a column that mixes texts and numbers")
    if (left.order or right.order) and compare not in _EQUALITY:
        left, right = _ranks(left, right)
    holds = np.asarray(compare(left.data, right.data), dtype=bool)
    present: np.ndarray = holds & ~(left.missing | right.missing)
    return present


def is_member(cells: Cells, members: Sequence[Cells]) -> np.ndarray:
    """Return which cells are among literals; missing ones are not."""
    if cells.kind == "text" and all(one.kind == "text" for one in members):
        known = {one.data.item() for one in members}
        flat = np.fromiter((cell in known for cell in cells.data.flat), bool, cells.data.size)
        found: np.ndarray = flat.reshape(cells.data.shape) & ~cells.missing
        return found
    # one at a time: a table of these would have a column a member
    holds = (compare_cells(operator.eq, cells, one) for one in members)
    return reduce(np.logical_or, holds)


def combine_cells(sign: str, left: Cells, right: Cells) -> Cells:
    """Return the result of arithmetic: of numbers as floats, of dates what calendars have."""
    missing = left.missing | right.missing
    kinds = left.kind, right.kind
    if set(kinds) <= {"number", "truth"}:
        numbers = (np.asarray(one.data, dtype=np.float64) for one in (left, right))
        return Cells("number", np.asarray(_OF_NUMBERS[sign](*numbers)), missing)
    if kinds == ("date", "date") and sign == "-":
        left, right = _alike(left, right)
        return Cells("span", np.asarray(left.data - right.data), missing)
    zone = left.zone or right.zone
    if (kinds == ("date", "span") and sign in "+-") or (kinds == ("span", "date") and sign == "+"):
        return Cells(
            "date", np.asarray(_OF_NUMBERS[sign](left.data, right.data)), missing, (), zone
        )
    if kinds == ("span", "span") and sign in "+-":
        return Cells("span", np.asarray(_OF_NUMBERS[sign](left.data, right.data)), missing)
    raise InvalidParameterError(f"computes {kind_in_words(left)} {sign} {kind_in_words(right)}")


def _alike(left: Cells, right: Cells) -> tuple[Cells, Cells]:
    """Return two of one kind: texts of the rule are read as dates if the other cells are dates."""
    left, right = _as(right, left), _as(left, right)
    kinds = {left.kind, right.kind}
    if len(kinds) > 1 and "mixture" not in kinds and kinds != {"number", "truth"}:
        raise InvalidParameterError(f"compares {kind_in_words(left)} with {kind_in_words(right)}")
    return left, right


def _as(other: Cells, cells: Cells) -> Cells:
    """Return cells as another kind asks, if they are a literal."""
    if cells.kind == "text" and cells.is_literal:
        if other.kind == "date":
            return Cells("date", moment(cells.data.item(), other.zone))
        if other.kind == "span":
            return Cells("span", _length(cells.data.item()))
    if cells.kind == "date" and cells.is_literal and cells.zone is None and other.zone is not None:
        return Cells("date", moment(str(cells.data), other.zone))
    return cells


def _ranks(left: Cells, right: Cells) -> tuple[Cells, Cells]:
    """Return the places of ordered levels in place of their names."""
    order = left.order or right.order
    if left.order and right.order and left.order != right.order:
        raise InvalidParameterError("orders two columns whose levels are ordered differently")
    place = {level: i for i, level in enumerate(order)}
    ranked = []
    for one in (left, right):
        flat = [place.get(level, -1) for level in one.data.flat]
        if one.is_literal and -1 in flat:
            raise InvalidParameterError(f"{one.data.item()!r} is none of the ordered levels")
        ranked.append(Cells("number", np.array(flat).reshape(one.data.shape), one.missing))
    return ranked[0], ranked[1]
