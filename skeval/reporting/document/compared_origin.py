"""The last page of a comparison: thresholds, tables, settings, metrics and the sign-off."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from skeval.reporting.document.blocks import (
    Block,
    Cell,
    Entries,
    Entry,
    Headline,
    Page,
    Paragraphs,
    SignOff,
    Table,
)
from skeval.reporting.document.compared import ComparedFindings
from skeval.reporting.document.origin_page import FIELDS, definitions, input_table, settings
from skeval.reporting.document.spans import Text, compose, name
from skeval.reporting.document.stated_release import stated_facts, stated_thresholds
from skeval.results.provenance import InputRecord

TITLE = "Provenance and sign-off"


def compared_origin_page(compared: ComparedFindings, facts: tuple[Text, ...], footer: Text) -> Page:
    """Return the page of thresholds, provenance, definitions and sign-off."""
    blocks: list[Block] = [Headline("headline", None, compose(TITLE), (), facts)]
    if stated := stated_facts(compared.first.results):
        entries = tuple(Entry(compose(label), text) for label, text in stated)
        blocks.append(Entries("stated", "What was stated about the release", (), entries))
    if thresholds := _thresholds(compared):
        blocks.append(thresholds)
    if inputs := tuple(_inputs(compared)):
        blocks.append(input_table(inputs))
    provenance = compared.first.provenance
    if provenance is not None:
        blocks.append(Paragraphs("settings", "Settings", settings(provenance)))
    union = {n: one for results in compared.comparison.values() for n, one in results.items()}
    entries = tuple(definitions(union))
    blocks.append(Entries("definitions", "Metrics in one line each", (), entries))
    blocks.append(SignOff("sign-off", "Sign-off", FIELDS, footer))
    return Page("origin", TITLE, tuple(blocks))


def _thresholds(compared: ComparedFindings) -> Table | None:
    """Return the thresholds of the release files, and which table meets them."""
    rows = tuple(
        (
            Cell((name(table),)),
            *(Cell(compose("{t}", t=text)) for text in (one.rule, one.measured, one.answer)),
        )
        for table, results in compared.comparison.items()
        for one in stated_thresholds(results)
    )
    heads = ("Table", "Agreed before the evaluation", "Measured", "Outcome")
    aligned = ("left",) * len(heads)
    return Table("thresholds", "Thresholds", (), heads, aligned, (("", rows),)) if rows else None


def _inputs(compared: ComparedFindings) -> Iterator[InputRecord]:
    """Yield the real tables once, then the synthetic ones by their names."""
    known = {t: one.provenance for t, one in compared.comparison.items() if one.provenance}
    for i, provenance in enumerate(known.values()):
        if i == 0:
            yield from (one for one in provenance.inputs if not one.role.startswith("synthetic"))
    for table, provenance in known.items():
        for one in provenance.inputs:
            if one.role.startswith("synthetic"):
                yield replace(one, role=one.role.replace("synthetic", table, 1))
