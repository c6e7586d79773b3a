"""Means of scores of rows, their intervals, and tests that exchange training and holdout rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from skeval.stats.intervals import wilson
from skeval.stats.permutation_tests import block_sizes, sequential_test, share_p_value

Scores = tuple[np.ndarray, np.ndarray]


@dataclass(frozen=True)
class RowMean:
    """A mean over rows of scores in [0, 1], with its standard error and interval."""

    value: float
    standard_error: float
    interval: tuple[float, float]
    n_rows: int


def row_mean(scores: Scores, extra_variance: float = 0.0, confidence: float = 0.95) -> RowMean:
    """Return the mean of scores over rows, each of which may have been scored several times."""
    # The value is a ratio, that is the sum of the scores divided by their number. Its variance is
    # the variance of the residuals. For the interval, two rows with the scores 0 and 1 are added,
    # as in the interval of Agresti and Coull. The number of trials is chosen such that a fraction
    # has the resulting variance. For scores of 0 and 1, it is the number of rows, and the interval
    # equals Wilson's interval.
    totals, counts = _drop_zero_counts(scores)
    n = totals.size
    if n == 0:
        return RowMean(float("nan"), float("nan"), (float("nan"), float("nan")), 0)
    scale = float(counts.mean())
    value = float(totals.sum() / counts.sum())
    residual = float((((totals - value * counts) / scale) ** 2).sum())
    error = float(np.sqrt(residual / (n - 1) / n + extra_variance)) if n > 1 else float("nan")
    centre = (n * value + 1.0) / (n + 2.0)
    spread = float((((totals - centre * counts) / scale) ** 2).sum())
    spread += centre**2 + (1.0 - centre) ** 2
    variance = spread / (n + 2.0) / n + extra_variance
    trials = centre * (1.0 - centre) / variance
    return RowMean(value, error, wilson(value * trials, trials, confidence), n)


def difference_interval(
    value: float, interval: tuple[float, float], other: float, other_interval: tuple[float, float]
) -> tuple[float, float]:
    """Return the interval of a difference from the intervals of two independent values."""
    (low, high), (low_other, high_other) = interval, other_interval
    below = np.hypot(value - low, high_other - other)
    above = np.hypot(high - value, other - low_other)
    return float(value - other - below), float(value - other + above)


def exchange_p_value(
    strata: Sequence[tuple[Scores, Scores]],
    *,
    weights: Sequence[float] = (1.0,),
    n_permutations: int = 1999,
    seed: int = 0,
) -> float:
    """Return the p-value that training rows score higher than holdout rows, by exchanging rows."""
    kept = [(_drop_zero_counts(train), _drop_zero_counts(holdout)) for train, holdout in strata]
    if not kept or any(counts.size == 0 for pair in kept for _, counts in pair):
        return float("nan")
    if len(kept) == 1 and _are_binary(*kept[0]):
        hits, others = (part[0] for part in kept[0])
        return share_p_value(int(hits.sum()), hits.size, int(others.sum()), others.size)
    rng = np.random.default_rng(seed)

    def values(n: int) -> np.ndarray:
        parts = [_permuted_differences(train, holdout, n, rng) for train, holdout in kept]
        return np.asarray(np.array(weights) @ np.array(parts))

    means = [[part[0].sum() / part[1].sum() for part in pair] for pair in kept]
    observed = sum(
        w * (train - holdout) for w, (train, holdout) in zip(weights, means, strict=True)
    )
    return sequential_test(float(observed), map(values, block_sizes(n_permutations))).p_value


def _drop_zero_counts(scores: Scores) -> Scores:
    totals, counts = scores
    return totals[counts > 0], counts[counts > 0]


def _are_binary(*parts: Scores) -> bool:
    return all(
        bool((counts == 1).all() and ((totals == 0) | (totals == 1)).all())
        for totals, counts in parts
    )


def _permuted_differences(
    train: Scores, holdout: Scores, n_permutations: int, rng: np.random.Generator
) -> np.ndarray:
    """Return the difference of means for random choices of the training rows."""
    n_train, n_holdout = train[0].size, holdout[0].size
    if _are_binary(train, holdout):
        hits = int(train[0].sum() + holdout[0].sum())
        drawn = rng.hypergeometric(hits, n_train + n_holdout - hits, n_train, n_permutations)
        return np.asarray(drawn / n_train - (hits - drawn) / n_holdout)
    totals, counts = (np.concatenate(parts) for parts in zip(train, holdout, strict=True))
    order = np.lexsort((totals, counts))  # the order of the rows must not matter
    totals, counts = totals[order], counts[order].astype(np.float64)
    n_drawn = min(n_train, n_holdout)
    sums = np.empty((2, n_permutations))
    for i in range(n_permutations):
        chosen = rng.choice(totals.size, n_drawn, replace=False, shuffle=False)
        sums[:, i] = totals[chosen].sum(), counts[chosen].sum()
    rest = totals.sum() - sums[0], counts.sum() - sums[1]
    difference = sums[0] / sums[1] - rest[0] / rest[1]
    return np.asarray(difference if n_drawn == n_train else -difference)
