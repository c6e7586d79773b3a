"""Which rows and which columns a metric looks at."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from skeval.context import Context, shared
from skeval.exceptions import InvalidParameterError
from skeval.schema import TableSchema

__all__ = [
    "ColumnChoice",
    "chosen_columns",
    "column_key",
    "holdout_in_place",
    "nothing_to_measure",
    "sample_positions",
    "sampled",
    "synthetic_sample",
]

ColumnChoice = int | Sequence[str] | None


def sample_positions(n_rows: int, n_drawn: int | None, seed: int) -> np.ndarray:
    """Return `n_drawn` of `n_rows` positions, ascending, none twice; all if there are no more."""
    if n_drawn is None or n_drawn >= n_rows:
        return np.arange(n_rows)
    return np.sort(np.random.default_rng(seed).choice(n_rows, n_drawn, replace=False))


def sampled(frame: pd.DataFrame, n_drawn: int | None, seed: int) -> pd.DataFrame:
    """Return a seeded sample of the rows, in their order."""
    if n_drawn is None or n_drawn >= len(frame):
        return frame
    return frame.iloc[sample_positions(len(frame), n_drawn, seed)].reset_index(drop=True)


@shared
def holdout_in_place(context: Context, n_rows: int, seed: int = 0) -> Context:
    """Return a context in which `n_rows` of the holdout stand in the synthetic place."""
    rows, given = (sampled(t, n_rows, seed) for t in (context.holdout, context.given("holdout")))
    return context.standing_in(rows, given)


@shared
def synthetic_sample(context: Context, n_rows: int, seed: int = 0) -> Context:
    """Return a context with `n_rows` of the synthetic rows."""
    rows, given = (
        sampled(t, n_rows, seed) for t in (context.synthetic, context.given("synthetic"))
    )
    return context.standing_in(rows, given)


def chosen_columns(schema: TableSchema, columns: ColumnChoice) -> tuple[str, ...]:
    """Return the names that a `columns` parameter chooses among those that can be measured.

    Raises
    ------
    InvalidParameterError
        If a name is not a column, or is one of text or ids.
    """
    measured = schema.measured
    if columns is None or isinstance(columns, int | np.integer):
        return tuple(measured[: None if columns is None else int(columns)])
    if unknown := [name for name in columns if name not in measured]:
        raise InvalidParameterError(
            f"columns names {', '.join(unknown)}, which cannot be measured. "
            f"Columns that can: {', '.join(measured)}."
        )
    return tuple(name for name in measured if name in set(columns))


def column_key(schema: TableSchema, columns: ColumnChoice) -> tuple[str, ...] | None:
    """Return a choice of columns in one form, None for all: equal choices are one memo entry."""
    chosen = chosen_columns(schema, columns)
    return None if len(chosen) == len(schema.measured) else chosen


def nothing_to_measure(context: Context, space: Any) -> bool:
    """Tell whether a space of ours has no column to look at, as in a table of texts only."""
    return isinstance(space, str) and not context.schema.measured
