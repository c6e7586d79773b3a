"""Whether models trained on synthetic rows are as sure as they may be."""

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

_MIN_BIN_ROWS = 5  # rows of a bin that a curve shows


@declared
class CalibrationPreservation(SeveralModels):
    """How well probabilities keep their meaning if a model learns on synthetic rows: 1 if fully.

    A clinic orders a test where a model says that the risk is above 20%. That rests on the
    probabilities: of the patients at 20%, a fifth must be ill. A model trained on synthetic
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

    Raises
    ------
    MissingInputError
        At fit, if there is no holdout, or the target is one of numbers.
    InvalidParameterError
        At fit, if a model gives no probabilities.

    See Also
    --------
    TSTR : How well models tell cases apart; ``scoring="brier"`` sees both.
    FairnessGap : How models treat groups.

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
    what each model would have at this number of rows if all its probabilities were right. The
    intervals allow for it, and so are wide where holdout rows are few: in simulations they hold the
    true difference of two fixed models in 87% of cases or more, mostly above 93%, where bootstrap
    quantiles may hold it in none. Chance in what the models learn is not in them; of two tables of
    one distribution, that of the difference still held 0 in 92% of cases or more.

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
                "CalibrationPreservation: estimators must have predict_proba, for it is their "
                f"probabilities that are judged, and {', '.join(unsure)} has none."
            )

    def _measure(self, context: Context) -> Result:
        tstr, trtr = self._errors(context).values()
        if np.isnan(tstr - trtr).any():
            return undefined_result("a model gives no probabilities.")
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
        """Return the errors of all models, of shape (n_models, 1 + n_bootstrap)."""
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
            f"Probabilities are off by {tstr} on average after synthetic rows, by {trtr} after "
            f"real ones; chance alone would give {chance}."
        )


@shared
def confidences(
    context: Context, training: Training, model: Any, question: Question, seed: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return how sure a model is of each holdout row, and whether it is right to be."""
    # With two labels that is the probability of the positive one; with more, that of the
    # label to which it gives the highest. What it gives to labels that no real row has counts
    # as one label, which is always wrong.
    truth = rows_of_role(context, "holdout", question).target
    predictions = predict_part(context, training, HOLDOUT, model, question, seed)
    return confidences_in(predictions, truth, problem_of(context, question).positive)


def confidences_in(
    predictions: Predictions, truth: np.ndarray, positive: int | None
) -> tuple[np.ndarray, np.ndarray]:
    """Return how sure predictions are, as of :func:`confidences`; nan without probabilities."""
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
    """Return the reliability curves of all models of one seed, and what chance adds to errors."""
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

    With `n_repeats` above 1 they are means over models of as many seeds.
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
    """Return both kinds of errors, means over models, with their intervals and differences."""
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
    """Return the mean over models of the ends of intervals; None where a model has none."""
    ends = [preservation(*both)[1] for both in zip(tstr, trtr, strict=True)]
    known = [both for both in ends if both is not None]
    return tuple(np.mean(known, axis=0)) if len(known) == len(ends) else None


def preservation(first: np.ndarray, second: np.ndarray) -> tuple[float, tuple[float, float] | None]:
    """Return 1 minus the distance of two errors, and its interval, if replicates give one."""
    value = 1.0 - abs(float(first[0] - second[0]))
    interval = difference_interval(first, second)
    if interval is None:
        return value, None
    low, high = interval
    nearest = 0.0 if low <= 0.0 <= high else min(abs(low), abs(high))
    return value, (max(1.0 - max(abs(low), abs(high)), 0.0), 1.0 - nearest)


def equal_mass_bins(confidences: np.ndarray, n_bins: int = 10) -> np.ndarray:
    """Put rows into bins of equal numbers by their confidence."""
    _, which, counts = np.unique(confidences, return_inverse=True, return_counts=True)
    middles = np.cumsum(counts) - 0.5 * counts
    bins: np.ndarray = np.floor(n_bins * middles / max(confidences.size, 1)).astype(np.int64)
    return bins[which]


def calibration_error(
    confidences: np.ndarray, hits: np.ndarray, weights: np.ndarray, n_bins: int = 10
) -> np.ndarray:
    """Return the expected calibration error, one a weighting."""
    bins = equal_mass_bins(confidences, n_bins)
    excess = csr_matrix(
        (confidences - hits, (bins, np.arange(bins.size))), shape=(n_bins, bins.size)
    )
    return np.asarray(np.abs(excess @ weights.T).sum(axis=0) / weights.sum(axis=1))


def error_of_calibrated_model(confidences: np.ndarray, n_bins: int = 10) -> float:
    """Return the calibration error that chance gives where every confidence is the true one."""
    # The hits of a bin then vary around the sum of its confidences with variance sum of p (1
    # - p); the mean distance is that of a normal distribution.
    bins = equal_mass_bins(confidences, n_bins)
    variances = np.bincount(bins, confidences * (1.0 - confidences), minlength=n_bins)
    return float(np.sqrt(2.0 / np.pi * np.maximum(variances, 0.0)).sum() / confidences.size)


def reliability_curve(
    confidences: np.ndarray, hits: np.ndarray, n_bins: int = 10, min_rows: int = 1
) -> dict[str, np.ndarray]:
    """Return mean confidence and share of hits of each bin that has rows."""
    bins = equal_mass_bins(confidences, n_bins)
    sizes = np.bincount(bins, minlength=n_bins)
    sums = [np.bincount(bins, part, minlength=n_bins) for part in (confidences, hits)]
    used = sizes > 0
    many = sizes >= max(min_rows, 1)
    predicted, observed = (
        np.divide(part, sizes, out=np.full(n_bins, np.nan), where=many)[used] for part in sums
    )
    return {"predicted": predicted, "observed": observed, "n_rows": sizes[used]}
