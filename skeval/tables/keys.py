"""Keys of rows as codes that compare across tables, whatever they are stored in."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from skeval.exceptions import TableError


def key_codes(left: pd.DataFrame, right: pd.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    """Return a code of each row's key, equal for equal keys on both sides; -1 where a cell lacks.

    Columns are taken by position. Numbers are equal as numbers, whatever they are stored in;
    anything else by its text.
    """
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


def included(values: pd.Series, keys: pd.Series) -> float:
    """Return the share of values, missing ones left out, that are among the keys; nan of none."""
    codes, named = key_codes(values.to_frame(), keys.to_frame())
    present = codes[codes >= 0]
    return float(np.isin(present, named).mean()) if present.size else float("nan")
