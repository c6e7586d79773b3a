"""Exact nearest neighbors of mixed rows in Gower's distance, with missing values and ties."""

from __future__ import annotations

from typing import Any, Literal, Protocol, Self, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted, validate_data

from skeval.exceptions import InvalidParameterError
from skeval.neighbors.brute import BruteIndex
from skeval.neighbors.encoding import (
    SUMMED_CHUNKS,
    ColumnEncoder,
    Encoded,
    column_lines,
    round_to_grid,
)
from skeval.utils.parameters import Count, Interval, check_parameters, legal_sets

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bytes = NDArray[np.uint8]
NO_LIMIT = np.iinfo(np.int64).max
NO_BALL = -1.0
# pairs of cells in a search. NumPy is about as fast as compiled code up to the first number. Up to
# the second, it takes a fifth of a second, and it is used if the code was never compiled here
MAX_SMALL_CELLS, MAX_NUMPY_CELLS = 200_000, 80_000_000


class Index(Protocol):
    """Methods that all searches have in common. Sums and radii are on the grid of 2^-32."""

    def nearest(
        self, queries: Encoded, n_neighbors: int, own: Ints, limits: Floats, n_jobs: int | None
    ) -> tuple[Floats, Ints]:
        """Return sums and indices of the nearest rows within the limits, except `own`."""

    def count_balls(self, queries: Encoded, radii: Floats, limit: int, n_jobs: int | None) -> Ints:
        """Count for each query the balls around reference rows that contain it."""

    def around(self, queries: Encoded, limits: Floats, n_jobs: int | None) -> tuple[Ints, Ints]:
        """Count the rows within the limit of each query, and the queries with each row in it."""

    def find_ties(
        self, queries: Encoded, own: Ints, limits: Floats, n_jobs: int | None
    ) -> tuple[Floats, Ints, Ints]:
        """Return sum and index of the nearest row within the limits, and how many are as near."""

    def share(
        self, queries: Encoded, least: Floats, own: Ints, shares: Floats, labels: Bytes,
        picks: Ints, n_jobs: int | None, n_chunks: int,
    ) -> tuple[Ints, Floats]:  # fmt: skip
        """Give the shares of picked queries to their nearest rows, and return labels and masses."""


class MixedNearestNeighbors(BaseEstimator):
    r"""Exact nearest neighbors in tables with numerical and categorical columns.

    The distance is Gower's distance, which is the mean over the columns of a difference between 0
    and 1. The difference is `min(1, |a - b| / range)` in a number column, and 1 for different codes
    in a categorical column. The difference between two missing values is 0, and between a missing
    and any other value it is 1. Therefore, a distance of 0 is a copy, and 1 is a row that differs
    completely in all columns. Because both ends are capped, the distance is a metric.

    Parameters
    ----------
    ranges : array-like of shape (n_columns,), default=None
        Range of each number column, in its own unit. Entries for categorical columns are ignored.
        If a range is 0, below 1e-300 or not finite, values of the column can only be equal or
        different. Pass the ranges of all tables to compare. If None, `fit` computes the ranges from
        the finite values of `X`.
    categorical : array-like of bool of shape (n_columns,) or of int, default=None
        Mask or positions of the columns that contain codes, which are whole numbers from 0 on, or
        NaN for missing. If None, no column is categorical.
    leaf_size : int, default=None
        Maximum number of reference rows that are read together. It changes the time, never the
        result. If None, it is 256, or 1024 from 500,000 rows on.
    n_jobs : int, default=None
        Number of threads, as in joblib. None means 1 unless a `joblib.parallel_config` is active.
    backend : {"auto", "numba", "numpy"}, default="auto"
        Compiled trees, or brute force in NumPy, which returns the same bits and is about a hundred
        times slower. "auto" uses numba if it can be imported, except for small searches: up to
        200,000 pairs of cells (100 rows in 100 rows of 20 columns), and up to 80 million pairs
        (2,000 rows in 2,000 rows) until a larger search compiled the code.

    Attributes
    ----------
    n_features_in_ : int
        Number of columns.
    n_samples_fit_ : int
        Number of reference rows.
    backend_ : str
        The backend in use, "numba" or "numpy". It is "numba" even if small searches use NumPy.

    Notes
    -----
    If `delta_j` in [0, 1] is the difference in column `j` of `p`, the distance is

    .. math:: d(a, b) = \frac{1}{p} \, \mathrm{round} \sum_{j=1}^p \delta_j(a_j, b_j)

    where the sum is computed in float64, categorical columns first and number columns in the given
    order, and rounded to a multiple of 2^-32. Therefore, ties are exact, for example between 2/7
    and 1/7 + 1/7. However, sums that differ by less than 2.3e-10 count as equal. Among equal
    distances, the lowest index wins. The distance of a pair depends on the pair and the ranges
    alone, and not on the other rows, the leaf size, the number of threads or the backend. Compare
    distances with `<`, `<=` and `==`, without a tolerance.

    Infinite numbers, and finite numbers above 1e200, count as 1e200. They are far from all other
    numbers and equal to each other. A code that did not occur at fit differs from all codes that
    did.

    A fitted object keeps the reference rows and never changes them, so any number of threads may
    query it at the same time.

    References
    ----------
    J. C. Gower, A general coefficient of similarity and some of its properties, Biometrics 27
    (1971) 857-871, doi:10.2307/2528823.

    Examples
    --------
    The columns are age and a code of the region. The second row of `X` is the closest row to a
    40-year-old of region 1.

    >>> from skeval.neighbors.mixed import MixedNearestNeighbors
    >>> X = [[20.0, 1.0], [36.0, 1.0], [60.0, 0.0]]
    >>> near = MixedNearestNeighbors(categorical=[1]).fit(X)
    >>> distances, indices = near.kneighbors([[40.0, 1.0]])
    >>> distances, indices
    (array([[0.05]]), array([[1]]))
    >>> near.count_within([[40.0, 1.0]], 0.25)
    array([2])
    """

    def __init__(
        self,
        ranges: ArrayLike | None = None,
        categorical: ArrayLike | None = None,
        *,
        leaf_size: Count | None = None,
        n_jobs: int | None = None,
        backend: Literal["auto", "numba", "numpy"] = "auto",
    ) -> None:
        self.ranges = ranges
        self.categorical = categorical
        self.leaf_size = leaf_size
        self.n_jobs = n_jobs
        self.backend = backend

    def fit(self, X: ArrayLike, y: None = None) -> Self:
        """Order the reference rows into leaves.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_columns)
            Reference rows, with NaN for missing values.
        y : None
            Ignored. It exists for the pipelines of scikit-learn.

        Returns
        -------
        MixedNearestNeighbors
            The fitted object itself.

        Raises
        ------
        InvalidParameterError
            If a parameter, or a code of a categorical column, is outside its legal set.
        """
        given = self.get_params(deep=False)
        check_parameters(type(self).__name__, given, legal_sets(type(self)))
        rows = cast(Floats, validate_data(self, X, dtype=np.float64, ensure_all_finite=False))
        lines = column_lines(rows)
        measured = scales(self.ranges, self.categorical, rows.shape[1])
        self._columns = ColumnEncoder.learn(lines, *measured)
        self.n_samples_fit_ = len(rows)
        self.backend_ = usable_backend(self.backend)
        backend = "numpy" if self._suits_numpy(self.n_samples_fit_) else self.backend_
        encoded = self._columns.encode(lines)
        self._index = build_index(self._columns, encoded, self.leaf_size, backend)
        return self

    def _suits_numpy(self, n_queries: int) -> bool:
        """Return whether NumPy searches, because compiled code saves no time or does not exist."""
        n_cells = n_queries * self.n_samples_fit_ * self.n_features_in_
        if self.backend_ == "numpy" or self.backend != "auto" or n_cells > MAX_NUMPY_CELLS:
            return self.backend_ == "numpy"
        if n_cells <= MAX_SMALL_CELLS:
            return True
        from skeval.neighbors import kernels, machine_code

        return not machine_code.has_machine_code(kernels.sweep_leaves)

    def _search_for(self, queries: Encoded) -> Index:
        """Return the index, or a tree of the same few rows if there are many queries."""
        index = self._index
        if isinstance(index, BruteIndex) and not self._suits_numpy(queries.n_rows):
            # two threads may grow one, to the same bits
            index = build_index(self._columns, index.rows, self.leaf_size, self.backend_)
            self._index = index
        return index

    def kneighbors(
        self,
        Y: ArrayLike,
        n_neighbors: int = 1,
        *,
        exclude: ArrayLike | None = None,
        radius: ArrayLike | None = None,
    ) -> tuple[Floats, Ints]:
        """Find the nearest reference rows of each query row.

        Parameters
        ----------
        Y : array-like of shape (n_queries, n_columns)
            Query rows, with NaN for missing values. The array may be empty.
        n_neighbors : int, default=1
            Number of neighbors to return.
        exclude : array-like of int of shape (n_queries,), default=None
            Index of the reference row that each query is itself, or -1. Only that row is skipped. A
            duplicate of it is returned with distance 0.
        radius : float or array-like of shape (n_queries,), default=None
            Maximum distance of the neighbors, inclusive, for all queries or for each. If it is
            negative, no neighbor is returned. A small radius saves most of the search.

        Returns
        -------
        distances : ndarray of shape (n_queries, n_neighbors)
            Ascending distances in [0, 1], or infinity if there are no more neighbors in `radius`.
        indices : ndarray of shape (n_queries, n_neighbors), int64
            Indices of the reference rows, the lowest first among equal distances, or -1 for none.

        Raises
        ------
        InvalidParameterError
            If there are fewer than `n_neighbors` rows to find and no `radius` is given, or
            `exclude` or `radius` does not fit.
        """
        check_is_fitted(self)
        queries = self._encode(Y)
        limits = np.full(queries.n_rows, np.inf)
        if radius is not None:
            limits = self._radii_as_sums(radius, queries.n_rows, "queries")
        own = self._own_rows(exclude, queries.n_rows, n_neighbors, all_of_them=radius is None)
        if not queries.n_rows:
            return np.empty((0, n_neighbors)), np.empty((0, n_neighbors), dtype=np.int64)
        sums, indices = self._search_for(queries).nearest(
            queries, int(n_neighbors), own, limits, self.n_jobs
        )
        return sums / self.n_features_in_, indices

    def nearest_mass(self, Y: ArrayLike, *, exclude: ArrayLike | None = None) -> Floats:
        """Return the fraction of the queries for which each reference row is the nearest.

        The fractions are the masses of :meth:`nearest_labels`.
        """
        check_is_fitted(self)
        return self.nearest_labels(Y, np.zeros(self.n_samples_fit_, dtype=bool), exclude=exclude)[0]

    def nearest_labels(
        self,
        Y: ArrayLike,
        labels: ArrayLike,
        *,
        exclude: ArrayLike | None = None,
        radius: ArrayLike | None = None,
        total: Count | None = None,
    ) -> tuple[Floats, Floats]:
        """Divide each query evenly among all of its nearest reference rows.

        Parameters
        ----------
        Y : array-like of shape (n_queries, n_columns)
            Query rows, with NaN for missing values. An empty array is not accepted.
        labels : array-like of bool of shape (n_reference,)
            True for the reference rows that have a label.
        exclude : array-like of int of shape (n_queries,), default=None
            Index of the reference row that each query is itself, or -1.
        radius : float or array-like of shape (n_queries,), default=None
            A distance within which each query has a reference row, if it is known. It changes the
            time, never the result.
        total : int, default=None
            Number of rows of which the masses are fractions. If None, it is the number of queries.

        Returns
        -------
        masses : ndarray of shape (n_reference,)
            Fraction of the queries for which each reference row is the nearest. The sum is 1, or
            the number of queries divided by `total`.
        labelled : ndarray of shape (n_queries,)
            For each query, the fraction of its nearest rows that have a label.

        Raises
        ------
        InvalidParameterError
            If `Y` is empty, no row can be found, or `labels` or `exclude` does not fit.
        """
        check_is_fitted(self)
        queries = self._encode(Y)
        if not queries.n_rows:
            raise InvalidParameterError(
                "MixedNearestNeighbors: nearest_mass requires at least one query, got none."
            )
        marked = np.asarray(labels)
        if marked.shape != (self.n_samples_fit_,) or marked.dtype != np.bool_:
            raise InvalidParameterError(
                f"MixedNearestNeighbors: labels must be {self.n_samples_fit_} bools, one for each "
                f"reference row, got shape {marked.shape} of {marked.dtype}."
            )
        own = np.full(queries.n_rows, -1)
        if exclude is not None:
            own = self._own_rows(exclude, queries.n_rows)
        limits = np.full(queries.n_rows, np.inf)
        if radius is not None:
            limits = self._radii_as_sums(radius, queries.n_rows, "queries")
        search, flags = self._search_for(queries), marked.astype(np.uint8)
        masses, labelled = _divide(search, queries, own, limits, flags, self.n_jobs)
        return masses / (total or queries.n_rows), labelled

    def count_within(self, Y: ArrayLike, radius: ArrayLike, *, limit: Count | None = None) -> Ints:
        """Count the balls around reference rows that contain each query row.

        Parameters
        ----------
        Y : array-like of shape (n_queries, n_columns)
            Query rows, with NaN for missing values. The array may be empty.
        radius : float or array-like of shape (n_reference,)
            Radius of the ball around every reference row, or around each, in the unit of the
            distances. A ball with a radius that `kneighbors` returned includes its boundary
            exactly. A ball with a negative radius, or NaN, is empty.
        limit : int, default=None
            Maximum count for a query. For example, 1 tests whether any ball contains the query.

        Returns
        -------
        ndarray of shape (n_queries,), int64
            For each query, the number of balls that contain it, up to `limit`.

        Raises
        ------
        InvalidParameterError
            If `radius` is not one number or one for each reference row, or `limit` is below 1.
        """
        check_is_fitted(self)
        owner, legal = f"{type(self).__name__}.count_within", legal_sets(type(self).count_within)
        check_parameters(owner, {"limit": limit}, legal)
        queries = self._encode(Y)
        radii = self._radii_as_sums(radius, self.n_samples_fit_, "reference rows")
        if not queries.n_rows:
            return np.zeros(0, dtype=np.int64)
        return self._search_for(queries).count_balls(
            queries, radii, NO_LIMIT if limit is None else int(limit), self.n_jobs
        )

    def count_around(self, Y: ArrayLike, radius: ArrayLike) -> tuple[Ints, Ints]:
        """Count the reference rows in the ball of each query, and the balls that contain each row.

        Parameters
        ----------
        Y : array-like of shape (n_queries, n_columns)
            Query rows, with NaN for missing values. The array may be empty.
        radius : float or array-like of shape (n_queries,)
            Radius of the ball around every query row, or around each, as in :meth:`count_within`.

        Returns
        -------
        inside : ndarray of shape (n_queries,), int64
            For each query, the number of reference rows in its ball.
        held : ndarray of shape (n_reference,), int64
            For each reference row, the number of query balls that contain it. :meth:`count_within`
            returns the same counts if the two tables are exchanged.
        """
        check_is_fitted(self)
        queries = self._encode(Y)
        radii = self._radii_as_sums(radius, queries.n_rows, "queries")
        if not queries.n_rows:
            return np.zeros(0, dtype=np.int64), np.zeros(self.n_samples_fit_, dtype=np.int64)
        return self._search_for(queries).around(queries, radii, self.n_jobs)

    def _encode(self, Y: ArrayLike) -> Encoded:
        rows = validate_data(
            self, Y, reset=False, dtype=np.float64, ensure_all_finite=False, ensure_min_samples=0
        )
        return self._columns.encode(column_lines(rows))

    def _own_rows(
        self,
        exclude: ArrayLike | None,
        n_queries: int,
        n_neighbors: Any = 1,
        *,
        all_of_them: bool = True,
    ) -> Ints:
        """Return for each query the row that it is, -1 for none, if there are enough others."""
        owner, legal = f"{type(self).__name__}.kneighbors", {"n_neighbors": Interval(1, kind=int)}
        check_parameters(owner, {"n_neighbors": n_neighbors}, legal)
        own = np.full(n_queries, -1) if exclude is None else np.asarray(exclude)
        if own.shape != (n_queries,) or own.dtype.kind not in "iu":
            raise InvalidParameterError(
                f"MixedNearestNeighbors: exclude must be one int for each of the {n_queries} "
                f"queries, got shape {own.shape} of {own.dtype}."
            )
        own = own.astype(np.int64)
        if own.size and (own.min() < -1 or own.max() >= self.n_samples_fit_):
            raise InvalidParameterError(
                "MixedNearestNeighbors: exclude must be -1 or an index of the "
                f"{self.n_samples_fit_} reference rows, got {own.min()} to {own.max()}."
            )
        excluding = bool((own >= 0).any())
        available = self.n_samples_fit_ - excluding
        if all_of_them and n_neighbors > available:
            besides = " that remain without the excluded one" if excluding else ""
            raise InvalidParameterError(
                f"MixedNearestNeighbors: n_neighbors={n_neighbors} is more than the {available} "
                f"reference rows{besides}. Reduce n_neighbors, or fit more rows."
            )
        return own

    def _radii_as_sums(self, radius: ArrayLike, n_balls: int, around: str) -> Floats:
        """Return radii in the unit of the sums, on their grid, and -1 for an empty ball."""
        radii = np.asarray(radius, dtype=np.float64)
        if radii.shape not in {(), (n_balls,)}:
            raise InvalidParameterError(
                f"MixedNearestNeighbors: radius must be one number or one for each of the {n_balls}"
                f" {around}, got shape {radii.shape}."
            )
        sums = round_to_grid(np.minimum(radii, 1.0) * self.n_features_in_)
        return np.broadcast_to(np.where(radii >= 0, sums, NO_BALL), n_balls)


def _divide(
    index: Index, queries: Encoded, own: Ints, limits: Floats, labels: Bytes, n_jobs: int | None
) -> tuple[Floats, Floats]:
    """Divide each query evenly among its nearest rows.

    Returns the mass of each row, and by query the fraction of its nearest rows that have a label.
    """
    least, first, n_tied = index.find_ties(queries, own, limits, n_jobs)
    masses = np.bincount(first[n_tied == 1], minlength=labels.size).astype(np.float64)
    labelled = labels[first].astype(np.float64)
    picks = np.flatnonzero(n_tied > 1)
    if picks.size:
        shares = 1.0 / n_tied
        found = index.share(queries, least, own, shares, labels, picks, n_jobs, SUMMED_CHUNKS)
        labelled[picks] = found[0] / n_tied[picks]
        masses += found[1]
    return masses, labelled


def usable_backend(backend: str) -> str:
    """Return the backend that "auto" selects on this machine."""
    if backend == "numpy":
        return backend
    try:  # numba is imported here and nowhere earlier
        import skeval.neighbors.kernels  # noqa: F401
    except ModuleNotFoundError as error:
        if backend == "numba" or error.name != "numba":
            raise
        return "numpy"
    return "numba"


def build_index(
    columns: ColumnEncoder, rows: Encoded, leaf_size: int | None, backend: str
) -> Index:
    """Return the search structure over encoded rows."""
    if backend == "numba":
        from skeval.neighbors.tree import TreeIndex  # it imports numba

        n_codes = [columns.books[j].n_seen + 1 for j in columns.narrow]
        return TreeIndex.build(rows, columns.weights, n_codes, leaf_size)
    return BruteIndex(rows, columns.weights)


def scales(
    ranges: ArrayLike | None, categorical: ArrayLike | None, n_columns: int
) -> tuple[Floats | None, NDArray[np.bool_]]:
    """Return the ranges as an array, and the mask of the categorical columns."""
    widths = None if ranges is None else np.asarray(ranges, dtype=np.float64)
    if widths is not None and (widths.shape != (n_columns,) or (widths < 0).any()):
        raise InvalidParameterError(
            f"MixedNearestNeighbors: ranges must be {n_columns} numbers >= 0, one for each column, "
            f"got {ranges!r}."
        )
    given = np.asarray([] if categorical is None else categorical)
    if given.dtype == np.bool_ and given.shape == (n_columns,):
        return widths, given
    positions = given.size == 0 or given.dtype.kind in "iu"
    if not positions or given.ndim != 1 or ((given < 0) | (given >= n_columns)).any():
        raise InvalidParameterError(
            f"MixedNearestNeighbors: categorical must be {n_columns} bools or positions from 0 to "
            f"{n_columns - 1}, got {categorical!r}."
        )
    return widths, np.isin(np.arange(n_columns), given)
