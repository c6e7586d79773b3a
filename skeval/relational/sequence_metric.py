"""Base classes of metrics of whole sequences and of columns along sequences."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import KW_ONLY, replace
from typing import Annotated, Any, Literal, cast

import numpy as np

from skeval.core.context import Context
from skeval.core.declared import declared
from skeval.core.relational_base import RelationalMetric
from skeval.core.relational_context import RelationalContext
from skeval.exceptions import DegenerateInputWarning, InvalidParameterError, NothingToMeasureWarning
from skeval.results.result import Result, mean_of_columns, undefined_result
from skeval.stats.distributions import kolmogorov_distance, weighted_kolmogorov
from skeval.steps.columns import mean_ignoring_nan
from skeval.steps.sequences import irregularities, order_warnings, sequence_columns
from skeval.tables.preprocessing import NUMERIC
from skeval.utils.parameters import Columns, Legal, is_text

SequenceTable = Annotated[
    str | None, Legal("None or the name of a table", lambda v: v is None or is_text(v), -1)
]
Weight = Literal["row", "sequence"]
Measured = Mapping[tuple[str, str], Any]  # by table and column
BOTH = ("train", "synthetic")
_NO_SEQUENCES = (
    "The schema has no sequences. Specify RelationalSchema(..., sequences={table: "
    "SequenceKey(key, index)})."
)


@declared
class SequenceMetric(RelationalMetric):
    """Base class of metrics of tables whose rows are ordered.

    Subclasses write `_score_of`, which returns the score of a table, and the value is the mean over
    tables. Alternatively they write `_of_tables`, which returns the result for all tables.

    Parameters
    ----------
    table : str, optional
        Table whose sequences are evaluated. If None, all tables with a sequence key are used,
        except reference tables.
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
                "are public. Name a table of subjects or a table that depends on subjects."
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
            return undefined_result(_NO_SEQUENCES, NothingToMeasureWarning)
        return self._of_tables(context, tables)

    def _of_tables(self, context: RelationalContext, tables: tuple[str, ...]) -> Result:
        chosen = tuple(table for table in tables if self._measures(context, table))
        scores = {table: self._score_of(context, table) for table in chosen}
        result = mean_of_columns(
            scores,
            n_total=len(tables),
            unit="table",
            greater_is_better=bool(self.tags.greater_is_better),
            **self._extra_details(context, chosen),
        )
        return replace(result, warnings=(*result.warnings, *_without_score(scores)))

    def _measures(self, context: RelationalContext, table: str) -> bool:
        return True

    def _score_of(self, context: RelationalContext, table: str) -> float:
        raise NotImplementedError(f"{type(self).__name__} must define _score_of.")

    def _extra_details(self, context: RelationalContext, tables: tuple[str, ...]) -> dict[str, Any]:
        """Return warnings and additional details."""
        return {}


@declared
class ColumnSequenceMetric(SequenceMetric):
    """Base class of scores of columns along their sequences. The value is the mean over columns.

    Subclasses write `_measure_column`, which measures a column, `_score`, if the score differs from
    this measurement, `_kinds`, the supported column types, and `_further`, additional details.

    Parameters
    ----------
    columns : None, int or list of str, default=None
        Columns to evaluate: all (None), the first *n*, or the named ones. Columns of types that the
        metric does not support are skipped.
    """

    _halved = True  # the difference: skeval/core/subject_halves.py

    _: KW_ONLY
    columns: Columns = None

    def _of_columns(self, context: RelationalContext, tables: tuple[str, ...]) -> Measured:
        return {
            (table, column): self._measure_column(context, table, column)
            for table in tables
            for column in sequence_columns(context, table, self.columns, self._compared_kinds())
        }

    def _value_alone(self, context: Context) -> float:
        relational = cast("RelationalContext", context)
        measured = by_column_name(self._of_columns(relational, self._tables(relational)))
        return mean_ignoring_nan({name: self._score(one) for name, one in measured.items()})

    def _of_tables(self, context: RelationalContext, tables: tuple[str, ...]) -> Result:
        measured = self._of_columns(context, tables)
        scores = {name: self._score(one) for name, one in by_column_name(measured).items()}
        result = mean_of_columns(
            scores,
            n_total=sum(len(context.relations.tables[table].kinds) for table in tables),
            greater_is_better=bool(self.tags.greater_is_better),
            **order_of_rows(context, tables),
            **self._column_details(context, measured),
        )
        return replace(result, warnings=(*result.warnings, *_without_score(scores)))

    def _compared_kinds(self) -> tuple[str, ...]:
        return NUMERIC

    def _measure_column(self, context: RelationalContext, table: str, column: str) -> Any:
        raise NotImplementedError(f"{type(self).__name__} must define _measured.")

    def _score(self, measured: Any) -> float:
        return float(measured)

    def _column_details(self, context: RelationalContext, measured: Measured) -> dict[str, Any]:
        """Return additional details."""
        return {}


def _without_score(scores: Mapping[str, float]) -> tuple[DegenerateInputWarning, ...]:
    """Return a warning with columns or tables for which the real data have no values."""
    names = [name for name, score in scores.items() if np.isnan(score)]
    text = f"no score for {', '.join(names)}: the training data have no values to compare."
    return (DegenerateInputWarning(text),) if names else ()


def by_column_name(measured: Measured) -> dict[str, Any]:
    """Return the measurements by the names of table and column."""
    return {f"{table}.{column}": one for (table, column), one in measured.items()}


def agreement(samples: Iterable[tuple[np.ndarray, np.ndarray]], weight: Weight = "row") -> float:
    """Return one minus the Kolmogorov-Smirnov distance of two samples."""
    present = [(values[~np.isnan(values)], owners[~np.isnan(values)]) for values, owners in samples]
    if weight == "row":  # integers until the end, so that equal fractions are exactly equal
        return kolmogorov_agreement(*(values for values, _ in present))
    weights = [1.0 / np.bincount(owners)[owners] for _, owners in present]
    (train, _), (synthetic, _) = present
    if not train.size:
        return math.nan
    return 1.0 - weighted_kolmogorov(train, weights[0], synthetic, weights[1])


def order_of_rows(context: RelationalContext, tables: tuple[str, ...]) -> dict[str, Any]:
    """Return warnings about the order of rows, and as `order` the fractions of invalid rows."""
    order = {
        table: {
            role: {
                what: n / max(1, len(context.original_frame(role)[table]))
                for what, n in irregularities(context, role, table).items()
            }
            for role in BOTH
        }
        for table in tables
    }
    return {"warnings": order_warnings(context, tables), "order": order}


def kolmogorov_agreement(train: np.ndarray, synthetic: np.ndarray) -> float:
    """Return 1 minus the Kolmogorov-Smirnov distance, or nan without training values."""
    return 1.0 - kolmogorov_distance(train, synthetic) if train.size else math.nan
