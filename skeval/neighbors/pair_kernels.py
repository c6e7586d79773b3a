"""Compiled loop over the cells of pairs of columns."""

from __future__ import annotations

import numpy as np

from skeval.neighbors.machine_code import jit_without_refcounts


@jit_without_refcounts
def add_joint_counts(cells: np.ndarray, first: np.ndarray, i: int, counts: np.ndarray) -> None:
    """Add the rows to the counts of column i with all later columns, whose tables are adjacent.

    The cells of each column begin with the number `first` of the column.
    """
    n_rows, n_columns = cells.shape
    for row in range(n_rows):
        own = counts[cells[row, i] - first[i]]
        for j in range(i + 1, n_columns):
            own[cells[row, j] - first[i + 1]] += 1
