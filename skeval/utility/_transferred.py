"""One model learnt on one table and tested on another, beside what real rows teach."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from skeval._aggregate import undefined
from skeval.context import Context
from skeval.result import Result
from skeval.stats.resampling import percentile_interval
from skeval.utility._results import counts_of_rows, directed, interval_of, ratio
from skeval.utility.models import TRAIN, Training, chosen_models, replicates
from skeval.utility.problem import Question, problem_of, unanswerable
from skeval.utility.scoring import reported, scoring_for

__all__ = ["check_scoring", "transferred"]


def check_scoring(metric: Any, context: Context) -> None:
    """Refuse, at fit, a question or a scoring that does not suit the target."""
    scoring_for(metric.scoring, problem_of(context, Question.of(metric)))


def transferred(
    metric: Any, context: Context, tested: Mapping[str, tuple[Training, str]]
) -> Result:
    """Return the score of one transfer beside TRTR."""
    question = Question.of(metric)
    if reason := unanswerable(context, question):
        return undefined(reason)
    problem = problem_of(context, question)
    scoring = scoring_for(metric.scoring, problem)
    models = chosen_models(metric.estimators)
    ((name, (training, rows)),) = tested.items()

    def of(which: Training, on: str, model: Any, score: str, n_bootstrap: int) -> np.ndarray:
        repeats, seed = metric.n_repeats, metric.random_state
        return replicates(context, which, on, model, question, score, n_bootstrap, repeats, seed)

    def mean(which: Training, on: str, score: str, n_bootstrap: int) -> np.ndarray:
        return np.mean([of(which, on, m, score, n_bootstrap) for m in models.values()], axis=0)

    on_real = mean(TRAIN, "holdout", scoring, metric.n_bootstrap)
    found = mean(training, rows, scoring, metric.n_bootstrap)
    if np.isnan(found[0]):
        return undefined(
            f"{scoring} is not defined on the tested rows, as where all have one label."
        )
    trainings = {"train": TRAIN, name: training}
    return Result(
        found[0],
        interval=percentile_interval(found),
        baseline=float(on_real[0]),
        tags=directed(metric.tags, scoring),
        details={
            "scoring": scoring,
            "task": problem.task,
            "trtr": interval_of(on_real),
            "difference": interval_of(found - on_real),
            "ratio": ratio(float(found[0]), float(on_real[0]), scoring),
            "models": {
                label: {
                    name: float(of(training, rows, model, scoring, metric.n_bootstrap)[0]),
                    "trtr": float(of(TRAIN, "holdout", model, scoring, metric.n_bootstrap)[0]),
                }
                for label, model in models.items()
            },
            "scores": {
                other: {
                    name: float(mean(training, rows, other, 0)[0]),
                    "trtr": float(mean(TRAIN, "holdout", other, 0)[0]),
                }
                for other in reported(problem)
            },
            **counts_of_rows(context, question, trainings, rows, metric.random_state),
        },
    )
