"""Whether tables are those that results are of: by the bytes of files, or by their cells."""

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
    """Look whether tables are those that results are of.

    Parameters
    ----------
    provenance : Provenance
        The provenance of the results.
    tables : iterable of paths, or mapping of str to table or path
        Files, or tables by any name. Their order does not matter: each is sought among all inputs.

    Returns
    -------
    DataFrame
        One row a table: `given`, `input` (the roles that it is known to have had) and `found`:
        "the same bytes" of a file, "the same cells" of a table in any format, or "not among the
        inputs". Then one row for each input that none of them is, with an empty `given` and "not
        looked at".

    Raises
    ------
    TableError
        If a file cannot be read, or has no input of its columns.

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
          synthetic        not looked at
    """
    named = tables if isinstance(tables, Mapping) else {str(path): path for path in tables}
    rows, looked_at = [], set()
    for name, table in named.items():
        roles, found = _roles_of_table(provenance, table)
        looked_at.update(roles)
        rows.append((name, ", ".join(roles), found))
    for record in provenance.inputs:
        if record.role not in looked_at:
            lacking = "" if record.cells or record.file_bytes else ", for its hashes were left out"
            rows.append(("", record.role, f"not looked at{lacking}"))
    return pd.DataFrame(rows, columns=["given", "input", "found"])


def _roles_of_same_bytes(provenance: Provenance, place: Place) -> list[str]:
    """Return the roles of the inputs that are the same file, and the same sheet or table of it."""
    if place.path is None or place.is_query:
        return []
    in_bytes = hash_of_file(place.path)
    return [
        record.role
        for record in provenance.inputs
        if record.file_bytes == in_bytes and place.part in ("", record.file.partition("#")[2])
    ]


def _roles_of_table(provenance: Provenance, table: Any) -> tuple[list[str], str]:
    """Return the roles of the inputs that a table is, and how that is known."""
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
