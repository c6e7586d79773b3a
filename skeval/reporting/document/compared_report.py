"""Make the document of a comparison of several synthetic tables."""

from __future__ import annotations

from skeval.reporting.document.blocks import Document, Page
from skeval.reporting.document.compared import ComparedFindings, find_compared
from skeval.reporting.document.compared_metrics import (
    RULES,
    differences_page,
    metrics_page,
    rule_page,
)
from skeval.reporting.document.compared_origin import compared_origin_page
from skeval.reporting.document.compared_page1 import choice_page
from skeval.reporting.document.report import MAX_TITLE, choose_title, date_of, timestamp_of
from skeval.reporting.document.shortening import shorten_end
from skeval.reporting.document.spans import Span, Text, compose
from skeval.results.comparison import Comparison

TITLE = "Synthetic tables compared"
_ROLES = {"train": "training", "holdout": "unseen"}


def make_comparison_document(
    comparison: Comparison, *, title: str = "", is_short: bool = False
) -> Document:
    """Return the report of several synthetic tables as plain data."""
    compared = find_compared(comparison)
    title = choose_title(title, compared.first.provenance, TITLE)
    facts, footer = _facts(compared, title), _footer(compared)
    later = facts[:2]
    pages: list[Page] = [choice_page(compared, facts, footer)]
    if not is_short:
        pages.append(rule_page(compared, (*later, compose(RULES))))
    pages.append(metrics_page(compared, (*later, compose("Metric by metric"))))
    if not is_short and (page := differences_page(compared, (*later, compose("Differences")))):
        pages.append(page)
    pages.append(compared_origin_page(compared, (*later, compose("Provenance")), footer))
    return Document(
        title, facts, tuple(pages), footer, timestamp=timestamp_of(compared.first.provenance)
    )


def _facts(compared: ComparedFindings, title: str) -> tuple[Text, ...]:
    """Return the title, the number of tables, the sizes of the real tables, and the date."""
    sizes, provenance = compared.first.results.sizes, compared.first.provenance
    counted = [f"{sizes[role]:,} {word}" for role, word in _ROLES.items() if role in sizes]
    facts = [(Span(shorten_end(title, MAX_TITLE)),), (Span(f"{len(compared.tables)} tables"),)]
    if counted:
        facts.append((Span(f"{' and '.join(counted)} rows"),))
    if provenance is not None:
        facts.append((Span(date_of(provenance.date)),))
    return tuple(facts)


def _footer(compared: ComparedFindings) -> Text:
    provenance = compared.first.provenance
    version = f"skeval {provenance.version} \N{MIDDLE DOT} " if provenance is not None else ""
    return (Span(f"{version}details from page 2"),)
