"""Nearest neighbors in one table or among all real rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from skeval.core.context import Context, by_context, shared
from skeval.neighbors.euclidean import EuclideanNeighbors
from skeval.steps.column_choice import ColumnChoice, column_key
from skeval.steps.encoded_rows import encoded_matrix, gower_scale, is_gower, room
from skeval.steps.samples import drawn_positions, named_seed, pooled_order, sample_size
from skeval.utils.engines import LocalEngine, current_engine

if TYPE_CHECKING:
    from skeval.neighbors.mixed import MixedNearestNeighbors

MANY = 50_000  # with fewer reference rows, a distributed search is not faster
_REAL = ("train", "holdout")
MAX_LENGTH = 16  # real rows per list, because 16 nearest rows rarely all have the same label


@dataclass(frozen=True)
class Index:
    """A search structure over rows of one space."""

    rows: np.ndarray
    search: Any
    space: Any
    order: np.ndarray | None = None

    def kneighbors(
        self, queries: np.ndarray, k: int, radius: np.ndarray | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return distances and positions of the k nearest rows of each query.

        With a radius per query, more distant rows have an infinite distance and position -1.
        """
        return self._search(queries, k, radius, None)

    def itself(self, k: int) -> tuple[np.ndarray, np.ndarray]:
        """Return distances and positions of the k nearest other rows of each row."""
        return self._search(self.rows, k, None, np.arange(len(self.rows)))

    def others(
        self, positions: np.ndarray, k: int, radius: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the k nearest other rows of some of the rows, within the radius of each."""
        return self._search(self.rows[positions], k, radius, positions)

    def nearest_labels(
        self, queries: np.ndarray, labels: np.ndarray, **known: Any
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the fraction of queries whose nearest row is each row, with ties divided evenly.

        The second array contains for each query the fraction of its nearest rows with a label.
        """
        if self.order is None:
            return cast("tuple[Any, Any]", self.search.nearest_labels(queries, labels, **known))
        masses, labelled = self.search.nearest_labels(queries, labels[self.order], **known)
        return masses[np.argsort(self.order)], labelled

    def _search(
        self, queries: np.ndarray, k: int, radius: np.ndarray | None, own: np.ndarray | None
    ) -> tuple[np.ndarray, np.ndarray]:
        if own is not None and self.order is not None:
            own = np.argsort(self.order)[own]
        if is_gower(self.space):
            distances, places = self.search.kneighbors(queries, k, exclude=own, radius=radius)
        else:
            distances, places = self.search.kneighbors(queries, k, exclude=own)
            if radius is not None:
                beyond = distances > radius[:, None]
                distances = np.where(beyond, np.inf, distances)
                places = np.where(beyond, -1, places)
        if self.order is not None:
            places = np.where(places < 0, -1, self.order[places])
        return distances, places


def index_of(
    context: Context,
    rows: np.ndarray,
    space: Any,
    columns: ColumnChoice = None,
    order: np.ndarray | None = None,
) -> Index:
    """Return a search structure over encoded rows, on the common scale of the context."""
    gower = is_gower(space)
    search = gower_engine(context, columns, rows) if gower else EuclideanNeighbors()
    return Index(
        rows,
        search.fit(rows if order is None else _concatenate_rows(context, [rows], order)),
        space,
        order,
    )


@by_context
def gower_engine(
    context: Context, columns: ColumnChoice = None, rows: np.ndarray | None = None
) -> MixedNearestNeighbors:
    """Return the unfitted engine with the context's common scale, for a search among `rows`."""
    scale = gower_scale(context, columns)
    if rows is not None and len(rows) >= MANY:
        engine = current_engine()
        if not isinstance(engine, LocalEngine):
            # skeval.scale overrides steps, so it imports this module
            from skeval.scale.row_steps import search_in_parts

            return cast("MixedNearestNeighbors", search_in_parts(*scale))
    from skeval.neighbors.mixed import MixedNearestNeighbors

    return MixedNearestNeighbors(*scale)


@shared
def reference_index(
    context: Context,
    reference: str,
    space: Any,
    columns: ColumnChoice,
    n_reference: int | None,
    seed: int,
) -> Index:
    """Return the search structure over a role's rows."""
    rows = rows_of(context, reference, space, columns, n_reference, seed)
    return index_of(context, rows, space, columns)


def nearest(
    context: Context,
    query: str,
    reference: str,
    *,
    k: int = 1,
    space: Any = "gower",
    columns: ColumnChoice = None,
    n_query: int | None = None,
    n_reference: int | None = None,
    seed: int = 0,
) -> tuple[np.ndarray, np.ndarray]:
    """Return the k nearest reference rows of each query row, computed once per context."""
    # a sample of all rows is replaced with None, so that equal requests share a memo entry
    columns = column_key(context.schema, columns)
    n_query = None if query == reference else sample_size(context, query, n_query)
    n_reference = sample_size(context, reference, n_reference)
    seed = 0 if n_query is None and n_reference is None else seed
    # a second neighbor costs 20% more, and a second pass would cost 100% more
    n_rows = context.n_rows(reference) if n_reference is None else n_reference
    k_nearest = max(k, 2) if n_rows - (query == reference) >= 2 else k
    samples = (n_query, n_reference, seed)
    distances, indices = _nearest(context, query, reference, k_nearest, space, columns, *samples)
    return distances[:, :k], indices[:, :k]


@shared
def _nearest(
    context: Context,
    query: str,
    reference: str,
    k: int,
    space: Any,
    columns: ColumnChoice,
    n_query: int | None,
    n_reference: int | None,
    seed: int,
) -> tuple[np.ndarray, np.ndarray]:
    seed_of_index = seed if n_reference else 0
    index = reference_index(context, reference, space, columns, n_reference, seed_of_index)
    if query == reference:
        return index.itself(k)
    return index.kneighbors(rows_of(context, query, space, columns, n_query, seed), k)


def rows_of(
    context: Context, role: str, space: Any, columns: ColumnChoice, n_drawn: int | None, seed: int
) -> np.ndarray:
    """Return the matrix of a seeded sample of a role's rows, or of all rows.

    All rows (None) have the order of the table, and the rows of a sample are ordered by content.
    """
    rows = encoded_matrix(context, role, space, columns)
    if n_drawn is None:
        return rows
    # each role has its own seed, because tables may be aligned row by row
    return rows[drawn_positions(context, role, n_drawn, named_seed(role, seed))]


@shared
def pool_index(
    context: Context,
    space: Any,
    columns: ColumnChoice = None,
    n_rows: int | None = None,
    seed: int = 0,
) -> Index:
    """Get the search structure of the training rows, then the holdout rows, or their samples."""
    # The rows are in random order, because the choice among equally near rows must not depend on
    # the labels. Otherwise, a list that is cut off would contain only training rows.
    real = [rows_of(context, role, space, columns, n_rows, seed) for role in ("train", "holdout")]
    rows = _concatenate_rows(context, real)
    order = pooled_order(context) if n_rows is None else np.arange(len(rows))
    return index_of(context, rows, space, columns, np.random.default_rng(0).permutation(order))


def _concatenate_rows(
    context: Context, tables: list[np.ndarray], order: np.ndarray | None = None
) -> np.ndarray:
    """Return the rows of tables, one table after the other or in another order."""
    n_rows = sum(len(table) for table in tables)
    rows = room(context, (n_rows, tables[0].shape[1]))
    for j in range(rows.shape[1]):  # one column per step, to limit the memory
        column = np.concatenate([table[:, j] for table in tables])
        rows[:, j] = column if order is None else column[order]
    return rows


@shared
def pooled_masses(
    context: Context, n_rows: int | None, columns: ColumnChoice, seed: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return the fraction of synthetic rows whose nearest real row is each row, training first."""
    # The second array contains for each synthetic row the fraction of training rows among its
    # nearest real rows. It is 1 if the row is closer to the training data, and 0 if it is closer to
    # the holdout data.
    #
    # Ties are divided evenly over all nearest rows of the pooled tables. Only in this case, the
    # mean fraction of the training data over relabelings is n_T / (n_T + n_H), with a variance in
    # closed form.
    if n_rows is None and columns is None:
        return _divide_by_tables(context)
    queries = rows_of(context, "synthetic", "gower", columns, n_rows, seed)
    pool = pool_index(context, "gower", columns, n_rows, 0 if n_rows is None else seed)
    n_train = min(context.n_rows("train"), n_rows or len(pool.rows))
    return pool.nearest_labels(queries, np.arange(len(pool.rows)) < n_train)


def _divide_by_tables(context: Context) -> tuple[np.ndarray, np.ndarray]:
    """Return the masses from the nearest rows of each table, which other screens use as well."""
    # If a single real row is the nearest, the two nearest rows of each table show it. Only the
    # other synthetic rows, which are few in most tables, are searched for in the pooled tables.
    found = [nearest(context, "synthetic", role, k=min(2, context.n_rows(role))) for role in _REAL]
    (d, on_train), (e, on_holdout) = ((distances[:, 0], at[:, 0]) for distances, at in found)
    least, n_train = np.minimum(d, e), context.n_rows("train")
    n_near = sum((distances == least[:, None]).sum(axis=1) for distances, _ in found)
    is_tied, labelled = n_near > 1, (d < e).astype(np.float64)
    first = np.where(d < e, on_train, n_train + on_holdout)
    n_real = n_train + context.n_rows("holdout")
    masses = np.bincount(first[~is_tied], minlength=n_real).astype(np.float64)
    if is_tied.any():
        queries = encoded_matrix(context, "synthetic")[is_tied]
        pool, labels = pool_index(context, "gower"), np.arange(n_real) < n_train
        tied, labelled[is_tied] = pool.nearest_labels(
            queries, labels, radius=least[is_tied], total=1
        )
        masses += tied
    return masses / len(least), labelled
