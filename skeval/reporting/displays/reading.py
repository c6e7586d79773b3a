"""Read numbers from the details of a result."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from skeval.reporting.document.details import mapping_at, number_at

UNREADABLE = (AttributeError, IndexError, KeyError, TypeError, ValueError, ZeroDivisionError)
"""Errors that are raised if details have another form than expected."""


def to_numbers(values: Any) -> np.ndarray:
    """Return an array of floats from an array or from JSON, in which None is nan."""
    return np.asarray(values, dtype=float)


def numbers_at(content: Any, *keys: str) -> dict[str, float]:
    """Return the numbers by name under these keys, each within the one before."""
    found = mapping_at(content, *keys)
    return {str(name): number_at(found, name) for name in found}


def stack(parts: Iterable[Sequence[Any]], columns: Sequence[str]) -> pd.DataFrame:
    """Return parts below each other. Each part has a text or an array for each column."""
    frames = [pd.DataFrame(dict(zip(columns, part, strict=True))) for part in parts]
    return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame(columns=columns)
