"""The changes between rows of a sequence, compared with those of train."""

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
    """Agreement of changes from row to row: 1 where they are distributed alike, 0 without overlap.

    A share price moves by a percent a day. Synthetic prices that are right in level and drawn anew
    each day leap by half their value: nobody sees it in the distribution of prices, and everybody
    in that of their changes.

    Parameters
    ----------
    lag : int, default=1
        How many rows the two values of a change are apart.
    log : bool, default=False
        Whether changes are of logarithms, that is, relative ones; values that are not positive, and
        dates, are then left out.
    weight : {"row", "sequence"}, default="row"
        Whether each change counts as much, or each sequence: long ones have more changes.

    See Also
    --------
    StatisticMSAS : Levels of sequences.
    AutocorrelationDifference : How long values persist.

    Notes
    -----
    One minus the Kolmogorov-Smirnov distance of ``x[i + lag] - x[i]`` within sequences, pooled over
    sequences, column by column; the value is the mean over columns. Rows are sorted by the index of
    the sequence key first; SDMetrics trusts the order of the rows. Sequences of `lag` rows or fewer
    have no change.

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
            f"The cumulative curves of changes over {format_count(self.lag, 'row')} lie "
            f"{percent(1.0 - result.value)} apart at most, on average over columns."
        )


def _changes(values: np.ndarray, firsts: np.ndarray, lag: int, log: bool) -> np.ndarray:
    """Return how values change over `lag` rows, as logarithms if asked."""
    if log:
        values = np.log(np.where(values > 0, values, np.nan))
    with np.errstate(invalid="ignore"):  # infinity less infinity is missing
        change: np.ndarray = values[firsts + lag] - values[firsts]
    return change


def changes_decimals(values: np.ndarray, log: bool) -> int:
    """Return to how many decimals differences are exact: 0.3 - 0.2 is 0.2 - 0.1 then."""
    finite = values[np.isfinite(values) & (values > 0 if log else True)]
    largest = np.abs(np.log(finite) if log else finite).max(initial=0.0)
    exponent = int(np.ceil(np.log10(largest))) if largest > 0 else 0
    return int(np.clip(14 - exponent, -15, 15))
