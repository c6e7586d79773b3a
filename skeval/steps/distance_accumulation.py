"""Accumulated minimum distances between the nearest rows of two tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from scipy.stats import norm

from skeval.core.context import Context, shared
from skeval.stats.intervals import clopper_pearson
from skeval.steps.neighbors import nearest
from skeval.utils.parameters import Interval

MAX_FEW_ROWS = 10  # too few for a normal approximation, or for a curve without single rows
_N_LEVELS = 100
_CONFIDENCE = 0.95
_COARSE = 10  # levels at which the absence of rows is shown
_LARGEST_THRESHOLD = 0.999  # at 1, no area would be left to the right


def _are_thresholds(value: object) -> bool:
    if isinstance(value, str):
        return value == "loo-median"
    given = value if isinstance(value, list | tuple) else [value]
    return len(given) > 0 and all(map(Interval(0, 1, "neither").accepts, given))


@shared
def loo_median(context: Context, space: Any, columns: Any) -> float:
    """Return the median distance of a training row to the nearest other training row."""
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
    """Return distances in units of the largest one, at most 1."""
    if largest > 0:
        return np.minimum(1.0, distances / largest)
    return (distances > 0).astype(float)


def privacy_terms(distances: np.ndarray, threshold: float) -> np.ndarray:
    """Return the part of each row in the area left of the threshold, from 1 at distance 0 to 0."""
    # Their mean is exactly `1 / t` times the integral of F from 0 to t, if F(u) is the fraction
    # of distances that are at most u.
    return np.maximum(0.0, threshold - distances) / threshold


def resemblance_terms(distances: np.ndarray, threshold: float) -> np.ndarray:
    """Return the part of each row in the area right of the threshold, from 1 to 0 at distance 1."""
    # Their mean is exactly `1 / (1 - t)` times the integral of F from t to 1.
    return (1.0 - np.maximum(distances, threshold)) / (1.0 - threshold)


def removed_terms(terms: np.ndarray) -> np.ndarray:
    """Return the change of the mean of some terms if one of them is left out, for each term."""
    return (terms.mean() - terms) / max(1, terms.size - 1)


def moved_terms(
    first: np.ndarray, second: np.ndarray, nearest: np.ndarray, n_reference: int
) -> np.ndarray:
    """Return the change of the mean of some terms if a reference row is left out, for each row."""
    return np.bincount(nearest, weights=second - first, minlength=n_reference) / first.size


def jackknife_error(changes: np.ndarray) -> float:
    """Return the standard error of a statistic from its changes if single rows are left out."""
    n = changes.size
    return float(np.sqrt((n - 1) / n * ((changes - changes.mean()) ** 2).sum()))


def area_interval(parts: Sequence[np.ndarray], standard_error: float) -> tuple[float, float]:
    """Return an interval of the mean of areas."""
    value = float(np.mean([terms.mean() for terms in parts]))
    half = float(norm.ppf((1.0 + _CONFIDENCE) / 2.0)) * standard_error
    high = max(value + half, _furthest(parts))
    low = min(value - half, 1.0 - _furthest([1.0 - terms for terms in parts]))
    return max(0.0, low), min(1.0, high)


def _furthest(parts: Sequence[np.ndarray]) -> float:
    """Return the largest plausible mean if few terms are above 0, or 0 if there are many."""
    counts = [int((terms > 0).sum()) for terms in parts]
    if min(counts) >= MAX_FEW_ROWS:
        return 0.0
    shares = [
        clopper_pearson(k, t.size, _CONFIDENCE)[1] for k, t in zip(counts, parts, strict=True)
    ]
    return float(np.mean([s * (t.max() or 1.0) for s, t in zip(shares, parts, strict=True)]))


def accumulation_curve(
    distances: Mapping[str, np.ndarray], largest: float = 1.0
) -> dict[str, np.ndarray]:
    """Return the fraction of rows within each distance, if it does not reveal a single row."""
    parts = [scaled_distances(d, largest) for d in distances.values()]
    sizes = np.array([part.size for part in parts])
    if sizes.min() < MAX_FEW_ROWS:
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
    return bool(((n_rows >= MAX_FEW_ROWS) | ((n_rows == 0) & may_be_none)).all())


TERMS = {"privacy_area": privacy_terms, "resemblance": resemblance_terms}
