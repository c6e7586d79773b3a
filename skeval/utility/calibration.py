"""Whether models that learnt on synthetic rows are as sure as they may be."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import numpy as np
from scipy.sparse import csr_matrix

from skeval.base import Metric
from skeval.context import Context, shared
from skeval.exceptions import InvalidParameterError
from skeval.parameters import ColumnName, Columns, Count, Interval, Label, Seed
from skeval.result import Result, undefined
from skeval.stats.intervals import difference_interval, inflated_interval, replicated
from skeval.steps.models import (
    SYNTHETIC,
    TRAIN,
    Estimators,
    Training,
    chosen_models,
    predicted,
    replicates,
)
from skeval.steps.problem import Question, problem_of, rows_of_role, unanswerable
from skeval.steps.scoring import Predictions
from skeval.tags import MetricTags
from skeval.utility.results import counts_of_rows, interval_of

_TRAININGS = {"tstr": SYNTHETIC, "trtr": TRAIN}
_FEWEST = 5  # rows of a bin that a curve shows


class CalibrationPreservation(Metric):
    """How well probabilities keep their meaning if a model learns on synthetic rows: 1 if fully.

    A clinic orders a test where a model says that the risk is above 20%. That rests on the
    probabilities: of the patients at 20%, a fifth must be ill. A model that learnt on synthetic
    rows may rank patients as well as one of real rows, as :class:`TSTR` sees, and be far too sure,
    where the generator drew cases that are clearer than real ones. The measure compares the
    calibration errors of both models on the holdout: 1 if they are equal, 0 if one model is
    perfect and the other always sure and always wrong.

    Parameters
    ----------
    target : str
        The column to predict, of labels. With two, the probability of the positive one is judged;
        with more, that of the label called.
    estimators : None, str, estimator or list of these, default=None
        The models, as in :class:`TSTR`, with `predict_proba`; the value is their mean. None is
        xgboost.
    n_bins : int, default=10
        Number of bins, with like numbers of holdout rows.
    task : {"auto", "binary", "multiclass"}, default="auto"
        "auto": binary if train has two labels.
    pos_label : str, bool or float, optional
        The positive label of a binary task, as in :class:`TSTR`.
    features : list of str or int, optional
        The columns to predict from; None for all others.
    n_repeats : int, default=1
        Number of times that each model is fitted, with seeds of its own; errors are means.
    n_bootstrap : int, default=1000
        Number of bootstrap samples of holdout rows behind the intervals; 0 for none.
    random_state : int, default=0
        Seed of models and bootstrap.

    Attributes
    ----------
    context_ : Context
        The real tables.

    Raises
    ------
    MissingInputError
        At fit, if there is no holdout, or the target is one of numbers.
    InvalidParameterError
        At fit, if a model gives no probabilities.

    Notes
    -----
    The expected calibration error (ECE) is the mean over bins of the distance between mean
    probability and share of hits; the value is ``1 - |ECE of TSTR - ECE of TRTR|``. The baseline is
    that of train in the synthetic place, 1; a fresh real sample comes close to it.

    It judges change, not quality: two badly calibrated models may have a value of 1, and the sign
    of ``details["ece"]["difference"]`` says which is worse. ``details["brier"]`` has the Brier
    scores, which also see how well the models tell cases apart, and ``details["curves"]`` the
    reliability curves, which say whether a model is too sure; they leave out bins of fewer than 5
    rows.

    Noise makes an ECE larger, that of a good model most: ``details["expected_if_calibrated"]`` is
    what each model would have on so many rows if all its probabilities were right. The intervals
    allow for it, and so are wide where holdout rows are few: in simulations they hold the true
    difference of two fixed models in 87% of cases or more, mostly above 93%, where bootstrap
    quantiles may hold it in none. Chance in what the models learn is not in them; of two tables of
    one law, that of the difference still held 0 in 92% of cases or more.

    References
    ----------
    M. P. Naeini, G. F. Cooper, M. Hauskrecht, "Obtaining well calibrated probabilities using
    Bayesian binning", AAAI 2015, doi:10.1609/aaai.v29i1.9602.

    G. W. Brier, "Verification of forecasts expressed in terms of probability", Monthly Weather
    Review 78, 1950.

    Examples
    --------
    >>> from skeval.datasets import make_mixed
    >>> from skeval.utility import CalibrationPreservation
    >>> train, holdout, synthetic = (make_mixed(500, random_state=seed) for seed in range(3))
    >>> metric = CalibrationPreservation("member", "linear").fit(train, holdout)
    >>> bool(metric.score(synthetic) > 0.95), metric.score(train)
    (True, 1.0)
    """

    tags = MetricTags(
        "utility", greater_is_better=True, needs=frozenset({"holdout", "target"}), bounds=(0.0, 1.0)
    )

    def __init__(
        self,
        target: ColumnName,
        estimators: Estimators = None,
        *,
        n_bins: Count = 10,
        task: Literal["auto", "binary", "multiclass"] = "auto",
        pos_label: Label | None = None,
        features: Columns = None,
        n_repeats: Count = 1,
        n_bootstrap: Annotated[int, Interval(0)] = 1000,
        random_state: Seed = 0,
    ) -> None:
        self.target = target
        self.estimators = estimators
        self.n_bins = n_bins
        self.task = task
        self.pos_label = pos_label
        self.features = features
        self.n_repeats = n_repeats
        self.n_bootstrap = n_bootstrap
        self.random_state = random_state

    def unmet_need(self, context: Context) -> str | None:
        """Say which need the real tables leave unmet, a target of labels among them."""
        if unmet := super().unmet_need(context):
            return unmet
        if problem_of(context, Question.of(self)).has_labels:
            return None
        return f"needs a target of labels, and {self.target} is one of numbers."

    def _prepare(self, context: Context) -> None:
        models = chosen_models(self.estimators)
        unsure = [
            name
            for name, model in models.items()
            if not isinstance(model, str) and not hasattr(model, "predict_proba")
        ]
        if unsure:
            raise InvalidParameterError(
                "CalibrationPreservation: estimators must have predict_proba, for it is their "
                f"probabilities that are judged, and {', '.join(unsure)} has none."
            )

    def _compute(self, context: Context) -> Result:
        question = Question.of(self)
        if reason := unanswerable(context, question):
            return undefined(reason)
        models = chosen_models(self.estimators)
        errors = {
            kind: np.stack([self._errors(context, t, model) for model in models.values()])
            for kind, t in _TRAININGS.items()
        }
        if np.isnan(errors["tstr"][:, 0] - errors["trtr"][:, 0]).any():
            return undefined("a model gives no probabilities.")
        preserved = [
            _preserved(first, second)
            for first, second in zip(errors["tstr"], errors["trtr"], strict=True)
        ]
        ends = [(low, high) for _, low, high in preserved if low is not None and high is not None]
        whole = len(ends) == len(preserved)
        return Result(
            float(np.mean([value for value, _, _ in preserved])),
            interval=tuple(np.mean(ends, axis=0)) if whole else None,
            baseline=1.0,
            details={
                "ece": _stated(*(found.mean(axis=0) for found in errors.values())),
                "expected_if_calibrated": self._expected(context),
                "brier": self._brier(context),
                "models": {
                    name: {kind: float(found[i, 0]) for kind, found in errors.items()}
                    for i, name in enumerate(models)
                },
                "curves": self._curves(context),
                **counts_of_rows(context, question, _TRAININGS, "holdout", self.random_state),
            },
        )

    def _errors(self, context: Context, training: Training, model: Any) -> np.ndarray:
        """Return the calibration error of a model, then of bootstrap samples."""
        seeds = range(self.random_state, self.random_state + self.n_repeats)
        found = [
            errors_of(
                context,
                training,
                model,
                Question.of(self),
                self.n_bins,
                self.n_bootstrap,
                seed,
                self.random_state,
            )
            for seed in seeds
        ]
        mean: np.ndarray = np.mean(found, axis=0)
        return mean

    def _expected(self, context: Context) -> dict[str, float]:
        question, models = Question.of(self), chosen_models(self.estimators).values()
        return {
            kind: float(
                np.mean(
                    [
                        expected_if_calibrated(
                            confidences(context, t, model, question, self.random_state)[0],
                            self.n_bins,
                        )
                        for model in models
                    ]
                )
            )
            for kind, t in _TRAININGS.items()
        }

    def _brier(self, context: Context) -> dict[str, dict[str, float | None]]:
        question, seed = Question.of(self), self.random_state
        tstr, trtr = (
            np.mean(
                [
                    replicates(
                        context,
                        training,
                        "holdout",
                        model,
                        question,
                        "brier",
                        self.n_bootstrap,
                        self.n_repeats,
                        seed,
                    )
                    for model in chosen_models(self.estimators).values()
                ],
                axis=0,
            )
            for training in _TRAININGS.values()
        )
        parts = {"tstr": tstr, "trtr": trtr, "difference": tstr - trtr}
        return {kind: interval_of(found) for kind, found in parts.items()}

    def _curves(self, context: Context) -> dict[str, dict[str, dict[str, np.ndarray]]]:
        """Return the reliability curves of each model, of its first seed."""
        question = Question.of(self)
        return {
            name: {
                kind: reliability_curve(
                    *confidences(context, training, model, question, self.random_state),
                    self.n_bins,
                    _FEWEST,
                )
                for kind, training in _TRAININGS.items()
            }
            for name, model in chosen_models(self.estimators).items()
        }


@shared
def confidences(
    context: Context, training: Training, model: Any, question: Question, seed: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return how sure a model is of each holdout row, and whether it is right to be.

    With two labels that is the probability of the positive one; with more, that of the label to
    which it gives the highest. What it gives to labels that no real row has counts as one label,
    which is always wrong.
    """
    truth = rows_of_role(context, "holdout", question).target
    found = predicted(context, training, "holdout", model, question, seed)
    return _confidences(found, truth, problem_of(context, question).positive)


def _confidences(
    found: Predictions, truth: np.ndarray, positive: int | None
) -> tuple[np.ndarray, np.ndarray]:
    if found.scores is None or not found.are_probabilities:
        return np.full(truth.size, np.nan), np.zeros(truth.size, dtype=bool)
    scores = np.clip(found.scores, 0.0, 1.0)
    if positive is not None:
        return scores[:, positive], truth == positive
    rest = np.maximum(1.0 - scores.sum(axis=1), 0.0)
    every = np.column_stack([scores, rest])
    called = every.argmax(axis=1)
    return every[np.arange(truth.size), called], called == truth


@shared
def errors_of(
    context: Context,
    training: Training,
    model: Any,
    question: Question,
    n_bins: int,
    n_replicates: int,
    seed_of_model: int,
    seed: int,
) -> np.ndarray:
    """Return the calibration error of a model on the holdout, then on bootstrap samples of it."""
    sure, hits = confidences(context, training, model, question, seed_of_model)
    if np.isnan(sure).any():
        return np.full(1 + n_replicates, np.nan)
    return replicated(
        lambda weights: calibration_error(sure, hits, weights, n_bins),
        sure.size,
        n_replicates,
        seed,
    )


def _preserved(first: np.ndarray, second: np.ndarray) -> tuple[float, float | None, float | None]:
    """Return 1 minus the distance of two errors, with the ends of its interval."""
    value = 1.0 - abs(float(first[0] - second[0]))
    found = difference_interval(first, second)
    if found is None:
        return value, None, None
    low, high = found
    nearest = 0.0 if low <= 0.0 <= high else min(abs(low), abs(high))
    return value, max(1.0 - max(abs(low), abs(high)), 0.0), 1.0 - nearest


def _stated(tstr: np.ndarray, trtr: np.ndarray) -> dict[str, dict[str, float | None]]:
    """Return both errors and their difference with their intervals."""
    intervals = {
        "tstr": inflated_interval(tstr),
        "trtr": inflated_interval(trtr),
        "difference": difference_interval(tstr, trtr),
    }
    values = {"tstr": tstr[0], "trtr": trtr[0], "difference": tstr[0] - trtr[0]}
    found: dict[str, dict[str, float | None]] = {}
    for kind, interval in intervals.items():
        low, high = interval or (None, None)
        found[kind] = {"value": float(values[kind]), "low": low, "high": high}
    return found


def equal_mass_bins(confidences: np.ndarray, n_bins: int = 10) -> np.ndarray:
    """Put rows into bins of equal numbers by their confidence.

    Parameters
    ----------
    confidences : ndarray of shape (n_rows,)
        What the model says that the event's probability is.
    n_bins : int, default=10
        Number of bins.

    Returns
    -------
    ndarray of int of shape (n_rows,)
        Ascending. Rows of one confidence are in one bin, that of the middle one of them; some bins
        may then be empty.
    """
    _, which, counts = np.unique(confidences, return_inverse=True, return_counts=True)
    middles = np.cumsum(counts) - 0.5 * counts
    bins: np.ndarray = np.floor(n_bins * middles / max(confidences.size, 1)).astype(np.int64)
    return bins[which]


def calibration_error(
    confidences: np.ndarray, hits: np.ndarray, weights: np.ndarray, n_bins: int = 10
) -> np.ndarray:
    """Return the expected calibration error, one a weighting.

    Parameters
    ----------
    confidences : ndarray of shape (n_rows,)
        What the model says that the event's probability is.
    hits : ndarray of bool of shape (n_rows,)
        Whether the event happened.
    weights : ndarray of shape (n_replicates, n_rows)
        How often each row counts.
    n_bins : int, default=10
        Number of bins of equal numbers of rows; they are the same for all weightings.

    Returns
    -------
    ndarray of shape (n_replicates,)
        The mean over bins, by their weights, of the distance of mean confidence and share of hits.
    """
    bins = equal_mass_bins(confidences, n_bins)
    excess = csr_matrix(
        (confidences - hits, (bins, np.arange(bins.size))), shape=(n_bins, bins.size)
    )
    found: np.ndarray = np.abs(excess @ weights.T).sum(axis=0) / weights.sum(axis=1)
    return found


def expected_if_calibrated(confidences: np.ndarray, n_bins: int = 10) -> float:
    """Return the calibration error that chance gives where every confidence is the true one.

    The hits of a bin then vary around the sum of its confidences with variance sum of p (1 - p);
    the mean distance is taken as a normal law has it.
    """
    bins = equal_mass_bins(confidences, n_bins)
    variances = np.bincount(bins, confidences * (1.0 - confidences), minlength=n_bins)
    return float(np.sqrt(2.0 / np.pi * np.maximum(variances, 0.0)).sum() / confidences.size)


def reliability_curve(
    confidences: np.ndarray, hits: np.ndarray, n_bins: int = 10, min_rows: int = 1
) -> dict[str, np.ndarray]:
    """Return mean confidence and share of hits of each bin that has rows.

    Parameters
    ----------
    confidences, hits : ndarray of shape (n_rows,)
        As of :func:`calibration_error`.
    n_bins : int, default=10
        Number of bins of equal numbers of rows.
    min_rows : int, default=1
        Bins of fewer rows have nan.

    Returns
    -------
    dict of str to ndarray of shape (n_bins_with_rows,)
        "predicted", "observed" and "n_rows".
    """
    bins = equal_mass_bins(confidences, n_bins)
    sizes = np.bincount(bins, minlength=n_bins)
    sums = [np.bincount(bins, part, minlength=n_bins) for part in (confidences, hits)]
    used = sizes > 0
    many = sizes >= max(min_rows, 1)
    predicted, observed = (
        np.divide(part, sizes, out=np.full(n_bins, np.nan), where=many)[used] for part in sums
    )
    return {"predicted": predicted, "observed": observed, "n_rows": sizes[used]}
