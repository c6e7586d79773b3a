"""The surest guesses: shares, ties, the exact test of all shares, the anonymity loss coefficient."""

from __future__ import annotations

import math

import numpy as np
import pytest

from skeval.stats.abstention import SHARES, among_surest, best_coefficient
from skeval.stats.excess_tests import abstaining_test, largest_excess_test
from skeval.stats.permutation_tests import share_p_value
from skeval.stats.risks import attack_rate


def drawn(seed, n=400, n_levels=30, share=0.4):
    rng = np.random.default_rng(seed)
    right = (rng.random(n) < share).astype(float)
    return right, rng.integers(n_levels, size=n).astype(float)


@pytest.mark.parametrize("n_levels", [1, 2, 30, 10**6])
def test_as_many_guesses_are_given_as_a_share_says(n_levels):
    _, confidence = drawn(0, n_levels=n_levels)
    given = among_surest(confidence)
    assert given.sum(axis=0) == pytest.approx([4, 8, 20, 40, 80, 200, 400])
    order = np.argsort(-confidence, kind="stable")
    assert (np.diff(given[order], axis=0) <= 0).all()
    assert (np.diff(given, axis=1) >= 0).all()


def test_one_guess_is_given_at_least():
    assert among_surest(np.array([1.0, 2.0, 3.0]))[:, 0].tolist() == [0.0, 0.0, 1.0]


def test_equally_sure_guesses_share_the_place():
    """Two of the four next ones are given: which, nobody knows."""
    given = among_surest(np.array([9.0, 9, 5, 5, 5, 5, 1, 1, 1, 1]), (0.4,))
    assert given[:, 0].tolist() == [1, 1, 0.5, 0.5, 0.5, 0.5, 0, 0, 0, 0]


def test_counts_by_hand():
    """The surest four of eight: all right in train, none in the holdout."""
    right = np.array([1.0, 1, 0, 0, 0, 0, 1, 0])
    confidence = np.array([4.0, 3, 2, 1, 4, 3, 2, 1])
    test = abstaining_test(right, confidence, 4)
    half = SHARES.index(0.5)
    assert test.train[:, half].tolist() == [2.0, 2.0]
    assert test.holdout[:, half].tolist() == [2.0, 0.0]
    assert test.pooled[:, half].tolist() == [2.0, 0.0]
    assert test.train[:, -1].tolist() == [4.0, 2.0]
    assert test.holdout[:, -1].tolist() == [4.0, 1.0]
    said = test.to_dict()["by_share"][half]
    assert said["train"] == {"n": 2.0, "n_right": 2.0}
    assert said["of_all"] == {"train": 2.0, "holdout": 0.0}


def test_equally_sure_of_all_is_fishers_test():
    right = np.repeat([1.0, 0, 1, 0], [12, 8, 5, 15])
    test = abstaining_test(right, np.zeros(40), 20)
    assert test.p_value == pytest.approx(share_p_value(12, 20, 5, 20))
    assert SHARES[test.clearest] == 1.0


def test_tables_of_unequal_size():
    right, confidence = drawn(1)
    test = abstaining_test(right, confidence, 100)
    assert test.train[0, -1] == 100
    assert test.holdout[0, -1] == 300
    assert test.pooled.sum(axis=0) == pytest.approx(right @ among_surest(confidence))


@pytest.mark.parametrize("scores", ["whole", "shared"])
def test_the_same_as_any_test_of_several_attacks(scores):
    """Each share is an attack; who is train is drawn row by row there."""
    right, confidence = drawn(2)
    right[:30], confidence[:30] = 1.0, 40.0
    right *= 1.0 if scores == "whole" else np.random.default_rng(3).integers(1, 9, 400) / 8.0
    columns = among_surest(confidence) * right[:, None]
    expected = largest_excess_test(columns, 200, seed=5)[1]
    found = abstaining_test(right, confidence, 200).p_values
    resolved = expected > 0.002
    assert resolved.any()
    assert found[resolved] == pytest.approx(expected[resolved], rel=0.4)
    assert (found[~resolved] < 0.002).all()


def test_the_order_of_rows_does_not_matter():
    right, confidence = drawn(4)
    order = np.concatenate([np.random.default_rng(s).permutation(200) + 200 * s for s in (0, 1)])
    tests = [
        abstaining_test(r, c, 200)
        for r, c in ((right, confidence), (right[order], confidence[order]))
    ]
    assert tests[0].to_dict() == tests[1].to_dict()


def test_few_sure_guesses_that_the_average_hides():
    """Ten of 500 are known exactly, which is 1% of all guesses."""
    right, confidence = drawn(5, n=1000)
    right[:10], confidence[:10] = 1.0, 99.0
    test = abstaining_test(right, confidence, 500)
    assert share_p_value(int(right[:500].sum()), 500, int(right[500:].sum()), 500) > 0.05
    assert SHARES[test.clearest] == 0.01
    assert test.p_value < 0.01
    assert test.anonymity_loss > 0.3


def test_guesses_of_membership():
    """Each guess is that a row is in train: the surest twenty are."""
    rng = np.random.default_rng(6)
    scores = rng.normal(size=400)
    scores[:20] += 9.0
    test = abstaining_test(np.ones(400), scores, 200)
    assert test.pooled[:, SHARES.index(0.05)].tolist() == [20.0, 0.0]
    assert test.p_value < 1e-4


def test_a_p_value_as_small_as_the_evidence():
    right, confidence = np.repeat([1.0, 0.0], 500), np.repeat([1.0, 0.0], 500)
    assert abstaining_test(right, confidence, 500).p_value < 1e-100


@pytest.mark.parametrize("n_levels", [3, 10**6])
@pytest.mark.slow
def test_null(n_levels):
    """300 draws without a leak: significant as seldom as it should be."""
    found = np.array(
        [abstaining_test(*drawn(seed, 100, n_levels), 50, seed=seed).p_value for seed in range(300)]
    )
    assert (found <= 0.05).mean() <= 0.05 + 2.5 * math.sqrt(0.05 * 0.95 / 300)
    assert (found <= 0.01).mean() <= 0.01 + 2.5 * math.sqrt(0.01 * 0.99 / 300)
    assert (found <= 0.5).mean() > 0.3


def test_coefficient_by_hand():
    """The published weight of recall: 1 for all, 7/8 for one in a hundred, 0 for one in 10,000."""
    everything = best_coefficient(np.array([1000.0]), np.array([300.0]))
    assert everything == pytest.approx(attack_rate(300, 1000).centre)
    n, right = np.array([100.0, 10_000.0]), np.array([100.0, 3000.0])
    assert best_coefficient(n, right) == pytest.approx(7 / 8 * attack_rate(100, 100).centre)


def test_a_precision_of_one_guess_does_not_count():
    assert best_coefficient(np.array([1.0, 100.0]), np.array([1.0, 0.0])) == pytest.approx(
        attack_rate(0, 100).centre
    )


def test_all_is_lost_and_nothing():
    right = np.repeat([1.0, 0.0], 5000)
    confidence = np.zeros(10_000)
    assert abstaining_test(right, confidence, 5000).anonymity_loss > 0.99
    assert abstaining_test(np.ones(10_000), confidence, 5000).anonymity_loss == 0.0
