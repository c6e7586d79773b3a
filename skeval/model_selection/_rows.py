"""Rows of folds: whether two tables hold the same ones, and a seed that goes by them."""

from __future__ import annotations

import hashlib

import numpy as np
import pandas as pd

__all__ = ["same_rows", "seed_of"]


def same_rows(first: pd.DataFrame, second: pd.DataFrame) -> bool:
    """Tell whether two tables hold the same rows, in whatever order."""
    if first.shape != second.shape:
        return False
    return bool((_sorted_hashes(first) == _sorted_hashes(second)).all())


def seed_of(random_state: int, rows: pd.DataFrame) -> int:
    """Return a seed that is the same for the same rows, in whatever order, and no other's.

    Parameters
    ----------
    random_state : int
        At least 0; another one gives other seeds.
    rows : DataFrame of shape (n_rows, n_columns)

    Returns
    -------
    int
        Below ``2**32``.
    """
    digest = hashlib.sha256(_sorted_hashes(rows).astype("<u8").tobytes()).digest()
    words = np.frombuffer(digest, dtype="<u4").tolist()
    return int(np.random.SeedSequence([random_state, *words]).generate_state(1)[0])


def _sorted_hashes(rows: pd.DataFrame) -> np.ndarray:
    cells = {i: _hashes(rows.iloc[:, i]) for i in range(rows.shape[1])}
    return np.sort(pd.util.hash_pandas_object(pd.DataFrame(cells), index=False).to_numpy())


def _hashes(column: pd.Series) -> np.ndarray:
    try:
        return pd.util.hash_pandas_object(column, index=False).to_numpy()
    except TypeError:  # cells such as lists have no hash of their own
        return pd.util.hash_pandas_object(column.map(repr), index=False).to_numpy()
