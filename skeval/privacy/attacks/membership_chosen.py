"""The attack that is reported: its headline numbers, corrected for the choice among several."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from skeval.exceptions import MetricWarning
from skeval.privacy.attacks._membership_scores import MemberScores
from skeval.privacy.attacks.membership_rates import Halves
from skeval.stats.auc import auc_p_value, delong
from skeval.stats.intervals import clopper_pearson
from skeval.stats.multiple_tests import holm
from skeval.stats.relabelling import Relabelled
from skeval.stats.roc import label_tests

__all__ = ["Chosen", "by_auc", "by_rate", "told_of"]

_FEW = 50
_ALARM = 0.025
_FEW_ROWS = (
    "{members} train rows and {others} holdout rows are scored; with fewer than {few} of either, "
    "rates at small false positive rates say little."
)
_OUTLIERS = (
    "The average over all rows hides it: among those that lie {place}, members and others are told "
    "apart (AUC {auc:.2f}, p {p:.1g} after Bonferroni)."
)
_FOUND = (
    "The average over all rows hides it: {tpr:.1%} of the train rows are found at {fpr:.1%} false "
    "positives at most, which random labels reach in {p:.1%} of {n} trials."
)


@dataclass(frozen=True)
class Chosen:
    """An attack, and the others it was chosen among.

    Attributes
    ----------
    name : str
        Of the attack.
    rows : mapping of str to MemberScores
        The scores of the reported rows, by each attack.
    halves : Halves
        All scored rows of the attack, in two.
    split : bool
        Whether the choice was made on other rows than those reported.
    """

    name: str
    rows: Mapping[str, MemberScores]
    halves: Halves
    split: bool

    @property
    def scores(self) -> MemberScores:
        """The reported rows' scores by the attack."""
        return self.rows[self.name]

    @property
    def n_tried(self) -> int:
        """Number of attacks to correct for."""
        return 1 if self.split else len(self.rows)

    @cached_property
    def told(self) -> dict[str, dict[str, Any]]:
        """AUC, interval and p-values of each attack on the reported rows."""
        areas = {name: delong(one.members, one.others) for name, one in self.rows.items()}
        p_values = [auc_p_value(one.members, one.others) for one in self.rows.values()]
        return {
            name: {
                "auc": areas[name].value,
                "interval": list(areas[name].interval),
                "standard_error": areas[name].standard_error,
                "p_value": p_value,
                "holm_p_value": adjusted,
                "n_members": self.rows[name].members.size,
                "n_others": self.rows[name].others.size,
            }
            for name, p_value, adjusted in zip(areas, p_values, holm(p_values), strict=True)
        }


def by_auc(chosen: Chosen) -> dict[str, Any]:
    """Return value, interval, p-value and baseline of the AUC.

    With several attacks on the same rows the interval is simultaneous, and the p-value is the
    smallest of Holm's.
    """
    confidence = 1.0 - 0.05 / chosen.n_tried
    tried = [chosen.scores] if chosen.split else list(chosen.rows.values())
    areas = [delong(one.members, one.others, confidence) for one in tried]
    least = min(one["holm_p_value"] for one in chosen.told.values())
    return {
        "value": chosen.told[chosen.name]["auc"],
        "interval": tuple(max(area.interval[i] for area in areas) for i in (0, 1)),
        "p_value": chosen.told[chosen.name]["p_value"] if chosen.split else least,
        "baseline": 0.5,
    }


def by_rate(
    chosen: Chosen, details: Mapping[str, Any], alpha: float, n_permutations: int, seed: int
) -> dict[str, Any]:
    """Return value, interval, p-value and baseline of the true positive rate at `alpha`."""

    def test(scores: MemberScores) -> Relabelled:
        settings: dict[str, Any] = {"n_permutations": n_permutations, "seed": seed}
        (found,), _ = label_tests(scores.members, scores.others, [alpha], **settings)
        return found

    first, several = details["tpr_at_fpr"][0], chosen.n_tried
    n_members = chosen.scores.members.size
    tests = [test(one) for one in chosen.rows.values()] if several > 1 else []
    p_values = [first["p_value"], *(found.p_value for found in tests)]
    n_hits = round(first["tpr"] * n_members)
    return {
        "value": first["tpr"],
        "interval": clopper_pearson(n_hits, n_members, 1.0 - 0.05 / several),
        "p_value": min(1.0, several * min(p_values)),
        "baseline": first["by_chance"],
    }


def told_of(details: Mapping[str, Any], n_permutations: int) -> tuple[MetricWarning, ...]:
    """Return what must be said: few rows, or a leak of some rows that the average hides."""
    found = []
    n_members, n_others = details["n_members"], details["n_others"]
    if min(n_members, n_others) < _FEW:
        text = _FEW_ROWS.format(members=n_members, others=n_others, few=_FEW)
        found.append(MetricWarning(text))
    if details["attacks"][details["attack"]]["p_value"] < _ALARM:
        return tuple(found)
    rates = [rate for rate in details["tpr_at_fpr"] if not np.isnan(rate["p_value"])]
    best = min(rates, key=lambda rate: (rate["p_value"], rate["fpr"]), default=None)
    if best and len(rates) * best["p_value"] < _ALARM:
        told = {"tpr": best["tpr"], "fpr": best["fpr"], "p": best["p_value"]}
        found.append(MetricWarning(_FOUND.format(**told, n=n_permutations + 1)))
    outliers = details["outliers"]
    if outliers and outliers["p_value"] < _ALARM:
        worst = outliers["worst"]
        text = _OUTLIERS.format(place=_place(worst), auc=worst["auc"], p=outliers["p_value"])
        found.append(MetricWarning(text))
    return tuple(found)


def _place(group: Mapping[str, Any]) -> str:
    if group["up_to"] >= 1.0:
        return f"farthest from other rows (the outermost {1.0 - group['above']:.0%})"
    return (
        f"between {group['above']:.0%} and {group['up_to']:.0%} of all in the order from the most "
        "common to the farthest from others"
    )
