"""Inference: the hand example, wine, ties and chance against brute force, odd tables."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from skeval import Context
from skeval.datasets import make_mixed
from skeval.exceptions import (
    DegenerateInputWarning,
    InvalidParameterError,
    MetricWarning,
    MissingInputError,
)
from skeval.privacy import AnonymeterRisk, InferenceRisk, InferenceRiskAll
from tests.calibrations import Claim, all_hold, rates_of
from tests.snapshots import raises, warns

# tables of few columns have rows in common by nature
pytestmark = pytest.mark.filterwarnings("ignore:.*holdout rows also occur in the training data")

TRAIN, HOLDOUT, SYNTHETIC = (make_mixed(200, random_state=seed) for seed in range(3))


def evaluate(tables, *settings, **named):
    train, holdout, synthetic = tables
    return InferenceRisk(*settings, **named).fit(train, holdout).evaluate(synthetic)


def counts(result, rate="attack"):
    return result.details[rate]["n_success"], result.details[rate]["n"]


def test_hand_example():
    """The nearest on a guess u, w, v of u, v, w."""
    train = pd.DataFrame({"a": [0.0, 5, 10], "s": ["u", "v", "w"]})
    holdout = pd.DataFrame({"a": [0.5, 6, 9], "s": ["w", "u", "u"]})
    synthetic = pd.DataFrame({"a": [1.0, 6, 8], "s": ["u", "w", "v"]})
    found = evaluate((train, holdout, synthetic), "s")
    assert counts(found) == (1.0, 3.0)
    assert counts(found, "control") == (0.0, 3.0)
    assert counts(found, "baseline") == (pytest.approx(1.0), 3.0)


def test_wine(wine):
    found = evaluate((wine.train, wine.holdout, wine.over), "alcohol")
    assert counts(found) == (89.0, 89.0)
    assert counts(found, "control") == (63.0, 89.0)
    assert found.value == pytest.approx(0.931208, abs=5e-7)
    assert found.details["unshrunk"] == 1.0


def test_negative_numbers_are_not_always_right():
    """A guess of -5 is not within 5% of 3, nor of -3, but of -5.1."""
    train = pd.DataFrame({"a": [0.0, 1, 2], "s": [3.0, -3.0, -5.1]})
    synthetic = pd.DataFrame({"a": [0.0, 1, 2], "s": [-5.0, -5.0, -5.0]})
    found = evaluate((train, train.assign(s=50.0), synthetic), "s")
    assert counts(found) == (1.0, 3.0)


@pytest.mark.parametrize(
    ("named", "expected"),
    [
        ({}, 2.0),  # 100 +- 5, 10 +- 0.5, 0 +- 1e-12
        ({"tolerance": 0.2}, 3.0),
        ({"tolerance": 0.0}, 1.0),
        ({"tolerance_kind": "range"}, 4.0),  # +- 5
        ({"regression": False}, 1.0),
        ({"regression": True}, 2.0),
    ],
)
def test_tolerance(named, expected):
    train = pd.DataFrame({"a": [0.0, 1, 2, 3], "s": [100.0, 10.0, 0.0, 50.0]})
    synthetic = pd.DataFrame({"a": [0.0, 1, 2, 3], "s": [104.0, 11.0, 0.5, 50.0]})
    found = evaluate((train, train.assign(s=[100.0, 0, 0, 0]), synthetic), "s", **named)
    assert counts(found)[0] == expected


def test_dates_are_near_by_their_range():
    days = pd.to_datetime("2020-01-01") + pd.to_timedelta([0, 50, 100], unit="D")
    train = pd.DataFrame({"a": [0.0, 1, 2], "day": days})
    synthetic = train.assign(day=days + pd.to_timedelta([4, 6, 0], unit="D"))
    found = evaluate((train, train.assign(day=days[::-1]), synthetic), "day")
    assert counts(found) == (2.0, 3.0)


def test_missing_is_guessed_by_missing():
    train = pd.DataFrame({"a": [0.0, 1, 2, 3], "s": ["u", None, "v", None]})
    synthetic = pd.DataFrame({"a": [0.0, 1, 2, 3], "s": ["u", None, None, "v"]})
    holdout = train.assign(s=["v", "u", "u", "u"])
    found = evaluate((train, holdout, synthetic), "s")
    assert counts(found) == (2.0, 4.0)
    assert counts(found, "baseline")[0] == pytest.approx((1 + 2 + 1 + 2) / 4)
    assert found.details["majority"]["n_success"] == 2.0
    numbers = {"u": 1.0, "v": 2.0}
    tables = [table.assign(s=table["s"].map(numbers)) for table in (train, holdout, synthetic)]
    assert counts(evaluate(tables, "s")) == (2.0, 4.0)


def test_ties_share_the_guess():
    train = pd.DataFrame({"a": ["x", "y"] * 5, "s": ["u", "v"] * 5})
    synthetic = pd.DataFrame({"a": list("xxxyyy"), "s": list("uuvvww")})
    found = evaluate((train, train[::-1].assign(s="w"), synthetic), "s")
    assert counts(found)[0] == pytest.approx(5 * 2 / 3 + 5 * 1 / 3)
    assert counts(found, "control")[0] == pytest.approx(5 * 2 / 3)


def test_order_of_synthetic_rows_does_not_matter():
    """More rows tie than are used. The choice depends on their values."""
    rng = np.random.default_rng(0)
    tables = [
        pd.DataFrame(rng.integers(2, size=(150, 3)).astype(str), columns=list("abs"))
        for _ in range(3)
    ]
    values = [
        evaluate((*tables[:2], tables[2].sample(frac=1, random_state=seed)), "s").details["raw"]
        for seed in range(3)
    ]
    assert values[0] == values[1] == values[2]


def test_chance_is_computed():
    """The mean over all pairs of a target and a synthetic row."""
    found = {name: evaluate((TRAIN, HOLDOUT, SYNTHETIC), name) for name in ("plan", "income")}
    plan = np.mean(TRAIN["plan"].to_numpy()[:, None] == SYNTHETIC["plan"].to_numpy())
    assert counts(found["plan"], "baseline")[0] == pytest.approx(200 * plan)
    truth, guess = TRAIN["income"].to_numpy()[:, None], SYNTHETIC["income"].to_numpy()
    near = np.abs(guess - truth) <= 0.05 * np.abs(truth)
    near |= np.isnan(guess) & np.isnan(truth)
    assert counts(found["income"], "baseline")[0] == pytest.approx(200 * near.mean())


def test_copies_are_inferred():
    found = evaluate((TRAIN, HOLDOUT, TRAIN), "plan")
    assert counts(found)[0] == 200.0
    assert found.value > 0.9
    assert found.p_value < 1e-6


def test_what_holds_of_all_is_no_risk():
    """The secret follows from what is known, for anybody."""

    def made(seed):
        rng = np.random.default_rng(seed)
        city = rng.choice(list("abcd"), 300)
        return pd.DataFrame(
            {"city": city, "age": rng.normal(size=300), "land": np.char.upper(city)}
        )

    with warns(DegenerateInputWarning):
        found = evaluate([made(seed) for seed in range(3)], "land", ["city"])
    assert np.isnan(found.value)
    assert found.details["attack"]["n_success"] == 300.0


def test_constant_and_absent_secrets():
    constant = evaluate((TRAIN, HOLDOUT, SYNTHETIC.assign(plan="basic")), "plan")
    assert constant.details["weak_attack"]
    assert counts(constant) == (float((TRAIN["plan"] == "basic").sum()), 200.0)
    with warns(DegenerateInputWarning):
        absent = evaluate((TRAIN, HOLDOUT, SYNTHETIC.assign(income=np.nan)), "income")
    assert counts(absent)[0] == TRAIN["income"].isna().sum()


def test_estimators():
    tables = TRAIN, HOLDOUT, TRAIN
    labels = evaluate(tables, "plan", estimator=DecisionTreeClassifier(random_state=0))
    assert counts(labels)[0] == 200.0
    numbers = evaluate(tables, "income", estimator=DecisionTreeRegressor(random_state=0))
    assert counts(numbers)[0] == TRAIN["income"].notna().sum()
    usual = evaluate(tables, "plan", estimator=DummyClassifier())
    assert counts(usual)[0] == usual.details["majority"]["n_success"]
    equal = evaluate(tables, "visits", regression=False, estimator=DecisionTreeClassifier())
    assert counts(equal)[0] == 200.0


@pytest.mark.filterwarnings("ignore:synthetic has only missing values")
@pytest.mark.parametrize(
    ("secret", "value"), [("plan", "basic"), ("plan", None), ("income", 3.0), ("income", np.nan)]
)
def test_estimators_of_a_constant(secret, value):
    kind = DecisionTreeClassifier if secret == "plan" else DecisionTreeRegressor
    synthetic = SYNTHETIC.assign(**{secret: [value] * 200})
    found = evaluate((TRAIN, HOLDOUT, synthetic), secret, estimator=kind())
    alone = evaluate((TRAIN, HOLDOUT, synthetic), secret)
    assert counts(found) == counts(alone)


def test_known_columns():
    tables = TRAIN, HOLDOUT, SYNTHETIC
    some = evaluate(tables, "plan", ["age", "city"])
    alone = evaluate([table[["age", "city", "plan"]] for table in tables], "plan")
    assert some.details["raw"] == alone.details["raw"]
    assert some.details["n_known"] == 2
    first = evaluate(tables, "city", 3)
    assert first.details["n_known"] == len({"age", "income", "visits"} - {"city"})


def test_risk_of_groups_has_their_own_numbers():
    """All secrets of one city are disclosed, and none of the other cities."""
    train, holdout = make_mixed(400, random_state=0), make_mixed(400, random_state=1)
    fresh = make_mixed(400, random_state=2)
    released = pd.concat([fresh, train[train["city"] == "Porto"]], ignore_index=True)
    metric = InferenceRisk("city", n_attacks=None).fit(train, holdout)
    groups = metric.evaluate(released).details["by_secret"]
    assert set(groups) == {"Bergen", "Lisbon", "Lyon", "Porto", "Trieste"}
    for name, group in groups.items():
        assert group["attack"]["n"] == (train["city"] == name).sum()
        assert group["control"]["n"] == (holdout["city"] == name).sum()
        low, high = group["interval"]
        assert low <= group["residual_risk"] <= high
    assert groups["Porto"]["residual_risk"] > 0.8
    assert max(groups[name]["residual_risk"] for name in groups if name != "Porto") < 0.35
    assert InferenceRisk("age").fit(train, holdout).evaluate(fresh).details["by_secret"] == {}


@pytest.mark.parametrize(
    "settings",
    [
        {"secret": "wage"},
        {"secret": "age", "aux_cols": ["age", "city"]},
        {"secret": "age", "aux_cols": ["wage"]},
        {"secret": "plan", "regression": True},
        {"secret": "plan", "regression": 1},
        {"secret": "plan", "estimator": DecisionTreeClassifier},
    ],
)
def test_refusals(settings):
    with raises(InvalidParameterError):
        InferenceRisk(**settings).fit(TRAIN, HOLDOUT)


def test_one_column_is_refused():
    with raises(MissingInputError):
        InferenceRisk("age", aux_cols=1).fit(TRAIN, HOLDOUT)
    one = [table[["age"]] for table in (TRAIN, HOLDOUT)]
    for metric in (InferenceRisk("age"), InferenceRiskAll()):
        with raises(MissingInputError):
            metric.fit(*one)


def test_equal_numbers_are_attacked():
    found = evaluate((TRAIN, HOLDOUT.iloc[:60], SYNTHETIC), "plan", n_attacks=100)
    assert counts(found)[1] == counts(found, "control")[1] == 60.0
    assert (
        evaluate((TRAIN, HOLDOUT, SYNTHETIC), "plan", n_attacks=30).details["attack"]["n"] == 30.0
    )


@pytest.mark.slow
def test_all_secrets():
    found = InferenceRiskAll().fit(TRAIN, HOLDOUT).evaluate(SYNTHETIC)
    secrets = found.details["secrets"]
    assert list(secrets) == list(TRAIN.columns)
    alone = {name: evaluate((TRAIN, HOLDOUT, SYNTHETIC), name) for name in secrets}
    assert {n: s["residual_risk"] for n, s in secrets.items()} == {
        n: r.value for n, r in alone.items()
    }
    worst = max(alone, key=lambda name: alone[name].value)
    assert found.details["worst"] == {"column": worst, "value": found.value}
    assert found.value == alone[worst].value
    surest = found.details["surest"]
    assert found.p_value == secrets[surest]["p_adjusted"]
    assert found.p_value == min(one["p_adjusted"] for one in secrets.values())
    # after Westfall and Young: never less than alone, at most as with Bonferroni, but for the draws
    assert alone[surest].p_value <= found.p_value <= 7 * alone[surest].p_value + 0.05
    assert found.contrast.comparison_key == alone[surest].contrast.comparison_key
    assert found.baseline > max(one.baseline for one in alone.values()) > 0.0
    assert found.interval[1] > alone[worst].interval[1]
    assert found.interval[0] == max(s["interval"][0] for s in secrets.values())


def test_secrets_of_wide_tables_are_attacked_as_one_alone():
    """The columns share a search, also if rows tie and many rows are as near without a column."""
    rng = np.random.default_rng(0)
    cells = rng.integers(0, 3, (3, 150, 14)) * rng.integers(0, 2, (3, 150, 1))
    wide = [pd.DataFrame(rows.astype(float)).add_prefix("c") for rows in cells]
    wide = [table.assign(c13=table["c13"].map({0: "x", 1: "y", 2: None})) for table in wide]
    found = InferenceRiskAll(n_attacks=60).fit(*wide[:2]).evaluate(wide[2]).details["secrets"]
    for name in ("c0", "c13"):
        alone = evaluate(wide, name, n_attacks=60)
        assert found[name]["p_value"] == alone.p_value
        assert found[name]["abstaining"].items() <= alone.details["abstaining"].items()
        assert found[name]["attack"] == alone.details["attack"]
        assert found[name]["control"] == alone.details["control"]


@pytest.mark.slow
def test_a_constant_column_is_skipped():
    tables = [table.assign(same="x") for table in (TRAIN, HOLDOUT, TRAIN)]
    found = InferenceRiskAll().fit(*tables[:2]).evaluate(tables[2])
    assert found.details["skipped"] == ["same"]
    assert found.value > 0.9
    only = [table[["same"]].assign(other="y") for table in tables]
    with warns(DegenerateInputWarning):
        nothing = InferenceRiskAll().fit(*only[:2]).evaluate(only[2])
    assert np.isnan(nothing.value)


def test_names_of_any_kind():
    names = ['a "b"', "c'd", "x + y", "datetime", "class", "é", "  "]
    tables = [table.set_axis(names, axis=1) for table in (TRAIN, HOLDOUT, TRAIN)]
    assert InferenceRiskAll().fit(*tables[:2]).score(tables[2]) > 0.9


@pytest.mark.calibration
@pytest.mark.parametrize("secret", ["plan", "visits", "income"])
@pytest.mark.parametrize("sizes", [(200, 200), (350, 100)])
def test_interval_covers_the_null(secret, sizes):
    n_train, n_holdout = sizes

    def outcome(seed):
        real = make_mixed(n_train + n_holdout + 200, random_state=100 + seed)
        context = Context.of(real.iloc[:n_train], real.iloc[n_train : n_train + n_holdout])
        context = context.with_synthetic(real.iloc[n_train + n_holdout :])
        result = InferenceRisk(secret, n_attacks=None).evaluate_context(context, advise=False)
        return {"covered": result.interval[0] == 0.0, "alarm": result.p_value < 0.05}

    claims = {"covered": Claim(0.95, low=0.93), "alarm": Claim(0.05, high=0.09)}
    found = rates_of(map(outcome, range(200)), claims)
    assert all_hold(found), found


@pytest.mark.parametrize("made", [SYNTHETIC, TRAIN, SYNTHETIC.assign(age=99)])
@pytest.mark.slow
def test_a_tolerance_that_covers_all_years_is_no_attack(made):
    """Guessing is always right: 100% for train, for the holdout and by chance."""
    years = np.random.default_rng(0).integers(1990, 2020, 600)
    tables = [
        table.assign(year=part)
        for table, part in zip((TRAIN, HOLDOUT, made), np.split(years, 3), strict=True)
    ]
    with warns(MetricWarning):
        result = evaluate(tables, "year")
    assert np.isnan(result.value)
    assert result.p_value is None
    for metric in (InferenceRiskAll(), AnonymeterRisk(n_attacks=50)):
        fitted = metric.fit(*tables[:2])
        with warns(MetricWarning):
            result = fitted.evaluate(tables[2])
        assert [name.split()[-1] for name in result.details["skipped"]][-1] == "year"
        assert not np.isnan(result.p_value)
    assert evaluate(tables, "year", tolerance_kind="range").value < 0.5
