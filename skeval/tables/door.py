"""Reading of any table that a user passes. Every table is read here, and only once."""

# The result is a frame, a large source that is read one column at a time, or several tables.

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from skeval.tables.csv_dialect import PLAIN, Dialect
from skeval.tables.long_csv import is_long, stream_csv
from skeval.tables.one_table import read_whole
from skeval.tables.place import Place
from skeval.tables.reading import read_table
from skeval.tables.relational_data import RelationalData, table_files
from skeval.tables.relational_schema import RelationalSchema
from skeval.tables.sources import TableSource, is_large, is_parquet, source_of


@dataclass(frozen=True)
class ReadTable:
    """A frame, a large source or several tables, together with the file, if there is one."""

    rows: Any
    place: Place | None = None


def read(given: Any, role: str, relations: Any = None) -> ReadTable:
    """Read any table that a user passes, for example a frame, path, folder, URL or lazy frame."""
    if isinstance(given, ReadTable):
        return given
    if isinstance(given, pd.DataFrame | Mapping | TableSource):
        return ReadTable(given)
    if not isinstance(given, str | Path | Place):
        source = source_of(given, role)
        return ReadTable(read_whole(given, role) if source is None else source)
    place = Place.from_path(given)
    if place.is_folder:
        return ReadTable(_read_folder(place, role, relations))
    path = place.path
    if path is not None and not place.part and is_parquet(path):
        return ReadTable(source_of(path, role), place)
    return ReadTable(read_file(place, role), None if path is None else place)


def read_file(
    place: Place, role: str, *, header: bool = False, dialect: Dialect = PLAIN
) -> pd.DataFrame | TableSource:
    """Read a file or a database completely, or return a source if it is large."""
    path, source = place.path, None
    if path is not None and is_large(path):
        source = source_of(path, role)
    elif path is not None and is_long(path):
        source = stream_csv(path, role, header=header, dialect=dialect)
    return read_table(place, header=header, dialect=dialect) if source is None else source


def _read_folder(place: Place, role: str, relations: Any) -> RelationalData | TableSource | None:
    """Read a folder that contains Parquet parts of one table, or one file per table."""
    folder = place.path
    assert folder is not None
    files = [] if is_large(folder) else list(table_files(folder).values())
    # A single Parquet file in a folder is one table.
    if not files or (len(files) == 1 and is_parquet(files[0])):
        return source_of(folder, role)
    known = relations if isinstance(relations, RelationalSchema) else None
    return RelationalData.from_folder(folder, known)
