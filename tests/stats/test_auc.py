from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from skeval.stats.roc import auc, auc_interval, auc_p_value, delong

IN, OUT = np.array([0.8, 0.6, 0.4]), np.array([0.7, 0.3, 0.2])


def published():
    rs = np.random.RandomState(0)
    return rs.normal(1, 1, 1000), rs.normal(0, 1, 1000)


def test_a_small_sample_by_hand():
    assert auc(IN, OUT) == pytest.approx(7 / 9)
    assert delong(IN, OUT).standard_error == pytest.approx(0.2484520, abs=5e-8)


def test_a_large_sample():
    found = delong(*published())
    assert found.value == pytest.approx(0.752246, abs=5e-7)
    assert found.standard_error == pytest.approx(0.0107310, abs=5e-8)
    low, high = found.interval
    assert 0.73 < low < found.value < high < 0.775


@pytest.mark.parametrize("seed", range(5))
def test_ties_count_half_as_for_scikit_learn(seed):
    rng = np.random.default_rng(seed)
    positives, negatives = rng.integers(0, 5, 30), rng.integers(0, 4, 17)
    labels = np.repeat([1, 0], [30, 17])
    expected = roc_auc_score(labels, np.concatenate([positives, negatives]))
    assert auc(positives, negatives) == pytest.approx(expected)
    assert auc(negatives, positives) == pytest.approx(1 - expected)


def test_delong_is_its_definition():
    positives, negatives = np.array([3.0, 1.0, 2.0, 2.0]), np.array([2.0, 0.0, 1.0])
    wins = (positives[:, None] > negatives) + 0.5 * (positives[:, None] == negatives)
    variance = wins.mean(1).var(ddof=1) / 4 + wins.mean(0).var(ddof=1) / 3
    assert delong(positives, negatives).standard_error == pytest.approx(np.sqrt(variance))


def test_the_interval_at_the_edges():
    assert auc_interval(1.0, 0.0, 50, 50) == (pytest.approx(0.92888, abs=5e-6), 1.0)
    assert auc_interval(0.0, 0.0, 50, 80) == (0.0, pytest.approx(1 - 0.92888, abs=5e-6))
    assert auc_interval(0.7, 0.0, 5, 5) == (0.7, 0.7)
    narrow, wide = (auc_interval(0.7, 0.05, 50, 50, level) for level in (0.9, 0.99))
    assert wide[0] < narrow[0] < 0.7 < narrow[1] < wide[1]


def test_one_row_leaves_no_error():
    found = delong(np.array([1.0]), np.array([0.0, 0.5]))
    assert found.value == 1.0
    assert np.isnan(found.standard_error)
    assert found.interval == (0.0, 1.0)


def test_the_test():
    ordered = np.arange(3.0)
    assert auc_p_value(ordered + 3, ordered) == pytest.approx(1 / 20)
    assert auc_p_value(ordered, ordered + 3, "less") == pytest.approx(1 / 20)
    assert auc_p_value(ordered, ordered + 3) == pytest.approx(1.0)
    assert auc_p_value(np.ones(30), np.ones(40)) == 1.0


@pytest.mark.slow
def test_the_interval_covers():
    covered = []
    for seed in range(1000):
        rng = np.random.default_rng(seed)
        low, high = delong(rng.normal(1, 1, 60), rng.normal(0, 1, 40)).interval
        covered.append(low <= 0.7602499 <= high)
    assert 0.93 <= np.mean(covered) <= 0.975
