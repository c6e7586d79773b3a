"""Rows that foreign keys relate, which are parents, subjects and children, and paths of keys."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np
import pandas as pd

from skeval.core.context import shared
from skeval.core.relational_context import RelationalContext
from skeval.tables.keys import ForeignKey, key_codes
from skeval.tables.relational_data import ORPHAN, parent_positions, positions_along
from skeval.tables.relational_schema import RelationalSchema
from skeval.tables.schema import Kind

_REAL = ("train", "holdout")
Path = tuple[ForeignKey, ...]  # keys that lead from a table to an ancestor


class Column(NamedTuple):
    """A column of child rows, as numbers, dates in microseconds or codes. Missing is nan."""

    kind: Kind
    values: np.ndarray
    levels: pd.Index


@shared
def parents(context: RelationalContext, role: str, key: ForeignKey) -> np.ndarray:
    """Return for each row of the child table the position of its parent, `ORPHAN` or `NULL`."""
    positions: np.ndarray = context.original_frame(role).parent_positions(key)
    return positions


@shared
def subject_positions(
    context: RelationalContext, role: str, table: str, subject: str
) -> np.ndarray:
    """Return for each row of a table the position of its subject, `ORPHAN` or `NULL`."""
    if table == subject:
        return np.arange(len(context.original_frame(role)[table]))
    return path_positions(context, role, context.relations.path(table, subject))


@shared
def path_positions(context: RelationalContext, role: str, path: Path) -> np.ndarray:
    """Return for each row of the lowest table the position of its row at the top of a path.

    If a key on the path refers to no row, the position is `ORPHAN` or `NULL`.
    """
    return positions_along(path, lambda key: parents(context, role, key))


def named_cells(
    context: RelationalContext,
    role: str,
    key: ForeignKey,
    cells: Mapping[str, np.ndarray],
    missing: float,
) -> np.ndarray:
    """Return for each row of the child table the cell of the row that its key refers to."""
    # A training row may refer to a holdout row, and the other way round, if subjects with a
    # relation were divided between the tables. If such rows were orphans, the larger table would
    # have fewer orphans, and its rows would be more similar to synthetic rows.
    at = parents(context, role, key)
    named = np.append(cells[role], missing)[np.where(at >= 0, at, -1)]
    others = [other for other in _REAL if role in _REAL and other != role and other in cells]
    for other in others:
        given, theirs = context.original_frame(role), context.original_frame(other)[key.parent]
        columns = list(key.parent_columns)
        own, known = key_codes(given[key.parent][columns], theirs[columns])
        if np.isin(own[own >= 0], known).any():
            continue  # keys of both tables number the rows of each, so they refer to another row
        beyond = parent_positions(given[key.child], theirs, key)
        parted = (at == ORPHAN) & (beyond >= 0)
        named[parted] = cells[other][beyond[parted]]
    return named


@shared
def n_children(context: RelationalContext, role: str, key: ForeignKey) -> np.ndarray:
    """Return for each row of the parent table the number of child rows that refer to it."""
    positions = parents(context, role, key)
    n_parents = len(context.original_frame(role)[key.parent])
    return np.bincount(positions[positions > ORPHAN], minlength=n_parents)


@shared
def column_of(context: RelationalContext, role: str, table: str, name: str) -> Column:
    """Return a column of a role's table."""
    kind, cells = context.relations.tables[table].kinds[name], context[role][table][name]
    if isinstance(cells.dtype, pd.CategoricalDtype):
        codes = cells.cat.codes.to_numpy().astype(np.float64)
        return Column(kind, np.where(codes < 0, np.nan, codes), cells.cat.categories)
    if kind == "datetime":
        since = cells.to_numpy("datetime64[us]").astype(np.int64).astype(np.float64)
        return Column(kind, np.where(cells.isna(), np.nan, since), pd.Index([]))
    return Column(kind, cells.to_numpy(np.float64), pd.Index([]))


def paths_up(relations: RelationalSchema, max_hops: int | None = None) -> Iterator[Path]:
    """Yield every path of foreign keys from child to ancestor, shorter ones first.

    A path contains each table once, except for keys of a table to itself.
    """
    paths: list[Path] = [(key,) for key in relations.foreign_keys]
    for _ in range(len(relations.tables) if max_hops is None else max_hops):
        yield from paths
        paths = [
            (*path, key)
            for path in paths
            for key in relations.foreign_keys
            if key.child == path[-1].parent != path[0].child
            and key.parent not in {path[0].child, *(one.parent for one in path)}
        ]
