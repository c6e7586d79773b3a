"""The pages behind the first page, for one table or for several tables."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from skeval.reporting.document.attacks_page import attacks_page
from skeval.reporting.document.blocks import Block, Headline, Page
from skeval.reporting.document.columns_page import columns_page
from skeval.reporting.document.distances_page import distances_page
from skeval.reporting.document.findings import Findings, find_table
from skeval.reporting.document.pairs_page import pairs_page
from skeval.reporting.document.relations_page import relations_page
from skeval.reporting.document.spans import Span, Text, compose, name
from skeval.reporting.document.tables import names_of_tables
from skeval.reporting.document.texts_page import texts_page
from skeval.reporting.document.utility_page import utility_page

_DETAILS = (
    ("Privacy: attacks on records", attacks_page),
    ("Privacy: distances and copies", distances_page),
    ("Fidelity: columns", columns_page),
    ("Fidelity: pairs", pairs_page),
    ("Texts", texts_page),
    ("Tables and sequences", relations_page),
    ("Utility", utility_page),
)


def detail_pages(found: Findings, facts: tuple[Text, ...]) -> Iterator[Page]:
    """Yield the pages of one table, or first the common pages and then the pages of each table."""
    tables = names_of_tables(found.results)
    if not tables:
        yield from _pages(found, facts)
        return
    yield from _pages(find_table(found, ""), facts)
    for i, table in enumerate(tables, start=1):
        for page in _pages(find_table(found, table), (*facts, (name(table),))):
            yield _name_table(page, table, i)


def _pages(found: Findings, facts: tuple[Text, ...]) -> Iterator[Page]:
    for title, make_page in _DETAILS:
        if page := make_page(found, (*facts, compose(title))):
            yield page


def _name_table(page: Page, table: str, i: int) -> Page:
    """Return the page with the table in its name, its title and its headline."""
    blocks = tuple(_name_in_headline(block, table) for block in page.blocks)
    return Page(f"table{i}-{page.name}", f"{table}: {page.title}", blocks)


def _name_in_headline(block: Block, table: str) -> Block:
    if not isinstance(block, Headline):
        return block
    return replace(block, title=(name(table), Span(": "), *block.title))
