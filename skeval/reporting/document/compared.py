"""The findings on several synthetic tables, and the differences between the tables."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

from skeval.reporting.document.findings import Findings, find_all
from skeval.reporting.document.metric_titles import metric_titles
from skeval.results.comparison import Comparison
from skeval.results.recommendation import Conclusion, Lead, Recommendation
from skeval.results.result import Result
from skeval.results.suite_result import SuiteResult
from skeval.results.verdict import aspect_of, is_quoted


class Place(Enum):
    """The place of one table by the rule of recommendation."""

    RECOMMENDED = "recommended"
    TIED = "tied"
    REMAINS = "remains"
    LEAK = "leak"
    COPIES = "copies"
    VIOLATES = "violates"
    NOT_GOOD_ENOUGH = "not good enough"
    BEHIND = "behind"
    NOT_COMPARED = "not compared"


@dataclass(frozen=True)
class Margin:
    """The interval by which a table is ahead of another one. Both ends are above 0."""

    metric: str
    better: str
    worse: str
    low: float
    high: float

    @property
    def ends(self) -> tuple[float, float]:
        """The interval of the difference."""
        return self.low, self.high


@dataclass(frozen=True)
class Standing:
    """The tables that are ahead by a metric and behind no table, or why there are none."""

    ahead: tuple[str, ...] = ()
    margin: Margin | None = None
    reasons: tuple[str, ...] = ()


@dataclass(frozen=True)
class TableFindings:
    """One of the tables."""

    name: str
    found: Findings
    place: Place


@dataclass(frozen=True)
class ComparedFindings:
    """All tables, and the results of the comparison."""

    comparison: Comparison
    tables: tuple[TableFindings, ...]
    titles: dict[str, str]
    differences: Mapping[str, Sequence[Mapping[str, Any]]]  # by metric

    @property
    def recommendation(self) -> Recommendation:
        """The recommendation."""
        return self.comparison.recommendation

    @property
    def first(self) -> Findings:
        """The findings on the first table."""
        return self.tables[0].found

    @property
    def learning(self) -> str:
        """The metric of learning, or an empty text."""
        for metric in self.comparison.metrics:
            if any(is_quoted(one, "learning") for one in self.results_of(metric).values()):
                return metric
        return ""

    def results_of(self, metric: str) -> dict[str, Result]:
        """Return the results of a metric that have no error, by table."""
        return {
            table: one[metric]
            for table, one in self.comparison.items()
            if metric in one and not one[metric].error
        }

    def standing_of(self, metric: str) -> Standing:
        """Return which tables are ahead by a metric, and by how much of the nearest one."""
        margins = self.margins(metric)
        behind = {margin.worse for margin in margins}
        ahead = tuple(t for t in self.comparison if t in {m.better for m in margins} - behind)
        own = [margin for margin in margins if margin.better in ahead]
        closest = min(own, key=lambda margin: margin.low + margin.high, default=None)
        reasons = dict.fromkeys(str(row["said"]) for row in self.differences.get(metric, ()))
        return Standing(ahead, closest, () if margins else tuple(reasons))

    def margins(self, metric: str, pair: Sequence[str] = ()) -> list[Margin]:
        """Return the differences by which a table is ahead, for one pair if it is given."""
        found = []
        for row in self.differences.get(metric, ()):
            better = str(row["ahead"])
            if not better:
                continue
            worse = str(row["second"] if better == row["first"] else row["first"])
            low, high = sorted(abs(float(row[end])) for end in ("low", "high"))
            if not pair or {better, worse} == set(pair):
                found.append(Margin(metric, better, worse, low, high))
        return found

    def margin_of(self, lead: Lead) -> Margin | None:
        """Return the difference that puts a table ahead, or the clearest of several."""
        pair = (lead.better, lead.worse)
        metrics = [lead.headline] if lead.headline else self.metrics_of(lead.aspect)
        own = [m for name in metrics for m in self.margins(name, pair) if m.better == lead.better]
        return max(own, key=_clearness, default=None)

    def metrics_of(self, aspect: str) -> list[str]:
        """Return the metrics of an aspect."""
        return [
            metric
            for metric in self.comparison.metrics
            if any(aspect_of(one) == aspect for one in self.results_of(metric).values())
        ]


def _clearness(margin: Margin) -> float:
    width = margin.high - margin.low
    return (margin.low + margin.high) / width if width else math.inf


def find_compared(comparison: Comparison) -> ComparedFindings:
    """Return the findings on all tables of a comparison."""
    tables = tuple(
        TableFindings(name, found := find_all(results), _place(name, found, comparison))
        for name, results in comparison.items()
    )
    union = {name: one for results in comparison.values() for name, one in results.items()}
    differences: dict[str, list[Mapping[str, Any]]] = {}
    for row in comparison.differences.to_dict("records"):
        differences.setdefault(str(row["metric"]), []).append(row)
    return ComparedFindings(comparison, tables, metric_titles(SuiteResult(union)), differences)


def _place(table: str, found: Findings, comparison: Comparison) -> Place:
    decided = comparison.recommendation
    if found.privacy.is_alarm:
        return Place.LEAK
    if table in decided.leaking:
        return Place.COPIES
    if decided.outcome is Conclusion.INCOMPARABLE:
        return Place.NOT_COMPARED
    if table in {one.table for one in decided.violations}:
        return Place.VIOLATES
    if table in {one.table for one in decided.shortfalls}:
        return Place.NOT_GOOD_ENOUGH
    if table not in decided.tables:
        return Place.BEHIND
    kept = {Conclusion.TAKE: Place.RECOMMENDED, Conclusion.TIED: Place.TIED}
    return kept.get(decided.outcome, Place.REMAINS)
