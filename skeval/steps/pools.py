"""Train and holdout as one pool of real rows, in which labels are exchanged."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from skeval.context import Context, shared
from skeval.steps.neighbors import Index, encoded, index_of, rows_of
from skeval.steps.samples import ColumnChoice

__all__ = ["LONGEST", "NearLists", "Pool", "pool_index", "pooled_lists", "pooled_masses"]

LONGEST = 16  # real rows kept a list: of so many nearest, hardly ever all have one label


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
        As in :func:`~skeval.steps.nearest`.
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
