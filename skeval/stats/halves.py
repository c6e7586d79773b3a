"""Intervals of a statistic from its values in halves of the rows.

`sampling_interval` is that of metrics which set `_halved`. `Metric.evaluate` splits train and
synthetic at random into two halves each, `N_HALVINGS` times, and computes the metric on both pairs
of halves. `halves_interval`, at the end, is for the difference of two statistics whose halves are
drawn apart: of subjects, and of curves of texts.
"""

from __future__ import annotations

import numpy as np
from scipy.stats import t as student

from skeval.stats.intervals import Ends

N_HALVINGS = 5
MIN_HALVED = 20  # rows of each table, under which halves say nothing: there is no interval
MAX_HALVED = 2**12  # rows of each table: the noise of more rows is that of this number, scaled
_BENT = 0.6  # of the variance of what halves have in common, see sampling_interval
# The variance of |d + z| for d of a sample that stays and z of one that is halved is at most this
# many times half of what halves show, normal both: of a sum of absolute deviations around 0
_ROUGH = 1.15


def halved_share(*n_rows: int) -> float:
    """Return which fraction of the rows of tables both halves contain together."""
    return min(1.0, MAX_HALVED / max(n_rows))


def sampling_interval(
    value: float,
    halves: np.ndarray,
    share: float = 1.0,
    confidence: float = 0.95,
    *,
    bounds: tuple[float, float] = (-np.inf, np.inf),
) -> Ends:
    """Return an interval of the expected value of a statistic of several samples."""
    # `halves` has the shape (N_HALVINGS, 2): in each row, the values of two disjoint halves of
    # all tables, which skeval/steps/halves.py draws. `share` is the part of the rows that both
    # halves together contain; it is 1 unless a table has more than MAX_HALVED rows. `bounds` are
    # those of the value, at which the interval is cut.
    #
    # Half the squared difference of two disjoint halves is on average the variance of the
    # statistic at half the size, and the variance at the full size is half of that. This is
    # correct on average for a sum of absolute deviations too. However, if the samples deviate
    # little by chance, the values of halves differ little as well, and the interval would be
    # too narrow exactly where the value is far from its expectation. The mean of both halves
    # shows this, because it varies from one halving to the next only if the statistic is not
    # linear. A part of its variance is therefore added: 0.6, with which simulated intervals
    # cover in about 95% of draws. Student's quantile has the degrees of freedom of
    # Satterthwaite. If few rows decide the statistic, the interval may be too narrow.
    #
    # Source: P. J. McCarthy, "Pseudo-replication: half samples", Review of the International
    # Statistical Institute 37 (1969), doi:10.2307/1402116.
    if not (np.isfinite(value) and np.isfinite(halves).all()):
        return None
    n, means = len(halves), halves.mean(axis=1)
    variances = np.array([float((np.diff(halves) ** 2).mean()) / 4.0, _BENT * means.var(ddof=1)])
    total = float(variances.sum())
    if total == 0.0:
        return value, value
    freedom = total**2 / float((variances**2 / [n, n - 1]).sum())
    reach = float(student.ppf(0.5 + confidence / 2.0, freedom) * np.sqrt(share * total))
    return max(bounds[0], value - reach), min(bounds[1], value + reach)


def extrapolate_halves(
    value: float,
    halves: np.ndarray,
    share: float = 1.0,
    *,
    root: bool = False,
    bounds: tuple[float, float] = (-np.inf, np.inf),
) -> float:
    """Return the value that a statistic tends to as samples grow, from its values of halves."""
    # The part that is noise shrinks as the root of the size, in a sum of squares (`root`) as
    # the size.
    factor = (2.0 / share) ** (1.0 if root else 0.5)
    limit = (factor * value - float(halves.mean())) / (factor - 1.0)
    return float(np.clip(limit, *bounds))


def linearize_halves(value: float, halves: np.ndarray, *, root: bool) -> np.ndarray:
    """Return values of halves such that their noise shrinks as the root of the size.

    With `root`, the statistic is a sum of squares: noise of its root is put on its own scale.
    """
    if not root:
        return halves
    return np.asarray(2.0 * np.sqrt(max(value, 0.0)) * np.sqrt(np.maximum(halves, 0.0)))


def halves_interval(
    difference: float,
    first: np.ndarray,
    second: np.ndarray,
    confidence: float = 0.95,
    *,
    share: float = 1.0,
) -> tuple[float, float] | None:
    """Return an interval of the difference of a statistic of two independent samples."""
    # Disjoint halves are independent samples, so that half the squared difference of their
    # values is, on average, the variance of the statistic at half the size, however rough it
    # is and however much noise adds to it: neither the bootstrap nor the jackknife can say so
    # of a supremum or of a sum of absolute values. At the full size it is taken to be half of
    # that, times 1.15, by which it is more at most for sums of absolute deviations from a
    # third sample. Student's quantile has the degrees of freedom of Satterthwaite, for
    # `n_halvings` squares on each side.
    #
    # A statistic that shrinks faster than the root of the size, as sums of squares do, has an
    # interval that is too wide; one that few rows decide may have one that is too narrow.
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
