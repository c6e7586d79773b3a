from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import mannwhitneyu
from threadpoolctl import threadpool_limits

from skeval.steps.holdout_shift import blind_separation

NUMBERS = np.zeros(3, dtype=bool)


def drawn(seed, *sizes):
    """Samples of one law: two numbers, a count with many ties, a category, some values missing."""
    rng = np.random.default_rng(seed)
    samples = []
    for n in sizes:
        rows = np.column_stack(
            [rng.normal(size=(n, 2)), rng.poisson(1.0, n), rng.integers(0, 6, n)]
        )
        rows[rng.random(rows.shape) < 0.05] = np.nan
        samples.append(rows)
    return samples


CATEGORY = np.array([False, False, False, True])


@pytest.mark.slow
def test_size_under_exchangeability():
    found = [
        blind_separation(*drawn(seed, *sizes), categorical=CATEGORY, seed=seed)[1]
        for sizes in ((120, 120), (200, 60))
        for seed in range(200)
    ]
    assert 0.02 <= np.mean(np.array(found) < 0.05) <= 0.08
    assert np.mean(np.array(found) < 0.01) <= 0.025


@pytest.mark.slow
def test_size_where_the_samples_share_most_rows():
    found = []
    for seed in range(200):
        (pool,) = drawn(seed, 80)
        rng = np.random.default_rng(seed)
        samples = (pool[rng.integers(0, 80, 120)] for _ in range(2))
        found.append(blind_separation(*samples, categorical=CATEGORY, seed=seed)[1])
    assert np.mean(np.array(found) < 0.05) <= 0.08
    assert np.mean(np.array(found) < 0.01) <= 0.03


def test_samples_that_have_nothing_in_common():
    first, second = np.zeros((40, 1)), np.ones((60, 1))
    auc, p = blind_separation(first, second, categorical=np.array([True]))
    assert auc == 1.0
    assert p == mannwhitneyu(np.ones(20), np.zeros(30), alternative="greater").pvalue


def test_a_moved_mean():
    first, second = drawn(0, 300, 200)
    second[:, 0] += 1.0
    auc, p = blind_separation(first, second, categorical=CATEGORY)
    assert 0.6 < auc < 0.9
    assert p < 1e-4


def test_only_the_dependence_differs():
    rng = np.random.default_rng(0)
    first, second = rng.normal(size=(2, 600, 3))
    second[:, 1] = 0.6 * second[:, 1] + 0.8 * second[:, 0]
    assert blind_separation(first, second, categorical=NUMBERS)[1] < 0.01


def test_missing_values_tell_apart():
    first, second = np.random.default_rng(0).normal(size=(2, 100, 3))
    second[:50, 2] = np.nan
    assert blind_separation(first, second, categorical=NUMBERS)[1] < 0.01


@pytest.mark.parametrize("rows", [np.zeros((50, 3)), np.full((50, 3), np.nan)])
def test_equal_scores_are_no_evidence(rows):
    assert blind_separation(rows, rows[:30], categorical=NUMBERS) == (0.5, 1.0)


def test_too_few_rows_for_a_split_are_no_evidence():
    first, second = np.random.default_rng(0).normal(size=(2, 6, 3))
    assert blind_separation(first, second + 100, categorical=NUMBERS) == (0.5, 1.0)


def test_a_column_without_values_is_as_good_as_none():
    first, second = drawn(1, 100, 100)
    gap = np.full((100, 1), np.nan)
    with_gap = [np.column_stack([gap, rows]) for rows in (first, second)]
    assert blind_separation(*with_gap, categorical=np.append(True, CATEGORY)) == blind_separation(
        first, second, categorical=CATEGORY
    )


def test_a_category_of_more_levels_than_the_classifier_holds():
    rng = np.random.default_rng(0)
    first, second = rng.integers(0, 1000, (2, 300, 1)).astype(float)
    assert blind_separation(first, second, categorical=np.array([True]))[1] > 0.01
    assert blind_separation(first, second + 700, categorical=np.array([True]))[1] < 0.01
    assert blind_separation(first[:100] % 255, second % 255, categorical=np.array([True]))[1] > 0.01


def test_same_bits_whatever_the_threads():
    first, second = drawn(3, 400, 300)
    found = set()
    for n_threads in (1, 2, 2):
        with threadpool_limits(n_threads):
            found.add(blind_separation(first, second, categorical=CATEGORY, seed=1))
    assert len(found) == 1
    assert blind_separation(first, second, categorical=CATEGORY, seed=2) not in found


def test_samples_are_not_changed():
    first, second = drawn(4, 60, 60)
    before = first.copy(), second.copy()
    blind_separation(first, second, categorical=CATEGORY)
    np.testing.assert_array_equal(before[0], first)
    np.testing.assert_array_equal(before[1], second)
