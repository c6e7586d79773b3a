"""How much a table looks as if one row had been learnt from: the scores that an audit goes by."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from skeval._estimators import seeded
from skeval.exceptions import InvalidParameterError
from skeval.privacy.attacks._audit_worlds import Reader, Worlds
from skeval.stats.shadow_features import (
    Domain,
    Queries,
    agreement_scores,
    closest_features,
    naive_features,
    row_distances,
)

__all__ = [
    "ATTACKS",
    "Scorer",
    "Scores",
    "is_trained",
    "named",
    "probability",
    "scorer_of",
    "trained",
]

ATTACKS = ("presence", "cells", "distance", "queries")
_N_QUERIES = 200
_RADII = (0.02, 0.1, 0.3)
_NEAR = 0.05  # of the range: numbers that agree

Attack = str | Callable[[pd.DataFrame, pd.DataFrame], float] | Any
Scores = tuple[np.ndarray, np.ndarray]


def is_trained(attack: Attack) -> bool:
    """Tell whether an attack is a classifier, which learns from runs of its own."""
    return attack == "classifier" or hasattr(attack, "predict_proba")


def named(attacks: Iterable[Attack]) -> dict[str, Attack]:
    """Return attacks under the names that details call them; of equal names all but one count."""
    found: dict[str, Attack] = {}
    for attack in attacks:
        name, number = _name_of(attack), 1
        while _numbered(name, number) in found:
            number += 1
        found[_numbered(name, number)] = attack
    return found


def _name_of(attack: Attack) -> str:
    if isinstance(attack, str):
        return attack
    return type(attack).__name__ if is_trained(attack) else getattr(attack, "__name__", "callable")


def _numbered(name: str, number: int) -> str:
    return name if number == 1 else f"{name} {number}"


@dataclass(frozen=True)
class Scorer:
    """Scores tables by several attacks, for one target.

    Attributes
    ----------
    reader : Reader
        Reads tables.
    domain : Domain
        What their columns hold.
    row : ndarray of shape (1, n_columns)
        The target.
    weights : ndarray of shape (n_columns,)
        How rare its values are among the other rows.
    target : DataFrame of one row
        The target as it was given.
    attacks : dict of str to str or function
        Those that are not trained, by name.
    queries : Queries or None
        What classifiers learn from; None if there is none.
    """

    reader: Reader
    domain: Domain
    row: np.ndarray
    weights: np.ndarray
    target: pd.DataFrame
    attacks: dict[str, Attack]
    queries: Queries | None

    def __call__(self, table: pd.DataFrame, target: int) -> Scores:
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
        return float(_equal(rows, self.row).all(axis=1).sum())

    def _cells(self, rows: np.ndarray) -> float:
        return float(_agree(rows, self.row, self.domain).mean(axis=0) @ self.weights)

    def _distance(self, rows: np.ndarray) -> float:
        return -float(row_distances(rows, self.row[0], self.domain).min())

    def _queries(self, rows: np.ndarray) -> float:
        return float(agreement_scores(self.row, rows, self.domain)[0])

    def _features(self, rows: np.ndarray) -> np.ndarray:
        if self.queries is None:
            return np.empty(0)
        parts = [
            naive_features(rows, self.domain),
            closest_features(rows, self.row[0], _RADII, self.domain),
            self.queries.features(rows, self.row[0], self.domain),
        ]
        return np.concatenate(parts)


def _number(score: Any, name: str) -> float:
    """Return the score of an attack of the user's."""
    try:
        number = float(score)
    except (TypeError, ValueError):
        number, told = math.nan, f"an object of type {type(score).__name__}"
    else:
        told = "nan"
    if math.isnan(number):
        told = "None" if score is None else told
        raise InvalidParameterError(
            f"DPAudit: the attack {name} must return a number, and returned {told}."
        )
    return number


def _equal(rows: np.ndarray, row: np.ndarray) -> np.ndarray:
    same: np.ndarray = (rows == row) | (np.isnan(rows) & np.isnan(row))
    return same


def _agree(rows: np.ndarray, row: np.ndarray, domain: Domain) -> np.ndarray:
    """Tell which cells are equal, or near where they are numbers."""
    with np.errstate(invalid="ignore"):  # of infinite values
        near = np.abs(rows - row) <= _NEAR * domain.span
    return _equal(rows, row) | (near & ~domain.nominal)


def scorer_of(worlds: Worlds, attacks: Mapping[str, Attack], seed: int) -> Scorer:
    """Return what scores tables of two worlds; trained attacks get features."""
    row = worlds.rows[[worlds.target]]
    plain = {name: attack for name, attack in attacks.items() if not is_trained(attack)}
    learns = len(plain) < len(attacks)
    n_agreeing = _agree(worlds.rows[worlds.outside], row, worlds.domain).sum(axis=0)
    return Scorer(
        worlds.reader,
        worlds.domain,
        row,
        -np.log((n_agreeing + 1.0) / (worlds.outside.size + 2.0)),
        worlds.table.iloc[[worlds.target]].reset_index(drop=True),
        plain,
        Queries.draw(worlds.reader.nominal, _N_QUERIES, seed) if learns else None,
    )


def trained(attack: Attack, inside: list[Scores], outside: list[Scores], seed: int) -> Any:
    """Return a classifier that tells the features of both worlds apart."""
    from sklearn.base import clone
    from sklearn.ensemble import RandomForestClassifier

    model = RandomForestClassifier(100, random_state=seed) if attack == "classifier" else attack
    labels = np.repeat([True, False], [len(inside), len(outside)])
    return seeded(clone(model), seed).fit(
        np.array([found for _, found in [*inside, *outside]]), labels
    )


def probability(model: Any, runs: list[Scores]) -> np.ndarray:
    """Return how likely a classifier takes runs for such with the target."""
    found: np.ndarray = model.predict_proba(np.array([found for _, found in runs]))[:, 1]
    return found
