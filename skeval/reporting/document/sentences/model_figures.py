"""The sentences of the figures of curves."""

from __future__ import annotations

import math
from collections.abc import Sequence

from skeval.reporting.document.numbers import rate, score
from skeval.reporting.document.spans import Text, compose

TRAINED_LABELS = {"trtr": "trained on real rows", "tstr": "trained on synthetic rows"}
TABLE_LABELS = {"train": "training rows", "holdout": "unseen rows", "synthetic": "synthetic rows"}
ROC_AXES = ("false positive rate", "true positive rate")
CALIBRATION_AXES = ("probability of the model", "rows where the event occurs")
SURVIVAL_AXES = ("time", "rows without the event")
PRECISION_AXES = ("recall", "precision")
Scores = Sequence[tuple[str, float, float]]


def roc_note() -> Text:
    """Return how to read the ROC curves."""
    return compose("If the curves agree, a model loses nothing by training on synthetic rows.")


def roc_alternative(synthetic: float, real: float) -> str:
    """Return the ROC curves in words."""
    return (
        f"ROC curves of two models. Area trained on synthetic rows {score(synthetic)}, on real "
        f"rows {score(real)}."
    )


def calibration_note() -> Text:
    """Return how to read the curves of calibration."""
    return compose("On the dashed line, the probabilities of a model are correct.")


def calibration_alternative() -> str:
    """Return the curves of calibration in words."""
    return "Predicted and observed frequencies of the same event, by two models."


def importances_note() -> Text:
    """Return how to read the importances."""
    return compose(
        "Bars belong to the model trained on real rows, lines to the model trained on synthetic "
        "rows."
    )


def importances_alternative(columns: Sequence[str]) -> str:
    """Return the importances in words."""
    return f"Importances of columns. The most important are {', '.join(columns)}."


def survival_note() -> Text:
    """Return how to read the curves of survival."""
    return compose(
        "Kaplan-Meier estimate of the percentage of rows without the event, with 95% intervals."
    )


def survival_alternative(value: float) -> str:
    """Return the curves of survival in words."""
    return f"Curves of survival. Mean distance between synthetic and real curves {score(value)}."


def precision_note(beta: float, scores: Scores) -> Text:
    """Return the F scores of each curve, and how to read the curves."""
    known = [one for one in scores if not math.isnan(one[1] + one[2])]
    listed = "; ".join(
        f"{label} {rate(recall)} and {rate(other)}" for label, recall, other in known
    )
    lead = f"F{beta:g} and F1/{beta:g}: {listed}. " if known else ""
    return compose(
        "{lead}Recall is low if kinds of rows are missing, precision is low if kinds of rows are "
        "invented.",
        lead=lead,
    )


def precision_alternative(scores: Scores) -> str:
    """Return the curves in words."""
    listed = "; ".join(f"{label} {rate(recall)}" for label, recall, _ in scores if recall == recall)
    return f"Precision against recall. F score for recall: {listed}."
