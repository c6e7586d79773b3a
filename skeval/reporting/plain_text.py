"""Blocks of a document as plain text, such as the headline and tables."""

from __future__ import annotations

from collections.abc import Iterator

from skeval.reporting.document.blocks import Cell, Document, Headline, Table
from skeval.reporting.document.report import make_document
from skeval.reporting.document.score_table import score_table
from skeval.reporting.document.shortening import shorten_names
from skeval.reporting.document.spans import plain
from skeval.results.suite_result import SuiteResult

_MAX_NAME = 30  # letters, so that a line of scores has at most 80
_GAP = "  "


def headline_sentences(results: SuiteResult) -> tuple[str, str]:
    """Return the headline of the first page, and the sentences below it."""
    headline = _headline_of(make_document(results, is_short=True))
    return plain(headline.title), plain(headline.deck)


def _headline_of(document: Document) -> Headline:
    blocks = document.pages[0].blocks
    return next(block for block in blocks if isinstance(block, Headline))


def suite_text(results: SuiteResult) -> str:
    """Return the scores as a table for a terminal, in which long names are shortened."""
    return "\n".join(table_lines(shorten_names(score_table(results), _MAX_NAME)))


def table_lines(table: Table) -> Iterator[str]:
    """Yield the head and the rows of a table. Columns are as wide as their cells."""
    rows = [tuple(map(cell_text, row)) for _, group in table.groups for row in group]
    columns = list(zip(table.heads, *rows, strict=True))
    widths = [max(map(len, column)) for column in columns]
    for row in (table.heads, *rows):
        cells = [
            text.rjust(width) if aligned == "right" else text.ljust(width)
            for text, width, aligned in zip(row, widths, table.aligned, strict=True)
        ]
        yield _GAP.join(cells).rstrip()


def cell_text(cell: Cell) -> str:
    """Return the text of a cell, with the shape of its outcome in front."""
    text = plain(cell.text)
    return f"{cell.outcome.mark} {text}" if cell.outcome is not None else text
