from __future__ import annotations

import numpy as np
import pytest

from skeval.stats import intervals as resampling
from skeval.stats.intervals import percentile_interval, replicated, row_weights


def test_weights_count_draws_with_replacement():
    weights = np.concatenate(list(row_weights(50, 400, seed=0)))
    assert weights.shape == (400, 50)
    assert (weights.sum(axis=1) == 50).all()
    assert weights.mean() == 1.0
    assert weights.var() == pytest.approx(1 - 1 / 50, abs=0.05)  # of a binomial of n draws at 1/n


def test_chunks_change_nothing(monkeypatch):
    whole = np.concatenate(list(row_weights(7, 9, seed=3)))
    monkeypatch.setattr(resampling, "_CELLS", 20)
    monkeypatch.setattr(resampling, "_KEPT", 0)
    parts = list(row_weights(7, 9, seed=3))
    assert len(parts) > 1
    assert (np.concatenate(parts) == whole).all()


def test_the_first_is_the_value_itself_and_the_spread_is_that_of_the_mean():
    values = np.random.default_rng(0).normal(size=400)
    found = replicated(lambda w: (w @ values) / w.sum(axis=1), 400, 2000, seed=0)
    assert found[0] == pytest.approx(values.mean())
    assert found[1:].std() == pytest.approx(values.std() / 20, rel=0.05)


def test_equal_seeds_are_paired():
    values = np.random.default_rng(0).normal(size=30)
    first, second = (
        replicated(lambda w, s=shift: (w @ (values + s)) / 30, 30, 50, seed=1) for shift in (0, 2)
    )
    assert second - first == pytest.approx(np.full(51, 2.0))


def test_interval_holds_the_value_and_needs_half_the_replicates():
    assert percentile_interval(np.array([9.0, 1.0, 2.0, 3.0])) == (pytest.approx(1.05), 9.0)
    assert percentile_interval(np.array([1.0])) is None
    assert percentile_interval(np.array([np.nan, 1.0, 2.0])) is None
    assert percentile_interval(np.array([1.0, np.nan, np.nan, 1.0])) is None


@pytest.mark.slow
def test_percentile_interval_covers_a_mean():
    rng = np.random.default_rng(0)
    hits = 0
    for i in range(400):
        values = rng.exponential(size=200)
        low, high = percentile_interval(
            replicated(lambda w, v=values: (w @ v) / w.sum(axis=1), 200, 500, seed=i)
        )
        hits += low <= 1.0 <= high
    assert 0.90 <= hits / 400 <= 0.975
