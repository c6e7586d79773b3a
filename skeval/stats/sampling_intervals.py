"""Intervals of a statistic from its values in halves of the rows.

`sampling_interval` is for metrics that set `_halved`. It is called by core/intervals.py. The
training and the synthetic data are split at random into two halves each, `N_HALVINGS` times
(steps/halvings.py), and the metric is computed on both pairs of halves. To compare two synthetic
tables, there are `N_HALVINGS_OF_PAIRS`, because such comparisons have higher confidence levels, at
which Student's quantile of few halvings is large. `halves_interval` is for the difference of two
statistics whose halves are drawn independently, for example of subjects and of curves of texts.
"""

from __future__ import annotations

import numpy as np
from scipy.stats import t as student

from skeval.stats.intervals import Ends

N_HALVINGS = 8
N_HALVINGS_OF_PAIRS = 16
UNCHANGED = np.zeros((N_HALVINGS, 2))  # other extremes do not matter
MIN_HALVED = 20  # minimum number of rows per table, because smaller halves are not informative
MAX_HALVED = 2**13  # maximum number of rows per table, from which the noise is extrapolated
MAX_WITHOUT_EXTREMES = 500  # in smaller tables, halves show enough noise of extreme values
# The variance of the value is at least this part of the variance of the mean of both halves. See
# sampling_interval.
_MIN_PART = 0.6
# The variance of `extremes` is estimated from eight values, whose distribution is estimated from
# 10 to 30 largest values of each column. The degrees of freedom of both are 7 and about 6 to 15.
_FREEDOM_OF_EXTREMES = 4
# Let d be normal and fixed, and let z be the normal deviation of a sample that is halved. The
# variance of |d + z| is at most this factor times half of the variance that halves show. This is
# the case of a sum of absolute deviations around 0.
_ROUGH = 1.15


def halved_share(*n_rows: int) -> float:
    """Return the fraction of the rows of tables that both halves contain together."""
    return min(1.0, MAX_HALVED / max(n_rows))


def two_halves(n_rows: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the positions of two disjoint random halves of rows."""
    order = np.random.default_rng(seed).permutation(n_rows)
    return order[: n_rows // 2], order[n_rows // 2 : n_rows // 2 * 2]


def sampling_interval(
    value: float,
    halves: np.ndarray,
    share: float = 1.0,
    confidence: float = 0.95,
    *,
    extremes: np.ndarray = UNCHANGED[:, 0],
    bounds: tuple[float, float] = (-np.inf, np.inf),
) -> Ends:
    """Return an interval of the expected value of a statistic of several samples."""
    # `halves` has the shape (N_HALVINGS, 2): in each row, the values of two disjoint halves of
    # all tables, which steps/halvings.py draws. `share` is the fraction of the rows that both
    # halves together contain. It is 1 unless a table has more than MAX_HALVED rows. `extremes` are
    # values of these rows in which the training data have other extremes (steps/extremes.py), and
    # `bounds` are the bounds of the value, at which the interval is cut.
    #
    # Half the squared difference of two disjoint halves is on average the variance of the
    # statistic at half the size, and the variance at the full size is half of that. This is
    # correct on average for a sum of absolute deviations too. However, if the samples deviate
    # little by chance, the values of halves differ little as well, and the interval would be
    # too narrow exactly where the value is far from its expectation. The mean of both halves
    # shows this, because it varies from one halving to the next only if the statistic is not
    # linear. Therefore, a part of the variance of this mean is the minimum, of a size for which
    # simulated intervals cover the expected value in about 95% of the draws. Student's quantile has
    # the degrees of freedom of Satterthwaite.
    #
    # If the largest value of a column determines bins of equal width or a scale, its noise does not
    # shrink with the table as `share` assumes. The variance of `extremes` is therefore added, of
    # which the halves contain the fraction `share / 2`.
    #
    # Source: P. J. McCarthy, "Pseudo-replication: half samples", Review of the International
    # Statistical Institute 37 (1969), doi:10.2307/1402116.
    if not all(np.isfinite(part).all() for part in (value, halves, extremes)):
        return None
    n = len(halves)
    apart = share * float((np.diff(halves) ** 2).mean()) / 4.0
    of_means = share * float(halves.mean(axis=1).var(ddof=1))
    of_halves, freedom_of_halves = max((apart, n), (_MIN_PART * of_means, n - 1))
    variances = np.array([of_halves, (1.0 - share / 2.0) * extremes.var(ddof=1)])
    total = float(variances.sum())
    if total == 0.0:
        return value, value
    freedoms = [freedom_of_halves, min(_FREEDOM_OF_EXTREMES, extremes.size - 1)]
    freedom = total**2 / float((variances**2 / freedoms).sum())
    reach = float(student.ppf(0.5 + confidence / 2.0, freedom) * np.sqrt(total))
    return max(bounds[0], value - reach), min(bounds[1], value + reach)


def extrapolate_halves(
    value: float,
    halves: np.ndarray,
    share: float = 1.0,
    *,
    root: bool = False,
    bounds: tuple[float, float] = (-np.inf, np.inf),
) -> float:
    """Return the limit of a statistic for large samples, extrapolated from its halves."""
    # The noise shrinks with the root of the size, and in a sum of squares (`root`) with the size.
    factor = (2.0 / share) ** (1.0 if root else 0.5)
    limit = (factor * value - float(halves.mean())) / (factor - 1.0)
    return float(np.clip(limit, *bounds))


def lasting_noise(extremes: np.ndarray) -> np.ndarray:
    """Return values with other extremes whose noise does not shrink with the size."""
    # `extremes` has the values of all rows that are halved, and of half of these rows. Other ends
    # of bins also move rows to other bins. This noise is twice as large in half of the rows, and
    # halves already contain it. Therefore, the lasting variance is twice the variance in all rows
    # minus the variance in half of the rows.
    whole, half = extremes.T
    if not np.isfinite(extremes).all() or np.ptp(whole) == 0.0:
        return np.asarray(whole)  # all noise is assumed to last if half of the rows are too few
    variance = float(whole.var(ddof=1))
    lasting = max(0.0, 2.0 * variance - float(half.var(ddof=1)))
    return np.asarray(whole.mean() + (whole - whole.mean()) * np.sqrt(lasting / variance))


def linearize_halves(value: float, halves: np.ndarray, share: float = 1.0) -> np.ndarray:
    """Return values of a sum of squares such that their noise shrinks with the root of the size."""
    # The noise of a statistic that shrinks with the size of the table, such as a sum of squared
    # deviations that are noise, shrinks as fast as its value. The noise of all other statistics
    # shrinks with the root of the size, for example if the value is a sum of absolute deviations,
    # or if real differences determine it. How much larger the halves are shows how fast the value
    # shrinks.
    if not np.isfinite(halves).all():
        return halves
    mean, ratio_of_sizes = float(halves.mean()), 2.0 / share
    growth = mean / value if value > 0.0 else ratio_of_sizes
    factor = np.clip(np.sqrt(ratio_of_sizes) / max(growth, 1.0), ratio_of_sizes**-0.5, 1.0)
    return np.asarray(mean + (halves - mean) * factor)


def halves_interval(
    difference: float,
    first: np.ndarray,
    second: np.ndarray,
    confidence: float = 0.95,
    *,
    share: float = 1.0,
) -> tuple[float, float] | None:
    """Return an interval of the difference of a statistic of two independent samples."""
    # Disjoint halves are independent samples. Therefore, half the squared difference of their
    # values is on average the variance of the statistic at half the size. This is also true for
    # statistics that are not smooth, for example for a supremum or a sum of absolute values, for
    # which the bootstrap and the jackknife are not valid. The variance at the full size is
    # estimated as half of this variance times 1.15. The factor is the maximum for sums of absolute
    # deviations from a third sample. Student's quantile has the degrees of freedom of
    # Satterthwaite, for `n_halvings` squares on each side.
    #
    # If a statistic shrinks faster than the root of the size, as sums of squares do, the interval
    # is too wide. If few rows determine the statistic, the interval may be too narrow.
    #
    # Source: P. J. McCarthy, "Pseudo-replication: half samples", Review of the International
    # Statistical Institute 37 (1969), doi:10.2307/1402116.
    if not (np.isfinite(difference) and np.isfinite(first).all() and np.isfinite(second).all()):
        return None
    squares = [
        _ROUGH * share * np.diff(halves, axis=1).ravel() ** 2 / 4.0 for halves in (first, second)
    ]
    variances = np.array([part.mean() for part in squares])
    total = float(variances.sum())
    if total == 0.0:
        return difference, difference
    freedom = total**2 / float((variances**2 / [part.size for part in squares]).sum())
    reach = float(student.ppf(0.5 + confidence / 2.0, freedom)) * float(np.sqrt(total))
    return difference - reach, difference + reach
