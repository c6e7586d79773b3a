"""Does a regression on synthetic rows find what it finds on train.

Do the confidence intervals of column means agree.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, replace
from typing import Any, Literal

import numpy as np
from scipy.stats import norm
from threadpoolctl import threadpool_limits

from skeval.core.base import Metric
from skeval.core.context import Context, shared
from skeval.core.declared import declared
from skeval.core.tags import COLUMN_TAGS, MODEL_TAGS
from skeval.exceptions import (
    ConstantColumnWarning,
    DegenerateInputWarning,
    InvalidParameterError,
    MetricWarning,
    MissingInputError,
)
from skeval.results.result import Result, mean_of_columns, undefined
from skeval.stats.interval_overlap import expected_overlap, interval_overlap
from skeval.stats.intervals import to_its_error
from skeval.steps.columns import Pairs, finite_pairs, infinite_columns, mean_of_defined
from skeval.steps.problem import Question, problem_of, rows_of_role
from skeval.utility.model_metric import TargetMetric
from skeval.utility.regressions import (
    MIN_LEVEL_ROWS,
    Design,
    FormulaText,
    Regression,
    check_formula,
    columns_in,
    design_of,
    least_squares,
    logistic,
    n_rows_behind,
)
from skeval.utils.formatting import as_float, percent
from skeval.utils.parameters import Columns, OpenFraction


@declared
class MeanCIOverlap(Metric):
    r"""Overlap of the intervals of column means: 1 where they are the same, 0 or less where apart.

    An analyst reports the mean of each column with its 95% interval, once from train and once from
    the synthetic table. The score of a column is what share of each interval lies in the other, on
    average over the two. It is negative where they do not meet: who reads the one table would then
    rule out what the other takes for likely. The value is the mean over numeric and date columns.

    Parameters
    ----------
    columns : None, int or list of str, default=None
        The columns to measure: all, the first *n*, or a list of names; only numeric and date ones
        count.
    confidence : float, default=0.95
        Level of the intervals, in (0, 1).
    clip : bool, default=False
        Whether the overlap of intervals that do not meet is 0 rather than negative. One column that
        is far off then no longer outweighs all others.
    spread : {"sem", "std"}, default="sem"
        "sem" takes intervals of the mean, standard errors wide. "std" takes intervals that hold
        most rows, standard deviations wide, as in SynthEval; they overlap even if the means are far
        apart.

    See Also
    --------
    CoefficientOverlap : The same of regression coefficients.
    skeval.fidelity.StatisticSimilarity : Means and other statistics, without intervals.

    Notes
    -----
    The overlap of the intervals :math:`(l, u)` of train and :math:`(l', u')` of the synthetic
    table, each the mean with normal quantiles of standard errors to both sides (both are in
    ``details["means"]``, that of train to the digits that its error leaves certain), is

    .. math:: IO = \frac{1}{2} \left( \frac{o}{u - l} + \frac{o}{u' - l'} \right),
        \quad o = \min(u, u') - \max(l, l').

    1 is no goal. Intervals of fresh rows, as many as train has, overlap by 0.71 on average (at any
    number of rows), and those of a table whose means vary around those of train, as a fitted
    model's do, by 0.80. Values near 1 in all columns come of means that were copied or set.
    ``details["ceiling"]`` has what fresh rows have on average at these numbers of rows, and the
    baseline is what the holdout has. A synthetic table of another size than train has intervals of
    another width, which lowers the overlap: compare tables of equal size. The more rows, the
    smaller the difference that makes intervals part; the score does not say whether it matters.

    Missing values are left out, infinite synthetic ones too, with a warning. A column that does not
    vary in train has no score. One that has no interval in the synthetic table, for want of two
    different values, counts as 0, with a warning. No interval of the value is given: an overlap has
    its best at the end of its range, and resampling adds noise that only lowers it.

    References
    ----------
    A. F. Karr et al., "A framework for evaluating the utility of data altered to protect
    confidentiality", The American Statistician 60 (2006) 224-232, doi:10.1198/000313006X124640.
    A. D. Lautrup et al., "SynthEval: a framework for detailed utility and privacy evaluation of
    tabular synthetic data", Data Mining and Knowledge Discovery 39 (2025),
    doi:10.1007/s10618-024-01081-4.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from skeval.utility import MeanCIOverlap
    >>> table = load_iris(as_frame=True).data[["sepal length (cm)"]]
    >>> round(MeanCIOverlap().fit(table[::2]).score(table[1::2]), 6)
    0.971234
    """

    tags = replace(COLUMN_TAGS, aspect="utility", bounds=(-np.inf, 1.0), scaling="sorted runs")

    columns: Columns = None
    confidence: OpenFraction = 0.95
    clip: bool = False
    spread: Literal["sem", "std"] = "sem"

    def _compute(self, context: Context) -> Result:
        pairs = finite_pairs(context, self.columns)
        z, asked = float(norm.ppf((1.0 + self.confidence) / 2.0)), (self.spread, self.clip)
        scores = {name: overlap_of_means(x, y, z, *asked) for name, (x, y) in pairs.items()}
        known = [name for name, score in scores.items() if not np.isnan(score)]
        return mean_of_columns(
            scores,
            n_total=len(context.schema.kinds),
            warnings=(*infinite_columns(context, pairs), *_without_interval(pairs)),
            means={name: _means(*pairs[name], z) for name in known},
            share_apart=float(np.mean([scores[name] <= 0.0 for name in known])) if known else None,
            ceiling=_ceiling(pairs, known, z, *asked),
        )

    def _summary(self, result: Result) -> str:
        means = f"Intervals of the means of {result.details['n_used']} columns"
        return f"{means} overlap by {percent(result.value)} on average."


def _ceiling(pairs: Pairs, names: list[str], z: float, spread: str, clip: bool) -> float:
    sizes = {name: [values.size for values in pairs[name]] for name in names}
    fresh = {name: fresh_overlap(n, m, z, spread, clip) for name, (n, m) in sizes.items()}
    return mean_of_defined(fresh)


def _means(x: np.ndarray, y: np.ndarray, z: float) -> dict[str, dict[str, float]]:
    return {"train": to_its_error(stated_mean(x, z)), "synthetic": stated_mean(y, z)}


def stated_mean(values: np.ndarray, z: float) -> dict[str, float]:
    """Get a mean with its standard error and interval; these are nan of fewer than two values."""
    mean = float(values.mean()) if values.size else float("nan")
    error = float(values.std(ddof=1) / np.sqrt(values.size)) if values.size > 1 else float("nan")
    return {"estimate": mean, "error": error, "low": mean - z * error, "high": mean + z * error}


def overlap_of_means(x: np.ndarray, y: np.ndarray, z: float, spread: str, clip: bool) -> float:
    """Return the overlap of intervals of two means; nan without a spread in x, 0 in y alone."""
    if not _varies(x):
        return float("nan")
    if not _varies(y):
        return 0.0
    # around the mean of x: dates in seconds are long numbers
    ends = []
    for values in (x - x.mean(), y - x.mean()):
        half = z * values.std(ddof=1) / (np.sqrt(values.size) if spread == "sem" else 1.0)
        ends += [np.array([values.mean() - half]), np.array([values.mean() + half])]
    return float(interval_overlap(*ends, clip=clip)[0])


def fresh_overlap(n: int, m: int, z: float, spread: str, clip: bool) -> float:
    """Return the mean overlap for samples of one population, in standard deviations of it."""
    if min(n, m) < 2:
        return float("nan")
    units = np.sqrt([n, m]) if spread == "sem" else np.ones(2)
    width, other = (float(2.0 * z / unit) for unit in units)
    return expected_overlap(width, other, float(np.sqrt(1.0 / n + 1.0 / m)), clip=clip)


def _varies(values: np.ndarray) -> bool:
    return values.size > 1 and values[0] < values[-1]


def _without_interval(pairs: Pairs) -> tuple[MetricWarning, ...]:
    """Say which columns have no interval in train or in the synthetic table."""
    none = [name for name, (x, _) in pairs.items() if not _varies(x)]
    lost = [name for name, (x, y) in pairs.items() if _varies(x) and not _varies(y)]
    said: list[MetricWarning] = []
    if none:
        text = f"train has not two different values in {', '.join(none)}: no score."
        said.append(ConstantColumnWarning(text))
    if lost:
        named = ", ".join(lost)
        text = f"synthetic has not two different values in {named}, train has: counts as 0."
        said.append(DegenerateInputWarning(text))
    return tuple(said)


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
            return undefined(design.reason)
        train, synthetic = (
            regressed(context, role, *asked, self.confidence) for role in ("train", "synthetic")
        )
        few = rests_on_few(context, *asked)
        if not (train.is_determined & ~few).any():
            return undefined(_without_score(train))
        overlaps = overlaps_of(train, synthetic, few, self.clip)
        z = float(norm.ppf((1.0 + self.confidence) / 2.0))
        n_rows = {"train": train.n_rows, "synthetic": synthetic.n_rows}
        return mean_of_columns(
            dict(zip(design.names, overlaps.tolist(), strict=True)),
            n_total=len(design.names),
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
def regressed(
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
        "standardized_difference": mean_of_defined(gaps),
        "share_apart": float(np.mean([one["overlap"] <= 0.0 for one in of_all])),
    }


def _pair(train: Regression, synthetic: Regression, i: int) -> dict[str, Any]:
    """Return how a coefficient that train determines compares."""
    known = bool(synthetic.is_determined[i])
    gap = abs(synthetic.estimates[i] - train.estimates[i]) / train.errors[i]
    signs = [np.sign(one.estimates[i]) for one in (train, synthetic)]
    excludes_zero = [one.low[i] > 0.0 or one.high[i] < 0.0 for one in (train, synthetic)]
    return {
        "train": to_its_error(train.stated(i)),
        "synthetic": synthetic.stated(i),
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
