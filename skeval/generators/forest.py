"""A generator that replaces cells of training rows by predictions of a random forest."""

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

# The probabilities of 50 categories use 6 MB for this number of rows.
MAX_ROWS_AT_ONCE = 16_384


class RandomForestImputation(Sampler):
    """Sample training rows and replace each cell with probability p by a forest's prediction.

    The generator is a dial for tests. With p = 0, the sample consists of training rows. With p = 1,
    every cell is a prediction. A privacy metric must increase with p, and a fidelity metric must
    not, except for noise. With the same seed, the cells that are replaced at a lower p are also
    replaced at a higher p.

    It is not private and is not intended to be private. Cells that are not replaced are copied, and
    each prediction comes from a forest that was trained on the predicted cell.

    Parameters
    ----------
    p : float, default=0.5
        Fraction of the cells to replace, in [0, 1]. It is used by :meth:`sample`, so
        `set_params(p=...)` changes it without a new fit.
    n_estimators : int, default=25
        Number of trees per column.
    max_depth : int or None, default=None
        Maximum depth of a tree. If None, the depth is not limited.
    min_samples_leaf : int, default=5
        Minimum number of rows per leaf. With 1, forests nearly memorize their training cells, so
        `p` has little effect.
    max_features : str, int, float or None, default="sqrt"
        Number of columns to consider for a split, as in scikit-learn.
    max_samples : int, default=10_000
        Maximum number of rows per tree, which limits the runtime for large tables.
    max_levels : int, default=50
        Maximum number of categories that the forest of a column distinguishes. The most frequent
        categories are used. Other categories are never predicted, and rows with them are not used
        to train the forest of this column.
    n_jobs : int or None, default=None
        Number of columns to fit in parallel, in threads. None means 1, and -1 means all cores. It
        does not affect the values.
    random_state : int or None, default=None
        Seed of the forests, and of :meth:`sample` if the method gets no seed.

    Attributes
    ----------
    train_ : DataFrame of shape (n_rows, n_columns)
        The training rows with a default index.
    predicted_ : DataFrame of shape (n_rows, n_columns)
        The prediction for every cell of `train_`. The forests are not kept.

    See Also
    --------
    Bootstrap : Samples rows without any replacement of cells.

    Notes
    -----
    :meth:`sample` first samples rows in random order, without replacement if `n` is at most the
    number of training rows, and with replacement otherwise. It then replaces cells.

    Each column has a forest that predicts it from all other columns. The forest is a regressor for
    numbers, dates and durations, and a classifier for other columns. The prediction of a cell uses
    the original row and never replaced cells. Predictions are in-sample, because the row is part of
    the training rows of the forest (unless `max_samples` excluded it).

    The forests use ranks of the values, or frequency ranks for a column without an order. Missing
    values have the lowest rank. In a categorical column, missing is a category that can be
    predicted. In a numerical column, missing cells stay missing and present cells stay present.
    Infinite values are not used for training. Predicted numbers are rounded to the grid of the
    training values (integers, decimals, full days). For a table with one column, the mean or the
    most frequent category is predicted.

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
        # Trees depend only on order, so ranks avoid problems with infinite values and float32.
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
        if not others.size:  # every tree is then a single leaf with the mean or most frequent level
            others = np.zeros((len(column), 1), dtype=np.float32)
        if kind_of(column.dtype) in "Ob":
            return self._predict_levels(column, coded, others, seed)
        return self._predict_numbers(column, others, seed)

    def _predict_levels(
        self, column: pd.Series, coded: Codes, others: np.ndarray, seed: int
    ) -> pd.Series:
        codes = coded.codes % (len(coded.positions) + 1)  # missing is the last category
        rows = np.flatnonzero(frequency_ranks(codes) < self.max_levels)
        if 2 * len(np.unique(codes[rows])) > len(rows):
            # scikit-learn warns if labels rarely repeat. Repeating each row does not change the fit
            rows = np.repeat(rows, 2)
        predicted = self._fit_predict(RandomForestClassifier, others, rows, codes[rows], seed)
        # A category is copied from a row that contains it, which preserves every dtype.
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
            # Predictions are appended to the training values, which preserves every dtype.
            pd.concat([self.train_.iloc[:, j], self.predicted_.iloc[:, j]], ignore_index=True).take(
                rows + n_rows * replaced[:, j]
            )
            for j in range(n_columns)
        )
        return frame_of(cells, self.train_.columns)
