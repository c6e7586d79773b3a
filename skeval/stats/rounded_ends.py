"""Ends of a range, rounded outwards so that no end equals the value of a single row."""

from __future__ import annotations

import numpy as np

SMALLEST = 1e-300  # a number below is as good as 0


def rounded_ends(low: float, high: float, limit: float = np.inf) -> tuple[float, float]:
    """Return the ends moved outwards to even multiples of the second digit of their distance."""
    # Therefore, an end does not reveal the value of a single row.
    size = max(abs(low), abs(high), SMALLEST)
    finest = max(size * 1e-12, SMALLEST)  # finer steps are lost in the ends' own digits
    span = high - low if high > low else 0.1 * size if size > SMALLEST else 10.0
    step = 2.0 * 10.0 ** (np.floor(np.log10(max(span, finest))) - 1.0)
    low, high = np.floor(low / step) * step, np.ceil(high / step) * step
    if high <= low:
        low, high = low - step, high + step
    return max(float(low), -limit), min(float(high), limit)
