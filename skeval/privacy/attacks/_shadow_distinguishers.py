"""Classifiers that tell tables made with a target from tables made without it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from skeval._estimators import seeded
from skeval.stats.roc import advantage_threshold, threshold_at
from skeval.stats.shadow import midway

__all__ = ["Distinguisher", "fitted_classifier", "learn_distinguisher"]

_N_FOLDS = 5

Tables = Sequence[np.ndarray]


@dataclass(frozen=True)
class Distinguisher:
    """A classifier and the score from which on a table is called one with the target.

    Attributes
    ----------
    classifier : estimator
        It has learnt 1 for tables with the target.
    threshold : float
        Of its scores.
    """

    classifier: Any
    threshold: float

    def scores(self, features: np.ndarray) -> np.ndarray:
        """Return the scores of tables."""
        return _scores(self.classifier, features)


def fitted_classifier(classifier: Any, features: np.ndarray, labels: np.ndarray, seed: int) -> Any:
    """Fit a clone of a classifier; a random forest if it is None."""
    if classifier is None:
        # not at the top: who never asks for a classifier need not wait for it
        from sklearn.ensemble import RandomForestClassifier

        return RandomForestClassifier(100, random_state=seed).fit(features, labels)
    return seeded(clone(classifier), seed).fit(features, labels)


def _scores(classifier: Any, features: np.ndarray) -> np.ndarray:
    """Return scores in [0, 1], above 1/2 for the label 1."""
    if hasattr(classifier, "predict_proba"):
        column = list(classifier.classes_).index(1)
        return np.asarray(classifier.predict_proba(features)[:, column], dtype=np.float64)
    if hasattr(classifier, "decision_function"):
        margin = np.asarray(classifier.decision_function(features), dtype=np.float64)
        return 0.5 + 0.5 * margin / (1.0 + np.abs(margin))
    return np.asarray(classifier.predict(features), dtype=np.float64)


def learn_distinguisher(
    classifier: Any,
    inside: Tables,
    outside: Tables,
    threshold: float | str,
    fpr: float,
    seed: int,
) -> Distinguisher:
    """Learn to tell tables with a target from tables without it.

    Parameters
    ----------
    classifier : classifier or None
        A random forest if None.
    inside, outside : sequence of ndarray of shape (n_copies, n_features)
        For each fit the features of its tables.
    threshold : float or {"accuracy", "fpr"}
        A fixed score; or that of the largest advantage, or of the largest true positive rate at a
        false positive rate of at most `fpr`, over scores of fits that were not learnt from.
    fpr : float
        As said.
    seed : int
        Of classifiers without a seed.

    Returns
    -------
    Distinguisher
    """
    model = _learnt(classifier, inside, outside, seed)
    if not isinstance(threshold, str):
        return Distinguisher(model, float(threshold))
    n_folds = min(_N_FOLDS, len(inside), len(outside))
    scores: tuple[list[np.ndarray], list[np.ndarray]] = ([], [])
    for fold in range(n_folds):
        seen = [
            [tables for i, tables in enumerate(world) if i % n_folds != fold]
            for world in (inside, outside)
        ]
        judge = _learnt(classifier, seen[0], seen[1], seed)
        for found, world in zip(scores, (inside, outside), strict=True):
            found += [_scores(judge, tables) for tables in world[fold::n_folds]]
    with_it, without = (np.concatenate(found) for found in scores)
    if threshold == "accuracy":
        at = advantage_threshold(with_it, without)
    else:
        at = threshold_at(with_it, without, fpr)
    at = np.inf if np.isnan(at) else at
    return Distinguisher(model, midway(np.concatenate([with_it, without]), at))


def _learnt(classifier: Any, inside: Tables, outside: Tables, seed: int) -> Any:
    features = np.concatenate([*inside, *outside])
    n_inside = sum(len(tables) for tables in inside)
    labels = (np.arange(len(features)) < n_inside).astype(np.int64)
    return fitted_classifier(classifier, features, labels, seed)
