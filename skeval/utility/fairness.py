"""Fairness of models that learnt on synthetic rows, beside models that learnt on real ones."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Any, Literal

import numpy as np

from skeval.context import Context
from skeval.parameters import BinCount, ColumnName, Columns, Count, Interval, Label, Seed
from skeval.result import Result, undefined
from skeval.stats.intervals import difference_interval
from skeval.steps.models import SYNTHETIC, TRAIN, Estimators, chosen_models
from skeval.steps.problem import unanswerable
from skeval.tags import MetricTags
from skeval.utility.groups import (
    CRITERIA,
    Asked,
    at_hand,
    average_odds_difference,
    described,
    gap,
    gap_interval,
    incomparable,
    insufficient,
    preservation,
    rate_ratio,
    rates_of,
    warnings_of,
)
from skeval.utility.results import OfTwoLabels, counts_of_rows

_TRAININGS = {"tstr": SYNTHETIC, "trtr": TRAIN}


class FairnessGap(OfTwoLabels):
    """Gap between groups in what a model of synthetic rows calls: 0 if it treats all alike.

    A bank trains its model on a synthetic table and lends by it. Do women and men, or the young and
    the old, get loans as often as each other, and do those who would pay back get them? The holdout
    stands for the applicants. The same model trained on the real rows (TRTR) is the baseline: a gap
    may be the world's, and not the generator's. A generator that loses the rare rows of a small
    group makes models that serve this group worse.

    Parameters
    ----------
    target : str
        The column to predict, of two labels.
    sensitive : str
        The column whose levels are the groups; missing values are one of their own. Numbers and
        dates of more than 10 values are cut at quantiles of train, others have a group a value.
    criterion : {"demographic_parity", "equalized_odds", "equal_opportunity"}, \
default="demographic_parity"
        What is to be equal: the share called positive; that share both of the positive and of the
        negative rows (TPR and FPR); or of the positive rows alone.
    aggregate : {"max", "mean"}, default="max"
        Of the two gaps of equalized odds.
    estimators : None, str, estimator or list of these, default=None
        The models, as in :class:`TSTR`; the value is the mean of their gaps. None is xgboost.
    include_sensitive : bool, default=True
        Whether models may see the sensitive column, if it is among the features.
    min_cell : int, default=5
        A rate of fewer holdout rows is left out, with a warning.
    n_bins : int, default=4
        Number of groups that a sensitive column of numbers is cut into.
    task : {"auto", "binary"}, default="auto"
        "binary" with `pos_label` sets one of several labels against all others.
    pos_label : str, bool or float, optional
        The positive label, as in :class:`TSTR`: the one that is wished for, or feared.
    features : list of str or int, optional
        The columns to predict from; None for all others.
    n_repeats : int, default=1
        Number of times that each model is fitted, with seeds of its own; gaps are means.
    n_bootstrap : int, default=1000
        Number of bootstrap samples of holdout rows behind the intervals; 0 for none.
    random_state : int, default=0
        Seed of models and bootstrap.

    Attributes
    ----------
    context_ : Context
        The real tables.

    Raises
    ------
    MissingInputError
        At fit, if there is no holdout, or the target has not two labels, nor a `pos_label`.
    InvalidParameterError
        At fit, if a column is not there, or is both target and sensitive.

    Notes
    -----
    The gap is the largest minus the smallest rate over groups; ``details["difference"]`` is TSTR -
    TRTR. ``details["preservation"]`` is 1 minus the largest change of a group's rate from
    TRTR to TSTR: two models may have one gap, and favour opposite groups. ``details["ratio"]`` is
    smallest over largest rate; ``details["rates"]`` has all rates by group, and
    ``details["base_rates"]`` how often each group is positive in the tables themselves.

    A model that calls no row positive has no gap: a small one is good news only beside a good
    :class:`TSTR`. A value near 0 is not what a faithful table must give, TRTR's is.

    Noise spreads equal rates apart: with 5 like groups of 100 rows each, the gap is 0.11 on
    average. The interval allows for it, as bootstrap quantiles do not: in simulations it holds the
    true gap of the fitted model in 93% of cases or more, that of the difference the true one in 88%
    or more. Both are of these two models, and chance in what they learn is not in them: of two
    tables of one law, the interval of the difference left out 0 in up to 28% of cases.

    Groups with fewer than 10 holdout rows are pooled as "(rare groups)".

    References
    ----------
    M. Hardt, E. Price, N. Srebro, "Equality of opportunity in supervised learning", NeurIPS 2016,
    arXiv:1610.02413.

    H. Weerts et al., "Fairlearn: assessing and improving fairness of AI systems", JMLR 24, 2023.

    Examples
    --------
    >>> from skeval.datasets import make_mixed
    >>> from skeval.utility import FairnessGap
    >>> train, holdout, synthetic = (make_mixed(500, random_state=seed) for seed in range(3))
    >>> result = FairnessGap("member", "plan").fit(train, holdout).evaluate(synthetic)
    >>> result.details["groups"], bool(abs(result.value - result.baseline) < 0.2)
    (['basic', 'family', 'premium'], True)
    """

    tags = MetricTags(
        "utility",
        greater_is_better=False,
        needs=frozenset({"holdout", "target"}),
        bounds=(0.0, 1.0),
    )

    def __init__(
        self,
        target: ColumnName,
        sensitive: ColumnName,
        criterion: Literal[
            "demographic_parity", "equalized_odds", "equal_opportunity"
        ] = "demographic_parity",
        *,
        aggregate: Literal["max", "mean"] = "max",
        estimators: Estimators = None,
        include_sensitive: bool = True,
        min_cell: Count = 5,
        n_bins: BinCount = 4,
        task: Literal["auto", "binary"] = "auto",
        pos_label: Label | None = None,
        features: Columns = None,
        n_repeats: Count = 1,
        n_bootstrap: Annotated[int, Interval(0)] = 1000,
        random_state: Seed = 0,
    ) -> None:
        self.target = target
        self.sensitive = sensitive
        self.criterion = criterion
        self.aggregate = aggregate
        self.estimators = estimators
        self.include_sensitive = include_sensitive
        self.min_cell = min_cell
        self.n_bins = n_bins
        self.task = task
        self.pos_label = pos_label
        self.features = features
        self.n_repeats = n_repeats
        self.n_bootstrap = n_bootstrap
        self.random_state = random_state

    def _prepare(self, context: Context) -> None:
        Asked.of(self, context)

    def _compute(self, context: Context) -> Result:
        asked = Asked.of(self, context)
        if reason := unanswerable(context, asked.question):
            return undefined(reason)
        rates = {name: rates_of(self, context, t, asked) for name, t in _TRAININGS.items()}
        gaps = {name: gap(found, self.criterion, self.aggregate) for name, found in rates.items()}
        if reason := incomparable(self, rates["tstr"], CRITERIA[self.criterion]):
            return undefined(reason, **described(self, context, asked, rates))
        means = {name: found.mean(axis=0) for name, found in gaps.items()}
        intervals = {
            name: gap_interval(found, self.criterion, self.aggregate)
            for name, found in rates.items()
        }
        changes = preservation(at_hand(rates["tstr"]), at_hand(rates["trtr"]), self.criterion)
        return Result(
            means["tstr"][0],
            interval=intervals["tstr"],
            baseline=means["trtr"][0],
            warnings=warnings_of(self, context, asked, rates["tstr"], CRITERIA[self.criterion]),
            details={
                "criterion": self.criterion,
                "gap_tstr": _stated(means["tstr"][0], intervals["tstr"]),
                "gap_trtr": _stated(means["trtr"][0], intervals["trtr"]),
                "difference": _difference(means["tstr"], means["trtr"]),
                "preservation": changes.mean(),
                "ratio": {
                    name: rate_ratio(at_hand(r), self.criterion).mean() for name, r in rates.items()
                },
                "average_odds_difference": {
                    name: average_odds_difference(at_hand(r)).mean() for name, r in rates.items()
                },
                "models": _by_model(self, gaps),
                **described(self, context, asked, rates),
                **_counts(self, context, asked),
            },
        )


class EqualizedOddsImprovement(OfTwoLabels):
    """Gain in equalized odds by learning on synthetic rows instead of real ones: 0.5 if none.

    A team hopes that a synthetic table, made to be balanced, gives a fairer model than the real
    one. Both models are tested on the holdout. Above 0.5 the error rates of the groups are closer
    after synthetic rows, below they are further apart.

    Parameters
    ----------
    target, sensitive : str
        As of :class:`FairnessGap`.
    estimators, include_sensitive
        As of :class:`FairnessGap`.
    min_cell : int, default=5
        Positive and negative rows that each group must have, in both tables that models learn from
        and in the holdout.
    n_bins, task, pos_label, features, n_repeats, n_bootstrap, random_state
        As of :class:`FairnessGap`.

    Attributes
    ----------
    context_ : Context
        The real tables.

    Raises
    ------
    MissingInputError
        At fit, if there is no holdout, or the target has not two labels, nor a `pos_label`.
    InvalidParameterError
        At fit, if a column is not there, or is both target and sensitive.

    Notes
    -----
    Of each model, ``EO = min(1 - gap of TPR, 1 - gap of FPR)``, a gap being the largest minus the
    smallest rate over groups. The value is ``(EO of synthetic - EO of real) / 2 + 1/2``, the
    baseline 0.5. With two groups it is the measure of SDMetrics.

    Models that learn nothing have equal odds, so that noise may score above 0.5: read it beside
    :class:`TSTR`. The interval is as that of the difference in :class:`FairnessGap`.

    References
    ----------
    SDMetrics, "EqualizedOddsImprovement", https://docs.sdv.dev/sdmetrics.

    M. Hardt, E. Price, N. Srebro, "Equality of opportunity in supervised learning", NeurIPS 2016,
    arXiv:1610.02413.

    Examples
    --------
    >>> from skeval.datasets import make_mixed
    >>> from skeval.utility import EqualizedOddsImprovement
    >>> train, holdout, synthetic = (make_mixed(500, random_state=seed) for seed in range(3))
    >>> metric = EqualizedOddsImprovement("member", "plan").fit(train, holdout)
    >>> bool(0.3 < metric.score(synthetic) < 0.7), metric.score(train)
    (True, 0.5)
    """

    tags = replace(FairnessGap.tags, greater_is_better=True)

    def __init__(
        self,
        target: ColumnName,
        sensitive: ColumnName,
        *,
        estimators: Estimators = None,
        include_sensitive: bool = True,
        min_cell: Count = 5,
        n_bins: BinCount = 4,
        task: Literal["auto", "binary"] = "auto",
        pos_label: Label | None = None,
        features: Columns = None,
        n_repeats: Count = 1,
        n_bootstrap: Annotated[int, Interval(0)] = 1000,
        random_state: Seed = 0,
    ) -> None:
        self.target = target
        self.sensitive = sensitive
        self.estimators = estimators
        self.include_sensitive = include_sensitive
        self.min_cell = min_cell
        self.n_bins = n_bins
        self.task = task
        self.pos_label = pos_label
        self.features = features
        self.n_repeats = n_repeats
        self.n_bootstrap = n_bootstrap
        self.random_state = random_state

    def _prepare(self, context: Context) -> None:
        Asked.of(self, context)

    def _compute(self, context: Context) -> Result:
        asked = Asked.of(self, context)
        if reason := unanswerable(context, asked.question) or insufficient(self, context, asked):
            return undefined(reason)
        rates = {name: rates_of(self, context, t, asked) for name, t in _TRAININGS.items()}
        if reason := incomparable(self, rates["tstr"], ("tpr", "fpr")):
            return undefined(reason)
        gaps = {name: gap(found, "equalized_odds") for name, found in rates.items()}
        means = {name: found.mean(axis=0) for name, found in gaps.items()}
        gain = _difference(means["trtr"], means["tstr"])
        ends = [end / 2.0 + 0.5 for end in (gain["low"], gain["high"]) if end is not None]
        return Result(
            (means["trtr"][0] - means["tstr"][0]) / 2.0 + 0.5,
            interval=(ends[0], ends[1]) if ends else None,
            baseline=0.5,
            warnings=warnings_of(self, context, asked, rates["tstr"], ("tpr", "fpr")),
            details={
                "equalized_odds": {name: 1.0 - found[0] for name, found in means.items()},
                "gain": gain,
                "models": _by_model(self, gaps),
                **described(self, context, asked, rates),
                **_counts(self, context, asked),
            },
        )


def _stated(value: float, interval: tuple[float, float] | None) -> dict[str, float | None]:
    low, high = interval or (None, None)
    return {"value": float(value), "low": low, "high": high}


def _difference(first: np.ndarray, second: np.ndarray) -> dict[str, float | None]:
    """Return the difference of two gaps with its interval, which stays within [-1, 1]."""
    found = difference_interval(first, second)
    inside = None if found is None else (max(found[0], -1.0), min(found[1], 1.0))
    return _stated(first[0] - second[0], inside)


def _by_model(metric: Any, gaps: Mapping[str, np.ndarray]) -> dict[str, dict[str, float]]:
    names = list(chosen_models(metric.estimators))
    shape = (len(names), metric.n_repeats)
    by_name = {kind: found[:, 0].reshape(shape).mean(axis=1) for kind, found in gaps.items()}
    return {
        name: {kind: float(found[i]) for kind, found in by_name.items()}
        for i, name in enumerate(names)
    }


def _counts(metric: Any, context: Context, asked: Asked) -> dict[str, Any]:
    return counts_of_rows(context, asked.question, _TRAININGS, "holdout", metric.random_state)
