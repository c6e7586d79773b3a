"""Fitted models, their predictions and scores: each computed once for all metrics of a suite."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from skeval._estimators import named
from skeval.context import Context, shared
from skeval.stats.resampling import replicated
from skeval.stats.scoring import Predictions
from skeval.steps import sample_positions
from skeval.utility.families import DEFAULT, Model, learn
from skeval.utility.problem import Problem, Question, Rows, problem_of, rows_of_role
from skeval.utility.scoring import score_named

__all__ = [
    "AUGMENTED",
    "SYNTHETIC",
    "TRAIN",
    "Training",
    "chosen_models",
    "fitted",
    "out_of_fold",
    "predicted",
    "replicates",
    "synthetic_part",
    "tested_rows",
    "training_rows",
]


@dataclass(frozen=True)
class Training:
    """Which rows a model learns from.

    Attributes
    ----------
    rows : {"train", "synthetic", "both"}
        Of one table, or train with synthetic rows added.
    ratio : float
        Synthetic rows to add for each row of train.
    learnt : float
        Share of the rows of one table that is learnt from, drawn at random within labels; the
        others are for tests.
    max_rows : int or None
        At most so many rows, drawn at random.
    """

    rows: str
    ratio: float = 1.0
    learnt: float = 1.0
    max_rows: int | None = None


TRAIN, SYNTHETIC, AUGMENTED = Training("train"), Training("synthetic"), Training("both")


def synthetic_part(learnt: float) -> Training:
    """Return the training on a share of the synthetic rows; "unlearnt" ones are its test."""
    return Training("synthetic", learnt=learnt)


def chosen_models(estimators: Any) -> dict[str, Any]:
    """Return the models of an `estimators` parameter by name; xgboost for None."""
    if estimators is None:
        return {DEFAULT: DEFAULT}
    many = isinstance(estimators, list | tuple)
    return named(list(estimators) if many else [estimators])


@shared
def training_rows(context: Context, training: Training, question: Question, seed: int) -> Rows:
    """Return the rows that a model learns from."""
    if training.learnt < 1.0:
        found = _halves(context, training, question, seed)[0]
    else:
        found = rows_of_role(context, _own_role(training), question)
    if training.rows == "both":
        found = found.joined(_added(context, training, question, seed))
    return found.take(sample_positions(len(found), training.max_rows, seed))


def _own_role(training: Training) -> str:
    return "train" if training.rows == "both" else training.rows


def _added(context: Context, training: Training, question: Question, seed: int) -> Rows:
    """Return the synthetic rows that are added to those of train."""
    rows = rows_of_role(context, "synthetic", question)
    n_added = round(training.ratio * len(rows_of_role(context, "train", question)))
    return rows.take(sample_positions(len(rows), n_added, seed))


@shared
def _halves(
    context: Context, training: Training, question: Question, seed: int
) -> tuple[Rows, Rows]:
    """Return the rows of a table to learn from and to test on, with like shares of each label."""
    from sklearn.model_selection import train_test_split

    rows = rows_of_role(context, training.rows, question)
    strata = _strata(rows, problem_of(context, question), training.learnt)
    if len(rows) < 2:
        return rows, rows
    learnt, tested = train_test_split(
        np.arange(len(rows)), test_size=1.0 - training.learnt, random_state=seed, stratify=strata
    )
    return rows.take(learnt), rows.take(tested)


def _strata(rows: Rows, problem: Problem, learnt: float) -> np.ndarray | None:
    """Return the labels, where each has rows enough for both parts."""
    if not problem.has_labels:
        return None
    counts = np.unique(rows.target, return_counts=True)[1]
    smaller = len(rows) * min(learnt, 1.0 - learnt)
    return rows.target if counts.min() >= 2 and smaller >= counts.size else None


def tested_rows(context: Context, tested: str, question: Question, seed: int) -> Rows:
    """Return the rows that predictions are tested on.

    `tested` is a role, or "unlearnt 0.4": the share of synthetic rows that
    ``synthetic_part(0.6)`` leaves out.
    """
    if tested.startswith("unlearnt"):
        part = synthetic_part(1.0 - float(tested.split()[1]))
        return _halves(context, part, question, seed)[1]
    return rows_of_role(context, tested, question)


@shared
def fitted(
    context: Context, training: Training, estimator: Any, question: Question, seed: int
) -> Model:
    """Return a model that learnt from some rows; those of train are kept for all releases."""
    rows = training_rows(context, training, question, seed)
    return learn(estimator, rows, problem_of(context, question), seed)


@shared
def predicted(
    context: Context,
    training: Training,
    tested: str,
    estimator: Any,
    question: Question,
    seed: int,
) -> Predictions:
    """Return what a model says of the rows of a table."""
    model = fitted(context, training, estimator, question, seed)
    return model.predict(tested_rows(context, tested, question, seed))


@shared
def out_of_fold(
    context: Context,
    training: Training,
    estimator: Any,
    question: Question,
    n_folds: int,
    seed: int,
) -> Predictions:
    """Return what models say of all rows of a table, each learnt without the rows' fold.

    Synthetic rows that are added to train are learnt from with every fold, and not predicted.
    """
    rows, problem = (
        rows_of_role(context, _own_role(training), question),
        problem_of(context, question),
    )
    added = _added(context, training, question, seed) if training.rows == "both" else None
    values: np.ndarray = np.empty(len(rows), dtype=rows.target.dtype)
    scores = np.empty((len(rows), len(problem.labels)))
    proper = True
    for seen, unseen in _folds(rows, problem, n_folds, seed):
        learnt = rows.take(seen) if added is None else rows.take(seen).joined(added)
        found = learn(estimator, learnt, problem, seed).predict(rows.take(unseen))
        values[unseen] = found.values
        proper = proper and found.are_probabilities
        if found.scores is not None:
            scores[unseen] = found.scores
    return Predictions(values, scores if problem.has_labels else None, proper)


def _folds(
    rows: Rows, problem: Problem, n_folds: int, seed: int
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield positions to learn from and to test on, with like shares of labels where it can be."""
    from sklearn.model_selection import KFold, StratifiedKFold

    n_folds = min(n_folds, len(rows))
    enough = problem.has_labels and np.unique(rows.target, return_counts=True)[1].min() >= n_folds
    kind = StratifiedKFold if enough else KFold
    yield from kind(n_folds, shuffle=True, random_state=seed).split(rows.features, rows.target)


@shared
def replicates(
    context: Context,
    training: Training,
    tested: str,
    estimator: Any,
    question: Question,
    scoring: str,
    n_replicates: int,
    n_repeats: int,
    seed: int,
) -> np.ndarray:
    """Return a model's score on a table, then on bootstrap samples of its rows.

    The samples are the same for all models, so that differences are paired. With `n_repeats` above
    1 the scores are means over models of as many seeds.
    """
    problem, score = problem_of(context, question), score_named(scoring)

    def of(seed_of_model: int) -> np.ndarray:
        rows = tested_rows(context, tested, question, seed_of_model)
        found = predicted(context, training, tested, estimator, question, seed_of_model)
        return replicated(
            lambda weights: score.of(rows.target, found, weights, problem.positive),
            len(rows),
            n_replicates,
            seed,
        )

    mean: np.ndarray = np.mean([of(seed + i) for i in range(n_repeats)], axis=0)
    return mean
