"""Rows of a parent table with aggregates of their children, as a table for any metric."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Literal, get_args

import numpy as np
import pandas as pd

from skeval.core.context import Context, shared
from skeval.core.relational_context import RelationalContext
from skeval.steps.foreign_keys import Column, Path, column_of, named_cells, path_positions
from skeval.tables.preprocessing import NUMERIC
from skeval.tables.relational_schema import RelationalSchema
from skeval.tables.schema import Kind, TableSchema
from skeval.utils.parameters import Legal

Stat = Literal[
    "count", "mean", "median", "std", "min", "max", "span", "nunique", "mode", "mode_share"
]
Scope = Literal["children", "subject"]
STATS: tuple[Stat, ...] = (
    *("count", "mean", "std", "min", "max", "span", "nunique", "mode", "mode_share"),
)
Stats = Annotated[
    Sequence[Stat],
    Legal(
        f"a list of {', '.join(get_args(Stat))}",
        lambda value: (
            isinstance(value, list | tuple)
            and len(value) > 0
            and all(name in get_args(Stat) for name in value)
        ),
        ["sum"],
    ),
]
NUMBER_STATS = ("mean", "median", "std", "min", "max", "span")
_DAY = 86_400e6  # microseconds


def aggregated_context(
    context: RelationalContext,
    table: str,
    stats: tuple[Stat, ...] = STATS,
    scope: Scope = "children",
) -> Context:
    """Return the rows of a table with aggregates of their children, as a context of one table."""
    # For a table of links, which contains little more than two keys (is_link), the columns of the
    # rows on the other side count as its own columns.
    real = _real_aggregates(context, table, stats, scope)
    return _with_synthetic(context, table, stats, scope) if "synthetic" in context else real


def subject_rows(context: RelationalContext) -> Context | None:
    """Return the first subject with all its rows as one table, or None if rows have no subject."""
    if context.relations.undetermined:
        return None
    return aggregated_context(context, context.relations.subjects[0], STATS, "subject")


@shared
def _real_aggregates(
    context: RelationalContext, table: str, stats: tuple[Stat, ...], scope: Scope
) -> Context:
    roles = [role for role in ("train", "holdout") if role in context]
    tables = {role: aggregated_rows(context, role, table, stats, scope) for role in roles}
    kinds = {name: kind_of_values(values) for name, values in tables["train"].items()}
    kinds |= {
        name: context.relations.tables[table].kinds[name]
        for name in _measured_columns(context, table)
    }
    schema = TableSchema({str(name): kind for name, kind in kinds.items()})
    levels = {
        name: list(tables["train"][name].cat.categories)
        for name in schema.columns("categorical", "boolean")
    }
    return Context(schema, tables, levels=levels)


@shared
def _with_synthetic(
    context: RelationalContext, table: str, stats: tuple[Stat, ...], scope: Scope
) -> Context:
    real = _real_aggregates(context, table, stats, scope)
    return real.with_rows_as_synthetic(aggregated_rows(context, "synthetic", table, stats, scope))


@shared
def aggregated_rows(
    context: RelationalContext, role: str, table: str, stats: tuple[Stat, ...], scope: Scope
) -> pd.DataFrame:
    """Return the canonical rows of one role, as in :func:`aggregated_context`."""
    own = context[role][table]
    columns = {name: own[name].array for name in _measured_columns(context, table)}
    for name, path in paths_below(context.relations, table, scope).items():
        positions = path_positions(context, role, path)
        if "count" in stats:
            counts = np.bincount(positions[positions >= 0], minlength=len(own))
            columns[f"{name}.count"] = counts.astype(np.float64)
        for child, column in _child_columns(context, role, path, scope):
            for stat, values in _aggregates(column, positions, len(own), stats):
                columns[f"{name}.{child}.{stat}"] = values
    return pd.DataFrame(columns)


def paths_below(
    relations: RelationalSchema, table: str, scope: Scope = "children"
) -> Mapping[str, Path]:
    """Return the paths from other tables up to this table, by the name of the child.

    If a child refers to the table by several keys, its name includes the columns of the key.
    """
    if scope == "subject":
        names = relations.dependents(table)
        return {name: relations.path(name, table) for name in names}
    keys = [key for key in relations.foreign_keys if key.parent == table]
    several = {key.child for key in keys if sum(k.child == key.child for k in keys) > 1}
    return {
        f"{key.child} ({', '.join(key.columns)})" if key.child in several else key.child: (key,)
        for key in keys
    }


def private_parents(relations: RelationalSchema) -> list[str]:
    """Return the tables that others refer to and that are not public."""
    public = set(relations.references)
    return [n for n in relations.tables if n not in public and paths_below(relations, n)]


def is_link(relations: RelationalSchema, table: str) -> bool:
    """Return whether the rows of a table only link rows of other tables, m to n."""
    # Such a table refers to others by two keys or more. Its primary key consists of these keys,
    # or it has no primary key and no other column.
    keys = [key for key in relations.foreign_keys if key.child == table]
    linking = {column for key in keys for column in key.columns}
    primary = relations.primary_keys.get(table, ()) or tuple(relations.tables[table].kinds)
    return len(keys) > 1 and set(primary) <= linking


def _measured_columns(context: RelationalContext, table: str) -> list[str]:
    return context.relations.tables[table].measured


def kind_of_values(values: pd.Series) -> Kind:
    """Return the kind that the type of a column of features shows."""
    if isinstance(values.dtype, pd.CategoricalDtype):
        return "categorical"
    return "datetime" if values.dtype.kind == "M" else "continuous"


def _child_columns(
    context: RelationalContext, role: str, path: Path, scope: Scope
) -> Iterator[tuple[str, Column]]:
    """Yield the measured columns of a child without its key, and for links also the far side."""
    relations, first = context.relations, path[0]
    for name in relations.tables[first.child].measured:
        if name not in first.columns:
            yield name, column_of(context, role, first.child, name)
    if not is_link(relations, first.child):
        return
    for key in relations.foreign_keys:
        if key.child != first.child or key == first:
            continue
        # subjects were divided at random, so the far side may be in the other real table
        beside = ("train", "holdout") if scope == "subject" else ()
        roles = [one for one in dict.fromkeys((role, *beside)) if one in context]
        for name in relations.tables[key.parent].measured:
            if name not in key.parent_columns:
                far = {one: column_of(context, one, key.parent, name) for one in roles}
                cells = {one: column.values for one, column in far.items()}
                values = named_cells(context, role, key, cells, np.nan)
                yield f"{', '.join(key.columns)}.{name}", far[role]._replace(values=values)


def _aggregates(
    column: Column, positions: np.ndarray, n_rows: int, stats: tuple[Stat, ...]
) -> Iterator[tuple[str, np.ndarray | pd.Categorical]]:
    if column.kind in NUMERIC:
        wanted = {"continuous": {"mean", "median", "std", "min", "max"}}
        own = wanted.get(column.kind, {"min", "max", "span"})
        names = [name for name in stats if name in own]
        for name, values in grouped_numbers(column.values, positions, n_rows, names).items():
            yield name, _dates(values, name) if column.kind == "datetime" else values
        return
    if not {"nunique", "mode", "mode_share"} & set(stats):
        return
    codes = np.where(np.isnan(column.values), -1, column.values).astype(np.int64)
    n_unique, modes, shares = grouped_levels(codes, positions, n_rows, len(column.levels))
    named = pd.Categorical.from_codes(modes, categories=column.levels)
    for name, values in (("nunique", n_unique), ("mode", named), ("mode_share", shares)):
        if name in stats:
            yield name, values


def _dates(microseconds: np.ndarray, stat: str) -> np.ndarray:
    if stat == "span":
        return microseconds / _DAY
    missing = np.isnan(microseconds)
    dates = np.where(missing, 0.0, microseconds).astype(np.int64).astype("datetime64[us]")
    dates[missing] = np.datetime64("NaT")
    return dates


def grouped_numbers(
    values: np.ndarray, groups: np.ndarray, n_groups: int, stats: Sequence[str] = NUMBER_STATS
) -> dict[str, np.ndarray]:
    """Return statistics of the numbers of each group."""
    kept = (groups >= 0) & ~np.isnan(values)
    values, groups = values[kept] + 0.0, groups[kept]
    counts = np.bincount(groups, minlength=n_groups)
    some = np.flatnonzero(counts)
    counts = counts[some]
    ordered = _ordered_within(values, groups)
    starts = np.cumsum(counts) - counts
    parts = {"min": ordered[starts], "max": ordered[starts + counts - 1]}
    with np.errstate(invalid="ignore"):  # infinite synthetic values
        parts["span"] = parts["max"] - parts["min"]
        if {"mean", "std"} & set(stats) and some.size:
            mean = np.add.reduceat(ordered, starts) / counts
            parts["mean"] = np.where(parts["span"] == 0.0, parts["min"], mean)
            squares = (ordered - np.repeat(parts["mean"], counts)) ** 2
            parts["std"] = np.sqrt(np.add.reduceat(squares, starts) / counts)
        middle = ordered[starts + (counts - 1) // 2], ordered[starts + counts // 2]
        parts["median"] = 0.5 * middle[0] + 0.5 * middle[1]
    result = {}
    for name in stats:
        if name in NUMBER_STATS:
            result[name] = np.full(n_groups, np.nan)
            result[name][some] = parts.get(name, np.empty(0))
    return result


def _ordered_within(values: np.ndarray, groups: np.ndarray) -> np.ndarray:
    """Return values by group, ascending in each."""
    order = np.argsort(values)
    ranks = np.empty(values.size, dtype=np.int64)
    ranks[order] = np.arange(values.size)
    keys = np.sort(groups * np.int64(values.size) + ranks)
    ordered: np.ndarray = values[order][keys % max(values.size, 1)]
    return ordered


def grouped_levels(
    codes: np.ndarray, groups: np.ndarray, n_groups: int, n_levels: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the number of levels, the most frequent level and its fraction for each group."""
    kept = (groups >= 0) & (codes >= 0)
    keys = np.sort(groups[kept] * np.int64(n_levels) + codes[kept])
    first = np.flatnonzero(np.diff(keys, prepend=-1))
    lengths = np.diff(first, append=keys.size)
    owners, levels = np.divmod(keys[first], max(n_levels, 1))
    n_unique = np.bincount(owners, minlength=n_groups).astype(np.float64)
    totals = np.bincount(owners, lengths, minlength=n_groups)
    n_unique[totals == 0] = np.nan
    modes, shares = np.full(n_groups, -1), np.full(n_groups, np.nan)
    order = np.lexsort((-levels, lengths, owners))  # the last of each group is its first mode
    modes[owners[order]] = levels[order]
    shares[owners[order]] = lengths[order]
    shares /= np.where(totals > 0, totals, 1.0)
    return n_unique, modes, shares
