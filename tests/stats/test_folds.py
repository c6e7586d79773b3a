"""Means, tests and ranks over folds."""

import numpy as np
import pytest

from skeval.stats.folds import adjusted_by_holm, corrected_t_test, fold_mean, ranks_of


def test_the_error_is_that_of_nadeau_and_bengio():
    values = np.array([0.1, 0.3, 0.2, 0.4, 0.5])
    found = fold_mean(values, 0.25)
    assert found["standard_error"] == pytest.approx(np.sqrt((0.2 + 0.25) * values.var(ddof=1)))


def test_equal_candidates_are_equal():
    assert corrected_t_test(np.zeros(5), 0.25) == 1.0
    assert corrected_t_test(np.full(5, 0.1), 0.25) < 1e-6
    assert corrected_t_test(np.array([0.3]), 0.25) == 1.0


def test_holm_is_monotone_and_bounded():
    adjusted = adjusted_by_holm(np.array([0.04, 0.001, 0.9, 0.03]))
    assert adjusted.tolist() == [0.09, 0.004, 0.9, 0.09]


def test_one_candidate_ranks_first():
    ranks = ranks_of(np.array([[0.5, 0.6]]), 1.0)
    assert (ranks.rank.tolist(), ranks.low.tolist(), ranks.high.tolist()) == ([1.0], [1], [1])


@pytest.mark.slow
def test_identical_generators_are_told_apart_in_at_most_five_percent():
    """All candidates have one distribution; folds share an effect, as they share rows."""
    rng = np.random.default_rng(0)
    told = 0
    for _ in range(400):
        scores = rng.normal(size=(4, 5)) + rng.normal(size=5)
        told += bool((ranks_of(scores, 0.25).high < 4).any())
    assert told / 400 <= 0.05


def test_a_clearly_worse_one_ranks_last():
    rng = np.random.default_rng(1)
    last = 0
    for _ in range(100):
        scores = rng.normal(scale=0.01, size=(4, 5)) + np.array([[0.9], [0.9], [0.9], [0.5]])
        ranks = ranks_of(scores, 0.25)
        last += ranks.low[3] == 4 and ranks.rank[3] == 4
    assert last == 100
