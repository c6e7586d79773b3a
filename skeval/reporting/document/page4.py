"""The fourth page: one row per column that differs, and a line for those that agree."""

from __future__ import annotations

import math

from skeval.reporting.document.blocks import (
    Block,
    ColumnRow,
    ColumnRows,
    ComparisonRow,
    Headline,
    Page,
    Paragraphs,
)
from skeval.reporting.document.columns import ColumnFinding, find_columns
from skeval.reporting.document.drawings.overlay import Overlay
from skeval.reporting.document.findings import Findings
from skeval.reporting.document.numbers import hundredths
from skeval.reporting.document.outcomes import Outcome
from skeval.reporting.document.sentences import columns as say
from skeval.reporting.document.spans import Text, compose, name

_MAX_ROWS, _MIN_ROWS = 14, 6


def columns_page(found: Findings, facts: tuple[Text, ...]) -> Page | None:
    """Return the page on columns; None if none was compared."""
    findings = find_columns(found.results)
    if not findings:
        return None
    differing = [one for one in findings if one.outcome is not Outcome.AS_GOOD]
    n_shown = min(_MAX_ROWS, max(len(differing), _MIN_ROWS))
    ordered = [*differing, *(one for one in findings if one.outcome is Outcome.AS_GOOD)]
    shown, others = ordered[:n_shown], ordered[n_shown:]
    blocks: list[Block] = [
        Headline("headline", None, say.columns_title(findings), say.columns_deck(), facts),
        _rows(shown),
    ]
    agreeing = [one for one in others if one.outcome is Outcome.AS_GOOD]
    if agreeing:
        blocks.append(Paragraphs("others", "", (say.others_sentence(agreeing),)))
    return Page("columns", "Fidelity: columns", tuple(blocks))


def _rows(findings: list[ColumnFinding]) -> ColumnRows:
    ends = [100.0 * end for one in findings for end in (one.value, one.unseen or one.value)]
    low = max(0.0, 10.0 * math.floor((min(ends) - 1.0) / 10.0))
    step = max(1, round((100 - low) / 4))
    ticks = tuple((float(x), f"{x:g}") for x in range(int(low), 101, step))
    return ColumnRows(
        "columns",
        ("Column", "real rows filled, synthetic line, unseen dashed", "", "synth.", "unseen"),
        tuple(map(_row, findings)),
        low,
        100.0,
        ticks,
    )


def _row(finding: ColumnFinding) -> ColumnRow:
    shares, unseen = finding.shares, finding.unseen
    svg = Overlay(shares.real, shares.synthetic, shares.unseen).to_svg() if shares else ""
    row = ComparisonRow(
        (name(finding.column),),
        say.column_sentence(finding),
        finding.outcome,
        finding.outcome.word,
        hundredths(100.0 * finding.value),
        hundredths(None if unseen is None else 100.0 * unseen),
        round(100.0 * finding.value, 3),
        None if unseen is None else round(100.0 * unseen, 3),
    )
    words = f"similarity {row.shown} of 100, unseen rows {row.shown_reference}"
    return ColumnRow(row, compose(finding.kind), svg, f"Distribution of one column: {words}.")
