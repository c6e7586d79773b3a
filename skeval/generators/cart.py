"""A generator that samples columns one after the other from the leaves of trees."""

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
    """Sample column by column, each from the leaves of a tree fitted on the previous columns.

    Statistical offices use this method, and it often works well for tables of mixed types. The
    first column is sampled from its training values. Each further column is sampled from the
    training values in the leaf that the row reaches with its previous columns. Interactions and
    rules of few columns are preserved. Other structure is lost, in particular with large leaves.

    The generator is not private, with or without smoothing. Without smoothing, all cells are
    training values, including rare ones. Rows with few similar rows are reproduced almost
    completely. Larger leaves reduce the number of such rows.

    Parameters
    ----------
    min_samples_leaf : int, default=5
        Minimum number of training rows per leaf. With 1, complete training rows are reproduced.
    max_depth : int or None, default=None
        Maximum depth of a tree. If None, the depth is not limited.
    max_levels : int, default=50
        Maximum number of categories that the tree of a column distinguishes. At most this number,
        and fewer than half the number of rows, are distinguished, the most frequent first. The tree
        treats the remaining categories as one, but they are still sampled with their frequencies in
        the leaf.
    smoothing : bool, default=False
        Whether numbers, dates and durations are sampled between a training value of the leaf and
        the next lower or higher value, on the grid of the column (integers, decimals, full days).
    order : sequence of column names or None, default=None
        Columns to sample first, in this order. The other columns follow in the order of the table.
        Columns with many rare categories should come late.
    random_state : int or None, default=None
        Seed of the trees, and of :meth:`sample` if the method gets no seed. A tree uses random
        numbers only to choose between equally good splits.

    Attributes
    ----------
    train_ : DataFrame of shape (n_rows, n_columns)
        The training rows with a default index. The leaves refer to their positions.
    order_ : ndarray of shape (n_columns,)
        Positions of the columns in the order of sampling.
    models_ : list of length n_columns
        The tree of each column, in the order of sampling.

    See Also
    --------
    GaussianCopula : Does not reproduce rows.

    Notes
    -----
    The models are scikit-learn decision trees on ranks. For a number, date or duration, the tree
    reduces the variance of the rank among the training values, so long tails and infinite values
    have no influence. A missing value has a rank far below all others, so a tree separates missing
    values first. For a category, the tree reduces the Gini impurity, and missing is a separate
    category. If a tree splits on a categorical column, the categories are ordered by the mean
    target of their rows. This order finds the best binary split if the target is a number or has
    two categories. If the target has more categories, they are ordered by the mean frequency rank
    of the target categories.

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
        """Fit the tree of a column on the previous columns."""
        kind, target = DecisionTreeRegressor, _mean_ranks(column.codes)
        if not column.ordered:
            # scikit-learn warns if more than half of the rows have a unique label.
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
                f"SequentialCART: order contains columns that are not in the table: "
                f"{', '.join(missing)}. The table has {', '.join(map(str, names))}."
            )
        asked = [int(j) for name in dict.fromkeys(first) for j in places[name]]
        rest = [j for j in range(len(names)) if j not in set(asked)]
        return np.array(asked + rest, dtype=np.int64)


@dataclass(frozen=True)
class _Leaves:
    """A tree, its encoding of the previous columns, and the training rows of each leaf by rank."""

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
    # The constant column allows a tree with a single leaf for the first column of the table.
    return np.column_stack([np.zeros(n), *read]).astype(np.float32)


def _mean_ranks(codes: np.ndarray) -> np.ndarray:
    """Return ranks in [0, 1], equal for equal values, and -1 for missing values."""
    counts = np.bincount(codes + 1)
    ranks = (np.cumsum(counts) - counts / 2)[codes + 1] / len(codes)
    return np.where(codes < 0, -1.0, ranks)


def _level_scores(column: Codes, target: np.ndarray) -> np.ndarray:
    """Return the number that a tree uses for each code. The last number is for missing values."""
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
    """Return values between the values of two codes, and new codes. Missing values stay missing."""
    missing = codes < 0
    neighbors = np.where(missing | (neighbors < 0), codes, neighbors)
    low, high = np.minimum(codes, neighbors), np.maximum(codes, neighbors)
    part = rng.random(len(codes))
    distinct = numbers_of(column.iloc[coded.positions])
    drawn = Steps.from_values(distinct).between(distinct[low], distinct[high], part)
    values = as_dtype(drawn, column.dtype)
    codes = low + np.rint(part * (high - low)).astype(np.int64)
    return values.mask(missing) if missing.any() else values, codes
