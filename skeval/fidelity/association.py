"""Pairs of columns: is their association carried over."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np

from skeval._aggregate import undefined
from skeval._pairs import ColumnCodes
from skeval._parameters import Columns, Interval, Options
from skeval.base import Metric
from skeval.context import Context, shared
from skeval.exceptions import ConstantColumnWarning
from skeval.result import Result
from skeval.stats.phik import phik, phik_of_package
from skeval.steps import cells, chosen_columns
from skeval.tags import MetricTags

__all__ = ["PhikMatrixDifference"]

_BINNING = ("uniform", 50)


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
        settings = (names, self.n_bins, self.noise_correction, self.backend)
        train, synthetic = (
            phik_matrix(context, role, *settings) for role in ("train", "synthetic")
        )
        # a pair that the synthetic table made constant has lost its association
        kept = np.where(np.isnan(synthetic) & ~np.isnan(train), 0.0, synthetic)
        difference = train - kept
        above = np.triu_indices(len(names), 1)
        gaps = np.abs(difference[above])
        matrices: dict[str, Any] = {"train": train, "synthetic": kept, "difference": difference}
        if np.isnan(gaps).all():
            return undefined("fewer than two columns vary in train.", names=list(names), **matrices)
        constant = [names[i] for i in np.flatnonzero(np.isnan(np.diag(train)))]
        worst = int(np.nanargmax(gaps))
        return Result(
            float(np.nanmean(gaps) if self.reduce == "mean_abs" else np.nanmax(gaps)),
            details={
                "names": list(names),
                **matrices,
                "worst": {
                    "columns": [names[above[0][worst]], names[above[1][worst]]],
                    "value": gaps[worst],
                },
                "n_used": int((~np.isnan(gaps)).sum()),
                "n_total": gaps.size,
            },
            warnings=(_constant(constant),) if constant else (),
        )


def _constant(names: list[str]) -> ConstantColumnWarning:
    return ConstantColumnWarning(
        f"train has one value only in {', '.join(names)}: no association is defined."
    )


@shared
def phik_matrix(
    context: Context,
    role: str,
    names: tuple[str, ...],
    n_bins: int,
    noise_correction: bool,
    backend: str,
) -> np.ndarray:
    """Return the phi_k coefficients of a role's rows, nan where a column does not vary."""
    measure = phik if backend == "fast" else phik_of_package
    if not names:  # nothing to cut into cells
        return np.empty((0, 0))
    counted = ColumnCodes.of(context, role, names, n_bins, *_BINNING)
    cut = cells(context, n_bins, *_BINNING).cells_
    missing = [cut[name].n_own + 1 for name in names]
    matrix = np.full((len(names), len(names)), np.nan)
    for i, cell in enumerate(missing):
        if (np.delete(counted.joint(i, i), cell) > 0).sum() > 1:
            matrix[i, i] = 1.0
    for i, j in combinations(range(len(names)), 2):
        present = np.delete(counted.joint(i, j), missing[i], axis=0)
        present = np.delete(present, missing[j], axis=1)
        matrix[i, j] = matrix[j, i] = measure(present, noise_correction=noise_correction)
    return matrix
