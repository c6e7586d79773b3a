"""Regressions without penalty, with intervals even if some coefficients are not determined.

The results differ from statsmodels for collinear columns, whose coefficients have arbitrary values
there, and for separated labels, for which the logistic regression of statsmodels has no
coefficients.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit
from scipy.stats import norm, t

_RANK = 1e-10  # singular values below this fraction of the maximum are 0
_FREE = 1e-6  # coefficients with a larger part in a direction without rows are not determined
_EXACT = 1e-12  # residuals below this fraction of the target are rounding errors
_FLAT = 1e-12  # a likelihood with less curvature has no maximum
_SURE = 1e-8  # probabilities this close to the label contain no information
_STEP = 1e-9
_MAX_STEPS = 100


@dataclass(frozen=True)
class Regression:
    """Coefficients of one regression, with their intervals."""

    estimates: np.ndarray
    errors: np.ndarray
    low: np.ndarray
    high: np.ndarray
    n_rows: int
    separated: bool = False

    @property
    def is_determined(self) -> np.ndarray:
        """Which coefficients have an interval."""
        return np.asarray(np.isfinite(self.high - self.low) & (self.high > self.low))

    def coefficient_details(self, i: int) -> dict[str, float]:
        """Return a coefficient with its standard error and interval for details."""
        ends = {"low": float(self.low[i]), "high": float(self.high[i])}
        return {"estimate": float(self.estimates[i]), "error": float(self.errors[i]), **ends}


def with_intervals(
    estimates: np.ndarray, errors: np.ndarray, quantile: float, n_rows: int, separated: bool = False
) -> Regression:
    """Return coefficients with intervals of `quantile` standard errors to each side."""
    half = quantile * errors
    return Regression(estimates, errors, estimates - half, estimates + half, n_rows, separated)


def basis_of(design: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return an orthonormal basis of the columns of a design of at least one row and column."""
    # The basis has shape (n_rows, rank). Also returned are the matrix of shape (n_columns, rank)
    # that maps coordinates in the basis to coefficients, and a mask of the coefficients that the
    # rows do not determine.
    scales = np.linalg.norm(design, axis=0)
    scales = np.where(scales > 0.0, scales, 1.0)
    rows, triangle = np.linalg.qr(design / scales)
    turned, sizes, right = np.linalg.svd(triangle, full_matrices=False)
    kept = sizes > _RANK * sizes[0] if sizes[0] > 0.0 else np.zeros(sizes.size, dtype=bool)
    right = right[kept]
    free = np.sqrt(np.maximum(0.0, 1.0 - (right**2).sum(axis=0)))
    back = (right / sizes[kept, None]).T / scales[:, None]
    return rows @ turned[:, kept], back, free > _FREE


def least_squares(design: np.ndarray, target: np.ndarray, confidence: float = 0.95) -> Regression:
    """Regress numbers by least squares, with intervals of Student's t."""
    n_rows, n_columns = design.shape
    if n_rows == 0 or n_columns == 0:
        nothing = np.full(n_columns, np.nan)
        return with_intervals(nothing, nothing, 1.0, n_rows)
    vectors, back, is_free = basis_of(design)
    places = vectors.T @ target
    residuals = target - vectors @ places
    freedom = n_rows - vectors.shape[1]
    unexplained = float(residuals @ residuals)
    if unexplained <= (_EXACT * float(np.linalg.norm(target))) ** 2:
        unexplained = 0.0
    variance = unexplained / freedom if freedom > 0 else np.nan
    estimates = np.where(is_free, np.nan, back @ places)
    errors = np.sqrt(variance * (back**2).sum(axis=1))
    quantile = float(t.ppf((1.0 + confidence) / 2.0, freedom)) if freedom > 0 else np.nan
    return with_intervals(estimates, np.where(is_free, np.nan, errors), quantile, n_rows)


def n_rows_behind(design: np.ndarray) -> np.ndarray:
    """Return the effective number of rows that determine each least-squares coefficient."""
    if 0 in design.shape:
        return np.zeros(design.shape[1])
    vectors, back, _ = basis_of(design)
    squares = (vectors @ back.T) ** 2
    squares /= np.maximum(squares.max(axis=0), np.finfo(np.float64).tiny)
    total = (squares**2).sum(axis=0)
    return np.divide(squares.sum(axis=0) ** 2, total, out=np.zeros(total.size), where=total > 0.0)


def logistic(design: np.ndarray, target: np.ndarray, confidence: float = 0.95) -> Regression:
    """Regress labels by maximum likelihood, without penalty, with Wald's intervals."""
    # The likelihood has no maximum if a combination of columns separates some rows. Some
    # coefficients are then infinite. Their rows contain no information about the other
    # coefficients, which are estimated from the remaining rows, if there are any.
    #
    # Source: C. J. Geyer, "Likelihood inference in exponential families and directions of
    # recession", Electronic Journal of Statistics 3 (2009) 259-289, doi:10.1214/08-EJS349.
    n_rows, n_columns = design.shape
    left, rank = np.arange(n_rows), 0
    while left.size and n_columns:
        vectors, back, is_free = basis_of(design[left])
        rank = max(rank, vectors.shape[1])
        places, p, roots = _climb(vectors, target[left])
        if roots is not None:
            z = float(norm.ppf((1.0 + confidence) / 2.0))
            errors = np.sqrt(((back @ roots) ** 2).sum(axis=1))
            estimates = np.where(is_free, np.nan, back @ places)
            # distant rows may also be separated although all coefficients are determined
            separated = vectors.shape[1] < rank
            return with_intervals(
                estimates, np.where(is_free, np.nan, errors), z, n_rows, separated
            )
        sure = np.abs(target[left] - p) < _SURE
        if not sure.any():  # the problem is rounding, not separation
            break
        left = left[~sure]
    nothing = np.full(n_columns, np.nan)
    return with_intervals(nothing, nothing, 1.0, n_rows, separated=left.size == 0 < n_rows)


def _climb(
    vectors: np.ndarray, target: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """Maximize the likelihood over coordinates, and stop when it no longer increases."""
    # Returns coordinates, probabilities, and a root of the covariance of the coordinates, whose
    # product with its transpose is the covariance. The root is None if the likelihood has no
    # maximum.
    places = np.zeros(vectors.shape[1])
    signs = 2.0 * target - 1.0
    for _ in range(_MAX_STEPS):
        logits = vectors @ places
        p = expit(logits)
        weights = p * expit(-logits)
        bends, axes = np.linalg.eigh(vectors.T @ (vectors * weights[:, None]))
        if bends.size and bends[0] < _FLAT:
            break
        roots = axes / np.sqrt(bends)
        step = roots @ (roots.T @ (vectors.T @ (target - p)))
        if np.abs(vectors @ step).max(initial=0.0) <= _STEP:
            return places, p, roots
        places = places + _halve_step(vectors, signs, places, step)
    return places, p, None


def _halve_step(
    vectors: np.ndarray, signs: np.ndarray, places: np.ndarray, step: np.ndarray
) -> np.ndarray:
    """Halve a step until the likelihood does not decrease."""

    def likelihood(at: np.ndarray) -> float:
        return -float(np.logaddexp(0.0, -signs * (vectors @ at)).sum())

    least = likelihood(places)
    least -= 1e-10 * (1.0 + abs(least))
    while likelihood(places + step) < least:
        step = 0.5 * step
    return step
