"""What the attacks on a release found: who attacks, what was known, what was learnt."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from skeval.formatting import as_float, number, percent
from skeval.result import Result
from skeval.stats.risks import RISK_LEVELS, risk_level
from skeval.verdict import ALARM_LEVEL, raises_alarm

_ATTACKS = {
    "distance": "the distance to the nearest synthetic row",
    "distance_calibrated": "how much nearer a synthetic row is than another real one",
    "ratio": "the ratio of the distances to synthetic and to real rows",
    "monte_carlo": "the number of synthetic rows nearby",
    "knn_density": "the density of synthetic rows",
    "domias": "the density of synthetic rows over that of real ones",
    "classifier": "a classifier of synthetic against real rows",
    "eq1": "the density of synthetic rows alone",
}


def _membership(result: Result) -> str:
    details = result.details
    name = str(details["attack"])
    said = (
        "An attacker who has the release and some person's row guesses whether it was in train by "
        f"{_ATTACKS.get(name, name)}: a train row ranks above a holdout row "
        f"{percent(result.value)} of the time, by chance 50%."
    )
    outliers = details.get("outliers") or {}
    if as_float(outliers.get("p_value", 1.0)) < ALARM_LEVEL:
        worst = as_float(outliers["worst"]["auc"])
        said += f" In the worst group of rows, by how far they lie from others, {percent(worst)}."
    return said


def _membership_f1(result: Result) -> str:
    f1, naive = (as_float(result.details[name]) for name in ("f1", "naive_f1"))
    return (
        f"Calling rows near a synthetic one members of train has F1 {number(f1)}; calling all of "
        f"them members has {number(naive)}."
    )


def _protection(result: Result) -> str:
    details = result.details
    risk = percent(as_float(details["risk"]))
    known = "An attacker who knows some columns of a person reads the secret off the release"
    if "risk_holdout" in details:
        fresh = percent(as_float(details["risk_holdout"]))
        return f"{known}: right for {risk} of train rows, for {fresh} of holdout rows."
    guess = percent(1.0 - as_float(details["guess"])) if "guess" in details else ""
    return f"{known}: right for {risk} of train rows" + (f", {guess} by a guess." if guess else ".")


def _inference(result: Result) -> str:
    details = result.details
    train, holdout = as_float(details["train"]), as_float(details["holdout"])
    learnt = "A model learnt from the release"
    if train < 0.0 or holdout < 0.0:
        return (
            f"{learnt} misses the secret by {percent(-train)} of its range for train rows, by "
            f"{percent(-holdout)} for holdout rows."
        )
    return (
        f"{learnt} guesses the secret of train rows with {percent(train)}, of holdout rows with "
        f"{percent(holdout)}."
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


def _rates(details: Any) -> tuple[str, str]:
    """Return the shares of attacks that succeed on train and on the holdout."""
    train, control = (percent(as_float(details[who]["rate"])) for who in ("attack", "control"))
    return train, control


def _level(result: Result) -> str:
    """Name the level of a residual risk, and by which bounds."""
    low, high = result.details.get("levels", RISK_LEVELS)
    level = risk_level(result.value, (as_float(low), as_float(high)))
    return f" Beyond that, the residual risk is {number(result.value)}, {level}."


def _singled_out(result: Result) -> str:
    details = result.details
    train, control = _rates(details)
    said = (
        "An attacker who has the release alone describes persons by predicates that one synthetic "
        f"row meets. Of {details['attack']['n']:,.0f}, {train} single out a train row and "
        f"{control} a holdout row, which the release cannot betray."
    )
    if details["weak_attack"]:
        return f"{said} Random predicates do as well: a low risk then says nothing."
    return said + _level(result)


def _linked(result: Result) -> str:
    train, control = _rates(result.details)
    chance = percent(as_float(result.details["baseline"]["rate"]))
    return (
        "An attacker who has two parts of a person's columns in two tables links them where both "
        f"lead to the same synthetic row: {train} of train rows, {control} of holdout rows, "
        f"{chance} by chance.{_level(result)}"
    )


def _inferred(result: Result) -> str:
    train, control = _rates(result.details)
    guess = percent(as_float(result.details["baseline"]["rate"]))
    return (
        "An attacker who knows other columns of a person reads the secret off the nearest "
        f"synthetic row: rightly for {train} of train rows and {control} of holdout rows; a random "
        f"guess is right for {guess}.{_level(result)}"
    )


def _inferred_any(result: Result) -> str:
    worst = result.details["worst"]["column"]
    train, control = _rates(result.details["secrets"][worst])
    return (
        "An attacker who knows all columns of a person but one reads it off the nearest synthetic "
        f"row. The most exposed is {worst}: rightly for {train} of train rows and {control} of "
        f"holdout rows.{_level(result)}"
    )


def _anonymeter(result: Result) -> str:
    details = result.details
    level = f": {details['level']}" if "level" in details else ""
    said = (
        f"Of {details['n_attacks_made']} attacks, {details['worst_attack']} has the largest "
        f"residual risk, {number(result.value)}{level}."
    )
    name = _most_significant(details)
    if not raises_alarm(result) or name == details["worst_attack"]:
        return said
    risk = number(as_float(details["attacks"][name]["residual_risk"]))
    return f"{said} The most significant is {name}, {risk}."


def _most_significant(details: Any) -> str:
    """Return the attack with the smallest p-value; of equal ones, that of the largest risk."""
    made = {n: one for n, one in details["attacks"].items() if n not in details["left_out"]}
    return min(
        made, key=lambda n: (as_float(made[n]["p_value"]), -as_float(made[n]["residual_risk"]))
    )


SENTENCES: dict[str, Callable[[Result], str]] = {
    "AnonymeterRisk": _anonymeter,
    "AttributeInferenceRisk": _inference,
    "DisclosureProtection": _protection,
    "DisclosureProtectionEstimate": _protection,
    "InferenceRisk": _inferred,
    "InferenceRiskAll": _inferred_any,
    "LinearReconstructionAttack": _linear,
    "LinkabilityRisk": _linked,
    "MembershipDisclosureF1": _membership_f1,
    "MembershipInference": _membership,
    "RecordReconstruction": _records,
    "SinglingOutRisk": _singled_out,
}
