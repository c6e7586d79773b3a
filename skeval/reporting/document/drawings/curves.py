"""Curves on two axes from 0, each named in its color above the axes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from skeval.reporting.document.drawings.svg import FAINT, drawing, label, line, path, round_step

_LEFT, _RIGHT, _TOP, _BOTTOM, _LINE = 34.0, 8.0, 18.0, 32.0, 10.0
_MAX_POINTS = 120  # per curve, because more points are not visible


@dataclass(frozen=True)
class Curve:
    """A curve through points, of which `y` is a share, and its name."""

    name: str
    x: Sequence[float]
    y: Sequence[float]
    color: str
    is_dashed: bool = False


@dataclass(frozen=True)
class Curves:
    """Curves on one axis from 0 to `x_end`."""

    curves: Sequence[Curve]
    x_title: str
    y_title: str
    x_end: float
    width: float = 250.0
    height: float = 170.0

    def to_svg(self) -> str:
        """Return the drawing."""
        return drawing(self.width, self.height, [*self._grid(), *self._lines(), *self._titles()])

    @property
    def _top(self) -> float:
        return _TOP + _LINE * (len(self.curves) - 1)

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
            yield label(min(x, self.width - _RIGHT - 3), low + 11, f"{i * step:.3g}")

    def _lines(self) -> Iterator[str]:
        for i, one in enumerate(self.curves):
            width, y = 1.0 if one.is_dashed else 1.6, _TOP - 10.0 + _LINE * i
            places = [self._place(*point) for point in _thin(one)]
            yield path(places, one.color, width, is_dashed=one.is_dashed)
            yield path([(_LEFT, y), (_LEFT + 10, y)], one.color, width, is_dashed=one.is_dashed)
            yield label(_LEFT + 14, y + 2.6, one.name, anchor="start", color=one.color)

    def _titles(self) -> Iterator[str]:
        yield label((_LEFT + self.width - _RIGHT) / 2, self.height - 8, self.x_title)
        middle = (self._top + self.height - _BOTTOM) / 2
        yield label(8.0, middle, self.y_title, turned=-90.0)


def _thin(curve: Curve) -> list[tuple[float, float]]:
    """Return some points of a curve, and always the last one."""
    points = list(zip(curve.x, curve.y, strict=True))
    kept = points[:: max(1, len(points) // _MAX_POINTS)]
    return kept if kept[-1] == points[-1] else [*kept, points[-1]]
