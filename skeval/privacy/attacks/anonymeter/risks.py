"""Residual risk of an attack from its success on training data, holdout data and by guessing."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from numbers import Real
from typing import Annotated, Any, Literal, NamedTuple

import numpy as np
import pandas as pd

from skeval.core.base import Metric
from skeval.core.context import Context, shared
from skeval.core.declared import declared
from skeval.core.tags import ATTACK_TAGS, LIGHT
from skeval.exceptions import MetricWarning, MissingInputError
from skeval.neighbors.mixed import MixedNearestNeighbors
from skeval.results.result import Result, undefined_result
from skeval.results.verdict import ALARM_LEVEL, Contrast, raises_alarm
from skeval.stats.abstention import among_surest
from skeval.stats.excess_tests import N_DRAWS, largest_excess_test, relabelled_sums
from skeval.stats.permutation_tests import Relabelled
from skeval.stats.risks import (
    RISK_LEVELS,
    Rate,
    Risk,
    attack_rate,
    is_weak,
    residual_risk,
    risk_level,
    risks_by_counts,
)
from skeval.stats.smallest_leaks import excess_of_rate, excess_of_scores, smallest_leak
from skeval.steps.column_choice import ColumnChoice, chosen_columns
from skeval.steps.encoded_rows import encoded_columns, encoded_matrix, kept_features, ranges
from skeval.steps.leak_advice import advice_on_leak
from skeval.steps.neighbors import Index, rows_of
from skeval.tables.preprocessing import NOMINAL
from skeval.tables.schema import TableSchema
from skeval.utils.formatting import as_float, number, percent
from skeval.utils.parameters import Columns, Count, Legal, OpenFraction, Seed

_ALL_SUCCEED = "every attack on holdout rows also succeeds, so no excess risk can be measured."
_GUESSED = "every guess succeeds, so no attack can be better than guessing."
_NONE_MADE = "no attack is possible for this table."


def _are_levels(value: object) -> bool:
    if not isinstance(value, list | tuple) or len(value) != 2:
        return False
    if not all(isinstance(x, Real) and not isinstance(x, bool) for x in value):
        return False
    return all(low <= high for low, high in pairwise((0.0, *value, 1.0)))


Levels = Annotated[
    Sequence[float], Legal("two ascending numbers in [0, 1]", _are_levels, (0.5, 0.3))
]


class Measure(NamedTuple):
    """Settings that determine a risk from counts."""

    method: str = "anonymeter"
    confidence: float = 0.95
    levels: Sequence[float] = RISK_LEVELS
    reference: str = "holdout"

    def of_rates(self, attack: Rate, control: Rate, guessed: Rate, spread: float = 1.0) -> Risk:
        """Return the excess risk of an attack over the holdout data, or over guessing."""
        other = control if self.reference == "holdout" else guessed
        settings: dict[str, Any] = {"method": self.method, "confidence": self.confidence}
        return residual_risk(attack, other, spread=spread, **settings)

    @property
    def undefined_reason(self) -> str:
        """Reason for an undefined risk if attacks were made."""
        return _ALL_SUCCEED if self.reference == "holdout" else _GUESSED


@dataclass(frozen=True)
class Evidence:
    """Result of a permutation test of an attack."""

    contrast: Contrast
    p_value: float
    advice: str = ""
    drawn: np.ndarray | None = None
    spread: float = 1.0
    details: dict[str, Any] = field(default_factory=dict)
    test: Relabelled | None = None


@dataclass(frozen=True)
class Attack:
    """Numbers of successes of an attack."""

    successes: tuple[float, ...]
    control: tuple[float, ...]
    n: int
    guessed: float
    n_guessed: int
    test: Callable[[], Evidence]
    scores: np.ndarray | None = None
    confidence: np.ndarray | None = None
    details: dict[str, Any] = field(default_factory=dict)
    about: dict[str, str] = field(default_factory=dict)

    @cached_property
    def evidence(self) -> Evidence:
        """Result of the test, which runs once."""
        return self.test()

    def columns(self) -> np.ndarray:
        """Return the scores, with one column for each fraction of the most confident guesses."""
        scores = np.asarray(self.scores)[:, None]
        return scores if self.confidence is None else scores * among_surest(self.confidence)

    def smallest_leak(self, n_tests: int, joint: Relabelled | None) -> dict[str, Any]:
        """Return the smallest excess of the rate that one of several tests finds."""
        # Attacks with scores are tested together, and each other attack has its own test. If the
        # attacker may abstain, a leak of a few records is found although its excess over all
        # guesses is small. Therefore no single size can be reported.
        if self.confidence is not None:
            return {}
        test, n = self.evidence.test if self.scores is None else joint, self.n
        if test is None or not test.spread > 0.0:
            return {}
        expected = float(np.mean(self.control)) / n
        rate = (float(np.mean(self.successes)) / n + expected) / 2.0

        def excess(level: float) -> float:
            level /= n_tests
            if self.scores is not None:
                return excess_of_scores(level, self.scores, n, test.upper)
            return excess_of_rate(level, rate, test.spread / n, (n, n), test.upper_deviation)

        return {"smallest_leak": smallest_leak(excess, expected)}

    def rates(self, confidence: float) -> tuple[Rate, Rate, Rate]:
        """Return the success rates on training rows, by guessing and on holdout rows."""
        return (
            attack_rate(float(np.mean(self.successes)), self.n, confidence),
            attack_rate(self.guessed, self.n_guessed, confidence),
            attack_rate(float(np.mean(self.control)), self.n, confidence),
        )

    def value(self, measure: Measure) -> float:
        """Return only the value of the risk, which requires no test."""
        return self._risk(measure, spread=1.0).value

    def risk(self, measure: Measure) -> Risk:
        """Return the mean risk over repeats, with an interval from the mean counts."""
        return self._risk(measure, self.evidence.spread)

    def _risk(self, measure: Measure, spread: float) -> Risk:
        confidence = measure.confidence
        attack, guessed, control = self.rates(confidence)
        whole = measure.of_rates(attack, control, guessed, spread)
        if len(self.successes) == 1 or math.isnan(whole.value):
            return whole
        repeats = [
            measure.of_rates(
                attack_rate(on_train, self.n, confidence),
                attack_rate(on_holdout, self.n, confidence),
                guessed,
            )
            for on_train, on_holdout in zip(self.successes, self.control, strict=True)
        ]
        raw = float(np.nanmean([risk.raw for risk in repeats]))
        unshrunk = float(np.nanmean([risk.unshrunk for risk in repeats]))
        value, (low, high) = min(max(raw, 0.0), 1.0), whole.interval
        return Risk(value, (min(low, value), max(high, value)), raw, unshrunk)

    def report(self, risk: Risk, measure: Measure) -> dict[str, Any]:
        """Return the rates and the risk for details."""
        on_train, guessed, on_holdout = self.rates(measure.confidence)
        return {
            "attack": on_train.to_dict(),
            "baseline": guessed.to_dict(),
            "control": on_holdout.to_dict(),
            "residual_risk": risk.value,
            "raw": risk.raw,
            "unshrunk": risk.unshrunk,
            "level": "" if math.isnan(risk.value) else risk_level(risk.value, measure.levels),
            "weak_attack": is_weak(on_train, guessed),
            "spread": self.evidence.spread,
            "syneval": self._as_syneval(measure),
        }

    def _as_syneval(self, measure: Measure) -> dict[str, Any]:
        """Return the numbers and names of SynEval, whose risk is the excess over guessing."""
        attack, guessed, control = self.rates(measure.confidence)
        beyond = measure._replace(reference="baseline")
        risk = beyond.of_rates(attack, control, guessed)
        return {
            "attack_rate": attack.centre,
            "baseline_rate": guessed.centre,
            "control_rate": control.centre,
            "risk": risk.value,
            "error": (risk.interval[1] - risk.interval[0]) / 2.0,
        }


@declared
class ResidualRiskMetric(Metric):
    """Base class of metrics whose value is a residual risk, or the maximum of several.

    A subclass implements ``_risk(context, tested)``. It returns the complete result if `tested` is
    True. Otherwise it returns only the value for ``score``, without tests and baseline.

    Parameters
    ----------
    n_attacks : int or None, default=500
        Number of attacked rows in the training and in the holdout data, limited by the smaller
        table. If None, all rows of the smaller table are used.
    levels : pair of float, default=(0.3, 0.5)
        Risks of at least the first number are called medium, and risks above the second number are
        called high.
    ci_method : {"anonymeter", "katz"}, default="anonymeter"
        "anonymeter" computes the value and interval from the centers of Wilson intervals. "katz"
        uses the observed success rates, with the interval of Katz for the ratio of the two failure
        rates.
    reference : {"holdout", "baseline"}, default="holdout"
        The rate that a risk must exceed. "holdout" is the same attack on rows that the generator
        never saw. "baseline" is the success of random guesses, as in SynEval. In this case,
        information that follows from the population also counts as a risk, and the baseline of the
        result is the risk of holdout rows. The test is the same for both.
    confidence_level : float, default=0.95
        Confidence level of the intervals. The intervals of several attacks are simultaneous.
    random_state : int, default=0
        Seed of all samples.
    """

    tags = replace(ATTACK_TAGS, display="AttackDisplay", weight=LIGHT)

    _: KW_ONLY
    n_attacks: Count | None = 500
    levels: Levels = RISK_LEVELS
    ci_method: Literal["anonymeter", "katz"] = "anonymeter"
    reference: Literal["holdout", "baseline"] = "holdout"
    confidence_level: OpenFraction = 0.95
    random_state: Seed = 0

    @property
    def _measure(self) -> Measure:
        """Settings that determine the risk from counts."""
        return Measure(self.ci_method, self.confidence_level, self.levels, self.reference)

    def _compute(self, context: Context) -> Result:
        return self._risk(context, tested=False)

    def _compared_result(self, context: Context) -> Result:
        result = self._risk(context, tested=True)
        return replace(result, metric=type(self).__name__, tags=result.tags or self.tags)

    def _leak_advice(self, context: Context) -> str:
        return advice_on_leak(context)

    def _risk(self, context: Context, tested: bool) -> Result:
        raise NotImplementedError(f"{type(self).__name__} must define _risk.")


@declared
class LargestRiskMetric(ResidualRiskMetric):
    """Base class of metrics whose value is the largest residual risk of several attacks.

    A subclass implements ``_attacks(context)``, which returns the attacks by name, with None for an
    attack that is not possible, and ``_voids(context)``, which returns warnings about skipped
    attacks.

    Parameters
    ----------
    columns : None, int or list of str, default=None
        The columns that an attacker may know or guess: None for all, *n* for the first *n*, or a
        list of names.
    """

    tags = replace(ResidualRiskMetric.tags, display="AttacksDisplay")

    _: KW_ONLY
    columns: Columns = None

    def _prepare(self, context: Context) -> None:
        check_enough_columns(type(self).__name__, chosen_columns(context.schema, self.columns), 2)

    def _risk(self, context: Context, tested: bool) -> Result:
        result = largest_risk(self._attacks(context), self._measure, tested)
        return replace(result, warnings=(*result.warnings, *self._voids(context)))

    def _attacks(self, context: Context) -> Mapping[str, Attack | None]:
        raise NotImplementedError(f"{type(self).__name__} must define _attacks.")

    def _voids(self, context: Context) -> Sequence[MetricWarning]:
        return ()


def risk_of(attack: Attack, measure: Measure, tested: bool) -> Result:
    """Return the result of one attack, or only its value if `tested` is False."""
    if not tested:
        return value_of([attack], measure)
    risk, evidence = attack.risk(measure), attack.evidence
    details = {**attack.report(risk, measure), **attack.details, **evidence.details}
    if math.isnan(risk.value):
        return undefined_result(measure.undefined_reason, **details)
    return Result(
        risk.value,
        interval=risk.interval,
        p_value=evidence.p_value,
        baseline=fresh_risk([attack], measure),
        details=details,
        contrast=evidence.contrast,
        advice=evidence.advice,
    )


def value_of(attacks: Sequence[Attack], measure: Measure) -> Result:
    """Return the largest risk of attacks that were made, without intervals and tests."""
    values = [attack.value(measure) for attack in attacks]
    defined = [value for value in values if not math.isnan(value)]
    return (
        Result(max(defined))
        if defined
        else undefined_result(measure.undefined_reason if attacks else _NONE_MADE)
    )


def largest_risk(attacks: Mapping[str, Attack | None], measure: Measure, tested: bool) -> Result:
    """Return the largest residual risk of several attacks, or only its value without tests."""
    # Intervals have a Bonferroni correction. The maximum of noisy numbers is biased upward.
    # Therefore the interval ranges from the maximum of the lower bounds to the maximum of the
    # upper bounds, and the baseline is the mean of the maximum over random choices of the
    # training rows.
    made = {name: attack for name, attack in attacks.items() if attack is not None}
    if not tested:
        return value_of(list(made.values()), measure)
    wider = measure._replace(confidence=1.0 - (1.0 - measure.confidence) / max(1, len(made)))
    (adjusted, leaks), reports = adjusted_p_values(made), {}
    for name, attack in made.items():
        reports[name] = {
            **attack.report(attack.risk(measure), measure),
            "interval": list(attack.risk(wider).interval),
            "p_value": attack.evidence.p_value,
            "p_adjusted": adjusted[name],
            "tested": _tested_rates(attack.evidence.contrast),
            "columns": attack.evidence.details.get("columns", {}),
            **_abstaining(attack.evidence.details),
            **leaks[name],
            **attack.about,
        }
    defined = {n: one for n, one in reports.items() if not math.isnan(one["residual_risk"])}
    details: dict[str, Any] = {
        "attacks": reports,
        "skipped": [name for name in attacks if name not in defined],
        "n_attacks_made": len(made),
    }
    if not defined:
        return undefined_result(measure.undefined_reason if made else _NONE_MADE, **details)
    worst = max(defined, key=lambda name: defined[name]["residual_risk"])
    value = defined[worst]["residual_risk"]
    low, high = (max(one["interval"][i] for one in defined.values()) for i in (0, 1))
    p_values = {name: made[name].evidence.p_value for name in defined}
    order = sorted(defined, key=lambda name: (adjusted[name], p_values[name], name != worst))
    contrast = made[order[0]].evidence.contrast
    significant = [name for name in order if adjusted[name] <= ALARM_LEVEL]
    return Result(
        value,
        interval=(min(low, value), max(high, value)),
        p_value=adjusted[order[0]],
        baseline=fresh_risk([made[name] for name in defined], measure),
        details={
            **details,
            "worst_attack": worst,
            "surest_attack": order[0],
            "level": risk_level(value, measure.levels),
        },
        contrast=combine_contrasts(made, contrast),
        advice=next(filter(None, (made[name].evidence.advice for name in significant)), ""),
    )


def _tested_rates(contrast: Contrast) -> dict[str, float]:
    """Return the two tested rates, possibly for the most confident guesses only."""
    return {"observed": contrast.observed, "expected": contrast.expected}


def _abstaining(details: Mapping[str, Any]) -> dict[str, Any]:
    """Return the details of an attack whose attacker may abstain."""
    said = {k: v for k, v in details.get("abstaining", {}).items() if k != "by_share"}
    return {"abstaining": said} if said else {}


def combine_contrasts(attacks: Mapping[str, Attack], surest: Contrast) -> Contrast:
    """Return the contrast of the most significant attack, as one of several tests."""
    contrasts = [one.evidence.contrast for one in attacks.values()]
    return replace(
        surest,
        n_tests=len(attacks),
        tests=tuple(name for one in contrasts for name in one.tests),
        least_p=min(1.0, len(attacks) * min(one.least_p for one in contrasts)),
    )


def adjusted_p_values(
    attacks: Mapping[str, Attack],
) -> tuple[dict[str, float], dict[str, dict[str, Any]]]:
    """Return p-values that are corrected for all attacks, and the smallest leak that each finds."""
    # Attacks on the same rows are tested together with the method of Westfall and Young. This
    # test and the tests of other attacks have a Bonferroni correction.
    together = {n: one.columns() for n, one in attacks.items() if one.scores is not None}
    p_values = {n: one.evidence.p_value for n, one in attacks.items() if one.scores is None}
    n_tests, test = len(p_values) + bool(together), None
    if together:
        scores = np.concatenate(list(together.values()), axis=1)
        test, jointly = largest_excess_test(scores, len(scores) // 2)
        ends = np.cumsum([columns.shape[1] for columns in together.values()])[:-1]
        least = [float(part.min()) for part in np.split(jointly, ends)]
        p_values |= dict(zip(together, least, strict=True))
    adjusted = {name: min(1.0, n_tests * p_values[name]) for name in attacks}
    return adjusted, {name: one.smallest_leak(n_tests, test) for name, one in attacks.items()}


def fresh_risk(attacks: Sequence[Attack], measure: Measure) -> float:
    """Return the largest risk expected by chance, or the largest excess of the holdout data."""
    if measure.reference == "holdout":
        return float(risks_by_chance(attacks, measure).max(axis=0).mean())
    rates = [attack.rates(measure.confidence) for attack in attacks]
    risks = [measure.of_rates(control, control, guessed).value for _, guessed, control in rates]
    return float(np.nanmax(risks))


def risks_by_chance(attacks: Sequence[Attack], measure: Measure) -> np.ndarray:
    """Return the risks for random choices of training rows, shape (n_attacks, n_draws)."""
    # A risk is never negative, so its mean is positive even without a leak. Attacks on the same
    # rows use the same choices.
    risks = np.empty((len(attacks), N_DRAWS))
    scored = {i: one.scores for i, one in enumerate(attacks) if one.scores is not None}
    unscored = {i: one.evidence for i, one in enumerate(attacks) if one.scores is None}
    counts = {i: one.drawn for i, one in unscored.items() if one.drawn is not None}
    if scored:
        scores = np.stack(list(scored.values()), axis=1)
        totals, rng = scores.sum(axis=0), np.random.default_rng(0)
        sums = relabelled_sums(scores, len(scores) // 2, N_DRAWS, rng).T
        rest = np.maximum(totals[:, None] - sums, 0.0)
        counts |= {i: np.stack([sums[j], rest[j]]) for j, i in enumerate(scored)}
    for i, attack in enumerate(attacks):
        on_train, on_holdout = np.minimum(counts[i], attack.n)
        risks[i] = risks_by_counts(
            on_train, on_holdout, attack.n, method=measure.method, confidence=measure.confidence
        )
    return np.nan_to_num(risks)


def check_enough_columns(
    owner: str, columns: Sequence[str], least: int, secret: str | None = None
) -> None:
    """Raise an error if there are too few columns in addition to the sensitive attribute."""
    if len(set(columns) - {secret}) >= least:
        return
    besides = "" if secret is None else f" in addition to the sensitive attribute {secret}"
    needed = "one measurable column" if least == 1 else f"{least} measurable columns"
    raise MissingInputError(
        f"requires at least {needed}{besides}, but there "
        f"{'is none' if least == 1 else 'are fewer'}.",
        owner,
    )


def shown_rates(details: Mapping[str, Any]) -> tuple[str, str]:
    """Return the fractions of success on training and holdout rows for a sentence."""
    train, control = (shown_share(details[who]) for who in ("attack", "control"))
    return train, control


def shown_share(rate: Mapping[str, Any]) -> str:
    """Return the plain fraction of successes, because the `rate` of a result is shrunk to 1/2."""
    return percent(as_float(rate["n_success"]) / as_float(rate["n"]))


def shown_level(result: Result) -> str:
    """Return the last sentence of the summary of a residual risk.

    If a test is significant, the level is omitted, because "low" would contradict it.
    """
    level = "" if raises_alarm(result) else f", {result.details['level']}"
    return (
        f"The residual risk is {number(result.value)}{level}, compared with "
        f"{number(result.baseline)} expected by chance."
    )


def places(schema: TableSchema) -> dict[str, int]:
    """Return the position of each measured column in encoded rows."""
    return {name: j for j, name in enumerate(encoded_columns(schema))}


@shared
def synthetic_rows(context: Context) -> np.ndarray:
    """Return the encoded synthetic rows in an order that depends only on their values."""
    # A search returns the first of equally close rows. In the order of a hash of the values, this
    # row is effectively random and does not depend on the order of the table.
    rows = encoded_matrix(context, "synthetic")
    by_name = rows[:, [j for _, j in sorted(places(context.schema).items())]]
    hashes = pd.util.hash_pandas_object(pd.DataFrame(by_name, copy=False), index=False)
    order = np.argsort(hashes.to_numpy())
    return np.take(rows.T, order, axis=1).T  # columns stay contiguous


def near_rows(context: Context, columns: ColumnChoice) -> np.ndarray:
    """Return the synthetic rows that :func:`nearest_synthetic` finds, in some columns."""
    return synthetic_rows(context)[:, kept_features(context, "gower", columns)]


@shared
def synthetic_index(context: Context, columns: ColumnChoice) -> Index:
    """Return the search structure over the synthetic rows in some columns."""
    return index_over(context, columns, near_rows(context, columns))


def index_over(context: Context, columns: ColumnChoice, rows: np.ndarray) -> Index:
    """Return an index of encoded rows, which finds the first of equally close rows."""
    kept = kept_features(context, "gower", columns)
    nominal = context.schema.columns(*NOMINAL)
    categorical = np.array([name in nominal for name in places(context.schema)])[kept]
    engine = MixedNearestNeighbors(ranges=ranges(context)[kept], categorical=categorical)
    return Index(rows, engine.fit(rows), "gower")


def n_targets(context: Context, n_attacks: int | None) -> int:
    """Return the number of attacked rows in each table, limited by the smaller table."""
    # Unequal numbers would cause a spurious risk, because the Wilson center of fewer attacks is
    # closer to 1/2.
    fewest = min(context.n_rows("train"), context.n_rows("holdout"))
    return fewest if n_attacks is None else min(n_attacks, fewest)


def targets(
    context: Context, columns: ColumnChoice, n_attacks: int | None, seed: int
) -> np.ndarray:
    """Return some columns of the attacked rows, with the training rows first."""
    rows = _drawn_targets(context, n_targets(context, n_attacks), seed)
    return rows[:, kept_features(context, "gower", columns)]


@shared
def _drawn_targets(context: Context, n: int, seed: int) -> np.ndarray:
    roles = ("train", "holdout")
    return np.concatenate([rows_of(context, role, "gower", None, n, seed) for role in roles])


@shared
def nearest_synthetic(
    context: Context, columns: ColumnChoice, k: int, n_attacks: int | None, seed: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return distances and positions of the k nearest synthetic rows of each target.

    One search includes the training and the holdout rows. `columns` is a column key.
    """
    asked = targets(context, columns, n_attacks, seed)
    return synthetic_index(context, columns).kneighbors(asked, min(k, context.n_rows("synthetic")))
