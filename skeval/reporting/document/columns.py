"""The findings on single columns, which are compared with the training data."""

from __future__ import annotations

import math
from dataclasses import dataclass

from skeval.reporting.document.details import mapping_at, number_at
from skeval.reporting.document.outcomes import Outcome
from skeval.reporting.document.shares import Shares, read_shares
from skeval.results.suite_result import SuiteResult
from skeval.results.verdict import TEST_LEVEL

_METRICS = ("KSComplement", "TVComplement")
_MIN_GAP, _MIN_CLOSER, _MIN_WITHOUT_UNSEEN = 0.02, 0.05, 0.05
_MIN_COVERAGE, _MIN_MISSING = 0.9, 0.01


@dataclass(frozen=True)
class ColumnFinding:
    """The similarity of one column and further facts about it."""

    column: str
    kind: str
    outcome: Outcome
    value: float
    unseen: float | None
    shares: Shares | None
    range_covered: float = math.nan
    categories_covered: float = math.nan
    missing: float = math.nan
    missing_in_real: float = math.nan

    @property
    def gap(self) -> float:
        """How far the value is below the value of unseen rows, or below 1."""
        return (1.0 if self.unseen is None else self.unseen) - self.value


def find_columns(results: SuiteResult) -> tuple[ColumnFinding, ...]:
    """Return all columns with a similarity, the worst first."""
    known = results.provenance.columns if results.provenance is not None else ()
    kinds = {one.column: one.kind for one in known}
    found = []
    for result in results.values():
        if result.metric not in _METRICS or result.error:
            continue
        for column in mapping_at(result.details, "columns"):
            value = number_at(result.details, "columns", column)
            unseen = number_at(result.details, "baseline_columns", column)
            p_value = number_at(result.details, "p_values", column)
            if math.isnan(value):
                continue
            found.append(
                ColumnFinding(
                    column,
                    kinds.get(column, ""),
                    _outcome(value, unseen, p_value),
                    value,
                    None if math.isnan(unseen) else unseen,
                    next(
                        filter(None, (read_shares(one, column) for one in results.values())), None
                    ),
                    _number(results, "RangeCoverage", "columns", column),
                    _number(results, "CategoryCoverage", "columns", column),
                    _number(results, "MissingValueSimilarity", "shares", column, "synthetic"),
                    _number(results, "MissingValueSimilarity", "shares", column, "train"),
                )
            )
    return tuple(sorted(found, key=lambda one: (one.outcome is not Outcome.BELOW, -one.gap)))


def _outcome(value: float, unseen: float, p_value: float) -> Outcome:
    if math.isnan(unseen):
        return Outcome.NO_TEST if 1.0 - value > _MIN_WITHOUT_UNSEEN else Outcome.AS_GOOD
    if p_value > TEST_LEVEL:
        return Outcome.AS_GOOD
    if unseen - value > _MIN_GAP:
        return Outcome.BELOW
    return Outcome.CLOSER if value - unseen > _MIN_CLOSER else Outcome.AS_GOOD


def _number(results: SuiteResult, metric: str, *keys: str) -> float:
    own = (result for result in results.values() if result.metric == metric and not result.error)
    return next((number_at(result.details, *keys) for result in own), math.nan)


def worth_mentioning(finding: ColumnFinding) -> dict[str, float]:
    """Return the facts on a column that a sentence should state, by their kind."""
    facts = {}
    if finding.range_covered < _MIN_COVERAGE:
        facts["range"] = finding.range_covered
    if finding.categories_covered < _MIN_COVERAGE:
        facts["categories"] = finding.categories_covered
    if abs(finding.missing - finding.missing_in_real) > _MIN_MISSING:
        facts["missing"] = finding.missing
    return facts
