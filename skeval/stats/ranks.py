"""Ranks of candidates that were scored on the same folds, with a confidence set of each rank."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.stats import friedmanchisquare, rankdata

from skeval.stats.folds import corrected_t_test
from skeval.stats.multiple_testing import holm


@dataclass(frozen=True)
class Ranks:
    """The ranks of candidates, where 1 is the best."""

    rank: np.ndarray
    mean_rank: np.ndarray
    low: np.ndarray
    high: np.ndarray
    p_value: np.ndarray
    friedman: float


def ranks_of(scores: np.ndarray, test_share: float, level: float = 0.05) -> Ranks:
    """Rank candidates by their scores on the same folds."""
    # Each pair is tested by the corrected resampled t-test [1]_ on the differences in the
    # same folds. With Holm's procedure [2]_, the probability of any false difference is at most
    # `level`. The significant differences give a joint confidence set of the ranks of all
    # candidates [3]_. A candidate ranks after all candidates that are significantly better, and
    # before all candidates that are significantly worse.
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
    p_value[first, second] = p_value[second, first] = holm(tested)
    behind = (p_value <= level) & (means[:, None] < means[None, :])
    return Ranks(
        # values that differ only by rounding errors are equal
        rank=rankdata(-means.round(12)),
        mean_rank=rankdata(-scores, axis=0).mean(axis=1),
        low=1 + behind.sum(axis=1),
        high=n - behind.sum(axis=0),
        p_value=p_value,
        friedman=_friedman(scores),
    )


def _friedman(scores: np.ndarray) -> float:
    """Return the p-value of Friedman's test, or 1 if candidates are equal in each fold."""
    if len(scores) < 3 or scores.shape[1] < 2:
        return math.nan
    if (scores == scores[0]).all():
        return 1.0
    return float(friedmanchisquare(*scores).pvalue)
