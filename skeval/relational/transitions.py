"""Which cell follows which in the sequences, compared with those of train."""

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

_MAX_DRAWN, _MAX_LEVELS = 4, 8  # columns and categories of the matrices that are kept


@declared
class CoherenceSimilarity(ColumnSequenceMetric):
    r"""Agreement of neighbouring values: 1 where pairs have equal shares, 0 where none is shared.

    In a real history admission is followed by treatment, and treatment by discharge. A table whose
    rows are right one by one may discharge first and treat afterwards.

    Parameters
    ----------
    part : {"pairs", "distinct_categories", "sequences_per_category"}, default="pairs"
        What is compared: pairs of a value and the next one; how many different values a sequence
        has; or which values sequences have, however often.
    weight : {"row", "sequence"}, default="row"
        Whether each pair counts as much, or each sequence: long ones have more pairs.
    n_bins : int, default=10
        Cells of equal share of train into which numbers and dates are cut; frequent values have
        cells of their own, see :class:`~skeval.tables.Discretizer`.

    See Also
    --------
    TransitionSimilarity : What follows, given what was there.

    Notes
    -----
    With p the shares of train over cells and q those of the synthetic table, the score of a column
    is

    .. math:: 1 - \frac{1}{2} \sum_c |p_c - q_c|

    where the cells are, for "pairs", those of :math:`(x_t, x_{t+1})`; for "sequences_per_category",
    those of the column, each counted once a sequence that has it. For "distinct_categories" it is
    one minus the Kolmogorov-Smirnov distance of the numbers of cells that sequences have, to which
    longer sequences have more: compare :class:`SequenceLengthSimilarity`. The value is the mean
    over columns of the chosen part; ``details["parts"]`` has all three. Missing is a cell of its
    own. Chance alone keeps fresh real rows below 1, the more so the more cells there are: compare
    with the baseline.

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
            "pairs": "pairs of neighbouring values",
            "distinct_categories": "numbers of different values of a sequence",
            "sequences_per_category": "values that sequences have",
        }[self.part]
        return (
            f"On average over columns, {percent(result.value)} of the {what} would not have to "
            "change to match train."
        )


@declared
class TransitionSimilarity(ColumnSequenceMetric):
    r"""Agreement of what follows on a value: 1 where it is distributed alike, 0 where never.

    How many of those in treatment are in treatment the next day, how many discharged? Marginals do
    not show it, and a table of right shares may keep everybody in treatment for ever.

    Parameters
    ----------
    n_bins : int or None, default=None
        If given, numbers and dates are measured too, cut into this number of cells of equal share
        of train. If None, categories and booleans only.
    weight : {"row", "sequence"}, default="row"
        Whether each pair of neighbouring rows counts as much, or each sequence.

    See Also
    --------
    CoherenceSimilarity : Shares of pairs, which marginals are part of.

    Notes
    -----
    With P(b | a) the share of rows of value a whose next row has b, and p(a) the share of train's
    pairs that start with a, the score of a column is

    .. math:: \sum_a p(a) \left(1 - \frac{1}{2} \sum_b |P_{train}(b|a) - P_{synthetic}(b|a)|\right)

    where a value on which nothing follows in the synthetic table has no agreement. The value is the
    mean over columns. ``details["transitions"]`` has the matrices of the most frequent categories,
    which the display draws; shares that rest on fewer than ten sequences are left out.

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
            f"Given a value, what follows on it agrees with train to {percent(result.value)} on "
            "average over columns."
        )


def cells_in_order(
    context: RelationalContext, role: str, table: str, column: str, n_bins: int
) -> tuple[Sequences, np.ndarray, int]:
    """Return the sequences of a table, the cell of each of their rows, and how many cells exist."""
    alone, own = context.table(table), sequences(context, role, table)
    j = alone.schema.measured.index(column)
    of_rows = codes(alone, role, n_bins, "quantile", 50)[:, j].astype(np.int64)
    return own, of_rows[own.order], int(cells(alone, n_bins, "quantile").n_cells_[j])


def transition_counts(own: Sequences, cell: np.ndarray, n_cells: int, weight: str) -> np.ndarray:
    """Return how often one cell follows on another, by row, or with 1 in all a sequence."""
    firsts = own.pairs()
    joint = cell[firsts] * n_cells + cell[firsts + 1]
    weights = None
    if weight == "sequence" and firsts.size:
        owners = own.owners[firsts]
        weights = 1.0 / np.bincount(owners)[owners]
    counts = np.bincount(joint, weights, n_cells**2).astype(np.float64)
    return counts.reshape(n_cells, n_cells)


def _agreement(counts: np.ndarray, others: np.ndarray) -> float:
    """Return 1 less the total variation of two tables of counts; nan if the first is empty."""
    n, m = counts.sum(), others.sum()
    if n == 0 or m == 0:
        return math.nan if n == 0 else 0.0
    return float(np.minimum(counts / n, others / m).sum())


def transition_agreement(counts: np.ndarray, others: np.ndarray) -> float:
    """Get how far rows of two tables of counts agree in their shares, on average over the first."""
    of_row, of_other = counts.sum(axis=1), others.sum(axis=1)
    if not of_row.sum():
        return float("nan")
    p, q = (
        table / np.maximum(sums, np.finfo(float).tiny)[:, None]
        for table, sums in ((counts, of_row), (others, of_other))
    )
    return float(of_row @ np.minimum(p, q).sum(axis=1) / of_row.sum())


def _frequent(context: RelationalContext, table: str, column: str) -> list[str]:
    """Return the categories that most sequences of train have, none that fewer than ten have."""
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
    """Return shares of what follows on train's most frequent categories, all others pooled."""
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
