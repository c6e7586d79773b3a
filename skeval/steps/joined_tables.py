"""Rows of a table with the rows above them, as a table for any metric."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
import pandas as pd

from skeval.core.context import Context, shared
from skeval.core.relational_context import RelationalContext
from skeval.steps.foreign_keys import Path, path_positions, paths_up
from skeval.steps.samples import content_order, named_seed
from skeval.tables.preprocessing import NOMINAL
from skeval.tables.relational_data import ORPHAN
from skeval.tables.relational_schema import RelationalSchema
from skeval.tables.schema import TableSchema


def joined_context(
    context: RelationalContext, base: str, paths: tuple[Path, ...], max_rows: int | None, seed: int
) -> tuple[Context, Mapping[str, np.ndarray]]:
    """Return rows of a table with those above them as a context of one table, and their roots."""
    roles = [role for role in ("train", "holdout", "synthetic") if role in context]
    whose = {
        role: roots(context, role, base)[drawn_rows(context, role, base, max_rows, seed)]
        for role in roles
    }
    return _joined_synthetic(context, base, paths, max_rows, seed), whose


@shared
def _joined_synthetic(
    context: RelationalContext, base: str, paths: tuple[Path, ...], max_rows: int | None, seed: int
) -> Context:
    real = _joined_real(context, base, paths, max_rows, seed)
    return real.with_rows_as_synthetic(
        _joined_rows(context, "synthetic", base, paths, max_rows, seed)
    )


@shared
def _joined_real(
    context: RelationalContext, base: str, paths: tuple[Path, ...], max_rows: int | None, seed: int
) -> Context:
    roles = [role for role in ("train", "holdout") if role in context]
    frames = {role: _joined_rows(context, role, base, paths, max_rows, seed) for role in roles}
    kinds = {
        name: context.relations.tables[table].kinds[column]
        for table, column, name, _ in _joined_columns(context.relations, base, paths)
    }
    levels = {
        name: list(column.cat.categories)
        for name, column in frames["train"].items()
        if kinds[str(name)] in NOMINAL
    }
    return Context(TableSchema(kinds), frames, levels=levels)


def _joined_rows(
    context: RelationalContext,
    role: str,
    base: str,
    paths: tuple[Path, ...],
    max_rows: int | None,
    seed: int,
) -> pd.DataFrame:
    at = drawn_rows(context, role, base, max_rows, seed)
    positions: dict[Path, np.ndarray] = {(): at}
    for path in paths:
        positions[path] = np.maximum(path_positions(context, role, path)[at], ORPHAN)
    tables = context[role]
    return pd.DataFrame(
        {
            name: tables[table][column].array.take(positions[path], allow_fill=True)
            for table, column, name, path in _joined_columns(context.relations, base, paths)
        }
    )


def _joined_columns(
    relations: RelationalSchema, base: str, paths: tuple[Path, ...]
) -> Iterator[tuple[str, str, str, Path]]:
    """Yield table, column, name and path of the joined columns, without the keys of parents."""
    for column in relations.tables[base].measured:
        yield base, column, f"{base}.{column}", ()
    for path in paths:
        top, via = path[-1].parent, "; ".join(", ".join(key.columns) for key in path)
        for column in relations.tables[top].measured:
            if column not in path[-1].parent_columns:
                yield top, column, f"{top} ({via}).{column}", path


@shared
def drawn_rows(
    context: RelationalContext, role: str, table: str, max_rows: int | None, seed: int
) -> np.ndarray:
    """Return the positions of at most this number of rows, drawn at random by their roots."""
    # The number of rows that are kept per root is the same in all roles, such that the training
    # rows are not too many. If other roles have more rows, whole roots are skipped. The rows of
    # an entity must not depend on the size of its table.
    whose = roots(context, role, table)
    if max_rows is None:
        return np.arange(whose.size)
    sizes = np.bincount(roots(context, "train", table))
    most, above = whose.size, 0
    if sizes.sum() > max_rows:
        most, above = 1, int(sizes.max())
    while above - most > 1:
        middle = (most + above) // 2
        fits = np.minimum(sizes, middle).sum() <= max_rows
        most, above = (middle, above) if fits else (most, middle)
    order = content_order(context.table(table), role)
    in_order, _ = pd.factorize(whose[order])  # the position of roots does not matter
    return order[drawn_by_root(in_order, most, max_rows, named_seed(role, seed))]


def drawn_by_root(whose: np.ndarray, most: int, max_rows: int, seed: int) -> np.ndarray:
    """Return the positions of at most `most` rows per root, for the maximum number of roots."""
    rng = np.random.default_rng(seed)
    at = rng.permutation(whose.size)
    at = at[np.argsort(whose[at], kind="stable")]
    sizes = np.bincount(whose)
    starts = np.repeat(np.cumsum(sizes) - sizes, sizes)
    at = at[np.arange(whose.size) - starts < most]
    kept = np.minimum(sizes, most)
    order = rng.permutation(sizes.size)
    chosen = np.zeros(sizes.size, dtype=bool)
    chosen[order[np.cumsum(kept[order]) <= max_rows]] = True
    return np.sort(at[chosen[whose[at]]])


@shared
def roots(context: RelationalContext, role: str, table: str) -> np.ndarray:
    """Get for each row of a table a code of the entity to which it belongs."""
    # The entity is the subject of the row if the schema has one. Otherwise, it is the row at the
    # top of the longest path that leads through no public table. A row without either is an
    # entity by itself.
    n_rows, path = len(context.original_frame(role)[table]), root_path(context.relations, table)
    if not path:
        return np.arange(n_rows)
    positions = path_positions(context, role, path)
    n_above = len(context.original_frame(role)[path[-1].parent])
    codes: np.ndarray = np.where(positions >= 0, positions, n_above + np.arange(n_rows))
    return codes


def root_path(relations: RelationalSchema, table: str) -> Path:
    """Return the path from a table up to the roots of its rows, or an empty path without roots."""
    if relations.role(table) == "subject":
        return ()
    for subject in relations.subjects:
        if len(ways := relations.paths_to(table, subject)) == 1:
            return ways[0]
    public = set(relations.references)
    own = [p for p in paths_up(relations) if p[0].child == table != p[-1].parent]
    private = [path for path in own if not public & {key.parent for key in path}]
    return max(private, key=len, default=())
