"""Search for identifiers inside cells, such as a remark that contains an e-mail.

Nothing is compared pair by pair. All parts of cells that an identifier may fill are looked up by
their hashes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd
from pandas.util import hash_array

from skeval.steps.normal_forms import (
    MIN_LENGTH,
    Form,
    addresses_in,
    decode_parts,
    email_form,
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


class Texts:
    """The texts of cells, in the forms in which identifiers are looked up in them."""

    def __init__(self, texts: Sequence[str]) -> None:
        self.given = texts
        self._plain = [*map(strip_marks, texts)]
        self.compact = dict.fromkeys(map(letters_and_digits, self._plain))

    def __len__(self) -> int:
        return len(self.given)

    @cached_property
    def _addresses(self) -> list[str]:
        return [address for text in self._plain for address in addresses_in(text)]

    @cached_property
    def emails(self) -> frozenset[str]:
        """The normal forms of the e-mail addresses in cells."""
        return frozenset(map(email_form, self._addresses))

    @cached_property
    def letters_of_emails(self) -> frozenset[str]:
        """The sorted letters of these normal forms, which are equal for "ann.lee" and "lee.ann"."""
        # also with tags, because "lee-ann+88" may be "ann.lee88"
        whole = (letters_and_digits(one.partition("@")[0]) for one in self._addresses)
        return frozenset(map(sorted_letters, {*self.emails, *whole}))

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


def with_decoded_texts(texts: Iterable[str]) -> list[str]:
    """Return texts, texts that are encoded in them, and codes with dates in another order."""
    given = list(texts)
    given += [one for text in given for one in decode_parts(text)]
    return given + [one for text in given for one in turn_dates(text)]
