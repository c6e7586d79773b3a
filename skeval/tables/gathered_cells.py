"""Cells of rows, gathered by column, up to the number that fits in memory."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any

MAX_CELLS = 2**25  # that are read as objects of Python


def gather_cells(rows: Iterable[Iterable[tuple[Hashable, Any]]]) -> dict[Hashable, list[Any]]:
    """Return the cells of each column; a cell that a row does not have is None."""
    cells: dict[Hashable, list[Any]] = {}
    for n_rows, row in enumerate(rows, start=1):
        for key, cell in row:
            if key not in cells:
                check_size(n_rows, len(cells) + 1)
                cells[key] = [None] * (n_rows - 1)
            cells[key].append(cell)
        check_size(n_rows, len(cells))
        for column in cells.values():
            if len(column) < n_rows:
                column.append(None)
    return cells


def check_size(n_rows: int, n_columns: int) -> None:
    """Refuse more cells than fit in memory as objects of Python."""
    if n_rows * n_columns > MAX_CELLS or n_rows > MAX_CELLS:
        raise ValueError(
            f"it has more than {MAX_CELLS:,} cells; write the table as Parquet, which is read in "
            "parts."
        )
