"""Search for rows in cells, such as a remark with the amount, the date and the place of a row."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np
import pandas as pd

from skeval.steps.normal_forms import strip_marks

MIN_CELLS = 5  # fewer cells of a row in one cell are not a copy
_MIN_SHARE = 0.8  # fraction of the cells of that row
MIN_SOME = 3  # fewer values of a row in one cell are not a combination
_MAX_ROWS = 50  # rows are looked up by values that at most this number of rows has
_TOKENS = re.compile(r"\d+|[^\W\d_]+")
_DECIMAL = re.compile(r"-?\d+[.,]\d+")
_DECIMALS = re.compile(r"(?<!\d)(?=(\d+[.,]\d+))")  # overlapping, because 1,63.5 may be two numbers
_GROUPED = re.compile(r"(?<!\d)\d{1,3}([,.' ])\d{3}(?:\1\d{3})*(?:[.,]\d+)?")  # for example 1,234.5
_DATE = re.compile(r"(?<!\d)(\d{1,4})[./ -](\d{1,2})[./ -](\d{1,4})(?!\d)")
_NUMBER, _SPACE = re.compile(r"\d+(?:[.,]\d+)?"), re.compile(r"\s")
_HASH = re.compile(r"(?i)[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{16,}")
_NO_ROWS = np.zeros(0, dtype=np.int64)


class WrittenRows:
    """Rows of a table as the texts of their cells, to be found in single cells."""

    def __init__(self, columns: Mapping[str, Sequence[str | None]]) -> None:
        self._columns = [_WrittenColumn(texts) for texts in columns.values()]
        self.n_rows = self._columns[0].codes.size if self._columns else 0
        self._n_cells = np.zeros(self.n_rows, dtype=np.int64)
        self._values: dict[str, list[tuple[int, int]]] = {}
        self._in_codes: dict[str, list[tuple[int, int]]] = {}
        for number, column in enumerate(self._columns):
            self._n_cells += column.codes >= 0
            for value, token in column.rarest_tokens():
                self._values.setdefault(token, []).append((number, value))
            for value, digits in enumerate(column.digits):
                if digits:
                    self._in_codes.setdefault(digits, []).append((number, value))

    def found_in(self, texts: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
        """Return the rows of which a text has nearly all cells, and those with some rare cells."""
        # Some cells of a row are rare together if independent columns would have them less than
        # once in all pairs of a row and a text.
        listed, some = np.zeros((2, self.n_rows), dtype=bool)
        least = math.log(max(1, self.n_rows)) + math.log(max(1, len(texts)))
        for text in texts:
            values = self._values_in(text)
            rarity = [self._columns[number].rarity(own) for number, own in values.items()]
            if len(values) < MIN_CELLS and (len(values) < MIN_SOME or sum(rarity) < least):
                continue
            rows, is_met = self._matches(values)
            n_cells = is_met.sum(axis=0)
            listed[rows[n_cells >= np.maximum(MIN_CELLS, _MIN_SHARE * self._n_cells[rows])]] = True
            some[rows[(n_cells >= MIN_SOME) & (np.dot(rarity, is_met) >= least)]] = True
        return listed, some

    def _values_in(self, text: str) -> dict[int, list[int]]:
        """Return the values of each column all of whose tokens a text has."""
        plain = strip_marks(text)
        tokens = _tokens_of_text(plain)
        found: dict[int, list[int]] = {}
        for token in tokens:
            for number, value in self._values.get(token, ()):
                if self._columns[number].tokens[value] <= tokens:
                    found.setdefault(number, []).append(value)
        for digits in _numbers_of_code(plain):
            for number, value in self._in_codes.get(digits, ()):
                found.setdefault(number, []).append(value)
        return {number: [*dict.fromkeys(values)] for number, values in sorted(found.items())}

    def _matches(self, values: Mapping[int, list[int]]) -> tuple[np.ndarray, np.ndarray]:
        """Return the rows with a rare one of these values, and which columns of them have one."""
        columns = [self._columns[number] for number in values]
        rare = [column.rare_rows(own) for column, own in zip(columns, values.values(), strict=True)]
        rows = np.unique(np.concatenate(rare))
        met = [
            np.isin(column.codes[rows], own)
            for column, own in zip(columns, values.values(), strict=True)
        ]
        return rows, np.array(met)


class _WrittenColumn:
    """The values of a column as sets of tokens, and the rows that have each value."""

    def __init__(self, texts: Sequence[str | None]) -> None:
        self.codes, distinct = pd.factorize(np.array([*texts, None], dtype=object)[:-1])
        plain = [*map(strip_marks, distinct)]
        self.tokens = [*map(_tokens_of_value, plain)]
        self.digits = [*map(_digits_of_value, plain)]
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
    return frozenset([*map(_date, _DATE.findall(plain)), *_TOKENS.findall(_DATE.sub(" ", plain))])


def _digits_of_value(plain: str) -> str:
    """Return the digits of the only number of a value, as codes have them, without a point."""
    numbers = _NUMBER.findall(plain)
    return _without_point(numbers[0]) if len(numbers) == 1 else ""


def _tokens_of_text(plain: str) -> frozenset[str]:
    grouped = (found[0].replace(found[1], "") for found in _GROUPED.finditer(plain))
    numbers = map(_decimal, [*_DECIMALS.findall(plain), *grouped])
    dates = [*_DATE.findall(plain), *_dates_of_code(plain)]
    return frozenset([*_TOKENS.findall(plain), *numbers, *map(_date, dates)])


def _dates_of_code(plain: str) -> Iterator[tuple[str, str, str]]:
    """Yield the parts of numbers of six or eight digits, which are dates in some codes."""
    for number in _numbers_of_code(plain):
        if len(number) in (5, 6):
            short = number.zfill(6)
            yield short[:2], short[2:4], short[4:]
        elif len(number) in (7, 8):
            long = number.zfill(8)
            yield long[:2], long[2:4], long[4:]
            yield long[:4], long[4:6], long[6:]


def _numbers_of_code(plain: str) -> frozenset[str]:
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


def may_have_row(text: str) -> bool:
    """Return whether a cell has parts for some cells of a row, and is no UUID and no hash."""
    if len(text) < 2 * MIN_SOME - 1 or _HASH.fullmatch(text):
        return False
    return len(set(_TOKENS.findall(text))) >= MIN_SOME
