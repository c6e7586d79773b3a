"""Compare which values follow each other in the sequences with the training data."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any, Literal

import numpy as np
import pandas as pd

from skeval.core.declared import declared
from skeval.core.relational_context import RelationalContext
from skeval.core.tags import RELATIONAL_TAGS
from skeval.relational.sequence_metric import (
    BOTH,
    ColumnSequenceMetric,
    Measured,
    Weight,
    by_column_name,
    kolmogorov_agreement,
)
from skeval.results.result import Result
from skeval.steps.columns import cells, codes
from skeval.steps.sequences import MIN_SEQUENCES, Sequences, sequences
from skeval.tables.preprocessing import NOMINAL, NUMERIC
from skeval.utils.formatting import percent
from skeval.utils.parameters import BinCount

# maximum number of columns and of categories in the matrices for figures
_MAX_DRAWN, _MAX_LEVELS = 4, 8


@declared
class CoherenceSimilarity(ColumnSequenceMetric):
    r"""Similarity of the distributions of consecutive values in sequences.

    In a real history, admission is followed by treatment, and treatment by discharge. A table whose
    rows are individually realistic may discharge a patient before the treatment. The score ranges
    from 0 (no common values) to 1 (equal distributions). Higher is better.

    Parameters
    ----------
    part : {"pairs", "distinct_categories", "sequences_per_category"}, default="pairs"
        Distributions to compare. "pairs" are pairs of consecutive values, "distinct_categories" the
        number of different values per sequence, and "sequences_per_category" the values that occur
        in sequences, each counted once per sequence.
    weight : {"row", "sequence"}, default="row"
        Whether each pair or each sequence has the same weight. Long sequences have more pairs.
    n_bins : int, default=10
        Number of bins with equal fractions of the training data into which numerical and datetime
        columns are cut. Frequent values have a separate bin, see
        :class:`~skeval.tables.Discretizer`.

    Warnings
    --------
    Longer sequences have more pairs, and real rows also score below 1. Compare the score with the
    baseline and use :class:`SequenceLengthSimilarity` in addition.

    See Also
    --------
    TransitionSimilarity : Compares the next category, given the present category.

    Notes
    -----
    Let p and q be the fractions of the training and the synthetic data in each bin. The score of a
    column is

    .. math:: 1 - \frac{1}{2} \sum_c |p_c - q_c|

    For "pairs", the bins are pairs :math:`(x_t, x_{t+1})`. For "sequences_per_category", they are
    the bins of the column, each counted once per sequence. For "distinct_categories", the score is
    one minus the Kolmogorov-Smirnov distance between the numbers of bins per sequence. Longer
    sequences have more bins, so compare :class:`SequenceLengthSimilarity`. The value is the mean
    over columns for the chosen part, and ``details["parts"]`` contains the values of all three. A
    missing value is a separate bin. Real rows also score below 1, and the difference grows with the
    number of bins. Therefore compare the value with the baseline.

    References
    ----------
    mostlyai-qa, which draws one random pair of each sequence; weighting by sequence is its mean
    over draws.

    Examples
    --------
    >>> import pandas as pd
    >>> from skeval.relational import CoherenceSimilarity, RelationalSchema, SequenceKey
    >>> schema = RelationalSchema(["visits"], sequences={"visits": SequenceKey("patient")})
    >>> train = pd.DataFrame({"patient": list("aaabbb"), "ward": list("xyzxyz")})
    >>> synthetic = train.assign(ward=list("xyzzyx"))
    >>> metric = CoherenceSimilarity().fit({"visits": train}, schema=schema)
    >>> metric.score({"visits": synthetic})
    0.5
    """

    tags = RELATIONAL_TAGS
    _parts = ("parts",)

    part: Literal["pairs", "distinct_categories", "sequences_per_category"] = "pairs"
    weight: Weight = "row"
    n_bins: BinCount = 10

    def _compared_kinds(self) -> tuple[str, ...]:
        return (*NUMERIC, *NOMINAL)

    def _measure_column(
        self, context: RelationalContext, table: str, column: str
    ) -> dict[str, float]:
        pairs, distinct, having = [], [], []
        for role in BOTH:
            own, cell, n_cells = cells_in_order(context, role, table, column, self.n_bins)
            pairs.append(transition_counts(own, cell, n_cells, self.weight))
            visited = np.unique(own.owners * n_cells + cell)
            distinct.append(np.bincount(visited // n_cells, minlength=len(own)))
            having.append(np.bincount(visited % n_cells, minlength=n_cells))
        return {
            "pairs": _agreement(*pairs),
            "distinct_categories": kolmogorov_agreement(*distinct),
            "sequences_per_category": _agreement(*having),
        }

    def _score(self, measured: dict[str, float]) -> float:
        return measured[self.part]

    def _column_details(self, context: RelationalContext, measured: Measured) -> dict[str, Any]:
        return {"parts": by_column_name(measured)}

    def _summary(self, result: Result) -> str:
        what = {
            "pairs": "pairs of neighboring values",
            "distinct_categories": "numbers of different values of a sequence",
            "sequences_per_category": "values that sequences have",
        }[self.part]
        return (
            f"The distributions of {what} agree with the training data to {percent(result.value)}, "
            "on average over columns."
        )


@declared
class TransitionSimilarity(ColumnSequenceMetric):
    r"""Similarity of the transition probabilities between consecutive values.

    A transition probability is, for example, the fraction of patients in treatment who are
    discharged on the next day. Marginal distributions do not show this fraction. Therefore, a table
    with correct marginal distributions may keep all patients in treatment forever. The score ranges
    from 0 (no common transitions) to 1 (equal probabilities). Higher is better.

    Parameters
    ----------
    n_bins : int or None, default=None
        If specified, numerical and datetime columns are also evaluated, cut into this number of
        bins with equal fractions of the training data. If None, only categorical and boolean
        columns are evaluated.
    weight : {"row", "sequence"}, default="row"
        Whether each pair of consecutive rows or each sequence has the same weight.

    Warnings
    --------
    Only steps from one row to the next are compared, not longer dependence. Transitions from rare
    values have little effect.

    See Also
    --------
    CoherenceSimilarity : Compares the frequencies of pairs of consecutive categories.

    Notes
    -----
    Let P(b | a) be the fraction of rows with value a whose next row has value b, and let p(a) be
    the fraction of training pairs that start with a. The score of a column is

    .. math:: \sum_a p(a) \left(1 - \frac{1}{2} \sum_b |P_{train}(b|a) - P_{synthetic}(b|a)|\right)

    If a value is never followed by another row in the synthetic data, the agreement of this value
    is 0. The value is the mean over columns. ``details["transitions"]`` contains the matrices of
    the most frequent categories for the display. Fractions from fewer than ten sequences are not
    included.

    References
    ----------
    Formula of this project.

    Examples
    --------
    >>> import pandas as pd
    >>> from skeval.relational import RelationalSchema, SequenceKey, TransitionSimilarity
    >>> schema = RelationalSchema(["visits"], sequences={"visits": SequenceKey("patient")})
    >>> train = pd.DataFrame({"patient": list("aaabbb"), "ward": list("xyzxyz")})
    >>> synthetic = train.assign(ward=list("xyzxzy"))
    >>> metric = TransitionSimilarity().fit({"visits": train}, schema=schema)
    >>> metric.score({"visits": synthetic})
    0.75
    """

    tags = replace(RELATIONAL_TAGS, display="TransitionsDisplay")
    _parts = ("transitions",)

    n_bins: BinCount | None = None
    weight: Weight = "row"

    def _compared_kinds(self) -> tuple[str, ...]:
        return NOMINAL if self.n_bins is None else (*NUMERIC, *NOMINAL)

    def _measure_column(self, context: RelationalContext, table: str, column: str) -> float:
        tables = []
        for role in BOTH:
            own, cell, n_cells = cells_in_order(context, role, table, column, self.n_bins or 10)
            tables.append(transition_counts(own, cell, n_cells, self.weight))
        return transition_agreement(*tables)

    def _column_details(self, context: RelationalContext, measured: Measured) -> dict[str, Any]:
        nominal = [(t, c) for t, c in measured if context.relations.tables[t].kinds[c] in NOMINAL]
        train, synthetic = (
            {
                f"{t}.{c}": _transition_fractions(context, role, t, c)
                for t, c in nominal[:_MAX_DRAWN]
            }
            for role in BOTH
        )
        return {"train_transitions": train, "transitions": synthetic}

    def _summary(self, result: Result) -> str:
        return (
            "The transition probabilities agree with the training data to "
            f"{percent(result.value)} on "
            "average over columns."
        )


def cells_in_order(
    context: RelationalContext, role: str, table: str, column: str, n_bins: int
) -> tuple[Sequences, np.ndarray, int]:
    """Return the sequences of a table, the bin of each row, and the number of bins."""
    alone, own = context.table(table), sequences(context, role, table)
    j = alone.schema.measured.index(column)
    of_rows = codes(alone, role, n_bins, "quantile", 50)[:, j].astype(np.int64)
    return own, of_rows[own.order], int(cells(alone, n_bins, "quantile").n_cells_[j])


def transition_counts(own: Sequences, cell: np.ndarray, n_cells: int, weight: str) -> np.ndarray:
    """Return how often one bin follows another, weighted by row or by sequence."""
    firsts = own.pairs()
    joint = cell[firsts] * n_cells + cell[firsts + 1]
    weights = None
    if weight == "sequence" and firsts.size:
        owners = own.owners[firsts]
        weights = 1.0 / np.bincount(owners)[owners]
    counts = np.bincount(joint, weights, n_cells**2).astype(np.float64)
    return counts.reshape(n_cells, n_cells)


def _agreement(counts: np.ndarray, others: np.ndarray) -> float:
    """Return 1 minus the total variation of two tables of counts, or nan if the first is empty."""
    n, m = counts.sum(), others.sum()
    if n == 0 or m == 0:
        return math.nan if n == 0 else 0.0
    return float(np.minimum(counts / n, others / m).sum())


def transition_agreement(counts: np.ndarray, others: np.ndarray) -> float:
    """Return the mean agreement of the row distributions of two tables of counts."""
    of_row, of_other = counts.sum(axis=1), others.sum(axis=1)
    if not of_row.sum():
        return float("nan")
    p, q = (
        table / np.maximum(sums, np.finfo(float).tiny)[:, None]
        for table, sums in ((counts, of_row), (others, of_other))
    )
    return float(of_row @ np.minimum(p, q).sum(axis=1) / of_row.sum())


def _frequent(context: RelationalContext, table: str, column: str) -> list[str]:
    """Return the categories of most training sequences, each in at least ten sequences."""
    own = sequences(context, "train", table)
    values = context["train"][table][column].iloc[own.order].astype(object)
    visited = pd.DataFrame({"value": values.array, "owner": own.owners}).drop_duplicates()
    counts = (
        visited["value"].value_counts().sort_index().sort_values(ascending=False, kind="stable")
    )
    return [str(level) for level in counts.index[counts >= MIN_SEQUENCES][:_MAX_LEVELS]]


def _transition_fractions(
    context: RelationalContext, role: str, table: str, column: str
) -> dict[str, Any]:
    """Return the fractions of the next values for the most frequent categories."""
    own, levels = sequences(context, role, table), _frequent(context, table, column)
    place = {level: i for i, level in enumerate(levels)}
    rows, n = context[role][table][column], len(levels) + 1
    places = np.array([place.get(str(c), n - 1) for c in rows.cat.categories] + [n - 1])
    cell = places[rows.cat.codes.to_numpy()][own.order]  # code -1, missing, is the last
    firsts = own.pairs()
    joint = cell[firsts] * n + cell[firsts + 1]
    counts = np.bincount(joint, minlength=n * n).reshape(n, n)
    distinct = np.unique(own.owners[firsts] * n * n + joint) % (n * n)
    n_sequences = np.bincount(distinct, minlength=n * n).reshape(n, n)
    share = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    shown = np.where(n_sequences >= MIN_SEQUENCES, share, np.nan)
    return {"levels": [*levels, "other"], "shares": shown}
