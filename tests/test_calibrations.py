"""Sequential tests of rates decide as all seeds did, and sooner."""

from __future__ import annotations

from itertools import repeat

import numpy as np
import pytest
from scipy.stats import binom

from tests.calibrations import LEVEL, N_DAYS, Claim, Rate, all_hold, day_of, rate_of, rates_of
from tests.conftest import BY_CASE, share_of, unit_of
from tests.snapshots import raises

N_SEEDS = 200
ABOVE, BELOW = Claim(0.05, high=0.09), Claim(0.95, low=0.91)


def decisions(rate, claim, n_repeats=400):
    """Return how often the claim is refused, and after how many seeds that is known."""
    drawn = np.random.default_rng(0).random((n_repeats, N_SEEDS)) < rate
    found = [rate_of(outcomes, claim) for outcomes in drawn.tolist()]
    return np.mean([not one.holds for one in found]), np.mean([one.n_seeds for one in found])


def refused_at_once(rate, claim):
    """Return how often the bounds refuse what all seeds show."""
    observed = np.arange(N_SEEDS + 1) / N_SEEDS
    chances = binom.pmf(np.arange(N_SEEDS + 1), N_SEEDS, rate)
    return chances[(observed < claim.low) | (observed > claim.high)].sum()


@pytest.mark.parametrize(
    ("claim", "n_expected"), [(LEVEL, 140), (ABOVE, 81), (BELOW, 81)], ids=repr
)
def test_a_true_claim_is_seldom_refused_and_soon_decided(claim, n_expected):
    refused, n_seeds = decisions(claim.rate, claim)
    assert refused < 0.08  # 0.05 for two sides, and chance
    assert n_seeds == pytest.approx(n_expected, rel=0.1)


@pytest.mark.parametrize(
    ("rate", "claim"),
    [(0.1, LEVEL), (0.15, LEVEL), (0.005, LEVEL), (0.1, ABOVE), (0.15, ABOVE), (0.85, BELOW)],
)
def test_a_wrong_rate_is_refused_as_often_as_by_all_seeds(rate, claim):
    refused, n_seeds = decisions(rate, claim)
    assert refused > refused_at_once(rate, claim) - 0.05  # two standard errors of 400 repeats
    assert n_seeds < 140


def test_known_answers():
    assert rate_of([True] * 200, ABOVE) == Rate(False, 4, 1.0)
    never = rate_of([False] * 200, ABOVE)
    assert (never.holds, never.observed) == (True, 0.0)
    assert never.n_seeds == 37  # the least n of which (0.855 / 0.95)^n < 2 / 98
    assert not rate_of([False] * 200, LEVEL).holds


def test_outcomes_that_end_early_are_judged_by_the_bounds():
    assert rate_of([True, *[False] * 19], LEVEL) == Rate(True, 20, 0.05)
    assert rate_of([True, True, *[False] * 18], ABOVE) == Rate(False, 20, 0.1)


def test_rates_are_counted_until_the_last_is_decided():
    asked = []

    def outcomes():
        for seed in range(N_SEEDS):
            asked.append(seed)
            yield {"never": False, "seldom": seed == 20, "always": True}

    found = rates_of(outcomes(), dict.fromkeys(("never", "seldom", "always"), ABOVE))
    assert {name: rate.holds for name, rate in found.items()} == {
        "never": True,
        "seldom": True,
        "always": False,
    }
    assert found["always"].n_seeds < found["never"].n_seeds < found["seldom"].n_seeds == len(asked)
    assert not all_hold(found)


def test_nothing_is_asked_after_the_decision():
    assert rate_of(repeat(True), ABOVE).n_seeds == 4


def test_a_claim_outside_of_its_bounds_is_refused():
    with raises(ValueError):
        rate_of([True], Claim(0.95, low=0.95))


def test_days_share_the_calibrations():
    days = np.bincount(
        [day_of(f"tests/test_x.py::test[{i}]") for i in range(700)], minlength=N_DAYS
    )
    assert len(days) == N_DAYS
    assert days.min() > 70


def test_what_shares_evaluations_shares_a_process():
    common, other = BY_CASE[0], "tests/stats/test_roc.py"
    one = f"{common}::test_contract[KSComplement]"
    assert share_of(one) == share_of(
        f"{common}::test_contract_at_length[KSComplement-check_memory]"
    )
    assert share_of(one) != share_of(f"{common}::test_contract[TVComplement]")
    assert share_of(f"{other}::test_a[1-2]") == share_of(f"{other}::TestB::test_b") == other


def test_a_test_runs_on_a_day_of_its_own_unless_its_module_shares_data(request):
    assert unit_of(request.node) == request.node.nodeid
    request.node.getparent(pytest.Module).own_markers.append(pytest.mark.calibration.mark)
    try:
        assert unit_of(request.node) == request.node.nodeid.partition("::")[0]
    finally:
        request.node.getparent(pytest.Module).own_markers.pop()
