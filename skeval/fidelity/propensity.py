"""Mean squared error of propensity scores, which a model of real and synthetic rows predicts."""

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
    "some rows are classified with certainty (separation). Their coefficients are infinite, the "
    "null distribution is not valid, and the value depends on the columns that separate the rows."
)
_NO_SPLIT = (
    "in {share:.0%} of the permutations the model does not distinguish any rows, so the null "
    "distribution is almost a single value. Use the raw value instead."
)
_MAX_TERMS = 1000
_N_FOLDS = 5
_RANK = 1e-10  # relative limit below which squared singular values are rounding errors
_MAX_STEPS = 50
_CONVERGED = 1e-12  # relative change of the deviance
_SURE = 1e-6  # a fitted probability closer than this to 0 or 1 indicates separation
_EQUAL = 9  # number of decimals at which fitted probabilities are compared


Null = Literal["snoke", "two_sample", "permutation", "holdout"]


@declared
class PropensityMSE(Metric):
    """Mean squared error of the propensity scores of real and synthetic rows.

    The metric pools both tables, fits a model that predicts which rows are synthetic, and computes
    the mean squared difference between the predicted probabilities and the fraction of synthetic
    rows. The value ranges from 0 (the model finds no difference) to at most 1/4. Lower is better.
    If the value is small, an analysis that uses the columns in the same way as the model gives
    similar results for both tables.

    Parameters
    ----------
    model : {"tree", "logistic", "cart"} or classifier, default="tree"
        "tree" is a decision tree whose leaves contain at least the square root of the number of
        rows. "logistic" is the published method, an unpenalized logistic regression on standardized
        and one-hot encoded columns. "cart" is a tree with at least 5 rows per leaf. A scikit-learn
        classifier with `predict_proba` is also accepted.
    interactions : bool, default=False
        Whether the logistic regression includes the products of all pairs of columns.
    null : {"snoke", "two_sample", "permutation", "holdout"}, optional
        The null hypothesis with which the value is compared. For "snoke", the synthetic rows are
        drawn from a correct model that was estimated on the training data. For "two_sample", they
        are a sample independent of the training data. "permutation" permutes the labels, and
        "holdout" uses the value of the holdout rows and requires a holdout. The first two are valid
        only for the logistic regression, for which "snoke" is the default. The default for other
        models is "permutation".
    out_of_fold : bool, default=False
        Whether the probability of each row is predicted by a model fitted to the other four of five
        folds, with a penalty of 1 for the logistic regression. The nulls "snoke" and "two_sample"
        are not valid then.
    form : {"raw", "ratio", "standardized"}, default="raw"
        The value itself, its ratio to the mean under the null (close to 1 for good tables), or the
        difference from that mean in standard deviations (close to 0 for good tables).
    n_permutations : int, default=99
        Number of permutations.
    max_rows : int or None, default=10_000
        Maximum number of rows per table. If a table has more rows, a random sample is used.
    columns : None, int or list of str, default=None
        Columns to use. If None, all columns except text, ID and primary key columns are used.
    random_state : int, default=0
        Seed of the samples, folds and permutations.

    Raises
    ------
    InvalidParameterError
        At fit, if `form` requires a null that the model does not support.
    MissingInputError
        At fit, if ``null="holdout"`` and holdout data are missing.

    Warnings
    --------
    A logistic regression without interactions compares little more than means, so a table with
    independently shuffled columns appears perfect. Leaks are not detected.

    See Also
    --------
    ClassifierTwoSampleTest : Evaluates rows that the classifier has not seen.
    TotalVariationLowerBound : Lower bound on the total variation distance.

    Notes
    -----
    The value is ``mean((p - c)^2)``, where p are the fitted probabilities of the N rows and c is
    the fraction of synthetic rows. It ranges from 0 to ``c (1 - c)``. ``details["similarity"]`` is
    one minus the ratio of the two. The model predicts the rows to which it was fitted, so the value
    expected by chance is above 0. For a regression with k parameters it is ``(k - 1) c (1 - c) /
    N`` on average if the synthetic rows are a sample independent of the training data. If they are
    drawn from a model estimated on the training data, the mean is multiplied by ``1 - c``, because
    both tables then share the error of that model. k is the rank of the design, so collinear and
    constant columns have no effect. Confusing the two nulls changes the result by a factor of two
    for equal sizes. Permuted labels give the mean for an independent sample. For the regression,
    the mean and the standard deviation of the permutations are multiplied by ``1 - c``. If the
    training data have more than `max_rows` rows, the multiplier is larger than ``1 - c``, because
    the sample of the training rows shares only a part of the error of the model. The leaves of a
    tree mostly fit noise, and rows from a correct model have almost the value of permuted labels.
    Therefore the permutations of a tree are used without a multiplier.

    The p-value is one-sided. For "snoke" and "two_sample", it is computed from a chi-square
    distribution with k - 1 degrees of freedom. For "permutation", it is the fraction of
    permutations that reach the value. The null hypothesis of an independent sample ("two_sample" or
    "permutation") is true for holdout rows. Therefore the p-value compares the synthetic rows with
    the holdout rows if there is a holdout, and otherwise with the training rows. The test with
    training rows is conservative, because the generator has seen these rows.
    ``details["tested_against"]`` specifies the rows. For "holdout", no p-value is computed. Real
    rows do not come from a model of the training data, so holdout rows in place of the synthetic
    rows have twice the value expected under "snoke" and are rejected, but they are not rejected
    under "two_sample".

    The baseline is the value expected for holdout rows, that is, the mean under the null of an
    independent sample, a ratio of 1, or 0 standard deviations. A copy of the training data has a
    ratio close to 1 for "snoke", like a correct model, so this metric does not detect leaks. A
    ratio clearly below 1 for "two_sample" also indicates copies. Logistic regression without
    interactions compares little more than means. Therefore a table with independently shuffled
    columns looks perfect to it. A tree splits by one column after the other and detects that the
    relations are lost. For a tree, a copy of the training data has the value 0. The permutations
    fit many trees, which needs half a minute for 10,000 rows.

    For the same probabilities, ``details`` also contains the Kolmogorov distance (`specks`), the
    percentage of correctly classified rows minus 50 (`po50`) and the Wilcoxon statistic. For the
    bins of each column (10 bins of the training data, categories, missing values) it contains the
    measures of Voas and Williamson and of Freeman and Tukey, the mean absolute difference of the
    fractions, and the Bhattacharyya distance. The regression pools categories with fewer than 10
    rows or after the 50 most frequent, because a category with one row is always separated.

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
                "no column varies, so the mean under the null is 0 and the ratio is undefined."
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
            f"{number(result.details['ratio'])} times the value expected by chance."
        )


def _lacks_null(null: str, form: str, regression: bool) -> str:
    """Return why a form is not available for a null, or an empty string if it is available."""
    if null in {"snoke", "two_sample"} and not regression:
        return (
            f"null={null!r} is only valid for a logistic regression fitted to all rows. For "
            f"another model, form={form!r} requires null='permutation' or null='holdout'."
        )
    if null == "holdout" and form == "standardized":
        return (
            "form='standardized' requires the spread of a null, but null='holdout' is one value. "
            "Choose form='ratio'."
        )
    return ""


def _is_regression(model: Any, out_of_fold: bool) -> bool:
    """Whether the model is the unpenalized regression on all rows, which has a known null."""
    return isinstance(model, str) and model == "logistic" and not out_of_fold


class How(NamedTuple):
    """Settings for the model, the sample of rows and the seed."""

    model: Any
    interactions: bool
    out_of_fold: bool
    max_rows: int | None
    columns: ColumnChoice
    seed: int


class Propensity(NamedTuple):
    """Probability of being synthetic for the rows of each table."""

    # `n_parameters` is the rank of the logistic regression fitted to all rows, and None for
    # other models. `separated` is whether some rows are classified with certainty.

    real: np.ndarray
    synthetic: np.ndarray
    n_parameters: int | None = None
    separated: bool = False

    @property
    def value(self) -> float:
        """The mean squared difference from the fraction of synthetic rows."""
        return propensity_mse(self.real, self.synthetic)

    def null(self, n_estimated: int | None = None) -> PropensityNull:
        """Return the analytic null of the regression. For other models it is 0."""
        sizes = self.real.size, self.synthetic.size
        return analytic_null(*sizes, self.n_parameters or 1, n_estimated)

    def details(self) -> dict[str, Any]:
        """Return other statistics of the probabilities."""
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
    """Return the raw value with its test and baseline, and the null distribution."""
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
    values = permuted_values(context, how, fresh, n_permutations)  # cached if the rows are the same
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
    """Return the role of the real rows with which the synthetic rows are tested."""
    return "holdout" if "holdout" in context and context.n_rows("holdout") >= MIN_ROWS else "train"


@shared
def propensity(
    context: Context, how: How, real: str, other: str = "synthetic", n_other: int | None = None
) -> Propensity:
    """Return the probabilities for samples of two tables. `other` has the label 1."""
    rows = drawn_rows(context, real, how.columns, how.max_rows, how.seed)
    others = drawn_rows(context, other, how.columns, n_other or how.max_rows, how.seed)
    return _fit_propensity(how, rows, others, nominal_columns(context, how.columns))


@shared
def permuted_values(context: Context, how: How, real: str, n_permutations: int) -> np.ndarray:
    """Return the values for random permutations of the rows of both tables."""
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
    """Return a design with the products of features of different columns, up to a limit."""
    pairs = [(a, b) for a, b in combinations(range(len(owners)), 2) if owners[a] != owners[b]]
    if len(owners) + len(pairs) > _MAX_TERMS:
        raise InvalidParameterError(
            f"PropensityMSE: interactions of these columns are {len(owners) + len(pairs):,} terms, "
            f"but at most {_MAX_TERMS:,} are fitted. Choose columns=[...], or model='cart'."
        )
    if not pairs:
        return design
    first, second = (list(side) for side in zip(*pairs, strict=True))
    return np.hstack([design, design[:, first] * design[:, second]])


def tables(context: Context, columns: ColumnChoice) -> dict[str, Any]:
    """Return the measures of contingency tables for each column, and their means."""
    by_column = {
        name: table_measures(*(histogram(context, role, name) for role in ROLES))
        for name in chosen_columns(context.schema, columns)
    }
    each = list(by_column.values())
    means = {name: float(np.mean([measures[name] for measures in each])) for name in each[0]}
    return {"tables": {"mean": means, "by_column": by_column}}


class LogisticFit(NamedTuple):
    """Fitted probabilities of an unpenalized logistic regression, and the rank of its design.

    `separated` is whether some rows are classified with certainty, so coefficients are infinite.
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
    """Fit an unpenalized logistic regression with an intercept by Newton's method."""
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
    # if the data are separated, the curvature vanishes along the separating direction
    ridge = 1e-12 * max(float(np.trace(curvature)), 1e-12)
    np.fill_diagonal(curvature, np.diag(curvature) + ridge)
    return np.linalg.solve(curvature, basis.T @ (target - fitted))


def _step_size(
    linear: np.ndarray, direction: np.ndarray, target: np.ndarray, deviance: float
) -> tuple[float, float]:
    """Return the first step of 1, 1/2, 1/4, ... that lowers the deviance, and that deviance."""
    size = 1.0
    reached = _deviance(linear + direction, target)
    while reached > deviance and size > _SURE:
        size /= 2.0
        reached = _deviance(linear + size * direction, target)
    return size, reached


def _sigmoid(linear: np.ndarray) -> np.ndarray:
    return 0.5 * (1.0 + np.tanh(linear / 2.0))


def _deviance(linear: np.ndarray, target: np.ndarray) -> float:
    """Return twice the negative log-likelihood for linear predictors of any size."""
    return 2.0 * float((np.logaddexp(0.0, linear) - target * linear).sum())


def propensity_mse(real: np.ndarray, synthetic: np.ndarray) -> float:
    """Return the mean squared difference of propensity scores from the synthetic fraction."""
    share = synthetic.size / (real.size + synthetic.size)
    return float(((np.concatenate([real, synthetic]) - share) ** 2).mean())


class PropensityNull(NamedTuple):
    """Null mean and standard deviation of the propensity mean squared error.

    `degrees` are the degrees of freedom if the null is a scaled chi-square distribution.
    """

    mean: float
    spread: float
    degrees: int | None = None

    def ratio(self, value: float) -> float:
        """Return the value as a multiple of the null mean, or nan if the mean is 0."""
        return value / self.mean if self.mean > 0 else float("nan")

    def standardize(self, value: float) -> float:
        """Return the standardized value, or nan if the standard deviation is 0."""
        return (value - self.mean) / self.spread if self.spread > 0 else float("nan")

    def p_value(self, value: float) -> float | None:
        """Return the p-value of the value, or None if the distribution is not known."""
        if self.degrees is None or self.degrees == 0:
            return None
        return float(chi2.sf(self.degrees * self.ratio(value), self.degrees))


def estimation_factor(n_real: int, n_synthetic: int, n_estimated: int | None) -> float:
    """Return the factor on the null mean if a model of the real rows made the synthetic rows."""
    if n_estimated is None:
        return 1.0
    m, n = n_synthetic, n_real
    return (n * (n_estimated - m) + n_estimated * m) / (n_estimated * (m + n))


def analytic_null(
    n_real: int, n_synthetic: int, n_parameters: int, n_estimated: int | None = None
) -> PropensityNull:
    """Return the null of the propensity mean squared error of a logistic regression."""
    # With k parameters, N rows and the synthetic fraction c, independent samples have mean
    # `(k - 1) c (1 - c) / N` and standard deviation `sqrt(2 (k - 1)) c (1 - c) / N`. If the
    # model is estimated on the real rows, both are multiplied by `1 - c`, which is one half for
    # samples of equal size.
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
    """Return the measures of the difference between two arrays of counts."""
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
