"""Joint counts of sets of columns for training and synthetic rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

import numpy as np

from skeval.core.context import Context, by_context
from skeval.stats.distributions import joint_counts
from skeval.steps.columns import ROLES, cells, codes
from skeval.steps.pairs import Binning


class SubsetTables(NamedTuple):
    """What is counted of sets of columns."""

    cells: Mapping[str, np.ndarray]
    margins: Mapping[str, np.ndarray]
    n_rows: int
    tables: Iterable[tuple[list[str], np.ndarray, np.ndarray]]


@by_context
def subset_tables(
    context: Context,
    names: tuple[str, ...],
    subsets: list[list[str]],
    binning: Binning,
    group: tuple[str, int] | None,
) -> SubsetTables:
    """Get the joint counts of sets of columns for all rows, or for one level of a column."""
    train, synthetic = (_columns(context, role, names, binning, group) for role in ROLES)
    cut = cells(context, *binning).cells_
    margins = {name: np.bincount(train[name], minlength=cut[name].n_cells) for name in names}
    tables = _subsets(subsets, train, synthetic, margins)
    return SubsetTables(train, margins, synthetic[names[0]].size, tables)


def _subsets(
    subsets: list[list[str]],
    train: Mapping[str, np.ndarray],
    synthetic: Mapping[str, np.ndarray],
    margins: Mapping[str, np.ndarray],
) -> Iterator[tuple[list[str], np.ndarray, np.ndarray]]:
    """Yield sets of columns with their counts."""
    for subset in subsets:
        x, y, counts = ([of[name] for name in subset] for of in (train, synthetic, margins))
        yield subset, *joint_counts(x, y, [margin.size for margin in counts])


def _columns(
    context: Context,
    role: str,
    names: tuple[str, ...],
    binning: Binning,
    group: tuple[str, int] | None,
) -> dict[str, np.ndarray]:
    """Return the cell of each value, by column."""
    matrix = codes(context, role, *binning)
    at = {name: matrix[:, context.schema.measured.index(name)] for name in names}
    if group is None:
        return at
    column, code = group
    member = (context.column(role, column).cat.codes == code).to_numpy()
    return {name: column_codes[member] for name, column_codes in at.items()}
