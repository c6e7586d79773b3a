"""The distinct texts of all tables: who holds them, their words, and who may change places."""

from __future__ import annotations

import re
import sys
import unicodedata
from array import array
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Annotated

import numpy as np
import pandas as pd
from scipy.sparse import csr_array

from skeval.context import Context, shared
from skeval.exceptions import InvalidParameterError
from skeval.parameters import AnyColumns, Legal
from skeval.privacy.near_texts import ROLES, text_values
from skeval.tables.schema import TableSchema

TextColumns = AnyColumns
GroupColumn = Annotated[
    str | None,
    Legal(
        "the name of a column or None", lambda value: value is None or isinstance(value, str), -1
    ),
]
NO_TEXT = "no text of the {role} table has anything but white space."
# scripts that leave no space between words: each character is a word of its own
_SPACELESS = (
    "\u0e00-\u0e7f\u0e80-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
)
_ASCII_WORD = re.compile(r"[a-z0-9_]+")


@dataclass(frozen=True)
class Corpus:
    """The distinct texts of the tables, each once, whoever holds it how often.

    Attributes
    ----------
    texts : ndarray of shape (n_texts,)
        Sorted, so that their numbers depend on what they say and not on where they stand.
    held : dict of str to ndarray of bool of shape (n_texts,)
        By role, which of them stand in the table.
    holders : csr_array of shape (n_texts, n_units)
        Which real documents, or authors, hold a text. Those of train come first. Authors that stand
        in train and in the holdout cannot change places, and are no units.
    n_train, n_holdout : int
        Number of units of each.
    n_in_both : int
        Number of authors in both tables.
    """

    texts: np.ndarray
    held: Mapping[str, np.ndarray]
    holders: csr_array
    n_train: int
    n_holdout: int
    n_in_both: int

    def numbers(self, *roles: str) -> np.ndarray:
        """Return the numbers of the texts that stand in any of these tables."""
        held = [self.held[role] for role in roles if role in self.held]
        return np.flatnonzero(np.logical_or.reduce(held))

    def n_texts(self, role: str) -> int:
        """Return the number of distinct texts of a table."""
        return int(self.held[role].sum())


def text_columns(schema: TableSchema, columns: TextColumns, group: str | None) -> tuple[str, ...]:
    """Return the columns whose texts are looked at: those of free text, or those that are named.

    Raises
    ------
    InvalidParameterError
        If a name, or the column of the groups, is no column of the table.
    """
    named = [] if columns is None or isinstance(columns, int | np.integer) else list(columns)
    if unknown := [n for n in [*named, *([group] if group else [])] if n not in schema.kinds]:
        raise InvalidParameterError(
            f"columns or group names {', '.join(unknown)}, which the table does not have. "
            f"It has {', '.join(schema.kinds)}."
        )
    if named:
        return tuple(sorted(named))
    texts = [name for name in schema.columns("text") if name != group]
    return tuple(texts[: columns if isinstance(columns, int | np.integer) else None])


@shared
def corpus(context: Context, columns: tuple[str, ...], group: str | None = None) -> Corpus:
    """Return the distinct texts of all tables; what is missing or blank is no text.

    Parameters
    ----------
    context : Context
        The tables.
    columns : tuple of str
        Where texts stand; those of a row in several columns count each.
    group : str, optional
        The column that names the author; rows that name none are authors of their own. Without it,
        each row is a document of its own.
    """
    roles = [role for role in ROLES if role in context]
    sizes = [context.n_rows(role) for role in roles]
    by_column = [text_values(context, column) for column in columns]
    cells = np.concatenate(by_column) if by_column else np.empty(0, dtype=object)
    rows = np.tile(np.arange(sum(sizes)), len(columns))
    kept = np.array([t is not None and t == t and bool(str(t).strip()) for t in cells], dtype=bool)
    codes, texts = pd.factorize(cells[kept], sort=True)
    rows, ends = rows[kept], np.cumsum(sizes)
    role_of = np.searchsorted(ends, rows, side="right")
    held = {
        role: np.bincount(codes[role_of == i], minlength=len(texts)) > 0
        for i, role in enumerate(roles)
    }
    units, n_train, n_holdout, n_in_both = _units(context, group)
    real = rows < units.size
    text, unit = codes[real], units[rows[real]]
    pairs = np.unique(np.column_stack([text, unit])[unit >= 0], axis=0)
    shape = len(texts), n_train + n_holdout
    holders = csr_array((np.ones(len(pairs), np.int8), (pairs[:, 0], pairs[:, 1])), shape=shape)
    everything = np.asarray(texts, dtype=object)
    return Corpus(everything, held, holders, n_train, n_holdout, n_in_both)


def _units(context: Context, group: str | None) -> tuple[np.ndarray, int, int, int]:
    """Return the unit of each real row, -1 for none, how many there are, and authors in both."""
    n_train = context.n_rows("train")
    n_holdout = context.n_rows("holdout") if "holdout" in context else 0
    if group is None:
        return np.arange(n_train + n_holdout), n_train, n_holdout, 0
    names = [context[role][group] for role in ("train", "holdout") if role in context]
    values = pd.concat(names, ignore_index=True).astype(object)
    codes, distinct = pd.factorize(values)
    codes[codes < 0] = len(distinct) + np.arange((codes < 0).sum())
    sides = np.zeros((codes.max(initial=-1) + 1, 2), dtype=bool)
    sides[codes[:n_train], 0] = True
    sides[codes[n_train:], 1] = True
    in_train, in_holdout = sides[:, 0] & ~sides[:, 1], sides[:, 1] & ~sides[:, 0]
    number = np.full(len(sides), -1)
    number[in_train] = np.arange(in_train.sum())
    number[in_holdout] = in_train.sum() + np.arange(in_holdout.sum())
    return number[codes], int(in_train.sum()), int(in_holdout.sum()), int(sides.all(axis=1).sum())


@dataclass(frozen=True)
class Words:
    """The words of distinct texts, one after the other.

    Attributes
    ----------
    ids : ndarray of int32 of shape (n_words,)
        Numbers of words in the order of the alphabet.
    starts : ndarray of shape (n_texts + 1,)
        Text `i` is the slice ``starts[i]:starts[i + 1]``.
    n_distinct : int
        Number of different words.
    """

    ids: np.ndarray
    starts: np.ndarray
    n_distinct: int

    @property
    def lengths(self) -> np.ndarray:
        """Number of words of each text."""
        return np.diff(self.starts)


@shared
def words(context: Context, columns: tuple[str, ...], group: str | None = None) -> Words:
    """Return the words of the distinct texts of all tables."""
    numbers: dict[str, int] = {}
    ids, ends = array("i"), [0]
    for text in corpus(context, columns, group).texts:
        ids.extend([numbers.setdefault(word, len(numbers)) for word in words_of(text)])
        ends.append(len(ids))
    order = np.empty(len(numbers), dtype=np.int32)
    for place, word in enumerate(sorted(numbers)):
        order[numbers[word]] = place
    found = np.frombuffer(ids, dtype=np.int32) if ids else np.empty(0, np.int32)
    return Words(order[found], np.array(ends, dtype=np.int64), len(numbers))


def words_of(text: str) -> list[str]:
    """Return the words of a text, in lower case: runs of letters, marks, digits and underscores.

    In scripts without spaces, such as Chinese or Thai, each character is a word.

    Examples
    --------
    >>> from skeval.text.corpus import words_of
    >>> words_of("Don't PANIC, 42!"), words_of("cafe\u0301") == words_of("CAFÉ")
    (['don', 't', 'panic', '42'], True)
    >>> len(words_of("一二三"))
    3
    """
    if text.isascii():
        return _ASCII_WORD.findall(text.lower())
    return _word().findall(unicodedata.normalize("NFKC", text).lower())


@cache
def _word() -> re.Pattern[str]:
    """Return the pattern of a word: Python's own has no marks, which Arabic and Hindi need."""
    marks = [c for c in range(0x300, sys.maxunicode) if unicodedata.category(chr(c))[0] == "M"]
    runs = np.split(marks, np.flatnonzero(np.diff(marks) > 1) + 1)
    in_words = "".join(f"{chr(run[0])}-{chr(run[-1])}" for run in runs)
    return re.compile(rf"[{_SPACELESS}]|(?:[^\W{_SPACELESS}]|[{in_words}])+")
