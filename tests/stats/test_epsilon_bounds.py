from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import binom, norm

from skeval.stats.epsilon_bounds import (
    against_claim,
    epsilon_of_rates,
    gdp_delta,
    gdp_epsilon,
    gdp_mu,
    one_run_epsilon,
    one_run_p_value,
    pairs_epsilon,
    pairs_p_value,
    two_world_epsilon,
)
from skeval.stats.intervals import clopper_pearson


@pytest.mark.parametrize(
    ("numbers", "delta", "epsilon"),
    [
        ((100, 100, 75), 0.0, 0.7022139),
        ((100, 100, 100), 0.0, 3.4929654),
        ((1000, 200, 180), 0.0, 1.798865),
        ((1000, 200, 180), 1e-5, 1.796285),
        ((1000, 1000, 600), 0.0, 0.297468),
        ((1000, 1000, 500), 0.0, 0.0),
        ((178, 178, 178), 0.0, 4.0761681),
        ((89, 89, 89), 0.0, 3.3745705),
        ((5, 0, 0), 0.0, 0.0),
    ],
)
def test_published_bounds(numbers, delta, epsilon):
    assert one_run_epsilon(*numbers, delta) == pytest.approx(epsilon, abs=1e-6)


def test_published_p_values():
    assert one_run_p_value(100, 100, 75, 0.5) == pytest.approx(0.00480474, abs=1e-8)
    assert one_run_p_value(1000, 200, 180, 0.5, 1e-5) == pytest.approx(2.862642e-4, abs=1e-9)
    assert one_run_p_value(10, 10, 9, math.log(3)) == pytest.approx(0.2440252, abs=1e-7)


def by_the_formula(m, r, v, epsilon, delta):
    q = math.exp(epsilon) / (1 + math.exp(epsilon))
    reached = sum(math.comb(r, k) * q**k * (1 - q) ** (r - k) for k in range(v, r + 1))
    slack = 0.0
    for i in range(1, v + 1):
        more = sum(math.comb(r, k) * q**k * (1 - q) ** (r - k) for k in range(v - i, r + 1))
        slack = max(slack, (more - reached) / i)
    return min(1.0, reached + 2 * m * delta * slack)


@pytest.mark.parametrize("delta", [0.0, 1e-4, 0.05])
@pytest.mark.parametrize("numbers", [(12, 10, 9), (30, 30, 17), (5, 1, 1), (8, 8, 0)])
def test_p_value_by_the_formula(numbers, delta):
    for epsilon in (0.0, 0.3, 2.0):
        expected = by_the_formula(*numbers, epsilon, delta)
        assert one_run_p_value(*numbers, epsilon, delta) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("r", [1, 5, 178, 10**6])
def test_all_right_in_closed_form(r):
    q = 0.05 ** (1 / r)
    assert one_run_epsilon(r, r, r) == pytest.approx(max(0.0, math.log(q / (1 - q))), abs=1e-6)


@pytest.mark.slow
def test_many_guesses_are_stable():
    assert one_run_p_value(10**6, 10**6, 10**6, 30.0) == pytest.approx(1.0)
    assert one_run_p_value(10**5, 10**5, 60_000, 0.0) < 1e-300
    there, back = (one_run_epsilon(40_000, 40_000, 39_000, delta) for delta in (0.0, 1e-6))
    assert 3.6 < back < there < 3.62


@pytest.mark.parametrize("delta", [1e-5, 1e-3, 0.02])
def test_the_bound_is_where_the_p_value_first_reaches_the_level(delta):
    bound = one_run_epsilon(200, 150, 130, delta)
    grid = np.linspace(0.0, 4.0, 201)
    reached = [one_run_p_value(200, 150, 130, epsilon, delta) >= 0.05 for epsilon in grid]
    assert bound == pytest.approx(grid[np.argmax(reached)], abs=0.021)
    assert all(reached[np.argmax(reached) :])


def test_pairs_are_half_as_sure_of_one_row_more():
    replace, one = (pairs_epsilon(89, 89, 89, adjacency=a) for a in ("replace", "add_remove"))
    assert (replace, one) == pytest.approx((3.3745705, 1.6872853), abs=1e-7)
    assert replace == one_run_epsilon(89, 89, 89)
    # of (epsilon, delta) two steps are (2 epsilon, (1 + e^epsilon) delta)
    assert pairs_p_value(50, 50, 40, 0.5, 1e-4) == pytest.approx(
        one_run_p_value(50, 50, 40, 1.0, 1e-4 * (1 + math.exp(0.5)))
    )
    assert pairs_epsilon(50, 50, 50, 1e-4) < pairs_epsilon(50, 50, 50)


@pytest.mark.slow
def test_randomised_response_of_500_coins():
    """Each coin is told rightly with e / (1 + e): epsilon is 1."""
    q, level = math.e / (1 + math.e), 0.05
    right = np.arange(280, 501)
    chance = binom.pmf(right, 500, q)
    bounds = np.array([one_run_epsilon(500, 500, int(v)) for v in right])
    assert chance[bounds > 1.0].sum() <= level
    assert chance @ bounds == pytest.approx(0.8326, abs=1e-3)


@pytest.mark.slow
def test_randomised_response_in_pairs():
    """Both bits of 200 pairs are told with e / (1 + e) each; those that are equal are no guess."""
    p = math.e / (1 + math.e)
    differ = p**2 + (1 - p) ** 2
    guesses, mean, violations = np.arange(90, 155), 0.0, 0.0
    for r, chance in zip(guesses, binom.pmf(guesses, 200, differ), strict=True):
        right = np.arange(r // 2, r + 1)
        right = right[binom.pmf(right, r, p**2 / differ) > 1e-5]
        bounds = np.array([pairs_epsilon(200, int(r), int(v)) for v in right])
        chances = chance * binom.pmf(right, r, p**2 / differ)
        mean += chances @ bounds
        violations += chances[bounds > 1.0].sum()
    assert mean == pytest.approx(0.7719, abs=1e-3)
    assert violations == pytest.approx(0.0361, abs=1e-3)


# ------------------------------------------------------------------------------------ two worlds


@pytest.mark.parametrize(
    ("counts", "delta", "epsilon"),
    [
        ((1000, 1000, 0, 1000), 0.0, 5.6005875),
        ((500, 500, 0, 500), 0.0, 4.9055942),
        ((300, 1000, 100, 1000), 0.0, 0.8148879),
        ((300, 1000, 100, 1000), 0.01, 0.7773911),
        ((680, 1000, 304, 1000), 0.0, 0.6672981),
        ((100, 1000, 300, 1000), 0.0, 0.0),
    ],
)
def test_two_worlds(counts, delta, epsilon):
    assert two_world_epsilon(*counts, delta) == pytest.approx(epsilon, abs=1e-6)


def test_rates_that_are_never_wrong_have_no_bound():
    assert np.isinf(epsilon_of_rates(0.0, 0.5))
    assert epsilon_of_rates(1.0, 1.0) == 0.0
    assert epsilon_of_rates(0.5, 0.6, delta=0.6) == 0.0


@pytest.mark.parametrize(
    ("epsilon", "mean", "violations"),
    [(0.5, 0.3776353, 0.0047337), (1.0, 0.8757203, 0.0092805), (2.0, 1.8477145, 0.0226046)],
)
@pytest.mark.slow
def test_randomised_response_in_two_worlds(epsilon, mean, violations):
    """Both binomials enumerated: 1000 runs with the row and 1000 without."""
    p = math.exp(epsilon) / (1 + math.exp(epsilon))
    wrong = np.arange(1001)
    upper = np.array([clopper_pearson(int(k), 1000)[1] for k in wrong])
    bounds = epsilon_of_rates(upper[:, None], upper[None, :])
    chance = binom.pmf(wrong, 1000, 1 - p)
    assert chance @ bounds @ chance == pytest.approx(mean, abs=1e-7)
    assert chance @ (bounds > epsilon) @ chance == pytest.approx(violations, abs=1e-7)


def test_no_mechanism_without_a_difference_is_refuted_often():
    wrong = np.arange(201)
    upper = np.array([clopper_pearson(int(k), 200)[1] for k in wrong])
    bounds = epsilon_of_rates(upper[:, None], upper[None, :])
    chance = binom.pmf(wrong, 200, 0.5)
    assert chance @ (bounds > 0) @ chance <= 0.05


def test_noise_of_half_the_scale_is_flagged():
    """A Laplace mechanism that claims epsilon 1 and adds half the noise that takes."""
    rng = np.random.default_rng(0)
    flagged = 0
    for _ in range(20):
        without, with_row = rng.laplace(0.0, 0.5, 5000), rng.laplace(1.0, 0.5, 5000)
        counts = int((with_row >= 1).sum()), 5000, int((without >= 1).sum()), 5000
        flagged += two_world_epsilon(*counts) > 1.0
    assert flagged == 20


@pytest.mark.slow
def test_laplace_mechanism():
    rng = np.random.default_rng(0)
    bounds = []
    for _ in range(200):
        without, with_row = rng.laplace(0.0, 1.0, 5000), rng.laplace(1.0, 1.0, 5000)
        counts = int((with_row >= 1).sum()), 5000, int((without >= 1).sum()), 5000
        bounds.append(two_world_epsilon(*counts))
    assert np.mean(bounds) == pytest.approx(0.913, abs=0.01)
    assert np.mean(np.array(bounds) > 1.0) <= 0.05


def test_gaussian_trade_off():
    assert gdp_delta(1.0, 1.0) == pytest.approx(0.1269367, abs=1e-7)
    assert gdp_epsilon(1e-5, 1.0) == pytest.approx(4.3771781, abs=1e-7)
    assert gdp_delta(gdp_epsilon(1e-8, 0.3), 0.3) == pytest.approx(1e-8, rel=1e-6)
    assert (gdp_delta(0.0, 0.0), gdp_epsilon(0.5, 0.1)) == (0.0, 0.0)
    assert 0.0 <= gdp_delta(1000.0, 1.0) < 1e-300


@pytest.mark.slow
def test_gaussian_mechanism():
    wrong = np.arange(1001)
    chance = binom.pmf(wrong, 1000, norm.cdf(-0.5))
    likely = wrong[chance > 1e-3]
    mean = sum(
        chance[a] * chance[b] * gdp_mu(1000 - int(b), 1000, int(a), 1000)
        for a in likely[::3]
        for b in likely[::3]
    ) / (chance[likely[::3]].sum() ** 2)
    assert mean == pytest.approx(0.832, abs=0.005)
    assert gdp_mu(300, 1000, 400, 1000) == 0.0


@pytest.mark.parametrize(
    ("bound", "claimed", "verdict"),
    [
        (1.1, 1.0, "violation"),
        (1.0, 1.0, "consistent"),
        (0.5, 1.0, "consistent"),
        (0.4, 1.0, "loose"),
        (0.0, 0.0, "consistent"),
        (0.1, 0.0, "violation"),
    ],
)
def test_verdicts(bound, claimed, verdict):
    told = against_claim(bound, claimed, lambda epsilon: epsilon / 10.0)
    assert told == {
        "claimed_epsilon": claimed,
        "verdict": verdict,
        "p_value_of_claim": claimed / 10.0,
    }
