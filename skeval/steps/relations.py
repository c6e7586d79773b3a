"""What relates the rows of several tables: their parents, their subjects."""

from __future__ import annotations

import numpy as np

from skeval.context import shared
from skeval.relational_context import RelationalContext
from skeval.tables.relational_data import ORPHAN, positions_along
from skeval.tables.relational_schema import ForeignKey


@shared
def parents(context: RelationalContext, role: str, key: ForeignKey) -> np.ndarray:
    """Return of each row of the child table the position of its parent, `ORPHAN` or `NULL`."""
    positions: np.ndarray = context.given(role).parent_positions(key)
    return positions


@shared
def subject_positions(
    context: RelationalContext, role: str, table: str, subject: str
) -> np.ndarray:
    """Return of each row of a table the position of its subject, `ORPHAN` or `NULL`."""
    if table == subject:
        return np.arange(len(context.given(role)[table]))
    path = context.relations.path(table, subject)
    return positions_along(path, lambda key: parents(context, role, key))


@shared
def n_children(context: RelationalContext, role: str, key: ForeignKey) -> np.ndarray:
    """Return of each row of the parent table how many rows of the child table name it."""
    positions = parents(context, role, key)
    n_parents = len(context.given(role)[key.parent])
    return np.bincount(positions[positions > ORPHAN], minlength=n_parents)
