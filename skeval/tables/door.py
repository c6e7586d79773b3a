"""The one way in for tables: whatever a user gives is read here, once."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from skeval.tables.places import Place
from skeval.tables.relational_data import RelationalData, read_folder
from skeval.tables.relational_schema import RelationalSchema


@dataclass(frozen=True)
class ReadTable:
    """A table that was read: a frame, a large source or several tables; and its file, if any."""

    rows: Any
    place: Place | None = None


def read(given: Any, role: str, relations: RelationalSchema | None = None) -> ReadTable:
    """Read whatever a user gives: a frame, a path, a folder, a URL or a lazy frame."""
    if isinstance(given, ReadTable):
        return given
    if not isinstance(given, str | Path):
        return ReadTable(given)
    several = read_folder(given, relations)
    if isinstance(several, RelationalData):
        return ReadTable(several)
    from skeval.core.context import read_rows

    rows = read_rows(given, role)
    place = Place.of(given)
    is_file = place.path is not None and not place.is_folder
    return ReadTable(getattr(rows, "source", rows), place if is_file else None)
