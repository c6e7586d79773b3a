"""Pairs of columns: is the strength of their association carried over."""

from __future__ import annotations

import numpy as np

from skeval._pairs import Binning, cramers_v_matrix, joint_tables
from skeval._parameters import Columns, Interval, Options
from skeval.base import Metric
from skeval.context import Context, shared
from skeval.fidelity.differences import (
    OF_TABLES,
    binned_columns,
    difference,
    kept,
    table_difference,
    varying,
)
from skeval.fidelity.floor import PairMetric
from skeval.result import Result
from skeval.stats.phik import phik, phik_of_package
from skeval.steps import chosen_columns
from skeval.tags import MetricTags

__all__ = ["CramersVDifference", "PhikMatrixDifference"]


class PhikMatrixDifference(Metric):
    """Change of the association of columns: 0 where all pairs keep it, 1 where all lose or gain it.

    An analyst draws the correlation matrix of the real and of the synthetic table, with a
    coefficient that works for numbers, dates and categories alike, and asks how far the two
    differ.

    Parameters
    ----------
    n_bins : int, default=10
        Number of bins of numeric and date columns, of equal width over train.
    noise_correction : bool, default=True
        Whether chi-square below its mean under independence counts as no association.
    backend : {"fast", "phik"}, default="fast"
        Our tabulated inversion, or the phik package itself on the same bins: equal to 1e-5, slower.
    reduce : {"mean_abs", "max_abs"}, default="mean_abs"
        The mean or the greatest absolute difference over the pairs.
    columns : None, int or list of str, default=None
        The columns to measure: all, the first so many, or these.

    Attributes
    ----------
    context_ : Context
        The real tables.

    Notes
    -----
    ``mean_{i<j} |phi_train(i, j) - phi_synthetic(i, j)|`` of the phi_k coefficient: the
    correlation of a bivariate normal distribution with the same chi-square on the same bins. Both
    tables are cut on the bins of train; rows with a missing value are left out pair by pair. A
    pair that is constant in train has no coefficient and is left out, with a warning; one that is
    constant in the synthetic table only counts as unassociated. The coefficient has no sign: a
    flipped correlation is invisible to it. No interval is given: the differences are absolute
    values near 0, where resampling them is misleading; compare with the baseline.

    References
    ----------
    M. Baak et al., "A new correlation coefficient between categorical, ordinal and interval
    variables with Pearson characteristics", Computational Statistics & Data Analysis 152 (2020),
    doi:10.1016/j.csda.2020.107043.

    Examples
    --------
    >>> from skeval.datasets import make_mixed
    >>> from skeval.fidelity import PhikMatrixDifference
    >>> table = make_mixed()
    >>> PhikMatrixDifference().fit(table).score(table)
    0.0
    """

    tags = MetricTags(
        "fidelity", greater_is_better=False, bounds=(0.0, 1.0), display="PhikMatricesDisplay"
    )
    _legal = {
        "n_bins": Interval(int, 2, None),
        "noise_correction": Options((True, False)),
        "backend": Options(("fast", "phik")),
        "reduce": Options(("mean_abs", "max_abs")),
        "columns": Columns(),
    }

    def __init__(
        self,
        n_bins: int = 10,
        noise_correction: bool = True,
        backend: str = "fast",
        reduce: str = "mean_abs",
        columns: int | list[str] | None = None,
    ) -> None:
        self.n_bins = n_bins
        self.noise_correction = noise_correction
        self.backend = backend
        self.reduce = reduce
        self.columns = columns

    def _compute(self, context: Context) -> Result:
        names = chosen_columns(context.schema, self.columns)
        settings = (names, Binning(self.n_bins), self.noise_correction, self.backend)
        train, synthetic = (
            phik_matrix(context, role, *settings) for role in ("train", "synthetic")
        )
        varies = ~np.isnan(np.diag(train))
        return difference(
            names,
            train,
            kept(train, synthetic),
            varies=(varies, varies),
            n_rows=context.n_rows("synthetic"),
            reduce=self.reduce,
        )


@shared
def phik_matrix(
    context: Context,
    role: str,
    names: tuple[str, ...],
    binning: Binning,
    noise_correction: bool,
    backend: str,
) -> np.ndarray:
    """Return the phi_k coefficients of a role's rows, nan where a column does not vary."""
    measure = phik if backend == "fast" else phik_of_package
    matrix = np.full((len(names), len(names)), np.nan)
    if not names:  # nothing to cut into cells
        return matrix
    tables = joint_tables(context, role, names, binning)
    np.fill_diagonal(matrix, np.where(varying(tables, "drop"), 1.0, np.nan))
    for i, j, table in tables.pairs("drop"):
        matrix[i, j] = matrix[j, i] = measure(table, noise_correction=noise_correction)
    return matrix


class CramersVDifference(PairMetric):
    """Change of Cramer's V of columns: 0 where all pairs keep it, 1 where all lose or gain it.

    An analyst asks which categories go together in the real table, how strongly, and whether they
    still do in the synthetic one.

    Parameters
    ----------
    bias_correction : bool, default=True
        Whether to take off what independent columns have by chance, which lets tables of different
        numbers of rows be compared.
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
    ``mean_{i<j} |V_train(i, j) - V_synthetic(i, j)|``, with
    ``V = sqrt(chi2 / (n min(r - 1, k - 1)))``, without Yates' correction, and with Bergsma's
    against bias. Both tables are cut on the bins of train; categories beyond the 50 most frequent
    are pooled. A pair that is constant in train has no V and is left out, with a warning; one that
    is constant in the synthetic table only counts as unassociated, with a warning. V has no sign
    and names no category: which goes with which may have changed while the value is 0, so read it
    beside :class:`ContingencySimilarity`. No interval is given: the differences are absolute values
    near 0, where resampling them is misleading; compare with the baseline.

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

    tags = MetricTags(
        "fidelity", greater_is_better=False, bounds=(0.0, 1.0), display="PhikMatricesDisplay"
    )
    _legal = {"bias_correction": Options((True, False)), **OF_TABLES}

    def __init__(
        self,
        bias_correction: bool = True,
        *,
        n_bins: int | None = 10,
        nan: str = "own",
        floor: bool = True,
        columns: int | list[str] | None = None,
    ) -> None:
        self.bias_correction = bias_correction
        self.n_bins = n_bins
        self.nan = nan
        self.floor = floor
        self.columns = columns

    def _compute(self, context: Context) -> Result:
        names = binned_columns(context, self.n_bins, self.columns)
        settings = {"bias_correction": self.bias_correction}
        return table_difference(context, cramers_v_matrix, names, self.n_bins, self.nan, settings)
