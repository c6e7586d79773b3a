"""Scores of several models on real and on synthetic rows, as metrics of their order need them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from skeval._estimators import Estimators
from skeval._parameters import Constraint, Interval, Nullable, Options
from skeval.context import Context, shared
from skeval.utility._results import SCORED, counts_of_rows
from skeval.utility.families import FAMILIES
from skeval.utility.models import (
    SYNTHETIC,
    TRAIN,
    Training,
    chosen_models,
    replicates,
    synthetic_part,
    training_rows,
)
from skeval.utility.problem import Question, problem_of, unanswerable
from skeval.utility.scoring import scoring_for

__all__ = ["RANKED", "ModelScores", "scores_or_reason"]

# what metrics that compare models take
RANKED: Mapping[str, Constraint] = {
    **SCORED,
    "estimators": Estimators(FAMILIES, fewest=2),
    "mode": Options(("tstr", "tsts")),
    "test_size": Interval(float, 0.0, 1.0, "neither"),
    "max_rows": Nullable(Interval(int, 1, None)),
}


@dataclass(frozen=True)
class ModelScores:
    """Scores of all models, of shape (n_models, 1 + n_bootstrap), with the rows behind them.

    Attributes
    ----------
    names : tuple of str
        The models.
    scoring : str
        The score.
    real, synthetic : ndarray of shape (n_models, 1 + n_bootstrap)
        Learnt from train and tested on the holdout; with the synthetic table in play.
    train : ndarray of shape (n_models,) or None
        As those of a split synthetic table, but with train in its place; None where none is split.
    trainings : dict of str to Training
        What was learnt from, by role.
    tested : str
        What synthetic scores were tested on.
    """

    names: tuple[str, ...]
    scoring: str
    real: np.ndarray
    synthetic: np.ndarray
    train: np.ndarray | None
    trainings: Mapping[str, Training]
    tested: str

    @property
    def sides(self) -> tuple[np.ndarray, np.ndarray]:
        """Both, without replicates."""
        return self.real[:, :1], self.synthetic[:, :1]

    def details(self, metric: Any, context: Context) -> dict[str, Any]:
        """Return what both metrics tell of the scores."""
        question = Question.of(metric)
        columns = {"trtr": self.real[:, 0], metric.mode: self.synthetic[:, 0]}
        if self.train is not None:
            columns["split_of_train"] = self.train
        return {
            "scoring": self.scoring,
            "task": problem_of(context, question).task,
            "mode": metric.mode,
            "models": {
                name: {column: float(scores[i]) for column, scores in columns.items()}
                for i, name in enumerate(self.names)
            },
            **counts_of_rows(context, question, self.trainings, self.tested, metric.random_state),
        }


def scores_or_reason(metric: Any, context: Context) -> ModelScores | str:
    """Return the scores of all models on real and on synthetic rows, or why there are none."""
    question, n_repeats, seed = Question.of(metric), metric.n_repeats, metric.random_state
    if reason := unanswerable(context, question):
        return reason
    scoring = scoring_for(metric.scoring, problem_of(context, question))
    models = chosen_models(list(FAMILIES) if metric.estimators is None else metric.estimators)
    is_split, test_size = metric.mode == "tsts", metric.test_size
    training = synthetic_part(1.0 - test_size) if is_split else SYNTHETIC
    tested = _unlearnt(test_size) if is_split else "holdout"
    trainings = {
        role: _limited(context, which, metric.max_rows, question, seed)
        for role, which in {"train": TRAIN, metric.mode: training}.items()
    }
    estimators = tuple(models.values())
    asked = (question, scoring, metric.n_bootstrap, n_repeats, seed)
    real = _scores(context, estimators, trainings["train"], "holdout", *asked)
    synthetic = _scores(context, estimators, trainings[metric.mode], tested, *asked)
    lacking = np.isnan(real[:, 0]) | np.isnan(synthetic[:, 0])
    if lacking.any():
        names = ", ".join(name for name, lacks in zip(models, lacking, strict=True) if lacks)
        return f"{scoring} is not defined for {names}, as where all tested rows have one label."
    train = None
    if is_split:
        train = _split_of_train(
            context, estimators, test_size, metric.max_rows, question, scoring, n_repeats, seed
        )
    return ModelScores(tuple(models), scoring, real, synthetic, train, trainings, tested)


def _unlearnt(test_size: float) -> str:
    return f"unlearnt {test_size!r}"


def _scores(
    context: Context, models: tuple[Any, ...], training: Training, tested: str, *asked: Any
) -> np.ndarray:
    return np.array([replicates(context, training, tested, model, *asked) for model in models])


@shared
def _split_of_train(
    context: Context,
    models: tuple[Any, ...],
    test_size: float,
    max_rows: int | None,
    question: Question,
    scoring: str,
    n_repeats: int,
    seed: int,
) -> np.ndarray:
    """Return the scores that an analyst would have who splits train, not the synthetic table."""
    in_place = context.standing_in(context.train)
    part = _limited(in_place, synthetic_part(1.0 - test_size), max_rows, question, seed)
    asked = (question, scoring, 0, n_repeats, seed)
    found: np.ndarray = _scores(in_place, models, part, _unlearnt(test_size), *asked)[:, 0]
    return found


def _limited(
    context: Context, training: Training, max_rows: int | None, question: Question, seed: int
) -> Training:
    """Return the training on at most `max_rows` rows; on all it is that of the other metrics."""
    few = max_rows is None or len(training_rows(context, training, question, seed)) <= max_rows
    return training if few else replace(training, max_rows=max_rows)
