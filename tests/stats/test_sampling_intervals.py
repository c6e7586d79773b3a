"""Intervals from values of halves: by hand, and how often they hold the truth."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import t as student

from skeval.stats.sampling_intervals import (
    N_HALVINGS,
    halves_interval,
    lasting_noise,
    linearize_halves,
    sampling_interval,
)


def test_the_interval_of_a_value_by_hand():
    halves = np.array([[0.0, 2.0], [1.0, 3.0]])  # a variance of 2 at half the size, of 1 at full
    reach = student.ppf(0.975, 2)
    assert sampling_interval(0.5, halves) == pytest.approx((0.5 - reach, 0.5 + reach))
    few, cut = sampling_interval(0.5, halves, 0.25), (0.0, 1.0)
    assert few == pytest.approx((0.5 - reach / 2, 0.5 + reach / 2))
    assert sampling_interval(0.5, halves, bounds=cut) == cut
    variances = np.array([1.0 / 4, (1.0 - 0.25 / 2.0) * 1.0])
    freedom = variances.sum() ** 2 / (variances**2 / 2).sum()
    reach = student.ppf(0.975, freedom) * np.sqrt(variances.sum())
    wide = sampling_interval(0.5, halves, 0.25, extremes=np.array([3.0, 4.0, 5.0]))
    assert wide == pytest.approx((0.5 - reach, 0.5 + reach))
    assert sampling_interval(0.5, halves, extremes=np.array([0.5, np.nan])) is None
    assert sampling_interval(0.5, np.ones((2, 2))) == (0.5, 0.5)
    assert sampling_interval(np.nan, halves) is None
    assert sampling_interval(0.5, np.full((2, 2), np.inf)) is None


def test_halves_that_differ_little_count_less_than_how_much_their_mean_varies():
    """The deviation of one mean is near 0 by chance: both halves deviate by the same amount."""
    halves = np.array([[1.0, 1.0], [2.0, 2.0], [3.0, 3.0]])  # the variance of the means is 1
    reach = student.ppf(0.975, 2) * np.sqrt(0.6)
    assert sampling_interval(0.0, halves) == pytest.approx((-reach, reach))


def test_few_largest_values_tell_little_about_the_noise_of_extremes():
    extremes = np.arange(8.0)
    reach = student.ppf(0.975, 4) * np.sqrt(0.5 * extremes.var(ddof=1))
    found = sampling_interval(0.0, np.zeros((8, 2)), extremes=extremes)
    assert found == pytest.approx((-reach, reach))


@pytest.mark.parametrize(
    ("growth", "factor"), [(0.5, 1.0), (1.0, 1.0), (2**0.5, 1.0), (2.0, 0.5), (5.0, 0.5)]
)
def test_noise_shrinks_as_the_value_at_most_with_the_size(growth, factor):
    halves = growth + np.array([[0.2, -0.1], [0.1, -0.2]])
    found = linearize_halves(1.0, halves)
    assert found.mean() == pytest.approx(growth)
    assert found.var() == pytest.approx(factor * halves.var())
    few = linearize_halves(1.0, halves, 2 / growth) if growth >= 1 else halves
    assert few.var() == pytest.approx(halves.var() / max(growth, 1.0))
    assert linearize_halves(0.0, halves).var() == pytest.approx(0.5 * halves.var())
    assert np.isinf(linearize_halves(1.0, np.full((2, 2), np.inf))).all()


@pytest.mark.parametrize(("times", "left"), [(0.5, 1.5), (1.0, 1.0), (1.5, 0.5), (2.0, 0), (3, 0)])
def test_noise_that_is_twice_as_large_in_half_of_the_rows_does_not_last(times, left):
    whole = np.array([1.0, 3.0, 2.0, 6.0])
    found = lasting_noise(np.array([whole, 1.0 + times**0.5 * whole]).T)
    assert found.var(ddof=1) == pytest.approx(left * whole.var(ddof=1))
    assert (lasting_noise(np.ones((4, 2))) == 1.0).all()
    unknown = lasting_noise(np.array([whole, np.full(4, np.nan)]).T)
    assert (unknown == whole).all()
    assert np.isinf(lasting_noise(np.full((4, 2), np.inf))).all()


def test_halves_by_hand():
    halves = np.array([[0.0, 2.0], [1.0, 3.0]])  # a variance of 2 at half the size, of 1 at full
    low, high = halves_interval(0.5, halves, np.zeros((2, 2)))
    assert ((low + high) / 2, (high - low) / 2) == pytest.approx((0.5, 4.302653 * 1.15**0.5))
    assert halves_interval(0.5, np.ones((2, 2)), np.ones((2, 2))) == (0.5, 0.5)
    assert halves_interval(np.nan, halves, halves) is None
    assert halves_interval(0.5, halves, np.full((2, 2), np.inf)) is None


@pytest.mark.slow
@pytest.mark.parametrize("shift", [0.0, 0.3])
def test_halves_cover_the_difference_of_a_rough_statistic(shift):
    """Of absolute deviations, where resampled distances have the noise twice."""
    rng, n, n_runs, n_columns = np.random.default_rng(0), 64, 400, 6
    train = rng.normal(size=n_columns) / np.sqrt(n)

    def value(rows):
        return np.abs(rows.mean(axis=-2) - train).mean(axis=-1)

    first = rng.normal(size=(n_runs, n, n_columns)) + shift
    second = rng.normal(size=(n_runs, n, n_columns))
    truth = value(rng.normal(size=(20_000, n, n_columns)) + shift).mean()
    truth -= value(rng.normal(size=(20_000, n, n_columns))).mean()

    def halved(rows):
        orders = (rng.permutation(n).reshape(2, -1) for _ in range(5))
        return np.array([value(rows[order]) for order in orders])

    n_held = 0
    for one, other in zip(first, second, strict=True):
        low, high = halves_interval(value(one) - value(other), halved(one), halved(other))
        n_held += low <= truth <= high
    assert 0.91 <= n_held / n_runs <= 0.985


@pytest.mark.parametrize("shift", [0.0, 0.1, 0.5])
@pytest.mark.parametrize("n_columns", [1, 6])
def test_intervals_of_expected_deviations_cover(shift, n_columns):
    """Two samples whose mean absolute deviations are near 0, or are not."""
    rng, n, n_runs = np.random.default_rng(0), 64, 400

    def value(rows):
        return np.abs(rows.mean(axis=-2)).mean(axis=-1)

    truth = value(rng.normal(size=(20_000, n, n_columns)) + shift).mean()
    spread = value(rng.normal(size=(20_000, n, n_columns)) + shift).std()
    held, widths = 0, []
    for rows in rng.normal(size=(n_runs, n, n_columns)) + shift:
        orders = (rng.permutation(n).reshape(2, -1) for _ in range(N_HALVINGS))
        halves = np.array([value(rows[order]) for order in orders])
        low, high = sampling_interval(value(rows), halves)
        held += low <= truth <= high
        widths.append(high - low)
    assert 0.9 <= held / n_runs <= 0.995
    assert np.mean(widths) <= 1.5 * 2 * 1.96 * spread


def test_roots_of_halves_are_for_sums_of_squares():
    """Of samples of one population, whose squares shrink as the size; plain halves are too wide."""
    rng, n, n_runs, n_cells = np.random.default_rng(0), 64, 300, 40
    train = rng.normal(size=n_cells) / np.sqrt(n)

    def value(rows):
        return ((rows.mean(axis=-2) - train) ** 2).sum(axis=-1)

    def halved(rows):
        orders = (rng.permutation(n).reshape(2, -1) for _ in range(N_HALVINGS))
        return np.array([value(rows[order]) for order in orders])

    held = np.zeros(2)
    for first, second in rng.normal(size=(n_runs, 2, n, n_cells)):
        values, halves = (value(first), value(second)), (halved(first), halved(second))
        both = halves, map(linearize_halves, values, halves)
        ends = [sampling_interval(values[0] - values[1], one - other) for one, other in both]
        held += [low <= 0.0 <= high for low, high in ends]
    plain, by_root = held / n_runs
    assert 0.92 <= by_root <= 0.98
    assert by_root < plain
