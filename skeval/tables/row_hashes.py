"""Hashes of rows, to find rows that two tables share and to sort rows by content."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd


def shared_share(train: pd.DataFrame, holdout: pd.DataFrame, texts: Sequence[str] = ()) -> float:
    """Return the fraction of holdout rows that occur in the training data (canonical frames)."""
    # Rows are equal if all cells of the measured columns and of the columns in `texts` are equal.
    # IDs are ignored, because rows with different keys may otherwise be equal. Canonical frames
    # store IDs as objects, as texts.
    is_object = [pd.api.types.is_object_dtype(kind) for kind in train.dtypes]
    compared = [
        name for name, other in zip(train, is_object, strict=True) if not other or name in texts
    ]
    tables = (train, holdout)
    return hashed_share(*(row_hashes(rows, compared) if compared else None for rows in tables))


def hashed_share(known: np.ndarray | None, seen: np.ndarray | None) -> float:
    """Return the fraction of the hashes that are among the known hashes, or 0 without hashes."""
    # pandas is faster than numpy, because it uses a hash table and does not sort.
    return 0.0 if known is None or seen is None else float(pd.Series(seen).isin(known).mean())


def row_hashes(table: Any, names: Sequence[str]) -> np.ndarray:
    """Return a hash of the cells of each row in some columns, independent of their order."""
    # Columns are read one at a time, so a large table can be used instead of a frame.
    sums = np.zeros(len(table), dtype=np.uint64)
    for name in names:
        column = table[name]
        try:
            plain = isinstance(column.dtype, np.dtype)
            hashes = pd.util.hash_array(column.to_numpy() if plain else column.array)
        except (TypeError, ValueError):  # columns of objects may contain any value, such as lists
            cells = column.astype(object).map(_hashable, na_action="ignore")
            hashes = pd.util.hash_array(cells.to_numpy(object))
        # Equal values of different columns must have different hashes.
        sums += hashes * np.uint64(2 * zlib.crc32(str(name).encode("utf-8", "surrogatepass")) + 1)
    return sums


def content_hashes_of(rows: Any, ids: Sequence[str]) -> np.ndarray | None:
    """Return a hash of the content of each row without IDs, or None if there are only IDs."""
    names = [name for name in rows.columns if name not in ids]
    return row_hashes(rows, names) if names else None


def order_of_content(rows: Any, ids: Sequence[str], hashes: np.ndarray | None = None) -> np.ndarray:
    """Return the positions of rows sorted by their content, with IDs as the last criterion."""
    # Rows are sorted by hashes, so the position of a row does not reveal its values. `hashes` are
    # the known hashes of all columns except IDs.
    if hashes is None:
        hashes = row_hashes(rows, [name for name in rows.columns if name not in ids])
    if not ids:
        return np.argsort(hashes)  # the order of equal rows does not matter
    order: np.ndarray = np.lexsort((row_hashes(rows, ids), hashes))
    return order


def rows_at(table: pd.DataFrame, positions: np.ndarray) -> pd.DataFrame:
    """Return the rows at these positions with a default index."""
    rows = table.take(positions)
    rows.index = pd.RangeIndex(len(rows))  # faster than reset_index, which copies
    return rows


def _hashable(cell: Any) -> bytes:
    return str(cell).encode("utf-8", "surrogatepass")
