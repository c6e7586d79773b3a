"""Display of accumulated minimum distances: the curve, and its areas against the threshold."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from skeval.formatting import number
from skeval.reporting.drawing import ROOM, Drawing, numbers, say_empty
from skeval.reporting.theme import COLOURS, GREY, INK
from skeval.reporting.ticks import label_axis, number_ticks
from skeval.result import Result

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["MDADisplay"]

_AREAS = {"privacy_area": "privacy area", "resemblance": "resemblance"}
_LINES: dict[str, Any] = {"privacy_area": "-", "resemblance": (0, (4, 2))}
_STYLES: dict[str, dict[str, Any]] = {
    "holdout": {"color": COLOURS["holdout"], "lw": 1.4},
    "synthetic at baseline size": {"color": COLOURS["synthetic"], "lw": 1.0, "ls": (0, (3, 2))},
    "synthetic": {"color": COLOURS["synthetic"], "lw": 1.6},
}


class MDADisplay(Drawing):
    """The accumulation curve of synthetic rows over that of the holdout, cut at the threshold.

    The areas under the synthetic curve are shaded: darker left of the threshold, the privacy area,
    and lighter right of it, the resemblance. Where several thresholds were asked for, a second
    panel shows both areas against the threshold.

    Parameters
    ----------
    result : Result
        With ``details["curve"]``: `u` and `share` by name; and ``details["thresholds"]``.

    Examples
    --------
    >>> from skeval.datasets import make_mixed
    >>> from skeval.privacy import MinimumDistanceAccumulation
    >>> from skeval.reporting import MDADisplay
    >>> table = make_mixed()
    >>> display = MDADisplay(MinimumDistanceAccumulation().fit(table).evaluate(table))
    >>> display.frame()["share"].tolist()[:3]
    [0.0, 1.0, 1.0]
    """

    def __init__(self, result: Result) -> None:
        self.result = result
        given: Mapping[str, Any] = result.details.get("curve") or {}
        self.curves = {
            name: (numbers(given[name]["u"]), numbers(given[name]["share"]))
            for name in _STYLES
            if given.get(name)
        }
        self.thresholds = numbers(result.details.get("thresholds", []))
        self.n_panels = 2 if self.thresholds.size > 1 and self.curves else 1

    def frame(self) -> pd.DataFrame:
        """Return `what`, the curve or one of the areas, `rows` of which table, `u` and `share`."""
        frames = [
            pd.DataFrame({"what": "curve", "rows": name, "u": u, "share": share})
            for name, (u, share) in self.curves.items()
        ]
        frames += [
            pd.DataFrame({"what": area, "rows": name, "u": self.thresholds, "share": values})
            for name, areas in self._areas().items()
            for area, values in areas.items()
        ]
        columns = ["what", "rows", "u", "share"]
        return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame(columns=columns)

    def draw(self, axes: Sequence[Axes], room: float = ROOM) -> None:
        """Draw the curves, and beside them the areas if there are several thresholds."""
        if not self.curves:
            say_empty(axes[0], "no curve")
            return
        self._curves(axes[0])
        if self.n_panels == 2:
            self._against_threshold(axes[1])

    def size(self) -> tuple[float, float]:
        """Return width and height of a figure of its own, in inches."""
        return (7.0 if self.n_panels == 2 else 5.0), 3.0

    def _areas(self) -> dict[str, dict[str, np.ndarray]]:
        of_holdout = self.result.details.get("holdout") or {}
        tables = {"synthetic": self.result.details, "holdout": of_holdout}
        return {
            name: {area: numbers(table[area]) for area in _AREAS}
            for name, table in tables.items()
            if all(area in table for area in _AREAS)
        }

    def _curves(self, ax: Axes) -> None:
        first, *others = self.thresholds if self.thresholds.size else [math.nan]
        self._shade(ax, first)
        for name, style in _STYLES.items():
            if name in self.curves:
                ax.plot(*self.curves[name], label=self._label(name), **style)
        for threshold in others:
            ax.axvline(threshold, color=GREY, lw=0.6, ls=(0, (1, 2)))
        ax.axvline(first, color=INK, lw=0.9, ls=(0, (4, 2)))
        end = self._end()
        _share_axis(ax)
        ticks, labels = number_ticks(0.0, end, most=6)
        ax.set_xlim(0.0, end)
        label_axis(ax.xaxis, ticks, labels)
        beyond = " (beyond the axis, all curves are at 1)" if end < 1 else ""
        ax.set_xlabel(f"distance to the nearest row{beyond}")
        ax.set_title(f"Share of rows within a distance, cut at {first:.3g}")
        ax.legend(loc="lower right", borderaxespad=0.4)

    def _shade(self, ax: Axes, threshold: float) -> None:
        if "synthetic" not in self.curves or math.isnan(threshold):
            return
        u, share = self.curves["synthetic"]
        at = float(np.interp(threshold, u, share))
        colour = COLOURS["synthetic"]
        left, right = u < threshold, u > threshold
        ax.fill_between([*u[left], threshold], [*share[left], at], color=colour, alpha=0.28, lw=0)
        ax.fill_between([threshold, *u[right]], [at, *share[right]], color=colour, alpha=0.08, lw=0)

    def _label(self, name: str) -> str:
        if name == "synthetic at baseline size":
            n_rows = self.result.details.get("at_baseline_size", {}).get("n_rows", 0)
            return f"synthetic, {n_rows:,} rows"
        areas = self._areas().get(name)
        if areas is None:
            return name
        left, right = (number(float(areas[area][0])) for area in _AREAS)
        return f"{name}: {left} left, {right} right"

    def _end(self) -> float:
        """Return where all curves have reached 1 and no threshold is at the edge."""
        all_in = max(float(u[share >= 1.0 - 1e-12][0]) for u, share in self.curves.values())
        thresholds = self.thresholds[np.isfinite(self.thresholds)]
        return min(1.0, max(1.05 * all_in, 1.25 * float(thresholds.max(initial=0.0))))

    def _against_threshold(self, ax: Axes) -> None:
        order = np.argsort(self.thresholds, kind="stable")
        for name, areas in self._areas().items():
            for area, values in areas.items():
                ax.plot(
                    self.thresholds[order],
                    values[order],
                    color=COLOURS[name],
                    ls=_LINES[area],
                    marker="o",
                    ms=2.5,
                    lw=1.2,
                    label=f"{name}: {_AREAS[area]}",
                )
        ax.axvline(self.thresholds[0], color=INK, lw=0.9, ls=(0, (4, 2)))
        end = float(self.thresholds.max()) * 1.05
        ticks, labels = number_ticks(0.0, end, most=6)
        ax.set_xlim(0.0, end)
        label_axis(ax.xaxis, ticks, labels)
        _share_axis(ax)
        ax.set_xlabel("threshold")
        ax.set_title("Areas against the threshold")
        ax.legend(loc="best", borderaxespad=0.4)


def _share_axis(ax: Axes) -> None:
    ax.set_ylim(0.0, 1.04)
    ticks, labels = number_ticks(0.0, 1.0, most=6)
    label_axis(ax.yaxis, ticks, labels)
