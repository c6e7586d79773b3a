"""Intervals of the difference of two synthetic tables, measured against the same real rows."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.stats import norm

from skeval.stats.intervals import Ends, Varied
from skeval.stats.sampling_intervals import sampling_interval

_MIN_BEYOND = 5  # minimum number of replicates outside an end for an estimate of the quantile


class Sampled(NamedTuple):
    """A value and its variation, given the real rows."""

    value: float
    values: np.ndarray
    kind: Varied
    share: float = 1.0


def paired_interval(first: Sampled, second: Sampled, confidence: float = 0.95) -> Ends:
    """Return an interval of the difference of one measure of two synthetic tables."""
    # Both tables are compared with the same real rows. The noise of the real rows is shared, and
    # therefore it increases the interval only as far as it changes the difference.
    difference = first.value - second.value
    if not np.isfinite(difference):
        return None
    if first.kind == "rows":
        moves = first.values - second.values
        known = moves[np.isfinite(moves)]
        if known.size < 2 or 2 * known.size < moves.size:
            return None
        tail = (1 - confidence) / 2
        if tail * known.size < _MIN_BEYOND:  # too few replicates to estimate the tails
            reach = float(norm.ppf(1 - tail) * known.std(ddof=1))
            return difference - reach, difference + reach
        low, high = np.quantile(known, [tail, 1 - tail])
        return min(float(low), difference), max(float(high), difference)
    return sampling_interval(difference, first.values - second.values, first.share, confidence)


def independent_interval(
    first: float, ends: Ends, second: float, others: Ends, confidence: float = 0.95
) -> Ends:
    """Return an interval of a difference from the 95% intervals of both values."""
    # The values are assumed to be independent. Two tables that were compared with the same real
    # rows are not independent, so that the interval is usually too wide, and rarely too narrow.
    #
    # The square-and-add method computes `low = d - sqrt((a - l_a)^2 + (u_b - b)^2)`, and the other
    # end in the same way.
    #
    # Source: R. G. Newcombe, "Interval estimation for the difference between independent
    # proportions", Statistics in Medicine 17 (1998) 873-890.
    if ends is None or others is None or not np.isfinite([first, second, *ends, *others]).all():
        return None
    scale = float(norm.ppf(0.5 + confidence / 2) / norm.ppf(0.975))
    down = float(np.hypot(first - ends[0], others[1] - second)) * scale
    up = float(np.hypot(ends[1] - first, second - others[0])) * scale
    return first - second - down, first - second + up
