"""A curve of rates on two logarithmic axes, with the line of chance."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from skeval.reporting.document.drawings.svg import FAINT, GREY, INK, dot, drawing, label, line, path

_LEFT, _RIGHT, _TOP, _BOTTOM = 34.0, 14.0, 8.0, 34.0
_MIN_ROOM = 14.0  # above a point, for its label


@dataclass(frozen=True)
class Mark:
    """A labeled point of a curve."""

    x: float
    y: float
    label: str


@dataclass(frozen=True)
class LogCurve:
    """The curve, its marks and its words."""

    x: Sequence[float]
    y: Sequence[float]
    marks: Sequence[Mark]
    x_title: str
    y_title: str
    chance: str
    low: float = 0.001
    width: float = 250.0
    height: float = 205.0

    def to_svg(self) -> str:
        """Return the drawing."""
        parts = [*self._grid(), *self._chance(), self._curve(), *self._marks(), *self._titles()]
        return drawing(self.width, self.height, parts)

    @property
    def _right(self) -> float:
        return self.width - _RIGHT

    @property
    def _bottom(self) -> float:
        return self.height - _BOTTOM

    def _place(self, x: float, y: float) -> tuple[float, float]:
        across, up = (1.0 - math.log(max(v, self.low)) / math.log(self.low) for v in (x, y))
        left = _LEFT + across * (self._right - _LEFT)
        return left, self._bottom - up * (self._bottom - _TOP)

    def _grid(self) -> Iterator[str]:
        for exponent in range(round(math.log10(self.low)), 1):
            rate = 10.0**exponent
            x, y = self._place(rate, rate)
            yield line(x, _TOP, x, self._bottom, FAINT)
            yield line(_LEFT, y, self._right, y, FAINT)
            yield label(x, self._bottom + 11, f"{100 * rate:g}%")
            yield label(_LEFT - 4, y + 2.6, f"{100 * rate:g}%", anchor="end")

    def _chance(self) -> Iterator[str]:
        (x1, y1), (x2, y2) = self._place(self.low, self.low), self._place(1.0, 1.0)
        yield path([(x1, y1), (x2, y2)], GREY, 0.7, is_dashed=True)
        x, y = x1 + 0.62 * (x2 - x1), y1 + 0.62 * (y2 - y1) + 10
        yield label(x, y, self.chance, turned=math.degrees(math.atan2(y2 - y1, x2 - x1)))

    def _curve(self) -> str:
        # steps, because at a rate between two points the curve has the value of the lower one
        known = list(zip(self.x, self.y, strict=True))
        corners = [(x, y) for (_, y), (x, _) in pairwise(known)]
        steps = [point for pair in zip(known[1:], corners, strict=True) for point in pair[::-1]]
        # what is found without any false alarm is drawn at the left edge
        places = [self._place(x, y) for x, y in [*known[:1], *steps] if y >= self.low]
        return path(places, INK, 1.4)

    def _marks(self) -> Iterator[str]:
        for mark in self.marks:
            x, y = self._place(mark.x, mark.y)
            yield dot(x, y, 3.0, INK)
            is_at_top = y - _TOP < _MIN_ROOM  # where the label would leave the drawing
            place = (x + 5, y + 12) if is_at_top else (x - 5, y - 6)
            anchor = "start" if is_at_top else "end"
            yield label(*place, mark.label, anchor=anchor, color=INK, is_bold=True)

    def _titles(self) -> Iterator[str]:
        yield label((_LEFT + self._right) / 2, self.height - 8, self.x_title)
        yield label(8.0, (_TOP + self._bottom) / 2, self.y_title, turned=-90.0)
