"""The ROC curves of attacks on membership, on logarithmic axes."""

from __future__ import annotations

from collections.abc import Iterator

from skeval.reporting.document.blocks import Figure
from skeval.reporting.document.drawings.log_curve import LogCurve, Mark
from skeval.reporting.document.membership import MembershipCurve, find_membership, read_curve
from skeval.reporting.document.metric_titles import metric_titles
from skeval.reporting.document.numbers import rate
from skeval.reporting.document.sentences import attacks as say
from skeval.reporting.document.sentences.nouns import Noun
from skeval.results.suite_result import SuiteResult


def membership_figure(results: SuiteResult, noun: Noun) -> Figure | None:
    """Return the curve of the attack on membership that summaries quote."""
    curve = find_membership(results)
    return None if curve is None else _draw(curve, say.membership_title(curve), noun)


def further_curves(results: SuiteResult, noun: Noun) -> Iterator[Figure]:
    """Yield the curves of all other attacks."""
    titles, quoted = metric_titles(results), find_membership(results)
    for name, result in results.items():
        curve = read_curve(result)
        if curve is not None and curve != quoted:
            yield _draw(curve, titles[name], noun)


def _draw(curve: MembershipCurve, title: str, noun: Noun) -> Figure:
    marks = [
        Mark(at.false_alarms, at.found, rate(at.found))
        for at in curve.at
        if at.false_alarms in (0.01, 0.1) and at.found > 0
    ]
    drawing = LogCurve(
        curve.false_alarms,
        curve.found,
        marks,
        f"unseen {noun.many} taken for training ones",
        f"training {noun.many} found",
        "expected by chance",
    )
    note, words = say.membership_note(curve, noun), say.membership_alternative(curve, noun)
    return Figure("membership", title, note, drawing.to_svg(), words, is_wide=False)
