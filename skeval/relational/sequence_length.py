"""Compare the length of sequences with the training data."""

from __future__ import annotations

from typing import Any

import numpy as np

from skeval.core.declared import declared
from skeval.core.relational_context import RelationalContext
from skeval.core.tags import RELATIONAL_TAGS
from skeval.relational.sequence_metric import (
    BOTH,
    SequenceMetric,
    SequenceTable,
    kolmogorov_agreement,
)
from skeval.results.result import Result
from skeval.steps.sequences import sequences
from skeval.utils.formatting import number, percent


@declared
class SequenceLengthSimilarity(SequenceMetric):
    """Similarity of the distributions of sequence lengths.

    A generator that writes visits, trips or payments one after the other must learn when to stop.
    If it never stops early, all sequences have the maximum length, and every sum over a history is
    wrong. The score ranges from 0 (no overlap) to 1 (equal distributions). Higher is better.

    Warnings
    --------
    Only the numbers of rows are compared, not the rows. Individuals without rows do not appear in
    the table.

    See Also
    --------
    CardinalityShapeSimilarity : Compares the numbers of children of a parent, including 0.

    Notes
    -----
    The score of a table is one minus the Kolmogorov-Smirnov distance between the numbers of rows
    per key. ``details["columns"]`` contains the score of each table, and the value is the mean of
    these scores. Rows without a key do not belong to a sequence and are ignored with a warning.
    Rows without an index are counted. A sequence without rows does not appear in the table, so the
    length 0 does not occur.

    References
    ----------
    Published under this name by SDMetrics.

    Examples
    --------
    >>> import pandas as pd
    >>> from skeval.relational import RelationalSchema, SequenceKey, SequenceLengthSimilarity
    >>> schema = RelationalSchema(["visits"], sequences={"visits": SequenceKey("patient")})
    >>> train, synthetic = (pd.DataFrame({"patient": list(keys)}) for keys in ("aaabbc", "aaabbb"))
    >>> metric = SequenceLengthSimilarity().fit({"visits": train}, schema=schema)
    >>> round(metric.score({"visits": synthetic}), 6)
    0.333333
    """

    tags = RELATIONAL_TAGS
    _parts = ("lengths",)
    _halved = True  # the difference: skeval/core/subject_halves.py

    table: SequenceTable = None

    def _lengths(self, context: RelationalContext, table: str) -> list[np.ndarray]:
        return [sequences(context, role, table, ordered=False).lengths for role in BOTH]

    def _score_of(self, context: RelationalContext, table: str) -> float:
        return kolmogorov_agreement(*self._lengths(context, table))

    def _extra_details(self, context: RelationalContext, tables: tuple[str, ...]) -> dict[str, Any]:
        train, synthetic = (
            {name: _describe_lengths(self._lengths(context, name)[side]) for name in tables}
            for side in (0, 1)
        )
        return {"train": train, "lengths": synthetic}

    def _summary(self, result: Result) -> str:
        table = result.details["worst"]["column"]
        train, own = (result.details[key][table].get("mean") for key in ("train", "lengths"))
        if train is None or own is None:  # all keys are missing
            return f"The sequences of {table} have no lengths to compare."
        return (
            "The cumulative distributions of lengths differ by at most "
            f"{percent(1.0 - result.value)}. "
            f"Sequences of {table} have {number(own)} rows on average (training data: "
            f"{number(train)})."
        )


def _describe_lengths(lengths: np.ndarray) -> dict[str, float]:
    if not lengths.size:
        return {"n_sequences": 0, "mean": 0.0, "median": 0.0, "share_of_one": 0.0}
    return {
        "n_sequences": int(lengths.size),
        "mean": float(lengths.mean()),
        "median": float(np.median(lengths)),
        "share_of_one": float((lengths == 1).mean()),
    }
