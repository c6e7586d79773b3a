"""Base class of the generators, which fit a checked table and sample similar tables."""

from __future__ import annotations

from typing import Any, ClassVar, Self
from weakref import WeakKeyDictionary

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from skeval.exceptions import NotRememberedError, TableError
from skeval.utils.parameters import Count, Seed, check_parameters, legal_sets
from skeval.utils.signatures import with_known_names

# Training rows are not part of a generator. They end with the object and are not copied with it.
TRAINED: WeakKeyDictionary[Any, pd.DataFrame] = WeakKeyDictionary()


def note_features(generator: Any, train: pd.DataFrame) -> None:
    """Set the attributes that scikit-learn's estimators have after fit."""
    generator.n_features_in_ = train.shape[1]
    generator.feature_names_in_ = np.array([str(name) for name in train.columns], dtype=object)


class Sampler(BaseEstimator):
    """Base class of the generators, with :meth:`fit` on a table and :meth:`sample`."""

    random_state: int | None
    _needs_hashes: ClassVar[bool] = True

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "__init__" in vars(cls):
            cls.__init__ = with_known_names(cls.__init__)  # type: ignore[method-assign]

    def fit(self, table: pd.DataFrame, y: Any = None) -> Self:
        """Learn from a training table."""
        train = self._check_table(table)
        self._learn(train)
        TRAINED[self] = train
        note_features(self, train)
        return self

    def sample(self, n: Count, random_state: Seed | None = None) -> pd.DataFrame:
        """Draw rows with the columns and dtypes of the training table."""
        check_is_fitted(self)
        given = {"n": n, "random_state": random_state}
        check_parameters(f"{type(self).__name__}.sample", given, legal_sets(Sampler.sample))
        seed = self.random_state if random_state is None else random_state
        return self._draw(n, np.random.default_rng(seed))

    def train_rows(self) -> pd.DataFrame:
        """Return the training rows, which searches need for scoring."""
        check_is_fitted(self)
        if self not in TRAINED:
            raise NotRememberedError(
                "The training rows were dropped when this generator was copied or pickled. Fit "
                "it again, or fit GeneratorAdapter(generator) and set remember_rows_ = True."
            )
        return TRAINED[self]

    def _learn(self, train: pd.DataFrame) -> None:
        raise NotImplementedError

    def _draw(self, n: int, rng: np.random.Generator) -> pd.DataFrame:
        raise NotImplementedError

    def _check_parameters(self) -> None:
        check_parameters(type(self).__name__, self.get_params(deep=False), legal_sets(type(self)))

    def _check_table(self, table: object) -> pd.DataFrame:
        """Return the training table with a default index, or raise one error for all problems."""
        self._check_parameters()
        owner = f"{type(self).__name__}.fit"
        if not isinstance(table, pd.DataFrame) or table.empty:
            name = type(table).__name__
            came = f"shape {table.shape}" if isinstance(table, pd.DataFrame) else name
            raise TableError(f"{owner} expected a DataFrame with rows and columns, but got {came}.")
        columns = table.items() if self._needs_hashes else ()
        faults = [
            str(name)
            for name, column in columns
            if column.dtype == object and any(t.__hash__ is None for t in set(map(type, column)))
        ]
        if faults:
            raise TableError(
                f"{owner} expected hashable values, but {', '.join(faults)} contain lists or other "
                "unhashable values. Drop these columns, or convert their values to strings."
            )
        return table.reset_index(drop=True)
