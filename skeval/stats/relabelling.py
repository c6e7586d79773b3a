"""Exact tests over all ways to label exchangeable rows, and means of scores of rows.

Is a row's nearest neighbour of its own table: shares, their variance, and relabellings.

Lower bounds of the distance of two distributions, from scores of unseen rows.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.stats import beta, hypergeom

from skeval.stats.intervals import wilson

# The level of all alarms of a suite together, and of one metric that is used alone.
ALARM_LEVEL = 0.05
BLOCK = 200  # random relabellings between two looks at the outcome
_LONG_BLOCK = 1000  # where the mean of the draws is reported too
EXCEEDANCES = 10  # random relabellings that reach what was observed, after which no more are drawn
_LABELS = 2**21  # labels held at once
NOISE = 1e-12  # statistics that differ by less are equal: sums depend on their order
Scores = tuple[np.ndarray, np.ndarray]


@dataclass(frozen=True)
class Relabelled:
    """A statistic, and what it is over random relabellings of the real rows."""

    observed: float
    mean: float
    spread: float
    p_value: float
    least: float = 0.0
    on_train: float = math.nan


def relabelling_test(
    statistic: Callable[[np.ndarray], np.ndarray],
    n_train: int,
    n_holdout: int,
    *,
    n_permutations: int,
    seed: int,
) -> Relabelled:
    """Hold a statistic against random choices of which real rows were train."""
    # If the synthetic rows do not depend on which of the pooled real rows were train, all
    # choices are equally likely given them, and a statistic that is large where train was
    # learned reaches the observed value by chance only.
    rng = np.random.default_rng(seed)
    labels = np.arange(n_train + n_holdout) < n_train
    width = max(1, _LABELS // labels.size)

    def values(n: int) -> np.ndarray:
        parts = [statistic(shuffled(labels, m, rng)) for m in block_sizes(n, width)]
        return np.concatenate(parts)

    observed = float(statistic(labels[:, None])[0])
    return sequential_test(observed, map(values, block_sizes(n_permutations, _LONG_BLOCK)))


def shuffled(labels: np.ndarray, n: int, rng: np.random.Generator) -> np.ndarray:
    """Return n random orders of the labels, shape (n_rows, n)."""
    # Each row is drawn on its own, with nearly the share of True as its chance; then as many
    # random rows change as there are too many or too few. No set of rows of that number is
    # likelier than another, as in a shuffle, which takes six times as long.
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
    """Hold a statistic of the actual labels against those of random relabellings."""
    width = max(1, _LABELS // labels.size)

    def values(block: np.ndarray) -> np.ndarray:
        starts = range(0, block.shape[1], width)
        return np.concatenate([statistic(block[:, start : start + width]) for start in starts])

    observed = float(statistic(labels[:, None])[0])
    return sequential_test(observed, (values(block) for block in drawn))


def sequential_test(observed: float, draws: Iterable[np.ndarray]) -> Relabelled:
    """Hold what was observed against random draws, of which as many are made as it takes."""
    # Where k >= 10 of the n draws of the first block reach the observed value, the p-value is
    # (1 + k) / (n + 1). Otherwise blocks are drawn until it is reached 10 times, and the
    # p-value is 10 over the number of draws that it took, which is at most 10 / (n + 1); or,
    # where all N draws reach it k < 10 times, (1 + k) / (N + 1). If nothing leaks, it is at
    # most alpha with a chance of at most alpha, for any alpha.
    #
    # Source: J. Besag, P. Clifford, "Sequential Monte Carlo p-values", Biometrika 78 (1991)
    # 301-304.
    return sequential_tests(np.array([observed]), (block[:, None] for block in draws))[0]


def sequential_tests(observed: np.ndarray, draws: Iterable[np.ndarray]) -> list[Relabelled]:
    """Hold several statistics against draws that they have in common."""
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
    return [_stopped(float(one), values[:, i], n_first) for i, one in enumerate(observed)]


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
    """Return the chance that a random half of the pooled rows holds this many hits or more."""
    return float(hypergeom.sf(n_hits - 1, n + n_other, n_hits + n_other_hits, n))


def least_p_value(n: int, n_other: int, n_permutations: int | None = None) -> float:
    """Return the least p-value that a test over all choices of n of n + n_other rows can give."""
    log_choices = math.lgamma(n + n_other + 1) - math.lgamma(n + 1) - math.lgamma(n_other + 1)
    return max(math.exp(-log_choices), 1.0 / (n_permutations + 1) if n_permutations else 0.0)


def least_of_listed(
    n_listed: int, n_train: int, n_real: int, n_permutations: int | None = None
) -> float:
    """Return the least p-value of a test in which some real rows count, and the others do not."""
    # It is the chance that all of them are train: more speak for a leak under no labels.
    all_of_train = float(hypergeom.pmf(n_listed, n_real, n_listed, n_train))
    return max(all_of_train, 1.0 / (n_permutations + 1) if n_permutations else 0.0)


def least_of_several(sizes: Iterable[tuple[int, int]]) -> float:
    """Return the least p-value of several tests, one per pair of sizes, after Bonferroni."""
    least = [least_p_value(*both) for both in sizes]
    return min(1.0, len(least) * min(least))


def holm(p_values: Sequence[float], weights: Sequence[float] | None = None) -> list[float]:
    """Return p-values that hold for several tests at once, even if they depend on each other."""
    # Source: S. Holm, "A simple sequentially rejective multiple test procedure", Scandinavian
    # Journal of Statistics 6 (1979) 65-70.
    given = np.asarray(p_values, dtype=np.float64)
    shares = np.ones(given.size) if weights is None else np.asarray(weights, dtype=np.float64)
    order = np.argsort(given / shares, kind="stable")
    left = np.cumsum(shares[order][::-1])[::-1]
    stepped = np.maximum.accumulate(given[order] * left / shares[order])
    adjusted = np.empty(given.size)
    adjusted[order] = np.minimum(stepped, 1.0)
    return [float(p_value) for p_value in adjusted]


@dataclass(frozen=True)
class RowMean:
    """A mean over rows of scores in [0, 1], and how sure it is."""

    value: float
    standard_error: float
    interval: tuple[float, float]
    n_rows: int


def row_mean(scores: Scores, extra_variance: float = 0.0, confidence: float = 0.95) -> RowMean:
    """Return the mean of scores over rows, each of which may have been scored several times."""
    # The value is the sum of the scores over their number, a ratio whose variance is that of
    # the residuals. For the interval two rows are added, one of score 0 and one of 1, as in
    # the interval of Agresti and Coull; the number of trials is the one for which a share has
    # the variance that results. For scores of 0 and 1 that is the number of rows, and the
    # interval is Wilson's.
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
    """Return the interval of a difference from those of two independent values."""
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
    """Return how often train rows score so much above holdout rows if the two are exchanged."""
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


Nearest = tuple[np.ndarray, np.ndarray]  # distances and positions, shape (n_rows,) each


@dataclass(frozen=True)
class Adversarial:
    """Adversarial accuracy of two tables of equal size."""

    first: float
    second: float
    variance: float
    n_rows: int

    @property
    def accuracy(self) -> float:
        """The mean of both shares."""
        return (self.first + self.second) / 2.0


def adversarial(
    to_second: Nearest, to_first: Nearest, within_first: Nearest, within_second: Nearest, ties: str
) -> Adversarial:
    """Return the adversarial accuracy of two tables from their nearest neighbours."""
    n_first = within_first[0].size
    own = [
        own_is_nearer(other[0], within[0], ties)
        for other, within in ((to_second, within_first), (to_first, within_second))
    ]
    # position in the pooled rows, the first table's rows before those of the second
    of_first = np.where(own[0] > 0, within_first[1], n_first + to_second[1])
    of_second = np.where(own[1] > 0, n_first + within_second[1], to_first[1])
    towards = np.concatenate([of_first, of_second])
    centred = np.concatenate([values - values.mean() for values in own])
    variance = _paired_sum(centred, towards) / centred.size**2
    return Adversarial(float(own[0].mean()), float(own[1].mean()), variance, centred.size)


def own_is_nearer(to_other: np.ndarray, within: np.ndarray, ties: str) -> np.ndarray:
    """Return 1 for rows whose own table is nearer than another, else 0; ties count as given."""
    nearer = (to_other > within).astype(np.float64)
    return nearer + 0.5 * (to_other == within) if ties == "half" else nearer


def _paired_sum(centred: np.ndarray, towards: np.ndarray) -> float:
    """Return the sum of squares, and of products over rows that are each other's nearest."""
    # Two such rows have one answer between them. Counting them as two would make the variance
    # a third too small.
    is_mutual = (towards >= 0) & (towards[towards] == np.arange(towards.size))
    products = (centred * centred[towards])[is_mutual]
    return max(0.0, float(centred @ centred + products.sum()))


def clustered_variance(holds: np.ndarray, clusters: np.ndarray) -> float:
    """Return the variance of a share where the rows of one cluster are one piece of evidence."""
    sums = np.bincount(clusters, holds - holds.mean())
    return float(sums @ sums) / holds.size**2


def share_with_pairs(holds: np.ndarray, towards: np.ndarray) -> tuple[float, float]:
    """Return the share of rows for which a statement holds, and its variance."""
    share = float(holds.mean())
    return share, _paired_sum(holds - share, towards) / holds.size**2


def paired_interval(share: float, variance: float, n: int) -> tuple[float, float]:
    """Return Wilson's interval of a share, at as many independent rows as have its variance.

    If the share is 0 or 1 no variance shows; every row then counts as one of a pair.
    """
    spread = share * (1.0 - share)
    n_effective = spread / variance if variance > 0 and spread > 0 else n / 2.0
    return wilson(share * n_effective, n_effective)


def labels_listed(rows: np.ndarray, labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return whether each list holds a row labelled True, and whether it holds no other."""
    has_any = np.zeros((len(rows), labels.shape[1]), dtype=np.uint8)
    has_all = np.full_like(has_any, 255)
    lengths = (rows >= 0).sum(axis=1)
    order = np.argsort(-lengths, kind="stable")  # so that the lists of a length are one slice
    for place, column in enumerate(rows[order].T):
        n_longer = int(np.count_nonzero(lengths > place))
        of_listed = labels[column[:n_longer]]
        has_any[:n_longer] |= of_listed
        has_all[:n_longer] &= of_listed
    back = np.argsort(order)
    return has_any[back], has_all[back]


def bit_counts(bits: np.ndarray) -> np.ndarray:
    """Count the bits that are set in each column of bits, by adding rows as binary digits."""
    counts, weight = np.zeros(8 * bits.shape[1], dtype=np.int64), 1
    while len(bits):
        carried = []
        while len(bits) >= 3:  # three rows are one of their sum's last digits and one that carries
            third = len(bits) // 3
            a, b, c = bits[: 3 * third].reshape(3, third, -1)
            differ = a ^ b
            carried.append((a & b) | (c & differ))
            bits = np.concatenate([differ ^ c, bits[3 * third :]])
        counts += weight * np.unpackbits(bits, axis=1).sum(axis=0, dtype=np.int64)
        bits, weight = np.concatenate([bits[:0], *carried]), 2 * weight
    return counts


_HALF = 0.5
_SURE = 2.0**-20  # a probability nearer to 0 or 1 is taken as this: a sure mistake costs 20 bits


@dataclass(frozen=True)
class Confusion:
    """How many unseen rows a classifier takes for what."""

    # A score above 1/2 reads as synthetic. One of exactly 1/2 tells nothing and counts as
    # half a row right in `accuracy`, and as real in the counts.

    n_real: int
    n_synthetic: int
    n_real_as_synthetic: int
    n_synthetic_as_synthetic: int
    accuracy: float

    @classmethod
    def of(cls, real: np.ndarray, synthetic: np.ndarray) -> Confusion:
        """Count the scores of real and synthetic rows."""
        wrong = float((real > _HALF).mean() + (real == _HALF).mean() / 2.0)
        right = float((synthetic > _HALF).mean() + (synthetic == _HALF).mean() / 2.0)
        return cls(
            real.size,
            synthetic.size,
            int((real > _HALF).sum()),
            int((synthetic > _HALF).sum()),
            (1.0 - wrong + right) / 2.0,
        )

    @property
    def n_errors(self) -> int:
        """Number of rows that are read wrongly."""
        return self.n_real_as_synthetic + self.n_synthetic - self.n_synthetic_as_synthetic


def pooled_bound(n_errors: int, n: int, confidence: float = 0.95) -> float:
    """Return a lower bound of the total variation distance from the errors of a classifier."""
    # The best classifier of two distributions, equally likely, errs with the probability `(1
    # - TV) / 2`, and any other more often. Hence `TV >= 1 - 2 R`, and R is at most the upper
    # bound of Clopper and Pearson. Half the rows being of each distribution, the number of
    # errors is a sum of two binomials, which varies less than one with their mean does.
    #
    # Source: L. Tao et al., "Discriminative estimation of total variation distance: a
    # fidelity auditor for generative data" (2024), arXiv:2405.15337, has the inequality; the
    # exact bound is ours.
    most = 1.0 if n_errors >= n else float(beta.ppf(confidence, n_errors + 1, n - n_errors))
    return max(0.0, 1.0 - 2.0 * most)


def two_sided_bound(confusion: Confusion, confidence: float = 0.95) -> float:
    """Return a lower bound of the total variation distance from both rates, at any sizes."""
    # The shares of synthetic and of real rows that are read rightly have a lower bound of
    # Clopper and Pearson each, at half the level; their sum less 1 is the bound.
    level = (1.0 - confidence) / 2.0
    hits = confusion.n_synthetic_as_synthetic
    rejections = confusion.n_real - confusion.n_real_as_synthetic
    rates = (
        float(beta.ppf(level, k, n - k + 1)) if k > 0 else 0.0
        for k, n in ((hits, confusion.n_synthetic), (rejections, confusion.n_real))
    )
    return max(0.0, sum(rates) - 1.0)


def separation(real: np.ndarray, synthetic: np.ndarray) -> float:
    """Return the greatest difference of the share of synthetic and of real scores above a value."""
    at = np.concatenate([real, synthetic])
    above = [
        1.0 - np.searchsorted(np.sort(scores), at, side="right") / scores.size
        for scores in (synthetic, real)
    ]
    return max(0.0, float((above[0] - above[1]).max()))


def ks_bound(real: np.ndarray, synthetic: np.ndarray, confidence: float = 0.95) -> float:
    """Get a lower bound of the total variation distance that holds for all thresholds at once."""
    level = 1.0 - confidence
    slack = sum(np.sqrt(np.log(2.0 / level) / (2.0 * n)) for n in (real.size, synthetic.size))
    return max(0.0, separation(real, synthetic) - float(slack))


def jensen_shannon_terms(real: np.ndarray, synthetic: np.ndarray) -> tuple[float, float]:
    """Return what probabilities bound the Jensen-Shannon divergence by, and its standard error."""
    # The divergence is the information of a row on which table it is of, `ln 2` less the
    # log-loss of the true probabilities; any others lose more.
    losses = [-np.log2(np.clip(right, _SURE, 1.0 - _SURE)) for right in (1.0 - real, synthetic)]
    variances = [loss.var(ddof=1) / loss.size if loss.size > 1 else np.inf for loss in losses]
    mean = sum(float(loss.mean()) for loss in losses) / 2.0
    return 1.0 - mean, float(np.sqrt(sum(variances))) / 2.0
