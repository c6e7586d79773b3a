"""A report on paper: pages by matplotlib, outline, links and labels by pypdf."""

from __future__ import annotations

import io
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from skeval.reporting.comparison import comparison_plan
from skeval.reporting.displays.values import scale_of, strip
from skeval.reporting.figures import FileRenderer, save
from skeval.reporting.layout import (
    HALF,
    LEADING,
    MARGIN,
    MM,
    TOP,
    WIDTH,
    Block,
    Facts,
    Form,
    Grid,
    Listed,
    OnScale,
    Page,
    Part,
    Placed,
    Scores,
    Words,
    legend,
    paragraph_height,
)
from skeval.reporting.pages import paged
from skeval.reporting.score_rows import score_blocks
from skeval.reporting.sections import Plan, Section, plan
from skeval.reporting.structure import Element
from skeval.reporting.style import ALARM, COLOURS, GREY, LABELS, drawable, text_width, theme, wrap
from skeval.reporting.tagged import link, tag
from skeval.results.suite_result import SuiteResult

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from skeval.results.comparison import Comparison


Link = tuple[int, Sequence[float], str, Element]  # page, place on it, name of the section, text

_LISTED, _ENTRY = 8.0, 7.0  # sizes of letters in lists and in entries
_LEAST_LEADING = 1.24  # of lines on a page that has much to say
_PADDING, _LEAST_PADDING = 2.0, 1.1  # of the rows of tables, and where they need room


class PDFRenderer(FileRenderer):
    """Writes a suite's results as a PDF of A4 pages: searchable, linked, with an outline.

    Two runs on the same results give the same bytes, and so does a report of results that were read
    back from JSON.

    Parameters
    ----------
    title : str, default="Synthetic data report"
        On the first page and at the foot of all; by default that of the release, if it is stated.
    columns : ReportColumns, optional
        Its `univ` and `biv` choose the columns that are drawn; all that the results hold otherwise.
    sections : iterable of str, optional
        Among `decision`, `scores`, `worst`, `validity`, `similarity`, `columns`, `distances`,
        `proximity`, `accumulation`, `precision_recall`, `utility`, `membership`, `attacks`,
        `audit`, `disclosure`, `phik`, `further`, `univariate`, `bivariate`, `risks`, `appendix` and
        `sign_off`; all otherwise.
    progress : callable, optional
        Called as ``progress(section, n_done, n_total)`` when a section is drawn.
    short : bool, default=False
        Whether only the decision, the scores, the columns to mend and the provenance with the
        sign-off are shown, where `sections` does not choose others.

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

        drawn, firsts, links, root, owners = self._drawn(content)
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
        tree = tag(writer, root, owners)
        titles = {section.key: section.heading for section in content.sections}
        for page_number, box, name, element in links:
            annotation = link(writer, page_number, box, firsts[name], titles[name])
            tree.link(annotation, element, page_number)
        tree.close()
        subject = "Evaluation of synthetic data"
        writer.add_metadata({"/Title": content.title, "/Author": "skeval", "/Subject": subject})
        with file.open("wb") as opened:
            writer.write(opened)

    def _drawn(
        self, content: Plan
    ) -> tuple[io.BytesIO, dict[str, int], list[Link], Element, list[list[Element]]]:
        """Draw all pages; return them, where sections begin, the links to them and what is what."""
        from matplotlib.backends.backend_pdf import PdfPages

        buffer, firsts, links = io.BytesIO(), dict[str, int](), list[Link]()
        root, owners = Element("Document"), list[list[Element]]()
        with theme(), PdfPages(buffer, metadata={"CreationDate": None}) as pdf:
            for i, (names, page) in enumerate(draw_pages(content, content.title, root)):
                for name in names:
                    if name not in firsts:
                        firsts[name] = i
                        self._report(name, len(firsts), content)
                owners.append(page.owners)
                for left, top, right, bottom, target, element in page.links:
                    # PDF counts points from the lower left
                    ends = left, page.height - bottom, right, page.height - top
                    links.append((i, [end / MM for end in ends], target, element))
                save(page.figure, pdf, "pdf")
        buffer.seek(0)
        return buffer, firsts, links, root, owners


def draw_pages(
    plan: Plan, title: str, root: Element | None = None
) -> Iterator[tuple[list[str], Page]]:
    """Yield the sections and the drawn page, page by page.

    Parameters
    ----------
    plan : Plan
        What the report shows.
    title : str
        The title of the report, for the first page and the foot of all.
    root : Element, optional
        The document, which gets an element for each text and figure; none are marked otherwise.

    Yields
    ------
    names : list of str
        The names of the sections that the page shows a part of.
    page : Page
        With `figure` and `links`.
    """
    numbers: dict[str, int] = {}  # of the page on which a section begins, known once all are placed
    pages = paged(_blocks(plan, title, numbers))
    for n, placed in enumerate(pages, start=1):
        for _, _, block in placed:
            numbers.setdefault(block.section, n)
    for placed, page in zip(pages, _drawn(pages, title, root), strict=True):
        yield list(dict.fromkeys(block.section for *_, block in placed)), page


def _drawn(pages: Sequence[Sequence[Placed]], title: str, root: Element | None) -> Iterator[Page]:
    for n, placed in enumerate(pages, start=1):
        page = Page(root=root, number=n - 1)
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
        The results of any suite, live or from JSON.
    title : str, default="Decision page"
        Above it.
    figure : Figure, optional
        To draw on, as ``plt.figure()``; a new one otherwise.

    Returns
    -------
    Figure
        A figure of the size of the paper.

    Examples
    --------
    >>> from skeval import Result, SuiteResult
    >>> from skeval.reporting import draw_decision_page
    >>> draw_decision_page(SuiteResult({"a": Result(0.5)})).get_size_inches().round(1).tolist()
    [8.3, 11.7]
    """
    return _first_page(plan(suite_result, sections=["decision"]), title, figure)


def draw_comparison_page(
    comparison: Comparison, title: str = "Which table", *, figure: Figure | None = None
) -> Figure:
    """Draw the first page of a report of several synthetic tables: which one to take, and why.

    Parameters
    ----------
    comparison : Comparison
        As :meth:`skeval.MetricSuite.compare` returns it.
    title : str, default="Which table"
        Above it.
    figure : Figure, optional
        To draw on, as ``plt.figure()``; a new one otherwise.

    Returns
    -------
    Figure
        A figure of the size of the paper.

    See Also
    --------
    draw_decision_page : That of one table.

    Examples
    --------
    >>> from skeval import MetricSuite
    >>> from skeval.datasets import make_mixed
    >>> from skeval.fidelity import KSComplement
    >>> from skeval.reporting import draw_comparison_page
    >>> train, holdout, a, b = (make_mixed(100, random_state=seed) for seed in range(4))
    >>> suite = MetricSuite([("ks", KSComplement())]).fit(train, holdout)
    >>> draw_comparison_page(suite.compare({"a": a, "b": b})).get_size_inches().round(1).tolist()
    [8.3, 11.7]
    """
    return _first_page(comparison_plan(comparison, ["choice"]), title, figure)


def draw_plan_page(content: Plan, title: str, figure: Figure | None = None) -> Figure:
    """Draw the first page of what is planned."""
    return _first_page(content, title, figure)


def _first_page(content: Plan, title: str, figure: Figure | None) -> Figure:
    with theme():
        page = Page(figure)
        page.draw(paged(_blocks(content, title, {}))[0])
    return page.complete().figure


def _blocks(plan: Plan, title: str, numbers: Mapping[str, int]) -> Iterator[Block]:
    """Yield all blocks of a report: each knows its section, and its heading on a new page."""
    above = [
        *_lines(title, 20.0, after=2.0, tag="H1", weight="bold"),
        *_lines(plan.sizes, 9.0, after=3.0, color=GREY),
        *_lines(plan.lead, 9.5, after=4.0),
    ]
    for i, section in enumerate(plan.sections):
        blocks = list((_front if section.front else _headed)(section, above))
        if section is plan.listed:
            blocks.insert(0, _contents(plan, numbers))
        for block in [*above, *blocks] if i == 0 else blocks:
            head = block.head and replace(block.head, section=section.key)
            yield replace(block, section=section.key, head=head)


def _front(section: Section, above: Sequence[Block]) -> Iterator[Block]:
    yield from _on_one_page(section.parts, above)
    yield from section.layout.blocks(section.items)


def _headed(section: Section, above: Sequence[Block]) -> Iterator[Block]:
    layout = section.layout
    half, wide = layout.narrow, HALF if layout.narrow else WIDTH
    yield replace(_heading(section, 1.5, wide), half=half, begins=half)
    head = replace(_heading(section, 0.0, wide, continued=True), half=half)
    for block in _written(section.parts, replace(_FACE, wide=wide)):
        own = block.head and replace(block.head, half=half)
        yield replace(block, head=own or head, half=half or block.half)
    for block in layout.blocks(section.items):
        yield replace(block, head=head, half=layout.half, begins=layout.across)


def _heading(section: Section, after: float, wide: float, *, continued: bool = False) -> Block:
    """Return a section's title, what it shows and which colour is which table."""
    again = " (continued)" if continued else ""
    intro = "" if continued else section.intro
    roles = _roles(section)
    below = 8.5 + paragraph_height(intro, wide, 8.0)
    above = 0.0 if continued else 3.0

    def draw(page: Page, y: float, height: float) -> None:
        top = y + above if y > TOP + 1.0 else y
        size = 13.0 if wide == WIDTH else 11.0
        with page.inside(None if continued else Element("H2")):
            page.fitted(MARGIN, top + 5.0, section.heading + again, wide, size, weight="bold")
        with page.inside(Element("P")):
            page.paragraph(MARGIN, top + 8.5, intro, wide, 8.0, color=GREY)
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

    The rows of tables move closer. Then a table loses spare rows, which stand among the scores too.
    At last lines move closer.
    """
    parts, closer, leading = list(parts), 0.0, LEADING
    while True:
        face = replace(_FIRST_FACE, closer=closer, leading=leading)
        blocks = [block for part in parts for block in (*_written([part], face), _gap(part))]
        over = sum(block.height for block in (*above, *blocks)) - (Page.floor - TOP)
        n_rows = sum(len(part.rows) for part in parts if isinstance(part, Grid))
        if over <= 0.0:
            return blocks
        if closer == 0.0 < n_rows:
            closer = min(over / n_rows + 0.01, _PADDING - _LEAST_PADDING)
            continue
        fewer = [part.shorter() if isinstance(part, Grid) else part for part in parts]
        if fewer == parts and leading == _LEAST_LEADING:
            return blocks
        parts, leading = fewer, _LEAST_LEADING if fewer == parts else leading


def _gap(part: Part) -> Block:
    """Return the room below a part: what follows a table may have no heading."""
    return Block(2.0 if isinstance(part, Grid | Facts) else 0.0, lambda page, y, height: None)


@dataclass(frozen=True)
class _Face:
    """How words and tables are set: in which width, in letters of which sizes.

    `least` is the size down to which a line that does not fit is made smaller; `closer` by how much
    rows of tables are lower; `leading` is the distance of lines by the size of letters.
    """

    wide: float = WIDTH
    cell: float = 7.5
    head: float = 7.0
    least: float = 6.5
    closer: float = 0.0
    leading: float = LEADING

    @property
    def gap(self) -> float:
        """Between the columns of a table."""
        return 1.6 if self.cell == self.least else 3.0 if self.wide == WIDTH else 2.0


_FACE, _FIRST_FACE = _Face(), _Face(cell=8.0, head=8.0, least=8.0)  # on page 1 nothing is smaller


def _written(parts: Iterable[Part], face: _Face = _FACE) -> Iterator[Block]:
    """Yield the blocks of words, lists, tables and forms."""
    for part in parts:
        if isinstance(part, Words):
            size, style = _STYLES[part.style]
            yield from _lines(
                part.text, size, after=3.0 - 2.0 * face.closer, wide=face.wide, **style
            )
        elif isinstance(part, Listed):
            yield from _listed(part.title, part.texts, face)
        elif isinstance(part, Grid) and part.flows:
            yield from _flowing(part, face)
        elif isinstance(part, Grid | Facts):
            yield from _grid(part.grid if isinstance(part, Facts) else part, face)
        elif isinstance(part, Scores):
            yield from score_blocks(part.results, brief=part.brief)
        else:
            yield _form(part)


_STYLES: dict[str, tuple[float, dict[str, Any]]] = {
    "": (8.5, {}),
    "quiet": (8.0, {"color": GREY}),
    "lead": (9.5, {}),
    "alarm": (9.0, {"color": ALARM, "weight": "bold"}),
}


def _lines(
    text: str, size: float, *, after: float, tag: str = "P", wide: float = WIDTH, **style: Any
) -> Iterator[Block]:
    """Yield one block a line, so that a long text may run over to the next page."""
    lines, element = wrap(text, wide / MM, size, style.get("weight") == "bold"), Element(tag)
    for left, line in zip(reversed(range(len(lines))), lines, strict=True):
        height = size * LEADING * MM + (0.0 if left else after)
        yield Block(height, partial(_line_of, element, line, size, style))


def _line_of(
    element: Element,
    line: str,
    size: float,
    style: Mapping[str, Any],
    page: Page,
    y: float,
    height: float,
) -> None:
    with page.inside(element):
        _line(line, size, style, page, y)


def _line(
    line: str,
    size: float,
    style: Mapping[str, Any],
    page: Page,
    y: float,
    height: float = 0.0,
    x: float = MARGIN,
) -> None:
    page.text(x, y + 0.78 * size * LEADING * MM, line, size, **style)


def _listed(title: str, texts: Sequence[str], face: _Face) -> Iterator[Block]:
    """Yield a heading with the first text, then the other texts."""
    element = Element("L")
    for i, text in enumerate(texts):
        height = (
            paragraph_height(text, face.wide - 4.0, _LISTED, face.leading)
            + 1.2
            - min(face.closer, 0.6)
        )
        above = 9.0 - 2.5 * face.closer if i == 0 else 0.0
        yield Block(
            above + height,
            partial(_bullet, element, text, title if i == 0 else "", above, face.leading),
        )


def _bullet(
    element: Element,
    text: str,
    title: str,
    above: float,
    leading: float,
    page: Page,
    y: float,
    height: float,
) -> None:
    if title:
        _title(title, page, y, base=above - 2.5)
    with page.inside(element), page.inside(Element("LI")):
        with page.inside(Element("Lbl")):
            _line("\N{EN DASH}", _LISTED, {"color": GREY}, page, y + above)
        with page.inside(Element("LBody")):
            page.paragraph(
                MARGIN + 4.0, y + above, text, page.inner - 4.0, _LISTED, leading=leading
            )


def _title(title: str, page: Page, y: float, height: float = 0.0, base: float = 6.5) -> None:
    with page.inside(Element("H3")):
        page.text(MARGIN, y + base, title, 10.0, weight="bold")


def _grid(grid: Grid, face: _Face) -> Iterator[Block]:
    """Yield the rows of a table, the names of its columns before the first and on new pages."""
    lefts = [sum(grid.widths[:i]) * face.wide for i in range(len(grid.widths))]
    rooms = [width * face.wide - face.gap for width in grid.widths]
    in_table, first = Element("Table"), Element("TR", heads="Column")
    draw_head = partial(_grid_head, in_table, first, grid, face, lefts, rooms)
    head = Block(7.5, draw_head) if grid.heads else None
    if grid.title:
        yield Block(8.5, partial(_title, grid.title), keeps=True)
    if head is not None:
        yield replace(head, keeps=True)
    for i, row in enumerate(grid.rows):
        cells = [_cell_lines(grid, k, text, rooms[k], face.cell) for k, text in enumerate(row)]
        height = max(map(len, cells)) * face.cell * face.leading * MM
        draw = partial(_grid_row, in_table, grid, face, i, cells, lefts, rooms)
        yield Block(height + _PADDING - face.closer, draw, head=head)


def _flowing(grid: Grid, face: _Face) -> Iterator[Block]:
    """Yield the rows of a table as entries in two columns: the first cell, then what it is."""
    if grid.title:
        yield Block(8.5, partial(_title, grid.title), keeps=True)
    in_table = Element("Table")
    for row in grid.rows:
        name, text = row[0], ", ".join(filter(None, row[1:]))
        lines = _run_in(name, text, HALF, _ENTRY)
        height = len(lines) * _ENTRY * LEADING * MM + 1.6
        draw = partial(_draw_entry, in_table, name, lines)
        yield Block(height, draw, half=True, begins=True)


def _run_in(name: str, text: str, room: float, size: float) -> list[str]:
    """Return the lines of a text that begins behind a name in bold letters, in the first line."""
    taken = text_width(name, size, True) + size
    if taken > 0.7 * room / MM:
        return ["", *wrap(text, room / MM, size)]
    words, first = drawable(text).split(), ""
    while words and text_width(f"{first} {words[0]}", size) <= room / MM - taken:
        first = f"{first} {words.pop(0)}".strip()
    return [first, *wrap(" ".join(words), room / MM, size)]


def _draw_entry(
    table: Element, name: str, lines: Sequence[str], page: Page, y: float, height: float = 0.0
) -> None:
    indent, row = (text_width(name, _ENTRY, True) + _ENTRY) * MM, Element("TR")
    with page.inside(table), page.inside(row):
        page.fitted(MARGIN, y + 0.78 * _ENTRY * LEADING * MM, name, HALF, _ENTRY, weight="bold")
        with page.inside(row.cell()):
            for k, line in enumerate(lines):
                x = MARGIN + (indent if k == 0 else 0.0)
                _line(line, _ENTRY, {}, page, y + k * _ENTRY * LEADING * MM, x=x)


def _grid_head(
    table: Element,
    row: Element,
    grid: Grid,
    face: _Face,
    lefts: Sequence[float],
    rooms: Sequence[float],
    page: Page,
    y: float,
    height: float,
) -> None:
    with page.inside(table), page.inside(row, once=True):
        _grid_heads(grid, face, lefts, rooms, page, y)
    page.rule(y + 6.3, color=GREY)


def _grid_heads(
    grid: Grid, face: _Face, lefts: Sequence[float], rooms: Sequence[float], page: Page, y: float
) -> None:
    for k, text in enumerate(grid.heads):
        right = k in grid.numbers
        x = MARGIN + lefts[k] + (rooms[k] if right else 0.0)
        style: dict[str, Any] = {
            "ha": "right" if right else "left",
            "color": GREY,
            "weight": "bold",
        }
        page.fitted(x, y + 4.5, text, rooms[k], face.head, least=face.least, **style)


def _grid_row(
    table: Element,
    grid: Grid,
    face: _Face,
    i: int,
    cells: Sequence[Sequence[tuple[int, str]]],
    lefts: Sequence[float],
    rooms: Sequence[float],
    page: Page,
    y: float,
    height: float,
) -> None:
    row = Element("TR")
    with page.inside(table), page.inside(row):
        for k, lines in enumerate(cells):
            if isinstance(drawn := grid.rows[i][k], OnScale):
                row.cell()
                _strip(
                    drawn, page, lefts[k], rooms[k], y + 0.4 + 0.5 * face.cell * face.leading * MM
                )
                continue
            with page.inside(row.cell()):
                _grid_cell(grid, face, i, k, lines, lefts, rooms, page, y)
    page.rule(y + height - 0.6)


def _strip(drawn: OnScale, page: Page, left: float, room: float, y: float) -> None:
    low, high = scale_of(drawn.result)
    start, wide = MARGIN + left + page.shift + 1.0, room - 2.0

    def place(x: Any) -> Any:
        return start + (x - low) / (high - low) * wide

    strip(page.canvas, y, place, drawn.result, 1.5, drawn.agreed)


def _grid_cell(
    grid: Grid,
    face: _Face,
    i: int,
    k: int,
    lines: Sequence[tuple[int, str]],
    lefts: Sequence[float],
    rooms: Sequence[float],
    page: Page,
    y: float,
) -> None:
    leading = face.cell * face.leading * MM
    labels = {(row, column): LABELS[kind] for row, column, kind in grid.labels}
    right = k in grid.numbers
    x = MARGIN + lefts[k] + (rooms[k] if right else 0.0)
    # what an alarm or a label marks stands first, or below the name
    marked = 1 if k in grid.bold else 0
    alarmed = marked if (i, k) in grid.alarms else None
    for j, (n, piece) in enumerate(lines):
        style: dict[str, Any] = {"ha": "right"} if right else {}
        if k in grid.bold and n == 0:
            style["weight"] = "bold"
        if n == alarmed or n > 0:
            style["color"] = ALARM if n == alarmed else GREY
        base = y + 0.4 + (j + 0.78) * leading
        if n == marked and (i, k) in labels:
            page.label(x, base, piece, face.cell, labels[i, k])
            continue
        page.fitted(x, base, piece, rooms[k], face.cell, least=0.0, **style)


def _cell_lines(grid: Grid, k: int, text: str, room: float, size: float) -> list[tuple[int, str]]:
    """Return the lines of a cell, each with the number of the line of the text that it is of."""
    first, *others = text.split("\n")
    room /= MM
    lines = [first] if k in grid.numbers else wrap(first, room, size, k in grid.bold)
    room -= 2.0 / MM if others and grid.labels else 0.0  # of the edges of a label
    strong = bool(grid.labels)
    below = [
        (n, piece) for n, line in enumerate(others, 1) for piece in wrap(line, room, size, strong)
    ]
    return [*((0, piece) for piece in lines), *below]


def _form(form: Form) -> Block:
    """Return boxes to be filled in by hand."""
    tall, above = 13.0, 9.0 if form.title else 2.0

    def draw(page: Page, y: float, height: float) -> None:
        if form.title:
            _title(form.title, page, y)
        top = y + above
        for row in form.fields:
            wide = WIDTH / len(row)
            for k, name in enumerate(row):
                left = MARGIN + k * wide
                right = left + wide
                for rule_y in (top, top + tall):
                    page.rule(rule_y, left, right, color=GREY)
                for x in (left, right):
                    page.line((x, top), (x, top + tall), color=GREY)
                with page.inside(Element("P")):
                    page.text(left + 2.0, top + 4.0, name, 7.0, color=GREY)
            top += tall

    return Block(above + 3.0 + tall * len(form.fields), draw)


def _contents(plan: Plan, numbers: Mapping[str, int]) -> Block:
    """Return the list of sections in two columns; their places are kept as links."""
    sections = plan.sections
    n_rows = math.ceil(len(sections) / 3)
    pitch, column = 4.8, WIDTH / 3.0

    def draw(page: Page, y: float, height: float) -> None:
        y += 4.0 if y > TOP + 1.0 else 0.0
        _title("Contents", page, y, base=3.5)
        listed = Element("L")
        for i, section in enumerate(sections):
            x, base = MARGIN + (i // n_rows) * column, y + 9.5 + (i % n_rows) * pitch
            right = x + column - 5.0 * (i // n_rows < 2)
            number, link = str(numbers.get(section.key, "")), Element("Link")
            with page.inside(listed), page.inside(Element("LI")), page.inside(link):
                page.fitted(x, base, section.heading, right - x - 8.0, 8.0, least=6.5)
                page.text(right, base, number, 8.0, ha="right", color=GREY)
            page.rule(base + 1.4, x, right)
            page.links.append((x, base - 3.5, right, base + 1.4, section.key, link))

    return Block(8.0 + n_rows * pitch + 8.0, draw)
