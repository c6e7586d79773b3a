"""Every column as a target once: ratios by hand, the worst first, what is skipped."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.metrics import balanced_accuracy_score, mean_squared_error
from sklearn.tree import DecisionTreeClassifier

from skeval.datasets import make_census, make_mixed
from skeval.exceptions import (
    DegenerateInputWarning,
    InvalidParameterError,
    MissingInputError,
    SampledWarning,
)
from skeval.generators import Bootstrap, IndependentMarginals
from skeval.utility import TSTR, GlobalUtility
from skeval.utility.global_utility import margin_of_sample
from tests.snapshots import raises, warns


def numbers_and_labels(n: int, seed: int, slope: float = 2.0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=n)
    y = slope * x + rng.normal(size=n)
    return pd.DataFrame({"x": x, "y": y, "c": np.where(x + y > 0, "up", "down")})


TRAIN, HOLDOUT, SYNTHETIC = (
    numbers_and_labels(300, seed, slope) for seed, slope in enumerate([2.0, 2.0, -1.0])
)


def test_ratio_of_errors_by_scikit_learn():
    metric = GlobalUtility(["y"], LinearRegression(), max_rows=None).fit(TRAIN, HOLDOUT)
    result = metric.evaluate(SYNTHETIC)
    errors = []
    for rows in (SYNTHETIC, TRAIN):
        features = [np.column_stack([table["x"], table["c"] == "up"]) for table in (rows, HOLDOUT)]
        model = LinearRegression().fit(features[0], rows["y"])
        errors.append(mean_squared_error(HOLDOUT["y"], model.predict(features[1])) ** 0.5)
    scores = result.details["by_column"]["y"]
    assert [scores["tstr"], scores["trtr"]] == pytest.approx(errors)
    assert result.value == pytest.approx(errors[1] / errors[0])
    assert scores["scoring"] == "rmse"


def test_ratio_of_accuracies_by_scikit_learn():
    tree = DecisionTreeClassifier(max_depth=2, random_state=0)
    result = GlobalUtility(["c"], tree).fit(TRAIN, HOLDOUT).evaluate(SYNTHETIC)
    accuracies = [
        balanced_accuracy_score(
            HOLDOUT["c"], tree.fit(rows[["x", "y"]], rows["c"]).predict(HOLDOUT[["x", "y"]])
        )
        for rows in (SYNTHETIC, TRAIN)
    ]
    assert result.value == pytest.approx(accuracies[0] / accuracies[1])
    same = TSTR("c", "balanced_accuracy", tree).fit(TRAIN, HOLDOUT).evaluate(SYNTHETIC)
    assert result.details["by_column"]["c"]["tstr"] == same.value
    assert result.details["by_column"]["c"]["trtr"] == same.baseline


def test_value_is_the_mean_and_the_worst_is_named():
    result = GlobalUtility(estimator="linear").fit(TRAIN, HOLDOUT).evaluate(SYNTHETIC)
    ratios = result.details["columns"]
    assert set(ratios) == {"x", "y", "c"}
    assert result.value == pytest.approx(np.mean(list(ratios.values())))
    assert result.details["worst"]["column"] == min(ratios, key=ratios.get)
    assert f"worst column is {result.details['worst']['column']} with" in result.summary
    assert result.baseline == 1.0


def test_errors_near_zero_are_no_errors():
    """A column that another determines: what is left of an error is rounding and shrinkage."""
    train, holdout, synthetic = (
        table.assign(z=3 * table["x"]) for table in (TRAIN, HOLDOUT, TRAIN)
    )
    synthetic = synthetic.assign(z=synthetic["z"] * 1.002)
    scores = [
        GlobalUtility(["z"], LinearRegression(), tolerance=tolerance)
        .fit(train, holdout)
        .score(synthetic)
        for tolerance in (0.0, 0.01)
    ]
    assert scores[0] < 0.01
    assert scores[1] == 1.0


def test_train_itself_is_the_baseline():
    result = GlobalUtility(estimator="linear").fit(TRAIN, HOLDOUT).evaluate(TRAIN)
    assert result.value == 1.0
    assert result.interval == (1.0, 1.0)


def test_intervals():
    metric = GlobalUtility(estimator="linear", n_bootstrap=100).fit(TRAIN, HOLDOUT)
    result = metric.evaluate(SYNTHETIC)
    ends = np.array(list(result.details["intervals"].values()))
    assert result.interval == pytest.approx(tuple(ends.mean(axis=0)))
    for name, (low, high) in result.details["intervals"].items():
        assert low <= result.details["columns"][name] <= high
    without = GlobalUtility(estimator="linear", n_bootstrap=0).fit(TRAIN, HOLDOUT)
    assert without.evaluate(SYNTHETIC).interval is None
    assert without.score(SYNTHETIC) == result.value


@pytest.mark.slow
def test_what_generators_keep():
    train, holdout = make_census(800, random_state=0), make_census(800, random_state=1)
    metric = GlobalUtility(["age", "schooling", "household", "income"]).fit(train, holdout)
    copies, apart = (
        metric.score(generator.fit(train).sample(800))
        for generator in (Bootstrap(0), IndependentMarginals(0))
    )
    assert apart < 0.8 < 0.9 < copies


@pytest.mark.slow
def test_drawn_targets_have_the_ratios_of_the_full_run():
    tables = [
        pd.concat(
            [make_mixed(120, random_state=10 * seed + k).add_suffix(f"_{k}") for k in (0, 1)],
            axis=1,
        )
        for seed in range(3)
    ]
    every, some = (
        GlobalUtility(estimator="linear", max_targets=n).fit(*tables[:2]) for n in (None, 6)
    )
    whole = every.evaluate(tables[2])
    with warns(SampledWarning):
        drawn = some.evaluate(tables[2])
    ratios = drawn.details["columns"]
    assert drawn.details["sampled"] == {"targets": (6, 14)}
    assert "sampled" not in whole.details
    assert len(ratios) == 6
    assert ratios == {name: whole.details["columns"][name] for name in ratios}
    assert "over 6 drawn columns" in drawn.summary
    ends = np.mean([drawn.details["intervals"][name] for name in ratios], axis=0)
    margin = margin_of_sample(np.array(list(ratios.values())), 6, 14)
    halves = np.hypot(ends - drawn.value, margin)
    assert drawn.interval == pytest.approx((drawn.value - halves[0], drawn.value + halves[1]))


def test_the_margin_of_a_draw_covers_the_mean_of_all():
    rng = np.random.default_rng(0)
    every = rng.beta(5.0, 1.0, 300)  # most ratios near 1, some far below
    covers = []
    for _ in range(1000):
        drawn = rng.choice(every, 50, replace=False)
        covers.append(abs(drawn.mean() - every.mean()) <= margin_of_sample(drawn, 50, 300))
    assert 0.92 < np.mean(covers) < 0.97


def test_no_interval_of_drawn_targets_goes_below_the_least_value():
    """Ratios near 0 and 1: the margin of two of them is wider than their mean."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(3, 200))
    tables = [
        pd.DataFrame({"a": of, "b": 2.0 * of, "c": noise, "d": -noise})
        for of, noise in zip(x, rng.normal(size=(3, 200)), strict=True)
    ]
    tables[2]["b"] = rng.permutation(tables[2]["b"])
    metric = GlobalUtility(estimator="linear", max_targets=2).fit(*tables[:2])
    with pytest.warns(SampledWarning):
        result = metric.evaluate(tables[2])
    assert sorted(result.details["columns"].values()) == pytest.approx([0.0, 1.0], abs=0.02)
    assert result.interval[0] == 0.0


def test_named_targets_are_never_drawn():
    metric = GlobalUtility(["x", "y", "c"], "linear", max_targets=2).fit(TRAIN, HOLDOUT)
    assert set(metric.evaluate(SYNTHETIC).details["columns"]) == {"x", "y", "c"}


@pytest.mark.slow
def test_wide_tables_have_smaller_trees():
    """At more than 40 columns to predict from; an xgboost that is asked for is what it was."""
    rng = np.random.default_rng(0)
    names = [f"x{j:02}" for j in range(42)]
    tables = [pd.DataFrame(rng.normal(size=(60, 42)), columns=names) for _ in range(3)]
    wide, narrow = (
        {
            name: GlobalUtility(["x00"], name, n_bootstrap=0).fit(*t[:2]).score(t[2])
            for name in (None, "xgboost")
        }
        for t in (tables, [table[names[:41]] for table in tables])
    )
    assert wide[None] != wide["xgboost"]
    assert narrow[None] == narrow["xgboost"]


def test_columns_with_many_labels_are_skipped():
    tables = [make_mixed(200, random_state=seed) for seed in range(3)]
    metric = GlobalUtility(estimator="linear", max_labels=2).fit(*tables[:2])
    with warns(DegenerateInputWarning):
        result = metric.evaluate(tables[2])
    assert result.details["skipped"] == ["city", "plan"]
    assert set(result.details["columns"]) == {"age", "income", "joined", "member", "visits"}


@pytest.mark.filterwarnings("ignore:.* has only missing values in m")
def test_columns_that_do_not_vary_have_no_ratio():
    train, holdout, synthetic = (
        table.assign(k=1, m=np.nan) for table in (TRAIN, HOLDOUT, SYNTHETIC)
    )
    result = GlobalUtility(estimator="linear").fit(train, holdout).evaluate(synthetic)
    assert set(result.details["columns"]) == {"x", "y", "c"}
    assert (result.details["n_used"], result.details["n_total"]) == (3, 5)


def test_rows_to_learn_from():
    all_rows, some = (
        GlobalUtility(estimator="linear", max_rows=n).fit(TRAIN, HOLDOUT).score(SYNTHETIC)
        for n in (300, 40)
    )
    assert all_rows != some


def test_keys_are_no_targets():
    tables = [table.assign(key=range(300)) for table in (TRAIN, HOLDOUT, SYNTHETIC)]
    metric = GlobalUtility(estimator="linear")
    schema = {"key": "continuous"}
    result = metric.fit(*tables[:2], schema=schema).evaluate(tables[2])
    assert "key" in result.details["columns"]
    from skeval import TableSchema

    keyed = TableSchema({**metric.context_.schema.kinds, "key": "id"}, primary_key=("key",))
    result = metric.fit(*tables[:2], schema=keyed).evaluate(tables[2])
    assert set(result.details["columns"]) == {"x", "y", "c"}


def test_refusals():
    with raises(MissingInputError):
        GlobalUtility().fit(TRAIN)
    with raises(InvalidParameterError):
        GlobalUtility(["nowhere"]).fit(TRAIN, HOLDOUT)
