"""What the attacks on a release found: who attacks, what was known, what was learnt."""

from __future__ import annotations

from collections.abc import Callable

from skeval.formatting import as_float, percent
from skeval.result import Result
from skeval.verdict import ALARM_LEVEL


def _linear(result: Result) -> str:
    accuracy = {who: percent(as_float(v)) for who, v in result.details["accuracy"].items()}
    majority = percent(as_float(result.details["majority"]["train"]))
    return (
        f"Solving counts of synthetic rows finds the secret of {accuracy['train']} of train people "
        f"and of {accuracy['holdout']} of others; guessing the most common one finds {majority}."
    )


def _records(result: Result) -> str:
    shares = {
        who: percent(as_float(rate["n_success"]) / as_float(rate["n"]))
        for who, rate in result.details["rates"].items()
    }
    said = (
        f"{shares['train']} of train records are completed rightly from a part of their columns, "
        f"{shares['holdout']} of holdout records."
    )
    worst = result.details.get("worst_stratum") or {}
    if as_float(worst.get("p_value", 1.0)) < ALARM_LEVEL:
        rates = [percent(as_float(worst[who])) for who in ("train", "holdout")]
        said += (
            f" Most exposed is group {worst['stratum']} of {len(result.details['strata'])} by "
            f"remoteness: {rates[0]} against {rates[1]}."
        )
    return said


SENTENCES: dict[str, Callable[[Result], str]] = {
    "LinearReconstructionAttack": _linear,
    "RecordReconstruction": _records,
}
