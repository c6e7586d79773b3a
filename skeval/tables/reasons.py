"""Reasons for the inferred types of columns, and doubts about them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import singledispatch
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from skeval.tables.cells import (
    MAX_LEVELS,
    are_compact_dates,
    as_texts,
    describe_unread_cells,
    inferred_type,
    is_plain,
    may_be_dates,
    may_be_numbers,
    nearly_all,
    plain_values,
    read_numbers,
    some_match,
)
from skeval.tables.columns_by_kind import read_column, used_categories
from skeval.tables.schema import MAX_CODES, Kind, TableSchema, n_codes

_MAX_CODES = 20  # maximum number of distinct integers that may be codes of categories
_MIN_ROWS = 20  # fewer rows are not sufficient to infer codes or keys
_DIGIT = re.compile(r"\d")
_LEADING_ZERO = re.compile(r"\s*0\d+\s*")
_WITH_COMMA = re.compile(r"\s*[-+]?\d+,\d+\s*")
_NAMED_LIKE_CODE = re.compile(
    r"(^|[_\W])(?i:zip|zipcode|postal|postcode|plz|code|fips|iban|phone|mrn|ssn|nr|no)$"
)


class ColumnReason(NamedTuple):
    """Type of a column, with the reason for it, a doubt and an alternative type, if any."""

    kind: Kind
    why: str
    doubt: str = ""
    proposed: Kind | None = None

    @property
    def column_entry(self) -> Kind | dict[str, str]:
        """Entry of the column in a schema file, with its type and the proposed type, if any."""
        if self.proposed is None:
            return self.kind
        return {"kind": self.kind, "proposed": self.proposed, "doubt": self.doubt}


@singledispatch
def column_reasons(frame: Any, schema: TableSchema) -> dict[str, ColumnReason]:
    """Return the reason for the type of each column, and doubts that a user should check."""
    return reasons_of(frame, [name for name in schema.kinds if name in frame.columns], schema)


def reasons_of(frame: Any, names: Sequence[str], schema: TableSchema) -> dict[str, ColumnReason]:
    """Return the result of :func:`column_reasons` for some of the columns."""
    reasons = {}
    for name in names:
        values, kind = frame[name], schema.kinds[name]
        present = values.dropna() if values.hasnans else values
        why, doubt = _reason(present, kind, schema, name)
        proposed: Kind | None = None
        if not is_plain(values.dtype) and not _has_digit(present):
            pass  # neither numbers nor dates
        elif name in schema.inferred and kind == "continuous" and n_codes(present, MAX_CODES):
            proposed = "categorical"
        elif name in schema.inferred and (read := _mostly_numbers(present, kind)):
            proposed, doubt = "continuous", read
        elif name in schema.inferred and (read := _perhaps_dates(present, kind)):
            proposed, doubt = "datetime", read
        elif kind in {"categorical", "id"} and _have_decimal_comma(present):
            doubt = "may be numbers with a decimal comma, so use --decimal ','"
        reasons[name] = ColumnReason(kind, why, doubt, proposed)
    return reasons


def _has_digit(present: pd.Series) -> bool:
    # distinct cells are read, and reading stops at the first digit
    if isinstance(present.dtype, pd.CategoricalDtype):
        cells = used_categories(present)[1]
    elif isinstance(present.dtype, pd.StringDtype):
        cells = present.unique().to_numpy(dtype=object).tolist()
    else:
        cells = present.tolist()
    return any(_DIGIT.search(str(cell)) for cell in cells)


def _mostly_numbers(present: pd.Series, kind: Kind) -> str:
    """Return a doubt if most texts are numbers, and an empty text otherwise."""
    is_other = is_plain(present.dtype) or isinstance(present.dtype, pd.CategoricalDtype)
    if kind not in {"categorical", "id"} or is_other:
        return ""
    if len(present) < _MIN_ROWS or not may_be_numbers(present):
        return ""
    read = read_numbers(present)
    share = read.notna().mean()
    if not 0.5 <= share < 1.0 or read.nunique() <= MAX_LEVELS:
        return ""
    return f"{share:.0%} of the cells are numbers, so the other cells may be missing values"


def _have_decimal_comma(present: pd.Series) -> bool:
    """Return whether nearly all texts are numbers such as "12,5"."""
    if len(present) < _MIN_ROWS or not some_match(present, _WITH_COMMA):
        return False
    if inferred_type(present) != "string":
        return False
    n_like = int(present.astype(str).str.fullmatch(_WITH_COMMA).sum())
    return nearly_all(n_like, len(present) - n_like)


def _perhaps_dates(present: pd.Series, kind: Kind) -> str:
    """Return a doubt if cells may be dates in another form, and an empty text otherwise."""
    if len(present) < _MIN_ROWS or kind not in {"continuous", "categorical", "id"}:
        return ""
    if kind == "continuous":
        compact = present.dtype.kind != "m" and are_compact_dates(plain_values(present))
        return "may be dates, because integers look like 20200305" if compact else ""
    if not may_be_dates(present):
        return ""
    present = plain_values(present)
    if inferred_type(present) != "string":
        return ""
    n_read = int(read_column(present, "datetime", None).notna().sum())
    return "may be dates in two formats" if nearly_all(n_read, len(present) - n_read) else ""


def _reason(present: pd.Series, kind: Kind, schema: TableSchema, name: str) -> tuple[str, str]:
    if name not in schema.inferred:
        return "specified in the schema", ""
    n_rows = len(present)
    if kind == "categorical" and isinstance(present.dtype, pd.CategoricalDtype):
        distinct = used_categories(present)[1]  # the cells themselves are not needed
        if n_rows and all(type(value) is str for value in distinct):
            return _of_categories(distinct, n_rows, in_texts=True)
        present = pd.Series(distinct)
    present = plain_values(present)
    if present.empty:
        return "no values", "has no values, so its type cannot be inferred"
    in_texts = inferred_type(present) == "string"
    if kind == "continuous":
        return _of_numbers(present, name, in_texts=in_texts)
    if kind == "datetime":
        form = schema.datetime_formats.get(name, "")
        both = form.startswith(("%m/%d", "%d/%m")) and not _beyond_twelve(present)
        doubt = "read with the month first, but the day may be first" if both else ""
        why = f"texts that are all dates, {form}" if form else "dates"
        unread = read_column(present, "datetime", form or None).isna()
        return _with_unread(why, present[unread.to_numpy()], name), doubt
    if kind == "boolean":
        return "true and false", ""
    if kind == "text":
        return "texts of many words that are mostly different", ""
    if kind == "id":
        return "every value occurs once, as in keys", ""
    if kind == "categorical" and pd.api.types.is_numeric_dtype(present.dtype):
        return f"only {present.nunique()} distinct integers, as in codes", ""
    if not isinstance(present.dtype, pd.StringDtype):  # otherwise 1 and True would be equal
        present = present.astype(object).map(str)
    return _of_categories(present.unique(), n_rows, in_texts=in_texts)


def _of_numbers(present: pd.Series, name: str, *, in_texts: bool) -> tuple[str, str]:
    why = "texts that are all numbers" if in_texts else "numbers"
    if present.dtype.kind == "m":
        return "durations", ""
    read = read_column(present, "continuous", None).to_numpy()
    is_missing = np.isnan(read)
    why = _with_unread(why, present[is_missing], name) if is_missing.any() else why
    read = read[~is_missing]
    if in_texts and 0.0 < as_texts(present).str.strip().str.endswith("%").mean() < 1.0:
        return why, "some cells end in a percent sign and were divided by 100, but not the others"
    if not (read % 1 == 0).all():
        return why, ""
    why = why.replace("numbers", "integers")
    n_distinct = np.unique(read).size
    if len(read) >= _MIN_ROWS:
        if n_distinct == len(read):
            return why, "may be a key, because every integer occurs once"
        if n_distinct <= _MAX_CODES:
            return why, f"may be categorical, because it has only {n_distinct} distinct integers"
    if _NAMED_LIKE_CODE.search(name):
        return why, "may be codes according to its name, perhaps with lost leading zeros"
    return why, ""


def _with_unread(why: str, unread: pd.Series, name: str) -> str:
    """Return the reason for a type, followed by a description of unreadable cells."""
    if unread.empty:
        return why
    cells = "1 cell" if len(unread) == 1 else f"{len(unread):,} cells"
    read = why.replace("that are all", "that are")
    return f"{read}, with {cells} treated as missing: {describe_unread_cells(unread, name)}"


def _of_categories(distinct: Iterable[str], n_rows: int, *, in_texts: bool) -> tuple[str, str]:
    texts = list(distinct)
    if in_texts and any(_LEADING_ZERO.fullmatch(text) for text in texts):
        return "codes with leading zeros", ""
    doubt = ""
    if n_rows >= _MIN_ROWS and 2 * len(texts) > n_rows:
        doubt = f"may be text or a key, with {len(texts):,} distinct values in {n_rows:,} rows"
    return f"{len(texts):,} distinct values", doubt


def _beyond_twelve(present: pd.Series) -> bool:
    """Return whether a number above twelve shows which number of the dates is the day."""
    parts = present.astype(object).map(str).str.extract(r"^\s*(\d+)/(\d+)/").astype(float)
    return bool((parts > 12).to_numpy().any())
