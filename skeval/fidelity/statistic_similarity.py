"""Similarity of the mean, median or standard deviation of each numerical column."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Literal

import numpy as np

from skeval.core.base import Metric
from skeval.core.context import Context
from skeval.core.declared import declared
from skeval.core.tags import COLUMN_TAGS
from skeval.exceptions import DegenerateInputWarning
from skeval.results.result import Result, mean_of_columns
from skeval.stats.distributions import quantiles_of_ascending
from skeval.steps.columns import (
    emptied_columns,
    finite_pairs,
    infinite_columns,
    unscaled_columns,
    width,
)
from skeval.utils.formatting import percent
from skeval.utils.parameters import Columns


@declared
class StatisticSimilarity(Metric):
    """Similarity of the means, medians or standard deviations of columns.

    For each numerical or datetime column, the metric compares one statistic of the training and the
    synthetic data. The value is the mean over the columns. It ranges from 0 (the difference is at
    least the scale of the training data) to 1 (equal statistics). Higher is better.

    Parameters
    ----------
    statistic : {"mean", "median", "std"}, default="mean"
        Statistic to compare. The standard deviation divides by n - 1.
    scale : {"range", "iqr"}, default="range"
        Scale by which a difference is divided, which is the range or the interquartile range of the
        training values. A single outlier widens the range and hides differences.
    columns : None, int or list of str, default=None
        Columns to use: all, the first *n*, or a list of names. Only numerical and datetime columns
        are used.

    Warnings
    --------
    A statistic does not describe the rest of the distribution. For example, a column with the
    training mean in every row scores 1.

    See Also
    --------
    KSComplement : Compares the whole distribution.
    WassersteinDistance : Compares the whole distribution, on the scale of the values.

    Notes
    -----
    The score of a column is ``max(0, 1 - |f(train) - f(synthetic)| / scale)``. Missing values are
    ignored. Infinite synthetic values are also ignored, with a warning. If the scale is 0 in the
    training data, the column has no score.

    References
    ----------
    Published under this name by SDMetrics, with the range as the scale.

    Examples
    --------
    >>> import pandas as pd
    >>> from skeval.fidelity import StatisticSimilarity
    >>> train, synthetic = pd.DataFrame({"x": [1, 2, 3, 4]}), pd.DataFrame({"x": [2, 3, 4, 5]})
    >>> round(StatisticSimilarity().fit(train).score(synthetic), 4)
    0.6667
    """

    # a single outlier can determine the mean and the standard deviation
    tags = replace(COLUMN_TAGS, scaling="sorted runs", volatile=True)

    _halved = True  # intervals: skeval/core/intervals.py

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
            greater_is_better=True,
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
            f"The {statistic} of {result.details['n_used']} numerical and datetime columns differs "
            f"by {percent(1.0 - result.value)} of the training scale on average."
        )


def _single_values(
    pairs: Mapping[str, tuple[np.ndarray, np.ndarray]], units: Mapping[str, float]
) -> tuple[DegenerateInputWarning, ...]:
    single = [name for name, (_, y) in pairs.items() if y.size == 1 and units[name] > 0.0]
    text = f"Columns with a single synthetic value have no score: {', '.join(single)}."
    return (DegenerateInputWarning(text),) if single else ()


def _agreement(x: np.ndarray, y: np.ndarray, unit: float, statistic: str) -> float:
    """Return the similarity of a statistic of two ascending samples, relative to a scale."""
    if not unit > 0.0 or (statistic == "std" and y.size == 1):
        return math.nan
    if y.size == 0:
        return 0.0
    return max(0.0, 1.0 - abs(_statistic(x, statistic) - _statistic(y, statistic)) / unit)


def _statistic(ascending: np.ndarray, statistic: str) -> float:
    if statistic == "median":
        return float(quantiles_of_ascending(ascending, np.array([0.5]))[0])
    return float(ascending.mean() if statistic == "mean" else ascending.std(ddof=1))
