"""How well secrets are guessed, of train rows and of holdout rows, and whether the two differ."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from skeval.privacy.attacks._guessing import Guesses
from skeval.stats.auc import delong
from skeval.stats.row_scores import Scores, difference_interval, exchange_p_value, row_mean

__all__ = ["Contrast", "Judge", "Judged", "gains"]

Interval = tuple[float, float]
_NONE = float("nan")
_UNDEFINED = (_NONE, (_NONE, _NONE))


@dataclass(frozen=True)
class Judged:
    """Guesses beside the truth.

    Attributes
    ----------
    guesses : Guesses
        What a model said.
    secrets : ndarray of shape (n_rows,)
        What is true.
    """

    guesses: Guesses
    secrets: np.ndarray


@dataclass(frozen=True)
class Contrast:
    """How much better train rows are guessed than holdout rows.

    Attributes
    ----------
    train, holdout : float
        Performance on each.
    advantage : float
        Their difference.
    interval : tuple of (float, float)
        Of the difference.
    p_value : float
        One-sided, under exchange of train and holdout rows; nan where there is none.
    """

    train: float
    holdout: float
    advantage: float
    interval: Interval
    p_value: float


@dataclass(frozen=True)
class Judge:
    """What performance is.

    Attributes
    ----------
    scoring : {"accuracy", "balanced_accuracy", "roc_auc", "neg_mae"}
        The greater, the better.
    scale : float
        Range of the secret, for "neg_mae".
    classes : ndarray or None
        The labels that occur in both tables, over which recalls are averaged; the last is positive
        to an AUC. None for numbers.
    """

    scoring: str
    scale: float
    classes: np.ndarray | None

    def performance(self, rows: Judged) -> tuple[float, Interval]:
        """Return how well secrets are guessed, and the interval; nan where it is not defined."""
        if self.scoring == "roc_auc":
            positives, negatives = self._by_class(rows)
            if min(positives.size, negatives.size) == 0:
                return _UNDEFINED
            found = delong(positives, negatives)
            return found.value, found.interval
        if self.scoring == "balanced_accuracy":
            return self._mean_recall(rows)
        mean = row_mean(self._row_scores(rows))
        lost = 1.0 if self.scoring == "neg_mae" else 0.0  # scores are one minus the error
        return mean.value - lost, (mean.interval[0] - lost, mean.interval[1] - lost)

    def contrast(
        self, train: Judged, holdout: Judged, *, n_permutations: int, seed: int
    ) -> Contrast:
        """Return performance of one model on train and holdout rows, and their difference."""
        (first, around), (second, beside) = self.performance(train), self.performance(holdout)
        strata = self._strata(train, holdout)
        weight = 1.0 / max(1, len(strata)) if self.scoring == "balanced_accuracy" else 1.0
        p_value = exchange_p_value(
            strata, weights=[weight] * len(strata), n_permutations=n_permutations, seed=seed
        )
        interval = difference_interval(first, around, second, beside)
        return Contrast(first, second, first - second, interval, p_value)

    def _row_scores(self, rows: Judged) -> Scores:
        if self.scoring == "neg_mae":
            errors = np.abs(rows.guesses.values - rows.secrets) / self.scale
            scores = 1.0 - np.minimum(errors, 1.0)
        else:
            scores = (rows.guesses.values == rows.secrets).astype(np.float64)
        return scores, np.ones(scores.size, dtype=np.int64)

    def _recalls(self, rows: Judged) -> list[Scores]:
        """Return the scores of the rows of each class."""
        totals, counts = self._row_scores(rows)
        chosen = [rows.secrets == label for label in self._labels]
        return [(totals[mask], counts[mask]) for mask in chosen]

    @property
    def _labels(self) -> np.ndarray:
        return np.empty(0) if self.classes is None else self.classes

    def _mean_recall(self, rows: Judged) -> tuple[float, Interval]:
        means = [row_mean(scores) for scores in self._recalls(rows)]
        if not means:
            return _UNDEFINED
        value = float(np.mean([mean.value for mean in means]))
        below, above = (
            float(np.linalg.norm([mean.value - mean.interval[i] for mean in means])) / len(means)
            for i in (0, 1)
        )
        return value, (value - below, value + above)

    def _by_class(self, rows: Judged) -> tuple[np.ndarray, np.ndarray]:
        """Return scores for being of the positive class, of rows that are and of the others."""
        if self._labels.size < 2:
            return np.empty(0), np.empty(0)
        positive = self._labels[-1]
        chances = rows.guesses.chance_of(np.full(rows.secrets.size, positive))
        if chances is None:
            chances = (rows.guesses.values == positive).astype(np.float64)
        return chances[rows.secrets == positive], chances[rows.secrets != positive]

    def _strata(self, train: Judged, holdout: Judged) -> list[tuple[Scores, Scores]]:
        """Return scores of rows, by groups that change places, whose means differ as performance.

        Those of an AUC are shares of the pooled rows of the other class that a row is on the right
        side of, to which the AUC is linear.
        """
        if self.scoring == "balanced_accuracy":
            return list(zip(self._recalls(train), self._recalls(holdout), strict=True))
        if self.scoring == "roc_auc":
            own, others = zip(*(self._by_class(rows) for rows in (train, holdout)), strict=True)
            above = [_placed(scores, np.concatenate(others)) for scores in own]
            below = [_placed(-scores, -np.concatenate(own)) for scores in others]
            return [(above[0], above[1]), (below[0], below[1])]
        return [(self._row_scores(train), self._row_scores(holdout))]


def _placed(scores: np.ndarray, others: np.ndarray) -> Scores:
    """Return the share of the others that each score exceeds, ties half."""
    ordered = np.sort(others)
    left, right = (np.searchsorted(ordered, scores, side=side) for side in ("left", "right"))
    return (left + right) / (2.0 * max(1, ordered.size)), np.ones(scores.size, dtype=np.int64)


def gains(rows: Judged, marginal: Judged) -> np.ndarray | None:
    """Return which part of its uncertainty about each row a model takes away; None if it is silent.

    One minus its loss over that of a guess without known columns: of labels the chance given to
    others than the true one, of numbers the distance to the true one. 0 where such a guess is right
    already; below 0 where the model is worse.
    """
    if rows.guesses.labels.size:
        chances, before = (part.guesses.chance_of(part.secrets) for part in (rows, marginal))
        if chances is None or before is None:
            return None
        losses = 1.0 - chances, 1.0 - before
    else:
        losses = tuple(np.abs(part.guesses.values - part.secrets) for part in (rows, marginal))
    left = np.ones(rows.secrets.size)
    return 1.0 - np.divide(losses[0], losses[1], out=left, where=losses[1] > 0)
