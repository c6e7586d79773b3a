"""Columns drawn one after the other from the leaves of regression trees.

Training rows some of whose cells are replaced by predictions: a dial from copies to models.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.tree import DecisionTreeRegressor

from skeval.exceptions import InvalidParameterError
from skeval.generators.columns import (
    Codes,
    Sampler,
    Steps,
    as_dtype,
    frame_of,
    kind_of,
    numbers_of,
    ordered_codes,
)
from skeval.utils.parameters import Count, Fraction, JobCount, Seed


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
    Trees see ranks. For a number, date or duration the tree reduces the variance of its rank among
    the training values, so that neither long tails nor infinities matter; missing values get a tree
    of their own, which tells whether there is a value at all. For a category it reduces the Gini
    impurity; being missing is a level. Levels of a category that is split on are put in order by
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
            grid = Steps.of(numbers_of(train.iloc[columns[place].positions, j])) if smooth else None
            models.append(_model(columns[place], grower, self.max_levels, grid))
        self.train_, self.order_, self.models_ = train, order, models

    def _draw(self, n: int, rng: np.random.Generator) -> pd.DataFrame:
        features: list[np.ndarray] = []
        drawn: dict[int, pd.Series] = {}
        for j, model in zip(self.order_, self.models_, strict=True):
            column = self.train_.iloc[:, j]
            drawn[j], codes = model.draw(column, features, n, rng)
            features.append(codes)
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
    column: Codes, grower: _Grower, max_levels: int, grid: Steps | None
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
    grid: Steps | None

    @classmethod
    def fit(cls, column: Codes, grower: _Grower, grid: Steps | None) -> _Numbers:
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


# Shares of 50 levels for that many rows take 6 MB.
_ROWS_AT_ONCE = 16_384


class RandomForestImputation(Sampler):
    """Sample training rows, each cell replaced with probability p by what a forest predicts for it.

    A dial for tests: at p = 0 the sample is the training rows themselves, at p = 1 every cell is a
    prediction. A measure of privacy must rise along it and a measure of fidelity must not, up to
    noise. With one seed, the cells replaced at a lower p are among those of a higher one.

    It is not private, and is not meant to be. Whatever is not replaced is copied, and predictions
    are made by forests that have seen the very cell they predict.

    Parameters
    ----------
    p : float, default=0.5
        Share of the cells to replace, in [0, 1]. It is read by :meth:`sample`:
        `set_params(p=...)` turns the dial of a fitted generator, which is not fitted again.
    n_estimators : int, default=25
        Trees of each column's forest.
    max_depth : int or None, default=None
        The deepest a tree may grow; None does not limit it.
    min_samples_leaf : int, default=5
        Rows that a leaf needs. With 1, forests know their training cells nearly by heart, and the
        dial turns little.
    max_features : str, int, float or None, default="sqrt"
        How many columns a split chooses among, in scikit-learn's notation.
    max_samples : int, default=10_000
        The most rows a tree is grown on, so that large tables do not take long.
    max_levels : int, default=50
        The most levels of a category that its forest tells apart: the most frequent ones. Others
        are never predicted, and rows that have them are not learned from in that column.
    n_jobs : int or None, default=None
        Columns fitted at the same time, in threads; None is 1, -1 all cores. It does not change
        the values.
    random_state : int or None, default=None
        Seed of the forests, and of :meth:`sample` where that gets none.

    Attributes
    ----------
    train_ : DataFrame of shape (n_rows, n_columns)
        The training rows, under a plain index.
    predicted_ : DataFrame of shape (n_rows, n_columns)
        What the forests predict for every cell of `train_`. The forests are not kept.

    See Also
    --------
    Bootstrap : The end of its dial where nothing is replaced.

    Notes
    -----
    :meth:`sample` draws as many rows as the training table has, or fewer, without replacement and
    in random order; more with replacement. Then it replaces cells.

    Each column has a forest that learns it from all other columns: a regressor for numbers, dates
    and durations, a classifier for all else. A cell's prediction is made from the original row,
    never from replaced cells, and in sample: the row was among those the forest was fitted on
    (unless `max_samples` left it out).

    The forests see ranks: of size, or of frequency where a column has no order, and missing values
    below all others. In a category, missing is a level that can be predicted like any other. In a
    number, a missing cell stays missing, a present one present; infinite values are not learned
    from. Predicted numbers are rounded to the grid of the training values (whole numbers, decimals,
    whole days). A table of one column has nothing to learn from: its mean or most frequent level is
    predicted.

    References
    ----------
    L. Breiman, "Random Forests", Machine Learning 45 (2001), doi:10.1023/A:1010933404324. The dial
    follows the generator that A. Pavao (2018) tried minimum distance accumulation on.

    Examples
    --------
    >>> from skeval.datasets import make_mixed
    >>> from skeval.generators import RandomForestImputation
    >>> train = make_mixed()
    >>> dial = RandomForestImputation(random_state=0).fit(train)
    >>> tables = [dial.set_params(p=p).sample(200) for p in (0.0, 1.0)]
    >>> [len(table.merge(train)) for table in tables]
    [200, 0]
    """

    def __init__(
        self,
        p: Fraction = 0.5,
        *,
        n_estimators: Count = 25,
        max_depth: Count | None = None,
        min_samples_leaf: Count = 5,
        max_features: str | float | None = "sqrt",
        max_samples: Count = 10_000,
        max_levels: Count = 50,
        n_jobs: JobCount | None = None,
        random_state: Seed | None = None,
    ) -> None:
        self.p = p
        self.n_estimators = n_estimators
        self.max_depth = max_depth
        self.min_samples_leaf = min_samples_leaf
        self.max_features = max_features
        self.max_samples = max_samples
        self.max_levels = max_levels
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _learn(self, train: pd.DataFrame) -> None:
        columns = [train.iloc[:, j] for j in range(train.shape[1])]
        features = features_of([ordered_codes(column) for column in columns])
        seeds = np.random.SeedSequence(self.random_state).generate_state(len(columns))
        names = ("n_estimators", "max_depth", "min_samples_leaf", "max_features")
        settings = {name: getattr(self, name) for name in names}
        forest = Forest(settings, self.max_samples, self.max_levels)
        predicted = Parallel(n_jobs=self.n_jobs, prefer="threads", max_nbytes=None)(
            delayed(predict_column)(column, features, j, forest, int(seeds[j]))
            for j, column in enumerate(columns)
        )
        self.train_ = train
        self.predicted_ = frame_of(predicted, train.columns)

    def _draw(self, n: int, rng: np.random.Generator) -> pd.DataFrame:
        self._check_parameters()
        n_rows, n_columns = self.train_.shape
        rows = rng.permutation(n_rows)[:n] if n <= n_rows else rng.integers(n_rows, size=n)
        replaced = rng.random((n, n_columns)) < self.p
        cells = (
            # predictions follow below the training values, which keeps every dtype
            pd.concat([self.train_.iloc[:, j], self.predicted_.iloc[:, j]], ignore_index=True).take(
                rows + n_rows * replaced[:, j]
            )
            for j in range(n_columns)
        )
        return frame_of(cells, self.train_.columns)


@dataclass(frozen=True)
class Forest:
    """What forests to fit, and on how much."""

    settings: dict[str, Any]
    max_samples: int
    max_levels: int

    def fit_predict(
        self, kind: type, features: np.ndarray, rows: np.ndarray, target: np.ndarray, seed: int
    ) -> np.ndarray:
        """Fit on the `rows` of `features`, and predict all of them."""
        model = kind(
            **self.settings,
            max_samples=min(self.max_samples, len(rows)),
            random_state=seed,
            n_jobs=1,
        ).fit(features[rows], target)
        starts = range(0, len(features), _ROWS_AT_ONCE)
        return np.concatenate([model.predict(features[i : i + _ROWS_AT_ONCE]) for i in starts])


def features_of(columns: Sequence[Codes]) -> np.ndarray:
    """Return the table as ranks: of size where values have an order, else of frequency.

    Trees see nothing but order, so that ranks lose nothing, neither to infinities nor to the
    float32 that forests compute in. Missing values come below all others.
    """
    ranks = [column.codes if column.ordered else _by_frequency(column.codes) for column in columns]
    return np.column_stack(ranks).astype(np.float32)


def predict_column(
    column: pd.Series, features: np.ndarray, j: int, forest: Forest, seed: int
) -> pd.Series:
    """Predict column `j` from the features of all others; without others, its mean or mode."""
    others = np.delete(features, j, axis=1) if features.shape[1] > 1 else np.zeros_like(features)
    predict = _predict_levels if kind_of(column.dtype) in "Ob" else _predict_numbers
    return predict(column, others, forest, seed)


def _by_frequency(codes: np.ndarray) -> np.ndarray:
    """Recode levels so that the most frequent is 0; equally frequent ones keep their order."""
    order = np.argsort(-np.bincount(codes[codes >= 0]), kind="stable")
    rank = np.empty(len(order) + 1, dtype=np.int64)
    rank[order], rank[-1] = np.arange(len(order)), -1
    return rank[codes]


def _predict_levels(
    column: pd.Series, features: np.ndarray, forest: Forest, seed: int
) -> pd.Series:
    """Predict one of the most frequent levels; being missing is a level."""
    coded = ordered_codes(column)
    missing = np.flatnonzero(coded.codes < 0)
    positions = np.append(coded.positions, missing[:1])
    codes = coded.codes.copy()
    codes[missing] = len(coded.positions)
    frequent = np.argsort(-np.bincount(codes), kind="stable")[: forest.max_levels]
    rows = np.flatnonzero(np.isin(codes, frequent))
    if 2 * len(frequent) > len(rows):
        # scikit-learn warns of labels that hardly repeat; each row twice weighs the same
        rows = np.repeat(rows, 2)
    predicted = forest.fit_predict(RandomForestClassifier, features, rows, codes[rows], seed)
    # a level is written as the cell of a row that has it, which keeps every dtype
    return column.take(positions[predicted]).reset_index(drop=True)


def _predict_numbers(
    column: pd.Series, features: np.ndarray, forest: Forest, seed: int
) -> pd.Series:
    """Predict a mean wherever there is a value; infinite ones are not learned from."""
    missing = column.isna().to_numpy(dtype=bool)
    present = np.flatnonzero(~missing)
    values = numbers_of(column.iloc[present])
    finite = np.isfinite(values)
    if not finite.any():
        return column
    scale = _Scale.of(values[finite])
    target = scale.to_unit(values[finite])
    unit = forest.fit_predict(RandomForestRegressor, features, present[finite], target, seed)
    predicted = as_dtype(scale.from_unit(unit), column.dtype)
    return predicted.mask(missing) if missing.any() else predicted


@dataclass(frozen=True)
class _Scale:
    """Numbers, dates or durations as floats between 0 and 1, and back onto their grid."""

    low: np.ndarray
    high: np.ndarray
    grid: Steps

    @classmethod
    def of(cls, values: np.ndarray) -> _Scale:
        distinct = np.unique(values)
        return cls(distinct[:1], distinct[-1:], Steps.of(distinct))

    def to_unit(self, values: np.ndarray) -> np.ndarray:
        if values.dtype.kind == "f":
            return (values / 2 - self.low / 2) / (self._half_width() or 1.0)
        return self._steps(values).astype(np.float64) / (float(self._steps(self.high)[0]) or 1.0)

    def from_unit(self, unit: np.ndarray) -> np.ndarray:
        if self.low.dtype.kind == "f":
            half = unit * self._half_width()
            values = self.low + half + half
            return np.clip(self.grid.rounded(values), self.low, self.high)
        steps = self._whole_steps(unit) * np.uint64(self.grid.step)
        return np.asarray((self.low.view(np.uint64) + steps).view(self.low.dtype))

    def _half_width(self) -> float:
        # the whole width of huge numbers would be infinite
        return float(self.high[0] / 2 - self.low[0] / 2)

    def _steps(self, values: np.ndarray) -> np.ndarray:
        # unsigned differences cannot overflow, and float64 would lose the digits of the values
        return (values.view(np.uint64) - self.low.view(np.uint64)) // np.uint64(self.grid.step)

    def _whole_steps(self, unit: np.ndarray) -> np.ndarray:
        last = self._steps(self.high)[0]
        steps = np.rint(unit * float(last))
        # as a float the last step may round to one that uint64 does not have
        inside = np.minimum(steps, np.nextafter(float(last), 0.0)).astype(np.uint64)
        return np.where(steps >= float(last), last, inside)
