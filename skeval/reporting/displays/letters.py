"""Texts as a figure can draw them."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from functools import cache, lru_cache

from skeval.reporting.displays.theme import FONT, TICK
from skeval.reporting.document.shortening import shorten_end, shorten_name
from skeval.reporting.letters import code_point

MAX_NAME = 28  # letters of the name of a column at the side of a figure
_WIDTH, _BOLD_WIDTH = 0.56, 0.64  # average width of a letter in font sizes


@cache
def _letters_of_font() -> frozenset[int]:
    from matplotlib.font_manager import FontProperties, findfont, get_font

    return frozenset(get_font(findfont(FontProperties(family=FONT))).get_charmap())


@lru_cache(maxsize=8192)
def make_drawable(text: str) -> str:
    """Write each letter that the font does not have as its code point."""
    known = _letters_of_font()

    def draw(letter: str) -> str:
        if ord(letter) in known and letter.isprintable():
            return letter
        return " " if letter.isspace() else code_point(letter)

    return "".join(map(draw, text))


def draw_name(name: object, most: int = MAX_NAME) -> str:
    """Return a name of at most this number of letters."""
    return shorten_name(make_drawable(str(name)), most)


def wrap_text(text: str, points: float, size: float, max_lines: int, is_bold: bool) -> list[str]:
    """Return the lines of a text, whose end is cut if it needs more lines."""
    n_letters = max(12, int(points / size / (_BOLD_WIDTH if is_bold else _WIDTH)))
    lines = textwrap.wrap(make_drawable(text), n_letters)
    if len(lines) <= max_lines:
        return lines
    rest = " ".join(lines[max_lines - 1 :])
    return [*lines[: max_lines - 1], shorten_end(rest, n_letters)]


def width_of_longest(names: Sequence[str], size: float = TICK) -> float:
    """Return about how many points the longest of some names is wide."""
    return _WIDTH * size * max(map(len, names), default=0)
