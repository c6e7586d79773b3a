"""Sequences: their lengths, levels, changes and times, as train has them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Any, ClassVar, Literal, cast

import numpy as np

from skeval.context import Context
from skeval.exceptions import InvalidParameterError, NothingToMeasureWarning
from skeval.formatting import counted, number, percent
from skeval.parameters import Columns, Count, Legal, is_text
from skeval.relational.base import RelationalMetric
from skeval.relational_context import RelationalContext
from skeval.result import Result, mean_of_columns, undefined
from skeval.stats.distributions import kolmogorov_distance, weighted_kolmogorov
from skeval.stats.matches import digits_kept
from skeval.steps.sequences import (
    by_sequence,
    irregularities,
    lines,
    order_warnings,
    sequence_columns,
    sequence_values,
    sequences,
)
from skeval.tables.preprocessing import NUMERIC
from skeval.tags import RELATIONAL_TAGS

SequenceTable = Annotated[
    str | None, Legal("None or the name of a table", lambda v: v is None or is_text(v), -1)
]
Weight = Literal["row", "sequence"]
BOTH = ("train", "synthetic")
_MOST_LINES = 6  # columns whose lines are kept for figures
_NO_SEQUENCES = (
    "The schema has no sequences. Give them: RelationalSchema(..., sequences={table: "
    "SequenceKey(key, index)})."
)


class SequenceMetric(RelationalMetric):
    """Base of metrics of tables whose rows are in order: of one of them, or of all.

    Authors write `_of_tables`, of the names of the tables.
    """

    table: str | None

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
        raise NotImplementedError(f"{type(self).__name__} must define _of_tables.")


class ColumnSequenceMetric(SequenceMetric):
    """Base of scores of columns along their sequences; the value is their mean."""

    columns: Any
    _kinds: ClassVar[tuple[str, ...]] = NUMERIC

    def _of_tables(self, context: RelationalContext, tables: tuple[str, ...]) -> Result:
        names = [(t, c) for t in tables for c in self._columns(context, t)]
        scores = {f"{t}.{c}": self._score(context, t, c) for t, c in names}
        return mean_of_columns(
            scores,
            n_total=sum(len(context.relations.tables[table].kinds) for table in tables),
            greater_is_better=bool(self.tags.greater_is_better),
            warnings=order_warnings(context, tables),
            order=order_details(context, tables),
            **self._further(context, names),
        )

    def _columns(self, context: RelationalContext, table: str) -> tuple[str, ...]:
        return sequence_columns(context, table, self.columns, self._kinds)

    def _score(self, context: RelationalContext, table: str, column: str) -> float:
        raise NotImplementedError(f"{type(self).__name__} must define _score.")

    def _further(self, context: RelationalContext, names: list[tuple[str, str]]) -> dict[str, Any]:
        """Return what else the details have."""
        return {}


class SequenceLengthSimilarity(SequenceMetric):
    """Agreement of the lengths of sequences: 1 where they are distributed alike, 0 without overlap.

    A generator that writes visits, trips or payments one after the other has to know when to stop.
    One that never does gives everybody the longest history, and every sum over a history is wrong.

    Parameters
    ----------
    table : str, optional
        The table whose sequences are measured; if None, all that have a sequence
        key and are no reference tables.

    Attributes
    ----------
    context_ : RelationalContext
        The real tables.

    See Also
    --------
    CardinalityShapeSimilarity : Numbers of children of a parent, which may be none.

    Notes
    -----
    One minus the Kolmogorov-Smirnov distance of the numbers of rows a key, by table in
    ``details["columns"]``; the value is their mean. Rows without a key are of no sequence and are
    left out, with a warning; those without an index count. A sequence without rows is not in the
    table: the length 0 is not seen.

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

    def __init__(self, table: SequenceTable = None) -> None:
        self.table = table

    def _of_tables(self, context: RelationalContext, tables: tuple[str, ...]) -> Result:
        lengths = {
            table: [sequences(context, role, table, ordered=False).lengths for role in BOTH]
            for table in tables
        }
        scores = {name: 1.0 - kolmogorov_distance(*both) for name, both in lengths.items()}
        return mean_of_columns(
            scores,
            n_total=len(tables),
            unit="table",
            train={name: _described(both[0]) for name, both in lengths.items()},
            lengths={name: _described(both[1]) for name, both in lengths.items()},
        )

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


class StatisticMSAS(ColumnSequenceMetric):
    """Agreement of a statistic of sequences: 1 where it is distributed alike, 0 without overlap.

    Each patient has a mean blood pressure. Rows that are right one by one, shuffled among patients,
    give every patient the same mean: this is where it shows.

    Parameters
    ----------
    statistic : {"mean", "median", "std", "min", "max"}, default="mean"
        Of the values of a sequence.
    columns : None, int or list of str, default=None
        The columns to measure: all, the first *n*, or these; only numeric and date ones count.
    table : str, optional
        The table whose sequences are measured; if None, all that have a sequence
        key and are no reference tables.

    Attributes
    ----------
    context_ : RelationalContext
        The real tables.

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

    def __init__(
        self,
        statistic: Literal["mean", "median", "std", "min", "max"] = "mean",
        columns: Columns = None,
        table: SequenceTable = None,
    ) -> None:
        self.statistic = statistic
        self.columns = columns
        self.table = table

    def _score(self, context: RelationalContext, table: str, column: str) -> float:
        both = []
        for role in BOTH:
            own = sequences(context, role, table, ordered=False)
            values = sequence_values(context, role, table, column, ordered=False)
            of_each = by_sequence(own, values, self.statistic)
            both.append(of_each[~np.isnan(of_each)])
        return 1.0 - kolmogorov_distance(*both)

    def _further(self, context: RelationalContext, names: list[tuple[str, str]]) -> dict[str, Any]:
        shown = names[:_MOST_LINES]
        train, synthetic = (_lines(context, role, shown) for role in BOTH)
        kinds = {f"{table}.{column}": _kinds(context, table, column) for table, column in shown}
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


def _kinds(context: RelationalContext, table: str, column: str) -> dict[str, str]:
    """Return the kind of a column, and of the index that its lines run along."""
    kinds = context.relations.tables[table].kinds
    index = context.relations.sequences[table].index
    return {"value": kinds[column], "index": kinds[index] if index else ""}


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
    columns : None, int or list of str, default=None
        The columns to measure: all, the first *n*, or these; only numeric and date ones count.
    table : str, optional
        The table whose sequences are measured; if None, all that have a sequence
        key and are no reference tables.

    Attributes
    ----------
    context_ : RelationalContext
        The real tables.

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

    def __init__(
        self,
        lag: Count = 1,
        log: bool = False,
        weight: Weight = "row",
        columns: Columns = None,
        table: SequenceTable = None,
    ) -> None:
        self.lag = lag
        self.log = log
        self.weight = weight
        self.columns = columns
        self.table = table

    def _columns(self, context: RelationalContext, table: str) -> tuple[str, ...]:
        kinds = ("continuous",) if self.log else NUMERIC
        return sequence_columns(context, table, self.columns, kinds)

    def _score(self, context: RelationalContext, table: str, column: str) -> float:
        both = []
        decimals = changes_decimals(sequence_values(context, "train", table, column), self.log)
        for role in BOTH:
            own = sequences(context, role, table)
            values = sequence_values(context, role, table, column)
            firsts = own.pairs(self.lag)
            changes = digits_kept(_changes(values, firsts, self.lag, self.log), decimals=decimals)
            both += _weighted(changes, own.owners[firsts], self.weight)
        return 1.0 - weighted_kolmogorov(*both) if self.weight == "sequence" else _unweighted(both)

    def _summary(self, result: Result) -> str:
        return (
            f"The cumulative curves of changes over {counted(self.lag, 'row')} lie "
            f"{percent(1.0 - result.value)} apart at most, on average over columns."
        )


def _changes(values: np.ndarray, firsts: np.ndarray, lag: int, log: bool) -> np.ndarray:
    """Return how values change over so many rows, as logarithms if asked."""
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


def _weighted(values: np.ndarray, owners: np.ndarray, weight: str) -> list[np.ndarray]:
    """Return the values that are there, with weights that sum to 1 a sequence, or a row."""
    present = ~np.isnan(values)
    values, owners = values[present], owners[present]
    if weight == "row":
        return [values, np.ones(values.size)]
    return [values, 1.0 / np.bincount(owners)[owners]]


def _unweighted(both: list[np.ndarray]) -> float:
    # whole numbers until the end, so that equal shares are exactly equal
    return 1.0 - kolmogorov_distance(both[0], both[2])


class InterEventTimeSimilarity(SequenceMetric):
    """Agreement of the times between rows: 1 where they are distributed alike, 0 without overlap.

    Visits a week apart and visits a year apart are two diseases. Generators often get the dates
    right and the times between them wrong, since each date was drawn on its own.

    Parameters
    ----------
    weight : {"row", "sequence"}, default="row"
        Whether each time counts as much, or each sequence.
    table : str, optional
        The table whose sequences are measured; if None, all that have a sequence
        key and are no reference tables.

    Attributes
    ----------
    context_ : RelationalContext
        The real tables.

    See Also
    --------
    InterRowMSAS : Changes of the other columns.

    Notes
    -----
    One minus the Kolmogorov-Smirnov distance of the differences of the index from row to row, by
    table in ``details["columns"]``; the value is their mean. ``details["order"]`` has, of both
    tables, rows with the index of the row before (`ties`), steps longer than the usual one of train
    if at least half of its steps are equal (`gaps`), and rows without index or key. A table whose
    sequence key has no index has no times.

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

    def __init__(self, weight: Weight = "row", table: SequenceTable = None) -> None:
        self.weight = weight
        self.table = table

    def _of_tables(self, context: RelationalContext, tables: tuple[str, ...]) -> Result:
        timed = tuple(t for t in tables if context.relations.sequences[t].index is not None)
        return mean_of_columns(
            {table: self._score(context, table) for table in timed},
            n_total=len(tables),
            unit="table",
            warnings=order_warnings(context, timed),
            order=order_details(context, timed),
        )

    def _score(self, context: RelationalContext, table: str) -> float:
        both = []
        for role in BOTH:
            own = sequences(context, role, table)
            both += _weighted(own.steps, own.owners[own.pairs()], self.weight)
        return 1.0 - weighted_kolmogorov(*both) if self.weight == "sequence" else _unweighted(both)

    def _summary(self, result: Result) -> str:
        table = result.details["worst"]["column"]
        rates = result.details["order"][table]
        synthetic, train = (percent(rates[role]["ties"]) for role in ("synthetic", "train"))
        return (
            f"The cumulative curves of times between rows lie {percent(1.0 - result.value)} apart "
            f"at most; in {table}, {synthetic} of synthetic rows have the time of the row before, "
            f"of train {train}."
        )


def order_details(
    context: RelationalContext, tables: tuple[str, ...]
) -> dict[str, Mapping[str, Mapping[str, float]]]:
    """Return of each table and role the shares of rows that its order stumbles over."""
    return {
        table: {
            role: {
                what: n / max(1, len(context.given(role)[table]))
                for what, n in irregularities(context, role, table).items()
            }
            for role in BOTH
        }
        for table in tables
    }
