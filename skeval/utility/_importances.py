"""Importances of features to fitted models: by permutation, or the models' own."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from scipy.sparse import issparse

from skeval.context import Context, shared
from skeval.exceptions import InvalidParameterError
from skeval.stats.resampling import row_weights
from skeval.stats.scoring import SCORES, Predictions
from skeval.steps import sample_positions
from skeval.utility.families import Model, Named, Native, learn
from skeval.utility.models import Training, fitted, tested_rows
from skeval.utility.problem import Question, Rows, problem_of, rows_of_role

__all__ = [
    "Measure",
    "bootstrapped_importances",
    "importances_of",
    "native_importances",
    "sampled_holdout",
]


@dataclass(frozen=True)
class Measure:
    """How importances are measured; native ones have no permutations and no bootstrap."""

    scoring: str
    n_permutations: int
    max_rows: int | None
    n_bootstrap: int
    seed: int


@shared
def importances_of(
    context: Context, training: Training, estimator: Any, question: Question, measure: Measure
) -> np.ndarray:
    """Return importances of the features to a model, then those of each bootstrap sample."""
    model = fitted(context, training, estimator, question, measure.seed)
    return _measured(context, model, question, measure)


@shared
def bootstrapped_importances(
    context: Context, n_rows: int, draw: int, estimator: Any, question: Question, measure: Measure
) -> np.ndarray:
    """Return importances of the features to a model of a bootstrap sample of train."""
    rows = rows_of_role(context, "train", question)
    drawn = np.random.default_rng([measure.seed, draw]).integers(0, len(rows), n_rows)
    model = learn(estimator, rows.take(np.sort(drawn)), problem_of(context, question), measure.seed)
    return _measured(context, model, question, measure)


def _measured(context: Context, model: Model, question: Question, measure: Measure) -> np.ndarray:
    if measure.n_permutations == 0:
        return native_importances(model)[None, :]
    return _falls(model, sampled_holdout(context, question, measure), measure)


def sampled_holdout(context: Context, question: Question, measure: Measure) -> Rows:
    """Return the holdout rows that features are shuffled in, at most so many."""
    rows = tested_rows(context, "holdout", question, measure.seed)
    return rows.take(sample_positions(len(rows), measure.max_rows, measure.seed))


def _falls(model: Model, rows: Rows, measure: Measure) -> np.ndarray:
    """Return by how much the score falls as each feature is shuffled, in the mean.

    The permutations depend on the seed and the feature alone: they are the same for all models.
    """
    score, features, n = SCORES[measure.scoring], model.features(rows), len(rows)
    sign = 1.0 if score.greater_is_better else -1.0
    whole = model.predict_from(features, n)
    mixed = [_mixed(model, features, j, n, measure) for j in range(rows.features.shape[1])]

    def falls(weights: np.ndarray) -> np.ndarray:
        def scored(found: Predictions) -> np.ndarray:
            return sign * score.of(rows.target, found, weights, model.problem.positive)

        means = [np.mean([scored(one) for one in shuffled], axis=0) for shuffled in mixed]
        return np.column_stack([scored(whole) - mean for mean in means])

    every = (np.ones((1, n)), *row_weights(n, measure.n_bootstrap, measure.seed))
    return np.concatenate([falls(weights) for weights in every])


def _mixed(model: Model, features: Any, j: int, n_rows: int, measure: Measure) -> list[Predictions]:
    """Return what a model says of rows with a feature shuffled, once a permutation."""
    rng = np.random.default_rng([measure.seed, j])
    orders = np.concatenate([rng.permutation(n_rows) for _ in range(measure.n_permutations)])
    every = np.tile(np.arange(n_rows), measure.n_permutations)
    if isinstance(features, pd.DataFrame):
        mixed: Any = features.iloc[every].reset_index(drop=True)
        mixed[features.columns[j]] = features.iloc[orders, j].to_numpy()
    else:
        own = _owners(model) == j
        mixed = features[every]
        mixed[:, own] = features[orders][:, own]
    found = model.predict_from(mixed, len(every))
    parts = [slice(i * n_rows, (i + 1) * n_rows) for i in range(measure.n_permutations)]
    return [
        replace(
            found,
            values=found.values[part],
            scores=None if found.scores is None else found.scores[part],
        )
        for part in parts
    ]


def _owners(model: Model) -> np.ndarray:
    """Return for each column that the estimator sees the place of its feature."""
    if isinstance(model.encoder, Native):
        return np.arange(len(model.encoder.nominal))
    if isinstance(model.encoder, Named):
        raise InvalidParameterError(
            "importance='native' cannot tell which columns of a Pipeline stem from which feature; "
            "use 'permutation'."
        )
    return model.encoder.owners


def native_importances(model: Model) -> np.ndarray:
    """Return the importances that an estimator has of its own, by feature.

    Raises
    ------
    InvalidParameterError
        If it has none.
    """
    owners, n_features = _owners(model), len(model.problem.features)
    if model.estimator is None:
        return np.zeros(n_features)
    for name in ("feature_importances_", "coef_"):
        if (found := getattr(model.estimator, name, None)) is not None:
            values = np.abs(found.toarray() if issparse(found) else np.asarray(found, dtype=float))
            by_column = values.reshape(-1, owners.size).sum(axis=0)
            return np.bincount(owners, by_column, minlength=n_features)
    raise InvalidParameterError(
        "importance='native' needs an estimator with feature_importances_ or coef_, which "
        f"{type(model.estimator).__name__} has not; use 'permutation'."
    )
