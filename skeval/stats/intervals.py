"""Intervals of fractions, differences of fractions, ratios, and quantiles."""

from __future__ import annotations

from functools import lru_cache
from typing import Literal

import numpy as np
from scipy.stats import beta, binom, norm

Varied = Literal["halves", "rows"]
Ends = tuple[float, float] | None


@lru_cache
def normal_quantile(confidence: float) -> float:
    """Return how many standard errors an interval of a normal estimate extends to each side."""
    return float(norm.ppf((1.0 + confidence) / 2.0))


def wilson(k: float, n: float, confidence: float = 0.95) -> tuple[float, float]:
    """Return Wilson's score interval of a fraction."""
    # Source: E. B. Wilson, "Probable inference, the law of succession, and statistical
    # inference", JASA 22 (1927) 209-212, doi:10.1080/01621459.1927.10502953.
    z = normal_quantile(confidence)
    centre = (k + z * z / 2.0) / (n + z * z)
    half = z / (n + z * z) * float(np.sqrt(max(0.0, k * (n - k)) / n + z * z / 4.0))
    low = 0.0 if k <= 0 else max(0.0, centre - half)
    high = 1.0 if k >= n else min(1.0, centre + half)
    return low, high


def clopper_pearson(k: int, n: int, confidence: float = 0.95) -> tuple[float, float]:
    """Return the exact interval of a fraction, whose coverage is at least the confidence."""
    # Each bound by itself is a one-sided bound at `(1 + confidence) / 2`.
    tail = (1.0 - confidence) / 2.0
    low = float(beta.ppf(tail, k, n - k + 1)) if k > 0 else 0.0
    high = float(beta.ppf(1.0 - tail, k + 1, n - k)) if k < n else 1.0
    return low, high


def to_its_error(stated: dict[str, float]) -> dict[str, float]:
    """Round an estimate with its error and interval to the significant digits of the error."""
    # An attacker who knows all rows except one could compute this row from an exact mean. By the
    # rule of the Particle Data Group, two digits of the error are kept if they are between 10 and
    # 35. Otherwise, one digit is kept.
    error = stated["error"]
    if not 0.0 < error < np.inf:
        return stated
    decimals = -int(np.floor(np.log10(error / 3.55)))
    return {name: round(number, decimals) for name, number in stated.items()}


def newcombe(
    k: float, n: float, k_other: float, n_other: float, confidence: float = 0.95
) -> tuple[float, float]:
    """Return the hybrid score interval of the difference of two independent fractions."""
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


def fieller(
    above: float, variance_above: float, below: float, variance_below: float, reach: float
) -> tuple[float, float]:
    """Return the interval of `above / below` for two independent normal estimates."""
    # The interval contains each ratio r for which `above - r * below` is at most `reach` standard
    # errors from 0. It is infinite if `below` is at most `reach` standard errors from 0.
    #
    # Source: E. C. Fieller, "Some problems in interval estimation", Journal of the Royal
    # Statistical Society B 16 (1954) 175-185, doi:10.1111/j.2517-6161.1954.tb00159.x.
    a, b = below**2 - reach**2 * variance_below, above * below
    if a <= 0.0:
        return -np.inf, np.inf
    root = float(np.sqrt(max(0.0, b**2 - a * (above**2 - reach**2 * variance_above))))
    return (b - root) / a, (b + root) / a


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
