"""A report on paper: a cover, pages by matplotlib, outline, links and labels by pypdf."""

from __future__ import annotations

import io
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from skeval.formatting import number
from skeval.reporting.displays.values import scale_of, strip
from skeval.reporting.figures import FileRenderer
from skeval.reporting.findings import evidence, finding
from skeval.reporting.layout import LEADING, MARGIN, MM, TOP, Item, Page, paragraph_height
from skeval.reporting.sections import HOW_TO_READ, Plan, Section
from skeval.reporting.text import text_width, wrap
from skeval.reporting.theme import ALARM, COLOURS, GREY, theme
from skeval.result import Result, SuiteResult
from skeval.verdict import raises_alarm, summary

if TYPE_CHECKING:
    from pypdf import PdfWriter

Link = tuple[int, tuple[float, float, float, float], str]

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


class PDFRenderer(FileRenderer):
    """Writes a suite's results as a PDF of A4 pages: searchable, linked, with an outline.

    Two runs on the same results give the same bytes, and so does a report of results that were read
    back from JSON.

    Parameters
    ----------
    title : str, default="Synthetic data report"
        On the first page and at the foot of all.
    columns : ReportColumns, optional
        Its `univ` and `biv` choose the columns that are drawn; all that the results hold otherwise.
    sections : iterable of str, optional
        Among `scores`, `similarity`, `columns`, `distances`, `proximity`, `accumulation`,
        `membership`, `phik`, `further`, `univariate` and `bivariate`; all otherwise.
    progress : callable, optional
        Called as ``progress(section, n_done, n_total)`` when a section is drawn.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from skeval import Result, SuiteResult
    >>> from skeval.reporting import PDFRenderer
    >>> result = SuiteResult({"a": Result(0.5)})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = PDFRenderer().render(result, pathlib.Path(folder) / "a.pdf")
    ...     path.read_bytes()[:5]
    b'%PDF-'
    """

    def _write(self, content: Plan, file: Path) -> None:
        drawn, firsts, links = self._drawn(content)
        writer = _writer(drawn)
        for section in content.sections:
            writer.add_outline_item(title=section.title, page_number=firsts[section.name])
        for page_number, box, name in links:
            _link(writer, page_number, box, firsts[name])
        subject = "Evaluation of synthetic data"
        writer.add_metadata({"/Title": self.title, "/Author": "skeval", "/Subject": subject})
        with file.open("wb") as opened:
            writer.write(opened)

    def _drawn(self, content: Plan) -> tuple[io.BytesIO, dict[str, int], list[Link]]:
        """Draw all pages; return them, where each section begins and the links to sections."""
        from matplotlib.backends.backend_pdf import PdfPages

        buffer, firsts, links = io.BytesIO(), dict[str, int](), list[Link]()
        with theme(), PdfPages(buffer, metadata={"CreationDate": None}) as pdf:
            for i, (name, page) in enumerate(draw_pages(content, self.title)):
                if name not in firsts:
                    self._report_drawn(firsts, content)
                    firsts[name] = i
                links += [(i, _box(page, link[:4]), link[4]) for link in page.links]
                pdf.savefig(page.figure)
            self._report_drawn(firsts, content)
        return buffer, firsts, links

    def _report_drawn(self, done: dict[str, int], content: Plan) -> None:
        if done:
            self._report(list(done)[-1], len(done), content)


def _box(page: Page, place: tuple[float, ...]) -> tuple[float, float, float, float]:
    """Return a place on a page in PDF points from the lower left."""
    left, top, right, bottom = place
    return left / MM, (page.height - bottom) / MM, right / MM, (page.height - top) / MM


def _writer(drawn: io.BytesIO) -> PdfWriter:
    from pypdf import PdfReader, PdfWriter

    drawn.seek(0)
    return PdfWriter(clone_from=PdfReader(drawn))


def _link(
    writer: PdfWriter, page_number: int, box: tuple[float, float, float, float], target: int
) -> None:
    """Lay a link over a place of a page; spelt out, as pypdf's helpers differ between versions."""
    from pypdf.generic import ArrayObject, DictionaryObject, FloatObject, NameObject, NumberObject

    destination = writer.pages[target].indirect_reference
    annotation = DictionaryObject(
        {
            NameObject("/Type"): NameObject("/Annot"),
            NameObject("/Subtype"): NameObject("/Link"),
            NameObject("/Rect"): ArrayObject([FloatObject(f"{x:.2f}") for x in box]),
            NameObject("/Border"): ArrayObject([NumberObject(0)] * 3),
            NameObject("/Dest"): ArrayObject([destination, NameObject("/Fit")]),
        }
    )
    page = writer.pages[page_number]
    kept: Any = page["/Annots"].get_object() if "/Annots" in page else ArrayObject()
    page[NameObject("/Annots")] = ArrayObject([*kept, annotation])


@dataclass(frozen=True)
class Sheet:
    """One page to be drawn: how, of which section, and which way the paper lies."""

    name: str
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
    name : str
        Of the section.
    page : Page
        With `figure` and `links`.
    """
    sheets = all_sheets(plan, title)
    for i, sheet in enumerate(sheets):
        page = Page(landscape=sheet.landscape)
        sheet.draw(page)
        page.footer(title, i + 1, len(sheets))
        yield sheet.name, page


def all_sheets(plan: Plan, title: str) -> list[Sheet]:
    """Return all pages in order, the first ones knowing the numbers of the others."""
    body = [
        Sheet(section.name, partial(_draw_items, section, items, i > 0), section.layout.landscape)
        for section in plan.sections
        if section.name != "scores"
        for i, items in enumerate(section.layout.paged(section.items))
    ]
    if not any(section.name == "scores" for section in plan.sections):
        return body
    n_first = len(_paged(_blocks(plan, title, {})))
    numbers = {sheet.name: n_first + i + 1 for i, sheet in reversed(list(enumerate(body)))}
    cover = _paged(_blocks(plan, title, {"scores": 1, **numbers}))
    return [*(Sheet("scores", partial(_draw_blocks, blocks)) for blocks in cover), *body]


def _draw_items(section: Section, items: Sequence[Item], continued: bool, page: Page) -> None:
    y = page.heading(section.title, section.intro, continued=continued)
    section.layout.draw(page, y, items)


def _draw_blocks(placed: Sequence[tuple[float, Block]], page: Page) -> None:
    for y, block in placed:
        block.draw(page, y)


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
    yield from _lines(plan.sizes(), 9.0, after=3.0, color=GREY)
    yield from _lines(summary(plan.suite_result), 9.5, after=4.0)
    if len(plan.sections) > 1:
        yield _contents(plan, numbers)
    yield from _lines(HOW_TO_READ, 8.0, after=4.0, color=GREY)
    yield from _table(plan.suite_result)
    yield from _listed("Left out", plan.reasons())
    yield from _listed("Warnings", plan.warnings())


def _lines(text: str, size: float, *, after: float, **style: Any) -> Iterator[Block]:
    """Yield one block a line, so that a long text may run over to the next page."""
    leading = size * LEADING * MM
    lines = wrap(text, WIDTH / MM, size, style.get("weight") == "bold")
    for i, line in enumerate(lines):
        height = leading + (after if i == len(lines) - 1 else 0.0)
        yield Block(height, partial(_line, line, size, style))


def _line(line: str, size: float, style: Mapping[str, Any], page: Page, y: float) -> None:
    page.text(MARGIN, y + 0.78 * size * LEADING * MM, line, size, **style)


def _listed(title: str, texts: Sequence[str]) -> Iterator[Block]:
    """Yield a heading with the first text, then the other texts."""
    for i, text in enumerate(texts):
        height = paragraph_height(text, WIDTH - 4.0, 7.5) + 1.2
        above = 9.5 if i == 0 else 0.0
        yield Block(above + height, partial(_bullet, text, title if i == 0 else "", above))


def _bullet(text: str, title: str, above: float, page: Page, y: float) -> None:
    if title:
        page.text(MARGIN, y + 7.0, title, 10.0, weight="bold")
    _line("\N{EN DASH}", 7.5, {"color": GREY}, page, y + above)
    page.paragraph(MARGIN + 4.0, y + above, text, WIDTH - 4.0, 7.5)


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
            page.text(right, base, str(numbers.get(section.name, "")), 8.5, ha="right", color=GREY)
            page.rule(base + 1.4, x, right)
            page.links.append((x, base - 3.5, right, base + 1.4, section.name))

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
