"""Figures on paper: a sheet in millimetres, blocks that fill it, and how figures become blocks."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import pandas as pd

from skeval.formatting import number
from skeval.reporting.displays.base import Box, Display
from skeval.reporting.displays.distributions import MarginalDisplay, PairDisplay
from skeval.reporting.displays.matrices import PhikMatricesDisplay, SimilarityMatrixDisplay
from skeval.reporting.displays.ticks import strided, write
from skeval.reporting.displays.values import ColumnScoresDisplay
from skeval.reporting.text import shorten, text_width, wrap
from skeval.reporting.theme import COLOURS, FAINT, GREY, INK, SMALL

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

A4 = (210.0, 297.0)
MARGIN = 17.0
WIDTH = 174.0  # of what is printed between the margins
TOP = 16.0
BOTTOM = 14.0
MM = 25.4 / 72.0  # millimetres in a point
LEADING = 1.38
_MOST_BARS = 25
_BAR = 4.6
_PITCH, _LEAST_PITCH = 58.0, 40.0  # of panels below each other
Point = tuple[float, float]
_NAMES = 38.0  # beside figures of any kind, in millimetres


@dataclass(frozen=True)
class Item:
    """One figure of a section: what draws it, its heading and what stands below that."""

    display: Display
    heading: str
    caption: str = ""


class Page:
    """One page; x grows to the right and y downwards, from the upper left corner.

    Parameters
    ----------
    figure : Figure, optional
        That becomes the page; a new one otherwise.
    """

    width, height = A4

    def __init__(self, figure: Figure | None = None) -> None:
        from matplotlib.figure import Figure

        self.figure = Figure() if figure is None else figure
        self.figure.set_size_inches(self.width / 25.4, self.height / 25.4)
        self.canvas = self.figure.add_axes((0.0, 0.0, 1.0, 1.0), zorder=-1)
        self.canvas.set(xlim=(0.0, self.width), ylim=(self.height, 0.0))
        self.canvas.set_axis_off()
        self.links: list[tuple[float, float, float, float, str]] = []
        self._lines: list[tuple[Point, Point]] = []
        self._styles: list[tuple[str, float, float, str]] = []

    inner = A4[0] - 2.0 * MARGIN  # width between the margins
    floor = A4[1] - BOTTOM - 3.0  # where the space for content ends

    def text(self, x: float, y: float, text: str, size: float = 8.0, **style: Any) -> None:
        """Write one line; `y` is its base line."""
        write(self.canvas, x, y, text, size=size, va="baseline", **{"color": INK, **style})

    def fitted(
        self,
        x: float,
        y: float,
        text: str,
        room: float,
        size: float = 8.0,
        *,
        least: float | None = None,
        **style: Any,
    ) -> None:
        """Write one line in `room` millimetres: smaller, down to `least`, and then shortened.

        With a `least` of 0 nothing is cut off.
        """
        bold = style.get("weight") == "bold"
        if least is not None and (width := text_width(text, size, bold) * MM) > room:
            size = max(least, size * room / width)
        if least != 0.0:
            text = shorten(text, room / MM, size, bold)
        self.text(x, y, text, size, **style)

    def paragraph(
        self, x: float, y: float, text: str, room: float, size: float = 8.0, **style: Any
    ) -> float:
        """Write wrapped lines from `y` downwards; return where they end."""
        leading = size * LEADING * MM
        for line in wrap(text, room / MM, size):
            self.text(x, y + 0.78 * leading, line, size, **style)
            y += leading
        return y

    def rule(
        self, y: float, left: float = MARGIN, right: float | None = None, **style: Any
    ) -> None:
        """Draw a horizontal line."""
        right = self.width - MARGIN if right is None else right
        self.line((left, y), (right, y), **style)

    def line(
        self, start: Point, end: Point, color: str = FAINT, lw: float = 0.6, **style: Any
    ) -> None:
        """Draw a line; those of a page are drawn at once, when it is complete."""
        self._lines.append((start, end))
        self._styles.append((color, style.get("alpha", 1.0), lw, style.get("ls", "-")))

    def complete(self) -> Page:
        """Add the lines, and return the page."""
        from matplotlib.collections import LineCollection
        from matplotlib.colors import to_rgba

        if self._lines:
            colours, alphas, widths, dashes = zip(*self._styles, strict=True)
            rgba = [to_rgba(*pair) for pair in zip(colours, alphas, strict=True)]
            style: Any = {"colors": rgba, "linewidths": widths, "linestyles": dashes}
            lines = LineCollection(self._lines, capstyle="butt", **style)
            self.canvas.add_collection(lines, autolim=False)
        return self

    def axes(self, x: float, y: float, width: float, height: float) -> Axes:
        """Return new axes of this size, their upper left corner at x, y."""
        from skeval.reporting.displays.panels import add_panel

        return add_panel(self.figure, (x / MM, y / MM, width / MM, height / MM))

    def boxed(self, display: Display, x: float, y: float, width: float, height: float) -> None:
        """Draw a figure with all that it names in a box of this size."""

        def add(box: Box) -> Axes:
            left, top, wide, tall = (MM * length for length in box)
            return self.axes(x + left, y + top, wide, tall)

        display.boxed(add, width / MM, height / MM)

    def footer(self, title: str, number: int, total: int) -> None:
        """Write the report's title and the number of the page."""
        y = self.height - BOTTOM + 5.0
        self.rule(y - 4.0)
        counter = f"{number} / {total}"
        self.text(self.width - MARGIN, y, counter, 7.0, color=GREY, ha="right")
        room = self.inner - text_width(counter, 7.0) * MM - 10.0
        self.fitted(MARGIN, y, title, room, 7.0, color=GREY)


def paragraph_height(text: str, room: float, size: float) -> float:
    """Return how many millimetres a paragraph takes."""
    return len(wrap(text, room / MM, size)) * size * LEADING * MM


@dataclass(frozen=True)
class Block:
    """Something that is drawn at a given y, and as high as the page allows.

    Parameters
    ----------
    height : float
        Millimetres that it takes.
    draw : callable
        Called as ``draw(page, y, height)``.
    least : float, optional
        The millimetres to which it may shrink where it would else begin a new page.
    head : Block, optional
        Is drawn before it on a new page.
    keeps : bool
        Whether it stays on the page of the block that follows, as a heading does.
    section : str
        To which it belongs.
    """

    height: float
    draw: Callable[[Page, float, float], None]
    least: float | None = None
    head: Block | None = None
    keeps: bool = False
    section: str = ""


Placed = tuple[float, float, Block]  # y and height of a block


def paged(blocks: Iterable[Block]) -> list[list[Placed]]:
    """Place blocks below each other, on a new page where those that keep together do not fit."""
    pages: list[list[Placed]] = [[]]
    y = TOP
    for run in _runs(blocks):
        least = sum(block.height if block.least is None else block.least for block in run)
        if y + least > Page.floor and pages[-1]:
            pages.append([])
            y = TOP
            if (head := run[0].head) is not None:
                pages[-1].append((y, head.height, head))
                y += head.height
        excess = max(0.0, y + sum(block.height for block in run) - Page.floor)
        for block in run:
            given = 0.0 if block.least is None else min(excess, block.height - block.least)
            excess -= given
            pages[-1].append((y, block.height - given, block))
            y += block.height - given
    return pages


def _runs(blocks: Iterable[Block]) -> Iterator[list[Block]]:
    """Yield blocks that stay on one page together."""
    run: list[Block] = []
    for block in blocks:
        run.append(block)
        if not block.keeps:
            yield run
            run = []
    if run:
        yield run


def _height(display: Display) -> float:
    """Return the millimetres that a figure takes on a page that it shares with others."""
    if isinstance(display, ColumnScoresDisplay):
        return _BAR * len(display.frame())
    return 25.4 * display.figsize[1] - 4.0


def _in_parts(item: Item, rows: int = _MOST_BARS) -> Iterator[Item]:
    display, n = item.display, len(item.display.frame())
    if not isinstance(display, ColumnScoresDisplay) or n <= rows:
        yield item
        return
    for start in range(0, n, rows):
        part = ColumnScoresDisplay(display.result, start=start, stop=start + rows)
        which = f"(columns {start + 1} to {min(start + rows, n)} of {n})"
        yield Item(part, f"{item.heading} {which}", item.caption if start == 0 else "")


def _head(page: Page, y: float, item: Item) -> float:
    """Write a figure's heading and caption; return where the figure begins."""
    page.fitted(MARGIN, y + 4.0, item.heading, page.inner, 9.5, weight="bold")
    return page.paragraph(MARGIN, y + 6.0, item.caption, page.inner, 8.0) + 3.0


def _below_head(item: Item) -> float:
    """Return the millimetres that a figure's heading and caption take."""
    return 9.0 + paragraph_height(item.caption, Page.inner, 8.0)


def _room(names: Sequence[str], most: float, size: float = SMALL) -> float:
    """Return the points that the widest name takes, at most `most` millimetres of them."""
    widest = max((text_width(name, size) for name in names), default=0.0)
    return min(most / MM, widest + 1.0)


def _similarity(items: Sequence[Item]) -> Iterator[Block]:
    item = items[0]
    display = item.display
    assert isinstance(display, SimilarityMatrixDisplay)
    room, n = _room(display.names, 40.0), len(display.names)
    around = _below_head(item) + room * MM + 10.0
    widest = Page.inner - 19.0 - room * MM
    side = min(widest, max(40.0, 17.0 * n))

    def draw(page: Page, y: float, height: float) -> None:
        y, left, side = _head(page, y, item), MARGIN + room * MM + 3.0, height - around
        display.draw([page.axes(left, y, side, side)], room)
        _stride_note(page, y + side + room * MM + 3.0, n, side)

    yield Block(around + side, draw, least=around + min(side, 70.0))
    worst = display.worst_pairs(10).assign(gap=lambda f: f["ceiling"] - f["similarity"])
    headers = ("Pairs that agree least", "Similarity", "Ceiling", "Gap")
    yield from _pairs_table(worst, headers, MARGIN, Page.inner)


def _stride_note(page: Page, y: float, n: int, side: float) -> float:
    every, _ = strided(n, side / MM, SMALL)
    if every == 1:
        return y
    return page.paragraph(
        MARGIN, y, f"Of the {n} columns, one in {every} is named.", page.inner, 7.0, color=GREY
    )


def _pairs_table(
    frame: pd.DataFrame, headers: Sequence[str], left: float, wide: float
) -> Iterator[Block]:
    """Yield pairs of columns and three numbers of each."""
    if frame.empty:
        return
    title, *others = headers
    right_end = left + wide
    widths = [max(11.0, text_width(text, 7.0, True) * MM) + 2.0 for text in others]
    rights = [right_end - sum(widths[k + 1 :]) for k in range(3)]
    width = (rights[0] - left - 11.0) / 2.0

    def draw(page: Page, y: float, height: float) -> None:
        page.text(left, y + 4.0, title, 7.0, weight="bold", color=GREY)
        y += 3.0 if 2.0 * width < 60.0 else 0.0
        for right, header in zip(rights, others, strict=True):
            page.text(right, y + 4.0, header, 7.0, weight="bold", color=GREY, ha="right")
        y += 6.0
        page.rule(y, left, right_end, color=GREY)
        for row in frame.itertuples(index=False):
            page.fitted(left, y + 3.7, row[0], width - 2.0, 7.5, least=5.0)
            page.fitted(left + width, y + 3.7, row[1], width - 2.0, 7.5, least=5.0)
            for right, value in zip(rights, row[2:], strict=True):
                page.fitted(right, y + 3.7, number(value), 11.0, 7.5, least=0.0, ha="right")
            y += 4.8
            page.rule(y, left, right_end)

    yield Block(10.0 + 4.8 * len(frame), draw)


def _columns(items: Sequence[Item]) -> Iterator[Block]:
    for item in (part for whole in items for part in _in_parts(whole)):
        below, bars = _below_head(item), _height(item.display)
        yield Block(below + bars + 10.0, partial(_draw_columns, item))


def _draw_columns(item: Item, page: Page, y: float, height: float) -> None:
    y = _head(page, y, item)
    names = item.display.frame()["column"].astype(str).tolist()
    room = _room(names, 50.0, 7.0)
    left, bars = MARGIN + room * MM + 3.0, _height(item.display)
    item.display.draw([page.axes(left, y, page.width - MARGIN - 14.0 - left, bars)], room)


def _stacked(items: Sequence[Item]) -> Iterator[Block]:
    """Yield figures whose panels stand below each other, over the whole width."""
    for item in items:
        n, below = item.display.n_panels, _below_head(item) + 5.0
        least = below + n * _LEAST_PITCH if n > 1 else None
        yield Block(below + n * _PITCH, partial(_draw_stacked, item), least)


def _draw_stacked(item: Item, page: Page, y: float, height: float) -> None:
    n = item.display.n_panels
    pitch = (height - _below_head(item) - 5.0) / n
    y = _head(page, y, item) + 5.0
    tops = [y + i * pitch for i in range(n)]
    item.display.draw([page.axes(MARGIN + 9.0, y, page.inner - 9.0, pitch - 18.0) for y in tops])


def _flowing(items: Sequence[Item]) -> Iterator[Block]:
    for item in (part for whole in items for part in _in_parts(whole)):
        around, tall = _below_head(item) + 12.0, _height(item.display)
        least = around + (0.7 if tall > 60.0 else 1.0) * tall
        yield Block(around + tall, partial(_draw_flowing, item), least)


def _draw_flowing(item: Item, page: Page, y: float, height: float) -> None:
    left, tall = MARGIN + _NAMES, height - _below_head(item) - 16.0
    y = _head(page, y, item) + 4.0
    width = 25.4 * item.display.figsize[0]
    width = min(width, page.width - MARGIN - 14.0 - left)
    n = item.display.n_panels
    axes = [page.axes(left + i * width / n, y, width / n - 4.0, tall) for i in range(n)]
    item.display.draw(axes, _NAMES / MM - 4.0)


def _curves(items: Sequence[Item]) -> Iterator[Block]:
    """Yield square figures, two a row with what is said of each below its heading; others alone."""
    square = [item for item in items if _is_square(item.display)]
    for start in range(0, len(square), 2):
        yield from _square_row(square[start : start + 2])
    yield from _flowing([item for item in items if item not in square])


def _is_square(display: Display) -> bool:
    wide, tall = display.figsize
    return tall > 0.9 * wide and not isinstance(display, ColumnScoresDisplay)


def _square_row(row: Sequence[Item]) -> Iterator[Block]:
    wide, side = (Page.inner - 8.0) / 2.0, 66.0
    if len(row) == 1:  # what is said stands beside the figure
        yield Block(side + 16.0, partial(_draw_square, row[0], wide, side))
        return
    texts = max(paragraph_height(item.caption, wide, 7.5) for item in row)

    def draw(page: Page, y: float, height: float) -> None:
        for i, item in enumerate(row):
            x = MARGIN + i * (wide + 8.0)
            page.fitted(x, y + 4.0, item.heading, wide, 8.5, least=6.0, weight="bold")
            page.paragraph(x, y + 6.0, item.caption, wide, 7.5)
            item.display.draw([page.axes(x + 12.0, y + texts + 9.0, side, side)])

    yield Block(texts + 9.0 + side + 14.0, draw)


def _draw_square(item: Item, wide: float, side: float, page: Page, y: float, height: float) -> None:
    item.display.draw([page.axes(MARGIN + 12.0, y + 5.0, side, side)])
    x = MARGIN + wide + 8.0
    page.fitted(x, y + 8.0, item.heading, wide, 9.5, least=7.0, weight="bold")
    page.paragraph(x, y + 11.0, item.caption, wide, 8.0)


def _wide(items: Sequence[Item]) -> Iterator[Block]:
    """Yield figures over the whole width, as high as their own shape wants."""
    for item in items:
        wide, tall = item.display.figsize
        below = _below_head(item) + 3.0
        height = min(Page.inner * tall / wide, 120.0)
        yield Block(below + height + 5.0, partial(_draw_wide, item))


def _draw_wide(item: Item, page: Page, y: float, height: float) -> None:
    tall = height - _below_head(item) - 8.0
    y = _head(page, y, item) + 3.0
    item.display.draw([page.axes(MARGIN, y, page.inner, tall)])


def _phik(items: Sequence[Item]) -> Iterator[Block]:
    item = items[0]
    display = item.display
    assert isinstance(display, PhikMatricesDisplay)
    n, room = len(display.names), _room(display.names, 26.0)
    names = room * MM
    around = _below_head(item) + 2.0 * (names + 9.0) + 4.0
    widest = (Page.inner - names - 3.0) / 2.0 - 14.0
    side = min(widest, max(30.0, 14.0 * n))
    headers = ("Pairs that change most", "Train", "Synthetic", "Difference")

    def draw(page: Page, y: float, height: float) -> None:
        side = (height - around) / 2.0
        pitch = side + 16.0
        y, left = _head(page, y, item) + 4.0, MARGIN + names + 3.0
        lower = y + side + names + 9.0
        places = ((left, y), (left + pitch, y), (left, lower))
        display.draw([page.axes(*place, side, side) for place in places], room)
        _stride_note(page, lower + side + names + 1.0, n, side)
        beside = left + side + 16.0
        wide = page.width - MARGIN - beside
        most = int((side + names - 13.0) / 4.8)
        for block in _pairs_table(display.frame().head(min(10, most)), headers, beside, wide):
            block.draw(page, lower - 4.0, block.height)

    yield Block(around + 2.0 * side, draw, least=around + 2.0 * min(side, 36.0))


def legend(page: Page, y: float, roles: Sequence[str]) -> float:
    """Write which colour is which table; return where content begins."""
    x = MARGIN
    for role in roles:
        style: dict[str, Any] = {"lw": 5.0, "alpha": 0.35} if role == "train" else {"lw": 1.4}
        style["ls"] = "--" if role == "holdout" else "-"
        page.rule(y + 1.4, x, x + 7.0, color=COLOURS[role], **style)
        page.text(x + 9.0, y + 2.3, role, 7.5)
        x += 30.0
    text = "In bars of categories: | holdout, \N{BLACK DIAMOND} synthetic"
    page.text(page.width - MARGIN, y + 2.3, text, 7.0, color=GREY, ha="right")
    return y + 6.0


def _rows(
    items: Sequence[Item], n_columns: int, height: float, draw: Callable[..., None]
) -> Iterator[Block]:
    """Yield rows of figures of equal width, drawn as ``draw(page, item, x, y, wide, tall)``."""
    gap = 6.0
    width = (Page.inner + gap) / n_columns

    def draw_row(row: Sequence[Item], page: Page, y: float, tall: float) -> None:
        for i, item in enumerate(row):
            draw(page, item, MARGIN + i * width, y, width - gap, tall - 3.0)

    for start in range(0, len(items), n_columns):
        yield Block(height, partial(draw_row, items[start : start + n_columns]))


def _univariate(items: Sequence[Item]) -> Iterator[Block]:
    yield from _rows(items, 3, 55.5, _draw_marginal)


def _draw_marginal(page: Page, item: Item, x: float, y: float, wide: float, tall: float) -> None:
    page.fitted(x, y + 3.0, item.heading, wide, 7.5, weight="bold")
    page.fitted(x, y + 6.2, item.caption, wide, 6.0, color=GREY)
    page.boxed(item.display, x, y + 7.1, wide, tall - 7.0)


def _bivariate(items: Sequence[Item]) -> Iterator[Block]:
    yield from _rows(items, 2, 59.0, _draw_pair)


def _draw_pair(page: Page, item: Item, x: float, y: float, wide: float, tall: float) -> None:
    display = item.display
    assert isinstance(display, PairDisplay)
    _pair_heading(page, x, y + 3.0, wide, display.columns)
    page.fitted(x, y + 6.2, item.caption, wide, 6.0, color=GREY)
    page.boxed(display, x, y + 6.8, wide, tall - 7.8)


def _beside_histograms(items: Sequence[Item]) -> Iterator[Block]:
    """Yield what is said of a column, one line each, at the left of its histogram."""
    for item in items:
        lines = 6.5 + 4.2 * (1 + item.caption.count("\n"))
        yield Block(max(44.0, lines + 5.0), partial(_draw_beside, item))


def _draw_beside(item: Item, page: Page, y: float, height: float) -> None:
    width = 0.56 * page.inner
    page.fitted(MARGIN, y + 4.0, item.heading, width, 9.0, weight="bold")
    for i, line in enumerate(item.caption.split("\n")):
        page.fitted(MARGIN, y + 9.4 + 4.2 * i, line, width, 7.5, least=5.5)
    if isinstance(item.display, MarginalDisplay):
        left = MARGIN + width + 4.0
        page.boxed(item.display, left, y + 0.6, page.inner - width - 4.0, 37.0)
    page.rule(y + height - 2.5)


def _pair_heading(page: Page, x: float, y: float, width: float, pair: Sequence[str]) -> None:
    """Write both names, each shortened to half of the room if need be."""
    sign = " \N{MULTIPLICATION SIGN} "
    room = width / MM - text_width(sign, 7.5, True)
    names = []
    for name, other in zip(pair, reversed(pair), strict=True):
        limit = max(room / 2.0, room - text_width(other, 7.5, True))
        names.append(shorten(name, math.floor(limit), 7.5, True))
    page.text(x, y, sign.join(names), 7.5, weight="bold")


@dataclass(frozen=True)
class Layout:
    """How figures are laid out: which blocks they are on paper; and on a web page.

    Parameters
    ----------
    blocks : callable
        Yields the blocks of figures.
    grid : str
        The class of the element of a web page that holds the figures; none if empty.
    legend : bool
        Whether is said once for all figures which colour is which table.
    """

    blocks: Callable[[Sequence[Item]], Iterator[Block]] = _stacked
    grid: str = ""
    legend: bool = False


STACKED = Layout()
WIDE = Layout(_wide)
SIMILARITY = Layout(_similarity)
PHIK = Layout(_phik)
COLUMNS = Layout(_columns)
FLOWING = Layout(_flowing)
CURVES = Layout(_curves)
UNIVARIATE = Layout(_univariate, grid="grid", legend=True)
BIVARIATE = Layout(_bivariate, grid="grid pairs")
BESIDE = Layout(_beside_histograms, grid="grid", legend=True)
