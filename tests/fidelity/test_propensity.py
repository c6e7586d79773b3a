from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import chi2_contingency, ks_2samp, mannwhitneyu
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression

from skeval import check_metric
from skeval.datasets import make_mixed
from skeval.exceptions import (
    DegenerateInputWarning,
    InvalidParameterError,
    MissingInputError,
    SharedRowsWarning,
)
from skeval.fidelity import PropensityMSE
from skeval.fidelity.propensity import (
    analytic_null,
    companions,
    estimation_factor,
    fit_logistic,
    full_rank_basis,
    propensity_mse,
    table_measures,
    with_products,
)
from tests.calibrations import LEVEL, all_hold, rates_of
from tests.snapshots import raises, warns

TRAIN, HOLDOUT, SYNTHETIC = (make_mixed(200, random_state=seed) for seed in range(3))


def cells(*counts):
    return pd.DataFrame({"c": np.repeat([f"v{i}" for i in range(len(counts))], counts)})


REAL, MADE = cells(30, 10, 10), cells(20, 20, 10)


def evaluate(train, holdout, synthetic, model="logistic", **settings):
    return PropensityMSE(model, **settings).fit(train, holdout).evaluate(synthetic)


def test_three_cells_by_hand():
    found = evaluate(REAL, None, MADE)
    assert found.value == pytest.approx(0.04 / 3)
    assert found.baseline == pytest.approx(0.005)
    about = found.details
    assert about["n_parameters"] == 3
    assert about["null"] == pytest.approx({"kind": "snoke", "mean": 0.0025, "spread": 0.0025})
    assert about["ratio"] == pytest.approx(16 / 3)
    assert about["standardized"] == pytest.approx(13 / 3)
    assert about["similarity"] == pytest.approx(1 - 4 * 0.04 / 3)
    assert (about["specks"], about["po50"]) == pytest.approx((0.2, 10.0))
    assert about["tables"]["mean"]["voas_williamson"] == pytest.approx(32 / 3)
    assert about["tables"]["by_column"]["c"]["cells"] == 3
    assert about["tested_against"] == "train"
    assert found.p_value == pytest.approx(np.exp(-16 / 3))


def test_the_null_of_an_independent_sample():
    ratio = evaluate(REAL, None, MADE, null="two_sample", form="ratio")
    assert ratio.value == pytest.approx(8 / 3)
    assert ratio.p_value == pytest.approx(0.0695, abs=5e-5)
    assert ratio.baseline == 1.0
    standardized = evaluate(REAL, None, MADE, null="two_sample", form="standardized")
    assert standardized.value == pytest.approx((0.04 / 3 - 0.005) / 0.005)
    assert standardized.baseline == 0.0


def test_its_p_value_is_of_the_holdout_where_there_is_one():
    with pytest.warns(SharedRowsWarning):
        found = evaluate(REAL, cells(20, 20, 10), MADE, null="two_sample")
    assert found.value == pytest.approx(0.04 / 3)
    assert found.p_value == pytest.approx(1.0)
    assert found.details["tested_against"] == "holdout"
    with pytest.warns(SharedRowsWarning):
        few = evaluate(REAL, cells(3, 3, 3), MADE, null="two_sample")
    assert few.details["tested_against"] == "train"


def test_unequal_sizes():
    found = evaluate(cells(60, 20, 20), None, cells(20, 20, 10))
    assert found.details["po50"] == pytest.approx(100 * 2 / 3 - 50)
    assert found.details["specks"] == pytest.approx(0.2)
    share = 1 / 3
    assert found.details["null"]["mean"] == pytest.approx(2 * (1 - share) ** 2 * share / 150)
    assert found.baseline == pytest.approx(2 * (1 - share) * share / 150)


def test_a_sample_of_train_has_a_part_of_its_error():
    train, made = (make_mixed(400, random_state=seed) for seed in (3, 4))
    whole, sampled = (evaluate(train, None, made, max_rows=n) for n in (None, 100))
    k = sampled.details["n_parameters"]
    assert sampled.details["n_real"] == sampled.details["n_synthetic"] == 100
    assert sampled.details["null"]["mean"] == pytest.approx((k - 1) * 0.25 / 200 * (1 - 100 / 800))
    k = whole.details["n_parameters"]
    assert whole.details["null"]["mean"] == pytest.approx((k - 1) * 0.25 / 800 / 2)


def test_against_the_holdout():
    found = evaluate(TRAIN, HOLDOUT.iloc[:80], SYNTHETIC, null="holdout", form="ratio")
    raw = evaluate(TRAIN, HOLDOUT.iloc[:80], SYNTHETIC, null="holdout")
    alike = raw.details["at_baseline_size"]
    assert alike["n_rows"] == 80
    assert found.value == pytest.approx(alike["value"] / raw.baseline)
    assert alike["value"] > raw.value
    assert found.value > 0
    assert found.baseline == 1.0
    assert found.p_value is None
    same = evaluate(TRAIN, HOLDOUT, HOLDOUT, null="holdout", form="ratio")
    # the same law at the same size, other rows drawn
    assert same.value == pytest.approx(1.0)
    with raises(MissingInputError):
        PropensityMSE(null="holdout").fit(TRAIN)


@pytest.mark.slow
def test_permuted_labels_have_the_mean_of_the_analytic_null():
    ours, analytic = (
        evaluate(REAL, None, MADE, null=null, form="ratio", n_permutations=400)
        for null in ("permutation", "snoke")
    )
    assert ours.details["null"]["mean"] == pytest.approx(0.0025, rel=0.15)
    assert ours.value == pytest.approx(analytic.value, rel=0.15)
    assert 0.03 < ours.p_value < 0.12  # two samples: 0.0695
    with pytest.warns(SharedRowsWarning):
        with_holdout = evaluate(REAL, MADE, MADE, null="permutation", n_permutations=50)
    assert with_holdout.p_value == 1.0
    assert with_holdout.details["tested_against"] == "holdout"
    assert with_holdout.baseline == pytest.approx(0.005, rel=0.4)


@pytest.mark.slow
def test_trees():
    far = SYNTHETIC.assign(age=SYNTHETIC["age"] + 20)
    near, apart = (
        evaluate(
            TRAIN, None, rows, model="cart", null="permutation", form="ratio", n_permutations=50
        )
        for rows in (SYNTHETIC, far)
    )
    assert apart.value > near.value
    assert apart.p_value == pytest.approx(1 / 51)
    assert near.p_value > 0.05
    assert near.details["n_parameters"] is None
    raw = evaluate(TRAIN, HOLDOUT, SYNTHETIC, model="cart")
    assert raw.value == pytest.approx(raw.baseline, abs=0.05)
    assert raw.details["null"]["kind"] == "permutation"
    assert raw.p_value > 0.05
    without = evaluate(TRAIN, HOLDOUT, SYNTHETIC, model="cart", null="snoke")
    assert without.p_value is None
    assert np.isnan(without.details["ratio"])


def shuffled_apart(table, seed):
    rng = np.random.default_rng(seed)
    return table.apply(lambda column: rng.permutation(column.to_numpy()))


@pytest.mark.slow
def test_a_table_of_unrelated_columns_is_not_perfect():
    made = shuffled_apart(TRAIN, 0)
    published = evaluate(TRAIN, None, made)
    assert (published.value, published.p_value) == (pytest.approx(0.0), pytest.approx(1.0))
    apart, fresh = (
        PropensityMSE(form="standardized").fit(TRAIN, HOLDOUT).evaluate(rows)
        for rows in (made, SYNTHETIC)
    )
    assert apart.details["null"]["kind"] == "permutation"
    assert apart.value > 4
    assert apart.p_value == pytest.approx(1 / 100)
    assert abs(fresh.value) < 3
    assert fresh.p_value > 0.05


@pytest.mark.slow
def test_rows_of_a_right_model_have_the_trees_value_of_permuted_labels():
    rng, ratios = np.random.default_rng(0), []
    for _ in range(6):
        train = rng.multivariate_normal(np.zeros(4), np.eye(4) / 2 + 0.5, 250)
        made = rng.multivariate_normal(train.mean(axis=0), np.cov(train.T), 250)
        fit, synthetic = (pd.DataFrame(rows, columns=list("abcd")) for rows in (train, made))
        settings = {"model": "tree", "form": "ratio", "n_permutations": 50}
        ratios.append(evaluate(fit, None, synthetic, **settings).value)
    assert np.mean(ratios) == pytest.approx(1.0, abs=0.15)  # half of it for the regression


def test_a_model_that_never_splits():
    settings = {"model": DummyClassifier(), "null": "permutation", "n_permutations": 50}
    with warns(DegenerateInputWarning):
        found = evaluate(TRAIN, None, SYNTHETIC, **settings)
    assert found.value == pytest.approx(0.0)


@pytest.mark.slow
def test_probabilities_of_unseen_rows_are_no_nearer():
    fitted, unseen = (evaluate(TRAIN, None, SYNTHETIC, out_of_fold=flag) for flag in (False, True))
    assert fitted.details["specks"] > unseen.details["specks"] - 0.05
    assert unseen.details["null"]["kind"] == "permutation"
    assert unseen.details["n_parameters"] is None
    model = evaluate(TRAIN, None, SYNTHETIC, model=LogisticRegression(C=1e6, max_iter=5000))
    assert model.value == pytest.approx(fitted.value, rel=0.02)


@pytest.mark.parametrize(
    "settings",
    [
        {"null": "snoke", "form": "ratio"},
        {"out_of_fold": True, "form": "ratio", "null": "two_sample"},
        {"null": "holdout", "form": "standardized"},
    ],
)
def test_a_null_that_the_model_does_not_have(settings):
    with raises(InvalidParameterError):
        PropensityMSE(**settings).fit(TRAIN, HOLDOUT)


def test_interactions_see_what_means_do_not():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(2, 400))
    train = pd.DataFrame(
        {"a": x[0], "b": 0.8 * x[0] + 0.6 * x[1], "c": rng.choice(["u", "v"], 400)}
    )
    made = train.assign(b=rng.permutation(train["b"]))
    plain, products = (
        evaluate(train, None, made, interactions=flag, form="ratio") for flag in (False, True)
    )
    assert plain.value < 0.1
    assert products.value > 10
    assert products.details["n_parameters"] == 4 + 3
    wide = pd.DataFrame(rng.normal(size=(50, 60)).round(2)).add_prefix("x")
    with raises(InvalidParameterError):
        evaluate(wide, None, wide, interactions=True)


def test_products_of_one_column_are_none():
    design = np.arange(6.0).reshape(2, 3)
    assert with_products(design, np.array([0, 0, 1])).tolist() == [
        [0, 1, 2, 0, 2],
        [3, 4, 5, 15, 20],
    ]
    assert with_products(design, np.zeros(3)).shape == (2, 3)


def test_separation_is_told():
    with warns(DegenerateInputWarning):
        found = evaluate(TRAIN, None, SYNTHETIC.assign(city="nowhere"))
    assert found.value == pytest.approx(0.25, abs=1e-4)


@pytest.mark.slow
def test_copies_are_as_good_as_a_right_model():
    ratios = []
    for seed in range(20):
        copy = TRAIN.sample(200, replace=True, random_state=seed)
        ratios.append(evaluate(TRAIN, None, copy, form="ratio").value)
    assert np.mean(ratios) == pytest.approx(1.02, abs=0.15)


def test_a_table_that_does_not_vary():
    same = pd.DataFrame({"x": np.ones(20)})
    assert evaluate(same, None, same).value == 0.0
    with warns(DegenerateInputWarning):
        assert np.isnan(evaluate(same, None, same, form="ratio").value)


@pytest.mark.calibration
@pytest.mark.parametrize(
    "settings", [{"model": "logistic", "form": "standardized"}, {"model": "cart"}]
)
def test_other_forms_keep_the_contract(settings):
    check_metric(PropensityMSE(**settings))


@pytest.mark.calibration
def test_p_values_hold_their_size():
    names = ("snoke", "two_sample", "holdout", "permutation")

    def rejects(seed):
        rng = np.random.default_rng(5000 + seed)
        tables = [pd.DataFrame(rng.normal(size=(n, 4))).add_prefix("x") for n in (200, 150, 200)]
        train, holdout, fresh = tables
        fitted = rng.multivariate_normal(train.mean(), train.cov(), 200)
        made = pd.DataFrame(fitted, columns=train.columns)
        settings = (
            (None, made, "snoke"),
            (None, fresh, "two_sample"),
            (holdout, fresh, "two_sample"),
            (None, fresh, "permutation"),
        )
        return {
            name: evaluate(train, held, rows, null=null, n_permutations=59).p_value <= 0.05
            for name, (held, rows, null) in zip(names, settings, strict=True)
        }

    found = rates_of(map(rejects, range(200)), dict.fromkeys(names, LEVEL))
    assert all_hold(found), found


def one_hot_cells(real, synthetic):
    """Return the one-hot design of a table of cells, and which rows are synthetic."""
    cell = np.concatenate([np.repeat(np.arange(len(real)), counts) for counts in (real, synthetic)])
    return np.eye(len(real))[cell], np.arange(len(cell)) >= sum(real)


def fitted_to_cells(real, synthetic):
    design, labels = one_hot_cells(real, synthetic)
    found = fit_logistic(design, labels)
    return found, found.probabilities[~labels], found.probabilities[labels]


def test_the_null_of_three_cells_by_hand():
    found, real, synthetic = fitted_to_cells((30, 10, 10), (20, 20, 10))
    value = propensity_mse(real, synthetic)
    assert found.n_parameters == 3
    assert not found.separated
    assert np.unique(found.probabilities.round(9)) == pytest.approx([0.4, 0.5, 2 / 3])
    assert value == pytest.approx(0.04 / 3)
    snoke, independent = analytic_null(50, 50, 3, 50), analytic_null(50, 50, 3)
    assert (snoke.mean, snoke.spread) == pytest.approx((0.0025, 0.0025))
    assert snoke.ratio(value) == pytest.approx(16 / 3)
    assert snoke.standardize(value) == pytest.approx(13 / 3)
    assert independent.mean == pytest.approx(0.005)
    assert independent.ratio(value) == pytest.approx(8 / 3)
    assert independent.p_value(value) == pytest.approx(np.exp(-8 / 3))
    assert independent.p_value(value) == pytest.approx(0.0695, abs=5e-5)


def test_three_cells_are_a_chi_square_and_a_distance():
    _, real, synthetic = fitted_to_cells((30, 10, 10), (20, 20, 10))
    pearson = chi2_contingency([[30, 10, 10], [20, 20, 10]], correction=False)
    assert 100 * propensity_mse(real, synthetic) / 0.25 == pytest.approx(pearson.statistic)
    assert pearson.statistic == pytest.approx(16 / 3)
    beside = companions(real, synthetic)
    assert beside["specks"] == pytest.approx(0.2)
    assert beside["po50"] == pytest.approx(10.0)


def test_companions_of_unequal_sizes():
    _, real, synthetic = fitted_to_cells((60, 20, 20), (20, 20, 10))
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


def test_estimation_factor():
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
    assert np.isnan(null.standardize(0.0))
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


def test_a_regression_knows_that_it_separates():
    found = fit_logistic(np.arange(10.0)[:, None], np.arange(10) >= 4)
    assert found.separated
    labels = np.arange(10) >= 4
    apart = found.probabilities[~labels], found.probabilities[labels]
    assert propensity_mse(*apart) == pytest.approx(0.24, abs=1e-6)
    # one level that only synthetic rows have
    found, real, synthetic = fitted_to_cells((20, 20, 0), (15, 15, 10))
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
