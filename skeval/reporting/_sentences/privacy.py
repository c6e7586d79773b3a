"""What the privacy metrics found."""

from __future__ import annotations

import math
from collections.abc import Callable

from skeval.formatting import as_float, number, percent
from skeval.result import Result


def _privacy(result: Result) -> str:
    p_s, p_t = (percent(result.details[f"p_{which}"]) for which in ("synthetic", "real"))
    real = "a holdout row" if result.details["mode"] == "holdout" else "another real row"
    near = f"{p_s} of train rows have a synthetic row within the relative distance"
    return f"{near} that {p_t} have {real} in."


def _authentic(result: Result) -> str:
    fresh = (
        "" if result.baseline is None else f"; {percent(1.0 - result.baseline)} of holdout rows are"
    )
    return (
        f"{percent(1.0 - result.value)} of synthetic rows are as near to a train row as its "
        f"nearest other train row, or nearer{fresh}."
    )


def _identifiable(result: Result) -> str:
    without = ""
    if result.baseline is not None:
        without = f"; {percent(result.baseline)} would if none was learnt"
    return (
        f"{percent(result.value)} of train rows have a synthetic row nearer than any other train "
        f"row{without}."
    )


def _loss(result: Result) -> str:
    on_train, on_holdout = (percent(result.details[f"on_{role}"]) for role in ("train", "holdout"))
    return (
        f"Neighbours tell synthetic rows from train rows {on_train} of the time, from holdout rows "
        f"{on_holdout}."
    )


def _k_anonymous(result: Result) -> str:
    return (
        f"The smallest class of rows with equal quasi-identifiers has {result.value:.0f}; "
        f"{percent(result.details['uniques'])} of rows are alone in theirs."
    )


def _diverse(result: Result) -> str:
    return f"The least diverse class of rows has {result.value:.3g} values of a sensitive column."


def _close(result: Result) -> str:
    return (
        f"In some class of rows a sensitive column lies {percent(result.value)} apart from its "
        "distribution in the whole table."
    )


def _k_mapped(result: Result) -> str:
    return (
        f"The rarest released combination of quasi-identifiers fits {result.value:.0f} real rows."
    )


def _present(result: Result) -> str:
    low, high = (percent(share) for share in result.details["range"])
    prior = percent(result.details["prior"])
    return f"Given the release, a person was in train with {low} to {high}; before it, {prior}."


def _replicated(result: Result) -> str:
    return (
        f"{percent(result.value)} of train rows are alone with their quasi-identifiers and have "
        "exactly one synthetic row with the same."
    )


def _beside(baseline: float | None, what: str) -> str:
    return "" if baseline is None else f"; {percent(baseline)} {what}"


def _matched(result: Result) -> str:
    fresh = _beside(result.baseline, "of holdout rows do")
    return f"{percent(result.value)} of synthetic rows equal a train row in all columns{fresh}."


def _identical(result: Result) -> str:
    fresh = _beside(result.baseline, "of those of the holdout are")
    return f"{percent(result.value)} of the distinct synthetic rows are train rows{fresh}."


def _duplicated(result: Result) -> str:
    share, tau = percent(result.value), as_float(result.details["tau"])
    if math.isnan(tau):  # a table of texts
        fresh = _beside(result.baseline, "of holdout rows do")
        return f"{share} of synthetic rows have nearly the words of a train row{fresh}."
    fresh = _beside(result.baseline, "of holdout rows are")
    return f"{share} of synthetic rows are within {number(tau)} of a train row{fresh}."


def _hit(result: Result) -> str:
    fresh = _beside(result.baseline, "of holdout rows are hit")
    return (
        f"{percent(result.value)} of train rows are hit by a synthetic row in every column{fresh}."
    )


def _new(result: Result) -> str:
    fresh = _beside(result.baseline, "of holdout rows do")
    return f"{percent(result.value)} of synthetic rows match no train row{fresh}."


SENTENCES: dict[str, Callable[[Result], str]] = {
    "Authenticity": _authentic,
    "DeltaPresence": _present,
    "EpsilonIdentifiability": _identifiable,
    "KAnonymity": _k_anonymous,
    "KMap": _k_mapped,
    "LDiversity": _diverse,
    "NNAAPrivacyLoss": _loss,
    "PrivacyScore": _privacy,
    "ReplicatedUniques": _replicated,
    "TCloseness": _close,
    "ExactMatchShare": _matched,
    "HittingRate": _hit,
    "IdenticalMatchShare": _identical,
    "NearDuplicateShare": _duplicated,
    "NewRowShare": _new,
}
