"""Rows of a table in another order or number, whose columns are copied when they are read."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from skeval.tables.frames import column_values
from skeval.tables.row_hashes import content_hashes_of, order_of_content, rows_at


class TakenRows:
    """Rows at some positions of a frame. A metric that reads one column copies no other one."""

    # The frame `table` must not be modified, and `positions` are the positions of the rows in it.

    def __init__(self, table: pd.DataFrame, positions: np.ndarray) -> None:
        self.table, self.positions = table, positions
        self._whole: dict[str, pd.Series] = {}  # columns of the table
        self._numbers: dict[str, np.ndarray] = {}  # the same columns as numbers
        self._columns: dict[str, pd.Series] = {}

    def __len__(self) -> int:
        return self.positions.size

    @property
    def columns(self) -> pd.Index:
        """Names of the columns."""
        return self.table.columns

    def __getitem__(self, name: str) -> pd.Series:
        """Return a column, which must not be modified."""
        if name not in self._columns:
            if name not in self._whole:
                self._whole[name] = self.table[name]
            whole = self._whole[name]
            part = whole.array.take(self.positions)
            self._columns[name] = pd.Series(part, dtype=whole.dtype, name=name, copy=False)
        return self._columns[name]

    def numbers(self, name: str) -> np.ndarray:
        """Return a canonical column as float64, see `column_values`."""
        if name not in self._numbers:
            self._numbers[name] = column_values(self.table[name])
        return self._numbers[name][self.positions]

    def take(self, positions: np.ndarray) -> TakenRows:
        """Return the rows at some positions of these rows."""
        rows = TakenRows(self.table, self.positions[positions])
        rows._whole, rows._numbers = self._whole, self._numbers
        return rows

    def copy(self, *, deep: bool = False) -> pd.DataFrame:
        """Return the rows as a frame."""
        return self._frame.copy(deep=deep)

    @cached_property
    def _frame(self) -> pd.DataFrame:
        return rows_at(self.table, self.positions)


def in_content_order(
    rows: pd.DataFrame, given: pd.DataFrame, ids: Sequence[str]
) -> tuple[pd.DataFrame, TakenRows, np.ndarray, np.ndarray | None]:
    """Return canonical and original rows by content, with their former positions and hashes."""
    hashes = content_hashes_of(rows, ids)
    order = order_of_content(rows, ids, hashes)
    hashes = None if hashes is None else hashes[order]
    own = given.copy()  # an array that the user changes later may be part of the table
    return rows_at(rows, order), TakenRows(own, order), order, hashes


def take_rows(table: Any, positions: np.ndarray) -> Any:
    """Return the rows of a table at some positions. Rows of a frame are copied when read."""
    if isinstance(table, TakenRows):
        return table.take(positions)
    if isinstance(table, pd.DataFrame):
        return TakenRows(table, positions)
    return table.iloc[positions].reset_index(drop=True)


def column_numbers(table: Any, name: str) -> np.ndarray:
    """Return a column of a canonical table as float64, whose cells must not be modified."""
    return table.numbers(name) if isinstance(table, TakenRows) else column_values(table[name])
