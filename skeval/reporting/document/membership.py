"""The records that the attack on membership finds at few false alarms."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from skeval.reporting.document.details import interval_at, list_at, number_at, numbers_at
from skeval.results.result import Result
from skeval.results.suite_result import SuiteResult

METRIC = "MembershipInference"


@dataclass(frozen=True)
class FoundAt:
    """The fraction of training records that are found at a rate of false alarms."""

    false_alarms: float
    found: float
    by_chance: float


@dataclass(frozen=True)
class MembershipCurve:
    """The ROC curve of the attack, with its area and the area's one interval."""

    false_alarms: tuple[float, ...]
    found: tuple[float, ...]
    auc: float
    interval: tuple[float, float] | None
    at: tuple[FoundAt, ...]

    def found_at(self, false_alarms: float) -> FoundAt | None:
        """Return the entry at a rate of false alarms, or None."""
        return next((one for one in self.at if abs(one.false_alarms - false_alarms) < 1e-9), None)


def find_membership(results: SuiteResult) -> Result | None:
    """Return the result of the first attack on membership that has a curve."""
    known = (one for one in results.values() if one.metric == METRIC and read_curve(one))
    return next(known, None)


def read_curve(result: Result) -> MembershipCurve | None:
    """Return the curve of an attack; None if it has none."""
    false_alarms, found = (numbers_at(result.details, "curve", rate) for rate in ("fpr", "tpr"))
    if result.error or not false_alarms or len(false_alarms) != len(found):
        return None
    at = tuple(_found_at(list_at(result.details, "tpr_at_fpr")))
    return MembershipCurve(false_alarms, found, result.value, result.interval, at)


def _found_at(entries: list[Any]) -> list[FoundAt]:
    known = [entry for entry in entries if isinstance(entry, Mapping)]
    return [
        FoundAt(*(number_at(entry, key) for key in ("fpr", "tpr", "by_chance")))
        for entry in known
        if interval_at(entry, "interval")
    ]
