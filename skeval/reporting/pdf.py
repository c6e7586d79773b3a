"""A report on paper: pages by matplotlib, outline, links and labels by pypdf."""

from __future__ import annotations

import io
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from skeval.reporting.comparison import comparison_plan
from skeval.reporting.figures import FileRenderer, save
from skeval.reporting.filling import undrawn
from skeval.reporting.layout import (
    HALF,
    MARGIN,
    MM,
    TOP,
    WIDTH,
    Block,
    Page,
    Placed,
    legend,
    paragraph_height,
)
from skeval.reporting.pages import paged
from skeval.reporting.sections import Plan, Section, plan
from skeval.reporting.structure import Element
from skeval.reporting.style import COLOURS, GREY, theme
from skeval.reporting.tagged import link, tag
from skeval.reporting.written import FACE, line_blocks, on_one_page, write_title, written
from skeval.results.suite_result import SuiteResult

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from skeval.results.comparison import Comparison


Link = tuple[int, Sequence[float], str, Element]  # page, place on it, name of the section, text


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
    hashes : bool, default=True
        Whether the hashes of the real tables are among the provenance; see
        :class:`~skeval.results.Provenance` on what they show.

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

        content = drawn_once(content)
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


def drawn_once(content: Plan) -> Plan:
    """Return the plan in which a column among those to mend has no second histogram."""
    worst = {
        section.table: section.items for section in content.sections if section.name == "worst"
    }
    sections = []
    for section in content.sections:
        if section.name == "univariate" and section.table in worst:
            items, note = undrawn(section.items, worst[section.table])
            if not items:
                continue
            section = replace(section, items=items, intro=f"{section.intro} {note}".strip())
        sections.append(section)
    return replace(content, sections=tuple(sections))


def draw_pages(
    plan: Plan, title: str, root: Element | None = None
) -> Iterator[tuple[list[str], Page]]:
    """Yield the sections and the drawn page, page by page."""
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
        *line_blocks(title, 20.0, after=2.0, tag="H1", weight="bold"),
        *line_blocks(plan.sizes, 9.0, after=3.0, color=GREY),
        *line_blocks(plan.lead, 9.5, after=4.0),
    ]
    for i, section in enumerate(plan.sections):
        blocks = list((_front if section.front else _headed)(section, above))
        if section is plan.listed:
            blocks.insert(0, _contents(plan, numbers))
        for block in [*above, *blocks] if i == 0 else blocks:
            head = block.head and replace(block.head, section=section.key)
            yield replace(block, section=section.key, head=head)


def _front(section: Section, above: Sequence[Block]) -> Iterator[Block]:
    yield from on_one_page(section.parts, above)
    yield from section.layout.blocks(section.items)


def _headed(section: Section, above: Sequence[Block]) -> Iterator[Block]:
    layout = section.layout
    half, wide = layout.narrow, HALF if layout.narrow else WIDTH
    yield replace(_heading(section, 1.5, wide), half=half, begins=half)
    head = replace(_heading(section, 0.0, wide, continued=True), half=half)
    for block in written(section.parts, replace(FACE, wide=wide)):
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


def _contents(plan: Plan, numbers: Mapping[str, int]) -> Block:
    """Return the list of sections in two columns; their places are kept as links."""
    sections = plan.sections
    n_rows = math.ceil(len(sections) / 3)
    pitch, column = 4.8, WIDTH / 3.0

    def draw(page: Page, y: float, height: float) -> None:
        y += 3.0 if y > TOP + 1.0 else 0.0
        write_title("Contents", page, y, base=3.5)
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

    return Block(8.0 + n_rows * pitch + 5.0, draw)
