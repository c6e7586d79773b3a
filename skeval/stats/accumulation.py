"""Accumulation of minimum distances: areas under its curve, how sure they are, the curve itself."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.stats import norm

from skeval.stats.intervals import clopper_pearson

__all__ = [
    "accumulation_curve",
    "area_interval",
    "jackknife_error",
    "moved_terms",
    "privacy_area",
    "privacy_terms",
    "removed_terms",
    "resemblance_area",
    "resemblance_terms",
    "scaled_distances",
]

_N_LEVELS = 100
_COARSE = 10  # levels at which it is told that there is no row
FEW = 10  # rows too few for a normal law, or to tell of without telling of one of them


def scaled_distances(distances: np.ndarray, largest: float) -> np.ndarray:
    """Return distances in units of the largest one, at most 1.

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.stats.accumulation import scaled_distances
    >>> scaled_distances(np.array([0.0, 1.0, 4.0]), 2.0)
    array([0. , 0.5, 1. ])
    """
    if largest > 0:
        return np.minimum(1.0, distances / largest)
    return (distances > 0).astype(float)


def privacy_terms(distances: np.ndarray, threshold: float) -> np.ndarray:
    """Return each row's part of the area left of the threshold: 1 at distance 0, 0 beyond it."""
    return np.maximum(0.0, threshold - distances) / threshold


def resemblance_terms(distances: np.ndarray, threshold: float) -> np.ndarray:
    """Return each row's part of the area right of the threshold: 1 within it, 0 at distance 1."""
    return (1.0 - np.maximum(distances, threshold)) / (1.0 - threshold)


def privacy_area(distances: np.ndarray, threshold: float) -> float:
    """Return the area under the accumulation curve left of the threshold, as a share of the most.

    Parameters
    ----------
    distances : ndarray of shape (n_rows,)
        Distance of each row to its nearest row of the other table, in [0, 1].
    threshold : float
        In (0, 1).

    Returns
    -------
    float
        ``1 / t`` times the integral of F from 0 to t, F(u) the share of distances at most u,
        exactly: the mean of ``max(0, t - x) / t``. 1 if all rows are copies, 0 if none lies within
        the threshold.

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.stats.accumulation import privacy_area
    >>> round(privacy_area(np.array([0.0, 0.1, 0.3, 0.6]), 0.2), 6)
    0.375
    """
    return float(privacy_terms(distances, threshold).mean())


def resemblance_area(distances: np.ndarray, threshold: float) -> float:
    """Return the area under the accumulation curve right of the threshold, as a share of the most.

    Parameters
    ----------
    distances : ndarray of shape (n_rows,)
        Distance of each row to its nearest row of the other table, in [0, 1].
    threshold : float
        In (0, 1).

    Returns
    -------
    float
        ``1 / (1 - t)`` times the integral of F from t to 1, exactly: the mean of
        ``(1 - max(x, t)) / (1 - t)``. 1 if all rows lie within the threshold, 0 if all are as far
        as can be.

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.stats.accumulation import resemblance_area
    >>> round(resemblance_area(np.array([0.0, 0.1, 0.3, 0.6]), 0.2), 6)
    0.84375
    """
    return float(resemblance_terms(distances, threshold).mean())


def removed_terms(terms: np.ndarray) -> np.ndarray:
    """Return by how much the mean of some terms changes where each of them is left out.

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.stats.accumulation import removed_terms
    >>> removed_terms(np.array([0.0, 0.0, 3.0]))
    array([ 0.5,  0.5, -1. ])
    """
    return (terms.mean() - terms) / max(1, terms.size - 1)


def moved_terms(
    first: np.ndarray, second: np.ndarray, nearest: np.ndarray, n_reference: int
) -> np.ndarray:
    """Return by how much the mean of some terms changes where each reference row is left out.

    Parameters
    ----------
    first, second : ndarray of shape (n_rows,)
        Terms of the distance to the nearest, and to the second nearest reference row: what remains
        if the nearest is left out.
    nearest : ndarray of int of shape (n_rows,)
        Position of the nearest reference row.
    n_reference : int
        Number of reference rows.

    Returns
    -------
    ndarray of shape (n_reference,)

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.stats.accumulation import moved_terms
    >>> moved_terms(np.array([1.0, 0.5]), np.array([0.5, 0.5]), np.array([2, 0]), 3)
    array([ 0.  ,  0.  , -0.25])
    """
    return np.bincount(nearest, weights=second - first, minlength=n_reference) / first.size


def jackknife_error(changes: np.ndarray) -> float:
    """Return the standard error of a statistic from its changes where each row is left out.

    Examples
    --------
    Of a mean it is the usual one.

    >>> import numpy as np
    >>> from skeval.stats.accumulation import jackknife_error, removed_terms
    >>> values = np.array([1.0, 2.0, 4.0, 9.0])
    >>> bool(np.isclose(jackknife_error(removed_terms(values)), values.std(ddof=1) / 2))
    True
    """
    n = changes.size
    return float(np.sqrt((n - 1) / n * ((changes - changes.mean()) ** 2).sum()))


def area_interval(
    parts: Sequence[np.ndarray], standard_error: float, confidence: float = 0.95
) -> tuple[float, float]:
    """Return an interval of the mean of areas.

    Parameters
    ----------
    parts : sequence of ndarray
        Terms in [0, 1] of each direction; an area is the mean of a direction's terms.
    standard_error : float
        Of the mean of the areas.
    confidence : float, default=0.95
        In (0, 1).

    Returns
    -------
    low, high : float
        The normal interval within [0, 1]. Where fewer than 10 terms are off a bound, it reaches as
        far as the share of such terms could by Clopper and Pearson, times the furthest of them, or
        1 if there is none: that no row of 200 is a copy does not mean that none of 100,000 will be.

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.stats.accumulation import area_interval
    >>> low, high = area_interval([np.zeros(200)], 0.0)
    >>> low, round(high, 4)
    (0.0, 0.0183)
    """
    value = float(np.mean([terms.mean() for terms in parts]))
    half = float(norm.ppf((1.0 + confidence) / 2.0)) * standard_error
    high = max(value + half, _furthest(parts, confidence))
    low = min(value - half, 1.0 - _furthest([1.0 - terms for terms in parts], confidence))
    return max(0.0, low), min(1.0, high)


def _furthest(parts: Sequence[np.ndarray], confidence: float) -> float:
    """Return how large the mean could be where too few terms are above 0 for a normal law; or 0."""
    counts = [int((terms > 0).sum()) for terms in parts]
    if min(counts) >= FEW:
        return 0.0
    shares = [clopper_pearson(k, t.size, confidence)[1] for k, t in zip(counts, parts, strict=True)]
    return float(np.mean([s * (t.max() or 1.0) for s, t in zip(shares, parts, strict=True)]))


def accumulation_curve(parts: Sequence[np.ndarray]) -> dict[str, np.ndarray]:
    """Return the share of rows within each distance, where that tells of no single row.

    Parameters
    ----------
    parts : sequence of ndarray
        Distances in [0, 1] of each direction; the curve is the mean of the directions' curves.

    Returns
    -------
    dict
        `u`, distances among ``(k / 100) ** 2``, which are dense where nearest rows are; and `share`
        of the same shape, from (0, 0) to (1, 1). Of each direction, at least 10 rows lie between
        two points and beyond each; that there is none is told at every tenth `k` only, lest the
        least and the largest distance be known closely. Empty if a direction has fewer rows.

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.stats.accumulation import accumulation_curve
    >>> curve = accumulation_curve([np.repeat([0.0, 0.0625], 10)])
    >>> curve["u"][:5], curve["share"][:5]
    (array([0.  , 0.  , 0.01, 0.04, 0.09]), array([0. , 0.5, 0.5, 0.5, 1. ]))
    """
    sizes = np.array([distances.size for distances in parts])
    if sizes.min() < FEW:
        return {}
    u = (np.arange(_N_LEVELS + 1) / _N_LEVELS) ** 2
    counts = np.array([np.searchsorted(np.sort(d), u, side="right") for d in parts])
    kept: list[int] = []
    last = np.zeros_like(sizes)
    for k, within in enumerate(counts.T):
        if _tells_of_many(within - last, k) and _tells_of_many(sizes - within, k):
            kept.append(k)
            last = within
    shares = (counts[:, kept] / sizes[:, None]).mean(axis=0)
    return {"u": np.concatenate([[0.0], u[kept]]), "share": np.concatenate([[0.0], shares])}


def _tells_of_many(n_rows: np.ndarray, level: int) -> bool:
    none_is_told = level % _COARSE == 0
    return bool(((n_rows >= FEW) | ((n_rows == 0) & none_is_told)).all())
