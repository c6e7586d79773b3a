"""A metric's own figure, drawn by matplotlib, as an SVG drawing for the document."""

from __future__ import annotations

import inspect
import re
import warnings
from collections.abc import Iterator
from io import BytesIO
from typing import TYPE_CHECKING

from skeval.reporting.document.blocks import Block, Figure, Paragraphs
from skeval.reporting.document.drawings.svg import WEIGHT
from skeval.reporting.document.metric_titles import metric_titles
from skeval.reporting.document.sentences import appendix as say
from skeval.reporting.document.spans import compose
from skeval.results.result import Result
from skeval.results.suite_result import SuiteResult

if TYPE_CHECKING:
    from skeval.reporting.displays.base import Display

# displays whose content has another place in a document, as a drawing that needs no matplotlib
DRAWN_ELSEWHERE = frozenset(
    f"{one}Display"
    for one in (
        *("Value", "Scores", "ColumnScores", "SimilarityMatrix", "PhikMatrices", "Proximity"),
        *("Distances", "MDA", "ROC", "PRD", "Audit", "Attack", "Attacks", "ModelCurves"),
        *("Calibration", "Importances", "SurvivalCurves"),
    )
)
_UNNEEDED = re.compile(r"<\?xml.*?\?>|<!DOCTYPE.*?>|<!--.*?-->|<metadata>.*?</metadata>", re.DOTALL)
_STYLE = re.compile(r"<style.*?</style>", re.DOTALL)  # of all elements, so of a whole web page
_ID, _USED = re.compile(r' id="([^"]*)"'), re.compile(r'(?:url\(|href=")#([^")]+)')
_LINK = re.compile(r' (?:xlink:)?href="(?!#|data:image/png)[^"]*"')
_FONT = re.compile(r"font: (?:(\w+) )?([\d.]+)px ([^;\"]+)")
_NARROW, _WIDE, _MAX_NARROW, _MIN_TALL = 3.2, 6.6, 5.6, 2.2  # inches


def own_figures(results: SuiteResult) -> Iterator[Block]:
    """Yield the figures that no other part of a document has, such as those of custom metrics."""
    titles = metric_titles(results)
    for name, result in results.items():
        display = result.tags.display if result.tags is not None else ""
        if not display or display in DRAWN_ELSEWHERE or result.error:
            continue
        if (block := figure_of(result, titles[name])) is not None:
            yield block


def figure_of(result: Result, title: str) -> Figure | Paragraphs | None:
    """Return the figure of the display that a metric names; None if the value alone is drawn.

    A display that fails is replaced by a sentence, because it may be the user's.
    """
    from skeval.reporting.displays.choice import display_of
    from skeval.reporting.displays.value import ValueDisplay

    try:
        display = display_of(result)
        if type(display) is ValueDisplay:
            return None
        is_wide = _is_wide(display)
        svg = draw_display(display, _WIDE if is_wide else _NARROW)
        what = (inspect.getdoc(type(display)) or "").partition("\n")[0]
        words = " ".join(f"{title}. {what} {display.title()}.".split())
    except Exception as error:
        # only its kind, because a foreign message may contain cells
        return Paragraphs("not-drawn", title, (say.not_drawn(type(error).__name__),))
    note = compose("{text}", text=result.summary)
    return Figure("own-figure", title, note, svg, words, is_wide)


def _is_wide(display: Display) -> bool:
    return display.n_panels > 1 or display.figsize[0] > _MAX_NARROW


def draw_display(display: Display, width: float) -> str:
    """Return the SVG drawing of a display with a width in inches, the same at each call."""
    from matplotlib.backends.backend_svg import FigureCanvasSVG

    from skeval.reporting.displays.theme import theme

    buffer = BytesIO()
    wide, tall = display.figsize
    # a document is not enlarged on a screen, so a figure is drawn at the size that it will have
    display.figsize = width, min(width, max(_MIN_TALL, tall * width / wide))
    with theme(), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph")  # letters without a font become code points
        figure = display.draw_untitled()
        undated = dict.fromkeys(("Date", "Creator", "Format", "Type"))
        FigureCanvasSVG(figure).print_svg(buffer, metadata=undated)  # type: ignore[no-untyped-call]
    return clean_svg(buffer.getvalue().decode("utf-8"))


def clean_svg(svg: str) -> str:
    """Return a drawing without comments, addresses, and styles that affect the rest of a page."""
    for pattern in (_UNNEEDED, _STYLE, _LINK):
        svg = pattern.sub("", svg)
    used = set(_USED.findall(svg))
    svg = _ID.sub(lambda found: found[0] if found[1] in used else "", svg)
    svg = _FONT.sub(_state_font, svg)
    joins = '<svg stroke-linejoin="round" stroke-linecap="butt"'
    return re.sub(r"\s*\n\s*", " ", svg.replace("<svg", joins, 1)).strip()


def _state_font(found: re.Match[str]) -> str:
    weight, size, family = found.groups()
    # Typst sets weight 400 of a variable font within SVG in its thinnest style
    weight = weight if weight in ("bold", "700") else str(WEIGHT)
    return f"font-weight: {weight}; font-size: {size}px; font-family: {family}"
