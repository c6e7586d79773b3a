"""The time that generators need."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from skeval.reporting.displays.base import Display, say_empty
from skeval.reporting.displays.letters import draw_name
from skeval.reporting.displays.sentences import count_things, join_facts
from skeval.reporting.displays.series import Series, name_series
from skeval.reporting.displays.ticks import label_numbers

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MARKERS = "osD^vP*X"
_COLORS = ("#b8400a", "#2f6690", "#1b2430", "#7a5195", "#5f7a1f", "#946b00", "#00706b", "#9c2c5c")


class CostsDisplay(Display):
    """Seconds of fit and sample by the number of rows, and by the number of columns."""

    n_panels = 2

    def __init__(self, costs: pd.DataFrame) -> None:
        self.costs = costs

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

    def title(self) -> str:
        """Return what is measured."""
        return "Seconds to fit a generator and to sample"

    def subtitle(self) -> str:
        """Return the generators."""
        n = self.costs["generator"].nunique()
        return join_facts((count_things(n, "generator"), "logarithmic axis"))

    def draw(self, axes: Sequence[Axes]) -> None:
        """Draw one line for each generator."""
        frame = self.frame()
        looks = {name: _look(k) for k, name in enumerate(dict.fromkeys(frame["generator"]))}
        for ax, varied in zip(axes, ("rows", "columns"), strict=True):
            own = frame[frame["varied"] == varied]
            if own.empty:
                say_empty(ax, "not measured")
                continue
            for name, line in own.groupby("generator", sort=False):
                ax.plot(line["size"], line["seconds"], **looks[name])
            self._label_seconds(ax)
            end = 1.05 * float(own["size"].max())
            ax.set(xlim=(0.0, end), xlabel=f"number of {varied}")
            label_numbers(ax.xaxis, 0.0, end, most=4)
        axes[0].set_ylabel("seconds")
        first = next((ax for ax in axes if len(ax.lines)), axes[0])
        series = [Series(draw_name(name), look["color"], look) for name, look in looks.items()]
        name_series(first, series, most=3)

    def _label_seconds(self, ax: Axes) -> None:
        """Use one logarithmic axis in both panels."""
        from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

        seconds = self.frame()["seconds"]
        low, high = np.floor(np.log10(seconds.min())), np.ceil(np.log10(seconds.max()))
        ax.set(yscale="log", ylim=(10.0**low, 10.0 ** max(high, low + 1.0)))
        ax.yaxis.set_major_locator(LogLocator(numticks=6))
        ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        ax.yaxis.set_minor_locator(NullLocator())


def _look(k: int) -> dict[str, Any]:
    marker, color = _MARKERS[k % len(_MARKERS)], _COLORS[k % len(_COLORS)]
    return {"marker": marker, "color": color, "ms": 4.0, "lw": 1.0}
