"""Train and holdout as one pool of real rows, in which labels are exchanged."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from skeval.context import Context, shared
from skeval.steps.neighbors import Index, encoded, index_of, rows_of
from skeval.steps.samples import ColumnChoice

__all__ = ["LONGEST", "NearLists", "pool_index", "pooled_lists", "pooled_masses"]

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


@shared
def pool_index(context: Context, space: Any, columns: ColumnChoice = None) -> Index:
    """Return the search structure over the rows of train and holdout, in this order."""
    real = [encoded(context, role, space, columns) for role in ("train", "holdout")]
    return index_of(context, np.concatenate(real), space, columns)


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
    index = pool_index(context, space, columns)
    if queries is None:
        distances, rows = index.itself(longest, radius)
    else:
        distances, rows = index.kneighbors(queries, longest, radius)
    listed = rows >= 0
    starts = np.concatenate([[0], np.cumsum(listed.sum(axis=1))])
    return NearLists(starts, rows[listed], distances[listed], len(index.rows))


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
        pooled = index_of(context, np.concatenate(real), "gower", columns)
    masses: np.ndarray = pooled.search.nearest_mass(synthetic)
    return masses
