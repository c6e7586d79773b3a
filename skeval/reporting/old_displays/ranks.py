"""Displays of candidates: their ranks with what chance leaves open, and what they cost."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from skeval.reporting.old_displays.base import ROOM, Display, Margins, say_empty
from skeval.reporting.old_displays.ticks import label_axis, number_ticks
from skeval.reporting.style import COLOURS, FAINT, GREY, INK, SMALL, drawable, shorten

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_COLUMNS = ("rank", "low", "high")
_MARKERS = "osD^vP*X"
_PER_CANDIDATE = 0.28  # inches


class RanksDisplay(Display):
    """The rank of each candidate, and the ends of the ranks that chance leaves open."""

    def __init__(self, ranks: pd.DataFrame) -> None:
        self.ranks = ranks
        self.figsize = (5.5, 0.9 + _PER_CANDIDATE * max(1, len(ranks)))

    def margins(self, wide: float) -> Margins:
        """Return what names at the left take, and numbers below."""
        return Margins(110.0, 10.0, 20.0, 34.0)

    def frame(self) -> pd.DataFrame:
        """Return `rank`, `low` and `high` by candidate."""
        return self.ranks[list(_COLUMNS)].astype(float)

    def draw(self, axes: Sequence[Axes], room: float = ROOM) -> None:
        """Draw one line a candidate, the best on top."""
        ax, frame = axes[0], self.frame()
        places = np.arange(len(frame))
        rank, low, high = (frame[name].to_numpy() for name in _COLUMNS)
        known = np.isfinite(rank)
        ax.hlines(
            places[known], low[known], high[known], color=COLOURS["synthetic"], alpha=0.35, lw=4
        )
        ax.plot(rank[known], places[known], "o", color=COLOURS["synthetic"], ms=6)
        for y in places[~known]:
            ax.text(1.0, y, "no rank", size=SMALL, color=GREY, va="center")
        names = [shorten(drawable(str(name)), room, 7.5) for name in frame.index]
        label_axis(ax.yaxis, places, names, size=7.5, color=INK, length=0.0)
        n = max(2, len(frame))
        label_axis(ax.xaxis, range(1, n + 1), [str(k) for k in range(1, n + 1)])
        ax.set(xlim=(0.7, n + 0.3), ylim=(len(frame) - 0.5, -0.5), xlabel="rank, 1 is best")
        ax.grid(axis="x", color=FAINT, lw=0.5)

    def head(self, axes: Sequence[Axes]) -> None:
        """Write a title on a figure of its own."""
        axes[0].set_title("Ranks, and those that chance leaves open")


class CostsDisplay(Display):
    """Seconds of fit and sample by the number of rows, and by the number of columns."""

    n_panels = 2
    figsize = (6.5, 2.8)

    def __init__(self, costs: pd.DataFrame) -> None:
        self.costs = costs

    def margins(self, wide: float) -> Margins:
        """Return what numbers and names of the axes take, and the space between the panels."""
        return Margins(42.0, 10.0, 90.0, 34.0, 42.0)

    def frame(self) -> pd.DataFrame:
        """Return `generator`, `varied`, `size` and `seconds` of fit and sample together."""
        by_rows = self.costs["varied"] == "rows"
        return pd.DataFrame(
            {
                "generator": self.costs["generator"],
                "varied": self.costs["varied"],
                "size": self.costs["n_rows"].where(by_rows, self.costs["n_columns"]),
                "seconds": self.costs["fit_seconds"] + self.costs["sample_seconds"],
            }
        )

    def draw(self, axes: Sequence[Axes], room: float = ROOM) -> None:
        """Draw one line a generator, seconds on a scale of powers."""
        frame = self.frame()
        for ax, varied in zip(axes, ("rows", "columns"), strict=True):
            own = frame[frame["varied"] == varied]
            if own.empty:
                say_empty(ax, "not measured")
                continue
            for k, (name, line) in enumerate(own.groupby("generator", sort=False)):
                style: dict[str, Any] = {"marker": _MARKERS[k % len(_MARKERS)], "ms": 4, "lw": 1.0}
                shade = f"C{k % 10}"
                called = drawable(str(name))
                ax.plot(line["size"], line["seconds"], color=shade, label=called, **style)
            self._seconds(ax)
            self._sizes(ax, own["size"].to_numpy(dtype=float))
            ax.set_xlabel(f"{varied} learned from")
        axes[0].set_ylabel("seconds")
        lines = next((ax.lines for ax in axes if len(ax.lines)), ())
        place: dict[str, Any] = {"loc": "upper left", "bbox_to_anchor": (1.0, 1.0)}
        if lines:
            axes[-1].legend(handles=list(lines), fontsize=SMALL, frameon=False, **place)

    def _seconds(self, ax: Axes) -> None:
        """Have one scale of powers in both panels."""
        from matplotlib.ticker import LogLocator, NullFormatter

        seconds = self.frame()["seconds"]
        low, high = np.floor(np.log10(seconds.min())), np.ceil(np.log10(seconds.max()))
        ax.set(yscale="log", ylim=(10.0**low, 10.0 ** max(high, low + 1.0)))
        ax.yaxis.set_major_locator(LogLocator(numticks=6))
        ax.yaxis.set_minor_formatter(NullFormatter())
        ax.tick_params(axis="y", labelsize=SMALL)

    @staticmethod
    def _sizes(ax: Axes, sizes: np.ndarray) -> None:
        ax.set_xlim(0.0, 1.05 * sizes.max())
        label_axis(ax.xaxis, *number_ticks(0.0, float(sizes.max())))

    def head(self, axes: Sequence[Axes]) -> None:
        """Write a title on a figure of its own."""
        axes[0].set_title("What it costs")
