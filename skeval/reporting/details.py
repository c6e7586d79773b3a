"""Entries of a result's details, which may be missing or of another form than expected."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from skeval.utils.formatting import as_float

UNREADABLE = (AttributeError, IndexError, KeyError, TypeError, ValueError, ZeroDivisionError)
"""What is raised of details that have another form than what reads them expects."""


def entries(content: Any, *keys: str) -> Mapping[str, Any]:
    """Return the mapping under these keys, each within the one before; empty if there is none.

    Examples
    --------
    >>> from skeval.reporting.details import entries
    >>> entries({"attacks": {"a": {"n": 3}}}, "attacks", "a")
    {'n': 3}
    >>> import numpy as np
    >>> entries({"p_values": np.ones((2, 2))}, "p_values")
    {}
    """
    for key in keys:
        content = content.get(key) if isinstance(content, Mapping) else None
    return content if isinstance(content, Mapping) else {}


def number_of(value: Any) -> float:
    """Return a number as a float; nan where it is none.

    Examples
    --------
    >>> from skeval.reporting.details import number_of
    >>> number_of("inf"), number_of({"a": 1}), number_of([1, 2])
    (inf, nan, nan)
    """
    try:
        return as_float(value)
    except UNREADABLE:
        return float("nan")


def numbers_of(content: Any, *keys: str) -> dict[str, float]:
    """Return the numbers by name under these keys; nan where one is none.

    Examples
    --------
    >>> from skeval.reporting.details import numbers_of
    >>> numbers_of({"columns": {"age": 0.9, "sex": None}}, "columns")
    {'age': 0.9, 'sex': nan}
    """
    return {str(name): number_of(value) for name, value in entries(content, *keys).items()}


def matrix_of(content: Any, key: str, size: int) -> np.ndarray | None:
    """Return a square matrix of this size; None where there is none.

    Examples
    --------
    >>> from skeval.reporting.details import matrix_of
    >>> matrix_of({"matrix": [[1.0, None], [None, 1.0]]}, "matrix", 2).shape
    (2, 2)
    """
    try:
        matrix = np.asarray(entries(content).get(key), dtype=float)
    except UNREADABLE:
        return None
    return matrix if matrix.shape == (size, size) else None


def names_of(content: Any, key: str = "names") -> list[str]:
    """Return the names in a list of them; none where it is no list.

    Examples
    --------
    >>> from skeval.reporting.details import names_of
    >>> names_of({"names": ["age", "sex"]}), names_of({"names": 3})
    (['age', 'sex'], [])
    """
    names = entries(content).get(key)
    return [str(name) for name in names] if isinstance(names, list | tuple) else []
