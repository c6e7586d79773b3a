"""Rates and gaps of groups, with values by hand, brute force and coverage of intervals."""

from __future__ import annotations

import numpy as np
import pytest

from skeval.stats.bootstrap import difference_interval, inflated_interval
from skeval.utility.groups import (
    average_odds_difference,
    gap,
    gap_interval,
    group_counts,
    group_rates,
    preservation,
    range_of_rates,
    rate_ratio,
)

TRUTH = np.array([1, 1, 0, 0, 1, 1, 0, 0], dtype=bool)
CALLED = np.array([1, 1, 1, 0, 1, 0, 0, 0], dtype=bool)
GROUPS = np.array([0, 0, 0, 0, 1, 1, 1, 1])


def rates_of(truth, called, groups, weights=None, min_cell=1):
    weights = np.ones((1, truth.size)) if weights is None else weights
    counts = group_counts(groups, truth, called, weights, int(groups.max()) + 1)
    return group_rates(counts, min_cell)


def test_by_hand():
    rates = rates_of(TRUTH, CALLED, GROUPS)
    assert rates["selection"].tolist() == [[0.75, 0.25]]
    assert rates["tpr"].tolist() == [[1.0, 0.5]]
    assert rates["fpr"].tolist() == [[0.5, 0.0]]
    assert gap(rates, "demographic_parity").tolist() == [0.5]
    assert gap(rates, "equalized_odds").tolist() == [0.5]
    assert gap(rates, "equal_opportunity").tolist() == [0.5]
    assert rate_ratio(rates, "demographic_parity") == pytest.approx([1 / 3])
    assert rate_ratio(rates, "equalized_odds").tolist() == [0.0]
    assert average_odds_difference(rates).tolist() == [-0.5]


def test_the_mean_of_two_gaps():
    rates = {"tpr": np.array([[1.0, 0.5, 0.8]]), "fpr": np.array([[0.1, 0.2, 0.2]])}
    assert gap(rates, "equalized_odds", "max") == pytest.approx([0.5])
    assert gap(rates, "equalized_odds", "mean") == pytest.approx([0.3])


def test_weights_are_repeated_rows():
    rng = np.random.default_rng(0)
    truth, called = rng.random((2, 60)) < 0.5
    groups = rng.integers(0, 3, 60)
    weights = rng.integers(0, 4, (5, 60))
    actual = rates_of(truth, called, groups, weights)
    for i, counts in enumerate(weights):
        rows = np.repeat(np.arange(60), counts)
        one = rates_of(truth[rows], called[rows], groups[rows])
        for name, rates in one.items():
            assert actual[name][i] == pytest.approx(rates[0])


def test_rates_of_few_rows_are_skipped_of_all_replicates():
    weights = np.vstack([np.ones(8), np.full(8, 10.0)])
    rates = rates_of(TRUTH, CALLED, GROUPS, weights, min_cell=3)
    assert rates["selection"].tolist() == [[0.75, 0.25]] * 2
    assert np.isnan(rates["tpr"]).all()
    assert np.isnan(gap(rates, "equalized_odds")).all()


def test_a_group_that_a_replicate_lacks_has_no_rate_there():
    weights = np.vstack([np.ones(8), GROUPS == 0])
    rates = rates_of(TRUTH, CALLED, GROUPS, weights)
    assert np.isnan(rates["selection"]).tolist() == [[False, False], [False, True]]
    assert np.isnan(range_of_rates(rates["selection"])).tolist() == [False, True]


def test_groups_without_a_rate_take_no_part():
    rates = {"tpr": np.array([[0.9, np.nan, 0.6], [0.9, np.nan, np.nan]])}
    assert gap(rates, "equal_opportunity") == pytest.approx([0.3, np.nan], nan_ok=True)
    assert rate_ratio(rates, "equal_opportunity") == pytest.approx([2 / 3, np.nan], nan_ok=True)


def test_equal_rates_have_ratio_one_even_at_zero():
    assert rate_ratio({"tpr": np.zeros((1, 3))}, "equal_opportunity").tolist() == [1.0]


def test_average_odds_are_of_two_groups():
    rates = {"tpr": np.ones((1, 3)), "fpr": np.zeros((1, 3))}
    assert np.isnan(average_odds_difference(rates)).all()


def test_preservation_sees_a_reversal():
    first, second = {"tpr": np.array([[0.75, 0.25]])}, {"tpr": np.array([[0.25, 0.75]])}
    assert gap(first, "equal_opportunity") == gap(second, "equal_opportunity")
    assert preservation(first, second, "equal_opportunity").tolist() == [0.5]
    assert preservation(first, first, "equal_opportunity").tolist() == [1.0]
    nothing = {"tpr": np.full((1, 2), np.nan)}
    assert np.isnan(preservation(nothing, first, "equal_opportunity")).all()


def simulated(sizes, first, second, n_replicates, rng):
    """Return the rates of two models with similar decisions, and bootstrap replicates."""
    cells = []
    for size, p, q in zip(sizes, first, second, strict=True):
        u = rng.random(size)
        cells.append(np.bincount(2 * (u < p) + (u < q), minlength=4))
    counts = np.ravel(cells)
    drawn = rng.multinomial(counts.sum(), counts / counts.sum(), n_replicates)
    tables = np.vstack([counts, drawn]).reshape(1 + n_replicates, -1, 4)
    whole = tables.sum(axis=-1)
    return (
        {"selection": (tables[..., 2] + tables[..., 3]) / whole},
        {"selection": (tables[..., 1] + tables[..., 3]) / whole},
    )


def test_intervals_hold_their_values():
    rng = np.random.default_rng(0)
    for first, second in ((0.3, 0.3), (0.3, 0.6)):
        rates, others = simulated((50, 50), (0.3, first), (second, 0.3), 200, rng)
        gaps = [gap(part, "demographic_parity") for part in (rates, others)]
        low, high = gap_interval(rates, "demographic_parity")
        assert 0.0 <= low <= gaps[0][0] <= high <= 1.0
        low, high = difference_interval(*gaps)
        assert low <= gaps[0][0] - gaps[1][0] <= high


def test_the_gap_of_several_models_is_their_mean():
    rng = np.random.default_rng(0)
    rates = simulated((200, 200), (0.3, 0.5), (0.4, 0.4), 300, rng)
    both = {"selection": np.stack([part["selection"] for part in rates])}
    means = gap(both, "demographic_parity").mean(axis=0)
    low, high = gap_interval(both, "demographic_parity")
    assert (low + high) / 2 == pytest.approx(means[0])


def test_two_equal_measures_do_not_differ():
    gaps = np.random.default_rng(0).random(100)
    low, high = difference_interval(gaps, gaps)
    assert low <= 0.0 <= high


def test_intervals_of_what_is_not_defined():
    nothing = {"tpr": np.full((5, 2), np.nan)}
    assert gap_interval(nothing, "equal_opportunity") is None
    assert gap_interval({"tpr": np.array([[0.5, 0.7]])}, "equal_opportunity") is None
    assert difference_interval(np.array([0.5]), np.array([0.5])) is None
    few = np.array([0.5, np.nan, np.nan, 0.4])
    assert inflated_interval(few) is None
    assert inflated_interval(np.array([np.nan, 0.4, 0.4])) is None


@pytest.mark.slow
@pytest.mark.parametrize(
    ("sizes", "first", "second", "least"),
    [
        ((100, 100), (0.3, 0.3), (0.3, 0.3), (0.91, 0.93)),
        ((100, 100), (0.3, 0.5), (0.3, 0.35), (0.91, 0.93)),
        ((400, 20), (0.3, 0.3), (0.3, 0.3), (0.91, 0.93)),
        ((100,) * 5, (0.3,) * 5, (0.3,) * 5, (0.91, 0.93)),
        ((100,) * 5, (0.3, 0.3, 0.5, 0.3, 0.3), (0.3,) * 5, (0.93, 0.91)),
        ((500,) * 3, (0.3, 0.4, 0.5), (0.5, 0.4, 0.3), (0.93, 0.91)),
        ((500, 500), (0.3, 0.35), (0.3, 0.3), (0.93, 0.85)),
    ],
)
def test_coverage(sizes, first, second, least):
    """Where quantiles of bootstrap gaps hold the true gap in 0 to 97% of cases."""
    rng, n_runs = np.random.default_rng(0), 300
    truth = max(first) - min(first), max(second) - min(second)
    held = np.zeros(2)
    for _ in range(n_runs):
        rates, others = simulated(sizes, first, second, 300, rng)
        low, high = gap_interval(rates, "demographic_parity")
        held[0] += low <= truth[0] <= high
        gaps = [gap(part, "demographic_parity") for part in (rates, others)]
        low, high = difference_interval(*gaps)
        held[1] += low <= truth[0] - truth[1] <= high
    assert (held / n_runs >= least).all(), held / n_runs
