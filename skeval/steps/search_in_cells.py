"""Search for identifiers and whole rows inside cells, such as a remark that contains an e-mail.

Nothing is compared pair by pair. All parts of cells that an identifier or a value may fill are
looked up by their hashes.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd
from pandas.util import hash_array

from skeval.steps.normal_forms import (
    MIN_LENGTH,
    Form,
    decode_parts,
    emails_in,
    letters_and_digits,
    strip_marks,
    turn_dates,
)

_AT_ONCE = 2**21  # characters that are searched at once
_MAX_LENGTHS = 24  # different lengths of codes, the most frequent first
_BASE, _SEED = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xD1B54A32D192ED03)
_END = "\n"  # separates cells
_WORDS = re.compile(r"[^\W\d_]{2,}|\n")
# one letter and one word, in either order, as a whole cell or between other signs
_INITIAL_FIRST = re.compile(r"(?<![\w.])([^\W\d_])(?:\.\s?|\s)([^\W\d_]{2,})(?!\w)")
_INITIAL_LAST = re.compile(r"(?<![\w.])([^\W\d_]{2,}),?\s([^\W\d_])(?!\w)")
_MIN_LETTERS = 8  # shorter addresses are not compared by their sorted letters
_TOKENS = re.compile(r"\d+|[^\W\d_]+")
MIN_CELLS = 5  # fewer cells of a row in one cell are not a copy
_MIN_SHARE = 0.8  # fraction of the cells of that row
_MAX_ROWS = 50  # rows are looked up by values that at most this number of rows has
MIN_TOLD = 3  # fewer values of a row in one cell are not a combination
_DECIMAL = re.compile(r"-?\d+[.,]\d+")
_DECIMALS = re.compile(r"(?<!\d)(?=(\d+[.,]\d+))")  # overlapping, because 1,63.5 may be two numbers
_GROUPED = re.compile(r"(?<!\d)\d{1,3}([,.' ])\d{3}(?:\1\d{3})*(?:[.,]\d+)?")  # for example 1,234.5
_DATE = re.compile(r"(?<!\d)(\d{1,4})[./ -](\d{1,2})[./ -](\d{1,4})(?!\d)")
_NO_ROWS = np.zeros(0, dtype=np.int64)


class Texts:
    """The texts of cells, in the forms in which identifiers are looked up in them."""

    def __init__(self, texts: Sequence[str]) -> None:
        self.given = texts
        self._plain = [*map(strip_marks, texts)]
        self.compact = dict.fromkeys(map(letters_and_digits, self._plain))

    def __len__(self) -> int:
        return len(self.given)

    @cached_property
    def emails(self) -> frozenset[str]:
        """The normal forms of the e-mail addresses in cells."""
        return frozenset(email for text in self._plain for email in emails_in(text))

    @cached_property
    def letters_of_emails(self) -> frozenset[str]:
        """The sorted letters of these normal forms, which are equal for "ann.lee" and "lee.ann"."""
        return frozenset(map(sorted_letters, self.emails))

    @cached_property
    def abbreviated_names(self) -> frozenset[tuple[str, str]]:
        """The initial and the last name of names such as "A. Lee" and "Lee, A."."""
        first = {pair for text in self._plain for pair in _INITIAL_FIRST.findall(text)}
        turned = {pair for text in self._plain for pair in _INITIAL_LAST.findall(text)}
        return frozenset(first | {(initial, name) for name, initial in turned})

    @cached_property
    def distinct_words(self) -> frozenset[str]:
        """The words of cells, which may be names written without a space."""
        return frozenset(word for text in self._plain for word in _WORDS.findall(text))

    @cached_property
    def words(self) -> np.ndarray:
        """Cumulative sums of the hashes of words and of the ends of cells."""
        found = _WORDS.findall("\n".join(self._plain))
        return np.cumsum(_hash_words([_END, *found]), dtype=np.uint64)

    def portions(self) -> Iterator[_Rolling]:
        """Yield the letters and digits of cells, in portions so that hashes fit into memory."""
        waiting, size = list[str](), 0
        for text in self.compact:
            if len(text) > MIN_LENGTH:
                waiting.append(text)
                size += len(text)
            if size > _AT_ONCE:
                yield _Rolling(_END.join(waiting))
                waiting, size = [], 0
        yield _Rolling(_END.join(waiting))


def _among(keys: np.ndarray, hashes: np.ndarray) -> np.ndarray:
    """Return which keys are among many more hashes, with a hash table of the fewer keys."""
    met = hashes[pd.Series(hashes).isin(keys).to_numpy()]
    return pd.Series(keys).isin(met).to_numpy()


def _hash_words(words: Sequence[str]) -> np.ndarray:
    codes, distinct = pd.factorize(np.array([*words, None], dtype=object)[:-1])
    return hash_array(np.asarray(distinct, dtype=object), categorize=False)[codes]


@dataclass(frozen=True)
class Identifiers:
    """Identifiers of one column in normal form."""

    form: Form
    values: np.ndarray

    def found_in(self, texts: Texts) -> np.ndarray:
        """Return which identifiers occur in texts, as whole cells or inside them."""
        found = self._match_values(texts.compact.__contains__)
        if self.form == "email":
            turned = texts.letters_of_emails
            found |= self._match_values(texts.emails.__contains__)
            found |= self._match_values(
                lambda v: len(v) >= _MIN_LETTERS and sorted_letters(v) in turned
            )
        if self.form == "name":
            found |= self._names_in(texts.words)
            found |= self._match_values(
                lambda v: not abbreviations(v).isdisjoint(texts.abbreviated_names)
            )
            found |= self._match_values(lambda v: not joined(v).isdisjoint(texts.distinct_words))
        else:
            for part in texts.portions():
                found |= self._codes_in(part)
        return found

    def _match_values(self, is_found: Callable[[str], bool]) -> np.ndarray:
        return np.array([*map(is_found, self.values)], dtype=bool)

    def _names_in(self, sums: np.ndarray) -> np.ndarray:
        words = [*map(str.split, self.values)]
        sizes = np.array([*map(len, words)], dtype=np.int64)
        hashes = _hash_words([word for name in words for word in name])
        own = np.concatenate([[np.uint64(0)], np.cumsum(hashes, dtype=np.uint64)])
        ends = np.cumsum(sizes)
        keys = own[ends] - own[ends - sizes]  # equal for any order of the words
        found = np.zeros(self.values.size, dtype=bool)
        for size in np.unique(sizes[sizes > 1]):
            found |= (sizes == size) & _among(keys, sums[size:] - sums[:-size])
        return found

    def _codes_in(self, text: _Rolling) -> np.ndarray:
        lengths = np.array([*map(len, self.values)], dtype=np.int64)
        sizes, counts = np.unique(lengths[lengths >= MIN_LENGTH], return_counts=True)
        found = np.zeros(self.values.size, dtype=bool)
        for size in sizes[np.argsort(-counts, kind="stable")[:_MAX_LENGTHS]]:
            own = np.flatnonzero(lengths == size)
            keys = _Rolling("".join(self.values[own])).windows(int(size), step=int(size))
            found[own] |= _among(keys, text.windows(int(size)))
        return found


def sorted_letters(text: str) -> str:
    """Return the letters and digits of a text in their alphabetical order."""
    return "".join(sorted(text))


def abbreviations(name: str) -> set[tuple[str, str]]:
    """Return a name of two words with either of them as an initial."""
    words = name.split()
    if len(words) != 2:
        return set()
    first, last = words
    return {(first[0], last), (last[0], first)}


def joined(name: str) -> set[str]:
    """Return a name of two words as one word, in both orders, unless this word is short."""
    words = name.split()
    if len(words) != 2 or len(name) <= MIN_LENGTH:
        return set()
    return {"".join(words), "".join(words[::-1])}


class _Rolling:
    """Hashes of all parts of one length of a text, by sums of powers modulo 2**64."""

    def __init__(self, text: str) -> None:
        points = np.frombuffer(text.encode("utf-32-le"), dtype="<u4").astype(np.uint64)
        self._points = (points + np.uint64(1)) * _SEED
        self._points ^= self._points >> np.uint64(29)

    def windows(self, size: int, step: int = 1) -> np.ndarray:
        n_windows = self._points.size - size + 1
        hashes = np.zeros(max(0, -(-n_windows // step)), dtype=np.uint64)
        for i in range(size if hashes.size else 0):
            hashes = hashes * _BASE + self._points[i : i + n_windows : step]
        return hashes


class WrittenRows:
    """Rows of a table as the texts of their cells, to be found in cells that list or tell them."""

    def __init__(self, columns: Mapping[str, Sequence[str | None]]) -> None:
        self._columns = [_WrittenColumn(texts) for texts in columns.values()]
        self.n_rows = self._columns[0].codes.size if self._columns else 0
        self._n_cells = np.zeros(self.n_rows, dtype=np.int64)
        self._values: dict[str, list[tuple[int, int]]] = {}
        for number, column in enumerate(self._columns):
            self._n_cells += column.codes >= 0
            for value, token in column.rarest_tokens():
                self._values.setdefault(token, []).append((number, value))

    def found_in(self, texts: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
        """Return which rows one of these texts lists, and of which it tells a rare combination."""
        # A text tells a row if it contains values of some columns that independent columns combine
        # less than once in all pairs of a row and a text.
        listed, told = np.zeros((2, self.n_rows), dtype=bool)
        least = math.log(max(1, self.n_rows)) + math.log(max(1, len(texts)))
        for text in texts:
            values = self._values_among(_tokens_of_text(text))
            rarity = [self._columns[number].rarity(own) for number, own in values.items()]
            if len(values) < MIN_CELLS and (len(values) < MIN_TOLD or sum(rarity) < least):
                continue
            rows, is_met = self._matches(values)
            n_cells = is_met.sum(axis=0)
            listed[rows[n_cells >= np.maximum(MIN_CELLS, _MIN_SHARE * self._n_cells[rows])]] = True
            told[rows[(n_cells >= MIN_TOLD) & (np.dot(rarity, is_met) >= least)]] = True
        return listed, told

    def _values_among(self, tokens: frozenset[str]) -> dict[int, list[int]]:
        """Return the values of each column all of whose tokens are among these."""
        found: dict[int, list[int]] = {}
        for token in tokens:
            for number, value in self._values.get(token, ()):
                if self._columns[number].tokens[value] <= tokens:
                    found.setdefault(number, []).append(value)
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


class _WrittenColumn:
    """The values of a column as sets of tokens, and the rows that have each value."""

    def __init__(self, texts: Sequence[str | None]) -> None:
        self.codes, distinct = pd.factorize(np.array([*texts, None], dtype=object)[:-1])
        self.tokens = [*map(_tokens_of_value, distinct)]
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


def _tokens_of_value(text: str) -> frozenset[str]:
    plain = strip_marks(text)
    if _DECIMAL.fullmatch(plain):
        return frozenset([_decimal(plain)])
    return frozenset([*map(_date, _DATE.findall(plain)), *_TOKENS.findall(_DATE.sub(" ", plain))])


def _tokens_of_text(text: str) -> frozenset[str]:
    plain = strip_marks(text)
    grouped = (found[0].replace(found[1], "") for found in _GROUPED.finditer(plain))
    numbers = map(_decimal, [*_DECIMALS.findall(plain), *grouped])
    return frozenset([*_TOKENS.findall(plain), *numbers, *map(_date, _DATE.findall(plain))])


def _date(parts: tuple[str, str, str]) -> str:
    """Return the numbers of a date in ascending order, which are equal in all notations."""
    # a year may have two digits
    return "/".join(map(str, sorted(int(part) % 100 for part in parts)))


def _decimal(text: str) -> str:
    """Return the text of a number with a point and without trailing zeros."""
    whole, _, part = text.replace(",", ".").partition(".")
    part = part.rstrip("0")
    return f"{whole}.{part}" if part else whole


def may_list_row(text: str) -> bool:
    """Return whether a cell has parts for the cells of a row."""
    return len(text) >= 2 * MIN_CELLS - 1 and len(set(_TOKENS.findall(text))) >= MIN_CELLS


def with_decoded_texts(texts: Iterable[str]) -> list[str]:
    """Return texts, texts that are encoded in them, and codes with dates in another order."""
    given = list(texts)
    given += [one for text in given for one in decode_parts(text)]
    return given + [one for text in given for one in turn_dates(text)]
