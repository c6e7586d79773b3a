"""The band with the facts and the agreed thresholds of the release file."""

from __future__ import annotations

from contextlib import suppress

from skeval.exceptions import InvalidParameterError
from skeval.reporting.document.blocks import Release, Threshold
from skeval.reporting.document.shortening import shorten_end
from skeval.reporting.document.spans import Span, Text, compose
from skeval.results.release import Release as StatedRelease
from skeval.results.release import gate_policy, outcomes_of
from skeval.results.suite_result import SuiteResult

_FACTS = ("title", "recipient", "purpose")
_MAX_THRESHOLDS = 3
_MAX_LENGTH = 90  # letters of a fact or a rule on the first page


def release_block(results: SuiteResult) -> Release | None:
    """Return the facts and thresholds of the release file, or None."""
    stated = _stated_release(results)
    if stated is None:
        return None
    facts = tuple(
        (label.capitalize(), (Span(shorten_end(getattr(stated, label), _MAX_LENGTH)),))
        for label in _FACTS
        if getattr(stated, label)
    )
    thresholds = stated_thresholds(results)
    more = len(thresholds) - _MAX_THRESHOLDS
    rest = compose(f"{more} more, see the page on provenance") if more > 0 else ()
    if not facts and not thresholds:
        return None
    return Release("release", facts, thresholds[:_MAX_THRESHOLDS], rest)


def threshold_limits(results: SuiteResult) -> dict[str, float]:
    """Return the numbers that were agreed for values, by the names of the results."""
    stated = _stated_release(results)
    if stated is None or stated.thresholds is None:
        return {}
    limits = []
    for one in stated.thresholds.requirements:
        with suppress(InvalidParameterError):  # it names a metric that was not measured
            limits.append(one.limit(results))
    return dict(filter(None, limits))


def _stated_release(results: SuiteResult) -> StatedRelease | None:
    return results.provenance.release if results.provenance is not None else None


def stated_facts(results: SuiteResult) -> tuple[tuple[str, Text], ...]:
    """Return all that was stated about the release, by its label."""
    stated = _stated_release(results)
    if stated is None:
        return ()
    facts = {"Title": stated.title, **stated.facts()}
    return tuple((label, (Span(text),)) for label, text in facts.items() if text)


def stated_thresholds(results: SuiteResult) -> tuple[Threshold, ...]:
    """Return all thresholds, those that are violated first."""
    policy = gate_policy(None, _stated_release(results))
    outcomes = outcomes_of(policy, results) if policy is not None else ()
    return tuple(
        Threshold(
            shorten_end(one.rule, _MAX_LENGTH),
            one.passed,
            "met" if one.passed else "violated",
            shorten_end(one.reason, _MAX_LENGTH),
        )
        for one in sorted(outcomes, key=lambda one: one.passed)
    )
