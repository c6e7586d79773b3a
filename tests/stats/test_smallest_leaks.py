"""Leaks of the size that is stated are found with the stated power."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import binom, hypergeom, norm

from skeval.privacy.attacks.membership.membership_inference import smallest_area
from skeval.privacy.distance_screens.train_share import TrainShare
from skeval.stats.excess_tests import scores_p_value
from skeval.stats.permutation_tests import block_sizes, shuffle_labels
from skeval.stats.roc import Areas
from skeval.stats.smallest_leaks import (
    LEVELS,
    excess_at,
    excess_of_guesses,
    excess_of_scores,
    excess_of_share,
    smallest_leak,
    smallest_shift,
)

LEVEL = 0.05 / 8.0  # of one of eight tests
N_RUNS = 150


def is_as_stated(found):
    """Power is 80%; the bounds allow for the noise of the runs."""
    return 0.7 <= np.mean(found) <= 0.9


@pytest.mark.parametrize("n", [60, 500])
def test_guesses_of_a_binomial_test(n):
    excess = excess_of_guesses(LEVEL, n)
    fewest = binom.isf(LEVEL, n, 0.5) + 1
    assert binom.sf(fewest - 1, n, 0.5) <= LEVEL
    assert binom.sf(fewest - 1, n, 0.5 + excess) == pytest.approx(0.8)


@pytest.mark.parametrize("rate", [0.0, 0.02, 0.3])
@pytest.mark.parametrize(("n", "m"), [(60, 60), (500, 150)])
def test_hits_of_fishers_test(rate, n, m):
    rng = np.random.default_rng(0)
    excess = excess_of_share(LEVEL, rate, n, m)
    hits, others = rng.binomial(n, rate + excess, 4000), rng.binomial(m, rate, 4000)
    assert np.mean(hypergeom.sf(hits - 1, n + m, hits + others, n) <= LEVEL) == pytest.approx(
        0.8, abs=0.03
    )


def test_no_excess_is_found_if_there_is_no_room():
    assert math.isinf(excess_of_share(LEVEL, 0.0, 4, 4))
    assert math.isinf(excess_of_guesses(LEVEL, 5))
    stated = smallest_leak(lambda level: 0.3, expected=0.9)
    assert stated["excess"] == [math.inf] * 3
    assert math.isinf(excess_at(0.01, stated["levels"], stated["excess"]))


def test_levels_between_those_that_are_stated():
    stated = smallest_leak(lambda level: smallest_shift(level, 0.03), 0.5)
    for level in (*LEVELS, 0.02, LEVEL, 0.001):
        expected = (norm.isf(level) + norm.isf(0.2)) * 0.03
        assert excess_at(level, stated["levels"], stated["excess"]) == pytest.approx(expected)


def test_the_largest_of_several_must_reach_further():
    upper = float(norm.isf(1.0 - 0.9**0.2))  # of the largest of five independent ones
    assert smallest_shift(0.01, 1.0, upper=upper) == pytest.approx(
        norm.isf(0.01 / 5) + norm.isf(0.2), abs=0.02
    )


@pytest.mark.slow
def test_scores_that_are_fractions():
    rng, n = np.random.default_rng(0), 200

    def draw(rate):
        return rng.binomial(3, rate, n) / 3.0

    pooled = np.concatenate([draw(0.2), draw(0.2)])
    excess = excess_of_scores(LEVEL, pooled, n)
    p_values = [
        scores_p_value(draw(0.2 + excess), draw(0.2), n_relabellings=999) for _ in range(N_RUNS)
    ]
    assert is_as_stated(np.array(p_values) <= LEVEL)


@pytest.mark.slow
def test_areas_of_several_attacks():
    rng, n = np.random.default_rng(0), 100
    labels = np.arange(2 * n) < n

    def areas_of_attacks(shift):
        scores = rng.normal(size=(2 * n, 1)) + rng.normal(size=(2 * n, 4)) / 2.0
        scores[:n] += shift * math.sqrt(1.25)
        areas = Areas.from_scores(scores, labels)
        drawn = (shuffle_labels(labels, size, rng) for size in block_sizes(999))
        return areas, areas.test(labels, drawn)

    areas, test = areas_of_attacks(0.0)
    stated = smallest_area(areas, 0, test)
    area = areas.area(0, test.mean) + excess_at(0.02, stated["levels"], stated["excess"])
    # all attacks see the same leak, so that one of them finds it a little more often
    runs = [areas_of_attacks(math.sqrt(2.0) * norm.ppf(area)) for _ in range(100)]
    assert 0.7 <= np.mean([test.p_value <= 0.02 for _, test in runs]) <= 0.95


def nearest_rows(n_rows, of_train, rng, n=150):
    """Return the share of rows closer to train, in which a part lies next to train rows."""
    nearest = rng.integers(0, 2 * n, n_rows)
    near_train = rng.random(n_rows) < of_train
    nearest[near_train] = rng.integers(0, n, near_train.sum())
    masses = np.bincount(nearest, minlength=2 * n) / n_rows
    share = TrainShare((float(masses[:n].sum()),), (masses,), n)
    stated = share.smallest_leak()["smallest_leak"]
    return share, excess_at(LEVEL, stated["levels"], stated["excess"])


@pytest.mark.slow
def test_share_of_rows_closer_to_train():
    rng = np.random.default_rng(0)
    _, excess = nearest_rows(400, 0.0, rng)
    shares = [nearest_rows(400, 2.0 * excess, rng)[0] for _ in range(N_RUNS)]
    assert is_as_stated([share.p_value <= LEVEL for share in shares])


def test_share_of_few_rows_is_held_against_relabellings():
    share, excess = nearest_rows(40, 0.0, np.random.default_rng(0))
    spread = share.null_standard_error
    assert excess == pytest.approx(smallest_shift(LEVEL, spread), rel=0.1)
    assert excess != smallest_shift(LEVEL, spread)
