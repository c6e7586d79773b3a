"""Displays of survival: curves of Kaplan and Meier with their bands."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import pandas as pd

from skeval.reporting.old_displays.base import (
    CURVE,
    ROOM,
    Display,
    Margins,
    numbers,
    register_display,
    stacked,
)
from skeval.reporting.old_displays.ticks import label_axis, number_ticks
from skeval.reporting.scores import entries
from skeval.reporting.style import COLOURS

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_ROLES = ("train", "holdout", "synthetic")
_PARTS = ("time", "survival", "low", "high")


@register_display
class SurvivalCurvesDisplay(Display):
    """The share that survives as time goes on, of train, holdout and synthetic rows, with bands."""

    reads = ("curves",)
    figsize = (5.5, 3.4)

    def frame(self) -> pd.DataFrame:
        """Return `rows` of which table, `time`, `survival` and the ends of the band."""
        curves = entries(self.result.details, "curves")
        parts = [
            (role, *(numbers(curves[role][part]) for part in _PARTS))
            for role in _ROLES
            if role in curves
        ]
        return stacked(parts, ["rows", *_PARTS])

    def margins(self, wide: float) -> Margins:
        """Return what the numbers take around the curves."""
        return CURVE

    def draw(self, axes: Sequence[Axes], room: float = ROOM) -> None:
        """Draw a step for each time, from one to the next, over its band."""
        (ax,), frame = axes, self.frame()
        style: dict[str, Any] = {"alpha": 0.16, "lw": 0.0, "step": "post"}
        for role, part in frame.groupby("rows", sort=False):
            colour = COLOURS[str(role)]
            times = part["time"].to_numpy()
            ax.fill_between(times, part["low"], part["high"], color=colour, **style)
            ax.step(times, part["survival"], where="post", color=colour, lw=1.5, label=str(role))
        end = float(frame["time"].max())
        ax.set(xlim=(0.0, end if end > 0.0 else 1.0), ylim=(0.0, 1.04))
        label_axis(ax.xaxis, *number_ticks(0.0, end if end > 0.0 else 1.0, most=6))
        label_axis(ax.yaxis, *number_ticks(0.0, 1.0, most=6))
        ax.set(xlabel="time", ylabel="share that survives")
        ax.legend(loc="best", borderaxespad=0.4)
