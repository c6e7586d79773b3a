"""Exact tests over all ways to label exchangeable rows."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

import numpy as np
from scipy.stats import hypergeom

BLOCK = 200  # random relabelings between two checks whether to stop
_LONG_BLOCK = 1000  # block size if the mean of the draws is reported as well
EXCEEDANCES = 10  # sampling stops after this number of relabelings that reach the observed value
_LABELS = 2**21  # maximum number of labels in memory
UPPER = 0.9  # quantile of relabelings, from which quantiles of smaller levels are derived
NOISE = 1e-12  # smaller differences of statistics are ignored, because sums depend on their order


@dataclass(frozen=True)
class Relabelled:
    """A statistic with its distribution over random relabelings of the real rows."""

    observed: float
    mean: float
    spread: float
    p_value: float
    least: float = 0.0
    on_train: float = math.nan
    upper: float = math.nan

    @property
    def upper_deviation(self) -> float | None:
        """The 90% quantile of the relabelings, in standard deviations above the mean."""
        if not self.spread > NOISE or math.isnan(self.upper):
            return None
        return (self.upper - self.mean) / self.spread


def relabelling_test(
    statistic: Callable[[np.ndarray], np.ndarray],
    n_train: int,
    n_holdout: int,
    *,
    n_permutations: int,
    seed: int,
) -> Relabelled:
    """Compare a statistic with random choices of the training rows among the real rows."""
    # If the synthetic rows do not depend on the choice of the training rows among the pooled real
    # rows, all choices are equally likely. Then, a statistic that is large for memorized training
    # rows reaches the observed value only at random.
    rng = np.random.default_rng(seed)
    labels = np.arange(n_train + n_holdout) < n_train
    width = max(1, _LABELS // labels.size)

    def values(n: int) -> np.ndarray:
        parts = [statistic(shuffle_labels(labels, m, rng)) for m in block_sizes(n, width)]
        return np.concatenate(parts)

    observed = float(statistic(labels[:, None])[0])
    return sequential_test(observed, map(values, block_sizes(n_permutations, _LONG_BLOCK)))


def shuffle_labels(labels: np.ndarray, n: int, rng: np.random.Generator) -> np.ndarray:
    """Return n random orders of the labels, shape (n_rows, n)."""
    # Each row is drawn independently, with a probability close to the fraction of True. Then,
    # random rows are changed until the number of True is correct. All sets of rows of this number
    # are equally likely, as in a shuffle, which is six times slower.
    orders = np.empty((labels.size, n), dtype=np.bool_, order="F")
    n_true = int(np.count_nonzero(labels))
    limit = round(256 * n_true / max(labels.size, 1))  # a smaller random byte means True
    for column in range(n):
        order = np.frombuffer(rng.bytes(labels.size), dtype=np.uint8) < limit
        excess = int(np.count_nonzero(order)) - n_true
        changeable = np.flatnonzero(order == (excess > 0))
        order[rng.choice(changeable, abs(excess), replace=False, shuffle=False)] = excess < 0
        orders[:, column] = order
    return orders


def block_sizes(n: int, size: int = BLOCK) -> Iterator[int]:
    """Yield the sizes of the blocks in which n relabelings are drawn."""
    for start in range(0, n, size):
        yield min(size, n - start)


def labels_test(
    statistic: Callable[[np.ndarray], np.ndarray], labels: np.ndarray, drawn: Iterable[np.ndarray]
) -> Relabelled:
    """Compare a statistic of the actual labels with random relabelings."""
    width = max(1, _LABELS // labels.size)

    def values(block: np.ndarray) -> np.ndarray:
        starts = range(0, block.shape[1], width)
        return np.concatenate([statistic(block[:, start : start + width]) for start in starts])

    observed = float(statistic(labels[:, None])[0])
    return sequential_test(observed, (values(block) for block in drawn))


def sequential_test(observed: float, draws: Iterable[np.ndarray]) -> Relabelled:
    """Compare the observed value with random draws, and stop when the p-value is clear."""
    # If k >= 10 of the n draws of the first block reach the observed value, the p-value is
    # (1 + k) / (n + 1). Otherwise, blocks are drawn until the value is reached 10 times. Then, the
    # p-value is 10 divided by the number of draws, which is at most 10 / (n + 1). If all N draws
    # reach the value k < 10 times, the p-value is (1 + k) / (N + 1). Without a leak, the
    # probability of a p-value of at most alpha is at most alpha, for any alpha.
    #
    # Source: J. Besag, P. Clifford, "Sequential Monte Carlo p-values", Biometrika 78 (1991)
    # 301-304.
    return sequential_tests(np.array([observed]), (block[:, None] for block in draws))[0]


def sequential_tests(observed: np.ndarray, draws: Iterable[np.ndarray]) -> list[Relabelled]:
    """Compare several statistics with the same draws."""
    # See :func:`sequential_test`.
    blocks: list[np.ndarray] = []
    n_reached = np.zeros(observed.size, dtype=np.int64)
    for block in draws:
        blocks.append(block)
        n_reached += (block >= observed - NOISE).sum(axis=0)
        if (n_reached >= EXCEEDANCES).all():
            break
    values = np.concatenate(blocks) if blocks else np.empty((0, observed.size))
    n_first = len(blocks[0]) if blocks else 0
    return [
        _compare_sequentially(float(one), values[:, i], n_first) for i, one in enumerate(observed)
    ]


def sides_test(blocks: Iterator[np.ndarray], *, high_leaks: bool = True) -> Relabelled:
    """Test the difference of a number of the training data from that of the holdout data."""
    sign, on_train = 1.0 if high_leaks else -1.0, []

    def differences(block: np.ndarray) -> np.ndarray:
        with np.errstate(invalid="ignore"):  # two infinite numbers do not differ
            values = sign * (block[:, 0] - block[:, 1])
        return np.nan_to_num(values, posinf=np.inf, neginf=-np.inf)

    def draws() -> Iterator[np.ndarray]:
        for block in blocks:
            on_train.append(block[:, 0])
            yield differences(block)

    observed = float(differences(next(blocks))[0])
    test = sequential_test(observed, draws())
    drawn = np.concatenate(on_train) if on_train else np.empty(0)
    finite = drawn[np.isfinite(drawn)]
    return replace(test, on_train=float(finite.mean()) if finite.size else math.nan)


def compare_with_draws(observed: float, draws: np.ndarray) -> Relabelled:
    """Return the observed value with its distribution over all draws."""
    finite = draws[np.isfinite(draws)]
    mean, spread = (float(finite.mean()), float(finite.std())) if finite.size else (0.0, 0.0)
    upper = float(np.quantile(finite, UPPER)) if finite.size else math.nan
    n_reached = int((draws >= observed - NOISE).sum())
    p_value = (1 + n_reached) / (draws.size + 1)
    return Relabelled(observed, mean, spread, p_value, upper=upper)


def _compare_sequentially(observed: float, draws: np.ndarray, n_first: int) -> Relabelled:
    """Return the test that stops at the tenth draw that reaches the observed value."""
    test = compare_with_draws(observed, draws)
    reached = np.flatnonzero(draws >= observed - NOISE)
    if reached.size < EXCEEDANCES:
        return test
    n_drawn = int(reached[EXCEEDANCES - 1]) + 1
    if n_drawn > n_first:
        return replace(test, p_value=EXCEEDANCES / n_drawn)
    return replace(test, p_value=compare_with_draws(observed, draws[:n_first]).p_value)


def share_p_value(n_hits: int, n: int, n_other_hits: int, n_other: int) -> float:
    """Return the probability that `n` random rows of the pool have at least this number of hits."""
    return float(hypergeom.sf(n_hits - 1, n + n_other, n_hits + n_other_hits, n))


def least_p_value(n: int, n_other: int, n_permutations: int | None = None) -> float:
    """Return the smallest possible p-value of a test over all choices of n rows."""
    log_choices = math.lgamma(n + n_other + 1) - math.lgamma(n + 1) - math.lgamma(n_other + 1)
    return max(math.exp(-log_choices), 1.0 / (n_permutations + 1) if n_permutations else 0.0)


def least_p_value_of_lists(
    n_listed: int, n_train: int, n_real: int, n_permutations: int | None = None
) -> float:
    """Return the smallest possible p-value of a test in which only some real rows count."""
    # It is the probability that all of these rows are training rows, which are the labels with the
    # largest statistic.
    all_of_train = float(hypergeom.pmf(n_listed, n_real, n_listed, n_train))
    return max(all_of_train, 1.0 / (n_permutations + 1) if n_permutations else 0.0)


def least_of_several(sizes: Iterable[tuple[int, int]]) -> float:
    """Return the smallest p-value of several tests, one per pair of sizes, after Bonferroni."""
    least = [least_p_value(*both) for both in sizes]
    return min(1.0, len(least) * min(least))
