"""Distinct texts of all tables with their words, owners and exchangeable units."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Annotated, Any

import numpy as np
import pandas as pd
from scipy.sparse import csr_array

from skeval.core.base import Metric
from skeval.core.context import Context, shared
from skeval.core.declared import declared
from skeval.exceptions import InvalidParameterError
from skeval.stats.permutation_tests import relabelling_test
from skeval.stats.row_scores import exchange_p_value
from skeval.steps.column_choice import ColumnChoice
from skeval.steps.texts import plain_texts, text_columns, units_of
from skeval.tables.keys import key_codes
from skeval.tables.schema import TableSchema
from skeval.utils.parameters import AnyColumns, Count, Legal, Seed

GroupColumn = Annotated[
    str | None,
    Legal(
        "the name of a column or None", lambda value: value is None or isinstance(value, str), -1
    ),
]
Key = tuple[tuple[str, ...], str | None]  # the text columns and the author column
ROLES = ("train", "holdout", "synthetic")
NO_TEXT = "no text of the {role} table has anything but white space."


@dataclass(frozen=True)
class Corpus:
    """The distinct texts of the tables, each once."""

    texts: np.ndarray
    held: Mapping[str, np.ndarray]
    holders: csr_array
    cells: Mapping[tuple[str, str], np.ndarray]
    n_train: int
    n_holdout: int
    n_in_both: int

    def numbers(self, *roles: str) -> np.ndarray:
        """Return the numbers of the texts that any of these tables has."""
        held = [self.held[role] for role in roles if role in self.held]
        return np.flatnonzero(np.logical_or.reduce(held))

    def n_texts(self, role: str) -> int:
        """Return the number of distinct texts of a table."""
        return int(self.held[role].sum())


def chosen_texts(schema: TableSchema, columns: ColumnChoice, group: str | None) -> tuple[str, ...]:
    """Return the text columns to evaluate, without the group column."""
    if group is not None and group not in schema.kinds:
        raise InvalidParameterError(
            f"group names an unknown column: {group}. Columns: {', '.join(schema.kinds)}."
        )
    return tuple(name for name in text_columns(schema, columns) if name != group)


@declared
class CorpusMetric(Metric):
    """Base class of metrics that permute texts or authors between training data and holdout.

    Parameters
    ----------
    columns : None, int or list of str, default=None
        Columns whose texts are evaluated: all free-text columns (None), the first *n* of them, or
        the named columns of any type.
    group : str or None, default=None
        Column with the author. Texts of the same author are similar, so the test permutes authors
        instead of rows. If None, the test permutes rows.
    n_permutations : int, default=1999
        Maximum number of permutations for the p-value. Fewer are used if many of them reach the
        observed value, and none if the p-value is known exactly.
    random_state : int, default=0
        Seed of the permutations.
    """

    _: KW_ONLY
    columns: AnyColumns = None
    group: GroupColumn = None
    n_permutations: Count = 1999
    random_state: Seed = 0

    def _prepare(self, context: Context) -> None:
        self._key(context)

    def _key(self, context: Context) -> Key:
        return chosen_texts(context.schema, self.columns, self.group), self.group


@shared
def corpus(context: Context, columns: tuple[str, ...], group: str | None = None) -> Corpus:
    """Return the distinct texts of all tables, without missing or blank cells."""
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
    named = [context.original_frame(role)[[group]] for role in roles]
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
    """The words of distinct texts, one after the other."""

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
    starts = np.concatenate([[0], np.cumsum(np.concatenate(lengths))])
    known, first = np.unique(np.concatenate(numbers), return_index=True)
    first = first[known >= 0]  # each text once
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
    """Return the number in the corpus of each distinct text of a column, or -1 if blank."""
    numbers = np.full(int(which.max(initial=-1)) + 1, -1)
    cells = corpus(context, columns, group).cells[role, column]
    numbers[which[which >= 0]] = cells[which >= 0]
    return numbers


def text_exchange_p_value(
    texts: Corpus, chosen: np.ndarray, scores: np.ndarray, *, n_permutations: int, seed: int
) -> float:
    """Return the p-value that training texts score higher than holdout texts by this amount."""
    holders = texts.holders[chosen]
    units = np.unique(holders.indices)
    n_train = int((units < texts.n_train).sum())
    if n_train == 0 or n_train == units.size:
        return float("nan")
    if holders.nnz == units.size and np.diff(holders.indptr).max() == 1:
        kept = np.diff(holders.indptr) == 1
        is_train, once = holders.indices < texts.n_train, np.ones(units.size, dtype=np.int64)
        train, holdout = ((scores[kept][side], once[side]) for side in (is_train, ~is_train))
        return exchange_p_value([(train, holdout)], n_permutations=n_permutations, seed=seed)
    held = csr_array(holders[:, units], dtype=np.float32)

    def difference(labels: np.ndarray) -> np.ndarray:
        means = []
        for side in (labels, ~labels):
            there = held @ side.astype(np.float32) > 0
            means.append((scores @ there) / np.maximum(there.sum(axis=0), 1))
        return means[0] - means[1]

    return relabelling_test(
        difference, n_train, units.size - n_train, n_permutations=n_permutations, seed=seed
    ).p_value


def lacking_texts(texts: Corpus, *roles: str) -> str:
    """Return which tables have no text, or an empty string."""
    empty = [role for role in roles if not texts.n_texts(role)]
    return NO_TEXT.format(role=empty[0]) if empty else ""


def sizes(texts: Corpus) -> dict[str, Any]:
    """Return how many distinct texts each table has, and who is exchanged."""
    return {
        "n_texts": {role: texts.n_texts(role) for role in texts.held},
        "n_exchanged": [texts.n_train, texts.n_holdout],
        "n_authors_in_both": texts.n_in_both,
    }
