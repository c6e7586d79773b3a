"""Agreement of two orders of models, and the cost of choosing by the wrong one."""

from __future__ import annotations

from itertools import combinations, permutations

import numpy as np
import pytest
from scipy.stats import kendalltau, spearmanr

from skeval.utility.ranks import (
    STATISTICS,
    agreement,
    agreement_interval,
    decided_pairs,
    first_best,
    permutation_p_value,
    regret,
    regret_interval,
    tied_with,
)

A = np.array([0.9, 0.8, 0.7, 0.6])
B = np.array([0.85, 0.87, 0.6, 0.65])


def one(real, synthetic, statistic):
    return float(agreement(np.array(real)[:, None], np.array(synthetic)[:, None], statistic)[0])


def noisy(rng, means, n_replicates, spread=1.0):
    """Return scores about their means, then replicates about the scores."""
    scores = means + spread * rng.normal(size=len(means))
    others = scores[:, None] + spread * rng.normal(size=(len(means), n_replicates))
    return np.column_stack([scores, others])


def test_hand_values():
    assert one(A, B, "sra") == pytest.approx(4 / 6)
    assert one(A, B, "kendall") == pytest.approx(1 / 3)
    assert one(A, B, "spearman") == pytest.approx(0.6)


@pytest.mark.parametrize("statistic", STATISTICS)
def test_the_same_order_and_its_reverse(statistic):
    assert one(A, A**3, statistic) == pytest.approx(1.0)
    assert one(A, -A, statistic) == pytest.approx(0.0 if statistic == "sra" else -1.0)
    assert one(-A, -B, statistic) == pytest.approx(one(A, B, statistic))  # losses


def test_scipy_agrees_with_and_without_ties():
    rng = np.random.default_rng(0)
    real, synthetic = rng.integers(0, 4, (2, 6, 50)).astype(float)
    for scores in ((real, synthetic), rng.normal(size=(2, 6, 50))):
        for name, theirs in (("kendall", kendalltau), ("spearman", spearmanr)):
            expected = [theirs(a, b).statistic for a, b in zip(*(s.T for s in scores), strict=True)]
            np.testing.assert_allclose(agreement(*scores, name), expected)


def test_sra_counts_pairs():
    rng = np.random.default_rng(1)
    real, synthetic = rng.integers(0, 3, (2, 5, 40)).astype(float)
    for a, b, actual in zip(real.T, synthetic.T, agreement(real, synthetic), strict=True):
        shares = []
        for i, j in combinations(range(5), 2):
            ties = int(a[i] == a[j]) + int(b[i] == b[j])
            same = (a[i] > a[j]) == (b[i] > b[j])
            shares.append({0: float(same), 1: 0.5, 2: 1.0}[ties])
        assert actual == pytest.approx(np.mean(shares))
    distinct = rng.normal(size=(2, 7, 1))
    tau = kendalltau(*distinct[:, :, 0]).statistic
    assert agreement(*distinct) == pytest.approx((1 + tau) / 2)


def test_models_that_all_tie():
    flat = np.full(4, 0.5)
    assert one(A, flat, "sra") == 0.5
    assert one(flat, flat, "sra") == 1.0
    assert np.isnan(one(A, flat, "kendall"))
    assert np.isnan(one(A, flat, "spearman"))


def test_rounding_is_a_tie():
    assert one([0.1 + 0.2, 0.3], [1.0, 2.0], "sra") == 0.5
    assert first_best(np.array([0.3, 0.1 + 0.2])) == 0
    assert tied_with(np.array([0.3, 0.1 + 0.2, 0.2]), 1) == [0, 1]
    assert regret(np.array([[0.3], [0.1 + 0.2]]), 0)[0] == 0.0


def test_a_missing_score_makes_its_replicate_undefined():
    real = np.column_stack([A, A])
    real[2, 1] = np.nan
    for statistic in STATISTICS:
        actual = agreement(real, B[:, None], statistic)
        assert np.isnan(actual).tolist() == [False, True]


@pytest.mark.parametrize("statistic", STATISTICS)
def test_p_value_counts_orders(statistic):
    observed = one(A, B, statistic)
    orders = [one(A, B[list(order)], statistic) for order in permutations(range(4))]
    expected = np.mean(np.array(orders) >= observed - 1e-9)
    assert permutation_p_value(A, B, statistic) == pytest.approx(expected)
    assert permutation_p_value(A, A, statistic) == pytest.approx(1 / 24)
    assert permutation_p_value(A, -A, statistic) == 1.0


def test_p_value_of_many_models_is_drawn():
    many = np.arange(10.0)
    assert permutation_p_value(many, many) == pytest.approx(1 / 10_000)
    assert permutation_p_value(many, -many) == 1.0
    rng = np.random.default_rng(2)
    real, synthetic = rng.normal(size=(2, 9))
    expected = kendalltau(real, synthetic, alternative="greater", method="exact").pvalue
    assert permutation_p_value(real, synthetic) == pytest.approx(expected, abs=0.02)
    first, second = (permutation_p_value(real, synthetic, seed=seed) for seed in (3, 3))
    assert first == second


def test_p_value_holds_its_level():
    rng = np.random.default_rng(3)
    actual = np.array([permutation_p_value(*rng.normal(size=(2, 5))) for _ in range(400)])
    assert (actual <= 0.05).mean() <= 0.08
    assert np.isnan(permutation_p_value(A, np.full(4, np.nan)))


def test_regret_of_the_hand_values():
    chosen = first_best(B)
    assert chosen == 1
    assert regret(A[:, None], chosen)[0] == pytest.approx(0.1)
    assert regret(A[:, None], chosen, relative=True)[0] == pytest.approx(0.1 / 0.9)


def test_regret_of_losses():
    losses = np.array([[3.0], [2.0], [4.0]])
    assert first_best(losses[:, 0], greater_is_better=False) == 1
    assert regret(losses, 2, greater_is_better=False)[0] == pytest.approx(2.0)
    relative = regret(losses, 2, greater_is_better=False, relative=True)
    assert relative[0] == pytest.approx(1.0)
    assert regret(losses, 1, greater_is_better=False)[0] == 0.0


def test_the_first_of_tied_models_is_chosen():
    assert first_best(np.array([0.5, 0.9, 0.9])) == 1
    assert first_best(np.array([0.5, 0.5, 0.9]), greater_is_better=False) == 0
    assert first_best(np.array([-1.0, -1.0])) == 0


def test_relative_regret_needs_a_positive_best():
    assert np.isnan(regret(np.array([[-0.1], [-0.2]]), 1, relative=True)).all()
    assert np.isnan(regret(np.array([[0.0], [-0.2]]), 1, relative=True)).all()
    assert regret(np.array([[0.2], [-0.2]]), 1, relative=True)[0] == pytest.approx(2.0)


def test_decided_pairs():
    rng = np.random.default_rng(4)
    scores = np.array([3.0, 0.0, 0.02])[:, None] + 0.1 * rng.normal(size=(3, 501))
    scores[:, 0] = [3.0, 0.0, 0.02]
    actual = decided_pairs(scores)
    assert actual.pair_mask.tolist() == [True, True, False]
    assert actual.least.tolist() == [1, 1, -1]
    assert actual.greatest.tolist() == [1, 1, 1]
    same = decided_pairs(np.vstack([scores[0], scores[0]]))
    assert same.least.tolist() == same.greatest.tolist() == [0]
    assert not same.pair_mask.any()


def test_no_replicates_decide_nothing():
    assert decided_pairs(A[:, None]) is None
    scores = np.column_stack([A] * 5)
    scores[0, 2:] = np.nan
    assert decided_pairs(scores) is None
    assert regret_interval(scores, 0) is None
    scores[0, 2] = 0.9
    assert decided_pairs(scores) is not None
    assert regret_interval(scores, 1) == pytest.approx((0.1, 0.1))


@pytest.mark.parametrize("statistic", STATISTICS)
def test_interval_of_agreement_is_the_value_where_all_is_decided(statistic):
    real, synthetic = (decided_pairs(np.column_stack([s] * 4)) for s in (A, B))
    value = one(A, B, statistic)
    assert agreement_interval(value, real, synthetic, statistic) == pytest.approx((value, value))


@pytest.mark.parametrize("statistic", STATISTICS)
def test_interval_of_agreement_lets_open_pairs_go_either_way(statistic):
    """It holds every pair of orders that leaves the decided pairs as they are."""
    real = np.array([4.0, 2.0, 2.1, 0.0])  # the middle two are open
    rng = np.random.default_rng(5)
    replicates = np.column_stack([real, real[:, None] + 0.2 * rng.normal(size=(4, 400))])
    first, second = decided_pairs(replicates), decided_pairs(np.column_stack([B] * 4))
    assert first.pair_mask.tolist() == [True, True, True, False, True, True]
    values = [one(order, B, statistic) for order in (real, [4.0, 2.1, 2.0, 0.0], [4, 2, 2, 0])]
    low, high = agreement_interval(values[0], first, second, statistic)
    assert low <= min(values) + 1e-9
    assert high >= max(values) - 1e-9
    if statistic != "spearman":  # of which the bounds are of each model by itself
        assert (low, high) == pytest.approx((min(values), max(values)))
    nothing = decided_pairs(noisy(rng, np.zeros(4), 400, 1.0) * 1e-3)
    assert not nothing.pair_mask.any()
    whole = (0.0, 1.0) if statistic == "sra" else (-1.0, 1.0)
    assert agreement_interval(values[0], nothing, nothing, statistic) == pytest.approx(whole)


def test_tied_models_bound_their_pair():
    """Two models that never differ are tied for certain: on one side only, half a pair."""
    tied = decided_pairs(np.ones((2, 5)))
    apart = decided_pairs(np.column_stack([[1.0, 0.0]] * 5))
    assert agreement_interval(1.0, tied, tied) == (1.0, 1.0)
    assert agreement_interval(0.5, tied, apart) == (0.5, 0.5)


def test_interval_of_regret():
    rng = np.random.default_rng(6)
    scores = np.array([0.9, 0.5, 0.52])[:, None] + 0.02 * rng.normal(size=(3, 801))
    scores[:, 0] = [0.9, 0.5, 0.52]
    low, high = regret_interval(scores, 1)
    assert 0.3 < low < 0.4 < high < 0.5
    assert regret_interval(scores, 0) == (0.0, 0.0)  # best beyond chance
    close = scores[1:]
    low, high = regret_interval(close, 0)
    assert low == 0.0 < 0.02 < high
    relative = regret_interval(scores, 1, relative=True)
    assert relative[0] < 0.4 / 0.9 < relative[1]
    assert regret_interval(-scores, 1, greater_is_better=False) == regret_interval(scores, 1)
    assert regret_interval(np.column_stack([[-1.0, -2.0]] * 4), 1, relative=True) is None


@pytest.mark.parametrize("gap", [0.0, 0.5, 2.0])
@pytest.mark.slow
def test_intervals_hold_the_truth(gap):
    """The intervals cover for equal, close and different models, unlike quantiles of replicates."""
    rng = np.random.default_rng(7)
    n_runs, hits, quantiles = 150, np.zeros(4), 0
    for _ in range(n_runs):
        means = gap * np.arange(6)
        others = means + gap * rng.normal(size=6)
        real, synthetic = noisy(rng, means, 200), noisy(rng, others, 200)
        sides = decided_pairs(real), decided_pairs(synthetic)
        for i, statistic in enumerate(STATISTICS):
            truth, value = (
                one(*s, statistic) for s in ((means, others), (real[:, 0], synthetic[:, 0]))
            )
            low, high = agreement_interval(value, *sides, statistic)
            hits[i] += np.isnan(truth) or low - 1e-9 <= truth <= high + 1e-9
            if statistic == "sra":
                ends = np.quantile(agreement(real, synthetic), [0.025, 0.975])
                quantiles += ends[0] <= truth <= ends[1]
        chosen = first_best(synthetic[:, 0])
        low, high = regret_interval(real, chosen)
        hits[3] += low <= means.max() - means[chosen] <= high
    assert (hits / n_runs >= 0.93).all(), hits / n_runs
    assert gap != 0.5 or quantiles / n_runs < 0.9
