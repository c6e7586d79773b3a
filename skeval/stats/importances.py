"""Do two models go by the same columns: agreement of importances, many replicates at once.

Importances come as one row a replicate and one column a feature.
"""

from __future__ import annotations

import numpy as np
from scipy.stats import rankdata

__all__ = [
    "AGREEMENTS",
    "agreement",
    "as_shares",
    "mass_overlap",
    "rank_correlation",
    "top_overlap",
]

AGREEMENTS = ("spearman", "topk", "l1")
_ROUNDING = 1e-12


def as_shares(importances: np.ndarray) -> np.ndarray:
    """Return importances as shares of their sum, negative ones being 0; all 0 if none is positive.

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.stats.importances import as_shares
    >>> as_shares(np.array([[3.0, 1.0, -2.0]])).tolist()
    [[0.75, 0.25, 0.0]]
    """
    positive = np.where(importances > _ROUNDING, importances, 0.0)
    total = positive.sum(axis=1, keepdims=True)
    return np.divide(positive, total, out=np.zeros_like(positive), where=total > 0.0)


def rank_correlation(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Return Spearman's correlation of each pair of rows; nan where one of them does not vary.

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.stats.importances import rank_correlation
    >>> rank_correlation(np.array([[0.5, 0.3, 0.2]]), np.array([[0.3, 0.5, 0.2]])).tolist()
    [0.5]
    """
    ranks = (rankdata(part, axis=1) for part in (first, second))
    a, b = (part - part.mean(axis=1, keepdims=True) for part in ranks)
    sizes = np.sqrt((a**2).sum(axis=1) * (b**2).sum(axis=1))
    products = (a * b).sum(axis=1)
    return np.divide(products, sizes, out=np.full(sizes.shape, np.nan), where=sizes > 0.0)


def top_overlap(first: np.ndarray, second: np.ndarray, k: int) -> np.ndarray:
    """Return the share of the k largest entries of each row that two tables have in common.

    Entries that tie for the last places share them equally.

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.stats.importances import top_overlap
    >>> first, second = np.array([[0.5, 0.3, 0.2]]), np.array([[0.4, 0.4, 0.2]])
    >>> [top_overlap(first, second, k).tolist() for k in (1, 2)]
    [[0.5], [1.0]]
    """
    places = (_places(part, k) for part in (first, second))
    overlap: np.ndarray = np.minimum(*places).sum(axis=1) / k
    return overlap


def _places(values: np.ndarray, k: int) -> np.ndarray:
    """Return which of k places each entry has: 1, 0, or between for ties at the end."""
    last = -np.partition(-values, k - 1, axis=1)[:, [k - 1]]
    above, tied = values > last, values == last
    rest = (k - above.sum(axis=1, keepdims=True)) / tied.sum(axis=1, keepdims=True)
    return above + tied * rest


def mass_overlap(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Return the share of importance that lies on the same entries: 1 minus half the L1 distance.

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.stats.importances import mass_overlap
    >>> mass_overlap(np.array([[0.5, 0.3, 0.2]]), np.array([[0.4, 0.4, 0.2]])).round(6).tolist()
    [0.9]
    """
    overlap: np.ndarray = 1.0 - 0.5 * np.abs(first - second).sum(axis=1)
    return overlap


def agreement(first: np.ndarray, second: np.ndarray, statistic: str, k: int) -> np.ndarray:
    """Return the agreement of the importances of two models, those of the first being the measure.

    Parameters
    ----------
    first, second : ndarray of shape (n_replicates, n_features)
        Shares, as :func:`as_shares` gives them.
    statistic : {"spearman", "topk", "l1"}
        Which.
    k : int
        For "topk"; less than the number of features.

    Returns
    -------
    ndarray of shape (n_replicates,)
        nan where the first goes by nothing, or ranks all features alike; 0 where the second does.
    """
    if statistic == "spearman":
        found = rank_correlation(first, second)
        blind = (second == second[:, :1]).all(axis=1)
        measurable = (first != first[:, :1]).any(axis=1)
    else:
        found = (
            top_overlap(first, second, k) if statistic == "topk" else mass_overlap(first, second)
        )
        blind, measurable = ~second.any(axis=1), first.any(axis=1)
    return np.where(measurable, np.where(blind, 0.0, found), np.nan)
