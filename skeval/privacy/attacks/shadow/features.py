"""Features or scores that an attacker computes from a synthetic table."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated

import numpy as np
import pandas as pd
from scipy.special import expit

from skeval.core.context import Context
from skeval.privacy.attacks.shadow.game import ALL, GameRows
from skeval.privacy.attacks.shadow.row_features import (
    Domain,
    Queries,
    Reader,
    closest_features,
    corr_features,
    hist_features,
    naive_features,
    row_distances,
)
from skeval.steps.samples import sample_positions
from skeval.utils.parameters import some_of

FEATURES = ("naive", "hist", "corr", "query", "closest")
_OF_COLUMNS = {"naive": naive_features, "hist": hist_features}
_OF_ROWS = ("query", "closest")
_N_QUERIES = 1000
_N_NEAREST = 5
MAX_PAIRED = 50  # maximum number of columns for all correlations, as a forest uses few of them
_TIE = float(np.nextafter(0.5, 0.0))  # equal to the population, so the row has no effect


def feature_names(features: str | Sequence[str], *, learns: bool = True) -> tuple[str, ...]:
    """Return the kinds of features without duplicates. "ensemble" selects all of them.

    Features of whole tables require an attacker who learns from tables.
    """
    names = (features,) if isinstance(features, str) else tuple(features)
    chosen = FEATURES if "ensemble" in names else names
    known = FEATURES if learns else _OF_ROWS
    return tuple(name for name in known if name in chosen)


_CHOICES = (*FEATURES, "ensemble")
_ENSEMBLE_OR = f"'ensemble', or one or several of {', '.join(map(repr, FEATURES))}"
FeatureChoice = Annotated[str | Sequence[str], some_of(_ENSEMBLE_OR, _CHOICES, _CHOICES)]


@dataclass(frozen=True)
class TableFeatures:
    """The features of a table, for one target or for each."""

    reader: Reader
    domain: Domain
    names: tuple[str, ...]
    queries: Queries
    targets: np.ndarray
    radii: np.ndarray
    paired: np.ndarray

    def __call__(self, table: pd.DataFrame, target: int) -> list[np.ndarray]:
        """Return one vector for the target, or one for each target for `ALL`."""
        rows = self.reader.rows(table)
        common = [_OF_COLUMNS[n](rows, self.domain) for n in self.names if n in _OF_COLUMNS]
        if "corr" in self.names:
            common.append(corr_features(rows[:, self.paired], self._paired_domain))
        wanted = range(len(self.targets)) if target == ALL else [target]
        return [np.concatenate([*common, *self._around(rows, i)]) for i in wanted]

    @cached_property
    def _paired_domain(self) -> Domain:
        return self.domain.take(self.paired)

    def _around(self, rows: np.ndarray, target: int) -> list[np.ndarray]:
        own, vectors = self.targets[target], []
        if "query" in self.names:
            vectors.append(self.queries.features(rows, own, self.domain))
        if "closest" in self.names:
            radii = self.radii[target].tolist()
            distances = row_distances(rows, own, self.domain)
            near = [closest_features(one, radii, _N_NEAREST) for one in distances]
            vectors.append(np.stack(near))
        return [np.hstack(vectors).ravel()] if vectors else []  # target by target


def table_features(context: Context, rows: GameRows) -> TableFeatures:
    """Return the features of the targets of a game."""
    game, reader = rows.game, Reader.from_context(context)
    n_real = context.n_rows("train") + context.n_rows("holdout")
    pool = reader.rows(rows.table.iloc[:n_real])
    domain = Domain.from_rows(pool, reader.nominal)
    targets = np.stack([reader.rows(rows.table.iloc[places]) for places in rows.targets])
    # a query is about the secret, if there is one, and correlations are with it too
    always = None if game.secret is None else reader.names.index(game.secret)
    n_queries = max(1, _N_QUERIES // rows.n_values)
    queries = Queries.draw(reader.nominal, n_queries, game.random_state, always=always)
    radii = np.stack([_radii(pool, own, domain) for own in targets])
    names = feature_names(game.features, learns=game.learns)
    paired = sample_positions(domain.span.size, MAX_PAIRED, game.random_state)
    paired = np.union1d(paired, [] if always is None else [always]).astype(np.int64)
    return TableFeatures(reader, domain, names, queries, targets, radii, paired)


def _radii(pool: np.ndarray, rows: np.ndarray, domain: Domain) -> np.ndarray:
    """Return half the distance of a target to the nearest row of the pool, and to the fifth.

    The first radius contains no row of the pool except the target.
    """
    distances = np.sort(row_distances(pool, rows, domain).min(axis=0))
    others = distances[distances > 0] if (distances > 0).any() else distances
    return others[[0, min(_N_NEAREST, others.size) - 1]] * np.array([0.5, 1.0])


@dataclass(frozen=True)
class PlainScores:
    """A score for each value of a target, for an attacker without a generator to learn from."""

    features: TableFeatures
    distances: np.ndarray
    counts: np.ndarray
    n_rows: int

    def __call__(self, table: pd.DataFrame, target: int) -> list[np.ndarray]:
        """Return the scores of the values of the target, or of each target for `ALL`."""
        if len(table) > self.n_rows:  # from all over the table, which may be sorted
            places = np.linspace(0, len(table) - 1, self.n_rows).astype(np.int64)
            table = table.iloc[places]
        rows = self.features.reader.rows(table)
        wanted = range(len(self.distances)) if target == ALL else [target]
        return [self._scores(rows, i) for i in wanted]

    def _scores(self, rows: np.ndarray, target: int) -> np.ndarray:
        own, scores = self.features, []
        values = own.targets[target]
        if "query" in own.names:
            counts = own.queries.features(rows, values, own.domain)
            known = self.counts[target]
            scores.append([agreement_share(*both) for both in zip(counts, known, strict=True)])
        if "closest" in own.names:
            nearest = row_distances(rows, values, own.domain).min(axis=1).tolist()
            usual = self.distances[target].tolist()
            scores.append([nearness_share(*both) for both in zip(nearest, usual, strict=True)])
        return np.asarray(np.mean(scores, axis=0))


def measure_of(
    context: Context, rows: GameRows, n_synthetic: int
) -> Callable[[pd.DataFrame, int], list[np.ndarray]]:
    """Return the features or scores of a table that an attacker uses."""
    features = table_features(context, rows)
    if rows.game.learns:
        return features
    known = [_known_rows(rows, i) for i in range(rows.n_targets)]
    n_rows = min(n_synthetic, *(places.size for places in known))
    distances, counts = [], []
    for places, targets in zip(known, features.targets, strict=True):
        own, domain = features.reader.rows(rows.table.iloc[places[:n_rows]]), features.domain
        distances.append(row_distances(own, targets, domain).min(axis=1))
        counts.append(features.queries.features(own, targets, domain))
    return PlainScores(features, np.array(distances), np.array(counts), n_rows)


def _known_rows(rows: GameRows, target: int) -> np.ndarray:
    """Return the rows that an attacker has, in random order."""
    if rows.game.knowledge == "exact":
        return rows.without(target)
    if rows.game.knowledge == "auxiliary":
        return rows.shadow_pool
    known, n_missing = rows.known_part
    mixed = np.append(known, rows.shadow_pool[:n_missing])
    return np.random.default_rng(rows.game.random_state).permutation(mixed)


def nearness_share(to_rows: float, to_own: float) -> float:
    """Return how much closer a row is to a synthetic table than to other rows of its population."""
    return _TIE if to_rows == to_own else to_own / (to_rows + to_own)


def agreement_share(counts: np.ndarray, own: np.ndarray) -> float:
    """Return how much more synthetic rows agree with a row than others of its population do."""
    difference = float(np.mean(counts - own))
    return _TIE if difference == 0.0 else float(expit(difference))
