"""The runs test of Wald and Wolfowitz, for samples that alternate more than expected."""

from __future__ import annotations

import numpy as np

from skeval.stats.distributions import log_choose


def alternation_p_value(first: np.ndarray, second: np.ndarray) -> float:
    """Return the p-value of at least this number of runs in the sorted values of two samples."""
    # Values that occur in both samples have no order and are skipped. If the two samples
    # have different distributions, there are fewer runs, so that the p-value is too large.
    common = np.intersect1d(first, second)
    samples = [one[~np.isin(one, common)] for one in (first, second)]
    sizes = [one.size for one in samples]
    if min(sizes) < 1:
        return 1.0
    labels = np.repeat([0, 1], sizes)[np.argsort(np.concatenate(samples), kind="stable")]
    n_runs = 1 + int((np.diff(labels) != 0).sum())
    return float(min(1.0, _run_chances(*sizes)[n_runs - 2 :].sum()))


def _run_chances(n_first: int, n_second: int) -> np.ndarray:
    """Return the probabilities of 2, 3, ... runs under all orders of the labels."""
    runs = np.arange(2, n_first + n_second + 1)
    parts = runs // 2
    ways = _log_parts(n_first, parts) + _log_parts(n_second, parts) + np.log(2.0)
    odd = runs % 2 == 1
    more = np.logaddexp(
        _log_parts(n_first, parts + 1) + _log_parts(n_second, parts),
        _log_parts(n_first, parts) + _log_parts(n_second, parts + 1),
    )
    total = log_choose(n_first + n_second, n_first)
    return np.exp(np.where(odd, more, ways) - total)


def _log_parts(n: int, parts: np.ndarray) -> np.ndarray:
    """Return the logarithm of the number of ways to divide a sequence into nonempty parts."""
    possible = (parts >= 1) & (parts <= n)
    return np.where(possible, log_choose(n - 1, np.clip(parts, 1, n) - 1), -np.inf)
