"""Two tables that differ in one row, for an audit: which row, and what stands beside it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from skeval.generators._columns import kind_of
from skeval.preprocessing import NOMINAL, NUMERIC, canonical, category_codes, numbers
from skeval.schema import TableSchema
from skeval.tables import as_frame, learn_levels

__all__ = ["BASES", "TARGETS", "Pool", "Reader", "Worlds", "column_gaps", "pool_of", "worlds_of"]

BASES = ("train", "sample", "worst_case", "one_row", "duplicates")
TARGETS = ("achilles", "random", "canary", "repeat")

_MOST_ROWS = 5_000  # rows among which the most exposed one is looked for
_N_NEIGHBOURS = 5
_AT_ONCE = 512
_NEW = "canary"


@dataclass(frozen=True)
class Reader:
    """Reads tables as float rows: numbers, then codes of categories; missing is nan."""

    schema: TableSchema
    levels: dict[str, list[str]]

    def rows(self, table: Any) -> np.ndarray:
        """Return the measured columns of a table; levels that are new get further codes."""
        frame = canonical(as_frame(table, "synthetic"), self.schema, "synthetic", self.levels)
        numeric, nominal = self.schema.columns(*NUMERIC), self.schema.columns(*NOMINAL)
        parts = [numbers(frame[numeric])] if numeric else []
        return np.hstack([*parts, category_codes(frame[nominal])] if nominal else parts)

    @property
    def is_number(self) -> np.ndarray:
        """Which of the columns of the rows hold numbers or dates."""
        n_numbers = len(self.schema.columns(*NUMERIC))
        return np.arange(n_numbers + len(self.schema.columns(*NOMINAL))) < n_numbers


@dataclass(frozen=True)
class Pool:
    """All rows that a world may be made of: those of train, then made ones.

    Attributes
    ----------
    table : DataFrame
        As the generator gets them. Both worlds are rows of it, so that their types are the same:
        what differs is one row and nothing else.
    rows : ndarray
        The same, read.
    reader : Reader
        Reads what generators make of them.
    n_train : int
        How many are rows of train.
    """

    table: pd.DataFrame
    rows: np.ndarray
    reader: Reader
    n_train: int

    @property
    def ranges(self) -> np.ndarray:
        """Range of each column over all these rows."""
        present = np.isfinite(self.rows)
        low = np.where(present, self.rows, np.inf).min(axis=0)
        high = np.where(present, self.rows, -np.inf).max(axis=0)
        return np.where(present.any(axis=0), high - low, 0.0)

    def gaps(self, rows: np.ndarray, row: int) -> np.ndarray:
        """Return how far rows are from one of the pool, column by column."""
        return column_gaps(rows, self.rows[row], self.ranges, self.reader.is_number)


@dataclass(frozen=True)
class Worlds:
    """Positions in the pool of the rows of both worlds, and of the row that is attacked."""

    with_target: np.ndarray
    without: np.ndarray
    target: int


def column_gaps(
    rows: np.ndarray, row: np.ndarray, ranges: np.ndarray, is_number: np.ndarray
) -> np.ndarray:
    """Return Gower's differences of rows from one row, column by column, each in [0, 1].

    0 between two missing values, 1 between one and any other.
    """
    differ = rows != row
    with np.errstate(invalid="ignore", divide="ignore"):
        apart = np.where(ranges > 0.0, np.minimum(np.abs(rows - row) / ranges, 1.0), differ)
    gaps = np.where(is_number, apart, differ)
    missing = np.isnan(rows), np.isnan(row)
    found: np.ndarray = np.where(missing[0] | missing[1], missing[0] ^ missing[1], gaps)
    return found


def pool_of(train: pd.DataFrame, schema: TableSchema, made: pd.DataFrame | None = None) -> Pool:
    """Return the pool of some rows of train, and of rows that were made."""
    table = train if made is None else pd.concat([train, made], ignore_index=True)
    frame = canonical(table, schema, "train")
    levels = learn_levels([frame], schema)
    reader = Reader(schema, levels)
    return Pool(table, reader.rows(frame), reader, len(train))


# ----------------------------------------------------------------------------- the row attacked


def worlds_of(
    train: pd.DataFrame,
    schema: TableSchema,
    base: str,
    target: str,
    *,
    adjacency: str,
    n_base: int,
    seed: int,
) -> tuple[Pool, Worlds]:
    """Return two adjacent tables.

    Parameters
    ----------
    train : DataFrame of shape (n_rows, n_columns)
        At least two rows, in an order that does not matter.
    schema : TableSchema
        The kinds of its columns.
    base, target : str
        Among `BASES` and `TARGETS`.
    adjacency : {"add_remove", "replace"}
        Whether the world without the target has another row in its place.
    n_base : int
        Rows of the base, of "sample" and "duplicates".
    seed : int
        Of what is drawn.
    """
    rng = np.random.default_rng(seed)
    train, pool = _with_canary(train, schema) if target == "canary" else (train, None)
    pool = pool_of(train, schema) if pool is None else pool
    chosen = _target(pool, target, rng)
    if base == "worst_case" and target != "repeat":
        return _interleaved(pool, schema, chosen, adjacency)
    rest = np.flatnonzero(np.arange(pool.n_train) != chosen)
    other = _most_unlike(pool, chosen)
    rows = _BASES[base](rest, chosen, other, n_base, rng)
    if target == "repeat" and chosen not in rows:
        rows = np.append(rows, chosen)
    instead = [other] if adjacency == "replace" else []
    return pool, Worlds(np.append(rows, chosen), np.append(rows, instead).astype(np.int64), chosen)


_Base = Callable[[np.ndarray, int, int, int, np.random.Generator], np.ndarray]
_BASES: dict[str, _Base] = {
    "train": lambda rest, chosen, other, n, rng: rest,
    "sample": lambda rest, chosen, other, n, rng: rng.permutation(rest)[:n],
    # only with "repeat" does a worst case have its target twice
    "worst_case": lambda rest, chosen, other, n, rng: np.array([other]),
    "one_row": lambda rest, chosen, other, n, rng: np.array([other]),
    "duplicates": lambda rest, chosen, other, n, rng: np.full(n, other),
}


def _target(pool: Pool, target: str, rng: np.random.Generator) -> int:
    if target == "canary":
        return len(pool.rows) - 1
    if target == "random":
        return int(rng.integers(pool.n_train))
    return _most_exposed(pool, rng)


def _most_unlike(pool: Pool, row: int) -> int:
    """Return the row of train that agrees with another in the fewest columns, the farthest one."""
    gaps = pool.gaps(pool.rows[: pool.n_train], row)
    unlike = (gaps > 0.0).sum(axis=1) + gaps.mean(axis=1)
    if row < pool.n_train:
        unlike[row] = -1.0
    return int(np.argmax(unlike))


def _most_exposed(pool: Pool, rng: np.random.Generator) -> int:
    """Return the row of train that is farthest from its nearest others, by angle.

    The distance is ``1 - cosine``, of numbers between their extremes and of one-hot categories
    apart, weighted by their numbers of columns.
    """
    n_rows = pool.n_train
    drawn = rng.permutation(n_rows)[:_MOST_ROWS] if n_rows > _MOST_ROWS else np.arange(n_rows)
    is_number = pool.reader.is_number
    units = _scaled(pool.rows[drawn][:, is_number])
    codes = pool.rows[drawn][:, ~is_number]
    codes = np.where(np.isnan(codes), -1.0, codes)
    n_columns = is_number.size
    exposed = np.empty(drawn.size)
    for start in range(0, drawn.size, _AT_ONCE):
        at = slice(start, start + _AT_ONCE)
        near = units[at] @ units.T * (is_number.sum() / n_columns)
        for column in codes.T:  # a one-hot row has the length of the root of its columns
            near += (column[at, None] == column) / n_columns
        distances = is_number.sum() / n_columns + codes.shape[1] / n_columns - near
        itself = np.arange(near.shape[0])
        distances[itself, start + itself] = np.inf
        k = min(_N_NEIGHBOURS, drawn.size - 1)
        exposed[at] = np.partition(distances, k - 1, axis=1)[:, :k].mean(axis=1)
    return int(drawn[int(np.argmax(np.round(exposed, 9)))])


def _scaled(rows: np.ndarray) -> np.ndarray:
    """Return numbers between 0 and 1, missing in the middle, as rows of length 1 (or 0)."""
    if not rows.shape[1]:
        return rows
    present = np.isfinite(rows)
    low = np.where(present, rows, np.inf).min(axis=0)
    width = np.where(present, rows, -np.inf).max(axis=0) - low
    units = np.where(present, (rows - low) / np.where(width > 0, width, 1.0), 0.5)
    length = np.linalg.norm(units, axis=1, keepdims=True)
    found: np.ndarray = np.nan_to_num(units) / np.where(length > 0, length, 1.0)
    return found


# ------------------------------------------------------------------------------------ made rows


def _interleaved(
    pool: Pool, schema: TableSchema, row: int, adjacency: str
) -> tuple[Pool, Worlds]:
    """Return a world of two rows that share no value, and a third that is made of their cells.

    All its values occur in the world without it, so that no new category or extreme tells.
    """
    other = _most_unlike(pool, row)
    names = pool.table.columns
    made = {
        name: pool.table[name].take([(other, row)[j % 2], (row, other)[j % 2]])
        for j, name in enumerate(names)
    }
    table = pool.table.iloc[[other, row]].reset_index(drop=True)
    mixed = pd.DataFrame({name: column.reset_index(drop=True) for name, column in made.items()})
    mixed = pool_of(table, schema, mixed)
    instead = [3] if adjacency == "replace" else []
    return mixed, Worlds(np.array([0, 1, 2]), np.array([0, 1, *instead]), 2)


def _with_canary(train: pd.DataFrame, schema: TableSchema) -> tuple[pd.DataFrame, Pool]:
    """Return train, and a pool with a row of new categories and of numbers beyond all others.

    The categories that a pandas type lists are public, and list the new one in both worlds.
    """
    columns = {name: _canary_column(train[name]) for name in train.columns}
    table = pd.DataFrame(columns)
    real, made = table.iloc[:-1], table.iloc[-1:]
    return real, pool_of(real, schema, made)


def _canary_column(column: pd.Series) -> pd.Series:
    present = column.dropna()
    if present.empty:
        return pd.concat([column, column.iloc[:1]], ignore_index=True)
    if isinstance(column.dtype, pd.CategoricalDtype):
        new = _new_label(column.cat.categories)
        if isinstance(new, str):
            column = column.cat.add_categories([new])
            return pd.concat([column, pd.Series([new], dtype=column.dtype)], ignore_index=True)
    kind = kind_of(column.dtype)
    if kind in "fiuMm":
        return pd.concat([column, _beyond(present, column.dtype)], ignore_index=True)
    if pd.api.types.is_string_dtype(present):
        new = pd.Series([_new_label(present)], dtype=column.dtype)
        return pd.concat([column, new], ignore_index=True)
    # truths, and what nothing new can be made of: the rarest value
    rarest = present.map(str).value_counts(sort=True, ascending=True).index[0]
    return pd.concat([column, present[present.map(str) == rarest].iloc[:1]], ignore_index=True)


def _new_label(values: Any) -> str | None:
    """Return a string that is not among some strings; None if they are no strings."""
    known = set(values)
    if not all(isinstance(value, str) for value in known):
        return None
    label = _NEW
    while label in known:
        label += "_"
    return label


def _beyond(present: pd.Series, dtype: Any) -> pd.Series:
    """Return a value as far beyond the greatest one as the least is below; the least if none is."""
    greatest, least = present.max(), present.min()
    step = greatest - least
    one = pd.Timedelta(days=1) if kind_of(dtype) in "Mm" else 1
    try:
        return pd.Series([greatest + (step if step else one)]).astype(dtype)
    except (OverflowError, ValueError, TypeError, pd.errors.OutOfBoundsDatetime):
        return pd.Series([least], dtype=dtype)
