"""Text that fits: measured, shortened in the middle, wrapped."""

from __future__ import annotations

from functools import cache, lru_cache

from skeval.reporting.theme import FONT


@cache
def _glyphs() -> frozenset[int]:
    from matplotlib.font_manager import FontProperties, findfont, get_font

    return frozenset(get_font(findfont(FontProperties(family=FONT))).get_charmap())


@lru_cache(maxsize=8192)
def drawable(text: str) -> str:
    r"""Return the text with what the font cannot draw written as its code, such as ``\u4e2d``.

    Examples
    --------
    >>> from skeval.reporting.text import drawable
    >>> drawable("caf\u00e9 5 $ \u4e2d")
    'café 5 $ \\u4e2d'
    """
    glyphs = _glyphs()
    return "".join(
        char
        if ord(char) in glyphs and char.isprintable()
        else " "
        if char.isspace()
        else _code(char)
        for char in text
    )


def _code(char: str) -> str:
    return f"\\u{ord(char):04x}"


@lru_cache(maxsize=32768)
def text_width(text: str, size: float, bold: bool = False) -> float:
    """Return the width of a line in points."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    weight = "bold" if bold else "normal"
    font = FontProperties(family=FONT, size=size, weight=weight)
    width, _, _ = text_to_path.get_text_width_height_descent(drawable(text), font, False)
    return float(width)


@lru_cache(maxsize=8192)
def shorten(text: str, room: float, size: float, bold: bool = False) -> str:
    """Return the text, its middle replaced by an ellipsis if it is wider than `room` points.

    Parameters
    ----------
    text : str
        One line.
    room : float
        Points.
    size : float
        Of the font, in points.
    bold : bool, default=False
        Whether the font is.

    Returns
    -------
    str
        Start and end are kept, since names often differ in one or the other.

    Examples
    --------
    >>> from skeval.reporting.text import shorten
    >>> shorten("scheduled_departure_time", 60.0, 8.0)
    'schedu…_time'
    """
    text = drawable(text)
    if text_width(text, size, bold) <= room:
        return text
    low, high = 1, len(text)
    while high - low > 1:
        kept = (low + high) // 2
        low, high = (
            (kept, high)
            if text_width(_without_middle(text, kept), size, bold) <= room
            else (low, kept)
        )
    return _without_middle(text, low)


def _without_middle(text: str, kept: int) -> str:
    head = (kept + 1) // 2
    return f"{text[:head]}…{text[len(text) - (kept - head) :]}"


def wrap(text: str, room: float, size: float, bold: bool = False) -> list[str]:
    """Return the lines of a paragraph of `room` points; words that are wider are broken."""
    lines: list[str] = []
    line = ""
    for word in _words(drawable(text), room, size, bold):
        longer = f"{line} {word}" if line else word
        if line and text_width(longer, size, bold) > room:
            lines.append(line)
            line = word
        else:
            line = longer
    return [*lines, line] if line else lines


def _words(text: str, room: float, size: float, bold: bool) -> list[str]:
    words = []
    for whole in text.split():
        word = whole
        while text_width(word, size, bold) > room:
            kept = next(
                n
                for n in range(len(word) - 1, 0, -1)
                if n == 1 or text_width(word[:n], size, bold) <= room
            )
            words.append(word[:kept])
            word = word[kept:]
        words.append(word)
    return words
