"""Lines on two axes from 0, with direct labels: curves of models, of survival and of precision."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from skeval.reporting.document.drawings.svg import (
    FAINT,
    GREY,
    INK,
    area,
    dashed_line,
    dot,
    drawing,
    label,
    line,
    path,
    round_step,
)

_LEFT, _RIGHT, _TOP, _BOTTOM, _LINE = 34.0, 8.0, 18.0, 32.0, 10.0
_MAX_POINTS = 120  # of a line; more cannot be seen


@dataclass(frozen=True)
class Line:
    """A line through points, and what it is called above the axes."""

    label: str
    x: Sequence[float]
    y: Sequence[float]
    color: str
    is_dashed: bool = False
    is_stepped: bool = False
    has_dots: bool = False
    band: tuple[Sequence[float], Sequence[float]] | None = None  # lower and upper ends


@dataclass(frozen=True)
class LineChart:
    """Lines on axes from 0 to `x_end` and from 0 to 1."""

    lines: Sequence[Line]
    x_title: str
    y_title: str
    x_end: float = 1.0
    is_share: bool = True  # of the axis from left to right
    diagonal: tuple[float, float] | None = None  # ends of a dashed line, of which both are heights
    mark: float | None = None
    width: float = 250.0
    height: float = 170.0

    def to_svg(self) -> str:
        """Return the drawing."""
        parts = [*self._grid(), *self._guides(), *self._bands(), *self._curves(), *self._titles()]
        return drawing(self.width, self.height, parts)

    @property
    def _top(self) -> float:
        return _TOP + _LINE * max(0, len(self.lines) - 1)

    def _place(self, x: float, y: float) -> tuple[float, float]:
        across = min(1.0, x / self.x_end) * (self.width - _RIGHT - _LEFT)
        return _LEFT + across, self.height - _BOTTOM - y * (self.height - _BOTTOM - self._top)

    def _grid(self) -> Iterator[str]:
        for level in (0.0, 0.25, 0.5, 0.75, 1.0):
            (x1, y), (x2, _) = self._place(0.0, level), self._place(self.x_end, level)
            yield line(x1, y, x2, y, FAINT)
            yield label(x1 - 4, y + 2.6, f"{100 * level:g}%", anchor="end")
        step = round_step(self.x_end / 4)
        for i in range(int(self.x_end / step + 1e-9) + 1):
            (x, low), (_, high) = self._place(i * step, 0.0), self._place(i * step, 1.0)
            yield line(x, high, x, low, FAINT)
            shown = f"{100 * i * step:.3g}%" if self.is_share else f"{i * step:,.6g}"
            yield label(min(x, self.width - _RIGHT - 3), low + 11, shown)

    def _guides(self) -> Iterator[str]:
        if self.diagonal is not None:
            first, last = self.diagonal
            yield dashed_line(*self._place(0.0, first), *self._place(self.x_end, last), GREY)
        if self.mark is not None and self.mark <= self.x_end:
            yield dashed_line(*self._place(self.mark, 0.0), *self._place(self.mark, 1.0), INK)

    def _bands(self) -> Iterator[str]:
        for one in self.lines:
            if one.band is not None:
                low, high = (self._line(one, ends) for ends in one.band)
                yield area([*low, *reversed(high)], one.color, opacity=0.13)

    def _line(self, one: Line, heights: Sequence[float]) -> list[tuple[float, float]]:
        places = [self._place(x, y) for x, y in _thinned(one.x, heights)]
        return [places[0], *_corners(places)] if one.is_stepped else places

    def _curves(self) -> Iterator[str]:
        for i, one in enumerate(self.lines):
            places = self._line(one, one.y)
            width = 1.0 if one.is_dashed else 1.5
            yield path(places, one.color, width, is_dashed=one.is_dashed)
            if one.has_dots:
                yield from (dot(x, y, 1.8, one.color) for x, y in places)
            y = _TOP - 10.0 + _LINE * i
            yield path([(_LEFT, y), (_LEFT + 10, y)], one.color, width, is_dashed=one.is_dashed)
            yield label(_LEFT + 14, y + 2.6, one.label, anchor="start", color=one.color)

    def _titles(self) -> Iterator[str]:
        middle = (_LEFT + self.width - _RIGHT) / 2
        yield label(middle, self.height - 8, self.x_title)
        middle = (self._top + self.height - _BOTTOM) / 2
        yield label(8.0, middle, self.y_title, turned=-90.0)


def _thinned(x: Sequence[float], y: Sequence[float]) -> list[tuple[float, float]]:
    points = list(zip(x, y, strict=True))
    step = max(1, len(points) // _MAX_POINTS)
    kept = points[::step]
    return kept if kept[-1] == points[-1] else [*kept, points[-1]]


def _corners(places: Sequence[tuple[float, float]]) -> Iterator[tuple[float, float]]:
    """Yield the points of steps that keep their height until the next point."""
    for (_, before), (x, y) in pairwise(places):
        yield x, before
        yield x, y
