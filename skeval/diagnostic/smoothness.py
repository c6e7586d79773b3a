"""Compare the width of the density of a column with the training data."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Literal

import numpy as np
from scipy.fft import irfft, next_fast_len, rfft

from skeval.core.base import Metric
from skeval.core.context import Context, shared
from skeval.core.declared import declared
from skeval.core.tags import VALIDITY_TAGS
from skeval.diagnostic.columns import constant_notices, empty_notices, lacks, without_range
from skeval.exceptions import DegenerateInputWarning
from skeval.results.result import Result, mean_of_columns
from skeval.steps.column_choice import columns_of
from skeval.steps.columns import ROLES, present_numbers
from skeval.tables.preprocessing import NUMERIC
from skeval.utils.formatting import percent
from skeval.utils.parameters import Columns, Interval

_STEPS = 4  # minimum number of grid steps for each bandwidth
_LARGEST_GRID = 2**18
_REACH = 6.0  # number of bandwidths at which the kernel is cut to 0


@declared
class SmoothnessSimilarity(Metric):
    """Similarity of the widths of the densities of numerical and datetime columns.

    Noise added for protection smears a column, and a generator that has collapsed turns it into a
    spike. The metric estimates the density of each numerical and datetime column in both tables,
    compares the widths at half of the maximum, and reports the mean over the columns. The score
    approaches 0 if one density is much wider, and is 1 if the widths are equal. Higher is better.

    Parameters
    ----------
    bandwidth : {"scott", "silverman"}, default="scott"
        Rule for the bandwidth of the Gaussian kernel.
    grid : int, default=2048
        Number of points at which the density is computed. If the bandwidth would be less than four
        steps, the number is increased.
    columns : None, int or list of str, default=None
        Columns to evaluate: all (None), the first *n*, or the named ones. Only numerical and
        datetime columns are used.

    Warnings
    --------
    The score compares widths only, so a distribution in another place can score 1. For several
    peaks, the width jumps when a peak passes half of the maximum.

    See Also
    --------
    OutlierCoverage : Compares the tails of the distributions.
    RangeCoverage : Compares the ends of the ranges.

    Notes
    -----
    ``1 - |a - b| / max(a, b)``, where a and b are the full widths at half maximum. The full width
    is the distance between the outermost points at which the density is half of its maximum. If a
    density has several peaks, all peaks above half of the maximum are included. Therefore the width
    jumps when a peak passes this height. The position of the bulk and the tails do not matter.

    The factor of the bandwidth decreases with the number of rows. The factor of the smaller table
    is used for both tables, because different factors would smooth the tables differently. A
    constant training column has no score, and neither does a column with a single synthetic value.
    A constant synthetic column, and a column that is missing from the synthetic data, score 0. The
    metric has no interval.

    References
    ----------
    Described in the documentation of SDV, which leaves kernel and several peaks open; these are
    ours. D. W. Scott, "Multivariate Density Estimation", Wiley (1992).

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> from skeval.diagnostic import SmoothnessSimilarity
    >>> rng = np.random.default_rng(0)
    >>> train = pd.DataFrame({"x": rng.normal(size=2000)})
    >>> synthetic = pd.DataFrame({"x": rng.normal(0, 2, size=2000)})
    >>> round(SmoothnessSimilarity().fit(train).score(synthetic), 4)
    0.5232
    """

    tags = replace(VALIDITY_TAGS, scaling="sorted runs")

    bandwidth: Literal["scott", "silverman"] = "scott"
    grid: Annotated[int, Interval(16)] = 2048
    columns: Columns = None

    def _compute(self, context: Context) -> Result:
        names = columns_of(context, self.columns, NUMERIC)
        empty, same = without_range(context, names)
        measured = [name for name in names if name not in (*empty, *same)]
        settings = (self.bandwidth, self.grid)
        scores = {name: _agreement(context, name, *settings) for name in measured}
        sizes = {name: present_numbers(context["synthetic"], name).size for name in measured}
        single = [name for name, n in sizes.items() if n == 1]
        gone = [name for name, n in sizes.items() if n == 0 and not lacks(context, name)]
        text = (
            f"no score for {', '.join(single)}: the synthetic data have only one value, no width."
        )
        return mean_of_columns(
            dict.fromkeys(names, np.nan) | scores,
            n_total=len(context.schema.kinds),
            greater_is_better=True,
            warnings=(
                *empty_notices(empty, gone),
                *constant_notices(same),
                *((DegenerateInputWarning(text),) if single else ()),
            ),
        )

    def _summary(self, result: Result) -> str:
        return (
            f"The densities of {result.details['n_used']} columns differ in width by "
            f"{percent(1.0 - result.value)} of the wider one on average."
        )


def _agreement(context: Context, column: str, bandwidth: str, grid: int) -> float:
    """Return the agreement of a column's widths, with one bandwidth factor for both tables."""
    n_train, n_synthetic = (present_numbers(context[role], column).size for role in ROLES)
    if n_synthetic < 2:
        return np.nan if n_synthetic else 0.0
    n = min(n_train, n_synthetic)
    factor = n**-0.2 if bandwidth == "scott" else (0.75 * n) ** -0.2
    a, b = (_width(context, role, column, factor, grid) for role in ROLES)
    return 1.0 if a == b else 1.0 - abs(a - b) / max(a, b)  # widths may be too small for a float


@shared
def _width(context: Context, role: str, column: str, factor: float, n_grid: int) -> float:
    return full_width(present_numbers(context[role], column), factor, n_grid)


def full_width(values: np.ndarray, factor: float, n_grid: int = 2048) -> float:
    """Return the width of a kernel density between its outermost crossings of half its maximum."""
    # Values are distributed linearly to their two closest grid points, then convolved with the
    # kernel. The time for a million rows is the time for their histogram. Crossings are
    # interpolated linearly.
    scale = float(np.abs(values).max(initial=0.0))
    if scale == 0.0 or np.ptp(values / scale) == 0.0:
        return 0.0
    # scaled to avoid overflow, and sorted so that the order does not matter
    values = np.sort(values / scale)
    bandwidth = factor * float(np.std(values, ddof=1))
    start = float(values.min()) - 3.0 * bandwidth
    length = float(np.ptp(values)) + 6.0 * bandwidth
    n_grid = max(n_grid, min(_LARGEST_GRID, next_fast_len(int(_STEPS * length / bandwidth) + 1)))
    step = length / (n_grid - 1)
    density = _smooth_mass(_shared_out((values - start) / step, n_grid), bandwidth / step)
    return float(scale * step * _crossings(density))


def _shared_out(places: np.ndarray, n_grid: int) -> np.ndarray:
    """Return the mass on each grid point. A value between two points is split linearly."""
    left = np.clip(places.astype(np.intp), 0, n_grid - 2)
    part = places - left
    ones = np.bincount(left, minlength=n_grid)
    right = np.bincount(left, part, minlength=n_grid)
    mass: np.ndarray = ones - right
    mass[1:] += right[:-1]
    return mass


def _smooth_mass(mass: np.ndarray, bandwidth: float) -> np.ndarray:
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
