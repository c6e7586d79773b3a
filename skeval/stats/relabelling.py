"""Exact tests over all ways to label exchangeable rows, and p-values of several tests at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import hypergeom

_BLOCK = 2**21  # labels held at once
NOISE = 1e-12  # statistics that differ by less are equal: sums depend on their order


@dataclass(frozen=True)
class Relabelled:
    """A statistic, and what it is over random relabellings of the real rows.

    Attributes
    ----------
    observed : float
        Under the labels that the rows have.
    mean, spread : float
        Mean and standard deviation over the relabellings.
    p_value : float
        Share of relabellings, the actual labels among them, that reach what was observed.
    """

    observed: float
    mean: float
    spread: float
    p_value: float


def relabelling_test(
    statistic: Callable[[np.ndarray], np.ndarray],
    n_train: int,
    n_holdout: int,
    *,
    n_permutations: int,
    seed: int,
) -> Relabelled:
    """Hold a statistic against random choices of which real rows were train.

    If the synthetic rows do not depend on which of the pooled real rows were train, all choices
    are equally likely given them, and a statistic that is large where train was learned reaches the
    observed value by chance only.

    Parameters
    ----------
    statistic : callable
        Takes labels of shape (n_train + n_holdout, n), True for train, and returns n values; large
        ones speak of a leak. The rows are those of train, then those of the holdout.
    n_train, n_holdout : int
        Numbers of rows.
    n_permutations : int
        Number of random relabellings.
    seed : int
        Of the relabellings.

    Returns
    -------
    Relabelled

    Examples
    --------
    The mean of the train rows among 0, ..., 9 is highest for the last five: 1 choice in 252.

    >>> import numpy as np
    >>> from skeval.stats.relabelling import relabelling_test
    >>> values = np.arange(10)[::-1]
    >>> test = relabelling_test(
    ...     lambda labels: values @ labels / 5, 5, 5, n_permutations=999, seed=0
    ... )
    >>> test.observed, test.p_value < 0.02
    (7.0, True)
    """
    n_rows = n_train + n_holdout
    rng = np.random.default_rng(seed)
    labels = np.arange(n_rows) < n_train
    observed = float(statistic(labels[:, None])[0])
    width = max(1, _BLOCK // n_rows)
    draws = [
        statistic(shuffled(labels, min(width, n_permutations - start), rng))
        for start in range(0, n_permutations, width)
    ]
    return compared(observed, np.concatenate(draws))


def shuffled(labels: np.ndarray, n: int, rng: np.random.Generator) -> np.ndarray:
    """Return n random orders of the labels, shape (n_rows, n)."""
    orders = np.empty((labels.size, n), dtype=np.bool_, order="F")
    for column in range(n):
        orders[:, column] = rng.permutation(labels)
    return orders


def labels_test(statistic: Callable[[np.ndarray], np.ndarray], labels: np.ndarray) -> Relabelled:
    """Hold a statistic of the first of several labellings against those of the others.

    Parameters
    ----------
    statistic : callable
        As in :func:`relabelling_test`.
    labels : ndarray of shape (n_rows, 1 + n_permutations), bool
        The actual labels, then random relabellings.

    Returns
    -------
    Relabelled
    """
    width = max(1, _BLOCK // len(labels))
    values = np.concatenate(
        [statistic(labels[:, start : start + width]) for start in range(0, labels.shape[1], width)]
    )
    return compared(float(values[0]), values[1:])


def compared(observed: float, draws: np.ndarray) -> Relabelled:
    """Return what was observed with its values over relabellings."""
    finite = draws[np.isfinite(draws)]
    mean, spread = (float(finite.mean()), float(finite.std())) if finite.size else (0.0, 0.0)
    n_reached = int((draws >= observed - NOISE).sum())
    return Relabelled(observed, mean, spread, (1 + n_reached) / (draws.size + 1))


def share_p_value(n_hits: int, n: int, n_other_hits: int, n_other: int) -> float:
    """Return the chance that a random half of the pooled rows holds so many of the hits or more.

    Parameters
    ----------
    n_hits, n : int
        Hits and rows of the sample that a leak gives more hits.
    n_other_hits, n_other : int
        Of the other sample, which is drawn alike if there is no leak.

    Returns
    -------
    float
        Of Fisher's exact test, one-sided.

    Examples
    --------
    >>> from skeval.stats.relabelling import share_p_value
    >>> round(share_p_value(3, 3, 0, 3), 4)
    0.05
    """
    return float(hypergeom.sf(n_hits - 1, n + n_other, n_hits + n_other_hits, n))


def holm(p_values: Sequence[float]) -> list[float]:
    """Return p-values that hold for several tests at once, whatever the tests have in common.

    Parameters
    ----------
    p_values : sequence of float
        One for each test.

    Returns
    -------
    list of float
        In the same order: the least times the number of tests, the next times one fewer and at
        least as large as the one before, and so on; never above 1.

    References
    ----------
    S. Holm, "A simple sequentially rejective multiple test procedure", Scandinavian Journal of
    Statistics 6 (1979) 65-70.

    Examples
    --------
    >>> from skeval.stats.relabelling import holm
    >>> holm([0.01, 0.5, 0.02])
    [0.03, 0.5, 0.04]
    """
    given = np.asarray(p_values, dtype=np.float64)
    order = np.argsort(given, kind="stable")
    stepped = np.maximum.accumulate(given[order] * np.arange(given.size, 0, -1))
    adjusted = np.empty(given.size)
    adjusted[order] = np.minimum(stepped, 1.0)
    return [float(p_value) for p_value in adjusted]
