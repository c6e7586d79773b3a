"""The scores as one short table, worst first, for a terminal and for `print`."""

from __future__ import annotations

import math
from dataclasses import dataclass

from skeval.reporting.document.all_numbers import BETTER, interval_words, outcome_of_result
from skeval.reporting.document.blocks import Cell, Table
from skeval.reporting.document.fidelity import difference_to_unseen
from skeval.reporting.document.findings import Findings, find_all
from skeval.reporting.document.numbers import count, hundredths, points, rate, score
from skeval.reporting.document.outcomes import Outcome
from skeval.reporting.document.privacy import is_beyond_chance, rank_of_copies
from skeval.reporting.document.spans import compose, name
from skeval.reporting.document.trials import tested_rates
from skeval.results.result import Result
from skeval.results.suite_result import SuiteResult
from skeval.results.verdict import aspect_of
from skeval.stats.copied_rows import Copies

HEADS = ("outcome", "metric", "in data", "unseen", "+points")
WIDE_HEADS = (
    *HEADS,
    *("value", "95% interval", "baseline", "difference, 95%", "p-value", "better", "evidence"),
)
NOTE = (
    "in data: the rate of a test on training records, or the score of the synthetic rows. unseen: "
    "the same for unseen real rows, or by chance."
)
_OF_COPIES = " Whole numbers are copies, and how many are expected by chance at most."
_OF_FEW = " A large difference without a leak is one of few guesses, and may be due to chance."
_LARGE = 0.1
_ORDER = {outcome: place for place, outcome in enumerate(Outcome)}
_MIN_P = 1e-4


@dataclass(frozen=True)
class _Line:
    """The numbers of one metric; `harm` is how far they differ in the bad direction."""

    name: str
    result: Result
    outcome: Outcome
    shown: str
    shown_reference: str
    difference: str
    harm: float


def score_table(results: SuiteResult, *, is_wide: bool = False) -> Table:
    """Return one row per metric that has a value, by outcome and then by excess."""
    found = find_all(results)
    lines = [_line(own, result, found) for own, result in results.items() if not result.error]
    lines.sort(key=lambda one: (_ORDER[one.outcome], -one.harm))
    rows = tuple(_cells(line) + (_details(line.result) if is_wide else ()) for line in lines)
    said = NOTE + _OF_COPIES * any(_counted_copies(one.result, one.outcome) for one in lines)
    said += _OF_FEW * any(one.outcome is Outcome.NONE_FOUND and one.harm >= _LARGE for one in lines)
    heads = WIDE_HEADS if is_wide else HEADS
    aligned = ("left", "left", *["right"] * 8, "left", "left")[: len(heads)]
    return Table("scores", "", compose(said), heads, aligned, (("", rows),))


def _line(own: str, result: Result, found: Findings) -> _Line:
    outcome = outcome_of_result(own, result, found)
    if copies := _counted_copies(result, outcome):
        numbers = count(copies.train.n), count(copies.train.most)
        return _Line(own, result, outcome, *numbers, "", math.inf)
    tested = result.contrast
    if tested is not None and aspect_of(result) == "privacy":
        rates = tested_rates(own, result, found.privacy.trials)
        observed, expected = rates or (tested.observed, tested.expected)
        gap, sign = observed - expected, 1 if tested.high_leaks else -1
        form, difference = (rate, points(gap, 1)) if tested.share else (score, "")
        shown, reference = form(observed), form(expected)
        # differences of other numbers than rates are not in points, and follow those that are
        harm = _known_names(sign * gap) if tested.share else -math.inf
        return _Line(own, result, outcome, shown, reference, difference, harm)
    gap = math.nan if result.baseline is None else result.value - result.baseline
    sign = result.tags.sign if result.tags is not None else 0
    scale = _scale_of(result)
    difference = "" if math.isnan(gap) or scale is None else points(gap / scale, 1)
    reference = "" if result.baseline is None else shown_value(result, result.baseline)
    harm = -math.inf if scale is None else _known_names(-sign * gap / scale)
    return _Line(
        own, result, outcome, shown_value(result, result.value), reference, difference, harm
    )


def _counted_copies(result: Result, outcome: Outcome) -> Copies | None:
    """Return the clearest copies of a result, unless its rate already is one of copied rows."""
    if outcome is not Outcome.COPIES:
        return None
    clearest = min(filter(is_beyond_chance, result.copies), key=rank_of_copies, default=None)
    is_rate = clearest is None or (clearest.form == "copies" and clearest.what == "rows")
    return None if is_rate else clearest


def _known_names(harm: float) -> float:
    return -math.inf if math.isnan(harm) else harm


def _scale_of(result: Result) -> float | None:
    """Return the width of the scale of a score; None if the scale has no ends or goes below 0."""
    low, high = result.tags.bounds if result.tags is not None else (0.0, math.inf)
    return high if low == 0.0 and high in (1.0, 100.0) else None


def shown_value(result: Result, value: float) -> str:
    """Return a value on its scale, which is 0 to 100, percent for rates of privacy, or decimals."""
    if _scale_of(result) == 100.0:
        return hundredths(value)
    is_rate = result.contrast is None or result.contrast.share
    if aspect_of(result) == "privacy" and _scale_of(result) == 1.0 and is_rate:
        return rate(value)
    return score(value, result.interval)


def _cells(line: _Line) -> tuple[Cell, ...]:
    numbers = (line.shown, line.shown_reference, line.difference)
    return (
        Cell(compose(line.outcome.word), line.outcome),
        Cell((name(line.name),)),
        *(Cell(compose(text)) for text in numbers),
    )


def _details(result: Result) -> tuple[Cell, ...]:
    tags = result.tags
    better = BETTER[tags.sign if tags is not None else 0]
    texts = (
        score(result.value, result.interval),
        interval_words(result.interval),
        "" if result.baseline is None else score(result.baseline, result.interval),
        interval_words(difference_to_unseen(result)),
        _p_value(result.p_value),
        better,
        (tags.evidence or "") if tags is not None else "",
    )
    return tuple(Cell(compose(text)) for text in texts)


def _p_value(value: float | None) -> str:
    if value is None or math.isnan(value):
        return ""
    return f"<{_MIN_P:.4f}" if value < _MIN_P else f"{value:.4f}"
