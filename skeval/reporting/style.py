"""The look of the old pages: one colour a role, quiet axes, text drawn literally."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any

from skeval.reporting.result_sentence import AS_GOOD as AS_GOOD
from skeval.reporting.result_sentence import BEHIND as BEHIND
from skeval.reporting.result_sentence import CLOSER as CLOSER
from skeval.reporting.result_sentence import evidence as evidence
from skeval.reporting.result_sentence import finding as finding
from skeval.reporting.result_sentence import judged as judged
from skeval.reporting.result_sentence import label_of as label_of

if TYPE_CHECKING:
    from matplotlib.colors import Colormap


# Three hues of the Okabe-Ito set, which any colour vision distinguishes.
COLOURS = {"train": "#0072b2", "holdout": "#009e73", "synthetic": "#d55e00"}
# the same hues for letters: on white their contrast is 4.5 or more
LETTERS = {"train": "#0072b2", "holdout": "#00785a", "synthetic": "#b34f00"}
INK = "#1f2933"
GREY = "#5f6b76"
FAINT = "#d5dade"
ALARM = "#b3261e"
# of labels of outcomes, each with its word: white letters have a contrast of 4.5 or more on them
LABELS = {"alarm": ALARM, "copies": "#9a4a00", "doubt": "#75610a", "calm": "#46627f"}
FONT = "DejaVu Sans"  # comes with matplotlib, so that a report has the same bytes everywhere
SMALL = 6.5

_WITHIN = ContextVar("within the theme", default=False)
_SETTINGS: Any = {
    "axes.edgecolor": GREY,
    "axes.labelcolor": GREY,
    "axes.labelsize": 7.0,
    "axes.linewidth": 0.5,
    "axes.axisbelow": True,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlecolor": INK,
    "axes.titlelocation": "left",
    "axes.titlepad": 4.0,
    "axes.titlesize": 8.0,
    "axes.titley": 1.0,  # or else each drawing measures all ticks for a place above them
    "axes.titleweight": "bold",
    "figure.dpi": 100.0,
    "figure.facecolor": "white",
    "font.family": [FONT],
    "font.size": 8.0,
    "grid.color": FAINT,
    "grid.linewidth": 0.4,
    "image.interpolation": "nearest",
    "legend.fontsize": 7.0,
    "legend.frameon": False,
    "pdf.fonttype": 42,
    "ps.fonttype": 42,  # read for PDF too, where another one makes a second font of signs
    "savefig.dpi": 150.0,
    "svg.fonttype": "none",
    "svg.hashsalt": "skeval",
    "text.color": INK,
    # names with dollar signs are names, not formulas
    "text.parse_math": False,
    "text.usetex": False,
    "xtick.color": GREY,
    "xtick.labelsize": SMALL,
    "xtick.major.size": 2.0,
    "xtick.major.width": 0.5,
    "xtick.major.pad": 2.0,
    "ytick.color": GREY,
    "ytick.labelsize": SMALL,
    "ytick.major.size": 2.0,
    "ytick.major.width": 0.5,
    "ytick.major.pad": 2.0,
}


@contextmanager
def theme() -> Iterator[None]:
    """Draw in the package's look; matplotlib's settings are restored at the end.

    The user's own style is left aside within, so that a report does not depend on it.

    Examples
    --------
    >>> import matplotlib
    >>> from skeval.reporting import theme
    >>> with theme():
    ...     matplotlib.rcParams["pdf.fonttype"]
    42
    >>> matplotlib.rcParams["pdf.fonttype"]
    3
    """
    import matplotlib

    if _WITHIN.get():  # settings are slow to change
        yield
        return
    token = _WITHIN.set(True)
    try:
        with matplotlib.rc_context():
            matplotlib.rcdefaults()
            matplotlib.rcParams.update(_SETTINGS)
            yield
    finally:
        _WITHIN.reset(token)


@cache
def sequential() -> Colormap:
    """Return the colours from nothing (white) to much (dark); undefined cells are grey."""
    import seaborn

    colours = seaborn.blend_palette(["#ffffff", "#9ecae1", "#3182bd", "#08306b"], as_cmap=True)
    return colours.with_extremes(bad=FAINT)


@cache
def diverging() -> Colormap:
    """Return the colours from less (purple) over equal (white) to more (orange)."""
    import seaborn

    colours = seaborn.blend_palette(
        ["#5e3c99", "#b2abd2", "#ffffff", "#fdb863", "#b35806"], as_cmap=True
    )
    return colours.with_extremes(bad=FAINT)


def letters_on(colour: Sequence[float]) -> str:
    """Return in which of black and white letters are read more easily on a colour."""
    # at this luminance both have a contrast of 4.58, by the formula of WCAG 2
    return "black" if luminance(colour) > 0.179 else "white"


def luminance(colour: Sequence[float]) -> float:
    """Return the relative luminance of red, green and blue, as WCAG 2 defines it."""
    parts = [x / 12.92 if x <= 0.04045 else ((x + 0.055) / 1.055) ** 2.4 for x in colour[:3]]
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]


@cache
def _glyphs() -> frozenset[int]:
    from matplotlib.font_manager import FontProperties, findfont, get_font

    return frozenset(get_font(findfont(FontProperties(family=FONT))).get_charmap())


@lru_cache(maxsize=8192)
def drawable(text: str) -> str:
    r"""Return the text with what the font cannot draw written as its code, such as ``\u4e2d``."""
    glyphs = _glyphs()

    def drawn(char: str) -> str:
        if ord(char) in glyphs and char.isprintable():
            return char
        return " " if char.isspace() else f"\\u{ord(char):04x}"

    return "".join(map(drawn, text))


@lru_cache(maxsize=32768)
def text_width(text: str, size: float, bold: bool = False) -> float:
    """Return the width of a line in points."""
    return size * sum(_advance(char, bold) for char in drawable(text))


@cache
def _advance(char: str, bold: bool) -> float:
    """Return by how much a character moves the pen on, at size 1; pairs may stand closer."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    font = FontProperties(family=FONT, size=10.0, weight="bold" if bold else "normal")
    eleven, one = (
        text_to_path.get_text_width_height_descent(f"x{char * n}x", font, False)[0] for n in (11, 1)
    )
    return float(eleven - one) / 100.0


def widest(names: Iterable[str], size: float, most: float) -> float:
    """Return the points that the widest name takes, at most `most`."""
    return min(most, 1.0 + max((text_width(name, size) for name in names), default=0.0))


@lru_cache(maxsize=8192)
def shorten(text: str, room: float, size: float, bold: bool = False) -> str:
    """Return the text, its middle replaced by an ellipsis if it is wider than `room` points."""
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
    """Return a word in pieces of at most `room` points, of one character at least."""
    pieces, start, advance = [], 0, 0.0
    for i, char in enumerate(word):  # once over it: a word of a foreign file may be very long
        advance += _advance(char, bold)
        if size * advance > room and i > start:
            pieces.append(word[start:i])
            start, advance = i, _advance(char, bold)
    return [*pieces, word[start:]]
