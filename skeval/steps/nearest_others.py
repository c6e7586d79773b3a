"""Distances of rows to the nearest row of several tables, or of a part of their own table."""

from __future__ import annotations

import numpy as np

from skeval.core.context import Context, shared
from skeval.steps.column_choice import ColumnChoice
from skeval.steps.neighbors import index_of, nearest, pool_index, reference_index, rows_of
from skeval.steps.samples import drawn_positions, named_seed, sample_size

_REAL = ("train", "holdout")
_MIN_SHARE = 0.25  # of the real rows, in which the nearest row of a part is often among the nearest
N_NEAREST = 5  # nearest real rows of each real row that are found at once


@shared
def near_real_rows(
    context: Context, space: object, columns: ColumnChoice
) -> tuple[np.ndarray, np.ndarray]:
    """Return the nearest other real rows of each real row, training rows first."""
    pool = pool_index(context, space, columns)
    n_rows = len(pool.rows)
    every, no_limit = np.arange(n_rows), np.full(n_rows, np.inf)
    return pool.others(every, min(N_NEAREST, n_rows - 1), no_limit)


def nearest_of_tables(
    context: Context, query: str, roles: tuple[str, ...], columns: ColumnChoice = None
) -> tuple[np.ndarray, np.ndarray]:
    """Return the distance of each row to the nearest row of some tables, and which row it is."""
    found = [nearest(context, query, role, columns=columns) for role in roles]
    distances = np.column_stack([one[:, 0] for one, _ in found])
    rows, of_role = np.arange(len(distances)), distances.argmin(axis=1)
    starts = np.append(0, np.cumsum([context.n_rows(role) for role in roles]))
    places = starts[of_role] + np.column_stack([at[:, 0] for _, at in found])[rows, of_role]
    return distances[rows, of_role], places


def is_large_part(n_rows: int, n_real: int) -> bool:
    """Return whether a search among all real rows saves time for this number of rows."""
    return n_rows >= _MIN_SHARE * n_real


def others_nearest_to(
    context: Context, space: object, columns: ColumnChoice, rows: np.ndarray
) -> np.ndarray:
    """Return the distances of some real rows to their nearest other real rows."""
    if is_large_part(rows.size, sum(context.n_rows(role) for role in _REAL)):
        return near_real_rows(context, space, columns)[0][rows]
    pool = pool_index(context, space, columns)
    k = min(N_NEAREST, len(pool.rows) - 1)
    return pool.others(rows, k, np.full(rows.size, np.inf))[0]


def distances_to_part(
    context: Context, columns: ColumnChoice, rows: np.ndarray, part: np.ndarray
) -> np.ndarray:
    """Return the distances of some real rows to the nearest other real row of a part, a mask."""
    # The nearest row of a part is usually among the few nearest rows of all, which are searched for
    # once. The distance of two rows is the same in any index.
    found, places = near_real_rows(context, "gower", columns)
    distances, left = _nearest_in_part(found[rows], places[rows], part)
    if left.size:  # an index of the part takes less time than further neighbors of all
        pool = pool_index(context, "gower", columns)
        index = index_of(context, pool.rows[part], "gower", columns)
        found, _ = index.kneighbors(pool.rows[rows[left]], min(2, int(part.sum())))
        # the nearest row of a row of the part is the row itself
        distances[left] = np.where(part[rows[left]], found[:, -1], found[:, 0])
    return distances


def _nearest_in_part(
    distances: np.ndarray, places: np.ndarray, part: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the distance to the first neighbor in a part, and the rows without one."""
    inside = part[places]
    first = inside.argmax(axis=1)[:, None]
    return np.take_along_axis(distances, first, axis=1)[:, 0], np.flatnonzero(~inside.any(axis=1))


def distances_within(
    context: Context, role: str, columns: ColumnChoice, n_rows: int, seed: int
) -> np.ndarray:
    """Return the distances of the rows of a role, or a sample, to the nearest other row of it."""
    n_drawn = sample_size(context, role, n_rows)
    return _distances_within(context, role, columns, n_drawn, seed if n_drawn else 0)


@shared
def _distances_within(
    context: Context, role: str, columns: ColumnChoice, n_drawn: int | None, seed: int
) -> np.ndarray:
    # rows that were taken from another table are searched for there, unless their ranges differ
    on_same_scale = "train" not in context.taken
    source, of_source, at = context, role, np.arange(context.n_rows(role))
    if role in context.taken and on_same_scale:
        source, of_source, at = context.taken[role]
    if n_drawn:
        at = at[drawn_positions(context, role, n_drawn, named_seed(role, seed))]
    if on_same_scale and of_source in _REAL and "holdout" in source:
        sizes = [source.n_rows(real) for real in _REAL]
        if is_large_part(at.size, sum(sizes)):
            rows = at if of_source == "train" else sizes[0] + at
            part = np.zeros(sum(sizes), dtype=np.bool_)
            part[rows] = True
            return distances_to_part(source, columns, rows, part)
    if not on_same_scale:  # no other step reads the index of these rows, which is not kept
        own = rows_of(context, role, "gower", columns, n_drawn, seed if n_drawn else 0)
        return index_of(context, own, "gower", columns).itself(1)[0][:, 0]
    n_source = source.n_rows(of_source)
    # otherwise, the whole table would be searched for a sample alone
    is_known = source is not context and n_source <= source.n_rows("train")
    if of_source != "synthetic" or not is_known or at.size == n_source:
        found, _ = nearest(context, role, role, columns=columns, n_reference=n_drawn, seed=seed)
        return found[:, 0]
    found, places = nearest(source, "synthetic", "synthetic", k=2, columns=columns)
    part = np.zeros(n_source, dtype=np.bool_)
    part[at] = True
    distances, left = _nearest_in_part(found[at], places[at], part)
    if left.size:
        index = reference_index(context, role, "gower", columns, n_drawn, seed)
        distances[left] = index.others(left, 1, np.full(left.size, np.inf))[0][:, 0]
    return distances
