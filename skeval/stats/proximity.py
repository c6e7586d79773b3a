"""Proximity ratios, shares of nearest records, and how sure of them one can be."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.stats import norm


def ratios(distances: np.ndarray, base: np.ndarray) -> np.ndarray:
    """Return distances relative to base distances; 0/0 is 1, x/0 is infinite.

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.stats.proximity import ratios
    >>> ratios(np.array([1.0, 0.0, 2.0]), np.array([2.0, 0.0, 0.0]))
    array([0.5, 1. , inf])
    """
    out = np.full(distances.shape, np.inf)
    np.divide(distances, base, out=out, where=base > 0)
    out[(base == 0) & (distances == 0)] = 1.0
    return out


@dataclass(frozen=True)
class Proximity:
    """The tail of two samples of proximity ratios: `threshold` and the shares at or under it."""

    threshold: float
    p_synthetic: float
    p_real: float

    @property
    def ratio(self) -> float:
        """Return p_real / p_synthetic; infinite if no synthetic ratio lies in the tail."""
        return self.p_real / self.p_synthetic if self.p_synthetic > 0 else float("inf")


def proximity(to_synthetic: np.ndarray, to_real: np.ndarray, q: float) -> Proximity:
    """Return the shares of ratios within the q-quantile of those to real rows.

    Parameters
    ----------
    to_synthetic, to_real : ndarray of shape (n,)
        For each real row, the ratio of its distance to the nearest synthetic (other real) row to
        its distance to the nearest row of its own table.
    q : float
        In (0, 1). The quantile is an order statistic: the least ratio to real rows with at least a
        share of q at or under it.

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.stats.proximity import proximity
    >>> to_synthetic = np.array([.05, .2, .3, .9, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6])
    >>> to_real = np.array([.25, .5, .6, .8, 1, 1.1, 1.2, 1.3, 1.4, 2])
    >>> proximity(to_synthetic, to_real, q=0.1)
    Proximity(threshold=0.25, p_synthetic=0.2, p_real=0.1)
    """
    threshold = float(np.quantile(to_real, q, method="inverted_cdf"))
    return Proximity(
        threshold, float(np.mean(to_synthetic <= threshold)), float(np.mean(to_real <= threshold))
    )


def proximity_covariance(to_synthetic: np.ndarray, to_real: np.ndarray, q: float) -> float:
    """Return the variance of the share of synthetic ratios in the tail, by linearisation.

    Parameters
    ----------
    to_synthetic, to_real : ndarray of shape (n,)
        Proximity ratios, row by row.
    q : float
        The share of real ratios that defines the tail.

    Returns
    -------
    float

    Notes
    -----
    The threshold is estimated from the same rows, and the share of real ratios is fixed near q, so
    the two shares are no independent counts. To first order (Bahadur) the synthetic share is the
    mean of ``1(TSPR_i <= t) - rho 1(TTPR_i <= t)``, rho the slope of the synthetic share against
    the real one at q, here a symmetric difference over ``p_real +- h``.
    """
    n, tail = to_real.size, proximity(to_synthetic, to_real, q)
    p_s, p_t, t = tail.p_synthetic, tail.p_real, tail.threshold
    both = float(np.mean((to_synthetic <= t) & (to_real <= t)))
    rho = _slope(to_synthetic, to_real, p_t, max(0.04, 4.0 / n))
    variance = p_s * (1 - p_s) + rho**2 * p_t * (1 - p_t) - 2 * rho * (both - p_s * p_t)
    return max(0.0, variance) / n


def _slope(to_synthetic: np.ndarray, to_real: np.ndarray, p: float, h: float) -> float:
    levels = np.clip([p - h, p + h], 0.0, 1.0)
    low, high = np.quantile(to_real, levels, method="inverted_cdf")
    realised = float(np.mean(to_real <= high) - np.mean(to_real <= low))
    change = float(np.mean(to_synthetic <= high) - np.mean(to_synthetic <= low))
    return change / realised if realised > 0 else 0.0


def proximity_bootstrap(
    to_synthetic: np.ndarray,
    to_real: np.ndarray,
    q: float,
    n_bootstrap: int,
    rng: np.random.Generator,
) -> tuple[np.ndarray, np.ndarray]:
    """Return bootstrap replicates of the tail shares (synthetic, real), shape (n_bootstrap,) each.

    Rows are resampled, and with them both of their ratios; the threshold is estimated anew.
    """
    n = to_real.size
    by_real, by_synthetic = (
        np.argsort(to_real, kind="stable"),
        np.argsort(to_synthetic, kind="stable"),
    )
    real, synthetic = to_real[by_real], to_synthetic[by_synthetic]
    need = int(np.ceil(round(n * q, 9)))
    shares = np.empty((2, n_bootstrap))
    for b in range(n_bootstrap):
        drawn = np.bincount(rng.integers(0, n, n), minlength=n)
        below_real, below_synthetic = np.cumsum(drawn[by_real]), np.cumsum(drawn[by_synthetic])
        threshold = real[np.searchsorted(below_real, max(need, 1))]
        last_synthetic = np.searchsorted(synthetic, threshold, side="right")
        last_real = np.searchsorted(real, threshold, side="right")
        shares[0, b] = below_synthetic[last_synthetic - 1] / n if last_synthetic else 0.0
        shares[1, b] = below_real[last_real - 1] / n
    return shares[0], shares[1]


def null_clipped_mean(p_real: float, p_both: float, n: int) -> float:
    """Return the mean of min(1, p_real / p_synthetic) if the synthetic table is a fresh sample.

    Parameters
    ----------
    p_real : float
        Share of real ratios in the tail.
    p_both : float
        Share of rows for which two independent fresh samples both have a ratio in the tail.
    n : int
        Number of rows.

    Returns
    -------
    float
        Below 1, because the ratio is clipped there.
    """
    variance = 2.0 * (p_real * (1.0 - p_real) - (p_both - p_real**2)) / n
    spread = np.sqrt(max(0.0, variance))
    draws = p_real + spread * norm.ppf((np.arange(2000) + 0.5) / 2000)
    return float(np.mean(np.minimum(1.0, p_real / np.maximum(draws, 0.5 / n))))


def closer_share(to_train: np.ndarray, to_holdout: np.ndarray, *, ties: float) -> float:
    """Return the share of rows closer to train than to holdout; `ties` is what a tie counts.

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.stats.proximity import closer_share
    >>> closer_share(np.array([0, 0.2, 1, 11]), np.array([2, 0.8, 1, 8]), ties=0.5)
    0.625
    """
    return float(np.mean(to_train < to_holdout) + ties * np.mean(to_train == to_holdout))


def permutation_variance(masses: np.ndarray, n_train: int) -> float:
    """Return the variance of the share of mass on train, over all relabellings of the real rows.

    Parameters
    ----------
    masses : ndarray of shape (n_train + n_holdout,)
        Share of the synthetic rows whose nearest real row is this one; they sum to 1.
    n_train : int
        How many of the real rows are labelled train.

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.stats.proximity import permutation_variance
    >>> round(permutation_variance(np.array([0.5, 0.25, 0.25, 0.0]), n_train=2), 7)
    0.0416667
    """
    n = masses.size
    if n < 2:
        return 0.0
    pi = n_train / n
    return float(pi * (1 - pi) * n / (n - 1) * max(0.0, (masses**2).sum() - 1.0 / n))


def share_standard_error(masses: np.ndarray, n_train: int) -> float:
    """Return the standard error of the share of mass on train, each table being a sample.

    Parameters
    ----------
    masses : ndarray of shape (n_train + n_holdout,)
        Share of the synthetic rows whose nearest real row is this one, those of train first.
    n_train : int
        Number of train rows.

    Notes
    -----
    ``SE^2 = (1 - p)^2 n_T s_T^2 + p^2 n_H s_H^2``, s^2 the variances of the masses within each
    table. More synthetic rows do not make it vanish: the evidence is limited by the real rows.
    """
    train, holdout = masses[:n_train], masses[n_train:]
    p = float(train.sum())
    # the variance of a single row's mass cannot be seen: its square bounds it
    spread = [
        part.size * part.var(ddof=1) if part.size > 1 else float(part.sum() ** 2)
        for part in (train, holdout)
    ]
    return float(np.sqrt((1.0 - p) ** 2 * spread[0] + p**2 * spread[1]))
