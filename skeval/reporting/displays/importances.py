"""The importances of columns for two models."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from skeval.reporting.displays.base import Display
from skeval.reporting.displays.reading import numbers_at
from skeval.reporting.displays.sentences import describe_result, state_not_drawn
from skeval.reporting.displays.series import name_series, table_series
from skeval.reporting.displays.theme import FILLS
from skeval.reporting.displays.ticks import label_names, label_percentages

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MAX_COLUMNS = 12
_ROLES = ("train", "synthetic")


class ImportancesDisplay(Display):
    """The importances of columns for a model of training rows and a model of synthetic rows."""

    reads = ("importances",)

    def frame(self) -> pd.DataFrame:
        """Return `column`, `train`, `synthetic`: the most important in either first."""
        shares = {
            role: pd.Series(numbers_at(self.result.details, "importances", role), dtype=float)
            for role in _ROLES
        }
        frame = pd.DataFrame(shares).fillna(0.0)
        order = np.argsort(-frame.max(axis=1).to_numpy(), kind="stable")
        return frame.iloc[order].rename_axis("column").reset_index()

    def subtitle(self) -> str:
        """Return how many columns are not drawn."""
        not_drawn = state_not_drawn(len(self.frame()) - _MAX_COLUMNS, "columns")
        return describe_result(self.result, not_drawn)

    def draw(self, axes: Sequence[Axes]) -> None:
        """Draw two bars for each column."""
        (ax,), frame = axes, self.frame().head(_MAX_COLUMNS)
        y = np.arange(len(frame))
        for role, shift in zip(_ROLES, (-0.19, 0.19), strict=True):
            ax.barh(y + shift, frame[role], height=0.36, color=FILLS[role])
        drawn = frame[list(_ROLES)].to_numpy(dtype=float)
        low, high = min(0.0, drawn.min(initial=0.0)), 1.05 * max(0.01, drawn.max(initial=0.0))
        ax.set(xlim=(low, high), ylim=(max(len(frame), 1) - 0.4, -0.6))
        ax.set_xlabel("share of importance")
        label_percentages(ax.xaxis, high, most=6, low=low)
        label_names(ax.yaxis, frame["column"].tolist())
        names = {"train": "real", "synthetic": "synthetic"}
        name_series(
            ax, [table_series(r, f"model from {names[r]} data", is_filled=True) for r in _ROLES]
        )
