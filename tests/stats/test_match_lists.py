"""Lists of matching real rows and their relabelings against all labellings."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from scipy.sparse import csr_array

from skeval.stats.matches import (
    MatchLists,
    distinct_rows,
    held_contrast,
    list_contrast,
    longest_list,
)

LISTS = [[0, 1], [1], [2, 3], [4], [4]]
WEIGHTS = np.array([1, 2, 1, 3, 1])
TRAIN = np.array([2, 1, 1, 0, 1, 0, 1])
HOLDOUT = np.array([0, 1, 0, 1, 0, 1, 1])


def as_lists(lists, weights):
    starts = np.concatenate([[0], np.cumsum([len(values) for values in lists])])
    return MatchLists(starts, np.concatenate(lists).astype(np.int64), weights, int(weights.sum()))


def statistic(lists, weights, train, holdout):
    return (
        sum(
            weight * (float((train[values] > 0).any()) - float((holdout[values] > 0).any()))
            for values, weight in zip(lists, weights, strict=True)
        )
        / weights.sum()
    )


def all_statistics():
    values = np.repeat(np.arange(TRAIN.size), TRAIN + HOLDOUT)
    for chosen in combinations(range(values.size), int(TRAIN.sum())):
        train = np.bincount(values[list(chosen)], minlength=TRAIN.size)
        yield statistic(LISTS, WEIGHTS, train, TRAIN + HOLDOUT - train)


def test_contrast_against_all_labellings():
    exact = np.array(list(all_statistics()))
    lists = as_lists(LISTS, WEIGHTS)
    found = list_contrast(lists, TRAIN, HOLDOUT, n_permutations=4000, seed=1)
    assert found.observed == pytest.approx(statistic(LISTS, WEIGHTS, TRAIN, HOLDOUT))
    p = (exact >= found.observed - 1e-12).mean()
    assert found.p_value == pytest.approx(p, abs=4 * np.sqrt(p * (1 - p) / 4000))
    assert found.mean == pytest.approx(exact.mean(), abs=1e-12)  # known, not drawn
    assert found.spread == pytest.approx(exact.std(), rel=0.05)


def test_lists_of_one_row_are_drawn_as_one_class():
    """They are pooled, which does not change the law."""
    lists, weights = [[0], [0], [1], [2], [3], [4, 5]], np.array([1, 1, 1, 2, 1, 1])
    train, holdout = np.array([1, 0, 1, 1, 0, 1]), np.array([0, 1, 0, 1, 1, 0])
    found = list_contrast(as_lists(lists, weights), train, holdout, n_permutations=5000, seed=0)
    values = np.repeat(np.arange(6), train + holdout)
    exact = []
    for chosen in combinations(range(values.size), int(train.sum())):
        mine = np.bincount(values[list(chosen)], minlength=6)
        exact.append(statistic(lists, weights, mine, train + holdout - mine))
    assert found.observed == pytest.approx(statistic(lists, weights, train, holdout))
    assert found.p_value == pytest.approx(
        np.mean(np.array(exact) >= found.observed - 1e-12), abs=0.03
    )
    assert (found.mean, found.spread) == pytest.approx((np.mean(exact), np.std(exact)), abs=0.02)


def test_blocks_of_lists():
    """As often as they are repeated, the same lists have the same law."""
    rng = np.random.default_rng(0)
    lists = [rng.integers(0, 40, rng.integers(1, 6)) for _ in range(100)]
    weights = rng.integers(1, 4, 100)
    train, holdout = rng.integers(0, 2, (2, 40))
    train[0] = 1
    settings = {"n_permutations": 70, "seed": 0}
    whole = list_contrast(as_lists(lists, weights), train, holdout, **settings)
    many = as_lists(lists * 400, np.tile(weights, 400))  # more than are spread out at once
    parts = list_contrast(many, train, holdout, **settings)
    assert parts.observed == pytest.approx(statistic(lists, weights, train, holdout))
    assert (parts.mean, parts.spread) == pytest.approx((whole.mean, whole.spread), rel=0.1)


def test_no_list():
    none = MatchLists.of_pairs(*np.empty((2, 0), dtype=np.int64), WEIGHTS, 9)
    found = list_contrast(none, TRAIN, HOLDOUT, n_permutations=9, seed=0)
    assert (found.observed, found.spread, found.p_value) == (0.0, 0.0, 1.0)


def test_rows_in_no_list_do_not_matter_but_by_their_number():
    lists = MatchLists(np.arange(4), np.arange(3), np.ones(3, dtype=int), 3)
    train, holdout = np.array([1, 1, 1]), np.zeros(3, dtype=int)
    more = np.append(train, 0), np.append(holdout, 97)
    few = list_contrast(lists, train, holdout, n_permutations=999, seed=0)
    many = list_contrast(lists, *more, n_permutations=999, seed=0)
    assert few.p_value == 1.0
    assert many.p_value == pytest.approx(1 / 161_700)  # 3 of 100
    assert many.mean == pytest.approx(3 / 100 - 97 / 100)


def test_lists_of_pairs_and_of_a_matrix():
    of_pairs = MatchLists.of_pairs(np.array([2, 0, 2]), np.array([5, 6, 4]), np.array([3, 2, 1]), 9)
    of_matrix = MatchLists.of_matrix(np.array([[6, -1], [-1, -1], [5, 4]]), np.array([3, 2, 1]), 9)
    for lists in (of_pairs, of_matrix):
        assert lists.starts.tolist() == [0, 1, 3]
        assert lists.values.tolist() == [6, 4, 5]
        assert lists.weights.tolist() == [3, 1]


def test_distinct_rows_are_sorted_by_value():
    rng = np.random.default_rng(0)
    rows = rng.integers(-2, 3, (50, 3)).astype(float)
    rows[rng.random(rows.shape) < 0.2] = np.nan
    distinct, which = distinct_rows(rows)
    np.testing.assert_array_equal(distinct[which], rows)
    assert len(distinct) == len({tuple(map(str, row)) for row in rows})
    shuffled = rng.permutation(50)
    again, _ = distinct_rows(rows[shuffled])
    np.testing.assert_array_equal(again, distinct)


def test_distinct_rows_of_nothing():
    assert distinct_rows(np.empty((0, 2)))[0].shape == (0, 2)
    distinct, which = distinct_rows(np.empty((3, 0)))
    assert (distinct.shape, which.tolist()) == ((1, 0), [0, 0, 0])


def test_length_of_lists():
    assert longest_list(50, 50) == 16
    for sizes in ((90, 10), (10, 90)):
        assert 0.9 ** longest_list(*sizes) <= 1e-3 < 0.9 ** (longest_list(*sizes) - 1)
    assert longest_list(10**6, 1) == 128


def test_units_that_hold_several_values_against_all_labellings():
    rng = np.random.default_rng(0)
    holders = rng.random((TRAIN.size, 9)) < 0.25
    holders[5] = False  # nobody who changes places holds it
    n_train, exact = 4, []
    for chosen in combinations(range(9), n_train):
        mine = np.isin(np.arange(9), chosen)
        train, holdout = holders[:, mine].sum(axis=1), holders[:, ~mine].sum(axis=1)
        exact.append(statistic(LISTS, WEIGHTS, train, holdout))
    settings = {"n_permutations": 4000, "seed": 1}
    test = held_contrast(as_lists(LISTS, WEIGHTS), csr_array(holders * 1), n_train, **settings)
    assert test.observed == pytest.approx(exact[0])
    assert test.mean == pytest.approx(np.mean(exact), abs=0.02)
    assert test.spread == pytest.approx(np.std(exact), rel=0.05)
    assert test.p_value == pytest.approx(np.mean(np.array(exact) >= exact[0] - 1e-9), abs=0.03)


def test_units_of_one_value_each_are_counted_exactly():
    lists = as_lists([[0], [1], [2], [2]], np.array([1, 1, 1, 2]))
    holders = csr_array(np.eye(8, dtype=np.int8)[[0, 1, 2]])
    test = held_contrast(lists, holders, 4, n_permutations=99, seed=0)
    rows = np.array([1, 1, 1])
    same = list_contrast(lists, rows, 0 * rows, n_permutations=99, seed=0)
    assert test == same


@pytest.mark.parametrize("lists", [[[0, 1], [2]], [[0], [1]], [[3, 4], [4, 5]], [[6]]])
def test_the_least_p_value_is_that_of_the_strongest_labels(lists):
    """Where every real row that is in a list is of train, whatever the labels are."""
    pool, weights = TRAIN + HOLDOUT, np.ones(len(lists), dtype=int)
    rows = np.repeat(np.arange(pool.size), pool)
    values, least = [], set()
    for chosen in combinations(range(rows.size), int(TRAIN.sum())):
        train = np.bincount(rows[list(chosen)], minlength=pool.size)
        values.append(statistic(lists, weights, train, pool - train))
        if len(values) % 50 == 1:
            tables = train, pool - train
            least.add(list_contrast(as_lists(lists, weights), *tables, n_permutations=999, seed=0))
    exact = np.mean(np.array(values) > max(values) - 1e-12)
    assert {round(test.least, 9) for test in least} == {round(float(exact), 9)}


def test_a_test_without_a_match_cannot_speak():
    nothing = MatchLists.of_pairs(np.empty(0, int), np.empty(0, int), np.empty(0, int), 5)
    settings = {"n_permutations": 99, "seed": 0}
    assert list_contrast(nothing, TRAIN, HOLDOUT, **settings).least == 1.0
    holders = csr_array(np.repeat(np.eye(6), 2, axis=0))
    assert held_contrast(nothing, holders, 3, **settings).least == 1.0
    # two of the six authors hold what is repeated: both are of train in a fifth of the choices
    two = as_lists([[0, 2], [1]], np.ones(2, dtype=int))
    assert held_contrast(two, holders, 3, **settings).least == pytest.approx(0.2)
