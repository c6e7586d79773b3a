"""Fitted models with predictions and scores, each computed once for all metrics of a suite."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.pipeline import Pipeline

from skeval.core.context import Context, shared
from skeval.stats.bootstrap import bootstrap_values
from skeval.steps.estimators import estimators_of, set_random_states
from skeval.steps.problem import Problem, Question, Rows, problem_of, rows_of_role
from skeval.steps.samples import sample_positions
from skeval.steps.scoring import Predictions, get_score
from skeval.tables.preprocessing import OneHot
from skeval.utils.dependencies import needed_xgboost
from skeval.utils.parameters import N_SEEDS

DEFAULT = "xgboost"
LIGHT = "light xgboost"  # fewer and smaller trees with fewer bins, if many columns are targets
FAMILIES = ("linear", "tree", "forest", "neighbors", "bayes", "xgboost", "mlp")
Estimator = Annotated[Any, estimators_of(FAMILIES, several=False)]
Estimators = Annotated[Any, estimators_of(FAMILIES)]
SeveralEstimators = Annotated[Any, estimators_of(FAMILIES, fewest=2)]
_LARGEST = 1e30  # single precision ends at 3e38
_NARROW = 500  # up to this number of columns times labels, Newton's method is fastest
_TO_STOP = 20  # minimum number of rows per label for early stopping with a part of the rows


class Part(NamedTuple):
    """All rows of one table, or one side of a random split within labels.

    `size` is the fraction of the rows that models learn from.
    """

    role: str
    side: str = "all"
    size: float = 1.0


class Training(NamedTuple):
    """The rows that a model learns from."""

    rows: Part
    ratio: float = 0.0
    max_rows: int | None = None


HOLDOUT = Part("holdout")
TRAIN, SYNTHETIC = Training(Part("train")), Training(Part("synthetic"))


def augmented_training(ratio: float) -> Training:
    """Return the training on the training data with added synthetic rows."""
    return Training(Part("train"), ratio=float(ratio))


def synthetic_split(test_size: float) -> tuple[Training, Part]:
    """Return the training on some of the synthetic rows, and the other rows for tests."""
    size = 1.0 - test_size
    return Training(Part("synthetic", "learned", size)), Part("synthetic", "tested", size)


def rows_of(context: Context, part: Part, question: Question, seed: int) -> Rows:
    """Return the rows of a part that have a target."""
    if part.side == "all":
        return rows_of_role(context, part.role, question)
    learned, tested = _split(context, part.role, part.size, question, seed)
    return learned if part.side == "learned" else tested


@shared
def _split(
    context: Context, role: str, size: float, question: Question, seed: int
) -> tuple[Rows, Rows]:
    """Return the rows of a table for training and for tests, stratified by label."""
    from sklearn.model_selection import train_test_split

    rows = rows_of_role(context, role, question)
    if len(rows) < 2:
        return rows, rows
    strata = None
    if problem_of(context, question).has_labels:
        counts = np.unique(rows.target, return_counts=True)[1]
        smaller = len(rows) * min(size, 1.0 - size)
        strata = rows.target if counts.min() >= 2 and smaller >= counts.size else None
    learned, tested = train_test_split(
        np.arange(len(rows)), test_size=1.0 - size, random_state=seed, stratify=strata
    )
    return rows.take(learned), rows.take(tested)


@shared
def training_rows(context: Context, training: Training, question: Question, seed: int) -> Rows:
    """Return the rows that a model learns from."""
    rows = rows_of(context, training.rows, question, seed)
    if training.ratio:
        rows = rows.concatenate(_added_rows(context, training, question, seed))
    return rows.take(sample_positions(len(rows), training.max_rows, seed))


def _added_rows(context: Context, training: Training, question: Question, seed: int) -> Rows:
    """Return the synthetic rows that are added to the training rows."""
    rows = rows_of_role(context, "synthetic", question)
    n_added = round(training.ratio * len(rows_of_role(context, training.rows.role, question)))
    return rows.take(sample_positions(len(rows), n_added, seed))


@shared
def fit_model(
    context: Context, training: Training, estimator: Any, question: Question, seed: int
) -> Model:
    """Return a model fitted to some rows, which is kept for all releases if they are real."""
    rows = training_rows(context, training, question, seed)
    return learn(estimator, rows, problem_of(context, question), seed)


@shared
def predict_part(
    context: Context,
    training: Training,
    tested: Part,
    estimator: Any,
    question: Question,
    seed: int,
) -> Predictions:
    """Return the predictions of a model for the rows of a part."""
    model = fit_model(context, training, estimator, question, seed)
    return model.predict(rows_of(context, tested, question, seed))


@shared
def out_of_fold(
    context: Context,
    training: Training,
    estimator: Any,
    question: Question,
    n_folds: int,
    seed: int,
) -> Predictions:
    """Return out-of-fold predictions for all rows of a table."""
    # Synthetic rows that are added to the training data are in the training rows of every fold and
    # are not predicted.
    from sklearn.model_selection import KFold, StratifiedKFold

    rows = rows_of_role(context, training.rows.role, question)
    problem, n_folds = problem_of(context, question), min(n_folds, len(rows))
    enough = problem.has_labels and np.unique(rows.target, return_counts=True)[1].min() >= n_folds
    folds = (StratifiedKFold if enough else KFold)(n_folds, shuffle=True, random_state=seed)
    added = _added_rows(context, training, question, seed) if training.ratio else None
    values: np.ndarray = np.empty(len(rows), dtype=rows.target.dtype)
    scores = np.empty((len(rows), len(problem.labels)))
    proper = True
    for seen, unseen in folds.split(rows.features, rows.target):
        learned = rows.take(seen) if added is None else rows.take(seen).concatenate(added)
        predictions = learn(estimator, learned, problem, seed).predict(rows.take(unseen))
        values[unseen] = predictions.values
        proper = proper and predictions.are_probabilities
        if predictions.scores is not None:
            scores[unseen] = predictions.scores
    return Predictions(values, scores if problem.has_labels else None, proper)


@shared
def replicates(
    context: Context,
    training: Training,
    tested: Part,
    estimator: Any,
    question: Question,
    scoring: str,
    n_replicates: int,
    n_repeats: int,
    seed: int,
) -> np.ndarray:
    """Return a model's score on rows of a part, then on bootstrap samples of these rows."""
    # The samples are the same for all models, so that differences are paired. With `n_repeats`
    # above 1, the scores are means over models with this number of seeds.
    problem, score = problem_of(context, question), get_score(scoring)

    def score_replicates(seed_of_model: int) -> np.ndarray:
        truth = rows_of(context, tested, question, seed_of_model).target
        predictions = predict_part(context, training, tested, estimator, question, seed_of_model)
        return bootstrap_values(
            lambda weights: score.of(truth, predictions, weights, problem.positive),
            truth.size,
            n_replicates,
            seed,
        )

    return np.asarray(
        np.mean([score_replicates((seed + i) % N_SEEDS) for i in range(n_repeats)], axis=0)
    )


@dataclass(frozen=True)
class Native:
    """Standardized numbers and codes of categories, for trees that support categories."""

    centres: np.ndarray
    scales: np.ndarray
    seen: list[np.ndarray]
    nominal: tuple[bool, ...]

    @classmethod
    def from_rows(cls, rows: np.ndarray, nominal: tuple[bool, ...]) -> Native:
        """Learn centers, scales and the categories that occur."""
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
        """Return the features, in which an unknown category is missing."""
        features = np.clip((rows - self.centres) / self.scales, -_LARGEST, _LARGEST)
        for j, is_code in enumerate(self.nominal):
            if is_code:
                places = np.searchsorted(self.seen[j], rows[:, j]).astype(np.float64)
                features[:, j] = np.where(np.isin(rows[:, j], self.seen[j]), places, np.nan)
        return features


Encoder = Native | OneHot | None


@dataclass(frozen=True)
class Model:
    """A fitted model with its encoder, or a constant model if its rows have one target."""

    problem: Problem
    encoder: Encoder
    estimator: Any
    classes: np.ndarray
    is_family: bool = False

    def features(self, rows: Rows) -> Any:
        """Return the encoded rows for the estimator."""
        return _encode_rows(rows, self.encoder, self.problem)

    def predict(self, rows: Rows) -> Predictions:
        """Predict the target of rows."""
        return self.predict_from(self.features(rows), len(rows))

    def predict_from(self, features: Any, n_rows: int) -> Predictions:
        """Predict the target of rows that :meth:`features` has encoded."""
        labels, estimator = self.problem.has_labels, self.estimator
        if estimator is None:
            sure = self._by_label(np.ones((n_rows, 1))) if labels else None
            return Predictions(np.repeat(self.classes, n_rows), sure, labels)
        if not labels:
            units = np.asarray(estimator.predict(features), dtype=np.float64).reshape(n_rows)
            return Predictions(units * self.problem.scale + self.problem.centre)
        if self.is_family:  # a single pass, because predictions of neighbors are slow
            p = np.asarray(estimator.predict_proba(features), dtype=np.float64)
            return Predictions(self.classes[p.argmax(axis=1)], self._by_label(p), True)
        called = self.classes[np.asarray(estimator.predict(features)).astype(np.int64)]
        if hasattr(estimator, "predict_proba"):
            p = np.asarray(estimator.predict_proba(features), dtype=np.float64)
            return Predictions(called, self._by_label(p), True)
        if hasattr(estimator, "decision_function"):
            margins = np.asarray(estimator.decision_function(features), dtype=np.float64)
            margins = np.column_stack([-margins, margins]) if margins.ndim == 1 else margins
            return Predictions(called, self._by_label(margins, margins.min()))
        return Predictions(called, self._by_label((called[:, None] == self.classes) * 1.0))

    def _by_label(self, scores: np.ndarray, least: float = 0.0) -> np.ndarray:
        """Map the scores of the learned labels to the labels of the real rows."""
        of_real = np.full((len(scores), len(self.problem.labels)), least)
        real = self.classes < of_real.shape[1]
        of_real[:, self.classes[real]] = scores[:, real]
        return of_real


def learn(estimator: Any, rows: Rows, problem: Problem, seed: int) -> Model:
    """Fit an encoder and a model on rows."""
    encoder = _encoder(estimator, rows, problem)
    features, target = _encode_rows(rows, encoder, problem), rows.target
    if (target == target[0]).all():
        return Model(problem, encoder, None, target[:1])
    if (
        features.shape[1] == 0 and encoder is not None
    ):  # no feature varies, so that the most common target is predicted
        usual = np.bincount(target).argmax() if problem.has_labels else target.mean()
        return Model(problem, encoder, None, np.array([usual]))
    classes, target = np.unique(target, return_inverse=True)
    if not problem.has_labels:
        classes, target = classes[:0], _in_units(rows.target, problem)
    if is_family := isinstance(estimator, str):
        unfitted = _family(estimator, problem, features.shape[1], target, seed)
    else:
        unfitted = set_random_states(clone(estimator), seed)
    return Model(problem, encoder, fit(unfitted, features, target), classes, is_family)


def _in_units(target: np.ndarray, problem: Problem) -> np.ndarray:
    """Return a target in standard deviations of the training data, within float32."""
    with np.errstate(over="ignore"):
        units = (target - problem.centre) / problem.scale
    return np.clip(units, -_LARGEST, _LARGEST)


def fit(estimator: Any, features: Any, target: np.ndarray) -> Any:
    """Fit an estimator, which is the only place that fits models."""
    return estimator.fit(features, target)


def _encoder(estimator: Any, rows: Rows, problem: Problem) -> Encoder:
    if isinstance(estimator, str):
        takes_categories = estimator in (DEFAULT, LIGHT)
    else:
        takes_categories = bool(estimator.get_params().get("enable_categorical"))
    if takes_categories:
        return Native.from_rows(rows.features, problem.nominal)
    if isinstance(estimator, Pipeline):
        return None
    return OneHot.from_rows(rows.features, problem.nominal)


def _encode_rows(rows: Rows, encoder: Encoder, problem: Problem) -> Any:
    return rows.frame(problem.features) if encoder is None else encoder.transform(rows.features)


def _family(name: str, problem: Problem, n_features: int, target: np.ndarray, seed: int) -> Any:
    if name == DEFAULT:
        return _boosting(problem, seed)
    if name == LIGHT:
        return _boosting(problem, seed, n_trees=30, max_depth=4, max_bin=32)
    # imported here, because these imports are slow and not always needed
    from sklearn import ensemble, linear_model, naive_bayes, neighbors, tree

    labels = problem.has_labels
    if name == "linear":
        if not labels:
            return linear_model.Ridge()
        narrow = n_features * len(problem.labels) <= _NARROW
        solver = "newton-cholesky" if narrow else "lbfgs"
        return linear_model.LogisticRegression(solver=solver, max_iter=1000)
    if name == "tree":
        one = tree.DecisionTreeClassifier if labels else tree.DecisionTreeRegressor
        return one(max_depth=10, random_state=seed)
    if name == "forest":
        many = ensemble.RandomForestClassifier if labels else ensemble.RandomForestRegressor
        return many(n_estimators=100, max_features="sqrt", min_samples_leaf=5, random_state=seed)
    if name == "neighbors":
        near = neighbors.KNeighborsClassifier if labels else neighbors.KNeighborsRegressor
        return near(min(5, target.size))
    if name == "bayes":
        return naive_bayes.GaussianNB() if labels else linear_model.BayesianRidge()
    return _perceptron(labels, target, seed)


def _perceptron(labels: bool, target: np.ndarray, seed: int) -> Any:
    from sklearn.neural_network import MLPClassifier, MLPRegressor

    rows_enough = np.bincount(target).min() >= _TO_STOP if labels else target.size >= 10 * _TO_STOP
    return (MLPClassifier if labels else MLPRegressor)(
        hidden_layer_sizes=(32,),
        batch_size=min(target.size, max(32, target.size // 100)),
        early_stopping=bool(rows_enough),  # based on 10% of the rows
        n_iter_no_change=5,
        tol=1e-3,
        max_iter=10_000,
        random_state=seed,
    )


def _boosting(
    problem: Problem, seed: int, n_trees: int = 100, max_depth: int = 6, **settings: int
) -> Any:
    xgboost = needed_xgboost()
    return (xgboost.XGBClassifier if problem.has_labels else xgboost.XGBRegressor)(
        n_estimators=n_trees,
        max_depth=max_depth,
        tree_method="hist",
        enable_categorical=True,
        feature_types=["c" if is_code else "q" for is_code in problem.nominal],
        n_jobs=1,
        random_state=seed,
        **settings,
    )
