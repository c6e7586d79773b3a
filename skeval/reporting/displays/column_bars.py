"""The bars of a column for bins or categories, frequent numbers, missing and unseen values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd

from skeval.reporting.displays.reading import to_numbers

_EXTRA = ("missing", "unseen")


class ColumnBars:
    """The bars of a column's axis, its own and those next to them."""

    def __init__(self, axis: Mapping[str, Any]) -> None:
        self.kind = str(axis["kind"])
        self.edges = None if axis["edges"] is None else to_numbers(axis["edges"])
        labels = [str(label) for label in axis["labels"]]
        own = labels if self.edges is None else [""] * (len(self.edges) - 1)
        self.n_own = len(own)
        self.beside = list(_EXTRA) if self.edges is None else [*labels, *_EXTRA]
        self.names = [*own, *self.beside]

    def frame(self) -> pd.DataFrame:
        """Return `bar`, `low` and `high` of each bar, as dates for a datetime column."""
        low, high = np.full((2, len(self.names)), np.nan)
        if self.edges is not None:
            low[: self.n_own], high[: self.n_own] = self.edges[:-1], self.edges[1:]
        frame = pd.DataFrame({"bar": np.array(self.names, dtype=object), "low": low, "high": high})
        if self.kind == "datetime":
            for end in ("low", "high"):
                frame[end] = pd.to_datetime(frame[end], unit="s")
        return frame

    def shown(self, totals: Sequence[np.ndarray]) -> list[int]:
        """Return the own bars, and the others that are not empty in all tables."""
        beside = range(self.n_own, len(self.names))
        return [*range(self.n_own), *(i for i in beside if any(total[i] > 0 for total in totals))]

    def range_names(self) -> list[str]:
        """Return the category or the range of each bar, and then the names of the other bars."""
        if self.edges is None:
            return self.names
        ends = [f"{edge:.6g}" for edge in self.edges]
        if self.kind == "datetime":
            dates = pd.to_datetime(pd.Series(self.edges), unit="s")
            ends = dates.dt.strftime("%Y-%m-%d %H:%M").tolist()
        return [*(f"{low} to {high}" for low, high in pairwise(ends)), *self.beside]
