"""Intervals of a metric of several tables, from its values on halves of the subjects."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from skeval.core.context import shared
from skeval.stats.sampling_intervals import MIN_HALVED, halves_interval
from skeval.steps.independent_subjects import n_subjects, subjects_in_place

if TYPE_CHECKING:
    from skeval.core.relational_context import RelationalContext

MAX_HALVED_ROWS = 2**13  # maximum number of rows of all tables together
_N_HALVINGS = 4


@shared
def _halved_by_subject(context: RelationalContext, role: str, half: int, seed: int) -> Any:
    return subjects_in_place(context, role, half, seed, 2)


def difference_by_subject(
    context: RelationalContext,
    value_of: Callable[[RelationalContext], float],
    value: float,
    fresh: float,
) -> tuple[float, float] | None:
    """Return the interval of value minus baseline of several tables, from halves of subjects."""
    # All rows of a subject are in the same half. If there are more than 8,192 rows, fewer subjects
    # are used and their noise is scaled.
    sizes = {role: n_subjects(context, role) for role in ("synthetic", "holdout")}
    counted = min(sizes.values())
    if counted < MIN_HALVED or np.isnan(value - fresh):
        return None
    values = [
        whole if n == counted else value_of(subjects_in_place(context, role, counted, 0)[0])
        for (role, n), whole in zip(sizes.items(), (value, fresh), strict=True)
    ]
    rows = max(context.n_rows(role) / n for role, n in sizes.items())
    drawn = min(counted, max(MIN_HALVED, int(MAX_HALVED_ROWS / rows)))
    halves = [
        np.array(
            [
                [value_of(half) for half in _halved_by_subject(context, role, drawn // 2, k)]
                for k in range(_N_HALVINGS)
            ]
        )
        for role in sizes
    ]
    return halves_interval(values[0] - values[1], halves[0], halves[1], share=drawn / counted)
