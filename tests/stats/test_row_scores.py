from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from skeval.stats.intervals import newcombe, wilson
from skeval.stats.row_scores import difference_interval, exchange_p_value, row_mean


def once(values):
    values = np.asarray(values, dtype=float)
    return values, np.ones(values.size, dtype=int)


@pytest.mark.parametrize(("k", "n"), [(30, 100), (0, 10), (10, 10), (1, 1)])
def test_shares_have_the_interval_of_wilson(k, n):
    found = row_mean(once([1] * k + [0] * (n - k)))
    assert found.value == k / n
    assert found.interval == pytest.approx(wilson(k, n))
    assert found.n_rows == n


def test_shares_differ_as_newcombe_has_it():
    first, second = row_mean(once([1] * 56 + [0] * 14)), row_mean(once([1] * 48 + [0] * 32))
    found = difference_interval(first.value, first.interval, second.value, second.interval)
    assert found == pytest.approx(newcombe(56, 70, 48, 80))


def test_mean_of_shares():
    values = np.random.default_rng(0).beta(2, 3, 400)
    found = row_mean(once(values))
    assert found.value == pytest.approx(values.mean())
    assert found.standard_error == pytest.approx(values.std(ddof=1) / 20)
    low, high = found.interval
    assert high - low == pytest.approx(2 * 1.96 * found.standard_error, rel=0.02)


def test_rows_of_number_zero_do_not_count():
    found = row_mean((np.array([1.0, 0.0, 0.0]), np.array([1, 1, 0])))
    assert (found.value, found.n_rows) == (0.5, 2)
    nobody = row_mean((np.zeros(2), np.zeros(2, dtype=int)))
    assert np.isnan([nobody.value, *nobody.interval]).all()


def test_rows_scored_several_times():
    """The mean is that of all scores; rows that were scored more often have more weight."""
    found = row_mean((np.array([3.0, 0.0]), np.array([3, 1])))
    assert found.value == 0.75
    equal = row_mean((np.array([2.0, 1.0, 0.0]), np.full(3, 2)))
    assert equal.interval == pytest.approx(row_mean(once([1.0, 0.5, 0.0])).interval)


def test_further_variance_widens():
    scores = once(np.random.default_rng(0).random(50))
    narrow, wide = row_mean(scores), row_mean(scores, extra_variance=0.01)
    assert wide.standard_error == pytest.approx(np.hypot(narrow.standard_error, 0.1))
    assert wide.interval[0] < narrow.interval[0] < narrow.interval[1] < wide.interval[1]


def test_equal_scores_leave_an_interval():
    low, high = row_mean(once(np.full(20, 0.5))).interval
    assert low < 0.5 < high


def of_all_exchanges(train, holdout):
    pooled, observed = np.array(train + holdout), np.mean(train) - np.mean(holdout)
    reached = [
        pooled[list(chosen)].mean() - np.delete(pooled, chosen).mean() >= observed - 1e-12
        for chosen in combinations(range(pooled.size), len(train))
    ]
    return np.mean(reached)


@pytest.mark.slow
@pytest.mark.parametrize("few", [[0.9, 0.8, 0.2], [0.1, 0.2, 0.3], [0.5, 0.5, 0.5]])
def test_p_value_is_that_of_all_exchanges(few):
    """Whichever of the tables is the smaller."""
    many = [0.4, 0.3, 0.6, 0.1]
    for train, holdout in ((few, many), (many, few)):
        strata = [(once(train), once(holdout))]  # no more is drawn than tells a p-value roughly
        found = [exchange_p_value(strata, n_permutations=20_000, seed=seed) for seed in range(200)]
        assert np.mean(found) == pytest.approx(of_all_exchanges(train, holdout), abs=0.012)


def test_shares_are_tested_as_fisher_has_it():
    assert exchange_p_value([(once([1, 1, 1]), once([0, 0, 0]))]) == pytest.approx(0.05)


def test_strata_are_exchanged_within():
    """All of the difference is one between strata: no exchange changes it."""
    ones, zeros = once(np.ones(9)), once(np.zeros(9))
    p = exchange_p_value([(ones, ones), (zeros, zeros)], weights=[0.5, 0.5])
    assert p == 1.0
    p = exchange_p_value([(ones, zeros), (zeros, zeros)], weights=[0.5, 0.5])
    assert p == pytest.approx(1 / 2000)


def test_order_and_uncounted_rows_do_not_matter():
    rng = np.random.default_rng(0)
    train, holdout = rng.random(30), rng.random(20)
    p = exchange_p_value([(once(train), once(holdout))], seed=3)
    assert exchange_p_value([(once(train[::-1]), once(holdout[::-1]))], seed=3) == p
    more = np.append(train, 0.0), np.append(np.ones(30, dtype=int), 0)
    assert exchange_p_value([(more, once(holdout))], seed=3) == p
    assert exchange_p_value([(once(train), once(holdout))], seed=4) != p


def test_without_rows():
    assert np.isnan(exchange_p_value([(once([]), once([1.0]))]))
    assert np.isnan(exchange_p_value([]))
