from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import chi2_contingency

from skeval.fidelity.chi_square import homogeneity_test, pool_rare_cells

COUNTS = arrays(np.int64, 6, elements=st.integers(0, 60)).filter(lambda c: c.sum() > 0)


def test_published_values():
    found = homogeneity_test(np.array([50, 30, 20]), np.array([40, 40, 20]))
    assert found.statistic == pytest.approx(2.539683, abs=1e-6)
    assert found.p_value == pytest.approx(0.280876, abs=1e-6)
    assert (found.degrees, found.n_cells) == (2.0, 3)
    assert found.cramers_v == pytest.approx(np.sqrt(2.539683 / 200), abs=1e-6)


def test_counts_matter_and_not_shares_alone():
    p = homogeneity_test(np.array([50_000, 50_000]), np.array([40_000, 60_000])).p_value
    assert p < 1e-300  # of frequencies, the peers' way, it would be 0.84


@given(COUNTS, COUNTS)
@settings(deadline=None)
def test_parity_with_scipy(x, y):
    found = homogeneity_test(x, y)
    pooled = np.array(pool_rare_cells(x, y, 5.0))
    if found.n_cells < 2:
        assert np.isnan(found.statistic)
        return
    expected = chi2_contingency(pooled, correction=False)
    assert found.statistic == pytest.approx(expected.statistic, abs=1e-9)
    assert found.p_value == pytest.approx(expected.pvalue, abs=1e-12)
    assert found.degrees == expected.dof
    assert expected.expected_freq.min() >= 5.0
    assert pooled.sum() == x.sum() + y.sum()
    assert 0.0 <= found.cramers_v <= 1.0


def test_pooling_by_hand():
    x, y = np.array([40, 4, 2, 0]), np.array([30, 3, 7, 0])
    assert [part.tolist() for part in pool_rare_cells(x, y, 5.0)] == [[40, 6], [30, 10]]
    # 1 + 1 rows are too few even together: the next one joins them
    x, y = np.array([40, 20, 1]), np.array([30, 30, 1])
    assert [part.tolist() for part in pool_rare_cells(x, y, 5.0)] == [[40, 21], [30, 31]]
    assert [part.tolist() for part in pool_rare_cells(x, y, 0.0)] == [[40, 20, 1], [30, 30, 1]]
    assert [part.tolist() for part in pool_rare_cells(x[:0], y[:0], 5.0)] == [[], []]


def test_too_few_cells():
    for x, y in (([30, 0], [9, 0]), ([20, 3], [1, 0]), ([3, 0], [0, 0])):
        found = homogeneity_test(np.array(x), np.array(y))
        assert np.isnan(found.p_value)
        assert np.isnan(found.cramers_v)


def test_expected_v_over_all_relabellings():
    rows = np.array([0, 0, 1, 2, 2, 2])
    squares = [
        homogeneity_test(
            np.bincount(order[:2], minlength=3), np.bincount(order[2:], minlength=3), 0.0
        ).cramers_v
        ** 2
        for order in map(np.array, permutations(rows))
    ]
    found = homogeneity_test(np.array([1, 0, 1]), np.array([1, 1, 2]), 0.0)
    assert found.expected_v == pytest.approx(np.sqrt(np.mean(squares)))


def test_disjoint_tables_are_fully_associated():
    assert homogeneity_test(np.array([30, 0]), np.array([0, 80])).cramers_v == 1.0
