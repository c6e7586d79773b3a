"""Values of a column in the notations of remarks and codes, such as a date without its points."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import permutations

import numpy as np
import pandas as pd

from skeval.steps.normal_forms import strip_marks

_MAX_ROWS = 50  # rows are looked up by values that at most this number of rows has
MIN_GLUED = 4  # digits; shorter numbers are in most codes
TOKENS = re.compile(r"\d+|[^\W\d_]+")
_DECIMAL = re.compile(r"-?\d+[.,]\d+")
_DECIMALS = re.compile(r"(?<!\d)(?=(\d+[.,]\d+))")  # overlapping, because 1,63.5 may be two numbers
_GROUPED = re.compile(r"(?<!\d)\d{1,3}([,.' ])\d{3}(?:\1\d{3})*(?:[.,]\d+)?")  # for example 1,234.5
_DATE = re.compile(r"(?<!\d)(\d{1,4})[./ -](\d{1,2})[./ -](\d{1,4})(?!\d)")
# the first letters of months in English and German, in normal form
_MONTHS = (
    "jan",
    "feb",
    "mar",
    "apr",
    "ma[iy]",
    "jun",
    "jul",
    "aug",
    "sep",
    "o[ck]t",
    "nov",
    "de[cz]",
)
_MONTH = "|".join(f"(?:{letters})" for letters in _MONTHS)
_YEAR = r"(\d{4}|\d\d)\b"
_DAY_MONTH = re.compile(rf"\b(\d{{1,2}})(?:st|[nr]d|th|\.)? ?({_MONTH})[a-z]*\.?,? {_YEAR}")
_MONTH_DAY = re.compile(rf"\b({_MONTH})[a-z]*\.? (\d{{1,2}})(?:st|[nr]d|th)?,? {_YEAR}")
_NO_DIGIT = re.compile(r"\D")
_NUMBER, _SPACE = re.compile(r"\d+(?:[.,]\d+)?"), re.compile(r"\s")
_NO_ROWS = np.zeros(0, dtype=np.int64)


class WrittenColumn:
    """The values of a column as sets of tokens, and the rows that have each value."""

    def __init__(self, texts: Sequence[str | None]) -> None:
        self.codes, distinct = pd.factorize(np.array([*texts, None], dtype=object)[:-1])
        self._plain = [*map(strip_marks, distinct)]
        self.tokens = [*map(_tokens_of_value, self._plain)]
        self.digits = [*map(_digits_of_value, self._plain)]
        n_rows = np.bincount(self.codes[self.codes >= 0], minlength=len(distinct))
        self._n_rows, self._n_all = n_rows.tolist(), self.codes.size
        self._order = np.argsort(self.codes, kind="stable")[np.count_nonzero(self.codes < 0) :]
        self._ends = np.cumsum(n_rows)

    def rarest_tokens(self) -> Iterator[tuple[int, str]]:
        """Yield each value with the token that the fewest other values have."""
        counts = Counter(token for tokens in self.tokens for token in tokens)
        for value, tokens in enumerate(self.tokens):
            if tokens:
                yield value, min(tokens, key=lambda token: (counts[token], token))

    def glued_digits(self) -> Iterator[tuple[int, str]]:
        """Yield each rare value with its digits, in each order of the parts of a date."""
        for value, (plain, digits) in enumerate(zip(self._plain, self.digits, strict=True)):
            day, _, time = plain.partition(" ")
            date = _DATE.fullmatch(day)
            if (date or digits) and self._n_rows[value] <= _MAX_ROWS:
                forms = _orders_of_date(*date.groups()) if date else {digits, _whole(plain)}
                if date and time:  # with or without seconds
                    own = _NO_DIGIT.sub("", time)
                    forms |= {form + own[:end] for form in forms for end in (4, 6)}
                yield from ((value, form) for form in forms if len(form) >= MIN_GLUED)

    def n_rows_of(self, value: int) -> int:
        """Return how many rows have a value."""
        return self._n_rows[value]

    def rarity(self, values: Iterable[int]) -> float:
        """Return the negative logarithm of the share of rows that have one of these values."""
        return math.log(self._n_all / sum(self._n_rows[value] for value in values))

    def rare_rows(self, values: Iterable[int]) -> np.ndarray:
        """Return the rows of those values that few rows have."""
        rare = [value for value in values if self._n_rows[value] <= _MAX_ROWS]
        ends = [(self._ends[value] - self._n_rows[value], self._ends[value]) for value in rare]
        return np.concatenate([_NO_ROWS, *(self._order[start:end] for start, end in ends)])


def _tokens_of_value(plain: str) -> frozenset[str]:
    if _DECIMAL.fullmatch(plain):
        return frozenset([_decimal(plain.removeprefix("-"))])
    return frozenset([*map(_date, _DATE.findall(plain)), *TOKENS.findall(_DATE.sub(" ", plain))])


def _digits_of_value(plain: str) -> str:
    """Return the digits of the only number of a value, as codes have them, without a point."""
    numbers = _NUMBER.findall(plain)
    return _without_point(numbers[0]) if len(numbers) == 1 else ""


def _whole(plain: str) -> str:
    """Return the digits of the first number of a value before its point."""
    return _NUMBER.findall(plain)[0].replace(",", ".").partition(".")[0].lstrip("0")


def _orders_of_date(*parts: str) -> set[str]:
    """Return the digits of a date with the year at either end, in four digits or in two."""
    first, *others = parts if len(parts[0]) == 4 else parts[::-1]
    days = {"".join(part.zfill(2) for part in order) for order in permutations(others)}
    years = {first, first[-2:]}
    return {form for day in days for year in years for form in (year + day, day + year)}


def tokens_of_text(plain: str) -> frozenset[str]:
    """Return the words, numbers and dates of a text."""
    grouped = (found[0].replace(found[1], "") for found in _GROUPED.finditer(plain))
    numbers = map(_decimal, [*_DECIMALS.findall(plain), *grouped])
    dates = [*_DATE.findall(plain), *_dates_of_code(plain), *_dates_in_words(plain)]
    return frozenset([*TOKENS.findall(plain), *numbers, *map(_date, dates)])


def _dates_in_words(plain: str) -> Iterator[tuple[str, str, str]]:
    """Yield the parts of dates whose months are words, such as "3 May 2024"."""
    for day, month, year in _DAY_MONTH.findall(plain):
        yield day, _number_of_month(month), year
    for month, day, year in _MONTH_DAY.findall(plain):
        yield day, _number_of_month(month), year


def _number_of_month(letters: str) -> str:
    return next(str(i) for i, month in enumerate(_MONTHS, 1) if re.fullmatch(month, letters))


def _dates_of_code(plain: str) -> Iterator[tuple[str, str, str]]:
    """Yield the parts of numbers of six or eight digits, which are dates in some codes."""
    for number in numbers_of_code(plain):
        if len(number) in (5, 6):
            short = number.zfill(6)
            yield short[:2], short[2:4], short[4:]
        elif len(number) in (7, 8):
            long = number.zfill(8)
            yield long[:2], long[2:4], long[4:]
            yield long[:4], long[4:6], long[6:]


def numbers_of_code(plain: str) -> frozenset[str]:
    """Return the numbers of a text without spaces, without leading zeros."""
    if _SPACE.search(plain):
        return frozenset()
    return frozenset(map(_without_point, _NUMBER.findall(plain)))


def _without_point(number: str) -> str:
    return number.replace(".", "").replace(",", "").lstrip("0")


def _date(parts: tuple[str, str, str]) -> str:
    """Return the numbers of a date in ascending order, which are equal in all notations."""
    # a year may have two digits
    return "/".join(map(str, sorted(int(part) % 100 for part in parts)))


def _decimal(text: str) -> str:
    """Return the text of a number with a point and without trailing zeros."""
    whole, _, part = text.replace(",", ".").partition(".")
    part = part.rstrip("0")
    return f"{whole}.{part}" if part else whole
