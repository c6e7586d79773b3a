"""The largest values that further samples of the same distribution might have."""

from __future__ import annotations

import numpy as np
from scipy.special import digamma
from scipy.stats import gumbel_r

N_LARGEST = 10  # number of largest values from which the distribution of the maximum is estimated
_MAX_SPAN = 100.0  # ratio of these values up to which their logarithms are used
_MAX = 2.0**1022  # the difference of larger numbers may overflow


def maxima_of_further_samples(values: np.ndarray, n_samples: int) -> np.ndarray | None:
    """Return the maxima of samples in ascending order, or None if they do not vary."""
    # If a distribution has an exponential tail, the gaps between the largest values of a sample are
    # independent exponential variables, and the k-th gap from the top has a mean of scale / k. The
    # maximum has a Gumbel distribution, whose mean and variance the returned maxima have. If the
    # largest values are positive, the same is assumed of their logarithms, because incomes and
    # amounts have heavier tails, unless they are so different that they belong to no common tail,
    # for example values below and above a detection limit. For tails in between, the variance is
    # too large, for example by a quarter for 10,000 normal or lognormal values.
    #
    # Source: A. Renyi, "On the theory of order statistics", Acta Mathematica Academiae Scientiarum
    # Hungaricae 4 (1953), doi:10.1007/BF02127580.
    if values.size <= 2 * N_LARGEST:
        return None
    top = np.sort(np.partition(values, -N_LARGEST - 1)[-N_LARGEST - 1 :])
    if top[0] == top[-1]:
        return None
    largest, has_logs = float(top[-1]), top[0] > 0.0 and top[-1] / _MAX_SPAN <= top[0]
    if has_logs:
        top = np.log(top)
    scale = float((np.diff(top) * (np.arange(N_LARGEST, 0, -1) / N_LARGEST)).sum())
    maxima = top[0] + min(scale, _MAX / 8.0) * (digamma(N_LARGEST + 1) + _gumbel_scores(n_samples))
    if has_logs:
        maxima = np.exp(np.minimum(maxima, np.log(_MAX)))
    # numbers that are never positive, for example negative ages, are not positive in other samples
    return np.minimum(maxima, _MAX if largest > 0.0 else 0.0)


def _gumbel_scores(n: int) -> np.ndarray:
    """Return n ascending numbers with the mean and the variance of a Gumbel distribution."""
    scores = gumbel_r.ppf((np.arange(n) + 0.5) / n)
    scores = (scores - scores.mean()) / scores.std(ddof=1)
    return np.asarray(gumbel_r.mean() + gumbel_r.std() * scores)
