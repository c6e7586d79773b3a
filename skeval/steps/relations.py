"""Relations between columns, learned by classifiers of training rows and shuffled columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from skeval.core.context import Context, shared
from skeval.stats.roc import auc, placements
from skeval.stats.sampling_intervals import N_HALVINGS
from skeval.steps.classifiers import FittedClassifier, Read, learn, measured_names, nominal_columns
from skeval.steps.encoded_rows import encoded_columns, encoded_matrix
from skeval.steps.samples import content_order, named_seed, sample_positions

_MIN_PART = 0.5  # part of DeLong's variance that remains at least


class Relations(NamedTuple):
    """Classifiers that separate training rows from rows with independently drawn columns."""

    models: tuple[FittedClassifier, ...]
    area: float
    error: float


class ApartScores(NamedTuple):
    """Scores of the classifiers for synthetic rows and for rows with their shuffled columns."""

    scores: np.ndarray  # of shape (n_models, 2, n_rows)
    sources: np.ndarray  # for each cell of a shuffled row, the row that it is from


def draw_columns_apart(rows: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return the same number of rows, in which each cell is drawn independently by column."""
    n_rows = len(rows)
    # With replacement, because a first split would gain nothing if all columns had equal counts.
    return np.column_stack([column[rng.integers(n_rows, size=n_rows)] for column in rows.T])


def shuffle_columns_apart(
    rows: np.ndarray, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Return rows with independently shuffled columns, and the row that each cell is from."""
    sources = np.column_stack([rng.permutation(len(rows)) for _ in rows.T])
    return np.take_along_axis(rows, sources, axis=0), sources


def area_of_shuffled(scores: np.ndarray, sources: np.ndarray) -> tuple[float, float]:
    """Return the mean AUC of rows and their shuffled columns over classifiers, and its error."""
    # The arguments are the parts of `ApartScores`. DeLong's variance is for independent rows.
    # However, the cells of each row are also in shuffled rows. If a row that is easy to recognize
    # has cells that make shuffled rows difficult to recognize, the variance is smaller. Therefore,
    # twice the covariance of a row with the shuffled rows of its cells is added. The sum has a
    # minimum, because the covariance has much noise if there are few rows.
    above = np.mean([placements(rows, apart) for rows, apart in scores], axis=0)
    below = np.mean([1.0 - placements(apart, rows) for rows, apart in scores], axis=0)
    area = float(above.mean())
    if above.size < 2:
        return area, float("nan")
    of_cells = np.bincount(sources.ravel(), np.repeat(below, sources.shape[1]))
    independent = float(above.var(ddof=1) + below.var(ddof=1))
    variance = independent + 2.0 * float(np.cov(above, of_cells)[0, 1])
    return area, float(np.sqrt(max(variance, _MIN_PART * independent) / above.size))


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
    rng = np.random.default_rng(named_seed("relations", seed))
    nominal = nominal_columns(context, columns)
    models, areas, errors = zip(
        *_learn_folds(rows, n_folds, estimator, nominal, seed, rng), strict=True
    )
    error = float(np.linalg.norm(errors)) / n_folds
    return Relations(models, float(np.mean(areas)), error)


def _learn_folds(
    rows: np.ndarray,
    n_folds: int,
    estimator: Any,
    nominal: Sequence[bool],
    seed: int,
    rng: np.random.Generator,
) -> Iterator[tuple[FittedClassifier, float, float]]:
    """Yield for each fold a classifier of all other rows, the AUC of the fold, and its error."""
    fold = rng.permutation(len(rows)) % n_folds
    for k in range(n_folds):
        seen, unseen = rows[fold != k], rows[fold == k]
        both = np.concatenate([draw_columns_apart(seen, rng), seen])
        model = learn(estimator, both, np.repeat([0, 1], len(seen)), nominal, seed)
        apart, sources = shuffle_columns_apart(unseen, rng)
        scores = np.array([[model.scores(unseen), model.scores(apart)]])
        yield model, *area_of_shuffled(scores, sources)


@shared
def apart_scores(
    context: Context, estimator: Any, n_folds: int, columns: Read, max_rows: int | None, seed: int
) -> ApartScores:
    """Return the scores of each classifier for synthetic rows and for shuffled synthetic rows."""
    relations = learned_relations(context, estimator, n_folds, columns, max_rows, seed)
    rows, apart, sources = _synthetic_rows(context, columns, max_rows, seed)
    both = np.concatenate([rows, apart])
    scores = [model.scores(both).reshape(2, -1) for model in relations.models]
    return ApartScores(np.array(scores), sources)


def _synthetic_rows(
    context: Context, columns: Read, max_rows: int | None, seed: int
) -> tuple[np.ndarray, ...]:
    """Return a sample of the synthetic rows, with shuffled columns, and the sources of cells."""
    rows = related_rows(context, "synthetic", columns, max_rows, seed)
    rng = np.random.default_rng(named_seed("apart", seed))
    return rows, *shuffle_columns_apart(rows, rng)


@shared
def learned_halvings(
    context: Context, estimator: Any, columns: Read, max_rows: int | None, seed: int
) -> tuple[tuple[FittedClassifier, float], ...]:
    """Return classifiers of both halves of the training data, and their AUCs, by halving."""
    rows = related_rows(context, "train", columns, max_rows, seed)
    rng = np.random.default_rng(named_seed("halvings", seed))
    nominal = nominal_columns(context, columns)
    return tuple(
        (model, area)
        for _ in range(N_HALVINGS)
        for model, area, _ in _learn_folds(rows, 2, estimator, nominal, seed, rng)
    )


@shared
def areas_of_halvings(
    context: Context, estimator: Any, columns: Read, max_rows: int | None, seed: int
) -> np.ndarray:
    """Return the AUCs of synthetic and of unseen training rows, shape (N_HALVINGS, 2, 2)."""
    learned = learned_halvings(context, estimator, columns, max_rows, seed)
    synthetic = _synthetic_rows(context, columns, max_rows, seed)[:2]
    areas = [(auc(*map(model.scores, synthetic)), area) for model, area in learned]
    return np.reshape(areas, (N_HALVINGS, 2, 2))


def areas_of_halves(scores: np.ndarray, n_halvings: int) -> np.ndarray:
    """Return the mean AUC of two disjoint halves of the rows, for several random halvings."""
    rng, half = np.random.default_rng(0), scores.shape[2] // 2
    halved = []
    for _ in range(n_halvings):
        order = rng.permutation(scores.shape[2])[: 2 * half].reshape(2, half)
        halved.append([np.mean([auc(*each) for each in scores[:, :, rows]]) for rows in order])
    return np.array(halved)
