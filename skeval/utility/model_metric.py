"""Shared code of metrics that train models, such as questions, scores and counts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, replace
from typing import Annotated, Any, ClassVar, Literal

import numpy as np

from skeval.core.base import Metric
from skeval.core.context import Context
from skeval.core.declared import declared
from skeval.core.needs import Unmet
from skeval.results.result import Result, undefined_result
from skeval.stats.bootstrap import percentile_interval
from skeval.steps.estimators import name_estimators
from skeval.steps.models import (
    DEFAULT,
    HOLDOUT,
    SYNTHETIC,
    TRAIN,
    Estimators,
    Part,
    Training,
    replicates,
    rows_of,
    training_rows,
)
from skeval.steps.problem import Question, problem_of, rows_of_role, unanswerable
from skeval.steps.scoring import Scoring, scoring_for
from skeval.utils.formatting import number, scoring_in_words
from skeval.utils.parameters import ColumnName, Columns, Count, Interval, Label, Seed

# the models of most metrics, by training data
TRAININGS = {"tstr": SYNTHETIC, "trtr": TRAIN}


@declared
class TargetMetric(Metric):
    """Base of metrics that predict a target from other columns.

    Parameters
    ----------
    target : str
        The column to predict.
    task : {"auto", "binary", "multiclass", "regression"}, default="auto"
        "auto" is binary if the training data have two values of the target, multiclass for other
        categorical columns, and regression for other numerical and datetime columns.
    pos_label : str, bool or float, optional
        The positive label of a binary task. The default is true, the larger number, or the category
        that is less frequent in the training data.
    features : list of str or int, optional
        Columns used for the prediction. If None, all other measurable columns except the primary
        key are used.
    """

    # the tasks that the metric is defined for
    _tasks: ClassVar[tuple[str, ...]] = ("binary", "multiclass", "regression")

    target: ColumnName
    _: KW_ONLY
    task: Literal["auto", "binary", "multiclass", "regression"] = "auto"
    pos_label: Label | None = None
    features: Columns = None

    def missing_input(self, context: Context) -> Unmet | None:
        """Return the need that the real tables do not meet, including a suitable target."""
        if (unmet := super().missing_input(context)) or len(self._tasks) == 3:
            return unmet
        problem = problem_of(context, self._question(context))
        if problem.task in self._tasks:
            return None
        if "multiclass" in self._tasks:
            return Unmet(f"requires a categorical target, but {problem.target} is numerical.")
        return Unmet(
            f"requires a target with two labels, but the task of {problem.target} is "
            f"{problem.task}. Set task='binary' and pos_label to compare one label with all others."
        )

    def _compute(self, context: Context) -> Result:
        reason = self._unanswerable(context)
        return undefined_result(reason) if reason else self._measure(context)

    def _unanswerable(self, context: Context) -> str:
        """Return why the metric cannot be computed for these tables, or an empty string."""
        return unanswerable(context, self._question(context))

    def _measure(self, context: Context) -> Result:
        """Return the value if the question can be answered."""
        raise NotImplementedError

    def _in_relation(self, context: Context, result: Result) -> Result:
        relation = {} if np.isnan(result.value) else self._relation(context, result)
        return super()._in_relation(context, replace(result, **relation))

    def _relation(self, context: Context, result: Result) -> dict[str, Any]:
        """Return additional fields of a defined result, such as its interval."""
        return {}

    def _question(self, context: Context) -> Question:
        """Return the target and the features of the prediction."""
        chosen = self.features
        features = tuple(chosen) if isinstance(chosen, list | tuple) else chosen
        return Question(self.target, self.task, self.pos_label, features)


@declared
class ModelMetric(TargetMetric):
    """Base of metrics that train models.

    Parameters
    ----------
    n_bootstrap : int, default=1000
        Number of bootstrap samples of holdout rows for the intervals. If 0, there are no intervals.
    random_state : int, default=0
        Seed of models and bootstrap.
    """

    _: KW_ONLY
    n_bootstrap: Annotated[int, Interval(0)] = 1000
    random_state: Seed = 0

    def _counts(
        self, context: Context, trainings: Mapping[str, Training], tested: Part = HOLDOUT
    ) -> dict[str, Any]:
        """Return the numbers of test rows, training rows and rows without a target."""
        question, seed = self._question(context), self.random_state
        roles = [role for role in ("train", "holdout", "synthetic") if role in context]
        return {
            "n_tested": len(rows_of(context, tested, question, seed)),
            "n_learned": {
                name: len(training_rows(context, training, question, seed))
                for name, training in trainings.items()
            },
            "n_dropped": {role: rows_of_role(context, role, question).n_dropped for role in roles},
        }


@declared
class ScoredMetric(ModelMetric):
    """Base of metrics that score predictions.

    Parameters
    ----------
    scoring : str, default="auto"
        "accuracy", "balanced_accuracy", "precision", "recall", "f1", "roc_auc",
        "average_precision", "log_loss" or "brier" for labels, or "mse", "rmse", "mae" or "r2" for
        numbers. The name of any scikit-learn scorer is also valid. "auto" is "roc_auc" for labels
        and "r2" for numbers. For a multiclass task, precision, recall, F1, ROC AUC and average
        precision are means over labels.
    """

    scoring: Scoring = "auto"

    def _prepare(self, context: Context) -> None:
        self._scoring(context)  # rejects, at fit, a score that does not fit the target

    def _scoring(self, context: Context) -> str:
        """Return the score that the parameter specifies."""
        return scoring_for(self.scoring, problem_of(context, self._question(context)))


@declared
class SeveralModels(ModelMetric):
    """Base of metrics that train several models, and each of them several times.

    Parameters
    ----------
    estimators : None, str, estimator or list of these, default=None
        The models. The value is their mean. If None, "xgboost" is used with 100 trees of depth 6,
        which uses categories and missing values directly. Other names are "linear", "tree",
        "forest", "neighbors", "bayes" and "mlp". An estimator receives standardized and one-hot
        encoded columns. A Pipeline receives the table of features with numbers as float64 and
        categories as strings.
    n_repeats : int, default=1
        Number of times that each model is fitted with a different seed. The values are means.
    """

    _default: ClassVar[tuple[str, ...]] = (DEFAULT,)

    estimators: Estimators = None
    _: KW_ONLY
    n_repeats: Count = 1

    def _models(self) -> dict[str, Any]:
        """Return the models by name."""
        chosen = self._default if self.estimators is None else self.estimators
        return name_estimators(list(chosen) if isinstance(chosen, list | tuple) else [chosen])

    def _by_model(self, columns: Mapping[str, np.ndarray]) -> dict[str, dict[str, float]]:
        """Return values of each model by its name, without replicates."""
        return {
            name: {key: float(np.ravel(values[i])[0]) for key, values in columns.items()}
            for i, name in enumerate(self._models())
        }

    def _replicates(
        self, context: Context, training: Training, tested: Part, scoring: str, n_bootstrap: int = 0
    ) -> np.ndarray:
        """Return the scores of all models as an array (n_models, 1 + n_bootstrap)."""
        question, n_repeats, seed = self._question(context), self.n_repeats, self.random_state
        asked = (question, scoring, n_bootstrap, n_repeats, seed)
        models = self._models().values()
        return np.array([replicates(context, training, tested, one, *asked) for one in models])


@declared
class ScoredModels(SeveralModels, ScoredMetric):
    """Base of metrics that score several models."""


def value_with_interval(
    value: float, interval: tuple[float, float] | None
) -> dict[str, float | None]:
    """Return a value with its interval for details."""
    low, high = interval or (None, None)
    return {"value": float(value), "low": low, "high": high}


def stated_replicates(replicates: np.ndarray) -> dict[str, float | None]:
    """Return a value with the percentile interval of its replicates."""
    return value_with_interval(replicates[0], percentile_interval(replicates))


def score_name(result: Result) -> str:
    """Return the name of the score of a result for sentences."""
    return scoring_in_words(str(result.details["scoring"]))


def shown_difference(difference: Mapping[str, Any]) -> str:
    """Return a stated difference in words, with the ends of its interval if it has one."""
    value = number(difference["value"])
    if difference["low"] is None:
        return value
    return f"{value} ({number(difference['low'])} to {number(difference['high'])})"
