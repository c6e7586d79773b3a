"""Strength of association in contingency tables, one or many of them side by side.

Sums over all pairs of rows of two samples, under many labels, block by block.

Correlations of many columns at once, with missing values, and the difference of two of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import nullcontext
from functools import cached_property, reduce
from itertools import combinations
from typing import NamedTuple

import numpy as np
from scipy.spatial.distance import cdist
from scipy.special import ndtr, ndtri, xlogy
from scipy.stats import kendalltau, rankdata
from threadpoolctl import threadpool_limits

from skeval.utils.memory_maps import mapped

# how the entropies of the two columns are averaged to normalise their mutual information
AVERAGES = ("arithmetic", "geometric", "min", "max")


class SideBySide:
    """Contingency tables of one column with each of several others, and their association."""

    # Counting the pairs of one column with all others gives its tables side by side;
    # thousands of pairs are measured without a loop over them.

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
        """Return Pearson's chi-square of each table; by `yates` with his correction where 2 x 2."""
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
        """Return Cramer's V: 0 for independent columns, 1 where each determines the other."""
        # .. math:: V = \sqrt{\chi^2 / (n \min(r - 1, k - 1))}
        #
        # without Yates' correction. Corrected for bias, `phi2 = max(0, chi2 / n - (r -
        # 1)(k - 1) / (n - 1))` stands for `chi2 / n`, and `r - (r - 1)^2 / (n - 1)` for
        # r.
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
        """Get how much of each column's uncertainty the other takes away: 0 none, 1 all of it."""
        # .. math:: U(X \mid Y) = (H(X) - H(X \mid Y)) / H(X)
        #
        # with the entropy H. It is biased upwards where there are many levels for few
        # rows.
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
        """Get the mutual information as a share of the entropies: 0 independent, 1 determined."""
        # `max(0, I - E) / (H - E)`, with I the mutual information, E what chance gives
        # and H the average entropy. If I does not exceed E, the value is 0.
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
    from sklearn.metrics.cluster import expected_mutual_information  # takes long to import

    used = table[table.sum(axis=1) > 0][:, table.sum(axis=0) > 0].astype(np.int64)
    return float(expected_mutual_information(used, int(used.sum()))) if used.size else float("nan")


def cramers_v(table: np.ndarray, *, bias_correction: bool = True) -> float:
    """Return Cramer's V of one table of counts; see :meth:`SideBySide.cramers_v`."""
    return float(SideBySide(np.asarray(table)).cramers_v(bias_correction=bias_correction)[0])


_BLOCK = 2**20  # pairs held at once
_MAX_FEW_FEATURES = 32  # as cheap by differences as by products
_LARGE = 1e6  # squares of larger numbers leave too few digits for the difference
_TIES = 1e-9  # statistics that differ by less, relatively, are equal: sums depend on their order

PairSums = tuple[np.ndarray, np.ndarray, np.ndarray]
Block = Callable[[np.ndarray, np.ndarray], np.ndarray]


def actual_and_permuted(n: int, m: int, n_permutations: int, seed: int) -> np.ndarray:
    """Return labels of n + m pooled rows: the actual ones, then random permutations of them."""
    rng = np.random.default_rng(seed)
    labels = np.empty((n + m, 1 + n_permutations), dtype=np.bool_, order="F")
    labels[:, 0] = np.arange(n + m) < n
    for i in range(1, 1 + n_permutations):
        labels[:, i] = rng.permutation(labels[:, 0])
    return labels


def pair_sums(rows: np.ndarray, labels: np.ndarray, block: Block) -> PairSums:
    """Return the sums of a symmetric function over pairs within, between and within two samples."""
    # All labellings take one matrix product with each block of the upper triangle, which is
    # never held as a whole.
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
    """Get squared Euclidean distances of all rows of x to all rows of y; 0 for copies, or 1e-14."""
    peak = max(np.abs(x).max(initial=0.0), np.abs(y).max(initial=0.0))
    if x.shape[1] <= _MAX_FEW_FEATURES or peak > _LARGE:
        exact: np.ndarray = cdist(x, y, "sqeuclidean")
        return exact
    squares = x @ y.T
    squares *= -2.0
    squares += np.einsum("ij,ij->i", x, x)[:, None]
    squares += np.einsum("ij,ij->i", y, y)[None, :]
    return np.maximum(squares, 0.0, out=squares)


def euclidean(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return Euclidean distances of all rows of x to all rows of y; 0 for copies, or 1e-7."""
    squares = squared_euclidean(x, y)
    return np.sqrt(squares, out=squares)


def manhattan(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return sums of absolute differences of all rows of x and all rows of y; 0 for copies."""
    distances: np.ndarray = cdist(x, y, "cityblock")
    return distances


def permutation_p_value(values: np.ndarray) -> float | None:
    """Return the share of labellings, the actual one among them, that reach the actual value."""
    if values.size < 2:
        return None
    reached = values >= values[0] - _TIES * np.abs(values).max()
    return float(reached.sum() / values.size)


# sums are those of blocks of rows, added up: the same wherever a block is summed
BLOCK = 2**20
# rows multiplied at a time where values are missing: masks of a million need not be there at once
_CHUNK = 65_536
# columns, up to which the bits of a product do not hang on how many threads make it
_NARROW = 32
# a variance below this share of the second moment is what rounding leaves of 0
_ROUNDING = 1e-11
# variance of the transformed coefficient, v / (n - k): v and k
_FISHER = {"pearson": (1.0, 3.0), "spearman": (1.06, 3.0), "kendall": (0.437, 4.0)}


class Correlations(NamedTuple):
    """Coefficients of all pairs of columns, nan where none is defined, and the rows behind them.

    Both are symmetric, of shape (n_columns, n_columns).
    """

    coefficients: np.ndarray
    n_rows: np.ndarray


def correlation_matrix(values: np.ndarray, method: str = "pearson") -> Correlations:
    """Return the correlations of all pairs of columns."""
    # 1 and -1 mean that one column is an increasing or a decreasing function of the other (a
    # straight line for "pearson"), 0 that there is no such relation.
    #
    # Infinite values are missing for "pearson", and beyond all others for the rank
    # correlations. Spearman's ranks are taken once, among all present values of a column;
    # where columns miss different rows this differs a little from ranking anew in the rows
    # that both have.
    if method == "kendall":
        return _kendall(values)
    z = _room_for(values)
    for j, column in enumerate(values.T):
        z[:, j] = _standardised(_ranks(column) if method == "spearman" else column)
    complete = not any(np.isnan(column).any() for column in z.T)
    starts = range(0, max(1, len(z)), BLOCK)
    blocks = [products(z[start : start + BLOCK], complete=complete) for start in starts]
    return correlations_of(added(blocks), len(z))


def _room_for(values: np.ndarray) -> np.ndarray:
    """Return an array of the same shape, in a file if they are in one."""
    if isinstance(values, np.memmap):
        return mapped(values.shape, np.float64)
    return np.empty(values.shape, order="F")


def _ranks(column: np.ndarray) -> np.ndarray:
    present = ~np.isnan(column)
    if present.all():
        return np.asarray(rankdata(column), dtype=np.float64)
    ranks = np.full(column.shape, np.nan)
    ranks[present] = rankdata(column[present])
    return ranks


def _standardised(column: np.ndarray) -> np.ndarray:
    """Return the column with mean 0 and deviation 1; all 0 if it does not vary."""
    present = column[np.isfinite(column)]
    moments = Moments.between(present.min(initial=np.inf), present.max(initial=-np.inf))
    if moments.vary:
        blocks = [column[start : start + BLOCK] for start in range(0, column.size, BLOCK)]
        moments = moments.centred(added([moments.sums(block) for block in blocks]))
        moments = moments.spread(added([moments.squares(block) for block in blocks]))
    return moments.standardise(column)


class Moments(NamedTuple):
    """What gives a column mean 0 and deviation 1, learned from sums of blocks of its rows."""

    scale: float  # squares of large numbers overflow
    mean: float = 0.0
    deviation: float = 1.0
    vary: bool = True

    @classmethod
    def between(cls, low: float, high: float) -> Moments:
        """Return what the least and the greatest finite value tell; of none, low is above high."""
        return cls(max(abs(low), abs(high)), vary=bool(low < high))

    def sums(self, block: np.ndarray) -> np.ndarray:
        """Return the number of finite values of some rows, and their sum."""
        values = block[np.isfinite(block)]
        return np.array([values.size, (values / self.scale).sum() if self.vary else 0.0])

    def squares(self, block: np.ndarray) -> np.ndarray:
        """Return the number of finite values of some rows, and their squared deviations."""
        values = block[np.isfinite(block)] / self.scale - self.mean
        return np.array([values.size, (values**2).sum()])

    def centred(self, sums: np.ndarray) -> Moments:
        """Return itself with the mean of all rows."""
        return self._replace(mean=sums[1] / sums[0])

    def spread(self, squares: np.ndarray) -> Moments:
        """Return itself with the deviation of all rows."""
        return self._replace(deviation=np.sqrt(squares[1] / squares[0]))

    def standardise(self, block: np.ndarray) -> np.ndarray:
        """Return some rows with mean 0 and deviation 1; all 0 if they do not vary."""
        standardised, present = np.full(block.shape, np.nan), np.isfinite(block)
        values = block[present]
        standardised[present] = (
            (values / self.scale - self.mean) / self.deviation if self.vary else 0.0
        )
        return standardised


def products(z: np.ndarray, *, complete: bool) -> np.ndarray:
    """Get the sums over rows, at most a block, behind the correlations of standardised columns."""
    z, d = np.asarray(z), z.shape[1]
    with nullcontext() if d <= _NARROW else threadpool_limits(1, user_api="blas"):
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


def added(blocks: Iterable[np.ndarray]) -> np.ndarray:
    """Return the sum of the sums of blocks, at least one, in their order."""
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
    """Return the coefficients within [-1, 1]: exactly symmetric, 1 on the diagonal."""
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
    """Return where the correlations of the population lie, by Fisher's transformation."""
    # `tanh(artanh r +- z sqrt(v / (n - k)))`, v and k being 1 and 3 for Pearson's, 1.06 and 3
    # for Spearman's, 0.437 and 4 for Kendall's coefficient. It holds for columns that are
    # jointly normal or nearly so; heavy tails make Pearson's coefficient stray further.
    #
    # Source: E. C. Fieller, H. O. Hartley, E. S. Pearson, "Tests for rank correlation
    # coefficients", Biometrika 44 (1957), doi:10.1093/biomet/44.3-4.470.
    reach = ndtri(0.5 + level / 2.0) * np.sqrt(_variance(n_rows, method))
    with np.errstate(divide="ignore", invalid="ignore"):
        z = np.arctanh(coefficients)
        low, high = np.tanh(z - reach), np.tanh(z + reach)
    wide = np.isinf(reach)  # no bound on either side, even if all few rows lie on a line
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
    """Return where the differences of two samples' correlations lie in the population."""
    # The two Fisher intervals are put together so that each side keeps its own width; see
    # fisher_interval for what they assume.
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
    # The difference of Fisher's transformed coefficients over its standard error is normal;
    # see fisher_interval for what that assumes.
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
    """Get how far groups tell numbers apart: 0 if all means are equal, 1 if nothing else varies."""
    # `eta = sqrt(SSB / SST)`: the root of the share that the groups' means have in the sum of
    # squared deviations. In small samples it is biased upwards, the more so the more groups.
    z, missing = _room_for(values), np.empty(values.shape, dtype=bool, order="F")
    for j, column in enumerate(values.T):
        standardised = _standardised(column)
        missing[:, j] = np.isnan(standardised)
        z[:, j] = np.where(missing[:, j], 0.0, standardised)
    # mean 0 and variance 1, so that the sum of squares is the number of values
    ratios = [_ratios(groups, n, z, missing) for groups, n in zip(codes.T, n_groups, strict=True)]
    varies = np.array([column.any() for column in z.T], dtype=bool)
    return np.where(varies, np.array(ratios).reshape(codes.shape[1], values.shape[1]), np.nan)


def _ratios(groups: np.ndarray, n_groups: int, z: np.ndarray, missing: np.ndarray) -> np.ndarray:
    """Return the correlation ratios of standardised columns; nan where there is one group only."""
    groups = groups.astype(np.int64)  # once, or every count would convert them
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
