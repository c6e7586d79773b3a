"""Survival curves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import pandas as pd

from skeval.reporting.displays.base import Display
from skeval.reporting.displays.reading import stack, to_numbers
from skeval.reporting.displays.series import name_series, table_series
from skeval.reporting.displays.theme import LETTERS, LINES, NAMES
from skeval.reporting.displays.ticks import label_numbers, label_percentages
from skeval.reporting.document.details import mapping_at

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_PARTS = ("time", "survival", "low", "high")


class SurvivalCurvesDisplay(Display):
    """The share of rows that survives over time in each table, with bands."""

    reads = ("curves",)

    def frame(self) -> pd.DataFrame:
        """Return `rows` of which table, `time`, `survival` and the ends of the band."""
        curves = mapping_at(self.result.details, "curves")
        parts = [
            (role, *(to_numbers(curves[role][part]) for part in _PARTS))
            for role in NAMES
            if role in curves
        ]
        return stack(parts, ["rows", *_PARTS])

    def draw(self, axes: Sequence[Axes]) -> None:
        """Draw a step for each time above its band."""
        (ax,), frame = axes, self.frame()
        roles = list(dict.fromkeys(frame["rows"]))
        for role in roles:
            part = frame[frame["rows"] == role]
            ends = part["low"], part["high"]
            ax.fill_between(part["time"], *ends, color=LETTERS[role], alpha=0.12, lw=0, step="post")
            ax.step(part["time"], part["survival"], where="post", **LINES[role])
        end = float(frame["time"].max())
        end = end if end > 0.0 else 1.0
        ax.set(xlim=(0.0, end), ylim=(0.0, 1.0), xlabel="time", ylabel="share that survives")
        label_numbers(ax.xaxis, 0.0, end)
        label_percentages(ax.yaxis, 1.0, most=5)
        name_series(ax, [table_series(role) for role in roles])
