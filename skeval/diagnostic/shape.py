"""Do synthetic numbers keep the shape of train's: its outliers, the width of its bulk."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from skeval._aggregate import mean_of_columns
from skeval._parameters import Columns, Interval, Options
from skeval.base import Metric
from skeval.context import Context, shared
from skeval.diagnostic._columns import (
    OF_COLUMNS,
    columns_of,
    constant_notices,
    empty_notices,
    extent,
    lacks,
    present_numbers,
)
from skeval.exceptions import DegenerateInputWarning, MetricWarning
from skeval.preprocessing import NUMERIC, numbers
from skeval.result import Result
from skeval.stats.adherence import mean_of_bands
from skeval.stats.intervals import wilson
from skeval.stats.shapes import full_width, outside, tukey_fences

__all__ = ["OutlierCoverage", "SmoothnessSimilarity"]


class OutlierCoverage(Metric):
    """Share of train's outliers that synthetic has too: 1 if as many or more, 0 if none.

    Generators often cut the tails: the ship that took two years, the claim of a million. For each
    number and date column, the share of synthetic values beyond train's fences is divided by
    train's share; the value is the mean over the columns.

    Parameters
    ----------
    k : float, default=1.5
        Distance of the fences from train's quartiles, in interquartile ranges.
    columns : None, int or list of str, default=None
        The columns to measure: all, the first so many, or these; only number and date columns
        count.

    Attributes
    ----------
    context_ : Context
        The real tables.

    Notes
    -----
    ``min(share_S / share_T, 1)`` with the shares of present values below ``Q1 - k IQR`` or above
    ``Q3 + k IQR``, quartiles of train. More outliers than train are not punished, and any value
    far off counts, be it absurd: read it beside :class:`BoundaryAdherence`. A column of which
    train has no outlier has no score; where more than half of a column is one value, the fences
    may close on it. A column that synthetic lacks scores 0.

    Intervals hold for further rows of the same generator against the same train: Wilson's of the
    synthetic share, divided; that of the mean is made of simultaneous ones. Where train has few
    outliers, its own share is uncertain too, and the baseline shows by how much.

    References
    ----------
    Described under this name in the documentation of SDV. J. W. Tukey, "Exploratory Data Analysis",
    Addison-Wesley (1977).

    Examples
    --------
    >>> import pandas as pd
    >>> from skeval.diagnostic import OutlierCoverage
    >>> bulk = list(range(10))
    >>> train = pd.DataFrame({"x": [*bulk, 50, -40]})
    >>> OutlierCoverage().fit(train).score(pd.DataFrame({"x": [*bulk, 50, 5]}))
    0.5
    """

    tags = OF_COLUMNS
    _legal = {"k": Interval(float, 0.0, None), "columns": Columns()}

    def __init__(self, k: float = 1.5, columns: int | list[str] | None = None) -> None:
        self.k = k
        self.columns = columns

    def _compute(self, context: Context) -> Result:
        names = columns_of(context, self.columns, NUMERIC)
        tails = {name: _tail(context, name, self.k) for name in names}
        measured = [name for name, (_, beyond) in tails.items() if beyond > 0.0]
        counts = {name: self._beyond(context, name, tails[name][0]) for name in measured}
        # a column that is absent or empty has no value beyond: 0 of as many as there are rows
        rows = {name: counts[name][1] or context.n_rows("synthetic") for name in measured}
        scores = dict.fromkeys(names, np.nan)
        for name in measured:
            scores[name] = min(counts[name][0] / rows[name] / tails[name][1], 1.0)

        def band(name: str, confidence: float) -> tuple[float, float]:
            low, high = wilson(counts[name][0], rows[name], confidence)
            share = tails[name][1]
            score = scores[name]
            return min(low / share, score), max(min(high / share, 1.0), score)

        result = mean_of_columns(
            scores,
            n_total=len(context.schema.kinds),
            warnings=_notices(context, names, measured, [n for n in measured if not counts[n][1]]),
            shares={
                name: {"train": tails[name][1], "synthetic": counts[name][0] / rows[name]}
                for name in measured
            },
            intervals={name: band(name, 0.95) for name in measured},
        )
        if not measured:
            return result
        low, high = mean_of_bands([band(name, 1.0 - 0.05 / len(measured)) for name in measured])
        return replace(result, interval=(min(low, result.value), max(high, result.value)))

    def _beyond(
        self, context: Context, column: str, fences: tuple[float, float]
    ) -> tuple[int, int]:
        """Return how many synthetic values lie beyond the fences, of how many."""
        values = numbers(context.synthetic[[column]]).ravel()
        return outside(values, fences), int((~np.isnan(values)).sum())


@shared
def _tail(context: Context, column: str, k: float) -> tuple[tuple[float, float], float]:
    """Return the fences of a column of train, and the share of its values beyond."""
    values = present_numbers(context, "train", column)
    if values.size == 0:
        return (np.nan, np.nan), 0.0
    fences = tukey_fences(values, k)
    return fences, outside(values, fences) / values.size


def _notices(
    context: Context, names: list[str], measured: list[str], gone: list[str]
) -> tuple[MetricWarning, ...]:
    without = [name for name in names if name not in measured]
    empty = [name for name in without if np.isnan(extent(context, "train", name)[0])]
    said = empty_notices(empty, [name for name in gone if not lacks(context, name)])
    if inside := [name for name in without if name not in empty]:
        text = f"train has no outlier in {', '.join(inside)}: no score."
        said = (*said, DegenerateInputWarning(text))
    return said


class SmoothnessSimilarity(Metric):
    """Agreement of the widths of the bulk of numbers: 1 if equal, towards 0 if one is far wider.

    Noise added to protect people smears a column, and a generator that has collapsed makes it a
    spike. Of each number and date column, the density is estimated and its width taken at half its
    height, in both tables; the value is the mean over the columns.

    Parameters
    ----------
    bandwidth : {"scott", "silverman"}, default="scott"
        Rule for the bandwidth of the Gaussian kernel.
    grid : int, default=2048
        Number of points at which the density is computed; more where the bandwidth would be less
        than four steps.
    columns : None, int or list of str, default=None
        The columns to measure: all, the first so many, or these; only number and date columns
        count.

    Attributes
    ----------
    context_ : Context
        The real tables.

    Notes
    -----
    ``1 - |a - b| / max(a, b)``, a and b being the full widths at half maximum: the distance between
    the outermost points at which the density is half its greatest. Where there are several peaks,
    all that reach half the height of the highest lie within, so that the width jumps as a peak
    passes this height. The place of the bulk does not count, nor do the tails.

    The factor of the bandwidth, which falls as rows grow, is that of the smaller table for both:
    tables of unequal size would otherwise be smoothed unequally. A constant column of train has no
    score, nor has one with a single synthetic value; a constant synthetic column, and one that
    synthetic lacks, score 0. There is no interval.

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

    tags = OF_COLUMNS
    _legal = {
        "bandwidth": Options(("scott", "silverman")),
        "grid": Interval(int, 16, None),
        "columns": Columns(),
    }

    def __init__(
        self,
        bandwidth: str = "scott",
        grid: int = 2048,
        columns: int | list[str] | None = None,
    ) -> None:
        self.bandwidth = bandwidth
        self.grid = grid
        self.columns = columns

    def _compute(self, context: Context) -> Result:
        names = columns_of(context, self.columns, NUMERIC)
        scores = dict.fromkeys(names, np.nan)
        ends = {name: extent(context, "train", name) for name in names}
        empty = [name for name, (low, _) in ends.items() if np.isnan(low)]
        same = [name for name, (low, high) in ends.items() if low == high]
        single, gone = [], []
        for name in names:
            if name in empty or name in same:
                continue
            n_values = present_numbers(context, "synthetic", name).size
            if n_values == 1:
                single.append(name)
                continue
            scores[name] = self._score(context, name, n_values) if n_values else 0.0
            if not n_values and not lacks(context, name):
                gone.append(name)
        said = (*empty_notices(empty, gone), *constant_notices(same))
        if single:
            text = f"synthetic has one value only in {', '.join(single)}, no width: no score."
            said = (*said, DegenerateInputWarning(text))
        return mean_of_columns(scores, n_total=len(context.schema.kinds), warnings=said)

    def _score(self, context: Context, column: str, n_values: int) -> float:
        n = min(n_values, present_numbers(context, "train", column).size)
        factor = n**-0.2 if self.bandwidth == "scott" else (0.75 * n) ** -0.2
        a, b = (_width(context, role, column, factor, self.grid) for role in ("train", "synthetic"))
        return 1.0 - abs(a - b) / max(a, b)


@shared
def _width(context: Context, role: str, column: str, factor: float, n_grid: int) -> float:
    return full_width(present_numbers(context, role, column), factor, n_grid)
