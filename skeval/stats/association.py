"""Strength of association in contingency tables, one or many of them side by side.

Sums over all pairs of rows of two samples, under many labels, block by block.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property

import numpy as np
from scipy.spatial.distance import cdist
from scipy.special import xlogy
from sklearn.metrics.cluster import expected_mutual_information

# how the entropies of the two columns are averaged to normalise their mutual information
AVERAGES = ("arithmetic", "geometric", "min", "max")


class SideBySide:
    """Contingency tables of one column with each of several others, and their association.

    Counting the pairs of one column with all others gives its tables side by side; thousands of
    pairs are measured without a loop over them.

    Parameters
    ----------
    tables : ndarray of shape (r, k)
        Counts; empty rows and columns do not matter.
    starts : sequence of int, default=(0,)
        The first column of each table.

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.stats.association import SideBySide
    >>> pair = SideBySide(np.array([[30, 10], [10, 30]]))
    >>> pair.cramers_v(bias_correction=False).item()
    0.5
    >>> round(pair.mutual_information.item(), 6)
    0.130812
    """

    def __init__(self, tables: np.ndarray, starts: Sequence[int] | np.ndarray = (0,)) -> None:
        self.tables = tables
        self.starts = np.asarray(starts)
        self.rows = np.add.reduceat(tables, self.starts, axis=1)  # sums by row and table
        self.columns = tables.sum(axis=0)
        self.n = self.rows.sum(axis=0).astype(np.float64)
        self.n_rows = (self.rows > 0).sum(axis=0)  # that a table uses
        self.n_columns = self._sums((self.columns > 0).astype(np.int64))
        self.vary = (self.n_rows > 1) & (self.n_columns > 1)

    def _sums(self, of_columns: np.ndarray) -> np.ndarray:
        """Return the sum over the columns of each table."""
        return np.asarray(np.add.reduceat(of_columns, self.starts))

    def chi_square(self, *, yates: bool = False) -> np.ndarray:
        """Return Pearson's chi-square of each table; by `yates` with his correction where 2 x 2.

        Examples
        --------
        >>> import numpy as np
        >>> from skeval.stats.association import SideBySide
        >>> pair = SideBySide(np.array([[30, 10], [10, 30]]))
        >>> pair.chi_square().item(), pair.chi_square(yates=True).item()
        (20.0, 18.05)
        """
        table = np.repeat(
            np.arange(self.starts.size), np.diff(self.starts, append=self.columns.size)
        )
        with np.errstate(divide="ignore", invalid="ignore"):
            expected = self.rows[:, table] * self.columns / self.n[table]
            gaps = np.abs(self.tables - expected)
            if yates:
                square = ((self.n_rows == 2) & (self.n_columns == 2))[table]
                gaps[:, square] -= np.minimum(0.5, gaps[:, square])
            terms = np.where(expected > 0.0, gaps**2 / expected, 0.0)
        return self._sums(terms.sum(axis=0))

    def cramers_v(self, *, bias_correction: bool = True) -> np.ndarray:
        r"""Return Cramer's V: 0 for independent columns, 1 where each determines the other.

        Parameters
        ----------
        bias_correction : bool, default=True
            Bergsma's correction, which makes the value of independent columns 0 on average.

        Returns
        -------
        ndarray of shape (n_tables,)
            In [0, 1]; nan if fewer than two rows or columns are used.

        Notes
        -----
        .. math:: V = \sqrt{\chi^2 / (n \min(r - 1, k - 1))}

        without Yates' correction. Corrected for bias,
        ``phi2 = max(0, chi2 / n - (r - 1)(k - 1) / (n - 1))`` stands for ``chi2 / n``, and
        ``r - (r - 1)^2 / (n - 1)`` for r.

        References
        ----------
        W. Bergsma, "A bias-correction for Cramer's V and Tschuprow's T", Journal of the Korean
        Statistical Society 42 (2013), doi:10.1016/j.jkss.2012.10.002.
        """
        n, r, k = self.n, self.n_rows, self.n_columns
        with np.errstate(divide="ignore", invalid="ignore"):
            phi2 = self.chi_square() / n
            if bias_correction:
                phi2 = np.maximum(0.0, phi2 - (r - 1) * (k - 1) / (n - 1))
                r, k = r - (r - 1) ** 2 / (n - 1), k - (k - 1) ** 2 / (n - 1)
            most = np.minimum(r, k) - 1
            # where nearly every row has a level of its own the correction leaves nothing to measure
            v = np.sqrt(np.minimum(1.0, phi2 / most))
        return np.where(self.vary & (most > 0.0), v, np.nan)

    @cached_property
    def row_entropy(self) -> np.ndarray:
        """Entropy of the rows' column in each table, in nats."""
        return self._entropy(xlogy(self.rows, self.rows).sum(axis=0))

    @cached_property
    def column_entropy(self) -> np.ndarray:
        """Entropy of the columns' column in each table, in nats."""
        return self._entropy(self._sums(xlogy(self.columns, self.columns)))

    def _entropy(self, of_counts: np.ndarray) -> np.ndarray:
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(np.maximum(0.0, np.log(self.n) - of_counts / self.n))

    @cached_property
    def mutual_information(self) -> np.ndarray:
        """Mutual information in nats, the plug-in estimate: 0 for independent columns.

        Independent columns have about ``(r - 1)(k - 1) / (2 n)`` in n rows, not 0.
        """
        joint = self._entropy(self._sums(xlogy(self.tables, self.tables).sum(axis=0)))
        return np.asarray(np.maximum(0.0, self.row_entropy + self.column_entropy - joint))

    def theils_u(self) -> np.ndarray:
        r"""Return how much of each column's uncertainty the other takes away: 0 none, 1 all of it.

        Returns
        -------
        ndarray of shape (2, n_tables)
            Theil's U of the rows' column given the other, and the reverse; nan where it has one
            level only.

        Notes
        -----
        .. math:: U(X \mid Y) = (H(X) - H(X \mid Y)) / H(X)

        with the entropy H. It is biased upwards where there are many levels for few rows.

        References
        ----------
        H. Theil, "On the estimation of relationships involving qualitative variables", American
        Journal of Sociology 76 (1970), doi:10.1086/224909.

        Examples
        --------
        >>> import numpy as np
        >>> from skeval.stats.association import SideBySide
        >>> SideBySide(np.array([[2, 2, 0], [2, 0, 0], [0, 0, 2]])).theils_u().ravel().round(4)
        array([0.6667, 0.6667])
        """
        entropies = np.array([self.row_entropy, self.column_entropy])
        with np.errstate(divide="ignore", invalid="ignore"):
            share = np.minimum(1.0, self.mutual_information / entropies)
        return np.where(np.array([self.n_rows, self.n_columns]) > 1, share, np.nan)

    def normalized_information(
        self, average: str = "arithmetic", correction: str | None = "miller-madow"
    ) -> np.ndarray:
        """Return the mutual information as a share of the entropies: 0 independent, 1 determined.

        Parameters
        ----------
        average : {"arithmetic", "geometric", "min", "max"}, default="arithmetic"
            Which mean of the two entropies is the greatest value, 1.
        correction : {"miller-madow", "exact"} or None, default="miller-madow"
            What is taken off as chance: its leading term (r - 1)(k - 1) / (2 n), the exact mean
            over all relabellings (the adjusted mutual information; slow for many rows), or nothing.

        Returns
        -------
        ndarray of shape (n_tables,)
            In [0, 1]; nan if fewer than two rows or columns are used.

        Notes
        -----
        ``max(0, I - E) / (H - E)``, with I the mutual information, E what chance gives and H the
        average entropy. If I does not exceed E, the value is 0.

        References
        ----------
        N. X. Vinh, J. Epps, J. Bailey, "Information theoretic measures for clusterings
        comparison", Journal of Machine Learning Research 11 (2010).

        Examples
        --------
        >>> import numpy as np
        >>> from skeval.stats.association import SideBySide
        >>> pair = SideBySide(np.array([[30, 10], [10, 30]]))
        >>> round(pair.normalized_information(correction=None).item(), 6)
        0.188722
        """
        chance = self._chance(correction)
        greatest = _average(self.row_entropy, self.column_entropy, average)
        beyond = self.mutual_information - chance
        with np.errstate(divide="ignore", invalid="ignore"):
            share = np.minimum(1.0, beyond / (greatest - chance))
        return np.where(self.vary, np.where(beyond > 0.0, share, 0.0), np.nan)

    def _chance(self, correction: str | None) -> np.ndarray:
        """Return the mutual information that independent columns have on average."""
        if correction is None:
            return np.zeros(self.n.shape)
        if correction == "miller-madow":
            with np.errstate(divide="ignore", invalid="ignore"):
                return (self.n_rows - 1) * (self.n_columns - 1) / (2.0 * self.n)
        return np.array([_expected(one) for one in np.split(self.tables, self.starts[1:], axis=1)])


def _average(first: np.ndarray, second: np.ndarray, average: str) -> np.ndarray:
    if average == "arithmetic":
        return (first + second) / 2.0
    if average == "geometric":
        return np.asarray(np.sqrt(first * second))
    return np.asarray((np.minimum if average == "min" else np.maximum)(first, second))


def _expected(table: np.ndarray) -> float:
    used = table[table.sum(axis=1) > 0][:, table.sum(axis=0) > 0].astype(np.int64)
    return float(expected_mutual_information(used, int(used.sum()))) if used.size else float("nan")


def cramers_v(table: np.ndarray, *, bias_correction: bool = True) -> float:
    """Return Cramer's V of one table of counts; see :meth:`SideBySide.cramers_v`.

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.stats.association import cramers_v
    >>> round(cramers_v(np.array([[20, 5, 5], [5, 20, 5], [5, 5, 20]])), 6)
    0.482451
    """
    return float(SideBySide(np.asarray(table)).cramers_v(bias_correction=bias_correction)[0])


_BLOCK = 2**20  # pairs held at once
_FEW_FEATURES = 32  # as cheap by differences as by products
_LARGE = 1e6  # squares of larger numbers leave too few digits for the difference
_TIES = 1e-9  # statistics that differ by less, relatively, are equal: sums depend on their order

PairSums = tuple[np.ndarray, np.ndarray, np.ndarray]
Block = Callable[[np.ndarray, np.ndarray], np.ndarray]


def actual_and_permuted(n: int, m: int, n_permutations: int, seed: int) -> np.ndarray:
    """Return labels of n + m pooled rows: the actual ones, then random permutations of them.

    Parameters
    ----------
    n, m : int
        Sizes of the first and of the second sample, which are pooled in this order.
    n_permutations : int
        Number of permutations.
    seed : int
        The seed of the permutations.

    Returns
    -------
    ndarray of shape (n + m, 1 + n_permutations), bool
        True for the first sample.

    Examples
    --------
    >>> from skeval.stats.association import actual_and_permuted
    >>> labels = actual_and_permuted(2, 3, 5, seed=0)
    >>> labels[:, 0].tolist(), labels.sum(axis=0).tolist()
    ([True, True, False, False, False], [2, 2, 2, 2, 2, 2])
    """
    rng = np.random.default_rng(seed)
    labels = np.empty((n + m, 1 + n_permutations), dtype=np.bool_, order="F")
    labels[:, 0] = np.arange(n + m) < n
    for i in range(1, 1 + n_permutations):
        labels[:, i] = rng.permutation(labels[:, 0])
    return labels


def pair_sums(rows: np.ndarray, labels: np.ndarray, block: Block) -> PairSums:
    """Return the sums of a symmetric function over pairs within, between and within two samples.

    Parameters
    ----------
    rows : ndarray of shape (n_rows, n_features)
        Pooled rows.
    labels : ndarray of shape (n_rows, n_labelings), bool
        Which rows are of the first sample, in each labelling.
    block : callable
        Takes two sets of rows and returns the matrix of the function's values.

    Returns
    -------
    within_first, between, within_second : ndarray of shape (n_labelings,)
        Over ordered pairs within a sample, a row with itself included; over each pair between the
        samples once.

    Notes
    -----
    All labellings take one matrix product with each block of the upper triangle, which is never
    held as a whole.

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.stats.association import euclidean, pair_sums
    >>> rows, labels = np.array([[0.0], [1.0], [3.0]]), np.array([[True], [True], [False]])
    >>> [float(total[0]) for total in pair_sums(rows, labels, euclidean)]
    [2.0, 5.0, 0.0]
    """
    n_rows = len(rows)
    of_first = labels.astype(np.float64)
    by_row, within_first = np.zeros(n_rows), np.zeros(labels.shape[1])
    step = max(1, min(n_rows, _BLOCK // n_rows))
    for start in range(0, n_rows, step):
        stop = min(start + step, n_rows)
        values, n_own = block(rows[start:stop], rows[start:]), stop - start
        by_row[start:stop] += values.sum(axis=1)
        by_row[stop:] += values[:, n_own:].sum(axis=0)
        values[:, n_own:] *= 2.0  # the lower triangle is the same again
        within_first += np.einsum("ij,ij->j", of_first[start:stop], values @ of_first[start:])
    of_rows = by_row @ of_first
    return within_first, of_rows - within_first, by_row.sum() - 2.0 * of_rows + within_first


def squared_euclidean(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return squared Euclidean distances of all rows of x to all rows of y; 0 for copies, or 1e-14.

    Parameters
    ----------
    x, y : ndarray of shape (n, n_features), (m, n_features)

    Returns
    -------
    ndarray of shape (n, m)
    """
    peak = max(np.abs(x).max(initial=0.0), np.abs(y).max(initial=0.0))
    if x.shape[1] <= _FEW_FEATURES or peak > _LARGE:
        exact: np.ndarray = cdist(x, y, "sqeuclidean")
        return exact
    squares = x @ y.T
    squares *= -2.0
    squares += np.einsum("ij,ij->i", x, x)[:, None]
    squares += np.einsum("ij,ij->i", y, y)[None, :]
    return np.maximum(squares, 0.0, out=squares)


def euclidean(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return Euclidean distances of all rows of x to all rows of y; 0 for copies, or 1e-7.

    Parameters
    ----------
    x, y : ndarray of shape (n, n_features), (m, n_features)

    Returns
    -------
    ndarray of shape (n, m)
    """
    squares = squared_euclidean(x, y)
    return np.sqrt(squares, out=squares)


def manhattan(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return sums of absolute differences of all rows of x and all rows of y; 0 for copies.

    Parameters
    ----------
    x, y : ndarray of shape (n, n_features), (m, n_features)

    Returns
    -------
    ndarray of shape (n, m)
    """
    distances: np.ndarray = cdist(x, y, "cityblock")
    return distances


def permutation_p_value(values: np.ndarray) -> float | None:
    """Return the share of labellings, the actual one among them, that reach the actual value.

    Parameters
    ----------
    values : ndarray of shape (1 + n_permutations,)
        Values of the actual labels, then of permuted ones; large ones speak against equal
        distributions.

    Returns
    -------
    float or None
        None if nothing was permuted.

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.stats.association import permutation_p_value
    >>> permutation_p_value(np.array([3.0, 1.0, 5.0, 2.0]))
    0.5
    """
    if values.size < 2:
        return None
    reached = values >= values[0] - _TIES * np.abs(values).max()
    return float(reached.sum() / values.size)
