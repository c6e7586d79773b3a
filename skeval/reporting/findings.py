"""What each metric found, in a sentence that needs no knowledge of it."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from skeval.reporting.summary import raises_alarm
from skeval.reporting.text import as_float, number, percent
from skeval.result import Result

__all__ = ["evidence", "finding"]

_EVIDENCE = {
    "screen": "distance screen",
    "attack": "attack",
    "audit": "audit",
    "disclosure": "disclosure",
}


def evidence(result: Result) -> str:
    """Return the kind of evidence: for privacy what sort of test it is, else the aspect."""
    if result.tags is None:
        return ""
    kind = result.tags.evidence
    return _EVIDENCE[kind] if kind else result.tags.aspect


def finding(result: Result) -> str:
    """Say what a metric found.

    Parameters
    ----------
    result : Result
        With a value.

    Returns
    -------
    str
        One to three sentences; none ever says that data are private or safe. Empty for a metric of
        which nothing is known here.

    Examples
    --------
    >>> from skeval import Result
    >>> from skeval.reporting.findings import finding
    >>> finding(Result(0.3, details={"worst": {"column": "age", "value": 0.1}}))
    'Worst column: age (0.100).'
    """
    if math.isnan(result.value):
        return "Not defined here: " + " ".join(str(warning) for warning in result.warnings)
    say = _SENTENCES.get(result.metric)
    parts = [
        "" if say is None else say(result),
        _worst(result.details.get("worst")),
        _at_size(result),
        _verdict(result),
    ]
    return " ".join(part for part in parts if part)


def _worst(worst: Mapping[str, Any] | None) -> str:
    if not worst:
        return ""
    value = number(worst["value"])
    if "column" in worst:
        return f"Worst column: {worst['column']} ({value})."
    first, second = worst["columns"]
    return (
        f"Worst column: {first} ({value})."
        if first == second
        else f"Worst pair: {first} and {second} ({value})."
    )


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
    if result.tags.aspect == "privacy":
        if result.interval is None:
            return ""
        return "Leak found." if raises_alarm(result) else "No leak found by this test."
    value = as_float(result.details.get("at_baseline_size", {}).get("value", result.value))
    gap = (value - result.baseline) * result.tags.sign
    if gap >= 0:
        return "As good as fresh real rows."
    return f"Fresh real rows are better by {number(-gap)}."


def _ks(result: Result) -> str:
    n = result.details["n_used"]
    gap = percent(1.0 - result.value)
    columns = f"{n} numeric, date and boolean columns"
    return f"The cumulative curves of {columns} lie {gap} apart at most, in the mean."


def _tv(result: Result) -> str:
    n = result.details["n_used"]
    return f"{percent(result.value)} of the bars of {n} columns coincide, in the mean."


def _similarity(result: Result) -> str:
    top = number(result.details["ceiling_value"])
    return (
        f"Two samples of one population would score {top} at these numbers of rows (the ceiling)."
    )


def _phik(result: Result) -> str:
    n = f"{result.details['n_used']:,} pairs"
    change = number(result.value)
    return f"The association of {n} changes by {change}, in the mean, on a scale from 0 to 1."


def _nearest(result: Result) -> str:
    gap = percent(result.value)
    return f"The cumulative curves of distances within train and within synthetic lie {gap} apart."


def _privacy(result: Result) -> str:
    p_s, p_t = (percent(result.details[f"p_{which}"]) for which in ("synthetic", "real"))
    real = "a holdout row" if result.details["mode"] == "holdout" else "another real row"
    near = f"{p_s} of train rows have a synthetic row within the relative distance"
    return f"{near} that {p_t} have {real} in."


def _overfitting(result: Result) -> str:
    p, pi = percent(result.details["closer_to_training"]), percent(result.details["expected"])
    return (
        f"{p} of synthetic rows are closer to train than to the holdout; {pi} would be by chance."
    )


def _noise(result: Result) -> str:
    share = percent(
        as_float(result.details["median_synthetic"]) / as_float(result.details["median_random"])
    )
    return f"Synthetic rows are {share} as far from train as rows of random values, in the median."


_SENTENCES: dict[str, Callable[[Result], str]] = {
    "DCRBaselineProtection": _noise,
    "DCROverfittingProtection": _overfitting,
    "KSComplement": _ks,
    "NNDistanceDistributions": _nearest,
    "PhikMatrixDifference": _phik,
    "PrivacyScore": _privacy,
    "SimilarityMatrix": _similarity,
    "SimilarityScore": _similarity,
    "TVComplement": _tv,
}
