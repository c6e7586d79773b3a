"""The ROC curve of scores, with rates at thresholds and the area with intervals and tests."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from scipy.special import betaincinv, expit, logit
from scipy.stats import mannwhitneyu, norm, rankdata
from scipy.stats import t as student

from skeval.stats.intervals import clopper_pearson
from skeval.stats.permutation_tests import (
    Relabelled,
    block_sizes,
    labels_test,
    sequential_tests,
    shuffle_labels,
)

_CELLS = 2**20  # maximum number of labels in memory
_MIN_SPREAD = 1e-9  # if the deviation of a sum of ranks is smaller, all ranks are equal


@dataclass(frozen=True)
class Curve:
    """The points of a ROC curve, from the strictest threshold to none."""

    false_positives: np.ndarray
    true_positives: np.ndarray
    thresholds: np.ndarray
    n_positives: int
    n_negatives: int

    @property
    def fpr(self) -> np.ndarray:
        """Fraction of the negative rows that are classified as positive."""
        return self.false_positives / self.n_negatives

    @property
    def tpr(self) -> np.ndarray:
        """Fraction of the positive rows that are classified as positive."""
        return self.true_positives / self.n_positives

    def band(self, at: np.ndarray, confidence: float = 0.95) -> tuple[np.ndarray, np.ndarray]:
        """Return the intervals of Clopper and Pearson of the true positive rates at some points."""
        # Each interval is for a single rate, at a threshold that does not depend on the positive
        # rows.
        k = self.true_positives[at]
        n, tail = self.n_positives, (1.0 - confidence) / 2.0
        low = np.where(k > 0, betaincinv(np.maximum(k, 1), n - k + 1, tail), 0.0)
        high = np.where(k < n, betaincinv(k + 1, np.maximum(n - k, 1), 1.0 - tail), 1.0)
        return low, high


def roc_curve(positives: np.ndarray, negatives: np.ndarray) -> Curve:
    """Return the points of the ROC curve, one for each score that occurs."""
    values = np.unique(np.concatenate([positives, negatives]))[::-1]
    counts = [
        scores.size - np.searchsorted(np.sort(scores), values, side="left")
        for scores in (negatives, positives)
    ]
    false, true = (np.concatenate([[0], count]) for count in counts)
    thresholds = np.concatenate([[np.inf], values])
    return Curve(false, true, thresholds, positives.size, negatives.size)


def points_to_draw(curve: Curve, n_points: int = 200) -> np.ndarray:
    """Get the points of a curve to draw, on a logarithmic grid of false positive rates."""
    grid = np.geomspace(1.0, curve.n_negatives, n_points - 1)
    allowed = np.concatenate([[0], np.floor(grid + 1e-9).astype(np.int64)])
    return np.unique(np.searchsorted(curve.false_positives, allowed, side="right") - 1)


def tpr_at_fpr(positives: np.ndarray, negatives: np.ndarray, alpha: float) -> float:
    """Return the maximum true positive rate at a false positive rate of at most `alpha`."""
    return _last_point(positives, negatives, alpha)[0]


def threshold_at(positives: np.ndarray, negatives: np.ndarray, alpha: float) -> float:
    """Return the lowest threshold with a false positive rate of at most `alpha`, or nan.

    The threshold must be used for other rows, because the rates of these rows are biased.
    """
    return _last_point(positives, negatives, alpha)[1]


def _max_false_positives(n_negatives: int, alpha: float) -> int:
    """Return the number of false positives that a rate of `alpha` allows."""
    return int(np.floor(n_negatives * alpha + 1e-9))


def _last_point(positives: np.ndarray, negatives: np.ndarray, alpha: float) -> tuple[float, float]:
    """Return true positive rate and threshold of the last point within `alpha`, or nan."""
    allowed = _max_false_positives(negatives.size, alpha)
    if allowed < 1:
        return float("nan"), float("nan")
    curve = roc_curve(positives, negatives)
    last = int(np.searchsorted(curve.false_positives, allowed, side="right")) - 1
    return float(curve.tpr[last]), float(curve.thresholds[last])


def advantage_threshold(positives: np.ndarray, negatives: np.ndarray) -> float:
    """Return the threshold at which the true exceeds the false positive rate by most.

    It is the highest such threshold, or infinity if classifying no row as positive is best.
    """
    curve = roc_curve(positives, negatives)
    return float(curve.thresholds[int(np.argmax(curve.tpr - curve.fpr))])


class Rates(NamedTuple):
    """Numbers of rows that a fixed threshold classifies as positive."""

    true_positives: int
    n_positives: int
    false_positives: int
    n_negatives: int

    @property
    def tpr(self) -> float:
        """Fraction of the positive rows that are classified as positive."""
        return self.true_positives / self.n_positives

    @property
    def fpr(self) -> float:
        """Fraction of the negative rows that are classified as positive."""
        return self.false_positives / self.n_negatives

    def intervals(
        self, confidence: float = 0.95
    ) -> tuple[tuple[float, float], tuple[float, float]]:
        """Return the intervals of Clopper and Pearson of the true and the false positive rate.

        The intervals are valid if the threshold was chosen on other rows.
        """
        return (
            clopper_pearson(self.true_positives, self.n_positives, confidence),
            clopper_pearson(self.false_positives, self.n_negatives, confidence),
        )


def rates_at(positives: np.ndarray, negatives: np.ndarray, threshold: float) -> Rates:
    """Count the rows at or above a threshold."""
    return Rates(
        int((positives >= threshold).sum()),
        positives.size,
        int((negatives >= threshold).sum()),
        negatives.size,
    )


def median_accuracy(positives: np.ndarray, negatives: np.ndarray) -> float:
    """Return the balanced accuracy if the scores above the median are classified as positive."""
    # Rows at the median count as half correct.
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
    """Compare rates and the maximum advantage with random labels of the same scores."""
    pooled = np.concatenate([positives, negatives])
    order = np.argsort(-pooled, kind="stable")
    # no value within a tie is used, so that the order of its rows does not matter
    ends = np.flatnonzero(np.append(np.diff(pooled[order]) != 0, True))
    m, n = positives.size, negatives.size
    limits = np.array([_max_false_positives(n, alpha) for alpha in alphas])

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

    def draw_statistics(size: int) -> np.ndarray:
        # random rows are classified as positive, regardless of the order of the scores
        parts = [statistics(shuffle_labels(actual, k, rng)) for k in block_sizes(size, width)]
        return np.concatenate(parts)

    observed = statistics(actual[order][:, None])[0]
    tests = sequential_tests(observed, map(draw_statistics, block_sizes(n_permutations)))
    return tests[:-1], tests[-1]


@dataclass(frozen=True)
class Areas:
    """Several AUCs of the same rows, with their mean and deviation for random labels."""

    ranks: np.ndarray
    strata: np.ndarray
    mean: np.ndarray
    spread: np.ndarray
    n_pairs: np.ndarray
    n_true: np.ndarray

    @classmethod
    def from_scores(cls, scores: np.ndarray, labels: np.ndarray) -> Areas:
        """Read scores of shape (n_rows, n_scores), with nan for rows without a score."""
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
        """Return how far each AUC is above its mean, in standard deviations."""
        # Labels have shape (n_rows, n), and the result has shape (n_scores, n). It is 0 if all rows
        # are tied.
        scale = np.where(self.spread > _MIN_SPREAD, self.spread, np.inf)
        return np.asarray((self.ranks.T @ labels - self.mean[:, None]) / scale[:, None])

    def area(self, score: int, deviation: float) -> float:
        """Return the AUC of a score that is this far above its mean."""
        total, m = self.mean[score] + deviation * self.spread[score], self.n_true[score]
        return float((total - m * (m + 1) / 2) / self.n_pairs[score])

    def test(self, labels: np.ndarray, drawn: Iterable[np.ndarray]) -> Relabelled:
        """Compare the largest deviation with random labels, for scores with any dependence."""
        return labels_test(lambda some: self.deviations(some).max(axis=0), labels, drawn)


@dataclass(frozen=True)
class AUC:
    """The area under a ROC curve with its standard error and interval."""

    value: float
    standard_error: float
    interval: tuple[float, float]


def auc(positives: np.ndarray, negatives: np.ndarray) -> float:
    """Return the fraction of pairs that the scores order correctly, with ties as one half."""
    return float(placements(positives, negatives).mean())


def delong(positives: np.ndarray, negatives: np.ndarray, confidence: float = 0.95) -> AUC:
    """Return the AUC with DeLong's standard error."""
    # Let `V_i` be the fraction of negatives with a lower score than positive row i, with ties as
    # one half, and let `W_j` be defined in the same way. The variance is `var(V) / m + var(W) / n`.
    #
    # Source: E. R. DeLong, D. M. DeLong, D. L. Clarke-Pearson, "Comparing the areas under two
    # or more correlated receiver operating characteristic curves", Biometrics 44 (1988)
    # 837-845, doi:10.2307/2531595.
    m, n = positives.size, negatives.size
    value, error = area_and_error(positives, negatives)
    if np.isnan(error):
        return AUC(value, error, (0.0, 1.0))
    return AUC(value, error, auc_interval(value, error, m, n, confidence))


def area_and_error(positives: np.ndarray, negatives: np.ndarray) -> tuple[float, float]:
    """Return the AUC and the standard error of :func:`delong`, which is nan for a single row."""
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
    """Return the AUC with a standard error for rows that depend on each other within clusters."""
    # Source: N. A. Obuchowski, "Nonparametric analysis of clustered ROC curve data",
    # Biometrics 53 (1997) 567-578, doi:10.2307/2533958.
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
    """Return the AUC of rows that come in groups, and its standard error by group."""
    # Source: N. A. Obuchowski, "Nonparametric analysis of clustered ROC curve data",
    # Biometrics 53 (1997) 567-578, doi:10.2307/2533958.
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
    """Return the interval of an AUC, symmetric on the logit scale."""
    tail = (1.0 - confidence) / 2.0
    edge = float(tail ** (1.0 / min(n_positives, n_negatives)))
    if value >= 1.0:
        return edge, 1.0
    if value <= 0.0:
        return 0.0, 1.0 - edge
    half = float(norm.isf(tail)) * standard_error / (value * (1.0 - value))
    centre = float(logit(value))
    # the interval must contain the value despite the rounding errors of the logit
    return min(value, float(expit(centre - half))), max(value, float(expit(centre + half)))


def auc_p_value(
    positives: np.ndarray,
    negatives: np.ndarray,
    alternative: Literal["greater", "less"] = "greater",
) -> float:
    """Return the p-value of the Mann-Whitney test that the AUC is 1/2."""
    if np.ptp(np.concatenate([positives, negatives])) == 0:
        return 1.0
    return float(mannwhitneyu(positives, negatives, alternative=alternative).pvalue)


def placements(scores: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Return for each score the fraction of the others that it exceeds, with ties as one half."""
    # The fraction is 0 if there are no others. If both are ranks, that is integers from 0 on, they
    # are counted, which is faster than sorting.
    if scores.dtype.kind == others.dtype.kind == "i":
        n_ranks = 1 + max(scores.max(initial=0), others.max(initial=0))
        up_to_rank = np.cumsum(np.bincount(others, minlength=n_ranks))
        below, up_to = np.append(0, up_to_rank)[scores], up_to_rank[scores]
    else:
        ordered = np.sort(others)
        below = np.searchsorted(ordered, scores, side="left")
        up_to = np.searchsorted(ordered, scores, side="right")
    return (below + up_to) / (2.0 * max(1, others.size))
