"""Results that do not apply if the training data are the whole population."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from skeval.exceptions import WholePopulationWarning
from skeval.results.result import Result

if TYPE_CHECKING:
    from skeval.results.release import Release
WHOLE = "whole"
POPULATION = "population"  # `unmet` of a result that does not apply to a whole population
MEMBERSHIP = frozenset(
    {
        "DeltaPresence",
        "LikelihoodRatioMIA",
        "MembershipDisclosureF1",
        "MembershipInference",
        "OneRunDPAudit",
        "ShadowMembershipInference",
        "StackedMembershipInference",
        "SubjectMembership",
        "TextMembershipInference",
    }
)
_ALL_IN_TRAIN = "all units of the population are in the training data."
_OF_MEMBERSHIP = f"infers who is in the training data, which is known: {_ALL_IN_TRAIN}"
_OF_MODELS = f"evaluates models on rows that the generator never saw: {_ALL_IN_TRAIN}"
_OF_CONTRASTS = f"compares train with rows that the generator never saw: {_ALL_IN_TRAIN}"
_NO_HOLDOUT = (
    "The training data are the whole population. Therefore a holdout cannot exist, and no privacy "
    "test compares the two. Values show how much is known about individuals, but not how much of "
    "it the generator revealed. Use thresholds instead."
)
_A_HOLDOUT = (
    "The training data are declared to be the whole population, but a holdout was given. If the "
    "generator of the release saw the holdout, its tests find nothing. If not, the results "
    "describe a generator that was fitted without these rows."
)


def is_whole(release: Release | None) -> bool:
    """Return whether a release declares that the training data are the whole population."""
    return release is not None and release.population == WHOLE


def mark_meaningless_results(
    results: Mapping[str, Result], release: Release | None, *, has_holdout: bool
) -> tuple[dict[str, Result], tuple[WholePopulationWarning, ...]]:
    """Mark results that do not apply if the training data are the whole population."""
    if not is_whole(release):
        return dict(results), ()
    if has_holdout:
        return dict(results), (WholePopulationWarning(_A_HOLDOUT),)
    judged = {
        name: replace(one, error=_reason(one), unmet=POPULATION) if one.unmet == "holdout" else one
        for name, one in results.items()
    }
    return judged, (WholePopulationWarning(_NO_HOLDOUT),)


def _reason(result: Result) -> str:
    aspect = result.tags.aspect if result.tags is not None else "privacy"
    of_privacy = _OF_MEMBERSHIP if result.metric in MEMBERSHIP else _OF_CONTRASTS
    return of_privacy if aspect == "privacy" else _OF_MODELS
