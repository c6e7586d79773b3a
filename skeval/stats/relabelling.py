"""Exact tests over all ways to label exchangeable rows, and means of scores of rows."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.stats import hypergeom

from skeval.stats.intervals import wilson

BLOCK = 200  # random relabellings between two looks at the outcome
_LONG_BLOCK = 1000  # where the mean of the draws is reported too
EXCEEDANCES = 10  # random relabellings that reach what was observed, after which no more are drawn
_LABELS = 2**21  # labels held at once
NOISE = 1e-12  # statistics that differ by less are equal: sums depend on their order
Scores = tuple[np.ndarray, np.ndarray]


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
        Share of relabellings that reach what was observed; see :func:`sequential_test`.
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
        Number of random relabellings at most; see :func:`sequential_test`.
    seed : int
        The seed of the relabellings.

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
    rng = np.random.default_rng(seed)
    labels = np.arange(n_train + n_holdout) < n_train
    width = max(1, _LABELS // labels.size)

    def values(n: int) -> np.ndarray:
        parts = [statistic(shuffled(labels, m, rng)) for m in block_sizes(n, width)]
        return np.concatenate(parts)

    observed = float(statistic(labels[:, None])[0])
    return sequential_test(observed, map(values, block_sizes(n_permutations, _LONG_BLOCK)))


def shuffled(labels: np.ndarray, n: int, rng: np.random.Generator) -> np.ndarray:
    """Return n random orders of the labels, shape (n_rows, n).

    Each row is drawn on its own, with nearly the share of True as its chance; then as many random
    rows change as there are too many or too few. No set of rows of that number is likelier than
    another, as in a shuffle, which takes six times as long.
    """
    orders = np.empty((labels.size, n), dtype=np.bool_, order="F")
    n_true = int(np.count_nonzero(labels))
    limit = round(256 * n_true / max(labels.size, 1))  # of a random byte
    for column in range(n):
        order = np.frombuffer(rng.bytes(labels.size), dtype=np.uint8) < limit
        excess = int(np.count_nonzero(order)) - n_true
        changeable = np.flatnonzero(order == (excess > 0))
        order[rng.choice(changeable, abs(excess), replace=False, shuffle=False)] = excess < 0
        orders[:, column] = order
    return orders


def block_sizes(n: int, size: int = BLOCK) -> Iterator[int]:
    """Yield the sizes of the blocks in which n relabellings are drawn."""
    for start in range(0, n, size):
        yield min(size, n - start)


def labels_test(
    statistic: Callable[[np.ndarray], np.ndarray], labels: np.ndarray, drawn: Iterable[np.ndarray]
) -> Relabelled:
    """Hold a statistic of the actual labels against those of random relabellings.

    Parameters
    ----------
    statistic : callable
        As in :func:`relabelling_test`.
    labels : ndarray of shape (n_rows,), bool
        The actual labels.
    drawn : iterable of ndarray of shape (n_rows, n), bool
        Blocks of random relabellings, of which no more are asked for than are needed.

    Returns
    -------
    Relabelled
    """
    width = max(1, _LABELS // labels.size)

    def values(block: np.ndarray) -> np.ndarray:
        starts = range(0, block.shape[1], width)
        return np.concatenate([statistic(block[:, start : start + width]) for start in starts])

    observed = float(statistic(labels[:, None])[0])
    return sequential_test(observed, (values(block) for block in drawn))


def sequential_test(observed: float, draws: Iterable[np.ndarray]) -> Relabelled:
    """Hold what was observed against random draws, of which as many are made as it takes.

    Parameters
    ----------
    observed : float
        A statistic, large values of which speak of a leak.
    draws : iterable of ndarray
        Blocks of its values where nothing leaks.

    Returns
    -------
    Relabelled
        Mean and spread are over all draws of the blocks that were asked for.

    Notes
    -----
    Where k >= 10 of the n draws of the first block reach the observed value, the p-value is
    (1 + k) / (n + 1). Otherwise blocks are drawn until it is reached 10 times, and the p-value is
    10 over the number of draws that it took, which is at most 10 / (n + 1); or, where all N draws
    reach it k < 10 times, (1 + k) / (N + 1). If nothing leaks, it is at most alpha with a chance of
    at most alpha, for any alpha.

    References
    ----------
    J. Besag, P. Clifford, "Sequential Monte Carlo p-values", Biometrika 78 (1991) 301-304.

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.stats.relabelling import sequential_test
    >>> draws = np.tile([0.0, 0.0, 0.0, 1.0], 250)
    >>> tests = sequential_test(0.5, [draws, draws]), sequential_test(2.0, [draws])
    >>> [round(test.p_value, 3) for test in tests]
    [0.251, 0.001]
    """
    return sequential_tests(np.array([observed]), (block[:, None] for block in draws))[0]


def sequential_tests(observed: np.ndarray, draws: Iterable[np.ndarray]) -> list[Relabelled]:
    """Hold several statistics against draws that they have in common; see :func:`sequential_test`.

    Parameters
    ----------
    observed : ndarray of shape (n_tests,)
        The observed value of each statistic.
    draws : iterable of ndarray of shape (n, n_tests)
        Blocks, asked for until every statistic was reached often enough.
    """
    blocks: list[np.ndarray] = []
    n_reached = np.zeros(observed.size, dtype=np.int64)
    for block in draws:
        blocks.append(block)
        n_reached += (block >= observed - NOISE).sum(axis=0)
        if (n_reached >= EXCEEDANCES).all():
            break
    values = np.concatenate(blocks) if blocks else np.empty((0, observed.size))
    n_first = len(blocks[0]) if blocks else 0
    return [_stopped(float(one), values[:, i], n_first) for i, one in enumerate(observed)]


def relabelled(observed: float, draws: np.ndarray) -> Relabelled:
    """Return what was observed with its values over all draws."""
    finite = draws[np.isfinite(draws)]
    mean, spread = (float(finite.mean()), float(finite.std())) if finite.size else (0.0, 0.0)
    n_reached = int((draws >= observed - NOISE).sum())
    return Relabelled(observed, mean, spread, (1 + n_reached) / (draws.size + 1))


def _stopped(observed: float, draws: np.ndarray, n_first: int) -> Relabelled:
    """Return the test that stops at the tenth draw that reaches what was observed."""
    test = relabelled(observed, draws)
    reached = np.flatnonzero(draws >= observed - NOISE)
    if reached.size < EXCEEDANCES:
        return test
    n_drawn = int(reached[EXCEEDANCES - 1]) + 1
    if n_drawn > n_first:
        return replace(test, p_value=EXCEEDANCES / n_drawn)
    return replace(test, p_value=relabelled(observed, draws[:n_first]).p_value)


def share_p_value(n_hits: int, n: int, n_other_hits: int, n_other: int) -> float:
    """Return the chance that a random half of the pooled rows holds this many hits or more.

    Parameters
    ----------
    n_hits, n : int
        Hits and rows of the sample that a leak gives more hits.
    n_other_hits, n_other : int
        Counts of the other sample, which is drawn alike if there is no leak.

    Returns
    -------
    float
        The p-value of Fisher's exact test, one-sided.

    Examples
    --------
    >>> from skeval.stats.relabelling import share_p_value
    >>> round(share_p_value(3, 3, 0, 3), 4)
    0.05
    """
    return float(hypergeom.sf(n_hits - 1, n + n_other, n_hits + n_other_hits, n))


def least_p_value(n: int, n_other: int, n_permutations: int | None = None) -> float:
    """Return the least p-value that a test over all choices of n of n + n_other rows can give.

    Parameters
    ----------
    n, n_other : int
        Sizes of both samples.
    n_permutations : int, optional
        How many choices are drawn at most, if not all are looked at.

    Examples
    --------
    >>> from skeval.stats.relabelling import least_p_value
    >>> round(least_p_value(3, 3), 4), least_p_value(100, 100, 99)
    (0.05, 0.01)
    """
    log_choices = math.lgamma(n + n_other + 1) - math.lgamma(n + 1) - math.lgamma(n_other + 1)
    return max(math.exp(-log_choices), 1.0 / (n_permutations + 1) if n_permutations else 0.0)


def least_of_several(sizes: Iterable[tuple[int, int]]) -> float:
    """Return the least p-value of several tests, one per pair of sizes, after Bonferroni.

    Examples
    --------
    >>> from skeval.stats.relabelling import least_of_several
    >>> round(least_of_several([(3, 3), (4, 4)]), 4)
    0.0286
    """
    least = [least_p_value(*both) for both in sizes]
    return min(1.0, len(least) * min(least))


def holm(p_values: Sequence[float]) -> list[float]:
    """Return p-values that hold for several tests at once, even if they depend on each other.

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


@dataclass(frozen=True)
class RowMean:
    """A mean over rows of scores in [0, 1], and how sure it is.

    Attributes
    ----------
    value : float
        The mean; nan if no row counts.
    standard_error : float
        nan where fewer than two rows count.
    interval : tuple of (float, float)
        Wilson's, of as many independent trials as would have this standard error.
    n_rows : int
        Number of rows that count.
    """

    value: float
    standard_error: float
    interval: tuple[float, float]
    n_rows: int


def row_mean(scores: Scores, extra_variance: float = 0.0, confidence: float = 0.95) -> RowMean:
    """Return the mean of scores over rows, each of which may have been scored several times.

    Parameters
    ----------
    scores : tuple of ndarray
        For each row the sum of its scores, each in [0, 1], and their number; rows of number 0 do
        not count.
    extra_variance : float, default=0.0
        Variance of the mean that does not stem from the choice of rows.
    confidence : float, default=0.95
        In (0, 1).

    Returns
    -------
    RowMean

    Notes
    -----
    The value is the sum of the scores over their number, a ratio whose variance is that of the
    residuals. For the interval two rows are added, one of score 0 and one of 1, as in the interval
    of Agresti and Coull; the number of trials is the one for which a share has the variance that
    results. For scores of 0 and 1 that is the number of rows, and the interval is Wilson's.

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.stats.relabelling import row_mean
    >>> mean = row_mean((np.array([1.0, 0.5, 0.0]), np.array([1, 1, 0])))
    >>> mean.value, mean.n_rows
    (0.75, 2)
    >>> [round(bound, 4) for bound in mean.interval]
    [0.2418, 0.9658]
    """
    totals, counts = _counted(scores)
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
    """Return the interval of a difference from those of two independent values.

    Parameters
    ----------
    value, other : float
        The second is taken off the first.
    interval, other_interval : tuple of (float, float)
        The intervals of the values.

    Returns
    -------
    low, high : float
        Squares of the distances to the bounds add up, as in Newcombe's interval, which this is for
        two shares.

    Examples
    --------
    >>> from skeval.stats.intervals import newcombe, wilson
    >>> from skeval.stats.relabelling import difference_interval
    >>> interval = difference_interval(0.8, wilson(56, 70), 0.6, wilson(48, 80))
    >>> [round(bound, 4) for bound in interval]
    [0.0524, 0.3339]
    """
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
    """Return how often train rows score so much above holdout rows if the two are exchanged.

    Parameters
    ----------
    strata : sequence of tuple of (Scores, Scores)
        Scores of the train rows and of the holdout rows, as :func:`row_mean` takes them; rows
        change places within a stratum only.
    weights : sequence of float, default=(1.0,)
        The weights of the strata's differences of means.
    n_permutations : int, default=1999
        Number of random exchanges at most; see :func:`sequential_test`.
    seed : int, default=0
        The seed of the exchanges.

    Returns
    -------
    float
        One-sided; exact if a row's scores do not depend on its label. Fisher's test where there is
        one stratum of rows scored once, with 0 or 1. nan if a stratum lacks rows of a table.

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.stats.relabelling import exchange_p_value
    >>> once = np.ones(3, dtype=int)
    >>> round(exchange_p_value([((np.ones(3), once), (np.zeros(3), once))]), 4)
    0.05
    """
    kept = [(_counted(train), _counted(holdout)) for train, holdout in strata]
    if not kept or any(counts.size == 0 for pair in kept for _, counts in pair):
        return float("nan")
    if len(kept) == 1 and _are_binary(*kept[0]):
        hits, others = (part[0] for part in kept[0])
        return share_p_value(int(hits.sum()), hits.size, int(others.sum()), others.size)
    rng = np.random.default_rng(seed)

    def values(n: int) -> np.ndarray:
        parts = [_exchanged(train, holdout, n, rng) for train, holdout in kept]
        return np.asarray(np.array(weights) @ np.array(parts))

    means = [[part[0].sum() / part[1].sum() for part in pair] for pair in kept]
    observed = sum(
        w * (train - holdout) for w, (train, holdout) in zip(weights, means, strict=True)
    )
    return sequential_test(float(observed), map(values, block_sizes(n_permutations))).p_value


def _counted(scores: Scores) -> Scores:
    totals, counts = scores
    return totals[counts > 0], counts[counts > 0]


def _are_binary(*parts: Scores) -> bool:
    return all(
        bool((counts == 1).all() and ((totals == 0) | (totals == 1)).all())
        for totals, counts in parts
    )


def _exchanged(
    train: Scores, holdout: Scores, n_permutations: int, rng: np.random.Generator
) -> np.ndarray:
    """Return the difference of means for random choices of which rows are train."""
    n_train, n_holdout = train[0].size, holdout[0].size
    if _are_binary(train, holdout):
        hits = int(train[0].sum() + holdout[0].sum())
        drawn = rng.hypergeometric(hits, n_train + n_holdout - hits, n_train, n_permutations)
        return np.asarray(drawn / n_train - (hits - drawn) / n_holdout)
    totals, counts = (np.concatenate(parts) for parts in zip(train, holdout, strict=True))
    order = np.lexsort((totals, counts))  # the order in which the rows came must not matter
    totals, counts = totals[order], counts[order].astype(np.float64)
    n_drawn = min(n_train, n_holdout)
    sums = np.empty((2, n_permutations))
    for i in range(n_permutations):
        chosen = rng.choice(totals.size, n_drawn, replace=False, shuffle=False)
        sums[:, i] = totals[chosen].sum(), counts[chosen].sum()
    rest = totals.sum() - sums[0], counts.sum() - sums[1]
    difference = sums[0] / sums[1] - rest[0] / rest[1]
    return np.asarray(difference if n_drawn == n_train else -difference)
