"""From the scores of models to results: intervals, ratios, direction."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from skeval.base import Metric
from skeval.context import Context
from skeval.stats.intervals import percentile_interval
from skeval.steps.models import Training, tested_rows, training_rows
from skeval.steps.problem import Question, problem_of, rows_of_role
from skeval.steps.scoring import score_named
from skeval.tags import MetricTags


class OfTwoLabels(Metric):
    """Base of metrics of models that tell two labels apart."""

    def unmet_need(self, context: Context) -> str | None:
        """Say which need the real tables leave unmet, a target of two labels among them."""
        if unmet := super().unmet_need(context):
            return unmet
        problem = problem_of(context, Question.of(self))
        if problem.task == "binary":
            return None
        return (
            f"needs a target of two labels, and {problem.target} makes a task of kind "
            f"{problem.task}. Set task='binary' and pos_label for one label against all others."
        )


def directed(tags: MetricTags, scoring: str) -> MetricTags:
    """Return the tags with direction and bounds of a score."""
    score = score_named(scoring)
    return replace(tags, greater_is_better=score.greater_is_better, bounds=score.bounds)


def interval_of(replicates: np.ndarray) -> dict[str, float | None]:
    """Return a value with its interval, as details hold it."""
    low, high = percentile_interval(replicates) or (None, None)
    return {"value": float(replicates[0]), "low": low, "high": high}


def ratio(on_synthetic: float, on_real: float, scoring: str) -> float:
    """Return the share of what real rows give that synthetic ones keep; 1 is all.

    For losses the inverse ratio; nan where a score can be negative and one is not positive.
    """
    if score_named(scoring).greater_is_better:
        part, whole = on_synthetic, on_real
    else:
        part, whole = on_real, on_synthetic
    defined = part >= 0.0 and whole > 0.0 and (on_synthetic > 0.0 or scoring != "r2")
    return part / whole if defined else float("nan")


def counts_of_rows(
    context: Context, question: Question, trainings: Mapping[str, Training], tested: str, seed: int
) -> dict[str, Any]:
    """Return how many rows were tested, learnt from, and left out for want of a target."""
    roles = [role for role in ("train", "holdout", "synthetic") if role in context]
    return {
        "n_tested": len(tested_rows(context, tested, question, seed)),
        "n_learnt": {
            name: len(training_rows(context, training, question, seed))
            for name, training in trainings.items()
        },
        "n_dropped": {role: rows_of_role(context, role, question).n_dropped for role in roles},
    }
