"""Means over folds of cross-validation, tests of their differences, and ranks with their ends.

Training folds share rows, so that their values vary together and count for less than their number.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.stats import friedmanchisquare, rankdata, t

_INFINITE = (-np.inf, np.inf)


def fold_mean(
    values: np.ndarray,
    test_share: float,
    confidence: float = 0.95,
    bounds: tuple[float, float] = _INFINITE,
) -> dict[str, float]:
    """Return the mean of values of folds, with the standard error of Nadeau and Bengio."""
    # Training folds have most of their rows in common, so that their values vary together and
    # the variance of the mean is not that of one value divided by their number. The
    # correction adds what two trainings share: `(1/K + n_test/n_train) * variance`.
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
    # The corrected resampled t-test of Nadeau and Bengio: Student's test with the standard
    # error of fold_mean.
    found = fold_mean(differences, test_share)
    if found["n_folds"] < 2 or found["mean"] == 0.0:
        return 1.0
    if found["standard_error"] == 0.0:
        return 0.0
    ratio = abs(found["mean"]) / found["standard_error"]
    return float(2.0 * t.sf(ratio, found["n_folds"] - 1))


def adjusted_by_holm(p_values: np.ndarray) -> np.ndarray:
    """Return p-values by Holm's procedure: any below 0.05 is false in at most 5% of cases."""
    order = np.argsort(p_values, kind="stable")
    steps = p_values[order] * np.arange(len(p_values), 0, -1)
    adjusted = np.empty_like(steps)
    adjusted[order] = np.minimum(np.maximum.accumulate(steps), 1.0)
    return adjusted


@dataclass(frozen=True)
class Ranks:
    """The ranks of candidates, the best being 1."""

    rank: np.ndarray
    mean_rank: np.ndarray
    low: np.ndarray
    high: np.ndarray
    p_value: np.ndarray
    friedman: float


def ranks_of(scores: np.ndarray, test_share: float, level: float = 0.05) -> Ranks:
    """Rank candidates by their scores on the same folds."""
    # Each pair is tested by the corrected resampled t-test [1]_ on the differences in the
    # same folds, and Holm's procedure [2]_ keeps the chance of any false difference at most
    # at `level`. From the differences found follows a confidence set of the ranks of all
    # candidates at once [3]_: a candidate ranks behind those that are found better, and
    # before those that are found worse.
    #
    # Source: .. [1] C. Nadeau, Y. Bengio, "Inference for the generalization error", Machine
    # Learning 52 (2003), doi:10.1023/A:1024068626366. .. [2] S. Holm, "A simple sequentially
    # rejective multiple test procedure", Scandinavian Journal of Statistics 6 (1979). .. [3]
    # M. Mogstad, J. P. Romano, A. M. Shaikh, D. Wilhelm, "Inference for ranks with
    # applications to mobility across neighbourhoods and academic achievement across
    # countries", Review of Economic Studies 91 (2024), doi:10.1093/restud/rdad006.
    n, means = len(scores), scores.mean(axis=1)
    first, second = np.triu_indices(n, 1)
    tested = [
        corrected_t_test(scores[i] - scores[j], test_share)
        for i, j in zip(first, second, strict=True)
    ]
    p_value = np.ones((n, n))
    p_value[first, second] = p_value[second, first] = adjusted_by_holm(np.array(tested))
    behind = (p_value <= level) & (means[:, None] < means[None, :])
    return Ranks(
        # what differs by rounding alone is equal
        rank=rankdata(-means.round(12)),
        mean_rank=rankdata(-scores, axis=0).mean(axis=1),
        low=1 + behind.sum(axis=1),
        high=n - behind.sum(axis=0),
        p_value=p_value,
        friedman=_friedman(scores),
    )


def _friedman(scores: np.ndarray) -> float:
    """Return the p-value of Friedman's test; 1 where candidates are equal in each fold."""
    if len(scores) < 3 or scores.shape[1] < 2:
        return math.nan
    if (scores == scores[0]).all():
        return 1.0
    return float(friedmanchisquare(*scores).pvalue)
