"""Strength of association in contingency tables, one or several at once."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np
from scipy.special import xlogy


class SideBySide:
    """Contingency tables of one column with each of several others, and their association."""

    # The counts of the pairs of one column with all others are adjacent tables. Therefore,
    # thousands of pairs are computed without a loop.
    #
    # The greatest possible association of a table depends on how many rows and columns it uses. If
    # two tables of the same cells are compared, a rare cell that is empty in one of them would
    # change this number, and with it the associations of all pairs of the column. Therefore, cells
    # that a reference table uses count as used. `used` contains a mask of the cells of the column
    # for each table, and a mask of the columns of the adjacent tables.

    def __init__(
        self,
        tables: np.ndarray,
        starts: Sequence[int] | np.ndarray = (0,),
        used: tuple[np.ndarray, np.ndarray] | None = None,
    ) -> None:
        self.tables = tables
        self.starts = np.asarray(starts)
        self.rows = np.add.reduceat(tables, self.starts, axis=1)  # sums by row and table
        self.columns = tables.sum(axis=0)
        self.n = self.rows.sum(axis=0).astype(np.float64)
        rows, columns = self.rows > 0, self.columns > 0
        self.vary = (rows.sum(axis=0) > 1) & (self._sums(columns.astype(np.int64)) > 1)
        if used is not None:
            rows, columns = rows | used[0], columns | used[1]
        self.n_rows = rows.sum(axis=0)  # rows that a table uses
        self.n_columns = self._sums(columns.astype(np.int64))

    def _sums(self, of_columns: np.ndarray) -> np.ndarray:
        """Return the sum over the columns of each table."""
        return np.asarray(np.add.reduceat(of_columns, self.starts))

    def chi_square(self, *, yates: bool = False) -> np.ndarray:
        """Return Pearson's chi-square of each table, with `yates` corrected for 2 x 2 tables."""
        widths = np.append(self.starts[1:], self.columns.size) - self.starts
        # empty rows and columns add nothing, and are often half of the cells
        columns, rows = np.flatnonzero(self.columns), np.flatnonzero(self.rows.any(axis=1))
        table = np.repeat(np.arange(self.starts.size), widths)[columns]
        sums = np.zeros(self.columns.size)
        with np.errstate(divide="ignore", invalid="ignore"):
            expected = self.rows[rows].take(table, axis=1) * self.columns[columns] / self.n[table]
            gaps = self.tables[rows].take(columns, axis=1) - expected
            if yates:
                square = np.flatnonzero(((self.n_rows == 2) & (self.n_columns == 2))[table])
                below = np.abs(gaps[:, square])
                gaps[:, square] = below - np.minimum(0.5, below)
            terms = np.where(expected > 0.0, gaps * gaps / expected, 0.0)
        sums[columns] = terms.sum(axis=0)
        return self._sums(sums)

    def cramers_v(self, *, bias_correction: bool = True) -> np.ndarray:
        """Return Cramer's V, from 0 for independent columns to 1 if each determines the other."""
        # .. math:: V = \sqrt{\chi^2 / (n \min(r - 1, k - 1))}
        #
        # without Yates' correction. The correction for bias replaces `chi2 / n` with `phi2 =
        # max(0, chi2 / n - (r - 1)(k - 1) / (n - 1))`, and r with `r - (r - 1)^2 / (n - 1)`.
        #
        # Source: W. Bergsma, "A bias-correction for Cramer's V and Tschuprow's T",
        # Journal of the Korean Statistical Society 42 (2013),
        # doi:10.1016/j.jkss.2012.10.002.
        n, r, k = self.n, self.n_rows, self.n_columns
        with np.errstate(divide="ignore", invalid="ignore"):
            phi2 = self.chi_square() / n
            if bias_correction:
                phi2 = np.maximum(0.0, phi2 - (r - 1) * (k - 1) / (n - 1))
                r, k = r - (r - 1) ** 2 / (n - 1), k - (k - 1) ** 2 / (n - 1)
            most = np.minimum(r, k) - 1
            # if nearly every row has its own category, the corrected value is undefined
            v = np.sqrt(np.minimum(1.0, phi2 / most))
        return np.where(self.vary & (most > 0.0), v, np.nan)

    @cached_property
    def row_entropy(self) -> np.ndarray:
        """Entropy of the column in the rows of each table, in nats."""
        return self._entropy(xlogy(self.rows, self.rows).sum(axis=0))

    @cached_property
    def column_entropy(self) -> np.ndarray:
        """Entropy of the column in the columns of each table, in nats."""
        return self._entropy(self._sums(xlogy(self.columns, self.columns)))

    def _entropy(self, of_counts: np.ndarray) -> np.ndarray:
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(np.maximum(0.0, np.log(self.n) - of_counts / self.n))

    @cached_property
    def mutual_information(self) -> np.ndarray:
        """Mutual information in nats, computed with the plug-in estimate.

        Independent columns have about ``(r - 1)(k - 1) / (2 n)`` in n rows instead of 0.
        """
        joint = self._entropy(self._sums(xlogy(self.tables, self.tables).sum(axis=0)))
        return np.asarray(np.maximum(0.0, self.row_entropy + self.column_entropy - joint))

    def theils_u(self) -> np.ndarray:
        """Get Theil's U, the fraction of each column's entropy that the other column explains."""
        # .. math:: U(X \mid Y) = (H(X) - H(X \mid Y)) / H(X)
        #
        # with the entropy H. If there are many categories for few rows, U is biased upwards.
        #
        # Source: H. Theil, "On the estimation of relationships involving qualitative
        # variables", American Journal of Sociology 76 (1970), doi:10.1086/224909.
        entropies = np.array([self.row_entropy, self.column_entropy])
        with np.errstate(divide="ignore", invalid="ignore"):
            share = np.minimum(1.0, self.mutual_information / entropies)
        return np.where(np.array([self.n_rows, self.n_columns]) > 1, share, np.nan)

    def normalized_information(
        self, average: str = "arithmetic", correction: str | None = "miller-madow"
    ) -> np.ndarray:
        """Get the mutual information as a fraction of the average entropy, from 0 to 1."""
        # It is `max(0, I - E) / (H - E)`, where I is the mutual information, E is the expected
        # value for independent columns, and H is the average entropy.
        #
        # Source: N. X. Vinh, J. Epps, J. Bailey, "Information theoretic measures for
        # clusterings comparison", Journal of Machine Learning Research 11 (2010).
        chance = self._chance(correction)
        greatest = _average(self.row_entropy, self.column_entropy, average)
        beyond = self.mutual_information - chance
        with np.errstate(divide="ignore", invalid="ignore"):
            share = np.minimum(1.0, beyond / (greatest - chance))
        return np.where(self.vary, np.where(beyond > 0.0, share, 0.0), np.nan)

    def _chance(self, correction: str | None) -> np.ndarray:
        """Return the mean mutual information of independent columns."""
        if correction is None:
            return np.zeros(self.n.shape)
        if correction == "miller-madow":
            with np.errstate(divide="ignore", invalid="ignore"):
                return (self.n_rows - 1) * (self.n_columns - 1) / (2.0 * self.n)
        return np.array(
            [_expected_information(one) for one in np.split(self.tables, self.starts[1:], axis=1)]
        )


def _average(first: np.ndarray, second: np.ndarray, average: str) -> np.ndarray:
    if average == "arithmetic":
        return (first + second) / 2.0
    if average == "geometric":
        return np.asarray(np.sqrt(first * second))
    return np.asarray((np.minimum if average == "min" else np.maximum)(first, second))


def _expected_information(table: np.ndarray) -> float:
    from sklearn.metrics.cluster import expected_mutual_information  # slow to import

    used = table[table.sum(axis=1) > 0][:, table.sum(axis=0) > 0].astype(np.int64)
    return float(expected_mutual_information(used, int(used.sum()))) if used.size else float("nan")


def cramers_v(table: np.ndarray, *, bias_correction: bool = True) -> float:
    """Return Cramer's V of one table of counts, see :meth:`SideBySide.cramers_v`."""
    return float(SideBySide(np.asarray(table)).cramers_v(bias_correction=bias_correction)[0])
