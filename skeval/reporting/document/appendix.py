"""The appendix: each column, pairs of columns, and all that has no place before."""

from __future__ import annotations

from skeval.reporting.document.blocks import Page
from skeval.reporting.document.by_column import by_column_page
from skeval.reporting.document.chosen_columns import Columns
from skeval.reporting.document.each_column import each_column_page
from skeval.reporting.document.each_pair import each_pair_page
from skeval.reporting.document.findings import Findings
from skeval.reporting.document.spans import Text, compose
from skeval.reporting.document.tables import results_of_table


def appendix_pages(found: Findings, facts: tuple[Text, ...], columns: Columns) -> list[Page]:
    """Return the pages of the appendix; `columns` chooses by section, or by table and section."""
    names = dict.fromkeys(result.table for result in found.results.values())
    tables = {table: results_of_table(found.results, table) for table in names}
    facts = (*facts, compose("Appendix"))
    pages = (
        each_column_page(tables, facts, columns),
        each_pair_page(tables, facts, columns),
        by_column_page(tables, facts, columns),
    )
    return [page for page in pages if page is not None]
