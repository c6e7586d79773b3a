"""Distances between two samples of one variable that are in ascending order already."""

from __future__ import annotations

import numpy as np

from skeval.stats.distributions import hypergeometric_deviation

__all__ = [
    "expected_wasserstein",
    "kolmogorov_of_sorted",
    "quantiles_of_sorted",
    "wasserstein_of_sorted",
]

_STRIDE = 256  # values between two points at which the curves are compared first
_N_POINTS = 20_000  # of the pooled curve, in an expectation


def kolmogorov_of_sorted(x: np.ndarray, y: np.ndarray) -> float:
    """Return the greatest distance of two empirical distribution functions.

    0 means the same values in the same shares, 1 that all of one sample lies below the other.

    Parameters
    ----------
    x, y : ndarray of shape (n,), (m,)
        Ascending; infinite values are ordered as such, none is missing.

    Returns
    -------
    float
        In [0, 1]; nan if both are empty, 1 if one is. The number that
        :func:`~skeval.stats.distributions.kolmogorov_distance` gives, many times faster on long
        samples.

    Notes
    -----
    The curves are compared at every 256th value. Both only rise, so that between two such points
    they cannot be further apart than the upper end of one is from the lower end of the other; only
    where that exceeds the greatest distance found are all values looked at.

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.stats.ordered import kolmogorov_of_sorted
    >>> kolmogorov_of_sorted(np.array([1.0, 2.0, 3.0, 4.0]), np.array([2.0, 3.0, 4.0, 5.0]))
    0.25
    """
    n, m = x.size, y.size
    if n == 0 or m == 0:
        return float("nan") if n == m else 1.0
    last = [max(x[-1], y[-1])]
    points = np.unique(np.concatenate([x[::_STRIDE], y[::_STRIDE], last]))
    (x_low, x_high), (y_low, y_high) = (
        (np.searchsorted(z, points), np.searchsorted(z, points, side="right")) for z in (x, y)
    )
    # whole numbers until the end: equal shares are exactly equal
    greatest = int(np.abs(x_high * m - y_high * n).max())
    x_start, y_start = np.append(0, x_high[:-1]), np.append(0, y_high[:-1])
    bound = np.maximum(x_low * m - y_start * n, y_low * n - x_start * m)
    kept = bound > greatest
    if kept.any():
        within = np.concatenate(
            [_between(x, kept, x_start, x_low, x_high), _between(y, kept, y_start, y_low, y_high)]
        )
        below_x, below_y = (np.searchsorted(z, within, side="right") for z in (x, y))
        greatest = max(greatest, int(np.abs(below_x * m - below_y * n).max(initial=0)))
    return greatest / (n * m)


def _between(
    x: np.ndarray, kept: np.ndarray, start: np.ndarray, low: np.ndarray, high: np.ndarray
) -> np.ndarray:
    """Return the values strictly between the points, of the gaps that are kept."""
    flags = np.column_stack([kept, np.zeros(kept.size, dtype=bool)]).ravel()
    return x[np.repeat(flags, np.column_stack([low - start, high - low]).ravel())]


def wasserstein_of_sorted(x: np.ndarray, y: np.ndarray, p: float = 1.0) -> float:
    """Return the cost of moving one sample's mass onto the other's.

    0 means the same values in the same shares; a shift of one sample by c gives c.

    Parameters
    ----------
    x, y : ndarray of shape (n,), (m,)
        Ascending and finite, not empty.
    p : float, default=1.0
        At least 1; with infinity, the longest way that any mass is moved.

    Returns
    -------
    float
        ``(integral over u in (0, 1) of |F^-1(u) - G^-1(u)|^p)^(1/p)``, in the values' unit.

    Notes
    -----
    Both quantile functions are steps. They are integrated over the pieces between the union of
    their jumps i/n and j/m, in units of 1/(n m), so that the lengths are whole numbers.

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.stats.ordered import wasserstein_of_sorted
    >>> round(wasserstein_of_sorted(np.array([0.0, 1.0, 3.0]), np.array([5.0, 6.0])), 5)
    4.16667
    """
    n, m = x.size, y.size
    if n == m:
        gaps, lengths = np.abs(x - y), np.ones(n)
    else:
        (gaps_x, lengths_x), (gaps_y, lengths_y) = _pieces(x, y, shared=True), _pieces(y, x)
        gaps = np.concatenate([gaps_x, gaps_y])
        lengths = np.concatenate([lengths_x, lengths_y]).astype(np.float64)
    if p == 1.0:
        return float((gaps * lengths).sum() / lengths.sum())
    longest = float(gaps.max())
    if longest == 0.0:
        return 0.0
    mean = ((gaps / longest) ** p * lengths).sum() / lengths.sum()  # of shares: no overflow
    return longest * float(mean ** (1.0 / p))


def _pieces(x: np.ndarray, y: np.ndarray, shared: bool = False) -> tuple[np.ndarray, np.ndarray]:
    """Return gap and length of the pieces that end at a jump of x; of both only if `shared`."""
    n, m = x.size, y.size
    end = np.arange(1, n + 1) * m
    j = (end / n).astype(np.int64)  # ten times faster than whole division
    whole = end <= j * n
    j -= whole
    length = end - np.maximum(end - m, j * n)
    if not shared:
        length[whole] = 0
    return np.abs(x - y[j]), length


def expected_wasserstein(x: np.ndarray, y: np.ndarray) -> float:
    """Return the mean distance (p = 1) over all relabellings of the pooled values.

    What chance alone gives if both samples follow one law.

    Parameters
    ----------
    x, y : ndarray of shape (n,), (m,)
        Ascending and finite, not empty.

    Returns
    -------
    float
        In the values' unit.

    Notes
    -----
    Between neighbouring pooled values, the difference of the curves is that of two shares of the
    pooled rows below, whose mean modulus over relabellings is known exactly (see
    :func:`~skeval.stats.distributions.expected_total_variation`). Of more than 20,000 pooled values
    the curve is read at so many of them.

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.stats.ordered import expected_wasserstein
    >>> round(expected_wasserstein(np.array([0.0, 1.0]), np.array([0.0, 1.0])), 4)
    0.3333
    """
    n, m = x.size, y.size
    step = -(-(n + m) // _N_POINTS)
    points = np.unique(np.concatenate([x[::step], y[::step], [x[-1], y[-1]]]))
    below = sum(np.searchsorted(z, points[:-1], side="right") for z in (x, y))
    deviation = hypergeometric_deviation(np.asarray(below), n, m)
    return float((np.diff(points) * deviation).sum() * (1.0 / n + 1.0 / m))


def quantiles_of_sorted(x: np.ndarray, q: np.ndarray) -> np.ndarray:
    """Return quantiles of an ascending sample, interpolated linearly as NumPy does.

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.stats.ordered import quantiles_of_sorted
    >>> quantiles_of_sorted(np.array([0.0, 1.0, 4.0]), np.array([0.25, 0.75])).tolist()
    [0.5, 2.5]
    """
    at = np.asarray(q) * (x.size - 1)
    low = np.floor(at).astype(np.int64)
    high = np.minimum(low + 1, x.size - 1)
    return np.asarray(x[low] + (at - low) * (x[high] - x[low]))
