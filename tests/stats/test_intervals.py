"""Intervals against published values, scipy, and their promise of coverage."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom, binomtest

from skeval.stats.intervals import clopper_pearson, newcombe, quantile_interval, wilson


@pytest.mark.parametrize(
    ("k", "n", "centre", "half"),
    [(30, 100, 0.3073987, 0.0884498), (0, 10, 0.1387664, 0.1387664), (250, 500, 0.5, 0.0436587)],
)
def test_wilson_published(k, n, centre, half):
    low, high = wilson(k, n)
    assert ((low + high) / 2, (high - low) / 2) == pytest.approx((centre, half), abs=1e-7)


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
