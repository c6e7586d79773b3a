"""Predict every cell of a column from the other columns of its row, with one random forest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

from skeval.generators._columns import (
    Codes,
    Grid,
    as_dtype,
    kind_of,
    numbers_of,
    ordered_codes,
)

__all__ = ["Forest", "features_of", "predict_column"]

# Shares of 50 levels for so many rows take 6 MB.
_ROWS_AT_ONCE = 16_384


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
    """Predict a mean wherever there is a value; infinite ones are not learnt from."""
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
    grid: Grid

    @classmethod
    def of(cls, values: np.ndarray) -> _Scale:
        distinct = np.unique(values)
        return cls(distinct[:1], distinct[-1:], Grid.of(distinct))

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
