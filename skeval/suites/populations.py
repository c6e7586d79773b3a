"""Whole populations: what still means something where every unit is in train, and what does not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from skeval.exceptions import WholePopulationWarning
from skeval.results.result import Result

if TYPE_CHECKING:
    from skeval.results.release import Release
WHOLE = "whole"
POPULATION = "population"  # what a result lacks that means nothing of a whole population
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
_ALL_IN_TRAIN = "all units of the population are in train."
_OF_MEMBERSHIP = f"asks who was in train, which is no secret: {_ALL_IN_TRAIN}"
_OF_MODELS = f"asks how models do on rows that the generator never saw: {_ALL_IN_TRAIN}"
_OF_CONTRASTS = f"compares train with rows that the generator never saw: {_ALL_IN_TRAIN}"
_NO_HOLDOUT = (
    "Train is the whole population: no holdout can exist, and no test of privacy compares train "
    "with one. Values say how much is known of persons, not how much of it the generator gave "
    "away: agree on thresholds."
)
_A_HOLDOUT = (
    "Train is said to be the whole population, and there is a holdout. If the generator of the "
    "release saw the holdout, its tests find nothing; if not, the results are those of a generator "
    "fitted without these rows."
)


def is_whole(release: Release | None) -> bool:
    """Return whether a release states that train is the whole population."""
    return release is not None and release.population == WHOLE


def mark_meaningless_results(
    results: Mapping[str, Result], release: Release | None, *, has_holdout: bool
) -> tuple[dict[str, Result], tuple[WholePopulationWarning, ...]]:
    """Say of results what means nothing, where train is stated to be the whole population."""
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
