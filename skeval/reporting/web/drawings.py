"""Drawings within a page: their literal colors become variables of the style sheet."""

from __future__ import annotations

import re
from functools import cache

from markupsafe import Markup, escape

from skeval.reporting.document.drawings.heat_map import AMOUNT, FRAME, LESS, MORE, STRENGTH
from skeval.reporting.document.drawings.svg import FAINT, GREY, INK, REAL, SYNTHETIC

# The style sheet defines these variables for light and for dark pages.
_VARIABLES = {
    INK: "var(--ink)",
    GREY: "var(--grey)",
    FAINT: "var(--line)",
    REAL: "var(--real)",
    SYNTHETIC: "var(--synthetic)",
    FRAME: "var(--leak)",
    "#ffffff": "var(--paper)",
    "#f5f7f9": "var(--tile)",
    "#b3261e": "var(--leak)",
}
_RAMPS = {AMOUNT: "--amount", STRENGTH: "--ink", LESS: "--less", MORE: "--more"}
_COLOR = re.compile(r'(?<=")#[0-9a-f]{6}(?=")')
_WIDTH = re.compile(r'\bwidth="([\d.]+)"')
_NAMESPACE = ' xmlns="http://www.w3.org/2000/svg"'  # HTML knows it
_MIN_SCALE, _MAX_SCALE = 1.15, 1.5  # pixels per unit, so that letters can be read


def inline_svg(svg: str, alternative: str) -> Markup:
    """Return a drawing for a page that is light or dark, with its words for a screen reader."""
    start = svg.index("<svg") + len("<svg")
    drawn = _COLOR.sub(lambda hit: variable_of(hit[0]), svg[start:].replace(_NAMESPACE, "", 1))
    return Markup(f'<svg role="img" aria-label="{escape(alternative)}"{drawn}')


def size_of(svg: str) -> Markup:
    """Return the smallest and the largest width of a drawing as a style."""
    found = _WIDTH.search(svg)
    width = float(found[1]) if found else 500.0
    return Markup(f"min-width:{_MIN_SCALE * width:.0f}px;max-width:{_MAX_SCALE * width:.0f}px")


@cache
def variable_of(color: str) -> str:
    """Return a color of a drawing in terms of variables, or the color if it is unknown."""
    if color in _VARIABLES:
        return _VARIABLES[color]
    for end, variable in _RAMPS.items():
        part = _part_of_ramp(color, end)
        if part is not None:
            return f"color-mix(in srgb,var({variable}) {100 * part:.0f}%,var(--paper))"
    return color


def _part_of_ramp(color: str, end: str) -> float | None:
    """Return where a color is between white and the end of a ramp; None if it is not there."""
    mixed, full = ([int(one[i : i + 2], 16) for i in (1, 3, 5)] for one in (color, end))
    part = sum(255 - value for value in mixed) / sum(255 - value for value in full)
    ideal = (255 - part * (255 - value) for value in full)
    return part if all(abs(a - b) <= 1.5 for a, b in zip(mixed, ideal, strict=True)) else None
