"""The display of a training: utility and tests of privacy over the epochs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from skeval.reporting.displays.base import ROOM, Display, Margins, say_empty
from skeval.reporting.displays.ticks import label_axis, number_ticks
from skeval.reporting.style import ALARM, COLOURS, GREY, INK, SMALL, drawable
from skeval.utils.formatting import number

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_LEAST = 1e-4  # p-values are drawn down to it


class TrainingDisplay(Display):
    """Utility over the epochs, and below it the least p-value of the tests of privacy.

    Filled dots are epochs that may be chosen, the large one is the best of them, crosses are those
    with an alarm.

    Parameters
    ----------
    history : DataFrame
        By epoch `utility`, `p_value`, `alarm`, `copies`, `eligible` and `best`, as of
        :class:`~skeval.model_selection.TrainingMonitor`.
    utility : str, default="utility"
        What the score is called.
    level, look_level : float
        The level of one look by itself, and that of one of all looks.

    Examples
    --------
    >>> import pandas as pd
    >>> from skeval.reporting import TrainingDisplay
    >>> flags = {"alarm": False, "copies": False, "eligible": True, "best": True}
    >>> history = pd.DataFrame({"utility": [0.5, 0.8], "p_value": [0.4, 0.2], **flags}, [1, 2])
    >>> TrainingDisplay(history, look_level=0.002).frame()["epoch"].tolist()
    [1, 2]
    """

    n_panels = 2
    stacked = True
    figsize = (6.0, 4.2)

    def __init__(
        self,
        history: pd.DataFrame,
        utility: str = "utility",
        *,
        level: float = 0.05,
        look_level: float,
    ) -> None:
        self.history = history
        self.utility = utility
        self.level = level
        self.look_level = look_level

    def frame(self) -> pd.DataFrame:
        """Return `epoch`, `utility`, `p_value` and what was decided."""
        columns = ["utility", "p_value", "alarm", "copies", "eligible", "best"]
        return self.history[columns].rename_axis("epoch").reset_index()

    def margins(self, wide: float) -> Margins:
        """Return what numbers and names of the axes take."""
        return Margins(38.0, 16.0, 10.0, 30.0, 30.0)

    def draw(self, axes: Sequence[Axes], room: float = ROOM) -> None:
        """Draw the utility above the p-values."""
        frame = self.frame()
        if frame.empty:
            for ax in axes:
                say_empty(ax, "no look was taken")
            return
        self._draw_utility(axes[0], frame)
        self._draw_p_values(axes[1], frame)
        low, high = float(frame["epoch"].min()), float(frame["epoch"].max())
        gap = 0.04 * (high - low) or 0.5
        for ax in axes:
            ax.set_xlim(low - gap, high + gap)
            label_axis(ax.xaxis, *_whole(*number_ticks(low, high, most=8)))
        axes[1].set_xlabel("epoch")

    def _draw_utility(self, ax: Axes, frame: pd.DataFrame) -> None:
        ax.plot(frame["epoch"], frame["utility"], color=COLOURS["synthetic"], lw=1.0, zorder=1)
        _marks(ax, frame, "utility")
        if frame["best"].any():
            best = frame[frame["best"]].iloc[-1]
            label = f"epoch {best['epoch']}: {number(float(best['utility']))}"
            style: dict[str, Any] = {"ms": 10.0, "mfc": "none", "mec": INK, "lw": 0}
            ax.plot(best["epoch"], best["utility"], "o", label=label, **style)
            ax.legend(loc="lower right", borderaxespad=0.4)
        known = frame["utility"][np.isfinite(frame["utility"])]
        low, high = (float(known.min()), float(known.max())) if known.size else (0.0, 1.0)
        gap = 0.12 * (high - low) or 0.05
        ax.set_ylim(low - gap, high + gap)
        label_axis(ax.yaxis, *number_ticks(low, high, most=5))
        ax.set_title(f"{drawable(self.utility)}, higher is better")

    def _draw_p_values(self, ax: Axes, frame: pd.DataFrame) -> None:
        shown = frame.assign(p_value=frame["p_value"].clip(lower=_LEAST))
        ax.set_yscale("log")
        ax.plot(shown["epoch"], shown["p_value"], color=GREY, lw=0.8, zorder=1)
        _marks(ax, shown, "p_value")
        end = min(_LEAST, self.look_level)
        ax.set_ylim(0.5 * end, 2.0)
        ticks = [0.0001, 0.001, 0.01, 0.1, 1.0]
        label_axis(ax.yaxis, ticks, [f"{tick:g}" for tick in ticks])
        ax.yaxis.minorticks_off()
        labels = (
            (self.level, f" may be chosen: above {self.level:.2g}", "bottom"),
            (self.look_level, f" is stopped: at {self.look_level:.2g} and below", "top"),
        )
        for level, text, side in labels:
            ax.axhline(level, color=INK, lw=0.7, ls=(0, (4, 2)))
            style: dict[str, Any] = {"size": SMALL, "color": GREY, "va": side}
            style |= {"xytext": (0.0, 2.0 if side == "bottom" else -2.0)}
            place: Any = {"xycoords": ("axes fraction", "data"), "textcoords": "offset points"}
            ax.annotate(text, (0.0, level), **style, **place)
        ax.set_title("Least p-value of the tests of privacy")


def _whole(ticks: np.ndarray, labels: list[str]) -> tuple[list[float], list[str]]:
    """Return the ticks at whole numbers: epochs have no halves."""
    whole = [float(tick) for tick in ticks if float(tick).is_integer()]
    return whole, [f"{tick:.0f}" for tick in whole] if len(whole) < len(ticks) else labels


def _marks(ax: Axes, frame: pd.DataFrame, column: str) -> None:
    """Draw a filled dot where an epoch may be chosen, a hollow one where not, a cross of alarms."""
    alarm = (frame["alarm"] | frame["copies"]).to_numpy(dtype=bool)
    eligible = frame["eligible"].to_numpy(dtype=bool)
    dots: dict[str, Any] = {"ls": "", "zorder": 2}
    colour = COLOURS["synthetic"]
    kinds: tuple[tuple[np.ndarray, dict[str, Any]], ...] = (
        (eligible, {"marker": "o", "ms": 4.0, "color": colour}),
        (~eligible & ~alarm, {"marker": "o", "ms": 4.0, "mfc": "white", "mec": colour}),
        (alarm, {"marker": "X", "ms": 6.0, "color": ALARM}),
    )
    for rows, style in kinds:
        ax.plot(frame["epoch"][rows], frame[column][rows], **dots, **style)
