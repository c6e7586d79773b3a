"""How the shares within nested supports of two laws compare, level by level."""

from __future__ import annotations

import numpy as np

__all__ = ["integrated_agreement", "levels_among", "rank_levels"]


def integrated_agreement(levels: np.ndarray) -> float:
    """Return 1 less twice the area between a distribution of levels and the diagonal.

    Parameters
    ----------
    levels : ndarray of shape (n,)
        The level from which on each row counts, in [0, 1]; infinite if it never does.

    Returns
    -------
    float
        1 if the share that counts at each level is that level; 0 if none or all count throughout.

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.stats.supports import integrated_agreement
    >>> integrated_agreement(np.array([0.5, 0.5, 0.25, 0.25])), integrated_agreement(np.ones(3))
    (0.625, 0.0)
    """
    steps = np.sort(levels[levels <= 1.0])
    share = np.arange(steps.size + 1) / levels.size
    ends = np.concatenate([[0.0], steps, [1.0]])
    low, high = ends[:-1] - share, ends[1:] - share
    # the integral of |a - c| is (a - c) |a - c| / 2
    area = (high * np.abs(high) - low * np.abs(low)).sum() / 2.0
    return float(np.clip(1.0 - 2.0 * area, 0.0, 1.0))


def levels_among(values: np.ndarray, reference: np.ndarray) -> np.ndarray:
    """Return the least level whose quantile of the reference reaches each value; infinite if none.

    Quantiles are interpolated linearly.

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.stats.supports import levels_among
    >>> levels_among(np.array([0.0, 2.5, 9.0]), np.array([1.0, 2.0, 3.0]))
    array([0.  , 0.75,  inf])
    """
    ordered = np.sort(reference)
    at = np.searchsorted(ordered, values, side="left")
    after = np.minimum(at, ordered.size - 1)
    before = np.maximum(at - 1, 0)
    width = ordered[after] - ordered[before]
    part = np.divide(values - ordered[before], width, out=np.zeros(values.shape), where=width > 0)
    levels = (before + part) / max(1, ordered.size - 1)
    return np.where(at == 0, 0.0, np.where(at == ordered.size, np.inf, levels))


def rank_levels(values: np.ndarray) -> np.ndarray:
    """Return the share of the values that are at most each of them.

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.stats.supports import rank_levels
    >>> rank_levels(np.array([3.0, 1.0, 3.0, 7.0]))
    array([0.75, 0.25, 0.75, 1.  ])
    """
    return np.searchsorted(np.sort(values), values, side="right") / values.size
