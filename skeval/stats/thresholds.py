"""Thresholds of scores at which precision or recall just reaches a level."""

from __future__ import annotations

import numpy as np

__all__ = ["called_shares", "threshold_at"]

NONE_REACHES = 1.0


def threshold_at(is_positive: np.ndarray, scores: np.ndarray, level: float, of: str) -> float:
    """Return the threshold at which precision or recall is least, but no less than a level.

    Rows are called positive if their score is at least the threshold.

    Parameters
    ----------
    is_positive : ndarray of bool, shape (n_rows,)
        The truth.
    scores : ndarray of shape (n_rows,)
        The higher, the more positive.
    level : float
        In [0, 1].
    of : {"precision", "recall"}
        What is to reach the level. Among thresholds that do equally well, the one at which the
        other is highest is returned.

    Returns
    -------
    float
        1.0 if no threshold reaches the level, as where no row is positive.
    """
    distinct, place = np.unique(scores, return_inverse=True)
    hits, called = (
        np.cumsum(np.bincount(place, weights, distinct.size)[::-1])[::-1]
        for weights in (is_positive.astype(np.float64), np.ones(scores.size))
    )
    n_positive = float(is_positive.sum())
    if n_positive == 0.0:
        return NONE_REACHES
    precision, recall = hits / called, hits / n_positive
    fixed, other = (precision, recall) if of == "precision" else (recall, precision)
    reached = np.flatnonzero(fixed >= level - 1e-12)
    if reached.size == 0:
        return NONE_REACHES
    best = np.lexsort((-other[reached], fixed[reached]))[0]
    return float(distinct[reached[best]])


def called_shares(
    is_positive: np.ndarray, called: np.ndarray, weights: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return precision and recall of calls for each weighting of the rows; 0 where none is called.

    Parameters
    ----------
    is_positive, called : ndarray of bool, shape (n_rows,)
        The truth, and what was called positive.
    weights : ndarray of shape (n_replicates, n_rows)
        How often each row counts.

    Returns
    -------
    precision, recall : ndarray of shape (n_replicates,)
        Recall is nan where no row is positive.
    """
    hits, n_called, n_positive = (
        weights @ part.astype(np.float64) for part in (is_positive & called, called, is_positive)
    )
    precision = np.divide(hits, n_called, out=np.zeros_like(hits), where=n_called > 0)
    recall = np.divide(hits, n_positive, out=np.full_like(hits, np.nan), where=n_positive > 0)
    return precision, recall
