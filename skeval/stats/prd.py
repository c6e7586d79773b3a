"""Precision and recall of distributions: from histograms, or the scores of a classifier."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

__all__ = [
    "Scored",
    "area_under",
    "curve_of_histograms",
    "curve_of_scores",
    "least_risk",
    "max_f_beta",
    "slopes",
]

Scored = tuple[np.ndarray, np.ndarray]  # scores of real and of synthetic rows


def slopes(n_angles: int) -> np.ndarray:
    """Return the slopes at which a curve is taken: tangents of evenly spaced angles.

    Examples
    --------
    >>> from skeval.stats.prd import slopes
    >>> slopes(3).round(6)[:2]
    array([0., 1.])
    """
    return np.tan(np.linspace(1e-10, np.pi / 2.0 - 1e-10, n_angles))


def curve_of_histograms(
    real: np.ndarray, synthetic: np.ndarray, n_angles: int = 1001
) -> tuple[np.ndarray, np.ndarray]:
    """Return precision and recall of one histogram against another.

    Parameters
    ----------
    real, synthetic : ndarray of shape (n_cells,)
        Shares, summing to 1.
    n_angles : int, default=1001
        Number of points.

    Returns
    -------
    precision, recall : ndarray of shape (n_angles,)
        From the slope 0, where precision is 0, to infinity, where it is the share of synthetic rows
        in cells that have real ones.

    Notes
    -----
    With slope l, precision is ``sum_c min(l real_c, synthetic_c)``, and recall is precision over l.

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.stats.prd import curve_of_histograms
    >>> precision, recall = curve_of_histograms(np.array([1.0, 0.0]), np.array([0.5, 0.5]), 3)
    >>> precision.round(6), recall.round(6)
    (array([0. , 0.5, 0.5]), array([1. , 0.5, 0. ]))
    """
    at = slopes(n_angles)
    # cell by cell: as many numbers as angles are held at a time
    precision = np.zeros(n_angles)
    for share_real, share_synthetic in zip(real, synthetic, strict=True):
        precision += np.minimum(at * share_real, share_synthetic)
    return np.clip(precision, 0.0, 1.0), np.clip(precision / at, 0.0, 1.0)


def area_under(precision: np.ndarray, recall: np.ndarray) -> float:
    """Return the area under a curve that goes from recall to precision, its ends at the axes.

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.stats.prd import area_under
    >>> area_under(np.array([0.0, 0.5, 0.5]), np.array([1.0, 0.5, 0.0]))
    0.375
    """
    heights = (precision[1:] + precision[:-1]) / 2.0
    return float((heights * -np.diff(recall)).sum())


def least_risk(real: np.ndarray, synthetic: np.ndarray, slope: float) -> float:
    """Return the least of ``slope * FP + FN`` over the thresholds of a score.

    A row reads as synthetic if its score is above the threshold; FP is the share of real rows that
    do, FN that of synthetic rows that do not.

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.stats.prd import least_risk
    >>> least_risk(np.array([0.1, 0.6]), np.array([0.5, 0.9]), 1.0)
    0.5
    """
    false_positives, false_negatives, _ = _rates((real, synthetic))
    return float((slope * false_positives + false_negatives).min())


def curve_of_scores(
    models: Sequence[tuple[Scored, Scored]], n_angles: int = 1001
) -> tuple[np.ndarray, np.ndarray]:
    """Return precision and recall of synthetic rows against real ones.

    Parameters
    ----------
    models : sequence of pairs of (real, synthetic)
        For each classifier the scores of two samples of rows that it has not seen. Classifier and
        threshold are chosen on one, the risk is taken on the other, and vice versa: a minimum is
        too low on the rows that it was found on.
    n_angles : int, default=1001
        Number of points.

    Returns
    -------
    precision, recall : ndarray of shape (n_angles,)
        From the slope 0, where precision is 0, to infinity, where it is 1 if all supports overlap.

    Notes
    -----
    With slope l, precision is ``min_t l FP(t) + FN(t)`` and recall is precision over l; both are
    upper bounds of the true curve, whatever the classifier.

    References
    ----------
    L. Simon, R. Webster, J. Rabin, "Revisiting precision and recall definition for generative model
    evaluation", ICML 2019, arXiv:1905.05441.

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.stats.prd import curve_of_scores
    >>> apart = np.zeros(5), np.ones(5)
    >>> curve_of_scores([(apart, apart)], 3)[0]
    array([0., 0., 0.])
    """
    at = slopes(n_angles)
    chosen_on = [[_rates(first) for first, _ in models], [_rates(second) for _, second in models]]
    risks = [
        np.array([_carried_over(rates, [pair[side] for pair in models], slope) for slope in at])
        for rates, side in zip(chosen_on, (1, 0), strict=True)
    ]
    # reading all rows as synthetic, or none, costs the slope, or 1
    precision = np.minimum(np.mean(risks, axis=0), np.minimum(at, 1.0))
    return precision, np.clip(precision / at, 0.0, 1.0)


def max_f_beta(precision: np.ndarray, recall: np.ndarray, beta: float) -> float:
    """Return the greatest F score on a curve; a beta above 1 gives weight to recall.

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.stats.prd import max_f_beta
    >>> round(max_f_beta(np.array([0.5]), np.array([1.0]), 8.0), 6)
    0.984848
    """
    square = beta**2
    scores = (1.0 + square) * precision * recall / (square * precision + recall + 1e-10)
    return float(scores.max())


Rates = tuple[np.ndarray, np.ndarray, np.ndarray]


def _rates(scored: Scored) -> Rates:
    """Return FP and FN at each threshold that tells scores apart, and the thresholds."""
    real, synthetic = (np.sort(scores) for scores in scored)
    thresholds = np.concatenate([[-np.inf], np.unique(np.concatenate(scored))])
    false_positives = 1.0 - np.searchsorted(real, thresholds, side="right") / real.size
    false_negatives = np.searchsorted(synthetic, thresholds, side="right") / synthetic.size
    return false_positives, false_negatives, thresholds


def _carried_over(chosen_on: list[Rates], tested_on: list[Scored], slope: float) -> float:
    """Return the risk, on other rows, of the classifier and threshold that are best on some."""
    risks = [slope * rates[0] + rates[1] for rates in chosen_on]
    best = int(np.argmin([risk.min() for risk in risks]))
    threshold = chosen_on[best][2][int(risks[best].argmin())]
    real, synthetic = tested_on[best]
    return float(slope * (real > threshold).mean() + (synthetic <= threshold).mean())
