"""Means over folds: their standard error, and intervals that count what folds share."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.stats import t

__all__ = ["FoldMean", "fold_mean"]


@dataclass(frozen=True)
class FoldMean:
    """A mean over folds.

    Attributes
    ----------
    mean, standard_error : float
        nan where fewer than one, two folds have a value.
    low, high : float
        Interval of Student's t.
    n_folds : int
        Folds with a value.
    """

    mean: float
    standard_error: float
    low: float
    high: float
    n_folds: int


def fold_mean(values: np.ndarray, test_share: float, confidence: float = 0.95) -> FoldMean:
    """Return the mean of values of folds, with the standard error of Nadeau and Bengio.

    Training folds have most of their rows in common, so that their values vary together and the
    variance of the mean is not that of one value divided by their number. The correction adds what
    two trainings share: ``(1/K + n_test/n_train) * variance``.

    Parameters
    ----------
    values : ndarray of shape (n_folds,)
        One a fold; nan where it has none.
    test_share : float
        Rows tested on for each row learnt from: ``1 / (K - 1)`` in K-fold cross-validation.
    confidence : float, default=0.95
        In (0, 1).

    Returns
    -------
    FoldMean
    """
    known = values[~np.isnan(values)]
    nan = float("nan")
    if known.size < 2:
        return FoldMean(float(known[0]) if known.size else nan, nan, nan, nan, known.size)
    variance = float(known.var(ddof=1))
    error = float(np.sqrt((1.0 / known.size + test_share) * variance))
    mean = float(known.mean())
    reach = float(t.ppf(0.5 + confidence / 2.0, known.size - 1)) * error
    return FoldMean(mean, error, mean - reach, mean + reach, known.size)
