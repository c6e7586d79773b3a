"""Make the document of a comparison of several synthetic tables."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from skeval.reporting.document.blocks import Document, Page
from skeval.reporting.document.choice_page import choice_page
from skeval.reporting.document.compared import find_compared
from skeval.reporting.document.compared_metrics import (
    RULES,
    differences_page,
    metrics_page,
    rule_page,
)
from skeval.reporting.document.origin_page import make_origin_page
from skeval.reporting.document.report import choose_title, make_facts, make_footer, timestamp_of
from skeval.reporting.document.spans import compose
from skeval.results.comparison import Comparison
from skeval.results.provenance import InputRecord

TITLE = "Synthetic tables compared"


def make_comparison_document(
    comparison: Comparison, *, title: str = "", is_short: bool = False
) -> Document:
    """Return the report of several synthetic tables as plain data."""
    compared = find_compared(comparison)
    title = choose_title(title, compared.first.provenance, TITLE)
    first = compared.first
    sizes = {role: n for role, n in first.results.sizes.items() if role != "synthetic"}
    what = compose(f"{len(compared.tables)} tables")
    facts = make_facts(title, what, sizes, first.provenance)
    footer = make_footer(first.provenance, is_of_several=True)
    later = facts[:2]
    pages: list[Page] = [choice_page(compared, facts, footer)]
    if not is_short:
        pages.append(rule_page(compared, (*later, compose(RULES))))
    pages.append(metrics_page(compared, (*later, compose("Metric by metric"))))
    if not is_short and (page := differences_page(compared, (*later, compose("Differences")))):
        pages.append(page)
    inputs = tuple(_inputs(comparison))
    pages.append(make_origin_page(comparison, inputs, (*later, compose("Provenance")), footer))
    return Document(
        title, facts, tuple(pages), footer, timestamp=timestamp_of(compared.first.provenance)
    )


def _inputs(comparison: Comparison) -> Iterator[InputRecord]:
    """Yield the real tables once, then the synthetic ones by their names."""
    known = {table: one.provenance for table, one in comparison.items() if one.provenance}
    for first in list(known.values())[:1]:
        yield from (one for one in first.inputs if not one.role.startswith("synthetic"))
    for table, provenance in known.items():
        for one in provenance.inputs:
            if one.role.startswith("synthetic"):
                yield replace(one, role=one.role.replace("synthetic", table, 1))
