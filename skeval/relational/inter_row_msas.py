"""Compare the changes between rows of a sequence with the training data."""

from __future__ import annotations

import numpy as np

from skeval.core.declared import declared
from skeval.core.relational_context import RelationalContext
from skeval.core.tags import RELATIONAL_TAGS
from skeval.relational.sequence_metric import BOTH, ColumnSequenceMetric, Weight, agreement
from skeval.results.result import Result
from skeval.stats.matches import digits_kept
from skeval.steps.sequences import sequence_values, sequences
from skeval.tables.preprocessing import NUMERIC
from skeval.utils.formatting import format_count, percent
from skeval.utils.parameters import Count


@declared
class InterRowMSAS(ColumnSequenceMetric):
    """Similarity of the distributions of changes between rows (inter-row MSAS).

    A share price changes by one percent per day. If synthetic prices have the correct level but are
    drawn independently for each day, they jump by half of their value. The distribution of prices
    does not show this error, but the distribution of their changes does. The score ranges from 0
    (no overlap) to 1 (equal distributions). Higher is better.

    Parameters
    ----------
    lag : int, default=1
        Distance in rows between the two values of a change.
    log : bool, default=False
        Whether changes are computed from logarithms, which gives relative changes. In this case,
        values that are not positive and dates are ignored.
    weight : {"row", "sequence"}, default="row"
        Whether each change or each sequence has the same weight. Long sequences have more changes.

    Warnings
    --------
    Only changes are compared. Sequences at another level can score 1, so use :class:`StatisticMSAS`
    in addition.

    See Also
    --------
    StatisticMSAS : Compares statistics of whole sequences.
    AutocorrelationDifference : Compares how long values persist.

    Notes
    -----
    The score of a column is one minus the Kolmogorov-Smirnov distance between the changes ``x[i +
    lag] - x[i]`` within sequences, pooled over sequences. The value is the mean over columns. Rows
    are sorted by the index of the sequence key first. SDMetrics uses the given order of the rows.
    Sequences of `lag` rows or fewer have no change.

    References
    ----------
    Published under this name by SDMetrics.

    Examples
    --------
    >>> import pandas as pd
    >>> from skeval.relational import InterRowMSAS, RelationalSchema, SequenceKey
    >>> schema = RelationalSchema(["visits"], sequences={"visits": SequenceKey("patient")})
    >>> train = pd.DataFrame({"patient": list("aaabbb"), "x": [1, 2, 3, 4, 5, 6]})
    >>> synthetic = train.assign(x=[1, 2, 3, 10, 20, 30])
    >>> InterRowMSAS(log=True).fit({"visits": train}, schema=schema).score({"visits": synthetic})
    0.5
    """

    tags = RELATIONAL_TAGS

    lag: Count = 1
    log: bool = False
    weight: Weight = "row"

    def _compared_kinds(self) -> tuple[str, ...]:
        return ("continuous",) if self.log else NUMERIC

    def _measure_column(self, context: RelationalContext, table: str, column: str) -> float:
        samples = []
        decimals = changes_decimals(sequence_values(context, "train", table, column), self.log)
        for role in BOTH:
            own = sequences(context, role, table)
            values = sequence_values(context, role, table, column)
            firsts = own.pairs(self.lag)
            changes = digits_kept(_changes(values, firsts, self.lag, self.log), decimals=decimals)
            samples.append((changes, own.owners[firsts]))
        return agreement(samples, self.weight)

    def _summary(self, result: Result) -> str:
        return (
            f"The cumulative distributions of changes over {format_count(self.lag, 'row')} "
            "differ by "
            f"at most {percent(1.0 - result.value)}, on average over columns."
        )


def _changes(values: np.ndarray, firsts: np.ndarray, lag: int, log: bool) -> np.ndarray:
    """Return how values change over `lag` rows, as logarithms if asked."""
    if log:
        values = np.log(np.where(values > 0, values, np.nan))
    with np.errstate(invalid="ignore"):  # infinity minus infinity is missing
        change: np.ndarray = values[firsts + lag] - values[firsts]
    return change


def changes_decimals(values: np.ndarray, log: bool) -> int:
    """Return the number of decimals to which differences are exact, so that equal ones match."""
    finite = values[np.isfinite(values) & (values > 0 if log else True)]
    largest = np.abs(np.log(finite) if log else finite).max(initial=0.0)
    exponent = int(np.ceil(np.log10(largest))) if largest > 0 else 0
    return int(np.clip(14 - exponent, -15, 15))
