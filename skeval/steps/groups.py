"""Distinct rows of some columns and how often each occurs, as the workers of a cluster count."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from skeval.scale.tables import counted_by_workers
from skeval.stats.disclosure import distinct_codes

_MOST = 2**22  # distinct rows that are sent and kept; beyond, columns are read one by one
Code = Callable[[pd.DataFrame], list[np.ndarray]]
Groups = tuple[list[np.ndarray], np.ndarray]


def grouped(rows: Any, names: Sequence[str], code: Code) -> Groups | None:
    """Return the distinct codes of a table's rows, and how many rows have each.

    Parameters
    ----------
    rows : DataFrame or LargeTable
        The table.
    names : sequence of str
        The columns that are read.
    code : callable
        Gives codes of a batch, column by column: the same wherever a row stands.

    Returns
    -------
    columns : list of ndarray of shape (n_distinct,)
        The codes, in the order in which they first occur.
    counts : ndarray of shape (n_distinct,)

    Notes
    -----
    None where no worker counts the table, and of more than 4 million distinct rows: their counts
    would be no smaller than the table.
    """
    if not names or not counted_by_workers(rows):
        return None
    return rows.added_up(names, partial(_groups_of, code=code), _merged)


def _groups_of(frame: pd.DataFrame, code: Code) -> Groups | None:
    return _few(*distinct_codes([_narrow(column) for column in code(frame)]))


def _merged(parts: list[Groups | None]) -> Groups | None:
    known = [part for part in parts if part is not None]
    if len(known) < len(parts):
        return None
    columns = [np.concatenate(of) for of in zip(*(part[0] for part in known), strict=True)]
    return _few(*distinct_codes(columns, np.concatenate([part[1] for part in known])))


def _few(columns: list[np.ndarray], counts: np.ndarray) -> Groups | None:
    return (columns, counts) if counts.size <= _MOST else None


def _narrow(column: np.ndarray) -> np.ndarray:
    """Return whole numbers in as few bytes as hold them; others as they are."""
    if column.dtype.kind == "f" or not column.size:
        return column
    kinds = {np.min_scalar_type(int(end)) for end in (column.min(), column.max())}
    return column.astype(np.result_type(*kinds))
