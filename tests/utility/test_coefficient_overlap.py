"""Overlap of coefficients: published values, coding, formulas, what is not determined."""

from __future__ import annotations

import sys

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit
from scipy.stats import norm
from sklearn.datasets import load_diabetes
from sklearn.linear_model import LinearRegression, LogisticRegression

import skeval
from skeval.datasets import make_mixed
from skeval.exceptions import (
    ConstantColumnWarning,
    DegenerateInputWarning,
    InvalidParameterError,
    MetricWarning,
    MissingInputError,
)
from skeval.stats.interval_overlap import interval_overlap
from skeval.stats.intervals import to_its_error
from skeval.utility import CoefficientOverlap
from skeval.utility.regressions import logistic
from tests.counting import CountingContext
from tests.snapshots import raises, warns

DIABETES = load_diabetes(as_frame=True).frame[["target", "age", "bmi", "bp"]]
HALVES = DIABETES[:221], DIABETES[221:]


def numeric(n_rows, seed=0, slopes=(1.0, -0.5)):
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(
        rng.normal(size=(n_rows, len(slopes))), columns=list("abcdef")[: len(slopes)]
    )
    mean = table.to_numpy() @ slopes
    return table.assign(y=mean + rng.normal(size=n_rows), label=rng.random(n_rows) < expit(mean))


def evaluated(train, synthetic, target="y", **params):
    return CoefficientOverlap(target, **params).fit(train).evaluate(synthetic)


def columns(result):
    return {name: round(value, 4) for name, value in result.details["columns"].items()}


def test_published_values():
    result = evaluated(*HALVES, target="target")
    published = {"Intercept": 0.7915, "age": 0.4991, "bmi": 0.9189, "bp": 0.7962}
    assert columns(result) == published
    assert result.value == pytest.approx(np.mean(list(published.values())), abs=5e-5)
    gaps = [c["standardized_difference"] for c in result.details["coefficients"].values()]
    assert gaps == pytest.approx([0.804, 1.937, 0.242, 0.763], abs=5e-4)
    assert result.details["standardized_difference"] == pytest.approx(np.mean(gaps))
    assert result.details["worst"] == {"column": "age", "value": result.details["columns"]["age"]}
    age = result.details["coefficients"]["age"]
    assert not age["same_sign"]
    assert age["same_significance"]
    assert result.details["sign_agreement"] == 0.75
    assert result.details["significance_agreement"] == 1.0
    assert result.details["n_rows"] == {"train": 221, "synthetic": 221}


def test_confidence_and_clip():
    narrow, clipped = (
        evaluated(*HALVES, target="target", confidence=0.1, clip=clip) for clip in (False, True)
    )
    overlaps = np.array(list(narrow.details["columns"].values()))
    assert (overlaps < 0).any()
    assert list(clipped.details["columns"].values()) == pytest.approx(np.maximum(0, overlaps))
    assert narrow.details["share_apart"] == (overlaps <= 0).mean()


def test_logistic_regression_of_two_labels():
    train, synthetic = numeric(300), numeric(200, 1)
    result = evaluated(train, synthetic, target="label", features=["a", "b"])
    assert result.details["model"] == "logistic"
    models = [
        LogisticRegression(C=np.inf, tol=1e-10).fit(t[["a", "b"]], t["label"])
        for t in (train, synthetic)
    ]
    fits = [
        logistic(np.column_stack([np.ones(len(t)), t[["a", "b"]]]), t["label"].to_numpy(float))
        for t in (train, synthetic)
    ]
    for fit, model in zip(fits, models, strict=True):
        assert fit.estimates == pytest.approx([*model.intercept_, *model.coef_[0]], abs=1e-4)
    of_both = list(result.details["coefficients"].values())
    assert [one["train"] for one in of_both] == [
        to_its_error(fits[0].coefficient_details(i)) for i in range(3)
    ]
    for i, one in enumerate(of_both):
        assert one["synthetic"] == pytest.approx(fits[1].coefficient_details(i))
    ends = (fits[0].low, fits[0].high, fits[1].low, fits[1].high)
    assert list(result.details["columns"].values()) == pytest.approx(interval_overlap(*ends))


def test_numbers_of_two_values_by_least_squares():
    train, synthetic = (
        numeric(100, seed).assign(y=lambda t: (t["y"] > 0) * 1.5) for seed in (0, 1)
    )
    assert evaluated(train, synthetic, features=["a"]).details["model"] == "logistic"
    result = evaluated(train, synthetic, features=["a"], task="regression")
    assert result.details["model"] == "least squares"
    slope = LinearRegression().fit(synthetic[["a"]], synthetic["y"]).coef_[0]
    assert result.details["coefficients"]["a"]["synthetic"]["estimate"] == pytest.approx(slope)


def test_one_of_several_labels():
    train, _, synthetic = (make_mixed(200, random_state=seed) for seed in range(3))
    with raises(MissingInputError):
        CoefficientOverlap("plan").fit(train)
    result = evaluated(train, synthetic, target="plan", pos_label="premium", features=["age"])
    labelled = [t.assign(plan=t["plan"] == "premium") for t in (train, synthetic)]
    assert result.value == evaluated(*labelled, target="plan", features=["age"]).value


def test_categories_are_set_against_the_most_frequent_level():
    level = np.repeat(["p", "q", "r"], [20, 40, 30])
    rng = np.random.default_rng(0)
    y = rng.normal(size=90) + 2.0 * (level == "r")
    train = pd.DataFrame({"y": y, "g": level})
    result = evaluated(train, train)
    assert list(result.details["columns"]) == ["Intercept", "g[T.p]", "g[T.r]"]
    assert result.details["references"] == {"g": "q"}
    means = pd.Series(y).groupby(level).mean()
    actual = [c["synthetic"]["estimate"] for c in result.details["coefficients"].values()]
    assert actual == pytest.approx([means["q"], means["p"] - means["q"], means["r"] - means["q"]])
    assert result.value == pytest.approx(1.0)


def with_levels(counts, seed=0):
    level = np.repeat(list(counts), list(counts.values()))
    rng = np.random.default_rng(seed)
    return pd.DataFrame({"y": rng.normal(size=level.size), "g": level, "x": rng.random(level.size)})


def test_rare_levels_are_pooled():
    train = with_levels({"p": 40, "q": 30, "r": 9, "s": 5, "t": 1})
    result = evaluated(train, train)
    assert list(result.details["columns"]) == ["Intercept", "g[T.q]", "g[T.other levels]", "x"]
    assert result.details["n_dropped"] == {"train": 0, "synthetic": 0}
    new = with_levels({"p": 40, "q": 30, "new": 20})
    assert evaluated(train, new).details["n_dropped"]["synthetic"] == 0


def test_a_few_rows_of_rare_levels_are_skipped():
    train = with_levels({"p": 40, "q": 30, "only-this-person": 1})
    result = evaluated(train, with_levels({"p": 40, "q": 30, "new": 7}))
    assert list(result.details["columns"]) == ["Intercept", "g[T.q]", "x"]
    assert result.details["n_dropped"] == {"train": 1, "synthetic": 7}
    assert "only-this-person" not in result.to_json()


def test_a_thousand_levels():
    train = with_levels({f"v{i}": 1 for i in range(1000)})
    metric = CoefficientOverlap("y").fit(train, schema={"g": "categorical"})
    with warns(ConstantColumnWarning):
        result = metric.evaluate(train)
    assert list(result.details["columns"]) == ["Intercept", "x"]
    frequent = with_levels({f"v{i}": 12 for i in range(60)})
    assert len(evaluated(frequent, frequent).details["columns"]) == 32


def test_coefficients_that_would_show_single_rows():
    train = with_levels({"p": 40, "q": 40}).assign(h=list("u" * 37 + "w" * 3 + "u" * 20 + "w" * 20))
    with pytest.warns(
        DegenerateInputWarning, match=r"too few training rows: g\[(T\.)?p\]:h\[(T\.)?w\]"
    ):
        result = evaluated(train, train, formula="y ~ 0 + g:h")
    of_1_0 = {"g[T.p]:h[T.u]", "g[T.q]:h[T.u]", "g[T.q]:h[T.w]"}  # as formulaic 1.0 spells them
    expected = {"g[p]:h[u]", "g[q]:h[u]", "g[q]:h[w]"}
    assert set(result.details["coefficients"]) in (expected, of_1_0)
    outlier = numeric(100)
    outlier.loc[3, "a"] = 8675309.25
    with warns(DegenerateInputWarning):
        result = evaluated(outlier, numeric(100, 1), features=["a", "b"])
    assert set(result.details["coefficients"]) == {"Intercept", "b"}
    few = numeric(30).assign(a=[*[0.0] * 25, *[1.5] * 5])
    with warns(DegenerateInputWarning):
        assert np.isnan(evaluated(few, few, formula="y ~ 0 + a").value)


def test_missing_values():
    train, synthetic = numeric(200), numeric(200, 1)
    holes, more = train.copy(), synthetic.copy()
    holes.loc[:19, "a"] = np.nan
    holes.loc[10:29, "y"] = np.nan
    more.loc[:4, "b"] = np.inf
    with warns(skeval.exceptions.MetricWarning):
        result = evaluated(holes, more, features=["a", "b"])
    assert result.details["n_dropped"] == {"train": 30, "synthetic": 5}
    assert result.value == evaluated(train[30:], synthetic[5:], features=["a", "b"]).value


def test_dates_count_in_days():
    days = np.random.default_rng(0).integers(0, 1000, 80)
    train = pd.DataFrame({"y": 3.0 * days + np.random.default_rng(1).normal(size=80)})
    train["d"] = pd.Timestamp("2020") + pd.to_timedelta(days, unit="D")
    result = evaluated(train, train)
    assert result.details["coefficients"]["d"]["train"]["estimate"] == pytest.approx(3, abs=0.01)
    turned = evaluated(train, train, target="d")
    slope = turned.details["coefficients"]["y"]["train"]["estimate"]
    assert slope == pytest.approx(1 / 3, abs=0.001)


def test_features_that_train_cannot_use():
    train, synthetic = (
        numeric(60, seed).drop(columns="label").assign(c=5.0, none=np.nan) for seed in (0, 1)
    )
    with warns(MetricWarning) as caught:
        result = evaluated(train, synthetic)
    assert ConstantColumnWarning in {w.category for w in caught}
    assert result.value == evaluated(train[["a", "b", "y"]], synthetic[["a", "b", "y"]]).value
    assert result.details["skipped"] == {"none": "no value", "c": "one value only"}


def test_columns_that_add_up_have_no_score():
    train, synthetic = (numeric(80, seed).drop(columns="label") for seed in (0, 1))
    doubled = [t.assign(twice=2 * t["a"]) for t in (train, synthetic)]
    with warns(DegenerateInputWarning):
        result = evaluated(*doubled)
    plain = evaluated(train, synthetic)
    assert result.details["columns"]["b"] == pytest.approx(plain.details["columns"]["b"])
    assert (result.details["n_used"], result.details["n_total"]) == (2, 4)
    # in the synthetic table only: it lost what train determines
    apart = train.assign(twice=train["a"] + np.random.default_rng(5).normal(size=80))
    with warns(DegenerateInputWarning):
        result = evaluated(apart, doubled[1])
    assert (result.details["columns"]["a"], result.details["columns"]["twice"]) == (0.0, 0.0)
    assert result.details["sign_agreement"] <= 0.5


@pytest.mark.parametrize("change", ["constant", "missing", "one row", "no target"])
def test_a_synthetic_table_that_lost_everything(change):
    train = numeric(60).drop(columns="label")
    synthetic = {
        "constant": train.assign(a=1.0, b=2.0),
        "missing": train.assign(a=np.nan),
        "one row": train[:1],
        "no target": train.assign(y=np.nan),
    }[change]
    with warns(MetricWarning):
        result = evaluated(train, synthetic)
    assert result.value == 0.0
    assert result.details["significance_agreement"] == 0.0


def test_separation_is_told():
    train = numeric(80)
    labelled = train.assign(b=train["label"] * 1.0)
    with warns(DegenerateInputWarning):
        assert np.isnan(evaluated(labelled, train, target="label", features=["b"]).value)
    with warns(DegenerateInputWarning):
        assert evaluated(train, labelled, target="label", features=["b"]).value == 0.0
    # one level for sure leaves the others their coefficients
    level = np.repeat(["p", "q", "r"], [30, 30, 20])
    grouped = train.assign(g=level, label=train["label"] | (level == "r"))
    with warns(DegenerateInputWarning):
        result = evaluated(grouped, grouped, target="label", features=["a", "g"])
    assert set(result.details["coefficients"]) == {"Intercept", "a", "g[T.q]"}


def test_too_few_rows():
    few, many = (numeric(n).drop(columns="label") for n in (3, 30))
    with warns(DegenerateInputWarning):
        assert np.isnan(evaluated(few, many).value)
    with warns(DegenerateInputWarning):
        assert np.isnan(evaluated(many.assign(y=1.0), many).value)
    with warns(DegenerateInputWarning):
        assert np.isnan(evaluated(many[["y"]], many[["y"]]).value)
    apart = many.copy()
    apart.loc[:14, "a"] = apart.loc[15:, "b"] = np.nan
    with warns(DegenerateInputWarning):
        assert np.isnan(evaluated(apart, many).value)


@pytest.mark.calibration
@pytest.mark.parametrize("target", ["y", "label"])
def test_chance(target):
    """Fresh rows reach the ceiling in the mean; rows of a model with train's coefficients more."""
    features, fresh, fitted = ["a", "b", "c"], [], []
    for seed in range(30):
        train, new = (
            numeric(400, seed, (0.6, -0.4, 0.0)),
            numeric(400, 1000 + seed, (0.6, -0.4, 0.0)),
        )
        result = evaluated(train, new, target=target, features=features)
        fresh.append(result.value)
        assert result.details["ceiling"] == pytest.approx(0.712, abs=5e-4)
        own = evaluated(train, train, target=target, features=features)
        actual = [c["synthetic"]["estimate"] for c in own.details["coefficients"].values()]
        mean = actual[0] + new[features].to_numpy() @ actual[1:]
        rng = np.random.default_rng(seed)
        drawn = mean + rng.normal(size=400) if target == "y" else rng.random(400) < expit(mean)
        fitted.append(
            evaluated(train, new.assign(**{target: drawn}), target=target, features=features).value
        )
    assert np.mean(fresh) == pytest.approx(0.712, abs=0.05)
    assert np.mean(fitted) == pytest.approx(
        1 - 1 / (norm.ppf(0.975) * (2 * np.pi) ** 0.5), abs=0.05
    )


def test_the_baseline_is_that_of_fresh_rows():
    train, holdout, synthetic = (numeric(100, seed) for seed in range(3))
    metric = CoefficientOverlap("y").fit(train, holdout)
    assert metric.evaluate(synthetic).baseline == metric.score(holdout)
    assert metric.score(train) == pytest.approx(1.0)


def test_needs_a_target_that_can_be_measured():
    with raises(InvalidParameterError):
        CoefficientOverlap("nosuch").fit(HALVES[0])


def test_the_first_columns():
    train, synthetic = numeric(60), numeric(60, 1)
    by_number, by_name = (evaluated(train, synthetic, features=f) for f in (2, ["a", "b"]))
    assert columns(by_number) == columns(by_name)


def test_the_same_by_formula():
    plain = evaluated(*HALVES, target="target")
    for formula in ("target ~ age + bmi + bp", "age + bmi + bp", "bp + age + bmi"):
        assert columns(evaluated(*HALVES, target="target", formula=formula)) == columns(plain)
    train, _, synthetic = (make_mixed(200, random_state=seed) for seed in range(3))
    features = ["age", "city", "joined", "plan"]
    one, other = (
        evaluated(train, synthetic, target="member", **params)
        for params in ({"features": features}, {"formula": " + ".join(features)})
    )
    assert columns(one) == columns(other)
    assert one.details["n_dropped"] == other.details["n_dropped"]


def test_what_formulas_can_say():
    train, _, synthetic = (make_mixed(300, random_state=seed) for seed in range(3))
    result = evaluated(
        train, synthetic, target="income", formula="log(income) ~ poly(age, 2) + log(visits)"
    )
    assert list(result.details["columns"]) == [
        "Intercept",
        "poly(age, 2)[1]",
        "poly(age, 2)[2]",
        "log(visits)",
    ]
    dropped = train["income"].isna() | (train["visits"] == 0)
    assert result.details["n_dropped"]["train"] == dropped.sum()
    crossed = evaluated(train, synthetic, target="age", formula="age ~ 0 + member:plan")
    assert len(crossed.details["columns"]) == 6
    spaced = [t.rename(columns={"visits": "no of visits"}) for t in (train, synthetic)]
    quoted = evaluated(*spaced, target="age", formula="age ~ `no of visits`")
    assert list(quoted.details["columns"]) == ["Intercept", "no of visits"]
    mean = evaluated(train, synthetic, target="age", formula="age ~ 1")
    intercept = mean.details["coefficients"]["Intercept"]
    assert intercept["synthetic"]["estimate"] == pytest.approx(synthetic["age"].mean())
    assert intercept["train"]["estimate"] == round(train["age"].mean(), 1)  # its error is 1.07


def test_a_synthetic_table_without_complete_rows_by_formula():
    train = numeric(60)
    with warns(MetricWarning):
        result = evaluated(train, train.assign(a=np.nan), formula="y ~ a")
    assert result.value == 0.0


@pytest.mark.parametrize(
    "formula",
    [
        "y ~ a +",
        "y ~ nosuch",
        "y ~ nosuch(a)",
        "y ~ a + y",
        "a ~ b",
        "y + a ~ b",
        "y ~ a | b",
        "y ~ C(a)",
        "y ~ C(a.astype(str))",
        "y ~ a.to_csv('touched.csv')",
        "y ~ __import__('os').system('true')",
        "y ~ {a + 1}",
        "y ~ I(9**9**9**9**9)",
        "y ~ a[0]",
        3,
    ],
)
def test_formulas_that_are_refused(formula):
    with raises(InvalidParameterError):
        CoefficientOverlap("y", formula=formula).fit(numeric(30))


def test_formulas_beside_other_parameters():
    with raises(InvalidParameterError):
        CoefficientOverlap("y", ["a"], formula="y ~ a").fit(numeric(30))
    with raises(InvalidParameterError):
        CoefficientOverlap("label", formula="log(label) ~ a").fit(numeric(30))
    with warns(DegenerateInputWarning):
        assert np.isnan(
            evaluated(numeric(30).assign(a=1.0), numeric(30), formula="y ~ a + b").value
        )


def test_formulas_need_a_package(monkeypatch):
    monkeypatch.setitem(sys.modules, "formulaic", None)
    with raises(ImportError):
        CoefficientOverlap("y", formula="y ~ a").fit(numeric(30))


@pytest.mark.slow
def test_regression_on_train_is_kept_for_all_releases():
    metric = CoefficientOverlap("y").fit_context(CountingContext.of(numeric(50)))
    CountingContext.runs.clear()
    for seed in (1, 2, 3):
        metric.score(numeric(50, seed))
    assert CountingContext.names().count("regression_of_role") == 4


@pytest.mark.slow
def test_contract():
    skeval.check_metric(CoefficientOverlap("income", formula="log(age) + plan * city", clip=True))
