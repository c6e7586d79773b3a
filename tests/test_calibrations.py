"""Sequential tests of rates decide as the fixed number of seeds did, and sooner."""

from __future__ import annotations

from itertools import repeat

import numpy as np
import pytest
from scipy.stats import binom

from tests.calibrations import N_DAYS, Rate, day_of, rate_of, rates_of

N_SEEDS = 200


def decisions(rate, n_repeats=400, **bounds):
    """Return how often the claim is refused, and after how many seeds that is known."""
    drawn = np.random.default_rng(0).random((n_repeats, N_SEEDS)) < rate
    found = [rate_of(outcomes, **bounds) for outcomes in drawn.tolist()]
    return np.mean([not one.holds for one in found]), np.mean([one.n_seeds for one in found])


def refused_at_once(rate, low=0.0, high=1.0):
    """Return how often the bounds refuse the rate of all seeds."""
    counts = np.arange(N_SEEDS + 1)
    return binom.pmf(counts, N_SEEDS, rate)[
        (counts / N_SEEDS < low) | (counts / N_SEEDS > high)
    ].sum()


BOTH = {"claim": 0.05, "low": 0.02, "high": 0.08}
ABOVE = {"claim": 0.05, "high": 0.09}
BELOW = {"claim": 0.95, "low": 0.91}


@pytest.mark.parametrize("bounds", [BOTH, ABOVE, BELOW], ids=["both", "above", "below"])
def test_a_true_claim_is_seldom_refused(bounds):
    refused, n_seeds = decisions(bounds["claim"], **bounds)
    assert refused < 0.05
    assert n_seeds < (150 if bounds is BOTH else 90)


@pytest.mark.parametrize(
    ("rate", "bounds"),
    [(0.1, BOTH), (0.15, BOTH), (0.005, BOTH), (0.1, ABOVE), (0.15, ABOVE), (0.85, BELOW)],
    ids=["10%", "15%", "0.5%", "10% above", "15% above", "85% below"],
)
def test_a_wrong_rate_is_refused_as_often_as_by_all_seeds(rate, bounds):
    within = {side: bound for side, bound in bounds.items() if side != "claim"}
    refused, n_seeds = decisions(rate, **bounds)
    assert refused > refused_at_once(rate, **within) - 0.05  # of which chance: two standard errors
    assert n_seeds < 140


def test_known_answers():
    assert rate_of([True] * 200, 0.05, high=0.09) == Rate(False, 4, 1.0)
    never = rate_of([False] * 200, 0.05, high=0.09)
    assert (never.holds, never.observed) == (True, 0.0)
    assert never.n_seeds == 37  # the least n of which (0.855 / 0.95)^n < 2 / 98
    assert not rate_of([False] * 200, 0.05, low=0.02).holds
    # one in twenty decides nothing against 2% to 8% in so few seeds: the bounds judge
    assert rate_of([True, *[False] * 19], 0.05, low=0.02, high=0.08) == Rate(True, 20, 0.05)
    assert rate_of([True, True, *[False] * 18], 0.05, high=0.09) == Rate(False, 20, 0.1)


def test_rates_are_counted_until_the_last_is_decided():
    asked = []

    def outcomes():
        for seed in range(N_SEEDS):
            asked.append(seed)
            yield {"never": False, "seldom": seed == 20, "always": True}

    found = rates_of(outcomes(), 0.05, high=0.09)
    assert {name: rate.holds for name, rate in found.items()} == {
        "never": True,
        "seldom": True,
        "always": False,
    }
    assert found["always"].n_seeds < found["never"].n_seeds < found["seldom"].n_seeds == len(asked)


def test_nothing_is_asked_after_the_decision():
    assert rate_of(repeat(True), 0.05, high=0.09).n_seeds == 4


def test_a_claim_outside_of_its_bounds_is_refused():
    with pytest.raises(ValueError, match="does not lie between"):
        rate_of([True], 0.95, low=0.95)


def test_days_share_the_calibrations():
    days = np.bincount(
        [day_of(f"tests/test_x.py::test[{i}]") for i in range(700)], minlength=N_DAYS
    )
    assert len(days) == N_DAYS
    assert days.min() > 70
