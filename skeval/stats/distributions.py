"""Distances between samples of a variable, expected distances, and common histograms."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from scipy.special import gammaln

_STRIDE = 256  # values between two points at which the curves are compared first
_MAX_AT_ONCE = 16 * _STRIDE  # maximum number of values that are all compared at once
_N_POINTS = 20_000  # maximum number of points of the pooled curve in an expectation
MIN_ROWS = 10  # minimum number of rows between two quantiles, or outside the outermost quantile
_MAX_BARS, _MIN_BARS = 40, 4
_DENSE = 2**16  # joint cells that are always counted in an array
_LARGEST = 2**62


def kolmogorov_distance(x: np.ndarray, y: np.ndarray) -> float:
    """Return the maximum distance of two empirical distribution functions."""
    # The distance is 0 for equal distributions, and 1 if all values of one sample are below the
    # values of the other.
    if x.size == 0 or y.size == 0:
        return float("nan") if x.size == y.size else 1.0
    x, y = np.sort(x), np.sort(y)
    pooled = np.concatenate([x, y])
    below_x = np.searchsorted(x, pooled, side="right") * y.size
    below_y = np.searchsorted(y, pooled, side="right") * x.size
    # whole numbers until the end: equal shares are exactly equal
    return float(np.abs(below_x - below_y).max() / (x.size * y.size))


def total_variation(counts_x: np.ndarray, counts_y: np.ndarray) -> float:
    """Return half the sum of the absolute differences of two tables of fractions."""
    # The result is 0 if the fractions are equal in every cell, and 1 if no cell is used by both.
    n, m = int(counts_x.sum()), int(counts_y.sum())
    if n == 0 or m == 0:
        return float("nan") if n == m else 1.0
    difference = np.abs(counts_x.astype(np.int64) * m - counts_y.astype(np.int64) * n)
    return float(difference.sum() / (2 * n * m))


def expected_total_variation(counts_x: np.ndarray, counts_y: np.ndarray) -> float:
    """Return the mean total variation over all relabelings of the pooled rows."""
    # This is the expected value if both samples have the same distribution. Therefore, the
    # `1 - total_variation` of a perfect synthetic table is 1 minus this value, not 1.
    #
    # Given the pooled count N_c of a cell, the number of its rows in the first sample is
    # hypergeometric, X ~ H(n + m, N_c, n), and the term of the cell is (1/n + 1/m) E
    # abs(X - E X) / 2. The mean absolute deviation is exactly 2 v (m - N_c + v) P(X = v) / (n + m),
    # where v is the smallest integer above E X.
    #
    # Source: P. Diaconis, S. Zabell, "Closed form summation for classical distributions",
    # Statistical Science 6 (1991), doi:10.1214/ss/1177011699.
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
    log_p = log_choose(k, x) + log_choose(total - k, n - x) - log_choose(total, n)
    deviation = np.zeros(pooled.shape)
    deviation[possible] = 2.0 * x * (m - k + x) / total * np.exp(log_p)
    return deviation


def log_choose(n: np.ndarray | int, k: np.ndarray | int) -> np.ndarray:
    """Return the logs of the numbers of ways to choose k of n."""
    value: np.ndarray = gammaln(n + 1.0) - gammaln(k + 1.0) - gammaln(n - k + 1.0)
    return value


def kolmogorov_of_ascending(x: np.ndarray, y: np.ndarray) -> float:
    """Return the maximum distance of two empirical distribution functions of sorted samples."""
    # See kolmogorov_distance.
    #
    # The curves are compared at every 256th value. Because both curves only increase, their
    # distance between two such points is at most the distance from the upper end of one curve to
    # the lower end of the other. Only if this bound exceeds the largest distance so far, all values
    # between the points are compared.
    n, m = x.size, y.size
    if n == 0 or m == 0:
        return float("nan") if n == m else 1.0
    if n + m <= _MAX_AT_ONCE:
        return _greatest_gap(x, y, np.concatenate([x, y])) / (n * m)
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
        greatest = max(greatest, _greatest_gap(x, y, within))
    return greatest / (n * m)


def _greatest_gap(x: np.ndarray, y: np.ndarray, points: np.ndarray) -> int:
    """Return the greatest distance of both distribution functions at points, times n m."""
    below_x, below_y = (np.searchsorted(z, points, side="right") for z in (x, y))
    return int(np.abs(below_x * y.size - below_y * x.size).max(initial=0))


def weighted_kolmogorov(
    x: np.ndarray, weights_x: np.ndarray, y: np.ndarray, weights_y: np.ndarray
) -> float:
    """Return the maximum distance of two distribution functions of weighted values."""
    if x.size == 0 or y.size == 0:
        return float("nan") if x.size == y.size else 1.0
    pooled = np.concatenate([x, y])
    order = np.argsort(pooled, kind="stable")
    steps = np.concatenate([weights_x / weights_x.sum(), -weights_y / weights_y.sum()])[order]
    ends = np.flatnonzero(np.diff(pooled[order], append=np.inf) > 0)
    ends = np.append(ends, pooled.size - 1)  # infinite values end there too
    return float(min(1.0, np.abs(np.cumsum(steps)[ends]).max()))


def _between(
    x: np.ndarray, kept: np.ndarray, start: np.ndarray, low: np.ndarray, high: np.ndarray
) -> np.ndarray:
    """Return the distinct values strictly between the points in the gaps that are kept."""
    flags = np.column_stack([kept, np.zeros(kept.size, dtype=bool)]).ravel()
    values = x[np.repeat(flags, np.column_stack([low - start, high - low]).ravel())]
    last = np.ones(values.size, dtype=bool)
    np.not_equal(values[1:], values[:-1], out=last[:-1])
    return values[last]


def wasserstein_of_ascending(x: np.ndarray, y: np.ndarray, p: float = 1.0) -> float:
    """Return the cost of moving the mass of one sample onto the other sample."""
    # The cost is 0 for equal distributions. If one sample is the other shifted by c, it is c.
    #
    # Both quantile functions are step functions. They are integrated over the pieces between the
    # union of their jumps i/n and j/m. The lengths of the pieces are integers in units of 1/(n m).
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
    mean = ((gaps / longest) ** p * lengths).sum() / lengths.sum()  # relative, to avoid overflow
    return longest * float(mean ** (1.0 / p))


def _pieces(x: np.ndarray, y: np.ndarray, shared: bool = False) -> tuple[np.ndarray, np.ndarray]:
    """Return gap and length of pieces that end at a jump of x, or at a shared jump if `shared`."""
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
    """Return the mean distance (p = 1) over all relabelings of the pooled values."""
    # This is the expected distance if both samples have the same distribution.
    #
    # Between neighboring pooled values, the difference of the curves is the difference of two
    # fractions of the pooled rows below. The mean absolute value of this difference over
    # relabelings is known exactly, see expected_total_variation. With more than 20,000 pooled
    # values, 20,000 points of the curve are used.
    n, m = x.size, y.size
    step = -(-(n + m) // _N_POINTS)
    points = np.unique(np.concatenate([x[::step], y[::step], [x[-1], y[-1]]]))
    below = sum(np.searchsorted(z, points[:-1], side="right") for z in (x, y))
    deviation = hypergeometric_deviation(np.asarray(below), n, m)
    return float((np.diff(points) * deviation).sum() * (1.0 / n + 1.0 / m))


def quantiles_of_ascending(x: np.ndarray, q: np.ndarray) -> np.ndarray:
    """Return quantiles of an ascending sample, interpolated linearly as NumPy does."""
    at = np.asarray(q) * (x.size - 1)
    low = np.floor(at).astype(np.int64)
    high = np.minimum(low + 1, x.size - 1)
    return np.asarray(x[low] + (at - low) * (x[high] - x[low]))


def exact_mean(values: Iterable[float] | np.ndarray) -> float:
    """Return the mean of at least one number, rounded once, so that the order has no effect."""
    numbers = np.ravel(np.asarray([*values] if not isinstance(values, np.ndarray) else values))
    if not np.isfinite(numbers).all():
        return float(np.mean(numbers))
    try:
        return math.fsum(numbers.tolist()) / numbers.size
    except OverflowError:
        return math.fsum((numbers / numbers.size).tolist())


def common_histograms(
    samples: Mapping[str, np.ndarray], aligned: float | None = None
) -> dict[str, Any]:
    """Return histograms of several samples over common bins from 0."""
    # The last bin contains all larger values. If the smallest sample is small, there are fewer
    # bins, so that the bins do not reveal single values.
    pooled = np.concatenate(list(samples.values()))
    pooled = pooled[np.isfinite(pooled)]
    top = float(np.quantile(pooled, 0.99)) if pooled.size else 1.0
    top = top if top > 0 else 1.0
    edges = _common_edges(top, min(values.size for values in samples.values()), aligned)
    shares = {name: _share_of_bars(values, edges) for name, values in samples.items()}
    return {"edges": edges, "shares": shares}


def _common_edges(top: float, n_rows: int, aligned: float | None) -> np.ndarray:
    width = top / min(max(n_rows // MIN_ROWS, _MIN_BARS), _MAX_BARS)
    inside = aligned if aligned is not None and 0 < aligned < top else 0.0
    if inside >= width / 2.0:
        width = inside / max(1, round(inside / width))
    edges = width * np.arange(math.ceil(top / width) + 1)
    # equal bins of the width of a small `aligned` would be too numerous
    return np.insert(edges, 1, inside) if 0.0 < inside < edges[1] else edges


def _share_of_bars(values: np.ndarray, edges: np.ndarray) -> np.ndarray:
    # bins are closed on the right, like the tail "at or under the threshold"
    bars = np.clip(np.searchsorted(edges, values, side="left") - 1, 0, edges.size - 2)
    return np.bincount(bars, minlength=edges.size - 1) / values.size


def joint_counts(
    codes_x: Sequence[np.ndarray], codes_y: Sequence[np.ndarray], n_cells: Sequence[int]
) -> tuple[np.ndarray, np.ndarray]:
    """Return how often each joint cell of several columns occurs in two tables."""
    n = codes_x[0].size
    n_joint = number_of_cells(n_cells)
    if n_joint <= dense_cells(n + codes_y[0].size):
        shape = tuple(n_cells)
        p, q = (
            np.bincount(np.ravel_multi_index(tuple(codes), shape), minlength=int(n_joint))
            for codes in (codes_x, codes_y)
        )
        return p, q
    both = [np.concatenate(pair) for pair in zip(codes_x, codes_y, strict=True)]
    compact = _compact_codes(both, n_cells)
    n_used = int(compact.max()) + 1
    return np.bincount(compact[:n], minlength=n_used), np.bincount(compact[n:], minlength=n_used)


def dense_cells(n_rows: int) -> int:
    """Return the maximum number of joint cells that :func:`joint_counts` counts in an array."""
    return max(_DENSE, n_rows)


def number_of_cells(n_cells: Sequence[int]) -> float:
    """Return the number of joint cells, given the number of cells of each column."""
    return float(np.prod([float(k) for k in n_cells]))


def _compact_codes(codes: Sequence[np.ndarray], n_cells: Sequence[int]) -> np.ndarray:
    """Return one number per row, 0, 1, 2, ... over the joint cells that are used."""
    joint, n_used = codes[0].astype(np.int64), n_cells[0]
    for column, k in zip(codes[1:], n_cells[1:], strict=True):
        if n_used * k > _LARGEST:
            joint = np.unique(joint, return_inverse=True)[1]
            n_used = int(joint.max()) + 1
        joint = joint * k + column
        n_used *= k
    return np.asarray(np.unique(joint, return_inverse=True)[1])
