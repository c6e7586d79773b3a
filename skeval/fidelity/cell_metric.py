"""Base class of metrics that compare the distributions of columns in bins."""

from __future__ import annotations

from dataclasses import KW_ONLY, replace

import numpy as np

from skeval.core.base import Metric
from skeval.core.context import Context
from skeval.core.declared import declared
from skeval.core.tags import COLUMN_TAGS
from skeval.steps.column_choice import chosen_columns
from skeval.steps.columns import histogram
from skeval.utils.parameters import BinCount, Columns, Strategy


@declared
class CellMetric(Metric):
    """Base of the metrics that compare the fractions of rows in the bins of each column.

    Parameters
    ----------
    n_bins : int, default=10
        Number of bins of numerical and datetime columns.
    strategy : {"uniform", "quantile", "uniform-plain", "quantile-plain"}, default="uniform"
        Bins of equal width, or bins with equal fractions of the training rows. If a value occurs in
        at least a fraction of ``1 / n_bins`` of the training rows, it has a separate bin. The
        strategies that end with "-plain" have no such bins, see
        :class:`~skeval.tables.Discretizer`.
    columns : None, int or list of str, default=None
        Columns to use: all, the first *n*, or a list of names.
    """

    tags = replace(COLUMN_TAGS, greater_is_better=False)

    _: KW_ONLY
    n_bins: BinCount = 10
    strategy: Strategy = "uniform"
    columns: Columns = None

    def _counts(self, context: Context, role: str) -> dict[str, np.ndarray]:
        """Return the counts of the values of a role in the training bins of each column."""
        # each category has a separate bin, and so do missing and unseen values
        return {
            name: histogram(context, role, name, self.n_bins, self.strategy, None)
            for name in chosen_columns(context.schema, self.columns)
        }
