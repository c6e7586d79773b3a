"""P-values that hold for several tests at once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

__all__ = ["holm"]


def holm(p_values: Sequence[float]) -> list[float]:
    """Return p-values that hold for several tests at once, whatever the tests have in common.

    Parameters
    ----------
    p_values : sequence of float
        One for each test.

    Returns
    -------
    list of float
        In the same order: the least times the number of tests, the next times one fewer and at
        least as large as the one before, and so on; never above 1.

    References
    ----------
    S. Holm, "A simple sequentially rejective multiple test procedure", Scandinavian Journal of
    Statistics 6 (1979) 65-70.

    Examples
    --------
    >>> from skeval.stats.multiple_tests import holm
    >>> holm([0.01, 0.5, 0.02])
    [0.03, 0.5, 0.04]
    """
    given = np.asarray(p_values, dtype=np.float64)
    order = np.argsort(given, kind="stable")
    stepped = np.maximum.accumulate(given[order] * np.arange(given.size, 0, -1))
    adjusted = np.empty(given.size)
    adjusted[order] = np.minimum(stepped, 1.0)
    found: list[float] = adjusted.tolist()
    return found
