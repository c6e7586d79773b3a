"""Column by column: distributions, means, medians, spreads, shares between deciles."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Literal

import numpy as np
from scipy.stats import kstwo

from skeval.base import Metric
from skeval.context import Context
from skeval.exceptions import DegenerateInputWarning
from skeval.formatting import number, percent
from skeval.parameters import BinCount, Columns, Interval
from skeval.result import Result, mean_of_columns
from skeval.stats.distributions import (
    deviation_interval,
    exact_mean,
    expected_total_variation,
    kolmogorov_bias,
    kolmogorov_of_sorted,
    quantiles_of_sorted,
    total_variation,
    tv_interval,
)
from skeval.steps.samples import (
    CONSERVATIVE,
    ROLES,
    cells,
    columns_of,
    emptied,
    emptied_columns,
    finite_pairs,
    histogram,
    infinite_columns,
    mean_of_defined,
    sorted_pairs,
    sorted_values,
    unscaled_columns,
    width,
)
from skeval.tables.preprocessing import NOMINAL, NUMERIC, inner_edges
from skeval.tags import COLUMN_TAGS

_TAGS = replace(COLUMN_TAGS, scaling="sorted runs", reads="columns")


class MarginalMetric(Metric):
    """Base of scores that look at columns one by one, and are quick enough for halves."""

    _halved = True


class KSComplement(MarginalMetric):
    """Agreement of numeric distributions: 1 where they are the same, 0 where they do not overlap.

    An analyst looks at each numeric, date or boolean column of the synthetic table as a cumulative
    curve beside the real one; the column's score is 1 minus their greatest vertical distance, the
    value is the mean over the columns.

    Parameters
    ----------
    columns : None, int or list of str, default=None
        The columns to measure: all, the first *n*, or these; only numeric, date and boolean
        ones count.

    Attributes
    ----------
    context_ : Context
        The real tables.

    Warnings
    --------
    The statistic is blind to the tails, and one step of a grid is a large difference on coarse
    data.

    See Also
    --------
    WassersteinDistance : How far values have to be moved, not how many.
    TVComplement : Categories.
    QuantileMSE : Shares between quantiles.

    Notes
    -----
    ``1 - sup_x |F_train(x) - F_synthetic(x)|``, missing values left out: a column can score 1 and
    yet differ in its share of missing values. The interval of a column (``details["intervals"]``)
    is the Dvoretzky-Kiefer-Wolfowitz band, that of the mean rests on bounded differences; both are
    conservative. p-values (``details["p_values"]``) are computed against the holdout where there is
    one; against train, to which the generator was fitted, they are conservative, and
    ``details["p_values_against"]`` says so. The result's p-value is that of the worst column times
    the number of columns.

    References
    ----------
    Published under this name by SDMetrics. P. Massart, "The tight constant in the
    Dvoretzky-Kiefer-Wolfowitz inequality", Annals of Probability 18 (1990),
    doi:10.1214/aop/1176990746.

    Examples
    --------
    >>> import pandas as pd
    >>> from skeval.fidelity import KSComplement
    >>> train, synthetic = pd.DataFrame({"x": [1, 2, 3, 4]}), pd.DataFrame({"x": [2, 3, 4, 5]})
    >>> KSComplement().fit(train).score(synthetic)
    0.75
    """

    tags = replace(_TAGS, headline=1)

    def __init__(self, columns: Columns = None) -> None:
        self.columns = columns

    def _compute(self, context: Context) -> Result:
        names = columns_of(context, self.columns, (*NUMERIC, "boolean"))
        pairs = {name: [sorted_values(context, role, name) for role in ROLES] for name in names}
        scores = {name: _ks_complement(*both) for name, both in pairs.items()}
        sizes = {name: (x.size, y.size) for name, (x, y) in pairs.items()}
        result = mean_of_columns(
            scores,
            n_total=len(context.schema.kinds),
            warnings=emptied(sizes),
            intervals={name: _ks_band(scores[name], *sizes[name]) for name in names},
        )
        scored = [both for both in sizes.values() if both[0]]
        return replace(result, interval=_mean_interval(result.value, scored))

    def _in_relation(self, context: Context, result: Result) -> Result:
        result = super()._in_relation(context, result)
        against = "holdout" if "holdout" in context else "train"
        p_values = {name: _p_value(context, against, name) for name in result.details["columns"]}
        known = [p for p in p_values.values() if not math.isnan(p)]
        p_value = min(1.0, len(known) * min(known)) if known else None
        rows = against if against == "holdout" else CONSERVATIVE
        details = {**result.details, "p_values": p_values, "p_values_against": rows}
        return replace(result, p_value=p_value, details=details)

    def _summary(self, result: Result) -> str:
        return (
            f"The cumulative curves of {result.details['n_used']} numeric, date and boolean "
            f"columns lie {percent(1.0 - result.value)} apart at most, on average."
        )


def _ks_complement(x: np.ndarray, y: np.ndarray) -> float:
    return 1.0 - kolmogorov_of_sorted(x, y) if x.size else math.nan


def _p_value(context: Context, real: str, column: str) -> float:
    x, y = (sorted_values(context, role, column) for role in (real, "synthetic"))
    if x.size == 0 or y.size == 0:
        return math.nan
    effective = max(1, round(x.size * y.size / (x.size + y.size)))
    return float(kstwo.sf(kolmogorov_of_sorted(x, y), effective))


def _ks_band(score: float, n: int, m: int) -> tuple[float, float]:
    if n == 0 or m == 0:
        return (float("nan"), float("nan"))
    epsilon = np.sqrt(np.log(4.0 / 0.05) / 2.0) * (n**-0.5 + m**-0.5)
    return max(0.0, score - epsilon), min(1.0, score + epsilon)


def _mean_interval(value: float, sizes: list[tuple[int, int]]) -> tuple[float, float] | None:
    present = [(n, m) for n, m in sizes if m > 0]
    if not present:
        return None
    bias = exact_mean([kolmogorov_bias(n, m) for n, m in present]) * len(present) / len(sizes)
    inverse = exact_mean([1.0 / n + 1.0 / m for n, m in present])
    low, high = deviation_interval(1.0 - value, bias, inverse)
    return 1.0 - high, 1.0 - low


class TVComplement(MarginalMetric):
    """Agreement of category shares: 1 where they are the same, 0 where no category is shared.

    An analyst compares bar charts: how much of the synthetic bars would have to move to other
    categories to match the real ones. The value is the mean over categorical and boolean columns.

    Parameters
    ----------
    nan : {"own", "drop"}, default="own"
        Whether missing counts as a category.
    n_bins : int or None, default=None
        If given, numeric and date columns are measured too, on this many bins of equal width over
        train; frequent values have cells of their own, see :class:`~skeval.Discretizer`.
    columns : None, int or list of str, default=None
        Columns to use: all, the first *n*, or a list of names.

    Attributes
    ----------
    context_ : Context
        The real tables.

    See Also
    --------
    KSComplement : Numbers.
    ChiSquaredTest : Whether chance explains the difference.
    ContingencySimilarity : Pairs of columns.

    Notes
    -----
    ``1 - sum_c |p_c - q_c| / 2`` over the categories of either table; one that train never had
    counts in full. Chance alone keeps a perfect table below 1, the more so the more categories
    there are: ``details["ceilings"]`` has what a relabelling of the pooled rows would score in the
    mean, column by column, and ``details["ceiling"]`` their mean.

    References
    ----------
    Published under this name by SDMetrics, which leaves missing values out and adds a millionth
    to empty categories; ours is exact.

    Examples
    --------
    >>> import pandas as pd
    >>> from skeval.fidelity import TVComplement
    >>> train, synthetic = pd.DataFrame({"c": list("aaabbc")}), pd.DataFrame({"c": list("aabbbd")})
    >>> round(TVComplement().fit(train).score(synthetic), 4)
    0.6667
    """

    tags = replace(_TAGS, scaling="counts", headline=2)

    def __init__(
        self,
        nan: Literal["own", "drop"] = "own",
        n_bins: BinCount | None = None,
        columns: Columns = None,
    ) -> None:
        self.nan = nan
        self.n_bins = n_bins
        self.columns = columns

    def _compute(self, context: Context) -> Result:
        kinds = NOMINAL if self.n_bins is None else (*NOMINAL, *NUMERIC)
        counts = {
            name: _counts(context, name, self.n_bins or 10, self.nan)
            for name in columns_of(context, self.columns, kinds)
        }
        defined = {name: both for name, both in counts.items() if both[0].any()}
        scores = {name: 1.0 - total_variation(p, q) for name, (p, q) in defined.items()}
        ceilings = {name: 1.0 - expected_total_variation(*both) for name, both in counts.items()}
        result = mean_of_columns(
            dict.fromkeys(counts, math.nan) | scores,
            n_total=len(context.schema.kinds),
            warnings=emptied({name: (p.sum(), q.sum()) for name, (p, q) in counts.items()}),
            ceilings=ceilings,
            ceiling=mean_of_defined({name: ceilings[name] for name in defined}),
        )
        interval = tv_interval(result.value, [*defined.values()]) if defined else None
        return replace(result, interval=interval)

    def _summary(self, result: Result) -> str:
        bars = f"{percent(result.value)} of the bars of {result.details['n_used']} columns"
        return f"On average {bars} coincide."


def _counts(context: Context, column: str, n_bins: int, nan: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the counts of a column's cells, with that of missing values or without."""
    p, q = (histogram(context, role, column, n_bins, "uniform", None) for role in ROLES)
    if nan == "own":
        return p, q
    missing = cells(context, n_bins, "uniform", None).cells_[column].n_own + 1
    return np.delete(p, missing), np.delete(q, missing)


class StatisticSimilarity(MarginalMetric):
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
        The columns to measure: all, the first *n*, or these; only numeric and date ones count.

    Attributes
    ----------
    context_ : Context
        The real tables.

    Warnings
    --------
    A statistic says nothing of the rest of the distribution: a column that holds train's mean in
    every row scores 1.

    See Also
    --------
    KSComplement : The whole distribution.
    WassersteinDistance : The whole distribution, on the scale of the values.

    Notes
    -----
    ``max(0, 1 - |f(train) - f(synthetic)| / scale)``. Missing values are left out, infinite
    synthetic ones too, with a warning. Columns without width in train have no score. No interval is
    given, since the value has its best at the end of its range and divides by what a sample's
    extremes happen to be; compare with the baseline.

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

    tags = _TAGS

    def __init__(
        self,
        statistic: Literal["mean", "median", "std"] = "mean",
        scale: Literal["range", "iqr"] = "range",
        columns: Columns = None,
    ) -> None:
        self.statistic = statistic
        self.scale = scale
        self.columns = columns

    def _compute(self, context: Context) -> Result:
        pairs = finite_pairs(context, self.columns)
        units = {name: width(x, self.scale) for name, (x, _) in pairs.items()}
        scores = {
            name: _agreement(x, y, units[name], self.statistic) for name, (x, y) in pairs.items()
        }
        return mean_of_columns(
            scores,
            n_total=len(context.schema.kinds),
            warnings=(
                *infinite_columns(context, pairs),
                *emptied_columns(pairs),
                *unscaled_columns([name for name, unit in units.items() if unit == 0], self.scale),
                *(_single_values(pairs, units) if self.statistic == "std" else ()),
            ),
        )

    def _summary(self, result: Result) -> str:
        return (
            f"The {self.statistic} of {result.details['n_used']} numeric and date columns differs "
            f"by {percent(1.0 - result.value)} of train's scale on average."
        )


def _single_values(
    pairs: Mapping[str, tuple[np.ndarray, np.ndarray]], units: Mapping[str, float]
) -> tuple[DegenerateInputWarning, ...]:
    single = [name for name, (_, y) in pairs.items() if y.size == 1 and units[name] > 0.0]
    text = f"synthetic has one value only in {', '.join(single)}: no standard deviation."
    return (DegenerateInputWarning(text),) if single else ()


def _agreement(x: np.ndarray, y: np.ndarray, unit: float, statistic: str) -> float:
    """Return how near a statistic of two ascending samples is, in units of a scale of the first."""
    if not unit > 0.0 or (statistic == "std" and y.size == 1):
        return math.nan
    if y.size == 0:
        return 0.0
    return max(0.0, 1.0 - abs(_statistic(x, statistic) - _statistic(y, statistic)) / unit)


def _statistic(ascending: np.ndarray, statistic: str) -> float:
    if statistic == "median":
        return float(quantiles_of_sorted(ascending, np.array([0.5]))[0])
    return float(ascending.mean() if statistic == "mean" else ascending.std(ddof=1))


class QuantileMSE(Metric):
    """Squared error of shares between quantiles of train: 0 where equal, 0.09 if all are in one.

    An analyst cuts train into parts of equal numbers of rows and counts what share of the synthetic
    rows falls into each. The value is the mean over numeric and date columns.

    Parameters
    ----------
    n_quantiles : int, default=10
        Number of parts.
    columns : None, int or list of str, default=None
        The columns to measure: all, the first *n*, or these; only numeric and date ones count.

    Attributes
    ----------
    context_ : Context
        The real tables.

    See Also
    --------
    KSComplement : The greatest distance of the cumulative curves.
    WassersteinDistance : How far values have to be moved.

    Notes
    -----
    ``mean of (share of synthetic - share of train)^2`` over the cells that either table uses. Cells
    lie between train's distinct quantiles, closed on the right, the outer ones reaching to
    infinity; a column with no more distinct values than quantiles has one cell a value. A value
    that alone holds as many rows as a quantile is a cell of its own, and the quantiles are those of
    the others, see :class:`~skeval.Discretizer`. Missing values are left out, infinite synthetic
    ones are in the outer cells.

    ``details["ceilings"]`` has what a relabelling of the pooled rows would have on average,
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

    tags = replace(_TAGS, greater_is_better=False, reads="rows")

    _halved = "root"

    def __init__(
        self, n_quantiles: Annotated[int, Interval(2)] = 10, columns: Columns = None
    ) -> None:
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

    def _summary(self, result: Result) -> str:
        return (
            "The squared error of the shares of rows between train's quantiles is "
            f"{number(result.value)} on average; chance alone gives "
            f"{number(result.details['ceiling'])}."
        )


def _shares(x: np.ndarray, y: np.ndarray, n_quantiles: int) -> tuple[np.ndarray, np.ndarray]:
    """Return how many values of both ascending samples lie in the cells of the first."""
    edges = inner_edges(x, n_quantiles, "quantile")
    if edges is None:
        return np.zeros(1, dtype=np.int64), np.array([y.size])
    p, q = (np.diff(np.searchsorted(z, edges), prepend=0, append=z.size) for z in (x, y))
    return p, q


def _squared_error(p: np.ndarray, q: np.ndarray) -> float:
    n, m = p.sum(), q.sum()
    if n == 0:
        return math.nan
    if m == 0:  # no value at all is as bad as all values where train has fewest
        q, m = (np.arange(p.size) == p.argmin()).astype(np.int64), 1
    return float(((p / n - q / m) ** 2).sum() / np.count_nonzero(p + q))


def _mean_squared_chance(p: np.ndarray, q: np.ndarray) -> float:
    n, m = int(p.sum()), int(q.sum())
    k = p + q
    return float((k * (n + m - k)).sum() / np.count_nonzero(k) / (n * m * (n + m - 1.0)))
