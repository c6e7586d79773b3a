"""Dominated points of several objectives, and the volume that points dominate."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
import pandas as pd

from skeval.exceptions import InvalidParameterError


def points_of(scores: Any, aspects: Any, owner: str) -> np.ndarray:
    """Return the columns of a table of scores as points, one per row."""
    if not isinstance(scores, pd.DataFrame):
        raise InvalidParameterError(
            f"{owner}: scores must be a DataFrame, got {type(scores).__name__}."
        )
    if isinstance(aspects, str) or not isinstance(aspects, Collection) or not len(aspects):
        raise InvalidParameterError(
            f"{owner}: aspects must be a list of at least one column, got {aspects!r}."
        )
    if missing := [name for name in aspects if name not in scores.columns]:
        raise InvalidParameterError(
            f"{owner}: scores has no column {', '.join(map(str, missing))}. Its columns are "
            f"{', '.join(map(str, scores.columns))}."
        )
    chosen = scores[list(aspects)]
    if twice := sorted({str(name) for name in chosen.columns[chosen.columns.duplicated()]}):
        raise InvalidParameterError(f"{owner}: duplicate columns: {', '.join(twice)}.")
    try:
        return chosen.astype("float64").to_numpy()
    except (TypeError, ValueError) as error:
        raise InvalidParameterError(
            f"{owner}: {', '.join(map(str, aspects))} must contain numbers, got the error: {error}."
        ) from error


def ends_of(
    scores: pd.DataFrame,
    low: pd.DataFrame | None,
    high: pd.DataFrame | None,
    aspects: Sequence[str],
    owner: str,
) -> tuple[np.ndarray, np.ndarray] | None:
    """Return the ends of the intervals of points, in the order of the scores."""
    if low is None and high is None:
        return None
    if low is None or high is None:
        raise InvalidParameterError(f"{owner}: pass both low and high, or neither of them.")
    lows, highs = (
        points_of(_align_rows(end, scores.index, name, owner), aspects, f"{owner}, {name}")
        for name, end in (("low", low), ("high", high))
    )
    if crossed := (lows > highs).any(axis=1).sum():
        raise InvalidParameterError(f"{owner}: low is above high in {crossed} rows.")
    return lows, highs


def _align_rows(end: Any, labels: pd.Index, name: str, owner: str) -> Any:
    if not isinstance(end, pd.DataFrame) or end.index.equals(labels):
        return end
    if not (end.index.is_unique and labels.is_unique):
        raise InvalidParameterError(
            f"{owner}: the rows of scores and {name} cannot be matched, because their labels "
            "differ and are not unique. Pass tables with the same unique index."
        )
    if lacking := [str(label) for label in labels.difference(end.index, sort=False)]:
        raise InvalidParameterError(f"{owner}: {name} has no row {', '.join(lacking)}.")
    return end.loc[labels]


def dominated_points(
    points: np.ndarray, low: np.ndarray | None = None, high: np.ndarray | None = None
) -> np.ndarray:
    """Return which points another point dominates, in all directions and better in one."""
    if (low is None) != (high is None):
        raise InvalidParameterError("dominated: pass both low and high, or neither of them.")
    better_from = points if low is None else np.fmin(low, points)
    better_than = points if high is None else np.fmax(high, points)
    behind = np.zeros(len(points), dtype=bool)
    known = ~np.isnan(points).any(axis=1)
    for i in np.flatnonzero(known):
        as_good = (points >= points[i]).all(axis=1)
        better = (better_from > better_than[i]).any(axis=1)
        behind[i] = (as_good & better & known).any()
    return behind


def hypervolume(points: np.ndarray, reference: np.ndarray) -> float:
    """Return the volume of the region that the points dominate, above a reference.

    Parameters
    ----------
    points : ndarray of shape (n_points, n_directions)
        Higher is better. Points that are not above the reference in all directions are ignored.
    reference : ndarray of shape (n_directions,)
        Lower bound of the region.

    Returns
    -------
    float

    Notes
    -----
    The volume is exact. It is computed by slices along the last direction, in
    ``O(n^(d-1) log n)`` for n points in d directions.
    """
    return _volume(points[(points > reference).all(axis=1)] - reference)


def _volume(points: np.ndarray) -> float:
    if len(points) == 0:
        return 0.0
    if points.shape[1] == 1:
        return float(points.max())
    order = np.argsort(-points[:, -1], kind="stable")
    heights = np.append(points[order, -1], 0.0)
    volume = 0.0
    for i in range(len(points)):
        if heights[i] > heights[i + 1]:  # a slice contains the points that reach it
            volume += float(heights[i] - heights[i + 1]) * _volume(points[order[: i + 1], :-1])
    return volume


def knee(points: np.ndarray) -> int | None:
    """Return the point whose worst loss, relative to the best of each direction, is smallest.

    Directions are scaled by the range of the points that are not dominated, so that their units do
    not matter. The result is None if no point is known in all directions.

    Parameters
    ----------
    points : ndarray of shape (n_points, n_directions)
        Higher is better.

    Returns
    -------
    int or None
        Position of the point, which is the first of equal points.
    """
    front = np.flatnonzero(~np.isnan(points).any(axis=1) & ~dominated_points(points))
    if front.size == 0:
        return None
    best, worst = points[front].max(axis=0), points[front].min(axis=0)
    spread = np.where(best > worst, best - worst, 1.0)
    given_up = ((best - points[front]) / spread).max(axis=1)
    return int(front[given_up.argmin()])
