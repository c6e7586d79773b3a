"""From how often an attack succeeds on train, by guessing and on the holdout, to a result."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from skeval._aggregate import undefined
from skeval._parameters import Constraint, Interval, Nullable, Options
from skeval.exceptions import MetricWarning
from skeval.result import Result
from skeval.stats.risks import CI_METHODS, Rate, Risk, attack_rate, is_weak, residual_risk
from skeval.tags import MetricTags

__all__ = ["LEGAL", "N_ATTACKS", "TAGS", "Attack", "largest_risk", "risk_result"]

TAGS = MetricTags(
    "privacy",
    needs=frozenset({"holdout"}),
    greater_is_better=False,
    bounds=(0.0, 1.0),
    evidence="attack",
)
LEGAL: dict[str, Constraint] = {
    "ci_method": Options(CI_METHODS),
    "confidence_level": Interval(float, 0.0, 1.0, closed="neither"),
    "random_state": Interval(int, 0, None),
}
N_ATTACKS = Nullable(Interval(int, 1, None))

_ALL_SUCCEED = (
    "every attack on holdout rows succeeds too, so that no risk of train rows can be told from it."
)


class Measured(Protocol):
    """A metric whose value is a residual risk."""

    ci_method: str
    confidence_level: float


@dataclass(frozen=True)
class Attack:
    """How often an attack succeeds.

    Attributes
    ----------
    successes, control : tuple of float
        Number of successes on train and on the holdout, one for each repeat of the attack.
    n, n_control : int
        Number of attacks in a repeat.
    guessed : float
        Number of successes on train of somebody who guesses.
    n_guessed : int
        Number of guesses.
    p_value : float
        Of the null hypothesis that train rows are attacked no more successfully.
    spread : float
        How many times wider the interval is than that of independent attacks.
    details : dict
        What else is to be said.
    warnings : tuple of MetricWarning
        What the reader must know.
    """

    successes: tuple[float, ...]
    n: int
    control: tuple[float, ...]
    n_control: int
    guessed: float
    n_guessed: int
    p_value: float
    spread: float = 1.0
    details: dict[str, Any] = field(default_factory=dict)
    warnings: tuple[MetricWarning, ...] = ()

    def rates(self, confidence: float) -> tuple[Rate, Rate, Rate]:
        """Return the rates of the attack, of guessing and on the holdout, over all repeats."""
        return (
            attack_rate(float(np.mean(self.successes)), self.n, confidence),
            attack_rate(self.guessed, self.n_guessed, confidence),
            attack_rate(float(np.mean(self.control)), self.n_control, confidence),
        )

    def risk(self, method: str, confidence: float) -> Risk:
        """Return the risk: the mean over the repeats, within an interval of the mean counts."""
        attack, _, control = self.rates(confidence)
        whole = residual_risk(
            attack, control, method=method, confidence=confidence, spread=self.spread
        )
        if len(self.successes) == 1 or math.isnan(whole.value):
            return whole
        return _averaged(
            whole,
            [
                residual_risk(
                    attack_rate(k, self.n, confidence),
                    attack_rate(c, self.n_control, confidence),
                    method=method,
                    confidence=confidence,
                )
                for k, c in zip(self.successes, self.control, strict=True)
            ],
        )


def _averaged(whole: Risk, parts: list[Risk]) -> Risk:
    """Return the mean of the risks that are defined, within the interval of the mean counts."""
    raw, unshrunk = (
        float(np.nanmean([getattr(part, name) for part in parts])) for name in ("raw", "unshrunk")
    )
    value, (low, high) = min(max(raw, 0.0), 1.0), whole.interval
    return Risk(value, (min(low, value), max(high, value)), raw, unshrunk)


def risk_result(attack: Attack, metric: Measured) -> Result:
    """Return the result of one attack."""
    risk = attack.risk(metric.ci_method, metric.confidence_level)
    details = {**_told(attack, risk, metric.confidence_level), **attack.details}
    if math.isnan(risk.value):
        found = undefined(_ALL_SUCCEED, **details)
        return Result(found.value, details=details, warnings=(*attack.warnings, *found.warnings))
    return Result(
        risk.value,
        interval=risk.interval,
        p_value=attack.p_value,
        baseline=0.0,
        details=details,
        warnings=attack.warnings,
    )


def _told(attack: Attack, risk: Risk, confidence: float) -> dict[str, Any]:
    """Return what is said of an attack: its rates, its risk, whether guessing does as well."""
    on_train, guessed, on_holdout = attack.rates(confidence)
    return {
        "attack": on_train.to_dict(),
        "baseline": guessed.to_dict(),
        "control": on_holdout.to_dict(),
        "residual_risk": risk.value,
        "raw": risk.raw,
        "unshrunk": risk.unshrunk,
        "weak_attack": is_weak(on_train, guessed),
        "spread": attack.spread,
    }


def largest_risk(attacks: Mapping[str, Attack | None], metric: Measured) -> Result:
    """Return the largest residual risk of several attacks, and what each of them found.

    Parameters
    ----------
    attacks : mapping of str to Attack or None
        By name; None for one that could not be made.
    metric : Measured
        The metric, for its settings.

    Returns
    -------
    Result
        Intervals are simultaneous and the p-value is that of the most significant attack times
        their number, after Bonferroni. The largest of noisy numbers is too large on average: the
        interval reaches from the largest of the lower bounds to the largest of the upper ones.
    """
    made = {name: attack for name, attack in attacks.items() if attack is not None}
    tail = (1.0 - metric.confidence_level) / max(1, len(made))
    risks = {name: a.risk(metric.ci_method, 1.0 - tail) for name, a in made.items()}
    values = {name: a.risk(metric.ci_method, metric.confidence_level) for name, a in made.items()}
    defined = [name for name in made if not math.isnan(values[name].value)]
    details = {
        "attacks": {
            name: {
                **_told(attack, values[name], metric.confidence_level),
                "interval": list(risks[name].interval),
                "p_value": attack.p_value,
            }
            for name, attack in made.items()
        },
        "left_out": [name for name in attacks if name not in defined],
        "n_attacks_made": len(made),
    }
    warnings = tuple(warning for attack in made.values() for warning in attack.warnings)
    if not defined:
        found = undefined(_ALL_SUCCEED if made else "no attack could be made on this table.")
        return Result(found.value, details=details, warnings=(*warnings, *found.warnings))
    worst = max(defined, key=lambda name: values[name].value)
    value = values[worst].value
    low, high = (max(risks[name].interval[i] for name in defined) for i in (0, 1))
    p_value = min(1.0, len(made) * min(made[name].p_value for name in defined))
    details["worst_attack"] = worst
    return Result(
        value,
        interval=(min(low, value), max(high, value)),
        p_value=p_value,
        baseline=0.0,
        details=details,
        warnings=warnings,
    )
