"""Agreement between Cox regressions on training and synthetic data."""

from __future__ import annotations

from dataclasses import KW_ONLY, replace

import numpy as np
from scipy.stats import norm

from skeval.core.context import Context, shared
from skeval.core.declared import declared
from skeval.exceptions import ConstantColumnWarning, DegenerateInputWarning, MetricWarning
from skeval.results.result import Result, mean_of_columns, undefined_result
from skeval.stats.survival import cox
from skeval.steps.problem import Question, rows_of_role
from skeval.utility.coefficient_overlap import compared_coefficients, overlaps_of
from skeval.utility.designs import MIN_LEVEL_ROWS, design_of
from skeval.utility.mean_ci_overlap import fresh_overlap
from skeval.utility.regressions import Regression, basis_of, n_rows_behind, with_intervals
from skeval.utility.survival.covariate_metric import CovariateMetric, outcome_of_rows
from skeval.utility.survival.log_rank import naive_type_1_error
from skeval.utility.survival.survival_metric import SURVIVAL_TAGS, Outcome
from skeval.utils.formatting import as_float, percent
from skeval.utils.parameters import OpenFraction

_DECIDING = 3  # minimum number of rows that determine a coefficient


@declared
class CoxCoefficientOverlap(CovariateMetric):
    r"""Overlap of the confidence intervals of Cox regression coefficients.

    A researcher fits a Cox proportional hazards model to the synthetic data, and publishes the
    hazard ratios with their confidence intervals. The metric measures whether the real data would
    give the same results. For each coefficient, the score is the fraction of each interval that
    lies in the other interval, averaged over both intervals. The value is the mean over
    coefficients. The value is 1 for equal intervals, and negative if the intervals do not overlap.
    Higher is better.

    Parameters
    ----------
    confidence : float, default=0.95
        Confidence level of the intervals, in (0, 1).
    clip : bool, default=False
        Whether the overlap of intervals that do not overlap is 0 instead of negative.

    Raises
    ------
    MissingInputError
        At fit, if the duration is not numerical or the event has more than two values.

    Warnings
    --------
    A score of 1 is not the goal, because coefficients of new real rows overlap by 0.71 on average.
    In large tables, even small differences separate the intervals.

    See Also
    --------
    CoefficientOverlap : Uses least squares or logistic regression, and documents the details.
    LogRankAgreement : Compares groups without a model.

    Notes
    -----
    Tied durations use Efron's method, and the intervals are Wald intervals. Categories, rare
    categories and rows with missing values are treated as in :class:`CoefficientOverlap`, and
    ``details`` contain the same entries: ``coefficients``, ``sign_agreement``,
    ``significance_agreement`` and ``ceiling`` (the mean overlap of new real rows, about 0.71 for
    tables of equal sizes).

    The coefficient of a category without any event is minus infinity. If this occurs in the
    training data, the coefficient has no score. If it occurs only in the synthetic data, the score
    is 0, with a warning.

    ``details["type_1_error"]`` is the type I error of a test of a coefficient, if the generator
    varies around the population like a sample of the size of the training data. See
    :class:`LogRankAgreement`.

    References
    ----------
    D. R. Cox, "Regression models and life-tables", Journal of the Royal Statistical Society B 34
    (1972) 187-220.
    A. F. Karr et al., "A framework for evaluating the utility of data altered to protect
    confidentiality", The American Statistician 60 (2006) 224-232, doi:10.1198/000313006X124640.
    A. Decruyenaere et al., "The real deal behind the artificial appeal: inferential utility of
    tabular synthetic data", UAI 2024, arXiv:2312.07837.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> from skeval.utility import CoxCoefficientOverlap
    >>> rng = np.random.default_rng(0)
    >>> dose = rng.normal(size=400)
    >>> days = rng.exponential(100.0 * np.exp(-dose))
    >>> train = pd.DataFrame({"days": days, "died": rng.random(400) < 0.7, "dose": dose})
    >>> metric = CoxCoefficientOverlap("days", "died").fit(train)
    >>> shuffled = train.assign(dose=rng.permutation(dose))
    >>> metric.score(train), bool(metric.score(shuffled) < 0.0)
    (1.0, True)
    """

    tags = replace(SURVIVAL_TAGS, bounds=(-np.inf, 1.0), display="ColumnScoresDisplay")

    _: KW_ONLY
    confidence: OpenFraction = 0.95
    clip: bool = False

    def _measure(self, context: Context) -> Result:
        question, asked = self._question(context), (self._outcome, self.confidence)
        design = design_of(context, question)
        if design.reason:
            return undefined_result(design.reason)
        train, synthetic = (
            cox_of(context, role, question, *asked) for role in ("train", "synthetic")
        )
        few = cox_rests_on_few(context, question, self._outcome)
        if not (train.is_determined & ~few).any():
            return undefined_result(
                "no coefficient of the Cox model is determined by enough training rows."
            )
        names = design.names[1:]
        overlaps = overlaps_of(train, synthetic, few, self.clip)
        z = float(norm.ppf((1.0 + self.confidence) / 2.0))
        lost = [
            n
            for n, known, o in zip(names, synthetic.is_determined, overlaps, strict=True)
            if not known and not np.isnan(o)
        ]
        return mean_of_columns(
            dict(zip(names, overlaps.tolist(), strict=True)),
            n_total=len(names),
            greater_is_better=True,
            warnings=cox_warnings(design.skipped, lost),
            unit="coefficient",
            model="Cox",
            **compared_coefficients(names, train, synthetic, overlaps),
            ceiling=fresh_overlap(train.n_rows, synthetic.n_rows, z, "sem", self.clip),
            type_1_error=naive_type_1_error(
                train.n_rows, max(1, synthetic.n_rows), 1.0 - self.confidence
            ),
            references=design.references,
            skipped=design.skipped,
        )

    def _summary(self, result: Result) -> str:
        signs = percent(as_float(result.details["sign_agreement"]))
        return (
            f"The confidence intervals of the Cox coefficients overlap by {percent(result.value)} "
            f"on average, compared with {percent(as_float(result.details['ceiling']))} for new "
            f"real rows. {signs} of the coefficients keep their sign."
        )


def cox_warnings(skipped: dict[str, str], lost: list[str]) -> tuple[MetricWarning, ...]:
    """Warn of skipped features, and of coefficients that the synthetic data do not determine."""
    warnings: list[MetricWarning] = []
    if skipped:
        parts = "; ".join(f"{name} ({why})" for name, why in skipped.items())
        warnings.append(ConstantColumnWarning(f"skipped features: {parts}."))
    if lost:
        text = (
            f"the synthetic data do not determine the coefficients of {', '.join(lost)}. Their "
            "overlap counts as 0."
        )
        warnings.append(DegenerateInputWarning(text))
    return tuple(warnings)


def cox_design(
    context: Context, role: str, question: Question, outcome: Outcome
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the design of complete rows without an intercept, their durations and events."""
    known, durations, events = outcome_of_rows(context, role, question, outcome)
    rows = rows_of_role(context, role, question).take(known)
    numbered = replace(rows, target=np.arange(known.size, dtype=np.float64))
    design, kept = design_of(context, question).matrices(numbered)
    kept = kept.astype(np.int64)
    return design[:, 1:], durations[kept], events[kept]


@shared
def cox_of(
    context: Context, role: str, question: Question, outcome: Outcome, confidence: float
) -> Regression:
    """Return the Cox regression on the complete rows of a role."""
    return cox_regression(*cox_design(context, role, question, outcome), confidence)


@shared
def cox_rests_on_few(context: Context, question: Question, outcome: Outcome) -> np.ndarray:
    """Return which training coefficients would disclose the values of single rows."""
    columns, _, events = cox_design(context, "train", question, outcome)
    decided = n_rows_behind(np.column_stack([np.ones(len(columns)), columns]))[1:] < _DECIDING
    for j, column in enumerate(columns.T):
        counts = np.unique(column, return_counts=True)[1]
        decided[j] |= counts.size == 2 and counts.min() < MIN_LEVEL_ROWS
    return decided | (events.sum() < MIN_LEVEL_ROWS)


def cox_regression(
    design: np.ndarray, durations: np.ndarray, events: np.ndarray, confidence: float = 0.95
) -> Regression:
    """Return Cox coefficients with Wald intervals, nan if the rows do not determine them."""
    # If a column has two values and one of them has no event, the column and the rows with this
    # value are skipped. Its coefficient is infinite, and the rows contain no information about
    # the other coefficients.
    n_rows, used = len(design), np.ones(design.shape[1], dtype=bool)
    rows = np.ones(n_rows, dtype=bool)
    for j, column in enumerate(design.T):
        values = np.unique(column[rows])
        for value in values if values.size == 2 else ():
            if not events[rows & (column == value)].any():
                used[j], rows = False, rows & (column != value)
    estimates = np.full(design.shape[1], np.nan)
    errors, z = estimates.copy(), float(norm.ppf((1.0 + confidence) / 2.0))
    if events[rows].any() and used.any():
        own = design[np.ix_(rows, used)]
        vectors, back, is_free = basis_of(own - own.mean(axis=0))
        scale = np.sqrt(len(own))
        fit = cox(vectors * scale, durations[rows], events[rows])
        back = back * scale
        estimates[used] = np.where(is_free, np.nan, back @ fit.coefficients)
        own_errors = np.sqrt(((back @ fit.roots) ** 2).sum(axis=1))
        errors[used] = np.where(is_free, np.nan, own_errors)
    return with_intervals(estimates, errors, z, n_rows)
