"""Intervals by published tables, bootstrap replicates, and how intervals overlap."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom, binomtest, norm

from skeval.stats.bootstrap import bootstrap_values, percentile_interval, row_weights
from skeval.stats.interval_overlap import expected_overlap, interval_overlap
from skeval.stats.intervals import (
    clopper_pearson,
    fieller,
    newcombe,
    quantile_interval,
    to_its_error,
    wilson,
)


@pytest.mark.parametrize(
    ("k", "n", "centre", "half"),
    [(30, 100, 0.3073987, 0.0884498), (0, 10, 0.1387664, 0.1387664), (250, 500, 0.5, 0.0436587)],
)
def test_wilson_published(k, n, centre, half):
    low, high = wilson(k, n)
    assert ((low + high) / 2, (high - low) / 2) == pytest.approx((centre, half), abs=1e-7)


def test_ratios_by_hand():
    assert fieller(3.0, 1.0, 2.0, 0.0, 2.0) == pytest.approx((0.5, 2.5))  # no noise below the line
    # at the ends, above - ratio * below is two standard errors from 0: 6 - r * 10 = +-2 sqrt(1 + r^2)
    low, high = fieller(6.0, 1.0, 10.0, 1.0, 2.0)
    for ratio in (low, high):
        assert abs(6.0 - 10.0 * ratio) == pytest.approx(2.0 * np.sqrt(1.0 + ratio**2))
    assert low < 0.6 < high
    assert high - 0.6 > 0.6 - low  # the noise below the line matters more for larger ratios
    assert fieller(6.0, 1.0, 2.0, 1.0, 2.0) == (-np.inf, np.inf)  # 2 may be 0


def test_intervals_of_ratios_cover():
    rng = np.random.default_rng(0)
    above, below = rng.normal(2.0, 1.0, size=4_000), rng.normal(4.0, 1.0, size=4_000)
    ends = np.array(
        [fieller(a, 1.0, b, 1.0, norm.ppf(0.975)) for a, b in zip(above, below, strict=True)]
    )
    held = np.mean((ends[:, 0] <= 0.5) & (ends[:, 1] >= 0.5))
    assert held == pytest.approx(0.95, abs=0.012)


@pytest.mark.parametrize("confidence", [0.8, 0.95, 0.99])
@pytest.mark.parametrize(("k", "n"), [(0, 7), (3, 7), (7, 7), (1, 1000)])
def test_against_scipy(k, n, confidence):
    test = binomtest(k, n)
    for ours, method in ((wilson, "wilson"), (clopper_pearson, "exact")):
        theirs = test.proportion_ci(confidence, method=method)
        assert ours(k, n, confidence) == pytest.approx((theirs.low, theirs.high), abs=1e-9)


@pytest.mark.parametrize(
    ("k", "n", "alpha", "low", "high"),
    [
        (0, 100, 0.05, 0.0, 0.0362167),
        (5, 100, 0.05, 0.0164319, 0.1128349),
        (30, 100, 0.05, 0.2124064, 0.3998147),
    ],
)
def test_clopper_pearson_published(k, n, alpha, low, high):
    assert clopper_pearson(k, n, 1 - alpha) == pytest.approx((low, high), abs=1e-7)


def test_counts_need_not_be_whole():
    below, between, above = (wilson(k, 20)[0] for k in (7, 7.5, 8))
    assert below < between < above


@pytest.mark.parametrize(
    ("counts", "expected"),
    [  # method 10 in table II of the paper
        ((56, 70, 48, 80), (0.0524, 0.3339)),
        ((9, 10, 3, 10), (0.1705, 0.8090)),
        ((10, 10, 0, 20), (0.6791, 1.0)),
        ((10, 10, 0, 10), (0.6075, 1.0)),
    ],
)
def test_newcombe_published(counts, expected):
    assert newcombe(*counts) == pytest.approx(expected, abs=5e-5)


@pytest.mark.parametrize(
    ("error", "estimate", "rounded"), [(0.119, 0.83, 0.12), (0.367, 0.8, 0.4), (36.7, 0.0, 40.0)]
)
def test_digits_that_an_error_leaves_certain(error, estimate, rounded):
    """The Review of Particle Physics has the first two as its examples."""
    stated = {"estimate": 0.827, "error": error}
    assert to_its_error(stated) == {"estimate": estimate, "error": rounded}
    for none in (0.0, np.nan, np.inf):
        assert to_its_error({"estimate": 0.827, "error": none})["estimate"] == 0.827
    assert to_its_error({"estimate": 1e-310, "error": 1e-312})["error"] == pytest.approx(1e-312)


def test_newcombe_is_antisymmetric():
    low, high = newcombe(5, 20, 30, 50)
    assert newcombe(30, 50, 5, 20) == pytest.approx((-high, -low))


@pytest.mark.parametrize("q", [0.05, 0.5, 0.9])
@pytest.mark.parametrize("n", [30, 200, 1000])
def test_quantile_interval_keeps_its_promise_exactly(n, q):
    low, high = (int(x) for x in quantile_interval(np.arange(n, dtype=float), q))
    # the quantile lies between ranks low + 1 and high + 1 if so many values are under it
    under = binom(n, q)
    covered = under.cdf(high) - (under.cdf(low) if low > 0 else 0.0)
    reaches_an_end = low == 0 or high == n - 1
    assert covered >= 0.95 or reaches_an_end


def test_quantile_interval_of_a_few_rows_is_all_of_them():
    assert quantile_interval(np.array([3.0, 1.0, np.inf]), 0.5) == (1.0, np.inf)


def overlap(first, second, clip=False):
    ends = (np.array([end], dtype=float) for end in (*first, *second))
    return interval_overlap(*ends, clip=clip)[0]


@pytest.mark.parametrize(
    ("first", "second", "value", "clipped"),
    [
        ((0, 2), (1, 3), 0.5, 0.5),
        ((0, 2), (0.5, 1.5), 0.75, 0.75),
        ((0, 1), (2, 4), -0.75, 0.0),
        ((0, 1), (1, 2), 0.0, 0.0),
        ((-1, 4), (-1, 4), 1.0, 1.0),
    ],
)
def test_by_hand(first, second, value, clipped):
    assert overlap(first, second) == value == overlap(second, first)
    assert overlap(first, second, clip=True) == clipped


@pytest.mark.parametrize(
    ("first", "second"),
    [((0, 0), (0, 1)), ((0, 1), (1, 1)), ((0, np.inf), (0, 1)), ((np.nan, 1), (0, 1))],
)
def test_no_interval_has_no_overlap(first, second):
    assert np.isnan(overlap(first, second))
    assert np.isnan(overlap(second, first, clip=True))


def test_intervals_of_means_of_like_samples():
    z = norm.ppf(0.975)
    assert expected_overlap(2 * z, 2 * z, 2**0.5) == pytest.approx(1 - 1 / (z * np.pi**0.5))
    # centres that vary around those of train, as of rows from a model with its coefficients
    assert expected_overlap(2 * z, 2 * z, 1.0) == pytest.approx(1 - 1 / (z * (2 * np.pi) ** 0.5))
    assert expected_overlap(1.0, 1.0, 0.0) == 1.0
    assert expected_overlap(4.0, 1.0, 0.0) == 0.5 * (1 / 4 + 1)


@pytest.mark.parametrize(("width", "other"), [(1.0, 1.0), (1.0, 0.3), (0.5, 2.0)])
@pytest.mark.parametrize("error", [0.1, 0.5, 2.0])
@pytest.mark.parametrize("clip", [False, True])
def test_expected_overlap_is_the_mean(width, other, error, clip):
    centres = error * norm.ppf((np.arange(40_000) + 0.5) / 40_000)
    actual = interval_overlap(
        np.full(centres.size, -width / 2),
        np.full(centres.size, width / 2),
        centres - other / 2,
        centres + other / 2,
        clip=clip,
    )
    assert actual.mean() == pytest.approx(
        expected_overlap(width, other, error, clip=clip), abs=1e-3
    )


def test_weights_count_draws_with_replacement():
    weights = np.concatenate(list(row_weights(50, 400, seed=0)))
    assert weights.shape == (400, 50)
    assert (weights.sum(axis=1) == 50).all()
    assert weights.mean() == 1.0
    assert weights.var() == pytest.approx(1 - 1 / 50, abs=0.05)  # of a binomial of n draws at 1/n


def test_chunks_change_nothing():
    """The first replicates are the same however many follow, more than are kept among them."""
    (whole,) = row_weights(300_000, 3, seed=3)
    for n_replicates in (7, 70):
        parts = row_weights(300_000, n_replicates, seed=3)
        assert (next(parts) == whole).all()
        assert (next(parts) != whole).any()


def test_the_first_is_the_value_itself_and_the_spread_is_that_of_the_mean():
    values = np.random.default_rng(0).normal(size=400)
    actual = bootstrap_values(lambda w: (w @ values) / w.sum(axis=1), 400, 2000, seed=0)
    assert actual[0] == pytest.approx(values.mean())
    assert actual[1:].std() == pytest.approx(values.std() / 20, rel=0.05)


def test_equal_seeds_are_paired():
    values = np.random.default_rng(0).normal(size=30)
    first, second = (
        bootstrap_values(lambda w, s=shift: (w @ (values + s)) / 30, 30, 50, seed=1)
        for shift in (0, 2)
    )
    assert second - first == pytest.approx(np.full(51, 2.0))


def test_interval_holds_the_value_and_needs_half_the_replicates():
    assert percentile_interval(np.array([9.0, 1.0, 2.0, 3.0])) == (pytest.approx(1.05), 9.0)
    assert percentile_interval(np.array([1.0])) is None
    assert percentile_interval(np.array([np.nan, 1.0, 2.0])) is None
    assert percentile_interval(np.array([1.0, np.nan, np.nan, 1.0])) is None


@pytest.mark.slow
def test_percentile_interval_covers_a_mean():
    rng = np.random.default_rng(0)
    hits = 0
    for i in range(400):
        values = rng.exponential(size=200)
        low, high = percentile_interval(
            bootstrap_values(lambda w, v=values: (w @ v) / w.sum(axis=1), 200, 500, seed=i)
        )
        hits += low <= 1.0 <= high
    assert 0.90 <= hits / 400 <= 0.975
