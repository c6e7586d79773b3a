"""Strength of association in a contingency table."""

from __future__ import annotations

import numpy as np

__all__ = ["cramers_v"]


def cramers_v(table: np.ndarray, *, bias_correction: bool = True) -> float:
    """Return Cramer's V: 0 for independent columns, 1 where each determines the other.

    Parameters
    ----------
    table : ndarray of shape (r, k)
        Counts; empty rows and columns are dropped.
    bias_correction : bool, default=True
        Bergsma's correction, which makes the value of independent columns 0 in the mean.

    Returns
    -------
    float
        In [0, 1]; nan if fewer than two rows or columns are left.

    References
    ----------
    W. Bergsma, "A bias-correction for Cramer's V and Tschuprow's T", Journal of the Korean
    Statistical Society 42 (2013), doi:10.1016/j.jkss.2012.10.002.

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.stats.association import cramers_v
    >>> round(cramers_v(np.array([[20, 5, 5], [5, 20, 5], [5, 5, 20]])), 6)
    0.482451
    """
    table = table[table.sum(axis=1) > 0][:, table.sum(axis=0) > 0].astype(float)
    r, k = table.shape
    n = table.sum()
    if min(r, k) < 2:
        return float("nan")
    expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / n
    phi2 = ((table - expected) ** 2 / expected).sum() / n
    if not bias_correction:
        return float(np.sqrt(phi2 / (min(r, k) - 1)))
    if n <= 1:
        return float("nan")
    phi2 = max(0.0, phi2 - (r - 1) * (k - 1) / (n - 1))
    r, k = r - (r - 1) ** 2 / (n - 1), k - (k - 1) ** 2 / (n - 1)
    return float(np.sqrt(phi2 / (min(r, k) - 1))) if min(r, k) > 1 else float("nan")
