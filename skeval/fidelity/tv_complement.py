"""Total variation distance of each categorical column, as a similarity."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Literal

import numpy as np

from skeval.core.base import Metric
from skeval.core.context import Context
from skeval.core.declared import declared
from skeval.core.tags import COLUMN_TAGS
from skeval.results.result import Result, mean_of_columns
from skeval.stats.distributions import expected_total_variation, total_variation
from skeval.steps.column_choice import columns_of
from skeval.steps.columns import (
    ROLES,
    column_cells,
    empty_column_warnings,
    histogram,
    mean_ignoring_nan,
)
from skeval.tables.preprocessing import NOMINAL, NUMERIC
from skeval.utils.formatting import percent
from skeval.utils.parameters import BinCount, Columns

Counts = tuple[np.ndarray, np.ndarray]  # of the cells of a column in both tables


@declared
class TVComplement(Metric):
    """Total variation similarity of categorical and boolean columns.

    For each column, the score is one minus the total variation distance between the categories of
    the training and the synthetic data, that is, one minus the fraction of synthetic rows that
    would have to change their category. The value is the mean over the columns. It ranges from 0
    (no category is shared) to 1 (equal fractions). Higher is better.

    Parameters
    ----------
    nan : {"own", "drop"}, default="own"
        Whether a missing value is a category ("own") or is ignored ("drop").
    n_bins : int or None, default=None
        If given, numerical and datetime columns are also measured, with this number of bins of
        equal width over the training range. Frequent values have a separate bin, see
        :class:`~skeval.tables.Discretizer`.
    columns : None, int or list of str, default=None
        Columns to use: all, the first *n*, or a list of names.

    Warnings
    --------
    Even new real data do not reach 1 if there are many categories. Compare the score with the
    baseline. Differences in rare categories have little effect.

    See Also
    --------
    KSComplement : Numerical columns.
    ChiSquaredTest : Tests whether the differences are significant.
    ContingencySimilarity : Pairs of columns.

    Notes
    -----
    The score of a column is ``1 - sum_c |p_c - q_c| / 2`` over the categories of either table.
    Categories that occur in only one of the two tables are included. Even new real data do not
    reach 1, in particular if there are many categories. ``details["ceilings"]`` contains the
    expected score of each column if the rows of both tables are pooled and divided again at random,
    and ``details["ceiling"]`` is their mean.

    References
    ----------
    Published under this name by SDMetrics. SDMetrics ignores missing values and adds a millionth
    to empty categories, whereas this implementation is exact.

    Examples
    --------
    >>> import pandas as pd
    >>> from skeval.fidelity import TVComplement
    >>> train, synthetic = pd.DataFrame({"c": list("aaabbc")}), pd.DataFrame({"c": list("aabbbd")})
    >>> round(TVComplement().fit(train).score(synthetic), 4)
    0.6667
    """

    tags = replace(COLUMN_TAGS, headline=2)

    _halved = True  # intervals: skeval/core/intervals.py

    nan: Literal["own", "drop"] = "own"
    n_bins: BinCount | None = None
    columns: Columns = None

    def _compute(self, context: Context) -> Result:
        counts = self._counts_of_columns(context)
        scores = _scores(counts)
        ceilings = {name: 1.0 - expected_total_variation(*both) for name, both in counts.items()}
        return mean_of_columns(
            dict.fromkeys(counts, math.nan) | scores,
            n_total=len(context.schema.kinds),
            greater_is_better=True,
            warnings=empty_column_warnings(
                {name: (p.sum(), q.sum()) for name, (p, q) in counts.items()}
            ),
            ceilings=ceilings,
            ceiling=mean_ignoring_nan({name: ceilings[name] for name in scores}),
        )

    def _value_alone(self, context: Context) -> float:
        return mean_ignoring_nan(_scores(self._counts_of_columns(context)))

    def _counts_of_columns(self, context: Context) -> dict[str, Counts]:
        kinds = NOMINAL if self.n_bins is None else (*NOMINAL, *NUMERIC)
        names = columns_of(context, self.columns, kinds)
        return {name: _counts(context, name, self.n_bins or 10, self.nan) for name in names}

    def _summary(self, result: Result) -> str:
        bars = f"overlap by {percent(result.value)} over {result.details['n_used']} columns"
        return f"On average, the category fractions of both tables {bars}."


def _scores(counts: dict[str, Counts]) -> dict[str, float]:
    """Return the score of each column with a training value."""
    return {name: 1.0 - total_variation(p, q) for name, (p, q) in counts.items() if p.any()}


def _counts(context: Context, column: str, n_bins: int, nan: str) -> Counts:
    """Return the counts of the cells of a column, with or without the missing values."""
    p, q = (histogram(context, role, column, n_bins, "uniform", None) for role in ROLES)
    if nan == "own":
        return p, q
    missing = column_cells(context, column, n_bins, "uniform", None).n_own + 1
    return np.delete(p, missing), np.delete(q, missing)
