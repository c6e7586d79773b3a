"""Steps on pairs and sets of columns of tables larger than memory, such as joint counts."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, cast

import numpy as np
import pandas as pd

from skeval.core.context import Context, shared
from skeval.core.counts import sum_counts
from skeval.scale.overrides import Overrides
from skeval.scale.tables import CanonicalTable, LargeTable, counted_by_workers, over_blocks
from skeval.stats.correlation import (
    BLOCK,
    Correlations,
    Moments,
    correlations_of,
    products,
    sum_blocks,
)
from skeval.stats.distributions import dense_cells, number_of_cells
from skeval.steps.column_sets import SubsetTables, subset_tables
from skeval.steps.columns import ROLES, cells, extent
from skeval.steps.pairs import (
    ALL_ROWS,
    Binning,
    Drawn,
    JointTables,
    cell_numbers,
    correlations,
    in_name_order,
    joint_tables,
    row_positions,
)
from skeval.tables.preprocessing import Discretizer, numbers
from skeval.utils.memory_maps import memory_mapped_array

_MAX_CELLS = 2**24  # maximum number of joint cells of all column sets that are counted at once
overrides = Overrides()


@overrides(joint_tables)
def _(
    context: Context, role: str, names: tuple[str, ...], binning: Binning, drawn: Drawn = ALL_ROWS
) -> JointTables:
    cut, table = cells(context, *binning), context[role]
    n_cells, missing = cell_numbers(cut, names)
    all_rows = drawn.max_rows is None or drawn.max_rows >= len(table)
    if isinstance(table, CanonicalTable) and all_rows and not JointTables.too_many(n_cells):
        count = partial(_joint_counts, cut=cut, names=names, n_cells=n_cells, missing=missing)
        return table.added_up(names, count, JointTables.add_parts)
    return cast("JointTables", joint_tables.ordinary(context, role, names, binning, drawn))


def _joint_counts(
    frame: pd.DataFrame,
    cut: Discretizer,
    names: tuple[str, ...],
    n_cells: tuple[int, ...],
    missing: tuple[int, ...],
) -> JointTables:
    return JointTables.from_codes(cut.codes(frame, names), n_cells, missing)


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
    """Return the counts of all joint cells of column sets, one batch of rows at a time."""
    names = list(dict.fromkeys(name for subset in subsets for name in subset))
    cut, rows = cells(context, *binning), cast("CanonicalTable", context[role])
    count = partial(_joint_counts_of, cut=cut, names=names, subsets=subsets, group=group)
    return rows.added_up(sorted({*names, *(group or ())[:1]}), count, sum_counts)


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
    """Compute :func:`correlation_matrix` on workers, which sum blocks of rows."""

    def added_up(look: Callable[..., np.ndarray], *arguments: Any) -> np.ndarray:
        return sum_blocks(over_blocks(table, BLOCK, look, names, *arguments))

    moments = [Moments.between(*of_column) for of_column in ends]
    sums = added_up(_sums, moments)
    moments = [m.with_mean(own) if m.vary else m for m, own in zip(moments, sums, strict=True)]
    squares = added_up(_squares, moments)
    moments = [
        m.with_deviation(own) if m.vary else m for m, own in zip(moments, squares, strict=True)
    ]
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
    z = memory_mapped_array((len(block), len(names)), np.float64)
    for j, (name, own) in enumerate(zip(names, moments, strict=True)):
        z[:, j] = own.standardise(_numbers(block, name))
    return products(z, complete=complete)


def _numbers(block: LargeTable, name: str) -> np.ndarray:
    return numbers(block[[name]]).ravel()
