"""What the privacy metrics found."""

from __future__ import annotations

from collections.abc import Callable

from skeval.formatting import percent
from skeval.result import Result


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


SENTENCES: dict[str, Callable[[Result], str]] = {
    "DeltaPresence": _present,
    "KAnonymity": _k_anonymous,
    "KMap": _k_mapped,
    "LDiversity": _diverse,
    "ReplicatedUniques": _replicated,
    "TCloseness": _close,
}
