"""Wasserstein distances of two samples of rows along random directions."""

from __future__ import annotations

import numpy as np

__all__ = ["coupling", "random_directions", "sliced_powers"]

_BLOCK = 2**21  # projected values held at once


def random_directions(n_features: int, n_projections: int, seed: int) -> np.ndarray:
    """Return unit vectors that are uniform on the sphere.

    Parameters
    ----------
    n_features, n_projections : int
        Their length and number.
    seed : int
        Of the draw.

    Returns
    -------
    ndarray of shape (n_projections, n_features)

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.stats.sliced import random_directions
    >>> bool(np.allclose(np.linalg.norm(random_directions(3, 5, seed=0), axis=1), 1.0))
    True
    """
    drawn = np.random.default_rng(seed).standard_normal((n_projections, n_features))
    unit: np.ndarray = drawn / np.linalg.norm(drawn, axis=1, keepdims=True)
    return unit


def sliced_powers(x: np.ndarray, y: np.ndarray, directions: np.ndarray, p: float) -> np.ndarray:
    """Return the p-th power of the Wasserstein distance along each direction.

    Parameters
    ----------
    x, y : ndarray of shape (n, n_features), (m, n_features)
        The samples.
    directions : ndarray of shape (n_projections, n_features)
        Unit vectors.
    p : float
        At least 1.

    Returns
    -------
    ndarray of shape (n_projections,)
        The integral over u of ``|F^-1(u) - G^-1(u)|^p`` of the projected values, exact also where
        the sizes differ.

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.stats.sliced import sliced_powers
    >>> x, y = np.array([[0.0], [1.0]]), np.array([[2.0], [3.0]])
    >>> sliced_powers(x, y, np.array([[1.0]]), 2.0).tolist()
    [4.0]
    """
    of_x, of_y, weights = coupling(len(x), len(y))
    powers = np.empty(len(directions))
    step = max(1, _BLOCK // (len(x) + len(y)))
    for start in range(0, len(directions), step):
        some = directions[start : start + step]
        first, second = (np.sort(some @ rows.T, axis=1) for rows in (x, y))
        if len(x) != len(y):
            first, second = first[:, of_x], second[:, of_y]
        gaps = np.abs(first - second)
        powers[start : start + step] = (gaps if p == 1.0 else gaps**p) @ weights
    return powers


def coupling(n: int, m: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return which ordered values of two samples of n and m meet, and with what mass.

    Parameters
    ----------
    n, m : int
        Sizes.

    Returns
    -------
    first, second : ndarray of shape (n_pieces,)
        Positions in the ordered samples.
    weights : ndarray of shape (n_pieces,)
        They sum to 1.

    Examples
    --------
    >>> from skeval.stats.sliced import coupling
    >>> [part.tolist() for part in coupling(1, 2)]
    [[0, 0], [0, 1], [0.5, 0.5]]
    """
    # in units of 1 / (n m) all ends of steps are whole numbers
    ends = np.union1d(np.arange(1, n + 1) * m, np.arange(1, m + 1) * n)
    starts = np.concatenate([[0], ends[:-1]])
    return starts // m, starts // n, (ends - starts) / (n * m)
