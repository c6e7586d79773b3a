"""Conversion of canonical frames to matrices of codes, bins or features for models."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from skeval.tables.frames import Levels, canonical, column_values, learned_frame
from skeval.tables.one_table import as_frame
from skeval.tables.schema import Kind, TableSchema
from skeval.tables.taken_rows import column_numbers
from skeval.utils.parameters import BinCount, Count, Strategy, check_parameters, legal_sets

NUMERIC: tuple[Literal["continuous"], Literal["datetime"]] = ("continuous", "datetime")
NOMINAL: tuple[Literal["categorical"], Literal["boolean"]] = ("categorical", "boolean")
_LARGEST = 1e150  # larger numbers are treated as infinite, because their squares overflow
_MAX_LEVELS = 50
_MAX_COLUMNS = 500
_MIN_LEVEL_ROWS = 10  # minimum number of rows of a category with a separate column


def numbers(frame: pd.DataFrame) -> np.ndarray:
    """Return numbers and dates (in seconds since 1970) as float64, with nan for missing."""
    return np.column_stack([column_values(values) for _, values in frame.items()])


def category_codes(frame: pd.DataFrame) -> np.ndarray:
    """Return the codes of pandas categoricals as float64, with nan for missing."""
    return np.column_stack([column_values(values) for _, values in frame.items()])


@dataclass(frozen=True)
class Cells:
    """Bins of one column, defined by the `edges` of numbers or the `rank` of category codes."""

    # The bins of values are numbered first, followed by one bin each for pooled rare categories,
    # for missing values, and for categories that do not occur in the training data.

    n_own: int
    edges: np.ndarray | None = None
    rank: np.ndarray | None = None

    @property
    def n_cells(self) -> int:
        """Number of bins, including the bins for pooled, missing and unseen values."""
        return self.n_own + 3

    def codes(self, values: np.ndarray) -> np.ndarray:
        """Return the bin of each value, with nan as missing."""
        missing = np.isnan(values)
        if self.edges is not None:
            cells = np.searchsorted(self.edges, values, side="right")
            cells = cells if self.n_own else np.full(len(values), self.n_own + 2)
        else:
            rank = np.asarray(self.rank)
            inside = np.where(missing | (values >= len(rank)), len(rank), values).astype(np.int64)
            cells = np.append(rank, self.n_own + 2)[inside]
        return np.where(missing, self.n_own + 1, cells).astype(np.int32)


class Discretizer(TransformerMixin, BaseEstimator):
    """Discretizer that learns the bins of each column from the training data.

    Parameters
    ----------
    n_bins : int, default=10
        Number of bins of a numerical or datetime column, in addition to separate bins for frequent
        values. A column with at most this number of distinct values has one bin per value. A
        constant column has three bins, which are below, at and above its value.
    strategy : {"uniform", "quantile", "uniform-plain", "quantile-plain"}, default="uniform"
        Whether bins have the same width ("uniform") or the same fraction of the training data
        ("quantile"). If at least a fraction of ``1 / n_bins`` of the finite training values is
        equal, this value has a separate bin, and the other bins divide the remaining values. With
        "-plain", which is often used in publications, there are no separate bins.
    max_categories : int or None, default=50
        Maximum number of categories with separate bins. The most frequent categories are used, and
        the others share one bin. If None, all categories have separate bins.
    nan : {"own", "drop"}, default="own"
        Whether missing values have a separate bin or the code -1.

    Attributes
    ----------
    cells_ : dict of str to Cells
        The bins of each column.
    n_cells_ : ndarray of shape (n_columns,)
        The number of bins of each column, including the bins for pooled, missing and unseen values.

    See Also
    --------
    skeval.TablePreprocessor : Converts a table to a matrix of features.

    Notes
    -----
    Bins are closed on the left, except for the bins of "quantile", which are closed on the right.
    The outer bins reach to infinity. A category that does not occur in the training data is in the
    unseen bin, which is not the pooled bin.

    Separate bins for frequent values are useful because frequent values can hide differences. For
    example, assume that nine of ten values are 0 and the others range up to 10,000. The first bin
    of equal width contains both 0 and 999. All deciles are 0, so a single quantile bin contains
    everything. If a table has small numbers instead of zeros, the fractions would not change. A
    value is frequent only if it occurs in at least two rows. Values must be exactly equal to belong
    to its bin, as in a Kolmogorov-Smirnov test. Values of other tables next to a frequent value are
    in the neighboring bins, which also exist if there are no such training values.

    Examples
    --------
    >>> import pandas as pd
    >>> from skeval.tables.preprocessing import Discretizer
    >>> train = pd.DataFrame({"x": [0.0, 1.0, 2.0, 10.0]})
    >>> Discretizer(n_bins=2).fit(train).transform(pd.DataFrame({"x": [4.0, 99.0, None]})).ravel()
    array([0, 1, 3], dtype=int32)
    >>> train = pd.DataFrame({"x": [0.0] * 6 + [1.0, 2.0, 3.0, 4.0]})
    >>> Discretizer(n_bins=2).fit(train).transform(pd.DataFrame({"x": [0.0, 0.1, 4.0]})).ravel()
    array([1, 2, 3], dtype=int32)
    """

    def __init__(
        self,
        n_bins: BinCount = 10,
        *,
        strategy: Strategy = "uniform",
        max_categories: Count | None = 50,
        nan: Literal["own", "drop"] = "own",
    ) -> None:
        self.n_bins = n_bins
        self.strategy = strategy
        self.max_categories = max_categories
        self.nan = nan

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn the bins from the training table. Text and ID columns are ignored."""
        return self.learn_cells(*learned_frame(X, None))

    def learn_cells(self, frame: Any, schema: TableSchema, levels: Levels) -> Self:
        """Learn the bins from a canonical table. See :meth:`fit`."""
        check_parameters(type(self).__name__, self.get_params(), legal_sets(type(self)))
        self.schema_, self.levels_ = schema, {name: list(of) for name, of in levels.items()}
        self.cells_ = {
            name: cells_of_column(
                column_numbers(frame, name),
                schema.kinds[name],
                self.n_bins,
                self.strategy,
                self.max_categories,
            )
            for name in schema.measured
        }
        self.n_cells_ = np.array([cells.n_cells for cells in self.cells_.values()])
        return self

    def codes(self, frame: pd.DataFrame, names: Sequence[str]) -> np.ndarray:
        """Return the bins of some columns of a canonical frame. See :meth:`transform`."""
        return np.column_stack(
            [self.cells_[name].codes(column_numbers(frame, name)) for name in names]
        )

    def transform(self, X: Any) -> np.ndarray:
        """Return the bin of each value.

        Parameters
        ----------
        X : table of shape (n_rows, n_columns)
            Table with the columns seen at fit.

        Returns
        -------
        ndarray of shape (n_rows, n_columns), int32, in column-major order
        """
        check_is_fitted(self, "cells_")
        return self.cut(
            canonical(as_frame(X, "the table"), self.schema_, "the table", self.levels_)
        )

    def cut(self, frame: Any, codes: np.ndarray | None = None) -> np.ndarray:
        """Return the bin of each value of a canonical table. See :meth:`transform`.

        If `codes` of shape (n_rows, n_columns) is given, the bins are written to it.
        """
        if codes is None:
            codes = np.empty((len(frame), len(self.cells_)), dtype=np.int32, order="F")
        for j, (name, cells) in enumerate(self.cells_.items()):
            values = column_numbers(frame, name)
            codes[:, j] = cells.codes(values)
            if self.nan == "drop":
                codes[np.isnan(values), j] = -1
        return codes


def cells_of_column(
    values: np.ndarray, kind: Kind, n_bins: int, strategy: Strategy, max_categories: int | None
) -> Cells:
    """Learn the bins of one column from its training values. See :class:`Discretizer`."""
    if kind in NOMINAL:
        return _cut_categories(values, max_categories)
    edges = inner_edges(values[np.isfinite(values)], n_bins, strategy)
    return Cells(
        n_own=0 if edges is None else len(edges) + 1, edges=np.array([]) if edges is None else edges
    )


def _cut_categories(codes: np.ndarray, max_categories: int | None) -> Cells:
    counts = np.bincount(codes[~np.isnan(codes)].astype(np.int64))
    by_frequency = np.argsort(-counts, kind="stable")
    n_present = int((counts > 0).sum())
    n_own = n_present if max_categories is None else min(n_present, max_categories)
    rank = np.empty(len(counts), dtype=np.int64)
    rank[by_frequency] = np.arange(len(counts))
    rank = np.where(counts == 0, n_own + 2, np.minimum(rank, n_own))
    return Cells(n_own=n_own, rank=rank)


def inner_edges(values: np.ndarray, n_bins: int, strategy: Strategy) -> np.ndarray | None:
    """Return the ascending edges between the bins of finite `values`, or None without values."""
    # Bins are closed on the left. Therefore, the bin of a frequent value a ends at the next larger
    # number, and a bin that is closed on the right at q ends at the next number above q.
    distinct, counts = np.unique(values, return_counts=True)
    if distinct.size == 0:
        return None
    if distinct.size == 1:
        return _around(distinct)
    shape, _, plain = strategy.partition("-")
    if plain:
        return _bin_edges(distinct, counts, n_bins, shape)
    is_frequent = (counts >= 2) & (counts * n_bins >= values.size)
    edges = _bin_edges(distinct[~is_frequent], counts[~is_frequent], n_bins, shape)
    if shape == "quantile":
        edges = np.nextafter(edges, np.inf)
    return np.unique(np.concatenate([_around(distinct[is_frequent]), edges]))


def _around(values: np.ndarray) -> np.ndarray:
    """Return the edges of bins that contain one value each."""
    return np.unique(np.concatenate([values, np.nextafter(values, np.inf)]))


def _bin_edges(distinct: np.ndarray, counts: np.ndarray, n_bins: int, shape: str) -> np.ndarray:
    if distinct.size <= n_bins:
        return (distinct[1:] + distinct[:-1]) / 2.0
    if shape == "uniform":
        return np.linspace(distinct[0], distinct[-1], n_bins + 1)[1:-1]
    inner = np.linspace(0.0, 1.0, n_bins + 1)[1:-1]
    return np.unique(np.quantile(np.repeat(distinct, counts), inner))


@dataclass(frozen=True)
class Ranks:
    """Ranks of values among the values seen at fit, which are sufficient for trees."""

    # Ranks are exact in single precision, in contrast to dates in seconds, and finite for infinite
    # values. Categories are ranked from frequent to rare, so one split separates the rare ones.

    seen: list[np.ndarray]
    places: list[np.ndarray]
    nominal: tuple[bool, ...]

    @classmethod
    def from_rows(cls, rows: np.ndarray, nominal: Sequence[bool]) -> Ranks:
        """Learn the ranks."""
        seen, places = [], []
        for column, is_code in zip(rows.T, nominal, strict=True):
            present = column[~np.isnan(column)]
            seen.append(np.empty(0) if is_code else np.unique(present))
            places.append(_places(present.astype(np.int64)) if is_code else np.empty(0))
        return cls(seen, places, tuple(nominal))

    @property
    def owners(self) -> np.ndarray:
        """The column from which each feature was computed."""
        return np.arange(len(self.nominal))

    def transform(self, rows: np.ndarray) -> np.ndarray:
        """Return the ranks of the values, halfway between two seen values, or nan if missing."""
        ranked = np.full(rows.shape, np.nan)
        for j, is_code in enumerate(self.nominal):
            present = ~np.isnan(rows[:, j])
            values = rows[present, j]
            if is_code:
                codes = np.minimum(values.astype(np.int64), self.places[j].size - 1)
                ranked[present, j] = self.places[j][codes]
            else:
                left, right = (
                    np.searchsorted(self.seen[j], values, side=side) for side in ("left", "right")
                )
                # For a value seen at fit, the right position is one more than the left position.
                ranked[present, j] = (left + right - 1.0) / 2.0
        return ranked


def _places(codes: np.ndarray) -> np.ndarray:
    """Return the rank of each code, with the last rank for all unseen codes."""
    counts = np.append(np.bincount(codes), 0)
    order = np.argsort(-counts, kind="stable")
    places = np.empty(counts.size)
    places[order] = np.arange(counts.size)
    return np.where(counts == 0, float((counts > 0).sum()), places)


@dataclass(frozen=True)
class OneHot:
    """Standardized numbers with indicators of missing values, and one-hot encoded categories."""

    # The most frequent categories have one column each, the others share one column, and missing
    # has a column. Constant columns are dropped.

    centres: np.ndarray
    scales: np.ndarray
    levels: list[np.ndarray]
    nominal: tuple[bool, ...]
    kept: np.ndarray
    owners: np.ndarray

    @classmethod
    def from_rows(cls, rows: np.ndarray, nominal: Sequence[bool]) -> OneHot:
        """Learn means, scales and categories."""
        most = max(2, min(_MAX_LEVELS, _MAX_COLUMNS // max(1, sum(nominal))))
        numbers = _without_infinities(rows)
        counts = np.maximum((~np.isnan(numbers)).sum(axis=0), 1)
        centres = np.nansum(numbers, axis=0) / counts
        scales = np.sqrt(np.nansum((numbers - centres) ** 2, axis=0) / counts)
        scales = np.where(scales > 1e-12 * np.abs(centres), scales, 1.0)
        levels = [
            _frequent(column, most) if is_code else np.empty(0, dtype=np.int64)
            for column, is_code in zip(rows.T, nominal, strict=True)
        ]
        none = np.empty(0, dtype=np.int64)
        design, owners = cls(centres, scales, levels, tuple(nominal), none, none)._full(rows)
        varies = np.flatnonzero((design != design[:1]).any(axis=0))
        return cls(centres, scales, levels, tuple(nominal), varies, owners[varies])

    def transform(self, rows: np.ndarray) -> np.ndarray:
        """Return the design matrix of shape (n_rows, n_kept)."""
        return self._full(rows)[0][:, self.kept]

    def _full(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        parts = [
            _indicators(rows[:, j], self.levels[j])
            if is_code
            else _standardize(rows[:, j], self.centres[j], self.scales[j])
            for j, is_code in enumerate(self.nominal)
        ]
        owners = np.repeat(np.arange(len(parts)), [part.shape[1] for part in parts])
        return np.hstack([np.empty((len(rows), 0)), *parts]), owners


def _without_infinities(values: np.ndarray) -> np.ndarray:
    return np.where(np.abs(values) <= _LARGEST, values, np.nan)


def _standardize(values: np.ndarray, centre: float, scale: float) -> np.ndarray:
    values = _without_infinities(values)
    missing = np.isnan(values)
    return np.column_stack([np.where(missing, 0.0, (values - centre) / scale), missing])


def _frequent(codes: np.ndarray, most: int) -> np.ndarray:
    counts = np.bincount(codes[~np.isnan(codes)].astype(np.int64))
    order = np.argsort(-counts, kind="stable")
    return order[: min(most, int((counts >= _MIN_LEVEL_ROWS).sum()))]


def _indicators(codes: np.ndarray, levels: np.ndarray) -> np.ndarray:
    """Return one column per category, followed by one for other categories and one for missing."""
    n, missing = levels.size, np.isnan(codes)
    known = np.where(missing, 0, codes).astype(np.int64)
    cell_of = np.full(max(known.max(initial=0), levels.max(initial=0)) + 1, n, dtype=np.int64)
    cell_of[levels] = np.arange(n)
    cells = np.where(missing, n + 1, cell_of[known])
    one_hot = np.zeros((codes.size, n + 2))
    one_hot[np.arange(codes.size), cells] = 1.0
    return one_hot
