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

Kind = Literal["continuous", "categorical", "boolean", "datetime", "text", "id"]
_BOOLEAN_LEVELS = ("False", "True")
_TRUTH = {
    **dict.fromkeys(("true", "yes", "y", "t", "1", "1.0"), "True"),
    **dict.fromkeys(("false", "no", "n", "f", "0", "0.0"), "False"),
}
# "0010", "1_0" and "1e1" also read as ten, but are labels of their own
_WHOLE_NUMBER = re.compile(r"(-?[0-9]+)\.0+")
# a date needs three parts with separators: "2020", "12" or "MAY" alone stay what they are
_LOOKS_LIKE_DATE = re.compile(r"\s*\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}")
_DATE_FORMATS = (
    "ISO8601",
    *(
        date + time
        for date in ("%m/%d/%Y", "%d/%m/%Y", "%d.%m.%Y", "%Y/%m/%d")
        for time in ("", " %H:%M", " %H:%M:%S")
    ),
)


def read_column(values: pd.Series, kind: Kind, form: str | None) -> pd.Series:
    """Read a column as its kind; `form` is the format of dates in strings, where it is known."""
    if kind == "continuous":
        return _read_numbers(plain_values(values))
    if kind == "datetime":
        return _read_dates(plain_values(values), form)
    if kind in {"categorical", "boolean"}:
        return _read_labels(values, boolean=kind == "boolean")
    return values.astype(object).where(values.notna(), None)


def plain_values(values: pd.Series) -> pd.Series:
    """Return a categorical column as its values; others as they are."""
    if not isinstance(values.dtype, pd.CategoricalDtype):
        return values
    dtype = values.cat.categories.dtype
    # integers, and intervals of them, have no place for missing cells
    return values.astype(object if values.hasnans and dtype.kind not in "mM" else dtype)


def _read_numbers(values: pd.Series) -> pd.Series:
    if values.dtype.kind == "M":
        return pd.Series(np.nan, index=values.index, dtype="float64")
    if values.dtype.kind == "m":
        values = values.dt.total_seconds()
    elif pd.api.types.infer_dtype(values, skipna=True) == "timedelta":
        values = pd.to_timedelta(values).dt.total_seconds()
    elif not pd.api.types.is_numeric_dtype(values.dtype):
        values = pd.to_numeric(values.astype(object).where(values.notna(), None), errors="coerce")
    return pd.Series(values.to_numpy(dtype="float64", na_value=np.nan), index=values.index)


def _read_dates(values: pd.Series, form: str | None) -> pd.Series:
    if pd.api.types.is_numeric_dtype(values.dtype):
        dates = pd.Series(pd.NaT, index=values.index, dtype="datetime64[us, UTC]")
    elif pd.api.types.infer_dtype(values, skipna=True) != "string":
        dates = pd.to_datetime(values, errors="coerce", utc=True)
    else:
        dates = pd.to_datetime(values, format=form or "ISO8601", errors="coerce", utc=True)
        # where the format of the schema reads nothing, that of the strings
        if not dates.notna().any() and (own := datetime_format(values)):
            dates = pd.to_datetime(values, format=own, errors="coerce", utc=True)
    return dates.astype("datetime64[us, UTC]").dt.tz_localize(None)


def datetime_format(values: pd.Series) -> str | None:
    """Return the format in which all strings of `values` read as dates, or None.

    The first format that reads every distinct value wins, ISO 8601 first, month before day where
    both fit.
    """
    present = plain_values(values.dropna())
    if present.empty or pd.api.types.infer_dtype(present, skipna=True) != "string":
        return None
    distinct = present.drop_duplicates().astype(str)
    head = distinct.iloc[:100]  # it settles nearly every format at a fraction of the cost
    if not all(_LOOKS_LIKE_DATE.match(text) for text in head):
        return None
    for form in _DATE_FORMATS:
        parts = (
            pd.to_datetime(part, format=form, errors="coerce", utc=True)
            for part in (head, distinct)
        )
        if all(part.notna().all() for part in parts):
            return form
    return None


def _read_labels(values: pd.Series, *, boolean: bool) -> pd.Series:
    if values.dtype == object and pd.api.types.infer_dtype(values).startswith("mixed"):
        # to a hash True is 1: among other values, their labels keep them apart
        values = values.map(lambda v: str(v) if isinstance(v, bool | np.bool_) else v)
    try:
        codes, distinct = pd.factorize(values, use_na_sentinel=True)
    except (TypeError, NotImplementedError) as error:  # the latter from nested Arrow columns
        raise TableError(
            f"{values.name} holds values that are no categories ({error}). "
            "Flatten the column or drop it."
        ) from error
    labels = [_label(value) for value in distinct]
    if boolean:
        truths = [_TRUTH.get(label.strip().lower()) for label in labels]
        return _recoded(codes, truths, _BOOLEAN_LEVELS)
    return _recoded(codes, labels, sorted_labels(set(labels)))


def _label(value: object) -> str:
    """Name a category so that 1, 1.0 and true integers agree, and midnight is its date."""
    if isinstance(value, bool | np.bool_):
        return str(bool(value))
    if isinstance(value, Integral):
        return str(int(value))
    if isinstance(value, Real):
        number = float(value)
        return str(int(number)) if number.is_integer() else repr(number)
    if isinstance(value, dt.datetime):
        midnight = value.tzinfo is None and value == dt.datetime.combine(value.date(), dt.time())
        return value.date().isoformat() if midnight else value.isoformat()
    return str(value)


def with_real_levels(values: pd.Series, real: Sequence[str]) -> pd.Series:
    """Put the real levels first and the others, sorted, behind them."""
    known = set(real)
    labels = list(values.cat.categories)
    for i, label in enumerate(labels):
        # "1.0" written by a generator is the level 1 of a column of integer codes
        whole = _WHOLE_NUMBER.fullmatch(label)
        if label not in known and whole and whole[1] in known:
            labels[i] = whole[1]
    unseen = sorted_labels(set(labels) - known)
    return _recoded(values.cat.codes.to_numpy(), labels, [*real, *unseen])


def _recoded(codes: np.ndarray, labels: Iterable[str | None], levels: Sequence[str]) -> pd.Series:
    """Return the categorical whose row i is `labels[codes[i]]`, missing where that is no level."""
    position: dict[str | None, int] = {level: i for i, level in enumerate(levels)}
    lookup = np.array([*(position.get(label, -1) for label in labels), -1])
    return pd.Series(
        pd.Categorical.from_codes(lookup[codes], categories=pd.Index(levels, dtype=object))
    )


def sorted_labels(labels: Iterable[str]) -> list[str]:
    """Sort numbers by size, then the rest by name."""
    places = {}
    for label in labels:
        try:
            number = float(label)
        except ValueError:
            number = np.inf
        finite = bool(np.isfinite(number))
        places[label] = not finite, number if finite else 0.0, label
    return sorted(places, key=places.__getitem__)
