"""Proximity ratios: distances from training to synthetic rows, relative to other real rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import norm

from skeval.core.context import Context, shared
from skeval.stats.percentiles import ratios
from skeval.steps.encoded_rows import encoded_matrix
from skeval.steps.neighbors import index_of, nearest
from skeval.steps.samples import content_order


@dataclass(frozen=True)
class Ratios:
    """Proximity ratios of the rows of one table. `second_real` uses the second nearest real row."""

    to_synthetic: np.ndarray
    to_real: np.ndarray
    second_real: np.ndarray
    zero_base: float
    n_compared: int


@shared
def holdout_ratios(
    context: Context, match_size: bool, space: Any, columns: Any, seed: int
) -> Ratios:
    """Return the ratios of training rows to the synthetic and to the holdout data."""
    size = min(context.n_rows("synthetic"), context.n_rows("holdout")) if match_size else None
    common: dict[str, Any] = {"space": space, "columns": columns, "seed": seed}
    base, _ = nearest(context, "train", "train", **common)
    synthetic, _ = nearest(context, "train", "synthetic", n_reference=size, **common)
    k = min(2, context.n_rows("holdout") if size is None else size)
    real, _ = nearest(context, "train", "holdout", k=k, n_reference=size, **common)
    n_compared = min(context.n_rows("synthetic"), context.n_rows("holdout"))
    return _ratios(base[:, 0], synthetic[:, 0], real, n_compared)


@shared
def split_ratios(
    context: Context, split: int, match_size: bool, space: Any, columns: Any, seed: int
) -> Ratios:
    """Return the ratios of half of the training data to the synthetic data and the other half."""
    rng = np.random.default_rng([seed, split])
    train, synthetic = (
        encoded_matrix(context, role, space, columns)[content_order(context, role)]
        for role in ("train", "synthetic")
    )
    order = rng.permutation(len(train))
    half = len(train) // 2
    first, second = train[np.sort(order[:half])], train[np.sort(order[half : 2 * half])]
    size = min(half, len(synthetic)) if match_size else None
    if size is not None:
        second = second[np.sort(rng.choice(half, size, replace=False))]
        synthetic = synthetic[np.sort(rng.choice(len(synthetic), size, replace=False))]
    base = index_of(context, first, space, columns).itself(1)[0]
    to_synthetic = index_of(context, synthetic, space, columns).kneighbors(first, 1)[0]
    to_real = index_of(context, second, space, columns).kneighbors(first, min(2, len(second)))[0]
    n_compared = min(len(synthetic), len(second))
    return _ratios(base[:, 0], to_synthetic[:, 0], to_real, n_compared)


def _ratios(base: np.ndarray, synthetic: np.ndarray, real: np.ndarray, n_compared: int) -> Ratios:
    first = ratios(synthetic, base), ratios(real[:, 0], base)
    second = ratios(real[:, -1], base) if real.shape[1] > 1 else np.full(base.shape, np.inf)
    return Ratios(*first, second, float(np.mean(base == 0)), n_compared)


@dataclass(frozen=True)
class Proximity:
    """The lower tail of two samples of proximity ratios, as the fractions up to `threshold`."""

    threshold: float
    p_synthetic: float
    p_real: float

    @property
    def ratio(self) -> float:
        """Return p_real / p_synthetic, or infinity if no synthetic ratio is in the tail."""
        return self.p_real / self.p_synthetic if self.p_synthetic > 0 else float("inf")


def proximity(to_synthetic: np.ndarray, to_real: np.ndarray, q: float) -> Proximity:
    """Return the fractions of ratios up to the q-quantile of the ratios to real rows."""
    threshold = float(np.quantile(to_real, q, method="inverted_cdf"))
    shares = (float(np.mean(x <= threshold)) for x in (to_synthetic, to_real))
    return Proximity(threshold, *shares)


def proximity_covariance(to_synthetic: np.ndarray, to_real: np.ndarray, q: float) -> float:
    """Return the variance of the fraction of synthetic ratios in the tail, by linearization."""
    # The threshold is estimated from the same rows, and the fraction of real ratios is fixed
    # near q, so the two fractions are not independent counts. To first order (Bahadur), the
    # synthetic fraction is the mean of `1(TSPR_i <= t) - rho 1(TTPR_i <= t)`. Here rho is the
    # slope of the synthetic fraction against the real fraction at q, estimated by a symmetric
    # difference over `p_real +- h`.
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
    """Return bootstrap replicates of the synthetic and the real fraction in the tail."""
    # Rows are resampled together with both of their ratios. Each replicate estimates the threshold
    # again.
    n = to_real.size
    by_real, by_synthetic = (np.argsort(x, kind="stable") for x in (to_real, to_synthetic))
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
    """Return the mean of min(1, p_real / p_synthetic) if the synthetic data are a new sample."""
    variance = 2.0 * (p_real * (1.0 - p_real) - (p_both - p_real**2)) / n
    spread = np.sqrt(max(0.0, variance))
    draws = p_real + spread * norm.ppf((np.arange(2000) + 0.5) / 2000)
    return float(np.mean(np.minimum(1.0, p_real / np.maximum(draws, 0.5 / n))))
