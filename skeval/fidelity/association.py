"""Pairs of columns: is the strength of their association carried over."""

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
    """Base of the associations of categories, which cut numbers and dates into bins.

    Parameters
    ----------
    n_bins : int or None, default=10
        Number of bins of numeric and date columns, of equal width over train, but for frequent
        values, see :class:`~skeval.tables.Discretizer`; None leaves these columns out.
    nan : {"own", "drop"}, default="own"
        Whether missing counts as a category, or leaves the row out pair by pair.
    """

    _: KW_ONLY
    n_bins: BinCount | None = 10
    nan: Literal["own", "drop"] = "own"

    @property
    def _binning(self) -> Binning:
        return Binning(self.n_bins or 10)

    def _names(self, context: Context) -> tuple[str, ...]:
        """Return the columns that are compared: without bins, the nominal ones only."""
        kinds = NOMINAL if self.n_bins is None else (*NOMINAL, *NUMERIC)
        return columns_of(context, self.columns, kinds)


@declared
class CramersVDifference(BinnedAssociation):
    """Change of Cramer's V of columns: 0 where all pairs keep it, 1 where all lose or gain it.

    An analyst asks which categories go together in the real table, how strongly, and whether they
    still do in the synthetic one.

    Parameters
    ----------
    bias_correction : bool, default=True
        Whether to take off what independent columns have by chance, which lets tables of different
        numbers of rows be compared.

    See Also
    --------
    PhikMatrixDifference : The same chi-square, as a correlation.
    TheilsUDifference : Both directions of each pair.
    ContingencySimilarity : The joint shares themselves.

    Notes
    -----
    ``mean_{i<j} |V_train(i, j) - V_synthetic(i, j)|``, with
    ``V = sqrt(chi2 / (n min(r - 1, k - 1)))``, without Yates' correction, and with Bergsma's
    against bias. Both tables are cut on the bins of train; categories beyond the 50 most frequent
    are pooled. A pair that is constant in train has no V and is left out, with a warning; one that
    is constant in the synthetic table only counts as unassociated, with a warning. V has no sign
    and names no category: which goes with which may have changed while the value is 0, so read it
    with :class:`ContingencySimilarity`.

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
            f"How strongly columns go together (Cramer's V) changes by {number(result.value)} on "
            f"average over {result.details['n_used']:,} pairs, on a scale from 0 to 1."
            f"{calibration_sentence(result)}"
        )


@declared
class TheilsUDifference(BinnedAssociation):
    """Change of what columns explain of each other: 0 where all is kept, 1 where all is changed.

    An analyst asks how well one column can be predicted from another, in this direction: a postcode
    determines the town, the town does not determine the postcode. Both directions of each pair are
    compared.

    See Also
    --------
    CramersVDifference : Symmetric, from chi-square.
    MutualInformationDifference : Symmetric, corrected for chance.

    Notes
    -----
    ``mean_{i != j} |U_train(i given j) - U_synthetic(i given j)|``, with
    ``U(X given Y) = (H(X) - H(X given Y)) / H(X)``, the share of X's entropy that Y takes away. The
    matrices of the details have X in the rows and Y in the columns, and
    ``details["worst"]["columns"]`` names X first. Both tables are cut on the bins of train;
    categories beyond the 50 most frequent are pooled. If X is constant in train, U is not defined
    and the pair is left out, with a warning; if it is constant in the synthetic table only, U
    counts as 0, with a warning. U is biased upwards where there are many cells for few rows, in
    tables of different sizes by different amounts: the baseline has the bias of fresh rows.

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

    _halved = "root"  # of weak associations it is about as the square of what others measure

    def _associations(self, context: Context, role: str, names: tuple[str, ...]) -> np.ndarray:
        return theils_u_matrix(context, role, names, self._binning, self.nan)

    def _pair_mask(self, context: Context, names: tuple[str, ...]) -> np.ndarray:
        return ~np.eye(len(names), dtype=bool)

    def _summary(self, result: Result) -> str:
        return (
            "The share of a column's uncertainty that another takes away changes by "
            f"{percent(result.value)} on average over {result.details['n_used']:,} ordered pairs."
            f"{calibration_sentence(result)}"
        )


@declared
class MutualInformationDifference(BinnedAssociation):
    """Change of the information that columns share: 0 where all pairs keep it, 1 where none does.

    An analyst asks which columns depend on each other in any way, curved or not, of numbers or of
    categories, and whether they still do in the synthetic table.

    Parameters
    ----------
    normalized : {"arithmetic", "geometric", "min", "max"}, default="arithmetic"
        The average of the two columns' entropies that counts as 1.
    correction : {"miller-madow", "exact"} or None, default="miller-madow"
        What is taken off as chance: its leading term, its exact mean (slow for many rows), or
        nothing.

    See Also
    --------
    TheilsUDifference : Both directions of each pair, not corrected.
    CramersVDifference : From chi-square.

    Notes
    -----
    ``mean_{i<j} |a_train(i, j) - a_synthetic(i, j)|``, with
    ``a = max(0, I - E) / (mean(H_i, H_j) - E)``: I the mutual information, H the entropies, E what
    independent columns share by chance. With ``correction="exact"``, E is the mean over all
    relabellings and a the adjusted mutual information; "miller-madow" takes the leading term of E,
    ``(r - 1)(k - 1) / (2 n)`` for r and k used levels in n rows; None takes 0, the normalised
    mutual information, which grows with the number of cells a row. Both tables are cut on the bins
    of train; categories beyond the 50 most frequent are pooled. A pair that is constant in train
    has no such measure and is left out, with a warning; one that is constant in the synthetic table
    only counts as unassociated, with a warning. It has no sign.

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

    _halved = "root"  # of weak associations it is about as the square of what others measure

    normalized: Literal["arithmetic", "geometric", "min", "max"] = "arithmetic"
    correction: Literal["miller-madow", "exact"] | None = "miller-madow"

    def _associations(self, context: Context, role: str, names: tuple[str, ...]) -> np.ndarray:
        measure = (self._binning, self.normalized, self.correction, self.nan)
        return mutual_information_matrix(context, role, names, *measure)

    def _summary(self, result: Result) -> str:
        return (
            "The information that columns share, beyond chance, changes by "
            f"{percent(result.value)} of their entropy on average over "
            f"{result.details['n_used']:,} pairs.{calibration_sentence(result)}"
        )


@declared
class CorrelationRatioDifference(AssociationDifference):
    """Change of how far categories separate numbers: 0 where it is kept, 1 where all is changed.

    An analyst asks how much of the spread of incomes lies between occupations rather than within
    them, for every category and every number, and whether the synthetic table has the same.

    Warnings
    --------
    Eta says nothing of which category has the higher mean, and one outlier can make it small.

    See Also
    --------
    CorrelationSimilarity : Pairs of numbers.
    CramersVDifference : Pairs of categories.
    MixedAssociationDifference : All three in one matrix.

    Notes
    -----
    ``mean |eta_train - eta_synthetic|`` over all pairs of a category and a number or date, with
    ``eta = sqrt(SSB / SST)``, the root of the share that the groups' means have in the sum of
    squared deviations. A missing category is a group of its own, categories beyond the 50 most
    frequent are pooled; rows whose number is missing are left out. A pair that is constant in train
    has no eta and is left out, with a warning; one that is constant in the synthetic table only
    counts as unassociated, with a warning. It is biased upwards where there are many categories for
    few rows; the baseline has the bias of fresh rows.

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
                "it takes a category and a number, and the table lacks one of them."
            )
        return super()._compute(context)

    def _associations(self, context: Context, role: str, names: tuple[str, ...]) -> np.ndarray:
        return correlation_ratio_matrix(context, role, names, Binning())

    def _pair_mask(self, context: Context, names: tuple[str, ...]) -> np.ndarray:
        nominal = _are(context, names, NOMINAL)
        return np.triu(nominal[:, None] != nominal, 1)

    def _summary(self, result: Result) -> str:
        return (
            f"How far categories separate numbers (eta) changes by {number(result.value)} on "
            f"average over {result.details['n_used']:,} pairs.{calibration_sentence(result)}"
        )


def _are(context: Context, names: tuple[str, ...], kinds: tuple[str, ...]) -> np.ndarray:
    return np.array([context.schema.kinds[name] in kinds for name in names], dtype=bool)


@declared
class MixedAssociationDifference(AssociationDifference):
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

    See Also
    --------
    CorrelationSimilarity : Pairs of numbers.
    CramersVDifference : Pairs of categories.
    CorrelationRatioDifference : Pairs of a category and a number.

    Notes
    -----
    ``mean_{i<j} |a_train(i, j) - a_synthetic(i, j)|``, where the difference of two signed
    correlations, which may be 2, counts half. With ``norm="fro"`` the value is the root of the
    summed squares over the whole matrix, without halving, as others publish it for correlations
    alone; the tag `bounds` knows no upper bound because of it. Bins, missing values and constant
    columns are treated as in :class:`CorrelationSimilarity`, :class:`CramersVDifference` and
    :class:`CorrelationRatioDifference`. The measures of different pairs are not on one scale: an
    eta of 0.3 is not as strong as a V of 0.3.

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
        numeric = _are(context, names, NUMERIC)  # the difference of two correlations may be 2
        return np.abs(change) * np.where(numeric[:, None] & numeric, 0.5, 1.0)

    def _compute(self, context: Context) -> Result:
        result = super()._compute(context)
        details = dict(result.details)
        if self.norm == "fro":  # which has no upper bound to be taken from
            details.pop("similarity", None)
        return replace(result, details=details)

    def _reduce_gaps(self, gaps: np.ndarray) -> float:
        if self.norm == "mean_abs":
            return super()._reduce_gaps(gaps)
        # of the whole matrix: where one triangle counts, the other is the same
        return float(np.sqrt(np.nansum(np.where(np.isnan(gaps), gaps.T, gaps) ** 2)))

    def _summary(self, result: Result) -> str:
        return (
            f"The association of {result.details['n_used']:,} pairs, each by its own measure, "
            f"changes by {number(result.value)}.{calibration_sentence(result)}"
        )

    def _noise(self, inverse_size: float, n_used: int) -> float:
        # the norm is no mean: the root of a sum over both triangles, of differences up to 2
        factor = np.sqrt(8.0 * n_used) if self.norm == "fro" else 1.0
        return float(factor * super()._noise(inverse_size, n_used))
