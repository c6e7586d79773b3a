"""Do synthetic rows rank models as real rows do, and what does choosing by them cost."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal

import numpy as np

from skeval.base import Metric
from skeval.context import Context, shared
from skeval.exceptions import DegenerateInputWarning
from skeval.parameters import ColumnName, Columns, Count, Interval, Label, OpenFraction, Seed
from skeval.result import Result, undefined
from skeval.stats.ranks import (
    STATISTICS,
    Decided,
    agreement,
    agreement_interval,
    decided_pairs,
    first_best,
    permutation_p_value,
    regret,
    regret_interval,
    tied_with,
)
from skeval.steps.models import (
    FAMILIES,
    SYNTHETIC,
    TRAIN,
    SeveralEstimators,
    Training,
    chosen_models,
    replicates,
    synthetic_part,
    training_rows,
)
from skeval.steps.problem import Question, problem_of, unanswerable
from skeval.steps.scoring import Scoring, score_named, scoring_for
from skeval.tags import MetricTags, Need
from skeval.utility.results import counts_of_rows

_NEEDS: frozenset[Need] = frozenset({"holdout", "target"})
_UNDECIDED = (
    "the real scores of no two models differ beyond chance, so that their order on real rows says "
    "nothing."
)


class ModelRankAgreement(Metric):
    """Do synthetic rows put models in the order of real rows: 1 if so, 1/2 by chance.

    Whoever compares models on a synthetic table wants to know whether the better one there is the
    better one on real rows; the scores themselves may be off. Each model is scored twice on rows
    that it has not seen: learnt on real rows and tested on the holdout, and with the synthetic
    table in play. With ``mode="tstr"`` it learns from synthetic rows and is tested on the holdout;
    with ``mode="tsts"`` it learns from some synthetic rows and is tested on the others, which is
    all that an analyst without real rows can do.

    Parameters
    ----------
    target : str
        The column to predict.
    scoring : str, default="auto"
        As of :class:`TSTR`.
    estimators : None or list, default=None
        At least two models, as of :class:`TSTR`; None is all seven: "linear", "tree", "forest",
        "neighbors", "bayes", "xgboost", "mlp".
    statistic : {"sra", "kendall", "spearman"}, default="sra"
        "sra" is synthetic ranking agreement, the share of pairs of models in the same order, in
        [0, 1]; a pair tied on one side only counts a half. The others are Kendall's tau-b and
        Spearman's rho, in [-1, 1], 0 by chance; they are not defined where all models tie.
    mode : {"tstr", "tsts"}, default="tstr"
        How the synthetic table is used.
    test_size : float, default=0.4
        Share of the synthetic rows that is tested on where `mode` is "tsts", in (0, 1).
    max_rows : int or None, default=5_000
        The most rows that a model learns from, drawn at random; None for all.
    task, pos_label, features, n_repeats, n_bootstrap, random_state
        As of :class:`TSTR`.

    Attributes
    ----------
    context_ : Context
        The real tables.

    Notes
    -----
    Where models are nearly equal, their order is noise on any table. ``details["n_decided"]``
    counts the pairs whose real scores differ beyond chance (the 95% bootstrap interval of their
    difference excludes 0), and ``details["among_decided"]`` is SRA over these; a warning says if
    there are none. The interval of the value lets every pair that is not decided, on either side,
    go either way: it is wide where scores are close, and holds for models fitted on these tables.
    ``details["self_agreement"]`` is the mean agreement of the real scores with those on bootstrap
    samples of the same rows; with ``mode="tsts"`` no table can be expected to do much better.

    The p-value is that of a permutation test, exact up to eight models: the share of all orders of
    the models that agree with the real one as well as the synthetic order does. With n models it
    cannot be below 1 / n!, so that two or three models prove nothing.

    With ``mode="tsts"`` the baseline is the agreement that an analyst would have who splits train
    in place of the synthetic table. With ``mode="tstr"`` train in its place would be compared with
    itself, and fresh real rows would be the holdout, on which the models are tested: there is no
    baseline.

    A poor table can agree well, where one model is better on any rows. :class:`SelectionRegret`
    says what disagreement costs.

    References
    ----------
    J. Jordon, J. Yoon, M. van der Schaar, "Measuring the quality of synthetic data for use in
    competitions", 2018, arXiv:1806.11345.

    Examples
    --------
    >>> from skeval.datasets import make_mixed
    >>> from skeval.utility import ModelRankAgreement
    >>> train, holdout, synthetic = (make_mixed(500, random_state=seed) for seed in range(3))
    >>> models = ["linear", "tree", "neighbors", "bayes"]
    >>> metric = ModelRankAgreement("member", estimators=models).fit(train, holdout)
    >>> result = metric.evaluate(synthetic)
    >>> result.value > 0.5, result.details["n_pairs"]
    (True, 6)
    """

    tags = MetricTags("utility", greater_is_better=True, needs=_NEEDS, bounds=(0.0, 1.0))

    def __init__(
        self,
        target: ColumnName,
        scoring: Scoring = "auto",
        estimators: SeveralEstimators = None,
        *,
        statistic: Literal["sra", "kendall", "spearman"] = "sra",
        mode: Literal["tstr", "tsts"] = "tstr",
        test_size: OpenFraction = 0.4,
        max_rows: Count | None = 5_000,
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
        self.statistic = statistic
        self.mode = mode
        self.test_size = test_size
        self.max_rows = max_rows
        self.task = task
        self.pos_label = pos_label
        self.features = features
        self.n_repeats = n_repeats
        self.n_bootstrap = n_bootstrap
        self.random_state = random_state

    def _prepare(self, context: Context) -> None:
        scoring_for(self.scoring, problem_of(context, Question.of(self)))

    def _compute(self, context: Context) -> Result:
        scores = scores_or_reason(self, context)
        if isinstance(scores, str):
            return undefined(scores)
        value = float(agreement(scores.real[:, :1], scores.synthetic[:, :1], self.statistic)[0])
        if np.isnan(value):
            return undefined("all models score the same on one side, so that they have no order.")
        real, synthetic = decided_pairs(scores.real), decided_pairs(scores.synthetic)
        interval = (
            None
            if real is None or synthetic is None
            else agreement_interval(value, real, synthetic, self.statistic)
        )
        undecided = real is not None and not real.which.any()
        return Result(
            value,
            interval=interval,
            baseline=None
            if scores.train is None
            else _first(agreement(scores.real[:, :1], scores.train[:, None], self.statistic)),
            p_value=permutation_p_value(
                scores.real[:, 0], scores.synthetic[:, 0], self.statistic, seed=self.random_state
            ),
            tags=self.tags if self.statistic == "sra" else replace(self.tags, bounds=(-1.0, 1.0)),
            warnings=(DegenerateInputWarning(_UNDECIDED),) if undecided else (),
            details={
                "statistic": self.statistic,
                **{name: _first(agreement(*scores.sides, name)) for name in STATISTICS},
                "self_agreement": _self_agreement(scores.real, self.statistic),
                **_among_decided(scores, real),
                **scores.details(self, context),
            },
        )


class SelectionRegret(Metric):
    """What it costs on real rows to choose a model by synthetic scores: 0 if it is the best one.

    An analyst who has the synthetic table only compares models on it and takes the best. The real
    score of that model, learnt on real rows and tested on the holdout, is below that of the model
    that is best there, or equal; the regret is by how much.

    Parameters
    ----------
    target : str
        The column to predict.
    scoring : str, default="auto"
        As of :class:`TSTR`; of a loss the lowest is best, and the regret is by how much the chosen
        model's is above it.
    estimators : None or list, default=None
        At least two models, as of :class:`ModelRankAgreement`. Of models that are tied on synthetic
        rows the first of the list is chosen.
    relative : bool, default=False
        Whether the value is a share of the best real score; nan where that is not positive.
    mode : {"tsts", "tstr"}, default="tsts"
        What the choice is made by: models that learn from some synthetic rows and are tested on the
        others, or models that learn from synthetic rows and are tested on the holdout.
    test_size, max_rows, task, pos_label, features, n_repeats, n_bootstrap, random_state
        As of :class:`ModelRankAgreement`.

    Attributes
    ----------
    context_ : Context
        The real tables.

    Notes
    -----
    The baseline is the regret of an analyst who splits train in place of the synthetic table: few
    rows to test on may mislead on real rows too. With ``mode="tstr"`` it is 0, since train in its
    place would give the real scores themselves. ``details["random_choice"]`` is the mean regret
    over all models, what a choice at random costs, and ``details["worst_choice"]`` the most that
    there is to lose. A regret of 0 means little where that is small.

    The best model is found on the same holdout rows that the regret is measured on, so that among
    equally good models it comes out above 0. The 95% interval allows for it: the intervals of the
    differences of all models to the chosen one hold together (Hsu 1984), over bootstrap samples of
    the holdout rows, and it begins above 0 only if some model is better beyond chance. The choice
    is taken as made. Models that tie with the chosen one on synthetic rows stand in
    ``details["tied"]``: among them the order of the list has chosen.

    References
    ----------
    J. Jordon, J. Yoon, M. van der Schaar, "Measuring the quality of synthetic data for use in
    competitions", 2018, arXiv:1806.11345.

    J. C. Hsu, "Constrained simultaneous confidence intervals for multiple comparisons with the
    best", Annals of Statistics 12 (1984), doi:10.1214/aos/1176346732.

    Examples
    --------
    >>> from skeval.datasets import make_mixed
    >>> from skeval.utility import SelectionRegret
    >>> train, holdout, synthetic = (make_mixed(500, random_state=seed) for seed in range(3))
    >>> models = ["linear", "tree", "neighbors", "bayes"]
    >>> metric = SelectionRegret("member", estimators=models).fit(train, holdout)
    >>> result = metric.evaluate(synthetic)
    >>> bool(0 <= result.value <= result.details["worst_choice"])
    True
    """

    tags = MetricTags("utility", greater_is_better=False, needs=_NEEDS, bounds=(0.0, float("inf")))

    def __init__(
        self,
        target: ColumnName,
        scoring: Scoring = "auto",
        estimators: SeveralEstimators = None,
        *,
        relative: bool = False,
        mode: Literal["tstr", "tsts"] = "tsts",
        test_size: OpenFraction = 0.4,
        max_rows: Count | None = 5_000,
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
        self.relative = relative
        self.mode = mode
        self.test_size = test_size
        self.max_rows = max_rows
        self.task = task
        self.pos_label = pos_label
        self.features = features
        self.n_repeats = n_repeats
        self.n_bootstrap = n_bootstrap
        self.random_state = random_state

    def _prepare(self, context: Context) -> None:
        scoring_for(self.scoring, problem_of(context, Question.of(self)))

    def _compute(self, context: Context) -> Result:
        scores = scores_or_reason(self, context)
        if isinstance(scores, str):
            return undefined(scores)
        upwards = score_named(scores.scoring).greater_is_better
        chosen = first_best(scores.synthetic[:, 0], greater_is_better=upwards)
        best = first_best(scores.real[:, 0], greater_is_better=upwards)
        real = scores.real[:, :1]

        def of(model: int, relative: bool = self.relative) -> float:
            return _first(regret(real, model, greater_is_better=upwards, relative=relative))

        if np.isnan(of(chosen)):
            return undefined(
                "a regret relative to the best real score needs that to be positive.",
                **scores.details(self, context),
            )
        of_all = [of(model) for model in range(len(real))]
        return Result(
            of(chosen),
            interval=regret_interval(
                scores.real, chosen, greater_is_better=upwards, relative=self.relative
            ),
            baseline=_baseline(of, scores.train, upwards),
            details={
                "chosen": scores.names[chosen],
                "tied": [
                    scores.names[model]
                    for model in tied_with(scores.synthetic[:, 0], chosen)
                    if model != chosen
                ],
                "best": scores.names[best],
                "real_score_of_chosen": float(real[chosen, 0]),
                "real_score_of_best": float(real[best, 0]),
                "regret": of(chosen, relative=False),
                "relative": of(chosen, relative=True),
                "random_choice": float(np.mean(of_all)),
                "worst_choice": float(np.max(of_all)),
                **scores.details(self, context),
            },
        )


def _baseline(
    regret_of: Callable[[int], float], train: np.ndarray | None, greater_is_better: bool
) -> float:
    """Return the regret of a choice by train; 0 where that is what real scores are made of."""
    if train is None:
        return 0.0
    if np.isnan(train).any():
        return float("nan")
    return regret_of(first_best(train, greater_is_better=greater_is_better))


def _first(values: np.ndarray) -> float:
    return float(values[0])


def _self_agreement(scores: np.ndarray, statistic: str) -> float | None:
    """Return the mean agreement of scores with those of their replicates."""
    found = agreement(scores[:, :1], scores[:, 1:], statistic)
    known = found[~np.isnan(found)]
    return float(known.mean()) if known.size else None


def _among_decided(scores: ModelScores, real: Decided | None) -> dict[str, Any]:
    """Return the number of pairs that real rows put in an order, and SRA over these."""
    n_models = len(scores.names)
    details: dict[str, Any] = {"n_pairs": n_models * (n_models - 1) // 2}
    if real is None:
        return {**details, "n_decided": None, "among_decided": None}
    pairs = np.column_stack(np.triu_indices(n_models, 1))[real.which]
    same = [_first(agreement(*(side[pair] for side in scores.sides))) for pair in pairs]
    return {
        **details,
        "n_decided": len(same),
        "among_decided": float(np.mean(same)) if same else None,
    }


@dataclass(frozen=True)
class ModelScores:
    """Scores of all models, of shape (n_models, 1 + n_bootstrap), with the rows behind them.

    Attributes
    ----------
    names : tuple of str
        The models.
    scoring : str
        The score.
    real, synthetic : ndarray of shape (n_models, 1 + n_bootstrap)
        Learnt from train and tested on the holdout; with the synthetic table in play.
    train : ndarray of shape (n_models,) or None
        As those of a split synthetic table, but with train in its place; None where none is split.
    trainings : dict of str to Training
        What was learnt from, by role.
    tested : str
        What synthetic scores were tested on.
    """

    names: tuple[str, ...]
    scoring: str
    real: np.ndarray
    synthetic: np.ndarray
    train: np.ndarray | None
    trainings: Mapping[str, Training]
    tested: str

    @property
    def sides(self) -> tuple[np.ndarray, np.ndarray]:
        """Both, without replicates."""
        return self.real[:, :1], self.synthetic[:, :1]

    def details(self, metric: Any, context: Context) -> dict[str, Any]:
        """Return what both metrics tell of the scores."""
        question = Question.of(metric)
        columns = {"trtr": self.real[:, 0], metric.mode: self.synthetic[:, 0]}
        if self.train is not None:
            columns["split_of_train"] = self.train
        return {
            "scoring": self.scoring,
            "task": problem_of(context, question).task,
            "mode": metric.mode,
            "models": {
                name: {column: float(scores[i]) for column, scores in columns.items()}
                for i, name in enumerate(self.names)
            },
            **counts_of_rows(context, question, self.trainings, self.tested, metric.random_state),
        }


def scores_or_reason(metric: Any, context: Context) -> ModelScores | str:
    """Return the scores of all models on real and on synthetic rows, or why there are none."""
    question, n_repeats, seed = Question.of(metric), metric.n_repeats, metric.random_state
    if reason := unanswerable(context, question):
        return reason
    scoring = scoring_for(metric.scoring, problem_of(context, question))
    models = chosen_models(list(FAMILIES) if metric.estimators is None else metric.estimators)
    is_split, test_size = metric.mode == "tsts", metric.test_size
    training = synthetic_part(1.0 - test_size) if is_split else SYNTHETIC
    tested = _unlearnt(test_size) if is_split else "holdout"
    trainings = {
        role: _limited(context, which, metric.max_rows, question, seed)
        for role, which in {"train": TRAIN, metric.mode: training}.items()
    }
    estimators = tuple(models.values())
    asked = (question, scoring, metric.n_bootstrap, n_repeats, seed)
    real = _scores(context, estimators, trainings["train"], "holdout", *asked)
    synthetic = _scores(context, estimators, trainings[metric.mode], tested, *asked)
    lacking = np.isnan(real[:, 0]) | np.isnan(synthetic[:, 0])
    if lacking.any():
        names = ", ".join(name for name, lacks in zip(models, lacking, strict=True) if lacks)
        return f"{scoring} is not defined for {names}, as where all tested rows have one label."
    train = None
    if is_split:
        train = _split_of_train(
            context, estimators, test_size, metric.max_rows, question, scoring, n_repeats, seed
        )
    return ModelScores(tuple(models), scoring, real, synthetic, train, trainings, tested)


def _unlearnt(test_size: float) -> str:
    return f"unlearnt {test_size!r}"


def _scores(
    context: Context, models: tuple[Any, ...], training: Training, tested: str, *asked: Any
) -> np.ndarray:
    return np.array([replicates(context, training, tested, model, *asked) for model in models])


@shared
def _split_of_train(
    context: Context,
    models: tuple[Any, ...],
    test_size: float,
    max_rows: int | None,
    question: Question,
    scoring: str,
    n_repeats: int,
    seed: int,
) -> np.ndarray:
    """Return the scores that an analyst would have who splits train, not the synthetic table."""
    in_place = context.standing_in(context.train)
    part = _limited(in_place, synthetic_part(1.0 - test_size), max_rows, question, seed)
    asked = (question, scoring, 0, n_repeats, seed)
    found: np.ndarray = _scores(in_place, models, part, _unlearnt(test_size), *asked)[:, 0]
    return found


def _limited(
    context: Context, training: Training, max_rows: int | None, question: Question, seed: int
) -> Training:
    """Return the training on at most `max_rows` rows; on all it is that of the other metrics."""
    few = max_rows is None or len(training_rows(context, training, question, seed)) <= max_rows
    return training if few else replace(training, max_rows=max_rows)
