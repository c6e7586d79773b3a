"""Real tables, of whatever kind they are, as a context."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from skeval.core.context import Context
from skeval.tables.frames import as_frame

# those of the package are set in skeval/__init__.py; each returns None for tables of another kind
READERS: list[Callable[..., Context | None]] = []
TABLE_READERS: list[Callable[[Any, str], Any | None]] = []


def read_context(
    train: Any, holdout: Any = None, *, schema: Any = None, max_rows: int | None = None
) -> Context:
    """Read one real table, or, where train maps names to tables, several of them.

    A table that need not fit in memory, such as a folder of Parquet files, stays where it is; what
    cannot be counted up is then measured on `max_rows` rows of each role.

    Examples
    --------
    >>> import pandas as pd
    >>> from skeval.core.reading import read_context
    >>> users = pd.DataFrame({"age": [20, 30]})
    >>> read_context(users).is_relational, read_context({"users": users}).is_relational
    (False, True)
    """
    for reader in READERS:
        context = reader(train, holdout, schema=schema, max_rows=max_rows)
        if context is not None:
            return context
    return Context.of(train, holdout, schema=schema, ordered=True)


def read_rows(table: Any, role: str) -> Any:
    """Return a table as a frame, or as what a reader of tables of its kind makes of it.

    Examples
    --------
    >>> from skeval.core.reading import read_rows
    >>> read_rows({"age": [20, 30]}, "train")["age"].tolist()
    [20, 30]
    """
    for reader in TABLE_READERS:
        if (read := reader(table, role)) is not None:
            return read
    return as_frame(table, role)
