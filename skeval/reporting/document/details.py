"""Read entries of details, which may be missing or of another form than expected."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from skeval.utils.formatting import as_float

_UNREADABLE = (TypeError, ValueError)


def mapping_at(content: Any, *keys: str) -> Mapping[str, Any]:
    """Return the mapping under these nested keys, or an empty mapping."""
    for key in keys:
        content = content.get(key) if isinstance(content, Mapping) else None
    return content if isinstance(content, Mapping) else {}


def number_at(content: Any, *keys: str) -> float:
    """Return the number under these keys, or nan."""
    *outer, last = keys
    try:
        return as_float(mapping_at(content, *outer).get(last))
    except _UNREADABLE:
        return math.nan


def interval_at(content: Any, *keys: str) -> tuple[float, float] | None:
    """Return the two finite ends under these keys, or None."""
    *outer, last = keys
    ends = mapping_at(content, *outer).get(last)
    try:
        low, high = (as_float(end) for end in ends)  # type: ignore[union-attr]
    except _UNREADABLE:
        return None
    return (low, high) if math.isfinite(low) and math.isfinite(high) else None


def list_at(content: Any, *keys: str) -> list[Any]:
    """Return the list or array under these keys as a list, or an empty list."""
    *outer, last = keys
    found = mapping_at(content, *outer).get(last)
    if isinstance(found, np.ndarray) and found.ndim:
        return list(found.tolist())  # results that were not read from JSON have arrays
    return list(found) if isinstance(found, list | tuple) else []


def matrix_at(details: Any, key: str) -> np.ndarray | None:
    """Return the matrix under a key, which has a row and a column for each of the `names`."""
    n = len(texts_at(details, "names"))
    try:
        matrix = np.asarray(mapping_at(details).get(key), dtype=float)
    except _UNREADABLE:
        return None
    return matrix if n > 1 and matrix.shape == (n, n) else None


def texts_at(content: Any, *keys: str) -> tuple[str, ...]:
    """Return the texts in a list under these keys, or an empty tuple."""
    return tuple(map(str, list_at(content, *keys)))


def numbers_at(content: Any, *keys: str) -> tuple[float, ...]:
    """Return the finite numbers in a list under these keys, or an empty tuple."""
    try:
        values = tuple(map(as_float, list_at(content, *keys)))
    except _UNREADABLE:
        return ()
    return values if all(map(math.isfinite, values)) else ()
