"""Training rows some of whose cells are replaced by predictions: a dial from copies to models."""

from __future__ import annotations

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

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
from skeval.utils.parameters import Count, Fraction, JobCount, Seed

# The probabilities of 50 levels take 6 MB for this number of rows.
MAX_ROWS_AT_ONCE = 16_384


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
        coded = [ordered_codes(column) for column in columns]
        # trees read nothing but order, so that ranks lose nothing to infinities or to float32
        features = np.column_stack(
            [one.codes if one.ordered else frequency_ranks(one.codes) for one in coded]
        ).astype(np.float32)
        seeds = np.random.SeedSequence(self.random_state).generate_state(len(columns))
        predicted = Parallel(n_jobs=self.n_jobs, prefer="threads", max_nbytes=None)(
            delayed(self._predict)(column, one, np.delete(features, j, axis=1), int(seed))
            for j, (column, one, seed) in enumerate(zip(columns, coded, seeds, strict=True))
        )
        self.train_ = train
        self.predicted_ = frame_of(predicted, train.columns)

    def _predict(self, column: pd.Series, coded: Codes, others: np.ndarray, seed: int) -> pd.Series:
        """Predict a column from all others."""
        if not others.size:  # every tree is then one leaf, the mean or the most frequent level
            others = np.zeros((len(column), 1), dtype=np.float32)
        if kind_of(column.dtype) in "Ob":
            return self._predict_levels(column, coded, others, seed)
        return self._predict_numbers(column, others, seed)

    def _predict_levels(
        self, column: pd.Series, coded: Codes, others: np.ndarray, seed: int
    ) -> pd.Series:
        codes = coded.codes % (len(coded.positions) + 1)  # missing is the last level
        rows = np.flatnonzero(frequency_ranks(codes) < self.max_levels)
        if 2 * len(np.unique(codes[rows])) > len(rows):
            # scikit-learn warns if labels rarely repeat; to count each row twice changes nothing
            rows = np.repeat(rows, 2)
        predicted = self._fit_predict(RandomForestClassifier, others, rows, codes[rows], seed)
        # a level is written as the cell of a row that has it, which keeps every dtype
        return column.take(np.unique(codes, return_index=True)[1][predicted])

    def _predict_numbers(self, column: pd.Series, others: np.ndarray, seed: int) -> pd.Series:
        missing = column.isna().to_numpy(dtype=bool)
        rows = np.flatnonzero(~missing)
        values = numbers_of(column.iloc[rows])
        finite = np.isfinite(values)
        if not finite.any():
            return column
        distinct = np.unique(values[finite])
        grid, low, high = Steps.from_values(distinct), distinct[:1], distinct[-1:]
        target = grid.part(low, high, values[finite])
        part = self._fit_predict(RandomForestRegressor, others, rows[finite], target, seed)
        predicted = as_dtype(np.clip(grid.between(low, high, part), low, high), column.dtype)
        return predicted.mask(missing) if missing.any() else predicted

    def _fit_predict(
        self, kind: type, features: np.ndarray, rows: np.ndarray, target: np.ndarray, seed: int
    ) -> np.ndarray:
        """Fit a forest on some rows, and predict all of them."""
        forest = kind(
            n_estimators=self.n_estimators,
            max_depth=self.max_depth,
            min_samples_leaf=self.min_samples_leaf,
            max_features=self.max_features,
            max_samples=min(self.max_samples, len(rows)),
            random_state=seed,
            n_jobs=1,
        ).fit(features[rows], target)
        starts = range(0, len(features), MAX_ROWS_AT_ONCE)
        return np.concatenate([forest.predict(features[i : i + MAX_ROWS_AT_ONCE]) for i in starts])

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
