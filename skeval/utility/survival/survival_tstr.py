"""Predictions of survival models that are trained on synthetic data and tested on real data."""

from __future__ import annotations

from dataclasses import KW_ONLY, replace
from typing import Annotated, Any

import numpy as np
from scipy.stats import norm
from sklearn.base import clone

from skeval.core.context import Context, shared
from skeval.core.declared import declared
from skeval.results.result import Result, undefined_result
from skeval.stats.survival import baseline_hazard, concordance, cox, kaplan_meier
from skeval.steps.estimators import set_random_states
from skeval.steps.problem import Question, problem_of, rows_of_role
from skeval.tables.preprocessing import NOMINAL, OneHot
from skeval.utility.calibration import equal_mass_bins
from skeval.utility.designs import MIN_LEVEL_ROWS
from skeval.utility.model_metric import TRAININGS, value_with_interval
from skeval.utility.survival.covariate_metric import CovariateMetric, outcome_of_rows
from skeval.utility.survival.survival_metric import SURVIVAL_TAGS, Outcome, follow_up, round_to
from skeval.utils.formatting import as_float, number, percent
from skeval.utils.parameters import Seed, has_methods

_BINS = 10  # bins of predicted risk in a calibration curve
_RIDGE = 0.1  # keeps coefficients finite if no row of a category has the event


SurvivalEstimator = Annotated[Any, has_methods(("fit", "predict", "get_params"), values=("cox",))]


@declared
class SurvivalTSTR(CovariateMetric):
    """Concordance on holdout data of a survival model trained on synthetic data.

    A hospital that receives only the synthetic data trains its risk model on them and then applies
    the model to real patients, which the holdout represents. The value is the fraction of pairs of
    holdout rows for which the model assigns the higher risk to the row with the earlier event. It
    ranges from 0 to 1, and 0.5 corresponds to guessing. Higher is better. The baseline is the same
    model trained on the training data (TRTR).

    Parameters
    ----------
    estimator : "cox" or estimator, default="cox"
        The model. "cox" is a Cox model with a small penalty on standardized and one-hot columns.
        An estimator needs the interface of scikit-survival: ``fit(X, y)``, with an array `y` of the
        fields `event` and `time`, and ``predict(X)``, with larger values for earlier events.
    random_state : int, default=0
        Seed for an estimator whose `random_state` is None.

    Raises
    ------
    MissingInputError
        At fit, if there is no holdout, if the duration is not numerical, or if the event has more
        than two values.

    Warnings
    --------
    The concordance evaluates only the order of risks, not their size, and it depends on the
    censoring. Compare it with the baseline.

    See Also
    --------
    TSTR : Uses a target of labels or numbers.
    CoxCoefficientOverlap : Compares coefficients instead of predictions.

    Notes
    -----
    The value is Harrell's concordance index. The interval of the index and the interval of
    ``details["difference"]`` (TSTR - TRTR) are computed from the linear part of the index. They
    include the sampling of the holdout rows, but not the variation of models fitted on other
    tables. If many rows are censored, the index depends on the censoring times. This affects both
    models in the same way.

    ``details["calibration"]`` contains the calibration error of the predicted risks at three
    horizons, the quartiles of the training event times, rounded to two digits. The error is the
    mean difference, over ten bins of predicted risk, between the mean prediction and the
    Kaplan-Meier fraction of events. ``details["curves"]`` contains the bins with at least 10 rows.
    The risks use Breslow's baseline hazard of the rows that the model was trained on. If an
    estimator does not predict logarithms of hazard ratios, its risks are not calibrated, and the
    entry does not describe the table.

    References
    ----------
    F. E. Harrell, K. L. Lee, D. B. Mark, "Multivariable prognostic models", Statistics in Medicine
    15 (1996) 361-387.
    C. Esteban, S. L. Hyland, G. Raetsch, "Real-valued (medical) time series generation with
    recurrent conditional GANs", 2017, arXiv:1706.02633.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> from skeval.utility import SurvivalTSTR
    >>> def patients(seed):
    ...     rng = np.random.default_rng(seed)
    ...     dose = rng.normal(size=300)
    ...     days = rng.exponential(100.0 * np.exp(-dose))
    ...     return pd.DataFrame({"days": days, "died": rng.random(300) < 0.7, "dose": dose})
    >>> result = SurvivalTSTR("days", "died").fit(patients(0), patients(1)).evaluate(patients(2))
    >>> bool(abs(result.value - result.baseline) < 0.01), bool(result.value > 0.7)
    (True, True)
    """

    tags = replace(
        SURVIVAL_TAGS, needs=frozenset({"holdout"}), display="CalibrationDisplay", headline=2
    )

    _: KW_ONLY
    estimator: SurvivalEstimator = "cox"
    random_state: Seed = 0

    def _measure(self, context: Context) -> Result:
        if not self._question(context).features:
            return undefined_result(f"there is no column to predict {self.duration} from.")
        score = self._concordance(context, "synthetic")
        if np.isnan(score.value):
            return undefined_result(
                "the holdout has no two comparable durations, or the synthetic data have no event."
            )
        return Result(score.value)

    def _relation(self, context: Context, result: Result) -> dict[str, Any]:
        on_synthetic, on_real = (self._concordance(context, r) for r in ("synthetic", "train"))
        changes = on_synthetic.influence - on_real.influence
        difference = on_synthetic.value - on_real.value
        interval = normal_interval(on_synthetic.value, on_synthetic.influence)
        ends = normal_interval(difference, changes)
        details = {
            "trtr": value_with_interval(
                on_real.value, normal_interval(on_real.value, on_real.influence)
            ),
            "difference": value_with_interval(difference, ends),
            **self._calibration(context),
        }
        clipped = (max(0.0, interval[0]), min(1.0, interval[1]))
        baseline = None if np.isnan(on_real.value) else on_real.value
        return {"interval": clipped, "baseline": baseline, "details": details}

    def _step_arguments(self, context: Context) -> tuple[Any, ...]:
        return self._question(context), self._outcome, self.estimator, self.random_state

    def _concordance(self, context: Context, role: str) -> Any:
        return concordance_of(context, role, *self._step_arguments(context))

    def _calibration(self, context: Context) -> dict[str, Any]:
        rows = follow_up(context, "train", self._outcome)
        quartiles = np.quantile(rows.durations[rows.events], [0.25, 0.5, 0.75])
        horizons = np.unique([round_to(float(one), 2) for one in quartiles])
        _, durations, events = outcome_of_rows(
            context, "holdout", self._question(context), self._outcome
        )
        curves: dict[str, dict[str, Any]] = {number(h): {} for h in horizons}
        errors: dict[str, dict[str, float]] = {number(h): {} for h in horizons}
        for name, training in TRAININGS.items():
            risks = risks_of(context, training.rows.role, *self._step_arguments(context))
            for place, horizon in enumerate(horizons):
                at = predicted_risks(*risks, horizons)[:, place]
                error, curve = calibration_at_horizon(at, durations, events, float(horizon))
                errors[number(horizon)][name] = error
                curves[number(horizon)][name] = curve
        return {"calibration": errors, "curves": curves, "horizons": horizons}

    def _summary(self, result: Result) -> str:
        trtr = as_float(result.details["trtr"]["value"])
        return (
            f"A model trained on synthetic data ranks {percent(result.value)} of the pairs of "
            f"holdout rows correctly by the time of the event, compared with {percent(trtr)} for "
            "a model trained on the training data."
        )


def normal_interval(value: float, influence: np.ndarray) -> tuple[float, float]:
    """Return the 95% interval of a value, from the influence of each row."""
    half = float(norm.ppf(0.975) * np.sqrt((influence**2).sum()))
    return value - half, value + half


@shared
def risks_of(
    context: Context, role: str, question: Question, outcome: Outcome, estimator: Any, seed: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return log hazards of holdout rows and of training rows, and the training outcomes."""
    known, durations, events = outcome_of_rows(context, role, question, outcome)
    learned = rows_of_role(context, role, question).take(known).features
    tested = rows_of_role(context, "holdout", question)
    tested = tested.take(outcome_of_rows(context, "holdout", question, outcome)[0])
    nominal = set(context.schema.columns(*NOMINAL))
    names = problem_of(context, question).features
    encoder = OneHot.from_rows(learned, tuple(name in nominal for name in names))
    design, target = encoder.transform(learned), encoder.transform(tested.features)
    if not events.any() or not design.shape[1]:
        nothing = np.zeros(len(target) if events.any() else 0)
        return nothing, np.zeros(len(design)), durations, events
    if isinstance(estimator, str):
        fit = cox(design, durations, events, penalty=_RIDGE)
        centre = design.mean(axis=0)
        return (
            (target - centre) @ fit.coefficients,
            (design - centre) @ fit.coefficients,
            *(durations, events),
        )
    y = np.zeros(durations.size, dtype=[("event", bool), ("time", np.float64)])
    y["event"], y["time"] = events, durations
    model = set_random_states(clone(estimator), seed).fit(design, y)
    on_tested, on_learned = (
        np.asarray(model.predict(part), dtype=np.float64) for part in (target, design)
    )
    return on_tested, on_learned, durations, events


@shared
def concordance_of(
    context: Context, role: str, question: Question, outcome: Outcome, estimator: Any, seed: int
) -> Any:
    """Return the concordance on the holdout of a model trained on the rows of a role."""
    risks = risks_of(context, role, question, outcome, estimator, seed)[0]
    _, durations, events = outcome_of_rows(context, "holdout", question, outcome)
    if risks.size != durations.size or not np.isfinite(risks).all():
        return concordance(np.empty(0), np.empty(0, dtype=bool), np.empty(0))
    return concordance(durations, events, risks)


def predicted_risks(
    scores: np.ndarray,
    learned: np.ndarray,
    durations: np.ndarray,
    events: np.ndarray,
    horizons: np.ndarray,
) -> np.ndarray:
    """Return the risk of each row up to each horizon, with Breslow's baseline hazard."""
    top = learned.max(initial=0.0)
    hazards = baseline_hazard(durations, events, np.exp(learned - top), horizons)
    with np.errstate(over="ignore"):
        return -np.expm1(-np.outer(np.exp(scores - top), hazards))


def calibration_at_horizon(
    risks: np.ndarray, durations: np.ndarray, events: np.ndarray, horizon: float
) -> tuple[float, dict[str, np.ndarray]]:
    """Return the calibration error at a horizon and the curve of its bins."""
    if risks.size != durations.size:
        return float("nan"), {}
    bins = equal_mass_bins(risks, _BINS)
    used = np.unique(bins)
    sizes = np.bincount(bins, minlength=_BINS)[used]
    inside = [bins == one for one in used]
    predicted = np.array([risks[own].mean() for own in inside])
    at = np.array([horizon])
    observed = np.array([1.0 - kaplan_meier(durations[o], events[o]).at(at)[0] for o in inside])
    error = float(np.abs(predicted - observed) @ sizes / sizes.sum())
    many = sizes >= MIN_LEVEL_ROWS
    return error, {"predicted": predicted[many], "observed": observed[many], "n_rows": sizes[many]}
