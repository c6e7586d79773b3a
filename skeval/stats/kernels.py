"""Maximum mean discrepancy of two samples of rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from skeval.stats.pairwise import (
    PairSums,
    actual_and_permuted,
    euclidean,
    manhattan,
    pair_sums,
    squared_euclidean,
)

__all__ = ["Discrepancy", "kernel_discrepancy", "median_distance", "random_feature_discrepancy"]

_MEDIAN_ROWS = 500  # of each sample: half a million pairs put the median within about a hundredth
_BLOCK = 2**20


@dataclass(frozen=True)
class Discrepancy:
    """Squared maximum mean discrepancies under the actual labels, then under permuted ones.

    Attributes
    ----------
    biased, unbiased : ndarray of shape (1 + n_permutations,)
        With and without the pairs of a row with itself; without, nan if a sample has one row.
    """

    biased: np.ndarray
    unbiased: np.ndarray


def median_distance(x: np.ndarray, y: np.ndarray, kernel: str = "rbf") -> float:
    """Return the median distance of two pooled rows, as a length scale of a kernel.

    Parameters
    ----------
    x, y : ndarray of shape (n, n_features), (m, n_features)
        The samples; of more than 500 rows, 500 that are evenly spaced are looked at.
    kernel : {"rbf", "laplacian"}, default="rbf"
        Euclidean distance, or the sum of absolute differences.

    Returns
    -------
    float
        That of the pairs of unlike rows if more than half of all pairs are alike; 0 if all are.

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.stats.kernels import median_distance
    >>> median_distance(np.array([[0.0], [1.0]]), np.array([[2.0], [3.0]]))
    1.5
    """
    rows = np.concatenate([_spread(x), _spread(y)])
    distances = (euclidean if kernel == "rbf" else manhattan)(rows, rows)
    values = distances[np.triu_indices(len(rows), 1)]
    median = float(np.median(values)) if values.size else 0.0
    if median == 0.0 and (unlike := values[values > 0.0]).size:
        return float(np.median(unlike))
    return median


def _spread(rows: np.ndarray) -> np.ndarray:
    if len(rows) <= _MEDIAN_ROWS:
        return rows
    return rows[np.linspace(0, len(rows) - 1, _MEDIAN_ROWS).astype(np.int64)]


def kernel_discrepancy(
    x: np.ndarray,
    y: np.ndarray,
    gamma: float,
    *,
    kernel: str = "rbf",
    n_permutations: int = 0,
    seed: int = 0,
) -> Discrepancy:
    """Return how much more alike rows of one sample are than rows of different ones.

    Parameters
    ----------
    x, y : ndarray of shape (n, n_features), (m, n_features)
        The samples.
    gamma : float
        Greater values look closer.
    kernel : {"rbf", "laplacian"}, default="rbf"
        ``exp(-gamma d)`` of squared Euclidean distance or of the sum of absolute differences.
    n_permutations : int, default=0
        Number of permutations of the labels whose values are returned too.
    seed : int, default=0
        Of the permutations.

    Returns
    -------
    Discrepancy
        ``mean k(x, x') + mean k(y, y') - 2 mean k(x, y)``.

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.stats.kernels import kernel_discrepancy
    >>> x, y = np.array([[0.0], [1.0]]), np.array([[2.0], [3.0]])
    >>> found = kernel_discrepancy(x, y, 0.5)
    >>> round(float(found.unbiased[0]), 7), round(float(found.biased[0]), 7)
    (0.7689062, 1.1623755)
    """
    distance = squared_euclidean if kernel == "rbf" else manhattan

    def similarity(some: np.ndarray, others: np.ndarray) -> np.ndarray:
        values = distance(some, others)
        with np.errstate(over="ignore"):  # a similarity of 0
            values *= -gamma
        return np.exp(values, out=values)

    labels = actual_and_permuted(len(x), len(y), n_permutations, seed)
    return _discrepancy(pair_sums(np.concatenate([x, y]), labels, similarity), len(x), len(y))


def random_feature_discrepancy(
    x: np.ndarray,
    y: np.ndarray,
    gamma: float,
    *,
    n_components: int,
    kernel: str = "rbf",
    n_permutations: int = 0,
    seed: int = 0,
) -> Discrepancy:
    """Return the discrepancy of a kernel that is estimated with random Fourier features.

    Parameters
    ----------
    x, y : ndarray of shape (n, n_features), (m, n_features)
        The samples.
    gamma : float
        As in :func:`kernel_discrepancy`.
    n_components : int
        Number of random frequencies, each of which gives a cosine and a sine. The cost is linear
        in them and in the rows; a kernel's value is off by about ``(2 n_components) ** -0.5``.
    kernel : {"rbf", "laplacian"}, default="rbf"
        As in :func:`kernel_discrepancy`.
    n_permutations : int, default=0
        Number of permutations of the labels whose values are returned too.
    seed : int, default=0
        Of frequencies and permutations.

    Returns
    -------
    Discrepancy

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.stats.kernels import random_feature_discrepancy
    >>> x, y = np.array([[0.0], [1.0]]), np.array([[2.0], [3.0]])
    >>> found = random_feature_discrepancy(x, y, 0.5, n_components=20_000)
    >>> 0.75 < float(found.unbiased[0]) < 0.79
    True
    """
    frequencies = _frequencies(x.shape[1], n_components, gamma, kernel, seed)
    labels = actual_and_permuted(len(x), len(y), n_permutations, seed)
    of_x = np.zeros((2 * n_components, labels.shape[1]))
    of_all = np.zeros(2 * n_components)
    rows = np.concatenate([x, y])
    step = max(1, _BLOCK // (2 * n_components))
    for start in range(0, len(rows), step):
        phases = rows[start : start + step] @ frequencies
        features = np.concatenate([np.cos(phases), np.sin(phases)], axis=1)
        of_x += features.T @ labels[start : start + step].astype(np.float64)
        of_all += features.sum(axis=0)
    of_y = of_all[:, None] - of_x
    products = ((of_x, of_x), (of_x, of_y), (of_y, of_y))
    first, between, second = (np.einsum("ij,ij->j", a, b) / n_components for a, b in products)
    return _discrepancy((first, between, second), len(x), len(y))


def _frequencies(
    n_features: int, n_components: int, gamma: float, kernel: str, seed: int
) -> np.ndarray:
    """Draw from the spectrum of the kernel: normal for "rbf", Cauchy for "laplacian"."""
    rng = np.random.default_rng(seed)
    size = (n_features, n_components)
    if kernel == "rbf":
        return np.sqrt(2.0 * gamma) * rng.standard_normal(size)
    return gamma * rng.standard_cauchy(size)


def _discrepancy(sums: PairSums, n: int, m: int) -> Discrepancy:
    within_x, between, within_y = sums
    across = 2.0 * between / (n * m)
    biased = np.maximum(within_x / n**2 + within_y / m**2 - across, 0.0)
    if min(n, m) < 2:
        return Discrepancy(biased, np.full(biased.shape, np.nan))
    unbiased = (within_x - n) / (n * (n - 1)) + (within_y - m) / (m * (m - 1)) - across
    return Discrepancy(biased, unbiased)
