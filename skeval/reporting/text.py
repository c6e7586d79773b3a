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

    def drawn(char: str) -> str:
        if ord(char) in glyphs and char.isprintable():
            return char
        return " " if char.isspace() else f"\\u{ord(char):04x}"

    return "".join(map(drawn, text))


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
        fits = text_width(_without_middle(text, kept), size, bold) <= room
        low, high = (kept, high) if fits else (low, kept)
    return _without_middle(text, low)


def _without_middle(text: str, kept: int) -> str:
    head = (kept + 1) // 2
    return f"{text[:head]}…{text[len(text) - (kept - head) :]}"


def wrap(text: str, room: float, size: float, bold: bool = False) -> list[str]:
    """Return the lines of a paragraph of `room` points; words that are wider are broken."""
    lines: list[str] = []
    for word in drawable(text).split():
        for piece in _pieces(word, room, size, bold):
            longer = f"{lines[-1]} {piece}" if lines else piece
            if lines and text_width(longer, size, bold) <= room:
                lines[-1] = longer
            else:
                lines.append(piece)
    return lines


def _pieces(word: str, room: float, size: float, bold: bool) -> list[str]:
    """Return a word in pieces of at most `room` points."""
    pieces = []
    while text_width(word, size, bold) > room:
        fitting = (
            n for n in range(len(word) - 1, 0, -1) if text_width(word[:n], size, bold) <= room
        )
        kept = next(fitting, 1)
        pieces.append(word[:kept])
        word = word[kept:]
    return [*pieces, word]
