"""Cumulative curves of distances on one axis: how many rows are within each distance."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from skeval.reporting.document.drawings.svg import FAINT, drawing, label, line, path, round_step

_LEFT, _RIGHT, _TOP, _BOTTOM = 34.0, 92.0, 8.0, 32.0


@dataclass(frozen=True)
class Curve:
    """A curve by its quantiles, and the label at its end."""

    label: str
    levels: Sequence[float]
    distances: Sequence[float]
    color: str
    is_dashed: bool = False


@dataclass(frozen=True)
class CumulativeCurves:
    """Several curves on one axis."""

    curves: Sequence[Curve]
    x_title: str
    y_title: str
    width: float = 500.0
    height: float = 190.0

    def to_svg(self) -> str:
        """Return the drawing."""
        return drawing(self.width, self.height, [*self._grid(), *self._lines(), *self._titles()])

    @property
    def _end(self) -> float:
        return max(max(curve.distances) for curve in self.curves) or 1.0

    def _place(self, distance: float, level: float) -> tuple[float, float]:
        x = _LEFT + distance / self._end * (self.width - _RIGHT - _LEFT)
        return x, self.height - _BOTTOM - level * (self.height - _BOTTOM - _TOP)

    def _grid(self) -> Iterator[str]:
        for level in (0.0, 0.25, 0.5, 0.75, 1.0):
            (x1, y), (x2, _) = self._place(0.0, level), self._place(self._end, level)
            yield line(x1, y, x2, y, FAINT)
            yield label(x1 - 4, y + 2.6, f"{100 * level:g}%", anchor="end")
        step = round_step(self._end / 4)
        for i in range(int(self._end / step + 1e-9) + 1):
            distance = i * step
            x, y = self._place(distance, 0.0)
            yield line(x, _TOP, x, y, FAINT)
            yield label(x, y + 11, f"{distance:.3g}")

    def _lines(self) -> Iterator[str]:
        for i, curve in enumerate(self.curves):
            known = zip(curve.distances, curve.levels, strict=True)
            places = [self._place(0.0, 0.0), *(self._place(x, y) for x, y in known)]
            width = 1.0 if curve.is_dashed else 1.6
            yield path(places, curve.color, width, is_dashed=curve.is_dashed)
            x, y = self._place(self._end, 0.96 - 0.14 * i)
            yield line(x + 5, y - 2.6, x + 14, y - 2.6, curve.color, 1.6)
            yield label(x + 17, y, curve.label, anchor="start", color=curve.color)

    def _titles(self) -> Iterator[str]:
        middle = (_LEFT + self.width - _RIGHT) / 2
        yield label(middle, self.height - 6, self.x_title)
        yield label(8.0, (_TOP + self.height - _BOTTOM) / 2, self.y_title, turned=-90.0)
