"""How much of what train has another table reaches, and what fresh rows would reach."""

from __future__ import annotations

import numpy as np

__all__ = ["expected_category_coverage", "expected_range_coverage", "range_coverage"]

_NEGLIGIBLE = 1e-12


def range_coverage(train: tuple[float, float], synthetic: tuple[float, float]) -> float:
    """Return the share of train's range between the least and the greatest synthetic value.

    0 means none of it, 1 all; values beyond the range neither help nor harm.

    Parameters
    ----------
    train, synthetic : tuple of (float, float)
        Least and greatest value; finite.

    Returns
    -------
    float
        In [0, 1]; nan if train's range is empty.

    Examples
    --------
    >>> from skeval.stats.coverage import range_coverage
    >>> round(range_coverage((37.0, 97.7), (45.0, 95.0)), 6)
    0.823723
    """
    # halves: the difference of two large numbers has no room for itself
    (low, high), (low_s, high_s) = ((least / 2.0, most / 2.0) for least, most in (train, synthetic))
    width = high - low
    if not width > 0.0:
        return float("nan")
    uncovered = max((low_s - low) / width, 0.0) + max((high - high_s) / width, 0.0)
    return max(0.0, 1.0 - uncovered)


def expected_range_coverage(values: np.ndarray, n_fresh: int) -> float:
    """Return the range coverage that fresh rows of train's population have in the mean.

    Parameters
    ----------
    values : ndarray of shape (n,)
        Train's present values, finite.
    n_fresh : int
        Number of fresh values.

    Returns
    -------
    float
        In [0, 1]; nan if train has no range, or `n_fresh` is 0.

    Notes
    -----
    Whatever the law, each fresh value falls between any two neighbours among n train values with
    equal probability, and the least of m fresh values exceeds the j-th least of train with
    probability prod_{i < j} (n - i) / (n - i + m). Between two neighbours it is taken to lie in
    the middle. On heavy tails the mean is some points lower, since the outermost gaps are the
    widest and the likeliest to be filled by rows that lie beyond them.

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.stats.coverage import expected_range_coverage
    >>> round(expected_range_coverage(np.arange(100.0), n_fresh=100), 3)
    0.985
    """
    n = values.size
    width = float(np.ptp(values)) if n else 0.0
    if not 0.0 < width < np.inf or n_fresh == 0:
        return float("nan")
    n_near = min(n, int(np.ceil(-np.log(_NEGLIGIBLE) / np.log1p(n_fresh / n))) + 1)
    rank = np.arange(n, n - n_near, -1, dtype=np.float64)
    beyond = np.cumprod(rank / (rank + n_fresh))
    weights = (beyond[1:] + beyond[:-1]) / 2.0
    low, high = _least(values, n_near), -_least(-values, n_near)
    uncovered = np.diff(low) @ weights - np.diff(high) @ weights
    return float(np.clip(1.0 - uncovered / width, 0.0, 1.0))


def _least(values: np.ndarray, k: int) -> np.ndarray:
    if k < values.size:
        values = np.partition(values, k - 1)[:k]
    return np.sort(values)


def expected_category_coverage(shares: np.ndarray, n_fresh: int) -> float:
    """Return the mean share of categories that `n_fresh` rows of these shares would hold.

    Parameters
    ----------
    shares : ndarray of shape (n_categories,)
        The share of each category among the rows.
    n_fresh : int
        Number of rows.

    Returns
    -------
    float
        In [0, 1]; nan if there is no category.

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.stats.coverage import expected_category_coverage
    >>> expected_category_coverage(np.array([0.5, 0.5]), n_fresh=1)
    0.5
    """
    if shares.size == 0:
        return float("nan")
    return float(np.mean(-np.expm1(n_fresh * np.log1p(-np.minimum(shares, 1.0 - 1e-16)))))
