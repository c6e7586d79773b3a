"""The pages of a PDF: how the figures of each section are laid out on paper."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from skeval.formatting import number
from skeval.reporting.cover import cover_sheets
from skeval.reporting.displays import (
    MarginalDisplay,
    PairDisplay,
    PhikMatricesDisplay,
    SimilarityMatrixDisplay,
)
from skeval.reporting.page import MARGIN, MM, Page, paragraph_height
from skeval.reporting.sections import Item, Plan, Section, in_parts
from skeval.reporting.text import shorten, text_width
from skeval.reporting.theme import COLOURS, GREY, SMALL
from skeval.reporting.ticks import strided

__all__ = ["draw_pages"]

_MOST_BARS = 40
_BAR = 4.6


@dataclass(frozen=True)
class Sheet:
    """One page to be drawn: how, of which section, and which way the paper lies."""

    key: str
    draw: Callable[[Page], None]
    landscape: bool = False


def draw_pages(plan: Plan, title: str) -> Iterator[tuple[str, Page]]:
    """Yield the section and the drawn page, page by page.

    Parameters
    ----------
    plan : Plan
        What the report shows.
    title : str
        Of the report, for the first page and the foot of all.

    Yields
    ------
    key : str
        Of the section.
    page : Page
        With `figure` and `links`.
    """
    sheets = all_sheets(plan, title)
    for i, sheet in enumerate(sheets):
        page = Page(landscape=sheet.landscape)
        sheet.draw(page)
        page.footer(title, i + 1, len(sheets))
        yield sheet.key, page


def all_sheets(plan: Plan, title: str) -> list[Sheet]:
    """Return all pages in order, the first ones knowing the numbers of the others."""
    body = [
        sheet
        for section in plan.sections
        if section.key != "scores"
        for sheet in section_sheets(section)
    ]

    def numbers(n_first: int) -> dict[str, int]:
        first = {sheet.key: n_first + i + 1 for i, sheet in reversed(list(enumerate(body)))}
        return {"scores": 1, **first}

    if not any(section.key == "scores" for section in plan.sections):
        return body
    return [Sheet("scores", draw) for draw in cover_sheets(plan, title, numbers)] + body


def section_sheets(section: Section) -> list[Sheet]:
    """Return the pages of one section."""
    draw_items, landscape = _LAYOUTS[section.key]
    groups = _groups(section)

    def sheet(i: int, items: Sequence[Item]) -> Sheet:
        def draw(page: Page) -> None:
            y = page.heading(section.title, section.intro, continued=i > 0)
            draw_items(page, y, items)

        return Sheet(section.key, draw, landscape)

    return [sheet(i, items) for i, items in enumerate(groups)]


def _groups(section: Section) -> list[list[Item]]:
    """Return which figures share a page."""
    if section.key == "columns":
        return _packed(in_parts(section, _MOST_BARS).items, 205.0)
    per_page = {"univariate": 12, "bivariate": 8}.get(section.key, 1)
    items = list(section.items)
    return [items[i : i + per_page] for i in range(0, len(items), per_page)]


def _packed(items: Sequence[Item], room: float) -> list[list[Item]]:
    groups: list[list[Item]] = []
    left = 0.0
    for item in items:
        height = _bars_height(item)
        if not groups or height > left:
            groups.append([])
            left = room
        groups[-1].append(item)
        left -= height
    return groups


def _bars_height(item: Item) -> float:
    return 19.0 + paragraph_height(item.caption, 174.0, 8.0) + _BAR * len(item.display.frame())


def _head(page: Page, y: float, item: Item) -> float:
    """Write a figure's heading and what it found; return where the figure begins."""
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
    headers = ("Pairs that agree least", "", "Similarity", "Ceiling", "Gap")
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
    widths = [max(12.0, text_width(text, 7.0, True) * MM) + 4.0 for text in headers[2:]]
    rights = [page.width - MARGIN - sum(widths[k + 1 :]) for k in range(3)]
    width = (rights[0] - MARGIN - 16.0) / 2.0
    page.text(MARGIN, y + 4.0, headers[0], 7.0, weight="bold", color=GREY)
    for right, header in zip(rights, headers[2:], strict=True):
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
        height = _BAR * len(names)
        item.display.draw([page.axes(left, y, page.width - MARGIN - 14.0 - left, height)], room)
        y += height + 10.0


def _stacked(page: Page, y: float, items: Sequence[Item]) -> None:
    item = items[0]
    y = _head(page, y, item) + 5.0
    n = item.display.n_panels
    pitch = min(72.0, (page.floor - y) / n)
    left = MARGIN + 9.0
    axes = [
        page.axes(left, y + i * pitch, page.width - MARGIN - left, pitch - 18.0) for i in range(n)
    ]
    item.display.draw(axes)


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
    headers = ("Pairs that change most", "", "Train", "Synthetic", "Difference")
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


def _univariate(page: Page, y: float, items: Sequence[Item]) -> None:
    first = items[0].display
    assert isinstance(first, MarginalDisplay)
    y = _legend(page, y, list(first.shares))
    for x, top, width, height, item in _slots(page, y, items, n_columns=3, n_rows=4):
        _marginal(page, x, top, width, height, item)


def _slots(
    page: Page, y: float, items: Sequence[Item], *, n_columns: int, n_rows: int
) -> Iterator[tuple[float, float, float, float, Item]]:
    """Yield the place of each figure: left, top, width, height."""
    gap = 6.0
    width = (page.inner + gap) / n_columns
    height = (page.floor - y) / n_rows
    for i, item in enumerate(items):
        yield (
            MARGIN + (i % n_columns) * width,
            y + (i // n_columns) * height,
            width - gap,
            height - 3.0,
            item,
        )


def _marginal(page: Page, x: float, y: float, width: float, height: float, item: Item) -> None:
    display = item.display
    assert isinstance(display, MarginalDisplay)
    page.fitted(x, y + 3.0, item.heading, width, 7.5, weight="bold")
    page.fitted(x, y + 6.2, item.caption, width, 6.0, color=GREY)
    nominal = display.bars.edges is None
    room = _room(display.bars.names, 0.4 * width) if nominal else 7.0 / MM
    left = room * MM + 2.0
    display.draw([page.axes(x + left, y + 8.5, width - left - 1.0, height - 14.0)], room)


def _bivariate(page: Page, y: float, items: Sequence[Item]) -> None:
    for x, top, width, height, item in _slots(page, y, items, n_columns=2, n_rows=4):
        _pair(page, x, top, width, height, item)


def _pair(page: Page, x: float, y: float, width: float, height: float, item: Item) -> None:
    display = item.display
    assert isinstance(display, PairDisplay)
    _pair_heading(page, x, y + 3.0, width, display)
    page.fitted(x, y + 6.2, item.caption, width, 6.0, color=GREY)
    first, second = display.bars
    room = (
        _room(first.names, 20.0, 6.0)
        if first.edges is None
        else _room(["0.0000", "missing"], 20.0, 6.0)
    )
    below = _room(second.names, 13.0, 6.0) if second.edges is None else 7.0
    left = room * MM + 6.0
    side, top = (width - left - 2.0) / 2.0, y + 11.0
    tall = height - 12.0 - below * MM - 5.0
    axes = [page.axes(x + left + k * (side + 2.0), top, side, tall) for k in (0, 1)]
    display.draw(axes, room, below)


def _pair_heading(page: Page, x: float, y: float, width: float, display: PairDisplay) -> None:
    """Write both names, each shortened to half of the room if need be."""
    sign = " \N{MULTIPLICATION SIGN} "
    room = width / MM - text_width(sign, 7.5, True)
    wide = [text_width(name, 7.5, True) for name in display.columns]
    limits = [max(room / 2.0, room - other) for other in reversed(wide)]
    names = [
        shorten(name, math.floor(limit), 7.5, True)
        for name, limit in zip(display.columns, limits, strict=True)
    ]
    page.text(x, y, sign.join(names), 7.5, weight="bold")


_LAYOUTS: dict[str, tuple[Callable[[Page, float, Sequence[Item]], None], bool]] = {
    "similarity": (_similarity, False),
    "columns": (_columns, False),
    "distances": (_stacked, False),
    "proximity": (_stacked, False),
    "accumulation": (_stacked, False),
    "membership": (_stacked, False),
    "phik": (_phik, True),
    "univariate": (_univariate, False),
    "bivariate": (_bivariate, False),
}
