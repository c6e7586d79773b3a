"""Fairness of models of synthetic rows: values by hand, what the groups are, odd tables."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.tree import DecisionTreeClassifier

from skeval import MetricSuite, check_metric
from skeval.datasets import make_mixed
from skeval.exceptions import DegenerateInputWarning, InvalidParameterError, MissingInputError
from skeval.utility import TSTR, EqualizedOddsImprovement, FairnessGap
from tests.snapshots import raises, warns

STUMP = DecisionTreeClassifier(max_depth=1, random_state=0)  # finds the column that is the target
FAST = {"estimators": "tree", "n_bootstrap": 50}
TRUTH = [1, 1, 0, 0, 1, 1, 0, 0]
CALLED = [1, 1, 1, 0, 1, 0, 0, 0]  # rates .75 and .25, TPR 1 and .5, FPR .5 and 0
EXCHANGED = [1, 0, 0, 0, 1, 1, 1, 0]
GROUPS = ["a"] * 4 + ["b"] * 4


def learned(column, n=200, seed=0):
    """Return rows from which a model learns to call what stands in a column."""
    rng = np.random.default_rng(seed)
    f, g = rng.integers(0, 2, (2, n))
    y = {"f": f, "g": g}[column]
    who, x = rng.choice(["a", "b"], n), rng.normal(size=n)
    return pd.DataFrame({"f": f, "g": g, "who": who, "x": x, "y": y})


def met(f, g, truth=TRUTH, groups=GROUPS, times=5):
    """Return a holdout in which a model calls f if it learned of train, g if of synthetic rows."""
    rows = pd.DataFrame({"f": f, "g": g, "who": groups, "x": 0.0, "y": truth})
    return pd.concat([rows] * times, ignore_index=True)


def evaluated(metric, holdout, synthetic=None, train=None):
    train = learned("f") if train is None else train
    return metric.fit(train, holdout).evaluate(
        learned("g", seed=1) if synthetic is None else synthetic
    )


def mixed(n=300):
    return tuple(make_mixed(n, random_state=seed) for seed in range(3))


@pytest.mark.parametrize("criterion", ["demographic_parity", "equalized_odds", "equal_opportunity"])
def test_gaps_by_hand(criterion):
    """The model of synthetic rows is always right: equal error rates, and half are positive."""
    result = evaluated(FairnessGap("y", "who", criterion, estimators=STUMP), met(CALLED, TRUTH))
    assert result.baseline == 0.5
    assert result.value == 0.0
    details = result.details
    assert details["groups"] == ["a", "b"]
    assert details["rates"]["trtr"]["selection"].tolist() == [0.75, 0.25]
    assert details["rates"]["trtr"]["tpr"].tolist() == [1.0, 0.5]
    assert details["rates"]["trtr"]["fpr"].tolist() == [0.5, 0.0]
    assert details["rates"]["tstr"]["fpr"].tolist() == [0.0, 0.0]
    assert details["difference"]["value"] == -0.5
    assert details["average_odds_difference"] == {"tstr": 0.0, "trtr": -0.5}
    lowest = {"demographic_parity": 1 / 3, "equalized_odds": 0.0, "equal_opportunity": 0.5}
    assert details["ratio"] == pytest.approx({"tstr": 1.0, "trtr": lowest[criterion]})
    change = {"demographic_parity": 0.25, "equalized_odds": 0.5, "equal_opportunity": 0.5}
    assert details["preservation"] == pytest.approx(1 - change[criterion])


def test_the_mean_of_the_gaps_of_equalized_odds():
    calls = [1, 1, 1, 0, 1, 1, 0, 0]  # TPR 1 and 1, FPR .5 and 0
    holdout = met(CALLED, calls)
    for aggregate, value in (("max", 0.5), ("mean", 0.25)):
        metric = FairnessGap("y", "who", "equalized_odds", aggregate=aggregate, estimators=STUMP)
        assert evaluated(metric, holdout).value == value


def test_a_reversal_keeps_the_gap_but_not_the_rates():
    result = evaluated(FairnessGap("y", "who", estimators=STUMP), met(CALLED, EXCHANGED))
    assert result.value == result.baseline == 0.5
    assert result.details["preservation"] == 0.5


def test_improvement_by_hand():
    """TPR of .5 and 1 become .8 and .5, so that 1 - gap goes from .5 to .7."""
    truth = [1] * 10 + [0] * 10
    groups = ["a"] * 20 + ["b"] * 20
    f = [1] * 5 + [0] * 15 + [1] * 10 + [0] * 10
    g = [1] * 8 + [0] * 12 + [1] * 5 + [0] * 15
    metric = EqualizedOddsImprovement("y", "who", estimators=STUMP)
    result = evaluated(metric, met(f, g, truth * 2, groups, times=1))
    assert result.details["equalized_odds"] == pytest.approx({"trtr": 0.5, "tstr": 0.7})
    assert result.value == pytest.approx(0.6)
    assert result.baseline == 0.5
    assert result.details["gain"]["value"] == pytest.approx(0.2)
    low, high = result.interval
    assert 0.0 <= low <= 0.6 <= high <= 1.0


def test_a_copy_of_train_changes_nothing():
    train, holdout, _ = mixed()
    for criterion in ("demographic_parity", "equalized_odds"):
        result = FairnessGap("member", "plan", criterion, min_cell=1, **FAST)
        result = result.fit(train, holdout).evaluate(train)
        assert result.value == result.baseline
        assert result.details["preservation"] == 1.0
        assert result.details["difference"]["value"] == 0.0
    metric = EqualizedOddsImprovement("member", "plan", min_cell=1, **FAST)
    assert metric.fit(train, holdout).score(train) == 0.5


def test_models_are_those_of_tstr(fits):
    train, holdout, synthetic = mixed()
    suite = MetricSuite(
        [
            ("tstr", TSTR("member", estimators="tree", n_bootstrap=0)),
            ("gap", FairnessGap("member", "city", **FAST)),
            ("odds", FairnessGap("member", "city", "equalized_odds", **FAST)),
        ],
        on_error="raise",
    )
    with warns(DegenerateInputWarning):
        suite.fit(train, holdout).evaluate(synthetic)
    assert len(fits) == 2


def test_several_models_and_seeds():
    train, holdout, synthetic = mixed()
    metric = FairnessGap(
        "member", "plan", estimators=["tree", "linear"], n_repeats=2, n_bootstrap=50
    )
    result = metric.fit(train, holdout).evaluate(synthetic)
    parts = result.details["models"]
    assert result.value == pytest.approx(np.mean([part["tstr"] for part in parts.values()]))
    alone = FairnessGap("member", "plan", estimators="linear", n_bootstrap=0)
    alone = alone.fit(train, holdout).evaluate(synthetic)
    assert alone.value == pytest.approx(parts["linear"]["tstr"])
    assert alone.interval is None
    assert alone.details["gap_trtr"]["low"] is None


def test_models_may_be_kept_from_the_sensitive_column():
    """The models do not use its information, so there is no gap."""
    rng = np.random.default_rng(0)
    tables = []
    for _ in range(3):
        who = rng.choice(["a", "b"], 300)
        noise = rng.normal(size=300)
        tables.append(pd.DataFrame({"who": who, "x": noise, "y": (who == "a") & (noise > -2)}))
    train, holdout, synthetic = tables
    for seen, low, high in ((True, 0.9, 1.0), (False, 0.0, 0.2)):
        metric = FairnessGap("y", "who", include_sensitive=seen, **FAST).fit(train, holdout)
        result = metric.evaluate(synthetic)
        assert low <= result.value <= high
        assert result.details["groups"] == ["a", "b"]
    named = FairnessGap("y", "who", features=["x"], **FAST).fit(train, holdout)
    assert named.score(synthetic) == result.value
    alone = FairnessGap("y", "who", features=["who"], include_sensitive=False, **FAST)
    with warns(DegenerateInputWarning):
        assert np.isnan(alone.fit(train, holdout).score(synthetic))


@pytest.mark.parametrize("include_sensitive", [True, False])
def test_the_order_of_rows_is_ignored(include_sensitive):
    """Also where rows differ in nothing but the group: replicates must be the same, too."""
    tables = learned("f"), met(CALLED, EXCHANGED, times=10), learned("g", seed=1)
    tables = [table.assign(who=np.resize(["a", "b", "c"], len(table))) for table in tables]
    metric = FairnessGap("y", "who", include_sensitive=include_sensitive, **FAST)
    actual = [
        metric.fit(*order[:2]).evaluate(order[2])
        for order in (tables, [t.sample(frac=1, random_state=3) for t in tables])
    ]
    assert actual[0].value == actual[1].value
    assert actual[0].interval == actual[1].interval


def test_missing_values_are_a_group():
    train, holdout, synthetic = mixed()
    result = FairnessGap("member", "city", **FAST).fit(train, holdout).evaluate(synthetic)
    details = result.details
    assert details["groups"] == [*sorted(holdout["city"].dropna().unique()), "(missing)"]
    expected = holdout.groupby(holdout["city"].fillna("~"))["member"].agg(["size", "mean"])
    assert details["group_sizes"].tolist() == expected["size"].tolist()
    assert details["base_rates"]["holdout"] == pytest.approx(expected["mean"].to_numpy())
    rates = details["base_rates"]["synthetic"]
    assert details["base_rate_gap"]["synthetic"] == pytest.approx(rates.max() - rates.min())


def test_groups_with_few_holdout_rows_are_pooled():
    holdout = met(CALLED, CALLED, times=5)
    holdout.loc[:3, "who"] = "rare"
    holdout.loc[4:6, "who"] = "rarer"
    train = learned("f")
    train.loc[:20, "who"] = "rare"
    result = evaluated(FairnessGap("y", "who", estimators=STUMP), holdout, train=train)
    assert result.details["groups"] == ["a", "b", "(rare groups)"]
    assert result.details["group_sizes"].tolist() == [16, 17, 7]
    assert "rarer" not in result.to_json()


def test_a_level_that_only_synthetic_rows_have():
    synthetic = learned("g", seed=1)
    synthetic.loc[:30, "who"] = "new"
    result = evaluated(FairnessGap("y", "who", estimators=STUMP), met(CALLED, TRUTH), synthetic)
    assert result.details["groups"] == ["a", "b"]
    assert "new" not in result.to_json()


def test_numbers_are_cut_at_quantiles_of_train():
    train, holdout, synthetic = mixed(800)
    result = FairnessGap("member", "age", n_bins=3, **FAST).fit(train, holdout).evaluate(synthetic)
    assert result.details["groups"] == ["range 1 of 3", "range 2 of 3", "range 3 of 3"]
    assert result.details["group_sizes"] == pytest.approx(np.full(3, 267), abs=60)
    dates = FairnessGap("member", "joined", n_bins=2, **FAST).fit(train, holdout)
    groups = dates.evaluate(synthetic).details["groups"]
    assert groups == ["range 1 of 2", "range 2 of 2", "(missing)"]


def test_numbers_of_few_values_are_groups():
    """A number between two values belongs to the group of the closer value."""
    train, holdout = learned("f"), met(CALLED, TRUTH)
    for table in (train, holdout):
        table["who"] = np.where(table["who"] == "a", 1.5, 2)  # two whole numbers are categories
    synthetic = learned("g", seed=1)
    synthetic["who"] = np.where(synthetic["who"] == "a", 0.7, 2.4)
    result = evaluated(FairnessGap("y", "who", estimators=STUMP), holdout, synthetic, train)
    assert result.details["groups"] == ["1.5", "2"]
    assert result.details["base_rates"]["synthetic"] == pytest.approx(
        synthetic.groupby("who")["y"].mean().to_numpy()
    )
    train.loc[0, "who"] = 8675309
    result = evaluated(FairnessGap("y", "who", estimators=STUMP), holdout, synthetic, train)
    assert "8675309" not in result.to_json()


def test_many_like_numbers_make_fewer_ranges():
    train, holdout, synthetic = mixed(400)
    for table in (train, holdout, synthetic):
        table["income"] = np.where(table["income"] < 40_000, 0.0, table["income"])
    result = FairnessGap("member", "income", **FAST).fit(train, holdout).evaluate(synthetic)
    ranges = [name for name in result.details["groups"] if name.startswith("range")]
    assert 2 <= len(ranges) < 4
    assert min(result.details["group_sizes"]) >= 10


def test_a_group_that_synthetic_rows_lack():
    synthetic = learned("g", seed=1).query("who == 'a'")
    result = evaluated(FairnessGap("y", "who", estimators=STUMP), met(CALLED, TRUTH), synthetic)
    assert result.value == 0.0
    assert np.isnan(result.details["base_rates"]["synthetic"]).tolist() == [False, True]
    metric = EqualizedOddsImprovement("y", "who", estimators=STUMP)
    with warns(DegenerateInputWarning):
        assert np.isnan(evaluated(metric, met(CALLED, TRUTH), synthetic).value)


def test_improvement_needs_both_labels_in_each_group_of_train():
    train = learned("f")
    train.loc[train["who"] == "b", ["f", "y"]] = 1
    metric = EqualizedOddsImprovement("y", "who", estimators=STUMP)
    with warns(DegenerateInputWarning):
        assert np.isnan(evaluated(metric, met(CALLED, TRUTH), train=train).value)


def test_a_group_that_the_holdout_lacks():
    train = learned("f")
    train.loc[:50, "who"] = "c"
    result = evaluated(FairnessGap("y", "who", estimators=STUMP), met(CALLED, TRUTH), train=train)
    assert result.details["groups"] == ["a", "b"]
    assert result.value == 0.0


@pytest.mark.parametrize("kind", [FairnessGap, EqualizedOddsImprovement])
def test_one_group_has_no_gap(kind):
    holdout = met(CALLED, TRUTH).assign(who="a")
    with warns(DegenerateInputWarning):
        result = evaluated(kind("y", "who", estimators=STUMP), holdout)
    assert np.isnan(result.value)


def test_rates_of_few_rows_are_skipped():
    holdout = pd.concat([met(CALLED, TRUTH), met(CALLED, TRUTH).assign(who="c", y=0)])
    metric = FairnessGap("y", "who", "equal_opportunity", estimators=STUMP)
    with warns(DegenerateInputWarning):
        result = evaluated(metric, holdout)
    assert result.value == 0.0
    assert np.isnan(result.details["rates"]["tstr"]["tpr"]).tolist() == [False, False, True]
    with warns(DegenerateInputWarning):
        result = evaluated(metric.set_params(min_cell=100), holdout)
    assert np.isnan(result.value)


def test_a_synthetic_table_of_one_label_has_no_gap_and_says_why():
    synthetic = learned("g", seed=1).assign(y=1)
    metric = FairnessGap("y", "who", estimators=STUMP)
    with warns(DegenerateInputWarning):
        result = evaluated(metric, met(CALLED, TRUTH), synthetic)
    assert result.value == 0.0
    metric = EqualizedOddsImprovement("y", "who", estimators=STUMP)
    with warns(DegenerateInputWarning):
        assert np.isnan(evaluated(metric, met(CALLED, TRUTH), synthetic).value)


def test_one_label_against_the_rest():
    train, holdout, synthetic = mixed()
    with raises(MissingInputError):
        FairnessGap("plan", "member").fit(train, holdout)
    metric = FairnessGap("plan", "member", task="binary", pos_label="basic", **FAST)
    result = metric.fit(train, holdout).evaluate(synthetic)
    expected = (holdout["plan"] == "basic").groupby(holdout["member"]).mean()
    assert result.details["base_rates"]["holdout"] == pytest.approx(expected.to_numpy())


@pytest.mark.parametrize("kind", [FairnessGap, EqualizedOddsImprovement])
def test_what_is_refused(kind):
    train, holdout, _ = mixed(50)
    with raises(InvalidParameterError):
        kind("member", "member").fit(train, holdout)
    with raises(InvalidParameterError):
        kind("member", "no such").fit(train, holdout)
    with raises(MissingInputError):
        kind("member", "plan").fit(train)


@pytest.mark.parametrize(
    "metric",
    [
        FairnessGap("member", "city", "equalized_odds", aggregate="mean", **FAST),
        FairnessGap("member", "joined", "equal_opportunity", include_sensitive=False, **FAST),
        EqualizedOddsImprovement("member", "city", min_cell=1, **FAST),
    ],
    ids=str,
)
@pytest.mark.slow
def test_contract_on_larger_tables(metric):
    """Noise is not necessarily less fair than a copy, because its model may ignore all columns."""
    exempt = {"check_direction": "a model that learns nothing treats all alike"}
    check_metric(metric, tables=mixed(300), expected_failures=exempt)


def test_the_result_is_plain():
    train, holdout, synthetic = mixed()
    result = FairnessGap("member", "plan", **FAST).fit(train, holdout).evaluate(synthetic)
    low, high = result.interval
    assert low <= result.value <= high
    assert json.loads(result.to_json())["details"]["criterion"] == "demographic_parity"
    assert result.details["n_learned"] == {"tstr": 300, "trtr": 300}
    assert result.details["n_tested"] == 300


@pytest.mark.slow
def test_what_the_interval_of_the_difference_leaves_out():
    """Models of two tables of one distribution differ by chance, which resampled holdout rows do not see."""
    n_runs, held = 60, 0
    for i in range(n_runs):
        train, holdout, synthetic = (make_mixed(300, random_state=3 * i + k) for k in range(3))
        metric = FairnessGap("member", "plan", estimators="linear", n_bootstrap=300)
        difference = metric.fit(train, holdout).evaluate(synthetic).details["difference"]
        held += difference["low"] <= 0.0 <= difference["high"]
    assert 0.6 <= held / n_runs <= 0.9
