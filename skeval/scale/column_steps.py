"""Steps on single columns of tables larger than memory, with values, counts and extents."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, cast

import numpy as np
import pandas as pd

from skeval.core import counts as count_steps
from skeval.core.context import Context, shared
from skeval.core.counts import sum_counts
from skeval.scale.overrides import Overrides
from skeval.scale.tables import CanonicalTable, counted_by_workers
from skeval.steps import columns, pairs
from skeval.tables.preprocessing import NOMINAL, NUMERIC, Discretizer
from skeval.tables.taken_rows import column_numbers
from skeval.utils.engines import current_engine
from skeval.utils.memory_maps import memory_mapped_array
from skeval.utils.parameters import Strategy

overrides = Overrides()


@overrides(columns.codes)
def _(
    context: Context, role: str, n_bins: int, strategy: Strategy, max_categories: int | None
) -> np.ndarray:
    cutter, rows = columns.cells(context, n_bins, strategy, max_categories), context[role]
    if isinstance(rows, pd.DataFrame):
        return cutter.cut(rows)
    # The dtype uses the smallest number of bytes that can represent all cells.
    kind = np.min_scalar_type(-int(cutter.n_cells_.max(initial=0)))
    return cutter.cut(rows, memory_mapped_array((len(rows), len(cutter.cells_)), kind))


@overrides(columns.histogram)
def _(
    context: Context,
    role: str,
    column: str,
    n_bins: int = 10,
    strategy: Strategy = "uniform",
    max_categories: int | None = 50,
) -> np.ndarray:
    how = n_bins, strategy, max_categories
    if isinstance(context[role], pd.DataFrame):
        return np.asarray(columns.histogram.ordinary(context, role, column, *how))
    return _histograms(context, role, *how)[context.schema.measured.index(column)]


@shared
def _histograms(
    context: Context, role: str, n_bins: int, strategy: Strategy, max_categories: int | None
) -> list[np.ndarray]:
    """Return the counts of the cells of all measured columns, in one pass over a large table."""
    cutter = columns.cells(context, n_bins, strategy, max_categories)
    names = context.schema.measured
    rows = cast("CanonicalTable", context[role])
    return rows.added_up(names, partial(_counts_of, cutter=cutter, names=names), sum_counts)


def _counts_of(frame: pd.DataFrame, cutter: Discretizer, names: Sequence[str]) -> list[np.ndarray]:
    columns = zip(cutter.codes(frame, names).T, cutter.n_cells_, strict=True)
    return [np.bincount(column, minlength=n_cells) for column, n_cells in columns]


@overrides(columns.sorted_values)
def _(context: Context, role: str, column: str) -> np.ndarray:
    rows, engine = context[role], current_engine()
    if counted_by_workers(rows):
        task = engine.submit(_values_in_order, rows, column)
        return np.asarray(engine.result(task))
    return _values_in_order(rows, column)


def _values_in_order(rows: Any, column: str) -> np.ndarray:
    return columns.in_order(column_numbers(rows, column))


@overrides(columns.extent)
def _(context: Context, role: str, column: str) -> tuple[float, float]:
    if not counted_by_workers(context[role]):  # a single process may need only a few columns
        return cast("tuple[float, float]", columns.extent.ordinary(context, role, column))
    low, high = _extents(context, role)[context.schema.columns(*NUMERIC).index(column)]
    return float(low), float(high)


@shared
def _extents(context: Context, role: str) -> np.ndarray:
    """Return the extents of all number and date columns, in one pass over a large table."""
    names, rows = context.schema.columns(*NUMERIC), cast("CanonicalTable", context[role])
    return rows.added_up(names, partial(columns.extents_of, names=names), _widest)


def _widest(extents: list[np.ndarray]) -> np.ndarray:
    low, high = np.stack(extents).transpose(2, 0, 1)
    return np.column_stack([np.fmin.reduce(low), np.fmax.reduce(high)])


@overrides(count_steps.has_missing)
def _(context: Context, role: str, column: str) -> bool:
    if counted_by_workers(context[role]):
        return _gaps(context, role)[column] > 0
    return bool(count_steps.has_missing.ordinary(context, role, column))


@shared
def _gaps(context: Context, role: str) -> dict[str, int]:
    """Return the number of missing values of all measured columns, in one pass over the rows."""
    return _added_gaps(context[role], context.schema.measured)


@overrides(count_steps.n_missing)
def _(context: Context, role: str, column: str) -> int:
    given = context.original_frame(role)
    if counted_by_workers(given) and column in given.columns:
        return _gaps_as_given(context, role)[column]
    return int(count_steps.n_missing.ordinary(context, role, column))


@shared
def _gaps_as_given(context: Context, role: str) -> dict[str, int]:
    """Return the number of missing cells of all columns, in one pass over the original table."""
    given = context.original_frame(role)
    return _added_gaps(given, [name for name in context.schema.kinds if name in given.columns])


def _added_gaps(table: Any, names: Sequence[str]) -> dict[str, int]:
    (added,) = table.added_up(names, missing_of, sum_counts)
    return dict(zip(names, added.tolist(), strict=True))


def missing_of(frame: pd.DataFrame) -> list[np.ndarray]:
    """Return the number of missing cells of each column of a batch."""
    return [frame.isna().to_numpy().sum(axis=0)]


@overrides(count_steps.level_counts)
def _(context: Context, role: str, column: str) -> np.ndarray:
    if counted_by_workers(context[role]):
        return _all_level_counts(context, role)[column]
    return np.asarray(count_steps.level_counts.ordinary(context, role, column))


@shared
def _all_level_counts(context: Context, role: str) -> dict[str, np.ndarray]:
    """Return the counts of the levels of all categorical columns, in one pass over the rows."""
    names, rows = context.schema.columns(*NOMINAL), cast("CanonicalTable", context[role])
    added = rows.added_up(names, partial(count_steps.counts_of_levels, names=names), sum_counts)
    return dict(zip(names, added, strict=True))


@overrides(pairs.numbers_of)
def _(context: Context, role: str, names: tuple[str, ...]) -> np.ndarray:
    rows = context[role]
    if isinstance(rows, pd.DataFrame):
        return pairs.numbers_of.ordinary(context, role, names)
    values = memory_mapped_array((len(rows), len(names)), np.float64)
    return pairs.filled_with_numbers(values, context, role, names)
