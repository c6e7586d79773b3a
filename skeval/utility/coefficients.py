"""Does a regression on synthetic rows find what it finds on train."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from scipy.special import expit
from scipy.stats import norm, t
from threadpoolctl import threadpool_limits

from skeval.base import Metric
from skeval.context import Context, shared
from skeval.exceptions import (
    ConstantColumnWarning,
    DegenerateInputWarning,
    InvalidParameterError,
    MetricWarning,
    MissingInputError,
)
from skeval.parameters import ColumnName, Columns, Label, OpenFraction
from skeval.result import Result, mean_of_columns, undefined
from skeval.stats.intervals import expected_overlap, interval_overlap
from skeval.steps.problem import Question, problem_of, rows_of_role
from skeval.tags import MetricTags
from skeval.utility.designs import FEWEST, Design, FormulaText, check_formula, columns_in, design_of

_DECIDING = 3  # rows that a coefficient must rest on
_RANK = 1e-10  # singular values below this share of the largest are 0
_FREE = 1e-6  # a coefficient with more than this in a direction without rows is not determined
_EXACT = 1e-12  # residuals below this share of the target are rounding
_FLAT = 1e-12  # a likelihood that bends less than this has no maximum there
_SURE = 1e-8  # probabilities so near the label say nothing of the coefficients
_STEP = 1e-9
_MOST_STEPS = 100


class CoefficientOverlap(Metric):
    """Overlap of the intervals of regression coefficients: 1 where the same, 0 or less where apart.

    A researcher regresses an outcome on other columns of the synthetic table, and publishes the
    coefficients with their confidence intervals. Would the real rows have given the same paper? The
    score of a coefficient is what share of each of the two intervals lies in the other, in the mean
    of both; the value is the mean over coefficients. It is negative where the intervals do not
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
        left side may be left out. Needs the package formulaic: ``pip install "skeval[formula]"``.
    confidence : float, default=0.95
        Of the intervals, in (0, 1).
    clip : bool, default=False
        Whether the overlap of intervals that do not meet is 0 rather than negative. One coefficient
        that is far off then no longer outweighs all others.
    task : {"auto", "binary", "regression"}, default="auto"
        "regression" regresses numbers by least squares where train has two of them, too.
    pos_label : str, bool or float, optional
        The label that is coded 1, all others being 0; needed for a target of several labels. The
        default is true, the larger number, or the category that train has less often.

    Attributes
    ----------
    context_ : Context
        The real tables.

    Raises
    ------
    MissingInputError
        At fit, if the target has several labels and there is no `pos_label`.
    InvalidParameterError
        At fit, if the formula cannot be read.
    ImportError
        At fit, if there is a formula, and formulaic is not installed.

    Notes
    -----
    ``IO = 1/2 [o / (u - l) + o / (u' - l')]`` with ``o = min(u, u') - max(l, l')``, for the
    intervals (l, u) of train and (l', u') of the synthetic table: of Student's t for least squares,
    Wald's for logistic regression. ``details["coefficients"]`` has by name both estimates with
    their intervals, ``standardized_difference`` (difference over the standard error in train),
    ``same_sign``, and ``same_significance``: whether both intervals hold 0 or neither does. The
    shares of the latter are ``sign_agreement`` and ``significance_agreement``.

    1 is no goal. Coefficients of fresh rows, as many as train has, overlap by 0.71 in the mean (at
    any number of rows, if the regression holds), and those of a model fitted to train, whose rows
    vary around train's coefficients, by 0.80. Values near 1 in all coefficients come of copied
    rows. ``details["ceiling"]`` has what fresh rows have in the mean at these numbers of rows, and
    the baseline is what the holdout has. A synthetic table of another size than train has intervals
    of another width, which lowers the overlap: compare tables of equal size. The more rows, the
    smaller the difference that makes intervals part.

    Categories have a coefficient for each level but the most frequent one (``references``). Levels
    of fewer than 10 rows of train, and those beyond the 30 most frequent, are pooled; where all of
    these are fewer than 10 rows, the rows are left out, as are rows with a missing value
    (``n_dropped``). A feature that does not vary in train is left out, with a warning. So is a
    coefficient that train does not determine, of columns that add up or labels that a column tells
    for sure, and one that rests on so few rows of train that it would show them: of a combination
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

    tags = MetricTags(
        "utility",
        greater_is_better=True,
        needs=frozenset({"target"}),
        bounds=(float("-inf"), 1.0),
        display="ColumnScoresDisplay",
    )

    def __init__(
        self,
        target: ColumnName,
        features: Columns = None,
        *,
        formula: FormulaText | None = None,
        confidence: OpenFraction = 0.95,
        clip: bool = False,
        task: Literal["auto", "binary", "regression"] = "auto",
        pos_label: Label | None = None,
    ) -> None:
        self.target = target
        self.features = features
        self.formula = formula
        self.confidence = confidence
        self.clip = clip
        self.task = task
        self.pos_label = pos_label

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
        question = Question.of(self)
        if self.formula is not None:
            named = columns_in(self.formula, context.schema.measured)
            features = tuple(name for name in named if name != self.target)
            question = replace(question, features=features)
        one_label = self.task == "auto" and self.pos_label is not None
        return replace(question, task="binary") if one_label else question

    def _compute(self, context: Context) -> Result:
        question = self._question(context)
        design = design_of(context, question, self.formula)
        if design.reason:
            return undefined(design.reason)
        train, synthetic = (
            _regressed(context, role, question, self.formula, self.confidence)
            for role in ("train", "synthetic")
        )
        rests_on_few = _rests_on_few(context, question, self.formula)
        compared = _Compared(design, train, synthetic, rests_on_few, self.clip)
        if not compared.is_scored.any():
            return undefined(compared.unscored())
        return mean_of_columns(
            compared.scores(),
            n_total=len(design.names),
            warnings=compared.warnings(),
            model="logistic" if design.problem.has_labels else "least squares",
            coefficients=compared.by_name(),
            **compared.shares(),
            ceiling=compared.ceiling(self.confidence),
            references=design.references,
            left_out=design.left_out,
            n_rows={"train": train.n_rows, "synthetic": synthetic.n_rows},
            n_dropped={
                role: context.n_rows(role) - found.n_rows
                for role, found in (("train", train), ("synthetic", synthetic))
            },
        )


@shared
def _regressed(
    context: Context, role: str, question: Question, formula: str | None, confidence: float
) -> Regression:
    """Return the regression of a role's complete rows; that of train is kept for all releases."""
    design = design_of(context, question, formula)
    columns, target = design.matrices(rows_of_role(context, role, question))
    fit = logistic if design.problem.has_labels else least_squares
    with threadpool_limits(1, user_api="blas"):  # many small products: threads would only wait
        return fit(columns, target, confidence)


@shared
def _rests_on_few(context: Context, question: Question, formula: str | None) -> np.ndarray:
    """Return which coefficients in train would show what single rows hold.

    They are those of combinations of levels that few rows have, and those that one or two rows far
    out decide.
    """
    design = design_of(context, question, formula)
    columns, _ = design.matrices(rows_of_role(context, "train", question))
    decided: np.ndarray = n_rows_behind(columns) < _DECIDING
    for j, column in enumerate(columns.T):
        counts = np.unique(column, return_counts=True)[1]
        decided[j] |= counts.size == 2 and counts.min() < FEWEST
    return decided


@dataclass(frozen=True)
class _Compared:
    """The regressions of train and of the synthetic table, coefficient by coefficient."""

    design: Design
    train: Regression
    synthetic: Regression
    rests_on_few: np.ndarray
    clip: bool

    @property
    def is_scored(self) -> np.ndarray:
        """Which coefficients have an interval in train, of rows enough."""
        return _is_wide(self.train) & ~self.rests_on_few

    @property
    def is_lost(self) -> np.ndarray:
        """Which of these have none in the synthetic table."""
        return self.is_scored & ~_is_wide(self.synthetic)

    def overlaps(self) -> np.ndarray:
        """Return the overlaps; 0 of what is lost, nan of what train does not determine."""
        ends = (self.train.low, self.train.high, self.synthetic.low, self.synthetic.high)
        found = np.where(self.is_lost, 0.0, interval_overlap(*ends, clip=self.clip))
        return np.where(self.is_scored, found, np.nan)

    def scores(self) -> dict[str, float]:
        """Return the overlaps by name."""
        return dict(zip(self.design.names, self.overlaps().tolist(), strict=True))

    def _agreements(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return which signs and which decisions are the same, and differences in errors."""
        kept = self.is_scored & ~self.is_lost
        signs = np.sign(self.train.estimates) == np.sign(self.synthetic.estimates)
        decisions = _excludes_zero(self.train) == _excludes_zero(self.synthetic)
        gaps = np.abs(self.synthetic.estimates - self.train.estimates)
        errors = np.where(kept, self.train.errors, np.nan)
        return signs & kept, decisions & kept, gaps / errors

    def by_name(self) -> dict[str, dict[str, Any]]:
        """Return what stands in the details of each coefficient that has a score."""
        overlaps, (signs, decisions, gaps) = self.overlaps(), self._agreements()
        return {
            name: {
                "train": _ends(self.train, i),
                "synthetic": _ends(self.synthetic, i),
                "overlap": float(overlaps[i]),
                "standardized_difference": float(gaps[i]),
                "same_sign": bool(signs[i]),
                "same_significance": bool(decisions[i]),
            }
            for i, name in enumerate(self.design.names)
            if self.is_scored[i]
        }

    def shares(self) -> dict[str, Any]:
        """Return shares of coefficients, and their mean difference in errors."""
        scored, (signs, decisions, gaps) = self.is_scored, self._agreements()
        known = gaps[~np.isnan(gaps)]
        return {
            "sign_agreement": float(signs[scored].mean()),
            "significance_agreement": float(decisions[scored].mean()),
            "standardized_difference": float(known.mean()) if known.size else float("nan"),
            "share_apart": float((self.overlaps()[scored] <= 0.0).mean()),
        }

    def ceiling(self, confidence: float) -> float:
        """Return the mean overlap of fresh rows, in units of the spread of one row."""
        n, m = self.train.n_rows, self.synthetic.n_rows
        if m == 0:
            return float("nan")
        z = float(norm.ppf((1.0 + confidence) / 2.0))
        width, other = (float(2.0 * z / np.sqrt(k)) for k in (n, m))
        error = float(np.sqrt(1.0 / n + 1.0 / m))
        return expected_overlap(width, other, error, clip=self.clip)

    def unscored(self) -> str:
        """Say why train determines no coefficient."""
        n, p = self.train.n_rows, len(self.design.names)
        why = f"{p} coefficients are too many for {n} complete rows of train."
        if n > p:
            why = "the target does not vary in train, or its features tell it for sure."
        if _is_wide(self.train).any():
            why = "they rest on too few rows."
        return f"train gives no interval of any coefficient: {why}"

    def warnings(self) -> tuple[MetricWarning, ...]:
        """Say which features and coefficients are left out, and which the synthetic table lost."""
        said: list[MetricWarning] = []
        if self.design.left_out:
            parts = "; ".join(f"{name} ({why})" for name, why in self.design.left_out.items())
            said.append(ConstantColumnWarning(f"features left out for what train has: {parts}."))
        names = np.array(self.design.names, dtype=object)
        if few := ", ".join(names[_is_wide(self.train) & self.rests_on_few]):
            text = f"the coefficients of {few} rest on too few rows of train: no score."
            said.append(DegenerateInputWarning(text))
        if undetermined := ", ".join(names[~_is_wide(self.train)]):
            text = f"train does not determine the coefficients of {undetermined}: no score."
            said.append(DegenerateInputWarning(text))
        if lost := ", ".join(names[self.is_lost]):
            text = f"synthetic does not determine the coefficients of {lost}, which count as 0."
            said.append(DegenerateInputWarning(text))
        return tuple(said)


def _is_wide(found: Regression) -> np.ndarray:
    wide: np.ndarray = np.isfinite(found.high - found.low) & (found.high > found.low)
    return wide


def _excludes_zero(found: Regression) -> np.ndarray:
    excludes: np.ndarray = (found.low > 0.0) | (found.high < 0.0)
    return excludes


def _ends(found: Regression, i: int) -> dict[str, float]:
    names = {"estimate": found.estimates, "low": found.low, "high": found.high}
    return {name: float(values[i]) for name, values in names.items()}


@dataclass(frozen=True)
class Regression:
    """Coefficients of one regression, with their intervals.

    Attributes
    ----------
    estimates, errors, low, high : ndarray of shape (n_columns,)
        Coefficients, standard errors and ends of intervals; nan where the rows do not determine
        them, or leave no degree of freedom to the errors.
    n_rows : int
        Number of rows.
    separated : bool
        Whether a combination of columns tells some labels for sure, so that coefficients of a
        logistic regression are infinite; these are nan here.
    """

    estimates: np.ndarray
    errors: np.ndarray
    low: np.ndarray
    high: np.ndarray
    n_rows: int
    separated: bool = False

    @classmethod
    def of(
        cls,
        estimates: np.ndarray,
        errors: np.ndarray,
        quantile: float,
        n_rows: int,
        separated: bool = False,
    ) -> Regression:
        """Return coefficients with their intervals, `quantile` standard errors to each side."""
        half = quantile * errors
        return cls(estimates, errors, estimates - half, estimates + half, n_rows, separated)

    @classmethod
    def none(cls, n_columns: int, n_rows: int, separated: bool = False) -> Regression:
        """Return what rows give that determine nothing."""
        nothing = np.full(n_columns, np.nan)
        return cls.of(nothing, nothing, 1.0, n_rows, separated)


@dataclass(frozen=True)
class _Basis:
    """An orthonormal basis of the columns of a design.

    Attributes
    ----------
    vectors : ndarray of shape (n_rows, rank)
        The basis.
    back : ndarray of shape (n_columns, rank)
        From coordinates in it to coefficients.
    is_free : ndarray of bool of shape (n_columns,)
        Coefficients that the rows do not determine.
    """

    vectors: np.ndarray
    back: np.ndarray
    is_free: np.ndarray

    @classmethod
    def of(cls, design: np.ndarray) -> _Basis:
        """Decompose a design of at least one row and column."""
        scales = np.linalg.norm(design, axis=0)
        scales = np.where(scales > 0.0, scales, 1.0)
        rows, triangle = np.linalg.qr(design / scales)
        turned, sizes, right = np.linalg.svd(triangle, full_matrices=False)
        kept = sizes > _RANK * sizes[0] if sizes[0] > 0.0 else np.zeros(sizes.size, dtype=bool)
        right = right[kept]
        free = np.sqrt(np.maximum(0.0, 1.0 - (right**2).sum(axis=0)))
        back = (right / sizes[kept, None]).T / scales[:, None]
        return cls(rows @ turned[:, kept], back, free > _FREE)


def least_squares(design: np.ndarray, target: np.ndarray, confidence: float = 0.95) -> Regression:
    """Regress numbers by least squares, with intervals of Student's t.

    Parameters
    ----------
    design : ndarray of shape (n_rows, n_columns)
        Finite; with a column of ones, if there is to be an intercept.
    target : ndarray of shape (n_rows,)
        Finite.
    confidence : float, default=0.95
        Of the intervals, in (0, 1).

    Returns
    -------
    Regression
        Standard errors are 0 where the target is met exactly.

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.utility.coefficients import least_squares
    >>> design = np.column_stack([np.ones(4), [0.0, 1.0, 2.0, 3.0]])
    >>> found = least_squares(design, np.array([0.0, 1.0, 1.0, 2.0]))
    >>> found.estimates.round(3).tolist(), found.low.round(3).tolist()
    ([0.1, 0.6], [-1.038, -0.008])
    """
    n_rows, n_columns = design.shape
    if n_rows == 0 or n_columns == 0:
        return Regression.none(n_columns, n_rows)
    basis = _Basis.of(design)
    places = basis.vectors.T @ target
    residuals = target - basis.vectors @ places
    freedom = n_rows - basis.vectors.shape[1]
    unexplained = float(residuals @ residuals)
    if unexplained <= (_EXACT * float(np.linalg.norm(target))) ** 2:
        unexplained = 0.0
    variance = unexplained / freedom if freedom > 0 else np.nan
    estimates = np.where(basis.is_free, np.nan, basis.back @ places)
    errors = np.sqrt(variance * (basis.back**2).sum(axis=1))
    quantile = float(t.ppf((1.0 + confidence) / 2.0, freedom)) if freedom > 0 else np.nan
    return Regression.of(estimates, np.where(basis.is_free, np.nan, errors), quantile, n_rows)


def n_rows_behind(design: np.ndarray) -> np.ndarray:
    """Return how many rows each coefficient of least squares rests on.

    Parameters
    ----------
    design : ndarray of shape (n_rows, n_columns)
        Finite.

    Returns
    -------
    ndarray of shape (n_columns,)
        A coefficient is a weighted sum of the target; this is the inverse participation ratio of
        the squared weights: k for a mean of k rows, 1 where one row decides.

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.utility.coefficients import n_rows_behind
    >>> n_rows_behind(np.eye(2)[[0] * 7 + [1] * 3]).round(6).tolist()
    [7.0, 3.0]
    """
    if 0 in design.shape:
        return np.zeros(design.shape[1])
    basis = _Basis.of(design)
    squares = (basis.vectors @ basis.back.T) ** 2
    squares /= np.maximum(squares.max(axis=0), np.finfo(np.float64).tiny)
    total = (squares**2).sum(axis=0)
    return np.divide(squares.sum(axis=0) ** 2, total, out=np.zeros(total.size), where=total > 0.0)


def logistic(design: np.ndarray, target: np.ndarray, confidence: float = 0.95) -> Regression:
    """Regress labels by maximum likelihood, without penalty, with Wald's intervals.

    Parameters
    ----------
    design : ndarray of shape (n_rows, n_columns)
        Finite; with a column of ones, if there is to be an intercept.
    target : ndarray of shape (n_rows,)
        0 or 1.
    confidence : float, default=0.95
        Of the intervals, in (0, 1).

    Returns
    -------
    Regression

    Notes
    -----
    Where a combination of columns puts some rows on the right side for sure, the likelihood grows
    for ever and some coefficients are infinite. Their rows say nothing of the other coefficients,
    which are found from the rows that are left; there may be none.

    References
    ----------
    C. J. Geyer, "Likelihood inference in exponential families and directions of recession",
    Electronic Journal of Statistics 3 (2009) 259-289, doi:10.1214/08-EJS349.

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.utility.coefficients import logistic
    >>> design = np.column_stack([np.ones(10), np.repeat([0.0, 1.0], 5)])
    >>> found = logistic(design, np.array([1, 0, 0, 0, 0, 1, 1, 1, 1, 0]))
    >>> found.estimates.round(3).tolist(), found.errors.round(3).tolist()
    ([-1.386, 2.773], [1.118, 1.581])
    """
    n_rows, n_columns = design.shape
    left, rank = np.arange(n_rows), 0
    while left.size and n_columns:
        basis = _Basis.of(design[left])
        rank = max(rank, basis.vectors.shape[1])
        peak = _climb(basis.vectors, target[left])
        if peak.is_maximum:
            free, z = basis.is_free, float(norm.ppf((1.0 + confidence) / 2.0))
            errors = np.sqrt(((basis.back @ peak.roots) ** 2).sum(axis=1))
            estimates = np.where(free, np.nan, basis.back @ peak.places)
            # rows far out may be told for sure too, and yet leave nothing undetermined
            separated = basis.vectors.shape[1] < rank
            return Regression.of(estimates, np.where(free, np.nan, errors), z, n_rows, separated)
        told = np.abs(target[left] - peak.probabilities) < _SURE
        if not told.any():  # rounding, not separation, is in the way
            break
        left = left[~told]
    return Regression.none(n_columns, n_rows, separated=left.size == 0 < n_rows)


@dataclass(frozen=True)
class _Peak:
    """Where Newton's steps have led; `roots` @ `roots.T` is the covariance of `places`."""

    places: np.ndarray
    probabilities: np.ndarray
    roots: np.ndarray
    is_maximum: bool


def _climb(vectors: np.ndarray, target: np.ndarray) -> _Peak:
    """Maximise the likelihood over coordinates; stop where it bends no more."""
    places = np.zeros(vectors.shape[1])
    signs = 2.0 * target - 1.0
    for _ in range(_MOST_STEPS):
        logits = vectors @ places
        p = expit(logits)
        weights = p * expit(-logits)
        bends, axes = np.linalg.eigh(vectors.T @ (vectors * weights[:, None]))
        if bends.size and bends[0] < _FLAT:
            return _Peak(places, p, axes, False)
        roots = axes / np.sqrt(bends)
        step = roots @ (roots.T @ (vectors.T @ (target - p)))
        if np.abs(vectors @ step).max(initial=0.0) <= _STEP:
            return _Peak(places, p, roots, True)
        places = places + _shortened(vectors, signs, places, step)
    return _Peak(places, p, roots, False)


def _shortened(
    vectors: np.ndarray, signs: np.ndarray, places: np.ndarray, step: np.ndarray
) -> np.ndarray:
    """Halve a step until it does not lead down."""

    def likelihood(at: np.ndarray) -> float:
        return -float(np.logaddexp(0.0, -signs * (vectors @ at)).sum())

    least = likelihood(places)
    least -= 1e-10 * (1.0 + abs(least))
    while likelihood(places + step) < least:
        step = 0.5 * step
    return step
