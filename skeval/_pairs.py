"""Joint counts of pairs of columns, and the steps that walk all pairs at once.

The counts are deliberately no shared step: remembering thousands of small tables costs more than
counting anew.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations, combinations_with_replacement
from typing import NamedTuple

import numpy as np

from skeval.context import Context, shared
from skeval.stats.association import cramers_v
from skeval.stats.distributions import (
    expected_total_variation,
    total_variation,
    total_variation_bias,
)
from skeval.steps import cells, codes

__all__ = ["ColumnCodes", "associations", "matrices"]


@dataclass(frozen=True)
class ColumnCodes:
    """The cells of a role's values, column by column.

    Parameters
    ----------
    codes : ndarray of shape (n_columns, n_rows)
        The cell of each value.
    n_cells : tuple of int
        The number of cells of each column.

    Examples
    --------
    >>> import numpy as np
    >>> from skeval._pairs import ColumnCodes
    >>> ColumnCodes(np.array([[0, 0, 1], [2, 2, 0]]), (2, 3)).joint(0, 1).tolist()
    [[0, 0, 2], [1, 0, 0]]
    """

    codes: np.ndarray
    n_cells: tuple[int, ...]

    @classmethod
    def of(
        cls,
        context: Context,
        role: str,
        names: tuple[str, ...],
        n_bins: int,
        strategy: str,
        max_categories: int | None,
    ) -> ColumnCodes:
        """Return the cells, learnt from train, of a role's values in the named columns."""
        binning = (n_bins, strategy, max_categories)
        at = [context.schema.measured.index(name) for name in names]
        n_cells = cells(context, *binning).n_cells_
        found = codes(context, role, *binning)[:, at]
        return cls(np.ascontiguousarray(found.T), tuple(int(n_cells[j]) for j in at))

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.codes.shape[1])

    def joint(self, i: int, j: int) -> np.ndarray:
        """Return the counts of the joint cells of two columns; of the cells of one if i is j."""
        if i == j:
            return np.bincount(self.codes[i], minlength=self.n_cells[i])
        shape = self.n_cells[i], self.n_cells[j]
        cell = self.codes[i].astype(np.int64) * shape[1] + self.codes[j]
        return np.bincount(cell, minlength=shape[0] * shape[1]).reshape(shape)


class Compared(NamedTuple):
    """What the comparison of all columns and pairs yields, each of shape (n_columns, n_columns)."""

    similarity: np.ndarray
    ceiling: np.ndarray
    bias: np.ndarray


@shared
def matrices(
    context: Context, names: tuple[str, ...], n_bins: int, strategy: str, max_categories: int
) -> Compared:
    """Return the similarity matrix, its ceiling and the bias of each cell's total variation."""
    train, synthetic = (
        ColumnCodes.of(context, role, names, n_bins, strategy, max_categories)
        for role in ("train", "synthetic")
    )
    found = np.empty((3, len(names), len(names)))
    for i, j in combinations_with_replacement(range(len(names)), 2):
        p, q = train.joint(i, j), synthetic.joint(i, j)
        found[:, i, j] = found[:, j, i] = (
            1.0 - total_variation(p, q),
            1.0 - expected_total_variation(p, q),
            total_variation_bias(p, q),
        )
    return Compared(*found)


@shared
def associations(
    context: Context, names: tuple[str, ...], n_bins: int, strategy: str, max_categories: int
) -> np.ndarray:
    """Return the bias-corrected Cramer's V of all pairs of columns of train, nan on the diagonal.

    Apart from `matrices`, because it does not depend on the synthetic table.
    """
    train = ColumnCodes.of(context, "train", names, n_bins, strategy, max_categories)
    found = np.full((len(names), len(names)), np.nan)
    for i, j in combinations(range(len(names)), 2):
        found[i, j] = found[j, i] = cramers_v(train.joint(i, j))
    return found
