"""Compare how models trained on synthetic and on real data treat groups."""

from __future__ import annotations

from dataclasses import KW_ONLY, replace
from typing import Any, ClassVar, Literal

import numpy as np

from skeval.core.context import Context
from skeval.core.declared import declared
from skeval.core.tags import MODEL_TAGS
from skeval.exceptions import DegenerateInputWarning, InvalidParameterError
from skeval.results.result import Result, undefined_result
from skeval.stats.bootstrap import difference_interval
from skeval.steps.models import SYNTHETIC, Estimators, Training
from skeval.steps.problem import Question, problem_of
from skeval.utility.groups import (
    CRITERIA,
    Grouping,
    Rates,
    average_odds_difference,
    base_counts,
    gap,
    gap_interval,
    group_rates,
    groups_of,
    preservation,
    range_of_rates,
    rate_ratio,
    tested_counts,
    too_small,
)
from skeval.utility.model_metric import (
    TRAININGS,
    SeveralModels,
    shown_difference,
    value_with_interval,
)
from skeval.utils.formatting import as_float, number
from skeval.utils.parameters import N_SEEDS, BinCount, ColumnName, Count


@declared
class _GroupMetric(SeveralModels):
    """Base class of metrics of model predictions by group.

    Parameters
    ----------
    target : str
        The column to predict, which must have two labels.
    task : {"auto", "binary"}, default="auto"
        "binary" with `pos_label` compares one of several labels with all others.
    pos_label : str, bool or float, optional
        The positive label, that is, the favorable or unfavorable outcome. The default is the same
        as in :class:`TSTR`.
    estimators : None, str, estimator or list of these, default=None
        The models, as in :class:`TSTR`. The value is the mean over models. If None, xgboost is
        used.
    sensitive : str
        The column that defines the groups. Missing values are a separate group. Numerical and
        datetime columns with more than 10 values are cut at training quantiles. Otherwise each
        value is a group.
    include_sensitive : bool, default=True
        Whether models may use the sensitive column if it is among the features.
    min_cell : int, default=5
        Minimum number of holdout rows from which a rate is computed. Rates of fewer rows are
        skipped with a warning.
    n_bins : int, default=4
        Number of groups into which a numerical sensitive column is cut.
    """

    _tasks: ClassVar[tuple[str, ...]] = ("binary",)

    sensitive: ColumnName
    _: KW_ONLY
    estimators: Estimators = None
    task: Literal["auto", "binary"] = "auto"
    include_sensitive: bool = True
    min_cell: Count = 5
    n_bins: BinCount = 4

    def _equality(self) -> tuple[str, str]:
        """Return the rates that should be equal, and how the gaps of two rates are combined."""
        return "equalized_odds", "max"

    def _prepare(self, context: Context) -> None:
        if self.sensitive == self.target:
            raise InvalidParameterError(
                f"{type(self).__name__}: sensitive and target are both {self.target!r}. "
                "The groups must be defined by a column other than the target."
            )

    def _question(self, context: Context) -> Question:
        question = super()._question(context)
        seen = problem_of(context, question).features
        if self.include_sensitive or self.sensitive not in seen:
            return question
        return replace(question, features=tuple(name for name in seen if name != self.sensitive))

    def _grouping(self, context: Context) -> Grouping:
        return Grouping(self._question(context), self.sensitive, int(self.n_bins))

    def _measure(self, context: Context) -> Result:
        rates = self._rates(context, SYNTHETIC)
        compared = [rates[name][0, 0] for name in CRITERIA[self._equality()[0]]]
        if np.isnan([range_of_rates(one) for one in compared]).any():
            reason = (
                f"fewer than two groups of {self.sensitive} have at least {self.min_cell} holdout "
                "rows for each rate."
            )
            return undefined_result(reason, **self._groups(context))
        warnings = []
        names = np.array(groups_of(context, self._grouping(context)).names)
        if (lost := np.isnan(compared).any(axis=0)).any():
            warnings.append(
                f"rates of these groups of {self.sensitive} are skipped, because they have "
                "fewer than "
                f"{self.min_cell} holdout rows: {', '.join(names[lost])}."
            )
        called = rates["selection"][:, 0]
        if any(np.all(np.isnan(called) | (called == share)) for share in (0.0, 1.0)):
            warnings.append(
                "the models trained on synthetic rows predict the same label for all holdout "
                "rows, so "
                "there is no gap."
            )
        warned = tuple(DegenerateInputWarning(text) for text in warnings)
        return Result(self._value(context), warnings=warned)

    def _value(self, context: Context) -> float:
        raise NotImplementedError

    def _rates(
        self, context: Context, training: Training, n_bootstrap: int = 0
    ) -> dict[str, np.ndarray]:
        """Return the rates of all models as an array (n_models, 1 + n_bootstrap, n_groups).

        Models with several seeds count as several models.
        """
        grouping, seed = self._grouping(context), self.random_state
        by_model = [
            group_rates(
                tested_counts(context, training, one, grouping, n_bootstrap, of_model, seed),
                self.min_cell,
            )
            for one in self._models().values()
            for of_model in ((seed + i) % N_SEEDS for i in range(self.n_repeats))
        ]
        return {name: np.stack([rates[name] for rates in by_model]) for name in by_model[0]}

    def _values(self, context: Context) -> dict[str, dict[str, np.ndarray]]:
        """Return the rates of all models on the original rows, by training data."""
        return {
            kind: {name: rates[:, 0] for name, rates in self._rates(context, training).items()}
            for kind, training in TRAININGS.items()
        }

    def _gaps(self, context: Context, training: Training, n_bootstrap: int = 0) -> np.ndarray:
        """Return the gaps of all models as an array (n_models, 1 + n_bootstrap)."""
        return gap(self._rates(context, training, n_bootstrap), *self._equality())

    def _groups(self, context: Context) -> dict[str, Any]:
        """Return names, sizes and rates of the groups, and how often each is positive."""
        grouping = self._grouping(context)
        counts = {r: base_counts(context, r, grouping) for r in ("train", "holdout", "synthetic")}
        positive = {}
        for role, by_label in counts.items():
            sizes = by_label.sum(axis=1)
            unknown, known = np.full(sizes.size, np.nan), sizes >= self.min_cell
            positive[role] = np.divide(by_label[:, 1], sizes, out=unknown, where=known)
        return {
            "groups": list(groups_of(context, grouping).names),
            "group_sizes": counts["holdout"].sum(axis=1),
            "rates": {
                kind: {name: of_models.mean(axis=0) for name, of_models in rates.items()}
                for kind, rates in self._values(context).items()
            },
            "base_rates": positive,
            "base_rate_gap": {
                role: float(range_of_rates(shares)) for role, shares in positive.items()
            },
        }

    def _gap_details(self, context: Context) -> dict[str, Any]:
        """Return the gaps of each model, means over seeds, the groups, and numbers of rows."""
        gaps = {
            kind: gap(rates, *self._equality()).reshape(-1, self.n_repeats)
            for kind, rates in self._values(context).items()
        }
        models = self._by_model({kind: of_seeds.mean(axis=1) for kind, of_seeds in gaps.items()})
        return {"models": models, **self._groups(context), **self._counts(context, TRAININGS)}


@declared
class FairnessGap(_GroupMetric):
    """Difference between groups in the predictions of a model trained on synthetic data.

    A bank trains a model on synthetic data and uses it to grant loans. The metric compares whether
    groups, such as women and men or young and old applicants, receive loans equally often, or
    equally often among applicants who would repay. The holdout represents the applicants. The
    baseline is the gap of the same model trained on real rows (TRTR), because the gap may exist in
    the real data. If a generator loses the rare rows of a small group, models trained on its data
    are worse for this group. The score ranges from 0 (equal rates) to 1. Lower is better.

    Parameters
    ----------
    criterion : {"demographic_parity", "equalized_odds", "equal_opportunity"}, \
default="demographic_parity"
        The rates that should be equal. "demographic_parity" compares the fraction of positive
        predictions. "equalized_odds" compares this fraction among positive and among negative rows
        (TPR and FPR). "equal_opportunity" compares it among positive rows only.
    aggregate : {"max", "mean"}, default="max"
        How the two gaps of equalized odds are combined.

    Raises
    ------
    MissingInputError
        At fit, if the holdout is missing, or the target does not have two labels and there is no
        `pos_label`.
    InvalidParameterError
        At fit, if a column does not exist, or is both target and sensitive.

    Warnings
    --------
    A model that predicts no positive rows has no gap. With small groups, random differences alone
    cause a gap. Interpret the value together with :class:`TSTR` and the baseline.

    See Also
    --------
    EqualizedOddsImprovement : Change of equalized odds, on a scale where 0.5 means no change.
    TSTR : Score of the models on holdout data.
    CalibrationPreservation : Compares the calibration of predicted probabilities.

    Notes
    -----
    The gap is the largest minus the smallest rate over groups. ``details["difference"]`` is TSTR -
    TRTR. ``details["preservation"]`` is 1 minus the largest change of a group's rate from TRTR to
    TSTR, because two models may have the same gap but favor opposite groups. ``details["ratio"]``
    is the smallest divided by the largest rate. ``details["rates"]`` contains all rates by group,
    and ``details["base_rates"]`` the fraction of positive rows of each group in the tables.

    A model that predicts no positive rows has no gap. Therefore interpret a small gap together with
    :class:`TSTR`. Synthetic data that represent the real data well have the gap of TRTR, not a gap
    of 0.

    Because of noise, the observed rates differ even if the true rates are equal. For example, with
    5 groups of 100 rows each and equal true rates, the gap is 0.11 on average. The interval
    corrects for this, whereas bootstrap quantiles do not. In simulations, the interval contains the
    true gap of the fitted model in 93% of cases or more, and the interval of the difference
    contains the true difference in 88% or more. Both intervals refer to these two models and do not
    include the randomness of training. For two tables from the same distribution, the interval of
    the difference excluded 0 in up to 28% of cases.

    Groups with fewer than 10 training or holdout rows are pooled as "(rare groups)".

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

    tags = replace(MODEL_TAGS, greater_is_better=False)

    criterion: Literal["demographic_parity", "equalized_odds", "equal_opportunity"] = (
        "demographic_parity"
    )
    _: KW_ONLY
    aggregate: Literal["max", "mean"] = "max"

    def _equality(self) -> tuple[str, str]:
        return self.criterion, self.aggregate

    def _value(self, context: Context) -> float:
        return float(self._gaps(context, SYNTHETIC).mean(axis=0)[0])

    def _relation(self, context: Context, result: Result) -> dict[str, Any]:
        rates = {k: self._rates(context, t, self.n_bootstrap) for k, t in TRAININGS.items()}
        fields = gap_evidence(rates["tstr"], rates["trtr"], *self._equality())
        return {**fields, "details": {**fields["details"], **self._gap_details(context)}}

    def _summary(self, result: Result) -> str:
        real = number(as_float(result.details["gap_trtr"]["value"]))
        return (
            "The rates of the groups differ by up to "
            f"{number(result.value)} for the model trained on synthetic rows and by {real} for the "
            "model trained on real rows (difference "
            f"{shown_difference(result.details['difference'])})."
        )


@declared
class EqualizedOddsImprovement(_GroupMetric):
    r"""Gain in equalized odds if a model is trained on synthetic instead of real data.

    A team expects that balanced synthetic data give a fairer model than the real data. Both models
    are tested on the holdout. The score ranges from 0 to 1. Above 0.5, the error rates of the
    groups are more similar for the model trained on synthetic rows, and below 0.5 they are less
    similar. Higher is better.

    Parameters
    ----------
    min_cell : int, default=5
        Minimum number of positive and of negative rows of each group, in both training tables and
        in the holdout.

    Raises
    ------
    MissingInputError
        At fit, if the holdout is missing, or the target does not have two labels and there is no
        `pos_label`.
    InvalidParameterError
        At fit, if a column does not exist, or is both target and sensitive.

    Warnings
    --------
    Models that learn nothing have equal error rates in all groups and can have a high score.
    Interpret it together with :class:`TSTR`.

    See Also
    --------
    FairnessGap : The gap itself, also for other criteria.
    TSTR : Score of the models on holdout data.

    Notes
    -----
    The equalized odds of a model are :math:`EO = \min(1 - g_{TPR}, 1 - g_{FPR})`, where a gap
    :math:`g` is the largest minus the smallest rate over groups. The value is

    .. math:: \frac{1}{2} (EO_S - EO_T) + \frac{1}{2},

    and the baseline is 0.5. For two groups, the value is the measure of SDMetrics.

    Models that learn nothing have equal odds, so noise may score above 0.5. Therefore interpret the
    value together with :class:`TSTR`. The interval is computed as for the difference in
    :class:`FairnessGap`.

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

    tags = MODEL_TAGS

    def _value(self, context: Context) -> float:
        tstr, trtr = (self._gaps(context, t).mean(axis=0)[0] for t in TRAININGS.values())
        return float((trtr - tstr) / 2.0 + 0.5)

    def _relation(self, context: Context, result: Result) -> dict[str, Any]:
        tstr, trtr = (
            self._gaps(context, training, self.n_bootstrap).mean(axis=0)
            for training in TRAININGS.values()
        )
        gain = _difference(trtr, tstr)
        ends = [end / 2.0 + 0.5 for end in (gain["low"], gain["high"]) if end is not None]
        details = {
            "equalized_odds": {"tstr": 1.0 - tstr[0], "trtr": 1.0 - trtr[0]},
            "gain": gain,
            **self._gap_details(context),
        }
        interval = (ends[0], ends[1]) if ends else None
        return {"interval": interval, "baseline": 0.5, "details": details}

    def _unanswerable(self, context: Context) -> str:
        reason = super()._unanswerable(context)
        return reason or too_small(context, self._grouping(context), self.min_cell)

    def _summary(self, result: Result) -> str:
        odds = {n: number(as_float(v)) for n, v in result.details["equalized_odds"].items()}
        return (
            "Training on synthetic instead of real rows changes equalized odds from "
            f"{odds['trtr']} to {odds['tstr']} (1 is equal treatment)."
        )


def gap_evidence(tstr: Rates, trtr: Rates, criterion: str, aggregate: str) -> dict[str, Any]:
    """Return the evidence of the rates of both models about their gaps, as fields of a result."""
    first, second = (gap(rates, criterion, aggregate).mean(axis=0) for rates in (tstr, trtr))
    interval, of_real = (gap_interval(rates, criterion, aggregate) for rates in (tstr, trtr))
    values = {
        kind: {name: part[:, 0] for name, part in rates.items()}
        for kind, rates in {"tstr": tstr, "trtr": trtr}.items()
    }
    details = {
        "criterion": criterion,
        "gap_tstr": value_with_interval(first[0], interval),
        "gap_trtr": value_with_interval(second[0], of_real),
        "difference": _difference(first, second),
        "preservation": preservation(values["tstr"], values["trtr"], criterion).mean(),
        "ratio": {k: rate_ratio(part, criterion).mean() for k, part in values.items()},
        "average_odds_difference": {
            kind: average_odds_difference(part).mean() for kind, part in values.items()
        },
    }
    return {"interval": interval, "baseline": second[0], "details": details}


def _difference(first: np.ndarray, second: np.ndarray) -> dict[str, float | None]:
    """Return the difference of two gaps with its interval, which stays within [-1, 1]."""
    interval = difference_interval(first, second)
    inside = None if interval is None else (max(interval[0], -1.0), min(interval[1], 1.0))
    return value_with_interval(first[0] - second[0], inside)
