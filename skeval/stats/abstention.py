"""The success of an attacker who makes only the most confident guesses."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from skeval.stats.risks import attack_rate

SHARES = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)  # fractions of guesses, the most confident first
_MIN_RECALL, _RECALL_POWER = 1e-4, 3  # constants of the published precision-recall coefficient
_WIDEST = 0.5  # a precision with a wider interval is ignored


def among_surest(confidence: np.ndarray, shares: Sequence[float] = SHARES) -> np.ndarray:
    """Return which guesses are among the most confident ones, shape (n, n_shares)."""
    _, level, counts = np.unique(-confidence, return_inverse=True, return_counts=True)
    surer = np.cumsum(counts) - counts
    n_given = np.maximum(1.0, np.round(np.asarray(shares) * confidence.size))
    return np.asarray(np.clip((n_given - surer[:, None]) / counts[:, None], 0.0, 1.0)[level])


@dataclass(frozen=True)
class Abstention:
    """Success of the most confident guesses of an attacker, for several fractions of them."""

    train: np.ndarray
    holdout: np.ndarray
    pooled: np.ndarray
    p_values: np.ndarray
    clearest: int

    @property
    def p_value(self) -> float:
        """The p-value of all fractions together."""
        return float(self.p_values.min())

    @property
    def anonymity_loss(self) -> float:
        """The anonymity loss coefficient, which :func:`abstaining_test` defines."""
        attack, baseline = (best_coefficient(*part) for part in (self.train, self.holdout))
        return (attack - baseline) / (1.0 - baseline)

    def to_dict(self) -> dict[str, Any]:
        """Return the fields for the details of a result."""
        by_share = zip(
            SHARES, self.train.T, self.holdout.T, self.pooled.T, self.p_values, strict=True
        )
        return {
            "p_value": self.p_value,
            "anonymity_loss": self.anonymity_loss,
            "clearest": SHARES[self.clearest],
            "by_share": [
                {
                    "share": share,
                    "train": {"n": float(train[0]), "n_right": float(train[1])},
                    "holdout": {"n": float(holdout[0]), "n_right": float(holdout[1])},
                    "of_all": {"train": float(pooled[0]), "holdout": float(pooled[1])},
                    "p_value": float(p_value),
                }
                for share, train, holdout, pooled, p_value in by_share
            ],
        }


def best_coefficient(n_given: np.ndarray, n_right: np.ndarray) -> float:
    """Get the largest precision-recall coefficient of several fractions, the last of which is 1."""
    best = 0.0
    for n, right in zip(n_given, n_right, strict=True):
        rate = attack_rate(min(float(right), float(n)), float(n))
        if 2.0 * rate.half_width < _WIDEST:
            lost = math.log(n / n_given[-1]) / math.log(_MIN_RECALL)
            best = max(best, (1.0 - lost**_RECALL_POWER) * rate.centre)
    return best
