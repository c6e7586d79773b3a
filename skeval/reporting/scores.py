"""What tables of scores print of a result, the same on paper, on a page and in a terminal."""

from __future__ import annotations

import math
from collections.abc import Mapping

from skeval.formatting import shown_interval
from skeval.reporting.details import number_of
from skeval.result import Result
from skeval.verdict import raises_alarm

READ_BASELINE = (
    "How to read: the baseline is what fresh real rows, the holdout, would score in the synthetic "
    "rows' place; a value is good if it is about as good as its baseline, and no number says much "
    "without it. Of utility, the baseline is what real rows teach. The 95% interval says where the "
    "value of the population lies; not every metric has one. The difference to the baseline is "
    "that of tables of as many rows: where it does not hold 0, chance does not explain it."
)
READ_SCALE = (
    "On its scale, the dot is the value, the band its interval and the green line the baseline; a "
    "ring is the value at the baseline's number of rows."
)
READ_TESTS = (
    "Of a test of privacy, the two numbers that it compared are printed first: what was tested, on "
    "the side of train, and against what. The published score has a baseline of its own, and may "
    "be better than it where a leak is found: it asks how fresh real rows would do, the test "
    "whether train fares worse than the holdout. Screens, attacks and audits can raise an alarm "
    "and never clear a release: that no leak was found by these tests does not show that there is "
    "none."
)
HOW_TO_READ = f"{READ_BASELINE} {READ_SCALE} {READ_TESTS}"

INTERVAL, DIFFERENCE = "95% interval", "Difference, 95%"
SCORE_HEADS = ("Metric", "On its scale", "Value", INTERVAL, "Baseline", DIFFERENCE, "Good")
TEST_HEADS = ("Metric", "Tested", "Against", "Score", INTERVAL, "Baseline", "Good", "Evidence")

_GOOD = {1: "high", -1: "low", 0: "between"}
_OTHER_QUESTION = (
    "The score is better than its baseline all the same: it compares this release with fresh real "
    "rows or with chance, the test compares train with the holdout within this release."
)


def good(result: Result) -> str:
    """Return which values are good, in a word."""
    return _GOOD[result.tags.sign if result.tags is not None else 0]


def parted(results: Mapping[str, Result]) -> tuple[dict[str, Result], dict[str, Result]]:
    """Return the results that are not of privacy, and those that are, without what was left out.

    Examples
    --------
    >>> from skeval import MetricTags, Result, SuiteResult
    >>> from skeval.reporting.scores import parted
    >>> screen = MetricTags("privacy", greater_is_better=True, bounds=(0, 1), evidence="screen")
    >>> scores, tests = parted(SuiteResult({"a": Result(0.5), "b": Result(1.0, tags=screen)}))
    >>> list(scores), list(tests)
    (['a'], ['b'])
    """
    measured = {name: result for name, result in results.items() if not result.error}
    tests = {n: r for n, r in measured.items() if r.tags is not None and r.tags.aspect == "privacy"}
    return {n: r for n, r in measured.items() if n not in tests}, tests


def numbers_tested(result: Result) -> tuple[str, str]:
    """Return the two numbers that a test of privacy compared; nothing where none was made.

    Examples
    --------
    >>> from skeval import Result
    >>> from skeval.reporting.scores import numbers_tested
    >>> from skeval.verdict import Contrast
    >>> shown = Contrast("rows that match", 0.12, 0.091, "of holdout rows")
    >>> numbers_tested(Result(0.1, contrast=shown))
    ('12.0%', 'of holdout rows 9.1%')
    """
    if result.contrast is None:
        return "", ""
    observed, expected = result.contrast.written
    return observed, f"{result.contrast.reference} {expected}"


def difference_of(result: Result) -> tuple[float, float] | None:
    """Return where value minus baseline lies; of utility the metric's own paired difference."""
    if result.difference is not None:
        return result.difference
    stated = result.details.get("difference")
    if result.tags is None or result.tags.aspect != "utility" or not isinstance(stated, Mapping):
        return None
    low, high = number_of(stated.get("low")), number_of(stated.get("high"))
    return None if math.isnan(low + high) else (low, high)


def shown_difference(result: Result) -> str:
    """Return the difference to the baseline in words; nothing where it is not known.

    Examples
    --------
    >>> from skeval import Result
    >>> from skeval.reporting.scores import shown_difference
    >>> shown_difference(Result(0.97, baseline=0.95, difference=(0.01, 0.03)))
    '0.0100 to 0.0300'
    """
    return shown_interval(difference_of(result))


def reason(result: Result) -> str:
    """Say why a score is better than its baseline although its test is significant.

    Parameters
    ----------
    result : Result
        Of a test of privacy; of any other nothing is said.

    Returns
    -------
    str
        Empty where the score is no better than its baseline, or the test is not significant.
    """
    if result.tags is None or result.baseline is None or not raises_alarm(result):
        return ""
    is_better = result.tags.sign * (result.value - result.baseline) > 0
    return _OTHER_QUESTION if is_better else ""
