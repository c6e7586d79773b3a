"""The ROC curve of scores: points, rates at thresholds, the area with intervals and tests."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from scipy.special import betaincinv, expit, logit
from scipy.stats import mannwhitneyu, norm, rankdata
from scipy.stats import t as student

from skeval.stats.intervals import clopper_pearson
from skeval.stats.relabelling import (
    Relabelled,
    block_sizes,
    labels_test,
    sequential_tests,
    shuffled,
)

_CELLS = 2**20  # labels held at once
_MIN_SPREAD = 1e-9  # of a sum of ranks; below, all are equal


@dataclass(frozen=True)
class Curve:
    """The points of a ROC curve, from the strictest threshold to none.

    Attributes
    ----------
    false_positives, true_positives : ndarray of shape (n_points,)
        Ascending counts; 0 at the first point, all rows at the last.
    thresholds : ndarray of shape (n_points,)
        Descending; rows at or above are called positive. Infinite at the first point.
    n_positives, n_negatives : int
        Numbers of rows.
    """

    false_positives: np.ndarray
    true_positives: np.ndarray
    thresholds: np.ndarray
    n_positives: int
    n_negatives: int

    @property
    def fpr(self) -> np.ndarray:
        """Share of the negative rows that are called positive."""
        return self.false_positives / self.n_negatives

    @property
    def tpr(self) -> np.ndarray:
        """Share of the positive rows that are."""
        return self.true_positives / self.n_positives

    def band(self, at: np.ndarray, confidence: float = 0.95) -> tuple[np.ndarray, np.ndarray]:
        """Return the intervals of Clopper and Pearson of the true positive rates at some points.

        Each is of a rate by itself, at a threshold that was not chosen by the positive rows.
        """
        k = self.true_positives[at]
        n, tail = self.n_positives, (1.0 - confidence) / 2.0
        low = np.where(k > 0, betaincinv(np.maximum(k, 1), n - k + 1, tail), 0.0)
        high = np.where(k < n, betaincinv(k + 1, np.maximum(n - k, 1), 1.0 - tail), 1.0)
        return low, high


def roc_curve(positives: np.ndarray, negatives: np.ndarray) -> Curve:
    """Return the points of the ROC curve, one for each score that occurs.

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.stats.roc import roc_curve
    >>> curve = roc_curve(np.array([0.8, 0.6, 0.4]), np.array([0.7, 0.4, 0.2]))
    >>> curve.false_positives.tolist(), curve.true_positives.tolist()
    ([0, 0, 1, 1, 2, 3], [0, 1, 1, 2, 3, 3])
    """
    values = np.unique(np.concatenate([positives, negatives]))[::-1]
    counts = [
        scores.size - np.searchsorted(np.sort(scores), values, side="left")
        for scores in (negatives, positives)
    ]
    false, true = (np.concatenate([[0], count]) for count in counts)
    thresholds = np.concatenate([[np.inf], values])
    return Curve(false, true, thresholds, positives.size, negatives.size)


def thinned(curve: Curve, n_points: int = 200) -> np.ndarray:
    """Return which points of a curve to draw: those on a logarithmic grid of false positive rates.

    Parameters
    ----------
    curve : Curve
        Any.
    n_points : int, default=200
        How many at most.

    Returns
    -------
    ndarray of int
        Positions, ascending: for each rate of the grid from ``1 / n_negatives`` to 1 the last point
        within it, and the last point without a false positive.
    """
    grid = np.geomspace(1.0, curve.n_negatives, n_points - 1)
    allowed = np.concatenate([[0], np.floor(grid + 1e-9).astype(np.int64)])
    return np.unique(np.searchsorted(curve.false_positives, allowed, side="right") - 1)


def tpr_at_fpr(positives: np.ndarray, negatives: np.ndarray, alpha: float) -> float:
    """Return the greatest true positive rate at a false positive rate of at most `alpha`.

    Parameters
    ----------
    positives, negatives : ndarray of shape (m,), (n,)
        Scores.
    alpha : float
        In (0, 1].

    Returns
    -------
    float
        The rate at a point of the curve, without interpolation; nan if `alpha` is below ``1 / n``,
        which no threshold can be held to by n rows.

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.stats.roc import tpr_at_fpr
    >>> rng = np.random.RandomState(0)
    >>> members, others = rng.normal(1, 1, 1000), rng.normal(0, 1, 1000)
    >>> [tpr_at_fpr(members, others, alpha) for alpha in (0.1, 0.01, 0.001)]
    [0.359, 0.099, 0.049]
    """
    return _last_point(positives, negatives, alpha)[0]


def threshold_at(positives: np.ndarray, negatives: np.ndarray, alpha: float) -> float:
    """Return the lowest threshold with a false positive rate of at most `alpha`; nan if none is.

    To be held against other rows: the rates of these rows at it are chosen ones.
    """
    return _last_point(positives, negatives, alpha)[1]


def _allowed(n_negatives: int, alpha: float) -> int:
    """Return the number of negative rows that a rate of `alpha` lets through."""
    return int(np.floor(n_negatives * alpha + 1e-9))


def _last_point(positives: np.ndarray, negatives: np.ndarray, alpha: float) -> tuple[float, float]:
    """Return true positive rate and threshold of the last point within `alpha`; nan if none is."""
    allowed = _allowed(negatives.size, alpha)
    if allowed < 1:
        return float("nan"), float("nan")
    curve = roc_curve(positives, negatives)
    last = int(np.searchsorted(curve.false_positives, allowed, side="right")) - 1
    return float(curve.tpr[last]), float(curve.thresholds[last])


def advantage_threshold(positives: np.ndarray, negatives: np.ndarray) -> float:
    """Return the threshold at which the true exceeds the false positive rate by most.

    The highest of several; infinite if none does better than to call no row positive.
    """
    curve = roc_curve(positives, negatives)
    return float(curve.thresholds[int(np.argmax(curve.tpr - curve.fpr))])


class Rates(NamedTuple):
    """How many rows a fixed threshold calls positive.

    Attributes
    ----------
    true_positives, n_positives : int
        Counts of the positive rows.
    false_positives, n_negatives : int
        Counts of the negative rows.
    """

    true_positives: int
    n_positives: int
    false_positives: int
    n_negatives: int

    @property
    def tpr(self) -> float:
        """Share of the positive rows."""
        return self.true_positives / self.n_positives

    @property
    def fpr(self) -> float:
        """Share of the negative rows."""
        return self.false_positives / self.n_negatives

    def intervals(
        self, confidence: float = 0.95
    ) -> tuple[tuple[float, float], tuple[float, float]]:
        """Return the intervals of Clopper and Pearson, of the true, then of the false rate.

        They hold if the threshold was chosen on other rows.
        """
        return (
            clopper_pearson(self.true_positives, self.n_positives, confidence),
            clopper_pearson(self.false_positives, self.n_negatives, confidence),
        )


def rates_at(positives: np.ndarray, negatives: np.ndarray, threshold: float) -> Rates:
    """Count the rows at or above a threshold.

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.stats.roc import rates_at
    >>> rates = rates_at(np.array([0.8, 0.6, 0.4]), np.array([0.7, 0.3]), 0.6)
    >>> rates.true_positives, rates.false_positives
    (2, 1)
    """
    return Rates(
        int((positives >= threshold).sum()),
        positives.size,
        int((negatives >= threshold).sum()),
        negatives.size,
    )


def median_accuracy(positives: np.ndarray, negatives: np.ndarray) -> float:
    """Return the mean of both rates of right calls where the higher half is called positive.

    Rows at the median count as half right.

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.stats.roc import median_accuracy
    >>> median_accuracy(np.array([3.0, 2.0]), np.array([1.0, 2.0]))
    0.75
    """
    median = float(np.median(np.concatenate([positives, negatives])))
    above, below = (
        float((scores > median).mean() + (scores == median).mean() / 2.0)
        for scores in (positives, negatives)
    )
    return (above + 1.0 - below) / 2.0


def label_tests(
    positives: np.ndarray,
    negatives: np.ndarray,
    alphas: Sequence[float],
    *,
    n_permutations: int,
    seed: int,
) -> tuple[list[Relabelled], Relabelled]:
    """Hold rates and the greatest advantage against random labels of the same scores.

    Parameters
    ----------
    positives, negatives : ndarray of shape (m,), (n,)
        Scores.
    alphas : sequence of float
        False positive rates.
    n_permutations : int
        Number of random labellings; fewer are drawn where many reach what was observed.
    seed : int
        The seed of these.

    Returns
    -------
    rates : list of Relabelled
        The true positive rate at each of `alphas`; 0 where it is not defined.
    advantage : Relabelled
        The greatest difference of true and false positive rate.

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.stats.roc import label_tests
    >>> high, low = np.arange(20.0, 40.0), np.arange(20.0)
    >>> (rate,), advantage = label_tests(high, low, [0.1], n_permutations=99, seed=0)
    >>> rate.observed, rate.p_value, advantage.observed, advantage.p_value
    (1.0, 0.01, 1.0, 0.01)
    """
    pooled = np.concatenate([positives, negatives])
    order = np.argsort(-pooled, kind="stable")
    # nothing is read within a tie, so that the order of its rows does not matter
    ends = np.flatnonzero(np.append(np.diff(pooled[order]) != 0, True))
    m, n = positives.size, negatives.size
    limits = np.array([_allowed(n, alpha) for alpha in alphas])

    def statistics(is_positive: np.ndarray) -> np.ndarray:
        true = np.cumsum(is_positive, axis=0, dtype=np.int32)[ends]
        false = ends[:, None] + 1 - true
        at_limits = [
            np.max(true, axis=0, where=false <= limit, initial=0) if limit > 0 else 0 * true[0]
            for limit in limits
        ]
        advantage = (true / m - false / n).max(axis=0, initial=0.0)
        return np.column_stack([*(rate / m for rate in at_limits), advantage])

    rng = np.random.default_rng(seed)
    actual, width = np.arange(m + n) < m, max(1, _CELLS // (m + n))

    def drawn(size: int) -> np.ndarray:
        # which rows are called positive is drawn anew: the order of the scores plays no part in it
        parts = [statistics(shuffled(actual, k, rng)) for k in block_sizes(size, width)]
        return np.concatenate(parts)

    observed = statistics(actual[order][:, None])[0]
    tests = sequential_tests(observed, map(drawn, block_sizes(n_permutations)))
    return tests[:-1], tests[-1]


@dataclass(frozen=True)
class Areas:
    """Several AUCs of the same rows, and what random labels would make of them.

    Attributes
    ----------
    ranks : ndarray of shape (n_rows, n_scores)
        The ranks of each score, 0 where a row has none.
    strata : ndarray of shape (n_rows,), int
        Rows that have the same of the scores have the same number. Labels are exchanged among
        these only, since which rows have a score may depend on the labels.
    mean, spread : ndarray of shape (n_scores,)
        Moments of the sum of the ranks of positive rows, over all labels.
    n_pairs, n_true : ndarray of shape (n_scores,)
        Pairs of a positive and a negative row, and positive rows, that have the score.

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.stats.relabelling import shuffled
    >>> from skeval.stats.roc import Areas
    >>> labels, rng = np.arange(40) < 20, np.random.default_rng(0)
    >>> scores = np.column_stack([rng.normal(size=40), labels + rng.normal(size=40)])
    >>> areas = Areas.of(scores, labels)
    >>> test = areas.test(labels, [shuffled(labels, 999, rng)])
    >>> areas.deviations(labels[:, None]).round(1).ravel().tolist(), test.p_value
    ([-0.7, 2.8], 0.007)
    """

    ranks: np.ndarray
    strata: np.ndarray
    mean: np.ndarray
    spread: np.ndarray
    n_pairs: np.ndarray
    n_true: np.ndarray

    @classmethod
    def of(cls, scores: np.ndarray, labels: np.ndarray) -> Areas:
        """Read scores of shape (n_rows, n_scores), nan of rows that have none."""
        missing = np.isnan(scores)
        strata = missing @ (1 << np.arange(scores.shape[1]))
        ranks = np.nan_to_num(rankdata(scores, axis=0, nan_policy="omit"))
        mean, variance = np.zeros((2, scores.shape[1]))
        for stratum in np.unique(strata):
            own, n_true = ranks[strata == stratum], labels[strata == stratum].sum()
            mean += n_true * own.mean(axis=0)
            variance += n_true * (len(own) - n_true) / max(len(own) - 1, 1) * own.var(axis=0)
        m, n = ((~missing[who]).sum(axis=0) for who in (labels, ~labels))
        return cls(ranks, strata, mean, np.sqrt(variance), m * n, m)

    def deviations(self, labels: np.ndarray) -> np.ndarray:
        """Return how far each AUC is above its mean, in standard deviations.

        Labels have shape (n_rows, n), the result (n_scores, n); 0 where all rows tie.
        """
        scale = np.where(self.spread > _MIN_SPREAD, self.spread, np.inf)
        return np.asarray((self.ranks.T @ labels - self.mean[:, None]) / scale[:, None])

    def area(self, score: int, deviation: float) -> float:
        """Return the AUC of a score that is so far above its mean."""
        total, m = self.mean[score] + deviation * self.spread[score], self.n_true[score]
        return float((total - m * (m + 1) / 2) / self.n_pairs[score])

    def test(self, labels: np.ndarray, drawn: Iterable[np.ndarray]) -> Relabelled:
        """Hold the largest deviation against those of random labels, however scores depend.

        Parameters
        ----------
        labels : ndarray of shape (n_rows,), bool
            True for positive rows.
        drawn : iterable of ndarray of shape (n_rows, n), bool
            Blocks of random labels, exchanged within strata.
        """
        return labels_test(lambda some: self.deviations(some).max(axis=0), labels, drawn)


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
    >>> from skeval.stats.roc import auc
    >>> round(auc(np.array([0.8, 0.6, 0.4]), np.array([0.7, 0.3, 0.2])), 7)
    0.7777778
    """
    return float(placements(positives, negatives).mean())


def delong(positives: np.ndarray, negatives: np.ndarray, confidence: float = 0.95) -> AUC:
    """Return the AUC with DeLong's standard error.

    Parameters
    ----------
    positives, negatives : ndarray of shape (m,), (n,)
        Scores of rows that the scoring rule has not seen; independent rows, ties allowed.
    confidence : float, default=0.95
        The level of the interval.

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
    >>> from skeval.stats.roc import delong
    >>> area = delong(np.array([0.8, 0.6, 0.4]), np.array([0.7, 0.3, 0.2]))
    >>> round(area.standard_error, 7)
    0.248452
    """
    m, n = positives.size, negatives.size
    value, error = area_and_error(positives, negatives)
    if np.isnan(error):
        return AUC(value, error, (0.0, 1.0))
    return AUC(value, error, auc_interval(value, error, m, n, confidence))


def area_and_error(positives: np.ndarray, negatives: np.ndarray) -> tuple[float, float]:
    """Return the AUC and DeLong's standard error, nan of a single row; see :func:`delong`.

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.stats.roc import area_and_error
    >>> value, error = area_and_error(np.array([1.0, 2.0]), np.array([0.0, 1.5]))
    >>> value, round(error, 4)
    (0.75, 0.3536)
    """
    m, n = positives.size, negatives.size
    above = placements(positives, negatives)
    value = float(above.mean())
    if min(m, n) < 2:
        return value, float("nan")
    below = 1.0 - placements(negatives, positives)
    return value, float(np.sqrt(above.var(ddof=1) / m + below.var(ddof=1) / n))


def clustered_delong(
    positives: np.ndarray,
    negatives: np.ndarray,
    positive_clusters: np.ndarray,
    negative_clusters: np.ndarray,
    confidence: float = 0.95,
) -> AUC:
    """Return the AUC with a standard error for rows that depend on each other within clusters.

    Parameters
    ----------
    positives, negatives : ndarray of shape (m,), (n,)
        Scores, of which those of one cluster may be alike.
    positive_clusters, negative_clusters : ndarray of int of shape (m,), (n,)
        Whose they are, such as the author of a text; one may have rows on both sides.
    confidence : float, default=0.95
        The level of the interval. Its quantile is Student's, since clusters are few.

    Returns
    -------
    AUC
        Without a standard error, and with all of [0, 1] for interval, where a side has one cluster.

    References
    ----------
    N. A. Obuchowski, "Nonparametric analysis of clustered ROC curve data", Biometrics 53 (1997)
    567-578, doi:10.2307/2533958.

    Examples
    --------
    Rows that are all alike within four clusters are four rows, of which each side has two.

    >>> import numpy as np
    >>> from skeval.stats.roc import clustered_delong, delong
    >>> scores, clusters = np.array([[1.0, 3.0], [0.0, 2.0]]), np.array([[0, 1], [2, 3]])
    >>> many = clustered_delong(*np.repeat(scores, 5, axis=1), *np.repeat(clusters, 5, axis=1))
    >>> round(many.standard_error, 9) == round(delong(*scores).standard_error, 9)
    True
    """
    above, below = placements(positives, negatives), 1.0 - placements(negatives, positives)
    value = float(above.mean())
    n_clusters = 1 + max(positive_clusters.max(), negative_clusters.max())
    sides = [
        np.bincount(whose, weights=(each - value) / each.size, minlength=n_clusters)
        for whose, each in ((positive_clusters, above), (negative_clusters, below))
    ]
    sizes = [np.unique(whose).size for whose in (positive_clusters, negative_clusters)]
    if min(sizes) < 2:
        return AUC(value, float("nan"), (0.0, 1.0))
    variance = 2.0 * float(sides[0] @ sides[1])
    variance += sum(float(s @ s) * k / (k - 1.0) for s, k in zip(sides, sizes, strict=True))
    error, tail = float(np.sqrt(max(variance, 0.0))), (1.0 - confidence) / 2.0
    wider = float(student.isf(tail, sum(sizes) - 2) / norm.isf(tail))
    return AUC(value, error, auc_interval(value, wider * error, sizes[0], sizes[1], confidence))


def grouped_auc(
    positives: np.ndarray,
    positive_groups: np.ndarray,
    negatives: np.ndarray,
    negative_groups: np.ndarray,
) -> tuple[float, float]:
    """Return the AUC of rows that come in groups, and its standard error by group.

    Parameters
    ----------
    positives, negatives : ndarray of shape (m,), (n,)
        Scores.
    positive_groups, negative_groups : ndarray of shape (m,), (n,)
        Codes of the groups, from 0; no group has rows of both kinds.

    Returns
    -------
    value, standard_error : float
        The error of groups that are independent, for any dependence within them; nan if a kind has
        one group only. With one row a group it is DeLong's.

    References
    ----------
    N. A. Obuchowski, "Nonparametric analysis of clustered ROC curve data", Biometrics 53 (1997)
    567-578, doi:10.2307/2533958.

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.stats.roc import grouped_auc
    >>> scores, rows = (np.array([0.8, 0.6, 0.4]), np.array([0.7, 0.3, 0.2])), np.arange(3)
    >>> round(grouped_auc(scores[0], rows, scores[1], rows)[1], 7)
    0.248452
    """
    above = placements(positives, negatives)
    value = float(above.mean())
    variance = 0.0
    for placed, groups in (
        (above, positive_groups),
        (1.0 - placements(negatives, positives), negative_groups),
    ):
        sums = np.bincount(groups, placed - value)
        n_groups = np.unique(groups).size
        scale = n_groups / (n_groups - 1.0) if n_groups > 1 else np.nan
        variance += scale * float((sums**2).sum()) / placed.size**2
    return value, float(np.sqrt(variance))


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
        The AUC and its standard error.
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
    >>> from skeval.stats.roc import auc_interval
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
        Exact for small samples without ties, else of the normal distribution with the variance
        that ties leave; 1 if all scores are equal.

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.stats.roc import auc_p_value
    >>> auc_p_value(np.array([5.0, 6.0, 7.0]), np.array([1.0, 2.0, 3.0]))
    0.05
    """
    if np.ptp(np.concatenate([positives, negatives])) == 0:
        return 1.0
    return float(mannwhitneyu(positives, negatives, alternative=alternative).pvalue)


def placements(scores: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Return for each score the share of the others that it exceeds, ties half; 0 of no others.

    If both are ranks, whole numbers from 0 on, they are counted, which is faster than to sort.
    """
    if scores.dtype.kind == others.dtype.kind == "i":
        n_ranks = 1 + max(scores.max(initial=0), others.max(initial=0))
        up_to_rank = np.cumsum(np.bincount(others, minlength=n_ranks))
        below, up_to = np.append(0, up_to_rank)[scores], up_to_rank[scores]
    else:
        ordered = np.sort(others)
        below = np.searchsorted(ordered, scores, side="left")
        up_to = np.searchsorted(ordered, scores, side="right")
    return (below + up_to) / (2.0 * max(1, others.size))
