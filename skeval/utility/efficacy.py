"""Precision and recall at a threshold, before and after synthetic rows are added."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Literal

import numpy as np

from skeval.context import Context
from skeval.parameters import ColumnName, Columns, Fraction, Interval, Label, Positive, Seed
from skeval.result import Result, undefined
from skeval.stats.intervals import percentile_interval, replicated
from skeval.steps.models import DEFAULT, TRAIN, Estimator, Training, out_of_fold, predicted
from skeval.steps.problem import Question, Rows, problem_of, rows_of_role, unanswerable
from skeval.steps.scoring import Predictions
from skeval.tags import MetricTags
from skeval.utility.results import OfTwoLabels, counts_of_rows

NONE_REACHES = 1.0


class PrecisionEfficacy(OfTwoLabels):
    """Gain in precision, at a fixed recall, by added synthetic rows: 0.5 if they change nothing.

    Fraud must be found: nine cases of ten, and with as few false alarms as can be. Synthetic rows
    are added to the real ones in the hope of a model that raises fewer. Both models get the
    threshold that reaches the recall, and are then compared by their precision on real rows that
    neither has seen. Above 0.5 the synthetic rows help, below they harm.

    Parameters
    ----------
    target : str
        The column to predict, of two labels.
    fixed_recall : float, default=0.9
        The recall to reach, in (0, 1].
    estimator : None, str or estimator, default=None
        The model, as in :class:`TSTR`; None is xgboost.
    ratio : float, default=1.0
        Synthetic rows to add for each row of train; all, if there are fewer.
    threshold : {"out-of-fold", "train"}, default="out-of-fold"
        Which scores of train rows the threshold is chosen on: of models that learnt without the
        row (but with the synthetic ones), or those of the model itself. The model is surer of rows
        that it has learnt, so that its threshold is too high for others and misses the recall.
    n_folds : int, default=2
        Number of folds of the first.
    task : {"auto", "binary"}, default="auto"
        "binary" with `pos_label` sets one of several labels against all others.
    pos_label : str, bool or float, optional
        The positive label, as in :class:`TSTR`: the one that is looked for.
    features : list of str or int, optional
        The columns to predict from; None for all others.
    n_bootstrap : int, default=1000
        Number of bootstrap samples of holdout rows behind the interval; 0 for none.
    random_state : int, default=0
        Seed of models, folds, drawn rows and bootstrap.

    Attributes
    ----------
    context_ : Context
        The real tables.

    Raises
    ------
    MissingInputError
        At fit, if there is no holdout, or the target has not two labels, nor a `pos_label`.

    Notes
    -----
    The value is ``(precision of train + synthetic - precision of train) / 2 + 1/2`` on the holdout;
    the baseline is 0.5. ``details`` has both precisions, the recalls that the thresholds really
    reach on the holdout, and the thresholds. The threshold is the one whose recall on train is
    least, but no less than the fixed one; 1 if there is none. The interval is of bootstrap samples
    of holdout rows, at these thresholds.

    References
    ----------
    SDMetrics, "BinaryClassifierPrecisionEfficacy", https://docs.sdv.dev/sdmetrics.

    Examples
    --------
    >>> from skeval.datasets import make_mixed
    >>> from skeval.utility import PrecisionEfficacy
    >>> train, holdout, synthetic = (make_mixed(400, random_state=seed) for seed in range(3))
    >>> result = PrecisionEfficacy("member").fit(train, holdout).evaluate(synthetic)
    >>> bool(0.4 < result.value < 0.6), result.baseline
    (True, 0.5)
    """

    tags = MetricTags(
        "utility", greater_is_better=True, needs=frozenset({"holdout", "target"}), bounds=(0.0, 1.0)
    )

    def __init__(
        self,
        target: ColumnName,
        fixed_recall: Fraction = 0.9,
        estimator: Estimator = None,
        *,
        ratio: Positive = 1.0,
        threshold: Literal["out-of-fold", "train"] = "out-of-fold",
        n_folds: Annotated[int, Interval(2)] = 2,
        task: Literal["auto", "binary"] = "auto",
        pos_label: Label | None = None,
        features: Columns = None,
        n_bootstrap: Annotated[int, Interval(0)] = 1000,
        random_state: Seed = 0,
    ) -> None:
        self.target = target
        self.fixed_recall = fixed_recall
        self.estimator = estimator
        self.ratio = ratio
        self.threshold = threshold
        self.n_folds = n_folds
        self.task = task
        self.pos_label = pos_label
        self.features = features
        self.n_bootstrap = n_bootstrap
        self.random_state = random_state

    def _compute(self, context: Context) -> Result:
        return _efficacy(self, context, "recall", self.fixed_recall)


class RecallEfficacy(OfTwoLabels):
    """Gain in recall, at a fixed precision, by added synthetic rows: 0.5 if they change nothing.

    The mirror of :class:`PrecisionEfficacy`, for work in which alarms are costly: nine of ten must
    be right, and the model is to find as many cases as it can. Above 0.5 the synthetic rows help,
    below they harm.

    Parameters
    ----------
    target : str
        The column to predict, of two labels.
    fixed_precision : float, default=0.9
        The precision to reach, in [0, 1].
    estimator, ratio, threshold, n_folds, task, pos_label, features, n_bootstrap, random_state
        As of :class:`PrecisionEfficacy`.

    Attributes
    ----------
    context_ : Context
        The real tables.

    Raises
    ------
    MissingInputError
        At fit, if there is no holdout, or the target has not two labels, nor a `pos_label`.

    Notes
    -----
    The value is ``(recall of train + synthetic - recall of train) / 2 + 1/2`` on the holdout; the
    baseline is 0.5. Where no threshold reaches the precision on train, it is 1, and hardly any row
    is called.

    References
    ----------
    SDMetrics, "BinaryClassifierRecallEfficacy", https://docs.sdv.dev/sdmetrics.

    Examples
    --------
    >>> from skeval.datasets import make_mixed
    >>> from skeval.utility import RecallEfficacy
    >>> train, holdout, synthetic = (make_mixed(400, random_state=seed) for seed in range(3))
    >>> result = RecallEfficacy("member", 0.7).fit(train, holdout).evaluate(synthetic)
    >>> bool(0.3 < result.value < 0.7), result.baseline
    (True, 0.5)
    """

    tags = PrecisionEfficacy.tags

    def __init__(
        self,
        target: ColumnName,
        fixed_precision: Fraction = 0.9,
        estimator: Estimator = None,
        *,
        ratio: Positive = 1.0,
        threshold: Literal["out-of-fold", "train"] = "out-of-fold",
        n_folds: Annotated[int, Interval(2)] = 2,
        task: Literal["auto", "binary"] = "auto",
        pos_label: Label | None = None,
        features: Columns = None,
        n_bootstrap: Annotated[int, Interval(0)] = 1000,
        random_state: Seed = 0,
    ) -> None:
        self.target = target
        self.fixed_precision = fixed_precision
        self.estimator = estimator
        self.ratio = ratio
        self.threshold = threshold
        self.n_folds = n_folds
        self.task = task
        self.pos_label = pos_label
        self.features = features
        self.n_bootstrap = n_bootstrap
        self.random_state = random_state

    def _compute(self, context: Context) -> Result:
        return _efficacy(self, context, "precision", self.fixed_precision)


@dataclass(frozen=True)
class _Reached:
    """What a model reaches on the holdout; replicates of precision and recall at its threshold."""

    threshold: float
    precision: np.ndarray
    recall: np.ndarray

    def summary(self) -> dict[str, float]:
        return {
            "threshold": self.threshold,
            "precision": float(self.precision[0]),
            "recall": float(self.recall[0]),
        }


def _efficacy(metric: Any, context: Context, fixed: str, level: float) -> Result:
    question = Question.of(metric)
    if reason := unanswerable(context, question):
        return undefined(reason)
    is_positive = _is_positive(context, rows_of_role(context, "holdout", question), question)
    if not is_positive.any():
        return undefined(f"no row of the holdout has the positive label of {question.target}.")
    trainings = {"train": TRAIN, "augmented": Training("both", ratio=float(metric.ratio))}
    found = {
        name: _reached(metric, context, training, is_positive, fixed, float(level))
        for name, training in trainings.items()
    }
    free = "precision" if fixed == "recall" else "recall"
    gain = getattr(found["augmented"], free) - getattr(found["train"], free)
    scaled = gain / 2.0 + 0.5
    return Result(
        scaled[0],
        interval=percentile_interval(scaled),
        baseline=0.5,
        details={
            "fixed": {fixed: level},
            "gain": gain[0],
            "models": {name: reached.summary() for name, reached in found.items()},
            **counts_of_rows(context, question, trainings, "holdout", metric.random_state),
        },
    )


def _reached(
    metric: Any,
    context: Context,
    training: Training,
    is_positive: np.ndarray,
    fixed: str,
    level: float,
) -> _Reached:
    question, seed = Question.of(metric), metric.random_state
    estimator = DEFAULT if metric.estimator is None else metric.estimator
    positive = problem_of(context, question).positive
    if metric.threshold == "train":
        known = predicted(context, training, "train", estimator, question, seed)
    else:
        known = out_of_fold(context, training, estimator, question, metric.n_folds, seed)
    learnt = _is_positive(context, rows_of_role(context, "train", question), question)
    threshold = threshold_at(learnt, _scores(known, positive), level, fixed)
    tested = predicted(context, training, "holdout", estimator, question, seed)
    called = _scores(tested, positive) >= threshold
    precision, recall = replicated(
        lambda weights: np.column_stack(called_shares(is_positive, called, weights)),
        is_positive.size,
        metric.n_bootstrap,
        seed,
    ).T
    return _Reached(threshold, precision, recall)


def _is_positive(context: Context, rows: Rows, question: Question) -> np.ndarray:
    return rows.target == problem_of(context, question).positive


def _scores(found: Predictions, positive: int | None) -> np.ndarray:
    scores: np.ndarray = np.asarray(found.scores)[:, positive]
    return scores


def threshold_at(is_positive: np.ndarray, scores: np.ndarray, level: float, of: str) -> float:
    """Return the threshold at which precision or recall is least, but no less than a level.

    Rows are called positive if their score is at least the threshold.

    Parameters
    ----------
    is_positive : ndarray of bool, shape (n_rows,)
        The truth.
    scores : ndarray of shape (n_rows,)
        The higher, the more positive.
    level : float
        In [0, 1].
    of : {"precision", "recall"}
        What is to reach the level. Among thresholds that do equally well, the one at which the
        other is highest is returned.

    Returns
    -------
    float
        1.0 if no threshold reaches the level, as where no row is positive.
    """
    distinct, place = np.unique(scores, return_inverse=True)
    hits, called = (
        np.cumsum(np.bincount(place, weights, distinct.size)[::-1])[::-1]
        for weights in (is_positive.astype(np.float64), np.ones(scores.size))
    )
    n_positive = float(is_positive.sum())
    if n_positive == 0.0:
        return NONE_REACHES
    precision, recall = hits / called, hits / n_positive
    fixed, other = (precision, recall) if of == "precision" else (recall, precision)
    reached = np.flatnonzero(fixed >= level - 1e-12)
    if reached.size == 0:
        return NONE_REACHES
    best = np.lexsort((-other[reached], fixed[reached]))[0]
    return float(distinct[reached[best]])


def called_shares(
    is_positive: np.ndarray, called: np.ndarray, weights: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return precision and recall of calls for each weighting of the rows; 0 where none is called.

    Parameters
    ----------
    is_positive, called : ndarray of bool, shape (n_rows,)
        The truth, and what was called positive.
    weights : ndarray of shape (n_replicates, n_rows)
        How often each row counts.

    Returns
    -------
    precision, recall : ndarray of shape (n_replicates,)
        Recall is nan where no row is positive.
    """
    hits, n_called, n_positive = (
        weights @ part.astype(np.float64) for part in (is_positive & called, called, is_positive)
    )
    precision = np.divide(hits, n_called, out=np.zeros_like(hits), where=n_called > 0)
    recall = np.divide(hits, n_positive, out=np.full_like(hits, np.nan), where=n_positive > 0)
    return precision, recall
