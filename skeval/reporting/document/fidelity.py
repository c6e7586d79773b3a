"""The findings on fidelity, which are five values on one scale from 0 to 100."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum

from skeval.reporting.document.details import number_at
from skeval.reporting.document.outcomes import Outcome
from skeval.reporting.document.tables import results_with_value
from skeval.results.result import Result
from skeval.results.suite_result import SuiteResult


class Scale(Enum):
    """The subject that one of the five values compares."""

    NUMBERS = "numbers"
    CATEGORIES = "categories"
    PAIRS = "pairs"
    ASSOCIATIONS = "associations"
    ALL_COLUMNS = "all columns"


Ends = tuple[float, float]


@dataclass(frozen=True)
class Kept:
    """One value from 0 to 100 next to the value of unseen rows."""

    scale: Scale
    outcome: Outcome
    result: str = ""
    value: float = math.nan
    unseen: float | None = None
    interval: Ends | None = None

    @property
    def loss(self) -> float:
        """How far the value is below the value of unseen rows, or 0 if that value is unknown."""
        return 0.0 if self.unseen is None else self.unseen - self.value


@dataclass(frozen=True)
class FidelityFindings:
    """The five values and their common outcome."""

    kept: tuple[Kept, ...]
    further: Mapping[str, Outcome] = field(default_factory=dict)  # for texts, keys and sequences

    @property
    def outcome(self) -> Outcome:
        """The worst outcome of the five."""
        found = {one.outcome for one in self.kept}
        order = (Outcome.BELOW, Outcome.CLOSER, Outcome.AS_GOOD, Outcome.NO_TEST)
        return next((one for one in order if one in found), Outcome.NOT_EVALUATED)

    @property
    def deciding(self) -> Kept | None:
        """The value that decides the outcome, because it differs most from unseen rows."""
        own = [one for one in self.kept if one.outcome is self.outcome and one.result]
        if self.outcome in (Outcome.AS_GOOD, Outcome.NO_TEST):
            pairs = self.get(Scale.PAIRS)
            return pairs if pairs in own else next(iter(own), None)
        sign = -1.0 if self.outcome is Outcome.CLOSER else 1.0
        return max(own, key=lambda one: sign * one.loss, default=None)

    def get(self, scale: Scale) -> Kept:
        """Return one of the five."""
        return next(one for one in self.kept if one.scale is scale)

    @property
    def is_relation_lost(self) -> bool:
        """Whether pairs of columns or their associations are below the baseline."""
        pairs = (self.get(scale) for scale in (Scale.PAIRS, Scale.ASSOCIATIONS))
        return any(one.outcome is Outcome.BELOW for one in pairs)


_METRICS: dict[Scale, tuple[str, Callable[[float], float]]] = {
    Scale.NUMBERS: ("KSComplement", lambda value: 100.0 * value),
    Scale.CATEGORIES: ("TVComplement", lambda value: 100.0 * value),
    Scale.PAIRS: ("SimilarityScore", lambda value: value),
    Scale.ASSOCIATIONS: ("PhikMatrixDifference", lambda value: 100.0 * (1.0 - value)),
    Scale.ALL_COLUMNS: ("RelationScore", lambda value: 100.0 * value),
}


_FURTHER = ("relational", "text")


def find_fidelity(results: SuiteResult) -> FidelityFindings:
    """Return the five values of fidelity."""
    further = {
        name: outcome_of_difference(result)
        for name, result in results_with_value(results, "fidelity").items()
        if result.tags is not None and not result.tags.needs.isdisjoint(_FURTHER)
    }
    return FidelityFindings(tuple(_find(scale, results) for scale in Scale), further)


def _find(scale: Scale, results: SuiteResult) -> Kept:
    metric, to_hundred = _METRICS[scale]
    own = {name: one for name, one in results_with_value(results).items() if one.metric == metric}
    if not own:
        return Kept(scale, Outcome.NOT_EVALUATED)
    # if there are several tables, the one that is worst compared with its unseen rows
    name, result = max(own.items(), key=lambda item: _shortfall(item[1]))
    return Kept(
        scale,
        outcome_of_difference(result),
        name,
        to_hundred(result.value),
        None if result.baseline is None else to_hundred(result.baseline),
        _map_interval(result, to_hundred),
    )


def _shortfall(result: Result) -> float:
    sign = result.tags.sign if result.tags is not None else 1
    baseline = result.value if result.baseline is None else result.baseline
    return sign * (baseline - result.value)


def _map_interval(result: Result, to_hundred: Callable[[float], float]) -> Ends | None:
    if result.interval is None:
        return None
    low, high = sorted(map(to_hundred, result.interval))
    return max(0.0, low), min(100.0, high)


def outcome_of_difference(result: Result) -> Outcome:
    """Return how a value compares with its baseline, by the interval of the difference."""
    difference = difference_to_unseen(result)
    sign = result.tags.sign if result.tags is not None else 0
    if difference is None or sign == 0 or "gap" in result.details:
        return Outcome.NO_TEST
    low, high = sorted(sign * end for end in difference)
    if low <= 0.0 <= high:
        return Outcome.AS_GOOD
    if high < 0.0:
        return Outcome.BELOW
    # a model of synthetic rows may be better than one of real rows, which is not memorizing
    of_utility = result.tags is not None and result.tags.aspect == "utility"
    return Outcome.AS_GOOD if of_utility else Outcome.CLOSER


def difference_to_unseen(result: Result) -> Ends | None:
    """Return the interval of value minus baseline, which metrics of utility state themselves."""
    if result.difference is not None:
        return result.difference
    if result.tags is None or result.tags.aspect != "utility":
        return None
    low, high = (number_at(result.details, "difference", end) for end in ("low", "high"))
    return None if math.isnan(low + high) else (low, high)
