"""Classifiers on numbers and codes, with an encoder in front; scores of rows they have not seen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from skeval._encoders import OneHot, Ranks
from skeval._estimators import is_estimator, seeded

__all__ = ["CART", "LINEAR", "TREE", "Classifiers", "Model", "Scores", "learn", "out_of_fold"]

TREE, LINEAR, CART = "xgboost", "logistic", "cart"
_EXACT_TREES = 2000  # rows up to which exact splits cost less than histograms
_WIDE = 100  # columns from which Newton's method costs more than it saves


@dataclass(frozen=True)
class Classifiers:
    """A classifier that is to be fitted, or, if `several`, a list of them; None for the default."""

    several: bool = False
    methods: tuple[str, ...] = ("fit", "predict")

    def accepts(self, value: object) -> bool:
        """Tell whether `value` is None, a classifier or a list of classifiers."""
        if isinstance(value, list | tuple):
            return self.several and len(value) > 0 and all(self._is_one(part) for part in value)
        return value is None or self._is_one(value)

    def _is_one(self, value: object) -> bool:
        return is_estimator(value, self.methods)

    def describe(self) -> str:
        """Name the kind."""
        one = f"None or a scikit-learn classifier with {' and '.join(self.methods)}"
        return f"{one}, or a list of such" if self.several else one

    def invalid_example(self) -> object:
        """Return what is no classifier."""
        return "no such option"


@dataclass(frozen=True)
class Scores:
    """Scores of rows that the classifier has not seen: the higher, the more synthetic.

    Attributes
    ----------
    real, synthetic : ndarray
        In [0, 1]; above 1/2 the classifier calls a row synthetic.
    """

    real: np.ndarray
    synthetic: np.ndarray


@dataclass(frozen=True)
class Model:
    """A fitted classifier behind its encoder; a constant one if no column varies."""

    encoder: Ranks | OneHot
    classifier: Any

    def scores(self, rows: np.ndarray) -> np.ndarray:
        """Return a score in [0, 1] for each row."""
        return self.scores_of(self.encoder.transform(rows))

    def scores_of(self, features: np.ndarray) -> np.ndarray:
        """Return a score in [0, 1] for each row that the encoder has transformed."""
        if self.classifier is None:
            return np.full(len(features), 0.5)
        if hasattr(self.classifier, "predict_proba"):
            column = list(self.classifier.classes_).index(1)
            return np.asarray(self.classifier.predict_proba(features)[:, column], dtype=np.float64)
        if hasattr(self.classifier, "decision_function"):
            margin = np.asarray(self.classifier.decision_function(features), dtype=np.float64)
            # keeps the order of large margins, as a logistic curve in floating point does not
            return 0.5 + 0.5 * margin / (1.0 + np.abs(margin))
        return np.asarray(self.classifier.predict(features), dtype=np.float64)


def learn(
    estimator: Any, rows: np.ndarray, labels: np.ndarray, nominal: Sequence[bool], seed: int
) -> Model:
    """Fit a classifier, and the encoder in front of it, on labelled rows.

    Parameters
    ----------
    estimator : {"xgboost", "logistic", "cart"} or classifier
        Trees see ranks; others, and whatever the user passes, standardised and one-hot columns.
    rows : ndarray of shape (n_rows, n_columns)
        Numbers and codes; missing is nan.
    labels : ndarray of shape (n_rows,)
        1 for synthetic.
    nominal : sequence of bool
        Which columns are codes.
    seed : int
        Of estimators whose `random_state` is None.

    Returns
    -------
    Model
    """
    by_ranks = isinstance(estimator, str) and estimator in {TREE, CART}
    encoder = Ranks.of(rows, nominal) if by_ranks else OneHot.of(rows, nominal)
    features = encoder.transform(rows)
    if features.shape[1] == 0:
        return Model(encoder, None)
    classifier = _classifier(estimator, features.shape, seed)
    classifier.fit(features, labels.astype(np.int64))
    return Model(encoder, classifier)


def _classifier(estimator: Any, shape: tuple[int, ...], seed: int) -> Any:
    # not at the top: who never asks for a classifier need not wait for these
    if not isinstance(estimator, str):
        return seeded(clone(estimator), seed)
    if estimator == LINEAR:
        from sklearn.linear_model import LogisticRegression

        solver = "newton-cholesky" if shape[1] <= _WIDE else "lbfgs"
        return LogisticRegression(C=1.0, solver=solver, max_iter=1000)
    if estimator == CART:
        from sklearn.tree import DecisionTreeClassifier

        return DecisionTreeClassifier(min_samples_leaf=5, random_state=seed)
    from xgboost import XGBClassifier

    method = "exact" if shape[0] <= _EXACT_TREES else "hist"
    # one thread: sums of floats, and hence trees, would depend on the number of them
    return XGBClassifier(
        n_estimators=100, max_depth=3, tree_method=method, n_jobs=1, random_state=seed
    )


def out_of_fold(
    estimator: Any,
    real: np.ndarray,
    synthetic: np.ndarray,
    nominal: Sequence[bool],
    *,
    n_folds: int = 5,
    seed: int = 0,
) -> Scores:
    """Return scores of all rows, each by a classifier that learnt from the other folds.

    Parameters
    ----------
    estimator : {"xgboost", "logistic", "cart"} or classifier
        As :func:`learn` takes it.
    real, synthetic : ndarray of shape (n, n_columns), (m, n_columns)
        Numbers and codes; missing is nan.
    nominal : sequence of bool
        Which columns are codes.
    n_folds : int, default=5
        Number of folds; each has its share of both tables.
    seed : int, default=0
        Of the folds.

    Returns
    -------
    Scores
    """
    from sklearn.model_selection import StratifiedKFold

    rows = np.concatenate([real, synthetic])
    labels = np.repeat([0, 1], [len(real), len(synthetic)])
    scores = np.empty(len(rows))
    folds = StratifiedKFold(n_folds, shuffle=True, random_state=seed)
    for seen, unseen in folds.split(rows, labels):
        model = learn(estimator, rows[seen], labels[seen], nominal, seed)
        scores[unseen] = model.scores(rows[unseen])
    return Scores(scores[: len(real)], scores[len(real) :])
