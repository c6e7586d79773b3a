"""The largest values that further samples of the same distribution might have."""

from __future__ import annotations

import numpy as np
from scipy.stats import gumbel_r

MIN_LARGEST = 10  # minimum number of values from which the noise of the maximum is estimated
_MAX_SPAN = 100.0  # ratio of these values up to which their logarithms are used
_MIN_FALL, _MAX_FALL = -1.0, 2.0  # powers by which scales become smaller
_MAX_RATIO = 1e6  # of two scales, so that their logarithm is finite if one is 0
_MAX_LOG, _MAX = 700.0, 2.0**1022  # larger numbers or differences may overflow


def maxima_of_further_samples(values: np.ndarray, n_samples: int) -> np.ndarray | None:
    """Return the maxima of samples in ascending order, or None if they do not vary."""
    # If a distribution has an exponential tail, the gaps between the largest values of a sample are
    # independent exponential variables, and the gap below the r-th largest value has a mean of
    # scale / r. The maximum has a Gumbel distribution, whose mean and variance the returned maxima
    # have. If the largest values are positive, the same is assumed of their logarithms, because
    # incomes and amounts have heavier tails, unless they are so different that they belong to no
    # common tail, for example values below and above a detection limit.
    #
    # If a tail is lighter than exponential, the scale becomes smaller toward the maximum, as a
    # power of the level log(n / r). For example, the power is 1/2 for normal values and 1 for the
    # logarithms of exponential values. It is estimated from the other values of the largest tenth.
    #
    # Source: A. Renyi, "On the theory of order statistics", Acta Mathematica Academiae Scientiarum
    # Hungaricae 4 (1953), doi:10.1007/BF02127580.
    n_largest = max(MIN_LARGEST, int(0.3 * np.sqrt(values.size)))
    if values.size <= 2 * n_largest:
        return None
    largest, smallest = np.partition(values, [-n_largest - 1, -1])[[-1, -n_largest - 1]]
    if largest == smallest:
        return None
    tail = _without_ties(values, max(n_largest, values.size // 10))
    unit = float(np.abs(tail).max())
    tail /= unit
    if has_logs := tail[-n_largest - 1] > 0.0 and largest / _MAX_SPAN <= smallest:
        tail = np.log(tail[tail > 0.0])
    ranks = np.arange(tail.size - 1, 0, -1)
    gaps, levels = np.diff(tail) * ranks, np.log(values.size / ranks)
    fall = _fall_of_scale(gaps[:-n_largest], levels[:-n_largest])
    ranks, gaps, levels = ranks[-n_largest:], gaps[-n_largest:], levels[-n_largest:]
    scales = gaps.mean() * (levels / levels.mean()) ** -fall
    deviations = scales[-1] * (_gumbel_scores(n_samples) - gumbel_r.mean())
    # The variance needs the squared scale, and the squared mean of n gaps is larger on average, by
    # a factor of (n + 1) / n.
    deviations *= np.sqrt(n_largest / (n_largest + 1))
    maxima = tail[-n_largest - 1] + (scales / ranks).sum() + deviations
    if has_logs:
        maxima = np.exp(np.minimum(maxima, _MAX_LOG))
    # numbers that are never positive, for example negative ages, are not positive in other samples
    return np.minimum(maxima, _MAX / unit if largest > 0.0 else 0.0) * unit


def _without_ties(values: np.ndarray, n_largest: int) -> np.ndarray:
    """Return the largest values and the next one in ascending order, with equal values apart."""
    # Equal values are rounded values, for example of counts. They are placed at equal distances
    # within the step to which they are rounded, because their gaps would otherwise be 0 or a step.
    smallest = np.partition(values, -n_largest - 1)[-n_largest - 1]
    distinct, counts = np.unique(values[values >= smallest], return_counts=True)
    step = np.diff(distinct).min() if distinct.size > 1 else 0.0
    equal = np.repeat(counts, counts)
    place = np.arange(equal.size) - np.repeat(np.cumsum(counts) - counts, counts)
    apart = np.repeat(distinct, counts) + step * ((place + 0.5) / equal - 0.5)
    return np.asarray(apart[-n_largest - 1 :], dtype=float)


def _fall_of_scale(gaps: np.ndarray, levels: np.ndarray) -> float:
    """Return the power of the level by which the scale becomes smaller toward large values."""
    # The gaps are split into near and far gaps, whose ranks cover about equal ratios. The logarithm
    # of the mean of n exponential variables has a variance of about 1 / n. Few gaps determine the
    # power poorly, so it is shrunk toward 0, as if it had a variance of 1 among distributions.
    n_far = gaps.size - int(np.sqrt(gaps.size * MIN_LARGEST))
    if n_far <= 0 or not (far := gaps[:n_far].mean()) > 0.0:
        return 0.0
    near = max(gaps[n_far:].mean(), far / _MAX_RATIO)
    higher = np.log(levels[n_far:].mean() / levels[:n_far].mean())
    variance = 1.0 / n_far + 1.0 / (gaps.size - n_far)
    fall = higher * np.log(far / near) / (higher**2 + variance)
    return float(np.clip(fall, _MIN_FALL, _MAX_FALL))


def _gumbel_scores(n: int) -> np.ndarray:
    """Return n ascending numbers with the mean and the variance of a Gumbel distribution."""
    scores = gumbel_r.ppf((np.arange(n) + 0.5) / n)
    scores = (scores - scores.mean()) / scores.std(ddof=1)
    return np.asarray(gumbel_r.mean() + gumbel_r.std() * scores)
