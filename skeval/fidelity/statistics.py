"""Single numbers of each column: means, medians, spreads, shares between deciles."""

from __future__ import annotations

import numpy as np

from skeval._aggregate import mean_of_columns
from skeval._parameters import Columns, Interval, Options
from skeval.base import Metric
from skeval.context import Context
from skeval.exceptions import DegenerateInputWarning, MetricWarning
from skeval.fidelity.numeric import (
    emptied_columns,
    finite_pairs,
    infinite_columns,
    mean_of_defined,
    sorted_pairs,
    unscaled_columns,
    width,
)
from skeval.preprocessing import inner_edges
from skeval.result import Result
from skeval.stats.ordered import quantiles_of_sorted
from skeval.tags import MetricTags

__all__ = ["QuantileMSE", "StatisticSimilarity"]


class StatisticSimilarity(Metric):
    """Agreement of means, medians or spreads: 1 where equal, 0 where a scale of train apart.

    An analyst compares the table of summary statistics of the real and of the synthetic table. The
    value is the mean over numeric and date columns.

    Parameters
    ----------
    statistic : {"mean", "median", "std"}, default="mean"
        What is compared; the standard deviation divides by n - 1.
    scale : {"range", "iqr"}, default="range"
        What a difference is divided by: range or interquartile range of the train values. One
        outlier widens the range and so hides differences.
    columns : None, int or list of str, default=None
        The columns to measure: all, the first so many, or these; only numeric and date ones count.

    Attributes
    ----------
    context_ : Context
        The real tables.

    Notes
    -----
    ``max(0, 1 - |f(train) - f(synthetic)| / scale)``. Missing values are left out, infinite
    synthetic ones too, with a warning. Columns without width in train have no score. A statistic
    says nothing of the rest of the distribution: a column that holds train's mean in every row
    scores 1. No interval is given, since the value has its best at the end of its range and
    divides by what a sample's extremes happen to be; compare with the baseline.

    References
    ----------
    Published under this name by SDMetrics, with the range as scale.

    Examples
    --------
    >>> import pandas as pd
    >>> from skeval.fidelity import StatisticSimilarity
    >>> train, synthetic = pd.DataFrame({"x": [1, 2, 3, 4]}), pd.DataFrame({"x": [2, 3, 4, 5]})
    >>> round(StatisticSimilarity().fit(train).score(synthetic), 4)
    0.6667
    """

    tags = MetricTags(
        "fidelity", greater_is_better=True, bounds=(0.0, 1.0), display="ColumnScoresDisplay"
    )
    _legal = {
        "statistic": Options(("mean", "median", "std")),
        "scale": Options(("range", "iqr")),
        "columns": Columns(),
    }

    def __init__(
        self,
        statistic: str = "mean",
        scale: str = "range",
        columns: int | list[str] | None = None,
    ) -> None:
        self.statistic = statistic
        self.scale = scale
        self.columns = columns

    def _compute(self, context: Context) -> Result:
        pairs = finite_pairs(context, self.columns)
        units = {name: width(x, self.scale) for name, (x, _) in pairs.items()}
        scores = {
            name: _agreement(x, y, self.statistic, units[name]) for name, (x, y) in pairs.items()
        }
        short = [
            name
            for name, (_, y) in pairs.items()
            if self.statistic == "std" and y.size == 1 and units[name] > 0.0
        ]
        return mean_of_columns(
            scores,
            n_total=len(context.schema.kinds),
            warnings=(
                *infinite_columns(context, pairs),
                *emptied_columns(pairs),
                *unscaled_columns([name for name in units if units[name] == 0.0], self.scale),
                *_too_short(short),
            ),
        )


def _agreement(x: np.ndarray, y: np.ndarray, statistic: str, scale: float) -> float:
    if not scale > 0.0 or (statistic == "std" and y.size == 1):
        return float("nan")
    if y.size == 0:
        return 0.0
    gap = abs(_statistic(x, statistic) - _statistic(y, statistic))
    return max(0.0, 1.0 - gap / scale)


def _statistic(x: np.ndarray, statistic: str) -> float:
    if statistic == "median":
        return float(quantiles_of_sorted(x, np.array([0.5]))[0])
    return float(x.mean() if statistic == "mean" else x.std(ddof=1))


def _too_short(names: list[str]) -> tuple[MetricWarning, ...]:
    text = f"synthetic has one value only in {', '.join(names)}, which has no standard deviation."
    return (DegenerateInputWarning(text),) if names else ()


class QuantileMSE(Metric):
    """Squared error of shares between quantiles of train: 0 where equal, 0.09 if all are in one.

    An analyst cuts train into parts of equal numbers of rows and counts what share of the synthetic
    rows falls into each. The value is the mean over numeric and date columns.

    Parameters
    ----------
    n_quantiles : int, default=10
        Number of parts.
    columns : None, int or list of str, default=None
        The columns to measure: all, the first so many, or these; only numeric and date ones count.

    Attributes
    ----------
    context_ : Context
        The real tables.

    Notes
    -----
    ``mean over cells of (share of synthetic - share of train)^2``. Cells lie between train's
    distinct quantiles, closed on the left, the outer ones reaching to infinity; a column with no
    more distinct values than quantiles has one cell a value. Where one value fills several cells
    they are one, which is blind within: a column that is zero in most rows is better looked at by
    :class:`~skeval.fidelity.KSComplement`. Missing values are left out, infinite
    synthetic ones are in the outer cells.

    ``details["ceilings"]`` has what a relabelling of the pooled rows would have in the mean,
    ``k (N - k) / (n m (N - 1))`` for a cell of k of all N rows, and ``details["ceiling"]`` their
    mean. No interval is given: a mean of squares near 0 is skewed, and resampling it adds noise
    twice.

    References
    ----------
    A. D. Lautrup et al., "SynthEval: a framework for detailed utility and privacy evaluation of
    tabular synthetic data", Data Mining and Knowledge Discovery 39 (2025),
    doi:10.1007/s10618-024-01081-4.

    Examples
    --------
    >>> import pandas as pd
    >>> from skeval.fidelity import QuantileMSE
    >>> train, synthetic = pd.DataFrame({"x": [1, 2, 3, 4]}), pd.DataFrame({"x": [1, 1, 2, 3]})
    >>> QuantileMSE(n_quantiles=4).fit(train).score(synthetic)
    0.03125
    """

    tags = MetricTags(
        "fidelity", greater_is_better=False, bounds=(0.0, 1.0), display="ColumnScoresDisplay"
    )
    _legal = {"n_quantiles": Interval(int, 2, None), "columns": Columns()}

    def __init__(self, n_quantiles: int = 10, columns: int | list[str] | None = None) -> None:
        self.n_quantiles = n_quantiles
        self.columns = columns

    def _compute(self, context: Context) -> Result:
        pairs = sorted_pairs(context, self.columns)
        counted = {name: _shares(x, y, self.n_quantiles) for name, (x, y) in pairs.items()}
        ceilings = {
            name: _mean_squared_chance(*counted[name])
            for name, (x, y) in pairs.items()
            if x.size and y.size
        }
        return mean_of_columns(
            {name: _squared_error(p, q) for name, (p, q) in counted.items()},
            n_total=len(context.schema.kinds),
            greater_is_better=False,
            warnings=emptied_columns(pairs),
            ceilings=ceilings,
            ceiling=mean_of_defined(ceilings),
        )


def _shares(x: np.ndarray, y: np.ndarray, n_quantiles: int) -> tuple[np.ndarray, np.ndarray]:
    """Return how many values of both ascending samples lie in the cells of the first."""
    if x.size == 0:
        return np.zeros(1, dtype=np.int64), np.array([y.size])
    edges = _edges(x, n_quantiles)
    p, q = (np.diff(np.searchsorted(z, edges), prepend=0, append=z.size) for z in (x, y))
    return p, q


def _edges(x: np.ndarray, n_quantiles: int) -> np.ndarray:
    distinct = x[np.append(True, x[1:] > x[:-1])]
    if distinct.size > n_quantiles:
        return np.unique(quantiles_of_sorted(x, np.arange(1, n_quantiles) / n_quantiles))
    few = inner_edges(distinct, n_quantiles, "quantile")
    return np.array([]) if few is None else few


def _squared_error(p: np.ndarray, q: np.ndarray) -> float:
    n, m = p.sum(), q.sum()
    if n == 0:
        return float("nan")
    if m == 0:  # no value at all is as bad as all values where train has fewest
        q, m = (np.arange(p.size) == p.argmin()).astype(np.int64), 1
    return float(((p / n - q / m) ** 2).mean())


def _mean_squared_chance(p: np.ndarray, q: np.ndarray) -> float:
    n, m = int(p.sum()), int(q.sum())
    k = p + q
    return float((k * (n + m - k)).mean() / (n * m * (n + m - 1.0)))
