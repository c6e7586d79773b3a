"""Sequences compared with those of train: lengths, levels, changes, times, neighbours, memory."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import KW_ONLY, replace
from typing import Annotated, Any, Literal, cast

import numpy as np
import pandas as pd

from skeval.core.context import Context, shared
from skeval.core.declared import declared
from skeval.core.relational_base import RelationalMetric
from skeval.core.relational_context import RelationalContext
from skeval.core.tags import RELATIONAL_TAGS
from skeval.exceptions import DegenerateInputWarning, InvalidParameterError, NothingToMeasureWarning
from skeval.results.result import Result, mean_of_columns, undefined
from skeval.stats.distributions import kolmogorov_distance, weighted_kolmogorov
from skeval.stats.matches import digits_kept
from skeval.steps.samples import cells, codes, mean_of_defined
from skeval.steps.sequences import (
    MIN_SEQUENCES,
    Sequences,
    by_sequence,
    irregularities,
    lines,
    order_warnings,
    sequence_columns,
    sequence_values,
    sequences,
)
from skeval.tables.preprocessing import NOMINAL, NUMERIC
from skeval.utils.formatting import counted, number, percent
from skeval.utils.parameters import BinCount, Columns, Count, Interval, Legal, is_text

SequenceTable = Annotated[
    str | None, Legal("None or the name of a table", lambda v: v is None or is_text(v), -1)
]
Weight = Literal["row", "sequence"]
Measured = Mapping[tuple[str, str], Any]  # by table and column
BOTH = ("train", "synthetic")
_LARGEST_GAP = 2.0  # of two correlations
_MAX_LINES = 6  # columns whose lines are kept for figures
_NO_SEQUENCES = (
    "The schema has no sequences. Give them: RelationalSchema(..., sequences={table: "
    "SequenceKey(key, index)})."
)


@declared
class SequenceMetric(RelationalMetric):
    """Base of metrics of tables whose rows are in order: of one of them, or of all.

    Authors write `_score_of`, the score of a table; the value is the mean. Others write
    `_of_tables`, which returns the result of all tables.

    Parameters
    ----------
    table : str, optional
        The table whose sequences are looked at; if None, all that have a sequence key and are no
        reference tables.
    """

    _: KW_ONLY
    table: SequenceTable = None

    def _prepare(self, context: Context) -> None:
        relational = cast("RelationalContext", context)
        known = list(relational.relations.sequences)
        if self.table is not None and self.table not in known:
            raise InvalidParameterError(
                f"{type(self).__name__}: table names {self.table}, which has no sequence key. "
                f"Tables that have one: {', '.join(known) or 'none'}."
            )
        if self.tags.aspect == "privacy" and self.table in relational.relations.references:
            raise InvalidParameterError(
                f"{type(self).__name__}: table names {self.table}, a reference table, whose rows "
                "are public. Name one of subjects or of what depends on them."
            )
        for name in self._tables(relational):
            sequence_columns(relational, name, getattr(self, "columns", None))

    def _tables(self, context: RelationalContext) -> tuple[str, ...]:
        if self.table is not None:
            return (self.table,)
        relations = context.relations  # reference tables are the same in all roles
        return tuple(name for name in relations.sequences if name not in relations.references)

    def _measure(self, context: RelationalContext) -> Result:
        if not (tables := self._tables(context)):
            return undefined(_NO_SEQUENCES, NothingToMeasureWarning)
        return self._of_tables(context, tables)

    def _of_tables(self, context: RelationalContext, tables: tuple[str, ...]) -> Result:
        chosen = tuple(table for table in tables if self._is_measured(context, table))
        scores = {table: self._score_of(context, table) for table in chosen}
        result = mean_of_columns(
            scores,
            n_total=len(tables),
            unit="table",
            greater_is_better=bool(self.tags.greater_is_better),
            **self._about(context, chosen),
        )
        return replace(result, warnings=(*result.warnings, *_without_score(scores)))

    def _is_measured(self, context: RelationalContext, table: str) -> bool:
        return True

    def _score_of(self, context: RelationalContext, table: str) -> float:
        raise NotImplementedError(f"{type(self).__name__} must define _score_of.")

    def _about(self, context: RelationalContext, tables: tuple[str, ...]) -> dict[str, Any]:
        """Return warnings, and what else the details have."""
        return {}


@declared
class ColumnSequenceMetric(SequenceMetric):
    """Base of scores of columns along their sequences; the value is their mean.

    Authors write `_measured`, what is measured of a column; `_score`, its score, unless that is it;
    `_kinds`, the kinds of columns; and `_further`, what the details keep.

    Parameters
    ----------
    columns : None, int or list of str, default=None
        The columns to measure: all, the first *n*, or these. Those of a kind that the metric does
        not read are left out.
    """

    _halved = True

    _: KW_ONLY
    columns: Columns = None

    def _of_columns(self, context: RelationalContext, tables: tuple[str, ...]) -> Measured:
        return {
            (table, column): self._measured(context, table, column)
            for table in tables
            for column in sequence_columns(context, table, self.columns, self._kinds())
        }

    def _value_alone(self, context: Context) -> float:
        relational = cast("RelationalContext", context)
        measured = _named(self._of_columns(relational, self._tables(relational)))
        return mean_of_defined({name: self._score(one) for name, one in measured.items()})

    def _of_tables(self, context: RelationalContext, tables: tuple[str, ...]) -> Result:
        measured = self._of_columns(context, tables)
        scores = {name: self._score(one) for name, one in _named(measured).items()}
        result = mean_of_columns(
            scores,
            n_total=sum(len(context.relations.tables[table].kinds) for table in tables),
            greater_is_better=bool(self.tags.greater_is_better),
            **order_of_rows(context, tables),
            **self._further(context, measured),
        )
        return replace(result, warnings=(*result.warnings, *_without_score(scores)))

    def _kinds(self) -> tuple[str, ...]:
        return NUMERIC

    def _measured(self, context: RelationalContext, table: str, column: str) -> Any:
        raise NotImplementedError(f"{type(self).__name__} must define _measured.")

    def _score(self, measured: Any) -> float:
        return float(measured)

    def _further(self, context: RelationalContext, measured: Measured) -> dict[str, Any]:
        """Return what else the details have."""
        return {}


def _without_score(scores: Mapping[str, float]) -> tuple[DegenerateInputWarning, ...]:
    """Return a warning that names the columns or tables in which train has nothing to compare."""
    names = [name for name, score in scores.items() if np.isnan(score)]
    text = f"train has nothing to compare in {', '.join(names)}: no score."
    return (DegenerateInputWarning(text),) if names else ()


def _named(measured: Measured) -> dict[str, Any]:
    """Return what was measured by the names of table and column."""
    return {f"{table}.{column}": one for (table, column), one in measured.items()}


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
    _halved = True

    table: SequenceTable = None

    def _lengths(self, context: RelationalContext, table: str) -> list[np.ndarray]:
        return [sequences(context, role, table, ordered=False).lengths for role in BOTH]

    def _score_of(self, context: RelationalContext, table: str) -> float:
        return _kolmogorov_agreement(*self._lengths(context, table))

    def _about(self, context: RelationalContext, tables: tuple[str, ...]) -> dict[str, Any]:
        train, synthetic = (
            {name: _described(self._lengths(context, name)[side]) for name in tables}
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


def _described(lengths: np.ndarray) -> dict[str, float]:
    if not lengths.size:
        return {"n_sequences": 0, "mean": 0.0, "median": 0.0, "share_of_one": 0.0}
    return {
        "n_sequences": int(lengths.size),
        "mean": float(lengths.mean()),
        "median": float(np.median(lengths)),
        "share_of_one": float((lengths == 1).mean()),
    }


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

    def _measured(self, context: RelationalContext, table: str, column: str) -> float:
        samples = []
        for role in BOTH:
            own = sequences(context, role, table, ordered=False)
            values = sequence_values(context, role, table, column, ordered=False)
            samples.append((by_sequence(own, values, self.statistic), np.arange(len(own))))
        return agreement(samples)

    def _further(self, context: RelationalContext, measured: Measured) -> dict[str, Any]:
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

    def _kinds(self) -> tuple[str, ...]:
        return ("continuous",) if self.log else NUMERIC

    def _measured(self, context: RelationalContext, table: str, column: str) -> float:
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
            f"The cumulative curves of changes over {counted(self.lag, 'row')} lie "
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


def agreement(samples: Iterable[tuple[np.ndarray, np.ndarray]], weight: Weight = "row") -> float:
    """Return one minus the Kolmogorov-Smirnov distance of two samples."""
    present = [(values[~np.isnan(values)], owners[~np.isnan(values)]) for values, owners in samples]
    if weight == "row":  # whole numbers until the end, so that equal shares are exactly equal
        return _kolmogorov_agreement(*(values for values, _ in present))
    weights = [1.0 / np.bincount(owners)[owners] for _, owners in present]
    (train, _), (synthetic, _) = present
    if not train.size:
        return math.nan
    return 1.0 - weighted_kolmogorov(train, weights[0], synthetic, weights[1])


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
    _halved = True

    weight: Weight = "row"

    def _is_measured(self, context: RelationalContext, table: str) -> bool:
        return context.relations.sequences[table].index is not None

    def _score_of(self, context: RelationalContext, table: str) -> float:
        both = [sequences(context, role, table) for role in BOTH]
        return agreement([(own.steps, own.owners[own.pairs()]) for own in both], self.weight)

    def _about(self, context: RelationalContext, tables: tuple[str, ...]) -> dict[str, Any]:
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


def order_of_rows(context: RelationalContext, tables: tuple[str, ...]) -> dict[str, Any]:
    """Return the warnings of the order of rows, and as `order` the shares of rows that break it."""
    order = {
        table: {
            role: {
                what: n / max(1, len(context.given(role)[table]))
                for what, n in irregularities(context, role, table).items()
            }
            for role in BOTH
        }
        for table in tables
    }
    return {"warnings": order_warnings(context, tables), "order": order}


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
        cells of their own, see :class:`~skeval.Discretizer`.

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

    def _kinds(self) -> tuple[str, ...]:
        return (*NUMERIC, *NOMINAL)

    def _measured(self, context: RelationalContext, table: str, column: str) -> dict[str, float]:
        pairs, distinct, having = [], [], []
        for role in BOTH:
            own, cell, n_cells = cells_in_order(context, role, table, column, self.n_bins)
            pairs.append(transition_counts(own, cell, n_cells, self.weight))
            visited = np.unique(own.owners * n_cells + cell)
            distinct.append(np.bincount(visited // n_cells, minlength=len(own)))
            having.append(np.bincount(visited % n_cells, minlength=n_cells))
        return {
            "pairs": _agreement(*pairs),
            "distinct_categories": _kolmogorov_agreement(*distinct),
            "sequences_per_category": _agreement(*having),
        }

    def _score(self, measured: dict[str, float]) -> float:
        return measured[self.part]

    def _further(self, context: RelationalContext, measured: Measured) -> dict[str, Any]:
        return {"parts": _named(measured)}

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

    def _kinds(self) -> tuple[str, ...]:
        return NOMINAL if self.n_bins is None else (*NUMERIC, *NOMINAL)

    def _measured(self, context: RelationalContext, table: str, column: str) -> float:
        tables = []
        for role in BOTH:
            own, cell, n_cells = cells_in_order(context, role, table, column, self.n_bins or 10)
            tables.append(transition_counts(own, cell, n_cells, self.weight))
        return transition_agreement(*tables)

    def _further(self, context: RelationalContext, measured: Measured) -> dict[str, Any]:
        nominal = [(t, c) for t, c in measured if context.relations.tables[t].kinds[c] in NOMINAL]
        train, synthetic = (
            {f"{t}.{c}": _drawn(context, role, t, c) for t, c in nominal[:_MAX_DRAWN]}
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


def _kolmogorov_agreement(train: np.ndarray, synthetic: np.ndarray) -> float:
    """Return 1 less the Kolmogorov-Smirnov distance; nan if train has no value to compare."""
    return 1.0 - kolmogorov_distance(train, synthetic) if train.size else math.nan


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


def _drawn(context: RelationalContext, role: str, table: str, column: str) -> dict[str, Any]:
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


@declared
class AutocorrelationDifference(ColumnSequenceMetric):
    r"""How far autocorrelations are from those of train: 0 if equal, 2 if exactly reversed.

    A value today says much about tomorrow's, and less about next week's. Rows drawn anew for each
    day forget at once; a copied trend never does.

    Parameters
    ----------
    max_lag : int, default=5
        The greatest distance in rows up to which autocorrelations are compared.
    centre : {"table", "sequence"}, default="table"
        Whether values are taken as deviations from the column's mean, so that lasting differences
        between sequences count as persistence, or from the mean of their own sequence.

    See Also
    --------
    InterRowMSAS : Sizes of changes.
    TransitionSimilarity : Categories.

    Notes
    -----
    With :math:`r_k` the correlation of :math:`x_t` and :math:`x_{t+k}` over all pairs of rows of
    one sequence that are k apart, the score of a column is

    .. math:: \frac{1}{K} \sum_{k=1}^{K} |r_k^{train} - r_k^{synthetic}|

    over the lags that both tables have; the value is the mean over columns. A column without any
    correlation in the synthetic table, because it is constant there, has the score 2. TSGBench
    divides by the variance of all values, which is the same for long sequences. Around the mean of
    their own sequence, values of short sequences correlate negatively even without memory; the
    lengths of both tables should then be alike. ``details["autocorrelations"]`` has both curves.

    References
    ----------
    Y. Ang et al., "TSGBench: time series generation benchmark", PVLDB 17 (2023), 305-318,
    arXiv:2309.03755.

    Examples
    --------
    >>> import pandas as pd
    >>> from skeval.relational import AutocorrelationDifference, RelationalSchema, SequenceKey
    >>> schema = RelationalSchema(["visits"], sequences={"visits": SequenceKey("patient")})
    >>> train = pd.DataFrame({"patient": list("aaaabbbb"), "x": [1, 2, 3, 4, 2, 3, 4, 5]})
    >>> synthetic = train.assign(x=[1, 5, 1, 5, 1, 5, 1, 5])
    >>> metric = AutocorrelationDifference(max_lag=1).fit({"visits": train}, schema=schema)
    >>> round(metric.score({"visits": synthetic}), 6)
    2.0
    """

    tags = replace(RELATIONAL_TAGS, greater_is_better=False, bounds=(0.0, 2.0))

    max_lag: Annotated[int, Interval(1, 100)] = 5
    centre: Literal["table", "sequence"] = "table"

    def _measured(
        self, context: RelationalContext, table: str, column: str
    ) -> dict[str, np.ndarray]:
        settings = table, column, self.max_lag, self.centre
        return {role: autocorrelations(context, role, *settings) for role in BOTH}

    def _score(self, measured: dict[str, np.ndarray]) -> float:
        train, synthetic = measured.values()
        gaps = np.abs(train - synthetic)
        if not np.isnan(gaps).all():
            return float(np.nanmean(gaps))
        return math.nan if np.isnan(train).all() else _LARGEST_GAP

    def _further(self, context: RelationalContext, measured: Measured) -> dict[str, Any]:
        return {"autocorrelations": _named(measured)}

    def _summary(self, result: Result) -> str:
        return (
            f"Correlations of values up to {self.max_lag} rows apart differ by "
            f"{number(result.value)} on average."
        )


@shared
def autocorrelations(
    context: RelationalContext, role: str, table: str, column: str, max_lag: int, centre: str
) -> np.ndarray:
    """Return the correlations of a column's values 1, 2, ... rows apart in their sequences."""
    own = sequences(context, role, table)
    values = sequence_values(context, role, table, column)
    values = np.where(np.isfinite(values), values, np.nan)
    if centre == "sequence":
        values = values - by_sequence(own, values, "mean")[own.owners]
    lags = range(1, max_lag + 1)
    return np.array([lag_correlation(values, own.pairs(lag), lag) for lag in lags])


def lag_correlation(values: np.ndarray, firsts: np.ndarray, lag: int) -> float:
    """Return the correlation of values and those `lag` places later; nan where one is constant."""
    pairs = np.stack([values[firsts], values[firsts + lag]])
    pairs = pairs[:, ~np.isnan(pairs).any(axis=0)]
    if pairs.shape[1] < 2:
        return float("nan")
    centred = pairs - pairs.mean(axis=1, keepdims=True)
    scale = np.abs(pairs).max(axis=1, keepdims=True)
    centred = np.divide(centred, scale, out=np.zeros_like(centred), where=scale > 0)
    spread = (centred**2).sum(axis=1)
    if (spread <= 1e-24 * pairs.shape[1]).any():
        return float("nan")
    return float(np.clip(centred[0] @ centred[1] / np.sqrt(spread.prod()), -1.0, 1.0))
