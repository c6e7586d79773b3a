"""The findings on distances between rows, the most exposed records and copies."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from skeval.reporting.document.details import (
    interval_at,
    mapping_at,
    number_at,
    numbers_at,
    texts_at,
)
from skeval.reporting.document.trials import EXPOSED, Counts
from skeval.results.suite_result import SuiteResult
from skeval.results.verdict import ALARM_LEVEL, aspect_of

_KINDS = (
    *("synthetic to train", "synthetic to holdout", "holdout to train"),
    *("train to train", "synthetic to synthetic"),
)


@dataclass(frozen=True)
class DistanceCurve:
    """The quantiles of the distances from each row of a table to the closest of another."""

    kind: str
    levels: tuple[float, ...]
    distances: tuple[float, ...]


@dataclass(frozen=True)
class ExposedGroup:
    """The records for which the attack on membership works best, by distance to other records."""

    above: float
    up_to: float
    auc: float
    interval: tuple[float, float]
    auc_of_all: float


def find_distance_curves(results: SuiteResult) -> tuple[DistanceCurve, ...]:
    """Return the curves of the first metric that has quantiles of distances."""
    for result in results.values():
        quantiles = mapping_at(result.details, "quantiles")
        levels = numbers_at(quantiles, "levels")
        curves = [
            DistanceCurve(kind, levels, distances)
            for kind in _KINDS
            if len(distances := numbers_at(quantiles, kind)) == len(levels) > 1
        ]
        if curves:
            return tuple(curves)
    return ()


def find_exposed_group(results: SuiteResult) -> ExposedGroup | None:
    """Return the most exposed group, if the attack is significantly better for it."""
    for result in results.values():
        outliers = mapping_at(result.details, "outliers")
        worst, interval = mapping_at(outliers, "worst"), interval_at(outliers, "worst", "interval")
        # the largest of several groups is above the average even without a leak
        if interval is None or not number_at(outliers, "p_value") < ALARM_LEVEL:
            continue
        above, up_to, auc = (number_at(worst, key) for key in ("above", "up_to", "auc"))
        if result.value < interval[0] <= auc:
            return ExposedGroup(above, up_to, auc, interval, result.value)
    return None


def find_exposed_columns(results: SuiteResult, alarms: Iterable[str]) -> tuple[str, ...]:
    """Return the columns that significant tests name, each once."""
    own = (results[alarm] for alarm in alarms if alarm in results)  # a verdict has all tables
    names = (name for result in own for name in texts_at(result.details, EXPOSED))
    return tuple(dict.fromkeys(names))


def find_most_confident(results: SuiteResult) -> Counts | None:
    """Return how many of the records that the attack ranks highest are training records."""
    for result in results.values():
        known = result.details.get("precision_at")
        first = known[0] if isinstance(known, list | tuple) and known else None
        k, fraction = number_at(first, "k"), number_at(first, "precision")
        if k >= 1.0 and 0.0 <= fraction <= 1.0:
            return Counts(round(k * fraction), k)
    return None


def find_unique_rows(results: SuiteResult) -> Counts | None:
    """Return how many real rows have a combination of values that no other row has."""
    for result in results.values():
        n, n_unique = (number_at(result.details, "alone", key) for key in ("n", "n_alone"))
        if n_unique <= n:
            return Counts(n_unique, n)
    return None


@dataclass(frozen=True)
class WorstGroup:
    """The group of a column for which a metric of privacy is worst."""

    metric: str
    by: str
    group: str
    value: float
    mean: float


def find_worst_groups(results: SuiteResult) -> tuple[WorstGroup, ...]:
    """Return the worst group of each metric of privacy that was evaluated by group."""
    found = []
    for result in results.values():
        by, worst = result.details.get("by"), mapping_at(result.details, "worst")
        if aspect_of(result) == "privacy" and isinstance(by, str) and "column" in worst:
            value, mean = number_at(worst, "value"), number_at(result.details, "mean")
            found.append(WorstGroup(result.metric, by, str(worst["column"]), value, mean))
    return tuple(found)
