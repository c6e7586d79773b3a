"""Keys between tables and of sequences, and codes to compare the keys of rows across tables."""

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
    """Foreign key, that is, columns of one table that refer to rows of another table.

    Parameters
    ----------
    child : str
        The table that contains the references.
    columns : str or tuple of str
        Referring columns of the child table.
    parent : str
        The table that is referred to, which may be `child` itself.
    parent_columns : str or tuple of str
        Columns of the parent table, with the same number and order as `columns`.

    Raises
    ------
    InvalidParameterError
        If there are no columns, or if the two sides have different numbers of columns.

    See Also
    --------
    RelationalSchema : Schema that contains the keys.

    Examples
    --------
    >>> from skeval.relational import ForeignKey
    >>> print(ForeignKey("orders", "user", "users", "id"))
    orders.user -> users.id
    """

    child: str
    columns: Sequence[str]  # converted to a tuple, as parent_columns
    parent: str
    parent_columns: Sequence[str]

    def __post_init__(self) -> None:
        for name in ("columns", "parent_columns"):
            object.__setattr__(self, name, names_of(getattr(self, name)))
        if not self.columns or len(self.columns) != len(self.parent_columns):
            raise InvalidParameterError(
                f"ForeignKey: {len(self.columns)} columns of {self.child} cannot refer to "
                f"{len(self.parent_columns)} columns of {self.parent}. Specify the same number of "
                "columns, at least one."
            )

    def __str__(self) -> str:
        sides = ((self.child, self.columns), (self.parent, self.parent_columns))
        return " -> ".join(f"{table}.{names_in_words(columns)}" for table, columns in sides)


@dataclass(frozen=True)
class SequenceKey:
    """Columns that divide the rows of a table into ordered sequences.

    Parameters
    ----------
    key : str or tuple of str
        The columns whose values identify a sequence.
    index : str, optional
        The column of numbers or dates that orders the rows of a sequence. If None, the order of the
        table is used.

    Raises
    ------
    InvalidParameterError
        If `key` contains no columns.

    See Also
    --------
    RelationalSchema : Schema that contains the sequence keys.

    Examples
    --------
    >>> from skeval.relational import SequenceKey
    >>> SequenceKey("patient", "visited")
    SequenceKey(key=('patient',), index='visited')
    """

    key: Sequence[str]  # converted to a tuple
    index: str | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "key", names_of(self.key))
        object.__setattr__(self, "index", None if self.index is None else name_of(self.index))
        if not self.key:
            raise InvalidParameterError("SequenceKey: key must contain at least one column.")


def key_codes(left: pd.DataFrame, right: pd.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    """Get a code for the key of each row, equal for equal keys, or -1 if a cell is missing."""
    # Columns are matched by position. Numbers are compared as numbers in any storage, and other
    # values as text.
    codes = np.zeros(len(left) + len(right), dtype=np.int64)
    missing = np.zeros(len(codes), dtype=bool)
    for one, other in zip(left.columns, right.columns, strict=True):
        try:
            cells, _ = pd.factorize(_comparable([left[one], right[other]]))
        except TypeError as error:
            raise TableError(
                f"{one} contains values that cannot be keys ({error}). Flatten the column."
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
    if any(pd.api.types.is_datetime64_any_dtype(dtype) for dtype in dtypes):  # parse other columns
        return pd.concat(
            [
                pd.to_datetime(column, utc=True, errors="coerce", format="ISO8601")
                for column in columns
            ]
        )
    return np.concatenate([_texts(column) for column in columns])


def _texts(column: pd.Series) -> np.ndarray:
    """Return cells as texts, with integers without a decimal point and None for missing cells."""
    levels, names = pd.factorize(column)
    texts = [
        str(int(name)) if isinstance(name, float) and name.is_integer() else str(name)
        for name in names.tolist()
    ]
    return np.array([*texts, None], dtype=object)[levels]


def fraction_in_keys(values: pd.Series, keys: pd.Series) -> float:
    """Return the fraction of present values that are among the keys, or nan without values."""
    codes, named = key_codes(values.to_frame(), keys.to_frame())
    present = codes[codes >= 0]
    return float(np.isin(present, named).mean()) if present.size else float("nan")


def names_of(columns: Any) -> tuple[str, ...]:
    """Return the names of one or several columns as a tuple of texts."""
    several = isinstance(columns, Iterable) and not isinstance(columns, str)
    return tuple(name_of(column) for column in (columns if several else [columns]))


def names_in_words(columns: Sequence[str]) -> str:
    """Return names of columns as messages show them."""
    return columns[0] if len(columns) == 1 else f"({', '.join(columns)})"
