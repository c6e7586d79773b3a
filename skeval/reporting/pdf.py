"""A report on paper: a cover, pages by matplotlib, outline, links and labels by pypdf."""

from __future__ import annotations

import io
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from skeval.formatting import number, shown_interval
from skeval.reporting.displays.values import band_of, scale_of, strip
from skeval.reporting.figures import FileRenderer
from skeval.reporting.layout import LEADING, MARGIN, MM, TOP, Page, paragraph_height
from skeval.reporting.provenance import provenance_pages
from skeval.reporting.sections import HOW_TO_READ, PROVENANCE, TABLE_HEADS, Plan
from skeval.reporting.text import evidence, finding, wrap
from skeval.reporting.theme import ALARM, COLOURS, GREY, theme
from skeval.result import Result, SuiteResult
from skeval.verdict import is_shifted, summary

if TYPE_CHECKING:
    from pypdf import PdfWriter

Link = tuple[int, Sequence[float], str]  # page, place on it, name of the section

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
        `membership`, `phik`, `further`, `univariate`, `bivariate` and `provenance`; all
        otherwise.
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
        from pypdf import PdfReader, PdfWriter

        drawn, firsts, links = self._drawn(content)
        writer = PdfWriter(clone_from=PdfReader(drawn))
        tables: dict[str, Any] = {}
        for section in content.sections:
            page = firsts[section.key]
            if section.table and section.table not in tables:
                tables[section.table] = writer.add_outline_item(
                    title=section.table, page_number=page
                )
            above = tables.get(section.table)
            writer.add_outline_item(title=section.title, page_number=page, parent=above)
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
        drawing = ""
        with theme(), PdfPages(buffer, metadata={"CreationDate": None}) as pdf:
            for i, (name, page) in enumerate(draw_pages(content, self.title)):
                if name not in firsts:
                    if drawing:
                        self._report(drawing, len(firsts), content)
                    firsts[name], drawing = i, name
                for left, top, right, bottom, target in page.links:
                    # PDF counts points from the lower left
                    ends = left, page.height - bottom, right, page.height - top
                    links.append((i, [end / MM for end in ends], target))
                pdf.savefig(page.figure)
            if drawing:
                self._report(drawing, len(firsts), content)
        buffer.seek(0)
        return buffer, firsts, links


def _link(writer: PdfWriter, page_number: int, box: Sequence[float], target: int) -> None:
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
    body = [
        (section, items, i > 0)
        for section in plan.sections
        if section.name not in ("scores", PROVENANCE)
        for i, items in enumerate(section.layout.paged(section.items))
    ]
    shown = any(section.name == PROVENANCE for section in plan.sections)
    last = list(provenance_pages(plan.suite_result)) if shown else []
    names = [*(section.key for section, *_ in body), *[PROVENANCE] * len(last)]
    cover = _cover(plan, title, names)
    total = len(cover) + len(body) + len(last)
    for n, blocks in enumerate(cover, start=1):
        page = Page()
        for y, block in blocks:
            block.draw(page, y)
        page.footer(title, n, total)
        yield "scores", page
    for n, (section, items, continued) in enumerate(body, start=len(cover) + 1):
        page = Page(landscape=section.layout.landscape)
        y = page.heading(section.heading, section.intro, continued=continued)
        section.layout.draw(page, y, items)
        page.footer(title, n, total)
        yield section.key, page
    for n, page in enumerate(last, start=total - len(last) + 1):
        page.footer(title, n, total)
        yield PROVENANCE, page


def _cover(plan: Plan, title: str, names: Sequence[str]) -> list[list[tuple[float, Block]]]:
    """Return the first pages; they say on which pages sections of these names begin."""
    if not any(section.name == "scores" for section in plan.sections):
        return []
    n_cover = len(_paged(_blocks(plan, title, {})))
    numbers = {name: n_cover + names.index(name) + 1 for name in names}
    return _paged(_blocks(plan, title, {"scores": 1, **numbers}))


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
    lines = wrap(text, WIDTH / MM, size, style.get("weight") == "bold")
    for left, line in zip(reversed(range(len(lines))), lines, strict=True):
        height = size * LEADING * MM + (0.0 if left else after)
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
            page.fitted(x, base, section.heading, right - x - 8.0, 8.5)
            page.text(right, base, str(numbers.get(section.key, "")), 8.5, ha="right", color=GREY)
            page.rule(base + 1.4, x, right)
            page.links.append((x, base - 3.5, right, base + 1.4, section.key))

    return Block(8.0 + n_rows * pitch + 4.0, draw)


def _table(suite_result: SuiteResult) -> Iterator[Block]:
    """Yield the header and the rows of the table of scores, a heading where the aspect changes."""
    head = Block(9.0, _table_head)
    yield head
    kind, alarms, shifted = "", suite_result.verdict().alarms, is_shifted(suite_result)
    for name, result in suite_result.items():
        if not result.error:
            before, kind = kind, _group(result, kind)
            heading = kind if kind != before else ""
            text = finding(result, name in alarms, shifted)
            shown = name.removeprefix(f"{result.table}/")
            yield _row(shown, result, heading, head, name in alarms, text)


def _group(result: Result, before: str) -> str:
    """Return what the rows of a table of scores are headed by: the aspect, of a table or of all."""
    aspect = result.tags.aspect.capitalize() if result.tags is not None else before
    return f"{result.table}: {aspect.lower()}" if result.table else aspect


def _table_head(page: Page, y: float) -> None:
    style = {"color": GREY, "weight": "bold"}
    places = (_NAME, _STRIP, _VALUE, _INTERVAL, _BASELINE, _GOOD, _KIND)
    for place, text in zip(places, TABLE_HEADS, strict=True):
        ha = "right" if place in (_VALUE, _INTERVAL, _BASELINE) else "left"
        page.text(MARGIN + place, y + 5.0, text, 7.0, ha=ha, **style)
    page.rule(y + 7.0, color=GREY)


def _row(name: str, result: Result, heading: str, head: Block, alarm: bool, text: str) -> Block:
    top = 5.5 if heading else 0.0

    def draw(page: Page, y: float) -> None:
        if heading:
            style: dict[str, Any] = {"weight": "bold", "color": COLOURS["train"]}
            page.fitted(MARGIN, y + 4.0, heading, WIDTH, 8.0, **style)
        _numbers(page, y + top + 4.6, name, result, alarm)
        end = page.paragraph(MARGIN, y + top + 6.2, text, WIDTH, 7.0, color=GREY)
        page.rule(end + 1.2)

    return Block(top + 6.2 + paragraph_height(text, WIDTH, 7.0) + 2.2, draw, head)


def _numbers(page: Page, base: float, name: str, result: Result, alarm: bool) -> None:
    x = MARGIN
    page.fitted(x + _NAME, base, name, _STRIP - _NAME - 3.0, 8.5, least=6.0, weight="bold")
    low, high = scale_of(result)
    left, wide = MARGIN + _STRIP, _STRIP_WIDTH
    strip(page.canvas, base - 1.1, lambda x: left + (x - low) / (high - low) * wide, result, 1.3)
    interval = shown_interval(band_of(result))
    colour = {"color": ALARM} if alarm else {}
    ends = _STRIP + _STRIP_WIDTH, _VALUE, _INTERVAL, _BASELINE
    texts: tuple[tuple[str, float, dict[str, Any]], ...] = (
        (number(result.value), 8.5, {"weight": "bold", **colour}),
        (interval, 8.0, {}),
        (number(result.baseline), 8.0, {"color": COLOURS["holdout"]}),
    )
    for (before, end), (text, size, style) in zip(pairwise(ends), texts, strict=True):
        # smaller where it would run into what ends at its left
        room = end - before - _GAP
        page.fitted(x + end, base, text, room, size, least=0.0, ha="right", **style)
    sign = result.tags.sign if result.tags is not None else 0
    page.text(x + _GOOD, base, {1: "high", -1: "low", 0: "between"}[sign], 7.5)
    page.fitted(x + _KIND, base, evidence(result), WIDTH - _KIND, 7.5)
