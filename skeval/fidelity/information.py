"""Pairs of columns: is what one column tells about the other carried over."""

from __future__ import annotations

import numpy as np

from skeval._pairs import mutual_information_matrix, theils_u_matrix
from skeval._parameters import Options
from skeval.context import Context
from skeval.fidelity.differences import OF_TABLES, binned_columns, table_difference
from skeval.fidelity.floor import PairMetric
from skeval.result import Result
from skeval.stats.association import AVERAGES
from skeval.tags import MetricTags

__all__ = ["MutualInformationDifference", "TheilsUDifference"]


class TheilsUDifference(PairMetric):
    """Change of what columns tell of each other: 0 where all of it is kept, 1 where all is changed.

    An analyst asks how well one column can be told from another, in this direction: a postcode
    tells the town, the town does not tell the postcode. Both directions of each pair are compared.

    Parameters
    ----------
    n_bins : int or None, default=10
        Number of bins of numeric and date columns, of equal width over train; None leaves these
        columns out.
    nan : {"own", "drop"}, default="own"
        Whether missing counts as a category, or leaves the row out pair by pair.
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
    ``mean_{i != j} |U_train(i given j) - U_synthetic(i given j)|``, with
    ``U(X given Y) = (H(X) - H(X given Y)) / H(X)``, the share of X's entropy that Y takes away. The
    matrices of the details have X in the rows and Y in the columns, and
    ``details["worst"]["columns"]`` names X first. Both tables are cut on the bins of train;
    categories beyond the 50 most frequent are pooled. Where X is constant in train, U is not
    defined and the pair is left out, with a warning; where it is constant in the synthetic table
    only, U counts as 0, with a warning. U is biased upwards where there are many cells for few
    rows, in tables of different sizes by different amounts: the baseline has the bias of fresh
    rows. No interval is given: the differences are absolute values near 0, where resampling them is
    misleading.

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

    tags = MetricTags(
        "fidelity", greater_is_better=False, bounds=(0.0, 1.0), display="PhikMatricesDisplay"
    )
    _legal = OF_TABLES

    def __init__(
        self,
        n_bins: int | None = 10,
        *,
        nan: str = "own",
        floor: bool = True,
        columns: int | list[str] | None = None,
    ) -> None:
        self.n_bins = n_bins
        self.nan = nan
        self.floor = floor
        self.columns = columns

    def _compute(self, context: Context) -> Result:
        names = binned_columns(context, self.n_bins, self.columns)
        both_ways = ~np.eye(len(names), dtype=bool)
        return table_difference(
            context, theils_u_matrix, names, self.n_bins, self.nan, {}, eligible=both_ways
        )


class MutualInformationDifference(PairMetric):
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
    n_bins : int or None, default=10
        Number of bins of numeric and date columns, of equal width over train; None leaves these
        columns out.
    nan : {"own", "drop"}, default="own"
        Whether missing counts as a category, or leaves the row out pair by pair.
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
    ``mean_{i<j} |a_train(i, j) - a_synthetic(i, j)|``, with
    ``a = max(0, I - E) / (mean(H_i, H_j) - E)``: I the mutual information, H the entropies, E what
    independent columns share by chance. With ``correction="exact"``, E is the mean over all
    relabellings and a the adjusted mutual information; "miller-madow" takes the leading term of E,
    ``(r - 1)(k - 1) / (2 n)`` for r and k used levels in n rows; None takes 0, the normalised
    mutual information, which grows with the number of cells a row. Both tables are cut on the bins
    of train; categories beyond the 50 most frequent are pooled. A pair that is constant in train
    has no such measure and is left out, with a warning; one that is constant in the synthetic table
    only counts as unassociated, with a warning. It has no sign. No interval is given: the
    differences are absolute values near 0, where resampling them is misleading; compare with the
    baseline.

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

    tags = MetricTags(
        "fidelity", greater_is_better=False, bounds=(0.0, 1.0), display="PhikMatricesDisplay"
    )
    _legal = {
        "normalized": Options(AVERAGES),
        "correction": Options(("miller-madow", "exact", None)),
        **OF_TABLES,
    }

    def __init__(
        self,
        normalized: str = "arithmetic",
        correction: str | None = "miller-madow",
        *,
        n_bins: int | None = 10,
        nan: str = "own",
        floor: bool = True,
        columns: int | list[str] | None = None,
    ) -> None:
        self.normalized = normalized
        self.correction = correction
        self.n_bins = n_bins
        self.nan = nan
        self.floor = floor
        self.columns = columns

    def _compute(self, context: Context) -> Result:
        names = binned_columns(context, self.n_bins, self.columns)
        settings = {"average": self.normalized, "correction": self.correction}
        return table_difference(
            context, mutual_information_matrix, names, self.n_bins, self.nan, settings
        )
