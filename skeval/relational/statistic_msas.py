"""A statistic of the values of each sequence, compared with those of train."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal

import numpy as np

from skeval.core.declared import declared
from skeval.core.relational_context import RelationalContext
from skeval.core.tags import RELATIONAL_TAGS
from skeval.relational.sequence_metric import BOTH, ColumnSequenceMetric, Measured, agreement
from skeval.results.result import Result
from skeval.steps.sequences import lines, sequence_values, sequences, statistic_by_sequence
from skeval.utils.formatting import percent

_MAX_LINES = 6  # columns whose lines are kept for figures


@declared
class StatisticMSAS(ColumnSequenceMetric):
    """Agreement of a statistic of sequences: 1 where it is distributed alike, 0 without overlap.

    Each patient has a mean blood pressure. Rows that are right one by one, shuffled among patients,
    give every patient the same mean: this is where it shows.

    Parameters
    ----------
    statistic : {"mean", "median", "std", "min", "max"}, default="mean"
        How the values of a sequence are summed up.

    See Also
    --------
    InterRowMSAS : Changes from row to row.
    AutocorrelationDifference : How long values persist.

    Notes
    -----
    One minus the Kolmogorov-Smirnov distance of the statistics of train's sequences and of the
    synthetic ones, column by column (multi-sequence aggregate similarity); the value is the mean
    over columns. Missing values are left out; a sequence without a value, or for "std" with fewer
    than two, has no statistic. Every sequence counts once, however long. What the statistic sums up
    may change along the sequence: ``details["lines"]`` has mean and quartiles by position and by
    time, at points with ten sequences or more and to the digits that the error of the mean leaves
    certain, and the display draws them.

    References
    ----------
    Published under this name by SDMetrics.

    Examples
    --------
    >>> import pandas as pd
    >>> from skeval.relational import RelationalSchema, SequenceKey, StatisticMSAS
    >>> schema = RelationalSchema(["visits"], sequences={"visits": SequenceKey("patient")})
    >>> train = pd.DataFrame({"patient": list("aaabbb"), "x": [1, 2, 3, 4, 5, 6]})
    >>> synthetic = train.assign(x=[1, 2, 3, 10, 20, 30])
    >>> StatisticMSAS().fit({"visits": train}, schema=schema).score({"visits": synthetic})
    0.5
    """

    tags = replace(RELATIONAL_TAGS, display="LinesDisplay")
    _parts = ("lines",)

    statistic: Literal["mean", "median", "std", "min", "max"] = "mean"

    def _measure_column(self, context: RelationalContext, table: str, column: str) -> float:
        samples = []
        for role in BOTH:
            own = sequences(context, role, table, ordered=False)
            values = sequence_values(context, role, table, column, ordered=False)
            samples.append(
                (statistic_by_sequence(own, values, self.statistic), np.arange(len(own)))
            )
        return agreement(samples)

    def _column_details(self, context: RelationalContext, measured: Measured) -> dict[str, Any]:
        shown = list(measured)[:_MAX_LINES]
        train, synthetic = (_lines(context, role, shown) for role in BOTH)
        kinds = {
            f"{table}.{column}": _described_kinds(context, table, column) for table, column in shown
        }
        return {"train_lines": train, "lines": synthetic, "kinds": kinds}

    def _summary(self, result: Result) -> str:
        return (
            f"The cumulative curves of the {self.statistic} of a sequence lie "
            f"{percent(1.0 - result.value)} apart at most, on average over columns."
        )


def _lines(
    context: RelationalContext, role: str, names: list[tuple[str, str]]
) -> dict[str, dict[str, Any]]:
    """Return the lines of columns by position and by time."""
    return {
        f"{table}.{column}": {
            by: lines(context, role, table, column, by) for by in ("position", "time")
        }
        for table, column in names
    }


def _described_kinds(context: RelationalContext, table: str, column: str) -> dict[str, str]:
    """Return the kind of a column, and of the index that its lines run along."""
    kinds = context.relations.tables[table].kinds
    index = context.relations.sequences[table].index
    return {"value": kinds[column], "index": kinds[index] if index else ""}
