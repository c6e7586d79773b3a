"""Propensity scores: the mean squared error of a model that tells synthetic from real rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY
from itertools import combinations
from typing import Annotated, Any, Literal, NamedTuple

import numpy as np
from scipy.stats import chi2

from skeval.core.base import Metric
from skeval.core.context import Context, shared
from skeval.core.declared import declared
from skeval.core.needs import unmet
from skeval.core.tags import MetricTags
from skeval.exceptions import DegenerateInputWarning, InvalidParameterError, MissingInputError
from skeval.results.result import Result, undefined_result
from skeval.stats.distance_bounds import Confusion, separation
from skeval.stats.roc import auc
from skeval.steps.classifiers import (
    BROAD,
    CART,
    LINEAR,
    MAX_ROWS,
    MIN_ROWS,
    drawn_rows,
    learn,
    nominal_columns,
    out_of_fold,
    permute_tables,
    too_few,
)
from skeval.steps.column_choice import ColumnChoice, chosen_columns
from skeval.steps.columns import ROLES, histogram
from skeval.tables.preprocessing import OneHot
from skeval.utils.formatting import number
from skeval.utils.parameters import Columns, Interval, Seed, has_methods

_NOISE = 1e-12
_MODELS = (BROAD, LINEAR, CART)
_SEPARATED = (
    "some rows are told apart for sure (separation): their coefficients are infinite, the "
    "distribution of the null does not hold, and the value is that of the columns that separate."
)
_NO_SPLIT = (
    "in {share:.0%} of the permutations no row is told from another, so that the null is nearly "
    "one value; look at the raw value instead."
)
_MAX_TERMS = 1000
_N_FOLDS = 5
_RANK = 1e-10  # squared singular values below this part of the largest are rounding errors
_MAX_STEPS = 50
_CONVERGED = 1e-12  # relative change of the deviance
_SURE = 1e-6  # fitted probabilities nearer to 0 or 1 are signs of separation
_EQUAL = 9  # decimals at which fitted probabilities count as different


Null = Literal["snoke", "two_sample", "permutation", "holdout"]


@declared
class PropensityMSE(Metric):
    """Mean squared error of propensity scores: 0 if a model finds no difference, 1/4 at most.

    An analyst pools both tables, fits a model of which rows are synthetic, and looks how far its
    fitted probabilities are from the share of synthetic rows. If they are all alike, analyses that
    use the columns as the model does give the same on both tables.

    Parameters
    ----------
    model : {"tree", "logistic", "cart"} or classifier, default="tree"
        A tree whose leaves hold the root of the number of rows at least; as first published, an
        unpenalised logistic regression on standardised and one-hot columns; a tree with 5 rows a
        leaf at least; or a classifier of scikit-learn with `predict_proba`.
    interactions : bool, default=False
        Whether the logistic regression has the products of all pairs of columns.
    null : {"snoke", "two_sample", "permutation", "holdout"}, optional
        What the value is held against: its distribution if the synthetic rows were drawn from a
        right model that was estimated on train; or if they were a sample independent of train;
        permuted labels; or the value of holdout rows, which must be given. The first two hold for
        the regression alone, of which "snoke" is the default; that of other models is
        "permutation".
    out_of_fold : bool, default=False
        Whether each row's probability comes from a model that learned from the other of five folds,
        the regression with a penalty of 1; the first two nulls do not hold then.
    form : {"raw", "ratio", "standardized"}, default="raw"
        The value itself, over its mean under the null (near 1 for good tables), or its distance
        from that in standard deviations (near 0).
    n_permutations : int, default=99
        Number of permutations.
    max_rows : int or None, default=10_000
        Rows of each table that are looked at, a seeded sample.
    columns : None, int or list of str, default=None
        The columns to look at; None for all but text, ids and the primary key.
    random_state : int, default=0
        Seed of samples, folds and permutations.

    Raises
    ------
    InvalidParameterError
        At fit, if a ratio is asked for against a null that the model does not have.
    MissingInputError
        At fit, if ``null="holdout"`` and there is none.

    See Also
    --------
    ClassifierTwoSampleTest : Rows that the classifier has not seen.
    TotalVariationLowerBound : A bound of the distance.

    Notes
    -----
    With N rows, of which a share c is synthetic, and fitted probabilities p, the value is ``mean((p
    - c)^2)``, from 0 to ``c (1 - c)``; ``details["similarity"]`` is 1 less the quotient of the two.
    The probabilities are fitted to the same rows, hence above 0 by chance: of a regression with k
    parameters by ``(k - 1) c (1 - c) / N`` on average for a sample independent of train, and ``1 -
    c`` times that for rows drawn from a model that was estimated on train, since its error is then
    in both tables. k is the rank of the design: collinear and constant columns cost nothing.
    Mistaking one null for the other is a factor of two at equal sizes. Permuted labels give the
    former; of the regression, their mean and standard deviation are multiplied by ``1 - c``. If
    train is larger than `max_rows`, the multiplier is larger, as the sample holds a part of that
    error only. The leaves of a tree are mostly of noise: rows of a right model have nearly the
    value of permuted labels, which is taken as it is.

    The p-value is one-sided. Against "snoke" and "two_sample" it is that of a chi-square with k - 1
    degrees of freedom, against permutations their share that reaches the value. The null of an
    independent sample, analytic or permuted, holds for the holdout, and where one is given, the
    p-value is that of holdout and synthetic rows; against train, which the generator has seen, it
    is conservative. ``details["tested_against"]`` says which. There is none against "holdout".
    Fresh real rows come from no model of train: against "snoke" they are rejected, having twice the
    value that it expects, and against "two_sample" they are not.

    The baseline is what a fresh sample would get: the mean under the null of an independent sample,
    a ratio of 1, or 0 standard deviations. A copy of train has a ratio near 1 against "snoke", as
    good as a right model: this metric sees no leak. A ratio clearly below 1 against "two_sample" is
    the same sign. Logistic regression without interactions compares little more than means; a table
    that has only these right looks perfect, as one whose columns were shuffled apart. A tree splits
    by one column after the other, and sees that their relations are lost. A copy of train has 0 by
    a tree, which is no merit. Permutations fit many trees, half a minute at 10,000 rows.

    ``details`` also has, of the same scores, the Kolmogorov distance (`specks`), the percentage of
    rows on the right side of 1/2 less 50 (`po50`) and the Wilcoxon statistic; and of each column's
    cells (10 bins of train, levels, missing) the measures of tables: Voas and Williamson, Freeman
    and Tukey, mean absolute difference of shares, Bhattacharyya distance. The regression pools
    levels with fewer than 10 rows, or beyond the 50 most frequent: one row is always separated.

    References
    ----------
    J. Snoke, G. M. Raab, B. Nowok, C. Dibben, A. Slavkovic, "General and specific utility measures
    for synthetic data", JRSS A 181 (2018) 663-688, doi:10.1111/rssa.12358.

    M.-J. Woo, J. P. Reiter, A. Oganian, A. F. Karr, "Global measures of data utility for microdata
    masked for disclosure limitation", Journal of Privacy and Confidentiality 1 (2009),
    doi:10.29012/jpc.v1i1.568.

    Examples
    --------
    >>> from skeval.datasets import make_mixed
    >>> from skeval.fidelity import PropensityMSE
    >>> train, fresh = make_mixed(random_state=0), make_mixed(random_state=1)
    >>> 0.7 < PropensityMSE(form="ratio").fit(train).score(fresh) < 1.3
    True
    >>> published = PropensityMSE("logistic", null="two_sample", form="ratio")
    >>> 0.3 < published.fit(train).score(fresh) < 2
    True
    """

    tags = MetricTags("fidelity", greater_is_better=False)

    model: Annotated[Any, has_methods(("fit", "predict_proba"), values=_MODELS)] = BROAD
    interactions: bool = False
    null: Null | None = None
    out_of_fold: bool = False
    form: Literal["raw", "ratio", "standardized"] = "raw"
    _: KW_ONLY
    n_permutations: Annotated[int, Interval(50)] = 99
    max_rows: Annotated[int, Interval(20)] | None = MAX_ROWS
    columns: Columns = None
    random_state: Seed = 0

    def _prepare(self, context: Context) -> None:
        if self.null == "holdout" and "holdout" not in context:
            owner = "PropensityMSE(null='holdout')"
            lack = unmet("holdout", "PropensityMSE")
            raise MissingInputError(lack.reason, owner, lack.need)
        regression = _is_regression(self.model, self.out_of_fold)
        if self.form != "raw" and (reason := _lacks_null(self._kind, self.form, regression)):
            raise InvalidParameterError(f"PropensityMSE: {reason}")

    @property
    def _kind(self) -> Null:
        is_known = _is_regression(self.model, self.out_of_fold)
        return self.null or ("snoke" if is_known else "permutation")

    def _compute(self, context: Context) -> Result:
        if reason := too_few(context, self.columns):
            return undefined_result(reason)
        fit = (self.model, self.interactions, self.out_of_fold)
        how = How(*fit, self.max_rows, self.columns, self.random_state)
        fitted = propensity(context, how, "train")
        raw, null = _against_null(context, how, fitted, self._kind, self.n_permutations)
        forms = {
            "raw": fitted.value,
            "ratio": null.ratio(raw.value),
            "standardized": null.standardize(raw.value),
        }
        if np.isnan(forms[self.form]):
            return undefined_result(
                "no column varies, so that the null is 0 and there is no ratio."
            )
        details = {
            **forms,
            "null": {"kind": self._kind, "mean": null.mean, "spread": null.spread},
            **fitted.details(),
            **raw.details,
            **tables(context, self.columns),
        }
        separated = (DegenerateInputWarning(_SEPARATED),) if fitted.separated else ()
        if self.form != "raw":
            details.pop("at_baseline_size", None)
        return Result(
            forms[self.form],
            p_value=raw.p_value,
            baseline={"raw": raw.baseline, "ratio": 1.0, "standardized": 0.0}[self.form],
            details=details,
            warnings=(*separated, *raw.warnings),
        )

    def _summary(self, result: Result) -> str:
        return (
            f"The mean squared error of the propensity scores is {number(result.details['raw'])}, "
            f"{number(result.details['ratio'])} times what chance gives."
        )


def _lacks_null(null: str, form: str, regression: bool) -> str:
    """Return why a form cannot be had with a null; empty if it can."""
    if null in {"snoke", "two_sample"} and not regression:
        return (
            f"null={null!r} is that of a logistic regression fitted to all rows; form={form!r} of "
            "another model needs null='permutation' or 'holdout'."
        )
    if null == "holdout" and form == "standardized":
        return (
            "form='standardized' needs the spread of a null, and null='holdout' is one value. "
            "Choose form='ratio'."
        )
    return ""


def _is_regression(model: Any, out_of_fold: bool) -> bool:
    """Whether it is the unpenalised regression fitted to all rows, whose null is known."""
    return isinstance(model, str) and model == "logistic" and not out_of_fold


class How(NamedTuple):
    """How probabilities are fitted, to how many rows of each table, and the seed of all draws."""

    model: Any
    interactions: bool
    out_of_fold: bool
    max_rows: int | None
    columns: ColumnChoice
    seed: int


class Propensity(NamedTuple):
    """Probabilities of being synthetic, for the rows of each table."""

    # `n_parameters` is that of the logistic regression fitted to all rows, None of other
    # models; `separated` is whether it assigns some rows for sure.

    real: np.ndarray
    synthetic: np.ndarray
    n_parameters: int | None = None
    separated: bool = False

    @property
    def value(self) -> float:
        """The mean squared distance from the share of synthetic rows."""
        return propensity_mse(self.real, self.synthetic)

    def null(self, n_estimated: int | None = None) -> PropensityNull:
        """Return the distribution of the value of the regression; that of 0 for others."""
        sizes = self.real.size, self.synthetic.size
        return analytic_null(*sizes, self.n_parameters or 1, n_estimated)

    def details(self) -> dict[str, Any]:
        """Return what else the probabilities say."""
        n, m = self.real.size, self.synthetic.size
        share = m / (n + m)
        return {
            "similarity": 1.0 - self.value / (share * (1.0 - share)),
            "n_parameters": self.n_parameters,
            "n_real": n,
            "n_synthetic": m,
            **companions(self.real, self.synthetic),
        }


def _against_null(
    context: Context, how: How, fitted: Propensity, kind: str, n_permutations: int
) -> tuple[Result, PropensityNull]:
    """Return the raw value with its test and the baseline of its form, and the null."""
    if kind == "holdout":
        return _against_holdout(context, how)
    if kind == "permutation":
        return _against_permutations(context, how, fitted, n_permutations)
    if fitted.n_parameters is None:
        nothing = PropensityNull(float("nan"), float("nan"))
        return Result(fitted.value, details={"tested_against": None}), nothing
    real = "train" if kind == "snoke" else _independent(context)
    n_estimated = context.n_rows("train") if kind == "snoke" else None
    tested = propensity(context, how, real)
    result = Result(
        fitted.value,
        p_value=tested.null(n_estimated).p_value(tested.value),
        baseline=fitted.null().mean,
        details={"tested_against": real},
    )
    return result, fitted.null(n_estimated)


def _against_holdout(context: Context, how: How) -> tuple[Result, PropensityNull]:
    n_synthetic = _n_drawn(context, how, "synthetic")
    n = min(context.n_rows("holdout"), n_synthetic)
    fresh, alike = (
        propensity(context, how, "train", role, n).value for role in ("holdout", "synthetic")
    )
    details: dict[str, Any] = {"tested_against": None}
    if n < n_synthetic:
        details["at_baseline_size"] = {"n_rows": n, "value": alike}
    return Result(alike, baseline=fresh, details=details), PropensityNull(fresh, float("nan"))


def _against_permutations(
    context: Context, how: How, fitted: Propensity, n_permutations: int
) -> tuple[Result, PropensityNull]:
    real = _independent(context)
    tested = propensity(context, how, real).value
    draws = permuted_values(context, how, real, n_permutations)
    fresh = real if fitted.real.size == _n_drawn(context, how, real) else "train"
    values = permuted_values(context, how, fresh, n_permutations)  # those above, if they will do
    n_estimated = context.n_rows("train") if how.model == LINEAR else None
    kept = estimation_factor(fitted.real.size, fitted.synthetic.size, n_estimated)
    idle = float((values < _NOISE).mean())
    result = Result(
        fitted.value,
        p_value=float((1.0 + (draws >= tested - _NOISE).sum()) / (draws.size + 1.0)),
        baseline=float(values.mean()),
        details={"tested_against": real},
        warnings=(DegenerateInputWarning(_NO_SPLIT.format(share=idle)),) if idle > 0.5 else (),
    )
    return result, PropensityNull(kept * float(values.mean()), kept * float(values.std()))


def _n_drawn(context: Context, how: How, role: str) -> int:
    n_rows = context.n_rows(role)
    return min(n_rows, how.max_rows or n_rows)


def _independent(context: Context) -> str:
    """Return the real rows that synthetic ones may be independent of."""
    return "holdout" if "holdout" in context and context.n_rows("holdout") >= MIN_ROWS else "train"


@shared
def propensity(
    context: Context, how: How, real: str, other: str = "synthetic", n_other: int | None = None
) -> Propensity:
    """Return the probabilities of samples of two tables, of which `other` has the label 1."""
    rows = drawn_rows(context, real, how.columns, how.max_rows, how.seed)
    others = drawn_rows(context, other, how.columns, n_other or how.max_rows, how.seed)
    return _fit_propensity(how, rows, others, nominal_columns(context, how.columns))


@shared
def permuted_values(context: Context, how: How, real: str, n_permutations: int) -> np.ndarray:
    """Return the values of tables whose rows were dealt out anew, as large as they are."""
    tables = [
        drawn_rows(context, role, how.columns, how.max_rows, how.seed)
        for role in (real, "synthetic")
    ]
    nominal = nominal_columns(context, how.columns)
    dealt = permute_tables(tables, n_permutations, how.seed)
    return np.array([_fit_propensity(how, first, second, nominal).value for first, second in dealt])


def _fit_propensity(
    how: How, real: np.ndarray, synthetic: np.ndarray, nominal: Sequence[bool]
) -> Propensity:
    if how.out_of_fold:
        fitted = out_of_fold(how.model, real, synthetic, nominal, n_folds=_N_FOLDS, seed=how.seed)
        return Propensity(fitted.real, fitted.synthetic)
    rows, n_real = np.concatenate([real, synthetic]), len(real)
    labels = np.arange(len(rows)) >= n_real
    if not _is_regression(how.model, how.out_of_fold):
        scores = learn(how.model, rows, labels, nominal, how.seed).scores(rows)
        return Propensity(scores[:n_real], scores[n_real:])
    encoder = OneHot.from_rows(rows, nominal)
    design = encoder.transform(rows)
    if how.interactions:
        design = with_products(design, encoder.owners)
    fit = fit_logistic(design, labels)
    scores = fit.probabilities
    return Propensity(scores[:n_real], scores[n_real:], fit.n_parameters, fit.separated)


def with_products(design: np.ndarray, owners: np.ndarray) -> np.ndarray:
    """Return a design with the products of all features of different columns, if not too many."""
    pairs = [(a, b) for a, b in combinations(range(len(owners)), 2) if owners[a] != owners[b]]
    if len(owners) + len(pairs) > _MAX_TERMS:
        raise InvalidParameterError(
            f"PropensityMSE: interactions of these columns are {len(owners) + len(pairs):,} terms, "
            f"and {_MAX_TERMS:,} at most are fitted. Choose columns=[...], or model='cart'."
        )
    if not pairs:
        return design
    first, second = (list(side) for side in zip(*pairs, strict=True))
    return np.hstack([design, design[:, first] * design[:, second]])


def tables(context: Context, columns: ColumnChoice) -> dict[str, Any]:
    """Return the measures of tables by column, and their means."""
    by_column = {
        name: table_measures(*(histogram(context, role, name) for role in ROLES))
        for name in chosen_columns(context.schema, columns)
    }
    each = list(by_column.values())
    means = {name: float(np.mean([measures[name] for measures in each])) for name in each[0]}
    return {"tables": {"mean": means, "by_column": by_column}}


class LogisticFit(NamedTuple):
    """Fitted probabilities of an unpenalised logistic regression, and the rank of its design.

    `separated` is whether some rows are assigned for sure, so that coefficients are infinite.
    """

    probabilities: np.ndarray
    n_parameters: int
    separated: bool


def full_rank_basis(design: np.ndarray) -> np.ndarray:
    """Return orthonormal columns that span the columns of a design and the constant."""
    n_rows = len(design)
    constant = np.full((n_rows, 1), 1.0 / np.sqrt(n_rows))
    if design.shape[1] == 0:
        return constant
    scale = np.abs(design).max(axis=0)
    scaled = design / np.where(scale > 0, scale, 1.0)
    centred = scaled - scaled.mean(axis=0)
    spread = np.sqrt((centred**2).sum(axis=0))
    varies = spread > 1e-12 * np.sqrt(n_rows)
    unit = centred[:, varies] / spread[varies]
    values, vectors = np.linalg.eigh(unit.T @ unit)
    kept = values > _RANK * max(1.0, float(values.max(initial=0.0)))
    return np.hstack([constant, unit @ (vectors[:, kept] / np.sqrt(values[kept]))])


def fit_logistic(design: np.ndarray, labels: np.ndarray) -> LogisticFit:
    """Fit an unpenalised logistic regression with an intercept by Newton's method."""
    basis, target = full_rank_basis(design), labels.astype(np.float64)
    share = float(target.mean())
    linear = np.full(target.size, np.log(share / (1.0 - share)))
    deviance = _deviance(linear, target)
    for _ in range(_MAX_STEPS):
        direction = basis @ _newton_step(basis, linear, target)
        size, reached = _step_size(linear, direction, target, deviance)
        if reached >= deviance:
            break
        gained, deviance = deviance - reached, reached
        linear = linear + size * direction
        if gained <= _CONVERGED * (deviance + _CONVERGED * target.size):
            break
    fitted = _sigmoid(linear)
    sure = bool((np.minimum(fitted, 1.0 - fitted) < _SURE).any())
    return LogisticFit(fitted, basis.shape[1], sure)


def _newton_step(basis: np.ndarray, linear: np.ndarray, target: np.ndarray) -> np.ndarray:
    fitted = _sigmoid(linear)
    curvature = basis.T @ (basis * (fitted * (1.0 - fitted))[:, None])
    # on separated data the curvature vanishes along the direction that separates
    ridge = 1e-12 * max(float(np.trace(curvature)), 1e-12)
    np.fill_diagonal(curvature, np.diag(curvature) + ridge)
    return np.linalg.solve(curvature, basis.T @ (target - fitted))


def _step_size(
    linear: np.ndarray, direction: np.ndarray, target: np.ndarray, deviance: float
) -> tuple[float, float]:
    """Return the first of 1, 1/2, 1/4, ... that lowers the deviance, and what it is then."""
    size = 1.0
    reached = _deviance(linear + direction, target)
    while reached > deviance and size > _SURE:
        size /= 2.0
        reached = _deviance(linear + size * direction, target)
    return size, reached


def _sigmoid(linear: np.ndarray) -> np.ndarray:
    return 0.5 * (1.0 + np.tanh(linear / 2.0))


def _deviance(linear: np.ndarray, target: np.ndarray) -> float:
    """Return twice the negative log-likelihood, for linear predictors of any size."""
    return 2.0 * float((np.logaddexp(0.0, linear) - target * linear).sum())


def propensity_mse(real: np.ndarray, synthetic: np.ndarray) -> float:
    """Return the mean squared distance of propensity scores from the share of synthetic rows."""
    share = synthetic.size / (real.size + synthetic.size)
    return float(((np.concatenate([real, synthetic]) - share) ** 2).mean())


class PropensityNull(NamedTuple):
    """What the propensity mean squared error is by chance: its mean and standard deviation.

    `degrees` are the degrees of freedom if its distribution is that of a scaled chi-square.
    """

    mean: float
    spread: float
    degrees: int | None = None

    def ratio(self, value: float) -> float:
        """Return the value as a multiple of its mean; nan where that is 0."""
        return value / self.mean if self.mean > 0 else float("nan")

    def standardize(self, value: float) -> float:
        """Return how many standard deviations the value is above its mean; nan where it is 0."""
        return (value - self.mean) / self.spread if self.spread > 0 else float("nan")

    def p_value(self, value: float) -> float | None:
        """Return how often chance reaches the value; None where the distribution is not known."""
        if self.degrees is None or self.degrees == 0:
            return None
        return float(chi2.sf(self.degrees * self.ratio(value), self.degrees))


def estimation_factor(n_real: int, n_synthetic: int, n_estimated: int | None) -> float:
    """Return what part of the mean is left if a model of the real rows made the synthetic ones."""
    if n_estimated is None:
        return 1.0
    m, n = n_synthetic, n_real
    return (n * (n_estimated - m) + n_estimated * m) / (n_estimated * (m + n))


def analytic_null(
    n_real: int, n_synthetic: int, n_parameters: int, n_estimated: int | None = None
) -> PropensityNull:
    """Get the null distribution of the propensity mean squared error of a logistic regression."""
    # With k parameters, N rows and the synthetic share c, independent samples have mean `(k -
    # 1) c (1 - c) / N` and standard deviation `sqrt(2 (k - 1)) c (1 - c) / N`. If the model
    # is estimated on the real rows, both are `1 - c` times that, half for samples of equal
    # size.
    #
    # Source: J. Snoke, G. M. Raab, B. Nowok, C. Dibben, A. Slavkovic, "General and specific
    # utility measures for synthetic data", JRSS A 181 (2018) 663-688, doi:10.1111/rssa.12358.
    n_rows = n_real + n_synthetic
    share = n_synthetic / n_rows
    factor = estimation_factor(n_real, n_synthetic, n_estimated)
    one = share * (1.0 - share) / n_rows * factor
    degrees = n_parameters - 1
    return PropensityNull(degrees * one, float(np.sqrt(2.0 * degrees)) * one, degrees)


def companions(real: np.ndarray, synthetic: np.ndarray) -> dict[str, float]:
    """Return other measures of the same propensity scores."""
    # Source: G. M. Raab, B. Nowok, C. Dibben, "Assessing, visualizing and improving the
    # utility of synthetic data" (2021), arXiv:2109.12717.
    real, synthetic = (np.round(scores, _EQUAL) for scores in (real, synthetic))
    seen = Confusion.from_scores(real, synthetic)
    at_half = [(scores == 0.5).sum() / 2.0 for scores in (real, synthetic)]
    right = seen.n_synthetic_as_synthetic + at_half[1]
    right += seen.n_real - seen.n_real_as_synthetic - at_half[0]
    return {
        "specks": max(separation(real, synthetic), separation(synthetic, real)),
        "po50": float(100.0 * right / (seen.n_real + seen.n_synthetic) - 50.0),
        "wilcoxon_u": round(2.0 * auc(synthetic, real) * real.size * synthetic.size) / 2.0,
    }


def table_measures(real: np.ndarray, synthetic: np.ndarray) -> Mapping[str, float]:
    """Return how far apart two rows of counts are, by the measures of tables."""
    occupied = real + synthetic > 0
    d, s = (counts[occupied].astype(np.float64) for counts in (real, synthetic))
    share = s.sum() / (s.sum() + d.sum())
    expected = d * (share / (1.0 - share))
    p, q = d / d.sum(), s / s.sum()
    affinity = float(np.sqrt(p * q).sum())
    return {
        "voas_williamson": float(((s - expected) ** 2 / ((s + d) * share)).sum()),
        "freeman_tukey": float(4.0 * ((np.sqrt(s) - np.sqrt(expected)) ** 2).sum()),
        "mean_absolute_difference": float(np.abs(p - q).mean()),
        "bhattacharyya": float(np.sqrt(max(0.0, 1.0 - affinity))),
        "cells": float(d.size),
    }
