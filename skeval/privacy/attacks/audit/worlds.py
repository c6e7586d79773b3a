"""Two tables that differ in one row, for an audit: which row, and what stands beside it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from skeval.context import Context
from skeval.exceptions import SchemaMismatchError
from skeval.privacy.attacks.membership.rows import drawing_order
from skeval.privacy.attacks.shadow.row_features import Domain, row_distances
from skeval.privacy.attacks.shadow.targets import METHODS, canaries, stacked, target_positions
from skeval.tables.frames import as_frame, canonical, learn_levels
from skeval.tables.preprocessing import NOMINAL, NUMERIC, category_codes, numbers
from skeval.tables.schema import TableSchema

BASES = ("train", "sample", "worst_case", "one_row", "empty", "duplicates")
TARGETS = (*METHODS, "repeat")
_MADE = "a table that the generator made"


@dataclass(frozen=True)
class Reader:
    """Reads tables as float rows: numbers, then codes of categories; missing is nan."""

    schema: TableSchema
    levels: dict[str, list[str]]

    def rows(self, table: Any) -> np.ndarray:
        """Return the measured columns of a table; levels that are new get further codes."""
        frame = as_frame(table, _MADE)
        if missing := [name for name in self.schema.kinds if name not in frame]:
            raise SchemaMismatchError(
                f"The generator made a table that lacks columns of train: {', '.join(missing)}."
            )
        frame = canonical(frame, self.schema, _MADE, self.levels)
        numeric, nominal = self.schema.columns(*NUMERIC), self.schema.columns(*NOMINAL)
        parts = [numbers(frame[numeric])] if numeric else []
        return np.hstack([*parts, category_codes(frame[nominal])] if nominal else parts)

    @property
    def nominal(self) -> list[bool]:
        """Which columns of the rows are codes."""
        n_numbers, n_codes = (len(self.schema.columns(*kinds)) for kinds in (NUMERIC, NOMINAL))
        return [False] * n_numbers + [True] * n_codes


@dataclass(frozen=True)
class Worlds:
    """Two adjacent tables, as rows of one, so that their types are the same.

    Attributes
    ----------
    table : DataFrame
        Rows of train, and rows that were made.
    rows : ndarray of shape (n_rows, n_columns)
        The same, read.
    reader : Reader
        Reads tables like these.
    domain : Domain
        What the columns of all these rows hold.
    inside, outside : ndarray of int
        The rows of the table with the target, and of that without; target or what is in its place
        comes last.
    target : int
        The row that is attacked.
    """

    table: pd.DataFrame
    rows: np.ndarray
    reader: Reader
    domain: Domain
    inside: np.ndarray
    outside: np.ndarray
    target: int


def worlds_of(
    context: Context, base: str, target: str, *, adjacency: str, n_base: int, seed: int
) -> Worlds:
    """Return two adjacent tables.

    Parameters
    ----------
    context : Context
        Of which train is looked at: at least two rows.
    base, target : str
        Among `BASES` and `TARGETS`.
    adjacency : {"add_remove", "replace"}
        Whether the world without the target has another row in its place.
    n_base : int
        Rows of the base, of "sample" and "duplicates".
    seed : int
        Of what is drawn.

    Returns
    -------
    Worlds
    """
    order = drawing_order(context, "train", seed)  # not that of the table
    train = context.given("train")[list(context.schema.kinds)].iloc[order]
    made = canaries(context, 1) if target == "canary" else train.iloc[:0]
    table = stacked([train.reset_index(drop=True), made])
    if target == "canary":
        chosen = order.size
    else:
        method = "achilles" if target == "repeat" else target
        chosen = int(np.flatnonzero(order == target_positions(context, method, 1, 5, seed)[0])[0])
    other = _most_unlike(table, context.schema, order.size, chosen)
    replaces = adjacency == "replace"
    if base == "worst_case" and target != "repeat":
        return _interleaved(table.iloc[[other, chosen]], context.schema, replaces)
    rest = np.flatnonzero(np.arange(order.size) != chosen)
    rows = _BASES[base](rest, other, n_base)
    if target == "repeat":
        rows = np.append(rows, chosen)
    inside, outside = np.append(rows, chosen), np.append(rows, other) if replaces else rows
    return _worlds(table, context.schema, inside, outside, chosen)


# rows beside the target, of the others of train (in random order) and the one most unlike it
_BASES: dict[str, Callable[[np.ndarray, int, int], np.ndarray]] = {
    "train": lambda rest, other, n: rest,
    "sample": lambda rest, other, n: rest[:n],
    "worst_case": lambda rest, other, n: np.array([other]),
    "one_row": lambda rest, other, n: np.array([other]),
    "empty": lambda rest, other, n: np.empty(0, dtype=np.int64),
    "duplicates": lambda rest, other, n: np.full(n, other),
}


def _worlds(
    table: pd.DataFrame,
    schema: TableSchema,
    inside: np.ndarray,
    outside: np.ndarray,
    target: int,
) -> Worlds:
    reader, rows = _read(table, schema)
    return Worlds(table, rows, reader, Domain.of(rows, reader.nominal), inside, outside, target)


def _read(table: pd.DataFrame, schema: TableSchema) -> tuple[Reader, np.ndarray]:
    frame = canonical(table, schema, "train")
    reader = Reader(schema, learn_levels([frame], schema))
    return reader, reader.rows(frame)


def _most_unlike(table: pd.DataFrame, schema: TableSchema, n_train: int, row: int) -> int:
    """Return the row of train that agrees with another in the fewest columns, the farthest one."""
    reader, rows = _read(table, schema)
    own, train = rows[row], rows[:n_train]
    same = (train == own) | (np.isnan(train) & np.isnan(own))
    unlike = row_distances(train, own, Domain.of(rows, reader.nominal)) - same.sum(axis=1)
    if row < n_train:
        unlike[row] = -np.inf
    return int(np.argmax(unlike))


def _interleaved(pair: pd.DataFrame, schema: TableSchema, replaces: bool) -> Worlds:
    """Return a world of two rows that share no value, and a third that is made of their cells.

    All its values occur in the world without it, so that no new category or extreme tells.
    """
    alternating = np.arange(pair.shape[1]) % 2
    made = {
        name: pair[name].iloc[[0, 1, first, 1 - first]].reset_index(drop=True)
        for name, first in zip(pair.columns, alternating, strict=True)
    }
    outside = [0, 1, 3] if replaces else [0, 1]
    return _worlds(pd.DataFrame(made), schema, np.array([0, 1, 2]), np.array(outside), 2)
