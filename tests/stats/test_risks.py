"""Rates and risks: published hand values, edges, and how often the intervals cover."""

from __future__ import annotations

from itertools import combinations
from math import comb

import numpy as np
import pytest

from skeval.exceptions import InvalidParameterError
from skeval.stats.excess_tests import scores_p_value
from skeval.stats.risks import attack_rate, is_weak, random_link_rate, residual_risk, risk_level
from tests.snapshots import raises


def risk(k, n, k_control, n_control, **settings):
    return residual_risk(attack_rate(k, n), attack_rate(k_control, n_control), **settings)


@pytest.mark.parametrize(
    ("k", "n", "centre", "half"),
    [(30, 100, 0.3073987, 0.0884498), (0, 10, 0.1387664, 0.1387664), (250, 500, 0.5, 0.0436587)],
)
def test_wilson_hand_values(k, n, centre, half):
    rate = attack_rate(k, n)
    assert (rate.centre, rate.half_width) == pytest.approx((centre, half), abs=5e-8)
    assert rate.interval == pytest.approx((centre - half, centre + half), abs=1e-7)
    assert rate.share == k / n


def test_counts_need_not_be_whole():
    below, between, above = (attack_rate(k, 100).centre for k in (30, 30.5, 31))
    assert between == pytest.approx((below + above) / 2)


@pytest.mark.parametrize(("k", "n"), [(-1, 10), (11, 10), (0, 0)])
def test_impossible_counts(k, n):
    with raises(InvalidParameterError):
        attack_rate(k, n)


def test_residual_risk_hand_values():
    found = risk(60, 100, 20, 100)
    assert found.value == found.raw == pytest.approx(0.4882769, abs=5e-8)
    assert found.interval == pytest.approx((0.3585471, 0.6180067), abs=5e-8)
    assert found.unshrunk == pytest.approx(0.5)


def test_katz_hand_values():
    found = risk(60, 100, 20, 100, method="katz")
    assert found.value == pytest.approx(0.5)
    assert found.interval == pytest.approx((0.3520024, 0.6141961), abs=5e-8)


def test_the_shrunk_point_is_biased_down():
    """Every attack on train succeeds: the risk is 1, the published point is not."""
    found = risk(89, 89, 63, 89)
    assert found.value == pytest.approx(0.931208, abs=5e-7)
    assert found.unshrunk == 1.0


def test_without_control_the_risk_is_the_rate():
    rate = attack_rate(30, 100)
    found = residual_risk(rate)
    assert (found.value, found.interval, found.unshrunk) == (rate.centre, rate.interval, 0.3)


@pytest.mark.parametrize("method", ["anonymeter", "katz"])
def test_all_attacks_succeed(method):
    low, high = risk(50, 50, 10, 50, method=method).interval
    assert 0.5 < low < high == 1.0


@pytest.mark.parametrize("method", ["anonymeter", "katz"])
@pytest.mark.parametrize("counts", [(0, 40, 0, 10), (0, 40, 5, 10), (3, 40, 0, 10)])
def test_no_success_leaves_an_interval(method, counts):
    found = risk(*counts, method=method)
    low, high = found.interval
    assert 0.0 <= low <= found.value <= high <= 1.0
    assert high > low or found.raw < 0


def test_more_success_on_the_holdout_is_no_risk():
    found = risk(10, 100, 30, 100)
    assert found.value == 0.0 == found.interval[0]
    assert found.raw < 0 > found.unshrunk


@pytest.mark.parametrize("method", ["anonymeter", "katz"])
def test_undefined_where_every_control_succeeds(method):
    found = risk(100, 100, 50, 50, method=method)
    assert np.isnan([found.value, found.raw, found.unshrunk, *found.interval]).all()


@pytest.mark.parametrize("method", ["anonymeter", "katz"])
def test_spread_widens(method):
    narrow, wide = (risk(80, 100, 20, 100, method=method, spread=s) for s in (1.0, 1.5))
    assert wide.value == narrow.value
    assert wide.interval[0] < narrow.interval[0]
    assert wide.interval[1] > narrow.interval[1]


def test_weak_attack():
    assert is_weak(attack_rate(5, 100), attack_rate(5, 100))
    assert not is_weak(attack_rate(6, 100), attack_rate(5, 100))


def test_levels():
    assert [risk_level(x, (0.3, 0.5)) for x in (0.0, 0.3, 0.5, 1.0)] == [
        "low",
        "medium",
        "medium",
        "high",
    ]


@pytest.mark.parametrize(("n", "k"), [(5, 1), (6, 2), (9, 4), (5, 3)])
def test_random_links_are_counted(n, k):
    sets = list(combinations(range(n), k))
    hits = sum(bool(set(a) & set(b)) for a in sets for b in sets)
    assert random_link_rate(n, k) == pytest.approx(hits / comb(n, k) ** 2)


def by_enumeration(train, holdout):
    pooled = np.concatenate([train, holdout])
    sums = [pooled[list(c)].sum() for c in combinations(range(pooled.size), train.size)]
    return np.mean(np.array(sums) >= train.sum() - 1e-9)


def test_p_value_of_hits_is_fishers():
    train, holdout = np.array([1.0, 1, 1, 0, 1]), np.array([0.0, 1, 0, 0, 0, 0])
    assert scores_p_value(train, holdout) == pytest.approx(by_enumeration(train, holdout))


def test_p_value_of_shared_hits_is_that_of_relabelling():
    train, holdout = np.array([1.0, 0.6, 0.2, 0.8, 0]), np.array([0.0, 0.2, 0.2, 0.6, 0])
    found = scores_p_value(train, holdout, n_relabellings=99_999)
    assert found == pytest.approx(by_enumeration(train, holdout), abs=0.01)


def test_p_value_of_equal_scores_is_one():
    assert scores_p_value(np.full(4, 0.2), np.full(3, 0.2)) == 1.0


COVERAGE = {  # of settings (p, c, n), by method
    (0.3, 0.25, 500): (0.954, 0.949),
    (0.9, 0.6, 200): (0.955, 0.946),
    (0.02, 0.01, 500): (0.969, 0.959),
    (0.5, 0.5, 300): (0.957, 0.958),
}


@pytest.mark.calibration
@pytest.mark.parametrize("setting", COVERAGE)
@pytest.mark.parametrize("method", ["anonymeter", "katz"])
def test_coverage_of_independent_attacks(setting, method):
    p, c, n = setting
    rng, truth = np.random.default_rng(0), (p - c) / (1 - c)
    covered = []
    for k, k_control in zip(rng.binomial(n, p, 3000), rng.binomial(n, c, 3000), strict=True):
        low, high = risk(k, n, k_control, n, method=method).interval
        covered.append(low <= truth <= high)
    expected = COVERAGE[setting][method == "katz"]
    # at p = c the lower bound is clipped at the truth: misses on that side do not show
    assert expected - 0.013 <= np.mean(covered) <= expected + (0.03 if p == c else 0.013)
