"""Columns of a frame, set by name: any name, whether or not it is one of pandas' own arguments."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd


def with_columns(frame: pd.DataFrame, columns: Mapping[str, Any] | pd.DataFrame) -> pd.DataFrame:
    """Return a table with these columns set, others as they are; the one given is left alone."""
    # `DataFrame.assign` takes names as keywords, and a column may be called `self`.
    frame = frame.copy(deep=False)
    for name, values in columns.items():
        frame[name] = values
    return frame
