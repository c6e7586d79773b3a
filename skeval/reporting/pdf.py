"""A report on paper: pages by matplotlib, outline, links and labels by pypdf."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING, Any

from skeval.reporting._renderers import FileRenderer
from skeval.reporting.page import MM, Page
from skeval.reporting.pages import draw_pages
from skeval.reporting.sections import Plan
from skeval.reporting.theme import theme

if TYPE_CHECKING:
    from pypdf import PdfWriter

__all__ = ["PDFRenderer"]

Link = tuple[int, tuple[float, float, float, float], str]


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
        Among `scores`, `similarity`, `columns`, `distances`, `proximity`, `phik`, `univariate`,
        `bivariate`; all otherwise.
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
            writer.add_outline_item(title=section.title, page_number=firsts[section.key])
        for page_number, box, key in links:
            _link(writer, page_number, box, firsts[key])
        subject = "Evaluation of synthetic data"
        writer.add_metadata({"/Title": self.title, "/Author": "skeval", "/Subject": subject})
        with file.open("wb") as opened:
            writer.write(opened)

    def _drawn(self, content: Plan) -> tuple[io.BytesIO, dict[str, int], list[Link]]:
        """Draw all pages; return them, where each section begins and the links to sections."""
        from matplotlib.backends.backend_pdf import PdfPages

        buffer, firsts, links = io.BytesIO(), dict[str, int](), list[Link]()
        with theme(), PdfPages(buffer, metadata={"CreationDate": None}) as pdf:
            for i, (key, page) in enumerate(draw_pages(content, self.title)):
                if key not in firsts:
                    self._tell_drawn(firsts, content)
                    firsts[key] = i
                links += [(i, _box(page, link[:4]), link[4]) for link in page.links]
                pdf.savefig(page.figure)
            self._tell_drawn(firsts, content)
        return buffer, firsts, links

    def _tell_drawn(self, done: dict[str, int], content: Plan) -> None:
        if done:
            self._tell(list(done)[-1], len(done), content)


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
