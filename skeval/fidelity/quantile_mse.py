"""Fractions of synthetic values between the quantiles of the training data."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Annotated

import numpy as np

from skeval.core.base import Metric
from skeval.core.context import Context
from skeval.core.declared import declared
from skeval.core.tags import COLUMN_TAGS
from skeval.results.result import Result, mean_of_columns
from skeval.steps.columns import emptied_columns, mean_ignoring_nan, sorted_pairs
from skeval.tables.preprocessing import inner_edges
from skeval.utils.formatting import number
from skeval.utils.parameters import Columns, Interval


@declared
class QuantileMSE(Metric):
    """Mean squared error of the fractions of values between training quantiles.

    The metric divides the training data into parts with equal numbers of rows and computes the
    fraction of the synthetic rows in each part. The value is the mean over the numerical and
    datetime columns. It ranges from 0 (equal fractions) to 0.09 (all values in one of ten parts).
    Lower is better.

    Parameters
    ----------
    n_quantiles : int, default=10
        Number of parts.
    columns : None, int or list of str, default=None
        Columns to use: all, the first *n*, or a list of names. Only numerical and datetime columns
        are used.

    Warnings
    --------
    Squared errors are small numbers, so a value close to 0 may still be a large difference.
    Differences within a part and outside the outer quantiles have no effect. Compare the value with
    the baseline.

    See Also
    --------
    KSComplement : Maximum difference between the cumulative distribution functions.
    WassersteinDistance : Measures how far values have to be moved.

    Notes
    -----
    The score of a column is ``mean of (share of synthetic - share of train)^2`` over the cells that
    either table uses. Cells are the intervals between distinct quantiles of the training data,
    closed on the right, and the outer cells are unbounded. If the number of distinct values is at
    most the number of quantiles, each value has a separate cell. A value that alone fills at least
    one part also has a separate cell, and the quantiles are computed from the other values, see
    :class:`~skeval.tables.Discretizer`. Missing values are ignored. Infinite synthetic values are
    counted in the outer cells.

    ``details["ceilings"]`` contains the expected values if the rows of both tables are pooled and
    divided again at random, which are ``k (N - k) / (n m (N - 1))`` for a cell with k of all N
    rows. ``details["ceiling"]`` is their mean.

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

    tags = replace(COLUMN_TAGS, greater_is_better=False, scaling="sorted runs")

    _halved = "root"  # intervals: skeval/core/intervals.py

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
            ceiling=mean_ignoring_nan(ceilings),
        )

    def _summary(self, result: Result) -> str:
        return (
            "The mean squared error of the fractions between training quantiles is "
            f"{number(result.value)} ({number(result.details['ceiling'])} expected by chance)."
        )


def _shares(x: np.ndarray, y: np.ndarray, n_quantiles: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the numbers of values of both ascending samples in the cells of the first sample."""
    edges = inner_edges(x, n_quantiles, "quantile")
    if edges is None:
        return np.zeros(1, dtype=np.int64), np.array([y.size])
    p, q = (np.diff(np.searchsorted(z, edges), prepend=0, append=z.size) for z in (x, y))
    return p, q


def _squared_error(p: np.ndarray, q: np.ndarray) -> float:
    n, m = p.sum(), q.sum()
    if n == 0:
        return math.nan
    if m == 0:  # missing values are as bad as all values in the rarest cell
        q, m = (np.arange(p.size) == p.argmin()).astype(np.int64), 1
    return float(((p / n - q / m) ** 2).sum() / np.count_nonzero(p + q))


def _mean_squared_chance(p: np.ndarray, q: np.ndarray) -> float:
    n, m = int(p.sum()), int(q.sum())
    k = p + q
    return float((k * (n + m - k)).sum() / np.count_nonzero(k) / (n * m * (n + m - 1.0)))
