"""Points in several directions at once: which are dominated, and what volume they cover."""

from __future__ import annotations

import numpy as np

__all__ = ["dominated", "hypervolume", "knee"]


def dominated(
    points: np.ndarray, low: np.ndarray | None = None, high: np.ndarray | None = None
) -> np.ndarray:
    """Tell which points another one dominates: as good in all directions, and better in one.

    Parameters
    ----------
    points : ndarray of shape (n_points, n_directions)
        The higher, the better. A point with a nan neither dominates nor is dominated.
    low, high : ndarray of shape (n_points, n_directions), optional
        Intervals. Given them, better means that the lower end of the one lies above the upper end
        of the other: what chance may explain dominates nothing.

    Returns
    -------
    ndarray of bool, shape (n_points,)
    """
    better_from, better_than = (points, points) if low is None or high is None else (low, high)
    found = np.zeros(len(points), dtype=bool)
    known = ~np.isnan(points).any(axis=1)
    for i in np.flatnonzero(known):
        as_good = (points >= points[i]).all(axis=1)
        better = (better_from > better_than[i]).any(axis=1)
        found[i] = bool((as_good & better & known).any())
    return found


def hypervolume(points: np.ndarray, reference: np.ndarray) -> float:
    """Return the volume between a reference and the points: what they dominate.

    Parameters
    ----------
    points : ndarray of shape (n_points, n_directions)
        The higher, the better; those that are not above the reference in all directions add
        nothing.
    reference : ndarray of shape (n_directions,)
        The worst that counts.

    Returns
    -------
    float

    Notes
    -----
    Exact, by slices along the last direction: ``O(n^(d-1) log n)`` for n points in d directions.
    """
    above = points[(points > reference).all(axis=1)] - reference
    return _volume(above)


def _volume(points: np.ndarray) -> float:
    if len(points) == 0:
        return 0.0
    if points.shape[1] == 1:
        return float(points.max())
    order = np.argsort(-points[:, -1], kind="stable")
    heights = np.append(points[order, -1], 0.0)
    volume = 0.0
    for i in range(len(points)):
        if heights[i] > heights[i + 1]:  # a slice holds the points that reach it
            volume += float(heights[i] - heights[i + 1]) * _volume(points[order[: i + 1], :-1])
    return volume


def knee(points: np.ndarray) -> int | None:
    """Return the point that gives up least: nearest, in its worst direction, to the best of each.

    Directions are scaled by the range of the points that are not dominated, so that their units do
    not matter. None if no point is known in all directions.

    Parameters
    ----------
    points : ndarray of shape (n_points, n_directions)
        The higher, the better.

    Returns
    -------
    int or None
        The first of equal ones.
    """
    front = np.flatnonzero(~np.isnan(points).any(axis=1) & ~dominated(points))
    if front.size == 0:
        return None
    best, worst = points[front].max(axis=0), points[front].min(axis=0)
    spread = np.where(best > worst, best - worst, 1.0)
    given_up = ((best - points[front]) / spread).max(axis=1)
    return int(front[given_up.argmin()])
