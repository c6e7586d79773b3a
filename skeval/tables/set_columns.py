"""Assignment of columns with any name to a frame."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd


def with_columns(frame: pd.DataFrame, columns: Mapping[str, Any] | pd.DataFrame) -> pd.DataFrame:
    """Return a new table with these columns assigned, and with all other columns unchanged."""
    # `DataFrame.assign` uses names as keywords, which fails for a column with the name `self`.
    frame = frame.copy(deep=False)
    for name, values in columns.items():
        frame[name] = values
    return frame
