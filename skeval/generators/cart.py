"""Columns drawn one after the other from the leaves of regression trees."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from sklearn.tree import DecisionTreeRegressor

from skeval.exceptions import InvalidParameterError
from skeval.generators.columns import (
    Codes,
    Grid,
    Sampler,
    as_dtype,
    kind_of,
    numbers_of,
    ordered_codes,
    table_of,
)
from skeval.parameters import Count, Seed


class SequentialCART(Sampler):
    """Sample column by column, each from the leaves of a tree that was grown on those before it.

    The generator that statistical offices use, and hard to beat on tables of mixed types: the first
    column is drawn from its training values; each further one from the training values of the leaf
    that the row falls into, by the columns that it has so far. Interactions and rules that few
    columns make are kept; what leaves of a handful of rows cannot hold is lost.

    It is not private, and smoothing does not make it so. Cells are training values as they stand,
    the rarest included, and rows with few like them are drawn nearly whole: the larger the leaves,
    the fewer.

    Parameters
    ----------
    min_samples_leaf : int, default=5
        Training rows that a leaf needs. With 1, whole training rows come out.
    max_depth : int or None, default=None
        The deepest a tree may grow; None does not limit it.
    max_levels : int, default=50
        The most levels of a category that its tree tells apart: the most frequent ones. The others
        count as one when the tree grows, and are drawn by their shares of the leaf all the same.
    smoothing : bool, default=False
        Whether numbers, dates and durations are drawn between training values of the leaf that are
        neighbours in rank, on the grid of the column (whole numbers, decimals, whole days).
    order : sequence of column names or None, default=None
        Columns to draw first, in this order; the others follow in the order of the table. Those
        with many rare levels had better come late.
    random_state : int or None, default=None
        Seed of the trees, and of :meth:`sample` where that gets none. A tree draws only among
        splits that are equally good.

    Attributes
    ----------
    train_ : DataFrame of shape (n_rows, n_columns)
        The training rows, under a plain index: the leaves hold their positions.
    order_ : ndarray of shape (n_columns,)
        Positions of the columns in the order they are drawn in.
    models_ : list of length n_columns
        The trees of each column, in that order.

    See Also
    --------
    GaussianCopula : Keeps no rows.

    Notes
    -----
    Trees see ranks. Of a number, date or duration the tree reduces the variance of its rank among
    the training values, so that neither long tails nor infinities matter; missing values get a tree
    of their own, which tells whether there is a value at all. Of a category it reduces the Gini
    impurity, being missing is a level. Levels of a category that is split on are put in order by
    the mean of the target in their rows (for a category with several levels, by the first principal
    component of its shares), which finds the best split in two of all where the target is a number.

    References
    ----------
    J. P. Reiter, "Using CART to generate partially synthetic, public use microdata", Journal of
    Official Statistics 21 (2005) 441-462.

    B. Nowok, G. M. Raab, C. Dibben, "synthpop: Bespoke creation of synthetic data in R", Journal of
    Statistical Software 74 (2016), doi:10.18637/jss.v074.i11.

    Examples
    --------
    >>> from skeval.datasets import make_mixed
    >>> from skeval.generators import SequentialCART
    >>> train = make_mixed(2_000)
    >>> synthetic = SequentialCART(random_state=0).fit(train).sample(2_000)
    >>> there, here = (float(t["age"].corr(t["income"])) for t in (train, synthetic))
    >>> abs(there - here) < 0.05
    True
    """

    def __init__(
        self,
        min_samples_leaf: Count = 5,
        *,
        max_depth: Count | None = None,
        max_levels: Count = 50,
        smoothing: bool = False,
        order: Sequence[Any] | None = None,
        random_state: Seed | None = None,
    ) -> None:
        self.min_samples_leaf = min_samples_leaf
        self.max_depth = max_depth
        self.max_levels = max_levels
        self.smoothing = smoothing
        self.order = order
        self.random_state = random_state

    def _learn(self, train: pd.DataFrame) -> None:
        order = self._positions(train.columns)
        columns = [ordered_codes(train.iloc[:, j]) for j in order]
        settings = {"min_samples_leaf": self.min_samples_leaf, "max_depth": self.max_depth}
        seeds = np.random.SeedSequence(self.random_state).generate_state(len(order))
        models = []
        for place, j in enumerate(order):
            grower = _Grower(settings | {"random_state": int(seeds[place])}, columns[:place])
            smooth = self.smoothing and kind_of(train.dtypes.iloc[j]) in "iufMm"
            grid = Grid.of(numbers_of(train.iloc[columns[place].positions, j])) if smooth else None
            models.append(_model(columns[place], grower, self.max_levels, grid))
        self.train_, self.order_, self.models_ = train, order, models

    def _draw(self, n: int, rng: np.random.Generator) -> pd.DataFrame:
        features: list[np.ndarray] = []
        drawn: dict[int, pd.Series] = {}
        for j, model in zip(self.order_, self.models_, strict=True):
            column = self.train_.iloc[:, j]
            drawn[j], codes = model.draw(column, features, n, rng)
            features.append(codes)
        return table_of((drawn[j] for j in range(len(drawn))), self.train_.columns)

    def _positions(self, names: pd.Index) -> np.ndarray:
        first = [] if self.order is None else list(self.order)
        places = {name: np.flatnonzero([name == known for known in names]) for name in first}
        if missing := [str(name) for name in first if not places[name].size]:
            raise InvalidParameterError(
                f"SequentialCART: order names columns that are not there: {', '.join(missing)}. "
                f"The table has {', '.join(map(str, names))}."
            )
        asked = [int(j) for name in dict.fromkeys(first) for j in places[name]]
        rest = [j for j in range(len(names)) if j not in set(asked)]
        return np.array(asked + rest, dtype=np.int64)


@dataclass
class _Leaves:
    """A tree, how it reads the columns before, and the training rows of each leaf."""

    tree: DecisionTreeRegressor | None
    scores: list[np.ndarray | None]
    rows: np.ndarray
    starts: np.ndarray

    def read(self, features: list[np.ndarray]) -> np.ndarray:
        """Return codes as the tree sees them: categories by their score."""
        seen = [
            codes if score is None else score[codes.astype(np.int64)]
            for codes, score in zip(features, self.scores, strict=True)
        ]
        return np.column_stack(seen).astype(np.float32)

    def leaf_of(self, features: list[np.ndarray], n: int) -> np.ndarray:
        """Return the number of each row's leaf."""
        one = np.zeros(n, dtype=np.int64)
        return one if self.tree is None else np.asarray(self.tree.apply(self.read(features)))

    def places(
        self, features: list[np.ndarray], n: int, rng: np.random.Generator
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return a place in [0, 1) of each row, and where the rows of its leaf begin and end."""
        leaf = self.leaf_of(features, n)
        return rng.random(n), self.starts[leaf], self.starts[leaf + 1]

    def donors(self, features: list[np.ndarray], n: int, rng: np.random.Generator) -> np.ndarray:
        """Return a training row for each row: one of its leaf."""
        u, start, stop = self.places(features, n, rng)
        donors: np.ndarray = self.rows[start + (u * (stop - start)).astype(np.int64)]
        return donors


@dataclass(frozen=True)
class _Grower:
    """What trees are grown with: settings, and the columns that they may split on."""

    settings: dict[str, Any]
    before: list[Codes]

    def grow(self, target: np.ndarray, rows: np.ndarray, key: np.ndarray) -> _Leaves:
        """Grow a tree on some training rows; those of a leaf are in the order of `key`."""
        by_key = np.argsort(key, kind="stable")
        whole = _Leaves(None, [], rows[by_key], np.array([0, rows.size]))
        if not self.before or not (target != target[0]).any():
            return whole
        features = [column.codes[rows] for column in self.before]
        scores = [
            None if column.ordered else _level_scores(column, codes, target)
            for column, codes in zip(self.before, features, strict=True)
        ]
        leaves = _Leaves(DecisionTreeRegressor(**self.settings), scores, rows, whole.starts)
        leaves.tree.fit(leaves.read(features), target)  # type: ignore[union-attr]
        leaf = leaves.leaf_of(features, rows.size)
        order = np.lexsort((key, leaf))
        leaves.rows = rows[order]
        leaves.starts = np.searchsorted(leaf[order], np.arange(leaf.max() + 2))
        return leaves


def _level_scores(column: Codes, codes: np.ndarray, target: np.ndarray) -> np.ndarray:
    """Return a rank for each level, missing last: by the target's mean, or its main direction."""
    n_levels = len(column.positions) + 1
    place = np.where(codes < 0, n_levels - 1, codes)
    counts = np.bincount(place, minlength=n_levels)
    centred = target.reshape(len(place), -1) - target.mean(axis=0)
    sums = np.column_stack([np.bincount(place, part, n_levels) for part in centred.T])
    means = sums / np.maximum(counts, 1)[:, None]
    if means.shape[1] > 1:
        weighted = means * np.sqrt(counts)[:, None]
        direction = np.linalg.eigh(weighted.T @ weighted)[1][:, -1]
        means = means @ direction[:, None]
    # as ranks: floats of 32 bits could not tell all means apart; code -1 reads the last
    return np.unique(means[:, 0], return_inverse=True)[1].ravel().astype(np.float64)


def _model(
    column: Codes, grower: _Grower, max_levels: int, grid: Grid | None
) -> _Categories | _Numbers:
    if not column.ordered or not (column.codes >= 0).any():
        rows = np.arange(column.codes.size)
        return _Categories(grower.grow(_indicators(column.codes, max_levels), rows, rows), column)
    return _Numbers.fit(column, grower, grid)


def _indicators(codes: np.ndarray, max_levels: int) -> np.ndarray:
    """Return a column for each of the most frequent levels, the mean square error being Gini's."""
    levels, place, counts = np.unique(codes, return_inverse=True, return_counts=True)
    frequent = np.argsort(-counts, kind="stable")[:max_levels]
    rank = np.full(levels.size, frequent.size)
    rank[frequent] = np.arange(frequent.size)
    indicators: np.ndarray = (rank[place.ravel()][:, None] == np.arange(frequent.size)).astype(
        float
    )
    # of two levels each tells the other
    return indicators[:, 0] if levels.size <= 2 else indicators


@dataclass
class _Categories:
    """Values that are drawn as they stand, missing ones among them."""

    leaves: _Leaves
    codes: Codes

    def draw(
        self, column: pd.Series, features: list[np.ndarray], n: int, rng: np.random.Generator
    ) -> tuple[pd.Series, np.ndarray]:
        """Return the values, and their codes."""
        donors = self.leaves.donors(features, n, rng)
        return column.take(donors), self.codes.codes[donors]


@dataclass
class _Numbers:
    """Numbers, dates, durations or ordered levels: first whether there is one, then which."""

    gaps: _Leaves | None
    values: _Leaves
    codes: Codes
    grid: Grid | None

    @classmethod
    def fit(cls, column: Codes, grower: _Grower, grid: Grid | None) -> _Numbers:
        """Grow both trees."""
        rows = np.arange(column.codes.size)
        missing = column.codes < 0
        present = column.codes[~missing]
        # the mean rank of equal values
        counts = np.bincount(present)
        ranks = (np.cumsum(counts) - counts / 2.0)[present] / present.size
        gaps = grower.grow(missing.astype(np.float64), rows, rows) if missing.any() else None
        return cls(gaps, grower.grow(ranks, rows[~missing], present), column, grid)

    def draw(
        self, column: pd.Series, features: list[np.ndarray], n: int, rng: np.random.Generator
    ) -> tuple[pd.Series, np.ndarray]:
        """Return the values, and their codes: between two of them where they are smoothed."""
        gap = np.full(n, -1) if self.gaps is None else self.gaps.donors(features, n, rng)
        missing = (gap >= 0) & (self.codes.codes[gap] < 0)
        if self.grid is None:
            donors = np.where(missing, gap, self.values.donors(features, n, rng))
            return column.take(donors), self.codes.codes[donors]
        lower, upper, part = self._neighbours(features, n, rng)
        distinct = numbers_of(column.iloc[self.codes.positions])
        drawn = self.grid.between(distinct[lower], distinct[upper], part)
        codes = _codes_between(distinct, drawn)
        values = as_dtype(drawn, column.dtype)
        return values.mask(missing) if missing.any() else values, np.where(missing, -1.0, codes)

    def _neighbours(
        self, features: list[np.ndarray], n: int, rng: np.random.Generator
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the codes of two neighbours in a leaf, and how far between them the draw is."""
        u, start, stop = self.values.places(features, n, rng)
        place = u * (stop - start - 1)
        first = start + place.astype(np.int64)
        codes = self.codes.codes[self.values.rows]
        return codes[first], codes[np.minimum(first + 1, stop - 1)], start + place - first


def _codes_between(distinct: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Return the rank of each value among sorted ones; halves are between two of them."""
    left, right = (np.searchsorted(distinct, values, side=side) for side in ("left", "right"))
    return np.asarray((left + right - 1) / 2.0)
