"""Rules that tell two worlds apart by a score, chosen on some runs and held against others."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import betaincinv
from scipy.stats import norm

from skeval.stats.dp_audit import gdp_epsilon, gdp_mu, two_world_epsilon
from skeval.stats.roc import Rates, rates_at, roc_curve

__all__ = ["Level", "Rule", "best_rule"]

_LEAST_LEVEL = 1e-12
_PRUDENT = 0.8  # by simulation: good at 60 and at 400 runs


@dataclass(frozen=True)
class Level:
    """Of what a bound is a bound, and how sure.

    Attributes
    ----------
    delta : float
        Of the (epsilon, delta).
    confidence : float
        How often the bound holds.
    method : {"cp", "gdp"}
        Whether it holds for any mechanism, or one whose trade-off function is Gaussian.
    """

    delta: float
    confidence: float
    method: str

    def bound(self, rates: Rates, confidence: float | None = None) -> float:
        """Return the bound of epsilon that a rule's right and wrong calls give."""
        confidence = self.confidence if confidence is None else confidence
        counts = (
            rates.true_positives,
            rates.n_positives,
            rates.false_positives,
            rates.n_negatives,
        )
        if self.method == "gdp":
            return gdp_epsilon(self.delta, gdp_mu(*counts, confidence=confidence))
        return two_world_epsilon(*counts, delta=self.delta, confidence=confidence)

    def ceiling(self, n_runs: int) -> float:
        """Return the bound of a rule that is never wrong."""
        return self.bound(Rates(n_runs, n_runs, 0, n_runs))

    def p_value(self, rates: Rates, epsilon: float) -> float:
        """Return the least level at which the bound is above an epsilon; 1 if it is at none."""
        if not self.bound(rates, 0.0) > epsilon:
            return 1.0
        low, high = np.log(_LEAST_LEVEL), 0.0
        for _ in range(50):
            middle = (low + high) / 2.0
            above = self.bound(rates, 1.0 - float(np.exp(middle))) > epsilon
            low, high = (low, middle) if above else (middle, high)
        return float(np.exp(high))

    def promised(
        self, false: np.ndarray, true: np.ndarray, n_pilot: int, n_runs: int
    ) -> np.ndarray:
        """Return what to expect of `n_runs` runs a world, by counts of the pilot runs.

        Of "cp" bounds of epsilon, of "gdp" of mu; below 0 where nothing is promised, so that the
        least bad can be told. Both error rates are put at their upper bounds at `_PRUDENT`: the
        best of many thresholds is more often lucky than good.
        """
        rates = [
            _upper(_upper(wrong, n_pilot, _PRUDENT) * n_runs, n_runs, (1.0 + self.confidence) / 2.0)
            for wrong in (false, n_pilot - true)
        ]
        if self.method == "gdp":
            return np.asarray(norm.isf(rates[0]) - norm.ppf(rates[1]))
        logs = [
            np.log(np.maximum(1.0 - rate - self.delta, 1e-300) / other)
            for rate, other in (rates, rates[::-1])
        ]
        found: np.ndarray = np.maximum(*logs)
        return found


def _upper(k: np.ndarray, n: int, confidence: float) -> np.ndarray:
    """Return Clopper and Pearson's upper bounds of shares, of counts that need not be whole."""
    bound: np.ndarray = betaincinv(k + 1.0, np.maximum(n - k, 1e-9), confidence)
    return np.minimum(np.where(k < n, bound, 1.0), 1.0 - 1e-9)


@dataclass(frozen=True)
class Rule:
    """Take a table for one that was made with the target if sign times score reaches a threshold.

    Attributes
    ----------
    sign : int
        1 or -1.
    threshold : float
        The least such score.
    promised : float
        What :meth:`Level.promised` expects, on its scale; nan if the rule was given.
    """

    sign: int
    threshold: float
    promised: float = float("nan")

    def rates(self, inside: np.ndarray, outside: np.ndarray) -> Rates:
        """Count right and wrong calls of scores of both worlds."""
        return rates_at(self.sign * inside, self.sign * outside, self.threshold)


def best_rule(inside: np.ndarray, outside: np.ndarray, level: Level, n_runs: int) -> Rule:
    """Return the rule that promises the highest bound of `n_runs` further runs a world.

    Parameters
    ----------
    inside, outside : ndarray of shape (n_pilot,)
        Scores of pilot runs with and without the target, equally many.
    level : Level
        What is bounded.
    n_runs : int
        How many runs a world the bound will be taken of.
    """
    rules = []
    for sign in (1, -1):
        curve = roc_curve(sign * inside, sign * outside)
        promised = level.promised(curve.false_positives, curve.true_positives, inside.size, n_runs)
        # a rule that calls all tables alike, as the first and the last do, tells nothing
        inner = slice(1, max(2, promised.size - 1))
        best = int(np.argmax(promised[inner])) + 1
        found, below = curve.thresholds[best], curve.thresholds[min(best + 1, promised.size - 1)]
        middle = (found + below) / 2.0
        threshold = float(middle if np.isfinite(middle) else found)
        rules.append(Rule(sign, threshold, float(promised[best])))
    return max(rules, key=lambda rule: rule.promised)
