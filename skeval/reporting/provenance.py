"""Where results come from, as tables of text for page and paper."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from skeval.provenance import InputRecord, Provenance
    from skeval.result import SuiteResult

TITLE = "Provenance"
INTRO = (
    "What these results were made of and by. The files can be checked against it: skeval verify "
    "scores.json FILE ... A hash shows no row, but whoever has a whole table, or all of it but "
    "little, can see whether it is this one."
)


class TextTable(NamedTuple):
    """A table of texts: its title, the names of its columns, and their shares of the width."""

    title: str
    heads: tuple[str, ...]
    widths: tuple[float, ...]
    rows: Sequence[tuple[str, ...]]


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
        TextTable("Inputs", ("Table", "Rows", "SHA-256"), (0.25, 0.15, 0.6), _inputs(provenance)),
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
            " ".join(_hashes(one)) or "left out",
        )
        for one in provenance.inputs
    ]


def _hashes(record: InputRecord) -> Iterator[str]:
    if record.file_bytes:
        yield f"of the file {record.file_bytes}"
    if record.cells:
        yield f"of the cells {record.cells}"


def provenance_html(suite_result: SuiteResult) -> str:
    """Return the section of a page; empty where results have no provenance."""
    tables = provenance_tables(suite_result)
    if not tables:
        return ""
    parts = "\n".join(_html_table(table) for table in tables)
    return (
        f'<section id="provenance">\n<h2>{TITLE}</h2>\n<p class="quiet">{escape(INTRO)}</p>\n'
        f"{parts}\n</section>"
    )


def _html_table(table: TextTable) -> str:
    head = "".join(f'<th scope="col">{escape(text)}</th>' for text in table.heads)
    head = f"<thead><tr>{head}</tr></thead>\n" if any(table.heads) else ""
    rows = "\n".join(
        f'<tr><th scope="row">{escape(first)}</th>'
        + "".join(f"<td>{escape(text)}</td>" for text in others)
        + "</tr>"
        for first, *others in table.rows
    )
    return (
        f'<h3>{escape(table.title)}</h3>\n<div class="wide">\n<table class="text">\n{head}'
        f"<tbody>\n{rows}\n</tbody>\n</table>\n</div>"
    )
