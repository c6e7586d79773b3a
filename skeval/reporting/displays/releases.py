"""The display of headline numbers over releases."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from skeval.reporting.displays.base import ROOM, Display, Margins, points, say_empty
from skeval.reporting.displays.ticks import label_axis
from skeval.reporting.style import ALARM, COLOURS, INK, SMALL, drawable, shorten
from skeval.results.history import History
from skeval.utils.formatting import number

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MOST_NAMES = 12  # of releases below an axis
_DIRECTIONS = {1: "more is better", -1: "less is better", 0: ""}


class HistoryDisplay(Display):
    """Headline numbers over releases: dots with 95% intervals, fresh real rows as green lines.

    A triangle that points down is a release that is worse beyond noise than the one before it, or
    than the first.

    Parameters
    ----------
    history : History
        Two releases or more.
    metrics : sequence of str, optional
        Those of its metrics that are drawn, a panel each; all if None.

    Examples
    --------
    >>> from skeval import Result, SuiteResult, history
    >>> from skeval.reporting import HistoryDisplay
    >>> releases = {"v1": SuiteResult({"a": Result(0.5)}), "v2": SuiteResult({"a": Result(0.6)})}
    >>> HistoryDisplay(history(releases)).frame()["value"].tolist()
    [0.5, 0.6]
    """

    stacked = True

    def __init__(self, history: History, metrics: Sequence[str] | None = None) -> None:
        self.history = history
        self.metrics = list(history.metrics if metrics is None else metrics)
        self.n_panels = max(1, len(self.metrics))
        # a panel of its own shares the width of a page with another
        self.figsize = (6.5, 0.4 + 1.6 * self.n_panels) if self.n_panels > 1 else (4.4, 2.2)

    def margins(self, wide: float) -> Margins:
        """Return what numbers take at the left, and names of releases below."""
        return Margins(38.0, 8.0, 10.0, 30.0, 34.0)

    def frame(self) -> pd.DataFrame:
        """Return the rows of :meth:`History.frame <skeval.History.frame>` that are drawn."""
        frame = self.history.frame()
        return frame[frame["metric"].isin(self.metrics)].reset_index(drop=True)

    def draw(self, axes: Sequence[Axes], room: float = ROOM) -> None:
        """Draw a panel for each metric."""
        frame = self.frame()
        if not self.metrics:
            say_empty(axes[0], "no headline number")
        for ax, metric in zip(axes, self.metrics, strict=False):
            rows = frame[frame["metric"] == metric]
            if rows["value"].notna().any():
                _panel(ax, rows)
                ax.set_ylabel(_DIRECTIONS[self._sign(metric)])
            else:
                say_empty(ax, "no value")

    def head(self, axes: Sequence[Axes]) -> None:
        """Write the name of its metric above each panel."""
        for ax, metric in zip(axes, self.metrics, strict=False):
            ax.set_title(drawable(metric))

    def _sign(self, metric: str) -> int:
        tags = (result[metric].tags for result in self.history.values() if metric in result)
        return next((int(one.sign) for one in tags if one is not None), 0)


def _panel(ax: Axes, rows: pd.DataFrame) -> None:
    """Draw values, intervals, baselines and falls of one metric."""
    x, value = np.arange(len(rows)), rows["value"].to_numpy(dtype=float)
    low, high, fresh = (rows[name].to_numpy(dtype=float) for name in ("low", "high", "baseline"))
    fell = (rows["fall"] != "").to_numpy()
    ax.plot(x, value, color=COLOURS["synthetic"], lw=0.8, alpha=0.6, zorder=2)
    known = np.isfinite(low) & np.isfinite(high)
    style: dict[str, Any] = {"color": COLOURS["synthetic"], "alpha": 0.35, "lw": 3.0, "zorder": 1}
    ax.vlines(x[known], low[known], high[known], **style)
    there = np.isfinite(fresh)
    ax.hlines(fresh[there], x[there] - 0.3, x[there] + 0.3, color=COLOURS["holdout"], lw=1.5)
    ax.plot(x[~fell], value[~fell], "o", color=COLOURS["synthetic"], ms=4.5, mew=0, zorder=3)
    ax.plot(x[fell], value[fell], "v", color=ALARM, ms=7.0, mew=0, zorder=4)
    for place, height in zip(x[fell], value[fell], strict=True):
        text: dict[str, Any] = {"textcoords": "offset points", "size": SMALL, "va": "center"}
        ax.annotate(f"worse: {number(height)}", (place, height), (6, 0), color=ALARM, **text)
    ax.set_xlim(-0.5, len(rows) - 0.5 + 0.4 * bool(fell.any()))
    _name(ax, rows["release"].tolist())


def _name(ax: Axes, names: Sequence[str]) -> None:
    """Write the names of releases below the axis, of many every other one or fewer."""
    step = math.ceil(len(names) / _MOST_NAMES)
    places = range(0, len(names), step)
    room = points(ax)[0] / max(1, len(places)) - 4.0
    shown = [shorten(names[i], room, SMALL) for i in places]
    label_axis(ax.xaxis, places, shown, size=SMALL, color=INK)
