"""Compare a statistic of each sequence with the training data."""

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

_MAX_LINES = 6  # maximum number of columns with curves for figures


@declared
class StatisticMSAS(ColumnSequenceMetric):
    """Similarity of the distributions of a statistic per sequence (statistic MSAS).

    Each patient has a mean blood pressure. If realistic rows are shuffled among patients, all
    patients have nearly the same mean. This metric shows the difference. The score ranges from 0
    (no overlap) to 1 (equal distributions). Higher is better.

    Parameters
    ----------
    statistic : {"mean", "median", "std", "min", "max"}, default="mean"
        Statistic of the values of a sequence.

    Warnings
    --------
    One statistic per sequence is compared. Sequences with the same means can have a different
    course over time.

    See Also
    --------
    InterRowMSAS : Compares the changes between consecutive rows.
    AutocorrelationDifference : Compares how long values persist.

    Notes
    -----
    The score of a column is one minus the Kolmogorov-Smirnov distance between the statistics of the
    training sequences and of the synthetic sequences (multi-sequence aggregate similarity). The
    value is the mean over columns. Missing values are ignored. A sequence without values, or with
    fewer than two values for "std", has no statistic. Every sequence has the same weight,
    regardless of its length. Values may also change along a sequence. ``details["lines"]`` contains
    mean and quartiles by position and by time for the display. The entry contains only points with
    at least ten sequences, rounded to the digits that are certain given the standard error.

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
            f"The cumulative distributions of the {self.statistic} of a sequence differ by at most "
            f"{percent(1.0 - result.value)}, on average over columns."
        )


def _lines(
    context: RelationalContext, role: str, names: list[tuple[str, str]]
) -> dict[str, dict[str, Any]]:
    """Return the curves of columns by position and by time."""
    return {
        f"{table}.{column}": {
            by: lines(context, role, table, column, by) for by in ("position", "time")
        }
        for table, column in names
    }


def _described_kinds(context: RelationalContext, table: str, column: str) -> dict[str, str]:
    """Return the type of a column, and the type of its index."""
    kinds = context.relations.tables[table].kinds
    index = context.relations.sequences[table].index
    return {"value": kinds[column], "index": kinds[index] if index else ""}
