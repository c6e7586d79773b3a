"""Residual risk of the training data, computed from counts of successful attacks."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import gammaln

from skeval.exceptions import InvalidParameterError
from skeval.stats.intervals import normal_quantile
from skeval.stats.permutation_tests import NOISE

RISK_LEVELS = (0.3, 0.5)


@dataclass(frozen=True)
class Rate:
    """Success rate of an attack with Wilson's score interval."""

    n_success: float
    n: float
    centre: float
    half_width: float

    @property
    def share(self) -> float:
        """The fraction of successes."""
        return self.n_success / self.n

    @property
    def interval(self) -> tuple[float, float]:
        """The interval within [0, 1], which ends at 0 or 1 if no attack or each attack succeeds."""
        low, high = _clip_to_unit(self.centre - self.half_width, self.centre + self.half_width)
        return low if self.n_success > 0 else 0.0, high if self.n_success < self.n else 1.0

    def to_dict(self) -> dict[str, Any]:
        """Return the fields for the details of a result."""
        return {
            "n": self.n,
            "n_success": self.n_success,
            "rate": self.centre,
            "interval": list(self.interval),
        }


@dataclass(frozen=True)
class Risk:
    """Residual risk of training rows, relative to the failures of the attack on holdout rows."""

    value: float
    interval: tuple[float, float]
    raw: float
    unshrunk: float


def _clip_to_unit(low: float, high: float) -> tuple[float, float]:
    return min(max(low, 0.0), 1.0), min(max(high, 0.0), 1.0)


def attack_rate(n_success: float, n: float, confidence: float = 0.95) -> Rate:
    """Return the rate of an attack with the center and half width of Wilson's interval."""
    if not 0.0 <= n_success <= n or n <= 0:
        raise InvalidParameterError(
            "attack_rate: the number of successes must be from 0 to the number of attacks, and "
            f"the number of attacks must be positive. Got {n_success} of {n}."
        )
    z = normal_quantile(confidence)
    centre = (n_success + z * z / 2.0) / (n + z * z)
    half = z / (n + z * z) * math.sqrt(n_success * (n - n_success) / n + z * z / 4.0)
    return Rate(float(n_success), float(n), centre, half)


def residual_risk(
    attack: Rate,
    control: Rate | None = None,
    *,
    method: str = "anonymeter",
    confidence: float = 0.95,
    spread: float = 1.0,
) -> Risk:
    """Return the residual risk ``(p - c) / (1 - c)`` of two rates, with its interval."""
    # Source: M. Giomi et al., "A unified framework for quantifying privacy risk in synthetic
    # data", PoPETs 2023, doi:10.56553/popets-2023-0055; D. Katz et al., "Obtaining confidence
    # intervals for the risk ratio in cohort studies", Biometrics 34 (1978) 469-474,
    # doi:10.2307/2530610.
    if control is None:
        point, half = attack.centre, attack.half_width * spread
        value, unshrunk = attack.centre, attack.share
        low, high = point - half, point + half
    elif control.share >= 1.0 - NOISE:
        return Risk(math.nan, (math.nan, math.nan), math.nan, math.nan)
    else:
        unshrunk = (attack.share - control.share) / (1.0 - control.share)
        if method == "katz":
            value = unshrunk
            low, high = _katz(attack, control, normal_quantile(confidence) * spread)
        else:
            value, half = _propagate_errors(attack, control)
            low, high = value - half * spread, value + half * spread
    return Risk(min(max(value, 0.0), 1.0), _clip_to_unit(low, high), value, unshrunk)


def _propagate_errors(attack: Rate, control: Rate) -> tuple[float, float]:
    """Return the risk of Wilson's centers, and its half width by propagation of errors."""
    left = 1.0 - control.centre
    by_attack = attack.half_width / left
    by_control = control.half_width * (1.0 - attack.centre) / left**2
    return (attack.centre - control.centre) / left, math.hypot(by_attack, by_control)


def _katz(attack: Rate, control: Rate, z: float) -> tuple[float, float]:
    """Return the interval of 1 minus the ratio of failures, with no success counted as 0.5."""
    p, c = (min(max(r.n_success, 0.5), r.n - 0.5) / r.n for r in (attack, control))
    error = math.sqrt(p / (attack.n * (1.0 - p)) + c / (control.n * (1.0 - c)))
    all_succeed = attack.n_success >= attack.n
    failures = 1.0 - (p if all_succeed else attack.share)
    middle = math.log(failures / (1.0 - control.share))
    high = 1.0 if all_succeed else 1.0 - math.exp(middle - z * error)
    return 1.0 - math.exp(middle + z * error), high


def risks_by_counts(
    n_success: np.ndarray,
    n_control: np.ndarray,
    n: float,
    *,
    method: str = "anonymeter",
    confidence: float = 0.95,
) -> np.ndarray:
    """Return the values of :func:`residual_risk` for many pairs of counts."""
    extra = 0.0 if method == "katz" else normal_quantile(confidence) ** 2
    p, c = ((count + extra / 2.0) / (n + extra) for count in (n_success, n_control))
    with np.errstate(divide="ignore", invalid="ignore"):
        risks = np.clip((p - c) / (1.0 - c), 0.0, 1.0)
    return np.where(n_control >= n * (1.0 - NOISE), np.nan, risks)


def is_weak(attack: Rate, baseline: Rate) -> bool:
    """Return whether an attack is no better than guessing, so that a low risk means nothing."""
    return attack.centre <= baseline.centre


def risk_level(value: float, levels: Sequence[float] = RISK_LEVELS) -> str:
    """Return "low" below the first bound, "high" above the second bound, or "medium"."""
    return "low" if value < levels[0] else "medium" if value <= levels[1] else "high"


def random_link_rate(n_rows: int, k: int) -> float:
    """Return the probability that two random sets of `k` of `n_rows` rows share a row."""
    if 2 * k > n_rows:
        return 1.0
    if k == 1:
        return 1.0 / n_rows
    apart = 2 * gammaln(n_rows - k + 1) - gammaln(n_rows - 2 * k + 1) - gammaln(n_rows + 1)
    return float(-np.expm1(apart))
