"""Several weightings are one test: exact in its size, and as good as the best of them."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import hypergeom

from skeval.stats.matches import MatchLists
from skeval.text.weightings import weightings_contrast


def lists_of(n):
    return MatchLists(np.arange(n + 1), np.arange(n), np.ones(n, dtype=int), n_rows=n)


def outcome(weightings, is_train, lists=None, n_permutations=999, seed=0):
    lists = lists or lists_of(np.shape(weightings)[1])
    train = np.asarray(is_train, dtype=int)
    settings = {"n_permutations": n_permutations, "seed": seed}
    return weightings_contrast(lists, np.asarray(weightings, float), train, 1 - train, **settings)


def test_one_weighting_is_the_hypergeometric_test():
    is_train = np.arange(40) % 20 < 10
    test = outcome(np.ones((1, 12)), is_train, n_permutations=20_000)
    k = int(is_train[:12].sum())
    assert test.p_value == pytest.approx(hypergeom.sf(k - 1, 40, 12, 20), abs=0.01)
    assert test.observed == pytest.approx((2 * k - 12) / 12)


def test_the_weighting_that_sees_most_decides():
    is_train = np.arange(200) % 2 == 0
    few = (np.arange(100) % 2 == 0) & (np.arange(100) < 20)
    both = outcome([np.ones(100), few], is_train)
    assert both.observed == 1.0
    assert both.p_value < 0.02
    assert outcome(np.ones((1, 100)), is_train).p_value > 0.3
    # a weighting that no entity has is none
    assert outcome([np.ones(100), few, np.zeros(100)], is_train).p_value == both.p_value


def test_lists_of_several_rows_count_where_all_are_of_one_table():
    lists = MatchLists(np.array([0, 2, 4]), np.array([0, 1, 2, 3]), np.ones(2, int), n_rows=2)
    test = outcome([[1.0, 1.0], [1.0, 3.0]], [1, 1, 1, 0, 0, 0], lists)
    assert test.observed == pytest.approx(0.5)
    # five choices in twenty have two train rows in a list of two, four of them one list alone
    assert test.mean == pytest.approx(0.0)


def test_tables_of_unequal_sizes_have_another_mean():
    is_train = np.arange(40) < 30
    test = outcome([np.ones(40), np.arange(40.0)], is_train)
    assert test.mean == pytest.approx(0.5)


@pytest.mark.slow
def test_random_labels_reject_as_often_as_they_may():
    rng = np.random.default_rng(0)
    weightings = rng.exponential(size=(3, 30)) ** 3
    labels = np.arange(60) < 30
    values = [
        outcome(weightings, rng.permutation(labels), None, 199, i).p_value for i in range(300)
    ]
    assert 5 <= (np.array(values) <= 0.05).sum() <= 24
