"""Tests that attacks succeed more often on training rows than on holdout rows."""

from __future__ import annotations

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

N_DRAWS = 999  # random labels for the null distribution, which a test extends if necessary
_MAX_DRAWS = 9_999
_CELLS = 2**21  # maximum number of labels in memory
_MAX_FEW_LEVELS = (
    32  # up to this number of distinct scores, drawing counts is faster than shuffling
)


def scores_p_value(
    train: np.ndarray, holdout: np.ndarray, *, n_relabellings: int = 9999, seed: int = 0
) -> float:
    """Return how often a random choice of the training rows has a mean at least this high."""
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
    """Return sums over random choices of rows, where rows of equal score are exchangeable."""
    drawn = rng.multivariate_hypergeometric(counts, n_train, size=n_draws, method="marginals")
    return np.asarray(drawn @ levels)


def relabelled_sums(
    scores: np.ndarray, n_train: int, n_draws: int, rng: np.random.Generator
) -> np.ndarray:
    """Return the sums over random choices of the training rows, shape (n_draws, n_attacks)."""
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
    # The statistic is the largest standardized excess of the training rows.
    #
    # If the synthetic table does not depend on the choice of the training rows among the real
    # rows, all choices are equally likely. For each attack, the sum of the scores over the
    # training rows is standardized with its known mean and standard deviation over all choices.
    # The largest of these excesses is compared with the largest excess in 999 random choices, or
    # in up to 9,999 if few of these choices reach the observed excess.
    #
    # Source: P. H. Westfall, S. S. Young, "Resampling-based multiple testing", Wiley (1993).
    standardised = _standardize_scores(scores, n_train)
    rng = np.random.default_rng(seed)
    return _jointly(
        standardised[:n_train].sum(axis=0),
        lambda size: relabelled_sums(standardised, n_train, size, rng),
    )


def _standardize_scores(scores: np.ndarray, n_train: int) -> np.ndarray:
    """Return scores whose sums over random choices of training rows have mean 0 and variance 1."""
    n_rows = len(scores)
    centred = scores - scores.mean(axis=0)
    factor = n_train * (n_rows - n_train) / (n_rows * max(1.0, n_rows - 1.0))
    spread = np.sqrt(factor * (centred**2).sum(axis=0))
    # an attack with the same score on all rows has no excess
    return np.asarray(centred / np.where(spread > NOISE, spread, np.inf))


def _jointly(
    excesses: np.ndarray, draw: Callable[[int], np.ndarray]
) -> tuple[Relabelled, np.ndarray]:
    """Return the test of the largest excess, and simultaneous p-values of all excesses.

    `draw` returns the excesses of a specified number of random choices.
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
    """Test whether an attacker who may abstain is correct more often about training rows."""
    # The most confident 1%, 2%, 5%, 10%, 20%, 50% and all of the guesses about both tables are
    # chosen without regard to the table. If the release does not depend on the choice of the
    # training rows among the real rows, the correct guesses are distributed over the tables as in
    # a random choice of training rows. For each fraction, the excess of the training rows over
    # the mean of all choices is computed in standard deviations. It is compared with the largest
    # excess of all fractions in 999 random choices, or in up to 9,999 if few of these choices
    # reach it. If the p-values of Fisher's exact test for the fractions have a sum that is smaller
    # than any p-value of the random choices, the sum is used as the p-value. If all guesses are
    # equally confident, the p-value is computed with one such test.
    #
    # The anonymity loss coefficient is
    #
    # .. math:: \frac{C(T) - C(H)}{1 - C(H)}, \qquad
    #     C = \max_r \left(1 - \left(\frac{\log r}{\log 10^{-4}}\right)^3\right) p_r
    #
    # with p_r the precision at recall r. The precision is the fraction of correct guesses among
    # the most confident fraction r of the guesses about a table, computed as the center of
    # Wilson's interval. A precision whose interval is wider than 1/2 is ignored. The published
    # baseline is a model of original rows without the target. Here, the baseline is the same
    # attack on holdout rows. The authors consider a loss above 1/2 a risk.
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
        exact = _chances_of_excesses(distinct, counts, n_train, excesses)
        p_values = np.where(alike | (exact < 1.0 / (1.0 + _MAX_DRAWS)), exact, p_values)
    pooled = np.stack([columns[rows].sum(axis=0) for rows in parts]).round(9)
    clearest = int(np.flatnonzero(excesses >= excesses.max() - 1e-9)[-1])
    return Abstention(achieved[0], achieved[1], pooled, p_values, clearest)


def _kinds(given: np.ndarray, right: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return one guess of each kind of equal guesses, and the number of guesses of each kind.

    A more confident guess is never in fewer fractions. Therefore, equal sums mean equal guesses.
    """
    sums, scores = (
        np.unique(one.round(12), return_inverse=True)[1] for one in (given.sum(axis=1), right)
    )
    kinds = sums * (scores.max() + 1) + scores
    _, first, counts = np.unique(kinds, return_index=True, return_counts=True)
    return first, counts


def _chances_of_excesses(
    kinds: np.ndarray, counts: np.ndarray, n_train: int, excesses: np.ndarray
) -> np.ndarray:
    """Return the sums of the exact probabilities to reach excesses, or 1 if they are unknown."""
    totals = np.zeros(excesses.size)
    for column in kinds.T:
        levels, which = np.unique(column, return_inverse=True)
        if levels.size > 2:
            return np.ones(excesses.size)
        if levels.size == 2:  # one success more or less is one row of the higher level
            n_high = int(counts[which == 1].sum())
            least = np.ceil((excesses - 1e-9 - n_train * levels[0]) / (levels[1] - levels[0]))
            totals += hypergeom.sf(least - 1, int(counts.sum()), n_high, n_train)
    return np.minimum(totals, 1.0)
