"""Balls around the rows of one table and the rows of the other that they hold."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.spatial.distance import cdist

from skeval.context import Context, shared
from skeval.preprocessing import NOMINAL, NUMERIC
from skeval.stats.manifolds import count_balls, mixed_distances, row_blocks
from skeval.steps.neighbors import (
    encoded,
    gower_engine,
    is_gower,
    nearest,
    preprocessor,
    reference_index,
    rows_of,
)
from skeval.steps.samples import ColumnChoice, chosen_columns, sample_positions

__all__ = ["ball_counts", "distance_blocks", "drawn", "n_drawn", "radii", "vectors"]

_USUAL = 5  # neighbours that the metrics of this family ask for at most
_GRID = 2.0**-32  # sums of the neighbour engine are multiples of it
_FAR = 1e6  # standard deviations; squares of larger numbers swamp all others


def drawn(context: Context, role: str, max_rows: int | None) -> int | None:
    """Return the size of a role's sample; None where all rows are looked at."""
    return None if max_rows is None or max_rows >= context.n_rows(role) else max_rows


def n_drawn(context: Context, role: str, max_rows: int | None) -> int:
    """Return the number of rows of a role that are looked at."""
    size = drawn(context, role, max_rows)
    return context.n_rows(role) if size is None else size


def radii(
    context: Context,
    role: str,
    k: int,
    space: Any = "gower",
    columns: ColumnChoice = None,
    max_rows: int | None = None,
    seed: int = 0,
) -> np.ndarray:
    """Return the distance of each row of a role to its k-th nearest other row."""
    # metrics that differ in k share one pass
    available = n_drawn(context, role, max_rows) - 1
    k_found = k if k <= 2 else min(max(k, _USUAL), available)
    found, _ = nearest(
        context,
        role,
        role,
        k=k_found,
        space=space,
        columns=columns,
        n_reference=max_rows,
        seed=seed,
    )
    radius: np.ndarray = found[:, k - 1]
    return radius


@shared
def ball_counts(
    context: Context,
    query: str,
    reference: str,
    k: int,
    limit: int | None,
    clipped: bool,
    strict: bool,
    space: Any,
    columns: ColumnChoice,
    max_rows: int | None,
    seed: int,
) -> np.ndarray:
    """Count the reference rows' balls that hold each query row.

    A ball reaches to the k-th nearest other reference row; where `clipped`, no farther than the
    median ball. The counts stop at `limit`.
    """
    radius = radii(context, reference, k, space, columns, max_rows, seed)
    if clipped:
        radius = np.minimum(radius, np.median(radius))
    size = drawn(context, reference, max_rows)
    index = reference_index(context, reference, space, columns, size, seed if size else 0)
    queries = rows_of(context, query, space, columns, drawn(context, query, max_rows), seed)
    if not is_gower(space):
        return count_balls(queries, index.rows, radius, limit, strict)
    if strict:  # the next smaller distance that there can be; below 0 a ball holds nothing
        radius = radius - _GRID / queries.shape[1]
    counts: np.ndarray = index.search.count_within(queries, radius, limit=limit)
    return counts


def distance_blocks(
    context: Context, queries: np.ndarray, rows: np.ndarray, space: Any, columns: ColumnChoice
) -> Iterator[tuple[slice, np.ndarray]]:
    """Yield the distances of a few queries at a time to all rows."""
    if is_gower(space):
        engine = gower_engine(context, columns)  # its parameters: the common scale of the context
        ranges, nominal = np.asarray(engine.ranges), np.asarray(engine.categorical)
        yield from mixed_distances(queries, rows, ranges, nominal)
        return
    for block in row_blocks(len(queries), len(rows)):
        yield block, cdist(queries[block], rows)


@shared
def vectors(
    context: Context,
    role: str,
    space: Any = "euclidean",
    columns: ColumnChoice = None,
    max_rows: int | None = None,
    seed: int = 0,
) -> np.ndarray:
    """Return the rows of a role as vectors that have a mean; the order of columns is their names'.

    In space "gower", and in "euclidean", they are those of "euclidean". Nothing lies farther out
    than a million standard deviations.
    """
    if not isinstance(space, str):
        return rows_of(context, role, space, columns, drawn(context, role, max_rows), seed)
    with np.errstate(invalid="ignore"):  # the mean of a column without values
        whole, owners = encoded(context, role, "euclidean"), np.array(_owners(context))
    chosen = set(chosen_columns(context.schema, columns))
    order = np.argsort(owners, kind="stable")
    rows = whole[:, order[[name in chosen for name in owners[order]]]]
    # numbers that differ by the order of a sum only shall not differ
    rows = np.round(np.clip(rows, -_FAR, _FAR), 9) + 0.0
    # the rows that `rows_of` takes
    size = drawn(context, role, max_rows)
    return rows[sample_positions(len(rows), size, zlib.crc32(f"{role} {seed}".encode()))]


def _owners(context: Context) -> list[str]:
    """Return which column each feature of space "euclidean" stems from."""
    levels = preprocessor(context, "euclidean").levels_
    numeric = context.schema.columns(*NUMERIC)
    nominal = [
        name for name in context.schema.columns(*NOMINAL) for _ in range(len(levels[name]) + 2)
    ]
    return [*numeric, *numeric, *nominal]
