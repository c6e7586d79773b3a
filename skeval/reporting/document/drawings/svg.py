"""Parts of an SVG drawing, written as strings, because a library needs 35 ms for each figure."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from xml.sax.saxutils import escape

INK, GREY, FAINT = "#1b2430", "#56616d", "#dfe3e8"
REAL, SYNTHETIC, UNSEEN = "#bfd7ea", "#b8400a", INK
FONT = "Source Sans 3"
WEIGHT = 500  # Typst sets weight 400 of a variable font within SVG in its thinnest style
FONT_SIZE = 8.0


def drawing(width: float, height: float, parts: Iterable[str]) -> str:
    """Return the drawing of these parts."""
    size = f'width="{width:g}" height="{height:g}" viewBox="0 0 {width:g} {height:g}"'
    font = f'font-family="{FONT}" font-weight="{WEIGHT}"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size} {font}>{"".join(parts)}</svg>'


def line(x1: float, y1: float, x2: float, y2: float, color: str, width: float = 0.7) -> str:
    """Return a straight line."""
    ends = f'x1="{x1:.2f}" y1="{y1:.2f}" x2="{x2:.2f}" y2="{y2:.2f}"'
    return f'<line {ends} stroke="{color}" stroke-width="{width:g}"/>'


def path(
    points: Sequence[tuple[float, float]], color: str, width: float, *, is_dashed: bool = False
) -> str:
    """Return a line through points."""
    places = " ".join(f"{x:.2f},{y:.2f}" for x, y in points)
    dashes = ' stroke-dasharray="3 2"' if is_dashed else ""
    style = f'fill="none" stroke="{color}" stroke-width="{width:g}" stroke-linejoin="round"{dashes}'
    return f'<polyline points="{places}" {style}/>'


def area(points: Sequence[tuple[float, float]], fill: str) -> str:
    """Return a filled polygon."""
    places = " ".join(f"{x:.2f},{y:.2f}" for x, y in points)
    return f'<polygon points="{places}" fill="{fill}"/>'


def rectangle(x: float, y: float, width: float, height: float, fill: str) -> str:
    """Return a filled rectangle."""
    size = f'width="{width:.2f}" height="{height:.2f}"'
    return f'<rect x="{x:.2f}" y="{y:.2f}" {size} fill="{fill}"/>'


def dot(x: float, y: float, radius: float, color: str) -> str:
    """Return a filled circle."""
    return f'<circle cx="{x:.2f}" cy="{y:.2f}" r="{radius:g}" fill="{color}"/>'


def ring(x: float, y: float, radius: float, color: str) -> str:
    """Return an empty circle."""
    place = f'cx="{x:.2f}" cy="{y:.2f}" r="{radius:g}"'
    return f'<circle {place} fill="none" stroke="{color}" stroke-width="0.9"/>'


def label(
    x: float,
    y: float,
    text: str,
    *,
    anchor: str = "middle",
    color: str = GREY,
    is_bold: bool = False,
    turned: float = 0.0,
) -> str:
    """Return a text, turned by an angle around its place."""
    more = ' font-weight="bold"' if is_bold else ""
    if turned:
        more += f' transform="rotate({turned:.1f} {x:.2f} {y:.2f})"'
    place = f'x="{x:.2f}" y="{y:.2f}" font-size="{FONT_SIZE:g}" text-anchor="{anchor}"'
    return f'<text {place} fill="{color}"{more}>{escape(text)}</text>'


def ramp(part: float, low: str, high: str) -> str:
    """Return the color between two others."""
    part = min(1.0, max(0.0, part))
    ends = ([int(color[i : i + 2], 16) for i in (1, 3, 5)] for color in (low, high))
    mixed = (round(a + part * (b - a)) for a, b in zip(*ends, strict=True))
    return "#" + "".join(f"{value:02x}" for value in mixed)


def round_step(length: float) -> float:
    """Return the largest of 1, 2 and 5 times a power of ten that is not longer."""
    power = 10.0 ** math.floor(math.log10(length))
    return max(step * power for step in (1, 2, 5) if step * power <= length * (1 + 1e-9))
