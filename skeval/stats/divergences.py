"""Divergences of two tables of shares on common cells, from counts."""

from __future__ import annotations

import numpy as np
from scipy.special import rel_entr

__all__ = ["hellinger_distance", "jensen_shannon_distance", "kl_divergence"]


def jensen_shannon_distance(counts_x: np.ndarray, counts_y: np.ndarray, base: float = 2.0) -> float:
    """Return the root of the mean divergence of both tables from their mean.

    0 means equal shares in every cell; the greatest value, 1 in base 2, that no cell is used by
    both.

    Parameters
    ----------
    counts_x, counts_y : ndarray of equal shape
        Counts on common cells.
    base : float, default=2.0
        Of the logarithm.

    Returns
    -------
    float
        The distance, which is a metric; its square is the divergence. nan if both are empty, the
        greatest value if one is.

    References
    ----------
    D. M. Endres, J. E. Schindelin, "A new metric for probability distributions", IEEE Transactions
    on Information Theory 49 (2003), doi:10.1109/TIT.2003.813506.

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.stats.divergences import jensen_shannon_distance
    >>> round(jensen_shannon_distance(np.array([5, 3, 2]), np.array([4, 4, 2])), 7)
    0.0958432
    """
    n, m = int(counts_x.sum()), int(counts_y.sum())
    if n == 0 or m == 0:
        return float("nan") if n == m else float(np.sqrt(np.log(2.0) / np.log(base)))
    p, q = counts_x / n, counts_y / m
    mean = (p + q) / 2.0
    divergence = (rel_entr(p, mean).sum() + rel_entr(q, mean).sum()) / 2.0
    # rounding must neither leave the root without a value nor the bounds
    return float(np.sqrt(np.clip(divergence, 0.0, np.log(2.0)) / np.log(base)))


def hellinger_distance(counts_x: np.ndarray, counts_y: np.ndarray) -> float:
    """Return the distance of the roots of both tables' shares.

    0 means equal shares in every cell, 1 that no cell is used by both.

    Parameters
    ----------
    counts_x, counts_y : ndarray of equal shape
        Counts on common cells.

    Returns
    -------
    float
        ``sqrt(sum (sqrt p - sqrt q)^2 / 2)``; nan if both are empty, 1 if one is.

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.stats.divergences import hellinger_distance
    >>> round(hellinger_distance(np.array([5, 3, 2]), np.array([4, 4, 2])), 7)
    0.0798514
    """
    n, m = int(counts_x.sum()), int(counts_y.sum())
    if n == 0 or m == 0:
        return float("nan") if n == m else 1.0
    squares = (np.sqrt(counts_x / n) - np.sqrt(counts_y / m)) ** 2
    return min(1.0, float(np.sqrt(squares.sum() / 2.0)))


def kl_divergence(counts_x: np.ndarray, counts_y: np.ndarray, smoothing: float = 0.0) -> float:
    """Return the divergence of the first table from the second, in nats.

    0 means equal shares in every cell; without smoothing it is infinite where the second table
    lacks a cell that the first one uses.

    Parameters
    ----------
    counts_x, counts_y : ndarray of equal shape
        Counts on common cells.
    smoothing : float, default=0.0
        Added to the shares of both tables in every cell that either uses, before they are brought
        back to sum 1.

    Returns
    -------
    float
        ``sum p ln(p / q)``; nan if a table is empty.

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.stats.divergences import kl_divergence
    >>> round(kl_divergence(np.array([5, 3, 2]), np.array([4, 4, 2])), 7)
    0.0252672
    """
    n, m = int(counts_x.sum()), int(counts_y.sum())
    if n == 0 or m == 0:
        return float("nan")
    used = (counts_x + counts_y) > 0
    p, q = counts_x[used] / n + smoothing, counts_y[used] / m + smoothing
    return max(0.0, float(rel_entr(p / p.sum(), q / q.sum()).sum()))
