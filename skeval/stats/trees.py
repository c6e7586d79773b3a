"""Trees of dependence between categories: learnt from counts, and the likelihood of rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.sparse.csgraph import breadth_first_order, minimum_spanning_tree

__all__ = ["DependenceTree", "mutual_information"]

_DENSE = 2**22  # joint cells that are counted in an array


@dataclass(frozen=True)
class _Counts:
    """Counts of the pairs of cells of two columns; only those that occur."""

    keys: np.ndarray
    counts: np.ndarray
    n_second: int

    @classmethod
    def of(cls, first: np.ndarray, second: np.ndarray, n_first: int, n_second: int) -> _Counts:
        key = first.astype(np.int64) * n_second + second
        if n_first * n_second > max(_DENSE, key.size):
            return cls(*np.unique(key, return_counts=True), n_second)
        every = np.bincount(key, minlength=n_first * n_second)
        used = np.flatnonzero(every)
        return cls(used, every[used], n_second)

    def at(self, first: np.ndarray, second: np.ndarray) -> np.ndarray:
        """Return the count of each pair."""
        key = first.astype(np.int64) * self.n_second + second
        place = np.minimum(np.searchsorted(self.keys, key), self.keys.size - 1)
        return np.where(self.keys[place] == key, self.counts[place], 0)


def mutual_information(first: np.ndarray, second: np.ndarray) -> float:
    """Return the plug-in mutual information of two columns of cells, in nats.

    0 means independent in the sample; the entropy of a column, that the other determines it.

    Parameters
    ----------
    first, second : ndarray of shape (n_rows,)
        Cells, 0, 1, 2, ...

    Returns
    -------
    float
        Not negative.

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.stats.trees import mutual_information
    >>> a, b = np.array([0, 0, 0, 0, 1, 1, 1, 1]), np.array([0, 0, 0, 1, 1, 1, 1, 0])
    >>> round(mutual_information(a, b), 6)
    0.130812
    """
    n_first, n_second = int(first.max()) + 1, int(second.max()) + 1
    both = _Counts.of(first, second, n_first, n_second)
    x, y = (np.bincount(cells)[at] for cells, at in zip(
        (first, second), np.divmod(both.keys, n_second), strict=True
    ))  # fmt: skip
    n, counts = first.size, both.counts
    logs = np.log(counts) + np.log(n) - np.log(x) - np.log(y)
    return max(0.0, float((counts * logs).sum() / n))


class DependenceTree:
    """The tree of pairwise dependence that is nearest to the rows' distribution (Chow and Liu).

    Parameters
    ----------
    columns : sequence of ndarray of shape (n_rows,)
        The cells of each column.
    n_cells : sequence of int
        The number of cells of each column, those that do not occur included.
    smoothing : float, default=1.0
        Added to the count of each cell.

    Attributes
    ----------
    parents : list of int
        The position of each column's parent; -1 for the root, the first column.

    Notes
    -----
    The edges are those of the spanning tree with the most mutual information in sum. A row has
    the probability ``prod_v (count(u, v) + s) / (count(u) + s K_v)``, u being the value of v's
    parent and K_v the number of cells of v that occur. A cell that does not occur has count 0: it
    is one cell beyond these, however many values fall into it.

    References
    ----------
    C. K. Chow, C. N. Liu, "Approximating discrete probability distributions with dependence trees",
    IEEE Transactions on Information Theory 14 (1968), doi:10.1109/TIT.1968.1054142.

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.stats.trees import DependenceTree
    >>> columns = [np.array([0, 0, 1, 1]), np.array([0, 0, 1, 1])]
    >>> tree = DependenceTree(columns, (2, 2), smoothing=0.0)
    >>> np.exp(tree.log_probability([np.array([0, 0]), np.array([0, 1])])).tolist()
    [0.5, 0.0]
    """

    def __init__(
        self, columns: Sequence[np.ndarray], n_cells: Sequence[int], smoothing: float = 1.0
    ) -> None:
        self.smoothing = smoothing
        self.parents = _parents(columns)
        self.n_rows = columns[0].size
        self._single = [np.bincount(c, minlength=k) for c, k in zip(columns, n_cells, strict=True)]
        self._pairs = {
            v: _Counts.of(columns[u], columns[v], n_cells[u], n_cells[v])
            for v, u in enumerate(self.parents)
            if u >= 0
        }

    def log_probability(self, columns: Sequence[np.ndarray]) -> np.ndarray:
        """Return the logarithm of each row's probability; minus infinity where it is 0."""
        total = np.zeros(columns[0].size)
        for v, u in enumerate(self.parents):
            n_used = np.count_nonzero(self._single[v])
            if u < 0:
                count, given = self._single[v][columns[v]], np.asarray(self.n_rows)
            else:
                count = self._pairs[v].at(columns[u], columns[v])
                given = self._single[u][columns[u]]
            share = np.zeros(total.size)
            possible = given + self.smoothing * n_used
            np.divide(count + self.smoothing, possible, out=share, where=possible > 0)
            with np.errstate(divide="ignore"):
                total += np.log(share)
        return total


def _parents(columns: Sequence[np.ndarray]) -> list[int]:
    """Return the position of each column's parent in the tree that starts at the first."""
    d = len(columns)
    if d == 1:
        return [-1]
    information = np.zeros((d, d))
    for i in range(d):
        for j in range(i + 1, d):
            information[i, j] = mutual_information(columns[i], columns[j])
    # an edge of weight 0 would count as absent
    weights = np.triu(1.0 + information.max() - information, 1)
    tree = minimum_spanning_tree(weights)
    _, found = breadth_first_order(tree, 0, directed=False)
    return [int(parent) if parent >= 0 else -1 for parent in found]
