"""Distances of pairs against the neighbour engine, and the record of near pairs."""

from __future__ import annotations

import numpy as np
import pytest

from skeval.neighbors.mixed import MixedNearestNeighbors
from skeval.privacy.near_texts import NearPairs, euclidean_pairs, gower_pairs


def test_gower_pairs_are_those_of_the_engine():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(40, 7)).round(1)
    rows[:, 3:5] = rng.integers(0, 3, (40, 2))
    rows[:, 5] = 1.0
    rows[rng.random(rows.shape) < 0.1] = np.nan
    others = rows[rng.permutation(40)]
    others[0, 0], others[1, 5], others[2, 1] = np.inf, 2.0, 1e250
    categorical = np.isin(np.arange(7), [3, 4])
    ranges = np.array([3.0, 2.0, 1e-310, 2.0, 2.0, 0.0, 7.0])
    engine = MixedNearestNeighbors(ranges=ranges, categorical=categorical)
    expected = [
        engine.fit(b[None]).kneighbors(a[None])[0][0, 0] for a, b in zip(rows, others, strict=True)
    ]
    np.testing.assert_array_equal(gower_pairs(rows, others, ranges, categorical), expected)


def test_infinite_numbers_are_equal_to_each_other():
    rows, ranges, number = np.array([[np.inf], [np.inf]]), np.ones(1), np.zeros(1, dtype=bool)
    assert gower_pairs(rows, np.array([[np.inf], [0.0]]), ranges, number).tolist() == [0.0, 1.0]


def test_euclidean_pairs():
    rows, others = np.random.default_rng(0).normal(size=(2, 5, 3))
    expected = np.linalg.norm(rows - others, axis=1)
    assert euclidean_pairs(rows, others) == pytest.approx(expected)


def pairs(longest=2):
    return NearPairs(
        3, np.array([1, 1, 0, 0], dtype=bool), np.array([0, 1, 1, 1], dtype=bool), longest
    )


def test_what_was_found():
    found = pairs()
    found.add(np.array([0, 2]), np.array([0, 3]))
    assert found.near_train.tolist() == [True, False, False]
    assert found.near_holdout.tolist() == [False, False, True]
    assert not found.done.any()
    found.add(np.array([0, 0]), np.array([2, 3]))
    assert found.done.tolist() == [True, False, False]


def test_lists_keep_what_was_found_first():
    found = pairs()
    found.add(np.array([0, 2, 0]), np.array([3, 3, 3]))
    found.add(np.array([0, 2, 2]), np.array([1, 0, 1]))
    lists = found.lists(np.array([5, 3, 2]), 10)
    assert lists.starts.tolist() == [0, 1, 3]
    assert lists.values.tolist() == [3, 0, 3]
    assert lists.weights.tolist() == [5, 2]


def test_nothing_found():
    assert pairs().lists(np.ones(3, dtype=int), 3).weights.size == 0


def test_without_a_table_it_is_not_waited_for():
    found = NearPairs(1, np.array([True]), np.array([False]), longest=0)
    found.add(np.array([0]), np.array([0]))
    assert found.done.tolist() == [True]
    assert found.lists(np.ones(1, dtype=int), 1).weights.size == 0
