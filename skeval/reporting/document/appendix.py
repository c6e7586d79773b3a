"""The appendix: each column, pairs of columns, scores by column, and further figures."""

from __future__ import annotations

from typing import Literal

from skeval.reporting.document.blocks import Block, Headline, Page
from skeval.reporting.document.by_column import by_column_page
from skeval.reporting.document.each_column import each_column_page
from skeval.reporting.document.each_pair import each_pair_page
from skeval.reporting.document.figures import own_figures
from skeval.reporting.document.model_figures import precision_figures
from skeval.reporting.document.sentences import appendix as say
from skeval.reporting.document.spans import Text, compose
from skeval.results.suite_result import SuiteResult


def appendix_pages(
    results: SuiteResult, facts: tuple[Text, ...], columns: object, pairs: Literal["chosen", "all"]
) -> list[Page]:
    """Return the pages of the appendix; `columns` chooses by section, or by table and section."""
    tables = tables_of(results)
    facts = (*facts, compose("Appendix"))
    pages = (
        each_column_page(tables, facts, columns),
        each_pair_page(tables, facts, columns, pairs),
        by_column_page(tables, facts, columns),
        _figures_page(results, facts),
    )
    return [page for page in pages if page is not None]


def tables_of(results: SuiteResult) -> dict[str, SuiteResult]:
    """Return the results of each table; those of a single table have no name."""
    names = dict.fromkeys(result.table for result in results.values())
    return {
        table: SuiteResult({name: r for name, r in results.items() if r.table == table})
        for table in names
    }


def _figures_page(results: SuiteResult, facts: tuple[Text, ...]) -> Page | None:
    blocks: list[Block] = [*precision_figures(results), *own_figures(results)]
    if not blocks:
        return None
    head = Headline("headline", None, say.figures_title(), (), facts)
    return Page("figures", "Appendix: figures", (head, *blocks))
