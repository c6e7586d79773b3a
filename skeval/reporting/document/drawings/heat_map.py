"""A matrix as a map of colors, with one ramp for amounts and two ramps for differences."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from skeval.reporting.document.drawings.svg import drawing, ramp

AMOUNT = "#0b5394"
STRENGTH = "#1b2430"
LESS, MORE = "#5e3c99", "#b35806"  # for differences below and above 0
_EMPTY, _ZERO = "#f5f7f9", "#ffffff"
_N_SHADES = 24
FRAME, _INSIDE = "#b3261e", 0.8  # frames around cells that no real row fills


@dataclass(frozen=True)
class HeatMap:
    """Values from 0 to `top`, or from -`top` to `top` for differences. Cells of nan are empty."""

    values: Sequence[Sequence[float]]
    top: float
    color: str = AMOUNT
    is_difference: bool = False
    width: float = 160.0
    height: float = 160.0
    framed: Sequence[tuple[int, int]] = ()  # rows and columns of cells

    def to_svg(self) -> str:
        """Return the drawing."""
        return drawing(self.width, self.height, self._parts())

    def _parts(self) -> Iterator[str]:
        """Yield one path per color, because a report has thousands of cells."""
        by_color: dict[str, list[str]] = {}
        n_rows = max(1, len(self.values))
        tall = self.height / n_rows
        for i, row in enumerate(self.values):
            wide = self.width / max(1, len(row))
            start = 0
            for color, cells in groupby(map(self._color, row)):
                n = len(list(cells))
                place = f"M{start * wide:.1f} {i * tall:.1f}"
                # neighbors overlap a little, so that no seam shows
                size = f"h{n * wide + 0.2:.1f}v{tall + 0.2:.1f}h-{n * wide + 0.2:.1f}z"
                by_color.setdefault(color, []).append(place + size)
                start += n
        for color, cells_of_color in by_color.items():
            yield f'<path fill="{color}" d="{"".join(cells_of_color)}"/>'
        if self.framed:
            frames = "".join(self._frame(i, j) for i, j in self.framed)
            yield f'<path fill="none" stroke="{FRAME}" stroke-width="1.6" d="{frames}"/>'

    def _frame(self, i: int, j: int) -> str:
        wide, tall = self.width / len(self.values[i]), self.height / len(self.values)
        x, y = j * wide + _INSIDE, i * tall + _INSIDE
        across, down = wide - 2 * _INSIDE, tall - 2 * _INSIDE
        return f"M{x:.1f} {y:.1f}h{across:.1f}v{down:.1f}h-{across:.1f}z"

    def _color(self, value: float) -> str:
        if math.isnan(value):
            return _EMPTY
        part = round(_N_SHADES * abs(value) / (self.top or 1.0)) / _N_SHADES
        if self.is_difference:
            return ramp(part, _ZERO, LESS if value < 0 else MORE)
        return ramp(part, _ZERO, self.color)
