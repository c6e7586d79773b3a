"""The scale of a metric, and one metric drawn on its scale in one line."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from skeval.reporting.displays.theme import FAINT, INK, LETTERS
from skeval.reporting.document.details import mapping_at, number_at
from skeval.results.result import Result
from skeval.utils.formatting import as_float

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def scale_of(result: Result) -> tuple[float, float]:
    """Return the ends of a metric's scale. Finite values replace an infinite end."""
    low, high = result.tags.bounds if result.tags else (-math.inf, math.inf)
    known = map(as_float, (result.value, result.baseline, *(result.interval or ())))
    finite = [x for x in known if math.isfinite(x)] or [0.0]
    low = low if math.isfinite(low) else min(0.0, *finite)
    high = high if math.isfinite(high) else max(finite)
    return (low, high) if high > low else (low, low + 1.0)


def comparable_value(result: Result) -> float:
    """Return the value at the baseline's number of rows, if that is another number."""
    smaller = mapping_at(result.details, "at_baseline_size")
    return number_at(smaller, "value") if "value" in smaller else result.value


def draw_on_scale(ax: Axes, y: float, result: Result) -> None:
    """Draw a result on its scale, whose ends are at 0 and 1."""
    low, high = scale_of(result)
    color = LETTERS["synthetic"]

    def place(value: Any) -> Any:
        return (np.clip(value, low, high) - low) / (high - low)

    ax.plot([0.0, 1.0], [y, y], color=FAINT, lw=1.0, zorder=1)
    if result.interval is not None:
        ax.plot(place(result.interval), [y, y], color=color, lw=3.0, alpha=0.35, zorder=2)
    if math.isfinite(baseline := as_float(result.baseline)):
        ring: dict[str, Any] = {"mfc": "white", "color": INK, "ms": 5.0, "mew": 0.9}
        ax.plot(place(baseline), y, "o", zorder=3, **ring)
    if math.isfinite(result.value):
        ax.plot(place(result.value), y, "o", color=color, ms=4.0, mew=0.0, zorder=4)
