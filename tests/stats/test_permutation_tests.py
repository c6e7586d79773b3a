"""Tests over relabelings against full enumeration and scipy."""

from __future__ import annotations

import math
from collections import Counter
from itertools import combinations

import numpy as np
import pytest
from scipy.stats import chisquare, fisher_exact

from skeval.stats.multiple_testing import holm
from skeval.stats.permutation_tests import (
    block_sizes,
    compare_with_draws,
    relabelling_test,
    sequential_test,
    sequential_tests,
    share_p_value,
    shuffle_labels,
)
from skeval.stats.row_scores import exchange_p_value


def all_labels(n_train, n_rows):
    for chosen in combinations(range(n_rows), n_train):
        labels = np.zeros(n_rows, dtype=bool)
        labels[list(chosen)] = True
        yield labels


@pytest.mark.parametrize(("hits", "n", "others", "m"), [(3, 5, 1, 7), (0, 5, 0, 5), (9, 10, 2, 30)])
def test_share_is_fishers_exact_test(hits, n, others, m):
    table = [[hits, n - hits], [others, m - others]]
    assert share_p_value(hits, n, others, m) == pytest.approx(fisher_exact(table, "greater").pvalue)


@pytest.mark.slow
def test_relabelling_tends_to_the_enumeration():
    values = np.array([0.3, 2.0, 5.0, 0.1, 1.0, 0.2, 0.9])
    every = np.array([values[labels].sum() for labels in all_labels(3, 7)])
    found = [
        relabelling_test(lambda labels: values @ labels, 3, 4, n_permutations=1999, seed=seed)
        for seed in range(200)
    ]
    assert found[0].observed == pytest.approx(values[:3].sum())
    assert np.mean([one.mean for one in found]) == pytest.approx(every.mean(), abs=0.05)
    assert np.mean([one.spread for one in found]) == pytest.approx(every.std(), abs=0.05)
    chance = (every >= found[0].observed - 1e-12).mean()
    assert np.mean([one.p_value for one in found]) == pytest.approx(chance, abs=0.01)


def test_relabelling_counts_equal_statistics_as_reached():
    found = relabelling_test(
        lambda labels: np.full(labels.shape[1], 0.5), 5, 5, n_permutations=9, seed=0
    )
    assert (found.p_value, found.spread) == (1.0, 0.0)


def test_many_rows_are_relabelled_in_blocks():
    values, blocks = np.random.default_rng(0).normal(size=90_000), []

    def statistic(labels):
        blocks.append(values @ labels)
        return blocks[-1]

    found = relabelling_test(statistic, 40_000, 50_000, n_permutations=50, seed=3)
    actual, *drawn = blocks
    assert len(drawn) > 1
    assert found == compare_with_draws(float(actual[0]), np.concatenate(drawn))


def test_every_relabelling_has_as_many_train_rows():
    seen = []
    relabelling_test(
        lambda labels: seen.append(labels.sum(axis=0)) or np.zeros(labels.shape[1]), 3, 9,
        n_permutations=10, seed=0,
    )  # fmt: skip
    assert set(np.concatenate(seen)) == {3}


# ------------------------------------------------------------------------------- sequential tests


def test_p_value_after_ten_or_after_all():
    draws = np.zeros(50)
    draws[[3, 5, 8, 12, 13, 20, 21, 30, 33, 40, 44]] = 1.0
    assert compare_with_draws(1.0, draws).p_value == 12 / 51
    assert sequential_test(1.0, [draws]).p_value == 12 / 51  # ten in the first block: all of it
    assert sequential_test(1.0, [draws, draws]).p_value == 12 / 51
    assert sequential_test(1.0, [draws[:25], draws[25:]]).p_value == 10 / 41
    assert sequential_test(1.0, [draws[:25], draws[25:34]]).p_value == 10 / 35
    assert sequential_test(0.0, [draws]).p_value == 1.0
    assert sequential_test(0.5, []).p_value == 1.0


def test_no_block_is_drawn_after_the_tenth():
    drawn = []

    def blocks():
        for i in range(20):
            drawn.append(i)
            yield np.r_[np.ones(4), np.zeros(16)]

    found = sequential_test(1.0, blocks())
    assert drawn == [0, 1, 2]
    assert found.p_value == 10 / 42
    assert found.mean == pytest.approx(0.2)  # of all that were drawn


def test_each_of_several_stops_for_itself():
    rng = np.random.default_rng(0)
    draws = rng.normal(size=(2000, 3))
    observed = np.array([0.0, 1.5, 9.0])
    together = sequential_tests(observed, np.split(draws, 10))
    alone = [sequential_test(x, np.split(draws[:, i], 10)) for i, x in enumerate(observed)]
    assert [one.p_value for one in together] == [one.p_value for one in alone]
    assert together[2].p_value == 1 / 2001


@pytest.mark.parametrize("alpha", [0.001, 0.004, 0.01, 0.05, 0.3])
@pytest.mark.slow
def test_level_of_sequential_tests(alpha):
    """Draws and what was observed are of one distribution: p is at most alpha that often."""
    rng, n = np.random.default_rng(3), 4000
    # given what is observed each draw reaches it with the same chance, which is uniform
    chances = rng.random(n)
    p_values = np.array(
        [
            sequential_test(
                0.5, ((rng.random(size) < u).astype(float) for size in block_sizes(1999))
            ).p_value
            for u in chances
        ]
    )
    share = np.mean(p_values <= alpha)
    assert abs(share - alpha) <= 3.5 * np.sqrt(alpha / n)


def test_exchanges_go_down_to_one_in_two_thousand():
    once = np.ones(30, dtype=int)
    train, holdout = (np.linspace(0.5, 1, 30), once), (np.linspace(0, 0.4, 30), once)
    assert exchange_p_value([(train, holdout)]) == 1 / 2000
    assert exchange_p_value([(holdout, train)]) == 1.0


# ----------------------------------------------------------------------------------- several tests


def test_by_hand():
    assert holm([0.04, 0.01, 0.03]) == pytest.approx([0.06, 0.03, 0.06])
    assert holm([0.9, 0.6]) == [1.0, 1.0]
    assert holm([0.02, 0.02]) == [0.04, 0.04]
    assert holm([0.3]) == [0.3]
    assert holm([0.04, 0.001, 0.9, 0.03]) == pytest.approx([0.09, 0.004, 0.9, 0.09])
    assert holm([]) == []


def test_rejects_what_the_steps_of_holm_reject():
    rng = np.random.default_rng(0)
    for n in (2, 5, 9):
        for _ in range(50):
            p_values = rng.random(n) ** 3
            adjusted = holm(p_values)
            # each test with as few hypotheses as are left, until the first that is not rejected
            rejected = set()
            for left, i in zip(range(n, 0, -1), np.argsort(p_values), strict=True):
                if p_values[i] > 0.05 / left:
                    break
                rejected.add(int(i))
            assert {i for i, p_value in enumerate(adjusted) if p_value <= 0.05} == rejected
            assert min(adjusted) == pytest.approx(min(1.0, n * p_values.min()))


def test_few_false_alarms():
    rng = np.random.default_rng(1)
    alarms = [min(holm(rng.random(6))) <= 0.05 for _ in range(2_000)]
    assert np.mean(alarms) <= 0.065


@pytest.mark.parametrize(("n_true", "n_rows"), [(2, 6), (1, 5), (5, 6), (3, 6)])
def test_all_orders_of_labels_are_equally_likely(n_true, n_rows):
    n = 400 * math.comb(n_rows, n_true)
    orders = shuffle_labels(np.arange(n_rows) < n_true, n, np.random.default_rng(n_true))
    assert (orders.sum(axis=0) == n_true).all()
    counts = Counter(map(bytes, orders.T)).values()
    assert len(counts) == n // 400
    assert chisquare(list(counts)).pvalue > 0.01
    assert shuffle_labels(np.ones(3, bool), 2, np.random.default_rng(0)).all()
