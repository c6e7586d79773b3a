"""The distinct texts of all tables: who holds them, their words, and who may change places.

Texts as vectors of length 1, what is nearest to them, and contrasts of what they score.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Annotated, Any

import numpy as np
import pandas as pd
from scipy.sparse import csr_array, diags_array, issparse

from skeval.core.base import Metric
from skeval.core.context import Context, shared
from skeval.core.declared import declared
from skeval.exceptions import InvalidParameterError
from skeval.stats.permutation_tests import relabelling_test
from skeval.stats.row_scores import exchange_p_value
from skeval.steps.column_choice import ColumnChoice
from skeval.steps.texts import plain_texts, text_columns, units_of
from skeval.tables.embedding import vectors_of
from skeval.tables.keys import key_codes
from skeval.tables.schema import TableSchema
from skeval.tables.transformers import learned
from skeval.utils.parameters import AnyColumns, Count, Legal, Seed

GroupColumn = Annotated[
    str | None,
    Legal(
        "the name of a column or None", lambda value: value is None or isinstance(value, str), -1
    ),
]
Key = tuple[tuple[str, ...], str | None]  # the columns of texts, and that of their authors
ROLES = ("train", "holdout", "synthetic")
NO_TEXT = "no text of the {role} table has anything but white space."


@dataclass(frozen=True)
class Corpus:
    """The distinct texts of the tables, each once, whoever holds it how often."""

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
    """Return the text columns that are looked at; the column of the groups is none of them."""
    if group is not None and group not in schema.kinds:
        raise InvalidParameterError(
            f"group names {group}, which is no column. Columns: {', '.join(schema.kinds)}."
        )
    return tuple(name for name in text_columns(schema, columns) if name != group)


@declared
class CorpusMetric(Metric):
    """Base of metrics that exchange texts, or their authors, between train and holdout.

    Parameters
    ----------
    columns : None, int or list of str, default=None
        The columns whose texts are looked at: all of free text, the first *n* of these, or names of
        any columns.
    group : str or None, default=None
        The column that names the author. Texts of one author are alike, so that authors are then
        what changes places in the test. Without it, rows are.
    n_permutations : int, default=1999
        Number of relabellings behind the p-value, at most. Fewer are drawn where many reach what
        was observed, and none where the p-value is known exactly.
    random_state : int, default=0
        Seed of the relabellings.
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
    """Return the distinct texts of all tables; what is missing or blank is no text."""
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


_BLOCK = 2**24  # products held at once
Vectors = Any  # csr_array or ndarray of shape (n_texts, n_features), each row of length 1 or 0


@shared
def text_vectors(
    context: Context, columns: tuple[str, ...], group: str | None = None, vectorizer: Any = "tfidf"
) -> Vectors:
    """Return a vector for each distinct text of all tables; what is learned is of the real ones."""
    texts = corpus(context, columns, group)
    real = texts.numbers("train", "holdout")
    if isinstance(vectorizer, str):
        return unit_rows(_tfidf(context, columns, group, real))
    everything = texts.texts.tolist()
    if hasattr(vectorizer, "encode"):
        return unit_rows(vectors_of(vectorizer, everything))
    fitted = learned(vectorizer, sorted(everything[i] for i in real))
    features = fitted.transform(everything)
    if issparse(features):
        return unit_rows(csr_array(features, dtype=np.float64))
    return unit_rows(vectors_of(fitted, everything))


def _tfidf(
    context: Context, columns: tuple[str, ...], group: str | None, real: np.ndarray
) -> csr_array:
    of_texts = words(context, columns, group)
    counts = csr_array(
        (np.ones(of_texts.ids.size), of_texts.ids, of_texts.starts),
        shape=(of_texts.lengths.size, of_texts.n_distinct),
        copy=True,  # what is remembered is read-only
    )
    counts.sum_duplicates()
    n_texts = np.bincount(counts[real].indices, minlength=of_texts.n_distinct)
    counts.data = 1.0 + np.log(counts.data)
    idf = np.log((1.0 + real.size) / (1.0 + n_texts)) + 1.0
    counts.data *= idf[counts.indices]
    return counts


def unit_rows(vectors: Vectors) -> Vectors:
    """Return rows of length 1; those of length 0 stay."""
    if issparse(vectors):
        lengths = np.sqrt(vectors.multiply(vectors).sum(axis=1))
        return csr_array(diags_array(1.0 / np.where(lengths > 0, lengths, 1.0)) @ vectors)
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors / np.where(lengths > 0, lengths, 1.0)


def mean_cosine_distance(vectors: Vectors) -> np.ndarray:
    """Return the mean cosine distance of each vector of length 1 to all others."""
    # The mean of scalar products is the product with the mean: no pair is looked at.
    n = vectors.shape[0]
    own = np.asarray((vectors * vectors).sum(axis=1)).reshape(-1)
    totals = np.asarray(vectors @ np.asarray(vectors.sum(axis=0)).reshape(-1))
    return 1.0 - (totals - own) / max(n - 1, 1)


def nearest_similarity(
    vectors: Vectors, queries: np.ndarray, others: np.ndarray, n_kept: int = 1, *, itself: bool
) -> np.ndarray:
    """Return the largest scalar products of each query with any of the others."""
    own = np.full(queries.size, -1) if itself else places_among(queries, others)
    if issparse(vectors) and (vectors.nnz == 0 or vectors.data.min() >= 0):
        mine, theirs = vectors[queries], vectors[others].tocsc()
        from skeval.neighbors.text_kernels import largest_products

        largest = largest_products(
            mine.indptr.astype(np.int64),
            mine.indices.astype(np.int64),
            mine.data,
            theirs.indptr.astype(np.int64),
            theirs.indices.astype(np.int64),
            theirs.data,
            others.size,
            own,
            n_kept,
        )
        return np.round(np.where(largest < 0.0, -np.inf, largest), 9)

    def products(rows: np.ndarray) -> np.ndarray:
        found = vectors[rows] @ vectors[others].T
        return np.asarray(found.toarray() if issparse(found) else found)

    return largest_in_blocks(products, queries, own, others.size, n_kept)


def places_among(queries: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Return the place of each query among the others, -1 for none."""
    places = np.searchsorted(others, queries)
    inside = np.append(others, -1)[places] == queries
    return np.where(inside, places, -1)


def largest_in_blocks(
    nearness: Callable[[np.ndarray], np.ndarray],
    queries: np.ndarray,
    own: np.ndarray,
    n_others: int,
    n_kept: int,
) -> np.ndarray:
    """Return the largest values of each query, descending; -inf where there are no more."""
    largest = np.full((queries.size, n_kept), -np.inf)
    k = min(n_kept, n_others)
    n_blocks = max(1, -(-queries.size * n_others // _BLOCK))
    for part in np.array_split(np.arange(queries.size), n_blocks) if k else []:
        values = nearness(queries[part])
        mine = np.flatnonzero(own[part] >= 0)
        values[mine, own[part][mine]] = -np.inf
        best = np.partition(values, n_others - k, axis=1)[:, n_others - k :]
        largest[part, :k] = -np.sort(-best, axis=1)
    return np.round(largest, 9)


def copied_or_nearest(vectors: Vectors, queries: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Return the largest similarity of each query with any of the others; 1 where it is one."""
    similarity = nearest_similarity(vectors, queries, others, itself=True)[:, 0]
    return np.clip(np.where(np.isin(queries, others), 1.0, similarity), 0.0, 1.0)


def exchanged(
    texts: Corpus, chosen: np.ndarray, scores: np.ndarray, *, n_permutations: int, seed: int
) -> float:
    """Return how often texts of train score as far above those of the holdout by chance."""
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
    """Return which of the tables has no text; empty if all have."""
    empty = [role for role in roles if not texts.n_texts(role)]
    return NO_TEXT.format(role=empty[0]) if empty else ""


def sizes(texts: Corpus) -> dict[str, Any]:
    """Return how many distinct texts each table has, and who is exchanged."""
    return {
        "n_texts": {role: texts.n_texts(role) for role in texts.held},
        "n_exchanged": [texts.n_train, texts.n_holdout],
        "n_authors_in_both": texts.n_in_both,
    }
