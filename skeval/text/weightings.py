"""Several weightings of the same lists of real rows, tested as one by common relabelings."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from skeval.stats.matches import MatchLists, label_words, mean_difference, signs
from skeval.stats.permutation_tests import (
    Relabelled,
    block_sizes,
    least_p_value_of_lists,
    sequential_test,
)

_AT_ONCE = 16 * 64  # number of permutations between two checks of the outcome


def weightings_contrast(
    lists: MatchLists,
    weightings: np.ndarray,
    train: np.ndarray,
    holdout: np.ndarray,
    *,
    n_permutations: int,
    seed: int,
) -> Relabelled:
    """Compare the most significant of several weighted contrasts with permutations."""
    # A weighting counts its lists with training rows only minus its lists with holdout rows only.
    # The difference from its mean is divided by the root of the sum of squared row weights. The
    # maximum over all weightings is compared with the maximum under the same labels, so no
    # correction is needed.
    listed, values = np.unique(lists.values, return_inverse=True)
    n_train, n_real = int(train.sum()), int(train.sum() + holdout.sum())
    weights = weightings[weightings.sum(axis=1) > 0]
    weights = weights / weights.sum(axis=1, keepdims=True)
    lengths = np.diff(lists.starts)
    mean = np.array([mean_difference(lengths, row, n_train, n_real) for row in weights])
    each = [np.bincount(values, np.repeat(row / lengths, lengths)) for row in weights]
    unit = np.sqrt((np.array(each) ** 2).sum(axis=1))

    def standardized_sums(in_train: np.ndarray, n: int) -> np.ndarray:
        total = np.zeros((unit.size, 64))
        for block, sign in signs(lists, values, in_train, ~in_train):
            total += weights[:, block] @ sign
        return (total[:, :n] - mean[:, None]) / unit[:, None]

    every = np.iinfo(np.uint64).max
    labels = np.where(train[listed] > 0, every, 0).astype(np.uint64)
    observed = standardized_sums(labels, 1)[:, 0]
    rng = np.random.default_rng(seed)

    def draws(n: int) -> np.ndarray:
        in_train = rng.hypergeometric(n_train, n_real - n_train, listed.size, n)
        words = label_words(listed.size, in_train, rng)
        return np.concatenate([standardized_sums(*one).max(axis=0) for one in words])

    test = sequential_test(float(observed.max()), map(draws, block_sizes(n_permutations, _AT_ONCE)))
    best = int(observed.argmax())
    return replace(
        test,
        observed=float(mean[best] + observed[best] * unit[best]),
        mean=float(mean[best]),
        spread=float(unit[best]),
        least=least_p_value_of_lists(listed.size, n_train, n_real, n_permutations),
    )
