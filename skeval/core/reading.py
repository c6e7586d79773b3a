"""How real tables of any kind are read into a context."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pandas as pd

from skeval.core.context import Context
from skeval.tables.frames import as_frame

# of users, before those of the package; each returns None for tables of another kind
READERS: list[Callable[..., Context | None]] = []
TABLE_READERS: list[Callable[[Any, str], Any | None]] = []


def read_context(
    train: Any, holdout: Any = None, *, schema: Any = None, max_rows: int | None = None
) -> Context:
    """Read one real table, or, where train maps names to tables, several of them."""
    # A table that need not fit in memory, such as a folder of Parquet files, stays where it
    # is; what cannot be counted up is then measured on `max_rows` rows of each role.
    are_frames = isinstance(train, pd.DataFrame) and isinstance(holdout, pd.DataFrame | None)
    if not are_frames:
        # these contexts derive from Context, so their modules import this one
        from skeval.core.relational_context import read_several
        from skeval.scale.context import read_large

        for reader in (*READERS, read_several, read_large):
            context = reader(train, holdout, schema=schema, max_rows=max_rows)
            if context is not None:
                return context
    return Context.of(train, holdout, schema=schema, ordered=True)


def read_rows(table: Any, role: str) -> Any:
    """Return a table as a frame, or as what a reader of tables of its kind makes of it."""
    # skeval.scale imports this module; its contexts register how such tables are sampled
    import skeval.scale.context  # noqa: F401
    from skeval.scale.long_csv import large_table

    for reader in (*TABLE_READERS, large_table):
        if (read := reader(table, role)) is not None:
            return read
    return as_frame(table, role)
