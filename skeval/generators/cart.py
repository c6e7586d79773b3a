"""Columns drawn one after the other from the leaves of trees."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from skeval.exceptions import InvalidParameterError
from skeval.generators.base import Sampler
from skeval.generators.columns import (
    Codes,
    Steps,
    as_dtype,
    frame_of,
    frequency_ranks,
    kind_of,
    numbers_of,
    ordered_codes,
)
from skeval.utils.parameters import Count, Seed


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
        The most levels of a category that its tree tells apart: the most frequent ones, and fewer
        than half as many as there are rows. The others count as one when the tree grows, and are
        drawn by their shares of the leaf all the same.
    smoothing : bool, default=False
        Whether numbers, dates and durations are drawn between a training value of the leaf and the
        next lower or higher one, on the grid of the column (whole numbers, decimals, whole days).
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
    The trees are decision trees of scikit-learn that read ranks. For a number, date or duration,
    the tree reduces the variance of the rank among the training values, so that neither long tails
    nor infinities matter. A missing value has a rank far below all others, so that a tree separates
    missing values first. For a category, the tree reduces the Gini impurity, and being missing is a
    level. If a category is split on, its levels are put in order by the mean of the target in their
    rows, which finds the best split in two of all if the target is a number or has two levels. If
    the target has more levels, its mean is that of their ranks by frequency.

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
        seeds = np.random.SeedSequence(self.random_state).generate_state(len(order))
        self.train_, self.order_, self._columns = train, order, columns
        self.models_ = [
            self._grow(columns[:place], column, int(seed))
            for place, (column, seed) in enumerate(zip(columns, seeds, strict=True))
        ]

    def _grow(self, before: list[Codes], column: Codes, seed: int) -> _Leaves:
        """Grow the tree of a column on the columns before it."""
        kind, target = DecisionTreeRegressor, _mean_ranks(column.codes)
        if not column.ordered:
            # scikit-learn warns if more than half of the rows have a label of their own
            n_levels = max(1, min(self.max_levels, len(column.codes) // 2 - 1))
            kind = DecisionTreeClassifier
            target = np.minimum(frequency_ranks(column.codes), n_levels)
        scores = [_level_scores(known, target) for known in before]
        features = _features([known.codes for known in before], scores, len(column.codes))
        tree = kind(
            min_samples_leaf=self.min_samples_leaf, max_depth=self.max_depth, random_state=seed
        )
        leaf = tree.fit(features, target).apply(features)
        rows = np.lexsort((column.codes, leaf))
        return _Leaves(tree, scores, rows, np.searchsorted(leaf[rows], np.arange(leaf.max() + 2)))

    def _draw(self, n: int, rng: np.random.Generator) -> pd.DataFrame:
        seen: list[np.ndarray] = []
        drawn: dict[int, pd.Series] = {}
        for j, coded, leaves in zip(self.order_, self._columns, self.models_, strict=True):
            column = self.train_.iloc[:, j]
            start, stop = leaves.bounds(seen, n)
            place = start + (rng.random(n) * (stop - start)).astype(np.int64)
            donors = leaves.rows[place]
            drawn[j], codes = column.take(donors), coded.codes[donors]
            if self.smoothing and kind_of(column.dtype) in "iufMm" and coded.positions.size:
                beside = np.clip(place + rng.choice([-1, 1], n), start, stop - 1)
                neighbors = coded.codes[leaves.rows[beside]]
                drawn[j], codes = _draw_between(column, coded, codes, neighbors, rng)
            seen.append(codes)
        return frame_of((drawn[j] for j in range(len(drawn))), self.train_.columns)

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


@dataclass(frozen=True)
class _Leaves:
    """A tree, how it reads the columns before, and the training rows of each leaf by rank."""

    tree: DecisionTreeRegressor | DecisionTreeClassifier
    scores: list[np.ndarray]
    rows: np.ndarray
    starts: np.ndarray

    def bounds(self, seen: list[np.ndarray], n: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the first and the last place (exclusive) in `rows` of the leaf of each new row."""
        leaf = self.tree.apply(_features(seen, self.scores, n))
        return self.starts[leaf], self.starts[leaf + 1]


def _features(codes: list[np.ndarray], scores: list[np.ndarray], n: int) -> np.ndarray:
    read = [score[one] for one, score in zip(codes, scores, strict=True)]
    # a constant column lets the first column of the table have a tree of one leaf
    return np.column_stack([np.zeros(n), *read]).astype(np.float32)


def _mean_ranks(codes: np.ndarray) -> np.ndarray:
    """Return ranks in [0, 1], equal for equal values, and -1 for missing values."""
    counts = np.bincount(codes + 1)
    ranks = (np.cumsum(counts) - counts / 2)[codes + 1] / len(codes)
    return np.where(codes < 0, -1.0, ranks)


def _level_scores(column: Codes, target: np.ndarray) -> np.ndarray:
    """Return the number that a tree reads for each code, and last for missing values."""
    if column.ordered:
        return np.append(np.arange(len(column.positions)), -1.0)
    place = column.codes % (len(column.positions) + 1)
    counts = np.bincount(place, minlength=len(column.positions) + 1)
    return np.bincount(place, target, len(counts)) / np.maximum(counts, 1)


def _draw_between(
    column: pd.Series,
    coded: Codes,
    codes: np.ndarray,
    neighbors: np.ndarray,
    rng: np.random.Generator,
) -> tuple[pd.Series, np.ndarray]:
    """Return values between those of two codes, and their codes; missing values stay missing."""
    missing = codes < 0
    neighbors = np.where(missing | (neighbors < 0), codes, neighbors)
    low, high = np.minimum(codes, neighbors), np.maximum(codes, neighbors)
    part = rng.random(len(codes))
    distinct = numbers_of(column.iloc[coded.positions])
    drawn = Steps.from_values(distinct).between(distinct[low], distinct[high], part)
    values = as_dtype(drawn, column.dtype)
    codes = low + np.rint(part * (high - low)).astype(np.int64)
    return values.mask(missing) if missing.any() else values, codes
