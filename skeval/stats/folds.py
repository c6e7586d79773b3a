"""Means over folds of cross-validation, and tests of their differences.

Training folds share rows, so that their values are correlated. Therefore, the effective number of
folds is smaller than their number.
"""

from __future__ import annotations

import numpy as np
from scipy.stats import t

_INFINITE = (-np.inf, np.inf)


def fold_mean(
    values: np.ndarray,
    test_share: float,
    confidence: float = 0.95,
    bounds: tuple[float, float] = _INFINITE,
) -> dict[str, float]:
    """Return the mean of values of folds, with the standard error of Nadeau and Bengio."""
    # Training folds have most of their rows in common, so that their values vary together and
    # the variance of the mean is larger than the variance of one value divided by their number.
    # The corrected variance is `(1/K + n_test/n_train) * variance`.
    known = values[~np.isnan(values)]
    mean = float(known.mean()) if known.size else float("nan")
    error = reach = float("nan")
    if known.size > 1:
        error = float(np.sqrt((1.0 / known.size + test_share) * float(known.var(ddof=1))))
        reach = float(t.ppf(0.5 + confidence / 2.0, known.size - 1)) * error
    return {
        "mean": mean,
        "standard_error": error,
        "low": np.maximum(mean - reach, bounds[0]),
        "high": np.minimum(mean + reach, bounds[1]),
        "n_folds": known.size,
    }


def corrected_t_test(differences: np.ndarray, test_share: float) -> float:
    """Return the two-sided p-value of a mean difference over folds of 0."""
    # This is the corrected resampled t-test of Nadeau and Bengio, that is Student's test with the
    # standard error of fold_mean.
    found = fold_mean(differences, test_share)
    if found["n_folds"] < 2 or found["mean"] == 0.0:
        return 1.0
    if found["standard_error"] == 0.0:
        return 0.0
    ratio = abs(found["mean"]) / found["standard_error"]
    return float(2.0 * t.sf(ratio, found["n_folds"] - 1))
