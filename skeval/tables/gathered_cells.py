"""Collection of the cells of rows by column, with a limit for the memory."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any

MAX_CELLS = 2**25  # maximum number of cells that are read as Python objects


def gather_cells(rows: Iterable[Iterable[tuple[Hashable, Any]]]) -> dict[Hashable, list[Any]]:
    """Return the cells of each column, with None for cells that are missing in a row."""
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
    """Raise an error for more cells than fit in memory as Python objects."""
    if n_rows * n_columns > MAX_CELLS or n_rows > MAX_CELLS:
        raise ValueError(
            f"the table has more than {MAX_CELLS:,} cells. Write it as Parquet, which is read in "
            "parts."
        )
