"""What the utility metrics found."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from skeval.formatting import as_float, number, percent
from skeval.result import Result

_NAMES = {
    "roc_auc": "ROC-AUC",
    "average_precision": "average precision",
    "balanced_accuracy": "balanced accuracy",
    "accuracy": "accuracy",
    "precision": "precision",
    "recall": "recall",
    "f1": "F1",
    "log_loss": "log-loss",
    "brier": "Brier score",
    "r2": "R2",
    "mse": "mean squared error",
    "rmse": "root mean squared error",
    "mae": "mean absolute error",
}


def _score(details: Any) -> str:
    return _NAMES.get(details["scoring"], str(details["scoring"]))


def _between(found: Any) -> str:
    """Return the ends of an interval of a difference; empty if it has none."""
    if found["low"] is None:
        return ""
    return f" ({number(found['low'])} to {number(found['high'])})"


def _tstr(result: Result) -> str:
    details = result.details
    return (
        f"A model that learnt on synthetic rows has {_score(details)} {number(result.value)} on "
        f"holdout rows; on real rows it learns to {number(details['trtr']['value'])}, a difference "
        f"of {number(details['difference']['value'])}{_between(details['difference'])}."
    )


def _trts(result: Result) -> str:
    return (
        f"The model of real rows has {_score(result.details)} {number(result.value)} on synthetic "
        f"rows and {number(result.details['trtr']['value'])} on holdout rows; synthetic rows that "
        "are easier than real ones are a fault too."
    )


def _tsts(result: Result) -> str:
    return (
        f"Who has the synthetic table only would report {_score(result.details)} "
        f"{number(result.value)}; on real rows it is {number(result.details['trtr']['value'])}."
    )


def _gain(result: Result) -> str:
    learnt = result.details["n_learnt"]
    added = f"With {learnt['augmented'] - learnt['train']:,} synthetic rows added to train"
    if result.value == 0.0:
        return f"{added}, the model is as good as before."
    change = "better" if result.value > 0.0 else "worse"
    score = _score(result.details)
    return f"{added}, {score} on holdout rows gets {change} by {number(abs(result.value))}."


def _efficacy(free: str, fixed: str) -> Callable[[Result], str]:
    def say(result: Result) -> str:
        models, level = result.details["models"], as_float(result.details["fixed"][fixed])
        alone, added = (percent(as_float(models[w][free])) for w in ("train", "augmented"))
        return (
            f"At a {fixed} of {percent(level)} on train, {free} on holdout rows is {alone}, and "
            f"{added} with synthetic rows added."
        )

    return say


def _ranks(result: Result) -> str:
    details = result.details
    share = percent(as_float(details["sra"]))
    said = (
        f"Synthetic rows order {share} of {details['n_pairs']} pairs of models as real rows do, by "
        "chance 50%"
    )
    if details.get("n_decided") is None:
        return f"{said}."
    return f"{said}; of {details['n_decided']} pairs real rows themselves are sure."


def _regret(result: Result) -> str:
    details = result.details
    if details["chosen"] == details["best"]:
        return (
            f"Choosing by synthetic scores takes {details['chosen']}, which is best on real rows; "
            f"a random choice loses {number(as_float(details['random_choice']))} on average."
        )
    scores = [number(as_float(details[f"real_score_of_{name}"])) for name in ("chosen", "best")]
    return (
        f"Choosing by synthetic scores takes {details['chosen']}, which scores {scores[0]} on real "
        f"rows; {details['best']} scores {scores[1]}. A random choice loses "
        f"{number(as_float(details['random_choice']))} on average."
    )


def _fairness(result: Result) -> str:
    details = result.details
    real = number(as_float(details["gap_trtr"]["value"]))
    change = _between(details["difference"])
    return (
        "Between the groups, rates of the model of synthetic rows are up to "
        f"{number(result.value)} apart; those of the model of real rows {real}, a difference of "
        f"{number(as_float(details['difference']['value']))}{change}."
    )


def _odds(result: Result) -> str:
    odds = {n: number(as_float(v)) for n, v in result.details["equalized_odds"].items()}
    return (
        "Learning from synthetic rows instead of real ones moves equalized odds from "
        f"{odds['trtr']} to {odds['tstr']}; 1 is equal treatment."
    )


def _calibration(result: Result) -> str:
    errors = {
        name: percent(as_float(result.details["ece"][name]["value"])) for name in ("tstr", "trtr")
    }
    chance = percent(as_float(result.details["expected_if_calibrated"]["tstr"]))
    return (
        f"Probabilities are off by {errors['tstr']} on average after synthetic rows, by "
        f"{errors['trtr']} after real ones; chance alone would give {chance}."
    )


def _coefficients(result: Result) -> str:
    signs = percent(as_float(result.details["sign_agreement"]))
    return (
        f"Intervals of the coefficients of a {result.details['model']} regression overlap by "
        f"{percent(result.value)}, in the mean; {signs} keep their sign."
    )


def _means(result: Result) -> str:
    return (
        f"Intervals of the means of {result.details['n_used']} columns overlap by "
        f"{percent(result.value)}, in the mean."
    )


def _importance(result: Result) -> str:
    moved = next(iter(result.details["moved"]), None)
    shared = percent(as_float(result.details["statistics"]["l1"]))
    change = "" if moved is None else f"; that of {moved} changes most"
    return (
        "The importances of columns for models of real and of synthetic rows coincide by "
        f"{shared}{change}."
    )


SENTENCES: dict[str, Callable[[Result], str]] = {
    "AugmentationGain": _gain,
    "CalibrationPreservation": _calibration,
    "CoefficientOverlap": _coefficients,
    "EqualizedOddsImprovement": _odds,
    "FairnessGap": _fairness,
    "FeatureImportanceAgreement": _importance,
    "MeanCIOverlap": _means,
    "ModelRankAgreement": _ranks,
    "PrecisionEfficacy": _efficacy("precision", "recall"),
    "RecallEfficacy": _efficacy("recall", "precision"),
    "SelectionRegret": _regret,
    "TRTS": _trts,
    "TSTR": _tstr,
    "TSTS": _tsts,
}
