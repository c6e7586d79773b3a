"""Compare the calibration of models trained on synthetic and on real data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, replace
from functools import partial
from typing import Any, ClassVar, Literal

import numpy as np
from scipy.sparse import csr_matrix

from skeval.core.context import Context, shared
from skeval.core.declared import declared
from skeval.core.tags import MODEL_TAGS
from skeval.exceptions import InvalidParameterError
from skeval.results.result import Result, undefined_result
from skeval.stats.bootstrap import bootstrap_values, difference_interval, inflated_interval
from skeval.steps.models import HOLDOUT, Training, predict_part
from skeval.steps.problem import Question, problem_of, rows_of_role
from skeval.steps.scoring import Predictions
from skeval.utility.model_metric import (
    TRAININGS,
    SeveralModels,
    stated_replicates,
    value_with_interval,
)
from skeval.utils.formatting import as_float, percent
from skeval.utils.parameters import N_SEEDS, Count

_MIN_BIN_ROWS = 5  # minimum number of rows of a bin in a curve


@declared
class CalibrationPreservation(SeveralModels):
    """Similarity of the calibration errors of models trained on synthetic and on real data.

    A clinic orders a test if a model predicts a risk above 20%. This rule is useful only if a fifth
    of the patients with a predicted risk of 20% are ill. A model trained on synthetic rows may rank
    patients as well as a model trained on real rows (see :class:`TSTR`) but be overconfident,
    because the generator produced cases that are clearer than real ones. The metric compares the
    calibration errors of both models on the holdout. The score is 1 if the errors are equal, and 0
    if one model is perfect and the other model is always certain and always wrong. Higher is
    better.

    Parameters
    ----------
    target : str
        The categorical column to predict. With two labels, the probability of the positive label is
        evaluated. With more labels, the probability of the predicted label is evaluated.
    estimators : None, str, estimator or list of these, default=None
        The models, as in :class:`TSTR`, with `predict_proba`. The value is the mean over models. If
        None, xgboost is used.
    n_bins : int, default=10
        Number of bins, with similar numbers of holdout rows.
    task : {"auto", "binary", "multiclass"}, default="auto"
        "auto" is binary if the training data have two labels.

    Raises
    ------
    MissingInputError
        At fit, if the holdout is missing, or the target is numerical.
    InvalidParameterError
        At fit, if a model does not predict probabilities.

    Warnings
    --------
    The score compares two models and does not evaluate either of them. If both are badly
    calibrated, it can be 1.

    See Also
    --------
    TSTR : Discrimination of the models. ``scoring="brier"`` also depends on calibration.
    FairnessGap : Differences of the errors of a model between groups.

    Notes
    -----
    The expected calibration error (ECE) is the mean over bins of the absolute difference between
    the mean probability and the fraction of correct predictions. The value is ``1 - |ECE of TSTR -
    ECE of TRTR|``. The baseline is 1, which is the value for the training data in place of the
    synthetic data. A new real sample scores close to 1.

    The metric measures change, not quality. If both models are badly calibrated, the value may be
    1. The sign of ``details["ece"]["difference"]`` indicates which model is worse.
    ``details["brier"]`` contains the Brier scores, which also depend on how well the models
    separate the classes. ``details["curves"]`` contains the reliability curves, which show whether
    a model is overconfident. Bins of fewer than 5 rows are not included.

    Noise increases the ECE, mostly for good models. ``details["expected_if_calibrated"]`` is the
    expected ECE of each model for this number of rows if all its probabilities were correct. The
    intervals include this effect, so they are wide if there are few holdout rows. In simulations,
    they contain the true difference of two fixed models in 87% of cases or more, mostly above 93%,
    whereas intervals from bootstrap quantiles may never contain the true difference. The intervals
    do not include the randomness of training. For two tables from the same distribution, the
    interval of the difference contained 0 in 92% of cases or more.

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

    tags = replace(MODEL_TAGS, display="CalibrationDisplay", headline=2)
    _tasks: ClassVar[tuple[str, ...]] = ("binary", "multiclass")

    _: KW_ONLY
    n_bins: Count = 10
    task: Literal["auto", "binary", "multiclass"] = "auto"

    def _prepare(self, context: Context) -> None:
        unsure = [
            name
            for name, model in self._models().items()
            if not isinstance(model, str) and not hasattr(model, "predict_proba")
        ]
        if unsure:
            raise InvalidParameterError(
                "CalibrationPreservation: estimators must have predict_proba, because their "
                f"probabilities are evaluated. These do not: {', '.join(unsure)}."
            )

    def _measure(self, context: Context) -> Result:
        tstr, trtr = self._errors(context).values()
        if np.isnan(tstr - trtr).any():
            return undefined_result("a model does not predict probabilities.")
        kept = [preservation(*both)[0] for both in zip(tstr, trtr, strict=True)]
        return Result(float(np.mean(kept)))

    def _relation(self, context: Context, result: Result) -> dict[str, Any]:
        errors = self._errors(context, self.n_bootstrap)
        brier = {
            kind: self._replicates(context, training, HOLDOUT, "brier", self.n_bootstrap)
            for kind, training in TRAININGS.items()
        }
        asked = (self._models(), self._question(context), self.n_bins, self.random_state)
        details = {
            **stated_errors(errors, brier),
            "models": self._by_model(errors),
            **curves_of(context, *asked),
            **self._counts(context, TRAININGS),
        }
        interval = preservation_interval(*errors.values())
        return {"interval": interval, "baseline": 1.0, "details": details}

    def _errors(self, context: Context, n_bootstrap: int = 0) -> dict[str, np.ndarray]:
        """Return the errors of all models as an array (n_models, 1 + n_bootstrap)."""
        question, models = self._question(context), self._models().values()
        asked = (question, self.n_bins, n_bootstrap, self.n_repeats, self.random_state)
        return {
            kind: np.array([errors_of(context, training, model, *asked) for model in models])
            for kind, training in TRAININGS.items()
        }

    def _summary(self, result: Result) -> str:
        errors = result.details["ece"]
        tstr, trtr = (percent(as_float(errors[kind]["value"])) for kind in TRAININGS)
        chance = percent(as_float(result.details["expected_if_calibrated"]["tstr"]))
        return (
            f"The calibration error is {tstr} on average for models trained on synthetic rows and "
            f"{trtr} for models trained on real rows ({chance} expected by chance)."
        )


@shared
def confidences(
    context: Context, training: Training, model: Any, question: Question, seed: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return a model's confidence for each holdout row, and whether its prediction is correct."""
    # For two labels, the confidence is the probability of the positive label. For more labels, it
    # is the highest probability. Labels that do not occur in real rows count as one label, which is
    # always wrong.
    truth = rows_of_role(context, "holdout", question).target
    predictions = predict_part(context, training, HOLDOUT, model, question, seed)
    return confidences_in(predictions, truth, problem_of(context, question).positive)


def confidences_in(
    predictions: Predictions, truth: np.ndarray, positive: int | None
) -> tuple[np.ndarray, np.ndarray]:
    """Return the confidence of predictions as in :func:`confidences`, or nan."""
    if predictions.scores is None or not predictions.are_probabilities:
        return np.full(truth.size, np.nan), np.zeros(truth.size, dtype=bool)
    scores = np.clip(predictions.scores, 0.0, 1.0)
    if positive is not None:
        return scores[:, positive], truth == positive
    rest = np.maximum(1.0 - scores.sum(axis=1), 0.0)
    every = np.column_stack([scores, rest])
    called = every.argmax(axis=1)
    return every[np.arange(truth.size), called], called == truth


def curves_of(
    context: Context, models: Mapping[str, Any], question: Question, n_bins: int, seed: int
) -> dict[str, Any]:
    """Return the reliability curves of all models of one seed, and the expected error by chance."""
    curves: dict[str, dict[str, Any]] = {name: {} for name in models}
    expected: dict[str, float] = {}
    for kind, training in TRAININGS.items():
        pairs = {n: confidences(context, training, m, question, seed) for n, m in models.items()}
        for name, (sure, hits) in pairs.items():
            curves[name][kind] = reliability_curve(sure, hits, n_bins, _MIN_BIN_ROWS)
        errors = [error_of_calibrated_model(sure, n_bins) for sure, _ in pairs.values()]
        expected[kind] = float(np.mean(errors))
    return {"expected_if_calibrated": expected, "curves": curves}


@shared
def errors_of(
    context: Context,
    training: Training,
    model: Any,
    question: Question,
    n_bins: int,
    n_replicates: int,
    n_repeats: int,
    seed: int,
) -> np.ndarray:
    """Return a model's calibration error on the holdout, then on bootstrap samples of it.

    If `n_repeats` is above 1, the errors are means over models with different seeds.
    """

    def errors_of_model(seed_of_model: int) -> np.ndarray:
        sure, hits = confidences(context, training, model, question, seed_of_model)
        error = partial(calibration_error, sure, hits, n_bins=n_bins)
        return bootstrap_values(error, sure.size, n_replicates, seed)

    return np.asarray(
        np.mean([errors_of_model((seed + i) % N_SEEDS) for i in range(n_repeats)], axis=0)
    )


def stated_errors(
    errors: Mapping[str, np.ndarray], brier: Mapping[str, np.ndarray]
) -> dict[str, Any]:
    """Return both types of errors, averaged over models, with intervals and differences."""
    tstr, trtr = (of_models.mean(axis=0) for of_models in errors.values())
    scores = {kind: of_models.mean(axis=0) for kind, of_models in brier.items()}
    scores["difference"] = scores["tstr"] - scores["trtr"]
    return {
        "ece": {
            "tstr": value_with_interval(tstr[0], inflated_interval(tstr)),
            "trtr": value_with_interval(trtr[0], inflated_interval(trtr)),
            "difference": value_with_interval(tstr[0] - trtr[0], difference_interval(tstr, trtr)),
        },
        "brier": {kind: stated_replicates(replicates) for kind, replicates in scores.items()},
    }


def preservation_interval(tstr: np.ndarray, trtr: np.ndarray) -> tuple[float, float] | None:
    """Return the mean over models of the interval ends, or None if a model has no interval."""
    ends = [preservation(*both)[1] for both in zip(tstr, trtr, strict=True)]
    known = [both for both in ends if both is not None]
    return tuple(np.mean(known, axis=0)) if len(known) == len(ends) else None


def preservation(first: np.ndarray, second: np.ndarray) -> tuple[float, tuple[float, float] | None]:
    """Return 1 minus the difference of two errors, with an interval if there are replicates."""
    value = 1.0 - abs(float(first[0] - second[0]))
    interval = difference_interval(first, second)
    if interval is None:
        return value, None
    low, high = interval
    nearest = 0.0 if low <= 0.0 <= high else min(abs(low), abs(high))
    return value, (max(1.0 - max(abs(low), abs(high)), 0.0), 1.0 - nearest)


def equal_mass_bins(confidences: np.ndarray, n_bins: int = 10) -> np.ndarray:
    """Assign rows to bins with equal numbers of rows by their confidence."""
    _, which, counts = np.unique(confidences, return_inverse=True, return_counts=True)
    middles = np.cumsum(counts) - 0.5 * counts
    bins: np.ndarray = np.floor(n_bins * middles / max(confidences.size, 1)).astype(np.int64)
    return bins[which]


def calibration_error(
    confidences: np.ndarray, hits: np.ndarray, weights: np.ndarray, n_bins: int = 10
) -> np.ndarray:
    """Return the expected calibration error for each weighting."""
    bins = equal_mass_bins(confidences, n_bins)
    excess = csr_matrix(
        (confidences - hits, (bins, np.arange(bins.size))), shape=(n_bins, bins.size)
    )
    return np.asarray(np.abs(excess @ weights.T).sum(axis=0) / weights.sum(axis=1))


def error_of_calibrated_model(confidences: np.ndarray, n_bins: int = 10) -> float:
    """Return the expected calibration error by chance if every confidence is correct."""
    # The number of correct predictions in a bin varies around the sum of its confidences with
    # variance sum of p (1 - p). The mean distance is computed for a normal distribution.
    bins = equal_mass_bins(confidences, n_bins)
    variances = np.bincount(bins, confidences * (1.0 - confidences), minlength=n_bins)
    return float(np.sqrt(2.0 / np.pi * np.maximum(variances, 0.0)).sum() / confidences.size)


def reliability_curve(
    confidences: np.ndarray, hits: np.ndarray, n_bins: int = 10, min_rows: int = 1
) -> dict[str, np.ndarray]:
    """Return mean confidence and fraction of correct predictions for each bin with rows."""
    bins = equal_mass_bins(confidences, n_bins)
    sizes = np.bincount(bins, minlength=n_bins)
    sums = [np.bincount(bins, part, minlength=n_bins) for part in (confidences, hits)]
    used = sizes > 0
    many = sizes >= max(min_rows, 1)
    predicted, observed = (
        np.divide(part, sizes, out=np.full(n_bins, np.nan), where=many)[used] for part in sums
    )
    return {"predicted": predicted, "observed": observed, "n_rows": sizes[used]}
