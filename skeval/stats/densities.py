"""Log densities of small vectors: kernels, mixtures, one Gaussian; and the axes to see them in."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

__all__ = ["Axes", "diagonal_log_density", "kernel_log_density", "mixture_log_density"]

_BLOCK = 2**22  # kernels evaluated at once
_RIDGE = 1e-6
_LEAST_SPREAD = 1e-9  # variance of an axis beside the largest, below which it is left out


@dataclass(frozen=True)
class Axes:
    """Principal axes of a sample, along each of which its variance is 1.

    Attributes
    ----------
    centre : ndarray of shape (n_features,)
        The mean of the sample.
    axes : ndarray of shape (n_features, n_axes)
        What a centred row is multiplied by.
    """

    centre: np.ndarray
    axes: np.ndarray

    @classmethod
    def of(cls, sample: np.ndarray, most: int = 10) -> Axes:
        """Find the axes of greatest variance, at most so many; none if the sample does not vary."""
        centre = sample.mean(axis=0)
        values, vectors = np.linalg.eigh(_covariance(sample))
        kept = np.flatnonzero(values > _LEAST_SPREAD * max(values.max(initial=0.0), 1e-300))
        kept = kept[::-1][: min(most, max(len(sample) - 1, 0))]
        return cls(centre, vectors[:, kept] / np.sqrt(values[kept]))

    def project(self, rows: np.ndarray) -> np.ndarray:
        """Return the rows' coordinates along the axes."""
        projected: np.ndarray = (rows - self.centre) @ self.axes
        return projected


def _covariance(sample: np.ndarray) -> np.ndarray:
    centred = sample - sample.mean(axis=0)
    covariance: np.ndarray = centred.T @ centred / max(len(sample) - 1, 1)
    return covariance


def kernel_log_density(points: np.ndarray, centres: np.ndarray) -> np.ndarray:
    """Return the log of a Gaussian kernel density, with the covariance of its centres.

    Parameters
    ----------
    points : ndarray of shape (n_points, n_axes)
        Where the density is asked for.
    centres : ndarray of shape (n_centres, n_axes)
        The sample, whose axes have variances of about 1.

    Returns
    -------
    ndarray of shape (n_points,)
        Scott's bandwidth: the covariance of the centres, and a ridge of 1e-6, times
        ``n ** (-2 / (d + 4))``. Equal points have equal densities, bit for bit.

    References
    ----------
    D. W. Scott, "Multivariate density estimation", Wiley 1992, doi:10.1002/9780470316849.

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.stats.densities import kernel_log_density
    >>> kernel_log_density(np.array([[0.0], [9.0]]), np.array([[-1.0], [1.0]])).round(2)
    array([ -1.46, -22.93])
    """
    n, d = centres.shape
    covariance = (_covariance(centres) + _RIDGE * np.eye(d)) * n ** (-2.0 / (d + 4.0))
    root = np.linalg.cholesky(covariance)
    distinct, place = np.unique(points, axis=0, return_inverse=True)
    queries, rows = (np.linalg.solve(root, part.T).T for part in (distinct, centres))
    lengths, height = (rows**2).sum(axis=1), max(1, _BLOCK // n)
    found = np.empty(len(queries))
    for start in range(0, len(queries), height):
        block = queries[start : start + height]
        exponents = block @ rows.T - lengths / 2.0  # the query's own square is added afterwards
        top = exponents.max(axis=1)
        exponents -= top[:, None]
        np.exp(exponents, out=exponents)
        own = (block**2).sum(axis=1) / 2.0
        found[start : start + height] = np.log(exponents.sum(axis=1)) + top - own
    constant = np.log(n) + d * np.log(2.0 * np.pi) / 2.0 + np.log(np.diag(root)).sum()
    densities: np.ndarray = found[place.ravel()] - constant
    return densities


def mixture_log_density(
    points: np.ndarray, sample: np.ndarray, n_components: int = 5, seed: int = 0
) -> np.ndarray:
    """Return the log density of a Gaussian mixture that was fitted on a sample.

    Parameters
    ----------
    points : ndarray of shape (n_points, n_axes)
        Where the density is asked for.
    sample : ndarray of shape (n_rows, n_axes)
        With variances of about 1.
    n_components : int, default=5
        Of the mixture; one for each 20 rows at most.
    seed : int, default=0
        Of the start.

    Returns
    -------
    ndarray of shape (n_points,)
    """
    from sklearn.mixture import GaussianMixture

    n_components = max(1, min(n_components, len(sample) // 20))
    mixture = GaussianMixture(n_components, reg_covar=1e-4, random_state=seed).fit(sample)
    distinct, place = np.unique(points, axis=0, return_inverse=True)
    densities: np.ndarray = mixture.score_samples(distinct)[place.ravel()]
    return densities


def diagonal_log_density(points: np.ndarray, sample: np.ndarray) -> np.ndarray:
    """Return the log density of the Gaussian that has the mean and variances of a sample.

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.stats.densities import diagonal_log_density
    >>> sample = np.array([[-1.0], [0.0], [1.0]])
    >>> diagonal_log_density(np.array([[0.0], [2.0]]), sample).round(3)
    array([-0.919, -2.919])
    """
    variances = sample.var(axis=0, ddof=1) + _RIDGE
    squares = (points - sample.mean(axis=0)) ** 2 / variances
    densities: np.ndarray = -(squares + np.log(2.0 * np.pi * variances)).sum(axis=1) / 2.0
    return densities
