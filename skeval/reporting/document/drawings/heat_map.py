"""A matrix as a map of colors: one ramp for amounts, one with two ends for differences."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from skeval.reporting.document.drawings.svg import drawing, ramp, rectangle

AMOUNT = "#0b5394"
STRENGTH = "#1b2430"
LESS, MORE = "#5e3c99", "#b35806"  # of differences below and above 0
_EMPTY, _ZERO = "#f5f7f9", "#ffffff"


@dataclass(frozen=True)
class HeatMap:
    """Values between 0 and `top`, or between -`top` and `top` for differences; nan is empty."""

    values: Sequence[Sequence[float]]
    top: float
    color: str = AMOUNT
    is_difference: bool = False
    width: float = 160.0
    height: float = 160.0

    def to_svg(self) -> str:
        """Return the drawing."""
        return drawing(self.width, self.height, self._cells())

    def _cells(self) -> Iterator[str]:
        n_rows = max(1, len(self.values))
        tall = self.height / n_rows
        for i, row in enumerate(self.values):
            wide = self.width / max(1, len(row))
            for j, value in enumerate(row):
                # neighbors overlap a little, so that no seam shows
                yield rectangle(j * wide, i * tall, wide + 0.2, tall + 0.2, self._color(value))

    def _color(self, value: float) -> str:
        if math.isnan(value):
            return _EMPTY
        part = abs(value) / (self.top or 1.0)
        if self.is_difference:
            return ramp(part, _ZERO, LESS if value < 0 else MORE)
        return ramp(part, _ZERO, self.color)
