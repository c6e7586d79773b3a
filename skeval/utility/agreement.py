"""Compare the ranking of models on synthetic data with their ranking on real data."""

from __future__ import annotations

from dataclasses import KW_ONLY, replace
from functools import partial
from itertools import compress
from typing import Any, ClassVar, Literal

import numpy as np

from skeval.core.context import Context, shared
from skeval.core.declared import declared
from skeval.core.tags import MODEL_TAGS
from skeval.exceptions import DegenerateInputWarning
from skeval.results.result import Result, undefined_result
from skeval.steps import models
from skeval.steps.problem import problem_of
from skeval.steps.scoring import get_score
from skeval.utility.model_metric import ScoredModels
from skeval.utility.ranks import (
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
from skeval.utils.formatting import as_float, number, pair, percent
from skeval.utils.parameters import Count, OpenFraction

_UNDECIDED = (
    "the differences between the real scores of the models are not significant, so their order on "
    "real rows is uncertain."
)


@declared
class _ModelComparison(ScoredModels):
    """Base class of metrics that compare real scores of models with scores from synthetic data.

    Parameters
    ----------
    estimators : None or list, default=None
        At least two models, as in :class:`TSTR`. None uses all seven: "linear", "tree", "forest",
        "neighbors", "bayes", "xgboost" and "mlp".
    mode : {"tstr", "tsts"}, default="tstr"
        How the synthetic table is used.
    test_size : float, default=0.4
        Fraction of the synthetic rows used as test data if `mode` is "tsts", in (0, 1).
    max_rows : int or None, default=5_000
        Maximum number of training rows of a model, sampled at random. If None, all rows are used.
    """

    _default: ClassVar[tuple[str, ...]] = models.FAMILIES

    estimators: models.SeveralEstimators = None
    _: KW_ONLY
    mode: Literal["tstr", "tsts"] = "tstr"
    test_size: OpenFraction = 0.4
    max_rows: Count | None = 5_000

    def _measure(self, context: Context) -> Result:
        real, synthetic = self._scores(context)
        lacking = np.isnan(real[:, 0]) | np.isnan(synthetic[:, 0])
        if lacking.any():
            names = ", ".join(compress(self._models(), lacking))
            return undefined_result(
                f"{self._scoring(context)} is not defined for {names}, for example because "
                "all test "
                "rows have the same label."
            )
        return self._compare_scores(context, real, synthetic)

    def _compare_scores(self, context: Context, real: np.ndarray, synthetic: np.ndarray) -> Result:
        """Compare the scores of all models, given as arrays (n_models, 1)."""
        raise NotImplementedError

    def _trials(self, context: Context) -> dict[str, tuple[models.Training, models.Part]]:
        """Return training and test data for real scores and for scores from synthetic data."""
        trials = {
            "train": (models.TRAIN, models.HOLDOUT),
            self.mode: (models.SYNTHETIC, models.HOLDOUT),
        }
        if self.mode == "tsts":
            trials["tsts"] = models.synthetic_split(self.test_size)
        question, most = self._question(context), self.max_rows
        for name, (training, tested) in trials.items():
            n_rows = len(models.training_rows(context, training, question, self.random_state))
            # a model of all rows is shared with other metrics
            if most is not None and n_rows > most:
                trials[name] = training._replace(max_rows=most), tested
        return trials

    def _scores(self, context: Context, n_bootstrap: int = 0) -> tuple[np.ndarray, np.ndarray]:
        """Return real and synthetic scores of all models as arrays (n_models, 1 + n_bootstrap)."""
        scoring, trials = self._scoring(context), self._trials(context).values()
        real, synthetic = (self._replicates(context, *t, scoring, n_bootstrap) for t in trials)
        return real, synthetic

    def _scores_of_train(self, context: Context) -> np.ndarray | None:
        """Return the scores with train in place of the synthetic data, or None without a split."""
        return None if self.mode == "tstr" else self._scores(train_in_place(context))[1]

    def _details(self, context: Context) -> dict[str, Any]:
        """Return the scores of all models, and numbers of rows."""
        real, synthetic = self._scores(context)
        columns = {"trtr": real, self.mode: synthetic}
        if (of_train := self._scores_of_train(context)) is not None:
            columns["split_of_train"] = of_train
        trials = self._trials(context)
        trainings = {name: training for name, (training, _) in trials.items()}
        return {
            "scoring": self._scoring(context),
            "task": problem_of(context, self._question(context)).task,
            "mode": self.mode,
            "models": self._by_model(columns),
            **self._counts(context, trainings, trials[self.mode][1]),
        }


@declared
class ModelRankAgreement(_ModelComparison):
    """Agreement of the rankings of models on synthetic and on real data.

    An analyst compares models on a synthetic table. The metric measures whether the better model on
    synthetic data is also the better model on real data. The scores themselves may differ. Each
    model is scored twice on rows that it has not seen. The real score is computed from a model
    trained on real rows and tested on the holdout. The other score uses the synthetic data. With
    ``mode="tstr"``, the model is trained on synthetic rows and tested on the holdout. With
    ``mode="tsts"``, it is trained on some of the synthetic rows and tested on the others, as an
    analyst without real rows would do. With "sra", the score ranges from 0 to 1 (the same ranking),
    and 0.5 is expected by chance. Higher is better.

    Parameters
    ----------
    statistic : {"sra", "kendall", "spearman"}, default="sra"
        "sra" is synthetic ranking agreement, the fraction of pairs of models in the same order, in
        [0, 1]. A pair that is tied on one side only counts as one half. The others are Kendall's
        tau-b and Spearman's rho, in [-1, 1], with 0 expected by chance. They are not defined if all
        models tie.

    Warnings
    --------
    The order of models with similar scores is random on any table. A poor table can have a high
    score if one model is better on any data.

    See Also
    --------
    SelectionRegret : Loss from choosing a model by the synthetic data.
    TSTR : Score of one model trained on synthetic data.
    FeatureImportanceAgreement : Whether models use the same columns.

    Notes
    -----
    The order of models with similar scores is random on any table. ``details["n_decided"]`` is the
    number of pairs whose real scores differ significantly (the 95% bootstrap interval of the
    difference excludes 0). ``details["among_decided"]`` is the synthetic ranking agreement (SRA) of
    these pairs. If there are no such pairs, a warning is issued. For the interval of the value,
    each undecided pair may have either order. Therefore the interval is wide if scores are similar.
    The interval refers to models fitted on these tables. ``details["self_agreement"]`` is the mean
    agreement of the real scores with scores on bootstrap samples of the same rows. With
    ``mode="tsts"``, no table is expected to be much better.

    The p-value is computed by a permutation test, which is exact for up to eight models. The
    p-value is the fraction of all orders of the models that agree with the real order at least as
    well as the synthetic order. For n models, the p-value cannot be smaller than 1 / n!, so two or
    three models cannot give significant results.

    With ``mode="tsts"``, the baseline is the agreement for an analyst who splits the training data
    instead of the synthetic data. With ``mode="tstr"`` there is no baseline, because the training
    data would be compared with themselves, and the models are tested on the holdout.

    A poor table can agree well if one model is better on any data. :class:`SelectionRegret`
    measures the cost of disagreement.

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

    tags = MODEL_TAGS

    _: KW_ONLY
    statistic: Literal["sra", "kendall", "spearman"] = "sra"

    def _compare_scores(self, context: Context, real: np.ndarray, synthetic: np.ndarray) -> Result:
        value = agreement(real, synthetic, self.statistic)[0]
        if np.isnan(value):
            return undefined_result(
                "all models have the same score on one side, so they have no order."
            )
        bounds = (0.0 if self.statistic == "sra" else -1.0, 1.0)
        return Result(value, tags=replace(self.tags, bounds=bounds))

    def _relation(self, context: Context, result: Result) -> dict[str, Any]:
        real, synthetic = self._scores(context, self.n_bootstrap)
        of_train = self._scores_of_train(context)
        fields = rank_evidence(real, synthetic, of_train, self.statistic, self.random_state)
        return {**fields, "details": {**fields["details"], **self._details(context)}}

    def _summary(self, result: Result) -> str:
        details = result.details
        shown = (
            f"Synthetic rows give {percent(as_float(details['sra']))} of {details['n_pairs']} "
            "pairs of models the same order as real rows (50% expected by chance)"
        )
        if details["n_decided"] is None:
            return f"{shown}."
        return f"{shown}. The order on real rows is significant for {details['n_decided']} pairs."


@declared
class SelectionRegret(_ModelComparison):
    """Loss on real data if a model is chosen by its score on synthetic data.

    An analyst who has only the synthetic data compares models on it and chooses the best one. The
    regret is the difference between the real score of the best model and the real score of the
    chosen model. Both are trained on real rows and tested on the holdout. The regret is 0 if the
    chosen model is the best one on real data. Lower is better.

    Parameters
    ----------
    scoring : str, default="auto"
        The score, as in :class:`TSTR`. For a loss, the best value is the lowest one, and the regret
        is the loss of the chosen model minus the lowest loss.
    estimators : None or list, default=None
        At least two models, as in :class:`ModelRankAgreement`. If models are tied on synthetic
        rows, the first one in the list is chosen.
    relative : bool, default=False
        Whether the value is divided by the best real score. It is nan if this score is not
        positive.
    mode : {"tsts", "tstr"}, default="tsts"
        How the model is chosen. "tsts" trains on some synthetic rows and tests on the others.
        "tstr" trains on synthetic rows and tests on the holdout.

    Warnings
    --------
    The baseline is the regret for an analyst who splits the training data instead of the synthetic
    data. A small number of test rows can mislead on real data, too.

    See Also
    --------
    ModelRankAgreement : Whether both tables rank all models in the same order.
    TSTS : The scores by which the model is chosen.

    Notes
    -----
    With ``mode="tstr"``, the baseline is 0, because the training data give the real scores
    themselves. ``details["random_choice"]`` is the mean regret over all models, that is, the cost
    of a random choice. ``details["worst_choice"]`` is the maximum regret. If the maximum is small,
    a regret of 0 is not informative.

    The best model and the regret are determined with the same holdout rows. Therefore the regret is
    above 0 even for equally good models. The 95% interval corrects for this effect. The interval
    uses simultaneous bootstrap intervals of the differences of all models to the chosen model (Hsu
    1984), and its lower end is above 0 only if some model is significantly better. The choice
    itself is treated as fixed. ``details["tied"]`` lists models that tie with the chosen model on
    synthetic rows. The first model of this list was chosen.

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

    tags = replace(MODEL_TAGS, greater_is_better=False, bounds=(0.0, float("inf")), headline=4)

    _: KW_ONLY
    relative: bool = False
    mode: Literal["tstr", "tsts"] = "tsts"

    def _compare_scores(self, context: Context, real: np.ndarray, synthetic: np.ndarray) -> Result:
        value = regret_of_choice(real, synthetic, self._upwards(context), self.relative)
        if np.isnan(value):
            return undefined_result(
                "a regret relative to the best real score requires a positive score.",
                **self._details(context),
            )
        return Result(value)

    def _upwards(self, context: Context) -> bool:
        return get_score(self._scoring(context)).greater_is_better

    def _relation(self, context: Context, result: Result) -> dict[str, Any]:
        real, synthetic = self._scores(context, self.n_bootstrap)
        upwards, of_train = self._upwards(context), self._scores_of_train(context)
        baseline = 0.0
        if of_train is not None:
            baseline = regret_of_choice(real[:, :1], of_train, upwards, self.relative)
        chosen = first_best(synthetic[:, 0], greater_is_better=upwards)
        kind = {"greater_is_better": upwards, "relative": self.relative}
        interval = regret_interval(real, chosen, **kind)
        choice = described_choice(list(self._models()), real[:, :1], synthetic[:, 0], **kind)
        details = {**choice, **self._details(context)}
        return {"interval": interval, "baseline": baseline, "details": details}

    def _summary(self, result: Result) -> str:
        details = result.details
        choice = f"The model with the best score on synthetic data is {details['chosen']}, which"
        lost = number(as_float(details["random_choice"]))
        scores = [as_float(details[f"real_score_of_{name}"]) for name in ("chosen", "best")]
        of_chosen, of_best = pair(*scores, share=False)
        if of_chosen == of_best:
            best = "best" if details["chosen"] == details["best"] else "as good as any"
            return f"{choice} is {best} on real rows. A random choice loses {lost} on average."
        return (
            f"{choice} scores {of_chosen} on real rows, compared with {of_best} for "
            f"{details['best']}. A random choice loses {lost} on average."
        )


@shared
def train_in_place(context: Context) -> Context:
    """Return a context with train in place of synthetic. Its models are fitted only once."""
    return context.with_rows_as_synthetic(context.train)


def rank_evidence(
    real: np.ndarray, synthetic: np.ndarray, of_train: np.ndarray | None, statistic: str, seed: int
) -> dict[str, Any]:
    """Return the evidence of scores and replicates about the agreement, as fields of a result."""
    first, second = real[:, :1], synthetic[:, :1]
    statistics = {n: float(agreement(first, second, n)[0]) for n in STATISTICS}
    decided, decided_too = decided_pairs(real), decided_pairs(synthetic)
    interval = baseline = None
    if decided is not None and decided_too is not None:
        value = statistics[statistic]
        interval = agreement_interval(value, decided, decided_too, statistic)
    if of_train is not None:
        baseline = agreement(first, of_train, statistic)[0]
    undecided = decided is not None and not decided.pair_mask.any()
    return {
        "interval": interval,
        "baseline": baseline,
        "p_value": permutation_p_value(first[:, 0], second[:, 0], statistic, seed=seed),
        "warnings": (DegenerateInputWarning(_UNDECIDED),) if undecided else (),
        "details": {
            "statistic": statistic,
            **statistics,
            "self_agreement": _self_agreement(real, statistic),
            **_decided_details(first, second, decided),
        },
    }


def _self_agreement(scores: np.ndarray, statistic: str) -> float | None:
    """Return the mean agreement of scores with the scores of their replicates."""
    agreed = agreement(scores[:, :1], scores[:, 1:], statistic)
    known = agreed[~np.isnan(agreed)]
    return float(known.mean()) if known.size else None


def _decided_details(
    real: np.ndarray, synthetic: np.ndarray, decided: Decided | None
) -> dict[str, Any]:
    """Return the number of pairs with a significant order on real rows, and their SRA."""
    pairs = np.column_stack(np.triu_indices(len(real), 1))
    if decided is None:
        return {"n_pairs": len(pairs), "n_decided": None, "among_decided": None}
    same = [float(agreement(real[pair], synthetic[pair])[0]) for pair in pairs[decided.pair_mask]]
    return {
        "n_pairs": len(pairs),
        "n_decided": len(same),
        "among_decided": float(np.mean(same)) if same else None,
    }


def regret_of_choice(
    real: np.ndarray, judged: np.ndarray, greater_is_better: bool, relative: bool
) -> float:
    """Return the regret of a choice by other scores than the real ones, or nan if undefined.

    Both arrays have shape (n_models, 1).
    """
    if np.isnan(judged).any():
        return float("nan")
    chosen = first_best(judged[:, 0], greater_is_better=greater_is_better)
    settings = {"greater_is_better": greater_is_better, "relative": relative}
    return float(regret(real, chosen, **settings)[0])


def described_choice(
    names: list[str],
    real: np.ndarray,
    synthetic: np.ndarray,
    *,
    greater_is_better: bool,
    relative: bool,
) -> dict[str, Any]:
    """Return the chosen and the best model, and the cost of other choices."""
    lost = partial(regret, real, greater_is_better=greater_is_better)
    chosen = first_best(synthetic, greater_is_better=greater_is_better)
    best = first_best(real[:, 0], greater_is_better=greater_is_better)
    of_all = [lost(model, relative=relative)[0] for model in range(len(real))]
    return {
        "chosen": names[chosen],
        "tied": [names[j] for j in tied_with(synthetic, chosen) if j != chosen],
        "best": names[best],
        "real_score_of_chosen": float(real[chosen, 0]),
        "real_score_of_best": float(real[best, 0]),
        "regret": float(lost(chosen)[0]),
        "relative": float(lost(chosen, relative=True)[0]),
        "random_choice": float(np.mean(of_all)),
        "worst_choice": float(np.max(of_all)),
    }
