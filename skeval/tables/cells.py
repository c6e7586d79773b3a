"""Parsing of numbers and dates in cells, and descriptions of cells that cannot be parsed."""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np
import pandas as pd

# "007" and "02139" are codes, but "0" and "0.5" are numbers.
LEADING_ZERO = re.compile(r"\s*[-+]?0\d")
EXACT = 2.0**53  # float64 cannot distinguish all integers above this number
MAX_UNREAD = 0.05  # maximum fraction of cells in a numerical column that are not numbers
MIN_CELLS = 20  # with fewer cells, every cell must be a number
MAX_LEVELS = 12  # in a column with at most this number of categories, a placeholder is a category
_MANY_CODES = 50  # more distinct integers in strings than this number are numbers, not codes
_SAMPLE = 100  # number of cells that are sufficient for nearly every column
_DESCRIBED = 1000  # number of distinct texts that are read for a description
# These words represent a missing value, or begin a footer. Messages quote only these words.
_PLACEHOLDERS = frozenset(
    (
        *("?", "-", "--", "---", ".", "..", "...", "*", "#", "/", "na", "n/a", "n.a.", "nan"),
        *("<na>", "none", "null", "unknown", "unk", "missing", "blank", "empty", "nil", "no data"),
        *(
            "not applicable",
            "not available",
            "not known",
            "tbd",
            "total",
            "totals",
            "grand total",
            "sum",
        ),
        *("#n/a", "#value!", "#div/0!", "#ref!", "#name?", "#num!", "#null!"),
    )
)
_DIGIT = re.compile(r"\d")
_NUMBER = r"[-+]?\d[\d.,]*"
_FORMS = (
    (re.compile(rf"\s*[<≤]=?\s*{_NUMBER}\s*"), "'<' before a number"),
    (re.compile(rf"\s*[>≥]=?\s*{_NUMBER}\s*"), "'>' before a number"),
    (re.compile(rf"\s*{_NUMBER}\s*[-\u2013]\s*{_NUMBER}\s*"), "a range of numbers"),
    (re.compile(rf"\s*{_NUMBER}\s*\+\s*"), "'+' after a number"),
    (re.compile(rf"\s*[~≈]\s*{_NUMBER}\s*"), "'~' before a number"),
    (re.compile(rf"\s*{_NUMBER}\s*\D+"), "text after a number"),
)
# Numbers may have groups of three digits (1,234 and 1,234.50), a currency or a percent sign.
_GROUPED = re.compile(r"[-+]?[1-9]\d{0,2}(?:,\d{3})+(?:\.\d*)?")
_CURRENCY = re.compile(r"^([-+]?)\s*[$\u20ac\u00a3\u00a5]\s*|\s*[$\u20ac\u00a3\u00a5]$")
# A date needs three parts with separators, so "2020", "12" and "MAY" are not dates.
_LOOKS_LIKE_DATE = re.compile(
    r"\s*(?:\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}|\d{1,2}[- ][A-Za-z]{3,9}\.?[- ]\d{2,4}"
    r"|[A-Za-z]{3,9} \d{1,2}, \d{4})"
)
_STARTS_LIKE_NUMBER = re.compile(r"\s*[-+]?\s*[$\u20ac\u00a3\u00a5]?\s*[-+]?\.?\d")
_STARTS_LIKE_DATE = re.compile(rf"{_LOOKS_LIKE_DATE.pattern}|\s*\d{{4}}")  # 2020-03 is one, too
COMPACT = "%Y%m%d"  # integers are read in this format only if a schema declares them as dates
_FIRST_DAY, _LAST_DAY = 19_000_101, 21_001_231
_DATE_FORMATS = (
    "ISO8601",
    *(
        date + time
        for date in ("%m/%d/%Y", "%d/%m/%Y", "%d.%m.%Y", "%Y/%m/%d")
        for time in ("", " %H:%M", " %H:%M:%S")
    ),
    *("%d-%b-%Y", "%d %b %Y", "%d-%b-%y", "%d %B %Y", "%B %d, %Y", "%b %d, %Y"),
    *("%m/%d/%y", "%d/%m/%y"),
)


def plain_values(values: pd.Series) -> pd.Series:
    """Return the values of a categorical column, or any other column unchanged."""
    if not isinstance(values.dtype, pd.CategoricalDtype):
        return values
    dtype = values.cat.categories.dtype
    # Integer dtypes, and intervals of integers, cannot represent missing cells.
    return values.astype(object if values.hasnans and dtype.kind not in "mM" else dtype)


def is_plain(dtype: Any) -> bool:
    """Return whether every cell of a column of this type is a number, a date or missing."""
    return isinstance(dtype, np.dtype) and dtype.kind in "biufmM"


def inferred_type(present: pd.Series) -> str:
    """Return the type that pandas infers for present values, with a shortcut for strings."""
    if isinstance(present.dtype, pd.StringDtype) and len(present):
        return "string"
    return str(pd.api.types.infer_dtype(present, skipna=True))


def as_texts(cells: pd.Series) -> pd.Series:
    """Return cells as texts. Unlike `astype(str)`, it accepts any bytes and lone surrogates."""
    return pd.Series([str(cell) for cell in cells], cells.index, dtype=object)


def are_placeholders(cells: pd.Series, column: str) -> np.ndarray:
    """Return which cells are blank, represent a missing value, or repeat the column's name."""
    said = as_texts(cells).str.strip().str.casefold()
    return said.isin({*_PLACEHOLDERS, "", column.strip().casefold()}).to_numpy(dtype=bool)


def describe_unread_cells(cells: pd.Series, column: str) -> str:
    """Describe unreadable cells by quoting placeholders and naming the form of other cells."""
    texts = as_texts(cells).drop_duplicates().iloc[:_DESCRIBED]
    is_placeholder = are_placeholders(texts, column)
    forms = {_quote_placeholder(text, column) for text in texts[is_placeholder]}
    for text in texts[~is_placeholder]:
        forms.add(next((form for like, form in _FORMS if like.fullmatch(text)), "other text"))
    return ", ".join(sorted(forms))


def _quote_placeholder(text: str, column: str) -> str:
    word = text.strip()
    if word.casefold() == column.strip().casefold():
        return "the name of the column"
    return f"'{word}'" if word else "blanks"


def nearly_all(n_read: int, n_other: int) -> bool:
    """Return whether a column with this number of read and other cells counts as read."""
    return not n_other or (n_read >= MIN_CELLS and n_other <= MAX_UNREAD * (n_read + n_other))


def have_digits(texts: pd.Series) -> bool:
    """Return whether a sample of texts has a digit, which numbers and dates require."""
    return any(_DIGIT.search(str(text)) for text in texts.iloc[:: _step(texts)])


def may_be_numbers(cells: pd.Series) -> bool:
    """Return whether a cell of a sample starts like a number."""
    return some_match(cells, _STARTS_LIKE_NUMBER)


def may_be_dates(cells: pd.Series) -> bool:
    """Return whether a cell of a sample looks like a date, or starts with a year."""
    return some_match(cells, _STARTS_LIKE_DATE)


def some_match(cells: pd.Series, pattern: re.Pattern[str]) -> bool:
    """Return whether a cell of a sample starts like a pattern, to skip slower checks."""
    return any(pattern.match(str(cell)) for cell in cells.iloc[:: _step(cells)])


def _sample(present: pd.Series) -> pd.Series:
    return present.iloc[:: _step(present)].astype(str)


def _step(cells: pd.Series) -> int:
    return max(1, len(cells) // _SAMPLE)


def are_numbers(present: pd.Series) -> bool:
    """Return whether nearly all texts in a column are numbers, not codes such as "007"."""
    # Placeholders such as "?" are ignored. Few distinct integers in strings are codes, unless the
    # column has a few placeholders, which are the reason why it was read as text.
    if not may_be_numbers(present):
        return False
    name = str(present.name)
    sample = _sample(present)
    if not _share_read(sample, read_numbers(sample), name):
        return False
    counts = present.astype(str).value_counts()
    distinct, n = counts.index.to_series().reset_index(drop=True), counts.to_numpy()
    numbers = read_numbers(distinct).to_numpy()
    is_read = np.isfinite(numbers)
    is_placeholder = ~is_read & are_placeholders(distinct, name)
    n_read, n_placeholders = int(n[is_read].sum()), int(n[is_placeholder].sum())
    n_other = len(present) - n_read - n_placeholders
    if not n_read or not nearly_all(n_read, n_other) or (n_placeholders and n_read < MIN_CELLS):
        return False
    texts = distinct[is_read]
    if texts.str.match(LEADING_ZERO).any():
        return False
    whole = texts.str.strip().str.lstrip("+-").str.isdigit().to_numpy()
    if whole.all() and len(texts) <= _MANY_CODES:  # the strings "1", "2", "3" are codes
        few = n_placeholders <= MAX_UNREAD * len(present)
        return bool(n_placeholders and few and not n_other and len(texts) > MAX_LEVELS)
    return not (whole & (np.abs(numbers[is_read]) > EXACT)).any()


def _share_read(sample: pd.Series, read: pd.Series, name: str) -> bool:
    """Return whether enough cells of a sample were read to go through the whole column."""
    n_read = int(np.isfinite(read.to_numpy()).sum() if read.dtype.kind == "f" else read.count())
    n_other = len(sample) - n_read
    if n_other and n_read:
        n_other -= int(are_placeholders(sample, name).sum())
    return n_read > 0 and n_other <= 2 * MAX_UNREAD * len(sample) + 1


def read_numbers(values: pd.Series) -> pd.Series:
    """Read cells as float64. A cell that is not a number becomes missing."""
    if values.dtype.kind == "M":
        return pd.Series(np.nan, index=values.index, dtype="float64")
    if values.dtype.kind == "m":
        values = values.dt.total_seconds()
    elif pd.api.types.infer_dtype(values, skipna=True) == "timedelta":
        values = values.map(lambda span: span.total_seconds(), na_action="ignore")
    elif not pd.api.types.is_numeric_dtype(values.dtype):
        cells = values.astype(object).where(values.notna(), None).map(_floating)
        values = pd.to_numeric(cells, errors="coerce")
        if values.hasnans:
            values = values.where(values.notna(), _dressed_numbers(cells[values.isna()]))
    return pd.Series(values.to_numpy(dtype="float64", na_value=np.nan), index=values.index)


def _dressed_numbers(cells: pd.Series) -> pd.Series:
    """Read "1,234.00", "$12.00" and "12.5%", unless commas of the column are decimal signs."""
    texts = cells[[isinstance(cell, str) for cell in cells]].astype(object).str.strip()
    texts = texts[texts.str.contains("[0-9]", regex=True).astype(bool)] if len(texts) else texts
    if texts.empty:
        return texts.astype(np.float64)
    bare = texts.str.replace(_CURRENCY, r"\1", regex=True)
    is_percent = bare.str.endswith("%")
    bare = bare.str.removesuffix("%").str.strip()
    has_comma = bare.str.contains(",", regex=False).to_numpy(dtype=bool)
    is_grouped = bare.str.fullmatch(_GROUPED).to_numpy(dtype=bool)
    if (has_comma & ~is_grouped & bare.str.fullmatch(r"[-+]?\d+,\d+").to_numpy(bool)).any():
        is_grouped = np.zeros_like(is_grouped)
    bare = bare.where(~is_grouped, bare.str.replace(",", ""))
    numbers = pd.to_numeric(bare, errors="coerce").astype(np.float64)
    return numbers.where(~is_percent, numbers / 100.0)


def _floating(cell: Any) -> Any:
    """Return cells that pandas cannot convert as infinite if too large, or as missing."""
    if type(cell) is int and abs(cell) > EXACT:
        return float(cell) if cell.bit_length() < 1024 else math.inf * (1 if cell > 0 else -1)
    return math.nan if isinstance(cell, complex) else cell


def read_dates(values: pd.Series, form: str | None) -> pd.Series:
    """Read cells as dates in UTC. A cell that is not a date becomes missing."""
    if form == COMPACT and pd.api.types.is_numeric_dtype(values.dtype):
        values = values.map("{:.0f}".format, na_action="ignore").astype(object)
    if pd.api.types.is_numeric_dtype(values.dtype):
        dates = pd.Series(pd.NaT, index=values.index, dtype="datetime64[us, UTC]")
    elif pd.api.types.infer_dtype(values, skipna=True) != "string":
        dates = pd.to_datetime(values, errors="coerce", utc=True)
    else:
        dates = pd.to_datetime(values, format=form or "ISO8601", errors="coerce", utc=True)
        # If no format is known, or the format of the schema fits no cell, detect the format.
        rest = values[dates.isna()] if form is None or not dates.notna().any() else values[:0]
        if len(rest) and (own := datetime_format(rest)):
            dates = dates.fillna(pd.to_datetime(rest, format=own, errors="coerce", utc=True))
    return dates.astype("datetime64[us, UTC]").dt.tz_localize(None)


def datetime_format(values: pd.Series) -> str | None:
    """Return the format in which nearly all strings of `values` read as dates, or None."""
    # The first format that fits the distinct values is used. ISO 8601 is tried first, and the
    # month before the day if both orders fit. Placeholders such as "?" are ignored.
    present = values.dropna() if values.hasnans else values
    if isinstance(values.dtype, pd.CategoricalDtype):
        present = plain_values(present)
    if present.empty or not some_match(present, _LOOKS_LIKE_DATE):
        return None
    if inferred_type(present) != "string":
        return None
    name = str(values.name)
    sample = _sample(present)
    looks = sample.str.match(_LOOKS_LIKE_DATE).astype(bool)
    if not _share_read(sample, looks.where(looks, None), name):
        return None
    counts = present.astype(str).value_counts()
    distinct, n = counts.index.to_series().reset_index(drop=True), counts.to_numpy()
    counted = ~are_placeholders(distinct, name)
    for form in _DATE_FORMATS:
        if not _share_read(sample, _dates_as(sample, form), name):
            continue
        is_read = _dates_as(distinct, form).notna().to_numpy()
        n_read, n_other = int(n[is_read].sum()), int(n[~is_read & counted].sum())
        if nearly_all(n_read, n_other) and (counted.all() or n_read >= MIN_CELLS):
            return form
    return None


def are_compact_dates(present: pd.Series) -> bool:
    """Return whether nearly all integers of a column are dates such as 20200305."""
    numbers = read_numbers(present).to_numpy()
    fits = (numbers >= _FIRST_DAY) & (numbers <= _LAST_DAY) & (numbers % 1 == 0)
    if not fits.any() or not nearly_all(int(fits.sum()), int((~fits).sum())):
        return False
    days = _dates_as(pd.Series(numbers[fits]).map("{:.0f}".format), COMPACT)
    return nearly_all(int(days.notna().sum()), int(days.isna().sum()))


def _dates_as(texts: pd.Series, form: str) -> pd.Series:
    return pd.to_datetime(texts, format=form, errors="coerce", utc=True)
