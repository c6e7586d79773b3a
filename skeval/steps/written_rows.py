"""Search for rows in cells, such as a remark with the amount, the date and the place of a row."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

import numpy as np

from skeval.steps.normal_forms import strip_marks
from skeval.steps.written_columns import (
    MIN_GLUED,
    TOKENS,
    WrittenColumn,
    numbers_of_code,
    tokens_of_text,
)

MIN_CELLS = 5  # fewer cells of a row in one cell are not a copy
_MIN_SHARE = 0.8  # fraction of the cells of that row
MIN_SOME = 3  # fewer values of a row in one cell are not a combination
_MAX_GLUED = 14  # digits of a value that is found without a sign between it and another one
# Two values in a code must have more digits than the number of pairs of a row and a code has. Four
# further digits are required, because two values may start at about a hundred pairs of places of a
# code with 15 digits. Therefore one of a hundred tables with random codes contains such a row.
_MORE_DIGITS = 4
_MAX_DIGITS = 40  # longer ones are lists of numbers, which have many more places for two values
_MIN_GLUED_RARITY = 1.5  # logarithms of the number of rows, which are 2 for a pair of unique values
_HASH = re.compile(r"(?i)[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|(?=\d*[a-f])[0-9a-f]{16,}")
_NO_DIGIT, _SPACE = re.compile(r"\D"), re.compile(r"\s")


class WrittenRows:
    """Rows of a table as the texts of their cells, to be found in single cells."""

    def __init__(self, columns: Mapping[str, Sequence[str | None]]) -> None:
        self._columns = [WrittenColumn(texts) for texts in columns.values()]
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
        for plain in map(strip_marks, texts):
            some[[*self._glued_in(plain, len(texts))]] = True
            values = self._values_in(plain)
            rarity = [self._columns[number].rarity(own) for number, own in values.items()]
            if len(values) < MIN_CELLS and (len(values) < MIN_SOME or sum(rarity) < least):
                continue
            rows, is_met = self._matches(values)
            n_cells = is_met.sum(axis=0)
            listed[rows[n_cells >= np.maximum(MIN_CELLS, _MIN_SHARE * self._n_cells[rows])]] = True
            some[rows[(n_cells >= MIN_SOME) & (np.dot(rarity, is_met) >= least)]] = True
        return listed, some

    def _values_in(self, plain: str) -> dict[int, list[int]]:
        """Return the values of each column all of whose tokens a text has."""
        tokens = tokens_of_text(plain)
        found: dict[int, list[int]] = {}
        for token in tokens:
            for number, value in self._values.get(token, ()):
                if self._columns[number].tokens[value] <= tokens:
                    found.setdefault(number, []).append(value)
        for digits in numbers_of_code(plain):
            for number, value in self._in_codes.get(digits, ()):
                found.setdefault(number, []).append(value)
        return {number: [*dict.fromkeys(values)] for number, values in sorted(found.items())}

    def _glued_in(self, plain: str, n_texts: int) -> Iterator[int]:
        """Yield the rows of which the digits of a code contain two or more rare values."""
        digits = "" if _SPACE.search(plain) else _NO_DIGIT.sub("", plain)
        least = math.log10(max(1, self.n_rows * n_texts)) + _MORE_DIGITS
        if not least <= len(digits) <= _MAX_DIGITS:
            return
        met: dict[int, list[tuple[int, int, int, int]]] = {}
        for start in range(len(digits)):
            for end in range(start + MIN_GLUED, min(len(digits), start + _MAX_GLUED) + 1):
                for number, value in self._glued.get(digits[start:end], ()):
                    for row in self._columns[number].rare_rows([value]).tolist():
                        met.setdefault(row, []).append((end - start, start, number, value))
        for row, parts in met.items():
            rarity, n_digits, taken, of_columns = 0.0, 0, set[int](), set[int]()
            for size, start, number, value in sorted(parts, reverse=True):
                places = range(start, start + size)
                if number not in of_columns and taken.isdisjoint(places):
                    taken.update(places)
                    of_columns.add(number)
                    n_digits += size
                    rarity += self._columns[number].rarity([value])
            if n_digits >= least and rarity >= _MIN_GLUED_RARITY * math.log(self.n_rows):
                yield row

    @cached_property
    def _glued(self) -> dict[str, list[tuple[int, int]]]:
        """The rare values of each text of digits."""
        found: dict[str, list[tuple[int, int]]] = {}
        for number, column in enumerate(self._columns):
            for value, digits in column.glued_digits():
                found.setdefault(digits, []).append((number, value))
        return found

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


def may_have_row(text: str) -> bool:
    """Return whether a cell has parts for some cells of a row, and is no UUID and no hash."""
    if len(text) < 2 * MIN_SOME - 1 or _HASH.fullmatch(text):
        return False
    n_digits = sum(map(str.isdigit, text))
    return n_digits >= 2 * MIN_GLUED or len(set(TOKENS.findall(text))) >= MIN_SOME
