"""Tables by two mean scores, those that no other table beats in both joined by steps."""

from __future__ import annotations

import math
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
_MAX_NAME, _LETTER, _LINE = 24, 4.4, 9.0  # letters; points of a letter and of a line


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

    def _low(self, axis: int) -> float:
        """Return where an axis begins, so that tables that are alike do not cover each other."""
        return min(0.75, 0.25 * math.floor(min(ends[axis] for ends in self.scores.values()) / 0.25))

    def _place(self, x: float, y: float) -> tuple[float, float]:
        wide = self.width - _LEFT - _RIGHT
        tall = self.height - _TOP - _BOTTOM
        x, y = ((value - (low := self._low(i))) / (1.0 - low) for i, value in enumerate((x, y)))
        return _LEFT + x * wide, _TOP + (1.0 - y) * tall

    def _parts(self) -> Iterator[str]:
        left, low = self._low(0), self._low(1)
        for i in range(5):
            x, y = (start + i * (1.0 - start) / 4.0 for start in (left, low))
            yield line(*self._place(x, low), *self._place(x, 1.0), FAINT)
            yield line(*self._place(left, y), *self._place(1.0, y), FAINT)
            place = self._place(x, low)
            yield label(place[0], place[1] + 11, f"{x:.3g}")
            place = self._place(left, y)
            yield label(place[0] - 4, place[1] + 2.6, f"{y:.3g}", anchor="end")
        yield from self._steps()
        yield from self._dots()
        middle = (_LEFT + self.width - _RIGHT) / 2
        yield label(middle, self.height - 6, self.x_title)
        yield label(10.0, (_TOP + self.height - _BOTTOM) / 2, self.y_title, turned=-90.0)

    def _dots(self) -> Iterator[str]:
        """Yield the tables with their names, none of which covers another one."""
        front, taken = self.front, list[tuple[float, float, float]]()
        for name, ends in self.scores.items():
            x, y = self._place(*ends)
            shown = shorten_name(name, _MAX_NAME)
            right = x + _LETTER * len(shown) + 10.0
            while any(
                x < end and right > start and abs(y - at) < _LINE for start, end, at in taken
            ):
                y += _LINE
            taken.append((x, right, y))
            yield dot(*self._place(*ends), 3.0, SYNTHETIC if name in front else GREY)
            yield label(x + 6, y + 2.6, shown, anchor="start", color=INK)

    def _steps(self) -> Iterator[str]:
        points: list[tuple[float, float]] = []
        for name in self.front:
            x, y = self.scores[name]
            if points:
                points.append((points[-1][0], y))
            points.append((x, y))
        if len(points) > 1:
            yield path([self._place(*point) for point in points], SYNTHETIC, 1.0, is_dashed=True)
