"""Scores between 0 and 1, by the bounds of a scale or by what fresh real rows have; their means."""

from __future__ import annotations

import math

import numpy as np


def bounded_score(
    value: float, bounds: tuple[float, float], *, greater_is_better: bool
) -> tuple[float, str]:
    """Return where a value lies between the bounds of its scale, 1 being the good end.

    Parameters
    ----------
    value : float
        Of a metric.
    bounds : tuple of (float, float)
        The least and the greatest value possible.
    greater_is_better : bool
        Which end is the good one.

    Returns
    -------
    score : float
        In [0, 1].
    reason : str
        Why there is none, if there is not.

    Examples
    --------
    >>> from skeval.stats.overall import bounded_score
    >>> bounded_score(0.25, (0.0, 1.0), greater_is_better=False)
    (0.75, '')
    """
    worst, best = bounds if greater_is_better else bounds[::-1]
    if not (math.isfinite(worst) and math.isfinite(best) and worst != best):
        return float("nan"), "its scale is not bounded, and it has no baseline to count by"
    return min(1.0, max(0.0, (value - worst) / (best - worst))), ""


def calibrated_score(
    value: float, baseline: float, bounds: tuple[float, float], *, greater_is_better: bool
) -> tuple[float, str, str]:
    """Return how far a value is from the bad end of its scale, fresh real rows being at 1.

    Parameters
    ----------
    value : float
        Of a metric.
    baseline : float
        What fresh real rows have.
    bounds : tuple of (float, float)
        The least and the greatest value possible.
    greater_is_better : bool
        Which end is the good one.

    Returns
    -------
    score : float
        In [0, 1]; 1 also for what is better than fresh real rows.
    scale : str
        "baseline" where the bad end has a bound, "ratio" where it has none.
    reason : str
        Why there is none, if there is not.

    Examples
    --------
    >>> from skeval.stats.overall import calibrated_score
    >>> calibrated_score(0.4, 0.1, (0.0, float("inf")), greater_is_better=False)
    (0.25, 'ratio', '')
    """
    worst, best = bounds if greater_is_better else bounds[::-1]
    if not math.isfinite(baseline):
        return float("nan"), "", "its baseline is infinite"
    if math.isfinite(worst):
        if baseline <= worst if greater_is_better else baseline >= worst:
            return float("nan"), "", "fresh real rows have the worst value already"
        return min(1.0, max(0.0, (value - worst) / (baseline - worst))), "baseline", ""
    if greater_is_better or best < 0.0:
        return float("nan"), "", "its worst value has no bound, and its scale no zero"
    if baseline <= 0.0:
        return float("nan"), "", "its worst value has no bound, and fresh real rows have 0"
    return min(1.0, baseline / value) if value > 0.0 else 1.0, "ratio", ""


def weighted_mean(scores: np.ndarray, weights: np.ndarray, mean: str) -> float:
    """Return the mean of scores in [0, 1].

    Parameters
    ----------
    scores : ndarray of shape (n,)
        In [0, 1].
    weights : ndarray of shape (n,)
        Above 0.
    mean : {"arithmetic", "geometric", "min"}
        Which one; "min" knows no weights.

    Returns
    -------
    float
        Between the least and the greatest score; nan of none.

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.stats.overall import weighted_mean
    >>> scores, weights = np.array([1.0, 0.25]), np.array([1.0, 1.0])
    >>> [weighted_mean(scores, weights, mean) for mean in ("arithmetic", "geometric", "min")]
    [0.625, 0.5, 0.25]
    """
    if scores.size == 0:
        return float("nan")
    low, high = float(scores.min()), float(scores.max())
    if mean == "min" or (mean == "geometric" and low == 0.0):
        return low
    shares = weights / weights.max()  # tiny ones must not sum up to nothing, nor huge ones overflow
    found = (
        np.average(scores, weights=shares)
        if mean == "arithmetic"
        else np.exp(np.average(np.log(scores), weights=shares))
    )
    return min(high, max(low, float(found)))
