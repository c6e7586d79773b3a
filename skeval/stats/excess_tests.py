"""Tests that attacks on the same rows succeed more often on train rows than on holdout rows."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import numpy as np
from scipy.stats import hypergeom

from skeval.stats.abstention import Abstention, among_surest
from skeval.stats.permutation_tests import (
    NOISE,
    Relabelled,
    block_sizes,
    sequential_test,
    share_p_value,
)

N_DRAWS = 999  # relabellings that say what chance gives; a test goes on with more where it must
_MAX_DRAWS = 9_999
_CELLS = 2**21  # labels held at once
_MAX_FEW_LEVELS = 32  # of scores, so that drawing how many rows have each is quicker than shuffling


def scores_p_value(
    train: np.ndarray, holdout: np.ndarray, *, n_relabellings: int = 9999, seed: int = 0
) -> float:
    """Return how often a random choice of the train rows gives them so high a mean, or higher."""
    pooled = np.concatenate([train, holdout])
    levels, counts = np.unique(pooled.round(12), return_counts=True)
    if levels.size == 1:
        return 1.0
    if levels.size == 2:  # one hit more or less is one row of the higher level
        hits, others = (int((s.round(12) == levels[1]).sum()) for s in (train, holdout))
        return share_p_value(hits, train.size, others, holdout.size)
    sums = _sums_by_level(levels, counts, train.size, n_relabellings, np.random.default_rng(seed))
    return (1 + int((sums >= float(train.sum()) - 1e-9).sum())) / (1 + n_relabellings)


def _sums_by_level(
    levels: np.ndarray, counts: np.ndarray, n_train: int, n_draws: int, rng: np.random.Generator
) -> np.ndarray:
    """Return sums over random choices of rows; those of one score are exchangeable."""
    drawn = rng.multivariate_hypergeometric(counts, n_train, size=n_draws, method="marginals")
    return np.asarray(drawn @ levels)


def relabelled_sums(
    scores: np.ndarray, n_train: int, n_draws: int, rng: np.random.Generator
) -> np.ndarray:
    """Return the sums over random choices of the train rows, shape (n_draws, n_attacks)."""
    if scores.shape[1] == 1:
        levels, counts = np.unique(scores, return_counts=True)
        if levels.size <= _MAX_FEW_LEVELS:
            return _sums_by_level(levels, counts, n_train, n_draws, rng)[:, None]
    labels, width = np.arange(len(scores)) < n_train, max(1, _CELLS // len(scores))
    sums = [
        np.stack([rng.permutation(labels) for _ in range(size)]).astype(np.float64) @ scores
        for size in block_sizes(n_draws, width)
    ]
    return np.concatenate(sums)


def largest_excess_test(
    scores: np.ndarray, n_train: int, *, seed: int = 0
) -> tuple[Relabelled, np.ndarray]:
    """Test several attacks on the same rows at once."""
    # By the largest standardised excess of train.
    #
    # If the synthetic table does not depend on which real rows were train, all choices of
    # them are equally likely. The sum of the scores over train is held against its mean and
    # standard deviation over all choices, which are known; the largest of these excesses
    # against the largest in 999 random choices, or up to 9,999 where few of these reach it.
    #
    # Source: P. H. Westfall, S. S. Young, "Resampling-based multiple testing", Wiley (1993).
    standardised = _standardize_scores(scores, n_train)
    rng = np.random.default_rng(seed)
    return _jointly(
        standardised[:n_train].sum(axis=0),
        lambda size: relabelled_sums(standardised, n_train, size, rng),
    )


def _standardize_scores(scores: np.ndarray, n_train: int) -> np.ndarray:
    """Return scores whose sums over random choices of train have mean 0 and variance 1."""
    n_rows = len(scores)
    centred = scores - scores.mean(axis=0)
    factor = n_train * (n_rows - n_train) / (n_rows * max(1.0, n_rows - 1.0))
    spread = np.sqrt(factor * (centred**2).sum(axis=0))
    # an attack that succeeds alike on all rows has no excess
    return np.asarray(centred / np.where(spread > NOISE, spread, np.inf))


def _jointly(
    excesses: np.ndarray, draw: Callable[[int], np.ndarray]
) -> tuple[Relabelled, np.ndarray]:
    """Return the test of the largest excess, and p-values of all that hold at once.

    `draw` returns the excesses of as many random choices as it is asked for.
    """
    largest = []

    def draws() -> Iterator[np.ndarray]:
        for size in (N_DRAWS, *block_sizes(_MAX_DRAWS - N_DRAWS, N_DRAWS + 1)):
            largest.append(draw(size).max(axis=1))
            yield largest[-1]

    # sums of scores depend on their order
    test = sequential_test(float(excesses.max()) - 1e-9, draws())
    ordered = np.sort(np.concatenate(largest))
    n_reached = ordered.size - np.searchsorted(ordered, excesses - 1e-9, side="left")
    return test, np.maximum(test.p_value, (1.0 + n_reached) / (1.0 + ordered.size))


def abstaining_test(
    right: np.ndarray, confidence: np.ndarray, n_train: int, *, seed: int = 0
) -> Abstention:
    """Test whether an attacker who may abstain is right about train more often."""
    # The surest 1%, 2%, 5%, 10%, 20%, 50% and all of the guesses about both tables are chosen
    # without regard to the table. If the release does not depend on which real rows were
    # train, the right ones among them are of train as in a random choice of train rows. The
    # excess of train over the mean of all choices, in standard deviations, is compared with
    # the largest of all shares in random choices: 999, or up to 9,999 where few of these
    # reach it. If Fisher's exact tests of the shares add up to a smaller p-value than these
    # choices can show, the sum is the p-value. If all guesses are equally sure, it is that of
    # one such test.
    #
    # The anonymity loss coefficient is
    #
    # .. math:: \frac{C(T) - C(H)}{1 - C(H)}, \qquad
    #     C = \max_r \left(1 - \left(\frac{\log r}{\log 10^{-4}}\right)^3\right) p_r
    #
    # with p_r the precision at recall r: the share of right ones among the surest share r of
    # the guesses about a table, by the centre of Wilson's interval. A precision whose
    # interval is wider than 1/2 does not count. The published baseline is a model of original
    # rows without the target. Here it is the same attack on holdout rows. Above 1/2 a loss is
    # published as a risk.
    #
    # Source: P. Francis, D. Wagner, "Towards better attribute inference vulnerability
    # measures" (2025), arXiv:2507.01710; P. H. Westfall, S. S. Young, "Resampling-based
    # multiple testing", Wiley (1993).
    given, parts = among_surest(confidence), (slice(n_train), slice(n_train, None))
    columns = given * right[:, None]
    achieved = []
    for rows in parts:
        own = among_surest(confidence[rows])
        achieved.append(np.stack([own.sum(axis=0), right[rows] @ own]).round(9))
    standardised = _standardize_scores(columns, n_train).round(12)
    first, counts = _kinds(given, right)
    kinds, rng = standardised[first], np.random.default_rng(seed)

    def draw(size: int) -> np.ndarray:
        drawn = rng.multivariate_hypergeometric(counts, n_train, size, method="marginals")
        return np.asarray(drawn @ kinds)

    excesses = standardised[:n_train].sum(axis=0)
    p_values = _jointly(excesses, draw)[1]
    distinct = np.unique(kinds, axis=1)
    if (alike := distinct.shape[1] == 1) or p_values.min() <= 10.0 / (1.0 + _MAX_DRAWS):
        exact = np.array([_chance_of_excess(distinct, counts, n_train, one) for one in excesses])
        p_values = np.where(alike | (exact < 1.0 / (1.0 + _MAX_DRAWS)), exact, p_values)
    pooled = np.stack([columns[rows].sum(axis=0) for rows in parts]).round(9)
    clearest = int(np.flatnonzero(excesses >= excesses.max() - 1e-9)[-1])
    return Abstention(achieved[0], achieved[1], pooled, p_values, clearest)


def _kinds(given: np.ndarray, right: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return one guess of each kind, and how many there are; those of a kind count alike.

    A surer guess is given for no smaller share: guesses of equal sums are given alike.
    """
    sums, scores = (
        np.unique(one.round(12), return_inverse=True)[1] for one in (given.sum(axis=1), right)
    )
    kinds = sums * (scores.max() + 1) + scores
    _, first, counts = np.unique(kinds, return_index=True, return_counts=True)
    return first, counts


def _chance_of_excess(kinds: np.ndarray, counts: np.ndarray, n_train: int, excess: float) -> float:
    """Return the sum of the exact chances of columns to reach an excess; 1 where it is unknown."""
    total = 0.0
    for column in kinds.T:
        levels, which = np.unique(column, return_inverse=True)
        if levels.size > 2:
            return 1.0
        if levels.size == 2:  # one success more or less is one row of the higher level
            n_high = int(counts[which == 1].sum())
            least = math.ceil((excess - 1e-9 - n_train * levels[0]) / (levels[1] - levels[0]))
            total += float(hypergeom.sf(least - 1, int(counts.sum()), n_high, n_train))
    return min(1.0, total)
