"""Rounding, shares of matches, and their relabelings against all labellings."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from scipy.stats import norm

from skeval.stats.matches import digits_kept, match_contrast, matches
from skeval.stats.permutation_tests import compare_with_draws

TRAIN = np.array([2, 1, 0, 1, 0, 3])
HOLDOUT = np.array([1, 0, 2, 0, 1, 0])
SYNTHETIC = np.array([3, 2, 2, 0, 1, 4])


@pytest.mark.parametrize(
    ("value", "kept"),
    [
        (9.9999999999995, 10.0),
        (9.9999999999949, 9.99999999999),
        (1.0000000000004, 1.0),
        (1 / 3, 0.333333333333),
        (-2 / 3, -0.666666666667),
        (123456789012345.0, 123456789012000.0),
        (999999999999.0, 999999999999.0),
        (99999999999.95, 100000000000.0),
        (1e22, 1e22),
        (1e308, 1e308),
        (1.23456789012345e-310, 1.23456789012e-310),
        (0.001, 0.001),
        (np.inf, np.inf),
        (-np.inf, -np.inf),
    ],
)
def test_twelve_digits(value, kept):
    assert digits_kept(np.array([value]))[0] == pytest.approx(kept, rel=1e-15)


def test_twelve_digits_are_those_of_the_decimal_number():
    rng = np.random.default_rng(0)
    values = np.concatenate([rng.normal(size=2000), np.exp(50 * rng.normal(size=2000))])
    as_printed = np.array([float(f"{value:.11e}") for value in values])
    np.testing.assert_allclose(digits_kept(values), as_printed, rtol=1e-15)
    short = rng.integers(1, 10**6, 2000) * 10.0 ** rng.integers(-30, 30, 2000)
    noisy = short * (1.0 + rng.uniform(-1e-15, 1e-15, short.size))
    assert (digits_kept(noisy) == digits_kept(short)).all()


def test_minus_zero_and_missing():
    kept = digits_kept(np.array([-0.0, np.nan]))
    assert not np.signbit(kept[0])
    assert np.isnan(kept[1])


def test_decimals():
    values = np.array([1.004, -0.004, 1e300, np.nan, np.inf, 1234.0])
    np.testing.assert_array_equal(
        digits_kept(values, decimals=2), [1.0, 0.0, 1e300, np.nan, np.inf, 1234.0]
    )
    np.testing.assert_array_equal(
        digits_kept(values, decimals=-2), [0.0, 0.0, 1e300, np.nan, np.inf, 1200.0]
    )


def test_values_are_not_written_to():
    values = np.array([1 / 3])
    digits_kept(values)
    assert values[0] == 1 / 3


@pytest.mark.parametrize(
    ("count", "found"), [("rows", (3, 4)), ("multiset", (2, 4)), ("unique", (1, 2))]
)
def test_matches_by_hand(count, found):
    assert matches(np.array([3, 0, 1]), np.array([2, 1, 0]), count) == found


def statistic(train, holdout, count):
    k, n = matches(SYNTHETIC, train, count)
    return (k - matches(SYNTHETIC, holdout, count)[0]) / n


def all_statistics(count):
    values = np.repeat(np.arange(TRAIN.size), TRAIN + HOLDOUT)
    for chosen in combinations(range(values.size), int(TRAIN.sum())):
        train = np.bincount(values[list(chosen)], minlength=TRAIN.size)
        yield statistic(train, TRAIN + HOLDOUT - train, count)


@pytest.mark.parametrize("count", ["rows", "multiset", "unique"])
def test_contrast_against_all_labellings(count):
    exact = np.array(list(all_statistics(count)))
    found = match_contrast(SYNTHETIC, TRAIN, HOLDOUT, count, n_permutations=4000, seed=1)
    assert found.observed == pytest.approx(statistic(TRAIN, HOLDOUT, count))
    p = (exact >= found.observed - 1e-12).mean()
    assert found.p_value == pytest.approx(p, abs=4 * np.sqrt(p * (1 - p) / 1000))
    # that of pairs of rows is drawn, others are known
    noise = 4 * exact.std() / np.sqrt(1000) if count == "multiset" else 1e-12
    assert found.mean == pytest.approx(exact.mean(), abs=noise)
    assert found.spread == pytest.approx(exact.std(), rel=0.1)


@pytest.mark.slow
def test_values_of_one_copy_are_tested_exactly():
    rng = np.random.default_rng(0)
    for _ in range(20):
        is_train, used = rng.permutation(np.arange(11) < 6), rng.random(11) < 0.5
        train, holdout = is_train.astype(int), 1 - is_train
        found = match_contrast(3 * used, train, holdout, n_permutations=1, seed=0)
        every = [np.isin(np.arange(11), chosen) for chosen in combinations(range(11), 6)]
        exact = np.array([(2 * labels[used] - 1).sum() / max(1, used.sum()) for labels in every])
        assert found.observed == pytest.approx((train - holdout)[used].sum() / max(1, used.sum()))
        assert found.p_value == pytest.approx((exact >= found.observed - 1e-12).mean())
        assert (found.mean, found.spread) == pytest.approx((exact.mean(), exact.std()))
        assert found.least == pytest.approx((exact > exact.max() - 1e-12).mean())


@pytest.mark.parametrize("count", ["rows", "unique"])
def test_order_and_doubling_do_not_matter(count):
    settings = {"count": count, "n_permutations": 99, "seed": 0}
    found = match_contrast(SYNTHETIC, TRAIN, HOLDOUT, **settings)
    order = np.random.default_rng(0).permutation(TRAIN.size)
    again = match_contrast(2 * SYNTHETIC[order], TRAIN[order], HOLDOUT[order], **settings)
    assert again.p_value == found.p_value
    assert (again.mean, again.spread) == pytest.approx((found.mean, found.spread))


def test_nothing_matches():
    none = match_contrast(
        np.array([0, 0, 2]), np.array([1, 0, 0]), np.array([0, 1, 0]), n_permutations=9, seed=0
    )
    assert (none.observed, none.mean, none.spread, none.p_value) == (0.0, 0.0, 0.0, 1.0)


@pytest.mark.parametrize("n_others", [0, 200_000])
def test_blocks_of_draws(n_others):
    """Thousands of values, whose counts are drawn in blocks: by value where other rows are many."""
    rng = np.random.default_rng(0)
    train, holdout, synthetic = rng.integers(0, 3, (3, 3000))
    synthetic[0], train[0], holdout[0] = 0, n_others // 2, n_others // 2
    settings = {"n_permutations": 1999, "seed": 3}
    found = match_contrast(synthetic, train, holdout, "rows", **settings)
    chance = norm.sf((found.observed - found.mean) / found.spread)
    assert found.p_value == pytest.approx(chance, abs=0.1)


def test_rounding_errors_make_no_difference():
    assert compare_with_draws(0.1 + 0.2, np.array([0.3, 0.0, 0.0])).p_value == 0.5
