"""Check whether tables are the inputs of results, by the bytes of files or by their cells."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from skeval.core.reading import read_rows
from skeval.exceptions import TableError
from skeval.results.hashes import hash_of_cells
from skeval.results.provenance import Provenance, schema_of
from skeval.tables.place import Place
from skeval.tables.reading import read_table
from skeval.utils.foreign_files import hash_of_file

SAME_BYTES, SAME_CELLS, DIFFERENT = "the same bytes", "the same cells", "not among the inputs"


def verify(
    provenance: Provenance, tables: Mapping[str, Any] | Iterable[str | Path | Place]
) -> pd.DataFrame:
    """Check whether tables are the inputs of results.

    Parameters
    ----------
    provenance : Provenance
        Provenance of the results.
    tables : iterable of paths, or mapping of str to table or path
        Files, or tables with any names. Each table is compared with all inputs, so their order does
        not matter.

    Returns
    -------
    DataFrame
        One row per table with `given`, `input` (the roles that match) and `found`: "the same bytes"
        for a file, "the same cells" for a table in any format, or "not among the inputs". After
        these rows, there is one row for each input without a matching table, in which `given` is
        empty and `found` is "not checked".

    Raises
    ------
    TableError
        If a file cannot be read, or does not contain the columns of any input.

    Examples
    --------
    >>> from skeval import make_suite
    >>> from skeval.datasets import make_mixed
    >>> from skeval.results.verification import verify
    >>> train, synthetic = make_mixed(100, random_state=0), make_mixed(100, random_state=1)
    >>> result = make_suite("quality").fit(train).evaluate(synthetic)
    >>> found = verify(result.provenance, {"mine": train, "other": train[::-1]})
    >>> print(found.to_string(index=False))
    given     input                found
     mine     train       the same cells
    other           not among the inputs
          synthetic         not checked
    """
    named = tables if isinstance(tables, Mapping) else {str(path): path for path in tables}
    rows, looked_at = [], set()
    for name, table in named.items():
        roles, found = _roles_of_table(provenance, table)
        looked_at.update(roles)
        rows.append((name, ", ".join(roles), found))
    for record in provenance.inputs:
        if record.role not in looked_at:
            lacking = "" if record.cells or record.file_bytes else ", without hashes"
            rows.append(("", record.role, f"not checked{lacking}"))
    return pd.DataFrame(rows, columns=["given", "input", "found"])


def _roles_of_same_bytes(provenance: Provenance, place: Place) -> list[str]:
    """Return the roles of inputs that are the same file, and the same sheet or table in it."""
    if place.path is None or place.is_query:
        return []
    in_bytes = hash_of_file(place.path)
    return [
        record.role
        for record in provenance.inputs
        if record.file_bytes == in_bytes and place.part in ("", record.file.partition("#")[2])
    ]


def _roles_of_table(provenance: Provenance, table: Any) -> tuple[list[str], str]:
    """Return the roles of inputs that match a table, and how they match."""
    if isinstance(table, str | Path | Place) and not (place := Place.from_path(table)).is_folder:
        if roles := _roles_of_same_bytes(provenance, place):
            return roles, SAME_BYTES
        try:
            table = read_table(place)
        except TableError:
            return [], DIFFERENT
    frame, roles = read_rows(table, "table"), []
    for record in provenance.inputs:
        schema = schema_of(provenance.columns, record.role.partition("/")[2])
        if record.cells and len(frame) == record.n_rows and set(schema.kinds) <= set(frame.columns):
            roles += [record.role] if hash_of_cells(frame, schema) == record.cells else []
    return roles, SAME_CELLS if roles else DIFFERENT
