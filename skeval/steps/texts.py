"""Text columns as numbers, with the words of each text as hashes.

A word is represented by a hash of 64 bits. Therefore, stored results contain no words, and words of
different tables are compared without a common vocabulary.
"""

from __future__ import annotations

import re
import sys
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
from pandas.util import hash_array
from scipy.sparse import csr_array, vstack

from skeval.core.context import Context, shared
from skeval.exceptions import InvalidParameterError, MetricWarning, TextLeftOutWarning
from skeval.steps.column_choice import ColumnChoice
from skeval.steps.text_features import TextSource
from skeval.tables.embedding import vectors_of
from skeval.tables.schema import TableSchema

_ROLES = ("train", "holdout", "synthetic")
_AT_ONCE = 2**21  # characters that are split into words in one step
_LEFT_OUT = (
    "Metrics of distances and distributions ignore the text columns: {texts}. Metrics of {which} "
    "evaluate them{cure}."
)
# in scripts without spaces between words, each character is a word
_SPACELESS = (
    "\u0e00-\u0e7f\u0e80-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
)
_ODD = np.uint64(0x9E3779B97F4A7C15)
_SHIFT = np.uint64(29)


def fold_text(text: str) -> str:
    """Return a text without differences that most readers do not notice."""
    # These are letter case, spaces, characters without width, and notations of the same character.
    plain = unicodedata.normalize("NFKC", text).casefold()
    if not plain.isascii():
        plain = "".join(one for one in plain if unicodedata.category(one) != "Cf")
    return " ".join(plain.split())


def text_columns(schema: TableSchema, columns: ColumnChoice) -> tuple[str, ...]:
    """Return the chosen text columns, that is all, the first *n*, or the named columns."""
    every = schema.columns("text")
    if columns is None or isinstance(columns, int | np.integer):
        return tuple(every[: None if columns is None else int(columns)])
    if unknown := [name for name in columns if name not in every]:
        raise InvalidParameterError(
            f"{', '.join(map(repr, unknown))} (columns) contains no texts. "
            f"Text columns: {', '.join(every)}."
        )
    return tuple(name for name in every if name in set(columns))


def plain_texts(context: Context, role: str, column: str) -> np.ndarray:
    """Return the texts of a role's column, or None for missing texts."""
    return texts_of(context[role], column)


def texts_of(frame: pd.DataFrame, column: str) -> np.ndarray:
    """Return the texts of a column of canonical rows, or None for missing texts."""
    return frame[column].map(str, na_action="ignore").to_numpy(dtype=object)


@dataclass(frozen=True)
class Units:
    """The words, characters, or n-grams of the distinct texts of one column of a table."""

    which: np.ndarray
    numbers: np.ndarray
    starts: np.ndarray
    keys: np.ndarray
    codes: np.ndarray

    def take(self, positions: np.ndarray) -> Units:
        """Return the units of some rows."""
        return replace(self, which=self.which[positions])

    @property
    def row_lengths(self) -> np.ndarray:
        """The number of units of each row, or nan for missing texts."""
        lengths = np.append(np.diff(self.starts).astype(np.float64), np.nan)
        return lengths[self.which]

    def counts(self) -> np.ndarray:
        """Return how often each key occurs in the rows."""
        n_each = np.bincount(self.which[self.which >= 0], minlength=self.starts.size - 1)
        weights = np.repeat(n_each, np.diff(self.starts))
        return np.bincount(self.codes, weights=weights, minlength=self.keys.size)


@shared
def units_of(context: Context, role: str, column: str, unit: str = "words", n: int = 1) -> Units:
    """Return the n-grams of words or characters of a role's texts, in lower case."""
    # Words consist of letters, digits, underscores and marks that combine with them. Texts are
    # composed first (NFC). In scripts without spaces, such as Chinese or Thai, each character is a
    # word. Each distinct text is read once, also if rows of a table replace the synthetic rows for
    # a baseline.
    texts = plain_texts(context, role, column)
    if role in context.taken:
        source, name, positions = context.taken[role]
        return units_of(source, name, column, unit, n).take(positions)
    if n > 1:
        return _runs(units_of(context, role, column, unit), n)
    return _read(texts, unit)


def _read(texts: np.ndarray, unit: str) -> Units:
    which, distinct = pd.factorize(texts)
    lengths, hashes = _hash_units(distinct.tolist(), unit)
    keys, codes = np.unique(hashes, return_inverse=True)
    return Units(which, _numbers_of(distinct), _starts(lengths), keys, codes.astype(np.int32))


def _starts(lengths: np.ndarray) -> np.ndarray:
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)


def _runs(units: Units, n: int) -> Units:
    """Return the n-grams of units within one text."""
    hashes, lengths = units.keys[units.codes], np.diff(units.starts)
    n_runs = np.maximum(lengths - n + 1, 0)
    n_last = max(hashes.size - n + 1, 0)
    owners = np.repeat(np.arange(lengths.size), lengths)
    within = owners[:n_last] == owners[hashes.size - n_last :]
    runs = np.zeros(int(within.sum()), dtype=np.uint64)
    for i in range(n):
        runs = (runs ^ (runs >> _SHIFT)) * _ODD + hashes[i : i + n_last][within]
    keys, codes = np.unique(runs, return_inverse=True)
    return replace(units, starts=_starts(n_runs), keys=keys, codes=codes.astype(np.int32))


def words_of(text: str) -> list[str]:
    """Return the words of a text, in lower case."""
    low = _plain(text)
    words: list[str] = _word(low.isascii()).findall(low)
    return words


def word_spans(text: str) -> list[tuple[int, int]]:
    """Return the start and end of each word of a text, by the word pattern of tables."""
    return [match.span() for match in _word(text.isascii()).finditer(text)]


def word_hashes(texts: list[str]) -> tuple[np.ndarray, np.ndarray]:
    """Return the number of words of each text, and the hash of each word as in tables."""
    return _hash_units(texts, "words")


def _plain(text: str) -> str:
    low = text.lower()
    return low if low.isascii() else unicodedata.normalize("NFC", low)


def _hash_units(texts: list[str], unit: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the number of words or characters of each text, and the hash of each of them."""
    lengths = np.zeros(len(texts), dtype=np.int64)
    parts, waiting, size = [], [], 0
    for i, text in enumerate(texts):
        low = _plain(text)
        units = low if unit == "characters" else _word(low.isascii()).findall(low)
        lengths[i] = len(units)
        waiting.append(units)
        size += len(low)
        if size > _AT_ONCE:
            parts.append(_hash_batch(waiting, unit))
            waiting, size = [], 0
    parts.append(_hash_batch(waiting, unit))
    return lengths, np.concatenate(parts)


def _hash_batch(texts: list[Any], unit: str) -> np.ndarray:
    if unit == "characters":
        points = np.frombuffer("".join(texts).encode("utf-32-le"), dtype="<u4").astype(np.uint64)
        return (points + np.uint64(1)) * _ODD
    words = np.array([word for text in texts for word in text], dtype=object)
    codes, distinct = pd.factorize(words)
    return hash_array(np.asarray(distinct, dtype=object), categorize=False)[codes]


@cache
def _word(ascii_only: bool) -> re.Pattern[str]:
    """Return the pattern of words, with marks if not `ascii_only`."""
    if ascii_only:
        return re.compile(r"\w+")
    points = range(sys.maxunicode + 1)
    marks = np.array([p for p in points if unicodedata.category(chr(p)).startswith("M")])
    ends = np.flatnonzero(np.diff(marks) > 1)
    first, last = marks[np.r_[0, ends + 1]], marks[np.r_[ends, marks.size - 1]]
    ranges = "".join(f"{chr(a)}-{chr(b)}" for a, b in zip(first, last, strict=True))
    return re.compile(f"[{_SPACELESS}]|(?:[^\\W{_SPACELESS}]|[{ranges}])+")


def text_numbers(context: Context, source: str | pd.DataFrame, texts: Sequence[str]) -> np.ndarray:
    """Return a number for each text of a table, equal for equal texts, or nan if missing.

    The source is a role, or a table of canonical rows without a role.
    """
    n_rows = context.n_rows(source) if isinstance(source, str) else len(source)
    read = [
        units_of(context, source, column)
        if isinstance(source, str)
        else _read(texts_of(source, column), "words")
        for column in texts
    ]
    numbers = [np.append(units.numbers, np.nan)[units.which] for units in read]
    return np.column_stack([np.empty((n_rows, 0)), *numbers])


@shared
def text_source(
    context: Context, column: str, vectorizer: Any = "tfidf", further: pd.DataFrame | None = None
) -> TextSource:
    """Return the distinct texts of a column in all tables of the context and `further` rows."""
    roles = [role for role in _ROLES if role in context]
    tables = [units_of(context, role, column) for role in roles]
    frames = [context[role] for role in roles]
    if further is not None:
        tables.append(_read(texts_of(further, column), "words"))
        frames.append(further)
    numbers, first = np.unique(np.concatenate([t.numbers for t in tables]), return_index=True)
    keys = np.unique(np.concatenate([t.keys for t in tables]))
    lengths = np.concatenate([np.diff(t.starts) for t in tables])
    words = np.concatenate([np.searchsorted(keys, t.keys)[t.codes] for t in tables])
    # a word that occurs twice in a text is counted when the duplicates are summed
    pooled = csr_array(
        (np.ones(words.size, dtype=np.float64), words, _starts(lengths)),
        shape=(lengths.size, keys.size),
    )
    pooled.sum_duplicates()
    counts = csr_array(vstack([pooled[first], csr_array((1, keys.size))]))
    texts, vectors = np.empty(0, dtype=object), np.empty((0, 0))
    if not isinstance(vectorizer, str):
        texts = _texts_by_number([texts_of(frame, column) for frame in frames], numbers)
        if hasattr(vectorizer, "encode"):
            vectors = vectors_of(vectorizer, texts.tolist())
            vectors = np.vstack([vectors, np.zeros((1, vectors.shape[1]))])
    return TextSource(numbers, counts, texts, vectors, vectorizer)


def _texts_by_number(tables: Sequence[np.ndarray], numbers: np.ndarray) -> np.ndarray:
    _, distinct = pd.factorize(np.concatenate(tables))
    texts = np.full(numbers.size, "", dtype=object)
    texts[np.searchsorted(numbers, _numbers_of(distinct))] = distinct
    return texts


def _numbers_of(texts: Any) -> np.ndarray:
    hashes = hash_array(np.asarray(texts, dtype=object), categorize=False)
    return (hashes >> np.uint64(11)).astype(np.float64)


def unread_texts(context: Context, spaces: Sequence[Any]) -> tuple[MetricWarning, ...]:
    """Return a warning with the text columns if metrics in these spaces ignore them."""
    texts = ", ".join(
        f"{table}.{name}" if table else name
        for table, own in context.single_tables()
        for name in own.schema.columns("text")
    )
    if not texts or all(getattr(space, "embedder", None) is not None for space in spaces):
        return ()
    cure = ", and distances include them with space=TablePreprocessor(embedder=...)"
    said = _LEFT_OUT.format(texts=texts, which="skeval.text", cure=cure)
    return (TextLeftOutWarning(said),)
