"""The sentences of the figures of distances."""

from __future__ import annotations

import math
from collections.abc import Sequence

from skeval.reporting.document.numbers import rate, score
from skeval.reporting.document.spans import Text, compose, paragraph

DISTANCE, WITHIN = "distance to the closest row", "rows within the distance"
WITHIN_LABELS = {
    "train to train": "training to other training rows",
    "synthetic to synthetic": "synthetic to other synthetic rows",
}
ACCUMULATED_LABELS = {"holdout": "unseen rows", "synthetic": "synthetic rows"}
Area = tuple[str, float, float]


def within_note() -> Text:
    """Return how to read the distances within tables."""
    return compose(
        "If synthetic rows are closer to each other than training rows are, the generator repeats "
        "itself."
    )


def within_alternative(train: float, synthetic: float) -> str:
    """Return the distances within tables in words."""
    return (
        "Cumulative curves of distances within a table. Medians: training rows "
        f"{score(train)}, synthetic rows {score(synthetic)}."
    )


def to_train_note() -> Text:
    """Return how to read the distances to the training data."""
    return compose("Unseen rows are filled, synthetic rows are a line.")


def last_ratio(edge: float) -> str:
    """Return the label of the last bin, which has no upper end."""
    return f"{score(edge)} or more"


def proximity_note(
    value: float, threshold: float, synthetic: float, real: float, *, has_holdout: bool
) -> Text:
    """Return the privacy score, the threshold, and the fractions of rows below it."""
    others = "unseen rows" if has_holdout else "the other half of the training rows"
    lead = compose("**Privacy score: {value} of 100.**", value=f"{value:.1f}")
    facts = compose(
        f"{rate(synthetic)} of the training rows have a ratio of at most {score(threshold)} (the "
        f"threshold, dashed) to the synthetic rows (TSPR, line), compared with {rate(real)} to "
        f"{others} (TTPR, filled)."
    )
    what = compose(
        "A ratio is the distance to the closest row of a table, divided by the distance to the "
        "closest other training row."
    )
    return paragraph(() if math.isnan(value) else lead, facts, what)


def proximity_alternative(threshold: float, synthetic: float, real: float) -> str:
    """Return the two histograms in words."""
    return (
        f"Histograms of proximity ratios. At most {score(threshold)}: {rate(synthetic)} for "
        f"synthetic rows, {rate(real)} for real rows."
    )


def accumulation_note(threshold: float, areas: Sequence[Area]) -> Text:
    """Return the two areas of each curve."""
    listed = "; ".join(
        f"{ACCUMULATED_LABELS[table]} {rate(left)} and {rate(right)}"
        for table, left, right in areas
    )
    return compose(
        "Percentage of the area below each curve to the left and to the right of "
        f"{score(threshold)} (the threshold, dashed): {listed}. A larger area to the left than for "
        "unseen rows indicates copies."
    )


def accumulation_alternative(threshold: float, areas: Sequence[Area]) -> str:
    """Return the curves in words."""
    listed = ", ".join(f"{ACCUMULATED_LABELS[table]} {rate(left)}" for table, left, _ in areas)
    return f"Accumulated distances. Area to the left of {score(threshold)}: {listed}."
