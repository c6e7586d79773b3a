"""Scores of predictions by name, for several weights of the tested rows at once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.metrics import get_scorer, get_scorer_names

from skeval.exceptions import InvalidParameterError
from skeval.steps.problem import Problem
from skeval.utils.parameters import Legal, one_of

# the scores that details report for each kind of task, with the default first
_REPORTED = {
    "binary": "roc_auc average_precision balanced_accuracy accuracy f1 log_loss brier",
    "multiclass": "roc_auc balanced_accuracy accuracy f1 log_loss",
    "regression": "r2 rmse mae",
}
Array = np.ndarray
_SMALLEST = np.finfo(np.float64).eps
_SHARE, _LOSS = (0.0, 1.0), (0.0, np.inf)


@dataclass(frozen=True)
class Predictions:
    """Predictions of a model for the tested rows."""

    values: Array
    scores: Array | None = None
    are_probabilities: bool = False


# A function of truth, predictions, weights of shape (n_replicates, n_rows) and the code of the
# positive label (None for several labels), which returns one score per replicate
Weighted = Callable[[Array, Predictions, Array, int | None], Array]


@dataclass(frozen=True)
class Score:
    """A score with its direction, bounds and tasks ("labels" or "numbers")."""

    of: Weighted
    greater_is_better: bool
    bounds: tuple[float, float]
    tasks: str

    @property
    def sign(self) -> float:
        """1 if higher is better, -1 for losses."""
        return 1.0 if self.greater_is_better else -1.0


def scoring_for(scoring: str, problem: Problem) -> str:
    """Return the score for a parameter, where "auto" is ROC-AUC for labels and R2 for numbers."""
    if scoring == "auto":
        return reported_scores(problem)[0]
    kind = "labels" if problem.has_labels else "numbers"
    if scoring in SCORES and SCORES[scoring].tasks != kind:
        suited = ", ".join(name for name, score in SCORES.items() if score.tasks == kind)
        raise InvalidParameterError(
            f"scoring={scoring!r} is not valid for the task '{problem.task}'. Valid: {suited}."
        )
    return scoring


def reported_scores(problem: Problem) -> tuple[str, ...]:
    """Return the scores that the details of a task report."""
    return tuple(_REPORTED[problem.task].split())


def get_score(scoring: str) -> Score:
    """Return the score of a name."""
    if scoring in SCORES:
        return SCORES[scoring]

    def weighted_scores(
        truth: Array, predictions: Predictions, weights: Array, positive: int | None
    ) -> Array:
        return np.array(
            [_score_by_scorer(scoring, truth, predictions, w, positive) for w in weights]
        )

    return Score(weighted_scores, True, (-np.inf, np.inf), "labels")


def _score_by_scorer(
    scoring: str, truth: Array, predictions: Predictions, counts: Array, positive: int | None
) -> float:
    """Return the score of rows repeated by their counts, or nan if the scorer raises an error."""
    rows = np.repeat(np.arange(truth.size), counts.astype(np.int64))
    if predictions.scores is None:
        recorded: Any = _RecordedNumbers(predictions.values)
    elif positive is None:
        recorded = _RecordedLabels(predictions.values, predictions.scores)
    else:  # in scikit-learn, 1 is the positive label
        p = predictions.scores[:, positive]
        called = (predictions.values == positive) * 1
        recorded = _RecordedLabels(called, np.column_stack([1.0 - p, p]))
        truth = (truth == positive) * 1
    try:
        return float(get_scorer(scoring)(recorded, rows[:, None], truth[rows]))
    except ValueError:  # for example, all rows have one label
        return float("nan")


class _RecordedNumbers(RegressorMixin, BaseEstimator):
    """A regression with known predictions, whose rows are positions."""

    def __init__(self, values: Array) -> None:
        self.values = values
        self.is_fitted_ = True

    def predict(self, rows: Array) -> Array:
        return self.values[rows[:, 0]]


class _RecordedLabels(ClassifierMixin, BaseEstimator):
    """A classifier with known predictions, whose rows are positions."""

    def __init__(self, values: Array, scores: Array) -> None:
        self.values = values
        self.scores = scores
        self.classes_ = np.arange(scores.shape[1])

    def predict(self, rows: Array) -> Array:
        return self.values[rows[:, 0]]

    def predict_proba(self, rows: Array) -> Array:
        return self.scores[rows[:, 0]]


def _share(parts: Array, wholes: Array, empty: float = 0.0) -> Array:
    return np.divide(parts, wholes, out=np.full(wholes.shape, empty), where=wholes > 0)


def _mean(losses: Array, weights: Array) -> Array:
    return np.asarray((weights @ losses) / weights.sum(axis=1))


def _nan_mean(values: Array) -> Array:
    known = ~np.isnan(values)
    return _share(np.where(known, values, 0.0).sum(axis=1), known.sum(axis=1), np.nan)


def _mean_of(loss: Callable[[Array, Predictions, int | None], Array]) -> Weighted:
    """Return the weighted mean of the `loss` of each row."""
    return lambda truth, predictions, weights, positive: _mean(
        loss(truth, predictions, positive), weights
    )


def _log_losses(truth: Array, predictions: Predictions, positive: int | None) -> Array:
    if predictions.scores is None or not predictions.are_probabilities:
        return np.full(truth.size, np.nan)
    of_truth = _for_labels(predictions.scores, truth)[np.arange(truth.size), truth]
    return np.asarray(-np.log(np.clip(of_truth, _SMALLEST, 1.0)))


def _for_labels(scores: Array, labels: Array) -> Array:
    """Return the scores with a column for each label, which is 0 for labels unknown to a model."""
    n_more = max(0, int(labels.max(initial=0)) + 1 - scores.shape[1])
    return np.pad(scores, ((0, 0), (0, n_more)))


def _brier_losses(truth: Array, predictions: Predictions, positive: int | None) -> Array:
    if predictions.scores is None or not predictions.are_probabilities:
        return np.full(truth.size, np.nan)
    if positive is None:
        scores = _for_labels(predictions.scores, truth)
        hit = np.arange(scores.shape[1]) == truth[:, None]
        losses: Array = ((scores - hit) ** 2).sum(axis=1)
    else:
        losses = (predictions.scores[:, positive] - (truth == positive)) ** 2
    return losses


def _score_by_label(kind: str) -> Weighted:
    """Return a score of the hits of the positive label, or its mean over all labels."""

    def weighted_scores(
        truth: Array, predictions: Predictions, weights: Array, positive: int | None
    ) -> Array:
        hits, n_labels = truth == predictions.values, max(truth.max(), predictions.values.max()) + 1
        right = _weights_of_labels(truth[hits], n_labels, weights[:, hits])
        called = _weights_of_labels(predictions.values, n_labels, weights)
        actual = _weights_of_labels(truth, n_labels, weights)
        if kind == "balanced_accuracy":
            return _nan_mean(_share(right, actual, np.nan))
        wholes = {"precision": called, "recall": actual, "f1": 0.5 * (called + actual)}[kind]
        scores = _share(right, wholes)
        if positive is not None:
            return scores[:, positive] if positive < n_labels else np.zeros(len(weights))
        # like scikit-learn, the mean is over the labels of rows or predictions
        return _nan_mean(np.where((called > 0) | (actual > 0), scores, np.nan))

    return weighted_scores


def _weights_of_labels(labels: Array, n_labels: int, weights: Array) -> Array:
    """Return the weight of each label, shape (n_replicates, n_labels)."""
    members = csr_matrix(
        (np.ones(labels.size), (np.arange(labels.size), labels)), shape=(labels.size, n_labels)
    )
    return np.asarray((members.T @ weights.T).T)


def _one_against_rest(area: Callable[[Array, Array, Array], Array]) -> Weighted:
    """Return the area for the positive label, or the mean over several tested labels."""

    def weighted_scores(
        truth: Array, predictions: Predictions, weights: Array, positive: int | None
    ) -> Array:
        if predictions.scores is None:
            return np.full(len(weights), np.nan)
        labels = np.unique(truth) if positive is None else np.array([positive])
        scores = _for_labels(predictions.scores, labels)
        areas = [area(truth == label, scores[:, label], weights) for label in labels]
        return _nan_mean(np.column_stack(areas))

    return weighted_scores


def _roc_area(is_positive: Array, scores: Array, weights: Array) -> Array:
    """Return the fraction of pairs with a higher score of the positive row, with ties as half."""
    order = np.argsort(scores, kind="stable")
    ordered, positive = scores[order], is_positive[order]
    up, down = weights[:, order[positive]], weights[:, order[~positive]]
    # sums of integers below 2**24 are exact, also in single precision
    beaten = np.zeros((len(weights), down.shape[1] + 1), dtype=weights.dtype)
    np.cumsum(down, axis=1, out=beaten[:, 1:])
    left, right = (
        np.searchsorted(ordered[~positive], ordered[positive], side=side)
        for side in ("left", "right")
    )
    won = np.einsum("ij,ij->i", up, beaten[:, left], dtype=np.float64)
    if (left != right).any():
        won = 0.5 * (won + np.einsum("ij,ij->i", up, beaten[:, right], dtype=np.float64))
    pairs = up.sum(axis=1, dtype=np.float64) * down.sum(axis=1, dtype=np.float64)
    return _share(won, pairs, np.nan)


def _precision_area(is_positive: Array, scores: Array, weights: Array) -> Array:
    """Return the average precision over recalls, from high to low scores."""
    order = np.argsort(scores, kind="stable")
    # the first row with each distinct score
    first = np.flatnonzero(np.diff(scores[order], prepend=-np.inf) != 0)
    first[:1] = 0
    ordered, positive = weights[:, order].astype(np.float64), is_positive[order]
    up, down = (
        np.add.reduceat(ordered * part, first, axis=1)[:, ::-1] for part in (positive, ~positive)
    )
    hits = np.cumsum(up, axis=1)
    precision = _share(hits, hits + np.cumsum(down, axis=1))
    return _share((up * precision).sum(axis=1), up.sum(axis=1), np.nan)


def _r2(truth: Array, predictions: Predictions, weights: Array, positive: int | None) -> Array:
    centred = truth - truth.mean()  # squares of large numbers would cancel
    spread = _mean(centred**2, weights) - _mean(centred, weights) ** 2
    error = _mean((truth - predictions.values) ** 2, weights)
    # because of rounding errors, the spread of a replicate with one value is not exactly 0
    spread = np.where(spread > 1e-12 * max(float(np.mean(centred**2)), _SMALLEST), spread, 0.0)
    return 1.0 - _share(error, spread, np.nan)


_accuracy = _mean_of(lambda truth, predictions, _: (truth == predictions.values) * 1.0)
_mse = _mean_of(lambda truth, predictions, _: (truth - predictions.values) ** 2)
_mae = _mean_of(lambda truth, predictions, _: np.abs(truth - predictions.values))
SCORES: dict[str, Score] = {
    "accuracy": Score(_accuracy, True, _SHARE, "labels"),
    "balanced_accuracy": Score(_score_by_label("balanced_accuracy"), True, _SHARE, "labels"),
    "precision": Score(_score_by_label("precision"), True, _SHARE, "labels"),
    "recall": Score(_score_by_label("recall"), True, _SHARE, "labels"),
    "f1": Score(_score_by_label("f1"), True, _SHARE, "labels"),
    "roc_auc": Score(_one_against_rest(_roc_area), True, _SHARE, "labels"),
    "average_precision": Score(_one_against_rest(_precision_area), True, _SHARE, "labels"),
    "log_loss": Score(_mean_of(_log_losses), False, _LOSS, "labels"),
    "brier": Score(_mean_of(_brier_losses), False, (0.0, 2.0), "labels"),
    "mse": Score(_mse, False, _LOSS, "numbers"),
    "rmse": Score(lambda *tested: np.sqrt(_mse(*tested)), False, _LOSS, "numbers"),
    "mae": Score(_mae, False, _LOSS, "numbers"),
    "r2": Score(_r2, True, (-np.inf, 1.0), "numbers"),
}


def _is_score(value: object) -> bool:
    return isinstance(value, str) and value in ("auto", *SCORES, *get_scorer_names())


_NAMES = f"'auto', {', '.join(map(repr, SCORES))} or the name of a scikit-learn scorer"
Scoring = Annotated[str, Legal(_NAMES, _is_score, "no such option")]
ScoreName = Annotated[str, one_of(("auto", *SCORES))]
