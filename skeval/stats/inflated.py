"""Intervals of measures that noise makes larger: gaps between groups, calibration errors.

Such a measure is a norm of estimates. Where the estimates are 0 it shows their noise; the bootstrap
adds noise of the same size once more, so that quantiles of replicates lie beside the true value.
"""

from __future__ import annotations

import numpy as np

__all__ = ["difference_interval", "inflated_interval"]

# noise of scale 1 makes a norm of noise, a second one sqrt(2) of it: from what the bootstrap adds
# to the measure, what noise has added already is at most this many times as much
_SEEN = 1.0 / (np.sqrt(2.0) - 1.0)


def inflated_interval(
    replicates: np.ndarray, confidence: float = 0.95
) -> tuple[float, float] | None:
    """Return an interval of a measure that noise makes larger, not below 0.

    Parameters
    ----------
    replicates : ndarray of shape (1 + n_replicates,)
        The measure, then its bootstrap replicates.
    confidence : float, default=0.95
        In (0, 1).

    Returns
    -------
    tuple of float or None
        None where the measure, or too many replicates, are not defined.
    """
    found = difference_interval(replicates, np.zeros_like(replicates), confidence)
    return None if found is None else (max(found[0], 0.0), found[1])


def difference_interval(
    first: np.ndarray, second: np.ndarray, confidence: float = 0.95
) -> tuple[float, float] | None:
    """Return an interval of the difference of two measures that noise makes larger.

    Parameters
    ----------
    first, second : ndarray of shape (1 + n_replicates,)
        Each measure, then its replicates; the same bootstrap samples for both.
    confidence : float, default=0.95
        In (0, 1).

    Returns
    -------
    tuple of float or None
        None where the difference, or too many replicates, are not defined.

    Notes
    -----
    The reflected quantiles of the replicates' differences around their mean, widened by the bias
    that each measure may have: downwards by that of `first`, upwards by that of `second`.
    """
    differences = first - second
    value, known = float(differences[0]), ~np.isnan(differences[1:])
    if np.isnan(value) or not known.any() or 2 * known.sum() < known.size:
        return None
    moves = differences[1:][known]
    low, high = np.quantile(moves - moves.mean(), [(1 - confidence) / 2, (1 + confidence) / 2])
    biases = [max(float(part[1:][known].mean() - part[0]), 0.0) * _SEEN for part in (first, second)]
    return min(value - high - biases[0], value), max(value - low + biases[1], value)
