"""The sentence of one result, and its outcome in a few words."""

from __future__ import annotations

import math
from collections.abc import Mapping

from skeval.reporting.document.details import mapping_at, number_at, texts_at
from skeval.results.result import Result
from skeval.results.verdict import WARNING_LEVEL, Verdict, raises_alarm
from skeval.utils.formatting import number

# how a value compares with that of real rows, in a few words
AS_GOOD, BEHIND, CLOSER = (
    "as good as real rows",
    "worse than real rows",
    "closer to train than real rows",
)

_OTHER_QUESTION = (
    "The score is better than its baseline all the same: it compares this release with fresh real "
    "rows or with chance, the test compares train with the holdout within this release."
)
_READS_AS_COPIES = (
    "Unseen synthetic rows are taken for real ones more often than real rows are: a sign of copies "
    "of train, not of fidelity."
)


def evidence(result: Result) -> str:
    """Return the kind of evidence: for privacy what sort of test it is, else the aspect."""
    if result.tags is None:
        return ""
    kind = result.tags.evidence or result.tags.aspect
    return "distance screen" if kind == "screen" else kind


def finding(result: Result, alarm: bool | None = None, shifted: bool = False) -> str:
    """Return the finding of a metric."""
    if math.isnan(result.value):
        return "Not defined here: " + " ".join(str(warning) for warning in result.warnings)
    parts = [result.summary, _worst(result), _at_size(result), _verdict(result, alarm, shifted)]
    return " ".join(filter(None, parts))


def label_of(words: str) -> str:
    """Return which of the labels has the colour of an outcome."""
    kinds = {
        "alarm": ("leak", "violated"),
        "copies": ("copies found", "few copies"),
        "doubt": (BEHIND, CLOSER, "not looked at", "not tested", "cannot be told"),
    }
    for kind, starts in kinds.items():
        if words.startswith(starts):
            return kind
    return "doubt" if words.endswith(" short") else "calm"


def judged(result: Result, verdict: Verdict, name: str, shifted: bool = False) -> str:
    """Return what a table says of a metric in a few words."""
    tags = result.tags
    if tags is None or math.isnan(result.value):
        return ""
    if tags.aspect == "privacy":
        return _judged_of_privacy(result, verdict, name, shifted)
    ends = difference_of(result)
    if tags.sign == 0 or "gap" in result.details:
        return ""
    if ends is None:
        return _beside(result, tags.sign)
    low, high = sorted(tags.sign * end for end in ends)
    if low <= 0.0 <= high:
        return AS_GOOD
    # a model that learned from synthetic rows may be better, and that is no sign of memorising
    better = "better than real rows" if tags.aspect == "utility" else CLOSER
    return BEHIND if high < 0.0 else better


def _judged_of_privacy(result: Result, verdict: Verdict, name: str, shifted: bool) -> str:
    if name in verdict.alarms:
        return "leak, or another population" if shifted else "leak found"
    if any(one.leak_sentence for one in result.copies):
        return "copies found"
    if name in verdict.adjusted and any(one.some for one in result.copies):
        return "few copies, no alarm"
    if name in verdict.adjusted:
        return "cannot be told" if verdict.void else "no leak found by this test"
    return "describes, tests nothing" if result.p_value is None else "could raise no alarm"


def _beside(result: Result, sign: int) -> str:
    if result.baseline is None:
        return ""
    gap = sign * (result.value - result.baseline)
    if gap and result.interval and result.interval[0] <= result.baseline <= result.interval[1]:
        return "real rows lie in its interval"
    where = "equal to" if gap == 0 else "short of" if gap < 0 else "beyond"
    return f"{where} real rows, not tested"


def _worst(result: Result) -> str:
    worst = mapping_at(result.details, "worst")
    value, pair = number(number_at(worst, "value")), texts_at(worst, "columns")
    if "column" in worst:
        return f"Worst {result.details.get('unit', 'column')}: {worst['column']} ({value})."
    if len(pair) != 2:
        return ""
    first, second = pair
    if first == second:
        return f"Worst column: {first} ({value})."
    return f"Worst pair: {first} and {second} ({value})."


def _at_size(result: Result) -> str:
    smaller = mapping_at(result.details, "at_baseline_size")
    if not {"n_rows", "value"} <= set(smaller):
        return ""
    n_rows, value = f"{number_at(smaller, 'n_rows'):,.0f}", number(number_at(smaller, "value"))
    return f"At the {n_rows} rows of the baseline the value is {value}."


def _without_alarm(result: Result) -> str:
    if copies := [
        one.leak_sentence or one.some for one in result.copies if one.leak_sentence or one.some
    ]:
        said = "; ".join(copies).rstrip(".")
        return f"{said[0].upper()}{said[1:]}."
    return "No leak found by this test."


def _verdict(result: Result, alarm: bool | None, shifted: bool) -> str:
    """Say for a screen whether it raises an alarm, for others where fresh real rows are."""
    if result.tags is None or result.baseline is None or result.tags.sign == 0:
        return ""
    if "gap" in result.details or (math.isinf(result.value) and math.isinf(result.baseline)):
        return ""  # of a likelihood more is not better
    if result.tags.aspect == "utility" and "holdout" in result.tags.needs:
        return ""  # the baseline is what real rows teach, and is in the metric's own sentence
    if result.tags.aspect == "privacy":
        if result.p_value is None:
            return ""
        alarm = raises_alarm(result) if alarm is None else alarm
        said = "A leak, or only another population, was found." if alarm else ""
        if not shifted:
            said = "Leak found." if alarm else _without_alarm(result)
        return " ".join(filter(None, (said, reason(result))))
    split = result.details.get("split")
    if isinstance(split, Mapping) and number_at(split, "p_value_below") < WARNING_LEVEL:
        return _READS_AS_COPIES
    if result.difference is None:
        return f"Fresh real rows score {number(result.baseline)}."
    return _beside_fresh_rows(result.difference, result.tags.sign)


def _beside_fresh_rows(difference: tuple[float, float], sign: int) -> str:
    """Say what the interval of value minus baseline shows; it is symmetric around that of both."""
    low, high = sorted(sign * end for end in difference)
    if low <= 0.0 <= high:
        ends = " to ".join(map(number, difference))
        return f"As good as fresh real rows, within chance: the difference is {ends} (95%)."
    least, most = sorted(map(abs, difference))
    gap = f"{number((least + most) / 2.0)} ({number(least)} to {number(most)})"
    if high < 0.0:
        return f"Fresh real rows are better by {gap}."
    return f"Closer to train than fresh real rows are, by {gap}: a sign of memorising."


def difference_of(result: Result) -> tuple[float, float] | None:
    """Return the interval of value minus baseline; for utility the metric's paired difference."""
    if result.difference is not None:
        return result.difference
    if result.tags is None or result.tags.aspect != "utility":
        return None
    stated = mapping_at(result.details, "difference")
    low, high = number_at(stated, "low"), number_at(stated, "high")
    return None if math.isnan(low + high) else (low, high)


def reason(result: Result) -> str:
    """Return why a score is better than its baseline although its test is significant."""
    if result.tags is None or result.baseline is None or not raises_alarm(result):
        return ""
    is_better = result.tags.sign * (result.value - result.baseline) > 0
    return _OTHER_QUESTION if is_better else ""
