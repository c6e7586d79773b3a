"""P-values that are valid for several tests at once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def holm(p_values: Sequence[float], weights: Sequence[float] | None = None) -> list[float]:
    """Return p-values that are valid for several tests at once, even if the tests are dependent."""
    # Source: S. Holm, "A simple sequentially rejective multiple test procedure", Scandinavian
    # Journal of Statistics 6 (1979) 65-70.
    given = np.asarray(p_values, dtype=np.float64)
    shares = np.ones(given.size) if weights is None else np.asarray(weights, dtype=np.float64)
    order = np.argsort(given / shares, kind="stable")
    left = np.cumsum(shares[order][::-1])[::-1]
    stepped = np.maximum.accumulate(given[order] * left / shares[order])
    adjusted = np.empty(given.size)
    adjusted[order] = np.minimum(stepped, 1.0)
    return [float(p_value) for p_value in adjusted]
