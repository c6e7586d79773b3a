"""Does the synthetic table reach all that train has: its whole ranges, all its categories."""

from __future__ import annotations

import numpy as np

from skeval._aggregate import mean_of_columns
from skeval._parameters import Columns, Interval
from skeval.base import Metric
from skeval.context import Context, shared
from skeval.diagnostic._columns import (
    OF_COLUMNS,
    columns_of,
    constant_notices,
    empty_notices,
    extent,
    lacks,
    level_counts,
    present_numbers,
)
from skeval.exceptions import DegenerateInputWarning, MetricWarning
from skeval.preprocessing import NOMINAL, NUMERIC
from skeval.result import Result
from skeval.stats.coverage import (
    expected_category_coverage,
    expected_range_coverage,
    range_coverage,
)

__all__ = ["CategoryCoverage", "RangeCoverage"]


class RangeCoverage(Metric):
    """Share of train's ranges that synthetic spans: 1 if all of each, 0 if nothing of any.

    A generator that avoids the ends makes incomes without the rich and stays without the long ones.
    For each number and date column, what is missing at either end of train's range is taken off;
    the value is the mean over the columns.

    Parameters
    ----------
    columns : None, int or list of str, default=None
        The columns to measure: all, the first so many, or these; only number and date columns
        count.

    Attributes
    ----------
    context_ : Context
        The real tables.

    Notes
    -----
    ``max(0, 1 - [max(min_S - min_T, 0) + max(max_T - max_S, 0)] / (max_T - min_T))``. Two values
    suffice to cover a range, and values beyond it are not punished: read it beside
    :class:`BoundaryAdherence`. Infinite values cover nothing. A column that synthetic lacks scores
    0; a constant column of train has no score.

    Extremes vary much, so that a perfect table does not score 1. ``details["ceilings"]`` has what
    as many fresh rows of train's population would score in the mean, ``details["ceiling"]`` the
    mean over the columns; on heavy tails the true mean is some points lower. A score above it,
    where other rows are few, can be a sign of copied extremes. There is no interval: the range of
    the population has no bound that a sample shows.

    References
    ----------
    Published under this name by SDMetrics, column by column.

    Examples
    --------
    >>> import pandas as pd
    >>> from skeval.diagnostic import RangeCoverage
    >>> train, synthetic = pd.DataFrame({"x": [1, 2, 3, 4]}), pd.DataFrame({"x": [2, 3, 4, 5]})
    >>> round(RangeCoverage().fit(train).score(synthetic), 4)
    0.6667
    """

    tags = OF_COLUMNS
    _legal = {"columns": Columns()}

    def __init__(self, columns: int | list[str] | None = None) -> None:
        self.columns = columns

    def _compute(self, context: Context) -> Result:
        names = columns_of(context, self.columns, NUMERIC)
        ranges = {name: extent(context, "train", name) for name in names}
        empty = [name for name, (low, _) in ranges.items() if np.isnan(low)]
        same = [name for name, (low, high) in ranges.items() if low == high]
        without = {*empty, *same}
        spans = {name: extent(context, "synthetic", name) for name in names if name not in without}
        gone = [name for name, (low, _) in spans.items() if np.isnan(low)]
        scores = dict.fromkeys(names, np.nan)
        for name, span in spans.items():
            scores[name] = 0.0 if name in gone else range_coverage(ranges[name], span)
        ceilings = {name: _range_ceiling(context, name) for name in spans}
        return mean_of_columns(
            scores,
            n_total=len(context.schema.kinds),
            warnings=(*empty_notices(empty, _present(context, gone)), *constant_notices(same)),
            ceilings=ceilings,
            ceiling=float(np.mean(list(ceilings.values()))) if ceilings else np.nan,
        )


def _present(context: Context, names: list[str]) -> list[str]:
    """Return the columns that are there; of those that are absent the context has said so."""
    return [name for name in names if not lacks(context, name)]


def _range_ceiling(context: Context, column: str) -> float:
    """Return the coverage expected of as many fresh rows, of which as many are missing."""
    values = present_numbers(context, "train", column)
    n_present = context.n_rows("synthetic") * values.size / context.n_rows("train")
    return _expected_range(context, column, max(1, round(n_present)))


@shared
def _expected_range(context: Context, column: str, n_fresh: int) -> float:
    return expected_range_coverage(present_numbers(context, "train", column), n_fresh)


class CategoryCoverage(Metric):
    """Share of train's categories that synthetic has: 1 if all occur, 0 if none does.

    A rare diagnosis that a generator never makes cannot be studied in its table. For each
    categorical and boolean column, the categories of train that occur in the synthetic table are
    counted; the value is the mean over the columns.

    Parameters
    ----------
    min_count : int, default=1
        Leaves out categories that fewer rows of train have.
    columns : None, int or list of str, default=None
        The columns to measure: all, the first so many, or these; only categorical and boolean
        columns count.

    Attributes
    ----------
    context_ : Context
        The real tables.

    Notes
    -----
    One row is enough to cover a category; whether its share is right is for
    :class:`~skeval.fidelity.TVComplement`. Missing is no category. A column that synthetic lacks
    scores 0. Few rows cannot hold many rare categories: ``details["ceilings"]`` has the mean of
    ``1 - (1 - p_c)^m`` over the categories, p_c being the share of train's rows and m the number
    of synthetic ones, which is what as many fresh rows would score, or slightly more;
    ``details["ceiling"]`` is the mean over the columns. A value above it says that rare categories
    are made more often than they occur. There is no interval: each further row can only add.

    References
    ----------
    Published under this name by SDMetrics, column by column.

    Examples
    --------
    >>> import pandas as pd
    >>> from skeval.diagnostic import CategoryCoverage
    >>> train, synthetic = pd.DataFrame({"c": list("aaabbc")}), pd.DataFrame({"c": list("aabbbd")})
    >>> round(CategoryCoverage().fit(train).score(synthetic), 4)
    0.6667
    """

    tags = OF_COLUMNS
    _legal = {"min_count": Interval(int, 1, None), "columns": Columns()}

    def __init__(self, min_count: int = 1, columns: int | list[str] | None = None) -> None:
        self.min_count = min_count
        self.columns = columns

    def _compute(self, context: Context) -> Result:
        names = columns_of(context, self.columns, NOMINAL)
        n_rows, m_rows = context.n_rows("train"), context.n_rows("synthetic")
        scores, ceilings = dict.fromkeys(names, np.nan), {}
        n_categories, n_covered, gone = {}, {}, []
        for name in names:
            counts = level_counts(context, "train", name)
            frequent = counts >= self.min_count
            if not frequent.any():
                continue
            found = level_counts(context, "synthetic", name)
            n_categories[name] = int(frequent.sum())
            n_covered[name] = int((found[: counts.size][frequent] > 0).sum())
            scores[name] = n_covered[name] / n_categories[name]
            ceilings[name] = expected_category_coverage(counts[frequent] / n_rows, m_rows)
            if found.sum() == 0:
                gone.append(name)
        return mean_of_columns(
            scores,
            n_total=len(context.schema.kinds),
            warnings=self._notices(context, scores, gone),
            n_categories=n_categories,
            n_covered=n_covered,
            ceilings=ceilings,
            ceiling=float(np.mean(list(ceilings.values()))) if ceilings else np.nan,
        )

    def _notices(
        self, context: Context, scores: dict[str, float], gone: list[str]
    ) -> tuple[MetricWarning, ...]:
        without = [name for name, score in scores.items() if np.isnan(score)]
        empty = [name for name in without if not level_counts(context, "train", name).any()]
        said = empty_notices(empty, _present(context, gone))
        if rare := [name for name in without if name not in empty]:
            text = f"no category of {', '.join(rare)} has {self.min_count} rows of train: no score."
            said = (*said, DegenerateInputWarning(text))
        return said
