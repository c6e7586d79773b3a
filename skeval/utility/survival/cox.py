"""Does a Cox regression on synthetic rows find what it finds on real rows."""

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

_DECIDING = 3  # rows that a coefficient must rest on


@declared
class CoxCoefficientOverlap(CovariateMetric):
    r"""Overlap of intervals of Cox's coefficients: 1 where the same, 0 or less where apart.

    A researcher fits Cox's model of proportional hazards to the synthetic table, and publishes the
    ratios of hazards with their confidence intervals. Would the real rows have given the same
    paper? The score of a coefficient is what share of each of the two intervals lies in the other,
    on average over both; the value is the mean over coefficients.

    Parameters
    ----------
    confidence : float, default=0.95
        Level of the intervals, in (0, 1).
    clip : bool, default=False
        Whether the overlap of intervals that do not meet is 0 rather than negative.

    Raises
    ------
    MissingInputError
        At fit, if the duration is no column of numbers, or the event has more than two values.

    Warnings
    --------
    A score of 1 is not the goal, because coefficients of new real rows overlap by 0.71 on average.
    In large tables, even small differences separate the intervals.

    See Also
    --------
    CoefficientOverlap : The same of least squares and logistic regression, with its details.
    LogRankAgreement : Groups without a model.

    Notes
    -----
    Equal durations are taken as Efron does, and intervals are Wald's. Categories, rare levels and
    rows with missing values are treated as in :class:`CoefficientOverlap`, and ``details`` are the
    same: ``coefficients``, ``sign_agreement``, ``significance_agreement`` and ``ceiling``, what
    fresh rows get on average, about 0.71 at equal sizes.

    A level without any event has a coefficient of minus infinity: where it is so in train, it has
    no score; where it is so in the synthetic table alone, it counts as 0, with a warning.

    ``details["type_1_error"]`` is how often a test of a coefficient that is 0 in the population
    errs, if the generator varies around the population as train does, see
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
                "train determines no coefficient of Cox's model on enough rows."
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
            warnings=cox_warnings(design.left_out, lost),
            unit="coefficient",
            model="Cox",
            **compared_coefficients(names, train, synthetic, overlaps),
            ceiling=fresh_overlap(train.n_rows, synthetic.n_rows, z, "sem", self.clip),
            type_1_error=naive_type_1_error(
                train.n_rows, max(1, synthetic.n_rows), 1.0 - self.confidence
            ),
            references=design.references,
            left_out=design.left_out,
        )

    def _summary(self, result: Result) -> str:
        signs = percent(as_float(result.details["sign_agreement"]))
        return (
            f"Intervals of Cox's coefficients overlap by {percent(result.value)} on average, those "
            f"of fresh rows by {percent(as_float(result.details['ceiling']))}; {signs} keep their "
            "sign."
        )


def cox_warnings(left_out: dict[str, str], lost: list[str]) -> tuple[MetricWarning, ...]:
    """Warn of features that train does not give, and of coefficients that the release lost."""
    warnings: list[MetricWarning] = []
    if left_out:
        parts = "; ".join(f"{name} ({why})" for name, why in left_out.items())
        warnings.append(ConstantColumnWarning(f"features left out for what train has: {parts}."))
    if lost:
        text = f"synthetic does not determine the coefficients of {', '.join(lost)}: they count 0."
        warnings.append(DegenerateInputWarning(text))
    return tuple(warnings)


def cox_design(
    context: Context, role: str, question: Question, outcome: Outcome
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the design of complete rows, without a column of ones, durations and events."""
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
    """Return Cox's model of a role's complete rows; that of train is kept for all releases."""
    return cox_regression(*cox_design(context, role, question, outcome), confidence)


@shared
def cox_rests_on_few(context: Context, question: Question, outcome: Outcome) -> np.ndarray:
    """Return which coefficients in train would show what single rows hold."""
    columns, _, events = cox_design(context, "train", question, outcome)
    decided = n_rows_behind(np.column_stack([np.ones(len(columns)), columns]))[1:] < _DECIDING
    for j, column in enumerate(columns.T):
        counts = np.unique(column, return_counts=True)[1]
        decided[j] |= counts.size == 2 and counts.min() < MIN_LEVEL_ROWS
    return decided | (events.sum() < MIN_LEVEL_ROWS)


def cox_regression(
    design: np.ndarray, durations: np.ndarray, events: np.ndarray, confidence: float = 0.95
) -> Regression:
    """Return Cox's coefficients with Wald's intervals; nan where the rows do not determine them."""
    # A column of two values without an event at one of them is left out, with the rows of
    # that value: its coefficient is infinite, and these rows say nothing of the others.
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
