"""What steps do with tables larger than memory: passes over batches, here or on workers.

Pairs and sets of columns of tables that need not fit in memory: joint counts, correlations.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any, TypeVar, cast

import numpy as np
import pandas as pd

from skeval.core import context as contexts
from skeval.core.context import ByContext, Context, content_hashes, shared, summed
from skeval.scale.tables import CanonicalTable, LargeTable, counted_by_workers, over_blocks
from skeval.stats.association import BLOCK, Correlations, Moments, added, correlations_of, products
from skeval.stats.disclosure import distinct_codes
from skeval.stats.distributions import dense_cells, number_of_cells
from skeval.steps import manifolds, neighbors, pairs, samples
from skeval.steps.pairs import (
    ALL_ROWS,
    Binning,
    Drawn,
    JointTables,
    SubsetTables,
    cell_numbers,
    correlations,
    in_name_order,
    joint_tables,
    row_positions,
    subset_tables,
)
from skeval.steps.samples import ROLES, cells, extent
from skeval.tables.frames import row_hashes
from skeval.tables.preprocessing import NOMINAL, NUMERIC, Discretizer, numbers
from skeval.utils.engines import current_engine
from skeval.utils.files import mapped
from skeval.utils.parameters import Strategy

T = TypeVar("T")
F = TypeVar("F", bound=Callable[..., Any])
Groups = manifolds.Groups
_MAX_GROUPS = 2**22  # distinct rows that are sent and kept; beyond, columns are read one by one


class Overrides(list[tuple[ByContext[..., Any], Callable[..., Any]]]):
    """What is done in place of steps where tables need not fit in memory."""

    # Called with a step, it decorates the override, which contexts of large tables then
    # register. A table of such a context may be in memory too: there the ordinary step is
    # called.

    def __call__(self, step: ByContext[..., Any]) -> Callable[[F], F]:
        """Decorate what is done in place of a step."""

        def noted(override: F) -> F:
            self.append((step, override))
            return override

        return noted


overrides = Overrides()


# -- rows and columns of a table ------------------------------------------------------------------


@overrides(contexts.counted)
def _(
    context: Context,
    role: str,
    names: Sequence[str],
    count: Callable[[Any], T],
    merge: Callable[[list[T]], T],
) -> T:
    rows: Any = context[role]
    return rows.added_up(names, count, merge) if counted_by_workers(rows) else count(rows)


@overrides(contexts.each_column)
def _(
    context: Context, role: str, look: Callable[..., T], tasks: Iterable[Sequence[Any]]
) -> Iterator[T]:
    rows, given = context[role], context.given(role)
    asked = ((rows, given, *task) for task in tasks)
    if counted_by_workers(rows):
        return current_engine().map(look, asked)
    return (look(*arguments) for arguments in asked)


@overrides(contexts.of_given)
def _(context: Context, role: str, look: Callable[..., T], *arguments: Any) -> T:
    given = context.given(role)
    if isinstance(given, pd.DataFrame):
        return cast("T", contexts.of_given.ordinary(context, role, look, *arguments))
    if not counted_by_workers(given):
        return look(given, *arguments)
    engine = current_engine()  # one worker reads all columns, one after the other
    return cast("T", engine.result(engine.submit(look, given, *arguments)))


@overrides(content_hashes)
def _(context: Context, role: str) -> np.ndarray | None:
    rows, kinds = context[role], context.schema.kinds
    names = [name for name in rows.columns if kinds.get(name, "id") != "id"]
    # a text's cells may be anything, and something else in a batch than in the whole column
    if names and counted_by_workers(rows) and "text" not in {kinds[name] for name in names}:
        return rows.added_up(names, partial(row_hashes, names=names), np.concatenate)
    return cast("np.ndarray | None", content_hashes.ordinary(context, role))


@overrides(neighbors.gower_engine)
def _(
    context: Context, columns: samples.ColumnChoice = None, rows: np.ndarray | None = None
) -> Any:
    from skeval.scale.part_tasks import is_in_file

    if is_in_file(rows):
        return search_in_parts(*neighbors.gower_scale(context, columns))
    return neighbors.gower_engine.ordinary(context, columns, rows)


def search_in_parts(ranges: np.ndarray, is_nominal: np.ndarray) -> Any:
    """Return the unfitted search that holds no more of its rows than fit."""
    from skeval.scale.partitioned import INDEX_BYTES, PartitionedNearestNeighbors

    return PartitionedNearestNeighbors(ranges, is_nominal, max_memory=INDEX_BYTES)


# -- values of single columns ---------------------------------------------------------------------


@overrides(samples.codes)
def _(
    context: Context, role: str, n_bins: int, strategy: Strategy, max_categories: int | None
) -> np.ndarray:
    cutter, rows = samples.cells(context, n_bins, strategy, max_categories), context[role]
    if isinstance(rows, pd.DataFrame):
        return cutter.cut(rows)
    # in as few bytes as hold a cell
    kind = np.min_scalar_type(-int(cutter.n_cells_.max(initial=0)))
    return cutter.cut(rows, mapped((len(rows), len(cutter.cells_)), kind))


@overrides(samples.histogram)
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
        return np.asarray(samples.histogram.ordinary(context, role, column, *how))
    return _histograms(context, role, *how)[context.schema.measured.index(column)]


@shared
def _histograms(
    context: Context, role: str, n_bins: int, strategy: Strategy, max_categories: int | None
) -> list[np.ndarray]:
    """Return the counts of the cells of all measured columns, in one pass over a large table."""
    cutter = samples.cells(context, n_bins, strategy, max_categories)
    names = context.schema.measured
    rows = cast("CanonicalTable", context[role])
    return rows.added_up(names, partial(_counts_of, cutter=cutter, names=names), summed)


def _counts_of(frame: pd.DataFrame, cutter: Discretizer, names: Sequence[str]) -> list[np.ndarray]:
    columns = zip(cutter.codes(frame, names).T, cutter.n_cells_, strict=True)
    return [np.bincount(column, minlength=n_cells) for column, n_cells in columns]


@overrides(samples.sorted_values)
def _(context: Context, role: str, column: str) -> np.ndarray:
    rows, engine = context[role], current_engine()
    if counted_by_workers(rows):
        task = engine.submit(samples.in_order, rows, column)
        return np.asarray(engine.result(task))
    return samples.in_order(rows, column)


@overrides(samples.extent)
def _(context: Context, role: str, column: str) -> tuple[float, float]:
    if not counted_by_workers(context[role]):  # one process may need few of the columns
        return cast("tuple[float, float]", samples.extent.ordinary(context, role, column))
    low, high = _extents(context, role)[context.schema.columns(*NUMERIC).index(column)]
    return float(low), float(high)


@shared
def _extents(context: Context, role: str) -> np.ndarray:
    """Return the extents of all columns of numbers and dates, in one pass over a large table."""
    names, rows = context.schema.columns(*NUMERIC), cast("CanonicalTable", context[role])
    return rows.added_up(names, partial(samples.extents_of, names=names), _widest)


def _widest(extents: list[np.ndarray]) -> np.ndarray:
    low, high = np.stack(extents).transpose(2, 0, 1)
    return np.column_stack([np.fmin.reduce(low), np.fmax.reduce(high)])


@overrides(contexts.has_missing)
def _(context: Context, role: str, column: str) -> bool:
    if counted_by_workers(context[role]):
        return _gaps(context, role)[column] > 0
    return bool(contexts.has_missing.ordinary(context, role, column))


@shared
def _gaps(context: Context, role: str) -> dict[str, int]:
    """Return the numbers of gaps of all columns that are measured, in one pass over the rows."""
    return _added_gaps(context[role], context.schema.measured)


@overrides(contexts.n_missing)
def _(context: Context, role: str, column: str) -> int:
    given = context.given(role)
    if counted_by_workers(given) and column in given.columns:
        return _gaps_as_given(context, role)[column]
    return int(contexts.n_missing.ordinary(context, role, column))


@shared
def _gaps_as_given(context: Context, role: str) -> dict[str, int]:
    """Return the numbers of missing cells of all columns, in one pass over the table as given."""
    given = context.given(role)
    return _added_gaps(given, [name for name in context.schema.kinds if name in given.columns])


def _added_gaps(table: Any, names: Sequence[str]) -> dict[str, int]:
    (added,) = table.added_up(names, missing_of, summed)
    return dict(zip(names, added.tolist(), strict=True))


def missing_of(frame: pd.DataFrame) -> list[np.ndarray]:
    """Return the numbers of missing cells of the columns, to be added up."""
    return [frame.isna().to_numpy().sum(axis=0)]


@overrides(contexts.level_counts)
def _(context: Context, role: str, column: str) -> np.ndarray:
    if counted_by_workers(context[role]):
        return _all_level_counts(context, role)[column]
    return np.asarray(contexts.level_counts.ordinary(context, role, column))


@shared
def _all_level_counts(context: Context, role: str) -> dict[str, np.ndarray]:
    """Return the counts of the levels of all columns that have any, in one pass over the rows."""
    names, rows = context.schema.columns(*NOMINAL), cast("CanonicalTable", context[role])
    added = rows.added_up(names, partial(contexts.counts_of_levels, names=names), summed)
    return dict(zip(names, added, strict=True))


@overrides(pairs.numbers_of)
def _(context: Context, role: str, names: tuple[str, ...]) -> np.ndarray:
    rows = context[role]
    if isinstance(rows, pd.DataFrame):
        return pairs.numbers_of.ordinary(context, role, names)
    return pairs.filled_with_numbers(mapped((len(rows), len(names)), np.float64), rows, names)


# -- distinct rows --------------------------------------------------------------------------------


@overrides(manifolds.grouped)
def _(
    context: Context, role: str, names: Sequence[str], code: manifolds.Code, *, given: bool = False
) -> Groups | None:
    """Return distinct rows that workers count; None for more than 4 million."""
    rows = context.given(role) if given else context[role]
    if not names or not counted_by_workers(rows):
        return None
    return rows.added_up(names, partial(count_groups, code=code), merge_groups)


def count_groups(frame: pd.DataFrame, code: manifolds.Code) -> Groups | None:
    """Count the distinct rows of a batch."""
    return _few(*distinct_codes([_narrow(column) for column in code(frame)]))


def merge_groups(parts: list[Groups | None]) -> Groups | None:
    """Add up the counts of batches; None if one of them has too many distinct rows."""
    known = [part for part in parts if part is not None]
    if len(known) < len(parts):
        return None
    columns = [np.concatenate(of) for of in zip(*(part[0] for part in known), strict=True)]
    return _few(*distinct_codes(columns, np.concatenate([part[1] for part in known])))


def _few(columns: list[np.ndarray], sizes: np.ndarray) -> Groups | None:
    return (columns, sizes) if sizes.size <= _MAX_GROUPS else None


def _narrow(column: np.ndarray) -> np.ndarray:
    """Return whole numbers in as few bytes as hold them; others as they are."""
    if column.dtype.kind == "f" or not column.size:
        return column
    kinds = {np.min_scalar_type(int(end)) for end in (column.min(), column.max())}
    return column.astype(np.result_type(*kinds))


_MAX_CELLS = 2**24  # joint cells of all sets of columns that are counted at once


@overrides(joint_tables)
def _(
    context: Context, role: str, names: tuple[str, ...], binning: Binning, drawn: Drawn = ALL_ROWS
) -> JointTables:
    cut, table = cells(context, *binning), context[role]
    n_cells, missing = cell_numbers(cut, names)
    all_rows = drawn.max_rows is None or drawn.max_rows >= len(table)
    if isinstance(table, CanonicalTable) and all_rows and not JointTables.too_many(n_cells):
        count = partial(_joint_counts, cut=cut, names=names, n_cells=n_cells, missing=missing)
        return table.added_up(names, count, JointTables.added)
    return cast("JointTables", joint_tables.ordinary(context, role, names, binning, drawn))


def _joint_counts(
    frame: pd.DataFrame,
    cut: Discretizer,
    names: tuple[str, ...],
    n_cells: tuple[int, ...],
    missing: tuple[int, ...],
) -> JointTables:
    return JointTables.of(cut.codes(frame, names), n_cells, missing)


@overrides(subset_tables)
def _(
    context: Context,
    names: tuple[str, ...],
    subsets: list[list[str]],
    binning: Binning,
    group: tuple[str, int] | None,
) -> SubsetTables:
    if all(counted_by_workers(context[role]) for role in ROLES):
        alone = tuple((name,) for name in names)
        own, others = (_added_up(context, role, alone, binning, group) for role in ROLES)
        n, m = int(own[0].sum()), int(others[0].sum())
        margins = dict(zip(names, own, strict=True))
        sizes = [number_of_cells([margins[name].size for name in subset]) for subset in subsets]
        if max(sizes) <= dense_cells(n + m) and sum(sizes) <= _MAX_CELLS:
            chosen = tuple(map(tuple, subsets))
            counts = (_added_up(context, role, chosen, binning, group) for role in ROLES)
            nothing = dict.fromkeys(names, np.empty(0, dtype=np.int64))
            return SubsetTables(nothing, margins, m, zip(subsets, *counts, strict=True))
    return cast("SubsetTables", subset_tables.ordinary(context, names, subsets, binning, group))


@shared
def _added_up(
    context: Context,
    role: str,
    subsets: tuple[tuple[str, ...], ...],
    binning: Binning,
    group: tuple[str, int] | None,
) -> list[np.ndarray]:
    """Return the counts of all joint cells of sets of columns, a batch of rows at a time."""
    names = list(dict.fromkeys(name for subset in subsets for name in subset))
    cut, rows = cells(context, *binning), cast("CanonicalTable", context[role])
    count = partial(_joint_counts_of, cut=cut, names=names, subsets=subsets, group=group)
    return rows.added_up(sorted({*names, *(group or ())[:1]}), count, summed)


def _joint_counts_of(
    frame: pd.DataFrame,
    cut: Discretizer,
    names: list[str],
    subsets: tuple[tuple[str, ...], ...],
    group: tuple[str, int] | None,
) -> list[np.ndarray]:
    if group is not None:
        frame = frame[(frame[group[0]].cat.codes == group[1]).to_numpy()]
    columns = dict(zip(names, cut.codes(frame, names).T, strict=True))
    counts = []
    for subset in subsets:
        shape = tuple(cut.cells_[name].n_cells for name in subset)
        joint = np.ravel_multi_index(tuple(columns[name] for name in subset), shape)
        counts.append(np.bincount(joint, minlength=math.prod(shape)))
    return counts


@overrides(correlations)
@in_name_order
def _(
    context: Context,
    role: str,
    names: tuple[str, ...],
    method: str = "pearson",
    drawn: Drawn = ALL_ROWS,
) -> Correlations:
    rows, table = row_positions(context, role, drawn), context[role]
    if method == "pearson" and names and isinstance(rows, slice) and counted_by_workers(table):
        return _correlations_by_blocks(table, names, [extent(context, role, n) for n in names])
    return cast("Correlations", correlations.ordinary(context, role, names, method, drawn))


def _correlations_by_blocks(
    table: LargeTable, names: tuple[str, ...], ends: Sequence[tuple[float, float]]
) -> Correlations:
    """Return what :func:`correlation_matrix` does: workers sum its blocks of rows."""

    def added_up(look: Callable[..., np.ndarray], *arguments: Any) -> np.ndarray:
        return added(over_blocks(table, BLOCK, look, names, *arguments))

    moments = [Moments.between(*of_column) for of_column in ends]
    sums = added_up(_sums, moments)
    moments = [m.centred(own) if m.vary else m for m, own in zip(moments, sums, strict=True)]
    squares = added_up(_squares, moments)
    moments = [m.spread(own) if m.vary else m for m, own in zip(moments, squares, strict=True)]
    complete = bool((sums[:, 0] == len(table)).all())
    return correlations_of(added_up(_products, moments, complete), len(table))


def _sums(block: LargeTable, names: tuple[str, ...], moments: Sequence[Moments]) -> np.ndarray:
    return np.array([m.sums(_numbers(block, n)) for n, m in zip(names, moments, strict=True)])


def _squares(block: LargeTable, names: tuple[str, ...], moments: Sequence[Moments]) -> np.ndarray:
    own = zip(names, moments, strict=True)
    return np.array([m.squares(_numbers(block, n)) if m.vary else np.zeros(2) for n, m in own])


def _products(
    block: LargeTable, names: tuple[str, ...], moments: Sequence[Moments], complete: bool
) -> np.ndarray:
    z = mapped((len(block), len(names)), np.float64)
    for j, (name, own) in enumerate(zip(names, moments, strict=True)):
        z[:, j] = own.standardise(_numbers(block, name))
    return products(z, complete=complete)


def _numbers(block: LargeTable, name: str) -> np.ndarray:
    return numbers(block[[name]]).ravel()
