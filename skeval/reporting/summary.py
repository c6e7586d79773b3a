"""What a suite found, in two sentences."""

from __future__ import annotations

import math

from skeval.result import Result, SuiteResult

__all__ = ["raises_alarm", "summary"]

_LEVEL = 0.025


def raises_alarm(result: Result) -> bool:
    """Tell whether a test is significant at 2.5%; without a p-value, by interval and baseline."""
    if result.p_value is not None and result.tags is not None and result.tags.aspect == "privacy":
        return result.p_value < _LEVEL
    if result.tags is None or result.baseline is None or result.interval is None:
        return False
    low, high = result.interval
    worse = {1: high < result.baseline, -1: low > result.baseline, 0: False}
    return worse[result.tags.sign]


def summary(result: SuiteResult) -> str:
    """Say in a sentence or two how alike the tables are and whether a leak was found.

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
    >>> from skeval.reporting.summary import summary
    >>> print(summary(SuiteResult({"screen": leak})))
    Leak found: screen is worse than chance allows (0.1, fresh real rows: 0.98).
    """
    return " ".join(sentence for sentence in (_fidelity(result), _privacy(result)) if sentence)


def _fidelity(result: SuiteResult) -> str:
    found = next((r for r in result.values() if r.metric == "SimilarityScore"), None)
    if found is None or math.isnan(found.value):
        return ""
    beside = "" if found.baseline is None else f", where fresh real rows score {found.baseline:.1f}"
    worst = " and ".join(found.details["worst"]["columns"])
    return (
        f"Columns and pairs agree with train at {found.value:.1f} of 100{beside}; least in {worst}."
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
    compared = sum(r.baseline is not None for r in tests.values())
    if not compared:
        return "No leak can be looked for without holdout rows: the screens have no baseline."
    screens = "one distance screen" if compared == 1 else f"{compared} distance screens"
    return f"No leak found by {screens}. Screens can raise an alarm and never clear a release."
