"""Precision and recall at a threshold, with and without added synthetic rows."""

from __future__ import annotations

from dataclasses import KW_ONLY
from functools import partial
from typing import Annotated, ClassVar, Literal

import numpy as np

from skeval.core.context import Context
from skeval.core.declared import declared
from skeval.core.tags import MODEL_TAGS
from skeval.results.result import Result, undefined_result
from skeval.stats.bootstrap import bootstrap_values, percentile_interval
from skeval.steps import models
from skeval.steps.problem import problem_of, rows_of_role
from skeval.steps.scoring import Predictions
from skeval.utility.model_metric import ModelMetric
from skeval.utils.formatting import as_float, percent
from skeval.utils.parameters import Fraction, Interval, Positive

_NONE_REACHES = 1.0


@declared
class _Efficacy(ModelMetric):
    """Base class of metrics of the gain in precision or recall at a fixed level of the other.

    Parameters
    ----------
    target : str
        The column to predict, which must have two labels.
    task : {"auto", "binary"}, default="auto"
        "binary" with `pos_label` compares one of several labels with all others.
    pos_label : str, bool or float, optional
        The positive label. The default is the same as in :class:`TSTR`.
    random_state : int, default=0
        Seed of models, folds, drawn rows and bootstrap.
    estimator : None, str or estimator, default=None
        The model, as in :class:`TSTR`. If None, xgboost is used.
    ratio : float, default=1.0
        Number of synthetic rows to add per training row. If there are too few, all are added.
    threshold : {"out-of-fold", "train"}, default="out-of-fold"
        Scores of training rows that determine the threshold. "out-of-fold" uses scores of models
        that were not trained on the row (but on the synthetic rows). "train" uses scores of the
        model itself. A model is more confident about its training rows, so this threshold is too
        high for other rows and does not reach the recall.
    n_folds : int, default=2
        Number of folds of "out-of-fold".
    """

    _tasks: ClassVar[tuple[str, ...]] = ("binary",)
    _fixed: ClassVar[str]
    _free: ClassVar[str]

    _: KW_ONLY
    task: Literal["auto", "binary"] = "auto"
    estimator: models.Estimator = None
    ratio: Positive = 1.0
    threshold: Literal["out-of-fold", "train"] = "out-of-fold"
    n_folds: Annotated[int, Interval(2)] = 2

    def _measure(self, context: Context) -> Result:
        question = self._question(context)
        positive = problem_of(context, question).positive
        train, holdout = (
            rows_of_role(context, role, question).target == positive
            for role in ("train", "holdout")
        )
        if not holdout.any():
            return undefined_result(
                f"no row of the holdout has the positive label of {question.target}."
            )
        level = getattr(self, f"fixed_{self._fixed}")
        trainings = {"train": models.TRAIN, "augmented": models.augmented_training(self.ratio)}
        by_model, shares = {}, {}
        for name, training in trainings.items():
            known, tested = (
                np.asarray(predictions.scores)[:, positive]
                for predictions in self._predictions(context, training)
            )
            threshold = threshold_at(train, known, float(level), self._fixed)
            counted = partial(called_shares, holdout, tested >= threshold)
            both = bootstrap_values(counted, holdout.size, self.n_bootstrap, self.random_state)
            shares[name] = dict(zip(("precision", "recall"), both.T, strict=True))
            values = {kind: float(part[0]) for kind, part in shares[name].items()}
            by_model[name] = {"threshold": threshold, **values}
        gain = shares["augmented"][self._free] - shares["train"][self._free]
        scaled = gain / 2.0 + 0.5
        details = {"fixed": {self._fixed: level}, "gain": gain[0], "models": by_model}
        details |= self._counts(context, trainings)
        return Result(
            scaled[0], interval=percentile_interval(scaled), baseline=0.5, details=details
        )

    def _predictions(
        self, context: Context, training: models.Training
    ) -> tuple[Predictions, Predictions]:
        """Return predictions for the training data (for the threshold) and for the holdout."""
        estimator = models.DEFAULT if self.estimator is None else self.estimator
        asked, seed = (estimator, self._question(context)), self.random_state
        tested = models.predict_part(context, training, models.HOLDOUT, *asked, seed)
        if self.threshold == "train":
            return models.predict_part(context, training, models.TRAIN.rows, *asked, seed), tested
        return models.out_of_fold(context, training, *asked, self.n_folds, seed), tested

    def _summary(self, result: Result) -> str:
        level = percent(as_float(result.details["fixed"][self._fixed]))
        alone, added = (
            percent(as_float(result.details["models"][name][self._free]))
            for name in ("train", "augmented")
        )
        return (
            f"At a {self._fixed} of {level} on the training data, {self._free} on holdout rows is "
            f"{alone} without and {added} with added synthetic rows."
        )


@declared
class PrecisionEfficacy(_Efficacy):
    r"""Gain in precision at a fixed recall when synthetic rows are added.

    For example, nine of ten fraud cases must be found with as few false alarms as possible.
    Synthetic rows are added to the real rows to reduce the number of false alarms. Both models use
    the threshold that reaches the recall, and their precision is compared on real rows that neither
    model has seen. The score ranges from 0 to 1. Above 0.5, the synthetic rows improve the model,
    and below 0.5 they make it worse. Higher is better.

    Parameters
    ----------
    fixed_recall : float, default=0.9
        The recall to reach, in (0, 1].

    Raises
    ------
    MissingInputError
        At fit, if the holdout is missing, or the target does not have two labels and there is no
        `pos_label`.

    Warnings
    --------
    The thresholds are chosen on the training data, so the recall on the holdout can differ from the
    fixed recall. ``details`` contains the recalls that are reached.

    See Also
    --------
    RecallEfficacy : Recall at a fixed precision.
    AugmentationGain : Improvement of any score.

    Notes
    -----
    The value is

    .. math:: \frac{1}{2} (P_{T + S} - P_T) + \frac{1}{2}

    with the holdout precisions of the model trained on training and synthetic rows and of the model
    trained on training rows only. The baseline is 0.5. ``details`` contains both precisions, the
    recalls that the thresholds reach on the holdout, and the thresholds. The threshold has the
    smallest training recall that is not below the fixed recall. If there is no such threshold, the
    threshold is 1. The interval is computed from bootstrap samples of holdout rows at these
    thresholds.

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

    tags = MODEL_TAGS
    _fixed, _free = "recall", "precision"

    fixed_recall: Fraction = 0.9


@declared
class RecallEfficacy(_Efficacy):
    r"""Gain in recall at a fixed precision when synthetic rows are added.

    This metric is the counterpart of :class:`PrecisionEfficacy` if alarms are costly. For example,
    nine of ten alarms must be correct, and the model should find the largest possible number of
    cases. The score ranges from 0 to 1. Above 0.5, the synthetic rows improve the model, and below
    0.5 they make it worse. Higher is better.

    Parameters
    ----------
    fixed_precision : float, default=0.9
        The precision to reach, in [0, 1].

    Raises
    ------
    MissingInputError
        At fit, if the holdout is missing, or the target does not have two labels and there is no
        `pos_label`.

    Warnings
    --------
    The thresholds are chosen on the training data, so the precision on the holdout can differ from
    the fixed precision. If no threshold reaches it, almost no row is predicted as positive.

    See Also
    --------
    PrecisionEfficacy : Precision at a fixed recall.
    AugmentationGain : Improvement of any score.

    Notes
    -----
    The value is

    .. math:: \frac{1}{2} (R_{T + S} - R_T) + \frac{1}{2}

    with the holdout recalls of the model trained on training and synthetic rows and of the model
    trained on training rows only. The baseline is 0.5. If no threshold reaches the precision on the
    training data, the threshold is 1, and almost no row is predicted as positive.

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

    tags = MODEL_TAGS
    _fixed, _free = "precision", "recall"

    fixed_precision: Fraction = 0.9


def threshold_at(is_positive: np.ndarray, scores: np.ndarray, level: float, of: str) -> float:
    """Return the threshold with the smallest precision or recall that reaches a level."""
    # Rows are called positive if their score is at least the threshold.
    distinct, place = np.unique(scores, return_inverse=True)
    hits, called = (
        np.cumsum(np.bincount(place, weights, distinct.size)[::-1])[::-1]
        for weights in (is_positive.astype(np.float64), np.ones(scores.size))
    )
    n_positive = float(is_positive.sum())
    if n_positive == 0.0:
        return _NONE_REACHES
    precision, recall = hits / called, hits / n_positive
    fixed, other = (precision, recall) if of == "precision" else (recall, precision)
    reached = np.flatnonzero(fixed >= level - 1e-12)
    if reached.size == 0:
        return _NONE_REACHES
    best = np.lexsort((-other[reached], fixed[reached]))[0]
    return float(distinct[reached[best]])


def called_shares(is_positive: np.ndarray, called: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return precision and recall for each weighting of the rows, or 0 without positive calls."""
    hits, n_called, n_positive = (
        weights @ part.astype(np.float64) for part in (is_positive & called, called, is_positive)
    )
    precision = np.divide(hits, n_called, out=np.zeros_like(hits), where=n_called > 0)
    recall = np.divide(hits, n_positive, out=np.full_like(hits, np.nan), where=n_positive > 0)
    return np.column_stack([precision, recall])
