"""The page on columns, with a row for each column that differs."""

from __future__ import annotations

import math

from skeval.reporting.document.axis_rows import row_of_100, ticks
from skeval.reporting.document.blocks import (
    Block,
    ColumnRow,
    ColumnRows,
    Headline,
    Page,
    Paragraphs,
)
from skeval.reporting.document.checks_table import checks_table
from skeval.reporting.document.columns import ColumnFinding, find_columns
from skeval.reporting.document.drawings.overlay import Overlay
from skeval.reporting.document.findings import Findings
from skeval.reporting.document.outcomes import Outcome
from skeval.reporting.document.sentences import columns as say
from skeval.reporting.document.shares import Shares
from skeval.reporting.document.spans import Text, compose, name

_MAX_ROWS, _MIN_ROWS = 14, 8


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
        Headline("headline", None, say.columns_title(findings), say.COLUMNS_DECK, facts),
        _rows(shown),
    ]
    agreeing = [one for one in others if one.outcome is Outcome.AS_GOOD]
    if agreeing:
        blocks.append(Paragraphs("others", "", (say.others_sentence(agreeing),)))
    if checks := checks_table(found.results):
        blocks.append(checks)
    return Page("columns", "Fidelity: columns", tuple(blocks))


def _rows(findings: list[ColumnFinding]) -> ColumnRows:
    ends = [100.0 * end for one in findings for end in (one.value, one.unseen or one.value)]
    low = max(0.0, 10.0 * math.floor((min(ends) - 1.0) / 10.0))
    return ColumnRows(
        "columns",
        ("Column", "real rows filled, synthetic line, unseen dashed", "", "synth.", "unseen"),
        tuple(map(_row, findings)),
        low,
        100.0,
        ticks(low, 100.0),
    )


def _row(finding: ColumnFinding) -> ColumnRow:
    svg = _draw(finding.shares) if finding.shares else ""
    unseen = None if finding.unseen is None else 100.0 * finding.unseen
    label, note = (name(finding.column),), say.column_sentence(finding)
    row = row_of_100(label, note, finding.outcome, 100.0 * finding.value, unseen)
    words = f"similarity {row.shown} of 100, unseen rows {row.shown_reference}"
    return ColumnRow(row, compose(finding.kind), svg, f"Distribution of one column: {words}.")


def _draw(shares: Shares) -> str:
    """Return the distribution, without places at the end that are empty in all tables."""
    n = len(shares.real)
    while n > 1 and not any(one[n - 1] for one in (shares.real, shares.synthetic)):
        n -= 1
    return Overlay(shares.pick(range(n))).to_svg()
