"""The choice of columns and pairs that a report shows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from skeval.reporting.document.pairs import PairMap

if TYPE_CHECKING:
    from skeval.suites.report_columns import ReportColumns

Chosen: TypeAlias = "int | Sequence[str] | None"
Columns: TypeAlias = "ReportColumns | Mapping[str, ReportColumns] | Chosen"
_MIN_PAIRS = 8  # shown, even if all pairs agree as two samples of real rows do


def choose_section(columns: Columns, table: str, section: str) -> Chosen:
    """Return the choice of a section, which may be the same for all sections or all tables."""
    of_table: Any = columns.get(table) if isinstance(columns, Mapping) else columns
    chosen: Chosen = getattr(of_table, section, of_table)
    return chosen


def choose_names(names: Sequence[str], chosen: Chosen) -> list[str]:
    """Return the first names, the chosen names in this order, or all names if None."""
    if chosen is None:
        return list(names)
    if isinstance(chosen, int | np.integer):
        return list(names[:chosen])
    return [name for name in chosen if name in names]


def choose_pairs(
    pairs: Sequence[PairMap], names: Sequence[str], chosen: Chosen, *, is_all: bool
) -> tuple[PairMap, ...]:
    """Return the pairs of the chosen columns without some pairs that agree.

    All pairs are returned if columns were chosen by name, or if all were asked for.
    """
    known = set(choose_names(names, chosen))
    own = [pair for pair in pairs if known.issuperset(pair.columns)]
    if is_all or not isinstance(chosen, int | np.integer | None):
        return tuple(own)
    short = [pair for pair in own if not pair.similarity >= pair.ceiling]
    fine = [pair for pair in own if pair.similarity >= pair.ceiling]
    # that a strong association is kept is worth showing as well
    fine.sort(key=lambda pair: -np.nan_to_num(pair.real_association))
    return (*short, *fine[: max(_MIN_PAIRS - len(short), len(short) % 2)])
