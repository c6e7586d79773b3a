"""Rows of several tables, and the positions of the rows that their keys name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from skeval.exceptions import TableError
from skeval.tables.frames import as_frame
from skeval.tables.relational_schema import ForeignKey, RelationalSchema

ORPHAN, NULL = -1, -2  # what a key that names no row, or holds no value, has for a position


class RelationalData(Mapping[str, pd.DataFrame]):
    """Tables under their names, with the schema that relates them.

    Parameters
    ----------
    tables : mapping of str to table
        pandas, polars or pyarrow.
    schema : RelationalSchema, optional
        The keys, roles and orders; without one, tables without any key between them.

    Raises
    ------
    TableError
        If one of the tables cannot be used, or there is none.

    Examples
    --------
    >>> import pandas as pd
    >>> from skeval.relational import RelationalData
    >>> data = RelationalData({"users": pd.DataFrame({"id": [1, 2], "age": [31, 45]})})
    >>> data
    RelationalData(users: 2 rows)
    """

    def __init__(self, tables: Mapping[str, Any], schema: RelationalSchema | None = None) -> None:
        if not isinstance(tables, Mapping) or not tables:
            raise TableError(
                "RelationalData needs a mapping of names to tables with at least one, got "
                f"{type(tables).__name__}. Pass {{name: table}}."
            )
        self._tables = {str(name): as_frame(table, str(name)) for name, table in tables.items()}
        self.schema = schema or RelationalSchema(list(self._tables))

    def __getitem__(self, name: str) -> pd.DataFrame:
        return self._tables[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._tables)

    def __len__(self) -> int:
        return len(self._tables)

    def __repr__(self) -> str:
        sizes = ", ".join(f"{name}: {len(rows)} rows" for name, rows in self._tables.items())
        return f"RelationalData({sizes})"

    def taken(self, positions: Mapping[str, np.ndarray]) -> RelationalData:
        """Return the data with only these rows of the tables that are named."""
        rows = {
            name: table.iloc[positions[name]].reset_index(drop=True) if name in positions else table
            for name, table in self._tables.items()
        }
        return RelationalData(rows, self.schema)


def parent_positions(child: pd.DataFrame, parent: pd.DataFrame, key: ForeignKey) -> np.ndarray:
    """Return of each child row the position of its parent row.

    Parameters
    ----------
    child, parent : DataFrame
        Rows of the two tables, as they were given.
    key : ForeignKey
        The columns on both sides.

    Returns
    -------
    ndarray of shape (n_child,)
        `ORPHAN` where no row has the key, `NULL` where one of its cells is missing, the first of
        several rows that have it.

    Examples
    --------
    >>> import pandas as pd
    >>> from skeval.relational import ForeignKey
    >>> from skeval.tables.relational_data import parent_positions
    >>> orders, users = pd.DataFrame({"user": [1, 1, 9, None]}), pd.DataFrame({"id": [2, 1]})
    >>> parent_positions(orders, users, ForeignKey("orders", "user", "users", "id")).tolist()
    [1, 1, -1, -2]
    """
    codes, named = key_codes(child[list(key.columns)], parent[list(key.parent_columns)])
    first = np.full(max(codes.max(initial=0), named.max(initial=0)) + 1, ORPHAN, dtype=np.int64)
    places = np.flatnonzero(named >= 0)[::-1]
    first[named[places]] = places  # the last assignment holds: that of the first row
    return np.where(codes < 0, NULL, first[np.maximum(codes, 0)])


def key_codes(left: pd.DataFrame, right: pd.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    """Return a code of each row's key, equal for equal keys on both sides; -1 where a cell lacks.

    Columns are taken by position. Numbers are equal as numbers, whatever they are stored in;
    anything else by its text.
    """
    codes = np.zeros(len(left) + len(right), dtype=np.int64)
    missing = np.zeros(len(codes), dtype=bool)
    for one, other in zip(left.columns, right.columns, strict=True):
        cells, _ = pd.factorize(_comparable([left[one], right[other]]))
        missing |= cells < 0
        codes, _ = pd.factorize(codes * (int(cells.max(initial=0)) + 1) + np.maximum(cells, 0))
    codes = np.where(missing, -1, codes)
    return codes[: len(left)], codes[len(left) :]


def _comparable(columns: Sequence[pd.Series]) -> Any:
    dtypes = [column.dtype for column in columns]
    if all(pd.api.types.is_integer_dtype(dtype) for dtype in dtypes):
        return pd.concat([column.astype("Int64") for column in columns], ignore_index=True)
    if all(
        pd.api.types.is_numeric_dtype(dtype) and not pd.api.types.is_bool_dtype(dtype)
        for dtype in dtypes
    ):
        return np.concatenate([column.to_numpy("float64", na_value=np.nan) for column in columns])
    if all(pd.api.types.is_datetime64_any_dtype(dtype) for dtype in dtypes):
        return pd.concat([pd.to_datetime(column, utc=True) for column in columns])
    return np.concatenate([_texts(column) for column in columns])


def _texts(column: pd.Series) -> np.ndarray:
    """Return cells as texts, whole numbers without a point; None where they are missing."""
    levels, names = pd.factorize(column)
    texts = [
        str(int(name)) if isinstance(name, float) and name.is_integer() else str(name)
        for name in names.tolist()
    ]
    return np.array([*texts, None], dtype=object)[levels]
