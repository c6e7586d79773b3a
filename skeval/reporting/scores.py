"""What tables of scores print of a result, the same on paper, on a page and in a terminal.

Entries of details may be missing or of another form than expected.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from skeval.results.result import Result
from skeval.results.verdict import raises_alarm
from skeval.utils.formatting import as_float, shown_interval

UNREADABLE = (AttributeError, IndexError, KeyError, TypeError, ValueError, ZeroDivisionError)
"""What is raised of details that have another form than what reads them expects."""


def entries(content: Any, *keys: str) -> Mapping[str, Any]:
    """Return the mapping under these keys, each within the one before; empty if there is none."""
    for key in keys:
        content = content.get(key) if isinstance(content, Mapping) else None
    return content if isinstance(content, Mapping) else {}


def number_of(value: Any) -> float:
    """Return a number as a float; nan where it is none."""
    try:
        return as_float(value)
    except UNREADABLE:
        return float("nan")


def numbers_of(content: Any, *keys: str) -> dict[str, float]:
    """Return the numbers by name under these keys; nan where one is none."""
    return {str(name): number_of(value) for name, value in entries(content, *keys).items()}


def matrix_of(content: Any, key: str, size: int) -> np.ndarray | None:
    """Return a square matrix of this size; None where there is none."""
    try:
        matrix = np.asarray(entries(content).get(key), dtype=float)
    except UNREADABLE:
        return None
    return matrix if matrix.shape == (size, size) else None


def names_of(content: Any, key: str = "names") -> list[str]:
    """Return the names in a list of them; none where it is no list."""
    names = entries(content).get(key)
    return [str(name) for name in names] if isinstance(names, list | tuple) else []


READ_BASELINE = (
    "How to read: a value is good if it is about as good as its baseline, which is what real rows "
    "reach in the synthetic rows' place. A difference whose 95% interval holds 0 may be chance."
)
READ_SCALE = (
    "On its scale: dot, the value; band, its interval; green line, the baseline; ring, the value "
    "at the baseline's number of rows."
)
READ_TESTS = (
    "A test of privacy asks whether train fares worse than the holdout: it can raise an alarm and "
    "never clears a release."
)
HOW_TO_READ = f"{READ_BASELINE} {READ_TESTS} {READ_SCALE}"

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
    """Return the results that are not of privacy, and those that are, without what was left out."""
    measured = {name: result for name, result in results.items() if not result.error}
    tests = {n: r for n, r in measured.items() if r.tags is not None and r.tags.aspect == "privacy"}
    return {n: r for n, r in measured.items() if n not in tests}, tests


def numbers_tested(result: Result) -> tuple[str, str]:
    """Return the two numbers that a test of privacy compared; nothing where none was made."""
    if result.contrast is None:
        return "", ""
    return result.contrast.numbers_in_words[0], result.contrast.against


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
    """Return the difference to the baseline in words; nothing where it is not known."""
    return shown_interval(difference_of(result))


def reason(result: Result) -> str:
    """Say why a score is better than its baseline although its test is significant."""
    if result.tags is None or result.baseline is None or not raises_alarm(result):
        return ""
    is_better = result.tags.sign * (result.value - result.baseline) > 0
    return _OTHER_QUESTION if is_better else ""
