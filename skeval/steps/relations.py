"""Relations between columns, as classifiers learn them of train rows and of columns drawn apart."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from skeval.core.context import Context, shared
from skeval.stats.roc import area_and_error
from skeval.steps.classifiers import FittedClassifier, Read, learn, measured_names, nominal_columns
from skeval.steps.encoded_rows import encoded_columns, encoded_matrix
from skeval.steps.samples import content_order, named_seed, sample_positions


class Relations(NamedTuple):
    """Classifiers that learned to tell train rows from rows whose columns were drawn apart."""

    models: tuple[FittedClassifier, ...]
    area: float
    error: float


def draw_columns_apart(rows: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return as many rows, of which each cell is drawn from its column by itself."""
    n_rows = len(rows)
    # drawn with repeats: if all columns had equal shares in both tables, no first split would gain
    return np.column_stack([column[rng.integers(n_rows, size=n_rows)] for column in rows.T])


def shuffle_columns_apart(rows: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return rows whose columns were shuffled one by one: each column keeps its shares."""
    return np.column_stack([rng.permutation(column) for column in rows.T])


def related_rows(
    context: Context, role: str, columns: Read, max_rows: int | None, seed: int
) -> np.ndarray:
    """Return a seeded sample of a role's rows as numbers and codes, columns by name.

    Levels that no real row has come last, so that what is learned of train holds for any table.
    """
    every = encoded_columns(context.schema)
    order = content_order(context, role)
    rows = order[sample_positions(order.size, max_rows, named_seed(role, seed))]
    at = [every.index(name) for name in measured_names(context, columns)]
    sample: np.ndarray = encoded_matrix(context, role)[np.ix_(rows, at)] + 0.0
    return sample


@shared
def learned_relations(
    context: Context, estimator: Any, n_folds: int, columns: Read, max_rows: int | None, seed: int
) -> Relations:
    """Return classifiers that learned the relations of train, and their AUC of unseen rows."""
    rows = related_rows(context, "train", columns, max_rows, seed)
    nominal = nominal_columns(context, columns)
    rng = np.random.default_rng(named_seed("relations", seed))
    fold = rng.permutation(len(rows)) % n_folds
    models, areas = [], []
    for k in range(n_folds):
        seen, unseen = rows[fold != k], rows[fold == k]
        both = np.concatenate([draw_columns_apart(seen, rng), seen])
        model = learn(estimator, both, np.repeat([0, 1], len(seen)), nominal, seed)
        models.append(model)
        apart = shuffle_columns_apart(unseen, rng)
        areas.append(area_and_error(model.scores(unseen), model.scores(apart)))
    area, error = np.array(areas).T
    return Relations(tuple(models), float(area.mean()), float(np.sqrt((error**2).sum()) / n_folds))


@shared
def apart_scores(
    context: Context, estimator: Any, n_folds: int, columns: Read, max_rows: int | None, seed: int
) -> np.ndarray:
    """Return what each classifier of train makes of synthetic rows, and of them shuffled apart."""
    relations = learned_relations(context, estimator, n_folds, columns, max_rows, seed)
    rows = related_rows(context, "synthetic", columns, max_rows, seed)
    apart = shuffle_columns_apart(rows, np.random.default_rng(named_seed("apart", seed)))
    both = np.concatenate([rows, apart])
    return np.array([model.scores(both).reshape(2, -1) for model in relations.models])


def mean_area(scores: np.ndarray) -> tuple[float, float]:
    """Return the mean AUC over classifiers, and its standard error as for one of them."""
    areas = np.array([area_and_error(*of_model) for of_model in scores])
    return float(areas[:, 0].mean()), float(areas[:, 1].mean())


def areas_of_halves(scores: np.ndarray, n_halvings: int) -> np.ndarray:
    """Return the mean AUC of two disjoint halves of the rows, which are halved again and again."""
    rng, half = np.random.default_rng(0), scores.shape[2] // 2
    halved = []
    for _ in range(n_halvings):
        order = rng.permutation(scores.shape[2])[: 2 * half].reshape(2, half)
        halved.append([mean_area(scores[:, :, rows])[0] for rows in order])
    return np.array(halved)
