"""Compare the times between the rows of a sequence with the training data."""

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
    """Similarity of the distributions of the times between consecutive rows.

    Visits every week and visits every year indicate two different diseases. Generators often
    reproduce the dates but not the times between dates, because each date was drawn independently.
    The score ranges from 0 (no overlap) to 1 (equal distributions). Higher is better.

    Parameters
    ----------
    weight : {"row", "sequence"}, default="row"
        Whether each time or each sequence has the same weight.

    Warnings
    --------
    All times are pooled, so the score does not show whether the times of one sequence belong
    together.

    See Also
    --------
    InterRowMSAS : Compares the changes of the other columns.

    Notes
    -----
    The score of a table is one minus the Kolmogorov-Smirnov distance between the differences of the
    index from row to row. ``details["columns"]`` contains the score of each table, and the value is
    the mean of these scores. ``details["order"]`` contains three fractions for the training and the
    synthetic data. `ties` are rows with the index of the previous row. `gaps` are steps that are
    longer than the most common training step, if at least half of the training steps are equal. The
    third fraction is for rows without index or key. A table whose sequence key has no index has no
    times.

    References
    ----------
    Formula of this project.

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
            f"The cumulative distributions of the times between rows differ by at most "
            f"{percent(1.0 - result.value)}. In {table}, {synthetic} of the synthetic rows "
            f"and {train} "
            f"of the training rows have the same time as the previous row."
        )
