"""The findings on validity and utility, that is, failed checks and the scores of models."""

from __future__ import annotations

import math
from dataclasses import dataclass

from skeval.reporting.document.details import mapping_at, number_at, texts_at
from skeval.reporting.document.fidelity import outcome_of_difference
from skeval.reporting.document.outcomes import Outcome
from skeval.reporting.document.tables import results_with_value
from skeval.results.result import Result
from skeval.results.suite_result import SuiteResult
from skeval.results.verdict import is_quoted

_SLACK = 0.05  # by which a check without an interval may be below unseen rows
_OF_BOTH = math.sqrt(2.0)  # a value of unseen rows varies as much as that of synthetic rows


@dataclass(frozen=True)
class Shortfall:
    """A check of validity that is below the value of unseen rows, and its worst column."""

    metric: str
    value: float
    expected: float
    column: str = ""
    column_value: float = math.nan
    columns: tuple[str, ...] = ()


@dataclass(frozen=True)
class ValidityFindings:
    """How many checks were made, and which fall short, the worst first."""

    n_checks: int
    shortfalls: tuple[Shortfall, ...]
    is_of_keys: bool = False

    @property
    def outcome(self) -> Outcome:
        """The outcome of all checks together."""
        if not self.n_checks:
            return Outcome.NOT_EVALUATED
        return Outcome.BELOW if self.shortfalls else Outcome.AS_GOOD


def find_validity(results: SuiteResult) -> ValidityFindings:
    """Return the checks of columns, types, ranges and categories."""
    checks = results_with_value(results, "validity")
    short = [one for result in checks.values() if (one := _shortfall(result))]
    short.sort(key=lambda one: one.value - one.expected)
    is_of_keys = any(
        result.tags is not None and "relational" in result.tags.needs for result in checks.values()
    )
    return ValidityFindings(len(checks), tuple(short), is_of_keys)


def _shortfall(result: Result) -> Shortfall | None:
    best = max(result.tags.bounds) if result.tags is not None else math.nan
    expected = best if result.baseline is None else min(best, result.baseline)
    reached = result.value + _SLACK
    if result.interval:
        more = max(result.interval) - result.value
        reached = result.value + (more if result.baseline is None else _OF_BOTH * more)
    if not expected > reached:
        return None
    return Shortfall(
        result.metric,
        result.value,
        expected,
        _name_column(result),
        number_at(result.details, "worst", "value"),
        texts_at(result.details, "missing"),
    )


def outcome_of_quality(result: Result) -> Outcome:
    """Return how a value other than one of privacy compares with unseen rows."""
    if result.tags is not None and result.tags.aspect == "validity" and _shortfall(result):
        return Outcome.BELOW
    return outcome_of_difference(result)


def _name_column(result: Result) -> str:
    """Return the worst column, with its table in front if there are several tables."""
    column = str(mapping_at(result.details, "worst").get("column") or "")
    return f"{result.table}.{column}" if result.table and column else column


@dataclass(frozen=True)
class UtilityFindings:
    """The score of a model of the synthetic rows next to the score of a model of training rows."""

    outcome: Outcome
    target: str = ""
    scoring: str = ""
    value: float = math.nan
    trained_on_real: float = math.nan
    measure: str = ""  # the metric, if no metric of learning was evaluated


def find_utility(results: SuiteResult) -> UtilityFindings:
    """Return the finding of the metric that summaries quote on learning."""
    learned = [one for one in results_with_value(results).values() if is_quoted(one, "learning")]
    if not learned:
        return _find_other_utility(results)
    result = min(learned, key=lambda one: one.value - (one.baseline or 0.0))
    outcome = outcome_of_difference(result)
    return UtilityFindings(
        outcome if result.baseline is not None else Outcome.NO_TEST,
        str(result.details.get("target", "")),
        str(result.details.get("scoring", "score")),
        result.value,
        math.nan if result.baseline is None else result.baseline,
    )


def _find_other_utility(results: SuiteResult) -> UtilityFindings:
    """Return the finding of the worst metric of survival, several tables or analyses."""
    others = results_with_value(results, "utility").values()
    if not others:
        return UtilityFindings(Outcome.NOT_EVALUATED)
    worst_first = (Outcome.BELOW, Outcome.AS_GOOD, Outcome.CLOSER, Outcome.NO_TEST)
    result = min(others, key=lambda one: worst_first.index(outcome_of_difference(one)))
    outcome = outcome_of_difference(result)
    return UtilityFindings(
        outcome,
        str(result.details.get("target", "")),
        value=result.value,
        trained_on_real=math.nan if result.baseline is None else result.baseline,
        measure=result.metric or "one measure",
    )
