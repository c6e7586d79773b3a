"""The distinct texts of all tables: who holds them, their words, and who may change places."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

import numpy as np
import pandas as pd
from scipy.sparse import csr_array

from skeval.context import Context, shared
from skeval.exceptions import InvalidParameterError
from skeval.parameters import Legal
from skeval.steps.samples import ColumnChoice
from skeval.steps.texts import plain_texts, text_columns, units_of
from skeval.tables.keys import key_codes
from skeval.tables.schema import TableSchema

GroupColumn = Annotated[
    str | None,
    Legal(
        "the name of a column or None", lambda value: value is None or isinstance(value, str), -1
    ),
]
ROLES = ("train", "holdout", "synthetic")
NO_TEXT = "no text of the {role} table has anything but white space."


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
    cells : dict of (str, str) to ndarray of shape (n_rows,)
        By role and column, the number of each row's text; -1 for none.
    n_train, n_holdout : int
        Number of units of each.
    n_in_both : int
        Number of authors in both tables.
    """

    texts: np.ndarray
    held: Mapping[str, np.ndarray]
    holders: csr_array
    cells: Mapping[tuple[str, str], np.ndarray]
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


def chosen_texts(schema: TableSchema, columns: ColumnChoice, group: str | None) -> tuple[str, ...]:
    """Return the text columns that are looked at; the column of the groups is none of them.

    Raises
    ------
    InvalidParameterError
        If a name is not one of a text column, or the column of the groups is none of the table.
    """
    if group is not None and group not in schema.kinds:
        raise InvalidParameterError(
            f"group names {group}, which is no column. Columns: {', '.join(schema.kinds)}."
        )
    return tuple(name for name in text_columns(schema, columns) if name != group)


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
    places = [(role, column) for role in ROLES if role in context for column in columns]
    values = [plain_texts(context, role, column) for role, column in places]
    pooled = np.concatenate([np.empty(0, dtype=object), *values])
    blank = np.array([text is None or text != text or not text.strip() for text in pooled], bool)
    codes = np.full(pooled.size, -1)
    codes[~blank], texts = pd.factorize(pooled[~blank], sort=True)
    parts = np.split(codes, np.cumsum([part.size for part in values])[:-1])
    cells = dict(zip(places, parts, strict=True))
    held = {role: np.zeros(len(texts), dtype=np.bool_) for role in ROLES if role in context}
    units, n_train, n_holdout, n_in_both = _units(context, group)
    pairs = [np.empty((0, 2), dtype=np.int64)]
    for (role, _), numbers in cells.items():
        held[role][numbers[numbers >= 0]] = True
        if role != "synthetic":
            of_role = units[: numbers.size] if role == "train" else units[-numbers.size :]
            pair = np.column_stack([numbers, of_role])
            pairs.append(pair[(pair >= 0).all(axis=1)])
    text, unit = np.unique(np.concatenate(pairs), axis=0).T
    shape = len(texts), n_train + n_holdout
    holders = csr_array((np.ones(text.size, dtype=np.int8), (text, unit)), shape=shape)
    return Corpus(
        np.asarray(texts, dtype=object), held, holders, cells, n_train, n_holdout, n_in_both
    )


def _units(context: Context, group: str | None) -> tuple[np.ndarray, int, int, int]:
    """Return the unit of each real row, -1 for none, how many there are, and authors in both."""
    n_train = context.n_rows("train")
    n_holdout = context.n_rows("holdout") if "holdout" in context else 0
    if group is None:
        return np.arange(n_train + n_holdout), n_train, n_holdout, 0
    roles = [role for role in ("train", "holdout") if role in context]
    named = [context.given(role)[[group]] for role in roles]
    # as keys are compared: 7, 7.0 and "7" are one author
    codes = np.concatenate(key_codes(named[0], named[-1])[: len(roles)])
    codes[codes < 0] = codes.max(initial=-1) + 1 + np.arange((codes < 0).sum())
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
        Which of the different words each is.
    starts : ndarray of shape (n_texts + 1,)
        Text `i` is the slice ``starts[i]:starts[i + 1]``.
    keys : ndarray of uint64 of shape (n_distinct,)
        Hashes of the different words, ascending.
    """

    ids: np.ndarray
    starts: np.ndarray
    keys: np.ndarray

    @property
    def n_distinct(self) -> int:
        """Number of different words."""
        return self.keys.size

    @property
    def lengths(self) -> np.ndarray:
        """Number of words of each text."""
        return np.diff(self.starts)


@shared
def words(context: Context, columns: tuple[str, ...], group: str | None = None) -> Words:
    """Return the words of the distinct texts of all tables."""
    numbers, lengths, hashes = [], [], []
    for role in (role for role in ROLES if role in context):
        for column in columns:
            units = units_of(context, role, column)
            hashes.append(units.keys[units.codes])
            lengths.append(np.diff(units.starts))
            numbers.append(_text_numbers(context, role, column, units.which, columns, group))
    number, starts = (
        np.concatenate(numbers),
        np.concatenate([[0], np.cumsum(np.concatenate(lengths))]),
    )
    known, first = np.unique(number, return_index=True)
    first = first[known >= 0]  # each text once, wherever it stands
    n_words = np.diff(starts)[first]
    at = np.repeat(starts[first] - np.cumsum(n_words) + n_words, n_words) + np.arange(n_words.sum())
    keys, ids = np.unique(np.concatenate(hashes)[at], return_inverse=True)
    return Words(ids.astype(np.int32), np.concatenate([[0], np.cumsum(n_words)]), keys)


def _text_numbers(
    context: Context,
    role: str,
    column: str,
    which: np.ndarray,
    columns: tuple[str, ...],
    group: str | None,
) -> np.ndarray:
    """Return the number in the corpus of each distinct text of a column; -1 for a blank one."""
    numbers = np.full(int(which.max(initial=-1)) + 1, -1)
    cells = corpus(context, columns, group).cells[role, column]
    numbers[which[which >= 0]] = cells[which >= 0]
    return numbers
