"""Outliers and the width of a density: how the values of a column are spread."""

from __future__ import annotations

import numpy as np
from scipy.fft import irfft, next_fast_len, rfft

__all__ = ["full_width", "outside", "tukey_fences"]

_STEPS = 4  # grid steps a bandwidth has at least
_LARGEST_GRID = 2**18
_REACH = 6.0  # bandwidths beyond which the kernel is 0


def tukey_fences(values: np.ndarray, k: float = 1.5) -> tuple[float, float]:
    """Return the fences beyond which values count as outliers: k interquartile ranges off.

    Parameters
    ----------
    values : ndarray of shape (n,)
        At least one number, none missing.
    k : float, default=1.5
        Distance of the fences from the quartiles, in interquartile ranges.

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.stats.shapes import tukey_fences
    >>> tukey_fences(np.array([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 50, -40]))
    (-6.5, 15.5)
    """
    first, third = np.quantile(values, [0.25, 0.75])
    return float(first - k * (third - first)), float(third + k * (third - first))


def outside(values: np.ndarray, fences: tuple[float, float]) -> int:
    """Return how many values lie beyond the fences.

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.stats.shapes import outside
    >>> outside(np.array([-7.0, -6.5, 0.0, 16.0]), (-6.5, 15.5))
    2
    """
    return int(((values < fences[0]) | (values > fences[1])).sum())


def full_width(values: np.ndarray, factor: float, n_grid: int = 2048) -> float:
    """Return the width of a kernel density between its outermost crossings of half its maximum.

    Parameters
    ----------
    values : ndarray of shape (n,)
        At least two numbers, finite.
    factor : float
        Bandwidth of the Gaussian kernel in standard deviations of the values.
    n_grid : int, default=2048
        Points of the grid from three bandwidths below the least value to three above the greatest;
        more where the bandwidth would be less than four steps.

    Returns
    -------
    float
        0 if all values are equal.

    Notes
    -----
    Values are shared out linearly to the two grid points beside them, then convolved with the
    kernel: a million rows take as long as their histogram. Crossings are interpolated linearly.

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.stats.shapes import full_width
    >>> values = np.random.default_rng(0).normal(size=2000)
    >>> round(full_width(values, 2000**-0.2), 3)
    2.529
    """
    scale = float(np.abs(values).max(initial=0.0))
    if scale == 0.0 or np.ptp(values / scale) == 0.0:
        return 0.0
    values = values / scale  # sums of squares have room
    bandwidth = factor * float(np.std(values, ddof=1))
    start = float(values.min()) - 3.0 * bandwidth
    length = float(np.ptp(values)) + 6.0 * bandwidth
    n_grid = max(n_grid, min(_LARGEST_GRID, next_fast_len(int(_STEPS * length / bandwidth) + 1)))
    step = length / (n_grid - 1)
    density = _smoothed(_shared_out((values - start) / step, n_grid), bandwidth / step)
    return float(scale * step * _crossings(density))


def _shared_out(places: np.ndarray, n_grid: int) -> np.ndarray:
    """Return the mass on each grid point; a place between two is shared out linearly."""
    left = np.clip(places.astype(np.intp), 0, n_grid - 2)
    part = places - left
    ones = np.bincount(left, minlength=n_grid)
    right = np.bincount(left, part, minlength=n_grid)
    mass: np.ndarray = ones - right
    mass[1:] += right[:-1]
    return mass


def _smoothed(mass: np.ndarray, bandwidth: float) -> np.ndarray:
    """Return the sum of the kernels around all masses; `bandwidth` is in grid steps."""
    reach = min(mass.size - 1, int(np.ceil(_REACH * bandwidth)))
    kernel = np.exp(-0.5 * (np.arange(-reach, reach + 1) / bandwidth) ** 2)
    size = next_fast_len(mass.size + kernel.size - 1, real=True)
    density: np.ndarray = irfft(rfft(mass, size) * rfft(kernel, size), size)
    return density[reach : reach + mass.size]


def _crossings(density: np.ndarray) -> float:
    """Return the distance of the outermost crossings of half the maximum, in grid steps."""
    half = float(density.max()) / 2.0
    above = np.flatnonzero(density >= half)
    first, last = int(above[0]), int(above[-1])
    left, right = float(first), float(last)
    if first > 0:
        left -= (density[first] - half) / (density[first] - density[first - 1])
    if last < density.size - 1:
        right += (density[last] - half) / (density[last] - density[last + 1])
    return right - left
