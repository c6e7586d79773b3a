"""Energy distance of two samples of rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from skeval.stats.pairwise import actual_and_permuted, euclidean, pair_sums

__all__ = ["Energy", "energy_distance"]


@dataclass(frozen=True)
class Energy:
    """Energy distances under the actual labels, then under permuted ones.

    Attributes
    ----------
    values : ndarray of shape (1 + n_permutations,)
        At least 0.
    between : float
        Mean distance of a row of one sample to a row of the other.
    """

    values: np.ndarray
    between: float

    @property
    def value(self) -> float:
        """The energy distance."""
        return float(self.values[0])

    @property
    def normalized(self) -> float:
        """Its share of the greatest value at this mean distance: 0 to 1."""
        return self.value / (2.0 * self.between) if self.between > 0.0 else 0.0


def energy_distance(
    x: np.ndarray, y: np.ndarray, *, n_permutations: int = 0, seed: int = 0
) -> Energy:
    """Return how much farther rows are from the other sample than from their own, in the mean.

    Parameters
    ----------
    x, y : ndarray of shape (n, n_features), (m, n_features)
        The samples.
    n_permutations : int, default=0
        Number of permutations of the labels whose values are returned too.
    seed : int, default=0
        Of the permutations.

    Returns
    -------
    Energy
        ``2 mean|x - y| - mean|x - x'| - mean|y - y'|``, pairs of a row with itself included.

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.stats.energy import energy_distance
    >>> found = energy_distance(np.array([[0.0], [1.0], [3.0]]), np.array([[5.0], [6.0]]))
    >>> round(found.value, 9)
    6.5
    """
    n, m = len(x), len(y)
    labels = actual_and_permuted(n, m, n_permutations, seed)
    within_x, between, within_y = pair_sums(np.concatenate([x, y]), labels, euclidean)
    between = between / (n * m)
    values = 2.0 * between - within_x / n**2 - within_y / m**2
    return Energy(np.maximum(values, 0.0), float(between[0]))
