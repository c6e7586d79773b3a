"""The overlap of two intervals, and its expected value for two samples of one population."""

from __future__ import annotations

import numpy as np
from scipy.stats import norm


def interval_overlap(
    low: np.ndarray,
    high: np.ndarray,
    low_other: np.ndarray,
    high_other: np.ndarray,
    *,
    clip: bool = False,
) -> np.ndarray:
    """Return the mean of the fractions of two intervals that they have in common."""
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
    """Return the expected overlap of two intervals whose centers differ at random."""
    # Two intervals of widths a and b whose centers differ by d have `min(a, b, (a + b) / 2 - |d|)`
    # in common. For example, 95% intervals with equal widths for the means of independent samples
    # have an overlap of `1 - 1 / (1.96 sqrt(pi)) = 0.712` on average.
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
