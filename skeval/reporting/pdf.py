"""A report on paper: pages by matplotlib, outline, links and labels by pypdf."""

from __future__ import annotations

import io
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from skeval.files import replacing
from skeval.reporting.decision import DecisionPage
from skeval.reporting.figures import FileRenderer, save
from skeval.reporting.layout import (
    FRONT,
    LEADING,
    MARGIN,
    MM,
    TOP,
    WIDTH,
    Block,
    Item,
    Page,
    Placed,
    legend,
    paged,
    paragraph_height,
)
from skeval.reporting.parts import Form, Grid, Listed, Part, Words
from skeval.reporting.score_blocks import score_blocks
from skeval.reporting.scores import HOW_TO_READ
from skeval.reporting.sections import Plan, Section
from skeval.reporting.text import wrap
from skeval.reporting.theme import ALARM, COLOURS, GREY, theme
from skeval.suite_result import SuiteResult
from skeval.verdict import summary

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pypdf import PdfWriter

Link = tuple[int, Sequence[float], str]  # page, place on it, name of the section

_LISTED, _CELL = 8.0, 7.5  # sizes of letters in lists and in tables
_PADDING, _LEAST_PADDING = 2.0, 1.1  # of the rows of tables, and where they need room


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
        Among `decision`, `scores`, `worst`, `validity`, `similarity`, `columns`, `distances`,
        `proximity`, `accumulation`, `precision_recall`, `utility`, `membership`, `attacks`,
        `audit`, `disclosure`, `phik`, `further`, `univariate`, `bivariate`, `risks`, `appendix` and
        `sign_off`; all otherwise.
    progress : callable, optional
        Called as ``progress(section, n_done, n_total)`` when a section is drawn.

    See Also
    --------
    HTMLRenderer : One page, in a browser.
    FigureRenderer : Loose figures.

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
        with theme(), PdfPages(buffer, metadata={"CreationDate": None}) as pdf:
            for i, (names, page) in enumerate(draw_pages(content, self.title)):
                for name in names:
                    if name not in firsts:
                        firsts[name] = i
                        self._report(name, len(firsts), content)
                for left, top, right, bottom, target in page.links:
                    # PDF counts points from the lower left
                    ends = left, page.height - bottom, right, page.height - top
                    links.append((i, [end / MM for end in ends], target))
                save(page.figure, pdf, "pdf")
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


def draw_pages(plan: Plan, title: str) -> Iterator[tuple[list[str], Page]]:
    """Yield the sections and the drawn page, page by page.

    Parameters
    ----------
    plan : Plan
        What the report shows.
    title : str
        Of the report, for the first page and the foot of all.

    Yields
    ------
    names : list of str
        Of the sections that the page shows a part of.
    page : Page
        With `figure` and `links`.
    """
    numbers: dict[str, int] = {}  # of the page on which a section begins, known once all are placed
    pages = paged(_blocks(plan, title, numbers))
    for n, placed in enumerate(pages, start=1):
        for _, _, block in placed:
            numbers.setdefault(block.section, n)
    for placed, page in zip(pages, _drawn(pages, title), strict=True):
        yield list(dict.fromkeys(block.section for *_, block in placed)), page


def _drawn(pages: Sequence[Sequence[Placed]], title: str) -> Iterator[Page]:
    for n, placed in enumerate(pages, start=1):
        page = Page()
        page.draw(placed)
        page.footer(title, n, len(pages))
        yield page.complete()


def draw_decision_page(
    suite_result: SuiteResult, title: str = "Decision page", *, figure: Figure | None = None
) -> Figure:
    """Draw the first page of a report alone.

    Parameters
    ----------
    suite_result : SuiteResult
        Of any suite, live or from JSON.
    title : str, default="Decision page"
        Above it.
    figure : Figure, optional
        To draw on, as ``plt.figure()``; a new one otherwise.

    Returns
    -------
    Figure
        Of the size of the paper.

    Examples
    --------
    >>> from skeval import Result, SuiteResult
    >>> from skeval.reporting import draw_decision_page
    >>> draw_decision_page(SuiteResult({"a": Result(0.5)})).get_size_inches().round(1).tolist()
    [8.3, 11.7]
    """
    with theme():
        page, above = Page(figure), list(_lines(title, 20.0, after=4.0, weight="bold"))
        written = _on_one_page(DecisionPage.of(suite_result).parts(), above)
        page.draw(paged([*above, *written])[0])
    return page.complete().figure


def write_paper(path: Path, title: str, sizes: str, content: Iterable[Part | Item]) -> Path:
    """Write words, tables and figures of one panel as a PDF, from top to bottom.

    Parameters
    ----------
    path : Path
        Replaced only when the paper is complete.
    title, sizes : str
        Above it.
    content : iterable of parts and items
        In their order.
    """
    from matplotlib.backends.backend_pdf import PdfPages

    about = {"Title": title, "Author": "skeval", "CreationDate": None}
    with replacing(path) as temporary, theme(), PdfPages(temporary, metadata=about) as pdf:
        for page in _drawn(paged(_of_paper(title, sizes, content)), title):
            save(page.figure, pdf, "pdf")
    return path


def draw_paper(
    title: str, sizes: str, content: Iterable[Part | Item], figure: Figure | None = None
) -> Figure:
    """Draw the first page of what :func:`write_paper` writes."""
    with theme():
        page = Page(figure)
        page.draw(paged(_of_paper(title, sizes, content))[0])
    return page.complete().figure


def _of_paper(title: str, sizes: str, content: Iterable[Part | Item]) -> Iterator[Block]:
    yield from _lines(title, 20.0, after=2.0, weight="bold")
    yield from _lines(sizes, 9.0, after=3.0, color=GREY)
    for one in content:
        yield from FRONT.blocks([one]) if isinstance(one, Item) else _written([one])


def _blocks(plan: Plan, title: str, numbers: Mapping[str, int]) -> Iterator[Block]:
    """Yield all blocks of a report: each knows its section, and its heading on a new page."""
    titled = False
    for section in plan.sections:
        blocks = list(_of_section(section, plan, numbers))
        if section.name in ("decision", "scores") and not titled:
            titled = True
            above = [
                *_lines(title, 20.0, after=2.0, weight="bold"),
                *_lines(plan.sizes(), 9.0, after=3.0, color=GREY),
            ]
            if section.name == "decision":
                blocks = _on_one_page(section.parts, above)
            blocks = [*above, *blocks]
        for block in blocks:
            head = block.head and replace(block.head, section=section.key)
            yield replace(block, section=section.key, head=head)


def _of_section(section: Section, plan: Plan, numbers: Mapping[str, int]) -> Iterator[Block]:
    if section.name == "decision":
        yield from _written(section.parts)
    elif section.name == "scores":
        if len(plan.sections) > 1:
            yield _contents(plan, numbers)
        if not any(one.name == "decision" for one in plan.sections):
            yield from _lines(summary(plan.suite_result), 9.5, after=4.0)
        yield _heading(section, 0.0)
        yield from _lines(HOW_TO_READ, 8.0, after=4.0, color=GREY)
        yield from score_blocks(plan.suite_result)
        yield from _written((Listed("Left out", tuple(plan.reasons())),))
        yield from _written((Listed("Warnings", tuple(plan.warnings())),))
    else:
        yield _heading(section, 1.5)
        head = _heading(section, 0.0, continued=True)
        for block in (*_written(section.parts), *section.layout.blocks(section.items)):
            yield block if block.head else replace(block, head=head)


def _heading(section: Section, after: float, *, continued: bool = False) -> Block:
    """Return a section's title, what it shows and which colour is which table."""
    again = " (continued)" if continued else ""
    intro = "" if continued or section.name == "scores" else section.intro
    roles = _roles(section)
    below = 8.5 + paragraph_height(intro, WIDTH, 8.0)
    above = 0.0 if continued else 3.0

    def draw(page: Page, y: float, height: float) -> None:
        top = y + above if y > TOP + 1.0 else y
        page.fitted(MARGIN, top + 5.0, section.heading + again, WIDTH, 13.0, weight="bold")
        page.paragraph(MARGIN, top + 8.5, intro, WIDTH, 8.0, color=GREY)
        if roles:
            legend(page, top + below + 1.0, roles)

    height = above + below + (8.0 if roles else 0.0) + after
    return Block(height, draw, keeps=not continued)


def _roles(section: Section) -> list[str]:
    """Return the tables that the figures of a section draw, if it says once which is which."""
    if not section.layout.legend or not section.items:
        return []
    columns = section.items[0].display.frame().columns
    return [role for role in COLOURS if role in columns]


def _on_one_page(parts: Sequence[Part], above: Sequence[Block]) -> list[Block]:
    """Return the blocks of parts below others, made to fit where there is much to say.

    The rows of tables move closer; then the last table loses rows without an alarm, the last
    first, which stand among the scores as well.
    """
    parts, closer = list(parts), 0.0
    while True:
        blocks = list(_written(parts, closer=closer))
        over = sum(block.height for block in (*above, *blocks)) - (Page.floor - TOP)
        last = parts[-1] if parts else None
        if over <= 0.0 or not isinstance(last, Grid):
            return blocks
        if closer == 0.0:
            n_rows = sum(len(part.rows) for part in parts if isinstance(part, Grid))
            closer = min(over / n_rows + 0.01, _PADDING - _LEAST_PADDING)
            continue
        calm = [i for i in range(len(last.rows)) if i not in last.alarms]
        if not calm:
            return blocks
        rows = tuple(row for i, row in enumerate(last.rows) if i != calm[-1])
        parts[-1] = replace(last, rows=rows, alarms=tuple(i - (i > calm[-1]) for i in last.alarms))


def _written(parts: Iterable[Part], *, closer: float = 0.0) -> Iterator[Block]:
    """Yield the blocks of words, lists, tables and forms."""
    for part in parts:
        if isinstance(part, Words):
            size, style = _STYLES[part.style]
            yield from _lines(part.text, size, after=3.0, **style)
        elif isinstance(part, Listed):
            yield from _listed(part.title, part.texts)
        elif isinstance(part, Grid):
            yield from _grid(part, closer)
        else:
            yield _form(part)


_STYLES: dict[str, tuple[float, dict[str, Any]]] = {
    "": (8.5, {}),
    "quiet": (8.0, {"color": GREY}),
    "lead": (9.5, {}),
    "alarm": (9.0, {"color": ALARM, "weight": "bold"}),
}


def _lines(text: str, size: float, *, after: float, **style: Any) -> Iterator[Block]:
    """Yield one block a line, so that a long text may run over to the next page."""
    lines = wrap(text, WIDTH / MM, size, style.get("weight") == "bold")
    for left, line in zip(reversed(range(len(lines))), lines, strict=True):
        height = size * LEADING * MM + (0.0 if left else after)
        yield Block(height, partial(_line, line, size, style))


def _line(
    line: str, size: float, style: Mapping[str, Any], page: Page, y: float, height: float = 0.0
) -> None:
    page.text(MARGIN, y + 0.78 * size * LEADING * MM, line, size, **style)


def _listed(title: str, texts: Sequence[str]) -> Iterator[Block]:
    """Yield a heading with the first text, then the other texts."""
    for i, text in enumerate(texts):
        height = paragraph_height(text, WIDTH - 4.0, _LISTED) + 1.2
        above = 9.0 if i == 0 else 0.0
        yield Block(above + height, partial(_bullet, text, title if i == 0 else "", above))


def _bullet(text: str, title: str, above: float, page: Page, y: float, height: float) -> None:
    if title:
        page.text(MARGIN, y + 6.5, title, 10.0, weight="bold")
    _line("\N{EN DASH}", _LISTED, {"color": GREY}, page, y + above)
    page.paragraph(MARGIN + 4.0, y + above, text, WIDTH - 4.0, _LISTED)


def _grid(grid: Grid, closer: float) -> Iterator[Block]:
    """Yield the rows of a table, the names of its columns before the first and on new pages."""
    lefts = [sum(grid.widths[:i]) * WIDTH for i in range(len(grid.widths))]
    rooms = [width * WIDTH - 3.0 for width in grid.widths]
    head = Block(7.5, partial(_grid_head, grid, lefts, rooms)) if grid.heads else None
    if grid.title:
        yield Block(8.5, partial(_grid_title, grid.title), keeps=True)
    if head is not None:
        yield replace(head, keeps=True)
    for i, row in enumerate(grid.rows):
        heights = [
            len(_cell_lines(text, rooms[k], k in grid.bold)) * _CELL * LEADING * MM
            for k, text in enumerate(row)
            if k not in grid.numbers
        ]
        draw = partial(_grid_row, grid, row, lefts, rooms, i in grid.alarms)
        yield Block(max(heights) + _PADDING - closer, draw, head=head)


def _grid_title(title: str, page: Page, y: float, height: float) -> None:
    page.text(MARGIN, y + 6.5, title, 10.0, weight="bold")


def _grid_head(
    grid: Grid, lefts: Sequence[float], rooms: Sequence[float], page: Page, y: float, height: float
) -> None:
    for k, text in enumerate(grid.heads):
        right = k in grid.numbers
        x = MARGIN + lefts[k] + (rooms[k] if right else 0.0)
        style: dict[str, Any] = {
            "ha": "right" if right else "left",
            "color": GREY,
            "weight": "bold",
        }
        page.fitted(x, y + 4.5, text, rooms[k], 7.0, least=5.5, **style)
    page.rule(y + 6.3, color=GREY)


def _grid_row(
    grid: Grid,
    row: Sequence[str],
    lefts: Sequence[float],
    rooms: Sequence[float],
    alarm: bool,
    page: Page,
    y: float,
    height: float,
) -> None:
    leading = _CELL * LEADING * MM
    for k, text in enumerate(row):
        top = y + 0.4
        if k in grid.numbers:
            right = MARGIN + lefts[k] + rooms[k]
            page.fitted(right, top + 0.78 * leading, text, rooms[k], _CELL, least=0.0, ha="right")
            continue
        for n, piece in _cell_lines(text, rooms[k], k in grid.bold):
            style: dict[str, Any] = {"color": ALARM} if alarm and _is_said(grid, k, n) else {}
            if k in grid.bold and n == 0:
                style["weight"] = "bold"
            elif n > 0 and not style:
                style["color"] = GREY
            x, base = MARGIN + lefts[k], top + 0.78 * leading
            page.text(x, base, piece, _CELL, **style)
            top += leading
    page.rule(y + height - 0.6)


def _cell_lines(text: str, room: float, bold: bool) -> list[tuple[int, str]]:
    """Return the lines of a cell, each with the number of the line of the text that it is of."""
    return [
        (n, piece)
        for n, line in enumerate(text.split("\n"))
        for piece in wrap(line, room / MM, _CELL, bold and n == 0)
    ]


def _is_said(grid: Grid, k: int, n: int) -> bool:
    """Tell whether a cell of an alarmed row is red: the verdict, last or below the name."""
    return (k, n) == ((len(grid.widths) - 1, 0) if grid.heads else (0, 1))


def _form(form: Form) -> Block:
    """Return boxes to be filled in by hand."""
    tall = 17.0

    def draw(page: Page, y: float, height: float) -> None:
        page.text(MARGIN, y + 6.5, form.title, 10.0, weight="bold")
        top = y + 9.0
        for row in form.fields:
            wide = WIDTH / len(row)
            for k, name in enumerate(row):
                left = MARGIN + k * wide
                right = left + wide
                for rule_y in (top, top + tall):
                    page.rule(rule_y, left, right, color=GREY)
                for x in (left, right):
                    page.line((x, top), (x, top + tall), color=GREY)
                page.text(left + 2.0, top + 4.0, name, 7.0, color=GREY)
            top += tall

    return Block(12.0 + tall * len(form.fields), draw)


def _contents(plan: Plan, numbers: Mapping[str, int]) -> Block:
    """Return the list of sections in two columns; their places are kept as links."""
    sections = plan.sections
    n_rows = math.ceil(len(sections) / 2)
    pitch, column = 5.2, WIDTH / 2.0

    def draw(page: Page, y: float, height: float) -> None:
        page.text(MARGIN, y + 3.5, "Contents", 10.0, weight="bold")
        for i, section in enumerate(sections):
            x, base = MARGIN + (i // n_rows) * (column + 4.0), y + 9.5 + (i % n_rows) * pitch
            right = x + column - 8.0
            page.fitted(x, base, section.heading, right - x - 8.0, 8.5)
            page.text(right, base, str(numbers.get(section.key, "")), 8.5, ha="right", color=GREY)
            page.rule(base + 1.4, x, right)
            page.links.append((x, base - 3.5, right, base + 1.4, section.key))

    return Block(8.0 + n_rows * pitch + 4.0, draw)
