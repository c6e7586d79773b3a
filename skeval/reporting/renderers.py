"""Reports as files: the document of results as a PDF, or as one HTML page."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from copy import copy
from pathlib import Path
from typing import TYPE_CHECKING

from skeval.reporting.document.compared_report import make_comparison_document
from skeval.reporting.document.report import make_document
from skeval.results.comparison import Comparison
from skeval.results.suite_result import SuiteResult
from skeval.utils.files import replacing

if TYPE_CHECKING:
    from skeval.reporting.document.blocks import Document
    from skeval.suites.report_columns import ReportColumns

Results = SuiteResult | Comparison


class Renderer(ABC):
    """Base of renderers: their settings, so that one can replace the other."""

    def __init__(
        self,
        *,
        title: str = "",
        columns: ReportColumns | Mapping[str, ReportColumns] | None = None,
        short: bool = False,
        hashes: bool = True,
    ) -> None:
        self.title = title
        self.columns = columns
        self.short = short
        self.hashes = hashes

    def render(self, results: Results, path: str | Path) -> Path:
        """Write the report of results to a file, which is replaced when it is complete."""
        path = Path(path)
        results = results if self.hashes else _without_hashes(results)
        content = self._set(self._document(results), results)
        with replacing(path) as temporary:
            temporary.write_bytes(content)
        return path

    def _document(self, results: Results) -> Document:
        if isinstance(results, Comparison):
            return make_comparison_document(results, title=self.title, is_short=self.short)
        return make_document(results, title=self.title, columns=self.columns, is_short=self.short)

    @abstractmethod
    def _set(self, document: Document, results: Results) -> bytes:
        """Return the content of the file."""


def _without_hashes(results: Results) -> Results:
    """Return results whose provenance does not state the hashes of the real tables."""
    if isinstance(results, Comparison):
        own = {name: without_hashes(one) for name, one in results.items()}
        return Comparison(own, results.differences)
    return without_hashes(results)


def without_hashes(results: SuiteResult) -> SuiteResult:
    """Return the results of one synthetic table without the hashes of the real tables."""
    shown = copy(results)
    if results.provenance is not None:
        shown.provenance = results.provenance.without_hashes()
    return shown


class PDFRenderer(Renderer):
    """Writes results as an accessible, archival PDF (PDF/UA-1, PDF/A-3a) with the results attached.

    The same results always give the same bytes, also after reading them back from JSON or from a
    report.

    Parameters
    ----------
    title : str, optional
        Title of the report. The default is the title in the release file, or "Synthetic data
        report" if there is none.
    columns : ReportColumns or mapping of str to ReportColumns, optional
        Columns and pairs that are drawn in the appendix (`univ`, `biv` and `pairs`). If there are
        several tables, a mapping from table name. By default, everything that the results contain
        is drawn.
    short : bool, default=False
        Whether the report has only the first page, all numbers and the provenance.
    hashes : bool, default=True
        Whether the report contains the hashes of the real tables. The documentation of
        :class:`~skeval.results.Provenance` describes the information in these hashes.

    See Also
    --------
    HTMLRenderer : One page for a browser.
    FigureRenderer : One file per figure.

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

    def _set(self, document: Document, results: Results) -> bytes:
        from skeval.reporting.typesetting.render import render_pdf

        # the settings are attached too, so that the report can be written again and compared
        return render_pdf(document, results, vars(self))


class HTMLRenderer(Renderer):
    """Writes results as one HTML page that loads nothing from anywhere.

    Parameters
    ----------
    title : str, optional
        Title of the report. The default is the title in the release file, or "Synthetic data
        report" if there is none.
    columns : ReportColumns or mapping of str to ReportColumns, optional
        Columns and pairs that are drawn in the appendix (`univ`, `biv` and `pairs`). If there are
        several tables, a mapping from table name. By default, everything that the results contain
        is drawn.
    short : bool, default=False
        Whether the report has only the first page, all numbers and the provenance.
    hashes : bool, default=True
        Whether the report contains the hashes of the real tables. The documentation of
        :class:`~skeval.results.Provenance` describes the information in these hashes.

    See Also
    --------
    PDFRenderer : Pages to print and to sign.
    FigureRenderer : One file per figure.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from skeval import Result, SuiteResult
    >>> from skeval.reporting import HTMLRenderer
    >>> result = SuiteResult({"a": Result(0.5)})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = HTMLRenderer().render(result, pathlib.Path(folder) / "a.html")
    ...     path.read_text(encoding="utf-8")[:15]
    '<!doctype html>'
    """

    def _set(self, document: Document, results: Results) -> bytes:
        from skeval.reporting.web.render import render_html

        return render_html(document).encode("utf-8")
