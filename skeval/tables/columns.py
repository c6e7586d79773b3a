"""Columns set by name: any name, whether or not it is one of pandas' own arguments."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd


def with_columns(frame: pd.DataFrame, columns: Mapping[str, Any] | pd.DataFrame) -> pd.DataFrame:
    """Return a table with these columns set, others as they are; the one given is left alone.

    `DataFrame.assign` takes names as keywords, and a column may be called `self`.

    Examples
    --------
    >>> import pandas as pd
    >>> from skeval.tables.columns import with_columns
    >>> with_columns(pd.DataFrame({"self": [1]}), {"self": [2], "T": [3]}).to_dict("list")
    {'self': [2], 'T': [3]}
    """
    frame = frame.copy(deep=False)
    for name, values in columns.items():
        frame[name] = values
    return frame
