from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import chi2_contingency, ks_2samp, mannwhitneyu

from skeval.fidelity.propensity_scores import (
    analytic_null,
    companions,
    estimation_factor,
    fit_logistic,
    full_rank_basis,
    propensity_mse,
    table_measures,
)


def cells(real, synthetic):
    """Return the one-hot design of a table of cells, and which rows are synthetic."""
    cell = np.concatenate([np.repeat(np.arange(len(real)), counts) for counts in (real, synthetic)])
    return np.eye(len(real))[cell], np.arange(len(cell)) >= sum(real)


def fitted(real, synthetic):
    design, labels = cells(real, synthetic)
    found = fit_logistic(design, labels)
    return found, found.probabilities[~labels], found.probabilities[labels]


def test_three_cells_by_hand():
    found, real, synthetic = fitted((30, 10, 10), (20, 20, 10))
    value = propensity_mse(real, synthetic)
    assert found.n_parameters == 3
    assert not found.separated
    assert np.unique(found.probabilities.round(9)) == pytest.approx([0.4, 0.5, 2 / 3])
    assert value == pytest.approx(0.04 / 3)
    snoke, independent = analytic_null(50, 50, 3, 50), analytic_null(50, 50, 3)
    assert (snoke.mean, snoke.spread) == pytest.approx((0.0025, 0.0025))
    assert snoke.ratio(value) == pytest.approx(16 / 3)
    assert snoke.standardized(value) == pytest.approx(13 / 3)
    assert independent.mean == pytest.approx(0.005)
    assert independent.ratio(value) == pytest.approx(8 / 3)
    assert independent.p_value(value) == pytest.approx(np.exp(-8 / 3))
    assert independent.p_value(value) == pytest.approx(0.0695, abs=5e-5)


def test_three_cells_are_a_chi_square_and_a_distance():
    _, real, synthetic = fitted((30, 10, 10), (20, 20, 10))
    pearson = chi2_contingency([[30, 10, 10], [20, 20, 10]], correction=False)
    assert 100 * propensity_mse(real, synthetic) / 0.25 == pytest.approx(pearson.statistic)
    assert pearson.statistic == pytest.approx(16 / 3)
    beside = companions(real, synthetic)
    assert beside["specks"] == pytest.approx(0.2)
    assert beside["po50"] == pytest.approx(10.0)


def test_unequal_sizes():
    _, real, synthetic = fitted((60, 20, 20), (20, 20, 10))
    beside = companions(real, synthetic)
    assert beside["specks"] == pytest.approx(0.2)
    assert beside["po50"] == pytest.approx(100 * 100 / 150 - 50)
    share = 50 / 150
    pearson = chi2_contingency([[60, 20, 20], [20, 20, 10]], correction=False).statistic
    value = propensity_mse(real, synthetic)
    assert 150 * value / (share * (1 - share)) == pytest.approx(pearson)
    assert analytic_null(100, 50, 3).p_value(value) == pytest.approx(np.exp(-pearson / 2))


def test_both_nulls_of_published_sizes():
    assert analytic_null(500, 500, 6, 500).mean == pytest.approx(0.000625)
    assert analytic_null(500, 500, 6).mean == pytest.approx(0.00125)
    assert analytic_null(300, 900, 6, 300).mean == pytest.approx(0.000195, abs=5e-7)
    assert analytic_null(300, 900, 6).mean == pytest.approx(0.000781, abs=5e-7)


def test_a_sample_of_train_has_a_part_of_its_error():
    assert estimation_factor(300, 900, 300) == pytest.approx(0.25)
    assert estimation_factor(100, 100, 200) == pytest.approx(0.75)
    assert estimation_factor(100, 100, 10**9) == pytest.approx(1.0)
    assert estimation_factor(5, 7, None) == 1.0


def test_a_design_that_does_not_vary_has_no_null():
    found = fit_logistic(np.ones((6, 2)), np.arange(6) >= 2)
    assert found.n_parameters == 1
    assert found.probabilities == pytest.approx(np.full(6, 2 / 3))
    null = analytic_null(2, 4, 1)
    assert np.isnan(null.ratio(0.0))
    assert np.isnan(null.standardized(0.0))
    assert null.p_value(0.0) is None


@pytest.mark.parametrize("seed", range(4))
def test_the_fit_is_that_of_scikit_learn(seed):
    from sklearn.linear_model import LogisticRegression

    rng = np.random.default_rng(seed)
    design = rng.normal(size=(120, 4)) * [1, 10, 1e-3, 1] + [0, 500, 0, -2]
    labels = rng.uniform(size=120) < 1 / (1 + np.exp(-design[:, 0]))
    scaled = (design - design.mean(0)) / design.std(0)
    model = LogisticRegression(C=1e10, tol=1e-10, max_iter=10_000).fit(scaled, labels)
    expected = model.predict_proba(scaled)[:, 1]
    assert fit_logistic(design, labels).probabilities == pytest.approx(expected, abs=1e-6)


def test_collinear_and_constant_columns_cost_nothing():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(50, 2))
    labels = rng.uniform(size=50) < 0.5
    more = np.column_stack([x, 3 * x[:, 0] - x[:, 1] + 4, np.full(50, 7.0), x[:, 1] * 1e6])
    one, other = fit_logistic(x, labels), fit_logistic(more, labels)
    assert one.n_parameters == other.n_parameters == 3
    assert one.probabilities == pytest.approx(other.probabilities)
    basis = full_rank_basis(more)
    assert basis.T @ basis == pytest.approx(np.eye(3), abs=1e-9)


def test_separation_is_told():
    found = fit_logistic(np.arange(10.0)[:, None], np.arange(10) >= 4)
    assert found.separated
    labels = np.arange(10) >= 4
    apart = found.probabilities[~labels], found.probabilities[labels]
    assert propensity_mse(*apart) == pytest.approx(0.24, abs=1e-6)
    # one level that only synthetic rows have
    found, real, synthetic = fitted((20, 20, 0), (15, 15, 10))
    assert found.separated
    assert propensity_mse(real, synthetic) > 0.02


def test_more_columns_than_rows():
    rng = np.random.default_rng(0)
    found = fit_logistic(rng.normal(size=(30, 200)), np.arange(30) >= 15)
    assert found.n_parameters == 30
    assert found.separated


def test_companions_are_those_of_scipy():
    rng = np.random.default_rng(1)
    real, synthetic = rng.uniform(size=30).round(1), rng.uniform(size=20).round(1) ** 0.5
    beside = companions(real, synthetic)
    assert beside["specks"] == pytest.approx(ks_2samp(real, synthetic).statistic)
    assert beside["wilcoxon_u"] == mannwhitneyu(synthetic, real).statistic
    right = (real < 0.5).sum() + (synthetic > 0.5).sum()
    right += ((real == 0.5).sum() + (synthetic.round(9) == 0.5).sum()) / 2
    assert beside["po50"] == pytest.approx(100 * right / 50 - 50)


def test_measures_of_tables_by_hand():
    found = table_measures(np.array([30, 10, 10, 0]), np.array([20, 20, 10, 0]))
    assert found["cells"] == 3
    assert found["voas_williamson"] == pytest.approx(2 * 16 / 3)
    freeman = 4 * ((np.sqrt(20) - np.sqrt(30)) ** 2 + (np.sqrt(20) - np.sqrt(10)) ** 2)
    assert found["freeman_tukey"] == pytest.approx(freeman)
    assert found["mean_absolute_difference"] == pytest.approx(0.4 / 3)
    affinity = np.sqrt(0.6 * 0.4) + np.sqrt(0.2 * 0.4) + 0.2
    assert found["bhattacharyya"] == pytest.approx(np.sqrt(1 - affinity))
    unequal = table_measures(np.array([60, 20, 20]), np.array([20, 20, 10]))
    scaled = np.array([60, 20, 20]) / 2
    expected = ((np.array([20, 20, 10]) - scaled) ** 2 / (np.array([80, 40, 30]) / 3)).sum()
    assert unequal["voas_williamson"] == pytest.approx(expected)
    same = table_measures(np.array([3, 5]), np.array([6, 10]))
    assert [same[name] for name in list(same)[:4]] == pytest.approx([0, 0, 0, 0], abs=1e-7)


@pytest.mark.slow
def test_the_nulls_are_what_simulation_gives():
    values = {"correct": [], "independent": [], "subsample": []}
    labels = np.arange(1000) >= 500
    for seed in range(300):
        rng = np.random.default_rng(seed)
        real = rng.normal(size=(500, 5))
        made = rng.multivariate_normal(real.mean(0), np.cov(real.T), 500)
        more = np.concatenate([real, rng.normal(size=(1000, 5))])
        of_more = rng.multivariate_normal(more.mean(0), np.cov(more.T), 500)
        fresh = rng.normal(size=(500, 5))
        for name, rows in (("correct", made), ("independent", fresh), ("subsample", of_more)):
            p = fit_logistic(np.concatenate([real, rows]), labels).probabilities
            values[name].append(propensity_mse(p[:500], p[500:]))
    assert np.mean(values["correct"]) == pytest.approx(0.000625, rel=0.1)
    assert np.mean(values["independent"]) == pytest.approx(0.00125, rel=0.1)
    expected = analytic_null(500, 500, 6, 1500)
    assert np.mean(values["subsample"]) == pytest.approx(expected.mean, rel=0.1)
    for name, n in (("correct", 500), ("independent", None)):
        p_values = [analytic_null(500, 500, 6, n).p_value(value) for value in values[name]]
        assert 0.02 <= np.mean(np.array(p_values) <= 0.05) <= 0.08
