"""The cells of one column: what kind they are of, and how they become numbers, dates and labels."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterable, Sequence
from numbers import Integral, Real
from typing import Literal

import numpy as np
import pandas as pd

from skeval.exceptions import TableError

_BOOLEAN_LEVELS = ("False", "True")
_TRUTH = {
    **dict.fromkeys(("true", "yes", "y", "t", "1", "1.0"), "True"),
    **dict.fromkeys(("false", "no", "n", "f", "0", "0.0"), "False"),
}
# "0010", "1_0" and "1e1" also read as ten, but are labels of their own
_WHOLE_NUMBER = re.compile(r"(-?[0-9]+)\.0+")
Kind = Literal["continuous", "categorical", "boolean", "datetime", "text", "id"]
# A date needs three parts with separators: "2020", "12" or "MAY" alone stay what they are.
_LOOKS_LIKE_DATE = re.compile(r"\s*\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}")
_DATE_FORMATS = ("ISO8601", "%m/%d/%Y", "%d/%m/%Y", "%d.%m.%Y", "%Y/%m/%d")
_TIME_SUFFIXES = ("", " %H:%M", " %H:%M:%S")


def read_column(values: pd.Series, kind: Kind, form: str | None) -> pd.Series:
    """Read a column as its kind; `form` is the format of dates in strings, where it is known."""
    if kind == "continuous":
        return _read_numbers(values)
    if kind == "datetime":
        return _read_dates(values, form)
    if kind in {"categorical", "boolean"}:
        return _read_labels(values, boolean=kind == "boolean")
    return values.astype(object).where(values.notna(), None)


def _read_numbers(values: pd.Series) -> pd.Series:
    values = plain_values(values)
    if values.dtype.kind == "m":
        seconds = values.dt.total_seconds().to_numpy(dtype="float64", na_value=np.nan)
        return pd.Series(seconds, index=values.index)
    if values.dtype.kind == "M":
        return pd.Series(np.nan, index=values.index, dtype="float64")
    if pd.api.types.infer_dtype(values, skipna=True) == "timedelta":
        return pd.to_timedelta(values).dt.total_seconds().astype("float64")
    if not pd.api.types.is_numeric_dtype(values.dtype):
        values = pd.to_numeric(values.astype(object).where(values.notna(), None), errors="coerce")
    return pd.Series(values.to_numpy(dtype="float64", na_value=np.nan), index=values.index)


def _read_dates(values: pd.Series, form: str | None) -> pd.Series:
    values = plain_values(values)
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
        codes, distinct = pd.factorize(_kept_apart(values), use_na_sentinel=True)
    except (TypeError, NotImplementedError) as error:  # the latter from nested Arrow columns
        raise TableError(
            f"{values.name} holds values that are no categories ({error}). "
            "Flatten the column or drop it."
        ) from error
    labels: list[str | None] = [_label(value) for value in distinct]
    if boolean:
        labels = [_TRUTH.get(str(label).strip().lower()) for label in labels]
    levels = (
        _BOOLEAN_LEVELS
        if boolean
        else sorted_labels({label for label in labels if label is not None})
    )
    return _recoded(codes, labels, levels)


def _kept_apart(values: pd.Series) -> pd.Series:
    """Replace True and False by their labels among other values: to a hash, True is 1."""
    if values.dtype != object or not pd.api.types.infer_dtype(values).startswith("mixed"):
        return values
    return values.map(lambda value: str(value) if isinstance(value, bool | np.bool_) else value)


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
    return _date_label(value) if isinstance(value, dt.datetime) else str(value)


def _date_label(value: dt.datetime) -> str:
    """Name midnight by its date, as a file of dates does."""
    midnight = value.tzinfo is None and value == dt.datetime.combine(value.date(), dt.time())
    return value.date().isoformat() if midnight else value.isoformat()


def with_real_levels(values: pd.Series, real: Sequence[str]) -> pd.Series:
    """Put the real levels first and the others, sorted, behind them."""
    known = set(real)
    # "1.0" written by a generator is the level 1 of a column of integer codes
    same = {label: _whole(label) for label in values.cat.categories}
    renamed = [
        whole if label not in known and whole in known else label for label, whole in same.items()
    ]
    unseen = sorted_labels({label for label in renamed if label not in known})
    return _recoded(values.cat.codes.to_numpy(), renamed, [*real, *unseen])


def _whole(label: str) -> str:
    found = _WHOLE_NUMBER.fullmatch(label)
    return found[1] if found else label


def sorted_labels(labels: set[str] | Sequence[str]) -> list[str]:
    """Sort numbers by size, then the rest by name."""
    numbers = {label: _number(label) for label in labels}
    return sorted(labels, key=lambda label: (numbers[label] is None, numbers[label] or 0.0, label))


def _number(label: str) -> float | None:
    try:
        number = float(label)
    except ValueError:
        return None
    return number if np.isfinite(number) else None


def plain_values(values: pd.Series) -> pd.Series:
    """Return a categorical column as its values; others as they are."""
    if not isinstance(values.dtype, pd.CategoricalDtype):
        return values
    dtype = values.cat.categories.dtype
    # integers, and intervals of them, have no place for missing cells
    return values.astype(object if values.hasnans and dtype.kind not in "mM" else dtype)


def datetime_format(values: pd.Series) -> str | None:
    """Return the format in which all strings of `values` read as dates, or None.

    The first format that reads every distinct value wins, ISO 8601 first, month before day where
    both fit.
    """
    present = plain_values(values.dropna())
    if present.empty or pd.api.types.infer_dtype(present, skipna=True) != "string":
        return None
    distinct = present.drop_duplicates().astype(str)
    if not distinct.iloc[:100].map(lambda text: bool(_LOOKS_LIKE_DATE.match(text))).all():
        return None
    return next((form for form in _date_formats() if _reads_all(distinct, form)), None)


def _date_formats() -> Iterable[str]:
    yield _DATE_FORMATS[0]
    for date in _DATE_FORMATS[1:]:
        for time in _TIME_SUFFIXES:
            yield date + time


def _reads_all(distinct: pd.Series, form: str) -> bool:
    # the head settles nearly every format at a fraction of the cost
    return all(
        bool(pd.to_datetime(part, format=form, errors="coerce", utc=True).notna().all())
        for part in (distinct.iloc[:100], distinct)
    )
