"""The area under the ROC curve: its value, standard error, interval and tests."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.special import expit, logit
from scipy.stats import mannwhitneyu, norm

__all__ = ["AUC", "auc", "auc_interval", "auc_null_sd", "auc_p_value", "delong"]


@dataclass(frozen=True)
class AUC:
    """The area under a ROC curve, and how sure it is.

    Attributes
    ----------
    value : float
        Share of pairs of a positive and a negative row in which the positive one scores higher.
    standard_error : float
        DeLong's; nan where a sample has one row.
    interval : tuple of (float, float)
        On the logit scale.
    """

    value: float
    standard_error: float
    interval: tuple[float, float]


def auc(positives: np.ndarray, negatives: np.ndarray) -> float:
    """Return the share of pairs that the scores put in order, ties half.

    Parameters
    ----------
    positives, negatives : ndarray of shape (m,), (n,)
        Scores; those of the positive rows should be the higher ones.

    Returns
    -------
    float
        In [0, 1].

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.stats.auc import auc
    >>> round(auc(np.array([0.8, 0.6, 0.4]), np.array([0.7, 0.3, 0.2])), 7)
    0.7777778
    """
    return float(_placements(positives, negatives).mean())


def delong(positives: np.ndarray, negatives: np.ndarray, confidence: float = 0.95) -> AUC:
    """Return the AUC with DeLong's standard error.

    Parameters
    ----------
    positives, negatives : ndarray of shape (m,), (n,)
        Scores of rows that the scoring rule has not seen; independent rows, ties allowed.
    confidence : float, default=0.95
        Of the interval.

    Returns
    -------
    AUC

    Notes
    -----
    With ``V_i`` the share of negatives that positive row i outscores, ties half, and ``W_j``
    likewise, the variance is ``var(V) / m + var(W) / n``.

    References
    ----------
    E. R. DeLong, D. M. DeLong, D. L. Clarke-Pearson, "Comparing the areas under two or more
    correlated receiver operating characteristic curves", Biometrics 44 (1988) 837-845,
    doi:10.2307/2531595.

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.stats.auc import delong
    >>> found = delong(np.array([0.8, 0.6, 0.4]), np.array([0.7, 0.3, 0.2]))
    >>> round(found.standard_error, 7)
    0.248452
    """
    m, n = positives.size, negatives.size
    above = _placements(positives, negatives)
    value = float(above.mean())
    if min(m, n) < 2:
        return AUC(value, float("nan"), (0.0, 1.0))
    below = 1.0 - _placements(negatives, positives)
    error = float(np.sqrt(above.var(ddof=1) / m + below.var(ddof=1) / n))
    return AUC(value, error, auc_interval(value, error, m, n, confidence))


def auc_interval(
    value: float,
    standard_error: float,
    n_positives: float,
    n_negatives: float,
    confidence: float = 0.95,
) -> tuple[float, float]:
    """Return the interval of an AUC, symmetric on the logit scale.

    Parameters
    ----------
    value, standard_error : float
        Of the AUC.
    n_positives, n_negatives : float
        Numbers of rows; they matter where the value is 0 or 1, which leaves no standard error.
    confidence : float, default=0.95
        In (0, 1).

    Returns
    -------
    low, high : float
        Within [0, 1]. At 1 the lower bound is ``(alpha / 2) ** (1 / min(m, n))``: an AUC below it
        would seldom order all pairs. At 0 it is mirrored.

    Examples
    --------
    >>> from skeval.stats.auc import auc_interval
    >>> round(auc_interval(1.0, 0.0, 50, 50)[0], 5)
    0.92888
    """
    tail = (1.0 - confidence) / 2.0
    edge = float(tail ** (1.0 / min(n_positives, n_negatives)))
    if value >= 1.0:
        return edge, 1.0
    if value <= 0.0:
        return 0.0, 1.0 - edge
    half = float(norm.isf(tail)) * standard_error / (value * (1.0 - value))
    centre = float(logit(value))
    # the logit there and back loses a last digit, and an interval holds its value
    return min(value, float(expit(centre - half))), max(value, float(expit(centre + half)))


def auc_null_sd(n_positives: int, n_negatives: int) -> float:
    """Return the standard deviation of the AUC if labels are exchangeable and scores have no ties.

    Examples
    --------
    >>> from skeval.stats.auc import auc_null_sd
    >>> round(auc_null_sd(1000, 1000), 7)
    0.0129132
    """
    m, n = n_positives, n_negatives
    return float(np.sqrt((m + n + 1.0) / (12.0 * m * n)))


def auc_p_value(
    positives: np.ndarray,
    negatives: np.ndarray,
    alternative: Literal["greater", "less"] = "greater",
) -> float:
    """Return the p-value of the Mann-Whitney test that the AUC is 1/2.

    Parameters
    ----------
    positives, negatives : ndarray of shape (m,), (n,)
        Scores that are exchangeable under the null hypothesis.
    alternative : {"greater", "less"}, default="greater"
        Which way the AUC departs from 1/2.

    Returns
    -------
    float
        Exact for small samples without ties, else of the normal law with the variance that ties
        leave; 1 if all scores are equal.

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.stats.auc import auc_p_value
    >>> auc_p_value(np.array([5.0, 6.0, 7.0]), np.array([1.0, 2.0, 3.0]))
    0.05
    """
    if np.ptp(np.concatenate([positives, negatives])) == 0:
        return 1.0
    return float(mannwhitneyu(positives, negatives, alternative=alternative).pvalue)


def _placements(scores: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Return for each score the share of the others that it exceeds, ties half."""
    ordered = np.sort(others)
    below = np.searchsorted(ordered, scores, side="left")
    up_to = np.searchsorted(ordered, scores, side="right")
    return (below + up_to) / (2.0 * others.size)
