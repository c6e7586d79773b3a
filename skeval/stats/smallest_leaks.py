"""The smallest leak that a test would probably have found, from the distribution of the test."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.special import betainc, betaincinv
from scipy.stats import binom, hypergeom, norm

from skeval.stats.permutation_tests import UPPER

POWER = 0.8  # the probability to find a leak of this size
# Levels of a test. The level that applies depends on the other tests of a suite. `excess_at`
# interpolates between these levels.
LEVELS = (0.05, 0.005, 0.0005)
_REACH = float(norm.isf(1.0 - POWER))  # standard deviations above a threshold for that power
_N_HELD = 15  # numbers of hits of holdout rows over which the exact power is averaged
_N_HALVINGS = 24
_NEVER = 1e6  # replaces an infinite excess


def smallest_leak(excess: Callable[[float], float], expected: float) -> dict[str, Any]:
    """Return the smallest excess over the expected rate that is found, by the level of the test.

    An excess that is impossible for a rate is infinite.
    """
    room = 1.0 - expected
    excesses = [excess(level) for level in LEVELS]
    shown = [one if one <= room else math.inf for one in excesses]
    return {"power": POWER, "levels": list(LEVELS), "excess": shown}


def excess_at(level: float, levels: list[float], excesses: list[float]) -> float:
    """Return the smallest excess at a level between the levels of :func:`smallest_leak`."""
    # The excess is nearly linear in the threshold of a normal statistic.
    finite = np.minimum(excesses, _NEVER)
    excess = float(np.interp(norm.isf(level), norm.isf(levels), finite))
    return excess if excess <= 1.0 else math.inf


def threshold_of(level: float, upper: float | None = None) -> float:
    """Return how many standard deviations a statistic must reach to be significant.

    `upper` is the 90% quantile of random relabelings, by default of a normal distribution.
    """
    return float(norm.isf(_level_of_one(level, upper)))


def _level_of_one(level: float, upper: float | None) -> float:
    """Return the level of one normal statistic at which the largest of several has this level."""
    # There are at least 200 relabelings, which are too few for the quantile at a small level.
    # Therefore, the tail above the 90% quantile is assumed to be the tail of a normal statistic, or
    # of the largest of several normal statistics.
    return level if upper is None else level * float(norm.sf(upper)) / (1.0 - UPPER)


def smallest_shift(
    level: float, spread: float, mean: float = 0.0, upper: float | None = None
) -> float:
    """Return the smallest shift of a statistic with this spread over relabelings that is found.

    `mean` and `upper` describe the relabelings, in standard deviations.
    """
    return (threshold_of(level, upper) + _REACH - mean) * spread


def excess_of_scores(
    level: float, scores: np.ndarray, n_train: int, upper: float | None = None
) -> float:
    """Return the smallest excess of the mean score of training records that is found.

    The scores of both tables are in [0, 1].
    """
    rate, n_holdout = float(scores.mean()), scores.size - n_train
    if np.isin(scores, (0.0, 1.0)).all():
        return excess_of_share(_level_of_one(level, upper), rate, n_train, n_holdout)
    spread = math.sqrt(float(scores.var()) * (1.0 / n_train + 1.0 / n_holdout))
    return excess_of_rate(level, rate, spread, (n_train, n_holdout), upper)


def excess_of_rate(
    level: float, rate: float, spread: float, sizes: tuple[int, int], upper: float | None = None
) -> float:
    """Return the smallest excess over a rate that is found.

    `spread` is the deviation of the difference of the two rates over relabelings.
    """
    # The spread increases with the rate. Its ratio to the spread of independent successes is
    # assumed to be constant.
    n_train, n_holdout = sizes
    per_row = 1.0 / n_train + 1.0 / n_holdout
    part = spread**2 / (rate * (1.0 - rate) * per_row) if 0.0 < rate < 1.0 else 1.0
    threshold = threshold_of(level, upper)

    def is_found(excess: float) -> bool:
        leaking, pooled = rate + excess, rate + excess * n_train / (n_train + n_holdout)
        of_null = part * pooled * (1.0 - pooled) * per_row
        of_leak = part * (leaking * (1.0 - leaking) / n_train + rate * (1.0 - rate) / n_holdout)
        needed = threshold * math.sqrt(of_null) + _REACH * math.sqrt(of_leak) + per_row / 2.0
        return excess >= needed

    return _least(is_found, 1.0 - rate)


def excess_of_share(level: float, rate: float, n_train: int, n_holdout: int) -> float:
    """Return the smallest excess over a rate that Fisher's exact test of two fractions finds."""
    middles = (np.arange(_N_HELD) + 0.5) / _N_HELD
    held, counts = np.unique(binom.ppf(middles, n_holdout, rate), return_counts=True)
    low, high = np.zeros(held.size), np.full(held.size, n_train + 1.0)
    # find the smallest significant number of hits for each number of holdout hits
    while (high - low > 1.0).any():
        middle = np.floor((low + high) / 2.0)
        p_values = hypergeom.sf(middle - 1.0, n_train + n_holdout, middle + held, n_train)
        low, high = (
            np.where(p_values > level, middle, low),
            np.where(p_values > level, high, middle),
        )
    held, high, counts = (part[high <= n_train] for part in (held, high, counts))

    def is_found(excess: float) -> bool:
        power = counts @ betainc(high, n_train - high + 1.0, min(1.0, rate + excess)) / _N_HELD
        return bool(power >= POWER)

    return _least(is_found, 1.0 - rate)


def _least(is_found: Callable[[float], bool], room: float) -> float:
    """Return the smallest excess that is found, or infinity if the largest is not found."""
    if not is_found(room):
        return math.inf
    low, high = 0.0, room
    for _ in range(_N_HALVINGS):
        middle = (low + high) / 2.0
        low, high = (low, middle) if is_found(middle) else (middle, high)
    return high


def excess_of_guesses(level: float, n_guesses: int) -> float:
    """Return the smallest excess of correct guesses over one half that the binomial test finds."""
    fewest = float(binom.isf(level, n_guesses, 0.5)) + 1.0
    if fewest > n_guesses:
        return math.inf
    return float(betaincinv(fewest, n_guesses - fewest + 1.0, POWER)) - 0.5
