"""The page of notes: what each metric says about a table, and all warnings."""

from __future__ import annotations

from collections.abc import Iterator

from skeval.reporting.document.blocks import Block, Entries, Entry, Headline, Page, Paragraphs
from skeval.reporting.document.findings import Findings
from skeval.reporting.document.metric_titles import metric_titles
from skeval.reporting.document.spans import Span, Text, compose

_NOTE = (
    "What each metric says about this table in its own words, and the warnings that were given. "
    "The first page and all numbers show which differences are beyond chance."
)


def notes_page(found: Findings, facts: tuple[Text, ...]) -> Page | None:
    """Return the page of sentences and warnings; None if there are none."""
    blocks: list[Block] = []
    if warnings := tuple((Span(str(notice)),) for notice in found.results.notices):
        blocks.append(Paragraphs("notices", "Warnings about the tables", warnings))
    if entries := tuple(_entries(found)):
        blocks.append(Entries("notes", "What each metric says", (), entries))
    if not blocks:
        return None
    title = "Notes"
    return Page(
        "notes", title, (Headline("headline", None, compose(title), compose(_NOTE), facts), *blocks)
    )


def _entries(found: Findings) -> Iterator[Entry]:
    titles = metric_titles(found.results)
    for name, result in found.results.items():
        if result.error:
            continue  # the page with all numbers states why
        said = " ".join(filter(None, [result.summary, *map(str, result.warnings)]))
        if said:
            yield Entry((Span(titles[name]),), (Span(said),))
