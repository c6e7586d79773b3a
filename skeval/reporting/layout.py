"""Figures on paper: a sheet in millimetres, blocks that fill it, and how figures become blocks.

What a section says in words: parts that a page of paper and a web page show alike.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby
from typing import TYPE_CHECKING, Any, Self

from skeval.reporting.old_displays.base import Box, Display, Margins
from skeval.reporting.old_displays.ticks import write
from skeval.reporting.old_displays.values import ColumnScoresDisplay
from skeval.reporting.structure import Element, Mark, Piece
from skeval.reporting.style import COLOURS, FAINT, GREY, INK, shorten, text_width, wrap

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from skeval.reporting.old_displays.panels import Panel
    from skeval.results.result import Result
    from skeval.results.suite_result import SuiteResult


A4 = (210.0, 297.0)
MARGIN = 17.0
WIDTH = 174.0  # of what is printed between the margins
TOP = 16.0
BOTTOM = 14.0
MM = 25.4 / 72.0  # millimetres in a point
LEADING = 1.38
_MAX_BARS = 25
_BAR = 3.9
_PITCH, _NARROW_PITCH = 50.0, 45.0  # of panels below each other
_FLAT = 0.8  # of the height that a figure of half the width would have
_LINE = 7.7  # points of a name in small letters, of those below each other
_MIN_CELLS = 31.0  # points of the cells of a pair, from bottom to top
_GAP = 7.0  # between figures of a row
HALF = (WIDTH - _GAP) / 2.0  # the width of a column
_ANY = Margins(110.0, 10.0, 40.0, 26.0, 12.0, (103.0,))  # of figures of any kind
Point = tuple[float, float]


@dataclass(frozen=True)
class Item:
    """One figure of a section: what draws it, its heading and what stands below that."""

    display: Display
    heading: str
    caption: str = ""

    @property
    def alt(self) -> str:
        """What is read instead of the figure: what it is of, what it shows and its caption."""
        said = (self.heading, self.display.said, self.caption.replace("\n", " "))
        return " ".join(text if text.endswith(".") else f"{text}." for text in said if text)


class Page:
    """One page; x grows to the right and y downwards, from the upper left corner."""

    width, height = A4
    shift = 0.0  # by which all that is drawn stands farther right

    def __init__(
        self, figure: Figure | None = None, *, root: Element | None = None, number: int = 0
    ) -> None:
        from skeval.reporting.old_displays.panels import Sheet

        self.figure = Sheet() if figure is None else figure
        self.root, self.number = root, number
        self.owners: list[Element] = []  # of the marks on this page, by their numbers
        self._element: Element | None = None
        self.figure.set_size_inches(self.width / 25.4, self.height / 25.4)
        self.canvas = self.axes(0.0, 0.0, self.width, self.height)
        self.canvas.set(xlim=(0.0, self.width), ylim=(self.height, 0.0), zorder=-1)
        self.canvas.set_axis_off()
        self.links: list[tuple[float, float, float, float, str, Element]] = []
        self._lines: list[tuple[Point, Point]] = []
        self._styles: list[tuple[str, float, float, str]] = []

    inner = WIDTH
    floor = A4[1] - BOTTOM - 3.0  # where the space for content ends

    def text(self, x: float, y: float, text: str, size: float = 8.0, **style: Any) -> None:
        """Write one line; `y` is its base line."""
        style = {"color": INK, "mark": self._marked(text), **style}
        write(self.canvas, x + self.shift, y, text, size=size, va="baseline", **style)

    @contextmanager
    def inside(self, element: Element | None, *, once: bool = False) -> Iterator[None]:
        """Let what is written belong to this element, or to none if it is decoration.

        What repeats itself on each page is read `once`.
        """
        before, again = self._element, once and element is not None and bool(element)
        parent = self.root if before is None else before
        if again or element is None or parent is None:
            self._element = None
        else:
            self._element = parent.add(element)
        yield
        self._element = before

    def _marked(self, text: str) -> Mark | None:
        """Return the mark of a text; one in a row of a table is a cell of its own."""
        element = self._element
        if element is not None and element.tag == "TR":
            element = element.cell()
        return self._mark(element) if element is not None and text else None

    def _mark(self, element: Element) -> Mark:
        mark = Mark(element.tag, len(self.owners))
        element.kids.append(Piece(self.number, mark.number))
        self.owners.append(element)
        return mark

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
            size = max(least, 0.99 * size * room / width)  # widths do not quite follow sizes
        if least != 0.0:
            text = shorten(text, room / MM, size, bold)
        self.text(x, y, text, size, **style)

    def paragraph(
        self,
        x: float,
        y: float,
        text: str,
        room: float,
        size: float = 8.0,
        *,
        leading: float = LEADING,
        **style: Any,
    ) -> float:
        """Write wrapped lines from `y` downwards; return where they end."""
        leading *= size * MM
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

    def label(self, x: float, y: float, text: str, size: float, color: str) -> None:
        """Write one line in white on a box of this colour; `y` is its base line."""
        from matplotlib.patches import Rectangle

        height, wide = 1.25 * size * MM, text_width(text, size, True) * MM + 2.0
        corner = x + self.shift, y - 0.78 * height
        box = Rectangle(corner, wide, height, color=color, lw=0.0, zorder=0.5)
        self.canvas.add_patch(box)
        self.text(x + 1.0, y, text, size, color="white", weight="bold")

    def line(
        self, start: Point, end: Point, color: str = FAINT, lw: float = 0.6, **style: Any
    ) -> None:
        """Draw a line; those of a page are drawn at once, when it is complete."""
        self._lines.append(((start[0] + self.shift, start[1]), (end[0] + self.shift, end[1])))
        self._styles.append((color, style.get("alpha", 1.0), lw, style.get("ls", "-")))

    def complete(self) -> Page:
        """Add the lines, and return the page."""
        from matplotlib.collections import LineCollection
        from matplotlib.colors import to_rgba

        if self._lines:
            colours, alphas, widths, dashes = zip(*self._styles, strict=True)
            rgba = [to_rgba(*pair) for pair in zip(colours, alphas, strict=True)]
            # a list: matplotlib reads a tuple of two as one pattern
            style: Any = {"colors": rgba, "linewidths": widths, "linestyles": list(dashes)}
            lines = LineCollection(self._lines, capstyle="butt", **style)
            self.canvas.add_collection(lines, autolim=False)
        return self

    def axes(self, x: float, y: float, width: float, height: float) -> Panel:
        """Return new axes of this size, their upper left corner at x, y."""
        from skeval.reporting.old_displays.panels import add_panel

        x += self.shift
        return add_panel(self.figure, (x / MM, y / MM, width / MM, height / MM))

    def boxed(
        self, display: Display, x: float, y: float, width: float, height: float, alt: str = ""
    ) -> None:
        """Draw a figure with all that it names in a box of this size; `alt` is read instead."""
        element = Element("Figure", alt)

        def add(box: Box) -> Axes:
            left, top, wide, tall = (MM * length for length in box)
            panel = self.axes(x + left, y + top, wide, tall)
            if self.root is not None:
                panel.mark = self._mark(self.root.add(element))
            return panel

        display.boxed(add, width / MM, height / MM, _around(display, width))

    def draw(self, placed: Iterable[Placed]) -> None:
        """Draw blocks where they were placed."""
        for y, height, block in placed:
            block.draw(Column(self, block.column) if block.half else self, y, height)

    def footer(self, title: str, number: int, total: int) -> None:
        """Write the report's title and the number of the page."""
        y = self.height - BOTTOM + 5.0
        self.rule(y - 4.0)
        counter = f"{number} / {total}"
        self.text(self.width - MARGIN, y, counter, 8.0, color=GREY, ha="right")
        room = self.inner - text_width(counter, 8.0) * MM - 10.0
        self.fitted(MARGIN, y, title, room, 8.0, color=GREY)


class Column(Page):
    """One of the two columns of a page, drawn on as if it were a narrow page of its own."""

    def __init__(self, page: Page, number: int) -> None:
        vars(self).update(vars(page))
        self.width, self.inner = 2.0 * MARGIN + HALF, HALF
        self.shift = number * (HALF + _GAP)


def paragraph_height(text: str, room: float, size: float, leading: float = LEADING) -> float:
    """Return how many millimetres a paragraph takes."""
    return len(wrap(text, room / MM, size)) * size * leading * MM


@dataclass(frozen=True)
class Block:
    """Something that is drawn at a given y, and as high as the page allows."""

    height: float
    draw: Callable[[Page, float, float], None]
    least: float | None = None
    head: Block | None = None
    keeps: bool = False
    section: str = ""
    half: bool = False
    begins: bool = False
    column: int = 0


Placed = tuple[float, float, Block]  # y and height of a block


def _natural(display: Display, wide: float) -> float:
    """Return the millimetres that a figure of this width is high, with all that it names."""
    if isinstance(display, ColumnScoresDisplay):
        return _BAR * len(display.frame()) + 7.0
    around = _around(display, wide)
    natural = MM * display.tall(wide / MM, around) + 4.0
    if wide > HALF:
        return natural
    named = MM * (around.top + around.bottom + _LINE * display.n_named) + 4.0
    return max(_FLAT * natural, min(natural, named))


def _around(display: Display, wide: float) -> Margins:
    return display.margins(wide / MM) or _ANY


def _panels(display: Display, wide: float) -> float:
    """Return the millimetres of panels below each other."""
    return (_NARROW_PITCH if wide <= HALF else _PITCH) * display.n_panels


def _pair(display: Display, wide: float) -> float:
    """Return the millimetres of a pair of columns: names below it leave room for its cells."""
    around = _around(display, wide)
    return max(26.0, MM * (around.top + around.bottom + _MIN_CELLS))


def _whole(display: Display, wide: float) -> float:
    """Return the millimetres of a figure that is enlarged to this width."""
    return min(wide * display.figsize[1] / display.figsize[0], 120.0)


def _in_parts(item: Item, rows: int = _MAX_BARS) -> Iterator[Item]:
    display, n = item.display, len(item.display.frame())
    if not isinstance(display, ColumnScoresDisplay) or n <= rows:
        yield item
        return
    for start in range(0, n, rows):
        part = ColumnScoresDisplay(display.result, start=start, stop=start + rows)
        which = f"(columns {start + 1} to {min(start + rows, n)} of {n})"
        yield Item(part, f"{item.heading} {which}", item.caption if start == 0 else "")


def legend(page: Page, y: float, roles: Sequence[str]) -> float:
    """Write which colour is which table; return where content begins."""
    x = MARGIN
    for role in roles:
        style: dict[str, Any] = {"lw": 5.0, "alpha": 0.35} if role == "train" else {"lw": 1.4}
        style["ls"] = "--" if role == "holdout" else "-"
        page.rule(y + 1.4, x, x + 7.0, color=COLOURS[role], **style)
        with page.inside(Element("P")):
            page.text(x + 9.0, y + 2.3, role, 7.5)
        x += 30.0
    text = "In bars of categories: | holdout, \N{BLACK DIAMOND} synthetic"
    with page.inside(Element("P")):
        page.text(page.width - MARGIN, y + 2.3, text, 7.0, color=GREY, ha="right")
    return y + 6.0


@dataclass(frozen=True)
class Layout:
    """How figures stand: how many a row, how high for their width, and where their words are."""

    per_row: int = 1
    tall: Callable[[Display, float], float] = _natural
    words_left: bool = False
    grid: str = ""
    legend: bool = False
    half: bool = False
    across: bool = False

    @property
    def inner(self) -> float:
        """The width that figures have on paper."""
        return HALF if self.half else WIDTH

    @property
    def narrow(self) -> bool:
        """Whether words have the width of a column."""
        return self.half and not self.across

    def blocks(self, items: Sequence[Item]) -> Iterator[Block]:
        """Yield rows of figures; a figure in a half or in a row of its own takes what it needs."""
        parts = [part for whole in items for part in _in_parts(whole)]
        for n, group in groupby(parts, key=self._in_row):
            of_row = list(group)
            for start in range(0, len(of_row), n):
                yield self._row(of_row[start : start + n], n)

    def _in_row(self, item: Item) -> int:
        is_square = _around(item.display, self.inner).square > 0.0
        return self.per_row if self.grid or is_square else 1

    def _row(self, row: Sequence[Item], n: int) -> Block:
        wide = (self.inner + _GAP) / n - _GAP
        tall = max(self.tall(item.display, wide) for item in row)
        face = 2 if self.half else n
        if not self.half and len(row) < n == 2 and not self.grid:
            draw = partial(_draw_beside, row[0])
            lines = _head_height(row[0], _WORDS_BESIDE * self.inner, n) + 3.0
            return Block(max(tall, lines) + 4.0, draw)
        if self.words_left:
            words = _WORDS_LEFT * wide
            lines = max(_head_height(item, words, n + 1) for item in row)
            return Block(max(tall, lines) + 4.0, partial(_draw_words_left, row, n, wide))
        above = max(_head_height(item, wide, face) for item in row)
        share, named = self._elastic(row, tall), 0.0
        around = [_around(item.display, wide) for item in row]
        if any(one.square for one in around):  # what is named around a matrix cannot shrink
            share = 0.85 if self.half else 0.5
            named = MM * max(one.top + one.bottom for one in around)
        below = 3.0 if self.grid else 4.0
        least = above + named + share * (tall - named) + below
        return Block(above + tall + below, partial(_draw_row, row, face, wide, above), least)

    def _elastic(self, row: Sequence[Item], tall: float) -> float:
        """Return the share of its height to which a row may shrink, so as to fit on a page."""
        if all(isinstance(item.display, ColumnScoresDisplay) for item in row):
            return 0.85
        if self.grid or tall <= 60.0:
            return 1.0
        stacked = all(item.display.n_panels > 1 for item in row)
        return (0.72 if stacked else 0.76) if self.half else 0.69


def _draw_row(
    row: Sequence[Item], n: int, wide: float, above: float, page: Page, y: float, height: float
) -> None:
    for i, item in enumerate(row):
        x = MARGIN + i * (wide + _GAP)
        draw_heading(page, x, y, item, wide, n)
        page.boxed(item.display, x, y + above, wide, height - above - 3.0, item.alt)


def _draw_beside(item: Item, page: Page, y: float, height: float) -> None:
    """Draw one figure at the left of its words."""
    wide, x = 0.5 * page.inner, MARGIN + (1.0 - _WORDS_BESIDE) * page.inner
    draw_heading(page, x + 4.0, y, item, _WORDS_BESIDE * page.inner, 2)
    page.boxed(item.display, MARGIN, y + 1.0, wide, height - 5.0, item.alt)


def _draw_words_left(
    row: Sequence[Item], n: int, wide: float, page: Page, y: float, height: float
) -> None:
    """Draw figures of a row, each with its words at the left."""
    for i, item in enumerate(row):
        x, words = MARGIN + i * (wide + _GAP), _WORDS_LEFT * wide
        draw_heading(page, x, y, item, words - 2.0, n + 1)
        page.boxed(item.display, x + words, y + 1.0, wide - words, height - 5.0, item.alt)
        page.rule(y + height - 2.5, x, x + wide)


# of headings and captions, by the figures of a row
_SIZES = {1: (9.5, 8.0), 2: (8.5, 7.0), 3: (7.5, 6.5), 4: (7.5, 6.5)}
_MIN_LETTER_SIZE = 6.5  # size of letters
_WORDS_LEFT, _WORDS_BESIDE = 0.5, 0.46  # share of the width that words at a side of a figure take


def draw_heading(page: Page, x: float, y: float, item: Item, wide: float, n: int) -> None:
    """Write a figure's heading and caption, each of its lines wrapped."""
    size, small = _SIZES[n]
    y += 2.0 if n == 1 else 0.0
    base = y + 0.42 * size
    with page.inside(Element("H3")):
        if item.display.crossed:
            _pair_heading(page, x, base, wide, item.display.crossed, size)
        else:
            for line in _heading_lines(item, wide, n):
                page.fitted(x, base, line, wide, size, least=_MIN_LETTER_SIZE, weight="bold")
                base += size * LEADING * MM
            y += (len(_heading_lines(item, wide, n)) - 1) * size * LEADING * MM
    y += 0.63 * size
    for line in item.caption.split("\n"):
        with page.inside(Element("P")):
            y = page.paragraph(x, y, line, wide, small)


def _head_height(item: Item, wide: float, n: int) -> float:
    """Return the millimetres that a figure's heading and caption take."""
    size, small = _SIZES[n]
    lines = item.caption.split("\n")
    above = 0.63 * size + (2.0 if n == 1 else 0.0)
    above += (len(_heading_lines(item, wide, n)) - 1) * size * LEADING * MM
    return above + sum(paragraph_height(line, wide, small) for line in lines) + 1.0


def _heading_lines(item: Item, wide: float, n: int) -> list[str]:
    """Return the lines of a heading: where many figures are in a row there is room for one."""
    if n > 2 or item.display.crossed:
        return [item.heading]
    return wrap(item.heading, wide / MM, _SIZES[n][0], True) or [""]


def _pair_heading(
    page: Page, x: float, y: float, width: float, pair: Sequence[str], size: float
) -> None:
    """Write both names, each shortened to half of the room if need be."""
    sign = " \N{MULTIPLICATION SIGN} "
    room = width / MM - text_width(sign, size, True)
    names = []
    for name, other in zip(pair, reversed(pair), strict=True):
        limit = max(room / 2.0, room - text_width(other, size, True))
        names.append(shorten(name, math.floor(limit), size, True))
    page.text(x, y, sign.join(names), size, weight="bold")


STACKED = Layout(tall=_panels)
STACKED_HALF = Layout(tall=_panels, half=True)
WIDE = Layout(tall=_whole)
FLOWING = Layout()
CURVES = Layout(half=True, across=True)
FRONT = Layout(tall=lambda display, wide: 72.0)
HALVED = Layout(half=True)
UNIVARIATE = Layout(per_row=4, tall=lambda display, wide: 27.0, grid="grid", legend=True)
BIVARIATE = Layout(per_row=3, tall=_pair, grid="grid pairs")
BESIDE = Layout(2, tall=lambda display, wide: 28.0, words_left=True, grid="grid", legend=True)


@dataclass(frozen=True)
class Words:
    """A paragraph; `style` is "" or "quiet", "lead" or "alarm"."""

    text: str
    style: str = ""


@dataclass(frozen=True)
class Listed:
    """Texts in a list, below a title."""

    title: str
    texts: tuple[str, ...]


@dataclass(frozen=True)
class Facts:
    """Texts by their labels; paper has two of them in a line."""

    pairs: tuple[tuple[str, str], ...]

    @property
    def grid(self) -> Grid:
        """The table of two facts in a line, read down the page."""
        n_rows = math.ceil(len(self.pairs) / 2)
        cells = [*self.pairs, *[("", "")] * (2 * n_rows - len(self.pairs))]
        rows = zip(cells[:n_rows], cells[n_rows:], strict=True)
        texts = tuple((*left, *right) for left, right in rows)
        return Grid((), texts, (0.18, 0.32, 0.18, 0.32), bold=(0, 2))


class Number(str):
    """A text that is sorted by the value it shows, and not by its letters."""

    value: float

    def __new__(cls, text: str, value: float) -> Self:
        """Make the text of a cell."""
        made = super().__new__(cls, text)
        made.value = value
        return made


class OnScale(str):
    """What is read where a result is drawn on its scale, with the threshold that was agreed."""

    result: Result
    agreed: float

    def __new__(cls, text: str, result: Result, agreed: float = math.nan) -> Self:
        """Make the cell of a result."""
        made = super().__new__(cls, text)
        made.result, made.agreed = result, agreed
        return made


@dataclass(frozen=True)
class Grid:
    """A table of texts; what follows the first line of a cell is less than it."""

    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    widths: tuple[float, ...]
    numbers: tuple[int, ...] = ()
    bold: tuple[int, ...] = (0,)
    title: str = ""
    alarms: tuple[tuple[int, int], ...] = ()
    spare: int | None = None
    labels: tuple[tuple[int, int, str], ...] = ()
    flows: bool = False

    def shorter(self) -> Grid:
        """Return the table without one spare row; itself where none is.

        The last row without an alarm goes, out of the group that has most rows.
        """
        if self.spare is None:
            return self
        groups: dict[str, list[int]] = {}
        for i, row in enumerate(self.rows):
            groups.setdefault(row[self.spare], []).append(i)
        alarmed = {i for i, _ in self.alarms}
        several = sorted((own for own in groups.values() if len(own) > 1), key=len)
        calm = [own for own in several if own[-1] not in alarmed]
        return self._without((calm or several)[-1][-1]) if several else self

    def _without(self, gone: int) -> Grid:
        rows = tuple(row for i, row in enumerate(self.rows) if i != gone)
        alarms, labels = (
            tuple((i - (i > gone), *more) for i, *more in marked if i != gone)
            for marked in (self.alarms, self.labels)
        )
        return replace(self, rows=rows, alarms=alarms, labels=labels)


@dataclass(frozen=True)
class Scores:
    """The table of the scores of a suite, and that of its tests of privacy.

    A brief one has no sentence below the numbers on paper.
    """

    results: SuiteResult
    brief: bool = False


@dataclass(frozen=True)
class Form:
    """Boxes to be filled in by hand, named by what goes into them."""

    title: str
    fields: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Folded:
    """What a web page shows of one thing when a reader unfolds it; paper does without."""

    title: str
    note: str
    parts: tuple[Part, ...]
    items: tuple[Item, ...]


Part = Words | Listed | Facts | Grid | Scores | Form
