"""Distances between two samples of one variable, and what chance alone makes of them."""

from __future__ import annotations

import numpy as np
from scipy.special import gammaln

__all__ = [
    "deviation_interval",
    "expected_total_variation",
    "hypergeometric_deviation",
    "kolmogorov_bias",
    "kolmogorov_distance",
    "total_variation",
    "total_variation_bias",
]

# mean of the supremum of a Brownian bridge's modulus: sqrt(pi / 2) * ln 2
_BRIDGE_MEAN = np.sqrt(np.pi / 2.0) * np.log(2.0)


def kolmogorov_distance(x: np.ndarray, y: np.ndarray) -> float:
    """Return the greatest distance of two empirical distribution functions.

    0 means the same values in the same shares, 1 that all of one sample lies below the other.

    Parameters
    ----------
    x, y : ndarray of shape (n,), (m,)
        Numbers; infinite ones are ordered as such, missing ones must be dropped before.

    Returns
    -------
    float
        In [0, 1]; nan if both are empty, 1 if one is.

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.stats.distributions import kolmogorov_distance
    >>> kolmogorov_distance(np.array([1, 2, 3, 4]), np.array([2, 3, 4, 5]))
    0.25
    """
    if x.size == 0 or y.size == 0:
        return float("nan") if x.size == y.size else 1.0
    x, y = np.sort(x), np.sort(y)
    pooled = np.concatenate([x, y])
    below_x = np.searchsorted(x, pooled, side="right") * y.size
    below_y = np.searchsorted(y, pooled, side="right") * x.size
    # whole numbers until the end: equal shares are exactly equal
    return float(np.abs(below_x - below_y).max() / (x.size * y.size))


def total_variation(counts_x: np.ndarray, counts_y: np.ndarray) -> float:
    """Return half the summed difference of two tables of shares.

    0 means equal shares in every cell, 1 that no cell is used by both.

    Parameters
    ----------
    counts_x, counts_y : ndarray of equal shape
        Counts on common cells.

    Returns
    -------
    float
        In [0, 1]; nan if both are empty, 1 if one is.

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.stats.distributions import total_variation
    >>> total_variation(np.array([5, 5]), np.array([10, 0]))
    0.5
    """
    n, m = int(counts_x.sum()), int(counts_y.sum())
    if n == 0 or m == 0:
        return float("nan") if n == m else 1.0
    difference = np.abs(counts_x.astype(np.int64) * m - counts_y.astype(np.int64) * n)
    return float(difference.sum() / (2 * n * m))


def expected_total_variation(counts_x: np.ndarray, counts_y: np.ndarray) -> float:
    """Return the mean total variation over all relabellings of the pooled rows.

    What chance alone gives if both samples follow one law: ``1 - total_variation`` of a perfect
    synthetic table lies at 1 minus this, not at 1.

    Parameters
    ----------
    counts_x, counts_y : ndarray of equal shape
        Counts on common cells.

    Returns
    -------
    float
        In [0, 1]; nan if a sample is empty.

    Notes
    -----
    Given the pooled count N_c of a cell, the number of its rows that fall to the first sample is
    hypergeometric, X ~ H(n + m, N_c, n), and the cell's term is (1/n + 1/m) E abs(X - E X) / 2. The
    mean absolute deviation is exact: 2 v (m - N_c + v) P(X = v) / (n + m), v the least whole number
    above E X.

    References
    ----------
    P. Diaconis, S. Zabell, "Closed form summation for classical distributions", Statistical
    Science 6 (1991), doi:10.1214/ss/1177011699.

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.stats.distributions import expected_total_variation
    >>> round(expected_total_variation(np.array([1, 1]), np.array([1, 1])), 4)
    0.3333
    """
    n, m = int(counts_x.sum()), int(counts_y.sum())
    if n == 0 or m == 0:
        return float("nan")
    pooled = (np.asarray(counts_x) + np.asarray(counts_y)).ravel()
    pooled, cells = np.unique(pooled[pooled > 0].astype(np.int64), return_counts=True)
    return float((cells * hypergeometric_deviation(pooled, n, m)).sum() * (1.0 / n + 1.0 / m) / 2.0)


def hypergeometric_deviation(pooled: np.ndarray, n: int, m: int) -> np.ndarray:
    """Return E abs(X - E X) for X ~ H(n + m, pooled, n)."""
    total = n + m
    v = pooled * n // total + 1
    possible = (v <= np.minimum(pooled, n)) & (m - pooled + v >= 0)
    k, x = pooled[possible], v[possible]
    log_p = (
        _log_choose(k, x)
        + _log_choose(total - k, n - x)
        - _log_choose(np.asarray(total), np.asarray(n))
    )
    deviation = np.zeros(pooled.shape)
    deviation[possible] = 2.0 * x * (m - k + x) / total * np.exp(log_p)
    return deviation


def _log_choose(n: np.ndarray, k: np.ndarray) -> np.ndarray:
    value: np.ndarray = gammaln(n + 1.0) - gammaln(k + 1.0) - gammaln(n - k + 1.0)
    return value


def kolmogorov_bias(n: int, m: int) -> float:
    """Return a bound on how much the empirical distance exceeds the true one in the mean.

    Each empirical distribution function strays from its own by 0.8687 / sqrt(n) in the mean, for
    continuous variables; by less where there are ties.

    Examples
    --------
    >>> from skeval.stats.distributions import kolmogorov_bias
    >>> round(kolmogorov_bias(10_000, 10_000), 4)
    0.0174
    """
    return float(_BRIDGE_MEAN * (n**-0.5 + m**-0.5))


def total_variation_bias(counts_x: np.ndarray, counts_y: np.ndarray) -> float:
    """Return a bound on how much the empirical total variation exceeds the true one in the mean.

    Half the sum of the standard errors of the differences of the cells' shares.

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.stats.distributions import total_variation_bias
    >>> round(total_variation_bias(np.array([50, 50]), np.array([50, 50])), 4)
    0.0707
    """
    n, m = counts_x.sum(), counts_y.sum()
    p, q = counts_x / n, counts_y / m
    return float(np.sqrt(p * (1.0 - p) / n + q * (1.0 - q) / m).sum() / 2.0)


def deviation_interval(
    distance: float, bias: float, inverse_size: float, level: float = 0.95
) -> tuple[float, float]:
    """Return where the true distance lies, given the mean of empirical distances in [0, 1].

    Parameters
    ----------
    distance : float
        A distance of two empirical distributions, or the mean of several on the same rows.
    bias : float
        A bound on the mean excess of the empirical distance over the true one.
    inverse_size : float
        1/n + 1/m; for a mean of several distances, the mean of theirs.
    level : float, default=0.95
        At least this share of such intervals holds the true distance.

    Returns
    -------
    tuple of (float, float)
        Within [0, 1].

    Notes
    -----
    Exchanging one row moves such a distance by at most 1/n (or 1/m), so that by McDiarmid's
    inequality it strays from its mean by more than t = sqrt(ln(2 / (1 - level)) (1/n + 1/m) / 2)
    with probability at most 1 - level. Its mean lies between the truth and the truth plus the bias
    (Jensen). The interval is conservative: bootstrapping a distance instead adds noise twice.

    References
    ----------
    C. McDiarmid, "On the method of bounded differences", Surveys in Combinatorics (1989),
    doi:10.1017/CBO9781107359949.008.

    Examples
    --------
    >>> from skeval.stats.distributions import deviation_interval
    >>> low, high = deviation_interval(0.2, bias=0.01, inverse_size=2e-4)
    >>> round(low, 4), round(high, 4)
    (0.1708, 0.2192)
    """
    t = float(np.sqrt(np.log(2.0 / (1.0 - level)) * inverse_size / 2.0))
    return max(0.0, distance - bias - t), min(1.0, distance + t)
