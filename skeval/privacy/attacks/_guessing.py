"""Models that guess a secret column from known ones, and what they say of rows they are shown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from skeval._encoders import OneHot, Ranks
from skeval._estimators import seeded

__all__ = ["MISSING", "Guesses", "Lesson", "guess_labels", "guess_numbers", "marginal_guesses"]

MISSING = -1  # the code of a label that is missing
_RARE = -2  # stands for all labels too rare to be learnt: no row has it
_MOST_LABELS = 100
_N_TREES = 10


@dataclass(frozen=True)
class Lesson:
    """What a model learns from.

    Attributes
    ----------
    known : ndarray of shape (n_rows, n_columns)
        Numbers and codes; missing is nan.
    nominal : tuple of bool
        Which columns are codes.
    secret : ndarray of shape (n_rows,)
        Labels as ints, or numbers.
    """

    known: np.ndarray
    nominal: tuple[bool, ...]
    secret: np.ndarray


@dataclass(frozen=True)
class Guesses:
    """What a model says of some rows.

    Attributes
    ----------
    values : ndarray of shape (n_rows,)
        The label or number that it takes for the secret.
    labels : ndarray of shape (n_labels,)
        The labels that it tells apart; empty for numbers.
    chances : ndarray of shape (n_rows, n_labels) or None
        What it thinks of each label; None if it does not say.
    """

    values: np.ndarray
    labels: np.ndarray
    chances: np.ndarray | None

    def chance_of(self, secrets: np.ndarray) -> np.ndarray | None:
        """Return the chance given to the label of each row; 0 for labels never seen."""
        if self.chances is None:
            return None
        order = np.argsort(self.labels, kind="stable")
        place = np.minimum(np.searchsorted(self.labels[order], secrets), order.size - 1)
        found = self.chances[np.arange(secrets.size), order[place]]
        return np.where(self.labels[order][place] == secrets, found, 0.0)


def guess_labels(
    estimator: Any, lesson: Lesson, asked: Sequence[np.ndarray], seed: int
) -> list[Guesses]:
    """Return guesses of labels for several tables of known columns.

    Parameters
    ----------
    estimator : classifier or None
        None for fully grown random trees, which know each row that they have seen.
    lesson : Lesson
        At least one row.
    asked : sequence of ndarray
        Known columns of the rows to guess.
    seed : int
        Of estimators whose `random_state` is None.

    Returns
    -------
    list of Guesses
        One for each table.
    """
    labels, counts = np.unique(lesson.secret, return_counts=True)
    if labels.size > _MOST_LABELS:
        labels = np.sort(labels[np.argsort(-counts, kind="stable")[:_MOST_LABELS]])
        places = np.searchsorted(labels, lesson.secret)
        is_kept = labels[np.minimum(places, labels.size - 1)] == lesson.secret
        labels = np.append(labels, _RARE)
        places = np.where(is_kept, places, _MOST_LABELS)
    else:
        places = np.searchsorted(labels, lesson.secret)
    encoder = _encoder(estimator, lesson)
    features = _features(encoder, lesson.known)
    if labels.size == 1 or features.shape[1] == 0:
        return marginal_guesses(lesson.secret, [len(table) for table in asked], True)
    shown = [_features(encoder, table) for table in asked]
    if estimator is None:
        chances = _grown_trees(features, places, labels.size, shown, seed)
        return [Guesses(labels[found.argmax(axis=1)], labels, found) for found in chances]
    model = seeded(clone(estimator), seed).fit(features, places)
    return [_told(model, labels, table) for table in shown]


def _encoder(estimator: Any, lesson: Lesson) -> Ranks | OneHot:
    kind = Ranks if estimator is None else OneHot
    return kind.of(lesson.known, lesson.nominal)


def _features(encoder: Ranks | OneHot, known: np.ndarray) -> np.ndarray:
    """Return what a model sees; missing values are below all others to a tree."""
    return np.nan_to_num(encoder.transform(known), nan=-1.0)


def _told(model: Any, labels: np.ndarray, features: np.ndarray) -> Guesses:
    values = labels[np.asarray(model.predict(features)).astype(np.int64)]
    if hasattr(model, "predict_proba"):
        return Guesses(values, labels, np.asarray(model.predict_proba(features), dtype=np.float64))
    return Guesses(values, labels, None)


def _grown_trees(
    features: np.ndarray, places: np.ndarray, n_labels: int, shown: list[np.ndarray], seed: int
) -> list[np.ndarray]:
    """Return mean chances over random trees, of which one at a time is in memory."""
    from sklearn.tree import ExtraTreeClassifier

    totals = [np.zeros((len(table), n_labels)) for table in shown]
    for tree_seed in np.random.default_rng(seed).integers(2**31, size=_N_TREES):
        tree = ExtraTreeClassifier(random_state=int(tree_seed)).fit(features, places)
        for total, table in zip(totals, shown, strict=True):
            total += tree.predict_proba(table)
    return [total / _N_TREES for total in totals]


def guess_numbers(
    estimator: Any, lesson: Lesson, asked: Sequence[np.ndarray], seed: int
) -> list[Guesses]:
    """Return guesses of numbers for several tables of known columns; as :func:`guess_labels`."""
    encoder = _encoder(estimator, lesson)
    features = _features(encoder, lesson.known)
    if features.shape[1] == 0 or np.ptp(lesson.secret) == 0:
        return marginal_guesses(lesson.secret, [len(table) for table in asked], False)
    shown = [_features(encoder, table) for table in asked]
    if estimator is not None:
        model = seeded(clone(estimator), seed).fit(features, lesson.secret)
        return [_number(model.predict(table)) for table in shown]
    from sklearn.tree import ExtraTreeRegressor

    totals = [np.zeros(len(table)) for table in shown]
    for tree_seed in np.random.default_rng(seed).integers(2**31, size=_N_TREES):
        tree = ExtraTreeRegressor(max_features="sqrt", random_state=int(tree_seed))
        tree.fit(features, lesson.secret)
        for total, table in zip(totals, shown, strict=True):
            total += tree.predict(table)
    return [_number(total / _N_TREES) for total in totals]


def _number(values: Any) -> Guesses:
    return Guesses(np.asarray(values, dtype=np.float64).reshape(-1), np.empty(0), None)


def marginal_guesses(secrets: np.ndarray, n_rows: Sequence[int], are_labels: bool) -> list[Guesses]:
    """Return guesses of somebody who knows no column: the most frequent label, or the median."""
    if not are_labels:
        return [_number(np.full(n, np.median(secrets))) for n in n_rows]
    labels, counts = np.unique(secrets, return_counts=True)
    shares = counts / secrets.size
    best = labels[shares.argmax()]
    return [
        Guesses(np.full(n, best), labels, np.broadcast_to(shares, (n, labels.size))) for n in n_rows
    ]
