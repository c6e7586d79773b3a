"""The page with all numbers, one line per metric."""

from __future__ import annotations

import math
from collections.abc import Iterator

from skeval.reporting.document.blocks import Block, Cell, Headline, Page, Paragraphs, Table
from skeval.reporting.document.checks import outcome_of_quality
from skeval.reporting.document.fidelity import difference_to_unseen
from skeval.reporting.document.findings import Findings
from skeval.reporting.document.metric_titles import metric_titles
from skeval.reporting.document.numbers import NOTHING, points, rate, score
from skeval.reporting.document.outcomes import Outcome
from skeval.reporting.document.shortening import shorten_end
from skeval.reporting.document.spans import Span, Text, compose
from skeval.reporting.document.tables import names_of_tables
from skeval.reporting.document.trials import tested_rates
from skeval.results.result import Result
from skeval.results.verdict import aspect_of

ASPECTS = {
    "Privacy": "privacy",
    "Fidelity": "fidelity",
    "Validity": "validity",
    "Utility": "utility",
    "Other": "",
}
HEADS = ("Metric", "Value", "95% interval", "Unseen", "Difference, 95%", "Better", "Verdict")
_ALIGNED = ("left", "right", "right", "right", "right", "left", "left")
BETTER = {1: "higher", -1: "lower", 0: ""}
_MAX_REASON = 150  # letters
_NOTE = (
    "Unseen is the value of real rows that the generator never saw, or the value expected by "
    "chance. Rows of privacy tests contain the two rates that were tested, and their difference "
    "in points."
)


def numbers_page(found: Findings, facts: tuple[Text, ...]) -> Page:
    """Return the page with all numbers."""
    titles = metric_titles(found.results)
    groups = []
    for table in ("", *names_of_tables(found.results)):
        for title, aspect in ASPECTS.items():
            own = {
                name: result
                for name, result in found.results.items()
                if result.table == table and aspect_of(result) == aspect and not result.error
            }
            if own:
                rows = tuple(_row(titles[name], name, one, found) for name, one in own.items())
                groups.append((f"{table}: {title}" if table else title, rows))
    blocks: list[Block] = [
        Headline("headline", None, compose("All numbers"), compose(_NOTE), facts),
        Table("numbers", "", (), HEADS, _ALIGNED, tuple(groups)),
    ]
    if skipped := tuple(_skipped_metrics(found, titles)):
        blocks.append(Paragraphs("skipped", "Not evaluated", skipped))
    if warnings := tuple(_warnings(found, titles)):
        blocks.append(Paragraphs("warnings", "Warnings", warnings))
    return Page("numbers", "All numbers", tuple(blocks))


def _row(title: str, name: str, result: Result, found: Findings) -> tuple[Cell, ...]:
    if result.contrast is not None and aspect_of(result) == "privacy":
        texts = _tested_numbers(name, result, found)
    else:
        texts = _values(result)
    outcome = outcome_of_result(name, result, found)
    better = direction_words(result)
    cells = [Cell(compose("{title}", title=title)), *(Cell(compose(text)) for text in texts)]
    return (*cells, Cell(compose(better)), Cell(compose(outcome.word), outcome))


def direction_words(result: Result) -> str:
    """Return which way is good for the printed numbers, which are rates for a privacy test."""
    if result.contrast is not None and aspect_of(result) == "privacy":
        return BETTER[-1 if result.contrast.high_leaks else 1]
    return BETTER[result.tags.sign if result.tags is not None else 0]


def _tested_numbers(name: str, result: Result, found: Findings) -> tuple[str, str, str, str]:
    tested = result.contrast
    assert tested is not None
    rates = tested_rates(name, result, found.privacy.trials)
    if rates is None:
        difference = score(tested.observed - tested.expected)
        return score(tested.observed), "", score(tested.expected), difference
    interval, (observed, expected) = result.interval, rates
    is_same = interval is not None and abs(result.value - observed) < 1e-9
    between = " to ".join(map(rate, interval)) if is_same and interval is not None else ""
    return rate(observed), between, rate(expected), f"{points(observed - expected, 1)} points"


def _values(result: Result) -> tuple[str, str, str, str]:
    interval, difference = result.interval, difference_to_unseen(result)
    if (
        aspect_of(result) == "privacy"
        and result.tags is not None
        and result.tags.bounds == (0.0, 1.0)
    ):
        between = " to ".join(map(rate, interval)) if interval is not None else ""
        return rate(result.value), between, rate(result.baseline), ""
    return (
        score(result.value, interval),
        interval_words(interval),
        score(result.baseline, interval) if result.baseline is not None else NOTHING,
        interval_words(difference),
    )


def interval_words(interval: tuple[float, float] | None) -> str:
    """Return an interval, whose upper end may be open, or an empty text."""
    if interval is None or math.isnan(sum(interval)):
        return ""
    low, high = interval
    if math.isinf(high):
        return f"at least {score(low)}" if low > 0 else "no bound"
    return f"{score(low, interval)} to {score(high, interval)}"


def outcome_of_result(name: str, result: Result, found: Findings) -> Outcome:
    """Return the outcome of one metric, in the words of all reports."""
    if math.isnan(result.value):
        return Outcome.NOT_EVALUATED
    if aspect_of(result) != "privacy":
        return outcome_of_quality(result)
    if name in found.privacy.verdict.alarms:
        return Outcome.LEAK
    if any(one.train.beyond_chance for one in result.copies):
        return Outcome.COPIES
    is_test = name in found.privacy.verdict.adjusted
    return Outcome.NONE_FOUND if is_test or result.copies else Outcome.NO_TEST


def _skipped_metrics(found: Findings, titles: dict[str, str]) -> Iterator[Text]:
    """Yield the metrics without a value together with their common reason."""
    by_reason: dict[str, list[str]] = {}
    for name, result in found.results.items():
        if result.error:
            by_reason.setdefault(result.error, []).append(titles[name])
    for reason, names in by_reason.items():
        listed = (Span(", ".join(names), strong=True), Span(". "))
        yield (*listed, Span(shorten_end(reason[:1].upper() + reason[1:], _MAX_REASON)))


def _warnings(found: Findings, titles: dict[str, str]) -> Iterator[Text]:
    """Yield each warning once, first about the tables and then about metrics."""
    for notice in dict.fromkeys(map(str, found.results.notices)):
        yield (Span(notice),)
    by_text: dict[str, list[str]] = {}
    for name, result in found.results.items():
        for warning in () if result.error else result.warnings:
            by_text.setdefault(str(warning), []).append(titles[name])
    for text, names in by_text.items():
        yield (Span(", ".join(names), strong=True), Span(f". {text[:1].upper()}{text[1:]}"))
