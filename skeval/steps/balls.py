"""Balls around rows that reach a near neighbor, and the rows of another table within them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.spatial.distance import cdist

from skeval.core.context import Context, shared
from skeval.stats.manifolds import count_balls, mixed_distances, row_blocks
from skeval.steps.column_choice import ColumnChoice
from skeval.steps.encoded_rows import is_gower
from skeval.steps.neighbors import Index, gower_engine, nearest, reference_index, rows_of
from skeval.steps.samples import sample_size

_USUAL = 5  # the metrics of this family usually need at most this number of neighbors
_GRID = 2.0**-32  # sums of the neighbor engine are multiples of this number


def n_drawn(context: Context, role: str, max_rows: int | None) -> int:
    """Return the number of rows of a role that are used."""
    size = sample_size(context, role, max_rows)
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
    k_asked = k if k <= 2 else min(max(k, _USUAL), available)
    distances, _ = nearest(
        context,
        role,
        role,
        k=k_asked,
        space=space,
        columns=columns,
        n_reference=max_rows,
        seed=seed,
    )
    radius: np.ndarray = distances[:, k - 1]
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
    """Count the balls around reference rows that contain each query row."""
    # The radius of a ball is the distance to the k-th nearest other reference row. If
    # `clipped`, it is at most the median radius. The counts stop at `limit`.
    settings = space, columns, max_rows, seed
    if limit is None:
        both = rows_in_balls(context, reference, query, k, clipped, strict, *settings)
        if both is not None:
            return both[1]
    radius = _radius_of_balls(context, reference, k, clipped, strict, *settings)
    index = _index(context, reference, *settings)
    queries = rows_of(context, query, space, columns, sample_size(context, query, max_rows), seed)
    if not is_gower(space):
        return count_balls(queries, index.rows, radius, limit, strict)
    counts: np.ndarray = index.search.count_within(queries, radius, limit=limit)
    return counts


@shared
def rows_in_balls(
    context: Context,
    centre: str,
    other: str,
    k: int,
    clipped: bool,
    strict: bool,
    space: Any,
    columns: ColumnChoice,
    max_rows: int | None,
    seed: int,
) -> tuple[np.ndarray, np.ndarray] | None:
    """Count the other rows in the ball around each row of a role, and the balls with each of them.

    One search computes both counts. The result is None in spaces other than "gower".
    """
    if not is_gower(space):
        return None
    settings = space, columns, max_rows, seed
    search = _index(context, other, *settings).search
    radius = _radius_of_balls(context, centre, k, clipped, strict, *settings)
    centres = rows_of(context, centre, space, columns, sample_size(context, centre, max_rows), seed)
    both: tuple[np.ndarray, np.ndarray] = search.count_around(centres, radius)
    return both


def _index(
    context: Context, role: str, space: Any, columns: ColumnChoice, max_rows: int | None, seed: int
) -> Index:
    size = sample_size(context, role, max_rows)
    return reference_index(context, role, space, columns, size, seed if size else 0)


def _radius_of_balls(
    context: Context, role: str, k: int, clipped: bool, strict: bool, space: Any, *sample: Any
) -> np.ndarray:
    radius = radii(context, role, k, space, *sample)
    if clipped:
        radius = np.minimum(radius, np.median(radius))
    if strict and is_gower(space):
        # the next smaller possible distance. A ball with a negative radius is empty
        radius = radius - _GRID / _index(context, role, space, *sample).rows.shape[1]
    return radius


def distance_blocks(
    context: Context, queries: np.ndarray, rows: np.ndarray, space: Any, columns: ColumnChoice
) -> Iterator[tuple[slice, np.ndarray]]:
    """Yield the distances of a few queries at a time to all rows."""
    if is_gower(space):
        engine = gower_engine(context, columns)  # only its scale is used
        ranges, nominal = np.asarray(engine.ranges), np.asarray(engine.categorical)
        yield from mixed_distances(queries, rows, ranges, nominal)
        return
    for block in row_blocks(len(queries), len(rows)):
        yield block, cdist(queries[block], rows)
