"""Percentiles of distances, with intervals, ratios, and tests that one sample is smaller."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.special import gammaln
from scipy.stats import beta, hypergeom, ks_2samp

from skeval.stats.distributions import log_choose
from skeval.stats.intervals import quantile_interval

_LARGEST = 600.0  # log of the number of paths that the exact test can count in float64
_TAIL = 0.025
_NOISE = 1e-12  # differences that differ by less are equal
_MANY, _NEGLIGIBLE = 2_000, 1e-18  # with more places, places of negligible probability are ignored


def ratios(distances: np.ndarray, base: np.ndarray) -> np.ndarray:
    """Return distances relative to base distances, where 0/0 is 1 and x/0 is infinite."""
    out = np.full(distances.shape, np.inf)
    np.divide(distances, base, out=out, where=base > 0)
    out[(base == 0) & (distances == 0)] = 1.0
    return out


def neighbor_ratios(distances: np.ndarray) -> np.ndarray:
    """Return the distance to the nearest row divided by the distance to the second nearest."""
    return ratios(distances[:, 0], distances[:, 1])


def percentile(values: np.ndarray, level: float) -> float:
    """Return the `level` quantile, linear between order statistics, also of infinite values."""
    place = (values.size - 1) * level
    below = min(int(place), values.size - 1)
    above = min(below + 1, values.size - 1)
    low, high = (float(x) for x in np.partition(values, (below, above))[[below, above]])
    if place == below or low == high:
        return low
    return low + (place - below) * (high - low)


def percentile_interval(
    values: np.ndarray, level: float, bounds: tuple[float, float]
) -> tuple[float, float]:
    """Return the 95% interval of a population quantile, which contains the sample quantile."""
    low, high = quantile_interval(values, level)
    value = percentile(values, level)
    if (1.0 - level) ** values.size > _TAIL:
        low = bounds[0]
    if level**values.size > _TAIL:
        high = bounds[1]
    return min(low, value), max(high, value)


def bootstrap_percentiles(
    values: np.ndarray, level: float, n_bootstrap: int, rng: np.random.Generator
) -> np.ndarray:
    """Get bootstrap replicates of a percentile, shape (n_bootstrap,), without resampling rows."""
    # The rank of an order statistic of a resample follows from an order statistic of uniform
    # variables, which has a beta distribution. The next order statistic is the minimum of the
    # draws above it.
    n = values.size
    ordered, place = np.sort(values), (n - 1) * level
    below = int(place)
    ranks = beta.rvs(below + 1, n - below, size=n_bootstrap, random_state=rng)
    low = ordered[np.minimum((ranks * n).astype(np.int64), n - 1)]
    if place == below:
        return low
    ranks = ranks + (1.0 - ranks) * beta.rvs(1, n - below - 1, size=n_bootstrap, random_state=rng)
    high = ordered[np.minimum((ranks * n).astype(np.int64), n - 1)]
    return low + (place - below) * (high - low)


def ratio_interval(
    values: np.ndarray, others: np.ndarray, level: float, *, seed: int, n_bootstrap: int = 2_000
) -> tuple[float, float]:
    """Return the 95% bootstrap interval of the ratio of the percentiles of two samples."""
    rng = np.random.default_rng(seed)
    above, below = (bootstrap_percentiles(x, level, n_bootstrap, rng) for x in (values, others))
    replicates = ratios(above, below)
    ratio = percentile_ratio(values, others, level)
    low, high = (percentile(replicates, tail) for tail in (_TAIL, 1.0 - _TAIL))
    return min(low, ratio), max(high, ratio)


def percentile_ratio(values: np.ndarray, others: np.ndarray, level: float) -> float:
    """Return the ratio of the percentiles of two samples, where 0/0 is 1 and x/0 is infinite."""
    above, below = (np.array([percentile(x, level)]) for x in (values, others))
    return float(ratios(above, below)[0])


def percentile_test(values: np.ndarray, others: np.ndarray, level: float) -> float:
    """Return the p-value that a percentile is this far below the percentile of another sample."""
    # In a random division of the pooled values, the place of the k-th of `values` is negative
    # hypergeometric. Given this place, the number of `others` in any range after the place is
    # hypergeometric. The percentile of `values` alone is not a good statistic. If many values
    # are 0, for example for copies, the percentile is 0 in nearly all divisions.
    ranks = [max(1, int(np.ceil(round(x.size * level, 9)))) for x in (values, others)]
    low, high = (
        float(np.partition(x, k - 1)[k - 1]) for x, k in zip((values, others), ranks, strict=True)
    )
    pooled = np.sort(np.concatenate([values, others]))
    gap = high - low - _NOISE * float(np.abs(pooled).max())
    sizes = values.size, others.size
    # the percentile of `values` is first, and the percentile of `others` follows after the gap
    place, share, beyond = _first(pooled.size, sizes, ranks)
    last = np.searchsorted(pooled, pooled[place - 1] + gap, side="left")
    p_value = float(share @ beyond(np.maximum(last, place)))
    if gap <= 0.0:  # or it follows the percentile of `others`, by at most the observed distance
        place, share, beyond = _first(pooled.size, sizes[::-1], ranks[::-1])
        last = np.searchsorted(pooled, pooled[place - 1] - gap, side="right")
        p_value += float(share @ (1.0 - beyond(np.maximum(last, place))))
    return min(1.0, p_value)


def _first(
    n_rows: int, sizes: tuple[int, ...], ranks: list[int]
) -> tuple[np.ndarray, np.ndarray, Callable[[np.ndarray], np.ndarray]]:
    """Return the possible places of the first sample's order statistic before the other's."""
    (n, m), (k, k_other) = sizes, ranks
    place = np.arange(k, k + k_other)
    logs = log_choose(place - 1, k - 1) + log_choose(n_rows - place, n - k)
    share = np.exp(logs - log_choose(n_rows, n))
    if place.size > _MANY:
        place, share = place[share > _NEGLIGIBLE], share[share > _NEGLIGIBLE]
    passed = place - k

    left = (k_other - passed - 1, n_rows - place, m - passed)
    return place, share, lambda to: hypergeom.cdf(*left, to - place)


def smaller_test(values: np.ndarray, others: np.ndarray) -> tuple[float, float]:
    """Get the one-sided Kolmogorov-Smirnov statistic and p-value for smaller `values`."""
    n, m = values.size, others.size
    log_paths = gammaln(n + m + 1) - gammaln(n + 1) - gammaln(m + 1)
    method = "exact" if n == m or log_paths < _LARGEST else "asymp"
    test = ks_2samp(values, others, alternative="greater", method=method)
    return float(test.statistic), float(test.pvalue)
