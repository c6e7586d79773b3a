"""Values cut into cells: bins of numbers, levels of categories."""

from __future__ import annotations

import numpy as np

from skeval.context import Context, shared
from skeval.preprocessing import Discretizer

__all__ = ["cells", "codes", "histogram"]


@shared
def cells(
    context: Context,
    n_bins: int = 10,
    strategy: str = "uniform",
    max_categories: int | None = 50,
) -> Discretizer:
    """Return the fitted cells of all measured columns, learnt from train."""
    cutter = Discretizer(n_bins, strategy=strategy, max_categories=max_categories)
    return cutter.fit(context.train[context.schema.measured])


@shared
def codes(
    context: Context, role: str, n_bins: int, strategy: str, max_categories: int | None
) -> np.ndarray:
    """Return the cell of each value of the measured columns, shape (n_rows, n_columns)."""
    cutter = cells(context, n_bins, strategy, max_categories)
    return cutter.transform(context[role][context.schema.measured])


@shared
def histogram(
    context: Context,
    role: str,
    column: str,
    n_bins: int = 10,
    strategy: str = "uniform",
    max_categories: int | None = 50,
) -> np.ndarray:
    """Return the counts of one column's cells."""
    j = context.schema.measured.index(column)
    found = codes(context, role, n_bins, strategy, max_categories)[:, j]
    n_cells = cells(context, n_bins, strategy, max_categories).n_cells_[j]
    return np.bincount(found, minlength=n_cells)
