"""Scores of predictions by name, for many weightings of the tested rows at once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.metrics import get_scorer, get_scorer_names

from skeval.exceptions import InvalidParameterError
from skeval.parameters import Legal, one_of
from skeval.steps.problem import Problem

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
class Score:
    """A score with its direction, bounds and tasks.

    Attributes
    ----------
    of : callable
        From truth, predictions, weights and the code of the positive label (None for several
        labels) to one score a replicate.
    greater_is_better : bool
        Which way is good.
    bounds : tuple of float
        Of the score.
    tasks : str
        "labels" or "numbers".
    """

    of: Weighted
    greater_is_better: bool
    bounds: tuple[float, float]
    tasks: str


def _accuracy(
    truth: np.ndarray, found: Predictions, weights: np.ndarray, positive: int | None
) -> np.ndarray:
    return _mean((truth == found.values).astype(np.float64), weights)


def _balanced_accuracy(
    truth: np.ndarray, found: Predictions, weights: np.ndarray, positive: int | None
) -> np.ndarray:
    counts = _Counts.of(truth, found.values, weights)
    return _nan_mean(_share(counts.right, counts.actual, np.nan))


def _label_score(kind: str) -> Weighted:
    """Return precision, recall or F1 of the positive label, of several labels their mean."""

    def score(
        truth: np.ndarray, found: Predictions, weights: np.ndarray, positive: int | None
    ) -> np.ndarray:
        counts = _Counts.of(truth, found.values, weights)
        wholes = {
            "precision": counts.called,
            "recall": counts.actual,
            "f1": 0.5 * (counts.called + counts.actual),
        }[kind]
        by_label = _share(counts.right, wholes)
        if positive is not None:
            return by_label[:, positive] if positive < by_label.shape[1] else _zeros(weights)
        # as scikit-learn has it: over the labels that rows or calls have
        present = (counts.called > 0) | (counts.actual > 0)
        return _nan_mean(np.where(present, by_label, np.nan))

    return score


def _roc_auc(
    truth: np.ndarray, found: Predictions, weights: np.ndarray, positive: int | None
) -> np.ndarray:
    return _one_against_rest(_auc_of_scores, truth, found, weights, positive)


def _average_precision(
    truth: np.ndarray, found: Predictions, weights: np.ndarray, positive: int | None
) -> np.ndarray:
    return _one_against_rest(_precision_area, truth, found, weights, positive)


def _log_loss(
    truth: np.ndarray, found: Predictions, weights: np.ndarray, positive: int | None
) -> np.ndarray:
    if found.scores is None or not found.are_probabilities:
        return np.full(len(weights), np.nan)
    of_truth = found.scores[np.arange(truth.size), truth]
    return _mean(-np.log(np.clip(of_truth, _SMALLEST, 1.0)), weights)


def _brier(
    truth: np.ndarray, found: Predictions, weights: np.ndarray, positive: int | None
) -> np.ndarray:
    if found.scores is None or not found.are_probabilities:
        return np.full(len(weights), np.nan)
    if positive is not None:
        return _mean((found.scores[:, positive] - (truth == positive)) ** 2, weights)
    hit = np.arange(found.scores.shape[1]) == truth[:, None]
    return _mean(((found.scores - hit) ** 2).sum(axis=1), weights)


def _mse(
    truth: np.ndarray, found: Predictions, weights: np.ndarray, positive: int | None
) -> np.ndarray:
    return _mean((truth - found.values) ** 2, weights)


def _rmse(
    truth: np.ndarray, found: Predictions, weights: np.ndarray, positive: int | None
) -> np.ndarray:
    return np.sqrt(_mse(truth, found, weights, positive))


def _mae(
    truth: np.ndarray, found: Predictions, weights: np.ndarray, positive: int | None
) -> np.ndarray:
    return _mean(np.abs(truth - found.values), weights)


def _r2(
    truth: np.ndarray, found: Predictions, weights: np.ndarray, positive: int | None
) -> np.ndarray:
    centred = truth - truth.mean()  # squares of large numbers would cancel
    spread = _mean(centred**2, weights) - _mean(centred, weights) ** 2
    error = _mean((truth - found.values) ** 2, weights)
    # rounding leaves a little spread where a replicate has one value
    spread = np.where(spread > 1e-12 * max(float(np.mean(centred**2)), _SMALLEST), spread, 0.0)
    return 1.0 - _share(error, spread, np.nan)


SCORES: dict[str, Score] = {
    "accuracy": Score(_accuracy, True, (0.0, 1.0), "labels"),
    "balanced_accuracy": Score(_balanced_accuracy, True, (0.0, 1.0), "labels"),
    "precision": Score(_label_score("precision"), True, (0.0, 1.0), "labels"),
    "recall": Score(_label_score("recall"), True, (0.0, 1.0), "labels"),
    "f1": Score(_label_score("f1"), True, (0.0, 1.0), "labels"),
    "roc_auc": Score(_roc_auc, True, (0.0, 1.0), "labels"),
    "average_precision": Score(_average_precision, True, (0.0, 1.0), "labels"),
    "log_loss": Score(_log_loss, False, (0.0, np.inf), "labels"),
    "brier": Score(_brier, False, (0.0, 2.0), "labels"),
    "mse": Score(_mse, False, (0.0, np.inf), "numbers"),
    "rmse": Score(_rmse, False, (0.0, np.inf), "numbers"),
    "mae": Score(_mae, False, (0.0, np.inf), "numbers"),
    "r2": Score(_r2, True, (-np.inf, 1.0), "numbers"),
}
ScoreName = Annotated[str, one_of(("auto", *SCORES))]
_SMALLEST = np.finfo(np.float64).eps


def _is_score(value: object) -> bool:
    return isinstance(value, str) and value in ("auto", *SCORES, *get_scorer_names())


Scoring = Annotated[
    str,
    Legal(
        f"'auto', {', '.join(map(repr, SCORES))} or the name of a scikit-learn scorer",
        _is_score,
        "no such option",
    ),
]


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


@dataclass(frozen=True)
class Predictions:
    """What a model says of the tested rows.

    Attributes
    ----------
    values : ndarray of shape (n_rows,)
        Codes of labels, or numbers for a regression. Codes beyond those of real labels stand for
        labels that only synthetic rows have.
    scores : ndarray of shape (n_rows, n_labels) or None
        The higher, the more of that label; None for a regression.
    are_probabilities : bool
        Whether the scores are.
    """

    values: np.ndarray
    scores: np.ndarray | None = None
    are_probabilities: bool = False


Weighted = Callable[[np.ndarray, Predictions, np.ndarray, int | None], np.ndarray]


def _mean(losses: np.ndarray, weights: np.ndarray) -> np.ndarray:
    mean: np.ndarray = (weights @ losses) / weights.sum(axis=1)
    return mean


def _sums_by_label(labels: np.ndarray, n_labels: int, weights: np.ndarray) -> np.ndarray:
    """Return the weight of each label, shape (n_replicates, n_labels)."""
    rows = np.arange(labels.size)
    known = labels < n_labels
    members = csr_matrix(
        (np.ones(known.sum()), (rows[known], labels[known])), shape=(labels.size, n_labels)
    )
    return np.asarray((members.T @ weights.T).T)


@dataclass(frozen=True)
class _Counts:
    """Weights of right calls, calls and rows of each label that tested rows or calls have."""

    right: np.ndarray
    called: np.ndarray
    actual: np.ndarray

    @classmethod
    def of(cls, truth: np.ndarray, called: np.ndarray, weights: np.ndarray) -> _Counts:
        n_labels = int(max(truth.max(), called.max())) + 1
        hits = truth == called
        return cls(
            _sums_by_label(truth[hits], n_labels, weights[:, hits]),
            _sums_by_label(called, n_labels, weights),
            _sums_by_label(truth, n_labels, weights),
        )


def _share(parts: np.ndarray, wholes: np.ndarray, empty: float = 0.0) -> np.ndarray:
    return np.divide(parts, wholes, out=np.full(wholes.shape, empty), where=wholes > 0)


def _zeros(weights: np.ndarray) -> np.ndarray:
    return np.zeros(len(weights))


def _nan_mean(values: np.ndarray) -> np.ndarray:
    known = ~np.isnan(values)
    return _share(np.where(known, values, 0.0).sum(axis=1), known.sum(axis=1), np.nan)


def _one_against_rest(
    area: Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray],
    truth: np.ndarray,
    found: Predictions,
    weights: np.ndarray,
    positive: int | None,
) -> np.ndarray:
    """Return the area for the positive label; of several labels the mean over those tested."""
    if found.scores is None:
        return np.full(len(weights), np.nan)
    labels = np.unique(truth) if positive is None else [positive]
    areas = [area(truth == label, found.scores[:, label], weights) for label in labels]
    return _nan_mean(np.column_stack(areas))


def _auc_of_scores(is_positive: np.ndarray, scores: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return the share of pairs in which the positive row scores higher; ties count half."""
    order = np.argsort(scores, kind="stable")
    ordered, positive = scores[order], is_positive[order]
    up, down = weights[:, order[positive]], weights[:, order[~positive]]
    # sums of whole numbers below 2**24 are exact, in single precision too
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


def _precision_area(is_positive: np.ndarray, scores: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return the mean of precision over the recalls gained, from high scores to low."""
    up, down = (part[:, ::-1] for part in _tied(is_positive, scores, weights))
    hits = np.cumsum(up, axis=1)
    precision = _share(hits, hits + np.cumsum(down, axis=1))
    return _share((up * precision).sum(axis=1), up.sum(axis=1), np.nan)


def _tied(
    is_positive: np.ndarray, scores: np.ndarray, weights: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the weights of positive and other rows of each distinct score, ascending."""
    order = np.argsort(scores, kind="stable")
    first = np.flatnonzero(np.diff(scores[order], prepend=-np.inf) != 0)
    first[:1] = 0
    ordered, positive = weights[:, order].astype(np.float64), is_positive[order]
    up, down = (np.add.reduceat(ordered * part, first, axis=1) for part in (positive, ~positive))
    return up, down
