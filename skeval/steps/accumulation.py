"""Accumulated minimum distances: how far apart the nearest rows of two tables lie."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from scipy.stats import norm

from skeval.core.context import Context, shared
from skeval.stats.intervals import clopper_pearson
from skeval.steps.neighbors import nearest
from skeval.utils.parameters import Interval

FEW = 10  # rows too few for a normal approximation, or to show without showing one of them
_N_LEVELS = 100
_COARSE = 10  # levels at which it is shown that there is no row
_LARGEST_THRESHOLD = 0.999  # of those found: at 1 there is nothing to the right


def _are_thresholds(value: object) -> bool:
    if isinstance(value, str):
        return value == "loo-median"
    given = value if isinstance(value, list | tuple) else [value]
    return len(given) > 0 and all(map(Interval(0, 1, "neither").accepts, given))


@shared
def loo_median(context: Context, space: Any, columns: Any) -> float:
    """Return the median distance of a train row to its nearest other train row."""
    distances, _ = nearest(context, "train", "train", space=space, columns=columns)
    return float(np.median(distances))


def areas(
    distances: Mapping[str, np.ndarray], largest: float, thresholds: np.ndarray
) -> dict[str, np.ndarray]:
    """Return both areas of each direction at each threshold, shape (n_directions, n_thresholds)."""
    scaled = [scaled_distances(d, largest) for d in distances.values()]
    return {
        area: np.array([[terms(x, t).mean() for t in thresholds] for x in scaled])
        for area, terms in TERMS.items()
    }


def scaled_distances(distances: np.ndarray, largest: float) -> np.ndarray:
    """Return distances in units of the largest one, at most 1.

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.steps.accumulation import scaled_distances
    >>> scaled_distances(np.array([0.0, 1.0, 4.0]), 2.0)
    array([0. , 0.5, 1. ])
    """
    if largest > 0:
        return np.minimum(1.0, distances / largest)
    return (distances > 0).astype(float)


def privacy_terms(distances: np.ndarray, threshold: float) -> np.ndarray:
    """Return each row's part of the area left of the threshold: 1 at distance 0, 0 beyond it.

    Their mean is ``1 / t`` times the integral of F from 0 to t, F(u) the share of distances at most
    u, exactly.

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.steps.accumulation import privacy_terms
    >>> float(round(privacy_terms(np.array([0.0, 0.1, 0.3, 0.6]), 0.2).mean(), 6))
    0.375
    """
    return np.maximum(0.0, threshold - distances) / threshold


def resemblance_terms(distances: np.ndarray, threshold: float) -> np.ndarray:
    """Return each row's part of the area right of the threshold: 1 within it, 0 at distance 1.

    Their mean is ``1 / (1 - t)`` times the integral of F from t to 1, exactly.

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.steps.accumulation import resemblance_terms
    >>> float(round(resemblance_terms(np.array([0.0, 0.1, 0.3, 0.6]), 0.2).mean(), 6))
    0.84375
    """
    return (1.0 - np.maximum(distances, threshold)) / (1.0 - threshold)


def removed_terms(terms: np.ndarray) -> np.ndarray:
    """Return by how much the mean of some terms changes where each of them is left out.

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.steps.accumulation import removed_terms
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
    >>> from skeval.steps.accumulation import moved_terms
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
    >>> from skeval.steps.accumulation import jackknife_error, removed_terms
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
        The standard error of the mean of the areas.
    confidence : float, default=0.95
        In (0, 1).

    Returns
    -------
    low, high : float
        The normal interval within [0, 1]. If fewer than 10 terms are off a bound, it reaches as
        far as the share of such terms could by Clopper and Pearson, times the furthest of them, or
        1 if there is none: that no row of 200 is a copy does not mean that none of 100,000 will be.

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.steps.accumulation import area_interval
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
    """Return how large the mean could be where few terms are above 0; 0 where many are."""
    counts = [int((terms > 0).sum()) for terms in parts]
    if min(counts) >= FEW:
        return 0.0
    shares = [clopper_pearson(k, t.size, confidence)[1] for k, t in zip(counts, parts, strict=True)]
    return float(np.mean([s * (t.max() or 1.0) for s, t in zip(shares, parts, strict=True)]))


def accumulation_curve(
    distances: Mapping[str, np.ndarray], largest: float = 1.0
) -> dict[str, np.ndarray]:
    """Return the share of rows within each distance, where that shows no single row.

    Parameters
    ----------
    distances : mapping of str to ndarray
        The distances of each direction; the curve is the mean of the directions' curves.
    largest : float, default=1.0
        The unit of the distances.

    Returns
    -------
    dict
        `u`, distances among ``(k / 100) ** 2``, which are dense where nearest rows are; and `share`
        of the same shape, from (0, 0) to (1, 1). In each direction, at least 10 rows lie between
        two points and beyond each; that there is none is shown at every tenth `k` only, lest the
        least and the largest distance be known closely. Empty if a direction has fewer rows.

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.steps.accumulation import accumulation_curve
    >>> curve = accumulation_curve({"real": np.repeat([0.0, 0.0625], 10)})
    >>> curve["u"][:5], curve["share"][:5]
    (array([0.  , 0.  , 0.01, 0.04, 0.09]), array([0. , 0.5, 0.5, 0.5, 1. ]))
    """
    parts = [scaled_distances(d, largest) for d in distances.values()]
    sizes = np.array([part.size for part in parts])
    if sizes.min() < FEW:
        return {}
    u = (np.arange(_N_LEVELS + 1) / _N_LEVELS) ** 2
    counts = np.array([np.searchsorted(np.sort(d), u, side="right") for d in parts])
    kept: list[int] = []
    last = np.zeros_like(sizes)
    for k, within in enumerate(counts.T):
        if _enough_rows(within - last, k) and _enough_rows(sizes - within, k):
            kept.append(k)
            last = within
    shares = (counts[:, kept] / sizes[:, None]).mean(axis=0)
    return {"u": np.concatenate([[0.0], u[kept]]), "share": np.concatenate([[0.0], shares])}


def _enough_rows(n_rows: np.ndarray, level: int) -> bool:
    may_be_none = level % _COARSE == 0
    return bool(((n_rows >= FEW) | ((n_rows == 0) & may_be_none)).all())


TERMS = {"privacy_area": privacy_terms, "resemblance": resemblance_terms}
