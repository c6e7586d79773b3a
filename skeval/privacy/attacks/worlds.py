"""Two tables that differ in one row for an audit, and scores of the tables generated from them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from skeval.core.context import Context
from skeval.exceptions import InvalidParameterError
from skeval.privacy.attacks.shadow.row_features import (
    Domain,
    Queries,
    Reader,
    agreeing,
    agreement_scores,
    closest_features,
    equal_cells,
    naive_features,
    row_distances,
)
from skeval.privacy.attacks.shadow.targets import METHODS, canaries, stack_tables, target_positions
from skeval.steps.member_rows import drawing_order
from skeval.tables.frames import canonical, learn_levels
from skeval.tables.preprocessing import NOMINAL, NUMERIC
from skeval.tables.schema import TableSchema

BASES = ("train", "sample", "worst_case", "one_row", "empty", "duplicates")
TARGETS = (*METHODS, "repeat")
ATTACKS = ("presence", "cells", "distance", "queries")
_N_QUERIES = 200
_RADII = (0.02, 0.1, 0.3)
Attack = str | Callable[[pd.DataFrame, pd.DataFrame], float] | Any


@dataclass(frozen=True)
class Worlds:
    """Two adjacent tables, stored as rows of one table so that their types are equal."""

    table: pd.DataFrame
    rows: np.ndarray
    reader: Reader
    domain: Domain
    inside: np.ndarray
    outside: np.ndarray
    target: int


def worlds_of(
    context: Context, base: str, target: str, *, adjacency: str, n_base: int, seed: int
) -> Worlds:
    """Return two adjacent tables."""
    order = drawing_order(context, "train", seed)  # independent of the order of the table
    train = context.original_frame("train")[list(context.schema.kinds)].iloc[order]
    made = canaries(context, 1) if target == "canary" else train.iloc[:0]
    table = stack_tables([train.reset_index(drop=True), made])
    if target == "canary":
        chosen = order.size
    else:
        method = "achilles" if target == "repeat" else target
        chosen = int(np.flatnonzero(order == target_positions(context, method, 1, 5, seed)[0])[0])
    read = _read(table, context.schema)
    other, replaces = _most_unlike(read[0], read[2], order.size, chosen), adjacency == "replace"
    if base == "worst_case" and target != "repeat":
        return _interleave_cells(table.iloc[[other, chosen]], context.schema, replaces)
    rest = np.flatnonzero(np.arange(order.size) != chosen)
    rows = {
        "train": rest,
        "sample": rest[:n_base],
        "worst_case": np.array([other]),
        "one_row": np.array([other]),
        "empty": np.empty(0, dtype=np.int64),
        "duplicates": np.full(n_base, other),
    }[base]
    if target == "repeat":
        rows = np.append(rows, chosen)
    inside, outside = np.append(rows, chosen), np.append(rows, other) if replaces else rows
    return Worlds(table, *read, inside, outside, chosen)


def _read(table: pd.DataFrame, schema: TableSchema) -> tuple[np.ndarray, Reader, Domain]:
    frame = canonical(table, schema, "train")
    names = [*schema.columns(*NUMERIC), *schema.columns(*NOMINAL)]
    reader = Reader(schema, learn_levels([frame], schema), names)
    rows = reader.rows(frame)
    return rows, reader, Domain.from_rows(rows, reader.nominal)


def _most_unlike(rows: np.ndarray, domain: Domain, n_train: int, row: int) -> int:
    """Return the training row that agrees with a row in the fewest columns (ties by distance)."""
    own, train = rows[row], rows[:n_train]
    unlike = row_distances(train, own[None], domain)[0] - equal_cells(train, own).sum(axis=1)
    if row < n_train:
        unlike[row] = -np.inf
    return int(np.argmax(unlike))


def _interleave_cells(pair: pd.DataFrame, schema: TableSchema, replaces: bool) -> Worlds:
    """Return worlds of two rows without common values, and a third row composed of their cells."""
    # All values of the third row also occur in the world without it. Therefore no new category or
    # extreme value reveals the row.
    alternating = np.arange(pair.shape[1]) % 2
    made = {
        name: pair[name].iloc[[0, 1, first, 1 - first]].reset_index(drop=True)
        for name, first in zip(pair.columns, alternating, strict=True)
    }
    table, outside = pd.DataFrame(made), [0, 1, 3] if replaces else [0, 1]
    return Worlds(table, *_read(table, schema), np.array([0, 1, 2]), np.array(outside), 2)


# ------------------------------------------------------------------------------------- scores


def learns_from_runs(attack: Attack) -> bool:
    """Return whether an attack is a classifier, which is trained on separate runs."""
    return attack == "classifier" or hasattr(attack, "predict_proba")


def attacks_by_name(attacks: Iterable[Attack]) -> dict[str, Attack]:
    """Return attacks by their names in details, with numbers added to equal names."""
    by_name: dict[str, Attack] = {}
    for attack in attacks:
        if isinstance(attack, str):
            first = attack
        elif learns_from_runs(attack):
            first = type(attack).__name__
        else:
            first = getattr(attack, "__name__", "callable")
        name, number = first, 1
        while name in by_name:
            number += 1
            name = f"{first} {number}"
        by_name[name] = attack
    return by_name


@dataclass(frozen=True)
class Scorer:
    """Scores tables by several attacks, for one target."""

    reader: Reader
    domain: Domain
    row: np.ndarray
    weights: np.ndarray
    target: pd.DataFrame
    attacks: dict[str, Attack]
    queries: Queries | None

    def __call__(self, table: pd.DataFrame, target: int) -> tuple[np.ndarray, np.ndarray]:
        """Return a score for each attack, and the features of classifiers."""
        rows = self.reader.rows(table)
        scores = [
            getattr(self, f"_{attack}")(rows)
            if isinstance(attack, str)
            else _number(attack(table, self.target), name)
            for name, attack in self.attacks.items()
        ]
        return np.array(scores), self._features(rows)

    def _presence(self, rows: np.ndarray) -> float:
        return float(equal_cells(rows, self.row).all(axis=1).sum())

    def _cells(self, rows: np.ndarray) -> float:
        return float(agreeing(rows, self.row, self.domain).mean(axis=0) @ self.weights)

    def _distance(self, rows: np.ndarray) -> float:
        return -float(row_distances(rows, self.row, self.domain).min())

    def _queries(self, rows: np.ndarray) -> float:
        return float(agreement_scores(self.row, rows, self.domain)[0])

    def _features(self, rows: np.ndarray) -> np.ndarray:
        if self.queries is None:
            return np.empty(0)
        parts = [
            naive_features(rows, self.domain),
            closest_features(row_distances(rows, self.row, self.domain)[0], _RADII),
            self.queries.features(rows, self.row, self.domain)[0],
        ]
        return np.concatenate(parts)


def _number(score: Any, name: str) -> float:
    """Return the score of a custom attack."""
    try:
        number, returned = float(score), "nan"
    except (TypeError, ValueError):
        kind = f"an object of type {type(score).__name__}"
        number, returned = math.nan, "None" if score is None else kind
    if math.isnan(number):
        raise InvalidParameterError(
            f"DPAudit: the attack {name} must return a number, got {returned}."
        )
    return number


def scorer_of(worlds: Worlds, attacks: Mapping[str, Attack], seed: int) -> Scorer:
    """Return a scorer of tables of two worlds, with features for trained attacks."""
    row = worlds.rows[[worlds.target]]
    plain = {name: attack for name, attack in attacks.items() if not learns_from_runs(attack)}
    learns = len(plain) < len(attacks)
    n_agreeing = agreeing(worlds.rows[worlds.outside], row, worlds.domain).sum(axis=0)
    weights = -np.log((n_agreeing + 1.0) / (worlds.outside.size + 2.0))
    target = worlds.table.iloc[[worlds.target]].reset_index(drop=True)
    queries = Queries.draw(worlds.reader.nominal, _N_QUERIES, seed) if learns else None
    return Scorer(worlds.reader, worlds.domain, row, weights, target, plain, queries)
