"""Curves as SVG strings with literal colors, for PDF and HTML alike."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

_INK, _GREY, _FAINT = "#1b2430", "#56616d", "#dfe3e8"
_FONT = "Source Sans 3"
_WEIGHT = 500  # Typst sets weight 400 of a variable font within SVG in its thinnest style
_MIN_ROOM = 14.0  # above a point, for its label
_LEFT, _TOP, _BOTTOM = 34.0, 8.0, 34.0


@dataclass(frozen=True)
class Mark:
    """A labeled point of a curve."""

    x: float
    y: float
    label: str


@dataclass(frozen=True)
class LogCurve:
    """A curve of rates on two logarithmic axes, with the line of chance."""

    x: Sequence[float]
    y: Sequence[float]
    marks: Sequence[Mark]
    x_title: str
    y_title: str
    chance: str
    low: float = 0.001

    def to_svg(self, width: float = 250.0, height: float = 205.0) -> str:
        """Return the drawing."""
        return _Drawing(self, width, height).svg()


class _Drawing:
    def __init__(self, curve: LogCurve, width: float, height: float) -> None:
        self.curve, self.width, self.height = curve, width, height
        self.right, self.bottom = width - 14.0, height - _BOTTOM

    def svg(self) -> str:
        parts = [*self._grid(), self._chance(), self._line(), *self._marks(), *self._titles()]
        size = f'width="{self.width:g}" height="{self.height:g}"'
        box = f'viewBox="0 0 {self.width:g} {self.height:g}"'
        head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} {box} font-family="{_FONT}" '
        head += f'font-weight="{_WEIGHT}">'
        return "".join([head, *parts, "</svg>"])

    def _place(self, x: float, y: float) -> tuple[float, float]:
        across, up = (
            (math.log(max(v, self.curve.low)) - math.log(self.curve.low))
            / -math.log(self.curve.low)
            for v in (x, y)
        )
        return (
            round(_LEFT + across * (self.right - _LEFT), 2),
            round(self.bottom - up * (self.bottom - _TOP), 2),
        )

    def _grid(self) -> list[str]:
        parts = []
        for exponent in range(round(math.log10(self.curve.low)), 1):
            rate = 10.0**exponent
            x, y = self._place(rate, rate)
            label = f"{100 * rate:g}%"
            parts.append(_line(x, _TOP, x, self.bottom, _FAINT))
            parts.append(_line(_LEFT, y, self.right, y, _FAINT))
            parts.append(_text(x, self.bottom + 11, label, anchor="middle"))
            parts.append(_text(_LEFT - 4, y + 2.6, label, anchor="end"))
        return parts

    def _chance(self) -> str:
        x1, y1 = self._place(self.curve.low, self.curve.low)
        x2, y2 = self._place(1.0, 1.0)
        angle = math.degrees(math.atan2(y2 - y1, x2 - x1))
        x, y = x1 + 0.62 * (x2 - x1), y1 + 0.62 * (y2 - y1) + 10
        turned = f'transform="rotate({angle:.1f} {x:.1f} {y:.1f})"'
        dashed = _line(x1, y1, x2, y2, _GREY, 'stroke-dasharray="2 2"')
        return dashed + _text(x, y, self.curve.chance, anchor="middle", more=turned)

    def _line(self) -> str:
        known = zip(self.curve.x, self.curve.y, strict=True)
        places = [self._place(x, y) for x, y in known if min(x, y) >= self.curve.low]
        path = " ".join(f"{x:g},{y:g}" for x, y in places)
        style = f'fill="none" stroke="{_INK}" stroke-width="1.4" stroke-linejoin="round"'
        return f'<polyline points="{path}" {style}/>'

    def _marks(self) -> list[str]:
        parts = []
        for mark in self.curve.marks:
            x, y = self._place(mark.x, mark.y)
            parts.append(f'<circle cx="{x:g}" cy="{y:g}" r="3" fill="{_INK}"/>')
            bold = f'font-weight="bold" fill="{_INK}"'
            if y - _TOP < _MIN_ROOM:  # the label would leave the drawing
                parts.append(_text(x + 5, y + 12, mark.label, anchor="start", more=bold, fill=""))
            else:
                parts.append(_text(x - 5, y - 6, mark.label, anchor="end", more=bold, fill=""))
        return parts

    def _titles(self) -> list[str]:
        middle = (_LEFT + self.right) / 2
        x, y = 8.0, (_TOP + self.bottom) / 2
        turned = f'transform="rotate(-90 {x:g} {y:g})"'
        return [
            _text(middle, self.height - 8, self.curve.x_title, anchor="middle"),
            _text(x, y, self.curve.y_title, anchor="middle", more=turned),
        ]


def _line(x1: float, y1: float, x2: float, y2: float, color: str, more: str = "") -> str:
    ends = f'x1="{x1:g}" y1="{y1:g}" x2="{x2:g}" y2="{y2:g}"'
    return f'<line {ends} stroke="{color}" stroke-width="0.7" {more}/>'


def _text(x: float, y: float, text: str, *, anchor: str, more: str = "", fill: str = _GREY) -> str:
    color = f'fill="{fill}" ' if fill else ""
    place = f'x="{x:g}" y="{y:g}" font-size="8" text-anchor="{anchor}"'
    return f"<text {place} {color}{more}>{text}</text>"
