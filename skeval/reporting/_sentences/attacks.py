"""What the attacks on a release found: who attacks, what was known, what was learnt."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from skeval.formatting import as_float, number, percent
from skeval.result import Result
from skeval.verdict import ALARM_LEVEL


def _audit(result: Result) -> str:
    details = result.details
    what = "pairs of a train and a holdout row" if details["design"] == "pairs" else "rows"
    said = (
        f"The attack guessed {details['n_correct']:,} of {details['n_guesses']:,} {what} rightly, "
        f"so that epsilon is at least {number(result.value)}; with so many guesses no attack could "
        f"show more than {number(as_float(details['ceiling']))}."
    )
    if details.get("verdict") == "violation":
        said += f" This refutes the claimed {number(as_float(details['claimed_epsilon']))}."
    return said


def _retrained(result: Result) -> str:
    details = result.details
    true, false = (
        percent(as_float(details[f"{which}_positive_rate"])) for which in ("true", "false")
    )
    said = (
        f"Run {details['n_runs']} times with and {details['n_runs']} times without one row, the "
        f"generator showed that row in {true} against {false} of its tables"
    )
    if result.value == 0.0:
        return f"{said}: no bound above 0, which does not show that epsilon is small."
    said += f": its epsilon is at least {number(result.value)}"
    if details.get("verdict") == "violation":
        said += f"; it claims {number(as_float(details['claimed_epsilon']))}"
    return f"{said}."


def _most_exposed(details: Any) -> Any:
    return max(details["targets"], key=lambda target: as_float(target["advantage"]))


def _shadow(result: Result) -> str:
    details = result.details
    most = _most_exposed(details)
    called = [percent(as_float(most[name])) for name in ("tpr", "fpr")]
    return (
        "An attacker who can run the generator tells tables made with the most exposed of "
        f"{details['n_targets']} rows: {called[0]} are called so, against {called[1]} of tables "
        f"made without it; {details['n_significant']} of the rows are told beyond chance."
    )


def _shadow_attribute(result: Result) -> str:
    details = result.details
    most = _most_exposed(details)
    right, chance = (percent(as_float(most[name])) for name in ("accuracy", "by_chance"))
    return (
        f"A secret drawn at random is guessed rightly for the most exposed of "
        f"{details['n_targets']} rows in {right} of the tables; {chance} would be by chance."
    )


def _likelihood(result: Result) -> str:
    return (
        "Held against its usual score with and without it, a train row looks more learnt from than "
        f"a holdout row in {percent(result.value)} of pairs; 50% would be by chance."
    )


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
    "DPAudit": _retrained,
    "LikelihoodRatioMIA": _likelihood,
    "LinearReconstructionAttack": _linear,
    "OneRunDPAudit": _audit,
    "RecordReconstruction": _records,
    "ShadowAttributeInference": _shadow_attribute,
    "ShadowMembershipInference": _shadow,
}
