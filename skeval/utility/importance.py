"""Do models that learnt on train and on synthetic rows go by the same columns."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from skeval._aggregate import undefined
from skeval._estimators import Estimators
from skeval._parameters import Interval, Nullable, Options
from skeval.base import Metric
from skeval.context import Context
from skeval.exceptions import DegenerateInputWarning
from skeval.result import Result
from skeval.stats.importances import AGREEMENTS, agreement, as_shares
from skeval.stats.resampling import percentile_interval
from skeval.stats.scoring import SCORES
from skeval.tags import MetricTags
from skeval.utility._importances import (
    Measure,
    bootstrapped_importances,
    importances_of,
    native_importances,
    sampled_holdout,
)
from skeval.utility._results import COMMON, counts_of_rows
from skeval.utility.families import DEFAULT, FAMILIES
from skeval.utility.models import SYNTHETIC, TRAIN, fitted, replicates
from skeval.utility.problem import Question, problem_of, rows_of_role, unanswerable
from skeval.utility.scoring import scoring_for

__all__ = ["FeatureImportanceAgreement"]

_N_PAIRS = 3
_N_MOVED = 5
_TRAININGS = {"train": TRAIN, "synthetic": SYNTHETIC}


class FeatureImportanceAgreement(Metric):
    """Agreement of what two models go by, one of train, one of synthetic rows: 1 if the same.

    A team trains a model on the synthetic table and reports which columns matter to it. The same
    model, trained on the real rows, may go by others, even where both predict as well. With
    Spearman's correlation 0 is what unrelated orders have, and -1 the reverse order.

    Parameters
    ----------
    target : str
        The column to predict.
    importance : {"permutation", "native"}, default="permutation"
        "permutation": by how much the score on holdout rows falls if the column is shuffled, the
        same way for both models. "native": what the estimator has of its own, its
        ``feature_importances_`` or absolute ``coef_``, columns of one category being summed.
    statistic : {"spearman", "topk", "l1"}, default="spearman"
        "spearman": correlation of ranks. "topk": share of the `k` most important columns that both
        have; those that tie for the last place share it. "l1": share of importance that lies on the
        same columns, 1 minus half the sum of absolute differences.
    k : int, default=5
        Number of columns of "topk"; one less than there are, if there are no more.
    scoring : str, default="auto"
        The score that falls: "accuracy", "balanced_accuracy", "precision", "recall", "f1",
        "roc_auc", "average_precision", "log_loss" or "brier" for labels; "mse", "rmse", "mae" or
        "r2" for numbers. "auto" is "roc_auc", for numbers "r2".
    estimator : None, str or estimator, default=None
        The model, as in :class:`TSTR`; None is "xgboost".
    n_permutations : int, default=5
        Times that each column is shuffled.
    max_rows : int or None, default=2_000
        At most so many holdout rows are predicted, drawn at random; None for all.
    task : {"auto", "binary", "multiclass", "regression"}, default="auto"
        As in :class:`TSTR`.
    pos_label : str, bool or float, optional
        The positive label of a binary task, as in :class:`TSTR`.
    features : list of str or int, optional
        The columns to predict from; all others that can be measured, but the primary key, if None.
    n_bootstrap : int, default=200
        Number of bootstrap samples of holdout rows behind the interval; 0 for none.
    random_state : int, default=0
        Seed of models, permutations, drawn rows and bootstrap.

    Attributes
    ----------
    context_ : Context
        The real tables.

    Raises
    ------
    InvalidParameterError
        At fit, if the scoring, task or label does not suit the target, or the estimator has no
        importances of its own and these are asked for.

    Notes
    -----
    Importances below 0 count as 0, and are divided by their sum: ``details["importances"]`` has
    both vectors by column, ``details["moved"]`` the columns that differ most (synthetic minus
    train), ``details["mae"]`` the mean absolute difference, and ``details["statistics"]`` all three
    statistics.

    The baseline is that of train with itself: the mean agreement of three pairs of models, each
    learnt on a bootstrap sample of train, with as many rows as train and the synthetic table have
    (at most as many as train). Two such samples differ about as two fresh tables do; their rows in
    common make the baseline a little high. Nothing is learnt on the holdout. The interval is of
    bootstrap samples of holdout rows, the permutations being given: it holds for these two models.
    Native importances have none.

    It misleads where most columns do not matter, as their order is then chance, which Spearman's
    correlation takes as seriously as the order of the first: look at "l1" too. Of columns that say
    the same a model picks one at will, and the others look unimportant: the baseline shows how much
    this costs. Where the model is no better than guessing (``details["scores"]``) there is nothing
    to agree on.

    References
    ----------
    L. Breiman, "Random forests", Machine Learning 45 (2001) 5-32, doi:10.1023/A:1010933404324.

    Examples
    --------
    >>> from skeval.datasets import make_mixed
    >>> from skeval.utility import FeatureImportanceAgreement
    >>> train, holdout, synthetic = (make_mixed(300, random_state=seed) for seed in range(3))
    >>> metric = FeatureImportanceAgreement("member", statistic="l1", estimator="linear")
    >>> result = metric.fit(train, holdout).evaluate(synthetic)
    >>> max(result.details["importances"]["train"], key=result.details["importances"]["train"].get)
    'visits'
    >>> result.value > 0.8
    True
    """

    tags = MetricTags(
        "utility",
        greater_is_better=True,
        needs=frozenset({"holdout", "target"}),
        bounds=(-1.0, 1.0),
    )
    _legal = {
        **COMMON,
        "importance": Options(("permutation", "native")),
        "statistic": Options(AGREEMENTS),
        "k": Interval(int, 1, None),
        "scoring": Options(("auto", *SCORES)),
        "estimator": Estimators(FAMILIES, several=False),
        "n_permutations": Interval(int, 1, None),
        "max_rows": Nullable(Interval(int, 1, None)),
        "n_bootstrap": Interval(int, 0, None),
    }

    def __init__(
        self,
        target: str,
        importance: str = "permutation",
        statistic: str = "spearman",
        *,
        k: int = 5,
        scoring: str = "auto",
        estimator: Any = None,
        n_permutations: int = 5,
        max_rows: int | None = 2_000,
        task: str = "auto",
        pos_label: Any = None,
        features: list[str] | int | None = None,
        n_bootstrap: int = 200,
        random_state: int = 0,
    ) -> None:
        self.target = target
        self.importance = importance
        self.statistic = statistic
        self.k = k
        self.scoring = scoring
        self.estimator = estimator
        self.n_permutations = n_permutations
        self.max_rows = max_rows
        self.task = task
        self.pos_label = pos_label
        self.features = features
        self.n_bootstrap = n_bootstrap
        self.random_state = random_state

    def _prepare(self, context: Context) -> None:
        question = Question.of(self)
        scoring_for(self.scoring, problem_of(context, question))
        if self.importance == "native" and len(rows_of_role(context, "train", question)):
            # whether an estimator has importances is known of the fitted one only
            native_importances(fitted(context, TRAIN, self._model(), question, self.random_state))

    def _model(self) -> Any:
        return DEFAULT if self.estimator is None else self.estimator

    def _compute(self, context: Context) -> Result:
        question = Question.of(self)
        if reason := unanswerable(context, question):
            return undefined(reason)
        names = problem_of(context, question).features
        if len(names) < 2:
            return undefined(f"{names[0]} is the only feature: there is no order to agree on.")
        measure = self._measure(context)
        found = [
            importances_of(context, training, self._model(), question, measure)
            for training in _TRAININGS.values()
        ]
        if np.isnan(found[0][0]).any():
            return undefined(f"{measure.scoring} is not defined on the holdout rows.")
        train, synthetic = (as_shares(part) for part in found)
        k = min(self.k, len(names) - 1)
        agreed = agreement(train, synthetic, self.statistic, k)
        if np.isnan(agreed[0]):
            return undefined("the model of train goes by all columns alike: nothing to agree on.")
        baselines = self._baselines(context, question, measure, k)
        least = -1.0 if self.statistic == "spearman" else 0.0
        return Result(
            agreed[0],
            interval=percentile_interval(agreed),
            baseline=baselines[self.statistic],
            tags=replace(self.tags, bounds=(least, 1.0)),
            details={
                **_compared(train[:1], synthetic[:1], names, k),
                "baselines": baselines,
                "k": k,
                **self._scores(context, question, measure),
            },
            warnings=_blind(synthetic),
        )

    def _measure(self, context: Context) -> Measure:
        is_native = self.importance == "native"
        return Measure(
            scoring_for(self.scoring, problem_of(context, Question.of(self))),
            0 if is_native else self.n_permutations,
            self.max_rows,
            0 if is_native else self.n_bootstrap,
            self.random_state,
        )

    def _baselines(
        self, context: Context, question: Question, measure: Measure, k: int
    ) -> dict[str, float]:
        """Return the agreements of models of bootstrap samples of train, means over pairs."""
        n, m = (len(rows_of_role(context, role, question)) for role in _TRAININGS)
        measure = replace(measure, n_bootstrap=0)

        def of_samples(n_rows: int) -> list[np.ndarray]:
            return [
                as_shares(
                    bootstrapped_importances(context, n_rows, i, self._model(), question, measure)
                )
                for i in range(_N_PAIRS)
            ]

        first, second = of_samples(n), of_samples(min(n, m))
        pairs = [(first[i], second[(i + 1) % _N_PAIRS]) for i in range(_N_PAIRS)]
        return {
            name: float(np.mean([agreement(a, b, name, k)[0] for a, b in pairs]))
            for name in AGREEMENTS
        }

    def _scores(self, context: Context, question: Question, measure: Measure) -> dict[str, Any]:
        """Return the scores of both models on the holdout, and numbers of rows."""

        def score(name: str) -> float:
            model, seed = self._model(), measure.seed
            training, on = _TRAININGS[name], "holdout"
            return float(
                replicates(context, training, on, model, question, measure.scoring, 0, 1, seed)[0]
            )

        return {
            "scoring": measure.scoring,
            "scores": {name: score(name) for name in _TRAININGS},
            **counts_of_rows(context, question, _TRAININGS, "holdout", measure.seed),
            "n_tested": len(sampled_holdout(context, question, measure)),
        }


def _compared(
    train: np.ndarray, synthetic: np.ndarray, names: tuple[str, ...], k: int
) -> dict[str, Any]:
    """Return what stands in the details of two rows of shares."""
    change = (synthetic - train)[0]
    order = np.argsort(-np.abs(change), kind="stable")[:_N_MOVED]
    return {
        "statistics": {name: float(agreement(train, synthetic, name, k)[0]) for name in AGREEMENTS},
        "mae": float(np.abs(change).mean()),
        "moved": {names[j]: float(change[j]) for j in order if change[j] != 0.0},
        "importances": {
            role: dict(zip(names, part[0].tolist(), strict=True))
            for role, part in (("train", train), ("synthetic", synthetic))
        },
    }


def _blind(synthetic: np.ndarray) -> tuple[DegenerateInputWarning, ...]:
    if synthetic[0].any():
        return ()
    text = "the model that learnt on synthetic rows goes by no column: it agrees in nothing."
    return (DegenerateInputWarning(text),)
