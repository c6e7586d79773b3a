"""Bounds of epsilon by matches: exact coverage for known mechanisms, order, special cases."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.special import expit
from scipy.stats import binom

from skeval.exceptions import InvalidParameterError
from skeval.stats.epsilon_bounds import (
    Matched,
    log_match_ways,
    matches_epsilon,
    matches_p_value,
    min_matches,
    privacy_of_matches,
)
from skeval.stats.permutation_tests import share_p_value
from tests.snapshots import raises


def chance_of_refuting(n, n_holdout, rates, epsilon, delta, adjacency):
    """The chance that a true epsilon is refuted at 5%, summed over all numbers of matches."""
    k = [
        np.flatnonzero(binom.pmf(np.arange(m + 1), m, rate) > 1e-9)
        for m, rate in sized(n, n_holdout, rates)
    ]
    total = 0.0
    for i in k[0]:
        for j in k[1]:
            matched = Matched(int(i), n, int(j), n_holdout)
            if matches_p_value(matched, epsilon, delta, adjacency) < 0.05:
                total += binom.pmf(i, n, rates[0]) * binom.pmf(j, n_holdout, rates[1])
    return total


def sized(n, n_holdout, rates):
    return zip((n, n_holdout), rates, strict=True)


@pytest.mark.parametrize(("n", "n_holdout"), [(30, 30), (20, 50)])
@pytest.mark.parametrize("epsilon", [0.0, 0.5, 2.0])
@pytest.mark.slow
def test_randomized_response_refutes_its_epsilon_in_one_of_twenty(n, n_holdout, epsilon):
    """Each record of the pool has a bit that says whether it was in, wrong by the toss of a coin.

    That is epsilon-DP for one record more or less, 2 epsilon-DP for an exchange, and not less.
    """
    rates = expit(epsilon), expit(-epsilon)
    refuted = chance_of_refuting(n, n_holdout, rates, epsilon, 0.0, "add_remove")
    assert 0.005 < refuted <= 0.05
    as_exchange = chance_of_refuting(n, n_holdout, rates, 2.0 * epsilon, 0.0, "replace")
    assert as_exchange == pytest.approx(refuted)


@pytest.mark.parametrize("delta", [1e-3, 1e-4])
@pytest.mark.slow
def test_records_published_with_a_chance_of_delta(delta):
    """Bits as above, and a train record that is published as it is, each with a chance of delta."""
    rates = delta + (1.0 - delta) * expit(0.5), expit(-0.5)
    assert chance_of_refuting(30, 30, rates, 0.5, delta, "add_remove") <= 0.05
    assert chance_of_refuting(50, 50, (delta, 0.0), 0.0, delta, "add_remove") <= 0.05


@pytest.mark.slow
def test_any_mechanism_of_few_records():
    """The worst of all mechanisms: of its six choices of train each has the largest odds.

    Which records match is chosen after the release is seen, so that the number of them is random.
    """
    rng = np.random.default_rng(0)
    choices = [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]
    for _ in range(20):
        chances = rng.choice([1.0, math.e], size=(6, 8))
        chances /= chances.sum(axis=1).max()  # an output more takes the rest, and matches nothing
        matched = rng.random((8, 4)) < 0.5
        refuted = 0.0
        for which, train in enumerate(choices):
            for output in range(8):
                k = int(matched[output, list(train)].sum())
                counts = Matched(k, 2, int(matched[output].sum()) - k, 2)
                refuted += (matches_p_value(counts, 1.0, 0.0, "replace") < 0.25) * chances[
                    which, output
                ]
        assert refuted / 6 <= 0.25


@pytest.mark.parametrize("counts", [(7, 20, 2, 30), (10, 10, 0, 10), (3, 50, 9, 20)])
def test_without_epsilon_the_test_is_fishers(counts):
    matched = Matched(*counts)
    k, n, k_other, n_other = counts
    assert matches_p_value(matched, 0.0) == pytest.approx(share_p_value(k, n, k_other, n_other))


def test_no_match_of_the_holdout_in_large_tables():
    """Each of k matches is of train with a chance of at most e^epsilon / (1 + e^epsilon)."""
    share = 0.05 ** (1 / 12)
    bound = matches_epsilon(Matched(12, 10**6, 0, 10**6), adjacency="replace")
    assert bound == pytest.approx(math.log(share / (1.0 - share)), abs=1e-4)
    assert matches_epsilon(Matched(12, 10**6, 0, 10**6)) == pytest.approx(bound / 2.0)


@pytest.mark.parametrize("counts", [(0, 9, 0, 9), (9, 9, 9, 9), (0, 9, 9, 9), (3, 9, 3, 9)])
def test_nothing_is_bounded(counts):
    assert matches_epsilon(Matched(*counts)) == 0.0


def test_bounds_move_with_what_is_seen():
    bounds = {
        "more of train": [Matched(k, 300, 8, 300) for k in (20, 40, 80, 160)],
        "fewer of the holdout": [Matched(40, 300, k, 300) for k in (20, 10, 5, 0)],
    }
    for counts in bounds.values():
        found = [matches_epsilon(matched, 1e-6) for matched in counts]
        assert found == sorted(found)
        assert found[0] < found[-1]
    matched = Matched(80, 300, 8, 300)
    by_delta = [matches_epsilon(matched, delta) for delta in (1e-2, 1e-4, 1e-5, 0.0)]
    assert by_delta == sorted(by_delta)
    assert by_delta[0] == 0.0 < by_delta[1]
    by_confidence = [matches_epsilon(matched, confidence=level) for level in (0.99, 0.95, 0.75)]
    assert by_confidence == sorted(by_confidence)


def test_the_p_value_rises_with_epsilon_up_to_one():
    matched = Matched(80, 300, 8, 300)
    found = [matches_p_value(matched, epsilon, 1e-7) for epsilon in (0, 0.5, 1, 2, 8, 400)]
    assert found == sorted(found)
    assert found[-1] == 1.0


def test_what_details_say():
    matched = Matched(80, 300, 8, 300)
    said = privacy_of_matches(matched)
    assert set(said) == {"epsilon"}
    assert said["epsilon"]["add_remove"] == matches_epsilon(matched)
    assert said["epsilon"]["matched"] == {"train": [80, 300], "holdout": [8, 300]}
    verdicts = {c: privacy_of_matches(matched, c)["verdict"] for c in (0.5, 1.0, 9.0)}
    assert verdicts == {0.5: "violation", 1.0: "consistent", 9.0: "loose"}
    p_value = privacy_of_matches(matched, 0.5, 1e-6)["p_value_of_claim"]
    assert p_value == matches_p_value(matched, 0.5, 1e-6)


@pytest.mark.parametrize(("n", "n_holdout"), [(5, 5), (20, 20), (12, 40), (60, 20)])
@pytest.mark.parametrize("odds", [0.0, 1.0, 4.0])
def test_what_exceptions_of_exchanges_can_add(n, n_holdout, odds):
    """An exception of one exchange, at the number of train matches where it adds most.

    There are n times n_holdout exchanges of a choice of train, and each has delta. Only those that
    take a match out of train count; their number is that of the matches times that of the others.
    """
    for m in range(1, (n + n_holdout) // 2 + 1):
        t, log_ways = log_match_ways(m, n, n_holdout)
        chances = np.exp(log_ways + odds * t - np.logaddexp.reduce(log_ways + odds * t))
        reached, below = chances[::-1].cumsum()[::-1], chances.cumsum() - chances
        n_exchanges = t * (n_holdout - m + t)
        for k in range(1, t.size):
            if not 1e-12 < reached[k] <= 0.25:
                continue
            moved = np.where(t <= t[k], reached[k] * below, reached * below[k])
            added = n * n_holdout * (moved / chances / np.maximum(n_exchanges, 1e-300))[1:]
            matched = Matched(int(t[k]), n, int(m - t[k]), n_holdout)
            assert added.max() <= 2 * n / min_matches(reached[k], matched, odds)


@pytest.mark.parametrize("counts", [(3, 2, 0, 2), (0, 2, 3, 2), (-1, 2, 0, 2)])
def test_counts_that_cannot_be(counts):
    with raises(InvalidParameterError):
        Matched(*counts)


@pytest.mark.parametrize("named", [{"delta": 1.0}, {"delta": -0.1}, {"confidence": 0.5}])
def test_settings_out_of_range(named):
    with raises(InvalidParameterError):
        matches_epsilon(Matched(1, 2, 0, 2), **named)
