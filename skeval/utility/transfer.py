"""Does a model carry over, and do synthetic rows help a model that has the real ones."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

import numpy as np

from skeval.base import Metric
from skeval.context import Context
from skeval.parameters import (
    ColumnName,
    Columns,
    Count,
    Interval,
    Label,
    OpenFraction,
    Positive,
    Seed,
)
from skeval.result import Result, undefined
from skeval.stats.intervals import percentile_interval
from skeval.steps.models import (
    SYNTHETIC,
    TRAIN,
    Estimators,
    Training,
    chosen_models,
    replicates,
    synthetic_part,
)
from skeval.steps.problem import Question, problem_of, unanswerable
from skeval.steps.scoring import Scoring, reported, scoring_for
from skeval.tags import MetricTags, Need
from skeval.utility.results import counts_of_rows, directed, interval_of, ratio

_NEEDS: frozenset[Need] = frozenset({"holdout", "target"})


class TSTR(Metric):
    """Score on real rows of a model that learnt on synthetic ones: as good as TRTR, or worse.

    A team that is given the synthetic table only trains its model on it, and then meets real cases.
    The holdout stands for these: rows that neither model nor generator has seen. The same model
    trained on the real rows (TRTR, train on real, test on real) is the baseline: what the team
    would have had. The value alone says how hard the task is; the difference to the baseline says
    what the synthetic table costs.

    Parameters
    ----------
    target : str
        The column to predict.
    scoring : str, default="auto"
        "accuracy", "balanced_accuracy", "precision", "recall", "f1", "roc_auc",
        "average_precision", "log_loss" or "brier" for labels; "mse", "rmse", "mae" or "r2" for
        numbers; or the name of any scorer of scikit-learn. "auto" is "roc_auc", for numbers "r2".
        With several labels, precision, recall, F1 and the areas are means over labels.
    estimators : None, str, estimator or list of these, default=None
        The models; the value is their mean. None is "xgboost": 100 trees of depth 6 that take
        categories and missing values as they are. Other names: "linear", "tree", "forest",
        "neighbors", "bayes", "mlp". An estimator sees standardised and one-hot columns; a Pipeline
        the table of features, numbers as float64 and categories as strings.
    task : {"auto", "binary", "multiclass", "regression"}, default="auto"
        "auto": binary if train has two values of the target, else multiclass for categories and
        regression for numbers and dates.
    pos_label : str, bool or float, optional
        The positive label of a binary task. The default is true, the larger number, or the category
        that train has less often.
    features : list of str or int, optional
        The columns to predict from; all others that can be measured, but the primary key, if None.
    n_repeats : int, default=1
        Number of times that each model is fitted, with seeds of its own; scores are means.
    n_bootstrap : int, default=1000
        Number of bootstrap samples of the tested rows behind the intervals; 0 for none.
    random_state : int, default=0
        Seed of models and bootstrap.

    Attributes
    ----------
    context_ : Context
        The real tables.

    Raises
    ------
    MissingInputError
        At fit, if there is no holdout.
    InvalidParameterError
        At fit, if there is no such column, or the scoring, task or label does not suit it.

    Notes
    -----
    ``details["difference"]`` is TSTR - TRTR with its interval, of bootstrap samples of holdout rows
    that are the same for both models: it holds for models fitted on these two tables, not for
    further draws of the generator. ``details["ratio"]`` is TSTR / TRTR, for losses TRTR / TSTR, nan
    where R2 is not positive. ``details["scores"]`` has the other scores of the task for both.

    Rows without target are left out. A label that only synthetic rows have is learnt as one of its
    own, and calling it is always wrong; one that they lack is never called. A synthetic table with
    one label gives a constant model. Encoders are learnt on the rows that the model learns from.

    It misleads where the task is so easy that any table would do, or so hard that none does, as
    TRTR then shows; and a model that the target leaks into is as good on both.

    References
    ----------
    C. Esteban, S. L. Hyland, G. Raetsch, "Real-valued (medical) time series generation with
    recurrent conditional GANs", 2017, arXiv:1706.02633.

    Examples
    --------
    >>> from skeval.datasets import make_mixed
    >>> from skeval.utility import TSTR
    >>> train, holdout, synthetic = (make_mixed(500, random_state=seed) for seed in range(3))
    >>> result = TSTR("member").fit(train, holdout).evaluate(synthetic)
    >>> bool(abs(result.value - result.baseline) < 0.05), result.details["task"]
    (True, 'binary')
    """

    tags = MetricTags("utility", greater_is_better=True, needs=_NEEDS, bounds=(0.0, 1.0))

    def __init__(
        self,
        target: ColumnName,
        scoring: Scoring = "auto",
        estimators: Estimators = None,
        *,
        task: Literal["auto", "binary", "multiclass", "regression"] = "auto",
        pos_label: Label | None = None,
        features: Columns = None,
        n_repeats: Count = 1,
        n_bootstrap: Annotated[int, Interval(0)] = 1000,
        random_state: Seed = 0,
    ) -> None:
        self.target = target
        self.scoring = scoring
        self.estimators = estimators
        self.task = task
        self.pos_label = pos_label
        self.features = features
        self.n_repeats = n_repeats
        self.n_bootstrap = n_bootstrap
        self.random_state = random_state

    def _prepare(self, context: Context) -> None:
        check_scoring(self, context)

    def _compute(self, context: Context) -> Result:
        return transferred(self, context, {"tstr": (SYNTHETIC, "holdout")})


class TRTS(Metric):
    """Score on synthetic rows of a model that learnt on real ones: high if its rules hold there.

    The mirror of :class:`TSTR`. It is high where synthetic rows are easy to tell apart by the rules
    of real ones, and a generator that draws the middle of each class makes them easier than real
    rows are: it may be near 1 where TSTR falls. Show it beside TSTR, never alone.

    Parameters
    ----------
    target, scoring, estimators
        As of :class:`TSTR`.
    test_size : float, default=0.4
        Share of the synthetic rows that is tested on, in (0, 1): the same rows as in
        :class:`TSTS`.
    task, pos_label, features, n_repeats, n_bootstrap, random_state
        As of :class:`TSTR`.

    Attributes
    ----------
    context_ : Context
        The real tables.

    Notes
    -----
    The baseline is TRTR, the same model on holdout rows. A value above it says that synthetic rows
    are easier than real ones, which is a fault. ``details["difference"]`` is TRTS - TRTR; its
    interval takes the two tested tables as independent.

    References
    ----------
    C. Esteban, S. L. Hyland, G. Raetsch, "Real-valued (medical) time series generation with
    recurrent conditional GANs", 2017, arXiv:1706.02633.

    Examples
    --------
    >>> from skeval.datasets import make_mixed
    >>> from skeval.utility import TRTS
    >>> train, holdout, synthetic = (make_mixed(500, random_state=seed) for seed in range(3))
    >>> result = TRTS("member").fit(train, holdout).evaluate(synthetic)
    >>> result.details["n_tested"]
    200
    """

    tags = MetricTags("utility", greater_is_better=True, needs=_NEEDS, bounds=(0.0, 1.0))

    def __init__(
        self,
        target: ColumnName,
        scoring: Scoring = "auto",
        estimators: Estimators = None,
        *,
        test_size: OpenFraction = 0.4,
        task: Literal["auto", "binary", "multiclass", "regression"] = "auto",
        pos_label: Label | None = None,
        features: Columns = None,
        n_repeats: Count = 1,
        n_bootstrap: Annotated[int, Interval(0)] = 1000,
        random_state: Seed = 0,
    ) -> None:
        self.target = target
        self.scoring = scoring
        self.estimators = estimators
        self.test_size = test_size
        self.task = task
        self.pos_label = pos_label
        self.features = features
        self.n_repeats = n_repeats
        self.n_bootstrap = n_bootstrap
        self.random_state = random_state

    def _prepare(self, context: Context) -> None:
        check_scoring(self, context)

    def _compute(self, context: Context) -> Result:
        return transferred(self, context, {"trts": (TRAIN, f"unlearnt {self.test_size!r}")})


class TSTS(Metric):
    """Score on synthetic rows of a model that learnt on other synthetic rows.

    What an analyst sees who has the synthetic table only, divides it, and reports how good the
    model is. Beside TRTR it says whether that report can be believed; beside :class:`TSTR`, how
    much of it carries over to real rows.

    Parameters
    ----------
    target, scoring, estimators
        As of :class:`TSTR`.
    test_size : float, default=0.4
        Share of the synthetic rows that is tested on, in (0, 1); the model learns from the others.
    task, pos_label, features, n_repeats, n_bootstrap, random_state
        As of :class:`TSTR`.

    Attributes
    ----------
    context_ : Context
        The real tables.

    Notes
    -----
    The baseline is TRTR. A value above it promises more than real rows keep. The parts have like
    shares of each label.

    References
    ----------
    J. Jordon, J. Yoon, M. van der Schaar, "Measuring the quality of synthetic data for use in
    competitions", 2018, arXiv:1806.11345.

    Examples
    --------
    >>> from skeval.datasets import make_mixed
    >>> from skeval.utility import TSTS
    >>> train, holdout, synthetic = (make_mixed(500, random_state=seed) for seed in range(3))
    >>> result = TSTS("member").fit(train, holdout).evaluate(synthetic)
    >>> result.details["n_learnt"]["tsts"], result.details["n_tested"]
    (300, 200)
    """

    tags = MetricTags("utility", greater_is_better=True, needs=_NEEDS, bounds=(0.0, 1.0))

    def __init__(
        self,
        target: ColumnName,
        scoring: Scoring = "auto",
        estimators: Estimators = None,
        *,
        test_size: OpenFraction = 0.4,
        task: Literal["auto", "binary", "multiclass", "regression"] = "auto",
        pos_label: Label | None = None,
        features: Columns = None,
        n_repeats: Count = 1,
        n_bootstrap: Annotated[int, Interval(0)] = 1000,
        random_state: Seed = 0,
    ) -> None:
        self.target = target
        self.scoring = scoring
        self.estimators = estimators
        self.test_size = test_size
        self.task = task
        self.pos_label = pos_label
        self.features = features
        self.n_repeats = n_repeats
        self.n_bootstrap = n_bootstrap
        self.random_state = random_state

    def _prepare(self, context: Context) -> None:
        check_scoring(self, context)

    def _compute(self, context: Context) -> Result:
        training = synthetic_part(1.0 - self.test_size)
        return transferred(self, context, {"tsts": (training, f"unlearnt {self.test_size!r}")})


class AugmentationGain(Metric):
    """By how much synthetic rows, added to the real ones, raise a model's score on real rows.

    A team keeps its real rows and adds synthetic ones, in the hope of a better model. 0 if they
    change nothing, which is the rule: beyond its training rows a generator knows only what its form
    assumes. Below 0, they harm.

    Parameters
    ----------
    target, scoring, estimators
        As of :class:`TSTR`.
    ratio : float, default=1.0
        Synthetic rows to add for each row of train; all, if there are fewer.
    task, pos_label, features, n_repeats, n_bootstrap, random_state
        As of :class:`TSTR`.

    Attributes
    ----------
    context_ : Context
        The real tables.

    Notes
    -----
    The value is ``score(train + synthetic) - score(train)`` on the holdout, for losses the other
    way round, so that more is better; the baseline is 0. ``details["scaled"]`` is
    ``value / 2 + 1/2``, in [0, 1] for scores in [0, 1]. The interval is of bootstrap samples of
    holdout rows, the same for both models.

    References
    ----------
    SDMetrics, "ML augmentation" metrics, https://docs.sdv.dev/sdmetrics.

    Examples
    --------
    >>> from skeval.datasets import make_mixed
    >>> from skeval.utility import AugmentationGain
    >>> train, holdout, synthetic = (make_mixed(300, random_state=seed) for seed in range(3))
    >>> result = AugmentationGain("member").fit(train, holdout).evaluate(synthetic)
    >>> result.details["n_learnt"]
    {'train': 300, 'augmented': 600}
    """

    tags = MetricTags("utility", greater_is_better=True, needs=frozenset({"holdout", "target"}))

    def __init__(
        self,
        target: ColumnName,
        scoring: Scoring = "auto",
        estimators: Estimators = None,
        *,
        ratio: Positive = 1.0,
        task: Literal["auto", "binary", "multiclass", "regression"] = "auto",
        pos_label: Label | None = None,
        features: Columns = None,
        n_repeats: Count = 1,
        n_bootstrap: Annotated[int, Interval(0)] = 1000,
        random_state: Seed = 0,
    ) -> None:
        self.target = target
        self.scoring = scoring
        self.estimators = estimators
        self.ratio = ratio
        self.task = task
        self.pos_label = pos_label
        self.features = features
        self.n_repeats = n_repeats
        self.n_bootstrap = n_bootstrap
        self.random_state = random_state

    def _prepare(self, context: Context) -> None:
        check_scoring(self, context)

    def _compute(self, context: Context) -> Result:
        augmented = Training("both", ratio=float(self.ratio))
        found = transferred(self, context, {"augmented": (augmented, "holdout")})
        if np.isnan(found.value):
            return found
        sign = 1.0 if directed(self.tags, found.details["scoring"]).greater_is_better else -1.0
        gain = {
            name: None if value is None else sign * value
            for name, value in found.details["difference"].items()
        }
        ends = [end for end in (gain["low"], gain["high"]) if end is not None]
        return Result(
            gain["value"] if gain["value"] is not None else float("nan"),
            interval=(min(ends), max(ends)) if ends else None,
            baseline=0.0,
            details={
                **found.details,
                "scaled": (gain["value"] or 0.0) / 2.0 + 0.5,
            },
        )


def check_scoring(metric: Any, context: Context) -> None:
    """Refuse, at fit, a question or a scoring that does not suit the target."""
    scoring_for(metric.scoring, problem_of(context, Question.of(metric)))


def transferred(
    metric: Any, context: Context, tested: Mapping[str, tuple[Training, str]]
) -> Result:
    """Return the score of one transfer beside TRTR."""
    question = Question.of(metric)
    if reason := unanswerable(context, question):
        return undefined(reason)
    problem = problem_of(context, question)
    scoring = scoring_for(metric.scoring, problem)
    models = chosen_models(metric.estimators)
    ((name, (training, rows)),) = tested.items()

    def of(which: Training, on: str, model: Any, score: str, n_bootstrap: int) -> np.ndarray:
        repeats, seed = metric.n_repeats, metric.random_state
        return replicates(context, which, on, model, question, score, n_bootstrap, repeats, seed)

    def mean(which: Training, on: str, score: str, n_bootstrap: int) -> np.ndarray:
        return np.mean([of(which, on, m, score, n_bootstrap) for m in models.values()], axis=0)

    on_real = mean(TRAIN, "holdout", scoring, metric.n_bootstrap)
    found = mean(training, rows, scoring, metric.n_bootstrap)
    if np.isnan(found[0]):
        return undefined(
            f"{scoring} is not defined on the tested rows, as where all have one label."
        )
    trainings = {"train": TRAIN, name: training}
    return Result(
        found[0],
        interval=percentile_interval(found),
        baseline=float(on_real[0]),
        tags=directed(metric.tags, scoring),
        details={
            "scoring": scoring,
            "task": problem.task,
            "trtr": interval_of(on_real),
            "difference": interval_of(found - on_real),
            "ratio": ratio(float(found[0]), float(on_real[0]), scoring),
            "models": {
                label: {
                    name: float(of(training, rows, model, scoring, metric.n_bootstrap)[0]),
                    "trtr": float(of(TRAIN, "holdout", model, scoring, metric.n_bootstrap)[0]),
                }
                for label, model in models.items()
            },
            "scores": {
                other: {
                    name: float(mean(training, rows, other, 0)[0]),
                    "trtr": float(mean(TRAIN, "holdout", other, 0)[0]),
                }
                for other in reported(problem)
            },
            **counts_of_rows(context, question, trainings, rows, metric.random_state),
        },
    )
