"""Differences in the association of pairs of columns between real and synthetic data."""

from __future__ import annotations

from dataclasses import KW_ONLY, replace
from typing import Literal

import numpy as np

from skeval.core.context import Context
from skeval.core.declared import declared
from skeval.fidelity.pair_metric import AssociationDifference, calibration_sentence
from skeval.results.result import Result, undefined_result
from skeval.steps.column_choice import columns_of
from skeval.steps.pairs import (
    Binning,
    correlation_ratio_matrix,
    correlations,
    cramers_v_matrix,
    mutual_information_matrix,
    theils_u_matrix,
)
from skeval.tables.preprocessing import NOMINAL, NUMERIC
from skeval.utils.formatting import number, percent
from skeval.utils.parameters import BinCount


@declared
class BinnedAssociation(AssociationDifference):
    """Base of the associations of categories, with numerical and datetime columns in bins.

    Parameters
    ----------
    n_bins : int or None, default=10
        Number of equal-width bins of numerical and datetime columns over the training range.
        Frequent values have a separate bin, see :class:`~skeval.tables.Discretizer`. If None, these
        columns are skipped.
    nan : {"own", "drop"}, default="own"
        Whether a missing value is a category ("own"), or its row is ignored for the pair ("drop").
    """

    _: KW_ONLY
    n_bins: BinCount | None = 10
    nan: Literal["own", "drop"] = "own"

    @property
    def _binning(self) -> Binning:
        return Binning(self.n_bins or 10)

    def _names(self, context: Context) -> tuple[str, ...]:
        """Return the columns to compare. Without bins, only nominal columns are compared."""
        kinds = NOMINAL if self.n_bins is None else (*NOMINAL, *NUMERIC)
        return columns_of(context, self.columns, kinds)


@declared
class CramersVDifference(BinnedAssociation):
    """Mean absolute difference between the Cramer's V of the real and synthetic data.

    For each pair of columns, the metric compares the strength of the association between their
    categories in both tables. The value is the mean over the pairs. It ranges from 0 (equal
    associations) to 1 (all associations are lost or invented). Lower is better.

    Parameters
    ----------
    bias_correction : bool, default=True
        Whether to subtract the bias of independent columns, so that tables of different sizes are
        comparable.

    Warnings
    --------
    The value compares the strength of associations, not their form. It can be 0 although other
    categories are associated than in the training data.

    See Also
    --------
    PhikMatrixDifference : Converts the chi-square statistic into a correlation.
    TheilsUDifference : Compares both directions of each pair.
    ContingencySimilarity : Compares the joint fractions.

    Notes
    -----
    The value is ``mean_{i<j} |V_train(i, j) - V_synthetic(i, j)|``, where
    ``V = sqrt(chi2 / (n min(r - 1, k - 1)))``. Yates' correction is not used, but the bias
    correction of Bergsma is. Both tables use the bins of the training data, and categories after
    the 50 most frequent are pooled. A pair with a constant column in the training data has no V and
    is skipped with a warning. If a column is constant in the synthetic data only, its V is 0, with
    a warning. V does not indicate which categories are associated. This may have changed although
    the value is 0, so use the metric together with :class:`ContingencySimilarity`.

    References
    ----------
    H. Cramer, "Mathematical Methods of Statistics" (1946). W. Bergsma, "A bias-correction for
    Cramer's V and Tschuprow's T", Journal of the Korean Statistical Society 42 (2013),
    doi:10.1016/j.jkss.2012.10.002.

    Examples
    --------
    >>> from skeval.datasets import make_mixed
    >>> from skeval.fidelity import CramersVDifference
    >>> table = make_mixed()
    >>> CramersVDifference().fit(table).score(table)
    0.0
    """

    bias_correction: bool = True

    def _associations(self, context: Context, role: str, names: tuple[str, ...]) -> np.ndarray:
        measure = (self._binning, self.bias_correction, self.nan)
        return cramers_v_matrix(context, role, names, *measure)

    def _summary(self, result: Result) -> str:
        return (
            f"The association of columns (Cramer's V) changes by {number(result.value)} on average "
            f"over {result.details['n_used']:,} pairs, on a scale from 0 to 1."
            f"{calibration_sentence(result)}"
        )


@declared
class TheilsUDifference(BinnedAssociation):
    """Mean absolute difference between the Theil's U of the real and synthetic data.

    Theil's U measures how well one column predicts another. It depends on the direction. For
    example, a postcode determines the town, but the town does not determine the postcode. The value
    is the mean over both directions of all pairs. It ranges from 0 (equal associations) to 1 (all
    associations are lost or invented). Lower is better.

    Warnings
    --------
    The measure is biased upwards if there are many categories and few rows, and it compares the
    strength of associations, not their form. Compare the value with the baseline.

    See Also
    --------
    CramersVDifference : Symmetric, computed from the chi-square statistic.
    MutualInformationDifference : Symmetric and corrected for chance.

    Notes
    -----
    The value is ``mean_{i != j} |U_train(i given j) - U_synthetic(i given j)|``, where
    ``U(X given Y) = (H(X) - H(X given Y)) / H(X)`` is the fraction of the entropy of X that Y
    explains. The matrices in the details have X in the rows and Y in the columns, and
    ``details["worst"]["columns"]`` lists X first. Both tables use the bins of the training data,
    and categories after the 50 most frequent are pooled. If X is constant in the training data, U
    is not defined and the pair is skipped with a warning. If X is constant in the synthetic data
    only, U is 0, with a warning. U is biased upwards if there are many cells and few rows, and the
    bias depends on the size of the table. The baseline has the bias of the holdout data.

    References
    ----------
    H. Theil, "On the estimation of relationships involving qualitative variables", American Journal
    of Sociology 76 (1970), doi:10.1086/224909.

    Examples
    --------
    >>> from skeval.datasets import make_mixed
    >>> from skeval.fidelity import TheilsUDifference
    >>> table = make_mixed()
    >>> TheilsUDifference().fit(table).score(table)
    0.0
    """

    _halved = "root"  # for weak associations it grows like the square of other measures

    def _associations(self, context: Context, role: str, names: tuple[str, ...]) -> np.ndarray:
        return theils_u_matrix(context, role, names, self._binning, self.nan)

    def _pair_mask(self, context: Context, names: tuple[str, ...]) -> np.ndarray:
        return ~np.eye(len(names), dtype=bool)

    def _summary(self, result: Result) -> str:
        return (
            "The fraction of the entropy of a column that another column explains changes by "
            f"{percent(result.value)} on average over {result.details['n_used']:,} ordered pairs."
            f"{calibration_sentence(result)}"
        )


@declared
class MutualInformationDifference(BinnedAssociation):
    """Mean absolute difference between the mutual information of real and synthetic pairs.

    Mutual information detects any dependence between two columns, linear or not, for numbers and
    for categories. The value is the mean over the pairs. It ranges from 0 (equal dependence) to 1
    (all dependence is lost or invented). Lower is better.

    Parameters
    ----------
    normalized : {"arithmetic", "geometric", "min", "max"}, default="arithmetic"
        Mean of the entropies of the two columns by which the information is divided.
    correction : {"miller-madow", "exact"} or None, default="miller-madow"
        Estimate of the information expected by chance that is subtracted. "miller-madow" subtracts
        its leading term, "exact" its exact mean (slow for many rows), and None nothing.

    Warnings
    --------
    The measure has no sign and no form. It can be equal in both tables although a dependence has
    changed its direction.

    See Also
    --------
    TheilsUDifference : Both directions of each pair, not corrected.
    CramersVDifference : Computed from the chi-square statistic.

    Notes
    -----
    The value is ``mean_{i<j} |a_train(i, j) - a_synthetic(i, j)|``, where
    ``a = max(0, I - E) / (mean(H_i, H_j) - E)``, I is the mutual information, H are the entropies,
    and E is the information expected by chance for independent columns. With
    ``correction="exact"``, E is the mean over all permutations and a is the adjusted mutual
    information. With "miller-madow", E is its leading term ``(r - 1)(k - 1) / (2 n)`` for r and k
    used categories in n rows. With None, E is 0 and a is the normalized mutual information, which
    grows with the number of cells per row. Both tables use the bins of the training data, and
    categories after the 50 most frequent are pooled. A pair with a constant column in the training
    data has no such measure and is skipped with a warning. If a column is constant in the synthetic
    data only, the association is 0, with a warning. The measure has no sign.

    References
    ----------
    G. A. Miller, "Note on the bias of information estimates", in H. Quastler (ed.), "Information
    Theory in Psychology" (1955). N. X. Vinh, J. Epps, J. Bailey, "Information theoretic measures
    for clusterings comparison", Journal of Machine Learning Research 11 (2010).

    Examples
    --------
    >>> from skeval.datasets import make_mixed
    >>> from skeval.fidelity import MutualInformationDifference
    >>> table = make_mixed()
    >>> MutualInformationDifference().fit(table).score(table)
    0.0
    """

    _halved = "root"  # for weak associations it grows like the square of other measures

    normalized: Literal["arithmetic", "geometric", "min", "max"] = "arithmetic"
    correction: Literal["miller-madow", "exact"] | None = "miller-madow"

    def _associations(self, context: Context, role: str, names: tuple[str, ...]) -> np.ndarray:
        measure = (self._binning, self.normalized, self.correction, self.nan)
        return mutual_information_matrix(context, role, names, *measure)

    def _summary(self, result: Result) -> str:
        return (
            "The information that columns share, corrected for chance, changes by "
            f"{percent(result.value)} of their entropy on average over "
            f"{result.details['n_used']:,} pairs.{calibration_sentence(result)}"
        )


@declared
class CorrelationRatioDifference(AssociationDifference):
    """Mean absolute difference between the correlation ratios of the real and synthetic data.

    The correlation ratio eta measures how strongly a categorical column separates the values of a
    numerical column, for example incomes by occupation. The value is the mean over all pairs of a
    categorical and a numerical or datetime column. It ranges from 0 (equal ratios) to 1 (all
    associations are lost or invented). Lower is better.

    Warnings
    --------
    Eta does not show which category has the higher mean, and a single outlier can make it small.

    See Also
    --------
    CorrelationSimilarity : Pairs of numerical columns.
    CramersVDifference : Pairs of categorical columns.
    MixedAssociationDifference : All three types of pairs in one matrix.

    Notes
    -----
    The value is ``mean |eta_train - eta_synthetic|`` over all pairs, where
    ``eta = sqrt(SSB / SST)`` is the square root of the fraction of the sum of squared deviations
    that the group means explain. Missing categories form a separate group, and categories after the
    50 most frequent are pooled. Rows with a missing number are ignored. A pair with a constant
    column in the training data has no eta and is skipped with a warning. If a column is constant in
    the synthetic data only, eta is 0, with a warning. Eta is biased upwards if there are many
    categories and few rows. The baseline has the bias of the holdout data.

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

    _leaves_out_infinite = True

    def _compute(self, context: Context) -> Result:
        nominal = _are(context, self._names(context), NOMINAL)
        if nominal.all() or not nominal.any():
            return undefined_result(
                "the table must have at least one categorical and one numerical column."
            )
        return super()._compute(context)

    def _associations(self, context: Context, role: str, names: tuple[str, ...]) -> np.ndarray:
        return correlation_ratio_matrix(context, role, names, Binning())

    def _pair_mask(self, context: Context, names: tuple[str, ...]) -> np.ndarray:
        nominal = _are(context, names, NOMINAL)
        return np.triu(nominal[:, None] != nominal, 1)

    def _summary(self, result: Result) -> str:
        return (
            f"The correlation ratio (eta) of categories and numbers changes by "
            f"{number(result.value)} on average over {result.details['n_used']:,} pairs."
            f"{calibration_sentence(result)}"
        )


def _are(context: Context, names: tuple[str, ...], kinds: tuple[str, ...]) -> np.ndarray:
    return np.array([context.schema.kinds[name] in kinds for name in names], dtype=bool)


@declared
class MixedAssociationDifference(AssociationDifference):
    """Mean difference between the associations of real and synthetic columns of any type.

    For each pair of columns, the metric uses a suitable measure. These are the correlation of two
    numerical columns, Cramer's V of two categorical columns, and the correlation ratio of a
    categorical and a numerical column. It compares the matrices of both tables. The value is 0 for
    equal matrices. Lower is better.

    Parameters
    ----------
    num : {"pearson", "spearman", "kendall"}, default="pearson"
        Correlation of two numerical or datetime columns.
    cat : {"cramers_v", "theils_u"}, default="cramers_v"
        Association of two categorical columns, which is Cramer's V with bias correction, or Theil's
        U in both directions.
    mixed : {"eta", "cramers_v"}, default="eta"
        Association of a categorical and a numerical column, which is the correlation ratio, or
        Cramer's V with the numbers in bins.
    norm : {"mean_abs", "fro"}, default="mean_abs"
        Mean absolute difference, or Frobenius norm of the difference between the matrices. The norm
        grows with the number of columns.
    signed : bool, default=True
        Whether a change in the sign of a correlation counts. If False, absolute values are
        compared.
    n_bins : int, default=10
        Number of bins of numerical columns for ``mixed="cramers_v"``.

    Warnings
    --------
    The mean combines measures that are on different scales, and it compares the strength of
    associations, not their form.

    See Also
    --------
    CorrelationSimilarity : Pairs of numerical columns.
    CramersVDifference : Pairs of categorical columns.
    CorrelationRatioDifference : Pairs of a categorical and a numerical column.

    Notes
    -----
    The value is ``mean_{i<j} |a_train(i, j) - a_synthetic(i, j)|``. The difference of two signed
    correlations, which may be 2, is divided by 2. With ``norm="fro"``, the value is the square root
    of the summed squares over the whole matrix. Differences are not divided by 2 then, as in the
    published norm of correlations. Because of this norm, the tag `bounds` has no upper bound. Bins,
    missing values and constant columns are treated as in :class:`CorrelationSimilarity`,
    :class:`CramersVDifference` and :class:`CorrelationRatioDifference`. The measures of different
    types of pairs are not on the same scale. For example, an eta of 0.3 is not as strong as a V of
    0.3.

    References
    ----------
    Formula of this project.

    Examples
    --------
    >>> from skeval.datasets import make_mixed
    >>> from skeval.fidelity import MixedAssociationDifference
    >>> table = make_mixed()
    >>> MixedAssociationDifference().fit(table).score(table)
    0.0
    """

    tags = replace(AssociationDifference.tags, display="ValueDisplay", bounds=(0.0, float("inf")))
    _leaves_out_infinite = True

    num: Literal["pearson", "spearman", "kendall"] = "pearson"
    cat: Literal["cramers_v", "theils_u"] = "cramers_v"
    mixed: Literal["eta", "cramers_v"] = "eta"
    norm: Literal["mean_abs", "fro"] = "mean_abs"
    _: KW_ONLY
    signed: bool = True
    n_bins: BinCount = 10

    def _associations(self, context: Context, role: str, names: tuple[str, ...]) -> np.ndarray:
        binning = Binning(self.n_bins)
        matrix = correlation_ratio_matrix(context, role, names, binning).copy()
        numeric, nominal = (np.flatnonzero(_are(context, names, k)) for k in (NUMERIC, NOMINAL))
        if self.mixed == "cramers_v" and numeric.size and nominal.size:
            in_cells = cramers_v_matrix(context, role, names, binning)
            for block in (np.ix_(numeric, nominal), np.ix_(nominal, numeric)):
                matrix[block] = in_cells[block]
        if numeric.size:
            of_numbers = tuple(names[i] for i in numeric)
            values = correlations(context, role, of_numbers, self.num).coefficients
            matrix[np.ix_(numeric, numeric)] = values if self.signed else np.abs(values)
        if nominal.size > 1:
            step = cramers_v_matrix if self.cat == "cramers_v" else theils_u_matrix
            block = np.ix_(nominal, nominal)
            matrix[block] = step(context, role, names, binning)[block]
        return matrix

    def _pair_mask(self, context: Context, names: tuple[str, ...]) -> np.ndarray:
        apart = ~np.eye(len(names), dtype=bool)
        return apart if self.cat == "theils_u" else np.triu(apart)

    def _gaps(self, context: Context, names: tuple[str, ...], change: np.ndarray) -> np.ndarray:
        if not self.signed or self.norm == "fro":
            return np.abs(change)
        numeric = _are(context, names, NUMERIC)  # two correlations may differ by 2
        return np.abs(change) * np.where(numeric[:, None] & numeric, 0.5, 1.0)

    def _compute(self, context: Context) -> Result:
        result = super()._compute(context)
        details = dict(result.details)
        if self.norm == "fro":  # a similarity requires an upper bound
            details.pop("similarity", None)
        return replace(result, details=details)

    def _reduce_gaps(self, gaps: np.ndarray) -> float:
        if self.norm == "mean_abs":
            return super()._reduce_gaps(gaps)
        # the norm includes the whole matrix, and the lower triangle equals the upper one
        return float(np.sqrt(np.nansum(np.where(np.isnan(gaps), gaps.T, gaps) ** 2)))

    def _summary(self, result: Result) -> str:
        return (
            f"The association of {result.details['n_used']:,} pairs, each with a suitable measure, "
            f"changes by {number(result.value)}.{calibration_sentence(result)}"
        )

    def _noise(self, inverse_size: float, n_used: int) -> float:
        # the norm is a root of a sum over both triangles, with differences up to 2
        factor = np.sqrt(8.0 * n_used) if self.norm == "fro" else 1.0
        return float(factor * super()._noise(inverse_size, n_used))
