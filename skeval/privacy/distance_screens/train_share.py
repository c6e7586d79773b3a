"""Fraction of synthetic rows closer to training rows, with its error and its test."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np
from scipy.stats import norm

from skeval.results.verdict import Contrast
from skeval.stats.permutation_tests import (
    Relabelled,
    block_sizes,
    least_p_value,
    sequential_test,
    shuffle_labels,
)
from skeval.stats.smallest_leaks import smallest_leak, smallest_shift

_MIN_MASSES = 100  # real rows of similar mass whose sum is close to normal
_N_PERMUTATIONS, _BLOCK = 9999, 1000
_LABELS = 2**21  # in memory at the same time
CLOSER = "synthetic rows closer to train than to the holdout"


@dataclass(frozen=True)
class TrainShare:
    """Fraction of synthetic rows closer to the training data, over one or several draws."""

    of_draws: tuple[float, ...]
    masses: tuple[np.ndarray, ...]
    n_train: int
    name: str = ""

    @property
    def value(self) -> float:
        """The mean over the draws."""
        return float(np.mean(self.of_draws))

    @property
    def contrast(self) -> Contrast:
        """Tested fraction, with ties divided evenly, and its expectation over relabelings."""
        on_train = [float(a[: self.n_train].sum()) for a in self.masses]
        expected = [self.n_train / a.size for a in self.masses]
        # sums of many 1/n are rounded
        shares = round(float(np.mean(on_train)), 12), float(np.mean(expected))
        tests = (self.name,) if self.name else ()
        return Contrast(CLOSER, *shares, tests=tests, least_p=self.least_p)

    @property
    def least_p(self) -> float:
        """Smallest possible p-value for a fraction of training rows."""
        n_real = min(a.size for a in self.masses)
        return least_p_value(self.n_train, n_real - self.n_train)

    @property
    def standard_error(self) -> float:
        """Standard error if each table is a sample. More draws do not lower it."""
        return float(np.mean([share_standard_error(a, self.n_train) for a in self.masses]))

    @property
    def null_standard_error(self) -> float:
        """Standard deviation over all relabelings of the real rows."""
        variances = [permutation_variance(a, self.n_train) for a in self.masses]
        return float(np.mean(np.sqrt(variances)))

    @property
    def z(self) -> float:
        """Excess over the expected fraction in standard errors, or nan if it is constant."""
        null = self.null_standard_error
        excess = [float(a[: self.n_train].sum()) - self.n_train / a.size for a in self.masses]
        return float(np.mean(excess)) / null if null > 0 else float("nan")

    @property
    def p_value(self) -> float:
        """One-sided p-value of the normal approximation, or 1 if all labels give the same.

        If the synthetic rows are close to few real rows, random relabelings give the p-value.
        """
        if np.isnan(self.z):
            return 1.0
        if self._is_normal:
            return max(float(norm.sf(self.z)), self.least_p)  # a sum of few masses is not normal
        p_values = [test.p_value for test in self._relabelings]
        # draws depend on each other in an unknown way, but twice the mean is valid in any case
        return p_values[0] if len(p_values) == 1 else min(1.0, 2.0 * float(np.mean(p_values)))

    @property
    def _is_normal(self) -> bool:
        """Whether the sum has enough real rows for the normal approximation."""
        return min(1.0 / float(a @ a) for a in self.masses) >= _MIN_MASSES

    @cached_property
    def _relabelings(self) -> list[Relabelled]:
        return [relabelled_test(a, self.n_train) for a in self.masses]

    def smallest_leak(self) -> dict[str, Any]:
        """Return the smallest excess of the share that the test of one draw finds."""
        if len(self.masses) != 1 or not (spread := self.null_standard_error) > 0.0:
            return {}
        upper = None if self._is_normal else self._relabelings[0].upper_deviation
        excess = partial(smallest_shift, spread=spread, upper=upper)
        return {"smallest_leak": smallest_leak(excess, self.contrast.expected)}

    def errors(self) -> dict[str, float]:
        """Return z and both standard errors, or nothing if there is no null distribution."""
        if not self.masses:
            return {}
        return {
            "z": self.z,
            "standard_error": self.standard_error,
            "null_standard_error": self.null_standard_error,
        }

    def half_width(self, n_shares: int = 1) -> float:
        """Return the half width of the 95% interval, or of one of several simultaneous ones."""
        # Near 0 and 1 the standard error vanishes, so the rule of three is applied to the real rows
        # that are nearest neighbors.
        tail = 0.05 / n_shares
        met = float(np.mean([(a**2).sum() for a in self.masses]))
        return max(float(norm.isf(tail / 2.0)) * self.standard_error, -float(np.log(tail)) * met)


def closer_share(closer: np.ndarray, tied: np.ndarray, *, ties: float) -> float:
    """Return the fraction of rows closer to training than to holdout rows. A tie counts `ties`."""
    return float(np.mean(closer) + ties * np.mean(tied))


def permutation_variance(masses: np.ndarray, n_train: int) -> float:
    """Return the variance of the mass on training rows, over all relabelings of the real rows."""
    n = masses.size
    if n < 2:
        return 0.0
    pi = n_train / n
    return float(pi * (1 - pi) * n / (n - 1) * max(0.0, (masses**2).sum() - 1.0 / n))


def share_standard_error(masses: np.ndarray, n_train: int) -> float:
    """Return the standard error of the mass on training rows if each table is a sample."""
    # `SE^2 = (1 - p)^2 n_T s_T^2 + p^2 n_H s_H^2`, where s^2 are the variances of the masses within
    # each table. More synthetic rows do not reduce it to 0, because the number of real rows limits
    # the evidence.
    train, holdout = masses[:n_train], masses[n_train:]
    p = float(train.sum())
    # the variance of a single row's mass cannot be estimated, but the square of the mass bounds it
    spread = [
        part.size * part.var(ddof=1) if part.size > 1 else float(part.sum() ** 2)
        for part in (train, holdout)
    ]
    return float(np.sqrt((1.0 - p) ** 2 * spread[0] + p**2 * spread[1]))


def relabelled_test(masses: np.ndarray, n_train: int) -> Relabelled:
    """Test the fraction of training rows against random choices of the training rows, one-sided."""
    rng, labels = np.random.default_rng(0), np.arange(masses.size) < n_train
    ordered = np.sort(masses)  # so that the order of the rows does not matter
    width = max(1, _LABELS // masses.size)

    def shares(n: int) -> np.ndarray:
        parts = [ordered @ shuffle_labels(labels, m, rng) for m in block_sizes(n, width)]
        return np.concatenate(parts)

    observed = float(masses[:n_train].sum())
    return sequential_test(observed, map(shares, block_sizes(_N_PERMUTATIONS, _BLOCK)))
