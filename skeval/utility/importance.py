"""Compare the feature importances of models trained on real and on synthetic data."""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import KW_ONLY, replace
from typing import Annotated, Any, Literal, NamedTuple

import numpy as np
import pandas as pd
from scipy.sparse import issparse
from scipy.stats import rankdata

from skeval.core.context import Context, shared
from skeval.core.declared import declared
from skeval.core.tags import MODEL_TAGS
from skeval.exceptions import DegenerateInputWarning, InvalidParameterError
from skeval.results.result import Result, undefined_result
from skeval.stats.bootstrap import percentile_interval, row_weights
from skeval.steps import models
from skeval.steps.problem import Question, Rows, problem_of, rows_of_role
from skeval.steps.samples import sample_positions
from skeval.steps.scoring import SCORES, Predictions, ScoreName
from skeval.utility.model_metric import ScoredMetric
from skeval.utils.formatting import number, percent
from skeval.utils.parameters import Count, Interval

_N_PAIRS = 3
_N_MOVED = 5
_TRAININGS = {"train": models.TRAIN, "synthetic": models.SYNTHETIC}
AGREEMENTS = ("spearman", "topk", "l1")
_SAID = {
    "spearman": (
        "The importances of columns for models of real and of synthetic rows have a rank "
        "correlation of {value}"
    ),
    "topk": (
        "Models of real and of synthetic rows share {value} of the {k} most important columns"
    ),
    "l1": (
        "The importances of columns for models of real and of synthetic rows coincide by {value}"
    ),
}
_ROUNDING = 1e-12
_UNUSED = "the model trained on synthetic rows uses no column, so there is no agreement."


@declared
class FeatureImportanceAgreement(ScoredMetric):
    """Agreement of the feature importances of models trained on real and on synthetic data.

    A team trains a model on the synthetic data and reports its most important columns. The same
    model trained on the real rows may use other columns, even if both models predict equally well.
    The score is 1 if the importances agree. For "topk" and "l1", the score is at least 0. For
    Spearman's correlation, unrelated orders have a score of about 0, and reverse orders have a
    score of -1. Higher is better.

    Parameters
    ----------
    importance : {"permutation", "native"}, default="permutation"
        "permutation" is the decrease of the score on holdout rows if the column is shuffled.
        "native" uses ``feature_importances_`` or the absolute ``coef_`` of the estimator, summed
        over the columns of a category.
    statistic : {"spearman", "topk", "l1"}, default="spearman"
        "spearman" is the correlation of ranks. "topk" is the fraction of the `k` most important
        columns that are the same, with ties for the last place counted in part. "l1" is 1 minus
        half of the sum of absolute differences.
    k : int, default=5
        Number of columns for "topk". The maximum is one less than the number of columns.
    scoring : str, default="auto"
        The score that falls: "accuracy", "balanced_accuracy", "precision", "recall", "f1",
        "roc_auc", "average_precision", "log_loss" or "brier" for labels; "mse", "rmse", "mae" or
        "r2" for numbers. "auto" is "roc_auc", for numbers "r2".
    estimator : None, str or estimator, default=None
        The model, as in :class:`TSTR`; If None, "xgboost" is used.
    n_permutations : int, default=5
        Times that each column is shuffled.
    max_rows : int or None, default=2_000
        Maximum number of holdout rows for predictions, sampled at random. If None, all rows are
        used.
    n_bootstrap : int, default=200
        Number of bootstrap samples of holdout rows for the interval. If 0, there is no interval.
    random_state : int, default=0
        Seed of models, permutations, drawn rows and bootstrap.

    Raises
    ------
    InvalidParameterError
        At fit, if the scoring, task or label does not fit the target, or if native importances are
        requested and the estimator does not have them.

    Warnings
    --------
    The metric misleads if most columns are unimportant. Their order is then random, and Spearman's
    correlation gives it the same weight as the order of the first columns. Also check "l1".

    See Also
    --------
    TSTR : Compares how well the models predict.
    ModelRankAgreement : Whether both tables rank several models in the same order.
    CoefficientOverlap : Compares regression coefficients with their intervals.

    Notes
    -----
    Importances below 0 count as 0, and the importances of a model are divided by their sum.
    ``details["importances"]`` contains both vectors by column, ``details["moved"]`` the columns
    that differ most (synthetic minus training data), ``details["mae"]`` the mean absolute
    difference, and ``details["statistics"]`` all three statistics.

    The baseline is the agreement of the training data with themselves, that is, the mean agreement
    of three pairs of models, each trained on a bootstrap sample of the training data, with the
    sizes of the training and the synthetic data (at most the size of the training data). Two such
    samples differ about as much as two new real tables. Their common rows make the baseline
    slightly too high. The holdout is not used for training. The interval is computed from bootstrap
    samples of holdout rows with fixed permutations, and refers to these two models. Native
    importances have no interval.

    If several columns contain the same information, a model chooses one of them arbitrarily, and
    the others appear unimportant. The baseline shows this effect. If the model is not better than
    guessing (``details["scores"]``), the importances have no meaning.

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

    tags = replace(MODEL_TAGS, bounds=(-1.0, 1.0), display="ImportancesDisplay", headline=3)

    importance: Literal["permutation", "native"] = "permutation"
    statistic: Literal["spearman", "topk", "l1"] = "spearman"
    _: KW_ONLY
    k: Count = 5
    scoring: ScoreName = "auto"
    estimator: models.Estimator = None
    n_permutations: Count = 5
    max_rows: Count | None = 2_000
    n_bootstrap: Annotated[int, Interval(0)] = 200

    def _prepare(self, context: Context) -> None:
        super()._prepare(context)
        question = self._question(context)
        if self.importance == "native" and len(rows_of_role(context, "train", question)):
            # only a fitted estimator shows whether it has importances
            native_importances(
                models.fit_model(context, models.TRAIN, self._model(), question, self.random_state)
            )

    def _model(self) -> Any:
        return models.DEFAULT if self.estimator is None else self.estimator

    def _measure(self, context: Context) -> Result:
        question = self._question(context)
        names = problem_of(context, question).features
        if len(names) < 2:
            return undefined_result(
                f"{names[0]} is the only feature, so importances have no order."
            )
        train, synthetic = self._importances(context)
        if np.isnan(train[0]).any():
            return undefined_result(f"{self._scoring(context)} is not defined on the holdout rows.")
        synthetic, k = as_shares(synthetic), min(self.k, len(names) - 1)
        agreed = agreement(as_shares(train), synthetic, self.statistic, k)
        if np.isnan(agreed[0]):
            return undefined_result(
                "all columns are equally important for the model of the training data."
            )
        return Result(
            agreed[0],
            interval=percentile_interval(agreed),
            tags=replace(self.tags, bounds=(-1.0 if self.statistic == "spearman" else 0.0, 1.0)),
            warnings=() if synthetic[0].any() else (DegenerateInputWarning(_UNUSED),),
        )

    def _relation(self, context: Context, result: Result) -> dict[str, Any]:
        question, measure = self._question(context), self._settings(context)
        names = problem_of(context, question).features
        k = min(self.k, len(names) - 1)
        train, synthetic = (as_shares(part[:1]) for part in self._importances(context))
        baselines = agreements_by_chance(context, self._model(), question, measure, k)
        details = {
            "statistics": {n: float(agreement(train, synthetic, n, k)[0]) for n in AGREEMENTS},
            **importance_details(names, train[0], synthetic[0]),
            "baselines": baselines,
            "k": k,
            "scoring": measure.scoring,
            "scores": scores_of(context, self._model(), question, measure),
            **self._counts(context, _TRAININGS),
            "n_tested": len(sampled_holdout(context, question, measure)),
        }
        return {"baseline": baselines[self.statistic], "details": details}

    def _settings(self, context: Context) -> Measure:
        scoring, seed = self._scoring(context), self.random_state
        if self.importance == "native":
            return Measure(scoring, 0, self.max_rows, 0, seed)
        return Measure(scoring, self.n_permutations, self.max_rows, self.n_bootstrap, seed)

    def _importances(self, context: Context) -> list[np.ndarray]:
        """Return the importances for the models of training and of synthetic rows."""
        asked = (self._model(), self._question(context), self._settings(context))
        return [importances_of(context, training, *asked) for training in _TRAININGS.values()]

    def _summary(self, result: Result) -> str:
        moved = next(iter(result.details["moved"]), None)
        shown = number if self.statistic == "spearman" else percent
        change = "" if moved is None else f". The importance of {moved} changes most"
        said = _SAID[self.statistic].format(value=shown(result.value), k=result.details["k"])
        fresh = (
            ""
            if result.baseline is None
            else f" (resampled training data: {shown(result.baseline)})"
        )
        return f"{said}{fresh}{change}."


class Measure(NamedTuple):
    """How importances are computed. Native importances have no permutations and no bootstrap."""

    scoring: str
    n_permutations: int
    max_rows: int | None
    n_bootstrap: int
    seed: int


@shared
def importances_of(
    context: Context,
    training: models.Training,
    estimator: Any,
    question: Question,
    measure: Measure,
) -> np.ndarray:
    """Return importances of the features of a model, then for each bootstrap sample."""
    model = models.fit_model(context, training, estimator, question, measure.seed)
    return _of_model(context, model, question, measure)


@shared
def resampled_importances(
    context: Context, n_rows: int, draw: int, estimator: Any, question: Question, measure: Measure
) -> np.ndarray:
    """Return importances of the features of a model of a bootstrap sample of train."""
    rows = rows_of_role(context, "train", question)
    drawn = np.random.default_rng([measure.seed, draw]).integers(0, len(rows), n_rows)
    model = models.learn(
        estimator, rows.take(np.sort(drawn)), problem_of(context, question), measure.seed
    )
    return _of_model(context, model, question, measure)


def importance_details(
    names: Sequence[str], train: np.ndarray, synthetic: np.ndarray
) -> dict[str, Any]:
    """Return the normalized importances of both models, and the largest differences."""
    change = synthetic - train
    most = np.argsort(-np.abs(change), kind="stable")[:_N_MOVED]
    return {
        "mae": float(np.abs(change).mean()),
        "moved": {names[j]: float(change[j]) for j in most if change[j] != 0.0},
        "importances": {
            "train": dict(zip(names, train.tolist(), strict=True)),
            "synthetic": dict(zip(names, synthetic.tolist(), strict=True)),
        },
    }


def scores_of(
    context: Context, estimator: Any, question: Question, measure: Measure
) -> dict[str, float]:
    """Return the scores of both models on the holdout."""
    asked = (estimator, question, measure.scoring, 0, 1, measure.seed)
    return {
        name: float(models.replicates(context, training, models.HOLDOUT, *asked)[0])
        for name, training in _TRAININGS.items()
    }


def agreements_by_chance(
    context: Context, estimator: Any, question: Question, measure: Measure, k: int
) -> dict[str, float]:
    """Return the agreements for models of bootstrap samples, as means over pairs."""
    n, m = (len(rows_of_role(context, role, question)) for role in _TRAININGS)
    asked = (estimator, question, measure._replace(n_bootstrap=0))
    first, second = (
        [as_shares(resampled_importances(context, size, i, *asked)) for i in range(_N_PAIRS)]
        for size in (n, min(n, m))
    )
    pairs = [(first[i], second[(i + 1) % _N_PAIRS]) for i in range(_N_PAIRS)]
    return {
        name: float(np.mean([agreement(a, b, name, k)[0] for a, b in pairs])) for name in AGREEMENTS
    }


def sampled_holdout(context: Context, question: Question, measure: Measure) -> Rows:
    """Return the holdout rows that features are shuffled in."""
    rows = rows_of_role(context, "holdout", question)
    return rows.take(sample_positions(len(rows), measure.max_rows, measure.seed))


def _of_model(
    context: Context, model: models.Model, question: Question, measure: Measure
) -> np.ndarray:
    """Return native importances, or the mean decrease of the score over shuffles.

    The permutations depend only on the seed and the feature, so they are the same for all models.
    """
    if measure.n_permutations == 0:
        return native_importances(model)[None, :]
    rows = sampled_holdout(context, question, measure)
    score, features, n_rows = SCORES[measure.scoring], model.features(rows), len(rows)
    whole = model.predict_from(features, n_rows)
    used, repeated = _used_features(model, features), [whole] * measure.n_permutations
    shuffled = [
        _permuted_predictions(model, features, j, n_rows, measure) if j in used else repeated
        for j in range(len(rows.levels))
    ]

    def falls(weights: np.ndarray) -> np.ndarray:
        def signed_score(predictions: Predictions) -> np.ndarray:
            return score.sign * score.of(rows.target, predictions, weights, model.problem.positive)

        means = [
            np.mean([signed_score(one) for one in of_feature], axis=0) for of_feature in shuffled
        ]
        return np.column_stack([signed_score(whole) - mean for mean in means])

    every = (np.ones((1, n_rows)), *row_weights(n_rows, measure.n_bootstrap, measure.seed))
    return np.concatenate([falls(weights) for weights in every])


def _permuted_predictions(
    model: models.Model, features: Any, j: int, n_rows: int, measure: Measure
) -> list[Predictions]:
    """Return a model's predictions for rows with a shuffled feature, for each permutation."""
    rng = np.random.default_rng([measure.seed, j])
    orders = np.concatenate([rng.permutation(n_rows) for _ in range(measure.n_permutations)])
    every = np.tile(np.arange(n_rows), measure.n_permutations)
    if isinstance(features, pd.DataFrame):
        shuffled: Any = features.iloc[every].reset_index(drop=True)
        shuffled[features.columns[j]] = features.iloc[orders, j].to_numpy()
    else:
        own = np.flatnonzero(_owners(model) == j)
        shuffled = features[every]
        shuffled[:, own] = features[np.ix_(orders, own)]
    whole = model.predict_from(shuffled, len(every))
    ends = np.arange(n_rows, len(every), n_rows)
    values = np.split(whole.values, ends)
    scores = [None] * len(values) if whole.scores is None else np.split(whole.scores, ends)
    return [
        Predictions(*both, whole.are_probabilities) for both in zip(values, scores, strict=True)
    ]


def _used_features(model: models.Model, features: Any) -> Container[int]:
    """Return the features that change the predictions of a model, if this can be determined."""
    every = range(len(model.problem.features))
    if not isinstance(features, np.ndarray) or not hasattr(model.estimator, "get_booster"):
        return every
    splits = model.estimator.get_booster().get_score(importance_type="weight")
    owners = _owners(model)
    return {int(owners[int(name.removeprefix("f"))]) for name in splits}


def _owners(model: models.Model) -> np.ndarray:
    """Return for each column that the estimator sees the place of its feature."""
    if isinstance(model.encoder, models.Native):
        return np.arange(len(model.encoder.nominal))
    if model.encoder is None:
        raise InvalidParameterError(
            "importance='native' cannot determine the original features of columns in a Pipeline. "
            "Use 'permutation'."
        )
    return model.encoder.owners


def native_importances(model: models.Model) -> np.ndarray:
    """Return the native importances of an estimator by feature."""
    owners, n_features = _owners(model), len(model.problem.features)
    if model.estimator is None:
        return np.zeros(n_features)
    for name in ("feature_importances_", "coef_"):
        if (own := getattr(model.estimator, name, None)) is not None:
            values = np.abs(own.toarray() if issparse(own) else np.asarray(own, dtype=float))
            by_column = values.reshape(-1, owners.size).sum(axis=0)
            return np.bincount(owners, by_column, minlength=n_features)
    raise InvalidParameterError(
        "importance='native' requires an estimator with feature_importances_ or coef_, but "
        f"{type(model.estimator).__name__} has neither. Use 'permutation'."
    )


def as_shares(importances: np.ndarray) -> np.ndarray:
    """Return importances divided by their sum, with negative values set to 0."""
    positive = np.where(importances > _ROUNDING, importances, 0.0)
    total = positive.sum(axis=1, keepdims=True)
    return np.divide(positive, total, out=np.zeros_like(positive), where=total > 0.0)


def rank_correlation(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Return Spearman's correlation of each pair of rows, or nan if a row is constant."""
    ranks = (rankdata(part, axis=1) for part in (first, second))
    a, b = (part - part.mean(axis=1, keepdims=True) for part in ranks)
    sizes = np.sqrt((a**2).sum(axis=1) * (b**2).sum(axis=1))
    products = (a * b).sum(axis=1)
    return np.divide(products, sizes, out=np.full(sizes.shape, np.nan), where=sizes > 0.0)


def top_overlap(first: np.ndarray, second: np.ndarray, k: int) -> np.ndarray:
    """Return the fraction of the k largest entries of each row that two tables share."""
    # Entries that tie for the last places share them equally.
    places = (_places(part, k) for part in (first, second))
    return np.asarray(np.minimum(*places).sum(axis=1) / k)


def _places(values: np.ndarray, k: int) -> np.ndarray:
    """Return the fraction of each entry among the k largest, between 0 and 1 for ties."""
    last = -np.partition(-values, k - 1, axis=1)[:, [k - 1]]
    above, tied = values > last, values == last
    rest = (k - above.sum(axis=1, keepdims=True)) / tied.sum(axis=1, keepdims=True)
    return above + tied * rest


def mass_overlap(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Return the common part of the importances, that is, 1 minus half of the L1 distance."""
    return np.asarray(1.0 - 0.5 * np.abs(first - second).sum(axis=1))


def agreement(first: np.ndarray, second: np.ndarray, statistic: str, k: int) -> np.ndarray:
    """Return the agreement of the importances of two models, relative to the first."""
    if statistic == "spearman":
        agreed = rank_correlation(first, second)
        measurable, agrees = ((part != part[:, :1]).any(axis=1) for part in (first, second))
    else:
        agreed = (
            top_overlap(first, second, k) if statistic == "topk" else mass_overlap(first, second)
        )
        measurable, agrees = first.any(axis=1), second.any(axis=1)
    return np.where(measurable, np.where(agrees, agreed, 0.0), np.nan)
