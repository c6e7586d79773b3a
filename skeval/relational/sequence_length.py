"""How long the sequences are, compared with those of train."""

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
    """Agreement of the lengths of sequences: 1 where they are distributed alike, 0 without overlap.

    A generator that writes visits, trips or payments one after the other has to know when to stop.
    One that never does gives everybody the longest history, and every sum over a history is wrong.

    See Also
    --------
    CardinalityShapeSimilarity : Numbers of children of a parent, which may be none.

    Notes
    -----
    One minus the Kolmogorov-Smirnov distance of the numbers of rows a key, by table in
    ``details["columns"]``; the value is their mean. Rows without a key belong to no sequence and
    are left out, with a warning; those without an index count. A sequence without rows is not in
    the table: the length 0 is not seen.

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
            return f"There is no sequence of {table} to compare."
        return (
            f"The cumulative curves of lengths lie {percent(1.0 - result.value)} apart at most; "
            f"sequences of {table} have {number(own)} rows on average, in train {number(train)}."
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
