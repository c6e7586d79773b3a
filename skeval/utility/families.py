"""The models that utility is measured by: seven families by name, or any estimator."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.pipeline import Pipeline

from skeval._encoders import OneHot
from skeval._estimators import seeded
from skeval.stats.scoring import Predictions
from skeval.utility.problem import Problem, Rows

__all__ = ["DEFAULT", "FAMILIES", "Model", "learn"]

DEFAULT = "xgboost"
FAMILIES = ("linear", "tree", "forest", "neighbors", "bayes", "xgboost", "mlp")
_LARGEST = 1e30  # beyond, single precision has no numbers
_NARROW = 500  # columns times labels up to which Newton's method costs least
_TO_STOP = 20  # rows of each label from which a part of them can say when to stop


@dataclass(frozen=True)
class Native:
    """Numbers standardised, codes of categories as they are; what trees with categories take."""

    centres: np.ndarray
    scales: np.ndarray
    seen: list[np.ndarray]
    nominal: tuple[bool, ...]

    @classmethod
    def of(cls, rows: np.ndarray, nominal: tuple[bool, ...]) -> Native:
        """Learn centres, scales and the levels that occur."""
        finite = np.where(np.abs(rows) <= _LARGEST, rows, np.nan)
        counts = np.maximum((~np.isnan(finite)).sum(axis=0), 1)
        centres = np.nansum(finite, axis=0) / counts
        scales = np.sqrt(np.nansum((finite - centres) ** 2, axis=0) / counts)
        seen = [
            np.unique(column[~np.isnan(column)]) if is_code else np.empty(0)
            for column, is_code in zip(rows.T, nominal, strict=True)
        ]
        return cls(centres, np.where(scales > 0, scales, 1.0), seen, nominal)

    def transform(self, rows: np.ndarray) -> np.ndarray:
        """Return the features; a level that the model has not seen is missing."""
        features = np.clip((rows - self.centres) / self.scales, -_LARGEST, _LARGEST)
        for j, is_code in enumerate(self.nominal):
            if is_code:
                places = np.searchsorted(self.seen[j], rows[:, j]).astype(np.float64)
                features[:, j] = np.where(np.isin(rows[:, j], self.seen[j]), places, np.nan)
        return features


@dataclass(frozen=True)
class Named:
    """The features as a table: what a pipeline takes, which prepares them itself."""

    names: tuple[str, ...]


Encoder = Native | OneHot | Named


@dataclass(frozen=True)
class Model:
    """A fitted model behind its encoder; a constant one where its rows have one target.

    Attributes
    ----------
    problem : Problem
        What it predicts.
    encoder : Native, OneHot or Named
        Learnt from the rows that the model learnt from.
    estimator : estimator or None
        The fitted estimator; None for a constant model.
    classes : ndarray
        The codes of the labels that it learnt; for a constant regression its value.
    n_rows : int
        Number of rows that it learnt from.
    is_family : bool
        Whether it is one of ours, which calls the label of the highest probability.
    """

    problem: Problem
    encoder: Encoder
    estimator: Any
    classes: np.ndarray
    n_rows: int
    is_family: bool = False

    def features(self, rows: Rows) -> Any:
        """Return the rows as the estimator takes them."""
        if isinstance(self.encoder, Named):
            return rows.frame(self.encoder.names)
        return self.encoder.transform(rows.features)

    def predict(self, rows: Rows) -> Predictions:
        """Predict the target of rows."""
        return self.predict_from(self.features(rows), len(rows))

    def predict_from(self, features: Any, n_rows: int) -> Predictions:
        """Predict the target of rows that :meth:`features` has encoded."""
        if not self.problem.has_labels:
            return Predictions(self._numbers(features, n_rows))
        if self.estimator is None:
            sure = np.ones((n_rows, 1))
            return Predictions(np.repeat(self.classes, n_rows), self._by_label(sure), True)
        if self.is_family:  # one pass, which for neighbours is what costs
            found = np.asarray(self.estimator.predict_proba(features), dtype=np.float64)
            return Predictions(self.classes[found.argmax(axis=1)], self._by_label(found), True)
        called = self.classes[np.asarray(self.estimator.predict(features)).astype(np.int64)]
        if hasattr(self.estimator, "predict_proba"):
            found = np.asarray(self.estimator.predict_proba(features), dtype=np.float64)
            return Predictions(called, self._by_label(found), True)
        if hasattr(self.estimator, "decision_function"):
            margins = np.asarray(self.estimator.decision_function(features), dtype=np.float64)
            margins = np.column_stack([-margins, margins]) if margins.ndim == 1 else margins
            return Predictions(called, self._by_label(margins, margins.min()))
        return Predictions(called, self._by_label((called[:, None] == self.classes) * 1.0))

    def _numbers(self, features: Any, n_rows: int) -> np.ndarray:
        if self.estimator is None:
            return np.repeat(self.classes, n_rows)
        found = np.asarray(self.estimator.predict(features), dtype=np.float64).reshape(n_rows)
        return found * self.problem.scale + self.problem.centre

    def _by_label(self, found: np.ndarray, least: float = 0.0) -> np.ndarray:
        """Spread the scores of the labels learnt over those of the real rows."""
        scores = np.full((len(found), len(self.problem.labels)), least)
        real = self.classes < scores.shape[1]
        scores[:, self.classes[real]] = found[:, real]
        return scores


def learn(estimator: Any, rows: Rows, problem: Problem, seed: int) -> Model:
    """Fit a model, and the encoder in front of it, on rows.

    Parameters
    ----------
    estimator : str or estimator
        The name of a family, or what scikit-learn can clone. xgboost sees numbers and categories; a
        Pipeline the features as a table, which it prepares itself; all others standardised and
        one-hot columns.
    rows : Rows
        At least one row.
    problem : Problem
        What to predict.
    seed : int
        Of estimators whose `random_state` is None.

    Returns
    -------
    Model
    """
    encoder = _encoder(estimator, rows, problem)
    if (rows.target == rows.target[0]).all():
        return Model(problem, encoder, None, rows.target[:1], len(rows))
    target: np.ndarray
    classes, target = np.unique(rows.target, return_inverse=True)
    if not problem.has_labels:
        classes, target = classes[:0], (rows.target - problem.centre) / problem.scale
    features = (
        rows.frame(encoder.names)
        if isinstance(encoder, Named)
        else encoder.transform(rows.features)
    )
    if isinstance(features, np.ndarray) and features.shape[1] == 0:
        return _constant(problem, encoder, rows)
    is_family, n_features = isinstance(estimator, str), features.shape[1]
    made = (
        _family(estimator, problem, n_features, target, seed)
        if is_family
        else seeded(clone(estimator), seed)
    )
    return Model(problem, encoder, fit(made, features, target), classes, len(rows), is_family)


def fit(estimator: Any, features: Any, target: np.ndarray) -> Any:
    """Fit an estimator: the one place where models are fitted."""
    return estimator.fit(features, target)


def _constant(problem: Problem, encoder: Encoder, rows: Rows) -> Model:
    """Return the model that predicts the usual target, where no feature varies."""
    labels = problem.has_labels
    usual = np.array([np.bincount(rows.target).argmax() if labels else rows.target.mean()])
    return Model(problem, encoder, None, usual, len(rows))


def _encoder(estimator: Any, rows: Rows, problem: Problem) -> Encoder:
    if estimator == DEFAULT if isinstance(estimator, str) else _takes_categories(estimator):
        return Native.of(rows.features, problem.nominal)
    if isinstance(estimator, Pipeline):
        return Named(problem.features)
    return OneHot.of(rows.features, problem.nominal)


def _takes_categories(estimator: Any) -> bool:
    return bool(estimator.get_params().get("enable_categorical"))


def _family(name: str, problem: Problem, n_features: int, target: np.ndarray, seed: int) -> Any:
    if name == DEFAULT:
        return _boosting(problem, seed)
    labels = problem.has_labels
    # not at the top: who never asks for a model need not wait for these
    if name == "linear":
        from sklearn.linear_model import LogisticRegression, Ridge

        if not labels:
            return Ridge()
        narrow = n_features * len(problem.labels) <= _NARROW
        solver = "newton-cholesky" if narrow else "lbfgs"
        return LogisticRegression(solver=solver, max_iter=1000)
    if name == "tree":
        from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

        kind = DecisionTreeClassifier if labels else DecisionTreeRegressor
        return kind(max_depth=10, random_state=seed)
    if name == "forest":
        from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

        forest = RandomForestClassifier if labels else RandomForestRegressor
        return forest(n_estimators=100, max_features="sqrt", min_samples_leaf=5, random_state=seed)
    if name == "neighbors":
        from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

        return (KNeighborsClassifier if labels else KNeighborsRegressor)(min(5, target.size))
    if name == "bayes":
        from sklearn.linear_model import BayesianRidge
        from sklearn.naive_bayes import GaussianNB

        return GaussianNB() if labels else BayesianRidge()
    return _perceptron(labels, target, seed)


def _perceptron(labels: bool, target: np.ndarray, seed: int) -> Any:
    from sklearn.neural_network import MLPClassifier, MLPRegressor

    rows_enough = np.bincount(target).min() >= _TO_STOP if labels else target.size >= 10 * _TO_STOP
    return (MLPClassifier if labels else MLPRegressor)(
        hidden_layer_sizes=(32,),
        batch_size=min(target.size, max(32, target.size // 100)),
        early_stopping=bool(rows_enough),  # a tenth of the rows says when
        n_iter_no_change=5,
        tol=1e-3,
        max_iter=10_000,
        random_state=seed,
    )


def _boosting(problem: Problem, seed: int) -> Any:
    from xgboost import XGBClassifier, XGBRegressor

    return (XGBClassifier if problem.has_labels else XGBRegressor)(
        n_estimators=100,
        max_depth=6,
        tree_method="hist",
        enable_categorical=True,
        feature_types=["c" if is_code else "q" for is_code in problem.nominal],
        n_jobs=1,
        random_state=seed,
    )
