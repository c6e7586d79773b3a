"""Text of reports: findings of metrics, and words that fit their place.

The look of every figure: one colour a role, quiet axes, text drawn literally.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any

from skeval.reporting.scores import difference_of, entries, names_of, number_of, numbers_of, reason
from skeval.results.result import Result
from skeval.results.verdict import WARNING_LEVEL, Verdict, raises_alarm
from skeval.utils.formatting import number

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


# how a value compares with that of real rows, in a few words
AS_GOOD, BEHIND, CLOSER = (
    "as good as real rows",
    "worse than real rows",
    "closer to train than real rows",
)

_READS_AS_COPIES = (
    "Unseen synthetic rows are taken for real ones more often than real rows are: a sign of copies "
    "of train, not of fidelity."
)


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


def evidence(result: Result) -> str:
    """Return the kind of evidence: for privacy what sort of test it is, else the aspect."""
    if result.tags is None:
        return ""
    kind = result.tags.evidence or result.tags.aspect
    return "distance screen" if kind == "screen" else kind


def finding(result: Result, alarm: bool | None = None, shifted: bool = False) -> str:
    """Return the finding of a metric."""
    if math.isnan(result.value):
        return "Not defined here: " + " ".join(str(warning) for warning in result.warnings)
    parts = [result.summary, _worst(result), _at_size(result), _verdict(result, alarm, shifted)]
    return " ".join(filter(None, parts))


def label_of(words: str) -> str:
    """Return which of the labels has the colour of an outcome."""
    kinds = {
        "alarm": ("leak", "violated"),
        "copies": ("copies found", "few copies"),
        "doubt": (BEHIND, CLOSER, "not looked at", "not tested", "inconclusive"),
    }
    for kind, starts in kinds.items():
        if words.startswith(starts):
            return kind
    return "doubt" if words.endswith(" short") else "calm"


def judged(result: Result, verdict: Verdict, name: str, shifted: bool = False) -> str:
    """Return what a table says of a metric in a few words."""
    tags = result.tags
    if tags is None or math.isnan(result.value):
        return ""
    if tags.aspect == "privacy":
        return _judged_of_privacy(result, verdict, name, shifted)
    ends = difference_of(result)
    if tags.sign == 0 or "gap" in result.details:
        return ""
    if ends is None:
        return _beside(result, tags.sign)
    low, high = sorted(tags.sign * end for end in ends)
    if low <= 0.0 <= high:
        return AS_GOOD
    # a model that learned from synthetic rows may be better, and that is no sign of memorising
    better = "better than real rows" if tags.aspect == "utility" else CLOSER
    return BEHIND if high < 0.0 else better


def _judged_of_privacy(result: Result, verdict: Verdict, name: str, shifted: bool) -> str:
    if name in verdict.alarms:
        return "leak, or another population" if shifted else "leak found"
    if any(one.leak_sentence for one in result.copies):
        return "copies found"
    if name in verdict.adjusted and any(one.some for one in result.copies):
        return "few copies, no alarm"
    if name in verdict.adjusted:
        return "inconclusive" if verdict.void else "no leak found by this test"
    return "describes, tests nothing" if result.p_value is None else "could raise no alarm"


def _beside(result: Result, sign: int) -> str:
    if result.baseline is None:
        return ""
    gap = sign * (result.value - result.baseline)
    if gap and result.interval and result.interval[0] <= result.baseline <= result.interval[1]:
        return "real rows lie in its interval"
    where = "equal to" if gap == 0 else "short of" if gap < 0 else "beyond"
    return f"{where} real rows, not tested"


def _worst(result: Result) -> str:
    worst = entries(result.details, "worst")
    value, pair = number(number_of(worst.get("value"))), names_of(worst, "columns")
    if "column" in worst:
        return f"Worst {result.details.get('unit', 'column')}: {worst['column']} ({value})."
    if len(pair) != 2:
        return ""
    first, second = pair
    if first == second:
        return f"Worst column: {first} ({value})."
    return f"Worst pair: {first} and {second} ({value})."


def _at_size(result: Result) -> str:
    smaller = numbers_of(result.details, "at_baseline_size")
    if not {"n_rows", "value"} <= set(smaller):
        return ""
    n_rows, value = f"{smaller['n_rows']:,.0f}", number(smaller["value"])
    return f"At the {n_rows} rows of the baseline the value is {value}."


def _without_alarm(result: Result) -> str:
    if copies := [
        one.leak_sentence or one.some for one in result.copies if one.leak_sentence or one.some
    ]:
        said = "; ".join(copies).rstrip(".")
        return f"{said[0].upper()}{said[1:]}."
    return "No leak found by this test."


def _verdict(result: Result, alarm: bool | None, shifted: bool) -> str:
    """Say for a screen whether it raises an alarm, for others where fresh real rows are."""
    if result.tags is None or result.baseline is None or result.tags.sign == 0:
        return ""
    if "gap" in result.details or (math.isinf(result.value) and math.isinf(result.baseline)):
        return ""  # of a likelihood more is not better
    if result.tags.aspect == "utility" and "holdout" in result.tags.needs:
        return ""  # the baseline is what real rows teach, and is in the metric's own sentence
    if result.tags.aspect == "privacy":
        if result.p_value is None:
            return ""
        alarm = raises_alarm(result) if alarm is None else alarm
        said = "A leak, or only another population, was found." if alarm else ""
        if not shifted:
            said = "Leak found." if alarm else _without_alarm(result)
        return " ".join(filter(None, (said, reason(result))))
    split = result.details.get("split")
    if isinstance(split, Mapping) and number_of(split.get("p_value_below")) < WARNING_LEVEL:
        return _READS_AS_COPIES
    if result.difference is None:
        return f"Fresh real rows score {number(result.baseline)}."
    return _beside_fresh_rows(result.difference, result.tags.sign)


def _beside_fresh_rows(difference: tuple[float, float], sign: int) -> str:
    """Say what the interval of value minus baseline shows; it is symmetric around that of both."""
    low, high = sorted(sign * end for end in difference)
    if low <= 0.0 <= high:
        ends = " to ".join(map(number, difference))
        return f"As good as fresh real rows, within chance: the difference is {ends} (95%)."
    least, most = sorted(map(abs, difference))
    gap = f"{number((least + most) / 2.0)} ({number(least)} to {number(most)})"
    if high < 0.0:
        return f"Fresh real rows are better by {gap}."
    return f"Closer to train than fresh real rows are, by {gap}: a sign of memorising."
