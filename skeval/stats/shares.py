"""The share of synthetic rows closer to train than to the holdout, and how sure it is."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.stats import norm

from skeval.stats.proximity import permutation_variance, share_standard_error

__all__ = ["TrainShare", "share_of_mass"]


@dataclass(frozen=True)
class TrainShare:
    """The share of synthetic rows closer to train, over one or several draws of the rows.

    Parameters
    ----------
    of_draws : tuple of float
        The share in each draw.
    masses : tuple of ndarray of shape (n_train + n_holdout,)
        By draw, the share of the synthetic rows whose nearest real row is this one, train first;
        empty where labels cannot be exchanged, so that there is no null.
    n_train : int
        Number of train rows in a draw.

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.stats.shares import TrainShare
    >>> share = TrainShare((0.75,), (np.array([0.5, 0.25, 0.25, 0.0]),), n_train=2)
    >>> round(share.z, 2), round(share.p_value, 2)
    (1.22, 0.11)
    """

    of_draws: tuple[float, ...]
    masses: tuple[np.ndarray, ...]
    n_train: int

    @property
    def value(self) -> float:
        """The mean over the draws."""
        return float(np.mean(self.of_draws))

    @property
    def standard_error(self) -> float:
        """Standard error, each table being a sample; draws of the same rows do not lower it."""
        return float(np.mean([share_standard_error(a, self.n_train) for a in self.masses]))

    @property
    def null_standard_error(self) -> float:
        """Standard deviation over all relabellings of the real rows."""
        variances = [permutation_variance(a, self.n_train) for a in self.masses]
        return float(np.mean(np.sqrt(variances)))

    @property
    def z(self) -> float:
        """Excess over the expected share in standard errors; nan where all labels give the same."""
        null = self.null_standard_error
        excess = [float(a[: self.n_train].sum()) - self.n_train / a.size for a in self.masses]
        return float(np.mean(excess)) / null if null > 0 else float("nan")

    @property
    def p_value(self) -> float:
        """One-sided p-value of the normal approximation; 1 where all labels give the same."""
        return 1.0 if np.isnan(self.z) else float(norm.sf(self.z))

    def half_width(self, n_shares: int = 1) -> float:
        """Return the half width of the 95% interval, or of one of several simultaneous ones.

        Near 0 and 1 the standard error vanishes: there the rule of three holds, on the real rows
        that were met.
        """
        tail = 0.05 / n_shares
        met = float(np.mean([(a**2).sum() for a in self.masses]))
        return max(float(norm.isf(tail / 2.0)) * self.standard_error, -float(np.log(tail)) * met)


def share_of_mass(masses: np.ndarray, n_train: int) -> float:
    """Return the mass on train; being a sum of many 1/n, it is rounded to keep "all" at 1."""
    return round(float(masses[:n_train].sum()), 12)
