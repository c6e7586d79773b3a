"""Read real tables of any kind into a context."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from skeval.core.context import Context
from skeval.tables.door import read
from skeval.tables.one_table import as_frame
from skeval.tables.sources import TableSource


def read_context(
    train: Any, holdout: Any = None, *, schema: Any = None, max_rows: int | None = None
) -> Context:
    """Read one real table, or several tables if train maps names to tables."""
    # Tables that may be larger than memory, such as a folder of Parquet files, are not loaded.
    # Metrics that cannot be computed in parts then use at most `max_rows` rows of each role.
    train = read(train, "train", schema).rows
    if isinstance(train, Mapping):
        # imported here, because these modules import the module of Context
        from skeval.core.relational_context import RelationalContext

        return RelationalContext.of(train, holdout, schema=schema, ordered=True)
    holdout = None if holdout is None else read(holdout, "holdout").rows
    if isinstance(train, TableSource) or isinstance(holdout, TableSource):
        from skeval.scale.context import LargeContext

        return LargeContext.of(train, holdout, schema=schema, max_rows=max_rows)
    return Context.of(train, holdout, schema=schema, ordered=True)


def read_rows(table: Any, role: str) -> Any:
    """Return a table as a frame, or the columns of the source of a large table."""
    rows = read(table, role).rows
    if isinstance(rows, TableSource):
        # skeval.scale imports this module, and its contexts register how to sample large tables
        import skeval.scale.context  # noqa: F401
        from skeval.scale.tables import LargeTable

        return LargeTable(rows)
    return as_frame(rows, role)
