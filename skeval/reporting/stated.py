"""What was stated of a release, and what of the thresholds that were agreed before it holds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import replace

from skeval.exceptions import InvalidParameterError
from skeval.reporting.layout import Facts, Grid, Part, Words
from skeval.results.policy import Policy
from skeval.results.release import NOT_STATED, Release, gate_policy, outcomes_of
from skeval.results.requirement import RuleOutcome
from skeval.results.suite_result import SuiteResult

HELD, VIOLATED = "held", "violated"
_LABEL = {True: "calm", False: "alarm"}
_NOTHING = (
    "Not stated: title, recipient, purpose, thresholds. A release file states them, such as "
    "skeval init-release writes."
)


def stated_parts(results: Mapping[str, SuiteResult]) -> Iterator[Part]:
    """Yield what was stated of a release and the outcome of its thresholds, for the first page."""
    release = release_of(results)
    if release is None:
        yield Words(_NOTHING, "quiet")
        return
    if known := tuple(one for one in release.facts().items() if one[1] != NOT_STATED):
        yield Facts(known)
    if release.missing:
        yield Words(f"Not stated: {', '.join(release.missing)}.", "quiet")
    agreed = gate_policy(None, release)
    if agreed is not None:
        rules = list(outcomes(agreed, results))
        yield Grid(
            ("Agreed before", "Measured", "Outcome"),
            tuple((one.rule, one.reason, HELD if one.passed else VIOLATED) for one in rules),
            (0.36, 0.51, 0.13),
            alarms=tuple((i, 2) for i, one in enumerate(rules) if not one.passed),
            labels=tuple((i, 2, _LABEL[one.passed]) for i, one in enumerate(rules)),
        )


def agreed_limits(results: SuiteResult) -> dict[str, float]:
    """Return the numbers that were agreed before for values, by the names of the results."""
    release = release_of({"": results})
    if release is None or release.thresholds is None:
        return {}
    limits = []
    for one in release.thresholds.requirements:
        with suppress(InvalidParameterError):  # it names what was not measured
            limits.append(one.limit(results))
    return dict(filter(None, limits))


def release_of(results: Mapping[str, SuiteResult]) -> Release | None:
    """Return what was stated; candidates of one evaluation have the same."""
    known = (one.provenance for one in results.values() if one.provenance is not None)
    return next((one.release for one in known if one.release is not None), None)


def outcomes(policy: Policy, results: Mapping[str, SuiteResult]) -> Iterator[RuleOutcome]:
    """Yield the outcome of each rule; what cannot be judged is violated."""
    for name, one in results.items():
        for outcome in outcomes_of(policy, one):
            yield replace(outcome, rule=f"{name}: {outcome.rule}") if name else outcome
