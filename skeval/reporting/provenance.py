"""Where results come from, as tables of text for page and paper."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from typing import TYPE_CHECKING

from skeval.reporting.page import table, text_cell
from skeval.reporting.sheets import TextTable, sheets_of

if TYPE_CHECKING:
    from skeval.provenance import InputRecord, Provenance
    from skeval.reporting.layout import Page
    from skeval.result import SuiteResult

TITLE = "Provenance"
INTRO = (
    "What these results were made of and by. The files can be checked against it: skeval verify "
    "scores.json FILE ... A hash shows no row, but whoever has a whole table, or all of it but "
    "little, can see whether it is this one."
)


def provenance_tables(suite_result: SuiteResult) -> list[TextTable]:
    """Return what a reader sees of the provenance of results; nothing where they have none."""
    provenance = suite_result.provenance
    if provenance is None:
        return []
    several = any(one.table for one in provenance.columns)
    columns = [
        (f"{one.table}: {one.column}" if several else one.column, one.kind, one.why, one.doubt)
        for one in provenance.columns
    ]
    return [
        TextTable("Evaluation", ("", ""), (0.25, 0.75), list(_facts(provenance))),
        TextTable("Inputs", ("Table", "Rows", "SHA-256"), (0.2, 0.1, 0.7), _inputs(provenance)),
        TextTable(
            "Kinds of columns", ("Column", "Kind", "Why", "Doubt"), (0.25, 0.15, 0.3, 0.3), columns
        ),
        TextTable("Metrics", ("Name", "Made by"), (0.25, 0.75), list(provenance.metrics.items())),
    ]


def _facts(provenance: Provenance) -> Iterator[tuple[str, str]]:
    yield "Date", provenance.date
    yield "skeval", provenance.version
    yield "Target", provenance.target or "none"
    yield "Sensitive column", provenance.sensitive or "none"
    seeds = sorted(set(provenance.seeds.values()))
    if len(seeds) == 1:
        yield "Seed", f"{seeds[0]} of all that draws at random"
    elif seeds:
        yield "Seeds", ", ".join(f"{name} {seed}" for name, seed in provenance.seeds.items())
    yield "Packages", ", ".join(f"{name} {held}" for name, held in provenance.packages.items())


def _inputs(provenance: Provenance) -> list[tuple[str, ...]]:
    return [
        (
            f"{one.role}: {one.file}" if one.file else one.role,
            f"{one.n_rows:,}"
            + (f", {one.n_measured:,} drawn" if one.n_measured < one.n_rows else ""),
            "; ".join(_hashes(one)) or "left out",
        )
        for one in provenance.inputs
    ]


def _hashes(record: InputRecord) -> Iterator[str]:
    if record.file_bytes:
        yield f"of the file {record.file_bytes}"
    if record.cells:
        yield f"of the cells {record.cells}"


def provenance_html(
    suite_result: SuiteResult, title: str = TITLE, anchor: str = "provenance"
) -> str:
    """Return the section of a page; empty where results have no provenance."""
    tables = provenance_tables(suite_result)
    if not tables:
        return ""
    parts = "\n".join(_html_table(table) for table in tables)
    return (
        f'<section id="{anchor}">\n<h2>{escape(title)}</h2>\n<p class="quiet">{escape(INTRO)}</p>\n'
        f"{parts}\n</section>"
    )


def _html_table(shown: TextTable) -> str:
    rows = [[text_cell(text) for text in row] for row in shown.rows]
    return f"<h3>{escape(shown.title)}</h3>\n{table(shown.heads, rows, 'text')}"


def provenance_pages(suite_result: SuiteResult) -> Iterator[Page]:
    """Yield the pages of a paper, without footers; none where results have no provenance."""
    yield from sheets_of(provenance_tables(suite_result), TITLE, INTRO)
