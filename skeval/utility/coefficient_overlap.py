"""Does a regression on synthetic rows find what it finds on train."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, replace
from typing import Any, Literal

import numpy as np
from scipy.stats import norm
from threadpoolctl import threadpool_limits

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

_DECIDING = 3  # rows that a coefficient must rest on


@declared
class CoefficientOverlap(TargetMetric):
    r"""Overlap of intervals of regression coefficients: 1 where the same, 0 or less where apart.

    A researcher regresses an outcome on other columns of the synthetic table, and publishes the
    coefficients with their confidence intervals. Would the real rows have given the same paper? The
    score of a coefficient is what share of each of the two intervals lies in the other, on average
    over both; the value is the mean over coefficients. It is negative where the intervals do not
    meet.

    Parameters
    ----------
    target : str
        The outcome. Numbers and dates (in days) are regressed by least squares, a target with two
        values by logistic regression, both without penalty.
    features : list of str or int, optional
        The columns that it is regressed on; all others that can be measured, but the primary key,
        if None. With a formula, leave it None.
    formula : str, optional
        The regression as formulaic reads it, such as ``"income ~ log(age) + city * plan"``; the
        left side may be left out. It may hold names, numbers, signs, log, log2, log10,
        exp, exp2, exp10, I, C, Q, center, scale, standardize, poly, bs, cr, cs, cc and lag; other
        Python is refused. Needs the package formulaic: ``pip install "skeval[formula]"``.
    confidence : float, default=0.95
        Level of the intervals, in (0, 1).
    clip : bool, default=False
        Whether the overlap of intervals that do not meet is 0 rather than negative. One coefficient
        that is far off then no longer outweighs all others.
    task : {"auto", "binary", "regression"}, default="auto"
        "regression" regresses numbers by least squares where train has two of them, too.
    pos_label : str, bool or float, optional
        The label that is coded 1, all others being 0; needed for a target of several labels. The
        default is true, the larger number, or the category that train has less often.

    Raises
    ------
    MissingInputError
        At fit, if the target has several labels and there is no `pos_label`.
    InvalidParameterError
        At fit, if the formula cannot be read.
    MissingDependencyError
        At fit, if there is a formula, and formulaic is not installed.

    See Also
    --------
    MeanCIOverlap : The same of column means.
    FeatureImportanceAgreement : The same question for models that predict.
    skeval.fidelity.CorrelationSimilarity : Pairs of columns, without a regression.

    Notes
    -----
    The overlap of the intervals :math:`(l, u)` of train and :math:`(l', u')` of the synthetic
    table, of Student's t for least squares and Wald's for logistic regression, is

    .. math:: IO = \frac{1}{2} \left( \frac{o}{u - l} + \frac{o}{u' - l'} \right),
        \quad o = \min(u, u') - \max(l, l').

    ``details["coefficients"]`` has by name both estimates with
    their intervals, those of train to the digits that its error leaves certain,
    ``standardized_difference`` (difference over the standard error in train),
    ``same_sign``, and ``same_significance``: whether both intervals hold 0 or neither does. The
    shares of the latter are ``sign_agreement`` and ``significance_agreement``.

    1 is no goal. Coefficients of fresh rows, as many as train has, overlap by 0.71 on average (at
    any number of rows, if the regression holds), and those of a model fitted to train, whose rows
    vary around train's coefficients, by 0.80. Values near 1 in all coefficients come of copied
    rows. ``details["ceiling"]`` has what fresh rows have on average at these numbers of rows, and
    the baseline is what the holdout has. A synthetic table of another size than train has intervals
    of another width, which lowers the overlap: compare tables of equal size. The more rows, the
    smaller the difference that makes intervals part.

    Categories have a coefficient for each level but the most frequent one (``references``). Levels
    of fewer than 10 rows of train, and those beyond the 30 most frequent, are pooled; where all of
    these are fewer than 10 rows, the rows are left out, as are rows with a missing value
    (``n_dropped``). A feature that does not vary in train is left out, with a warning. So is a
    coefficient that train does not determine, of columns that add up or labels that a column
    determines, and one that rests on so few rows of train that it would show them: of a combination
    of levels with fewer than 10, or where one or two rows far out decide. One that train determines
    and the synthetic table does not counts as 0, with a warning, and agrees in neither sign nor
    significance.

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
                "and a logistic regression tells two apart: name one as pos_label, to set it "
                "against all others."
            )
        if self.formula is not None:
            check_formula(self.formula, self.target, problem.has_labels)
        design_of(context, question, self.formula)

    def _question(self, context: Context) -> Question:
        if self.formula is not None and self.features is not None:
            raise InvalidParameterError("give features or a formula, not both.")
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
            left_out=design.left_out,
            n_rows=n_rows,
            n_dropped={role: context.n_rows(role) - n for role, n in n_rows.items()},
        )

    def _summary(self, result: Result) -> str:
        signs = percent(as_float(result.details["sign_agreement"]))
        return (
            f"Intervals of the coefficients of a {result.details['model']} regression overlap by "
            f"{percent(result.value)} on average; {signs} keep their sign."
        )


@shared
def regression_of_role(
    context: Context, role: str, question: Question, formula: str | None, confidence: float
) -> Regression:
    """Return the regression of a role's complete rows; that of train is kept for all releases."""
    design = design_of(context, question, formula)
    columns, target = design.matrices(rows_of_role(context, role, question))
    fit = logistic if design.problem.has_labels else least_squares
    with threadpool_limits(1, user_api="blas"):  # many small products: threads would only wait
        return fit(columns, target, confidence)


@shared
def rests_on_few(context: Context, question: Question, formula: str | None) -> np.ndarray:
    """Return which coefficients in train would show what single rows hold."""
    # They are those of combinations of levels that few rows have, and those that one or two
    # rows far out decide.
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
    """Return the overlap of each coefficient; nan without a score, 0 where the release lost it."""
    ends = (train.low, train.high, synthetic.low, synthetic.high)
    overlaps = np.where(synthetic.is_determined, interval_overlap(*ends, clip=clip), 0.0)
    return np.where(train.is_determined & ~few, overlaps, np.nan)


def compared_coefficients(
    names: Sequence[str], train: Regression, synthetic: Regression, overlaps: np.ndarray
) -> dict[str, Any]:
    """Return both regressions' coefficients that have a score, and on how many they agree."""
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
    """Return how a coefficient that train determines compares."""
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
    """Return why train determines no coefficient."""
    n, p = train.n_rows, train.estimates.size
    why = f"{p} coefficients are too many for {n} complete rows of train."
    if n > p:
        why = "the target does not vary in train, or its features determine it."
    if train.is_determined.any():
        why = "they rest on too few rows."
    return f"train gives no interval of any coefficient: {why}"


def _warnings(
    design: Design, train: Regression, synthetic: Regression, few: np.ndarray
) -> tuple[MetricWarning, ...]:
    """Warn of what is left out, and of coefficients that the synthetic table lost."""
    warnings: list[MetricWarning] = []
    if design.left_out:
        parts = "; ".join(f"{name} ({why})" for name, why in design.left_out.items())
        warnings.append(ConstantColumnWarning(f"features left out for what train has: {parts}."))
    names, determined = np.array(design.names, dtype=object), train.is_determined
    for text, which in {
        "the coefficients of {} rest on too few rows of train: no score.": determined & few,
        "train does not determine the coefficients of {}: no score.": ~determined,
        "synthetic does not determine the coefficients of {}, which count as 0.": (
            determined & ~few & ~synthetic.is_determined
        ),
    }.items():
        if which.any():
            warnings.append(DegenerateInputWarning(text.format(", ".join(names[which]))))
    return tuple(warnings)
