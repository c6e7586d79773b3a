"""Real rows that are near in the measured columns and similar in free text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from skeval.core.context import Context, shared
from skeval.neighbors.brute import euclidean_pairs, gower_pairs
from skeval.privacy.similar_texts import TokenSets, similar, similar_pairs, token_sets
from skeval.stats.matches import MatchLists, distinct_rows
from skeval.steps.column_choice import ColumnChoice
from skeval.steps.encoded_rows import encoded_columns, encoded_matrix, is_gower, preprocessor
from skeval.steps.neighbors import gower_engine, index_of

ROLES = ("train", "holdout", "synthetic")
CROWD = 64  # if more rows are near in the measured columns, texts are joined first


@dataclass(frozen=True)
class NearRule:
    """Rule for near rows: distance at most `tau`, text similarity at least `text`."""

    # Without `measures` distances do not matter, without `texts` texts do not. Texts of at
    # most `edit_length` characters may be similar by edit distance.

    tau: float
    measures: bool
    space: Any
    columns: ColumnChoice
    texts: tuple[str, ...]
    text: float
    edit_length: int = 0


@dataclass(frozen=True)
class Profiles:
    """Distinct rows with their measured columns, the number of their texts, and their frequency."""

    measured: np.ndarray
    texts: np.ndarray
    counts: Mapping[str, np.ndarray]

    def count(self, role: str) -> np.ndarray:
        """Return how often each distinct row occurs in a table, 0 if the table was not read."""
        return self.counts.get(role, np.zeros(self.texts.size, dtype=np.int64))


def text_values(context: Context, column: str) -> np.ndarray:
    """Return the texts of one column over all tables, None where missing."""
    roles = [role for role in ROLES if role in context]
    pooled = pd.concat([context.column(role, column) for role in roles], ignore_index=True)
    return pooled.map(str, na_action="ignore").to_numpy(dtype=object)


@shared
def text_sets(context: Context, texts: tuple[str, ...], edit_length: int = 0) -> TokenSets:
    """Return the token sets of text columns over all tables."""
    return token_sets([text_values(context, column) for column in texts], edit_length)


def profiles(
    context: Context, rule: NearRule, roles: tuple[str, ...], rows: np.ndarray | None = None
) -> Profiles:
    """Return the distinct rows of some tables, or for one table the `rows` of a mask."""
    parts = []
    for role in roles:
        part = np.zeros((context.n_rows(role), 1))
        if rule.texts:
            part[:, 0] = _text_numbers(context, rule, role)
        if rule.measures:
            part = np.column_stack([part, encoded_matrix(context, role, rule.space, rule.columns)])
        parts.append(part if rows is None else part[rows])
    places = [0, *(1 + _by_name(context, rule))] if rule.measures else [0]
    distinct, which = distinct_rows(np.concatenate(parts)[:, places])
    distinct = distinct[:, np.argsort(places)]
    ends = np.cumsum([len(part) for part in parts])[:-1]
    counts = [np.bincount(part, minlength=len(distinct)) for part in np.split(which, ends)]
    by_role = dict(zip(roles, counts, strict=True))
    return Profiles(distinct[:, 1:], distinct[:, 0].astype(np.int64), by_role)


def _by_name(context: Context, rule: NearRule) -> np.ndarray:
    """Return the features in an order independent of the columns, unchanged for a transformer."""
    if is_gower(rule.space):
        chosen = rule.columns if isinstance(rule.columns, tuple) else context.schema.measured
        names = [name for name in encoded_columns(context.schema) if name in chosen]
    elif isinstance(rule.space, str):
        names = list(preprocessor(context, rule.space).get_feature_names_out())
    else:
        return np.arange(encoded_matrix(context, "train", rule.space).shape[1])
    return np.argsort(np.array(names, dtype=object), kind="stable")


def _text_numbers(context: Context, rule: NearRule, role: str) -> np.ndarray:
    present = [r for r in ROLES if r in context]
    ends = np.cumsum([context.n_rows(r) for r in present])[:-1]
    return np.split(text_sets(context, rule.texts, rule.edit_length).which, ends)[
        present.index(role)
    ]


def near_texts(
    context: Context, rule: NearRule, queries: Profiles, real: Profiles, longest: int
) -> NearPairs:
    """Find the real rows near each query."""
    # If few real rows are near in the measured columns, their texts are compared one by one. The
    # other queries use the opposite order, from the rows with similar texts to their distances.
    in_train, in_holdout = (real.count(role) > 0 for role in ("train", "holdout"))
    pairs = NearPairs(len(queries.texts), in_train, in_holdout, longest)
    sets = text_sets(context, rule.texts, rule.edit_length)
    crowded = np.ones(len(queries.texts), dtype=np.bool_)
    if rule.measures and len(queries.texts):
        index = index_of(context, real.measured, rule.space, rule.columns)
        radius = np.full(len(queries.texts), rule.tau)
        _, near = index.kneighbors(queries.measured, CROWD + 1, radius)
        crowded = (near >= 0).sum(axis=1) > CROWD
        i, place = np.nonzero((near >= 0) & ~crowded[:, None])
        j = near[i, place]
        alike = similar(sets, queries.texts[i], real.texts[j], rule.text)
        pairs.add(i[alike], j[alike])
    left, right = np.where(crowded, queries.texts, -1), real.texts
    for i, j in similar_pairs(sets, left, right, rule.text, pairs.done):
        within = _pairs_within_tau(context, rule, queries.measured[i], real.measured[j])
        pairs.add(i[within], j[within])
    return pairs


def _pairs_within_tau(
    context: Context, rule: NearRule, rows: np.ndarray, others: np.ndarray
) -> np.ndarray:
    if not rule.measures:
        return np.ones(len(rows), dtype=np.bool_)
    if not is_gower(rule.space):
        return euclidean_pairs(rows, others) <= rule.tau
    engine = gower_engine(context, rule.columns)
    ranges, categorical = np.asarray(engine.ranges), np.asarray(engine.categorical)
    return gower_pairs(rows, others, ranges, categorical) <= rule.tau


class NearPairs:
    """Real rows that were found near each query, limited to the rows that are needed."""

    def __init__(
        self, n_queries: int, in_train: np.ndarray, in_holdout: np.ndarray, longest: int
    ) -> None:
        self._in_train, self._in_holdout, self._longest = in_train, in_holdout, longest
        self.near_train = np.zeros(n_queries, dtype=np.bool_)
        self.near_holdout, self.done = self.near_train.copy(), self.near_train.copy()
        self._lengths = np.zeros(n_queries, dtype=np.int64)
        empty = np.empty(0, dtype=np.int64)
        self._kept = [(empty, empty)]

    def add(self, queries: np.ndarray, values: np.ndarray) -> None:
        """Add pairs of a query and a distinct real row, which may be known already."""
        self.near_train[queries[self._in_train[values]]] = True
        self.near_holdout[queries[self._in_holdout[values]]] = True
        open_ = self._lengths[queries] < self._longest
        self._kept.append((queries[open_], values[open_]))
        # pairs that occur again may be counted twice, so some list may end a little early
        self._lengths += np.bincount(queries[open_], minlength=self._lengths.size)
        self.done |= self._lengths >= self._longest
        self.done &= self.near_train | (not self._in_train.any())
        self.done &= self.near_holdout | (not self._in_holdout.any())

    def lists(self, weights: np.ndarray, n_rows: int) -> MatchLists:
        """Return the lists of the queries that have any; `weights` are the rows of each query."""
        both = [np.concatenate(part) for part in zip(*self._kept, strict=True)]
        pairs = pd.DataFrame(np.column_stack(both)).drop_duplicates()
        kept = pairs[pairs.groupby(0).cumcount() < self._longest]
        return MatchLists.of_pairs(kept[0].to_numpy(), kept[1].to_numpy(), weights, n_rows)
