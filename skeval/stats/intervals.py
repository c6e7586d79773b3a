"""Intervals of shares, differences and quantiles; bootstrap weights; how intervals overlap.

How far two synthetic tables are apart, measured against the same real rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Literal, NamedTuple

import numpy as np
from scipy.stats import beta, binom, norm
from scipy.stats import t as student

_CELLS = 1_000_000  # weights held at a time
_KEPT = 20_000_000  # counts, a byte each, that are kept for the next statistic of the same rows
# noise of scale 1 makes a norm of noise, a second one sqrt(2) of it: from what the bootstrap adds
# to the measure, what noise has added already is at most this many times as much
_SEEN = 1.0 / (np.sqrt(2.0) - 1.0)
_BENT = 0.6  # of the variance of what halves have in common, see sampling_interval
Varied = Literal["halves", "rows"]
Ends = tuple[float, float] | None
# The variance of |d + z| for d of a sample that stays and z of one that is halved is at most this
# many times half of what halves show, normal both: of a sum of absolute deviations around 0
_ROUGH = 1.15


def wilson(k: float, n: float, confidence: float = 0.95) -> tuple[float, float]:
    """Return Wilson's score interval of a share."""
    # Source: E. B. Wilson, "Probable inference, the law of succession, and statistical
    # inference", JASA 22 (1927) 209-212, doi:10.1080/01621459.1927.10502953.
    z = float(norm.ppf((1.0 + confidence) / 2.0))
    centre = (k + z * z / 2.0) / (n + z * z)
    half = z / (n + z * z) * float(np.sqrt(max(0.0, k * (n - k)) / n + z * z / 4.0))
    low = 0.0 if k <= 0 else max(0.0, centre - half)
    high = 1.0 if k >= n else min(1.0, centre + half)
    return low, high


def clopper_pearson(k: int, n: int, confidence: float = 0.95) -> tuple[float, float]:
    """Return the exact interval of a share, which covers at least as often as it promises."""
    # Each bound alone is a one-sided bound at `(1 + confidence) / 2`.
    tail = (1.0 - confidence) / 2.0
    low = float(beta.ppf(tail, k, n - k + 1)) if k > 0 else 0.0
    high = float(beta.ppf(1.0 - tail, k + 1, n - k)) if k < n else 1.0
    return low, high


def to_its_error(stated: dict[str, float]) -> dict[str, float]:
    """Round an estimate with its error and interval to the digits that the error leaves certain."""
    # A mean to its last digit, times the number of rows, less the rows that somebody knows,
    # is the row that they do not know. If the digits of the error are 10 to 35, two of them
    # stay, else one: the rule of the Particle Data Group.
    error = stated["error"]
    if not 0.0 < error < np.inf:
        return stated
    decimals = -int(np.floor(np.log10(error / 3.55)))
    return {name: round(number, decimals) for name, number in stated.items()}


def newcombe(
    k: float, n: float, k_other: float, n_other: float, confidence: float = 0.95
) -> tuple[float, float]:
    """Return the hybrid score interval of the difference of two independent shares."""
    # Source: R. G. Newcombe, "Interval estimation for the difference between independent
    # proportions", Statistics in Medicine 17 (1998) 873-890, method 10.
    (low, high), (low_other, high_other) = (
        wilson(k, n, confidence),
        wilson(k_other, n_other, confidence),
    )
    p, q = k / n, k_other / n_other
    below = np.hypot(p - low, high_other - q)
    above = np.hypot(high - p, q - low_other)
    return float(p - q - below), float(p - q + above)


def quantile_interval(
    values: np.ndarray, q: float, confidence: float = 0.95
) -> tuple[float, float]:
    """Return an interval of a population quantile, from the order statistics of a sample."""
    n, tail = values.size, (1.0 - confidence) / 2.0
    ordered = np.sort(values)
    # the number of values below the quantile is binomial
    below = int(binom.ppf(tail, n, q))
    above = int(binom.isf(tail, n, q)) + 1
    return float(ordered[max(below - 1, 0)]), float(ordered[min(above - 1, n - 1)])


def row_weights(n_rows: int, n_replicates: int, seed: int) -> Iterator[np.ndarray]:
    """Yield chunks of weights, shape (n_chunk, n_rows): the numbers of draws with replacement.

    They are whole numbers in single precision, which holds them exactly.
    """
    few = n_rows * n_replicates <= _KEPT
    chunks = _kept(n_rows, n_replicates, seed) if few else _drawn(n_rows, n_replicates, seed)
    for counts in chunks:
        yield counts.astype(np.float32)


@lru_cache(maxsize=2)
def _kept(n_rows: int, n_replicates: int, seed: int) -> tuple[np.ndarray, ...]:
    return tuple(_drawn(n_rows, n_replicates, seed))


def _drawn(n_rows: int, n_replicates: int, seed: int) -> Iterator[np.ndarray]:
    rng = np.random.default_rng(seed)
    step = max(1, _CELLS // max(n_rows, 1))
    for start in range(0, n_replicates, step):
        n_chunk = min(step, n_replicates - start)
        drawn = rng.integers(0, n_rows, (n_chunk, n_rows)) + n_rows * np.arange(n_chunk)[:, None]
        counts = np.bincount(drawn.ravel(), minlength=n_chunk * n_rows)
        # no row is drawn 256 times in any number of replicates that can be run
        yield counts.reshape(n_chunk, n_rows).astype(np.uint8)


def replicated(
    statistic: Callable[[np.ndarray], np.ndarray], n_rows: int, n_replicates: int, seed: int
) -> np.ndarray:
    """Return a statistic of the rows as they are, then of each bootstrap replicate."""
    parts = [statistic(np.ones((1, n_rows), dtype=np.float32))]
    parts += [statistic(weights) for weights in row_weights(n_rows, n_replicates, seed)]
    return np.concatenate(parts)


def percentile_interval(
    replicates: np.ndarray, confidence: float = 0.95
) -> tuple[float, float] | None:
    """Return the interval between quantiles of the replicates; it holds the first, the value.

    None where fewer than half of them are defined.
    """
    value, others = float(replicates[0]), replicates[1:]
    known = others[~np.isnan(others)]
    if np.isnan(value) or known.size == 0 or 2 * known.size < others.size:
        return None
    low, high = np.quantile(known, [(1 - confidence) / 2, (1 + confidence) / 2])
    return min(float(low), value), max(float(high), value)


def inflated_interval(
    replicates: np.ndarray, confidence: float = 0.95
) -> tuple[float, float] | None:
    """Return an interval of a measure that noise makes larger, not below 0."""
    interval = difference_interval(replicates, np.zeros_like(replicates), confidence)
    return None if interval is None else (max(interval[0], 0.0), interval[1])


def difference_interval(
    first: np.ndarray, second: np.ndarray, confidence: float = 0.95
) -> tuple[float, float] | None:
    """Return an interval of the difference of two measures that noise makes larger."""
    # The reflected quantiles of the replicates' differences around their mean, widened by the
    # bias that each measure may have: downwards by that of `first`, upwards by that of
    # `second`.
    differences = first - second
    value, known = float(differences[0]), ~np.isnan(differences[1:])
    if np.isnan(value) or not known.any() or 2 * known.sum() < known.size:
        return None
    moves = differences[1:][known]
    low, high = np.quantile(moves - moves.mean(), [(1 - confidence) / 2, (1 + confidence) / 2])
    biases = [max(float(part[1:][known].mean() - part[0]), 0.0) * _SEEN for part in (first, second)]
    return min(value - high - biases[0], value), max(value - low + biases[1], value)


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


def linearized(value: float, halves: np.ndarray, *, root: bool) -> np.ndarray:
    """Return values of halves such that their noise shrinks as the root of the size.

    With `root`, the statistic is a sum of squares: noise of its root is put on its own scale.
    """
    if not root:
        return halves
    return np.asarray(2.0 * np.sqrt(max(value, 0.0)) * np.sqrt(np.maximum(halves, 0.0)))


def sampling_interval(
    value: float,
    halves: np.ndarray,
    share: float = 1.0,
    confidence: float = 0.95,
    *,
    bounds: tuple[float, float] = (-np.inf, np.inf),
) -> Ends:
    """Return an interval of the expected value of a statistic of several samples."""
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


def extrapolated(
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


def interval_overlap(
    low: np.ndarray,
    high: np.ndarray,
    low_other: np.ndarray,
    high_other: np.ndarray,
    *,
    clip: bool = False,
) -> np.ndarray:
    """Return the mean of the shares of two intervals that they have in common."""
    # Source: A. F. Karr et al., "A framework for evaluating the utility of data altered to
    # protect confidentiality", The American Statistician 60 (2006) 224-232,
    # doi:10.1198/000313006X124640.
    width, other = high - low, high_other - low_other
    is_interval = np.isfinite(width) & np.isfinite(other) & (width > 0.0) & (other > 0.0)
    common = np.minimum(high, high_other) - np.maximum(low, low_other)
    common = np.maximum(common, 0.0) if clip else common
    widths = (np.where(is_interval, part, np.nan) for part in (width, other))
    return np.asarray(sum(0.5 * common / part for part in widths))


def expected_overlap(
    width: float, width_other: float, error: float, *, clip: bool = False
) -> float:
    """Return the mean overlap of two intervals whose centres differ by chance alone."""
    # Centres d apart have `min(a, b, (a + b) / 2 - |d|)` in common, a and b being the widths.
    # Two 95% intervals of equal width, of means of independent samples, overlap by `1 - 1 /
    # (1.96 sqrt(pi)) = 0.712` on average.
    shorter = min(width, width_other)
    apart, inside = 0.5 * (width + width_other), 0.5 * abs(width - width_other)
    common = shorter - _mean_beyond(inside, error)
    common += _mean_beyond(apart, error) if clip else 0.0
    return 0.5 * common * (1.0 / width + 1.0 / width_other)


def _mean_beyond(limit: float, error: float) -> float:
    """Return the mean of max(|d| - limit, 0) for normal d around 0."""
    if error == 0.0:
        return 0.0
    z = limit / error
    return float(2.0 * error * (norm.pdf(z) - z * norm.sf(z)))


_MIN_BEYOND = 5  # replicates beyond an end, for their quantile to be one


class Sampled(NamedTuple):
    """A value and how it varies, given the real rows."""

    value: float
    values: np.ndarray
    kind: Varied
    share: float = 1.0


def paired_interval(first: Sampled, second: Sampled, confidence: float = 0.95) -> Ends:
    """Return an interval of the difference of one measure of two synthetic tables."""
    # Both are measured against the same real rows, whose noise is shared: it is in the
    # interval only as far as it moves the two values apart.
    difference = first.value - second.value
    if not np.isfinite(difference):
        return None
    if first.kind == "rows":
        moves = first.values - second.values
        known = moves[np.isfinite(moves)]
        if known.size < 2 or 2 * known.size < moves.size:
            return None
        tail = (1 - confidence) / 2
        if tail * known.size < _MIN_BEYOND:  # what so few replicates show of the tails is chance
            reach = float(norm.ppf(1 - tail) * known.std(ddof=1))
            return difference - reach, difference + reach
        low, high = np.quantile(known, [tail, 1 - tail])
        return min(float(low), difference), max(float(high), difference)
    return sampling_interval(difference, first.values - second.values, first.share, confidence)


def independent_interval(
    first: float, ends: Ends, second: float, others: Ends, confidence: float = 0.95
) -> Ends:
    """Return an interval of a difference from the 95% intervals of both values."""
    # They are taken to be independent. Two tables that were measured against the same real
    # rows are not independent, so that the interval is mostly too wide, and seldom too
    # narrow.
    #
    # The square-and-add method: `low = d - sqrt((a - l_a)^2 + (u_b - b)^2)`, and so for the
    # other end.
    #
    # Source: R. G. Newcombe, "Interval estimation for the difference between independent
    # proportions", Statistics in Medicine 17 (1998) 873-890.
    if ends is None or others is None or not np.isfinite([first, second, *ends, *others]).all():
        return None
    scale = float(norm.ppf(0.5 + confidence / 2) / norm.ppf(0.975))
    down = float(np.hypot(first - ends[0], others[1] - second)) * scale
    up = float(np.hypot(ends[1] - first, second - others[0])) * scale
    return first - second - down, first - second + up
