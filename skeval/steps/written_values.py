"""Numbers and dates of single training rows in texts, such as a remark with somebody's salary."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from skeval.stats.copied_rows import count_copies
from skeval.stats.repeated_values import expected_values
from skeval.steps.normal_forms import strip_marks
from skeval.steps.written_columns import WrittenColumn, tokens_of_text

_MIN_DIGITS = 4  # shorter numbers are in most texts
_DIGIT = re.compile(r"\d")
_MIN_SHARE = 0.05  # minimum fraction of the values of a column with the same number of digits
MIN_FOUND = 3  # fewer values in texts are not counted


def numbers_in_texts(n_rows: Mapping[str, int]) -> Counter[str]:
    """Return how many rows have each long number or date in a text, by the rows of each text."""
    found = Counter[str]()
    for text, n in n_rows.items():
        if sum(map(str.isdigit, text)) >= _MIN_DIGITS:
            found.update(dict.fromkeys(filter(_is_long, tokens_of_text(strip_marks(text))), n))
    return found


def numbers_of_column(column: WrittenColumn) -> Counter[str]:
    """Return how many rows have each value of a column that is a long number or a date."""
    found = Counter[str]()
    for value, tokens in enumerate(column.tokens):
        if len(tokens) == 1 and _is_long(token := next(iter(tokens))):
            found[token] += column.n_rows_of(value)
    return found


def of_same_form(numbers: Counter[str], column: Counter[str]) -> Counter[str]:
    """Return the numbers with as many digits before and after the point as values of a column."""
    shares = Counter(map(_form, column))
    forms = {form for form, n in shares.items() if n >= _MIN_SHARE * len(column)}
    return Counter({number: n for number, n in numbers.items() if _form(number) in forms})


def _form(number: str) -> str:
    return _DIGIT.sub("9", number.partition("/")[1] or number)


def _is_long(token: str) -> bool:
    return "/" in token or sum(map(str.isdigit, token)) >= _MIN_DIGITS


@dataclass(frozen=True)
class WrittenValues:
    """The long numbers of a column in the rows of two real tables, and those in texts."""

    train: Counter[str]
    holdout: Counter[str]
    release: Counter[str]  # in texts of the release

    @property
    def of_train(self) -> set[str]:
        """The values that one training row alone has."""
        return {value for value, n in self.train.items() if n == 1 and not self.holdout[value]}

    @property
    def of_holdout(self) -> set[str]:
        """The values that one holdout row alone has."""
        return {value for value, n in self.holdout.items() if n == 1 and not self.train[value]}

    def most_by_chance(self, chance: float) -> int:
        """Return how many training values texts contain if their numbers are of new rows."""
        train, holdout, release = self._counts
        return count_copies(release, train, train + holdout, chance).most

    def expected_repeats(self, in_texts: Mapping[str, int]) -> np.ndarray:
        """Return the expected numbers of texts with the most frequent value, see expected_values.

        Numbers that several real texts have are not values of single rows.
        """
        train, holdout, release = self._counts
        texts = np.array([in_texts.get(value, 0) for value in self._values], dtype=np.int64)
        return expected_values(np.maximum(train, texts - holdout), holdout, release)

    @cached_property
    def _values(self) -> list[str]:
        return sorted({*self.train, *self.holdout, *self.release})

    @cached_property
    def _counts(self) -> np.ndarray:
        tables = (self.train, self.holdout, self.release)
        return np.array([[of[value] for value in self._values] for of in tables], dtype=np.int64)
