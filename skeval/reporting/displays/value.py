"""One value on its scale."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from skeval.reporting.displays.base import Display
from skeval.reporting.displays.scales import comparable_value, scale_of
from skeval.reporting.displays.sentences import name_baseline, state_observed
from skeval.reporting.displays.theme import FAINT, GREY, INK, LETTERS, TEXT
from skeval.reporting.displays.ticks import hide_axis, label_numbers, label_percentages
from skeval.reporting.document.numbers import rate, score
from skeval.utils.formatting import as_float

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_GAP = 0.13  # between a mark and its label, in heights of the axes


class ValueDisplay(Display):
    """A value with its interval and its baseline, or the two rates that a test compared."""

    def frame(self) -> pd.DataFrame:
        """Return one row for each number: `what`, `value`."""
        low, high = self.result.interval or (np.nan, np.nan)
        values = {
            "value": self.result.value,
            "low": low,
            "high": high,
            "baseline": as_float(self.result.baseline),
        }
        if self._is_of_rates():
            contrast: Any = self.result.contrast
            values |= {"observed": contrast.observed, "expected": contrast.expected}
        frame = pd.DataFrame({"what": list(values), "value": list(values.values())})
        return frame.dropna(ignore_index=True)

    def title(self) -> str:
        """Return the two rates, or otherwise the finding that the metric states."""
        contrast = self.result.contrast
        if contrast is None or not self._is_of_rates():
            return super().title()
        return state_observed(
            contrast.what, contrast.observed, contrast.expected, contrast.reference
        )

    def draw(self, axes: Sequence[Axes]) -> None:
        """Draw a dot for the value above the line and a ring for its reference below it."""
        (ax,) = axes
        ax.set_ylim(-0.7, 0.9)
        hide_axis(ax.yaxis)
        if self._is_of_rates():
            self._draw_rates(ax)
        else:
            self._draw_value(ax)

    def _is_of_rates(self) -> bool:
        contrast = self.result.contrast
        return contrast is not None and contrast.share and math.isfinite(contrast.observed)

    def _draw_rates(self, ax: Axes) -> None:
        contrast: Any = self.result.contrast
        ax.axhline(0.0, color=FAINT, lw=1.0, zorder=1)
        reference = contrast.reference
        reference = f"expected {reference}" if reference == "by chance" else reference
        ax.set_xlim(-0.02, 1.02)
        _mark(ax, contrast.observed, f"{rate(contrast.observed)} observed", is_dot=True)
        _mark(ax, contrast.expected, f"{rate(contrast.expected)} {reference}", is_dot=False)
        label_percentages(ax.xaxis, 1.0, most=5)

    def _draw_value(self, ax: Axes) -> None:
        result = self.result
        low, high = scale_of(result)
        span = high - low
        ax.plot([low, high], [0.0, 0.0], color=FAINT, lw=1.0, zorder=1)
        ax.set_xlim(low - 0.04 * span, high + 0.04 * span)
        color = LETTERS["synthetic"]
        if result.interval is not None:
            ends = np.clip(result.interval, low, high)
            ax.plot(ends, [0.0, 0.0], color=color, lw=4.0, alpha=0.35, zorder=2)
        if math.isfinite(smaller := comparable_value(result)) and smaller != result.value:
            ax.plot(smaller, 0.0, "o", ms=6.0, mfc="none", color=color, zorder=3)
        if math.isfinite(result.value):
            _mark(ax, result.value, f"value {score(result.value, result.interval)}", is_dot=True)
        if math.isfinite(baseline := as_float(result.baseline)):
            _mark(ax, baseline, f"{name_baseline(result)} {score(baseline)}", is_dot=False)
        label_numbers(ax.xaxis, low, high)
        ax.set_xlabel(result.tags.direction if result.tags else "")


def _mark(ax: Axes, place: float, text: str, *, is_dot: bool) -> None:
    """Draw a dot with its label above, or a ring with its label below."""
    low, high = ax.get_xlim()
    part = (place - low) / (high - low)
    align: Any = "left" if part < 0.3 else "right" if part > 0.7 else "center"
    color = LETTERS["synthetic"] if is_dot else INK
    face = color if is_dot else "white"
    ax.plot(place, 0.0, "o", color=color, mfc=face, ms=7.0, mew=1.0, zorder=4 + is_dot)
    style: dict[str, Any] = {"ha": align, "size": TEXT + 2.0, "color": color if is_dot else GREY}
    ax.text(place, _GAP if is_dot else -_GAP, text, va="bottom" if is_dot else "top", **style)
