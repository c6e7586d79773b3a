"""Compare regression coefficients estimated from synthetic and from training data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, replace
from typing import Any, Literal

import numpy as np
from scipy.stats import norm

from skeval.core.context import Context, shared
from skeval.core.declared import declared
from skeval.core.tags import MODEL_TAGS
from skeval.exceptions import (
    ConstantColumnWarning,
    DegenerateInputWarning,
    InvalidParameterError,
    MetricWarning,
    MissingInputError,
)
from skeval.results.result import Result, mean_of_columns, undefined_result
from skeval.stats.interval_overlap import interval_overlap
from skeval.stats.intervals import to_its_error
from skeval.steps.columns import mean_ignoring_nan
from skeval.steps.problem import Question, problem_of, rows_of_role
from skeval.utility.designs import MIN_LEVEL_ROWS, Design, check_formula, columns_in, design_of
from skeval.utility.formulas import FormulaText
from skeval.utility.mean_ci_overlap import fresh_overlap
from skeval.utility.model_metric import TargetMetric
from skeval.utility.regressions import Regression, least_squares, logistic, n_rows_behind
from skeval.utils.formatting import as_float, percent
from skeval.utils.parameters import Columns, OpenFraction

_DECIDING = 3  # minimum number of rows that determine a coefficient


@declared
class CoefficientOverlap(TargetMetric):
    r"""Overlap of the confidence intervals of regression coefficients.

    A researcher regresses an outcome on other columns of the synthetic data, and publishes the
    coefficients with their confidence intervals. The metric measures whether the real data would
    give the same results. For each coefficient, the score is the fraction of each interval that
    lies in the other interval, averaged over both intervals. The value is the mean over
    coefficients. The value is 1 for equal intervals, and negative if the intervals do not overlap.
    Higher is better.

    Parameters
    ----------
    target : str
        The outcome. Numerical and datetime (in days) targets use ordinary least squares.
        A target with two values uses logistic regression. Both have no penalty.
    features : list of str or int, optional
        The predictors. If None, all other measurable columns except the primary key are used. With
        a formula, `features` must be None.
    formula : str, optional
        The regression as a formulaic formula, such as ``"income ~ log(age) + city * plan"``. The
        left side is optional. A formula may contain names, numbers, operators, log, log2, log10,
        exp, exp2, exp10, I, C, Q, center, scale, standardize, poly, bs, cr, cs, cc and lag. Other
        Python code is rejected. Requires the package formulaic: ``pip install "skeval[formula]"``.
    confidence : float, default=0.95
        Confidence level of the intervals, in (0, 1).
    clip : bool, default=False
        Whether the overlap of intervals that do not overlap is 0 instead of negative. A single
        coefficient with a large difference then no longer dominates the mean.
    task : {"auto", "binary", "regression"}, default="auto"
        "regression" uses least squares for numbers even if the training data have only two
        values.
    pos_label : str, bool or float, optional
        The label that is coded as 1. All other labels are coded as 0. It is required if the target
        has more than two labels. The default is true, the larger number, or the less frequent
        training category.

    Raises
    ------
    MissingInputError
        At fit, if the target has more than two labels and `pos_label` is missing.
    InvalidParameterError
        At fit, if the formula cannot be read.
    MissingDependencyError
        At fit, if a formula is given and formulaic is not installed.

    Warnings
    --------
    A score of 1 is not the goal, because coefficients of new real rows overlap by 0.71 on average.
    In large tables, even small differences separate the intervals.

    See Also
    --------
    MeanCIOverlap : The overlap of the intervals of column means.
    FeatureImportanceAgreement : Compares the importance of features in predictive models.
    skeval.fidelity.CorrelationSimilarity : Compares correlations of pairs of columns.

    Notes
    -----
    The overlap of the training interval :math:`(l, u)` and the synthetic interval :math:`(l', u')`,
    based on Student's t for least squares and on Wald's method for logistic regression, is

    .. math:: IO = \frac{1}{2} \left( \frac{o}{u - l} + \frac{o}{u' - l'} \right),
        \quad o = \min(u, u') - \max(l, l').

    ``details["coefficients"]`` contains for each name both estimates with their intervals,
    ``standardized_difference`` (difference divided by the training standard error), ``same_sign``,
    and ``same_significance``, which is true if both intervals or neither of them contain 0.
    Training values are rounded to the digits that are certain given their error. ``sign_agreement``
    and ``significance_agreement`` are the fractions of coefficients with the same sign and with the
    same significance.

    A value of 1 is not the goal. If the regression model is correct, coefficients of a new real
    sample of the same size overlap by 0.71 on average for any number of rows. Coefficients of
    synthetic data that vary around the training coefficients overlap by 0.80. Values near 1 for all
    coefficients indicate copied rows. ``details["ceiling"]`` is the mean for a new real sample with
    these numbers of rows, and the baseline is the value of the holdout. If the synthetic data have
    a different size, their intervals have a different width, which lowers the overlap, so compare
    tables of equal size. In large tables, even small differences separate the intervals.

    Categories have a coefficient for each category except the most frequent one (``references``).
    Categories with fewer than 10 training rows, and categories outside the 30 most frequent ones,
    are pooled. If the pooled category has fewer than 10 rows, these rows are skipped, as are rows
    with missing values (``n_dropped``). A constant feature is skipped with a warning. A coefficient
    is also skipped if the training data do not determine it, for example because of collinear
    columns or perfect separation, or if the coefficient depends on so few training rows that it
    would reveal these rows. This is the case for combinations of categories with fewer than 10
    rows, and if one or two extreme rows determine the value. If a coefficient is determined by the
    training data but not by the synthetic data, its score is 0, neither its sign nor its
    significance agrees, and a warning is given.

    References
    ----------
    A. F. Karr et al., "A framework for evaluating the utility of data altered to protect
    confidentiality", The American Statistician 60 (2006) 224-232, doi:10.1198/000313006X124640.
    J. Snoke, G. M. Raab, B. Nowok, C. Dibben, A. Slavkovic, "General and specific utility measures
    for synthetic data", Journal of the Royal Statistical Society A 181 (2018) 663-688,
    doi:10.1111/rssa.12358.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from skeval.utility import CoefficientOverlap
    >>> table = load_diabetes(as_frame=True).frame[["target", "age", "bmi", "bp"]]
    >>> result = CoefficientOverlap("target").fit(table[:221]).evaluate(table[221:])
    >>> {name: round(overlap, 4) for name, overlap in result.details["columns"].items()}
    {'Intercept': 0.7915, 'age': 0.4991, 'bmi': 0.9189, 'bp': 0.7962}
    """

    tags = replace(
        MODEL_TAGS, needs=frozenset({"target"}), bounds=(-np.inf, 1), display="ColumnScoresDisplay"
    )

    features: Columns = None
    _: KW_ONLY
    formula: FormulaText | None = None
    confidence: OpenFraction = 0.95
    clip: bool = False
    task: Literal["auto", "binary", "regression"] = "auto"

    def _prepare(self, context: Context) -> None:
        question = self._question(context)
        problem = problem_of(context, question)
        if problem.task == "multiclass":
            raise MissingInputError(
                f"CoefficientOverlap: the target {self.target} has {len(problem.labels)} labels, "
                "but logistic regression requires two. Specify pos_label to compare one label with "
                "all others."
            )
        if self.formula is not None:
            check_formula(self.formula, self.target, problem.has_labels)
        design_of(context, question, self.formula)

    def _question(self, context: Context) -> Question:
        if self.formula is not None and self.features is not None:
            raise InvalidParameterError("features and formula cannot both be set.")
        question = super()._question(context)
        if self.formula is not None:
            named = columns_in(self.formula, context.schema.measured)
            features = tuple(name for name in named if name != self.target)
            question = replace(question, features=features)
        one_label = self.task == "auto" and self.pos_label is not None
        return replace(question, task="binary") if one_label else question

    def _compute(self, context: Context) -> Result:
        asked = (self._question(context), self.formula)
        design = design_of(context, *asked)
        if design.reason:
            return undefined_result(design.reason)
        train, synthetic = (
            regression_of_role(context, role, *asked, self.confidence)
            for role in ("train", "synthetic")
        )
        few = rests_on_few(context, *asked)
        if not (train.is_determined & ~few).any():
            return undefined_result(_without_score(train))
        overlaps = overlaps_of(train, synthetic, few, self.clip)
        z = float(norm.ppf((1.0 + self.confidence) / 2.0))
        n_rows = {"train": train.n_rows, "synthetic": synthetic.n_rows}
        return mean_of_columns(
            dict(zip(design.names, overlaps.tolist(), strict=True)),
            n_total=len(design.names),
            greater_is_better=True,
            warnings=_warnings(design, train, synthetic, few),
            unit="coefficient",
            model="logistic" if design.problem.has_labels else "least squares",
            **compared_coefficients(design.names, train, synthetic, overlaps),
            ceiling=fresh_overlap(train.n_rows, synthetic.n_rows, z, "sem", self.clip),
            references=design.references,
            skipped=design.skipped,
            n_rows=n_rows,
            n_dropped={role: context.n_rows(role) - n for role, n in n_rows.items()},
        )

    def _summary(self, result: Result) -> str:
        signs = percent(as_float(result.details["sign_agreement"]))
        return (
            f"Intervals of the coefficients of a {result.details['model']} regression overlap by "
            f"{percent(result.value)} on average, and {signs} have the same sign."
        )


@shared
def regression_of_role(
    context: Context, role: str, question: Question, formula: str | None, confidence: float
) -> Regression:
    """Return the regression of a role's complete rows. The training regression is cached."""
    design = design_of(context, question, formula)
    columns, target = design.matrices(rows_of_role(context, role, question))
    fit = logistic if design.problem.has_labels else least_squares
    return fit(columns, target, confidence)


@shared
def rests_on_few(context: Context, question: Question, formula: str | None) -> np.ndarray:
    """Return which training coefficients would reveal the content of single rows."""
    # These are coefficients of combinations of categories with few rows, and coefficients that one
    # or two extreme rows determine.
    design = design_of(context, question, formula)
    columns, _ = design.matrices(rows_of_role(context, "train", question))
    decided: np.ndarray = n_rows_behind(columns) < _DECIDING
    for j, column in enumerate(columns.T):
        counts = np.unique(column, return_counts=True)[1]
        decided[j] |= counts.size == 2 and counts.min() < MIN_LEVEL_ROWS
    return decided


def overlaps_of(
    train: Regression, synthetic: Regression, few: np.ndarray, clip: bool
) -> np.ndarray:
    """Return the overlap of each coefficient, nan without a score, 0 if undetermined."""
    ends = (train.low, train.high, synthetic.low, synthetic.high)
    overlaps = np.where(synthetic.is_determined, interval_overlap(*ends, clip=clip), 0.0)
    return np.where(train.is_determined & ~few, overlaps, np.nan)


def compared_coefficients(
    names: Sequence[str], train: Regression, synthetic: Regression, overlaps: np.ndarray
) -> dict[str, Any]:
    """Return the coefficients of both regressions with a score, and how many agree."""
    coefficients = {
        names[i]: _pair(train, synthetic, i) | {"overlap": float(overlaps[i])}
        for i in range(len(names))
        if not np.isnan(overlaps[i])
    }
    of_all = coefficients.values()
    gaps = {name: one["standardized_difference"] for name, one in coefficients.items()}
    return {
        "coefficients": coefficients,
        "sign_agreement": float(np.mean([one["same_sign"] for one in of_all])),
        "significance_agreement": float(np.mean([one["same_significance"] for one in of_all])),
        "standardized_difference": mean_ignoring_nan(gaps),
        "share_apart": float(np.mean([one["overlap"] <= 0.0 for one in of_all])),
    }


def _pair(train: Regression, synthetic: Regression, i: int) -> dict[str, Any]:
    """Return the comparison of a coefficient that the training data determine."""
    known = bool(synthetic.is_determined[i])
    gap = abs(synthetic.estimates[i] - train.estimates[i]) / train.errors[i]
    signs = [np.sign(one.estimates[i]) for one in (train, synthetic)]
    excludes_zero = [one.low[i] > 0.0 or one.high[i] < 0.0 for one in (train, synthetic)]
    return {
        "train": to_its_error(train.coefficient_details(i)),
        "synthetic": synthetic.coefficient_details(i),
        "standardized_difference": float(gap) if known else float("nan"),
        "same_sign": known and bool(signs[0] == signs[1]),
        "same_significance": known and bool(excludes_zero[0] == excludes_zero[1]),
    }


def _without_score(train: Regression) -> str:
    """Return why the training data determine no coefficient."""
    n, p = train.n_rows, train.estimates.size
    why = f"{p} coefficients are too many for {n} complete training rows."
    if n > p:
        why = "the target is constant in the training data, or its features determine it."
    if train.is_determined.any():
        why = "they depend on too few rows."
    return f"the training data give no interval of any coefficient, because {why}"


def _warnings(
    design: Design, train: Regression, synthetic: Regression, few: np.ndarray
) -> tuple[MetricWarning, ...]:
    """Warn about skipped features, and about coefficients missing from the synthetic regression."""
    warnings: list[MetricWarning] = []
    if design.skipped:
        parts = "; ".join(f"{name} ({why})" for name, why in design.skipped.items())
        warnings.append(
            ConstantColumnWarning(f"features skipped because of the training data: {parts}.")
        )
    names, determined = np.array(design.names, dtype=object), train.is_determined
    for text, which in {
        "no score for coefficients that depend on too few training rows: {}.": determined & few,
        "no score for coefficients that the training data do not determine: {}.": ~determined,
        "these coefficients count as 0, because the synthetic data do not determine them: {}.": (
            determined & ~few & ~synthetic.is_determined
        ),
    }.items():
        if which.any():
            warnings.append(DegenerateInputWarning(text.format(", ".join(names[which]))))
    return tuple(warnings)
