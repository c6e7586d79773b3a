"""The columns and pairs that a report shows, of those that the results hold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from skeval.reporting.document.pairs import PairMap

if TYPE_CHECKING:
    from skeval.suites.report_columns import ReportColumns

_MIN_PAIRS = 8  # shown, even if all pairs agree as two samples of real rows do


def choice_of_table(columns: object, table: str) -> ReportColumns | None:
    """Return the choice for a table, which may be the same for all."""
    chosen: ReportColumns | None = columns.get(table) if isinstance(columns, Mapping) else columns
    return chosen


def choose_names(names: Sequence[str], chosen: int | Sequence[str] | None) -> list[str]:
    """Return the first names, or those that were chosen in this order; all if None."""
    if chosen is None:
        return list(names)
    if isinstance(chosen, int | np.integer):
        return list(names[:chosen])
    return [name for name in chosen if name in names]


def choose_pairs(
    pairs: Sequence[PairMap], names: Sequence[str], choice: ReportColumns | None, *, is_all: bool
) -> tuple[PairMap, ...]:
    """Return the pairs of the chosen columns; some of those that agree are left out.

    All pairs are returned if columns were chosen by name, or if all were asked for.
    """
    chosen = choice.biv if choice is not None else None
    known = set(choose_names(names, chosen))
    own = [pair for pair in pairs if known.issuperset(pair.columns)]
    is_by_name = not isinstance(chosen, int | np.integer | None)
    if is_all or is_by_name or (choice is not None and choice.pairs == "all"):
        return tuple(own)
    short = [pair for pair in own if not pair.similarity >= pair.ceiling]
    fine = [pair for pair in own if pair.similarity >= pair.ceiling]
    # that a strong association is kept is worth showing as well
    fine.sort(key=lambda pair: -np.nan_to_num(pair.real_association))
    return (*short, *fine[: max(_MIN_PAIRS - len(short), len(short) % 2)])
