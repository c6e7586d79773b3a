"""Real rows that are near in what can be measured and alike in free text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from skeval.context import Context, shared
from skeval.preprocessing import NOMINAL
from skeval.privacy.compared import ROLES, text_values
from skeval.stats.contrasts import distinct_rows
from skeval.stats.near_pairs import NearPairs, euclidean_pairs, gower_pairs
from skeval.stats.texts import TokenSets, in_rounds, similar, similar_pairs, token_sets
from skeval.steps import chosen_columns, encoded, index_of, is_gower, ranges
from skeval.steps.samples import ColumnChoice

__all__ = ["NearRule", "Profiles", "near_texts", "profiles"]

_CROWD = 64  # rows near in what can be measured: up to so many, texts are compared one by one


@dataclass(frozen=True)
class NearRule:
    """When rows are near: within a distance of `tau`, with texts similar at least by `text`.

    Without `measures` distances do not matter, without `texts` texts do not.
    """

    tau: float
    measures: bool
    space: Any
    columns: ColumnChoice
    texts: tuple[str, ...]
    text: float


@dataclass(frozen=True)
class Profiles:
    """Distinct rows: what can be measured of them, the number of their texts, how often each is."""

    measured: np.ndarray
    texts: np.ndarray
    counts: Mapping[str, np.ndarray]

    def count(self, role: str) -> np.ndarray:
        """Return how often each distinct row stands in a table; nowhere in one not looked at."""
        return self.counts.get(role, np.zeros(self.texts.size, dtype=np.int64))


@shared
def text_sets(context: Context, texts: tuple[str, ...]) -> TokenSets:
    """Return the token sets of text columns over all tables."""
    return token_sets([text_values(context, column) for column in texts])


def profiles(
    context: Context, rule: NearRule, roles: tuple[str, ...], rows: np.ndarray | None = None
) -> Profiles:
    """Return the distinct rows of some tables; of one table perhaps only the `rows` of a mask."""
    parts = []
    for role in roles:
        part = np.zeros((context.n_rows(role), 1))
        if rule.texts:
            part[:, 0] = _text_numbers(context, rule.texts, role)
        if rule.measures:
            part = np.column_stack([part, encoded(context, role, rule.space, rule.columns)])
        parts.append(part if rows is None else part[rows])
    distinct, which = distinct_rows(np.concatenate(parts))
    ends = np.cumsum([len(part) for part in parts])[:-1]
    counts = [np.bincount(part, minlength=len(distinct)) for part in np.split(which, ends)]
    by_role = dict(zip(roles, counts, strict=True))
    return Profiles(distinct[:, 1:], distinct[:, 0].astype(np.int64), by_role)


def _text_numbers(context: Context, texts: tuple[str, ...], role: str) -> np.ndarray:
    present = [r for r in ROLES if r in context]
    ends = np.cumsum([context.n_rows(r) for r in present])[:-1]
    return np.split(text_sets(context, texts).which, ends)[present.index(role)]


def near_texts(
    context: Context, rule: NearRule, queries: Profiles, real: Profiles, longest: int
) -> NearPairs:
    """Find the real rows near each query.

    Where few real rows are near in what can be measured, their texts are compared one by one; the
    other queries go the other way round, from the rows with similar texts to their distances.

    Parameters
    ----------
    context : Context
        The tables.
    rule : NearRule
        What near means; it has texts.
    queries : Profiles
        Distinct rows of one table.
    real : Profiles
        Distinct real rows, counted in train and in the holdout.
    longest : int
        How many near rows are kept for each query.

    Returns
    -------
    NearPairs
    """
    in_train, in_holdout = (real.count(role) > 0 for role in ("train", "holdout"))
    found = NearPairs(len(queries.texts), in_train, in_holdout, longest)
    crowded = np.ones(len(queries.texts), dtype=np.bool_)
    if rule.measures and len(queries.texts):
        index = index_of(context, real.measured, rule.space, rule.columns)
        radius = np.full(len(queries.texts), rule.tau)
        _, near = index.kneighbors(queries.measured, _CROWD + 1, radius)
        crowded = (near >= 0).sum(axis=1) > _CROWD
        i, place = np.nonzero((near >= 0) & ~crowded[:, None])
        j = near[i, place]
        sets = text_sets(context, rule.texts)
        alike = similar(sets, queries.texts[i], real.texts[j], rule.text)
        found.add(i[alike], j[alike])
    if crowded.any():
        _add_by_text(context, rule, queries, real, np.flatnonzero(crowded), found)
    return found


def _add_by_text(
    context: Context,
    rule: NearRule,
    queries: Profiles,
    real: Profiles,
    wanted: np.ndarray,
    found: NearPairs,
) -> None:
    sets = text_sets(context, rule.texts)
    mine, theirs = _ByText.of(queries.texts, wanted), _ByText.of(real.texts)
    done = np.zeros(sets.columns[0].shape[0], dtype=np.bool_)
    for i, j in similar_pairs(sets, mine.texts, theirs.texts, rule.text, done):
        for pair, place in in_rounds(*mine.slices(i), i, done):
            query = mine.rows[place]
            for which, other in in_rounds(*theirs.slices(j[pair]), query, found.done):
                a, b = query[which], theirs.rows[other]
                near = _within(context, rule, queries.measured[a], real.measured[b])
                found.add(a[near], b[near])
        done[mine.texts] = mine.all_of(found.done)


@dataclass(frozen=True)
class _ByText:
    """Rows in the order of their texts."""

    rows: np.ndarray
    texts: np.ndarray
    starts: np.ndarray

    @classmethod
    def of(cls, numbers: np.ndarray, rows: np.ndarray | None = None) -> _ByText:
        rows = np.arange(numbers.size) if rows is None else rows
        rows = rows[np.argsort(numbers[rows], kind="stable")]
        texts, starts = np.unique(numbers[rows], return_index=True)
        return cls(rows, texts, np.append(starts, rows.size))

    def slices(self, texts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return from where to where the rows of each text are."""
        at = np.searchsorted(self.texts, texts)
        return self.starts[at], self.starts[at + 1]

    def all_of(self, holds: np.ndarray) -> np.ndarray:
        """Return for each text whether something holds of all of its rows."""
        found: np.ndarray = np.logical_and.reduceat(holds[self.rows], self.starts[:-1])
        return found


def _within(context: Context, rule: NearRule, rows: np.ndarray, others: np.ndarray) -> np.ndarray:
    if not rule.measures:
        return np.ones(len(rows), dtype=np.bool_)
    if not is_gower(rule.space):
        return euclidean_pairs(rows, others) <= rule.tau
    n_numbers = rows.shape[1] - len(
        set(chosen_columns(context.schema, rule.columns)) & set(context.schema.columns(*NOMINAL))
    )
    is_nominal = np.arange(rows.shape[1]) >= n_numbers
    found: np.ndarray = (
        gower_pairs(rows, others, ranges(context, rule.columns), is_nominal) <= rule.tau
    )
    return found
