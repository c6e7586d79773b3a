"""Which rows and columns a metric looks at, and tables in the place of the synthetic one."""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from itertools import combinations
from math import comb
from typing import Any, TypeVar

import numpy as np
import pandas as pd

from skeval.context import Context, shared
from skeval.exceptions import InvalidParameterError
from skeval.tables.schema import TableSchema

T = TypeVar("T")
ColumnChoice = int | Sequence[str] | None
ROLES = ("train", "synthetic")  # of the two tables that are compared
_MOST_NAMES = 20  # that an error lists


def sample_positions(n_rows: int, n_drawn: int | None, seed: int) -> np.ndarray:
    """Return `n_drawn` of `n_rows` positions, ascending, none twice; all if there are no more."""
    if n_drawn is None or n_drawn >= n_rows:
        return np.arange(n_rows)
    return np.sort(np.random.default_rng(seed).choice(n_rows, n_drawn, replace=False))


def named_seed(name: str, seed: int) -> int:
    """Return a seed of its own for a table: tables may be aligned row by row."""
    return zlib.crc32(f"{name} {seed}".encode())


def sampled(frame: pd.DataFrame, n_drawn: int | None, seed: int) -> pd.DataFrame:
    """Return a seeded sample of the rows, in their order."""
    if n_drawn is None or n_drawn >= len(frame):
        return frame
    return frame.iloc[sample_positions(len(frame), n_drawn, seed)].reset_index(drop=True)


def drawn_subsets(items: Sequence[T], k: int, n_subsets: int | None, seed: int) -> list[list[T]]:
    """Return distinct subsets of k items, all of them or at most `n_subsets` drawn at random.

    Examples
    --------
    >>> from skeval.steps.samples import drawn_subsets
    >>> drawn_subsets(["a", "b", "c"], 2, None, 0)
    [['a', 'b'], ['a', 'c'], ['b', 'c']]
    """
    if n_subsets is None or n_subsets >= comb(len(items), k):
        return [list(subset) for subset in combinations(items, k)]
    rng = np.random.default_rng(seed)
    drawn: set[tuple[int, ...]] = set()
    while len(drawn) < n_subsets:
        drawn.add(tuple(sorted(rng.choice(len(items), k, replace=False).tolist())))
    return [[items[i] for i in subset] for subset in sorted(drawn)]


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


def check_measured(
    schema: TableSchema, named: Mapping[str, Sequence[str]], owner: str | None = None
) -> None:
    """Refuse names of columns that are not there, or hold texts or ids.

    Parameters
    ----------
    schema : TableSchema
        Of the table.
    named : mapping of str to sequence of str
        Names of columns, by the parameter that has them.
    owner : str, optional
        Whose parameters they are.

    Raises
    ------
    InvalidParameterError
        In one sentence that tells all such names.
    """
    measured = schema.measured
    absent = {what: [n for n in names if n not in measured] for what, names in named.items()}
    if faults := [f"{what} names {', '.join(names)}" for what, names in absent.items() if names]:
        more = len(measured) - _MOST_NAMES
        known = ", ".join(measured[:_MOST_NAMES]) + (f" and {more} more" if more > 0 else "")
        raise InvalidParameterError(
            f"{'' if owner is None else f'{owner}: '}{'; '.join(faults)}, which cannot be "
            f"measured. Columns that can: {known}."
        )


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
    check_measured(schema, {"columns": columns})
    return tuple(name for name in measured if name in set(columns))


def column_key(schema: TableSchema, columns: ColumnChoice) -> tuple[str, ...] | None:
    """Return a choice of columns in one form, None for all: equal choices are one memo entry."""
    chosen = chosen_columns(schema, columns)
    return None if len(chosen) == len(schema.measured) else chosen


def nothing_to_measure(context: Context, space: Any) -> bool:
    """Tell whether a space of ours has no column to look at, as in a table of texts only."""
    return isinstance(space, str) and not context.schema.measured


@shared
def permuted_in_place(context: Context, n_rows: int, seed: int = 0) -> Context:
    """Return a context in which rows without association stand in the synthetic place.

    Each column holds the values of train in an order of its own: the marginals are those of train
    (exactly so where `n_rows` is a multiple of its rows), and no column tells of another.
    """
    train = context.train
    columns = {}
    for name in train.columns:
        # by name, not by position: the order of columns means nothing
        rng = np.random.default_rng([seed, zlib.crc32(str(name).encode())])
        n_times = -(-n_rows // len(train))
        order = np.concatenate([rng.permutation(len(train)) for _ in range(n_times)])[:n_rows]
        columns[name] = train[name].take(order).array
    return context.standing_in(type(train)(columns))
