"""Exact nearest neighbors of rows of numbers in Euclidean distance."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import Self, cast

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree
from sklearn.utils.validation import check_array

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
MAX_TREE_COLUMNS = 6  # with more columns, a tree visits most rows
MAX_TREE_VALUE = 1e150  # the squares of larger values overflow, which a tree rejects
ROUNDED = 1e-13  # error of the squared distances of a tree, relative to the squared extent
ROUNDING = 2.0**-24  # of a float32, relative
TINY = 1e-35  # more than the squares that are lost because they are too small for a float32
MAX_GROUP = 32  # reference rows of which at first only the closest one is compared
MAX_PAIRS = 2**20  # pairs of a query and a reference row that are computed together
MIN_QUERIES = 8  # computed together, because products of fewer rows are slow
MAX_CHECKED = 2**17  # candidates whose exact distances are computed together


class EuclideanNeighbors:
    """Search for the nearest rows. Among equal distances, the row with the lowest index wins."""

    # A tree, or a product of matrices in float32, finds a few candidates for each query. Only the
    # distances of the candidates are computed exactly.

    def fit(self, rows: Floats) -> Self:
        """Keep the reference rows, of shape (n_rows, n_columns)."""
        self._rows: Floats = check_array(rows, dtype=np.float64)
        few_columns = self._rows.shape[1] <= MAX_TREE_COLUMNS
        # a balanced tree is slow if values repeat
        self._tree = cKDTree(self._rows, balanced_tree=False) if few_columns else None
        return self

    def kneighbors(
        self, queries: Floats, k: int, *, exclude: Ints | None = None
    ) -> tuple[Floats, Ints]:
        """Return distances and indices of the k nearest rows of each query, except `exclude`."""
        queries = check_array(queries, dtype=np.float64, ensure_min_samples=0)
        own = np.full(len(queries), -1) if exclude is None else exclude
        k = min(k, len(self._rows) - (exclude is not None))
        distances, places = np.empty((len(queries), k)), np.empty((len(queries), k), dtype=np.int64)
        extent = max(np.abs(queries).max(initial=0.0), np.abs(self._rows).max())
        has_tree = self._tree is not None and extent <= MAX_TREE_VALUE
        search = self._around if has_tree else self._products
        for block, query, row in search(queries, own, k):
            squares = self._squares(queries[block], query, row)
            order = np.lexsort((row, squares, query))
            first = np.searchsorted(query[order], np.arange(block.stop - block.start))
            at = order[first[:, None] + np.arange(k)]
            distances[block], places[block] = np.sqrt(squares[at]), row[at]
        return distances, places

    def _squares(self, queries: Floats, query: Ints, row: Ints) -> Floats:
        """Return the exact squared distances of pairs."""
        squares = np.empty(len(query))
        for start in range(0, len(query), MAX_CHECKED):
            part = slice(start, start + MAX_CHECKED)
            with np.errstate(over="ignore"):  # then the distance is infinite
                squares[part] = ((queries[query[part]] - self._rows[row[part]]) ** 2).sum(axis=1)
        return squares

    def _n_together(self) -> int:
        """Return the number of queries of a block."""
        return max(MIN_QUERIES, MAX_PAIRS // len(self._rows))

    def _blocks(self, n_queries: int) -> Iterator[slice]:
        size = self._n_together()
        return (slice(at, min(at + size, n_queries)) for at in range(0, n_queries, size))

    def _around(self, queries: Floats, own: Ints, k: int) -> Iterator[tuple[slice, Ints, Ints]]:
        """Yield blocks of queries, and pairs with all rows as close as the k-th nearest row."""
        tree = cast(cKDTree, self._tree)
        spread = ROUNDED * np.sum(np.ptp(np.vstack([queries, self._rows]), axis=0) ** 2)
        n_found = min(k + bool((own >= 0).any()), len(self._rows))
        for block in self._blocks(len(queries)):
            of_block = queries[block]
            farthest = tree.query(of_block, [n_found])[0][:, 0]
            found = tree.query_ball_point(of_block, np.sqrt(farthest**2 + spread))
            query = np.repeat(np.arange(len(of_block)), [len(near) for near in found])
            row = np.fromiter(chain.from_iterable(found), dtype=np.int64)
            other = row != own[block][query]
            yield block, query[other], row[other]

    def _products(self, queries: Floats, own: Ints, k: int) -> Iterator[tuple[slice, Ints, Ints]]:
        """Yield blocks of queries, and pairs with all rows that can be among the k nearest."""
        # For a query q and a row x, the computed `s` differs from |x|^2 - 2 q x by at most
        # `error` * (|q|^2 + |x|^2), and `error` * |x|^2 is subtracted beforehand. Therefore,
        # |q|^2 (1 - `error`) + s is at most the squared distance D^2. Because |x|^2 is at most
        # 2 |q|^2 + 2 D^2, D^2 is at most (|q|^2 (1 + 5 `error`) + s) / (1 - 4 `error`). The k-th
        # smallest of these upper bounds is a limit for the lower bounds of the k nearest rows.
        n_rows, n_columns = self._rows.shape
        error = 2.0 * (n_columns + 8) * ROUNDING
        center = np.median(self._rows, axis=0)
        # large numbers are divided by a power of two, which does not change any digit
        scale = 2.0 ** -np.ceil(np.log2(max(np.abs(self._rows - center).max(), 1.0)))
        size = max(1, min(MAX_GROUP, n_rows // max(1, 4 * k)))
        n_groups = -(-n_rows // size)
        factors = np.zeros((n_columns + 1, size * n_groups), dtype=np.float32)
        centered = (self._rows - center) * scale
        factors[:-1, :n_rows] = -2.0 * centered.T
        factors[-1, :n_rows] = (centered**2).sum(axis=1) * (1.0 - error)
        factors[-1, n_rows:] = np.inf
        room = np.empty((self._n_together(), factors.shape[1]), dtype=np.float32)
        for block in self._blocks(len(queries)):
            with np.errstate(over="ignore", invalid="ignore"):  # then all rows are candidates
                centered = (queries[block] - center) * scale
                norms = (centered**2).sum(axis=1)
                ones = np.ones((len(centered), 1))
                left = np.hstack([centered, ones]).astype(np.float32)
                s = np.matmul(left, factors, out=room[: len(left)])
                excluded = np.flatnonzero(own[block] >= 0)
                s[excluded, own[block][excluded]] = np.inf
                groups = s.reshape(len(s), size, n_groups)
                closest = groups.min(axis=1)
                kth = np.partition(closest, k - 1, axis=1)[:, k - 1].astype(np.float64)
                most = (norms * (1.0 + 5.0 * error) + kth) / (1.0 - 4.0 * error) + TINY
                limits = most - norms * (1.0 - error)
            # a comparison with nan is false
            query, group = np.nonzero(~(closest > limits[:, None]))
            pair, member = np.nonzero(~(groups[query, :, group] > limits[query, None]))
            query, row = query[pair], member * n_groups + group[pair]
            possible = (row < n_rows) & (row != own[block][query])
            yield block, query[possible], row[possible]
