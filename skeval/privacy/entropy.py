"""Euclidean distance in which columns of low entropy, with their rare values, count more."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
import pandas as pd
from scipy.stats import entropy
from sklearn.base import BaseEstimator, TransformerMixin

from skeval.context import Context, shared
from skeval.preprocessing import NOMINAL, Discretizer, category_codes, numbers
from skeval.steps import chosen_columns
from skeval.steps.samples import ColumnChoice

__all__ = ["EntropySpace", "entropy_space", "inverse_entropy_weights"]

_N_BINS = 10
_MOST = 10.0  # times the median: a nearly constant column would outweigh all others


def inverse_entropy_weights(entropies: np.ndarray) -> np.ndarray:
    """Return weights proportional to inverse entropies, summing to 1 before they are capped.

    Parameters
    ----------
    entropies : ndarray of shape (n_columns,)
        In any unit; at least 0.

    Returns
    -------
    ndarray of shape (n_columns,)
        0 where the entropy is 0; at most ten times the median of the others.

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.privacy.entropy import inverse_entropy_weights
    >>> inverse_entropy_weights(np.array([1.0, 2.0, 2.0, 0.0]))
    array([0.5 , 0.25, 0.25, 0.  ])
    """
    varies = entropies > 0
    inverse = np.zeros(entropies.shape)
    inverse[varies] = 1.0 / entropies[varies]
    if not varies.any():
        return inverse
    weights = inverse / inverse.sum()
    capped: np.ndarray = np.minimum(weights, _MOST * np.median(weights[varies]))
    return capped


class EntropySpace(TransformerMixin, BaseEstimator):
    """Turn canonical rows into a matrix in which squared distances are weighted by column.

    Parameters
    ----------
    weights : dict of str to float
        By column, above 0: the squared distance of two values a whole range apart, of two
        categories, and at least that of a missing value from any other.
    numeric : dict of str to (float, float)
        Where missing values of a number or date column are put, and its range.
    n_levels : dict of str to int
        Number of real levels of each categorical column; all others are one further level.
    """

    def __init__(
        self,
        weights: Mapping[str, float],
        numeric: Mapping[str, tuple[float, float]],
        n_levels: Mapping[str, int],
    ) -> None:
        self.weights = weights
        self.numeric = numeric
        self.n_levels = n_levels

    def fit(self, X: Any, y: Any = None) -> Self:
        """Do nothing: all is known from the real tables."""
        return self

    def transform(self, X: pd.DataFrame) -> np.ndarray:
        """Return the matrix of canonical rows."""
        parts = [
            np.sqrt(weight)
            * (self._scaled(X, name) if name in self.numeric else self._coded(X, name))
            for name, weight in self.weights.items()
        ]
        return np.hstack(parts)

    def _scaled(self, X: pd.DataFrame, name: str) -> np.ndarray:
        centre, span = self.numeric[name]
        values = numbers(X[[name]])
        missing = np.isnan(values)
        return np.hstack([(np.where(missing, centre, values) - centre) / span, missing])

    def _coded(self, X: pd.DataFrame, name: str) -> np.ndarray:
        n = self.n_levels[name]
        codes = category_codes(X[[name]]).ravel()
        found = np.where(np.isnan(codes), n + 1, np.minimum(codes, n)).astype(np.int64)
        one_hot: np.ndarray = np.eye(n + 2)[found] / np.sqrt(2.0)
        return one_hot


@shared
def entropy_space(context: Context, columns: ColumnChoice) -> EntropySpace | None:
    """Return the space weighted by the entropies of the real rows; None if no column varies."""
    real = pd.concat(
        [context[role] for role in ("train", "holdout") if role in context], ignore_index=True
    )
    names = list(chosen_columns(context.schema, columns))
    cutter = Discretizer(_N_BINS, strategy="quantile", max_categories=None)
    codes = cutter.fit(real[names]).transform(real[names])
    entropies = np.array(
        [entropy(np.unique(codes[:, j], return_counts=True)[1]) for j in range(len(names))]
    )
    weights = dict(zip(cutter.schema_.measured, inverse_entropy_weights(entropies), strict=True))
    nominal = set(context.schema.columns(*NOMINAL))
    kept = {name: float(weights[name]) for name in names if weights[name] > 0}
    numeric = {name: _centre_and_range(real[[name]]) for name in kept if name not in nominal}
    # one value and missing ones: the column varies, its numbers do not
    numeric = {name: (centre, span or 1.0) for name, (centre, span) in numeric.items()}
    n_levels = {name: len(context.levels[name]) for name in kept if name in nominal}
    return EntropySpace(kept, numeric, n_levels) if kept else None


def _centre_and_range(column: pd.DataFrame) -> tuple[float, float]:
    values = numbers(column)
    return float(np.nanmean(values)), float(np.nanmax(values) - np.nanmin(values))
