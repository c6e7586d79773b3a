"""A metric's own figure, drawn by matplotlib, as an SVG drawing for the document."""

from __future__ import annotations

import inspect
import re
import warnings
from collections.abc import Collection
from io import BytesIO
from typing import TYPE_CHECKING

from skeval.reporting.document.blocks import Block, Figure, Paragraphs
from skeval.reporting.document.drawings.svg import FONT, WEIGHT
from skeval.reporting.document.membership import find_membership
from skeval.reporting.document.metric_titles import metric_titles
from skeval.reporting.document.numbers import capitalize
from skeval.reporting.document.sentences import appendix as say
from skeval.reporting.document.spans import compose
from skeval.results.result import Result
from skeval.results.suite_result import SuiteResult
from skeval.utils.formatting import title_of

if TYPE_CHECKING:
    from skeval.reporting.displays.base import Display

ON_DISTANCES = frozenset({"ProximityDisplay", "MDADisplay", "DistancesDisplay"})
ON_UTILITY = frozenset(
    f"{one}Display" for one in ("ModelCurves", "Calibration", "Importances", "SurvivalCurves")
)
# displays whose content has another place in a document, without matplotlib
_DRAWN_ELSEWHERE = frozenset(
    f"{one}Display"
    for one in (
        *("Value", "ColumnScores", "SimilarityMatrix", "PhikMatrices", "PRD"),
        *("Audit", "Attack", "Attacks"),
    )
)
_BETWEEN_FACTS = " \N{MIDDLE DOT}"
_UNNEEDED = re.compile(r"<\?xml.*?\?>|<!DOCTYPE.*?>|<!--.*?-->|<metadata>.*?</metadata>", re.DOTALL)
_STYLE = re.compile(r"<style.*?</style>", re.DOTALL)  # it would apply to the whole web page
_ID, _USED = re.compile(r' id="([^"]*)"'), re.compile(r'(?:url\(|href=")#([^")]+)')
_LINK = re.compile(r' (?:xlink:)?href="(?!#|data:image/png)[^"]*"')
_FONT = re.compile(r"font: (?:(\w+) )?([\d.]+)px ([^;\"]+)")
_NARROW, WIDE, _MAX_NARROW = 3.2, 6.6, 5.6  # inches
_MIN_TALL, _MAX_TALL = 2.2, 2.8  # the second value for one row of panels


def figures_of(results: SuiteResult, displays: Collection[str]) -> list[Block]:
    """Return the figures of the displays with these names, the narrow ones first."""
    titles, blocks = metric_titles(results), list[Block]()
    quoted = find_membership(results)
    for name, result in results.items():
        display = _display_name(result)
        if display not in displays or result.error or result is quoted or _has_curves(result):
            continue
        block = figure_of(result, titles[name])
        if block is not None and not (isinstance(block, Figure) and _is_drawn(block, blocks)):
            blocks.append(block)
    return sorted(blocks, key=lambda one: isinstance(one, Figure) and one.is_wide)


def _is_drawn(figure: Figure, blocks: list[Block]) -> bool:
    """Return whether an equal drawing is among the blocks, such as one curve of two metrics."""
    return any(isinstance(one, Figure) and one.svg == figure.svg for one in blocks)


def _display_name(result: Result) -> str:
    return result.tags.display if result.tags is not None else ""


def _has_curves(result: Result) -> bool:
    """Return whether the page on distances draws what the result has, without matplotlib."""
    return _display_name(result) == "DistancesDisplay" and "quantiles" in result.details


def own_figures(results: SuiteResult) -> list[Block]:
    """Return the figures without another place in a document, for example of custom metrics."""
    elsewhere = _DRAWN_ELSEWHERE | ON_DISTANCES | ON_UTILITY
    return figures_of(results, {*map(_display_name, results.values())} - elsewhere)


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
        svg = draw_display(display, WIDE if is_wide else _NARROW)
        what = (inspect.getdoc(type(display)) or "").partition("\n")[0]
        words = " ".join(f"{title}. {what} {display.title()}.".split())
    except Exception as error:
        # only its kind, because a foreign message may contain cells
        return Paragraphs("not-drawn", title, (say.not_drawn(type(error).__name__),))
    # both begin with the name of the metric, which is the title here
    facts = display.subtitle().removeprefix(title_of(result.metric)).strip(_BETWEEN_FACTS)
    said = ". ".join(filter(None, (display.title(), capitalize(facts))))
    return Figure("own-figure", title, compose("{said}.", said=said), svg, words, is_wide)


def _is_wide(display: Display) -> bool:
    return display.n_panels > 1 or display.figsize[0] > _MAX_NARROW


def draw_display(display: Display, width: float) -> str:
    """Return the SVG drawing of a display with a width in inches, the same at each call."""
    from matplotlib.backends.backend_svg import FigureCanvasSVG

    from skeval.reporting.displays.theme import theme

    buffer = BytesIO()
    wide, tall = display.figsize
    # a document is not enlarged on a screen, so a figure is drawn at the size that it will have
    most = _MAX_TALL if width == WIDE and display.shape()[0] == 1 else width
    display.figsize = width, min(most, max(_MIN_TALL, tall * width / wide))
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
    svg = _FONT.sub(_state_font, svg).replace("font-family: ", f"font-family: '{FONT}', ")
    joins = f'<svg font-weight="{WEIGHT}" stroke-linejoin="round" stroke-linecap="butt"'
    return re.sub(r"\s*\n\s*", " ", svg.replace("<svg", joins, 1)).strip()


def _state_font(found: re.Match[str]) -> str:
    weight, size, family = found.groups()
    # Typst sets weight 400 of a variable font within SVG in its thinnest style
    weight = weight if weight in ("bold", "700") else str(WEIGHT)
    return f"font-weight: {weight}; font-size: {size}px; font-family: {family}"
