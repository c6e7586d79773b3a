"""Intervals of shares, of their differences, and of quantiles."""

from __future__ import annotations

import numpy as np
from scipy.stats import beta, binom, norm

__all__ = [
    "clopper_pearson",
    "newcombe",
    "quantile_interval",
    "wilson",
]


def wilson(k: float, n: float, confidence: float = 0.95) -> tuple[float, float]:
    """Return Wilson's score interval of a share.

    Parameters
    ----------
    k : float
        Number of successes; need not be whole, as where counts are averaged over repeats.
    n : float
        Number of trials, above 0.
    confidence : float, default=0.95
        In (0, 1).

    Returns
    -------
    low, high : float
        Within [0, 1]; exactly 0 where k is 0 and exactly 1 where k is n.

    References
    ----------
    E. B. Wilson, "Probable inference, the law of succession, and statistical inference", JASA 22
    (1927) 209-212, doi:10.1080/01621459.1927.10502953.

    Examples
    --------
    >>> from skeval.stats.intervals import wilson
    >>> [round(bound, 6) for bound in wilson(30, 100)]
    [0.218949, 0.395849]
    """
    z = float(norm.ppf((1.0 + confidence) / 2.0))
    centre = (k + z * z / 2.0) / (n + z * z)
    half = z / (n + z * z) * float(np.sqrt(max(0.0, k * (n - k)) / n + z * z / 4.0))
    low = 0.0 if k <= 0 else max(0.0, centre - half)
    high = 1.0 if k >= n else min(1.0, centre + half)
    return low, high


def clopper_pearson(k: int, n: int, confidence: float = 0.95) -> tuple[float, float]:
    """Return the exact interval of a share, which covers at least as often as it promises.

    Each bound alone is a one-sided bound at ``(1 + confidence) / 2``.

    Examples
    --------
    >>> from skeval.stats.intervals import clopper_pearson
    >>> [round(bound, 7) for bound in clopper_pearson(30, 100)]
    [0.2124064, 0.3998147]
    """
    tail = (1.0 - confidence) / 2.0
    low = float(beta.ppf(tail, k, n - k + 1)) if k > 0 else 0.0
    high = float(beta.ppf(1.0 - tail, k + 1, n - k)) if k < n else 1.0
    return low, high


def newcombe(
    k: float, n: float, k_other: float, n_other: float, confidence: float = 0.95
) -> tuple[float, float]:
    """Return the hybrid score interval of the difference of two independent shares.

    Parameters
    ----------
    k, n : float
        Successes and trials of the first share.
    k_other, n_other : float
        Of the share that is taken off.
    confidence : float, default=0.95
        In (0, 1).

    Returns
    -------
    low, high : float
        Within [-1, 1].

    References
    ----------
    R. G. Newcombe, "Interval estimation for the difference between independent proportions",
    Statistics in Medicine 17 (1998) 873-890, method 10.

    Examples
    --------
    The first example of the paper's table II:

    >>> from skeval.stats.intervals import newcombe
    >>> [round(bound, 4) for bound in newcombe(56, 70, 48, 80)]
    [0.0524, 0.3339]
    """
    (low, high), (low_other, high_other) = (
        wilson(k, n, confidence),
        wilson(k_other, n_other, confidence),
    )
    p, q = k / n, k_other / n_other
    below = np.hypot(p - low, high_other - q)
    above = np.hypot(high - p, q - low_other)
    return float(p - q - below), float(p - q + above)


def quantile_interval(
    values: np.ndarray, q: float, confidence: float = 0.95
) -> tuple[float, float]:
    """Return an interval of a population quantile, from the order statistics of a sample.

    Parameters
    ----------
    values : ndarray of shape (n,)
        The sample; ordered values, infinite ones included.
    q : float
        In [0, 1].
    confidence : float, default=0.95
        In (0, 1).

    Returns
    -------
    low, high : float
        The order statistics between which a binomial count puts the quantile with at least this
        confidence, whatever the law of the values; the least or the greatest value where there are
        too few rows.

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.stats.intervals import quantile_interval
    >>> quantile_interval(np.arange(1.0, 101.0), 0.5)
    (40.0, 61.0)
    """
    n, tail = values.size, (1.0 - confidence) / 2.0
    ordered = np.sort(values)
    # the number of values below the quantile is binomial
    below = int(binom.ppf(tail, n, q))
    above = int(binom.isf(tail, n, q)) + 1
    return float(ordered[max(below - 1, 0)]), float(ordered[min(above - 1, n - 1)])
