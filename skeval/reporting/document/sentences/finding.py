"""The sentences on one metric, its worst place and its baseline."""

from __future__ import annotations

import math
from collections.abc import Mapping

from skeval.reporting.document.details import mapping_at, number_at, texts_at
from skeval.reporting.document.fidelity import difference_to_unseen
from skeval.reporting.document.numbers import count, score
from skeval.results.result import Result
from skeval.results.verdict import WARNING_LEVEL, aspect_of, raises_alarm

_LEAK_OR_SHIFT = (
    "A leak was found, or the division into training data and holdout looks like a leak."
)
_OTHER_QUESTION = (
    "The score is better than its baseline although a leak was found, because the score compares "
    "the synthetic rows with unseen rows or with chance, whereas the test compares training rows "
    "with unseen rows."
)
_READS_AS_COPIES = (
    "Unseen synthetic rows are classified as real rows more often than real rows are, which "
    "indicates copies of training rows and not fidelity."
)


def finding_sentences(
    result: Result, is_alarm: bool | None = None, is_shifted: bool = False
) -> str:
    """Return the finding of one metric, or an empty text if the metric failed."""
    if result.error:
        return ""
    if math.isnan(result.value):
        return " ".join(["Not evaluated.", *map(str, result.warnings)])
    compared = _comparison_words(result, is_alarm, is_shifted)
    parts = [result.summary, _worst(result), _at_baseline_size(result), compared]
    return " ".join(filter(None, parts))


def _worst(result: Result) -> str:
    worst = mapping_at(result.details, "worst")
    value, columns = score(number_at(worst, "value")), texts_at(worst, "columns")
    if "column" in worst:
        return f"Worst {result.details.get('unit', 'column')}: {worst['column']} ({value})."
    if len(columns) != 2:
        return ""
    first, second = columns
    if first == second:
        return f"Worst column: {first} ({value})."
    return f"Worst pair: {first} and {second} ({value})."


def _at_baseline_size(result: Result) -> str:
    n_rows, value = (number_at(result.details, "at_baseline_size", k) for k in ("n_rows", "value"))
    if math.isnan(n_rows + value):
        return ""
    return f"With the {count(n_rows)} rows of the baseline, the value is {score(value)}."


def _comparison_words(result: Result, is_alarm: bool | None, is_shifted: bool) -> str:
    """Return the result of the test, or how the value compares with its baseline."""
    if result.tags is None or result.baseline is None or result.tags.sign == 0:
        return ""
    if "gap" in result.details or (math.isinf(result.value) and math.isinf(result.baseline)):
        return ""  # more is not better for a likelihood
    if aspect_of(result) == "privacy":
        return _test_words(result, is_alarm, is_shifted)
    if aspect_of(result) == "utility" and "holdout" in result.tags.needs:
        return ""  # the metric's own sentence compares both models
    split = result.details.get("split")
    if isinstance(split, Mapping) and number_at(split, "p_value_below") < WARNING_LEVEL:
        return _READS_AS_COPIES
    return _beside_unseen(result, result.baseline, result.tags.sign)


def _test_words(result: Result, is_alarm: bool | None, is_shifted: bool) -> str:
    if result.p_value is None:
        return ""
    if not (raises_alarm(result) if is_alarm is None else is_alarm):
        copies = [one.leak_sentence or one.some for one in result.copies]
        said = "; ".join(filter(None, copies)).rstrip(".")
        return f"{said[0].upper()}{said[1:]}." if said else "No leak found by this test."
    lead = _LEAK_OR_SHIFT if is_shifted else "Leak found."
    return " ".join(filter(None, (lead, other_question(result))))


def other_question(result: Result) -> str:
    """Return why a score is better than its baseline although its test is significant."""
    if result.tags is None or result.baseline is None or not raises_alarm(result):
        return ""
    is_better = result.tags.sign * (result.value - result.baseline) > 0
    return _OTHER_QUESTION if is_better else ""


def _beside_unseen(result: Result, baseline: float, sign: int) -> str:
    unseen = f"unseen rows score {score(baseline, result.interval)}"
    difference = difference_to_unseen(result)
    if difference is None:
        return f"{unseen[0].upper()}{unseen[1:]}."
    low, high = sorted(sign * end for end in difference)
    ends = f"{score(difference[0], difference)} to {score(difference[1], difference)}"
    interval = f"(95% interval of the difference: {ends})"
    if low <= 0.0 <= high:
        return f"As good as real: {unseen} {interval}."
    if high < 0.0:
        return f"Below baseline: {unseen} {interval}."
    if aspect_of(result) == "utility":
        return f"Better than real: {unseen} {interval}."
    return f"Closer than real, which may indicate memorizing: {unseen} {interval}."
