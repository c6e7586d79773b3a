"""Pairs of columns of different kinds: each pair with the measure of association that suits it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from skeval._aggregate import undefined
from skeval._correlations import correlation_ratio_matrix, correlations, infinite_columns
from skeval._pairs import Binning, cramers_v_matrix, theils_u_matrix
from skeval._parameters import Columns, Interval, Options
from skeval.context import Context
from skeval.exceptions import InvalidValueWarning, MetricWarning
from skeval.fidelity.differences import difference
from skeval.fidelity.floor import PairMetric
from skeval.preprocessing import NOMINAL, NUMERIC
from skeval.result import Result
from skeval.steps import chosen_columns
from skeval.tags import MetricTags

__all__ = ["CorrelationRatioDifference", "MixedAssociationDifference", "infinite_notes"]


def infinite_notes(context: Context, names: tuple[str, ...]) -> tuple[MetricWarning, ...]:
    """Return what must be said where synthetic numbers are infinite."""
    found = infinite_columns(context, names)
    if not found:
        return ()
    text = f"synthetic has infinite values in {', '.join(found)}, left out of the associations."
    return (InvalidValueWarning(text),)


class CorrelationRatioDifference(PairMetric):
    """Change of how far categories tell numbers apart: 0 where it is kept, 1 where all is changed.

    An analyst asks how much of the spread of incomes lies between occupations rather than within
    them, for every category and every number, and whether the synthetic table has the same.

    Parameters
    ----------
    floor : bool, default=True
        Whether :meth:`evaluate` also measures columns that are shuffled on their own, and where the
        value lies between those and fresh real rows; it costs another pass.
    columns : None, int or list of str, default=None
        The columns to measure: all, the first so many, or these.

    Attributes
    ----------
    context_ : Context
        The real tables.

    Notes
    -----
    ``mean |eta_train - eta_synthetic|`` over all pairs of a category and a number or date, with
    ``eta = sqrt(SSB / SST)``, the root of the share that the groups' means have in the sum of
    squared deviations. A missing category is a group of its own, categories beyond the 50 most
    frequent are pooled; rows whose number is missing are left out. A pair that is constant in train
    has no eta and is left out, with a warning; one that is constant in the synthetic table only
    counts as unassociated, with a warning. Eta says nothing of which category has the higher mean,
    and one outlier can make it small. It is biased upwards where there are many categories for few
    rows; the baseline has the bias of fresh rows. No interval is given: the differences are
    absolute values near 0, where resampling them is misleading.

    References
    ----------
    K. Pearson, "On the general theory of skew correlation and non-linear regression" (1905).

    Examples
    --------
    >>> from skeval.datasets import make_mixed
    >>> from skeval.fidelity import CorrelationRatioDifference
    >>> table = make_mixed()
    >>> CorrelationRatioDifference().fit(table).score(table)
    0.0
    """

    tags = MetricTags(
        "fidelity", greater_is_better=False, bounds=(0.0, 1.0), display="PhikMatricesDisplay"
    )
    _legal = {"floor": Options((True, False)), "columns": Columns()}

    def __init__(self, floor: bool = True, columns: int | list[str] | None = None) -> None:
        self.floor = floor
        self.columns = columns

    def _compute(self, context: Context) -> Result:
        names = chosen_columns(context.schema, self.columns)
        nominal = _are(context, names, NOMINAL)
        if nominal.all() or not nominal.any():
            return undefined("it takes a category and a number, and the table lacks one of them.")
        train, synthetic = (
            correlation_ratio_matrix(context, role, names, Binning())
            for role in ("train", "synthetic")
        )
        result = difference(
            names,
            train,
            synthetic,
            varies=(~np.isnan(np.diag(train)), ~np.isnan(np.diag(synthetic))),
            n_rows=context.n_rows("synthetic"),
            eligible=np.triu(nominal[:, None] != nominal, 1),
        )
        return replace(result, warnings=(*result.warnings, *infinite_notes(context, names)))


def _are(context: Context, names: tuple[str, ...], kinds: tuple[str, ...]) -> np.ndarray:
    return np.array([context.schema.kinds[name] in kinds for name in names], dtype=bool)


class MixedAssociationDifference(PairMetric):
    """Change of association of columns of any kind: 0 where all pairs keep it, 1 where none does.

    An analyst draws one matrix with the measure that suits each pair: correlation of numbers,
    Cramer's V of categories, the correlation ratio of a category and a number; and asks how far the
    real and the synthetic matrix differ.

    Parameters
    ----------
    num : {"pearson", "spearman", "kendall"}, default="pearson"
        The correlation of two numbers or dates.
    cat : {"cramers_v", "theils_u"}, default="cramers_v"
        The association of two categories: Cramer's V with correction for bias, or Theil's U, both
        ways.
    mixed : {"eta", "cramers_v"}, default="eta"
        The association of a category and a number: the correlation ratio, or Cramer's V with the
        number in bins.
    norm : {"mean_abs", "fro"}, default="mean_abs"
        The mean absolute difference, or the Frobenius norm of the difference of the matrices, which
        grows with the number of columns.
    signed : bool, default=True
        Whether a correlation that changes its sign counts; otherwise absolute values are compared.
    n_bins : int, default=10
        Number of bins of numbers where ``mixed="cramers_v"``.
    floor : bool, default=True
        Whether :meth:`evaluate` also measures columns that are shuffled on their own, and where the
        value lies between those and fresh real rows; it costs another pass.
    columns : None, int or list of str, default=None
        The columns to measure: all, the first so many, or these.

    Attributes
    ----------
    context_ : Context
        The real tables.

    Notes
    -----
    ``mean_{i<j} |a_train(i, j) - a_synthetic(i, j)|``, where the difference of two signed
    correlations, which may be 2, counts half. With ``norm="fro"`` the value is the root of the
    summed squares over the whole matrix, without halving, as others publish it for correlations
    alone; the tag `bounds` knows no upper bound because of it. What is said of bins, missing values
    and constant columns at :class:`CorrelationSimilarity`, :class:`CramersVDifference` and
    :class:`CorrelationRatioDifference` holds here. The measures of different pairs are not on one
    scale: an eta of 0.3 is not as strong as a V of 0.3. No interval is given: the differences are
    absolute values near 0, where resampling them is misleading; compare with the baseline.

    Examples
    --------
    >>> from skeval.datasets import make_mixed
    >>> from skeval.fidelity import MixedAssociationDifference
    >>> table = make_mixed()
    >>> MixedAssociationDifference().fit(table).score(table)
    0.0
    """

    tags = MetricTags("fidelity", greater_is_better=False, bounds=(0.0, float("inf")))
    _legal = {
        "num": Options(("pearson", "spearman", "kendall")),
        "cat": Options(("cramers_v", "theils_u")),
        "mixed": Options(("eta", "cramers_v")),
        "norm": Options(("mean_abs", "fro")),
        "signed": Options((True, False)),
        "n_bins": Interval(int, 2, None),
        "floor": Options((True, False)),
        "columns": Columns(),
    }

    def __init__(
        self,
        num: str = "pearson",
        cat: str = "cramers_v",
        mixed: str = "eta",
        norm: str = "mean_abs",
        *,
        signed: bool = True,
        n_bins: int = 10,
        floor: bool = True,
        columns: int | list[str] | None = None,
    ) -> None:
        self.num = num
        self.cat = cat
        self.mixed = mixed
        self.norm = norm
        self.signed = signed
        self.n_bins = n_bins
        self.floor = floor
        self.columns = columns

    def _compute(self, context: Context) -> Result:
        names = chosen_columns(context.schema, self.columns)
        if len(names) < 2:
            return undefined("fewer than two columns can be measured.", names=list(names))
        train, synthetic = (self._matrix(context, role, names) for role in ("train", "synthetic"))
        numeric = _are(context, names, NUMERIC)
        halved = self.signed and self.norm == "mean_abs"
        result = difference(
            names,
            train,
            synthetic,
            varies=(~np.isnan(np.diag(train)), ~np.isnan(np.diag(synthetic))),
            n_rows=context.n_rows("synthetic"),
            scale=np.where(halved & numeric[:, None] & numeric, 0.5, 1.0),
            eligible=self._eligible(len(names)),
            reduce=self.norm,
        )
        return replace(result, warnings=(*result.warnings, *infinite_notes(context, names)))

    def _noise(self, inverse_size: float, n_used: int) -> float:
        # the norm is no mean: the root of a sum over both triangles, of differences up to 2
        factor = np.sqrt(8.0 * n_used) if self.norm == "fro" else 1.0
        return float(factor * super()._noise(inverse_size, n_used))

    def _eligible(self, n_columns: int) -> np.ndarray:
        apart = ~np.eye(n_columns, dtype=bool)
        return apart if self.cat == "theils_u" else np.triu(apart)

    def _matrix(self, context: Context, role: str, names: tuple[str, ...]) -> np.ndarray:
        """Return the association of each pair by its measure; 1 on the diagonal where it varies."""
        binning = Binning(self.n_bins)
        found = correlation_ratio_matrix(context, role, names, binning).copy()
        numeric = np.flatnonzero(_are(context, names, NUMERIC))
        nominal = np.flatnonzero(_are(context, names, NOMINAL))
        if self.mixed == "cramers_v" and numeric.size and nominal.size:
            in_cells = cramers_v_matrix(context, role, names, binning)
            for block in (np.ix_(numeric, nominal), np.ix_(nominal, numeric)):
                found[block] = in_cells[block]
        if numeric.size:
            of_numbers = correlations(context, role, tuple(names[i] for i in numeric), self.num)
            values = of_numbers.coefficients
            found[np.ix_(numeric, numeric)] = values if self.signed else np.abs(values)
        if nominal.size > 1:
            step = cramers_v_matrix if self.cat == "cramers_v" else theils_u_matrix
            block = np.ix_(nominal, nominal)
            diagonal = np.diag(found).copy()
            found[block] = step(context, role, names, binning)[block]
            np.fill_diagonal(found, diagonal)
        return found
