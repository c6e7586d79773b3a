"""Which vector an attacker makes of a synthetic table, and the rows that a game is about."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from skeval.context import Context, shared
from skeval.exceptions import InvalidParameterError
from skeval.privacy.attacks.membership.rows import drawing_order
from skeval.privacy.attacks.shadow.game import ALL, Arena
from skeval.privacy.attacks.shadow.row_features import (
    Domain,
    Queries,
    closest_features,
    corr_features,
    hist_features,
    naive_features,
    row_distances,
)
from skeval.privacy.attacks.shadow.targets import canaries, stacked, target_positions
from skeval.tables.frames import as_frame, canonical, check_columns
from skeval.tables.preprocessing import NOMINAL, NUMERIC, category_codes, numbers
from skeval.tables.schema import TableSchema

FEATURES = ("naive", "hist", "corr", "query", "closest")
_OF_TABLES = {"naive": naive_features, "hist": hist_features, "corr": corr_features}
_OF_ROWS = ("query", "closest")
_N_QUERIES = 1000
_N_NEAREST = 5


def feature_names(features: str | Sequence[str], *, learns: bool = True) -> tuple[str, ...]:
    """Return the kinds of features, each once; "ensemble" stands for all.

    Those of whole tables are left out where nobody learns what they mean.
    """
    names = (features,) if isinstance(features, str) else tuple(features)
    chosen = FEATURES if "ensemble" in names else names
    known = FEATURES if learns else _OF_ROWS
    return tuple(name for name in known if name in chosen)


@dataclass(frozen=True)
class Reader:
    """From a table as a generator gave it to numbers and codes, columns by name.

    Attributes
    ----------
    schema : TableSchema
        The kinds of the columns.
    levels : dict of str to list of str
        The real levels of the categories; all others are one.
    """

    schema: TableSchema
    levels: dict[str, list[str]]

    @property
    def names(self) -> list[str]:
        """The columns that are read."""
        return sorted([*self.schema.columns(*NUMERIC), *self.schema.columns(*NOMINAL)])

    @property
    def nominal(self) -> list[bool]:
        """Which of them are codes."""
        return [name in self.levels for name in self.names]

    def rows(self, table: pd.DataFrame) -> np.ndarray:
        """Return the matrix of a table; missing is nan."""
        frame = canonical(as_frame(table, "synthetic"), self.schema, "synthetic", self.levels)
        found, is_code = np.empty((len(frame), len(self.names))), np.array(self.nominal)
        names = np.array(self.names, dtype=object)
        if not is_code.all():
            found[:, ~is_code] = numbers(frame[names[~is_code].tolist()])
        if is_code.any():
            most = [len(self.levels[name]) for name in names[is_code]]
            found[:, is_code] = np.minimum(category_codes(frame[names[is_code].tolist()]), most)
        return found + 0.0  # no negative zero


@dataclass(frozen=True)
class Extractor:
    """The features of a table, for one target or for each.

    Attributes
    ----------
    reader : Reader
        Of synthetic tables.
    domain : Domain
        Of the whole pool of real rows.
    names : tuple of str
        Kinds of features, among `FEATURES`.
    queries : Queries
        What is counted around a target.
    targets : ndarray of shape (n_targets, n_values, n_columns)
        The targets' rows.
    radii : ndarray of shape (n_targets, n_radii)
        Half as far as its nearest other real row, and as far as its fifth nearest.
    """

    reader: Reader
    domain: Domain
    names: tuple[str, ...]
    queries: Queries
    targets: np.ndarray
    radii: np.ndarray

    def __call__(self, table: pd.DataFrame, target: int) -> list[np.ndarray]:
        """Return one vector for the target; for `ALL`, one for each target."""
        rows = self.reader.rows(table)
        common = [_OF_TABLES[name](rows, self.domain) for name in self.names if name in _OF_TABLES]
        wanted = range(len(self.targets)) if target == ALL else [target]
        return [np.concatenate([*common, *self._around(rows, i)]) for i in wanted]

    def _around(self, rows: np.ndarray, target: int) -> list[np.ndarray]:
        found = []
        for row in self.targets[target]:
            if "query" in self.names:
                found.append(self.queries.features(rows, row, self.domain))
            if "closest" in self.names:
                radii = self.radii[target].tolist()
                found.append(closest_features(rows, row, radii, self.domain, _N_NEAREST))
        return found


def extractor_of(
    context: Context, arena: Arena, features: Sequence[str], seed: int, secret: str | None = None
) -> Extractor:
    """Return the features of the targets of an arena.

    Parameters
    ----------
    context : Context
        Of the real tables.
    arena : Arena
        With the targets.
    features : sequence of str
        Kinds.
    seed : int
        Of the queries.
    secret : str, optional
        A column that each query is about.
    """
    reader = Reader(context.schema, context.levels)
    pool = reader.rows(arena.table.iloc[: context.n_rows("train") + context.n_rows("holdout")])
    domain = Domain.of(pool, reader.nominal)
    targets = np.stack([reader.rows(arena.table.iloc[row]) for row in arena.targets])
    n_queries = max(1, _N_QUERIES // arena.n_values)
    always = None if secret is None else reader.names.index(secret)
    queries = Queries.draw(reader.nominal, n_queries, seed, always=always)
    radii = np.stack([_radii(pool, row, domain) for row in targets])
    return Extractor(reader, domain, tuple(features), queries, targets, radii)


def _radii(pool: np.ndarray, rows: np.ndarray, domain: Domain) -> np.ndarray:
    """Return half the distance of a target to the nearest row of the pool, and that to the fifth.

    Within the first nothing of the pool lies but the target.
    """
    distances = np.sort(np.min([row_distances(pool, row, domain) for row in rows], axis=0))
    others = distances[distances > 0] if (distances > 0).any() else distances
    return others[[0, min(_N_NEAREST, others.size) - 1]] * np.array([0.5, 1.0])


@shared
def given_rows(context: Context) -> pd.DataFrame:
    """Return the rows of train, then those of the holdout, as they were given."""
    names = list(context.schema.kinds)
    return stacked([context.given(role)[names] for role in ("train", "holdout")])


@shared
def arena_of(
    context: Context,
    targets: Any,
    n_targets: int,
    seed: int,
    secret: str | None = None,
    n_values: int = 1,
) -> Arena:
    """Return the rows of a game.

    Parameters
    ----------
    context : Context
        Of the real tables.
    targets : str, sequence of int or table
        As metrics take them.
    n_targets : int
        How many, if a method selects them.
    seed : int
        Of the selection and of the order of the rows.
    secret : str, optional
        A column of which each target has several values in turn.
    n_values : int, default=1
        How many at most: of labels the most frequent, of numbers quantiles.

    Raises
    ------
    InvalidParameterError, SchemaMismatchError
        If positions are no rows of train, or a table of targets lacks columns.
    """
    positions, own = _chosen(context, targets, n_targets, seed)
    table = given_rows(context)
    n_real = len(table)
    if own is not None:
        table = stacked([table, own])
        chosen = np.arange(n_real, len(table))
    else:
        chosen = positions
    every = chosen[:, None]
    if secret is not None:
        table, every = with_secrets(context, table, chosen, secret, n_values)
    orders = drawing_order(context, "train", seed), drawing_order(context, "holdout", seed)
    train, holdout = orders[0], context.n_rows("train") + orders[1]
    classes = _classes(Reader(context.schema, context.levels), table)
    equal = np.isin(classes, classes[np.append(chosen, every.ravel())])
    n_in_train = int(np.isin(classes[chosen], classes[train]).sum())
    test_pool, shadow_pool = train[~equal[train]], holdout[~equal[holdout]]
    if own is not None:  # what is told apart is train without them, and with one of them
        train = train[~np.isin(classes[train], classes[chosen])]
    return Arena(table, train, test_pool, shadow_pool, every, positions, n_in_train)


def _chosen(
    context: Context, targets: Any, n_targets: int, seed: int
) -> tuple[np.ndarray, pd.DataFrame | None]:
    """Return positions in train; or none, and rows that are in no table."""
    none = np.empty(0, dtype=np.int64)
    if isinstance(targets, str):
        if targets == "canary":
            return none, canaries(context, n_targets)
        return target_positions(context, targets, n_targets, seed=seed), None
    if not hasattr(targets, "columns"):
        check_positions(targets, context.n_rows("train"))
        return np.asarray(targets, dtype=np.int64), None
    names, own = list(context.schema.kinds), as_frame(targets, "targets")
    check_columns(own, names, "targets", exact=False)
    return none, own[names]


def check_positions(targets: Any, n_train: int) -> None:
    """Refuse positions beyond the rows of train.

    Raises
    ------
    InvalidParameterError
        In one sentence with the largest.
    """
    if not isinstance(targets, str) and max(targets) >= n_train:
        raise InvalidParameterError(
            f"targets must be positions of train rows, below {n_train}, got {max(targets)}."
        )


def _classes(reader: Reader, table: pd.DataFrame) -> np.ndarray:
    """Return numbers that are the same for rows equal in all columns that are measured."""
    rows = np.nan_to_num(reader.rows(table), nan=np.inf)
    _, classes = np.unique(rows, axis=0, return_inverse=True)
    found: np.ndarray = classes.ravel()
    return found


def with_secrets(
    context: Context, table: pd.DataFrame, chosen: np.ndarray, secret: str, n_values: int
) -> tuple[pd.DataFrame, np.ndarray]:
    """Append rows that are the targets with each of several values of a secret column.

    Returns
    -------
    table : DataFrame
        With the rows appended.
    places : ndarray of shape (n_targets, n_values), int
        Where they are. There are fewer values than asked for if the column has fewer.
    """
    sources = secret_sources(context, secret, n_values)
    rows = table.iloc[np.repeat(chosen, sources.size)].reset_index(drop=True)
    cells = table[secret].iloc[np.tile(sources, chosen.size)].reset_index(drop=True)
    places = len(table) + np.arange(len(rows)).reshape(chosen.size, sources.size)
    return stacked([table, rows.assign(**{secret: cells})]), places


def secret_sources(context: Context, secret: str, n_values: int) -> np.ndarray:
    """Return rows of train and holdout that have the values of a secret column to choose among."""
    reader = Reader(context.schema, context.levels)
    values = reader.rows(given_rows(context))[:, reader.names.index(secret)]
    levels, first, counts = np.unique(values, return_index=True, return_counts=True)
    known = ~np.isnan(levels)
    levels, first, counts = levels[known], first[known], counts[known]
    if secret in context.levels:
        kept = np.sort(np.argsort(-counts, kind="stable")[:n_values])
        return first[kept]
    reached = np.cumsum(counts) / max(1, counts.sum())
    quantiles = (np.arange(n_values) + 0.5) / n_values
    places = np.minimum(np.searchsorted(reached, quantiles - 1e-12), max(0, levels.size - 1))
    return first[np.unique(places)] if levels.size else first
