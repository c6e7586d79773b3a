"""What a call is worth: precision, by Bayes and at the highest scores, and the F1 score."""

from __future__ import annotations

import numpy as np

from skeval.stats.intervals import clopper_pearson
from skeval.stats.roc import rates_at

__all__ = ["bayes_precision", "f1_at", "precision_at", "relative_f1"]


def bayes_precision(tpr: float, fpr: float, prior: float) -> float:
    """Return the share of members among rows called so, where a share `prior` of all are members.

    Parameters
    ----------
    tpr, fpr : float
        Rates of an attack.
    prior : float
        What the attacker holds for the share of members among the rows that are looked at.

    Returns
    -------
    float
        ``prior TPR / (prior TPR + (1 - prior) FPR)``; nan if no row is called a member.

    Examples
    --------
    >>> from skeval.stats.precision import bayes_precision
    >>> bayes_precision(0.5, 0.5, 0.2), round(bayes_precision(0.1, 0.01, 0.01), 4)
    (0.2, 0.0917)
    """
    called = prior * tpr + (1.0 - prior) * fpr
    return prior * tpr / called if called > 0 else float("nan")


def f1_at(tpr: float, fpr: float, share: float) -> float:
    """Return the F1 score of calls on rows of which a share are positive.

    Parameters
    ----------
    tpr, fpr : float
        Rates of the calls.
    share : float
        Of positive rows, in (0, 1).

    Returns
    -------
    float
        The harmonic mean of precision and recall; 0 if no positive row is found.

    Examples
    --------
    >>> from skeval.stats.precision import f1_at
    >>> round(f1_at(40 / 50, 20 / 50, 0.5), 6)
    0.727273
    """
    hits = share * tpr
    return 2.0 * hits / (hits + (1.0 - share) * fpr + share)


def relative_f1(f1: float, share: float) -> float:
    """Return by how much an F1 score improves on calling every row positive: 0 not, 1 wholly.

    Parameters
    ----------
    f1 : float
        The score.
    share : float
        Of positive rows; to call all of them positive has the score ``2 share / (1 + share)``.

    Returns
    -------
    float
        ``(F - F_naive) / (1 - F_naive)``; below 0 where the calls do worse.

    Examples
    --------
    >>> from skeval.stats.precision import relative_f1
    >>> round(relative_f1(0.7272727, 0.5), 6)
    0.181818
    """
    naive = f1_at(1.0, 1.0, share)
    return (f1 - naive) / (1.0 - naive)


def precision_at(
    positives: np.ndarray, negatives: np.ndarray, k: int, confidence: float = 0.95
) -> tuple[float, tuple[float, float]]:
    """Return the share of positive rows among the k with the highest scores.

    Parameters
    ----------
    positives, negatives : ndarray of shape (m,), (n,)
        Scores. The precision depends on m and n: at m = n, it is 1/2 by chance.
    k : int
        From 1 to m + n.
    confidence : float, default=0.95
        Of the interval.

    Returns
    -------
    precision : float
        Rows that tie at the k-th score count with the share of positive ones among them.
    interval : tuple of (float, float)
        Of Clopper and Pearson; wider where ties leave a count that is not whole.

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.stats.precision import precision_at
    >>> precision_at(np.array([0.9, 0.5]), np.array([0.5, 0.1]), 2)[0]
    0.75
    """
    pooled = np.concatenate([positives, negatives])
    at = np.partition(pooled, pooled.size - k)[pooled.size - k]
    above = rates_at(positives, negatives, np.nextafter(at, np.inf))
    up_to = rates_at(positives, negatives, at)
    n_above = above.true_positives + above.false_positives
    n_tied = up_to.true_positives + up_to.false_positives - n_above
    tied = (up_to.true_positives - above.true_positives) / n_tied
    hits = above.true_positives + (k - n_above) * tied
    low, _ = clopper_pearson(int(np.floor(hits)), k, confidence)
    _, high = clopper_pearson(int(np.ceil(hits)), k, confidence)
    return float(hits / k), (low, high)
