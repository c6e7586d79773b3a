"""Balls around rows, the rows of another table within them, and clusters of both tables.

Distinct rows of some columns and how often each occurs, in place of the rows themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd
from scipy.spatial.distance import cdist
from threadpoolctl import threadpool_limits

from skeval.core.context import Context, by_context, shared
from skeval.stats.manifolds import count_balls, mixed_distances, row_blocks
from skeval.steps.neighbors import (
    Index,
    OfTrain,
    encoded,
    gower_engine,
    is_gower,
    nearest,
    preprocessor,
    reference_index,
    rows_of,
)
from skeval.steps.samples import (
    ROLES,
    ColumnChoice,
    chosen_columns,
    drawn_positions,
    named_seed,
    sample_positions,
)
from skeval.tables.preprocessing import NOMINAL, NUMERIC

_USUAL = 5  # neighbours that the metrics of this family ask for at most
_GRID = 2.0**-32  # sums of the neighbour engine are multiples of it
_DECIDING = 16  # columns that mostly tell rows apart
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
    """Count the reference rows' balls that hold each query row."""
    # A ball reaches to the k-th nearest other reference row; where `clipped`, no farther than
    # the median ball. The counts stop at `limit`.
    settings = space, columns, max_rows, seed
    if limit is None:
        both = rows_in_balls(context, reference, query, k, clipped, strict, *settings)
        if both is not None:
            return both[1]
    radius = _radius_of_balls(context, reference, k, clipped, strict, *settings)
    index = _index(context, reference, *settings)
    queries = rows_of(context, query, space, columns, drawn(context, query, max_rows), seed)
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
    """Count the other rows in the ball around each row of a role, and the balls that hold each.

    One search counts both; None in spaces other than "gower".
    """
    if not is_gower(space):
        return None
    settings = space, columns, max_rows, seed
    search = _index(context, other, *settings).search
    radius = _radius_of_balls(context, centre, k, clipped, strict, *settings)
    centres = rows_of(context, centre, space, columns, drawn(context, centre, max_rows), seed)
    both: tuple[np.ndarray, np.ndarray] = search.count_around(centres, radius)
    return both


def _index(
    context: Context, role: str, space: Any, columns: ColumnChoice, max_rows: int | None, seed: int
) -> Index:
    size = drawn(context, role, max_rows)
    return reference_index(context, role, space, columns, size, seed if size else 0)


def _radius_of_balls(
    context: Context, role: str, k: int, clipped: bool, strict: bool, space: Any, *sample: Any
) -> np.ndarray:
    radius = radii(context, role, k, space, *sample)
    if clipped:
        radius = np.minimum(radius, np.median(radius))
    if strict and is_gower(space):
        # the next smaller distance that there can be; below 0 a ball holds nothing
        radius = radius - _GRID / _index(context, role, space, *sample).rows.shape[1]
    return radius


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
    """Get the rows of a role as vectors that have a mean; the order of columns is their names'."""
    # In space "gower", and in "euclidean", they are those of "euclidean". Nothing lies
    # farther out than a million standard deviations.
    if not isinstance(space, str):
        size = drawn(context, role, max_rows)
        return rows_of(context, role, OfTrain(space), columns, size, seed)
    with np.errstate(invalid="ignore"):  # the mean of a column without values
        whole, owners = (
            encoded(context, role, OfTrain("euclidean")),
            np.array(feature_owners(context)),
        )
    chosen = set(chosen_columns(context.schema, columns))
    order = np.argsort(owners, kind="stable")
    rows = whole[:, order[[name in chosen for name in owners[order]]]]
    # numbers that differ by the order of a sum only shall not differ; thousands of levels are
    # gigabytes, so that each step works where the numbers are
    np.clip(rows, -_FAR, _FAR, out=rows)
    np.round(rows, 9, out=rows)
    rows += 0.0
    # the rows that `rows_of` takes
    size = drawn(context, role, max_rows)
    return (
        rows if size is None else rows[drawn_positions(context, role, size, named_seed(role, seed))]
    )


def feature_owners(context: Context) -> list[str]:
    """Return which column each feature of space "euclidean" stems from."""
    n_cells = preprocessor(context, OfTrain("euclidean")).n_cells_
    numeric = context.schema.columns(*NUMERIC)
    nominal = [name for name in context.schema.columns(*NOMINAL) for _ in range(n_cells[name])]
    return [*numeric, *numeric, *nominal]


def clustered_rows(context: Context, balance: bool, max_rows: int | None) -> dict[str, int]:
    """Return how many rows of train and of the synthetic table are clustered."""
    sizes = {role: context.n_rows(role) for role in ROLES}
    most = min(sizes.values()) if balance else max(sizes.values())
    most = most if max_rows is None else min(most, max_rows)
    return {role: min(size, most) for role, size in sizes.items()}


@shared
def cluster_histograms(
    context: Context,
    n_clusters: int,
    n_runs: int,
    balance: bool,
    space: Any = "euclidean",
    columns: ColumnChoice = None,
    max_rows: int | None = None,
    seed: int = 0,
) -> np.ndarray:
    """Return the shares of train and of synthetic rows in each cluster, for each run of k-means."""
    sizes = clustered_rows(context, balance, max_rows)
    parts = []
    for role, size in sizes.items():
        rows = vectors(context, role, space, columns)
        rows = rows[lexicographic_order(rows)]  # neither samples nor centres by the order of rows
        parts.append(rows[sample_positions(len(rows), size, named_seed(role, seed))])
    return clustered_shares(parts[0], parts[1], n_clusters, n_runs, seed)


def lexicographic_order(rows: np.ndarray) -> np.ndarray:
    """Get the positions of rows in the order of their first column, then of the second, and on."""
    # Later columns are looked at where the first ones do not decide.
    for width in (_DECIDING, 8 * _DECIDING):
        if width < rows.shape[1]:
            order = np.lexsort(rows[:, :width].T[::-1])
            first = rows[order, :width]
            if (first[1:] != first[:-1]).any(axis=1).all():
                return order
    return np.lexsort(rows.T[::-1])


def clustered_shares(
    train: np.ndarray, synthetic: np.ndarray, n_clusters: int, n_runs: int, seed: int
) -> np.ndarray:
    """Return the shares of both tables' rows in each cluster of both, for each run of k-means."""
    n_train = len(train)
    labels = clustered_labels(train, synthetic, n_clusters, n_runs, seed)
    return shares_of_labels(labels[:, :n_train], labels[:, n_train:])


def shares_of_labels(train: np.ndarray, synthetic: np.ndarray) -> np.ndarray:
    """Return the shares of both tables' rows in each cluster, from the cluster of each row."""
    n_clusters = 1 + max(int(of.max(initial=-1)) for of in (train, synthetic))
    pairs = zip(train, synthetic, strict=True)
    return np.array([[_shares(cluster, n_clusters) for cluster in pair] for pair in pairs])


def clustered_labels(
    train: np.ndarray, synthetic: np.ndarray, n_clusters: int, n_runs: int, seed: int
) -> np.ndarray:
    """Return the cluster of each row of both tables, for each run of k-means on both."""
    pooled = np.concatenate([train, synthetic])
    # a few rows show that there are more than enough distinct ones
    labels = []
    if len(np.unique(pooled[: 4 * n_clusters], axis=0)) <= n_clusters:
        distinct, which = np.unique(pooled, axis=0, return_inverse=True)
        if len(distinct) <= n_clusters:
            labels = [which.ravel()]
    return np.array(labels or _runs(pooled, n_clusters, n_runs, seed))


def _runs(pooled: np.ndarray, n_clusters: int, n_runs: int, seed: int) -> list[np.ndarray]:
    from sklearn.cluster import MiniBatchKMeans

    # batches are small: threads would wait for each other most of the time
    with threadpool_limits(1):
        return [
            MiniBatchKMeans(n_clusters, n_init=1, random_state=int(state)).fit(pooled).labels_
            for state in np.random.default_rng(seed).integers(2**31, size=n_runs)
        ]


def _shares(labels: np.ndarray, n_clusters: int) -> np.ndarray:
    return np.bincount(labels, minlength=n_clusters) / labels.size


Code = Callable[[pd.DataFrame], list[np.ndarray]]
Groups = tuple[list[np.ndarray], np.ndarray]


@by_context
def grouped(
    context: Context, role: str, names: Sequence[str], code: Code, *, given: bool = False
) -> Groups | None:
    """Return the distinct codes of a role's rows, and how many rows have each."""
    # None where rows are in memory: a code of each of them costs no more.
    return None
