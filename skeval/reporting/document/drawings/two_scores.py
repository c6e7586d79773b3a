"""Tables by two mean scores, those that no other table beats in both joined by steps."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from skeval.reporting.document.drawings.svg import (
    FAINT,
    GREY,
    INK,
    SYNTHETIC,
    dot,
    drawing,
    label,
    line,
    path,
)
from skeval.reporting.document.shortening import shorten_name

_LEFT, _RIGHT, _TOP, _BOTTOM = 40.0, 120.0, 8.0, 32.0
_TICKS = (0.0, 0.25, 0.5, 0.75, 1.0)
_MAX_NAME = 24


@dataclass(frozen=True)
class TwoScores:
    """The two scores of each table, from 0 to 1."""

    scores: Mapping[str, tuple[float, float]]
    x_title: str
    y_title: str
    width: float = 520.0
    height: float = 190.0

    @property
    def front(self) -> list[str]:
        """The tables that no other beats in both scores, from left to right."""
        kept = [
            one
            for one, (x, y) in self.scores.items()
            if not any(a >= x and b >= y and (a, b) != (x, y) for a, b in self.scores.values())
        ]
        return sorted(kept, key=lambda one: self.scores[one])

    def to_svg(self) -> str:
        """Return the drawing."""
        return drawing(self.width, self.height, self._parts())

    def _place(self, x: float, y: float) -> tuple[float, float]:
        wide = self.width - _LEFT - _RIGHT
        tall = self.height - _TOP - _BOTTOM
        return _LEFT + x * wide, _TOP + (1.0 - y) * tall

    def _parts(self) -> Iterator[str]:
        for tick in _TICKS:
            yield line(*self._place(tick, 0.0), *self._place(tick, 1.0), FAINT)
            yield line(*self._place(0.0, tick), *self._place(1.0, tick), FAINT)
            x, y = self._place(tick, 0.0)
            yield label(x, y + 11, f"{tick:g}")
            x, y = self._place(0.0, tick)
            yield label(x - 4, y + 2.6, f"{tick:g}", anchor="end")
        yield from self._steps()
        front = self.front
        for name, (first, second) in self.scores.items():
            x, y = self._place(first, second)
            yield dot(x, y, 3.0, SYNTHETIC if name in front else GREY)
            yield label(x + 6, y + 2.6, shorten_name(name, _MAX_NAME), anchor="start", color=INK)
        middle = (_LEFT + self.width - _RIGHT) / 2
        yield label(middle, self.height - 6, self.x_title)
        yield label(10.0, (_TOP + self.height - _BOTTOM) / 2, self.y_title, turned=-90.0)

    def _steps(self) -> Iterator[str]:
        points: list[tuple[float, float]] = []
        for name in self.front:
            x, y = self.scores[name]
            if points:
                points.append((points[-1][0], y))
            points.append((x, y))
        if len(points) > 1:
            yield path([self._place(*point) for point in points], SYNTHETIC, 1.0, is_dashed=True)
