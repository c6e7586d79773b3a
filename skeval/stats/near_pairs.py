"""Distances of single pairs of rows, and a record of which pairs were found near."""

from __future__ import annotations

import numpy as np
import pandas as pd

from skeval.stats._columns import LARGEST, SMALLEST_RANGE, round_to_grid
from skeval.stats.contrasts import MatchLists

__all__ = ["NearPairs", "euclidean_pairs", "gower_pairs"]


def gower_pairs(
    rows: np.ndarray, others: np.ndarray, ranges: np.ndarray, categorical: np.ndarray
) -> np.ndarray:
    """Return Gower's distance of each row to the other row beside it.

    Parameters
    ----------
    rows, others : ndarray of shape (n, n_columns)
        Numbers, and codes of categories; missing is nan.
    ranges : ndarray of shape (n_columns,)
        Range of each number column; where it is 0, values differ or not.
    categorical : ndarray of bool of shape (n_columns,)
        Which columns hold codes.

    Returns
    -------
    ndarray of shape (n,)
        As :class:`~skeval.stats.neighbors.MixedNearestNeighbors` has them, ties included.

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.stats.near_pairs import gower_pairs
    >>> rows, others = np.array([[1.0, 0.0]]), np.array([[3.0, 1.0]])
    >>> gower_pairs(rows, others, np.array([4.0, 1.0]), np.array([False, True]))
    array([0.75])
    """
    total = np.zeros(len(rows))
    metric = ~categorical & np.isfinite(ranges) & (ranges >= SMALLEST_RANGE)
    for j in [*np.flatnonzero(~metric), *np.flatnonzero(metric)]:
        a, b = (np.clip(table[:, j], -LARGEST, LARGEST) for table in (rows, others))
        missing = np.isnan(a), np.isnan(b)
        apart = np.minimum(1.0, np.abs(a - b) / ranges[j]) if metric[j] else (a != b) * 1.0
        total += np.where(missing[0] | missing[1], missing[0] ^ missing[1], apart)
    distances: np.ndarray = round_to_grid(total) / rows.shape[1]
    return distances


def euclidean_pairs(rows: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Return the Euclidean distance of each row to the other row beside it.

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.stats.near_pairs import euclidean_pairs
    >>> euclidean_pairs(np.array([[0.0, 0.0]]), np.array([[3.0, 4.0]]))
    array([5.])
    """
    distances: np.ndarray = np.sqrt(((rows - others) ** 2).sum(axis=1))
    return distances


class NearPairs:
    """Which real rows were found near which queries; what is not needed is not kept.

    Parameters
    ----------
    n_queries : int
        Number of queries.
    in_train, in_holdout : ndarray of bool of shape (n_values,)
        In which tables each distinct real row stands.
    longest : int
        How many near rows a query keeps; those found first.

    Attributes
    ----------
    near_train, near_holdout : ndarray of bool of shape (n_queries,)
        Whether a row of train, of the holdout, was found near.
    done : ndarray of bool of shape (n_queries,)
        Whether nothing more needs to be known of a query.

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.stats.near_pairs import NearPairs
    >>> pairs = NearPairs(2, np.array([True, False]), np.array([False, True]), longest=1)
    >>> pairs.add(np.array([0, 0]), np.array([0, 1]))
    >>> pairs.near_train, pairs.done
    (array([ True, False]), array([ True, False]))
    """

    def __init__(
        self, n_queries: int, in_train: np.ndarray, in_holdout: np.ndarray, longest: int
    ) -> None:
        self._in_train, self._in_holdout, self._longest = in_train, in_holdout, longest
        self.near_train = np.zeros(n_queries, dtype=np.bool_)
        self.near_holdout, self.done = self.near_train.copy(), self.near_train.copy()
        self._lengths = np.zeros(n_queries, dtype=np.int64)
        self._found: list[tuple[np.ndarray, np.ndarray]] = []

    def add(self, queries: np.ndarray, values: np.ndarray) -> None:
        """Note pairs of a query and a distinct real row; those known may come again."""
        self.near_train[queries[self._in_train[values]]] = True
        self.near_holdout[queries[self._in_holdout[values]]] = True
        open_ = self._lengths[queries] < self._longest
        self._found.append((queries[open_], values[open_]))
        # pairs that come again may be counted twice: at worst some list ends a little early
        self._lengths += np.bincount(queries[open_], minlength=self._lengths.size)
        self.done |= self._lengths >= self._longest
        self.done &= self.near_train | (not self._in_train.any())
        self.done &= self.near_holdout | (not self._in_holdout.any())

    def lists(self, weights: np.ndarray, n_rows: int) -> MatchLists:
        """Return the lists of the queries that have any.

        `weights` says for how many rows each query stands, of `n_rows` in all.
        """
        if not self._found:
            empty = np.empty(0, dtype=np.int64)
            return MatchLists.of_pairs(empty, empty, weights, n_rows)
        both = [np.concatenate(part) for part in zip(*self._found, strict=True)]
        pairs = pd.DataFrame(np.column_stack(both)).drop_duplicates()
        kept = pairs[pairs.groupby(0).cumcount() < self._longest]
        return MatchLists.of_pairs(kept[0].to_numpy(), kept[1].to_numpy(), weights, n_rows)
