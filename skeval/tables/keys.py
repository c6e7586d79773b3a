"""Keys between tables and of sequences, and rows' keys as codes that compare across tables."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from skeval.exceptions import InvalidParameterError, TableError
from skeval.tables.schema import name_of


@dataclass(frozen=True)
class ForeignKey:
    """Columns of one table that name a row of another.

    Parameters
    ----------
    child : str
        The table that refers.
    columns : str or tuple of str
        Its columns.
    parent : str
        The table that is referred to; it may be `child` itself.
    parent_columns : str or tuple of str
        The columns there, as many as `columns` and in their order.

    Raises
    ------
    InvalidParameterError
        If there is no column, or not as many on both sides.

    See Also
    --------
    RelationalSchema : It holds the keys.

    Examples
    --------
    >>> from skeval.relational import ForeignKey
    >>> print(ForeignKey("orders", "user", "users", "id"))
    orders.user -> users.id
    """

    child: str
    columns: Sequence[str]  # as given; tuples from then on
    parent: str
    parent_columns: Sequence[str]

    def __post_init__(self) -> None:
        for name in ("columns", "parent_columns"):
            object.__setattr__(self, name, names_of(getattr(self, name)))
        if not self.columns or len(self.columns) != len(self.parent_columns):
            raise InvalidParameterError(
                f"ForeignKey: {self.child} refers to {self.parent} by {len(self.columns)} columns "
                f"and {len(self.parent_columns)}; give as many on both sides, at least one."
            )

    def __str__(self) -> str:
        sides = ((self.child, self.columns), (self.parent, self.parent_columns))
        return " -> ".join(f"{table}.{names_in_words(columns)}" for table, columns in sides)


@dataclass(frozen=True)
class SequenceKey:
    """What makes the rows of a table sequences: whose they are, and their order.

    Parameters
    ----------
    key : str or tuple of str
        The columns whose values name a sequence.
    index : str, optional
        The column that orders its rows, of numbers or dates; without one, the order of the table.

    Raises
    ------
    InvalidParameterError
        If `key` names no column.

    See Also
    --------
    RelationalSchema : It holds them.

    Examples
    --------
    >>> from skeval.relational import SequenceKey
    >>> SequenceKey("patient", "visited")
    SequenceKey(key=('patient',), index='visited')
    """

    key: Sequence[str]  # as given; a tuple from then on
    index: str | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "key", names_of(self.key))
        object.__setattr__(self, "index", None if self.index is None else name_of(self.index))
        if not self.key:
            raise InvalidParameterError("SequenceKey: key must name at least one column.")


def key_codes(left: pd.DataFrame, right: pd.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    """Get a code of each row's key, equal for equal keys on both sides; -1 where a cell lacks."""
    # Columns are taken by position. Numbers are equal as numbers in any storage; anything
    # else is equal by its text.
    codes = np.zeros(len(left) + len(right), dtype=np.int64)
    missing = np.zeros(len(codes), dtype=bool)
    for one, other in zip(left.columns, right.columns, strict=True):
        try:
            cells, _ = pd.factorize(_comparable([left[one], right[other]]))
        except TypeError as error:
            raise TableError(
                f"{one} holds values that cannot be keys ({error}). Flatten the column."
            ) from error
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
    if any(pd.api.types.is_datetime64_any_dtype(dtype) for dtype in dtypes):  # or texts of dates
        return pd.concat(
            [
                pd.to_datetime(column, utc=True, errors="coerce", format="ISO8601")
                for column in columns
            ]
        )
    return np.concatenate([_texts(column) for column in columns])


def _texts(column: pd.Series) -> np.ndarray:
    """Return cells as texts, whole numbers without a point; None where they are missing."""
    levels, names = pd.factorize(column)
    texts = [
        str(int(name)) if isinstance(name, float) and name.is_integer() else str(name)
        for name in names.tolist()
    ]
    return np.array([*texts, None], dtype=object)[levels]


def fraction_in_keys(values: pd.Series, keys: pd.Series) -> float:
    """Return the share of values, missing ones left out, that are among the keys; nan of none."""
    codes, named = key_codes(values.to_frame(), keys.to_frame())
    present = codes[codes >= 0]
    return float(np.isin(present, named).mean()) if present.size else float("nan")


def names_of(columns: Any) -> tuple[str, ...]:
    """Return names of columns, of one as of several, as text."""
    several = isinstance(columns, Iterable) and not isinstance(columns, str)
    return tuple(name_of(column) for column in (columns if several else [columns]))


def names_in_words(columns: Sequence[str]) -> str:
    """Return names of columns as messages show them."""
    return columns[0] if len(columns) == 1 else f"({', '.join(columns)})"
