"""Rows as matrices of a space, nearest neighbours of tables, and the pool of real rows."""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from scipy.sparse import csr_array, issparse
from sklearn.base import clone

from skeval.context import Context, shared
from skeval.exceptions import InvalidParameterError
from skeval.steps.samples import ColumnChoice, chosen_columns, column_key, sample_positions
from skeval.tables.frames import canonical
from skeval.tables.preprocessing import NOMINAL, NUMERIC, TablePreprocessor, mixed_matrix
from skeval.tables.schema import TableSchema

if TYPE_CHECKING:
    from skeval.neighbors.mixed import MixedNearestNeighbors


LONGEST = 16  # real rows kept a list: of so many nearest, hardly ever all have one label


@shared
def preprocessor(context: Context, space: Any = "gower") -> Any:
    """Return the fitted transformer of a space; "gower" learns from train and holdout together.

    A common scale matters: ranges taken from each reference table on its own put distances to
    train and to holdout on different scales.
    """
    if not isinstance(space, str):
        return clone(space).fit(context.train)
    real = [context[role] for role in ("train", "holdout") if role in context]
    learnt_from = pd.concat(real, ignore_index=True) if space == "gower" else context.train
    checked: Any = space  # by the preprocessor
    return TablePreprocessor(context.schema, space=checked).fit(learnt_from)


@shared
def encoded(
    context: Context, role: str, space: Any = "gower", columns: ColumnChoice = None
) -> np.ndarray:
    """Return the matrix of a role's rows in a space, shape (n_rows, n_features)."""
    if columns is not None:  # a table is transformed once, however many choices are made of it
        return encoded(context, role, space)[:, kept_features(context, space, columns)]
    if is_gower(space):
        frame = canonical(context[role], context.schema, role, context.levels)
        return mixed_matrix(frame, context.schema)
    return as_matrix(preprocessor(context, space).transform(context[role]), space)


def as_matrix(transformed: Any, space: Any) -> np.ndarray:
    """Return what a transformer gave as a dense float matrix.

    Raises
    ------
    InvalidParameterError
        If a space other than "gower" leaves missing or infinite values.
    """
    dense = transformed.toarray() if issparse(transformed) else transformed
    matrix = np.asarray(dense, dtype=np.float64)
    if not is_gower(space) and not np.isfinite(matrix).all():
        raise InvalidParameterError(
            f"space={space!r} leaves missing or infinite values; add an imputer to it."
        )
    return matrix


def kept_features(context: Context, space: Any, columns: ColumnChoice) -> np.ndarray | slice:
    """Return an index of the features of a space's matrix that a choice of columns keeps.

    Raises
    ------
    InvalidParameterError
        If columns are chosen in another space than "gower": which features stem from which column
        is the transformer's affair.
    """
    names = _gower_columns(context.schema)
    if is_gower(space):
        chosen = set(chosen_columns(context.schema, columns))
        return (
            slice(None)
            if len(chosen) == len(names)
            else np.array([name in chosen for name in names])
        )
    if columns is not None:
        raise InvalidParameterError(
            "columns can be chosen in space='gower' only; choose them in your transformer."
        )
    return slice(None)


def _gower_columns(schema: TableSchema) -> list[str]:
    return [*schema.columns(*NUMERIC), *schema.columns(*NOMINAL)]


@shared
def ranges(context: Context, columns: ColumnChoice = None) -> np.ndarray:
    """Return each encoded column's range over train and holdout together; 0 if it has no value."""
    if columns is not None:
        return ranges(context)[kept_features(context, "gower", columns)]
    roles = [role for role in ("train", "holdout") if role in context]
    real = np.concatenate([encoded(context, role) for role in roles])
    present = ~np.isnan(real)
    low = np.where(present, real, np.inf).min(axis=0)
    high = np.where(present, real, -np.inf).max(axis=0)
    return np.where(present.any(axis=0), high - low, 0.0)


@dataclass(frozen=True)
class Index:
    """A search structure over rows of one space."""

    rows: np.ndarray
    search: Any
    space: Any

    def kneighbors(
        self, queries: np.ndarray, k: int, radius: np.ndarray | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return distances and positions of the k nearest rows of each query.

        With a radius for each query, what lies beyond it is infinitely far, at position -1.
        """
        if is_gower(self.space):
            found: tuple[np.ndarray, np.ndarray] = self.search.kneighbors(queries, k, radius=radius)
            return found
        k_found = k if radius is None else min(k, len(self.rows))
        distances, indices = self.search.kneighbors(queries, k_found)
        return _cut(*self._exact(queries, distances, indices), radius)

    def itself(self, k: int, radius: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Return distances and positions of the k nearest other rows of each row."""
        if is_gower(self.space):
            own = np.arange(len(self.rows))
            found: tuple[np.ndarray, np.ndarray] = self.search.kneighbors(
                self.rows, k, exclude=own, radius=radius
            )
            return found
        k_found = k if radius is None else min(k, len(self.rows) - 1)
        distances, indices = self.search.kneighbors(None, k_found)
        return _cut(*self._exact(self.rows, distances, indices), radius)

    def others(
        self, positions: np.ndarray, k: int, radius: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the k nearest other rows of some of the rows, within the radius of each."""
        rows = self.rows[positions]
        if is_gower(self.space):
            found: tuple[np.ndarray, np.ndarray] = self.search.kneighbors(
                rows, k, exclude=positions, radius=radius
            )
            return found
        k_found = min(k, len(self.rows) - 1) + 1
        distances, indices = self._exact(rows, *self.search.kneighbors(rows, k_found))
        own = indices == positions[:, None]
        own[~own.any(axis=1), -1] = True  # more duplicates than neighbours asked for
        shape = (len(rows), k_found - 1)
        return _cut(distances[~own].reshape(shape), indices[~own].reshape(shape), radius)

    def _exact(
        self, queries: np.ndarray, distances: np.ndarray, indices: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Put copies at exactly 0: scikit-learn expands squares, which leaves them at 1e-7."""
        near = np.column_stack(
            [
                np.sqrt(((queries - self.rows[indices[:, j]]) ** 2).sum(axis=1))
                for j in range(indices.shape[1])
            ]
        )
        order = np.argsort(near, axis=1, kind="stable")
        return np.take_along_axis(near, order, 1), np.take_along_axis(indices, order, 1)


def _cut(
    distances: np.ndarray, indices: np.ndarray, radius: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray]:
    if radius is None:
        return distances, indices
    beyond = distances > radius[:, None]
    return np.where(beyond, np.inf, distances), np.where(beyond, -1, indices)


def is_gower(space: Any) -> bool:
    """Tell whether the space is the default one."""
    return isinstance(space, str) and space == "gower"


def index_of(context: Context, rows: np.ndarray, space: Any, columns: ColumnChoice = None) -> Index:
    """Return a search structure over encoded rows, on the common scale of the context."""
    if is_gower(space):
        return Index(rows, gower_engine(context, columns).fit(rows), space)
    from sklearn.neighbors import NearestNeighbors

    return Index(rows, NearestNeighbors().fit(rows), space)


def gower_engine(context: Context, columns: ColumnChoice = None) -> MixedNearestNeighbors:
    """Return the unfitted engine with the context's common scale."""
    from skeval.neighbors.mixed import MixedNearestNeighbors

    chosen = set(chosen_columns(context.schema, columns))
    nominal = set(context.schema.columns(*NOMINAL))
    is_nominal = np.array(
        [name in nominal for name in _gower_columns(context.schema) if name in chosen]
    )
    return MixedNearestNeighbors(ranges=ranges(context, columns), categorical=is_nominal)


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
    return index_of(
        context, rows_of(context, reference, space, columns, n_reference, seed), space, columns
    )


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
    """Return the k nearest reference rows of each query row; computed once a context.

    Parameters
    ----------
    context : Context
        The tables.
    query, reference : str
        Roles. Where they are the same, a row is never its own neighbour; a duplicate of it may be.
    k : int, default=1
        Number of neighbours.
    space : "gower", "euclidean" or transformer, default="gower"
        The mean over columns of capped differences; or Euclidean distance of a matrix.
    columns : int, tuple of str or None
        The columns looked at.
    n_query, n_reference : int, optional
        Sizes of seeded samples to take instead of all rows. Where the roles are the same, both are
        `n_reference`.
    seed : int, default=0
        Of the samples.

    Returns
    -------
    distances : ndarray of shape (n_query, k)
        Ascending.
    indices : ndarray of shape (n_query, k)
        Positions among the reference rows (those sampled); ties go to the lowest.
    """
    # a sample of all rows is no sample: equal requests must be one memo entry
    columns = column_key(context.schema, columns)
    n_query = None if query == reference else _fewer(context, query, n_query)
    n_reference = _fewer(context, reference, n_reference)
    seed = 0 if n_query is None and n_reference is None else seed
    # the second neighbour costs a fifth more, a second pass would cost as much again
    n_rows = context.n_rows(reference) if n_reference is None else n_reference
    k_found = max(k, 2) if n_rows - (query == reference) >= 2 else k
    distances, indices = _nearest(
        context, query, reference, k_found, space, columns, n_query, n_reference, seed
    )
    return distances[:, :k], indices[:, :k]


def _fewer(context: Context, role: str, n_drawn: int | None) -> int | None:
    return None if n_drawn is None or n_drawn >= context.n_rows(role) else n_drawn


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
    index = reference_index(
        context, reference, space, columns, n_reference, seed if n_reference else 0
    )
    if query == reference:
        return index.itself(k)
    return index.kneighbors(rows_of(context, query, space, columns, n_query, seed), k)


def rows_of(
    context: Context, role: str, space: Any, columns: ColumnChoice, n_drawn: int | None, seed: int
) -> np.ndarray:
    """Return the matrix of a seeded sample of a role's rows; of all where there are no more."""
    rows = encoded(context, role, space, columns)
    if n_drawn is None:
        return rows
    # tables may be aligned row by row: each role draws positions of its own
    return rows[sample_positions(len(rows), n_drawn, zlib.crc32(f"{role} {seed}".encode()))]


@dataclass(frozen=True)
class NearLists:
    """For each query, the pooled real rows within a radius of it: the nearest few, ascending.

    Attributes
    ----------
    starts : ndarray of shape (n_queries + 1,)
        List `i` is the slice `starts[i]:starts[i + 1]`.
    rows : ndarray of shape (n_listed,)
        Positions in the pool, train first.
    distances : ndarray of shape (n_listed,)
        Ascending in each list.
    n_pool : int
        Number of real rows.
    """

    starts: np.ndarray
    rows: np.ndarray
    distances: np.ndarray
    n_pool: int

    @property
    def lengths(self) -> np.ndarray:
        """Number of rows in each list."""
        return np.diff(self.starts)

    def matrix(self, below: np.ndarray | None = None) -> csr_array:
        """Return 1 where a list holds a row, shape (n_queries, n_pool).

        Times labels, it counts the train rows of each list. `below` leaves out rows that are not
        nearer than this, one number a list.
        """
        lengths, rows = self.lengths, self.rows
        if below is not None:
            owners = np.repeat(np.arange(lengths.size), lengths)
            nearer = self.distances < below[owners]
            lengths, rows = np.bincount(owners[nearer], minlength=lengths.size), rows[nearer]
        starts = np.concatenate([[0], np.cumsum(lengths)])
        ones = np.ones(rows.size, dtype=np.int32)
        return csr_array((ones, rows, starts), shape=(lengths.size, self.n_pool))


@dataclass(frozen=True)
class Pool:
    """The rows of train, then of the holdout, with a search structure over them.

    The structure has them in random order. Of equally near rows the first are found, and which
    these are must not depend on labels, or a list that is cut would hold train rows alone.

    Attributes
    ----------
    rows : ndarray of shape (n_pool, n_features)
        Encoded; those of train first.
    order : ndarray of shape (n_pool,)
        Which row stands where in the structure.
    index : Index
        The structure.
    """

    rows: np.ndarray
    order: np.ndarray
    index: Index

    def kneighbors(
        self, queries: np.ndarray, k: int, radius: np.ndarray | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return distances and positions of the k nearest rows of each query."""
        return self._placed(*self.index.kneighbors(queries, k, radius))

    def others(
        self, positions: np.ndarray, k: int, radius: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the k nearest other rows of some of the rows, within the radius of each."""
        place = np.empty_like(self.order)
        place[self.order] = np.arange(self.order.size)
        return self._placed(*self.index.others(place[positions], k, radius))

    def nearest_mass(self, queries: np.ndarray) -> np.ndarray:
        """Return which share of the queries each row is the nearest of, ties divided evenly."""
        masses = np.empty(self.order.size)
        masses[self.order] = self.index.search.nearest_mass(queries)
        return masses

    def _placed(self, distances: np.ndarray, found: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return distances, np.where(found < 0, -1, self.order[found])


def pool_of(context: Context, real: list[np.ndarray], space: Any, columns: ColumnChoice) -> Pool:
    """Return the pool of some rows of train and of the holdout."""
    rows = np.concatenate(real)
    order = np.random.default_rng(0).permutation(len(rows))
    return Pool(rows, order, index_of(context, rows[order], space, columns))


@shared
def pool_index(context: Context, space: Any, columns: ColumnChoice = None) -> Pool:
    """Return the pool of all rows of train and of the holdout."""
    real = [encoded(context, role, space, columns) for role in ("train", "holdout")]
    return pool_of(context, real, space, columns)


def pooled_lists(
    context: Context,
    queries: np.ndarray | None,
    radius: np.ndarray,
    *,
    space: Any = "gower",
    columns: ColumnChoice = None,
    longest: int = LONGEST,
) -> NearLists:
    """Return the nearest real rows of each query within its radius.

    Parameters
    ----------
    context : Context
        The tables.
    queries : ndarray of shape (n_queries, n_features) or None
        Encoded rows; None for the pooled real rows, each without itself.
    radius : ndarray of shape (n_queries,)
        The largest distance of each query, itself included.
    space : "gower", "euclidean" or transformer, default="gower"
        As in :func:`~skeval.steps.neighbors.nearest`.
    columns : int, tuple of str or None
        The columns looked at.
    longest : int, default=16
        Rows kept at most, the nearest ones.

    Returns
    -------
    NearLists
    """
    pool = pool_index(context, space, columns)
    if queries is None:
        distances, rows = pool.others(np.arange(len(pool.rows)), longest, radius)
    else:
        distances, rows = pool.kneighbors(queries, longest, radius)
    listed = rows >= 0
    starts = np.concatenate([[0], np.cumsum(listed.sum(axis=1))])
    return NearLists(starts, rows[listed], distances[listed], len(pool.rows))


@shared
def pooled_masses(
    context: Context, n_rows: int | None, columns: ColumnChoice, seed: int
) -> np.ndarray:
    """Return which share of the synthetic rows each real row is the nearest of, train first.

    Ties are divided evenly over all nearest rows of the pooled tables: then, and only then, train
    has the share n_T / (n_T + n_H) in the mean over relabellings, and the variance is closed form.
    """
    synthetic = rows_of(context, "synthetic", "gower", columns, n_rows, seed)
    if n_rows is None:
        pooled = pool_index(context, "gower", columns)
    else:
        real = [
            rows_of(context, role, "gower", columns, n_rows, seed) for role in ("train", "holdout")
        ]
        pooled = pool_of(context, real, "gower", columns)
    return pooled.nearest_mass(synthetic)
