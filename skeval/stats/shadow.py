"""What a game says of its targets: rates, advantage, and the least epsilon that allows them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from skeval.stats.auc import delong
from skeval.stats.dp_audit import two_world_epsilon
from skeval.stats.intervals import newcombe
from skeval.stats.relabelling import share_p_value
from skeval.stats.roc import Rates, rates_at
from skeval.stats.row_scores import difference_interval, row_mean

__all__ = ["Duel", "largest_by_chance", "mean_advantage", "midway"]

_N_DRAWS = 2000


@dataclass(frozen=True)
class Duel:
    """Scores of tables that were made with a target and of tables that were made without it.

    Attributes
    ----------
    inside, outside : ndarray of shape (n_in,), (n_out,)
        The higher, the more likely with it; of independent fits.
    threshold : float
        At or above, a table is called one with the target. Chosen without these tables.
    """

    inside: np.ndarray
    outside: np.ndarray
    threshold: float

    @property
    def rates(self) -> Rates:
        """How many tables are called in."""
        return rates_at(self.inside, self.outside, self.threshold)

    @property
    def advantage(self) -> float:
        """True less false positive rate."""
        return self.rates.tpr - self.rates.fpr

    @property
    def p_value(self) -> float:
        """Of Fisher's test that both rates are equal, one-sided."""
        r = self.rates
        return share_p_value(r.true_positives, r.n_positives, r.false_positives, r.n_negatives)

    def interval(self, confidence: float = 0.95) -> tuple[float, float]:
        """Return Newcombe's interval of the advantage."""
        r = self.rates
        return newcombe(
            r.true_positives, r.n_positives, r.false_positives, r.n_negatives, confidence
        )

    def epsilon(self, confidence: float = 0.95) -> float:
        """Return a lower bound of epsilon, from Clopper and Pearson's bounds of both rates."""
        r = self.rates
        return two_world_epsilon(
            r.true_positives,
            r.n_positives,
            r.false_positives,
            r.n_negatives,
            confidence=confidence,
        )

    def told(self, confidence: float = 0.95) -> dict[str, Any]:
        """Return all of it by name.

        Examples
        --------
        >>> import numpy as np
        >>> from skeval.stats.shadow import Duel
        >>> told = Duel(np.array([0.9, 0.8, 0.2]), np.array([0.3, 0.1]), 0.5).told()
        >>> round(told["advantage"], 4), round(told["privacy_gain"], 4), told["fpr"]
        (0.6667, 0.3333, 0.0)
        """
        rates, area = self.rates, delong(self.inside, self.outside, confidence)
        of_inside, of_outside = rates.intervals(confidence)
        return {
            "tpr": rates.tpr,
            "tpr_interval": list(of_inside),
            "fpr": rates.fpr,
            "fpr_interval": list(of_outside),
            "advantage": self.advantage,
            "interval": list(self.interval(confidence)),
            "p_value": self.p_value,
            "privacy_gain": 1.0 - self.advantage,
            "auc": area.value,
            "auc_interval": list(area.interval),
            "epsilon": self.epsilon(confidence),
        }


def largest_by_chance(rates: Sequence[tuple[float, int, int]], seed: int = 0) -> float:
    """Return what the largest of several differences of shares is on average without a difference.

    Parameters
    ----------
    rates : sequence of (float, int, int)
        For each pair the common share, and the numbers of trials of both.
    seed : int, default=0
        Of 2,000 draws of all counts, as if they were independent.

    Returns
    -------
    float
        0 for one pair.

    Examples
    --------
    >>> from skeval.stats.shadow import largest_by_chance
    >>> round(largest_by_chance([(0.5, 50, 50)] * 5), 2), largest_by_chance([(0.5, 50, 50)])
    (0.12, 0.0)
    """
    if len(rates) < 2:
        return 0.0
    rng = np.random.default_rng(seed)
    differences = [
        rng.binomial(n, share, _N_DRAWS) / n - rng.binomial(m, share, _N_DRAWS) / m
        for share, n, m in rates
    ]
    return float(np.max(differences, axis=0).mean())


def mean_advantage(
    inside: Sequence[np.ndarray],
    outside: Sequence[np.ndarray],
    *,
    shared_inside: bool = False,
    shared_outside: bool = False,
    confidence: float = 0.95,
) -> tuple[float, tuple[float, float]]:
    """Return the mean of several targets' advantages, and its interval.

    Parameters
    ----------
    inside, outside : sequence of ndarray
        For each target which tables with it, and which without it, are called in.
    shared_inside, shared_outside : bool, default=False
        Whether these are the same tables for all targets: they count once then.
    confidence : float, default=0.95
        In (0, 1).

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.stats.shadow import mean_advantage
    >>> yes, no = np.ones(40, dtype=bool), np.zeros(40, dtype=bool)
    >>> value, (low, high) = mean_advantage([yes, no], [no, no], shared_outside=True)
    >>> value, round(low, 2), round(high, 2)
    (0.5, 0.36, 0.61)
    """
    means = []
    for calls, shared in ((inside, shared_inside), (outside, shared_outside)):
        if shared:  # one score a table
            totals = np.sum(calls, axis=0).astype(np.float64)
            counts = np.full(totals.size, len(calls))
        else:
            totals = np.concatenate(calls).astype(np.float64)
            counts = np.ones(totals.size, dtype=np.int64)
        means.append(row_mean((totals, counts), confidence=confidence))
    first, second = means
    value = first.value - second.value
    return value, difference_interval(first.value, first.interval, second.value, second.interval)


def midway(scores: np.ndarray, threshold: float) -> float:
    """Return the middle between a threshold and the next lower score: scores of others differ.

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.stats.shadow import midway
    >>> midway(np.array([0.1, 0.3, 0.7, 0.9]), 0.7), midway(np.array([0.1]), 0.1)
    (0.5, 0.1)
    """
    below = scores[scores < threshold]
    if below.size == 0 or not np.isfinite(threshold):
        return float(threshold)
    return float((threshold + below.max()) / 2.0)
