"""The sentences of the curves that each report has."""

from __future__ import annotations

import math
from collections.abc import Sequence

from skeval.reporting.document.distances import DistanceCurve
from skeval.reporting.document.numbers import rate
from skeval.reporting.document.spans import Text, compose

TO_REAL_TITLE = "Distance to the closest real row"
WITHIN_TITLE = "Distance to the closest row of the same table"
PRECISION_TITLE = "Precision and recall"
DISTANCE_AXES = "distance to the closest row", "rows within the distance"
PRECISION_AXES = "recall", "precision"
DISTANCES = {
    "synthetic to train": "synthetic to training rows",
    "synthetic to holdout": "synthetic to unseen rows",
    "holdout to train": "unseen to training rows",
    "train to train": "training to other training rows",
    "synthetic to synthetic": "synthetic to other synthetic rows",
}
TABLES = {"holdout": "unseen rows", "synthetic": "synthetic rows"}
Scores = Sequence[tuple[str, float, float]]


def to_real_note(*, has_unseen: bool) -> Text:
    """Return how to read the distances to real rows."""
    how = "If the two solid curves agree, the synthetic rows are not closer to the training data."
    if not has_unseen:
        how = "Without unseen rows, no curve shows what is usual."
    return compose(f"Percentage of rows whose closest real row is within a distance. {how}")


WITHIN_NOTE = compose(
    "If synthetic rows are closer to each other than training rows are, the generator repeats "
    "itself."
)


def distances_alternative(curves: Sequence[DistanceCurve]) -> str:
    """Return the curves of distances in words."""
    medians = ((one.kind, one.distances[len(one.distances) // 2]) for one in curves)
    listed = "; ".join(f"{DISTANCES[kind]} {median:.3g}" for kind, median in medians)
    return f"Cumulative curves of distances. Medians: {listed}."


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
    """Return the curves of precision and recall in words."""
    listed = "; ".join(f"{label} {rate(recall)}" for label, recall, _ in scores if recall == recall)
    return f"Precision against recall. F score for recall: {listed}."
