"""The accumulation of distances to the closest row."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from skeval.reporting.displays.base import Display
from skeval.reporting.displays.reading import stack, to_numbers
from skeval.reporting.displays.sentences import describe_result, state_areas
from skeval.reporting.displays.series import Series, name_series, table_series
from skeval.reporting.displays.theme import CHANCE, GREY, INK, LETTERS, LINES, TICK
from skeval.reporting.displays.ticks import label_numbers, label_percentages
from skeval.reporting.document.details import mapping_at, number_at
from skeval.reporting.document.numbers import count, rate, score
from skeval.results.result import Result

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_SAME_SIZE = "synthetic at baseline size"
_AREAS = {"privacy_area": "-", "resemblance": (0, (4, 2))}
_STYLES: Mapping[str, Mapping[str, Any]] = {
    "holdout": LINES["holdout"],
    _SAME_SIZE: {"color": LETTERS["synthetic"], "lw": 0.9, "ls": (0, (1, 1))},
    "synthetic": LINES["synthetic"],
}


class MDADisplay(Display):
    """The accumulation curves of synthetic rows and of the holdout, cut at the threshold.

    The areas below the synthetic curve are shaded. The darker one, on the left of the threshold,
    is the privacy area. The lighter one, on the right, is the resemblance. If there are several
    thresholds, a second panel shows both areas against the threshold.

    Parameters
    ----------
    result : Result
        A result with ``details["curve"]``, which contains `u` and `share` by name, and with
        ``details["thresholds"]``.

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

    reads = ("curve", "thresholds")

    def __init__(self, result: Result) -> None:
        super().__init__(result)
        known: Mapping[str, Any] = mapping_at(result.details, "curve")
        self.curves = {
            name: (to_numbers(known[name]["u"]), to_numbers(known[name]["share"]))
            for name in _STYLES
            if known.get(name)
        }
        self.thresholds = to_numbers(result.details.get("thresholds", []))
        tables = {"synthetic": result.details, "holdout": mapping_at(result.details, "holdout")}
        self.areas = {
            role: {area: to_numbers(table[area]) for area in _AREAS}
            for role, table in tables.items()
            if all(area in table for area in _AREAS)
        }
        self.n_panels = 2 if self.thresholds.size > 1 and self.curves else 1

    def frame(self) -> pd.DataFrame:
        """Return `what`, the curve or one of the areas, `rows` of which table, `u` and `share`."""
        parts: list[tuple[Any, ...]] = [
            ("curve", name, *curve) for name, curve in self.curves.items()
        ]
        for role, areas in self.areas.items():
            parts += [(area, role, self.thresholds, values) for area, values in areas.items()]
        return stack(parts, ["what", "rows", "u", "share"])

    def title(self) -> str:
        """Return the two areas below the curve of the synthetic rows."""
        return state_areas(*self._areas_of("synthetic")) or super().title()

    def subtitle(self) -> str:
        """Return the threshold, and the two areas of unseen data."""
        areas = self._areas_of("holdout")
        unseen = "" if any(map(math.isnan, areas)) else " and ".join(map(rate, areas))
        threshold = f"threshold {score(float(self.thresholds[0]))}" if self.thresholds.size else ""
        return describe_result(self.result, threshold, unseen and f"unseen data {unseen}")

    def _areas_of(self, role: str) -> tuple[float, ...]:
        """Return the areas at the first threshold, or nan if they are not known."""
        known = self.areas.get(role, {})
        return tuple(float(next(iter(known.get(area, ())), math.nan)) for area in _AREAS)

    def draw(self, axes: Sequence[Axes]) -> None:
        """Draw the curves, and next to them the areas if there are several thresholds."""
        if not self.curves:
            return
        self._draw_curves(axes[0])
        if self.n_panels == 2:
            self._draw_areas(axes[1])

    def _draw_curves(self, ax: Axes) -> None:
        first, *others = self.thresholds if self.thresholds.size else [math.nan]
        self._shade_areas(ax, first)
        for name, curve in self.curves.items():
            ax.plot(*curve, **_STYLES[name])
        for threshold in others:
            ax.axvline(threshold, **CHANCE)
        self._name_threshold(ax, first)
        end = self._end_of_axis()
        ax.set(xlim=(0.0, end), ylim=(0.0, 1.0))
        ax.set(xlabel="distance to the closest row", ylabel="rows within the distance")
        label_numbers(ax.xaxis, 0.0, end)
        label_percentages(ax.yaxis, 1.0, most=5)
        name_series(ax, self._series(), most=3 if self.n_panels == 1 else 2)

    def _shade_areas(self, ax: Axes, threshold: float) -> None:
        if "synthetic" not in self.curves or math.isnan(threshold):
            return
        u, share = self.curves["synthetic"]
        at = float(np.interp(threshold, u, share))
        style: dict[str, Any] = {"color": LETTERS["synthetic"], "lw": 0}
        left, right = u < threshold, u > threshold
        ax.fill_between([*u[left], threshold], [*share[left], at], alpha=0.28, **style)
        ax.fill_between([threshold, *u[right]], [at, *share[right]], alpha=0.08, **style)

    def _name_threshold(self, ax: Axes, threshold: float) -> None:
        if math.isnan(threshold):
            return
        ax.axvline(threshold, color=INK, lw=0.9)
        place: dict[str, Any] = {"xycoords": ("data", "axes fraction"), "xytext": (3, 3)}
        text = f"threshold {threshold:.3g}"
        is_right = threshold > 0.6 * self._end_of_axis()
        style: dict[str, Any] = {"size": TICK, "color": INK, "ha": "right" if is_right else "left"}
        if is_right:
            place["xytext"] = (-3, 3)
        ax.annotate(text, (threshold, 0.0), textcoords="offset points", **place, **style)

    def _series(self) -> list[Series]:
        series = [table_series(role) for role in ("holdout", "synthetic") if role in self.curves]
        if _SAME_SIZE in self.curves:
            n = number_at(self.result.details, "at_baseline_size", "n_rows")
            look = _STYLES[_SAME_SIZE]
            series.append(Series(f"{count(n)} of its rows", look["color"], look))
        return series

    def _end_of_axis(self) -> float:
        """Return a distance above the thresholds at which all curves are 1."""
        all_in = max(float(u[share >= 1.0 - 1e-12][0]) for u, share in self.curves.values())
        thresholds = self.thresholds[np.isfinite(self.thresholds)]
        return min(1.0, max(1.05 * all_in, 1.25 * float(thresholds.max(initial=0.0))))

    def _draw_areas(self, ax: Axes) -> None:
        order = np.argsort(self.thresholds, kind="stable")
        places = self.thresholds[order]
        for role, areas in self.areas.items():
            for area, values in areas.items():
                look: dict[str, Any] = {"color": LETTERS[role], "ls": _AREAS[area], "lw": 1.2}
                name = f"{role}: {area}"
                ax.plot(places, values[order], marker="o", ms=2.5, label=name, **look)
        ax.axvline(self.thresholds[0], color=INK, lw=0.9)
        end = 1.05 * float(self.thresholds.max())
        ax.set(xlim=(0.0, end), ylim=(0.0, 1.0), xlabel="threshold", ylabel="area")
        label_numbers(ax.xaxis, 0.0, end)
        label_percentages(ax.yaxis, 1.0, most=5)
        dashes: dict[str, Any] = {"color": GREY, "lw": 1.2}
        name_series(
            ax,
            [
                Series("left", GREY, dashes),
                Series("right of the threshold", GREY, {**dashes, "ls": _AREAS["resemblance"]}),
            ],
        )
