"""The finding of each metric, in sentences that need no knowledge of it."""

from __future__ import annotations

import math
from collections.abc import Mapping

from skeval.formatting import as_float, number
from skeval.result import Result
from skeval.verdict import WARNING_LEVEL, raises_alarm

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


def finding(result: Result) -> str:
    """Return the finding of a metric.

    Parameters
    ----------
    result : Result
        With a value.

    Returns
    -------
    str
        The metric's own sentence, if it has one, then what is worst and how far fresh real rows
        are; none ever says that data are private or safe.

    Examples
    --------
    >>> from skeval import Result
    >>> from skeval.reporting.findings import finding
    >>> finding(Result(0.3, details={"worst": {"column": "age", "value": 0.1}}))
    'Worst column: age (0.100).'
    """
    if math.isnan(result.value):
        return "Not defined here: " + " ".join(str(warning) for warning in result.warnings)
    parts = [result.summary, _worst(result), _at_size(result), _verdict(result)]
    return " ".join(filter(None, parts))


def _worst(result: Result) -> str:
    worst = result.details.get("worst")
    if not worst:
        return ""
    value = number(worst["value"])
    if "column" in worst:
        return f"Worst {result.details.get('unit', 'column')}: {worst['column']} ({value})."
    first, second = worst["columns"]
    if first == second:
        return f"Worst column: {first} ({value})."
    return f"Worst pair: {first} and {second} ({value})."


def _at_size(result: Result) -> str:
    smaller = result.details.get("at_baseline_size")
    if not smaller:
        return ""
    n_rows, value = f"{smaller['n_rows']:,}", number(smaller["value"])
    return f"At the {n_rows} rows of the baseline the value is {value}."


def _verdict(result: Result) -> str:
    """Say for a screen whether it raises an alarm, for others how far fresh real rows are."""
    if result.tags is None or result.baseline is None or result.tags.sign == 0:
        return ""
    if "gap" in result.details or (math.isinf(result.value) and math.isinf(result.baseline)):
        return ""  # of a likelihood more is not better
    if result.tags.aspect == "utility" and "holdout" in result.tags.needs:
        return ""  # the baseline is what real rows teach, and stands in the metric's own sentence
    if result.tags.aspect == "privacy":
        if result.interval is None:
            return ""
        return "Leak found." if raises_alarm(result) else "No leak found by this test."
    split = result.details.get("split")
    if isinstance(split, Mapping) and as_float(split.get("p_value_below")) < WARNING_LEVEL:
        return _READS_AS_COPIES
    value = as_float(result.details.get("at_baseline_size", {}).get("value", result.value))
    gap = (value - result.baseline) * result.tags.sign
    if gap >= 0:
        return "As good as fresh real rows."
    return f"Fresh real rows are better by {number(-gap)}."
