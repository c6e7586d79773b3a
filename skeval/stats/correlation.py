"""Correlations of many columns at once, with missing values, and the difference of two of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import reduce
from itertools import combinations
from typing import NamedTuple

import numpy as np
from scipy.special import ndtr, ndtri
from scipy.stats import kendalltau, rankdata

from skeval.utils.memory_maps import memory_mapped_array

# sums are computed per block of rows, so that they do not depend on where a block is summed
BLOCK = 2**20
# rows that are multiplied in one step if values are missing, to limit the memory of the masks
_CHUNK = 65_536
# a variance below this fraction of the second moment is 0 except for rounding errors
_ROUNDING = 1e-11
# v and k of the variance of the transformed coefficient, v / (n - k)
_FISHER = {"pearson": (1.0, 3.0), "spearman": (1.06, 3.0), "kendall": (0.437, 4.0)}


class Correlations(NamedTuple):
    """Coefficients of all pairs of columns, nan if undefined, and the numbers of rows.

    Both are symmetric, of shape (n_columns, n_columns).
    """

    coefficients: np.ndarray
    n_rows: np.ndarray


def correlation_matrix(values: np.ndarray, method: str = "pearson") -> Correlations:
    """Return the correlations of all pairs of columns."""
    # The values 1 and -1 mean that one column is an increasing or a decreasing function of the
    # other (a straight line for "pearson"). The value 0 means that there is no such relation.
    #
    # Infinite values are treated as missing for "pearson", and are the most extreme values for the
    # rank correlations. Spearman's ranks are computed once, among all present values of a column.
    # If columns have missing values in different rows, this differs slightly from ranks in the
    # rows that both columns have.
    if method == "kendall":
        return _kendall(values)
    z = _room_for(values)
    for j, column in enumerate(values.T):
        z[:, j] = _standardize_column(_ranks(column) if method == "spearman" else column)
    complete = not any(np.isnan(column).any() for column in z.T)
    starts = range(0, max(1, len(z)), BLOCK)
    blocks = [products(z[start : start + BLOCK], complete=complete) for start in starts]
    return correlations_of(sum_blocks(blocks), len(z))


def _room_for(values: np.ndarray) -> np.ndarray:
    """Return an array of the same shape, in a file if the values are in a file."""
    if isinstance(values, np.memmap):
        return memory_mapped_array(values.shape, np.float64)
    return np.empty(values.shape, order="F")


def _ranks(column: np.ndarray) -> np.ndarray:
    present = ~np.isnan(column)
    if present.all():
        return np.asarray(rankdata(column), dtype=np.float64)
    ranks = np.full(column.shape, np.nan)
    ranks[present] = rankdata(column[present])
    return ranks


def _standardize_column(column: np.ndarray) -> np.ndarray:
    """Return the column with mean 0 and deviation 1, or zeros if the column does not vary."""
    present = column[np.isfinite(column)]
    moments = Moments.between(present.min(initial=np.inf), present.max(initial=-np.inf))
    if moments.vary:
        blocks = [column[start : start + BLOCK] for start in range(0, column.size, BLOCK)]
        moments = moments.with_mean(sum_blocks([moments.sums(block) for block in blocks]))
        moments = moments.with_deviation(sum_blocks([moments.squares(block) for block in blocks]))
    return moments.standardise(column)


class Moments(NamedTuple):
    """Mean and deviation of a column, computed from sums of blocks of its rows."""

    scale: float  # squares of large numbers overflow
    mean: float = 0.0
    deviation: float = 1.0
    vary: bool = True

    @classmethod
    def between(cls, low: float, high: float) -> Moments:
        """Return the scale from the smallest and largest finite value, with low > high for none."""
        return cls(max(abs(low), abs(high)), vary=bool(low < high))

    def sums(self, block: np.ndarray) -> np.ndarray:
        """Return the number and the sum of the finite values of some rows."""
        values = block[np.isfinite(block)]
        return np.array([values.size, (values / self.scale).sum() if self.vary else 0.0])

    def squares(self, block: np.ndarray) -> np.ndarray:
        """Return the number and the squared deviations of the finite values of some rows."""
        values = block[np.isfinite(block)] / self.scale - self.mean
        return np.array([values.size, (values**2).sum()])

    def with_mean(self, sums: np.ndarray) -> Moments:
        """Return the moments with the mean of all rows."""
        return self._replace(mean=sums[1] / sums[0])

    def with_deviation(self, squares: np.ndarray) -> Moments:
        """Return the moments with the deviation of all rows."""
        return self._replace(deviation=np.sqrt(squares[1] / squares[0]))

    def standardise(self, block: np.ndarray) -> np.ndarray:
        """Return some rows with mean 0 and deviation 1, or zeros if they do not vary."""
        standardised, present = np.full(block.shape, np.nan), np.isfinite(block)
        values = block[present]
        standardised[present] = (
            (values / self.scale - self.mean) / self.deviation if self.vary else 0.0
        )
        return standardised


def products(z: np.ndarray, *, complete: bool) -> np.ndarray:
    """Get the sums over at most a block of rows for correlations of standardized columns."""
    z, d = np.asarray(z), z.shape[1]
    if complete:
        return (z.T @ z)[None]
    total = np.zeros((4, d, d))
    for start in range(0, len(z), _CHUNK):
        rows = z[start : start + _CHUNK]
        mask = (~np.isnan(rows)).astype(np.float64)
        chunk = np.where(mask > 0.0, rows, 0.0)
        # missing values are 0 in the sums
        total += [mask.T @ mask, chunk.T @ mask, (chunk**2).T @ mask, chunk.T @ chunk]
    return total


def sum_blocks(blocks: Iterable[np.ndarray]) -> np.ndarray:
    """Return the sum over at least one block, in the order of the blocks."""
    return reduce(np.add, blocks)


def correlations_of(sums: np.ndarray, n_rows: int) -> Correlations:
    """Return the correlations of columns from their :func:`products` over all rows."""
    with np.errstate(invalid="ignore", divide="ignore"):
        if len(sums) == 1:
            (cross,) = sums
            spread, counts = np.sqrt(np.diag(cross)), np.full(cross.shape, n_rows)
            return Correlations(_tidy(cross / spread[:, None] / spread, spread > 0.0), counts)
        n, totals, squares, cross = sums
        mean, moment = totals / n, squares / n
        variance = moment - mean**2
        variance[variance <= _ROUNDING * moment] = np.nan
        coefficients = (cross / n - mean * mean.T) / np.sqrt(variance * variance.T)
    return Correlations(_tidy(coefficients, ~np.isnan(np.diag(variance))), n.astype(np.int64))


def _tidy(coefficients: np.ndarray, varies: np.ndarray) -> np.ndarray:
    """Return coefficients within [-1, 1] that are exactly symmetric, with 1 on the diagonal."""
    tidy: np.ndarray = np.clip((coefficients + coefficients.T) / 2.0, -1.0, 1.0)
    np.fill_diagonal(tidy, np.where(varies, 1.0, np.nan))
    return tidy


def _kendall(values: np.ndarray) -> Correlations:
    d = values.shape[1]
    present = ~np.isnan(values)
    coefficients, n_rows = np.full((d, d), np.nan), np.zeros((d, d), dtype=np.int64)
    for j, column in enumerate(values.T):
        n_rows[j, j] = present[:, j].sum()
        if np.unique(column[present[:, j]]).size > 1:
            coefficients[j, j] = 1.0
    for i, j in combinations(range(d), 2):
        both = present[:, i] & present[:, j]
        n_rows[i, j] = n_rows[j, i] = both.sum()
        if n_rows[i, j] > 1:
            tau = kendalltau(values[both, i], values[both, j]).statistic
            coefficients[i, j] = coefficients[j, i] = tau
    return Correlations(coefficients, n_rows)


def fisher_interval(
    coefficients: np.ndarray, n_rows: np.ndarray, method: str = "pearson", level: float = 0.95
) -> tuple[np.ndarray, np.ndarray]:
    """Return intervals of the correlations of the population, by Fisher's transformation."""
    # The interval is `tanh(artanh r +- z sqrt(v / (n - k)))`. The constants v and k are 1 and 3 for
    # Pearson's, 1.06 and 3 for Spearman's, and 0.437 and 4 for Kendall's coefficient. The interval
    # is valid for columns that are approximately jointly normal. With heavy tails, Pearson's
    # coefficient varies more.
    #
    # Source: E. C. Fieller, H. O. Hartley, E. S. Pearson, "Tests for rank correlation
    # coefficients", Biometrika 44 (1957), doi:10.1093/biomet/44.3-4.470.
    reach = ndtri(0.5 + level / 2.0) * np.sqrt(_variance(n_rows, method))
    with np.errstate(divide="ignore", invalid="ignore"):
        z = np.arctanh(coefficients)
        low, high = np.tanh(z - reach), np.tanh(z + reach)
    wide = np.isinf(reach)  # no bound on either side, even if the few rows are on a line
    undefined = np.isnan(coefficients)
    return (
        np.where(undefined, np.nan, np.where(wide, -1.0, low)),
        np.where(undefined, np.nan, np.where(wide, 1.0, high)),
    )


def _variance(n_rows: np.ndarray, method: str) -> np.ndarray:
    v, k = _FISHER[method]
    free = np.asarray(n_rows, dtype=np.float64) - k
    return np.where(free > 0.0, v / np.where(free > 0.0, free, 1.0), np.inf)


def difference_interval(
    first: Correlations, second: Correlations, method: str = "pearson", level: float = 0.95
) -> tuple[np.ndarray, np.ndarray]:
    """Return intervals of the differences of the correlations of two populations."""
    # The two Fisher intervals are combined such that each side keeps its own width. For the
    # assumptions, see fisher_interval.
    #
    # Source: G. Y. Zou, "Toward using confidence intervals to compare correlations",
    # Psychological Methods 12 (2007), doi:10.1037/1082-989X.12.4.399.
    low_1, high_1 = fisher_interval(*first, method, level)
    low_2, high_2 = fisher_interval(*second, method, level)
    difference = first.coefficients - second.coefficients
    return (
        difference - np.hypot(first.coefficients - low_1, high_2 - second.coefficients),
        difference + np.hypot(high_1 - first.coefficients, second.coefficients - low_2),
    )


def difference_p_value(
    first: Correlations, second: Correlations, method: str = "pearson"
) -> np.ndarray:
    """Return two-sided p-values of the hypotheses that two samples' correlations are the same."""
    # The difference of Fisher's transformed coefficients divided by its standard error is normal.
    # For the assumptions, see fisher_interval.
    variance = _variance(first.n_rows, method) + _variance(second.n_rows, method)
    same = first.coefficients == second.coefficients
    with np.errstate(divide="ignore", invalid="ignore"):
        z = np.arctanh(first.coefficients) - np.arctanh(second.coefficients)
        z = np.where(same, 0.0, np.abs(z))  # two perfect lines are infinity minus infinity
        p = 2.0 * ndtr(-z / np.sqrt(variance))
    return np.where(np.isinf(variance), np.nan, p)


def correlation_ratios(
    codes: np.ndarray, n_groups: Sequence[int] | np.ndarray, values: np.ndarray
) -> np.ndarray:
    """Return the correlation ratios of numerical columns with groups of rows, from 0 to 1."""
    # The ratio is `eta = sqrt(SSB / SST)`, that is the root of the fraction of the sum of squared
    # deviations that the means of the groups explain. It is 0 if all means are equal, and 1 if the
    # numbers do not vary within groups. In small samples with many groups, it is biased upwards.
    z, missing = _room_for(values), np.empty(values.shape, dtype=bool, order="F")
    for j, column in enumerate(values.T):
        standardised = _standardize_column(column)
        missing[:, j] = np.isnan(standardised)
        z[:, j] = np.where(missing[:, j], 0.0, standardised)
    # columns have mean 0 and variance 1, so that the sum of squares is the number of values
    ratios = [_ratios(groups, n, z, missing) for groups, n in zip(codes.T, n_groups, strict=True)]
    varies = np.array([column.any() for column in z.T], dtype=bool)
    return np.where(varies, np.array(ratios).reshape(codes.shape[1], values.shape[1]), np.nan)


def _ratios(groups: np.ndarray, n_groups: int, z: np.ndarray, missing: np.ndarray) -> np.ndarray:
    """Return the correlation ratios of standardized columns, or nan for a single group."""
    groups = groups.astype(np.int64)  # converted once, instead of in every count
    sizes = np.repeat(np.bincount(groups, minlength=n_groups)[:, None], z.shape[1], axis=1)
    sums = np.zeros(sizes.shape)
    for j in range(z.shape[1]):
        sums[:, j] = np.bincount(groups, weights=z[:, j], minlength=n_groups)
        if missing[:, j].any():
            sizes[:, j] -= np.bincount(groups[missing[:, j]], minlength=n_groups)
    with np.errstate(divide="ignore", invalid="ignore"):
        between = np.where(sizes > 0, sums**2 / sizes, 0.0).sum(axis=0)
        eta = np.sqrt(np.clip(between / sizes.sum(axis=0), 0.0, 1.0))
    return np.where((sizes > 0).sum(axis=0) > 1, eta, np.nan)
