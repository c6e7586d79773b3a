"""Real tables, of whatever kind they are, as a context."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from skeval.context import Context

Reader = Callable[..., Context | None]
# those of the package are set in skeval/__init__.py; each returns None for tables of another kind
READERS: list[Reader] = []


def read_context(
    train: Any, holdout: Any = None, *, schema: Any = None, max_rows: int | None = None
) -> Context:
    """Read one real table, or, where train maps names to tables, several of them.

    A table that need not fit in memory, such as a folder of Parquet files, stays where it is; what
    cannot be counted up is then measured on `max_rows` rows of each role.

    Examples
    --------
    >>> import pandas as pd
    >>> from skeval.reading_context import read_context
    >>> users = pd.DataFrame({"age": [20, 30]})
    >>> read_context(users).is_relational, read_context({"users": users}).is_relational
    (False, True)
    """
    for reader in READERS:
        context = reader(train, holdout, schema=schema, max_rows=max_rows)
        if context is not None:
            return context
    return Context.of(train, holdout, schema=schema, ordered=True)
