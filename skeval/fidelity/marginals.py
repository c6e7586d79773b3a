"""Column by column: distributions, means, medians, spreads, shares between deciles.

Could the synthetic values of a column be a sample of the distribution of the real ones.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Literal, NamedTuple

import numpy as np
from scipy.stats import chi2, kstwo

from skeval.core.base import Metric
from skeval.core.context import Context
from skeval.core.declared import declared
from skeval.core.tags import COLUMN_TAGS
from skeval.exceptions import ConstantColumnWarning, DegenerateInputWarning, MetricWarning
from skeval.fidelity.divergences import CellMetric
from skeval.results.result import Result, mean_of_columns
from skeval.stats.distributions import (
    expected_total_variation,
    kolmogorov_of_sorted,
    quantiles_of_sorted,
    total_variation,
)
from skeval.steps.column_choice import columns_of
from skeval.steps.columns import (
    CONSERVATIVE,
    ROLES,
    cells,
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
from skeval.utils.formatting import number, percent
from skeval.utils.parameters import BinCount, Columns, Interval, NonNegative

_TAGS = replace(COLUMN_TAGS, scaling="sorted runs")


class MarginalMetric(Metric):
    """Base of scores that look at columns one by one, and are quick enough for halves."""

    _halved = True


@declared
class KSComplement(MarginalMetric):
    """Agreement of numeric distributions: 1 where they are the same, 0 where they do not overlap.

    An analyst looks at each numeric, date or boolean column of both tables as a cumulative curve.
    The column's score is 1 minus the greatest vertical distance of the two curves; the value is the
    mean over the columns.

    Parameters
    ----------
    columns : None, int or list of str, default=None
        The columns to measure: all, the first *n*, or these; only numeric, date and boolean
        ones count.

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
    yet differ in its share of missing values. p-values (``details["p_values"]``) are computed
    against the holdout where there is one; against train, to which the generator was fitted, they
    are conservative, and ``details["p_values_against"]`` says so. The result's p-value is that of
    the worst column times the number of columns.

    References
    ----------
    Published under this name by SDMetrics.

    Examples
    --------
    >>> import pandas as pd
    >>> from skeval.fidelity import KSComplement
    >>> train, synthetic = pd.DataFrame({"x": [1, 2, 3, 4]}), pd.DataFrame({"x": [2, 3, 4, 5]})
    >>> KSComplement().fit(train).score(synthetic)
    0.75
    """

    tags = replace(_TAGS, headline=1)

    columns: Columns = None

    def _compute(self, context: Context) -> Result:
        names = columns_of(context, self.columns, (*NUMERIC, "boolean"))
        pairs = {name: [sorted_values(context, role, name) for role in ROLES] for name in names}
        scores = {name: _ks_complement(*both) for name, both in pairs.items()}
        sizes = {name: (x.size, y.size) for name, (x, y) in pairs.items()}
        return mean_of_columns(scores, n_total=len(context.schema.kinds), warnings=emptied(sizes))

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


@declared
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

    See Also
    --------
    KSComplement : Numbers.
    ChiSquaredTest : Whether chance explains the difference.
    ContingencySimilarity : Pairs of columns.

    Notes
    -----
    ``1 - sum_c |p_c - q_c| / 2`` over the categories of either table; one that train never had
    counts in full. Chance alone keeps a perfect table below 1, the more so the more categories
    there are: ``details["ceilings"]`` has what a relabelling of the pooled rows would score on
    average, column by column, and ``details["ceiling"]`` their mean.

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

    nan: Literal["own", "drop"] = "own"
    n_bins: BinCount | None = None
    columns: Columns = None

    def _compute(self, context: Context) -> Result:
        kinds = NOMINAL if self.n_bins is None else (*NOMINAL, *NUMERIC)
        counts = {
            name: _counts(context, name, self.n_bins or 10, self.nan)
            for name in columns_of(context, self.columns, kinds)
        }
        defined = {name: both for name, both in counts.items() if both[0].any()}
        scores = {name: 1.0 - total_variation(p, q) for name, (p, q) in defined.items()}
        ceilings = {name: 1.0 - expected_total_variation(*both) for name, both in counts.items()}
        return mean_of_columns(
            dict.fromkeys(counts, math.nan) | scores,
            n_total=len(context.schema.kinds),
            warnings=emptied({name: (p.sum(), q.sum()) for name, (p, q) in counts.items()}),
            ceilings=ceilings,
            ceiling=mean_of_defined({name: ceilings[name] for name in defined}),
        )

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


@declared
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
    synthetic ones too, with a warning. Columns without width in train have no score.

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

    tags = replace(_TAGS, volatile=True)  # one value far outside decides the mean and the spread

    statistic: Literal["mean", "median", "std"] = "mean"
    scale: Literal["range", "iqr"] = "range"
    columns: Columns = None

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
        statistic = "standard deviation" if self.statistic == "std" else self.statistic
        return (
            f"The {statistic} of {result.details['n_used']} numeric and date columns differs "
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


@declared
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
    mean.

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

    tags = replace(_TAGS, greater_is_better=False)

    _halved = "root"

    n_quantiles: Annotated[int, Interval(2)] = 10
    columns: Columns = None

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


@declared
class ChiSquaredTest(CellMetric):
    """Association of values with the table they are in: 0 where shares agree, 1 if none is shared.

    An analyst puts the counts of the real and of the synthetic values into a table of two rows,
    one column a cell, and asks whether the rows differ by more than chance. The value, Cramer's V
    of that table, says by how much; the p-value, whether chance explains it. The value is the mean
    over the columns of the table.

    Parameters
    ----------
    min_expected : float, default=5
        Cells of which either table would have fewer rows than this by chance are pooled in one.

    See Also
    --------
    TVComplement : The difference of the shares themselves.
    KSComplement : Numbers without cells.

    Notes
    -----
    For counts x and y in n and m rows, ``chi2 = sum (x m - y n)^2 / (n m (x + y))`` and
    ``V = sqrt(chi2 / (n + m))``, without a continuity correction, on counts and not on shares.
    Missing and unseen values have cells of their own. A column with fewer than two cells left has
    no score.

    The p-value is that of the worst column times the number of columns. Synthetic rows must be
    independent of the rows they are tested against. Those of train are not, since the generator
    was fitted to them: where there is a holdout, the test is against its rows, and against train
    it is conservative, so that a large p-value means nothing; ``details["p_values_against"]`` says
    which. With many rows the least difference is significant: read V for its size. ``details``
    have statistic, degrees of freedom and p-value by column; ``details["ceilings"]`` the root mean
    square of V over all relabellings of the pooled rows, and ``details["ceiling"]`` their mean. No
    interval is given: V is the root of a sum of squares, which chance keeps above 0.

    References
    ----------
    K. Pearson, "On the probability that two independent distributions of frequency are really
    samples from the same population", Biometrika 8 (1911), doi:10.1093/biomet/8.1-2.250.

    Examples
    --------
    >>> import pandas as pd
    >>> from skeval.fidelity import ChiSquaredTest
    >>> train = pd.DataFrame({"c": ["a"] * 50 + ["b"] * 30 + ["c"] * 20})
    >>> synthetic = pd.DataFrame({"c": ["a"] * 40 + ["b"] * 40 + ["c"] * 20})
    >>> result = ChiSquaredTest().fit(train).evaluate(synthetic)
    >>> round(result.value, 6), round(result.p_value, 6)
    (0.112687, 0.280876)
    """

    min_expected: NonNegative = 5

    def _compute(self, context: Context) -> Result:
        against = "holdout" if "holdout" in context else "train"
        train, synthetic = (self._counts(context, role) for role in ROLES)
        to_train = _tests(train, synthetic, self.min_expected)
        tested = _tests(self._counts(context, against), synthetic, self.min_expected)
        ceilings = {name: test.expected_v for name, test in to_train.items() if test.n_cells >= 2}
        known = [test.p_value for test in tested.values() if test.n_cells >= 2]
        without = {name: train[name] + synthetic[name] for name in train if name not in ceilings}
        result = mean_of_columns(
            {name: test.cramers_v for name, test in to_train.items()},
            n_total=len(context.schema.kinds),
            greater_is_better=False,
            warnings=_notes(without, self.min_expected),
            statistics={name: test.statistic for name, test in tested.items()},
            degrees_of_freedom={name: test.degrees for name, test in tested.items()},
            p_values={name: test.p_value for name, test in tested.items()},
            p_values_against=against if against == "holdout" else CONSERVATIVE,
            ceilings=ceilings,
            ceiling=mean_of_defined(ceilings),
        )
        return replace(result, p_value=min(1.0, len(known) * min(known)) if known else None)

    def _summary(self, result: Result) -> str:
        strength = (
            f"Table and value of a column are associated as strongly as {number(result.value)} "
            f"(Cramer's V) on average; chance alone gives {number(result.details['ceiling'])}."
        )
        if result.p_value is None:
            return strength
        rows = result.details["p_values_against"].split(",")[0]
        return (
            f"{strength} Against {rows}, the worst of all columns has a p-value of "
            f"{number(result.p_value)}."
        )


def _tests(
    real: dict[str, np.ndarray], synthetic: dict[str, np.ndarray], min_expected: float
) -> dict[str, Homogeneity]:
    least = float(min_expected)
    return {name: homogeneity_test(real[name], synthetic[name], least) for name in real}


def _notes(pooled: dict[str, np.ndarray], min_expected: float) -> tuple[MetricWarning, ...]:
    """Say why columns have no score, given the counts of their cells in both tables."""
    single = [name for name, counts in pooled.items() if (counts > 0).sum() < 2]
    rare = [name for name in pooled if name not in single]
    notes: list[MetricWarning] = []
    if single:
        text = f"train and synthetic have one cell only in {', '.join(single)}: no score."
        notes.append(ConstantColumnWarning(text))
    if rare:
        text = f"too few rows for two cells of {min_expected:g} in {', '.join(rare)}: no score."
        notes.append(DegenerateInputWarning(text))
    return tuple(notes)


class Homogeneity(NamedTuple):
    """What the chi-square test of a 2 x K table says; all but `n_cells` are nan if K < 2."""

    statistic: float
    degrees: float
    p_value: float
    cramers_v: float
    expected_v: float
    n_cells: int


def homogeneity_test(
    counts_x: np.ndarray, counts_y: np.ndarray, min_expected: float = 5.0
) -> Homogeneity:
    """Test whether two tables of counts on common cells come from one distribution."""
    # For a cell with counts x and y, chi-square adds (x m - y n)^2 / (n m (x + y)). Its mean
    # over all relabellings is (K - 1) N / (N - 1), exactly; hence `expected_v = sqrt((K - 1)
    # / (N - 1))`.
    x, y = pool_rare_cells(counts_x, counts_y, min_expected)
    n, m, k = float(x.sum()), float(y.sum()), x.size
    if k < 2 or n == 0 or m == 0:
        nan = float("nan")
        return Homogeneity(nan, nan, nan, nan, nan, k)
    statistic = float(((x * m - y * n) ** 2 / (n * m * (x + y))).sum())
    return Homogeneity(
        statistic,
        k - 1.0,
        float(chi2.sf(statistic, k - 1)),
        min(1.0, float(np.sqrt(statistic / (n + m)))),
        float(np.sqrt((k - 1.0) / (n + m - 1.0))),
        k,
    )


def pool_rare_cells(
    counts_x: np.ndarray, counts_y: np.ndarray, min_expected: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return both tables with all cells in one of which less than `min_expected` is expected."""
    # Which cells are pooled follows from the pooled counts alone, so that no table is
    # favoured. If that one cell is still too rare, the rarest other one joins it. Cells that
    # neither table uses are dropped.
    both = np.asarray(counts_x + counts_y)
    order = np.argsort(-both, kind="stable")
    order = order[both[order] > 0]
    x, y, total = counts_x[order], counts_y[order], both[order]
    share = min(int(x.sum()), int(y.sum())) / max(1, int(total.sum()))
    enough = total * share >= min_expected
    n_kept = int(enough.sum())
    if n_kept < total.size and total[n_kept:].sum() * share < min_expected:
        n_kept = max(0, n_kept - 1)
    if n_kept == total.size:
        return x, y
    return tuple(np.append(z[:n_kept], z[n_kept:].sum()) for z in (x, y))  # type: ignore[return-value]
