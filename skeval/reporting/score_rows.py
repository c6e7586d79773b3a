"""The tables of scores on paper: against fresh real rows, and of tests of privacy."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import Any

from skeval.reporting.decision import titles_of
from skeval.reporting.layout import MARGIN, WIDTH, Block, Page, paragraph_height
from skeval.reporting.old_displays.values import scale_of, strip
from skeval.reporting.scores import (
    SCORE_HEADS,
    TEST_HEADS,
    good,
    numbers_tested,
    parted,
    shown_difference,
)
from skeval.reporting.structure import Element
from skeval.reporting.style import ALARM, COLOURS, GREY, evidence, finding
from skeval.results.result import Result
from skeval.results.suite_result import SuiteResult
from skeval.results.verdict import is_shifted
from skeval.utils.formatting import number, shown_interval

_Texts = Sequence[tuple[str, float, dict[str, Any]]]  # a text, its size and its style

# where the columns of the tables of scores and of tests stand: numbers end there, others begin
_SCORE_PLACES = (0.0, 55.0, 89.0, 115.0, 130.0, 160.0, 163.0)
_TEST_PLACES = (0.0, 55.5, 58.0, 101.5, 124.0, 138.0, 140.0, 152.0)
_SCORE_WIDTH = 12.0  # of the column in front of the interval
_STRIP_WIDTH = 20.0
_GAP = 2.0  # between a number and what stands left of it


def score_blocks(suite_result: SuiteResult, *, brief: bool = False) -> Iterator[Block]:
    """Yield the rows of the tables of scores and of tests, a heading where the aspect changes.

    Below the numbers stands what was found, but in a brief table.
    """
    alarms, shifted = suite_result.verdict().alarms, is_shifted(suite_result.notices)
    titles, (scores, tests) = titles_of(suite_result), parted(suite_result)
    for results, of_tests in ((scores, False), (tests, True)):
        in_table, first = Element("Table"), Element("TR", heads="Column")
        draw_head = partial(_score_heads, of_tests, in_table, first)
        head, kind = Block(9.0, draw_head), ""
        if results:
            yield replace(head, keeps=True)
        for name, result in results.items():
            before, kind = kind, _group(result, kind)
            heading = kind if kind != before else ""
            text = "" if brief else f"{name}: {finding(result, name in alarms, shifted)}"
            draw = partial(_test if of_tests else _score, titles[name], result, name in alarms)
            yield _row(in_table, heading, head, draw, text)


def _group(result: Result, before: str) -> str:
    """Return what the rows of a table of scores are headed by: the aspect, of a table or of all."""
    aspect = result.tags.aspect.capitalize() if result.tags is not None else before
    return f"{result.table}: {aspect.lower()}" if result.table else aspect


def _score_heads(
    of_tests: bool, table: Element, row: Element, page: Page, y: float, height: float
) -> None:
    with page.inside(table), page.inside(row, once=True):
        if of_tests:
            _heads(page, y, TEST_HEADS, _TEST_PLACES, (1, 3, 4, 5))
        else:
            _heads(page, y, SCORE_HEADS, _SCORE_PLACES, (2, 3, 4, 5))


def _heads(
    page: Page, y: float, heads: Sequence[str], places: Sequence[float], numbers: Sequence[int]
) -> None:
    for k, (place, text) in enumerate(zip(places, heads, strict=True)):
        ha = "right" if k in numbers else "left"
        page.text(MARGIN + place, y + 5.0, text, 7.0, ha=ha, color=GREY, weight="bold")
    page.rule(y + 7.0, color=GREY)


def _row(
    table: Element, heading: str, head: Block, numbers: Callable[[Page, float], None], text: str
) -> Block:
    top = 5.5 if heading else 0.0

    def draw(page: Page, y: float, height: float) -> None:
        if heading:
            style: dict[str, Any] = {"weight": "bold", "color": COLOURS["train"]}
            with page.inside(table), page.inside(Element("TR")):
                page.fitted(MARGIN, y + 4.0, heading, WIDTH, 8.0, **style)
        with page.inside(table), page.inside(Element("TR")):
            numbers(page, y + top + 3.7)
            if text:
                with page.inside(Element("TD")):
                    page.paragraph(MARGIN, y + top + 4.9, text, WIDTH, 7.0, color=GREY)
        page.rule(y + height - 0.7)

    said = paragraph_height(text, WIDTH, 7.0) if text else 0.0
    return Block(top + 4.9 + said + 1.4, draw, head=head)


def _score(name: str, result: Result, alarm: bool, page: Page, base: float) -> None:
    """Draw the numbers of a row: the value on its scale, its interval, what it is compared with."""
    _, left, *ends, last = _SCORE_PLACES
    page.fitted(MARGIN, base, name, left - 2.0, 8.5, least=6.0, weight="bold")
    low, high = scale_of(result)
    start = MARGIN + left
    place = partial(_placed, start, low, high)
    strip(page.canvas, base - 1.1, place, result, 1.3)
    texts: _Texts = (
        (number(result.value), 8.5, {"weight": "bold"}),
        (shown_interval(result.interval), 8.0, {}),
        (number(result.baseline), 8.0, {"color": COLOURS["holdout"]}),
        (shown_difference(result), 8.0, {}),
    )
    _ended(page, base, (left + _STRIP_WIDTH, *ends), texts)
    page.text(MARGIN + last, base, good(result), 7.5)


def _placed(start: float, low: float, high: float, x: Any) -> Any:
    return start + (x - low) / (high - low) * _STRIP_WIDTH


def _test(name: str, result: Result, alarm: bool, page: Page, base: float) -> None:
    """Draw the numbers of a row: the two that were compared, then the score and its baseline."""
    _, end, left, *ends, last, kind = _TEST_PLACES
    observed, against = numbers_tested(result)
    room = end - 12.0
    page.fitted(MARGIN, base, name, room - _GAP, 8.5, least=6.0, weight="bold")
    colour = {"color": ALARM} if alarm else {}
    _ended(page, base, (room, end), ((observed, 8.5, {"weight": "bold", **colour}),))
    page.fitted(MARGIN + left, base, against, ends[0] - _SCORE_WIDTH - left, 8.0, least=6.5)
    texts: _Texts = (
        (number(result.value), 8.0, {}),
        (shown_interval(result.interval), 8.0, {}),
        (number(result.baseline), 8.0, {"color": COLOURS["holdout"]}),
    )
    _ended(page, base, (ends[0] - _SCORE_WIDTH, *ends), texts)
    page.text(MARGIN + last, base, good(result), 7.5)
    page.fitted(MARGIN + kind, base, evidence(result), WIDTH - kind, 7.5)


def _ended(page: Page, base: float, ends: Sequence[float], texts: _Texts) -> None:
    """Draw numbers that end in their places, smaller where there is little room."""
    for (before, end), (text, size, style) in zip(pairwise(ends), texts, strict=True):
        room = end - before - _GAP
        page.fitted(MARGIN + end, base, text, room, size, least=0.0, ha="right", **style)
