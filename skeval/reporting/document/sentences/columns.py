"""The sentences of the page on single columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from skeval.reporting.document.columns import ColumnFinding, worth_mentioning
from skeval.reporting.document.numbers import capitalize, count_word, rate, score, whole_percent
from skeval.reporting.document.outcomes import Outcome
from skeval.reporting.document.spans import Span, Text, compose, join, name, names, paragraph

_MAX_SHORT = 5  # columns in one cell


def columns_title(findings: Sequence[ColumnFinding]) -> Text:
    """Return how many columns differ from unseen rows."""
    n, below = len(findings), sum(one.outcome is Outcome.BELOW for one in findings)
    if any(one.unseen is None for one in findings):
        return compose("Columns one by one: no unseen rows to compare with")
    if below:
        verb = "differs" if below == 1 else "differ"
        who = capitalize(count_word(below))
        return compose(f"{who} of {n} columns {verb} more from training than unseen rows do")
    closer = sum(one.outcome is Outcome.CLOSER for one in findings)
    if closer:
        verb = "is" if closer == 1 else "are"
        who = capitalize(count_word(closer))
        return compose(f"{who} of {n} columns {verb} closer to training than unseen rows are")
    return compose(f"All {n} columns agree with the training data as unseen rows do")


COLUMNS_DECK = compose(
    "Each value compares the distribution of one column with the training data: 100 if both "
    "are equal. Columns that differ significantly from unseen rows come first."
)


def column_sentence(finding: ColumnFinding) -> Text:
    """Return further facts about a column."""
    facts = worth_mentioning(finding)
    sentences = []
    if "range" in facts:
        sentences.append(f"It covers {whole_percent(facts['range'])} of the training range.")
    if "categories" in facts:
        sentences.append(f"It has {whole_percent(facts['categories'])} of its training categories.")
    if "missing" in facts:
        real = rate(finding.missing_in_real)
        sentences.append(f"Missing cells: {rate(facts['missing'])}, {real} in training rows.")
    return compose(" ".join(sentences))


def others_sentence(others: Sequence[ColumnFinding]) -> Text:
    """Return the columns that agree, in one line."""
    if not others:
        return ()
    columns = [one.column for one in others]
    lead = (
        "The other column agrees"
        if len(columns) == 1
        else f"The other {len(columns)} columns agree"
    )
    return paragraph(
        compose(
            lead + " with the training data as unseen rows do, within chance: {columns}.",
            columns=names(columns, len(columns)),
        )
    )


def checks_note(at_best: Sequence[str]) -> Text:
    """Return the checks that all cells pass."""
    return compose(f"At the best value: {', '.join(at_best)}.") if at_best else ()


def short_columns(scores: Mapping[str, float]) -> Text:
    """Return the columns with the lowest scores, and how many others there are."""
    spans: list[Span] = []
    for column, value in list(scores.items())[:_MAX_SHORT]:
        spans += [Span(", ")] * bool(spans) + [name(column), Span(f" {score(value)}")]
    if len(scores) > _MAX_SHORT:
        spans.append(Span(f" and {len(scores) - _MAX_SHORT} more"))
    return join(spans)
