"""Reading of JSON lines, that is, files with one object of names and plain values per line."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

import pandas as pd

from skeval.tables.file_endings import PACKINGS
from skeval.tables.gathered_cells import gather_cells
from skeval.tables.packed_files import MAX_LINE_LENGTH, MAX_PACKED, open_file


def read_json_lines(path: Path) -> pd.DataFrame:
    """Read a file in which each line is a JSON object of names and plain values."""
    with open_file(path) as file:
        cells = gather_cells(_objects(file, is_packed=path.suffix.lower() in PACKINGS))
    nested = [
        name for name, column in cells.items() if any(isinstance(c, dict | list) for c in column)
    ]
    if nested:
        raise ValueError(
            f"the cells of {', '.join(map(str, nested))} are lists or objects. Write plain values."
        )
    return pd.DataFrame(cells)


def _objects(file: BinaryIO, *, is_packed: bool) -> Iterator[Any]:
    """Yield the names and values of each line."""
    n_bytes = number = 0
    while line := file.readline(MAX_LINE_LENGTH):
        number += 1
        n_bytes += len(line)
        if len(line) == MAX_LINE_LENGTH or (is_packed and n_bytes > MAX_PACKED):
            raise ValueError(
                f"line {number} or the whole file is too long. Write the table as CSV or Parquet."
            )
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):  # not JSON, not UTF-8, or nested too deeply
            row = None
        if not isinstance(row, dict):
            raise ValueError(f"line {number} is not a JSON object of names and values.")
        yield row.items()
