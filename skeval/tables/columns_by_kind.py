"""Reading of the cells of a column as numbers, dates or labels, depending on its type."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterable, Sequence
from itertools import compress
from numbers import Integral, Real
from typing import Any

import numpy as np
import pandas as pd

from skeval.exceptions import TableError
from skeval.tables.cells import plain_values, read_dates, read_numbers
from skeval.tables.schema import Kind, storage_dtype
from skeval.tables.spelling import match_spelling

_LAST_YEAR = 290_000  # range of microseconds in years, before and after 1970
_MICROSECONDS = np.dtype("datetime64[us]")
RESPELLED = "respelled"  # marks a column that spells categories of the real tables differently
_BOOLEAN_LEVELS = ("False", "True")
_TRUTH = {
    **dict.fromkeys(("true", "yes", "y", "t", "1", "1.0"), "True"),
    **dict.fromkeys(("false", "no", "n", "f", "0", "0.0"), "False"),
}
# "0010", "1_0" and "1e1" also represent ten, but they are different labels.
_WHOLE_NUMBER = re.compile(r"(-?[0-9]+)\.0+")


def read_column(
    values: pd.Series, kind: Kind, form: str | None, real: Sequence[str] | None = None
) -> pd.Series:
    """Read a column as its type, with the `real` categories first, if they are known.

    `form` is the format of dates in strings, if it is known.
    """
    # Values that already have the type are used directly. Times with a zone have a pandas dtype.
    held = values.dtype.kind if isinstance(values.dtype, np.dtype) else ""
    if kind == "continuous" and held in ("i", "u", "f"):
        # The copy protects against later changes of the original table.
        numbers = values.to_numpy().astype(np.float64)
        numbers += 0.0  # removes negative zeros
        return pd.Series(numbers, index=values.index, copy=False)
    if kind == "datetime" and held == "M":
        try:
            return values.astype(_MICROSECONDS)
        except pd.errors.OutOfBoundsDatetime:  # seconds have a larger range than microseconds
            return values.mask(values.dt.year.abs() > _LAST_YEAR).astype(_MICROSECONDS)
    if kind == "boolean" and held == "b":
        codes = values.to_numpy().astype(np.intp)
        return _recode(codes, _BOOLEAN_LEVELS, _BOOLEAN_LEVELS, real)
    if kind == "continuous":
        return read_numbers(plain_values(values))
    if kind == "datetime":
        return read_dates(plain_values(values), form)
    if kind in {"categorical", "boolean"}:
        return _read_labels(values, real, boolean=kind == "boolean")
    return values.astype(object).where(values.notna(), None)


def label_codes(values: pd.Series) -> tuple[np.ndarray, list[str]]:
    """Return the codes of a column (-1 for missing), and the label of each code."""
    # different values may have the same label, for example 1 and 1.0
    if values.dtype == object and pd.api.types.infer_dtype(values).startswith("mixed"):
        # True and 1 have the same hash, so mixed columns use the labels to distinguish them.
        values = values.map(lambda v: str(v) if isinstance(v, bool | np.bool_) else v)
    distinct: Any
    try:
        if isinstance(values.dtype, pd.CategoricalDtype):
            codes, distinct = used_categories(values)
        else:
            codes, distinct = pd.factorize(values, use_na_sentinel=True)
    except (TypeError, NotImplementedError) as error:  # nested Arrow columns are not implemented
        raise TableError(
            f"{values.name} contains values that cannot be categories ({error}). "
            "Flatten the column or drop it."
        ) from error
    if isinstance(values.dtype, pd.StringDtype):
        distinct = distinct.to_numpy(dtype=object)  # faster than reading single texts from Arrow
    elif (stored := storage_dtype(values.dtype)).kind == "f" and stored.itemsize < 8:
        distinct = np.asarray(distinct, dtype=stored)  # otherwise Python converts them to float64
    return codes, [value if type(value) is str else _label(value) for value in distinct]


def _read_labels(values: pd.Series, real: Sequence[str] | None, *, boolean: bool) -> pd.Series:
    codes, labels = label_codes(values)
    if boolean:
        truths = [_TRUTH.get(label.strip().lower()) for label in labels]
        return _recode(codes, truths, _BOOLEAN_LEVELS, real)
    if real is not None and set(labels).issubset(real):  # true for nearly every column
        return _recode(codes, labels, real)
    return _recode(codes, labels, sorted_labels(set(labels)), real)


def used_categories(values: pd.Series) -> tuple[np.ndarray, list[Any]]:
    """Return the codes of a categorical column, and its categories that occur in a cell."""
    codes, categories = values.array.codes, values.dtype.categories
    occurs = np.zeros(len(categories) + 1, dtype=bool)
    occurs[codes] = True  # the last entry is for missing cells, whose code is -1
    place = np.append(np.cumsum(occurs[:-1]) - 1, -1)
    return place[codes], list(compress(categories.tolist(), occurs))


def _label(value: object) -> str:
    """Name a category so that 1 and 1.0 are equal, and midnight is written as a date."""
    if isinstance(value, bool | np.bool_):
        return str(bool(value))
    if isinstance(value, Integral):
        return str(int(value))
    if isinstance(value, Real):
        try:
            # The digits of float32 are used, for example 0.1 instead of 0.10000000149011612.
            number = float(str(value) if getattr(value, "itemsize", 8) < 8 else value)
        except OverflowError:  # fractions may be too large for float
            return str(value)
        return str(int(number)) if number.is_integer() else repr(number)
    if isinstance(value, dt.datetime):
        return value.isoformat().removesuffix("T00:00:00")  # date() fails after the year 9999
    return str(value)


def with_real_levels(values: pd.Series, real: Sequence[str]) -> pd.Series:
    """Put the real categories first, followed by the other categories in sorted order."""
    known = set(real)
    # If the column contains 0 and 1, booleans written by a generator are converted to them.
    codes = {"False": "0", "True": "1"} if {"0", "1"} <= known - {*_BOOLEAN_LEVELS} == known else {}
    labels = [codes.get(label, label) for label in values.cat.categories]
    for i, label in enumerate(labels):
        # "1.0" written by a generator is the category 1 in a column of integer codes.
        whole = _WHOLE_NUMBER.fullmatch(label)
        if label not in known and whole and whole[1] in known:
            labels[i] = whole[1]
    other = match_spelling(labels, known)
    labels = [other.get(label, label) for label in labels]
    unseen = sorted_labels(set(labels) - known)
    read = _recode(values.cat.codes.to_numpy(), labels, [*real, *unseen])
    read.attrs[RESPELLED] = bool(other)
    return read


def _recode(
    codes: np.ndarray,
    labels: Iterable[str | None],
    levels: Sequence[str],
    real: Sequence[str] | None = None,
) -> pd.Series:
    """Return the categorical whose row i is `labels[codes[i]]`, or missing if not in `levels`.

    The `real` categories are put first, if they are known.
    """
    position: dict[str | None, int] = {level: i for i, level in enumerate(levels)}
    smallest = np.min_scalar_type(-max(1, len(levels)))  # the dtype that categoricals use
    lookup = np.array([*(position.get(label, -1) for label in labels), -1], dtype=smallest)
    dtype = pd.CategoricalDtype(pd.Index(levels, dtype=object))
    read = pd.Series(
        pd.Categorical.from_codes(lookup[codes], dtype=dtype, validate=False), copy=False
    )
    if real is None or list(levels[: len(real)]) == list(real):
        return read
    return with_real_levels(read, real)


def sorted_labels(labels: Iterable[str]) -> list[str]:
    """Sort numbers by size, followed by other labels in alphabetical order."""
    places = {}
    for label in labels:
        try:
            number = float(label)
        except ValueError:
            number = np.inf
        finite = bool(np.isfinite(number))
        places[label] = not finite, number if finite else 0.0, label
    return sorted(places, key=places.__getitem__)
