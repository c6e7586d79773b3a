"""Propensity scores: the mean squared error of a model that tells synthetic from real rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Annotated, Any, Literal

import numpy as np

from skeval.base import Metric
from skeval.context import Context, shared
from skeval.exceptions import DegenerateInputWarning, InvalidParameterError, MissingInputError
from skeval.formatting import number
from skeval.parameters import Columns, Interval, Seed, has_methods
from skeval.result import Result, undefined
from skeval.stats.propensity import (
    PropensityNull,
    analytic_null,
    companions,
    estimation_factor,
    fit_logistic,
    propensity_mse,
    table_measures,
)
from skeval.steps.classifiers import (
    FEWEST,
    MAX_ROWS,
    drawn_rows,
    learn,
    nominal_columns,
    out_of_fold,
    too_few,
)
from skeval.steps.columns import histogram
from skeval.steps.samples import ColumnChoice, chosen_columns
from skeval.tables.encoders import OneHot
from skeval.tags import MetricTags

_NOISE = 1e-12
_SEPARATED = (
    "some rows are told apart for sure (separation): their coefficients are infinite, the "
    "distribution of the null does not hold, and the value is that of the columns that separate."
)
_NO_SPLIT = (
    "in {share:.0%} of the permutations no row is told from another, so that the null is nearly "
    "one value; look at the raw value instead."
)
_MOST_TERMS = 1000
_N_FOLDS = 5


class PropensityMSE(Metric):
    """Mean squared error of propensity scores: 0 if a model finds no difference, 1/4 at most.

    An analyst pools both tables, fits a model of which rows are synthetic, and looks how far its
    fitted probabilities are from the share of synthetic rows. Where they are all alike, analyses
    that use the columns as the model does give the same on both tables.

    Parameters
    ----------
    model : {"logistic", "cart"} or classifier, default="logistic"
        Unpenalised logistic regression on standardised and one-hot columns, a tree with 5 rows a
        leaf at least, or a classifier of scikit-learn with `predict_proba`.
    interactions : bool, default=False
        Whether the logistic regression has the products of all pairs of columns.
    null : {"snoke", "two_sample", "permutation", "holdout"}, default="snoke"
        What the value is held against: its distribution if the synthetic rows were drawn from a
        right model that was estimated on train; or if they were a sample independent of train;
        permuted labels; or the value of holdout rows in the synthetic place, which must be given.
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

    Attributes
    ----------
    context_ : Context
        The real tables.

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
    - c)^2)``, from 0 to ``c (1 - c)``; ``details["similarity"]`` is 1 less the quotient of the
    two. The probabilities are fitted to the same rows, hence above 0 by chance: with k parameters
    by ``(k - 1) c (1 - c) / N`` on average for a sample independent of train, and ``1 - c`` times
    that for rows drawn from a model that was estimated on train, since the error of train is then
    in both tables. k is the rank of the design: collinear and constant columns cost nothing.
    Mistaking one null for the other is a factor of two at equal sizes. Permuted labels give the
    former; their mean and standard deviation are multiplied by ``1 - c``. Where train is larger
    than `max_rows`, the multiplier is larger, as the sample holds a part of that error only.

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
    the same sign. Logistic regression without interactions compares little more than means; a
    table that has only these right looks perfect.

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
    >>> ratio = PropensityMSE(null="two_sample", form="ratio").fit(train).score(fresh)
    >>> 0.3 < ratio < 2
    True
    """

    tags = MetricTags("fidelity", greater_is_better=False)

    def __init__(
        self,
        model: Annotated[
            Any, has_methods(("fit", "predict_proba"), values=("logistic", "cart"))
        ] = "logistic",
        interactions: bool = False,
        null: Literal["snoke", "two_sample", "permutation", "holdout"] = "snoke",
        out_of_fold: bool = False,
        form: Literal["raw", "ratio", "standardized"] = "raw",
        *,
        n_permutations: Annotated[int, Interval(50)] = 99,
        max_rows: Annotated[int, Interval(20)] | None = MAX_ROWS,
        columns: Columns = None,
        random_state: Seed = 0,
    ) -> None:
        self.model = model
        self.interactions = interactions
        self.null = null
        self.out_of_fold = out_of_fold
        self.form = form
        self.n_permutations = n_permutations
        self.max_rows = max_rows
        self.columns = columns
        self.random_state = random_state

    def _prepare(self, context: Context) -> None:
        if self.null == "holdout" and "holdout" not in context:
            raise MissingInputError(
                "PropensityMSE(null='holdout') compares against holdout rows, and fit received "
                "none. Pass them: fit(train, holdout=rows)."
            )
        if self.form == "raw":
            return
        if self.null in {"snoke", "two_sample"} and not self._how.is_regression:
            raise InvalidParameterError(
                f"PropensityMSE: null={self.null!r} is that of a logistic regression fitted to all "
                f"rows; form={self.form!r} of another model needs null='permutation' or 'holdout'."
            )
        if self.null == "holdout" and self.form == "standardized":
            raise InvalidParameterError(
                "PropensityMSE: form='standardized' needs the spread of a null, and null='holdout' "
                "is one value. Choose form='ratio'."
            )

    @property
    def _how(self) -> How:
        return How(self.model, self.interactions, self.out_of_fold, self.columns, self.random_state)

    def _compute(self, context: Context) -> Result:
        if reason := too_few(context, self.columns):
            return undefined(reason)
        fitted = self._against(context, "train")
        held = self._held_against(context, fitted)
        value = {
            "raw": fitted.value,
            "ratio": held.null.ratio(held.value),
            "standardized": held.null.standardized(held.value),
        }
        if np.isnan(value[self.form]):
            return undefined("no column varies, so that the null is 0 and there is no ratio.")
        share = fitted.synthetic.size / (fitted.real.size + fitted.synthetic.size)
        return Result(
            value[self.form],
            p_value=held.p_value,
            baseline={"raw": held.fresh, "ratio": 1.0, "standardized": 0.0}[self.form],
            details={
                **value,
                "similarity": 1.0 - fitted.value / (share * (1.0 - share)),
                "null": {"law": self.null, "mean": held.null.mean, "spread": held.null.spread},
                "tested_against": held.real_rows,
                "n_parameters": fitted.n_parameters,
                "n_real": fitted.real.size,
                "n_synthetic": fitted.synthetic.size,
                **(held.at_size(fitted.synthetic.size) if self.form == "raw" else {}),
                **companions(fitted.real, fitted.synthetic),
                **tables(context, self.columns),
            },
            warnings=(*_separation(fitted), *held.warnings),
        )

    def _summary(self, result: Result) -> str:
        return (
            "The mean squared error of the propensity scores is "
            f"{number(result.details['raw'])}, {number(result.details['ratio'])} times what chance "
            "gives."
        )

    def _size(self, context: Context, role: str) -> int:
        n_rows = context.n_rows(role)
        return n_rows if self.max_rows is None else min(n_rows, self.max_rows)

    def _against(self, context: Context, real: str) -> Propensity:
        n_real, n_synthetic = (self._size(context, role) for role in (real, "synthetic"))
        return propensity(context, self._how, real, "synthetic", n_real, n_synthetic)

    def _held_against(self, context: Context, fitted: Propensity) -> _Held:
        if self.null == "holdout":
            return self._held_against_holdout(context)
        if self.null == "permutation":
            return self._held_against_permutations(context, fitted)
        if fitted.n_parameters is None:
            nothing = PropensityNull(float("nan"), float("nan"))
            return _Held(fitted.value, nothing, None, None)
        independent = fitted.null()
        if self.null == "snoke":
            null = fitted.null(context.n_rows("train"))
            return _Held(fitted.value, null, independent.mean, "train", null.p_value(fitted.value))
        real = _independent(context)
        tested = self._against(context, real)
        p_value = tested.null().p_value(tested.value)
        return _Held(fitted.value, independent, independent.mean, real, p_value)

    def _held_against_holdout(self, context: Context) -> _Held:
        n = min(self._size(context, "holdout"), self._size(context, "synthetic"))
        n_train = self._size(context, "train")
        fresh, alike = (
            propensity(context, self._how, "train", role, n_train, n).value
            for role in ("holdout", "synthetic")
        )
        return _Held(alike, PropensityNull(fresh, float("nan")), fresh, None, n_rows=n)

    def _held_against_permutations(self, context: Context, fitted: Propensity) -> _Held:
        real = _independent(context)
        tested = self._against(context, real)
        values = self._permuted(context, "train")
        draws = values if real == "train" else self._permuted(context, real)
        p_value = (1.0 + (draws >= tested.value - _NOISE).sum()) / (draws.size + 1.0)
        kept = estimation_factor(fitted.real.size, fitted.synthetic.size, context.n_rows("train"))
        null = PropensityNull(kept * float(values.mean()), kept * float(values.std()))
        idle = float((values < _NOISE).mean())
        notes = (DegenerateInputWarning(_NO_SPLIT.format(share=idle)),) if idle > 0.5 else ()
        return _Held(fitted.value, null, float(values.mean()), real, float(p_value), notes)

    def _permuted(self, context: Context, real: str) -> np.ndarray:
        n_real, n_synthetic = (self._size(context, role) for role in (real, "synthetic"))
        return permuted_values(context, self._how, real, n_real, n_synthetic, self.n_permutations)


@dataclass(frozen=True)
class _Held:
    """A value, what it is held against, and with what outcome.

    `fresh` is the raw value of a fresh sample, `real_rows` whose rows the p-value is of, and
    `n_rows` how many synthetic rows the value is of, if not all.
    """

    value: float
    null: PropensityNull
    fresh: float | None
    real_rows: str | None
    p_value: float | None = None
    warnings: tuple[DegenerateInputWarning, ...] = ()
    n_rows: int | None = None

    def at_size(self, n_synthetic: int) -> dict[str, Any]:
        """Return the value at the size of the baseline, where that is smaller."""
        if self.n_rows is None or self.n_rows >= n_synthetic:
            return {}
        return {"at_baseline_size": {"n_rows": self.n_rows, "value": self.value}}


def _independent(context: Context) -> str:
    """Return the real rows that synthetic ones may be independent of."""
    return "holdout" if "holdout" in context and context.n_rows("holdout") >= FEWEST else "train"


def _separation(fitted: Propensity) -> tuple[DegenerateInputWarning, ...]:
    return (DegenerateInputWarning(_SEPARATED),) if fitted.separated else ()


@dataclass(frozen=True)
class How:
    """How probabilities are fitted.

    Attributes
    ----------
    model : {"logistic", "cart"} or classifier
        Which model.
    interactions : bool
        Whether the logistic regression has products of columns.
    out_of_fold : bool
        Whether rows are scored by models that have not seen them.
    columns : int, tuple of str or None
        The columns looked at.
    seed : int
        Of samples, folds and models.
    """

    model: Any
    interactions: bool
    out_of_fold: bool
    columns: ColumnChoice
    seed: int

    @property
    def is_regression(self) -> bool:
        """Whether it is the unpenalised regression fitted to all rows, whose null is known."""
        is_logistic = isinstance(self.model, str) and self.model == "logistic"
        return is_logistic and not self.out_of_fold


@dataclass(frozen=True)
class Propensity:
    """Probabilities of being synthetic.

    Attributes
    ----------
    real, synthetic : ndarray
        Of the rows of each table.
    n_parameters : int or None
        Of the logistic regression fitted to all rows; None for others.
    separated : bool
        Whether it tells some rows apart for sure.
    """

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


@shared
def propensity(
    context: Context, how: How, real: str, synthetic: str, n_real: int, n_synthetic: int
) -> Propensity:
    """Return the probabilities of samples of two tables, of which `synthetic` has the label 1."""
    rows, others = (
        drawn_rows(context, role, how.columns, n, how.seed)
        for role, n in ((real, n_real), (synthetic, n_synthetic))
    )
    return _fitted(how, rows, others, nominal_columns(context, how.columns))


@shared
def permuted_values(
    context: Context, how: How, real: str, n_real: int, n_synthetic: int, n_permutations: int
) -> np.ndarray:
    """Return the values of tables whose rows were dealt out anew, as large as they are."""
    tables = [
        drawn_rows(context, role, how.columns, n, how.seed)
        for role, n in ((real, n_real), ("synthetic", n_synthetic))
    ]
    rows = np.concatenate(tables)
    rows = rows[np.lexsort(rows.T[::-1])]  # nothing must tell the tables apart but the labels
    nominal, rng = nominal_columns(context, how.columns), np.random.default_rng(how.seed)
    is_synthetic = np.repeat([False, True], [len(part) for part in tables])
    values = np.empty(n_permutations)
    for i in range(n_permutations):
        dealt = rng.permutation(is_synthetic)
        values[i] = _fitted(how, rows[~dealt], rows[dealt], nominal).value
    return values


def _fitted(
    how: How, real: np.ndarray, synthetic: np.ndarray, nominal: Sequence[bool]
) -> Propensity:
    if how.out_of_fold:
        fitted = out_of_fold(how.model, real, synthetic, nominal, n_folds=_N_FOLDS, seed=how.seed)
        return Propensity(fitted.real, fitted.synthetic)
    rows, n_real = np.concatenate([real, synthetic]), len(real)
    labels = np.arange(len(rows)) >= n_real
    if not how.is_regression:
        scores = learn(how.model, rows, labels, nominal, how.seed).scores(rows)
        return Propensity(scores[:n_real], scores[n_real:])
    encoder = OneHot.of(rows, nominal)
    design = encoder.transform(rows)
    if how.interactions:
        design = with_products(design, encoder.owners)
    fit = fit_logistic(design, labels)
    scores = fit.probabilities
    return Propensity(scores[:n_real], scores[n_real:], fit.n_parameters, fit.separated)


def with_products(design: np.ndarray, owners: np.ndarray) -> np.ndarray:
    """Return a design with the products of all features that stem from different columns.

    Raises
    ------
    InvalidParameterError
        If there are too many of them to fit.
    """
    pairs = [(a, b) for a, b in combinations(range(len(owners)), 2) if owners[a] != owners[b]]
    if len(owners) + len(pairs) > _MOST_TERMS:
        raise InvalidParameterError(
            f"PropensityMSE: interactions of these columns are {len(owners) + len(pairs):,} terms, "
            f"and {_MOST_TERMS:,} at most are fitted. Choose columns=[...], or model='cart'."
        )
    if not pairs:
        return design
    first, second = (list(side) for side in zip(*pairs, strict=True))
    return np.hstack([design, design[:, first] * design[:, second]])


def tables(context: Context, columns: ColumnChoice) -> dict[str, Any]:
    """Return the measures of tables by column, and their means."""
    by_column = {
        name: table_measures(*(histogram(context, role, name) for role in ("train", "synthetic")))
        for name in chosen_columns(context.schema, columns)
    }
    names = next(iter(by_column.values()))
    means = {
        name: float(np.mean([fitted[name] for fitted in by_column.values()])) for name in names
    }
    return {"tables": {"mean": means, "by_column": by_column}}
