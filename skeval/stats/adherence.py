"""Shares of valid cells, column by column, and where they lie in the population."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from skeval.stats.intervals import wilson

__all__ = ["ShareTally", "mean_of_bands"]


class ShareTally:
    """Shares of cells that keep a rule, one a column, and the interval of their mean.

    Columns are added one by one, so that no table of cells is ever held.

    Parameters
    ----------
    n_rows : int
        Number of rows of the table.

    Attributes
    ----------
    shares : dict of str to float
        The share of each column.
    intervals : dict of str to tuple of (float, float)
        Wilson's interval of each share.

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.stats.adherence import ShareTally
    >>> tally = ShareTally(4)
    >>> tally.add("x", np.array([True, True, True, False]))
    >>> tally.shares
    {'x': 0.75}
    """

    def __init__(self, n_rows: int) -> None:
        self.n_rows = n_rows
        self.shares: dict[str, float] = {}
        self.intervals: dict[str, tuple[float, float]] = {}
        self._strays = np.zeros(n_rows)
        self._inverse = 0.0

    def add(self, column: str, valid: np.ndarray, counted: np.ndarray | None = None) -> None:
        """Add a column.

        Parameters
        ----------
        column : str
            Its name.
        valid : ndarray of shape (n_rows,), bool
            Which rows keep the rule.
        counted : ndarray of shape (n_rows,), bool, optional
            Which rows count, at least one; all by default. Where none is valid, none is outside.
        """
        n = self.n_rows if counted is None else int(counted.sum())
        k = int(valid.sum())
        self.shares[column] = k / n
        self.intervals[column] = wilson(k, n)
        self._inverse += 1.0 / n
        if 0 < k < n:  # else no row strays from the share
            strays = (valid - k / n) if counted is None else np.where(counted, valid - k / n, 0.0)
            self._strays += strays / n

    def interval(self) -> tuple[float, float] | None:
        """Return where the mean of the shares lies in the population; None if there is no column.

        Returns
        -------
        tuple of (float, float)
            At 95%, within [0, 1]. For one column, Wilson's interval of its share.

        Notes
        -----
        The cells of a row depend on each other, so the row is the unit: its contribution to the
        mean lies between 0 and 1. Wilson's interval is taken at as many rows as would give a share
        the variance that the row contributions have. Rows that fail as a whole may be too rare to
        have been seen, and no variance then shows: four rows are therefore thought added for the
        variance, two valid in all columns and two in none. The interval is conservative where
        violations are spread over rows, the more so the fewer rows there are.
        """
        d = len(self.shares)
        if d == 0:
            return None
        n = d / self._inverse  # where missing cells do not count, columns have fewer rows
        value = float(np.mean(list(self.shares.values())))
        spread = (n / d) ** 2 * float(self._strays @ self._strays)
        centre = (n * value + 2.0) / (n + 4.0)
        spread += n * (value - centre) ** 2 + 2.0 * (1.0 - centre) ** 2 + 2.0 * centre**2
        n_effective = n * (n + 4.0) * centre * (1.0 - centre) / spread
        low, high = wilson(value * n_effective, n_effective)
        return min(low, value), max(high, value)


def mean_of_bands(bands: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """Return the interval of a mean from simultaneous intervals of its terms, at least one.

    If each term lies in its interval, the mean lies between the means of their ends: with terms
    at ``1 - 0.05 / n_terms`` each, this holds at 95% however they depend on each other.

    Examples
    --------
    >>> from skeval.stats.adherence import mean_of_bands
    >>> mean_of_bands([(0.0, 0.5), (0.5, 1.0)])
    (0.25, 0.75)
    """
    low, high = np.mean(np.array(bands), axis=0)
    return float(low), float(high)
