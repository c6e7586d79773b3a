"""Do synthetic rows rank models as real rows do, and what does choosing by them cost."""

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
    "the real scores of no two models differ beyond chance, so that their order on real rows says "
    "nothing."
)


@declared
class _ModelComparison(ScoredModels):
    """Base of metrics that compare real scores of models with scores by the synthetic table.

    Parameters
    ----------
    estimators : None or list, default=None
        At least two models, as in :class:`TSTR`; None is all seven: "linear", "tree", "forest",
        "neighbors", "bayes", "xgboost", "mlp".
    mode : {"tstr", "tsts"}, default="tstr"
        How the synthetic table is used.
    test_size : float, default=0.4
        Share of the synthetic rows that is tested on where `mode` is "tsts", in (0, 1).
    max_rows : int or None, default=5_000
        The most rows that a model learns from, drawn at random; None for all.
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
                f"{self._scoring(context)} is not defined for {names}, as where all tested rows "
                "have one label."
            )
        return self._compare_scores(context, real, synthetic)

    def _compare_scores(self, context: Context, real: np.ndarray, synthetic: np.ndarray) -> Result:
        """Compare scores of all models, of shape (n_models, 1)."""
        raise NotImplementedError

    def _trials(self, context: Context) -> dict[str, tuple[models.Training, models.Part]]:
        """Return what is learned from and tested on: real rows, and with the synthetic table."""
        trials = {
            "train": (models.TRAIN, models.HOLDOUT),
            self.mode: (models.SYNTHETIC, models.HOLDOUT),
        }
        if self.mode == "tsts":
            trials["tsts"] = models.synthetic_split(self.test_size)
        question, most = self._question(context), self.max_rows
        for name, (training, tested) in trials.items():
            n_rows = len(models.training_rows(context, training, question, self.random_state))
            if most is not None and n_rows > most:  # on all rows it is that of other metrics
                trials[name] = training._replace(max_rows=most), tested
        return trials

    def _scores(self, context: Context, n_bootstrap: int = 0) -> tuple[np.ndarray, np.ndarray]:
        """Return real and synthetic scores of all models, of shape (n_models, 1 + n_bootstrap)."""
        scoring, trials = self._scoring(context), self._trials(context).values()
        real, synthetic = (self._replicates(context, *t, scoring, n_bootstrap) for t in trials)
        return real, synthetic

    def _scores_of_train(self, context: Context) -> np.ndarray | None:
        """Return the scores with train in the synthetic place; None where no table is split."""
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
    """Do synthetic rows put models in the order of real rows: 1 if so, 1/2 by chance.

    An analyst compares models on a synthetic table. Is the better model there also the better one
    on real rows? The scores themselves may be off. Each model is scored twice, on rows that it has
    not seen. The real score is that of a model trained on real rows and tested on the holdout. The
    other score uses the synthetic table. With ``mode="tstr"`` the model learns from synthetic rows
    and is tested on the holdout. With ``mode="tsts"`` it learns from some synthetic rows and is
    tested on the others, which is all that an analyst without real rows can do.

    Parameters
    ----------
    statistic : {"sra", "kendall", "spearman"}, default="sra"
        "sra" is synthetic ranking agreement, the share of pairs of models in the same order, in
        [0, 1]; a pair tied on one side only counts a half. The others are Kendall's tau-b and
        Spearman's rho, in [-1, 1], 0 by chance; they are not defined where all models tie.

    See Also
    --------
    SelectionRegret : What disagreement costs.
    TSTR : The scores themselves.
    FeatureImportanceAgreement : Whether models use the same columns.

    Notes
    -----
    The order of nearly equal models is noise on any table. ``details["n_decided"]``
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

    tags = MODEL_TAGS

    _: KW_ONLY
    statistic: Literal["sra", "kendall", "spearman"] = "sra"

    def _compare_scores(self, context: Context, real: np.ndarray, synthetic: np.ndarray) -> Result:
        value = agreement(real, synthetic, self.statistic)[0]
        if np.isnan(value):
            return undefined_result(
                "all models score the same on one side, so that they have no order."
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
            f"Synthetic rows order {percent(as_float(details['sra']))} of {details['n_pairs']} "
            "pairs of models as real rows do, by chance 50%"
        )
        if details["n_decided"] is None:
            return f"{shown}."
        return f"{shown}; of {details['n_decided']} pairs real rows themselves are sure."


@declared
class SelectionRegret(_ModelComparison):
    """What it costs on real rows to choose a model by synthetic scores: 0 if it is the best one.

    An analyst who has the synthetic table only compares models on it and takes the best. The real
    score of that model, trained on real rows and tested on the holdout, is below that of the model
    that is best there, or equal; the regret is by how much.

    Parameters
    ----------
    scoring : str, default="auto"
        The score, as in :class:`TSTR`. The lowest loss is the best, and the regret is by how much
        the loss of the chosen model is above it.
    estimators : None or list, default=None
        At least two models, as in :class:`ModelRankAgreement`. The first of the list is chosen
        among models that are tied on synthetic rows.
    relative : bool, default=False
        Whether the value is a share of the best real score; nan where that is not positive.
    mode : {"tsts", "tstr"}, default="tsts"
        What the choice is made by: models that learn from some synthetic rows and are tested on the
        others, or models that learn from synthetic rows and are tested on the holdout.

    Warnings
    --------
    The baseline is the regret of an analyst who splits train in place of the synthetic table: few
    rows to test on may mislead on real rows too.

    See Also
    --------
    ModelRankAgreement : Whether all models keep their order.
    TSTS : The scores that the choice is made by.

    Notes
    -----
    With ``mode="tstr"`` it is 0, since train in its place would give the real scores themselves.
    ``details["random_choice"]`` is the mean regret over all models, what a choice at random costs,
    and ``details["worst_choice"]`` the most that there is to lose. A regret of 0 means little where
    that is small.

    The best model is found on the same holdout rows that the regret is measured on, so that among
    equally good models it comes out above 0. The 95% interval allows for it: the intervals of the
    differences of all models to the chosen one hold together (Hsu 1984), over bootstrap samples of
    the holdout rows, and it begins above 0 only if some model is better beyond chance. The choice
    is taken as made. ``details["tied"]`` lists models that tie with the chosen one on synthetic
    rows: among them the order of the list has chosen.

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
                "a regret relative to the best real score needs that to be positive.",
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
        choice = f"Choosing by synthetic scores takes {details['chosen']}, which"
        lost = number(as_float(details["random_choice"]))
        scores = [as_float(details[f"real_score_of_{name}"]) for name in ("chosen", "best")]
        of_chosen, of_best = pair(*scores, share=False)
        if of_chosen == of_best:
            best = "best" if details["chosen"] == details["best"] else "as good as any"
            return f"{choice} is {best} on real rows; a random choice loses {lost} on average."
        return (
            f"{choice} scores {of_chosen} on real rows; {details['best']} scores {of_best}. "
            f"A random choice loses {lost} on average."
        )


@shared
def train_in_place(context: Context) -> Context:
    """Return a context with train in the synthetic place; its models are fitted once for all."""
    return context.with_rows_as_synthetic(context.train)


def rank_evidence(
    real: np.ndarray, synthetic: np.ndarray, of_train: np.ndarray | None, statistic: str, seed: int
) -> dict[str, Any]:
    """Return what scores and their replicates say of the agreement, as fields of a result."""
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
    """Return the mean agreement of scores with those of their replicates."""
    agreed = agreement(scores[:, :1], scores[:, 1:], statistic)
    known = agreed[~np.isnan(agreed)]
    return float(known.mean()) if known.size else None


def _decided_details(
    real: np.ndarray, synthetic: np.ndarray, decided: Decided | None
) -> dict[str, Any]:
    """Return the number of pairs that real rows put in an order, and SRA over these."""
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
    """Return the regret of choosing by other scores than the real ones; nan if one is not defined.

    Both are of shape (n_models, 1).
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
    """Return which model is chosen and which is best, and what other choices would lose."""
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
