"""Functions of the rows of a role that can be computed from parts of a table, such as counts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeVar

import numpy as np
import pandas as pd

from skeval.core.context import Context, by_context, shared

T = TypeVar("T")


def sum_counts(counts: list[list[np.ndarray]]) -> list[np.ndarray]:
    """Return the elementwise sum of lists of counts."""
    return [np.sum(of_column, axis=0) for of_column in zip(*counts, strict=True)]


@by_context
def count_in_rows(
    context: Context,
    role: str,
    names: Sequence[str],
    count: Callable[[Any], T],
    merge: Callable[[list[T]], T],
) -> T:
    """Return the result of a function for the rows of a role, merged over parts."""
    return count(context[role])


@by_context
def each_column(
    context: Context, role: str, look: Callable[..., T], tasks: Iterable[Sequence[Any]]
) -> Iterator[T]:
    """Yield the results of a function for the columns of a role, with one task per column.

    The arguments are the canonical rows, the original rows and the elements of the task.
    """
    rows, given = context[role], context.original_frame(role)
    return (look(rows, given, *task) for task in tasks)


@by_context
def apply_to_original(context: Context, role: str, look: Callable[..., T], *arguments: Any) -> T:
    """Return the result of a function for the original table of a role, in its original order."""
    return look(context.unsorted_original(role), *arguments)


@shared
def has_missing(context: Context, role: str, column: str) -> bool:
    """Return whether a canonical numerical or categorical column has missing values."""
    return bool(context.column(role, column).isna().any())


def missing_cells(context: Context, role: str, column: str) -> np.ndarray:
    """Return which cells are missing in the original table, or all if the column is missing."""
    if column not in context.original_names(role):
        return np.ones(context.n_rows(role), dtype=bool)
    missing: np.ndarray = context.original_column(role, column).isna().to_numpy(dtype=bool)
    return missing


@shared
def n_missing(context: Context, role: str, column: str) -> int:
    """Return the number of missing cells of a column in the original table."""
    return int(missing_cells(context, role, column).sum())


@shared
def level_counts(context: Context, role: str, column: str) -> np.ndarray:
    """Return the count of each category of a column, in the order of the codes."""
    return _counts_of_codes(context.column(role, column))


def counts_of_levels(frame: pd.DataFrame, names: Sequence[str]) -> list[np.ndarray]:
    """Return the count of each category of categorical columns in some rows."""
    return [_counts_of_codes(frame[name]) for name in names]


def _counts_of_codes(column: pd.Series) -> np.ndarray:
    codes = column.array.codes
    return np.bincount(codes[codes >= 0], minlength=len(column.dtype.categories))
