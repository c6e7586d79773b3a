"""Densities of rows, estimated in a few coordinates with the largest synthetic variance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from skeval.core.context import Context, shared
from skeval.steps.column_choice import ColumnChoice
from skeval.steps.member_rows import nominal_features, plain_rows
from skeval.steps.samples import sample_positions
from skeval.tables.preprocessing import OneHot

MAX_CENTRES = 5000  # maximum number of rows for the estimate of a density
_LARGEST = 1e6  # maximum of coordinates in standard deviations
_BLOCK = 48  # points per step, so that their kernels stay in the cache
_RIDGE = 1e-6
_MAX_COMPONENTS = 5  # maximum number of Gaussians of a mixture
_MIN_SPREAD = 1e-9  # an axis with a smaller variance, relative to the largest, is ignored


@dataclass(frozen=True)
class VectorSpace:
    """Transformation of plain rows to a few coordinates with synthetic variance 1."""

    encoder: OneHot
    axes: Axes

    def vectors(self, rows: np.ndarray) -> np.ndarray:
        """Return the coordinates of plain rows."""
        return self.axes.project(_clip_features(self.encoder.transform(rows)))


def _clip_features(features: np.ndarray) -> np.ndarray:
    return np.clip(features, -_LARGEST, _LARGEST)


@shared
def density_rows(context: Context, space: Any, columns: ColumnChoice) -> np.ndarray:
    """Return at most 5,000 plain synthetic rows for the estimate of densities.

    Their order does not depend on the order of the table, because sums depend on the order.
    """
    rows = plain_rows(context, "synthetic", space, columns)
    ordered: np.ndarray = rows[np.lexsort(rows.T[::-1])]
    return ordered[sample_positions(len(ordered), MAX_CENTRES, 0)]


@shared
def vector_space(context: Context, space: Any, columns: ColumnChoice) -> VectorSpace:
    """Return the coordinates in which densities are estimated, learned from the synthetic rows."""
    rows = density_rows(context, space, columns)
    encoder = OneHot.from_rows(rows, nominal_features(context, space, columns, rows.shape[1]))
    return VectorSpace(encoder, Axes.from_rows(_clip_features(encoder.transform(rows))))


def log_density(kind: str, points: np.ndarray, sample: np.ndarray, seed: int) -> np.ndarray:
    """Return the log of a density at points, estimated from a sample."""
    # `kind` is "kde" for Gaussian kernels, "gmm" for a mixture of at most five Gaussians,
    # which starts from `seed`, or "gaussian" for one with independent coordinates.
    if kind == "gmm":
        return mixture_log_density(points, sample, seed=seed)
    estimate = diagonal_log_density if kind == "gaussian" else kernel_log_density
    return estimate(points, sample)


@dataclass(frozen=True)
class Axes:
    """Principal axes of a sample, scaled such that its variance is 1 along each axis."""

    centre: np.ndarray
    axes: np.ndarray

    @classmethod
    def from_rows(cls, sample: np.ndarray, most: int = 10) -> Axes:
        """Find at most `most` axes of largest variance, or no axis if the sample does not vary."""
        centre = sample.mean(axis=0)
        values, vectors = np.linalg.eigh(_covariance(sample))
        kept = np.flatnonzero(values > _MIN_SPREAD * max(values.max(initial=0.0), 1e-300))
        kept = kept[::-1][: min(most, max(len(sample) - 1, 0))]
        return cls(centre, vectors[:, kept] / np.sqrt(values[kept]))

    def project(self, rows: np.ndarray) -> np.ndarray:
        """Return the rows' coordinates along the axes."""
        return np.asarray((rows - self.centre) @ self.axes)


def _covariance(sample: np.ndarray) -> np.ndarray:
    centred = sample - sample.mean(axis=0)
    return np.asarray(centred.T @ centred / max(len(sample) - 1, 1))


def kernel_log_density(points: np.ndarray, centres: np.ndarray) -> np.ndarray:
    """Return the log of a Gaussian kernel density, with the covariance of its centres."""
    # Source: D. W. Scott, "Multivariate density estimation", Wiley 1992,
    # doi:10.1002/9780470316849.
    n, d = centres.shape
    covariance = (_covariance(centres) + _RIDGE * np.eye(d)) * n ** (-2.0 / (d + 4.0))
    root = np.linalg.cholesky(covariance)
    distinct, place = np.unique(points, axis=0, return_inverse=True)
    whitened = np.linalg.solve(root, centres.T)
    lengths, logs = (whitened**2).sum(axis=0) / 2.0, []
    exponents, kernels = np.empty((_BLOCK, n)), np.empty((_BLOCK, n), dtype=np.float32)
    # blocks are filled up because the order of a sum depends on the shape, which would break ties
    filled = np.zeros((max(1, -(-len(distinct) // _BLOCK)) * _BLOCK, d))
    filled[: len(distinct)] = distinct
    for part in np.split(filled, len(filled) // _BLOCK):
        block = np.linalg.solve(root, part.T).T
        np.matmul(block, whitened, out=exponents)
        exponents -= lengths  # the query's own square is subtracted afterwards
        top = exponents.max(axis=1)
        exponents -= top[:, None]
        # float32 has seven digits of a kernel, and its exponential takes a quarter of the time
        np.exp(exponents, out=kernels, dtype=np.float32, casting="same_kind")
        own = (block**2).sum(axis=1) / 2.0
        logs.append(np.log(kernels.sum(axis=1, dtype=np.float64)) + top - own)
    constant = np.log(n) + d * np.log(2.0 * np.pi) / 2.0 + np.log(np.diag(root)).sum()
    return np.asarray(np.concatenate(logs)[place.ravel()] - constant)


def mixture_log_density(points: np.ndarray, sample: np.ndarray, seed: int = 0) -> np.ndarray:
    """Return the log density of a Gaussian mixture that was fitted on a sample."""
    from sklearn.mixture import GaussianMixture

    n_components = max(1, min(_MAX_COMPONENTS, len(sample) // 20))
    mixture = GaussianMixture(n_components, reg_covar=1e-4, random_state=seed).fit(sample)
    distinct, place = np.unique(points, axis=0, return_inverse=True)
    return np.asarray(mixture.score_samples(distinct)[place.ravel()])


def diagonal_log_density(points: np.ndarray, sample: np.ndarray) -> np.ndarray:
    """Return the log density of the Gaussian that has the mean and variances of a sample."""
    variances = sample.var(axis=0, ddof=1) + _RIDGE
    squares = (points - sample.mean(axis=0)) ** 2 / variances
    return np.asarray(-(squares + np.log(2.0 * np.pi * variances)).sum(axis=1) / 2.0)
