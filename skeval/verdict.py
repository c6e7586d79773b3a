"""What a result may conclude: the levels of its tests, alarms, and a suite in two sentences."""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from skeval.result import Result, SuiteResult

# One-sided, so that an alarm and a two-sided interval at 95% say the same.
ALARM_LEVEL = 0.025
# Of tests of the inputs or of a metric itself, many of which are made unasked: they warn.
WARNING_LEVEL = 0.01
# Of tests whose outcome a result reports as passed or significant.
TEST_LEVEL = 0.05
_KINDS = {
    "screen": "distance screen",
    "attack": "attack",
    "audit": "audit",
    "disclosure": "measure of disclosure",
}


def raises_alarm(result: Result) -> bool:
    """Tell whether a test is significant at 2.5%; without a p-value, by interval and baseline."""
    if result.p_value is not None and result.tags is not None and result.tags.aspect == "privacy":
        return result.p_value < ALARM_LEVEL
    if result.tags is None or result.baseline is None or result.interval is None:
        return False
    low, high = result.interval
    worse = {1: high < result.baseline, -1: low > result.baseline, 0: False}
    return worse[result.tags.sign]


def summary(result: SuiteResult) -> str:
    """Say in a few sentences how alike the tables are and whether a leak was found.

    Parameters
    ----------
    result : SuiteResult
        Of any suite; what it lacks is not spoken of.

    Returns
    -------
    str
        It never says that data are private or safe: screens can raise an alarm only.

    Examples
    --------
    >>> from skeval import MetricTags, Result, SuiteResult
    >>> tags = MetricTags("privacy", greater_is_better=True, bounds=(0, 1), evidence="screen")
    >>> leak = Result(0.1, interval=(0.05, 0.2), baseline=0.98, metric="Screen", tags=tags)
    >>> from skeval.verdict import summary
    >>> print(summary(SuiteResult({"screen": leak})))
    Leak found: screen is worse than chance allows (0.1, fresh real rows: 0.98).
    """
    sentences = [part(result) for part in (_fidelity, _utility, _privacy)]
    return " ".join(filter(None, sentences))


def _measured(result: SuiteResult, metric: str) -> Result | None:
    """Return the first result of a metric, if it has a value."""
    first = next((r for r in result.values() if r.metric == metric), None)
    return None if first is None or math.isnan(first.value) else first


def _fidelity(result: SuiteResult) -> str:
    score = _measured(result, "SimilarityScore")
    if score is None:
        return ""
    fresh = "" if score.baseline is None else f", where fresh real rows score {score.baseline:.1f}"
    worst = " and ".join(score.details["worst"]["columns"])
    return (
        f"Columns and pairs agree with train at {score.value:.1f} of 100{fresh}; least in {worst}."
    )


def _utility(result: SuiteResult) -> str:
    tstr = _measured(result, "TSTR")
    if tstr is None or tstr.baseline is None:
        return ""
    return (
        f"A model that learns from it reaches {tstr.value:.3g} on holdout rows, one that learns "
        f"from train {tstr.baseline:.3g}."
    )


def _privacy(result: SuiteResult) -> str:
    tests = {
        name: r
        for name, r in result.items()
        if r.tags is not None and r.tags.aspect == "privacy" and not math.isnan(r.value)
    }
    if not tests:
        return ""
    alarms = [
        f"{name} is worse than chance allows ({r.value:.3g}, fresh real rows: {r.baseline:.3g})"
        for name, r in tests.items()
        if raises_alarm(r)
    ]
    if alarms:
        return f"Leak found: {'; '.join(alarms)}."
    compared = Counter(r.row()["evidence"] for r in tests.values() if r.baseline is not None)
    if not compared:
        return "No leak can be looked for without holdout rows: the screens have no baseline."
    kinds = [
        f"one {what}" if compared[kind] == 1 else f"{compared[kind]} {what}s"
        for kind, what in _KINDS.items()
        if compared[kind]
    ]
    listed = " and ".join(filter(None, [", ".join(kinds[:-1]), kinds[-1]]))
    return f"No leak found by {listed}. Such tests can raise an alarm and never clear a release."
