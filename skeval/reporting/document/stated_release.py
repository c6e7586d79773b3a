"""The band of the release file: recipient and purpose, and the thresholds that were agreed."""

from __future__ import annotations

from collections.abc import Iterator
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
MET, VIOLATED = "met", "violated"


def release_block(results: SuiteResult, details_on: str) -> Release | None:
    """Return what was stated about the release; None if nothing was."""
    stated = _stated_parts(results)
    if stated is None:
        return None
    facts = tuple(
        (label.capitalize(), (Span(shorten_end(getattr(stated, label), _MAX_LENGTH)),))
        for label in _FACTS
        if getattr(stated, label)
    )
    thresholds = sorted(_thresholds(stated, results), key=lambda one: one.is_met)
    more = len(thresholds) - _MAX_THRESHOLDS
    rest: Text = compose("{n} more, {where}", n=more, where=details_on) if more > 0 else ()
    if not facts and not thresholds:
        return None
    return Release("release", facts, tuple(thresholds[:_MAX_THRESHOLDS]), rest)


def threshold_limits(results: SuiteResult) -> dict[str, float]:
    """Return the numbers that were agreed for values, by the names of the results."""
    stated = _stated_parts(results)
    if stated is None or stated.thresholds is None:
        return {}
    limits = []
    for one in stated.thresholds.requirements:
        with suppress(InvalidParameterError):  # it names a metric that was not measured
            limits.append(one.limit(results))
    return dict(filter(None, limits))


def _stated_parts(results: SuiteResult) -> StatedRelease | None:
    return results.provenance.release if results.provenance is not None else None


def _thresholds(stated: StatedRelease, results: SuiteResult) -> Iterator[Threshold]:
    policy = gate_policy(None, stated)
    for one in outcomes_of(policy, results) if policy is not None else ():
        answer = MET if one.passed else VIOLATED
        yield Threshold(
            shorten_end(one.rule, _MAX_LENGTH),
            one.passed,
            answer,
            shorten_end(one.reason, _MAX_LENGTH),
        )


def stated_facts(results: SuiteResult) -> tuple[tuple[str, Text], ...]:
    """Return all that was stated about the release, by its label."""
    stated = _stated_parts(results)
    if stated is None:
        return ()
    facts = {"Title": stated.title, **stated.facts()}
    return tuple((label, (Span(text),)) for label, text in facts.items() if text)


def stated_thresholds(results: SuiteResult) -> tuple[Threshold, ...]:
    """Return all thresholds, those that are violated first."""
    stated = _stated_parts(results)
    if stated is None:
        return ()
    return tuple(sorted(_thresholds(stated, results), key=lambda one: one.is_met))
