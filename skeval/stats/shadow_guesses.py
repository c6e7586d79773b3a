"""How often a secret is guessed that was drawn at random, against chance or against a control."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from scipy.stats import binom

from skeval.stats.intervals import clopper_pearson, newcombe
from skeval.stats.relabelling import share_p_value

__all__ = ["Guessing"]


@dataclass(frozen=True)
class Guessing:
    """Guesses of a secret, each value of which was equally likely.

    Attributes
    ----------
    n_right, n : int
        Right guesses, and all, from tables made with the person.
    n_values : int
        Number of values.
    n_right_without, n_without : int
        From tables made without the person; no such tables if 0.
    """

    n_right: int
    n: int
    n_values: int
    n_right_without: int = 0
    n_without: int = 0

    @property
    def by_chance(self) -> float:
        """Share of right guesses to expect without the person."""
        return self.n_right_without / self.n_without if self.n_without else 1.0 / self.n_values

    @property
    def advantage(self) -> float:
        """Share of right guesses beyond that."""
        return self.n_right / self.n - self.by_chance

    @property
    def p_value(self) -> float:
        """One-sided: of the binomial test, or of Fisher's against tables without the person."""
        if self.n_without:
            return share_p_value(self.n_right, self.n, self.n_right_without, self.n_without)
        return float(binom.sf(self.n_right - 1, self.n, 1.0 / self.n_values))

    def interval(self, confidence: float = 0.95) -> tuple[float, float]:
        """Return the interval of the advantage: Clopper and Pearson's, or Newcombe's."""
        if self.n_without:
            return newcombe(self.n_right, self.n, self.n_right_without, self.n_without, confidence)
        low, high = clopper_pearson(self.n_right, self.n, confidence)
        return low - self.by_chance, high - self.by_chance

    def told(self, confidence: float = 0.95) -> dict[str, Any]:
        """Return all of it by name.

        Examples
        --------
        >>> from skeval.stats.shadow_guesses import Guessing
        >>> told = Guessing(15, 20, 4).told()
        >>> told["advantage"], round(told["p_value"], 6)
        (0.5, 4e-06)
        """
        return {
            "accuracy": self.n_right / self.n,
            "accuracy_interval": list(clopper_pearson(self.n_right, self.n, confidence)),
            "by_chance": self.by_chance,
            "advantage": self.advantage,
            "interval": list(self.interval(confidence)),
            "p_value": self.p_value,
        }
