"""One row of each group. Rows of one group are similar, and rows of two groups are independent."""

from __future__ import annotations

import numpy as np

from skeval.core.context import Context, shared
from skeval.steps.samples import content_order


@shared
def beside_one_row_per_group(context: Context, name: str) -> Context:
    """Return a context of one row of each group in each real table, and of all synthetic rows."""
    rows, given = context.synthetic, context.original_frame("synthetic")
    places = context.places("synthetic")
    return one_row_per_group(context, name).with_rows_as_synthetic(rows, given, places=places)


@shared
def one_row_per_group(context: Context, name: str) -> Context:
    """Return a context of one row of each group in each real table.

    Its real rows are independent if groups are. Rows without a group are kept.
    """
    kept = {}
    for role in ("train", "holdout"):
        if role not in context:
            continue
        order = content_order(context, role)
        groups = context.column(role, name).iloc[order]
        kept[role] = np.sort(order[~groups.duplicated().to_numpy() | groups.isna().to_numpy()])
    tables, given = (
        {role: read(role).iloc[rows].reset_index(drop=True) for role, rows in kept.items()}
        for read in (context.__getitem__, context.original_frame)
    )
    return Context(
        context.schema,
        tables,
        levels=context.levels,
        given=given,
        precision=context.precision,
        ordered=context.ordered,
        places={role: context.places(role)[rows] for role, rows in kept.items()},
    )
