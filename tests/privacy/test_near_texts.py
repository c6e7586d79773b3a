"""Which real rows were found near which queries."""

from __future__ import annotations

import numpy as np

from skeval.privacy.near_texts import NearPairs


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
