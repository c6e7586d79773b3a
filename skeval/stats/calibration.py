"""Calibration: do events that are called 70% likely happen in 70% of the cases."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_matrix

__all__ = [
    "calibration_error",
    "equal_mass_bins",
    "expected_if_calibrated",
    "reliability_curve",
]


def equal_mass_bins(confidences: np.ndarray, n_bins: int = 10) -> np.ndarray:
    """Put rows into bins of equal numbers by their confidence.

    Parameters
    ----------
    confidences : ndarray of shape (n_rows,)
        What the model says that the event's probability is.
    n_bins : int, default=10
        Number of bins.

    Returns
    -------
    ndarray of int of shape (n_rows,)
        Ascending. Rows of one confidence are in one bin, that of the middle one of them; some bins
        may then be empty.
    """
    _, which, counts = np.unique(confidences, return_inverse=True, return_counts=True)
    middles = np.cumsum(counts) - 0.5 * counts
    bins: np.ndarray = np.floor(n_bins * middles / max(confidences.size, 1)).astype(np.int64)
    return bins[which]


def calibration_error(
    confidences: np.ndarray, hits: np.ndarray, weights: np.ndarray, n_bins: int = 10
) -> np.ndarray:
    """Return the expected calibration error, one a weighting.

    Parameters
    ----------
    confidences : ndarray of shape (n_rows,)
        What the model says that the event's probability is.
    hits : ndarray of bool of shape (n_rows,)
        Whether the event happened.
    weights : ndarray of shape (n_replicates, n_rows)
        How often each row counts.
    n_bins : int, default=10
        Number of bins of equal numbers of rows; they are the same for all weightings.

    Returns
    -------
    ndarray of shape (n_replicates,)
        The mean over bins, by their weights, of the distance of mean confidence and share of hits.
    """
    bins = equal_mass_bins(confidences, n_bins)
    excess = csr_matrix(
        (confidences - hits, (bins, np.arange(bins.size))), shape=(n_bins, bins.size)
    )
    found: np.ndarray = np.abs(excess @ weights.T).sum(axis=0) / weights.sum(axis=1)
    return found


def expected_if_calibrated(confidences: np.ndarray, n_bins: int = 10) -> float:
    """Return the calibration error that chance gives where every confidence is the true one.

    The hits of a bin then vary around the sum of its confidences with variance sum of p (1 - p);
    the mean distance is taken as a normal law has it.
    """
    bins = equal_mass_bins(confidences, n_bins)
    variances = np.bincount(bins, confidences * (1.0 - confidences), minlength=n_bins)
    return float(np.sqrt(2.0 / np.pi * np.maximum(variances, 0.0)).sum() / confidences.size)


def reliability_curve(
    confidences: np.ndarray, hits: np.ndarray, n_bins: int = 10, min_rows: int = 1
) -> dict[str, np.ndarray]:
    """Return mean confidence and share of hits of each bin that has rows.

    Parameters
    ----------
    confidences, hits : ndarray of shape (n_rows,)
        As of :func:`calibration_error`.
    n_bins : int, default=10
        Number of bins of equal numbers of rows.
    min_rows : int, default=1
        Bins of fewer rows have nan.

    Returns
    -------
    dict of str to ndarray of shape (n_bins_with_rows,)
        "predicted", "observed" and "n_rows".
    """
    bins = equal_mass_bins(confidences, n_bins)
    sizes = np.bincount(bins, minlength=n_bins)
    sums = [np.bincount(bins, part, minlength=n_bins) for part in (confidences, hits)]
    used = sizes > 0
    many = sizes >= max(min_rows, 1)
    predicted, observed = (
        np.divide(part, sizes, out=np.full(n_bins, np.nan), where=many)[used] for part in sums
    )
    return {"predicted": predicted, "observed": observed, "n_rows": sizes[used]}
