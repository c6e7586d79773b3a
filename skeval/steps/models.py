"""Fitted models, their predictions and scores: each computed once for all metrics of a suite."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from sklearn.base import clone
from sklearn.pipeline import Pipeline

from skeval.context import Context, shared
from skeval.stats.intervals import replicated
from skeval.steps.classifiers import estimators_of, named, seeded
from skeval.steps.problem import Problem, Question, Rows, problem_of, rows_of_role
from skeval.steps.samples import sample_positions
from skeval.steps.scoring import Predictions, score_named
from skeval.tables.encoders import OneHot

DEFAULT = "xgboost"
FAMILIES = ("linear", "tree", "forest", "neighbors", "bayes", "xgboost", "mlp")
Estimator = Annotated[Any, estimators_of(FAMILIES, several=False)]
Estimators = Annotated[Any, estimators_of(FAMILIES)]
SeveralEstimators = Annotated[Any, estimators_of(FAMILIES, fewest=2)]
_LARGEST = 1e30  # beyond, single precision has no numbers
_NARROW = 500  # columns times labels up to which Newton's method costs least
_TO_STOP = 20  # rows of each label from which a part of them can say when to stop


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
