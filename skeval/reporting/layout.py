"""Figures on paper: a sheet in millimetres, and how the figures of a section are laid out on it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pandas as pd

from skeval.formatting import number
from skeval.reporting.displays.base import Display
from skeval.reporting.displays.distributions import MarginalDisplay, PairDisplay
from skeval.reporting.displays.matrices import PhikMatricesDisplay, SimilarityMatrixDisplay
from skeval.reporting.displays.ticks import strided
from skeval.reporting.displays.values import ColumnScoresDisplay
from skeval.reporting.text import shorten, text_width, wrap
from skeval.reporting.theme import COLOURS, FAINT, GREY, INK, SMALL

if TYPE_CHECKING:
    from matplotlib.axes import Axes

A4 = (210.0, 297.0)
MARGIN = 17.0
TOP = 16.0
BOTTOM = 14.0
MM = 25.4 / 72.0  # millimetres in a point
LEADING = 1.38
_MOST_BARS = 40
_BAR = 4.6
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
    landscape : bool, default=False
        Whether it is wider than high.
    """

    def __init__(self, *, landscape: bool = False) -> None:
        from matplotlib.figure import Figure

        self.width, self.height = A4[::-1] if landscape else A4
        self.figure = Figure(figsize=(self.width / 25.4, self.height / 25.4))
        self.canvas = self.figure.add_axes((0.0, 0.0, 1.0, 1.0), zorder=-1)
        self.canvas.set(xlim=(0.0, self.width), ylim=(self.height, 0.0))
        self.canvas.set_axis_off()
        self.links: list[tuple[float, float, float, float, str]] = []

    @property
    def inner(self) -> float:
        """Width between the margins."""
        return self.width - 2.0 * MARGIN

    @property
    def floor(self) -> float:
        """Where the space for content ends."""
        return self.height - BOTTOM - 3.0

    def text(self, x: float, y: float, text: str, size: float = 8.0, **style: Any) -> None:
        """Write one line; `y` is its base line."""
        style.setdefault("color", INK)
        self.canvas.text(x, y, text, size=size, va="baseline", **style)

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
        ends = [left, self.width - MARGIN if right is None else right]
        style = {"color": FAINT, "lw": 0.6, "solid_capstyle": "butt", **style}
        self.canvas.plot(ends, [y, y], **style)

    def axes(self, x: float, y: float, width: float, height: float) -> Axes:
        """Return new axes of this size, their upper left corner at x, y."""
        left, bottom = x / self.width, 1.0 - (y + height) / self.height
        return self.figure.add_axes((left, bottom, width / self.width, height / self.height))

    def heading(self, title: str, intro: str, *, continued: bool = False) -> float:
        """Write a section's title and what it shows; return where content begins."""
        again = " (continued)" if continued else ""
        self.text(MARGIN, TOP + 5.0, title + again, 13.0, weight="bold")
        if continued:
            return TOP + 11.0
        return self.paragraph(MARGIN, TOP + 8.5, intro, self.inner, 8.0, color=GREY) + 4.0

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


def _packed(items: Sequence[Item], room: float = 205.0) -> list[list[Item]]:
    """Fill pages with figures, bars of many columns in pieces."""
    groups: list[list[Item]] = []
    left = 0.0
    for item in (part for whole in items for part in _parts(whole)):
        height = 19.0 + paragraph_height(item.caption, 174.0, 8.0) + _height(item.display)
        if not groups or height > left:
            groups.append([])
            left = room
        groups[-1].append(item)
        left -= height
    return groups


def _height(display: Display) -> float:
    """Return the millimetres that a figure takes on a page that it shares with others."""
    if isinstance(display, ColumnScoresDisplay):
        return _BAR * len(display.frame())
    return 25.4 * display.figsize[1] - 4.0


def _parts(item: Item, rows: int = _MOST_BARS) -> Iterator[Item]:
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


def _room(names: Sequence[str], most: float, size: float = SMALL) -> float:
    """Return the points that the widest name takes, at most `most` millimetres of them."""
    widest = max((text_width(name, size) for name in names), default=0.0)
    return min(most / MM, widest + 1.0)


def _similarity(page: Page, y: float, items: Sequence[Item]) -> None:
    display = items[0].display
    assert isinstance(display, SimilarityMatrixDisplay)
    y = _head(page, y, items[0])
    room = _room(display.names, 40.0)
    n = len(display.names)
    left = MARGIN + room * MM + 3.0
    below = room * MM + 68.0
    side = min(page.width - MARGIN - 16.0 - left, page.floor - y - below, max(40.0, 17.0 * n))
    display.draw([page.axes(left, y, side, side)], room)
    y += side + room * MM + 5.0
    y = _stride_note(page, y, n, side)
    worst = display.worst_pairs(10).assign(gap=lambda f: f["ceiling"] - f["similarity"])
    headers = ("Pairs that agree least", "Similarity", "Ceiling", "Gap")
    _pairs_table(page, y, worst, headers)


def _stride_note(page: Page, y: float, n: int, side: float) -> float:
    every, _ = strided(n, side / MM, SMALL)
    if every == 1:
        return y
    return page.paragraph(
        MARGIN, y, f"Of the {n} columns, one in {every} is named.", page.inner, 7.0, color=GREY
    )


def _pairs_table(page: Page, y: float, frame: pd.DataFrame, headers: Sequence[str]) -> None:
    """Write pairs of columns and three numbers of each, as many rows as fit."""
    if frame.empty:
        return
    title, *headers = headers
    widths = [max(12.0, text_width(text, 7.0, True) * MM) + 4.0 for text in headers]
    rights = [page.width - MARGIN - sum(widths[k + 1 :]) for k in range(3)]
    width = (rights[0] - MARGIN - 16.0) / 2.0
    page.text(MARGIN, y + 4.0, title, 7.0, weight="bold", color=GREY)
    for right, header in zip(rights, headers, strict=True):
        page.text(right, y + 4.0, header, 7.0, weight="bold", color=GREY, ha="right")
    y += 6.0
    page.rule(y, color=GREY)
    for row in frame.itertuples(index=False):
        if y + 5.0 > page.floor:
            return
        page.fitted(MARGIN, y + 3.7, row[0], width - 2.0, 7.5)
        page.fitted(MARGIN + width, y + 3.7, row[1], width - 2.0, 7.5)
        for right, value in zip(rights, row[2:], strict=True):
            page.text(right, y + 3.7, number(value), 7.5, ha="right")
        y += 4.8
        page.rule(y)


def _columns(page: Page, y: float, items: Sequence[Item]) -> None:
    for item in items:
        y = _head(page, y, item)
        names = item.display.frame()["column"].astype(str).tolist()
        room = _room(names, 50.0, 7.0)
        left = MARGIN + room * MM + 3.0
        height = _height(item.display)
        item.display.draw([page.axes(left, y, page.width - MARGIN - 14.0 - left, height)], room)
        y += height + 10.0


def _stacked(page: Page, y: float, items: Sequence[Item]) -> None:
    item = items[0]
    y = _head(page, y, item) + 5.0
    n = item.display.n_panels
    pitch = min(72.0, (page.floor - y) / n)
    tops = [y + i * pitch for i in range(n)]
    item.display.draw([page.axes(MARGIN + 9.0, y, page.inner - 9.0, pitch - 18.0) for y in tops])


def _flowing(page: Page, y: float, items: Sequence[Item]) -> None:
    left = MARGIN + _NAMES
    for item in items:
        y = _head(page, y, item) + 4.0
        width, height = 25.4 * item.display.figsize[0], _height(item.display) - 4.0
        width = min(width, page.width - MARGIN - 14.0 - left)
        n = item.display.n_panels
        axes = [page.axes(left + i * width / n, y, width / n - 4.0, height) for i in range(n)]
        item.display.draw(axes, _NAMES / MM - 4.0)
        y += height + 12.0


def _below_each_other(page: Page, y: float, items: Sequence[Item]) -> None:
    """Draw figures of one panel below each other, each with its heading."""
    for item in items:
        top = _head(page, y, item) + 3.0
        item.display.draw([page.axes(MARGIN + 9.0, top, page.inner - 9.0, 42.0)])
        y = top + 62.0


def _wide(page: Page, y: float, items: Sequence[Item]) -> None:
    """Draw one figure over the whole width, as high as its own shape wants."""
    y = _head(page, y, items[0]) + 3.0
    wide, tall = items[0].display.figsize
    height = min(page.inner * tall / wide, page.floor - y)
    items[0].display.draw([page.axes(MARGIN, y, page.inner, height)])


def _phik(page: Page, y: float, items: Sequence[Item]) -> None:
    display = items[0].display
    assert isinstance(display, PhikMatricesDisplay)
    y = _head(page, y, items[0]) + 4.0
    n = len(display.names)
    room = _room(display.names, 36.0)
    left = MARGIN + room * MM + 3.0
    pitch = (page.width - MARGIN - left) / 3.0
    side = min(pitch - 15.0, max(30.0, 14.0 * n))
    display.draw([page.axes(left + i * pitch, y, side, side) for i in range(3)], room)
    y = _stride_note(page, y + side + room * MM + 5.0, n, side)
    headers = ("Pairs that change most", "Train", "Synthetic", "Difference")
    if page.floor - y > 16.0:
        _pairs_table(page, y, display.frame().head(8), headers)


def _legend(page: Page, y: float, roles: Sequence[str]) -> float:
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


def _slots(
    page: Page, y: float, items: Sequence[Item], *, n_columns: int, n_rows: int
) -> Iterator[tuple[Item, tuple[float, float, float, float]]]:
    """Yield each figure and its place: left, top, width, height."""
    gap = 6.0
    width = (page.inner + gap) / n_columns
    height = (page.floor - y) / n_rows
    for i, item in enumerate(items):
        row, column = divmod(i, n_columns)
        yield item, (MARGIN + column * width, y + row * height, width - gap, height - 3.0)


def _univariate(page: Page, y: float, items: Sequence[Item]) -> None:
    first = items[0].display
    assert isinstance(first, MarginalDisplay)
    y = _legend(page, y, list(first.shares))
    for item, (x, top, width, height) in _slots(page, y, items, n_columns=3, n_rows=4):
        display = item.display
        assert isinstance(display, MarginalDisplay)
        page.fitted(x, top + 3.0, item.heading, width, 7.5, weight="bold")
        page.fitted(x, top + 6.2, item.caption, width, 6.0, color=GREY)
        nominal = display.bars.edges is None
        room = _room(display.bars.names, 0.4 * width) if nominal else 7.0 / MM
        left = room * MM + 2.0
        display.draw([page.axes(x + left, top + 8.5, width - left - 1.0, height - 14.0)], room)


def _bivariate(page: Page, y: float, items: Sequence[Item]) -> None:
    for item, (x, top, width, height) in _slots(page, y, items, n_columns=2, n_rows=4):
        display = item.display
        assert isinstance(display, PairDisplay)
        _pair_heading(page, x, top + 3.0, width, display.columns)
        page.fitted(x, top + 6.2, item.caption, width, 6.0, color=GREY)
        first, second = display.bars
        room = _room(first.names if first.edges is None else ["0.0000", *first.beside], 20.0, 6.0)
        below = _room(second.names, 13.0, 6.0) if second.edges is None else 7.0
        left = room * MM + 6.0
        side, tall = (width - left - 2.0) / 2.0, height - 12.0 - below * MM - 5.0
        places = (x + left, x + left + (side + 2.0))
        display.draw([page.axes(place, top + 11.0, side, tall) for place in places], room, below)


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
    """How figures are laid out: which share a page of paper and where they stand; on a web page.

    Parameters
    ----------
    draw : callable
        Called as ``draw(page, y, items)`` with what stands on one page, from `y` downwards.
    per_page : int or None
        How many figures share a page; None for as many bars as there is room for.
    landscape : bool
        Which way the paper lies.
    grid : str
        The class of the element of a web page that holds the figures; none if empty.
    legend : bool
        Whether a web page says once for all figures which colour is which table.
    """

    draw: Callable[[Page, float, Sequence[Item]], None] = _stacked
    per_page: int | None = 1
    landscape: bool = False
    grid: str = ""
    legend: bool = False

    def paged(self, items: Sequence[Item]) -> list[list[Item]]:
        """Return the figures of each page."""
        n = self.per_page
        return [list(items[i : i + n]) for i in range(0, len(items), n)] if n else _packed(items)


STACKED = Layout()
WIDE = Layout(_wide)
BARS = Layout(_below_each_other, 3)
SIMILARITY = Layout(_similarity)
PHIK = Layout(_phik, landscape=True)
COLUMNS = Layout(_columns, None)
FLOWING = Layout(_flowing, None)
UNIVARIATE = Layout(_univariate, 12, grid="grid", legend=True)
BIVARIATE = Layout(_bivariate, 8, grid="grid pairs")
