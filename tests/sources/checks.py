"""What the checks of the rows share: the register, small tables, distances written out in numpy.

A check runs one row of ``rows.csv``. It returns two things to compare, ours and what the formula of
the row gives, and a third if they agree to a tolerance only; or one thing, whose kind is compared.
Formulas are written from the row, with numpy, pandas, scipy and scikit-learn.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pandas as pd

from skeval.datasets import make_mixed

CHECKS: dict[int, Callable[[], Any]] = {}


def row(*numbers: int) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register the check of a row; one of several rows is told which."""

    def register(check: Callable[..., Any]) -> Callable[..., Any]:
        for number in numbers:
            assert number not in CHECKS, number
            CHECKS[number] = check if len(numbers) == 1 else lambda n=number: check(n)
        return check

    return register


# a quarter of the release is copied from train
TRAIN, HOLDOUT, FRESH = (make_mixed(120, random_state=seed) for seed in range(3))
SYNTHETIC = pd.concat([FRESH[:90], TRAIN[:30]], ignore_index=True)
NUMBERS = ["age", "income", "visits"]
DENSE_TRAIN, DENSE_HOLDOUT, DENSE_SYNTHETIC = (
    table[NUMBERS].fillna(30_000.0) for table in (TRAIN, HOLDOUT, SYNTHETIC)
)


def gower(rows: pd.DataFrame, others: pd.DataFrame, scale: pd.DataFrame) -> np.ndarray:
    """Return the mean over columns of differences: of numbers and dates by the range of `scale`."""
    total = np.zeros((len(rows), len(others)))
    for name in rows:
        a, b, own = (table[name] for table in (rows, others, scale))
        if pd.api.types.is_numeric_dtype(own) and own.dtype != bool:
            a, b, own = (one.astype(float) for one in (a, b, own))
        elif pd.api.types.is_datetime64_any_dtype(own):
            a, b, own = ((one - pd.Timestamp(0)).dt.total_seconds() for one in (a, b, own))
        else:
            a, b = (one.astype(object).where(one.notna(), "none") for one in (a, b))
            total += a.to_numpy()[:, None] != b.to_numpy()[None]
            continue
        apart = np.abs(a.to_numpy()[:, None] - b.to_numpy()[None]) / (own.max() - own.min())
        lost = a.isna().to_numpy()[:, None], b.isna().to_numpy()[None]
        apart = np.where(lost[0] | lost[1], np.where(lost[0] & lost[1], 0.0, 1.0), apart)
        total += np.minimum(apart, 1.0)
    return total / rows.shape[1]


def nearest(rows: pd.DataFrame, others: pd.DataFrame, scale: pd.DataFrame) -> np.ndarray:
    """Return of each row the distance to its nearest among others."""
    return gower(rows, others, scale).min(axis=1)


def nearest_other(rows: pd.DataFrame, scale: pd.DataFrame) -> np.ndarray:
    """Return of each row the distance to its nearest among the other rows of its table."""
    apart = gower(rows, rows, scale)
    np.fill_diagonal(apart, np.inf)
    return apart.min(axis=1)


@cache
def real() -> pd.DataFrame:
    """Return train and holdout together, which give the scale of distances."""
    return pd.concat([TRAIN, HOLDOUT], ignore_index=True)


def shares(column: pd.Series) -> pd.Series:
    """Return the share of each value; missing is a value."""
    return column.value_counts(normalize=True, dropna=False)


def total_variation(a: pd.Series, b: pd.Series) -> float:
    """Return half of the sum of differences of shares."""
    return float(0.5 * shares(a).sub(shares(b), fill_value=0.0).abs().sum())


def text(column: pd.Series) -> pd.Series:
    """Return a column as texts, with missing as one of them."""
    return column.astype(object).where(column.notna(), "none").astype(str)


def cells(column: pd.Series, train: pd.Series, n_bins: int = 10) -> pd.Series:
    """Return the cell of each value: categories are their own, ranges of train are cut evenly."""
    if pd.api.types.is_datetime64_any_dtype(train):
        column, train = ((one - pd.Timestamp(0)).dt.total_seconds() for one in (column, train))
    if not pd.api.types.is_numeric_dtype(train) or train.dtype == bool:
        return text(column)
    values = train.dropna()
    edges = np.linspace(values.min(), values.max(), n_bins + 1)[1:-1]
    if values.nunique() <= n_bins:  # one cell a value
        levels = np.sort(values.unique())
        edges = (levels[1:] + levels[:-1]) / 2
    cut = pd.Series(np.searchsorted(edges, column.to_numpy(float), side="right"))
    return cut.astype(str).where(column.notna().to_numpy(), "none")


def pairs(a: pd.Series, b: pd.Series) -> pd.Series:
    """Return the cells of two columns together."""
    return a.reset_index(drop=True) + "|" + b.reset_index(drop=True)


def copied(table: pd.DataFrame, others: pd.DataFrame) -> np.ndarray:
    """Return which rows stand in another table too, cell by cell."""
    known = set(map(tuple, others.apply(text).to_numpy()))
    return np.array([tuple(one) in known for one in table.apply(text).to_numpy()])
