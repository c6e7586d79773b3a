"""The times between the rows of a sequence, compared with those of train."""

from __future__ import annotations

from typing import Any

from skeval.core.declared import declared
from skeval.core.relational_context import RelationalContext
from skeval.core.tags import RELATIONAL_TAGS
from skeval.relational.sequence_metric import BOTH, SequenceMetric, Weight, agreement, order_of_rows
from skeval.results.result import Result
from skeval.steps.sequences import sequences
from skeval.utils.formatting import percent


@declared
class InterEventTimeSimilarity(SequenceMetric):
    """Agreement of the times between rows: 1 where they are distributed alike, 0 without overlap.

    Visits a week apart and visits a year apart are two diseases. Generators often get the dates
    right and the times between them wrong, since each date was drawn on its own.

    Parameters
    ----------
    weight : {"row", "sequence"}, default="row"
        Whether each time counts as much, or each sequence.

    See Also
    --------
    InterRowMSAS : Changes of the other columns.

    Notes
    -----
    One minus the Kolmogorov-Smirnov distance of the differences of the index from row to row, by
    table in ``details["columns"]``; the value is their mean. ``details["order"]`` has three shares
    for train and for the synthetic table: rows with the index of the row before (`ties`), steps
    longer than the usual one of train if at least half of its steps are equal (`gaps`), and rows
    without index or key. A table whose sequence key has no index has no times.

    Examples
    --------
    >>> import pandas as pd
    >>> from skeval.relational import InterEventTimeSimilarity, RelationalSchema, SequenceKey
    >>> key = SequenceKey("patient", "day")
    >>> schema = RelationalSchema(["visits"], sequences={"visits": key})
    >>> train = pd.DataFrame({"patient": list("aaabbb"), "day": [1, 11, 21, 1, 11, 21]})
    >>> synthetic = train.assign(day=[1, 2, 3, 1, 11, 21])
    >>> metric = InterEventTimeSimilarity().fit({"visits": train}, schema=schema)
    >>> metric.score({"visits": synthetic})
    0.5
    """

    tags = RELATIONAL_TAGS
    _halved = True  # the difference: skeval/core/subject_halves.py

    weight: Weight = "row"

    def _measures(self, context: RelationalContext, table: str) -> bool:
        return context.relations.sequences[table].index is not None

    def _score_of(self, context: RelationalContext, table: str) -> float:
        both = [sequences(context, role, table) for role in BOTH]
        return agreement([(own.steps, own.owners[own.pairs()]) for own in both], self.weight)

    def _extra_details(self, context: RelationalContext, tables: tuple[str, ...]) -> dict[str, Any]:
        return order_of_rows(context, tables)

    def _summary(self, result: Result) -> str:
        table = result.details["worst"]["column"]
        rates = result.details["order"][table]
        synthetic, train = (percent(rates[role]["ties"]) for role in ("synthetic", "train"))
        return (
            f"The cumulative curves of times between rows lie {percent(1.0 - result.value)} apart "
            f"at most; in {table}, {synthetic} of synthetic rows have the time of the row before, "
            f"of train {train}."
        )
