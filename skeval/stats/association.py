"""Strength of association in contingency tables, one or many beside each other.

Functions take one table, or tables side by side: r rows, and `starts`, the first column of each
table. Counting the pairs of one column with all others gives just that, and thousands of pairs are
then measured without a loop over them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import xlogy
from sklearn.metrics.cluster import expected_mutual_information

__all__ = [
    "AVERAGES",
    "cramers_v",
    "cramers_v_beside",
    "mutual_information",
    "normalized_mutual_information",
    "normalized_mutual_information_beside",
    "theils_u",
    "theils_u_beside",
]

# how the entropies of the two columns are averaged to normalise their mutual information
AVERAGES = ("arithmetic", "geometric", "min", "max")
_ONE = (0,)
Starts = np.ndarray | tuple[int, ...]


def cramers_v(table: np.ndarray, *, bias_correction: bool = True) -> float:
    """Return Cramer's V: 0 for independent columns, 1 where each determines the other.

    Parameters
    ----------
    table : ndarray of shape (r, k)
        Counts; empty rows and columns are dropped.
    bias_correction : bool, default=True
        Bergsma's correction, which makes the value of independent columns 0 in the mean.

    Returns
    -------
    float
        In [0, 1]; nan if fewer than two rows or columns are left.

    Notes
    -----
    ``V = sqrt(chi2 / (n min(r - 1, k - 1)))``, chi-square without Yates' correction. Corrected:
    ``phi2 = max(0, chi2 / n - (r - 1)(k - 1) / (n - 1))``, and ``r - (r - 1)^2 / (n - 1)`` for r.

    References
    ----------
    W. Bergsma, "A bias-correction for Cramer's V and Tschuprow's T", Journal of the Korean
    Statistical Society 42 (2013), doi:10.1016/j.jkss.2012.10.002.

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.stats.association import cramers_v
    >>> round(cramers_v(np.array([[20, 5, 5], [5, 20, 5], [5, 5, 20]])), 6)
    0.482451
    """
    return float(cramers_v_beside(np.asarray(table), _ONE, bias_correction=bias_correction)[0])


def cramers_v_beside(
    tables: np.ndarray, starts: Starts, *, bias_correction: bool = True
) -> np.ndarray:
    """Return Cramer's V of tables side by side; see :func:`cramers_v`."""
    found = _Margins.of(tables, starts)
    n, r, k = found.n, found.n_rows, found.n_columns
    with np.errstate(divide="ignore", invalid="ignore"):
        expected = found.rows[:, found.table] * found.columns / n[found.table]
        terms = np.where(expected > 0.0, (tables - expected) ** 2 / expected, 0.0)
        phi2 = np.add.reduceat(terms.sum(axis=0), found.starts) / n
        if bias_correction:
            phi2 = np.maximum(0.0, phi2 - (r - 1) * (k - 1) / (n - 1))
            r, k = r - (r - 1) ** 2 / (n - 1), k - (k - 1) ** 2 / (n - 1)
        most = np.minimum(r, k) - 1
        # where nearly every row has a level of its own the correction leaves nothing to measure
        return np.where(found.vary & (most > 0.0), np.sqrt(np.minimum(1.0, phi2 / most)), np.nan)


def mutual_information(table: np.ndarray) -> float:
    """Return the mutual information in nats: 0 for independent columns.

    Parameters
    ----------
    table : ndarray of shape (r, k)
        Counts.

    Returns
    -------
    float
        At most the smaller of the two entropies; nan for an empty table.

    Notes
    -----
    ``sum p_ij ln(p_ij / (p_i p_j))``, the plug-in estimate: independent columns have about
    ``(r - 1)(k - 1) / (2 n)`` in n rows, not 0.

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.stats.association import mutual_information
    >>> round(mutual_information(np.array([[30, 10], [10, 30]])), 6)
    0.130812
    """
    return float(_Margins.of(np.asarray(table), _ONE).information(np.asarray(table))[0])


def theils_u(table: np.ndarray) -> tuple[float, float]:
    """Return how much of each column's uncertainty the other takes away: 0 none, 1 all of it.

    Parameters
    ----------
    table : ndarray of shape (r, k)
        Counts.

    Returns
    -------
    rows, columns : float
        Of the rows' column given the other, and the reverse; nan where it has one level only.

    Notes
    -----
    ``U(X given Y) = (H(X) - H(X given Y)) / H(X)``, H the entropy. It is biased upwards where
    there are many levels for few rows.

    References
    ----------
    H. Theil, "On the estimation of relationships involving qualitative variables", American
    Journal of Sociology 76 (1970), doi:10.1086/224909.

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.stats.association import theils_u
    >>> [round(u, 4) for u in theils_u(np.array([[2, 2, 0], [2, 0, 0], [0, 0, 2]]))]
    [0.6667, 0.6667]
    """
    of_rows, of_columns = theils_u_beside(np.asarray(table), _ONE)
    return float(of_rows[0]), float(of_columns[0])


def theils_u_beside(tables: np.ndarray, starts: Starts) -> tuple[np.ndarray, np.ndarray]:
    """Return Theil's U of tables side by side, both ways; see :func:`theils_u`."""
    found = _Margins.of(tables, starts)
    information = found.information(tables)
    with np.errstate(divide="ignore", invalid="ignore"):
        of_rows, of_columns = (
            np.where(n_used > 1, np.minimum(1.0, information / entropy), np.nan)
            for entropy, n_used in (
                (found.row_entropy, found.n_rows),
                (found.column_entropy, found.n_columns),
            )
        )
    return of_rows, of_columns


def normalized_mutual_information(
    table: np.ndarray, *, average: str = "arithmetic", correction: str | None = "miller-madow"
) -> float:
    """Return the mutual information as a share of the entropies: 0 independent, 1 determined.

    Parameters
    ----------
    table : ndarray of shape (r, k)
        Counts; empty rows and columns are dropped.
    average : {"arithmetic", "geometric", "min", "max"}, default="arithmetic"
        Of the two entropies, what 1 stands for.
    correction : {"miller-madow", "exact"} or None, default="miller-madow"
        What is taken off as chance: its leading term (r - 1)(k - 1) / (2 n), the exact mean over
        all relabellings (the adjusted mutual information; slow for many rows), or nothing.

    Returns
    -------
    float
        In [0, 1]; nan if fewer than two rows or columns are left.

    Notes
    -----
    ``max(0, I - E) / (H - E)``, with I the mutual information, E what chance gives and H the
    average entropy. Where I does not exceed E, the value is 0.

    References
    ----------
    N. X. Vinh, J. Epps, J. Bailey, "Information theoretic measures for clusterings comparison",
    Journal of Machine Learning Research 11 (2010).

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.stats.association import normalized_mutual_information
    >>> table = np.array([[30, 10], [10, 30]])
    >>> round(normalized_mutual_information(table, correction=None), 6)
    0.188722
    >>> round(normalized_mutual_information(table, correction="exact"), 6)
    0.181197
    """
    found = normalized_mutual_information_beside(
        np.asarray(table), _ONE, average=average, correction=correction
    )
    return float(found[0])


def normalized_mutual_information_beside(
    tables: np.ndarray,
    starts: Starts,
    *,
    average: str = "arithmetic",
    correction: str | None = "miller-madow",
) -> np.ndarray:
    """Return the measure of tables side by side; see :func:`normalized_mutual_information`."""
    found = _Margins.of(tables, starts)
    information = found.information(tables)
    chance = found.chance(tables, correction)
    greatest = _average(found.row_entropy, found.column_entropy, average)
    beyond = information > chance
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.minimum(1.0, (information - chance) / (greatest - chance))
    return np.where(found.vary, np.where(beyond, share, 0.0), np.nan)


def _average(first: np.ndarray, second: np.ndarray, average: str) -> np.ndarray:
    if average == "arithmetic":
        return (first + second) / 2.0
    if average == "geometric":
        return np.asarray(np.sqrt(first * second))
    return np.asarray((np.minimum if average == "min" else np.maximum)(first, second))


class _Margins(NamedTuple):
    """The sums of tables side by side: by row and table, by column, by table."""

    starts: np.ndarray
    table: np.ndarray  # of each column
    rows: np.ndarray
    columns: np.ndarray
    n: np.ndarray

    @classmethod
    def of(cls, tables: np.ndarray, starts: Starts) -> _Margins:
        at = np.asarray(starts)
        widths = np.diff(np.append(at, tables.shape[1]))
        rows = np.add.reduceat(tables, at, axis=1)
        return cls(
            at,
            np.repeat(np.arange(at.size), widths),
            rows,
            tables.sum(axis=0),
            rows.sum(axis=0).astype(np.float64),
        )

    @property
    def n_rows(self) -> np.ndarray:
        """Number of rows that a table uses."""
        return np.asarray((self.rows > 0).sum(axis=0))

    @property
    def n_columns(self) -> np.ndarray:
        """Number of columns that a table uses."""
        return np.asarray(np.add.reduceat((self.columns > 0).astype(np.int64), self.starts))

    @property
    def vary(self) -> np.ndarray:
        """Whether both columns of a pair have two levels at least."""
        return np.asarray((self.n_rows > 1) & (self.n_columns > 1))

    @property
    def row_entropy(self) -> np.ndarray:
        """Entropy of the rows' column, in the rows that count for the pair."""
        return self._entropy(xlogy(self.rows, self.rows).sum(axis=0))

    @property
    def column_entropy(self) -> np.ndarray:
        """Entropy of the columns' column."""
        return self._entropy(np.add.reduceat(xlogy(self.columns, self.columns), self.starts))

    def _entropy(self, of_counts: np.ndarray) -> np.ndarray:
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(np.maximum(0.0, np.log(self.n) - of_counts / self.n))

    def information(self, tables: np.ndarray) -> np.ndarray:
        """Return the mutual information of each table."""
        of_cells = np.add.reduceat(xlogy(tables, tables).sum(axis=0), self.starts)
        joint = self._entropy(of_cells)
        return np.asarray(np.maximum(0.0, self.row_entropy + self.column_entropy - joint))

    def chance(self, tables: np.ndarray, correction: str | None) -> np.ndarray:
        """Return the mutual information that independent columns have in the mean."""
        if correction is None:
            return np.zeros(self.n.shape)
        if correction == "miller-madow":
            with np.errstate(divide="ignore", invalid="ignore"):
                return (self.n_rows - 1) * (self.n_columns - 1) / (2.0 * self.n)
        found = [_expected(table) for table in np.split(tables, self.starts[1:], axis=1)]
        return np.array(found)


def _expected(table: np.ndarray) -> float:
    used = table[table.sum(axis=1) > 0][:, table.sum(axis=0) > 0].astype(np.int64)
    return float(expected_mutual_information(used, int(used.sum()))) if used.size else float("nan")
