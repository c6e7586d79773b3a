"""Relations between columns, learned by classifiers of training rows and shuffled columns."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from skeval.core.context import Context, shared
from skeval.stats.roc import area_and_error
from skeval.steps.classifiers import FittedClassifier, Read, learn, measured_names, nominal_columns
from skeval.steps.encoded_rows import encoded_columns, encoded_matrix
from skeval.steps.samples import content_order, named_seed, sample_positions

N_PARTS = 4


class Relations(NamedTuple):
    """Classifiers that separate training rows from rows with independently drawn columns."""

    models: tuple[FittedClassifier, ...]
    area: float
    error: float


def draw_columns_apart(rows: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return the same number of rows, in which each cell is drawn independently by column."""
    n_rows = len(rows)
    # With replacement, because a first split would gain nothing if all columns had equal counts.
    return np.column_stack([column[rng.integers(n_rows, size=n_rows)] for column in rows.T])


def shuffle_columns_apart(rows: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return rows whose columns are shuffled independently, so that marginals do not change."""
    return np.column_stack([rng.permutation(column) for column in rows.T])


def related_rows(
    context: Context, role: str, columns: Read, max_rows: int | None, seed: int
) -> np.ndarray:
    """Return a seeded sample of a role's rows as numbers and codes, columns by name."""
    # Categories without a real row have the last codes, so that classifiers of the training data
    # can be used for any table.
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
    """Return classifiers that learned the training relations, and their out-of-fold AUC."""
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
    """Return the scores of each classifier for synthetic rows and for shuffled synthetic rows."""
    relations = learned_relations(context, estimator, n_folds, columns, max_rows, seed)
    both = np.concatenate(_synthetic_rows(context, columns, max_rows, seed))
    return np.array([model.scores(both).reshape(2, -1) for model in relations.models])


def _synthetic_rows(
    context: Context, columns: Read, max_rows: int | None, seed: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return a sample of the synthetic rows, and the same rows with shuffled columns."""
    rows = related_rows(context, "synthetic", columns, max_rows, seed)
    return rows, shuffle_columns_apart(rows, np.random.default_rng(named_seed("apart", seed)))


@shared
def areas_of_parts(
    context: Context, estimator: Any, columns: Read, max_rows: int | None, seed: int
) -> np.ndarray:
    """Return the AUCs of synthetic and of unseen rows for the classifiers of `N_PARTS` parts."""
    rows = related_rows(context, "train", columns, max_rows, seed)
    synthetic = _synthetic_rows(context, columns, max_rows, seed)
    nominal = nominal_columns(context, columns)
    rng = np.random.default_rng(named_seed("parts", seed))
    part = rng.permutation(len(rows)) % N_PARTS
    apart = shuffle_columns_apart(rows, rng)  # the same for all, so that only classifiers differ
    areas = []
    for k in range(N_PARTS):
        seen, unseen = rows[part == k], rows[part != k]
        both = np.concatenate([draw_columns_apart(seen, rng), seen])
        model = learn(estimator, both, np.repeat([0, 1], len(seen)), nominal, seed)
        tables = synthetic, (unseen, apart)
        areas.append([area_and_error(*map(model.scores, table))[0] for table in tables])
    return np.array(areas)


def mean_area(scores: np.ndarray) -> tuple[float, float]:
    """Return the mean AUC over classifiers, and the mean standard error of one classifier."""
    areas = np.array([area_and_error(*of_model) for of_model in scores])
    return float(areas[:, 0].mean()), float(areas[:, 1].mean())


def areas_of_halves(scores: np.ndarray, n_halvings: int) -> np.ndarray:
    """Return the mean AUC of two disjoint halves of the rows, for several random halvings."""
    rng, half = np.random.default_rng(0), scores.shape[2] // 2
    halved = []
    for _ in range(n_halvings):
        order = rng.permutation(scores.shape[2])[: 2 * half].reshape(2, half)
        halved.append([mean_area(scores[:, :, rows])[0] for rows in order])
    return np.array(halved)
