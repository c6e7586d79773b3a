"""The first pages of a report: what was found, where it stands, the table of scores."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from skeval.formatting import number
from skeval.reporting.findings import evidence, finding
from skeval.reporting.page import LEADING, MARGIN, MM, TOP, Page, paragraph_height
from skeval.reporting.scores import scale_of, strip
from skeval.reporting.sections import Plan
from skeval.reporting.text import text_width, wrap
from skeval.reporting.theme import ALARM, COLOURS, GREY
from skeval.reporting.wording import HOW_TO_READ
from skeval.result import Result, SuiteResult
from skeval.verdict import raises_alarm, summary

__all__ = ["cover_sheets", "left_out", "sizes"]

WIDTH = 174.0
# where the columns of the table stand; value, interval and baseline end there, the others begin
_NAME, _STRIP, _GOOD, _KIND = 0.0, 40.0, 139.0, 152.0
_VALUE, _INTERVAL, _BASELINE = 91.0, 118.0, 135.0
_STRIP_WIDTH = 36.0
_GAP = 2.0  # between a number and what stands left of it


@dataclass(frozen=True)
class Block:
    """Something of known height, drawn at a given y; `head` is drawn before it on a new page."""

    height: float
    draw: Callable[[Page, float], None]
    head: Block | None = None


def sizes(suite_result: SuiteResult) -> str:
    """Say how many rows each table has, and how many columns were compared."""
    rows = [f"{role} {n:,} rows" for role, n in suite_result.sizes.items()]
    n_columns = max(
        (len(r.details["names"]) for r in suite_result.values() if "names" in r.details), default=0
    )
    return ", ".join([*rows, f"{n_columns:,} columns"] if n_columns else rows)


def left_out(plan: Plan) -> list[str]:
    """Return the metrics and sections that are not there, and why: those of one reason together."""
    metrics = {name: result.error for name, result in plan.suite_result.items() if result.error}
    titles: dict[str, list[str]] = {}
    for title, why in plan.left_out.items():
        titles.setdefault(why, []).append(repr(title))
    sections = [
        f"Section{'s' if len(named) > 1 else ''} {', '.join(named)}: {why}"
        for why, named in titles.items()
    ]
    return [*(f"{name}: {why}" for name, why in metrics.items()), *sections]


def warnings(suite_result: SuiteResult) -> list[str]:
    """Return what was warned of: first of the tables, then of metrics by name."""
    of_metrics = [
        f"{name}: {warning}"
        for name, r in suite_result.items()
        if not r.error
        for warning in r.warnings
    ]
    return [*dict.fromkeys([*map(str, suite_result.notices), *of_metrics])]


def cover_sheets(
    plan: Plan, title: str, numbers: Callable[[int], Mapping[str, int]]
) -> list[Callable[[Page], None]]:
    """Return what draws each of the first pages.

    Parameters
    ----------
    plan : Plan
        Of the whole report.
    title : str
        Of the report.
    numbers : callable
        Gives the page number of each section, once it is known how many first pages there are.
    """
    n_pages = len(_paged(_blocks(plan, title, {})))
    pages = _paged(_blocks(plan, title, numbers(n_pages)))
    return [_drawer(blocks) for blocks in pages]


def _drawer(placed: Sequence[tuple[float, Block]]) -> Callable[[Page], None]:
    def draw(page: Page) -> None:
        for y, block in placed:
            block.draw(page, y)

    return draw


def _paged(blocks: Iterable[Block]) -> list[list[tuple[float, Block]]]:
    """Place blocks below each other, on a new page where one does not fit."""
    floor, y = Page().floor, TOP
    pages: list[list[tuple[float, Block]]] = [[]]
    for block in blocks:
        if y + block.height > floor and pages[-1]:
            pages.append([])
            y = TOP
            if block.head is not None:
                pages[-1].append((y, block.head))
                y += block.head.height
        pages[-1].append((y, block))
        y += block.height
    return pages


def _blocks(plan: Plan, title: str, numbers: Mapping[str, int]) -> Iterator[Block]:
    yield from _lines(title, 20.0, after=2.0, weight="bold")
    yield from _lines(sizes(plan.suite_result), 9.0, after=3.0, color=GREY)
    yield from _lines(summary(plan.suite_result), 9.5, after=4.0)
    if len(plan.sections) > 1:
        yield _contents(plan, numbers)
    yield from _lines(HOW_TO_READ, 8.0, after=4.0, color=GREY)
    yield from _table(plan.suite_result)
    yield from _listed("Left out", left_out(plan))
    yield from _listed("Warnings", warnings(plan.suite_result))


def _lines(text: str, size: float, *, after: float, **style: Any) -> Iterator[Block]:
    """Yield one block a line, so that a long text may run over to the next page."""
    leading = size * LEADING * MM
    lines = wrap(text, WIDTH / MM, size, style.get("weight") == "bold")
    for i, line in enumerate(lines):
        height = leading + (after if i == len(lines) - 1 else 0.0)
        yield Block(height, _line(line, size, style))


def _line(line: str, size: float, style: Mapping[str, Any]) -> Callable[[Page, float], None]:
    def draw(page: Page, y: float) -> None:
        page.text(MARGIN, y + 0.78 * size * LEADING * MM, line, size, **style)

    return draw


def _listed(title: str, texts: Sequence[str]) -> Iterator[Block]:
    """Yield a heading with the first text, then the other texts."""
    for i, text in enumerate(texts):
        height = paragraph_height(text, WIDTH - 4.0, 7.5) + 1.2
        block = Block(height, _bullet(text))
        yield _headed(title, block) if i == 0 else block


def _bullet(text: str) -> Callable[[Page, float], None]:
    def draw(page: Page, y: float) -> None:
        page.text(MARGIN, y + 0.78 * 7.5 * LEADING * MM, "\N{EN DASH}", 7.5, color=GREY)
        page.paragraph(MARGIN + 4.0, y, text, WIDTH - 4.0, 7.5)

    return draw


def _headed(title: str, block: Block) -> Block:
    def draw(page: Page, y: float) -> None:
        page.text(MARGIN, y + 7.0, title, 10.0, weight="bold")
        block.draw(page, y + 9.5)

    return Block(block.height + 9.5, draw)


def _contents(plan: Plan, numbers: Mapping[str, int]) -> Block:
    """Return the list of sections in two columns; their places are kept as links."""
    sections = plan.sections
    n_rows = math.ceil(len(sections) / 2)
    pitch, column = 5.2, WIDTH / 2.0

    def draw(page: Page, y: float) -> None:
        page.text(MARGIN, y + 3.5, "Contents", 10.0, weight="bold")
        for i, section in enumerate(sections):
            x, base = MARGIN + (i // n_rows) * (column + 4.0), y + 9.5 + (i % n_rows) * pitch
            right = x + column - 8.0
            page.text(x, base, section.title, 8.5)
            page.text(right, base, str(numbers.get(section.key, "")), 8.5, ha="right", color=GREY)
            page.rule(base + 1.4, x, right)
            page.links.append((x, base - 3.5, right, base + 1.4, section.key))

    return Block(8.0 + n_rows * pitch + 4.0, draw)


def _table(suite_result: SuiteResult) -> Iterator[Block]:
    """Yield the header and the rows of the table of scores, a heading where the aspect changes."""
    head = Block(9.0, _table_head)
    yield head
    aspect = ""
    for name, result in suite_result.items():
        if result.error:
            continue
        new = result.tags.aspect if result.tags is not None and result.tags.aspect != aspect else ""
        aspect = new or aspect
        yield _row(name, result, new, head)


def _table_head(page: Page, y: float) -> None:
    style = {"color": GREY, "weight": "bold"}
    x, base = MARGIN, y + 5.0
    page.text(x + _NAME, base, "Metric", 7.0, **style)
    page.text(x + _STRIP, base, "On its scale", 7.0, **style)
    for place, text in ((_VALUE, "Value"), (_INTERVAL, "95% interval"), (_BASELINE, "Baseline")):
        page.text(x + place, base, text, 7.0, ha="right", **style)
    page.text(x + _GOOD, base, "Good", 7.0, **style)
    page.text(x + _KIND, base, "Evidence", 7.0, **style)
    page.rule(y + 7.0, color=GREY)


def _row(name: str, result: Result, aspect: str, head: Block) -> Block:
    text = finding(result)
    top = 5.5 if aspect else 0.0

    def draw(page: Page, y: float) -> None:
        if aspect:
            page.text(
                MARGIN, y + 4.0, aspect.capitalize(), 8.0, weight="bold", color=COLOURS["train"]
            )
        _numbers(page, y + top + 4.6, name, result)
        end = page.paragraph(MARGIN, y + top + 6.2, text, WIDTH, 7.0, color=GREY)
        page.rule(end + 1.2)

    return Block(top + 6.2 + paragraph_height(text, WIDTH, 7.0) + 2.2, draw, head)


def _numbers(page: Page, base: float, name: str, result: Result) -> None:
    x = MARGIN
    alarm = raises_alarm(result)
    page.fitted(x + _NAME, base, name, _STRIP - _NAME - 3.0, 8.5, least=6.0, weight="bold")
    place = _to_strip(result)
    strip(page.canvas, base - 1.1, place, result, 1.3)
    colour = {"color": ALARM} if alarm else {}
    value, left = number(result.value), _STRIP + _STRIP_WIDTH
    _ending(page, left, _VALUE, base, value, 8.5, weight="bold", **colour)
    if result.interval is not None:
        interval = " to ".join(number(end) for end in result.interval)
        _ending(page, _VALUE, _INTERVAL, base, interval, 8.0)
    baseline = number(result.baseline)
    _ending(page, _INTERVAL, _BASELINE, base, baseline, 8.0, color=COLOURS["holdout"])
    sign = result.tags.sign if result.tags is not None else 0
    page.text(x + _GOOD, base, {1: "high", -1: "low", 0: "between"}[sign], 7.5)
    page.fitted(x + _KIND, base, evidence(result), WIDTH - _KIND, 7.5)


def _ending(
    page: Page, left: float, right: float, base: float, text: str, size: float, **style: Any
) -> None:
    """Write numbers up to `right`, smaller where they would else run into what ends at `left`."""
    width = text_width(text, size, style.get("weight") == "bold") * MM
    fits = min(1.0, (right - left - _GAP) / width)
    page.text(MARGIN + right, base, text, size * fits, ha="right", **style)


def _to_strip(result: Result) -> Callable[[np.ndarray], np.ndarray]:
    low, high = scale_of(result)
    left = MARGIN + _STRIP
    return lambda values: left + (values - low) / (high - low) * _STRIP_WIDTH
