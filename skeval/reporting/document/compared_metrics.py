"""The further pages of a comparison, with the rule, all metrics and all differences."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from skeval.reporting.document.all_numbers import ASPECTS, direction_words
from skeval.reporting.document.blocks import (
    Block,
    Cell,
    Entries,
    Entry,
    Headline,
    Page,
    Paragraphs,
    Table,
)
from skeval.reporting.document.compared import ComparedFindings
from skeval.reporting.document.compared_pictures import compared_pictures
from skeval.reporting.document.numbers import NOTHING, rate, score
from skeval.reporting.document.outcomes import Outcome
from skeval.reporting.document.sentences import compared as say
from skeval.reporting.document.sentences.decks import deck
from skeval.reporting.document.spans import Span, Text, compose, name
from skeval.results.result import Result
from skeval.results.verdict import aspect_of

RULES = "Privacy of each table, and the rule"
MAX_TABLES = 5  # side by side


# rule ----------------------------------------------------------------------------------------


def rule_page(compared: ComparedFindings, facts: tuple[Text, ...]) -> Page:
    """Return the page with the privacy of each table, and the rule."""
    blocks: list[Block] = [Headline("headline", None, compose(RULES), (), facts)]
    blocks += [_privacy(compared), _standing(compared), *compared_pictures(compared)]
    blocks.append(Paragraphs("rule", "How a table is recommended", tuple(map(compose, say.RULE))))
    blocks.append(Paragraphs("ahead", "How tables are compared", tuple(map(compose, say.AHEAD))))
    if caveats := tuple(say.caveats(compared)):
        blocks.append(Paragraphs("caveats", "Please check", caveats))
    return Page("rule", RULES, tuple(blocks))


def _privacy(compared: ComparedFindings) -> Entries:
    entries = []
    for one in compared.tables:
        found = one.found
        text = deck(found.privacy, found.fidelity, None, found.noun)
        entries.append(
            Entry((name(one.name),), text, found.privacy.outcome, say.privacy_words(found.privacy))
        )
    return Entries("privacy", "Privacy of each table", (), tuple(entries))


def _standing(compared: ComparedFindings) -> Table:
    """Return the standing and the mean score of each table by aspect."""
    standing, scores = compared.comparison.standing(), compared.comparison.scores()
    rows = []
    for table in compared.comparison:
        cells = [Cell((name(table),))]
        for aspect in standing.index:
            words = say.reason(standing.loc[aspect, table])
            mean = float(scores.loc[table, aspect]) if aspect in scores else math.nan
            shown = "" if math.isnan(mean) else f", {score(mean)}"
            cells.append(Cell(compose(f"{words}{shown}")))
        rows.append(tuple(cells))
    heads = ("Table", *(aspect.capitalize() for aspect in standing.index))
    note = compose("With the mean score of all metrics: 1 is as unseen rows, 0 is the worst.")
    aligned = ("left",) * len(heads)
    return Table("standing", "Standing by aspect", note, heads, aligned, (("", tuple(rows)),))


# metric by metric ----------------------------------------------------------------------------


def metrics_page(compared: ComparedFindings, facts: tuple[Text, ...]) -> Page:
    """Return the page with the values of all tables, one line per metric."""
    note = say.METRICS_NOTE
    blocks: list[Block] = [Headline("headline", None, compose("Metric by metric"), note, facts)]
    tables = list(compared.comparison)
    parts = (tables[i : i + MAX_TABLES] for i in range(0, len(tables), MAX_TABLES))
    blocks += [_values(compared, part) for part in parts]
    if lacking := tuple(say.not_in_all(compared)):
        blocks.append(Paragraphs("lacking", "Not evaluated in all tables", lacking))
    return Page("metrics", "Metric by metric", tuple(blocks))


def _values(compared: ComparedFindings, tables: Sequence[str]) -> Table:
    groups = []
    for title, aspect in ASPECTS.items():
        metrics = compared.metrics_of(aspect)
        if metrics:
            groups.append((title, tuple(_metric_row(m, compared, tables) for m in metrics)))
    aligned = ("left", *["right"] * len(tables), "right", "left", "left")
    heads = ("Metric", *tables, "Unseen", "Better", "Ahead, by (95%)")
    return Table("metrics", "", (), heads, aligned, tuple(groups))


def _metric_row(metric: str, compared: ComparedFindings, tables: Sequence[str]) -> tuple[Cell, ...]:
    results = compared.results_of(metric)
    first = next(iter(results.values()))
    cells = []
    for table in tables:
        alarms = compared.comparison[table].verdict().alarms
        outcome = Outcome.LEAK if metric in alarms else None
        cells.append(Cell(compose(shown_value(results.get(table))), outcome))
    return (
        Cell(compose("{title}", title=compared.titles[metric])),
        *cells,
        Cell(compose(_unseen(list(results.values())))),
        Cell(compose(direction_words(first))),
        Cell(say.standing_words(compared.standing_of(metric))),
    )


def shown_value(result: Result | None) -> str:
    """Return a value, or the two rates of a privacy test."""
    if result is None:
        return NOTHING
    tested = result.contrast
    if tested is not None and tested.share and aspect_of(result) == "privacy":
        return f"{rate(tested.observed)} ({rate(tested.expected)})"
    return score(result.value, result.interval)


def _unseen(results: Sequence[Result]) -> str:
    if any(r.contrast is not None and aspect_of(r) == "privacy" for r in results):
        return ""
    known = [one.baseline for one in results if one.baseline is not None]
    return score(known[0]) if known else NOTHING


# differences ---------------------------------------------------------------------------------


def differences_page(compared: ComparedFindings, facts: tuple[Text, ...]) -> Page | None:
    """Return the differences of each pair of tables; None if there are none."""
    groups = []
    for title, aspect in ASPECTS.items():
        metrics = compared.metrics_of(aspect)
        rows = tuple(row for metric in metrics for row in _difference_rows(metric, compared))
        if rows:
            groups.append((title, rows))
    if not groups:
        return None
    title = "Differences of each two tables"
    heads = ("Metric", "First", "Second", "Difference", "95% interval", "Noise", "Ahead")
    aligned = ("left", "left", "left", "right", "right", "left", "left")
    return Page(
        "differences",
        title,
        (
            Headline("headline", None, compose(title), say.DIFFERENCES_NOTE, facts),
            Table("differences", "", (), heads, aligned, tuple(groups)),
        ),
    )


def _difference_rows(metric: str, compared: ComparedFindings) -> Iterator[tuple[Cell, ...]]:
    for row in compared.differences.get(metric, ()):
        ends = float(row["low"]), float(row["high"])
        between = "" if math.isnan(ends[0]) else " to ".join(score(end, ends) for end in ends)
        ahead: Text = (
            (name(str(row["ahead"])),) if row["ahead"] else compose(say.reason(str(row["said"])))
        )
        yield (
            Cell(compose("{title}", title=compared.titles[metric])),
            Cell((name(str(row["first"])),)),
            Cell((name(str(row["second"])),)),
            Cell((Span(score(float(row["difference"]), ends)),)),
            Cell((Span(between),)),
            Cell((Span(str(row["interval"])),)),
            Cell(ahead),
        )
