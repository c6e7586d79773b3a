"""Classifiers that tell synthetic from real rows: the scores that several metrics read.

All metrics of this family ask for the same few sets of scores, each computed once a context. Rows
are put into an order of their own first, so that neither folds nor samples depend on the order in
which a table came.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from skeval._estimators import named
from skeval._reading import sorted_labels
from skeval.context import Context, shared
from skeval.fidelity._classifiers import LINEAR, TREE, Model, Scores, learn, out_of_fold
from skeval.preprocessing import NOMINAL, NUMERIC
from skeval.stats.auc import auc
from skeval.steps import chosen_columns, encoded, sample_positions
from skeval.steps.samples import ColumnChoice

__all__ = [
    "FEWEST",
    "MAX_ROWS",
    "Split",
    "balanced_rows",
    "candidates",
    "copied_share",
    "drawn_rows",
    "fold_scores",
    "importances",
    "nominal_columns",
    "ordered_rows",
    "split",
    "too_few",
    "with_defaults",
]

MAX_ROWS = 10_000
FEWEST = 10
_IMPORTANCE_ROWS = 1000


@dataclass(frozen=True)
class Split:
    """A classifier that learnt on some rows and scored others.

    Attributes
    ----------
    scores : Scores
        Of as many real as synthetic rows.
    real_rows : str
        Whose the real rows are, "holdout" or "train".
    n_learnt : int
        Rows of each kind that the classifier learnt from.
    model : Model
        The classifier.
    real, synthetic : ndarray
        The rows that were scored.
    """

    scores: Scores
    real_rows: str
    n_learnt: int
    model: Model
    real: np.ndarray
    synthetic: np.ndarray


def with_defaults(estimator: Any) -> dict[str, Any]:
    """Return the classifiers to run by name, the first being the headline; a tree and a line."""
    given = {} if estimator is None else named([estimator])
    return {**given, TREE: TREE, LINEAR: LINEAR}


def candidates(estimator: Any) -> dict[str, Any]:
    """Return the classifiers to choose among by name: those given, else a tree and a line."""
    if estimator is None:
        return {TREE: TREE, LINEAR: LINEAR}
    return named(list(estimator) if isinstance(estimator, list | tuple) else [estimator])


def too_few(context: Context, columns: ColumnChoice, n_folds: int = 0) -> str:
    """Return why no classifier can be run on these tables; empty if one can."""
    if not _names(context, columns):
        return "no column of this table can be measured."
    fewest = max(FEWEST, n_folds)
    short = [role for role in ("train", "synthetic") if context.n_rows(role) < fewest]
    if not short:
        return ""
    counts = " and ".join(f"{role} has {context.n_rows(role)}" for role in short)
    return f"a classifier needs {fewest} rows of each table to learn from and to score; {counts}."


def _names(context: Context, columns: ColumnChoice) -> list[str]:
    """Return the columns that classifiers see, sorted: their order must not matter."""
    keys = set(context.schema.primary_key) if columns is None else set()
    return sorted(set(chosen_columns(context.schema, columns)) - keys)


def nominal_columns(context: Context, columns: ColumnChoice) -> tuple[bool, ...]:
    """Return which of the columns that classifiers see are codes of categories."""
    nominal = set(context.schema.columns(*NOMINAL))
    return tuple(name in nominal for name in _names(context, columns))


@shared
def ordered_rows(context: Context, role: str, columns: ColumnChoice = None) -> np.ndarray:
    """Return a role's rows as numbers and codes, columns by name, rows in lexicographic order.

    The codes are in the order of the labels, real or not: in those of the context levels that no
    real row has come last, which would tell synthetic rows where each row has a level of its own.
    """
    every = [*context.schema.columns(*NUMERIC), *context.schema.columns(*NOMINAL)]
    names = _names(context, columns)
    rows = encoded(context, role, "gower")[:, [every.index(name) for name in names]] + 0.0
    for j, is_code in enumerate(nominal_columns(context, columns)):
        if is_code:
            levels = list(context.synthetic[names[j]].cat.categories)
            place = {level: i for i, level in enumerate(sorted_labels(set(levels)))}
            recoded = np.array([place[level] for level in levels] or [0], dtype=np.float64)
            present = ~np.isnan(rows[:, j])
            rows[present, j] = recoded[rows[present, j].astype(np.int64)]
    ordered: np.ndarray = rows[np.lexsort(rows.T[::-1])]
    return ordered


def drawn_rows(
    context: Context, role: str, columns: ColumnChoice, n_drawn: int | None, seed: int
) -> np.ndarray:
    """Return a seeded sample of a role's ordered rows; all if there are no more."""
    rows = ordered_rows(context, role, columns)
    return rows[sample_positions(len(rows), n_drawn, _seed_of(role, seed))]


def _seed_of(role: str, seed: int) -> int:
    # tables may be aligned row by row: each role draws positions of its own
    return zlib.crc32(f"{role} {seed}".encode())


@shared
def copied_share(context: Context, columns: ColumnChoice = None) -> float:
    """Return the share of synthetic rows that stand in train, as far as classifiers see."""
    train, synthetic = (
        pd.util.hash_pandas_object(pd.DataFrame(ordered_rows(context, role, columns)), index=False)
        for role in ("train", "synthetic")
    )
    return float(synthetic.isin(set(train)).mean())


@shared
def fold_scores(
    context: Context,
    estimator: Any,
    columns: ColumnChoice,
    n_folds: int,
    max_rows: int | None,
    seed: int,
    real: str = "train",
) -> Scores:
    """Return out-of-fold scores of as many real as synthetic rows."""
    rows = balanced_rows(context, real, columns, max_rows, seed)
    nominal = nominal_columns(context, columns)
    return out_of_fold(estimator, *rows, nominal, n_folds=n_folds, seed=seed)


def balanced_rows(
    context: Context, real: str, columns: ColumnChoice, max_rows: int | None, seed: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return as many rows of a real table as of the synthetic one, seeded samples of the larger."""
    n_rows = min(context.n_rows(real), context.n_rows("synthetic"))
    n_rows = n_rows if max_rows is None else min(n_rows, max_rows)
    found, synthetic = (
        drawn_rows(context, role, columns, n_rows, seed) for role in (real, "synthetic")
    )
    return found, synthetic


@shared
def split(
    context: Context,
    estimator: Any,
    columns: ColumnChoice,
    test_size: float,
    max_rows: int | None,
    seed: int,
) -> Split:
    """Return scores of rows that a classifier has not seen, by one that learnt from others.

    It learns from train and a part of the synthetic rows, and is tested on the others and as many
    holdout rows. These are independent of whatever was learnt, by classifier and generator alike.
    Without a holdout, train is divided as the synthetic table is.
    """
    synthetic = _shuffled(context, "synthetic", columns, max_rows, seed)
    train = _shuffled(context, "train", columns, max_rows, seed)
    fresh = "holdout" in context and context.n_rows("holdout") >= FEWEST
    if fresh:
        tested = _shuffled(context, "holdout", columns, max_rows, seed)
        n_test = min(_test_rows(len(synthetic), test_size), len(tested))
        learnt = train
    else:
        n_test = _test_rows(min(len(train), len(synthetic)), test_size)
        tested, learnt = train[:n_test], train[n_test:]
    unseen, seen = synthetic[:n_test], synthetic[n_test:]
    n_learnt = min(len(seen), len(learnt))
    rows = np.concatenate([learnt[:n_learnt], seen[:n_learnt]])
    labels = np.repeat([0, 1], n_learnt)
    model = learn(estimator, rows, labels, nominal_columns(context, columns), seed)
    tested = tested[:n_test]
    scores = Scores(model.scores(tested), model.scores(unseen))
    return Split(scores, "holdout" if fresh else "train", n_learnt, model, tested, unseen)


def _shuffled(
    context: Context, role: str, columns: ColumnChoice, max_rows: int | None, seed: int
) -> np.ndarray:
    rows = drawn_rows(context, role, columns, max_rows, seed)
    return rows[np.random.default_rng(_seed_of(f"halves of {role}", seed)).permutation(len(rows))]


def _test_rows(n_rows: int, test_size: float) -> int:
    return min(max(1, round(test_size * n_rows)), n_rows - 2)


@shared
def importances(
    context: Context,
    estimator: Any,
    columns: ColumnChoice,
    test_size: float,
    max_rows: int | None,
    seed: int,
) -> Mapping[str, float]:
    """Return by how much the AUC on unseen rows falls if a column is shuffled, largest first."""
    found = split(context, estimator, columns, test_size, max_rows, seed)
    real, synthetic = found.real[:_IMPORTANCE_ROWS], found.synthetic[:_IMPORTANCE_ROWS]
    features, owners = (
        found.model.encoder.transform(np.concatenate([real, synthetic])),
        found.model.encoder.owners,
    )
    rng = np.random.default_rng(seed)
    whole = _auc(found.model, features, len(real))
    falls = {}
    for j, name in enumerate(_names(context, columns)):
        mixed, own = features.copy(), owners == j
        mixed[:, own] = features[rng.permutation(len(features))][:, own]
        falls[name] = whole - _auc(found.model, mixed, len(real)) if own.any() else 0.0
    return dict(sorted(falls.items(), key=lambda pair: -pair[1]))


def _auc(model: Model, features: np.ndarray, n_real: int) -> float:
    scores = model.scores_of(features)
    return auc(scores[n_real:], scores[:n_real])
