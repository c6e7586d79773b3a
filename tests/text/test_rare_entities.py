"""What is rare, what it weighs, and whose it is: in numbers by hand."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import hypergeom

from skeval.text.rare_entities import Evidence, join_windows, rare_keys, spread_out

# documents 0 to 2 are train, 3 to 5 holdout
SIDES = np.array([1, 1, 1, 0, 0, 0]), np.array([0, 0, 0, 1, 1, 1])


def keys(hashes, units, synthetic, max_documents=1, sides=SIDES, types=None):
    number = np.array(hashes, dtype=np.uint64)
    return rare_keys(
        number,
        np.array(units),
        np.array(types or ["X"] * number.size),
        np.array(synthetic, dtype=np.uint64),
        sides,
        max_documents,
    )


def test_rare_is_what_one_document_mentions():
    found = keys([7, 7, 8, 9, 9, 5], [0, 0, 1, 1, 4, 5], [7, 8, 9, 5, 4, 0])
    # 7 and 8 are of train, 5 of the holdout, 9 of both; 0 is none, and nobody real has 4
    assert found.train_only.tolist() == [False, True, True]
    assert found.holdout_only.tolist() == [True, False, False]
    assert (found.n_synthetic, found.n_rare) == (5, (2, 1))
    assert found.share == 2 / 5
    assert found.recall == (1.0, 1.0)


def test_what_a_document_of_both_tables_mentions_is_nobodys():
    sides = np.array([1, 1, 0, 0, 0, 0]), np.array([0, 0, 0, 1, 1, 1])
    found = keys([7, 8], [2, 0], [7, 8], sides=sides)
    assert found.train_only.tolist() == [True]
    assert found.n_rare == (1, 0)


def test_two_documents_may_be_rare():
    found = keys([7, 7, 8, 8], [0, 1, 2, 3], [7, 8], max_documents=2)
    assert found.train_only.tolist() == [True, False]
    assert found.holdout_only.tolist() == [False, False]
    assert np.diff(found.starts).tolist() == [2, 2]


def test_a_document_that_lists_many_weighs_less_for_each():
    units = np.array([0, 0, 0, 0, 1])
    assert spread_out(np.full(5, 3.0), units, np.arange(6)).tolist() == [1.5] * 4 + [3.0]
    # what is far below the greatest takes hardly anything from it
    spread = spread_out(np.array([3.0, 0.003, 1.0]), np.array([0, 0, 1]), np.arange(4))
    assert spread == pytest.approx([3.0, 0.003, 1.0], rel=1e-3)
    assert spread_out(np.empty(0), np.empty(0, int), np.zeros(1, int)).size == 0


def test_the_test_is_of_the_share_of_train():
    found = keys([1, 2, 3], [0, 1, 2], [1, 2, 3, 4])
    evidence = Evidence((found,), *SIDES, n_real=3, n_in_both=0)
    test = evidence.test(found, 1999, 0)
    assert (test.observed, test.mean) == (1.0, 0.5)
    assert test.p_value == pytest.approx(hypergeom.sf(2, 6, 3, 3))
    assert found.by_chance(evidence) == pytest.approx(3 / 2 / 4)
    assert list(evidence.by_type(1999, 0)) == ["X"]
    twice = join_windows([found, found])
    assert (twice.n_synthetic, twice.n_rare, twice.train_only.size) == (8, (6, 0), 6)


def test_nothing_repeated_is_no_evidence():
    found = keys([1, 2], [0, 3], [9])
    evidence = Evidence((found,), *SIDES, n_real=2, n_in_both=0)
    assert evidence.test(found, 1999, 0).p_value == 1.0
    assert evidence.by_type(1999, 0) == {}
    assert (found.share, found.interval) == (0.0, (0.0, pytest.approx(0.793, abs=1e-3)))
    assert keys([1], [0], [0]).interval is None
