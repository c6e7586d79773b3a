"""Paper that is filled from top to bottom: headings, paragraphs, tables of text, a figure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from skeval.files import replacing
from skeval.reporting.displays.base import Display
from skeval.reporting.layout import LEADING, MARGIN, MM, TOP, Page
from skeval.reporting.text import wrap
from skeval.reporting.theme import GREY, theme

if TYPE_CHECKING:
    from collections.abc import Iterable

_SIZE = 7.5
_GAP = 3.0  # between the columns of a table, in millimetres


class TextTable(NamedTuple):
    """A table of texts: its title, the names of its columns, and their shares of the width."""

    title: str
    heads: tuple[str, ...]
    widths: tuple[float, ...]
    rows: Sequence[tuple[str, ...]]


class Sheets:
    """Pages that grow by what is written on them, from top to bottom.

    Attributes
    ----------
    pages : list of Page
        Those that are begun; they lack their footers.
    """

    def __init__(self) -> None:
        self.pages: list[Page] = []
        self._y = 0.0

    def heading(self, text: str, size: float = 13.0) -> None:
        """Write a heading that stays with what follows."""
        self._room(2.5 * size * MM + 14.0)
        self.paragraph(text, size, after=1.5, weight="bold")

    def paragraph(self, text: str, size: float = 8.0, *, after: float = 2.5, **style: Any) -> None:
        """Write wrapped lines, which may run over to the next page."""
        height = size * LEADING * MM
        for line in wrap(text, self._width / MM, size, style.get("weight") == "bold"):
            page = self._room(height)
            page.text(MARGIN, self._y + 0.78 * height, line, size, **style)
            self._y += height
        self._y += after

    def table(self, table: TextTable) -> None:
        """Write a table, its header again on each page."""
        if table.title:
            self.heading(table.title, 9.5)
        lefts, widths = self._columns(table.widths)
        self._head(table.heads, lefts, widths)
        for row in table.rows:
            parts = [
                wrap(text, width / MM, _SIZE, i == 0)
                for i, (text, width) in enumerate(zip(row, widths, strict=True))
            ]
            leading = _SIZE * LEADING * MM
            height = leading * max(map(len, parts)) + 1.6
            if self._y + height > self.pages[-1].floor:
                self._room(height)
                self._head(table.heads, lefts, widths)
            for i, (lines, left) in enumerate(zip(parts, lefts, strict=True)):
                style = {"weight": "bold"} if i == 0 else {}
                for k, line in enumerate(lines):
                    self.pages[-1].text(left, self._y + (k + 0.9) * leading, line, _SIZE, **style)
            self._y += height
            self.pages[-1].rule(self._y)
        self._y += 4.0

    def figure(self, display: Display, width: float, height: float) -> None:
        """Draw a figure of one panel, in millimetres."""
        page = self._room(height + 4.0)
        display.draw([page.axes(MARGIN + 14.0, self._y + 2.0, width, height - 14.0)])
        self._y += height + 4.0

    def write(self, path: Path, title: str, metadata: dict[str, Any]) -> Path:
        """Write the pages to a file, which is replaced only when the new one is complete."""
        from matplotlib.backends.backend_pdf import PdfPages

        with replacing(path) as temporary, theme(), PdfPages(temporary, metadata=metadata) as pdf:
            for n, page in enumerate(self.pages, start=1):
                page.footer(title, n, len(self.pages))
                pdf.savefig(page.figure)
        return path

    @property
    def _width(self) -> float:
        return (self.pages or [Page()])[-1].inner

    def _columns(self, shares: Iterable[float]) -> tuple[list[float], list[float]]:
        widths = [share * self._width for share in shares]
        lefts = [MARGIN + sum(widths[:i]) for i in range(len(widths))]
        return lefts, [width - _GAP for width in widths]

    def _room(self, height: float) -> Page:
        """Return the page that has room for so many millimetres, a new one if need be."""
        if not self.pages or self._y + height > self.pages[-1].floor:
            self.pages.append(Page())
            self._y = TOP
        return self.pages[-1]

    def _head(self, heads: Sequence[str], lefts: list[float], widths: list[float]) -> None:
        page = self._room(14.0)
        if any(heads):
            for text, left, width in zip(heads, lefts, widths, strict=True):
                page.fitted(
                    left, self._y + 4.0, text, width, 7.0, least=5.0, weight="bold", color=GREY
                )
            self._y += 5.5
        page.rule(self._y, color=GREY)
        self._y += 0.6


def sheets_of(tables: Iterable[TextTable], title: str, intro: str) -> Iterator[Page]:
    """Yield pages of tables of text under a title; without a table there is none."""
    shown = list(tables)
    if shown:
        sheets = Sheets()
        sheets.heading(title)
        sheets.paragraph(intro, 8.0, after=4.0, color=GREY)
        for table in shown:
            sheets.table(table)
        yield from sheets.pages
