from __future__ import annotations

import numpy as np
import pytest

from skeval.stats.ranks import ranks_of


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
