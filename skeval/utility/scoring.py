"""Scores by name: ours, which a bootstrap does at once, or any scorer of scikit-learn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.metrics import get_scorer, get_scorer_names

from skeval.exceptions import InvalidParameterError
from skeval.stats.scoring import SCORES, Predictions, Score
from skeval.utility.problem import Problem

__all__ = ["Scoring", "reported", "score_named", "scoring_for"]

_REPORTED = {
    "binary": (
        "roc_auc",
        "average_precision",
        "balanced_accuracy",
        "accuracy",
        "f1",
        "log_loss",
        "brier",
    ),
    "multiclass": ("roc_auc", "balanced_accuracy", "accuracy", "f1", "log_loss"),
    "regression": ("r2", "rmse", "mae"),
}


@dataclass(frozen=True)
class Scoring:
    """The name of a score: one of ours, of a scorer of scikit-learn, or "auto"."""

    def accepts(self, value: object) -> bool:
        """Tell whether `value` names a score."""
        return isinstance(value, str) and (
            value == "auto" or value in SCORES or value in get_scorer_names()
        )

    def describe(self) -> str:
        """Name the choices."""
        return f"'auto', {', '.join(map(repr, SCORES))} or the name of a scikit-learn scorer"

    def invalid_example(self) -> object:
        """Return what names no score."""
        return "no such option"


def scoring_for(scoring: str, problem: Problem) -> str:
    """Return the score that a parameter stands for; "auto" is ROC-AUC, for numbers R2.

    Raises
    ------
    InvalidParameterError
        If a score of labels is asked for a regression, or the other way round.
    """
    if scoring == "auto":
        return _REPORTED[problem.task][0]
    kind = "labels" if problem.has_labels else "numbers"
    if scoring in SCORES and SCORES[scoring].tasks != kind:
        suited = ", ".join(name for name, score in SCORES.items() if score.tasks == kind)
        raise InvalidParameterError(
            f"scoring={scoring!r} does not suit the task {problem.task}; of ours do: {suited}."
        )
    return scoring


def reported(problem: Problem) -> tuple[str, ...]:
    """Return the scores that stand in the details of a task."""
    return _REPORTED[problem.task]


def score_named(scoring: str) -> Score:
    """Return the score of a name."""
    if scoring in SCORES:
        return SCORES[scoring]

    def of(
        truth: np.ndarray, found: Predictions, weights: np.ndarray, positive: int | None
    ) -> np.ndarray:
        return np.array([_by_scorer(scoring, truth, found, row, positive) for row in weights])

    return Score(of, True, (-np.inf, np.inf), "labels")


def _by_scorer(
    scoring: str, truth: np.ndarray, found: Predictions, counts: np.ndarray, positive: int | None
) -> float:
    """Return the score of rows, each taken as often as counted; nan if the scorer refuses them."""
    rows = np.repeat(np.arange(truth.size), counts.astype(np.int64))
    if found.scores is None:
        recorded: Any = _RecordedNumbers(found.values)
    elif positive is None:
        recorded = _RecordedLabels(found.values, found.scores)
    else:  # scikit-learn takes 1 for the positive label
        p = found.scores[:, positive]
        recorded = _RecordedLabels((found.values == positive) * 1, np.column_stack([1.0 - p, p]))
        truth = (truth == positive) * 1
    try:
        return float(get_scorer(scoring)(recorded, rows[:, None], truth[rows]))
    except ValueError:  # as where all rows have one label
        return float("nan")


class _RecordedNumbers(RegressorMixin, BaseEstimator):
    """A regression whose predictions are known; its rows are positions."""

    def __init__(self, values: np.ndarray) -> None:
        self.values = values
        self.is_fitted_ = True

    def predict(self, rows: np.ndarray) -> np.ndarray:
        return self.values[rows[:, 0]]


class _RecordedLabels(ClassifierMixin, BaseEstimator):
    """A classifier whose predictions are known; its rows are positions."""

    def __init__(self, values: np.ndarray, scores: np.ndarray) -> None:
        self.values = values
        self.scores = scores
        self.classes_ = np.arange(scores.shape[1])

    def predict(self, rows: np.ndarray) -> np.ndarray:
        return self.values[rows[:, 0]]

    def predict_proba(self, rows: np.ndarray) -> np.ndarray:
        return self.scores[rows[:, 0]]
