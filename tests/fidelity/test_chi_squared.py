from __future__ import annotations

from itertools import permutations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import chi2_contingency

from skeval.datasets import make_mixed
from skeval.exceptions import ConstantColumnWarning, DegenerateInputWarning, MetricWarning
from skeval.fidelity import ChiSquaredTest
from skeval.fidelity.chi_squared import homogeneity_test, pool_rare_cells
from tests.snapshots import warns


def categories(*counts):
    return pd.DataFrame({"c": np.repeat(list("abcdef")[: len(counts)], counts)})


def test_published_values():
    result = ChiSquaredTest().fit(categories(50, 30, 20)).evaluate(categories(40, 40, 20))
    assert result.value == pytest.approx(np.sqrt(2.539683 / 200), abs=1e-6)
    assert result.p_value == pytest.approx(0.280876, abs=1e-6)
    assert result.details["statistics"]["c"] == pytest.approx(2.539683, abs=1e-6)
    assert result.details["degrees_of_freedom"]["c"] == 2
    assert result.details["ceiling"] == pytest.approx(np.sqrt(2 / 199))
    assert "conservative" in result.details["p_values_against"]


def test_counts_of_many_rows():
    result = ChiSquaredTest().fit(categories(50_000, 50_000)).evaluate(categories(40_000, 60_000))
    assert result.p_value < 1e-300
    assert result.value == pytest.approx(0.1005, abs=1e-4)


def test_numbers_are_cut_on_the_bins_of_train():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=400), rng.normal(0.2, 1, size=300)
    result = (
        ChiSquaredTest(n_bins=5, min_expected=0)
        .fit(pd.DataFrame({"x": x}))
        .evaluate(pd.DataFrame({"x": y}))
    )
    edges = np.linspace(x.min(), x.max(), 6)[1:-1]
    table = [np.bincount(np.searchsorted(edges, z, side="right"), minlength=5) for z in (x, y)]
    assert result.p_value == pytest.approx(chi2_contingency(table, correction=False).pvalue)


def test_the_p_value_is_that_of_the_holdout():
    train, holdout, synthetic = (make_mixed(300, random_state=seed) for seed in range(3))
    synthetic = synthetic.assign(age=synthetic["age"] + 20)
    result = ChiSquaredTest().fit(train, holdout).evaluate(synthetic)
    assert result.details["p_values_against"] == "holdout"
    assert result.details["p_values"]["age"] < 1e-6 < 0.01 < result.details["p_values"]["income"]
    assert result.p_value == pytest.approx(result.details["p_values"]["age"] * 7)
    assert result.details["worst"]["column"] == "age"
    assert result.baseline < result.value
    # the value stays that against train
    assert result.value == ChiSquaredTest().fit(train).score(synthetic)


def test_columns_without_two_cells():
    train = categories(20, 20).assign(same="x", rare=[*"pqrstuvw" * 5])
    with warns(MetricWarning) as caught:
        result = ChiSquaredTest(min_expected=30).fit(train).evaluate(train)
    assert {w.category for w in caught} == {ConstantColumnWarning, DegenerateInputWarning}
    assert np.isnan(result.value)
    assert result.p_value is None


def test_one_synthetic_row():
    with warns(DegenerateInputWarning):
        assert np.isnan(ChiSquaredTest().fit(categories(20, 20)).score(categories(1)))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::skeval.exceptions.SharedRowsWarning")
def test_p_values_are_calibrated():
    rng, p = np.random.default_rng(0), [0.4, 0.3, 0.2, 0.05, 0.03, 0.02]
    found, conservative = [], []
    for _ in range(200):
        train, holdout, synthetic = (categories(*rng.multinomial(n, p)) for n in (300, 300, 200))
        found.append(ChiSquaredTest().fit(train, holdout).evaluate(synthetic).p_value)
        copies = train.sample(200, replace=True, random_state=int(rng.integers(2**31)))
        conservative.append(ChiSquaredTest().fit(train).evaluate(copies).p_value)
    assert 0.02 <= np.mean(np.array(found) < 0.05) <= 0.08
    assert np.mean(np.array(conservative) < 0.05) < 0.02


COUNTS = arrays(np.int64, 6, elements=st.integers(0, 60)).filter(lambda c: c.sum() > 0)


def test_published_values_of_homogeneity():
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
