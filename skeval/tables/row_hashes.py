"""Rows by a hash of their cells: which two tables share, and an order that depends on them."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd


def shared_share(train: pd.DataFrame, holdout: pd.DataFrame, texts: Sequence[str] = ()) -> float:
    """Return the share of holdout rows that occur in train (canonical frames)."""
    # 0 means none. Rows are the same if all cells of the measured columns are, and of the
    # columns of `texts`; ids, which canonical frames hold as objects too, are left out: a key
    # of its own makes no row another.
    is_object = [pd.api.types.is_object_dtype(kind) for kind in train.dtypes]
    compared = [
        name for name, other in zip(train, is_object, strict=True) if not other or name in texts
    ]
    tables = (train, holdout)
    return hashed_share(*(row_hashes(rows, compared) if compared else None for rows in tables))


def hashed_share(known: np.ndarray | None, seen: np.ndarray | None) -> float:
    """Return the share of the hashes that are among the known ones; 0 where there are none."""
    # pandas looks them up in a table, numpy sorts both
    return 0.0 if known is None or seen is None else float(pd.Series(seen).isin(known).mean())


def row_hashes(table: Any, names: Sequence[str]) -> np.ndarray:
    """Return a hash of what each row holds in some columns, in any order."""
    # A column is looked at by itself, so that a large table may stand for a frame.
    sums = np.zeros(len(table), dtype=np.uint64)
    for name in names:
        column = table[name]
        try:
            plain = isinstance(column.dtype, np.dtype)
            hashes = pd.util.hash_array(column.to_numpy() if plain else column.array)
        except (TypeError, ValueError):  # columns of objects may hold anything, lists among them
            cells = column.astype(object).map(_hashable, na_action="ignore")
            hashes = pd.util.hash_array(cells.to_numpy(object))
        # a value of one column is another thing in the next
        sums += hashes * np.uint64(2 * zlib.crc32(str(name).encode("utf-8", "surrogatepass")) + 1)
    return sums


def content_hashes_of(rows: Any, ids: Sequence[str]) -> np.ndarray | None:
    """Return a hash of the content of each row without IDs, or None if there are only IDs."""
    names = [name for name in rows.columns if name not in ids]
    return row_hashes(rows, names) if names else None


def order_of_content(rows: Any, ids: Sequence[str], hashes: np.ndarray | None = None) -> np.ndarray:
    """Return the positions of rows in an order that goes by what they hold; ids decide last."""
    # It is that of hashes: the place of a row says nothing of its values. `hashes` are those
    # of the columns that are no ids, if they are known.
    if hashes is None:
        hashes = row_hashes(rows, [name for name in rows.columns if name not in ids])
    if not ids:
        return np.argsort(hashes)  # which of equal rows comes first means nothing
    order: np.ndarray = np.lexsort((row_hashes(rows, ids), hashes))
    return order


def rows_at(table: pd.DataFrame, positions: np.ndarray) -> pd.DataFrame:
    """Return the rows at these positions, under a plain index."""
    return table.take(positions).reset_index(drop=True)


def _hashable(cell: Any) -> bytes:
    return str(cell).encode("utf-8", "surrogatepass")
