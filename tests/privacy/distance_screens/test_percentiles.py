from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.preprocessing import FunctionTransformer

import skeval
from skeval import Context
from skeval.datasets import make_mixed
from skeval.exceptions import DegenerateInputWarning, InvalidParameterError
from skeval.privacy.distance_screens.percentiles import NNDR, DCRPercentile
from skeval.stats.percentiles import neighbor_ratios
from skeval.steps.neighbors import nearest
from tests.snapshots import raises, warns

TRAIN, HOLDOUT, SYNTHETIC = (make_mixed(200, random_state=seed) for seed in range(3))
INF = np.inf


def against(result):
    """The p-value of synthetic against holdout rows."""
    return result.details["p_value_against_holdout"]


def column(*values):
    return pd.DataFrame({"x": np.array(values, dtype=float)})


def evaluate(metric, train, holdout, synthetic):
    return metric.fit(train, holdout).evaluate(synthetic)


def told(metric, train, holdout, synthetic):
    """Evaluate tables that are so small or so alike that warnings are given."""
    return metric.evaluate_context(Context.of(train, holdout).with_synthetic(synthetic))


SECOND = column(0, 10), column(5, 20), column(1, 2, 6, 11)


def test_second_toy_percentile():
    """Distances to train: synthetic 1, 2, 4, 1 and holdout 5, 10, of a range of 20."""
    result = evaluate(DCRPercentile(50), *SECOND)
    assert result.value == pytest.approx(0.075)
    assert result.baseline == pytest.approx(0.375)
    assert result.details["ratio"] == result.details["score"] == pytest.approx(0.2)
    # the least medians are 1 and 5: no other 4 of 1, 1, 2, 4, 5, 10 leave them so far apart
    assert against(result) == pytest.approx(1 / 15)
    assert result.details["passed"] is True
    assert (result.details["baseline_kind"], result.details["n_rows"]) == ("holdout", 4)
    loo = evaluate(DCRPercentile(50, "train_loo"), *SECOND)
    assert loo.baseline == 0.5
    assert against(loo) == against(result)


def test_second_toy_ratios():
    result = evaluate(NNDR(50), *SECOND)
    assert result.value == pytest.approx((1 / 9 + 1 / 4) / 2)
    assert result.baseline == pytest.approx((5 / 5 + 10 / 20) / 2)
    assert result.details["mean"] == pytest.approx((1 / 9 + 1 / 4 + 4 / 6 + 1 / 11) / 4)
    back = evaluate(NNDR(50, query="train"), *SECOND)
    assert back.value == pytest.approx((1 / 2 + 1 / 4) / 2)
    assert back.baseline == pytest.approx((1 / 3 + 9 / 14) / 2)


@pytest.mark.parametrize(
    ("name", "value"),
    [("over", 0.005317), ("gauss", 0.083572), ("holdout", 0.055334), ("train", 0.0)],
)
@pytest.mark.slow
def test_percentile_of_wine(wine, name, value):
    tables = wine.train, wine.holdout, getattr(wine, name)
    result = told(DCRPercentile(), *tables)
    assert result.value == pytest.approx(value, abs=1e-6)
    assert result.baseline == pytest.approx(0.055334, abs=1e-6)
    assert told(DCRPercentile(5, "train_loo"), *tables).baseline == pytest.approx(
        0.057873, abs=1e-6
    )
    assert result.details["passed"] is (name in {"gauss", "holdout"})
    assert result.details["ratio"] == pytest.approx(value / 0.055334, abs=1e-4)


@pytest.mark.parametrize(
    ("name", "value", "mean"),
    [
        ("over", 0.046729, 0.096490),
        ("gauss", 0.749419, 0.907630),
        ("holdout", 0.652007, 0.862730),
        ("train", 0.0, 0.0),
    ],
)
def test_ratios_of_wine(wine, name, value, mean):
    result = told(NNDR(), wine.train, wine.holdout, getattr(wine, name))
    assert result.value == pytest.approx(value, abs=1e-6)
    assert result.details["mean"] == pytest.approx(mean, abs=1e-6)
    assert result.baseline == pytest.approx(0.652007, abs=1e-6)
    assert result.details["passed"] is (name in {"gauss", "holdout"})


def test_extras_of_wine(wine):
    context = Context.of(wine.train, wine.holdout).with_synthetic(wine.gauss)
    to_train, to_holdout = (
        np.sort(neighbor_ratios(nearest(context, "synthetic", role, k=2)[0]))
        for role in ("train", "holdout")
    )
    details = NNDR().evaluate_context(context).details
    assert details["tenth_smallest"] == to_train[9]
    assert details["tenth_smallest_to_holdout"] == to_holdout[9]
    assert details["ratio_to_holdout"] == pytest.approx(to_train[9] / to_holdout[9])
    assert "d2_d1" not in details


@pytest.mark.slow
def test_the_other_convention(wine):
    tables = wine.train, wine.holdout, wine.gauss
    context = Context.of(*tables[:2]).with_synthetic(tables[2])
    ratios = neighbor_ratios(nearest(context, "synthetic", "train", k=2)[0])
    inverse, plain = NNDR(convention="d2/d1"), NNDR()
    result = inverse.evaluate_context(context)
    assert result.details["d2_d1"] == pytest.approx(np.quantile(1 / ratios, 0.05))
    assert result.value == pytest.approx(np.quantile(ratios, 0.95))
    assert result.value == pytest.approx(1 / result.details["d2_d1"], rel=1e-3)
    assert result.value > plain.evaluate_context(context).value
    # copies have no inverse ratio, and the direction stays
    copy = told(inverse, *tables[:2], wine.train)
    assert (copy.value, copy.details["d2_d1"]) == (0.0, INF)
    assert json.loads(copy.to_json())["details"]["d2_d1"] == "inf"


@pytest.mark.slow
def test_near_copies_do_not_pass():
    """Tables that the published rule for d2/d1 lets pass: copies with noise of a millionth."""
    rng = np.random.RandomState(0)
    train = rng.normal(size=(200, 3))
    holdout, fresh = rng.normal(size=(2, 200, 3))
    noisy = train + 1e-6 * rng.normal(size=(200, 3))
    tables = [pd.DataFrame(rows, columns=list("abc")) for rows in (train, holdout, noisy, fresh)]
    for metric in (DCRPercentile(), NNDR(), NNDR(query="train"), NNDR(convention="d2/d1")):
        leaky = evaluate(metric, *tables[:3])
        assert against(leaky) < 1e-4
        assert leaky.value < 0.01
        assert leaky.details["passed"] is False
        assert evaluate(metric, *tables[:2], tables[3]).details["passed"] is True


@pytest.mark.parametrize("metric", [DCRPercentile(), NNDR(), NNDR(query="train")])
@pytest.mark.slow
def test_fresh_rows_and_copies(metric):
    fresh = evaluate(metric, TRAIN, HOLDOUT, SYNTHETIC)
    assert fresh.interval[0] <= fresh.baseline <= fresh.interval[1]
    assert against(fresh) > 0.025
    low, high = fresh.details["ratio_interval"]
    assert low < 1 < high
    copy = evaluate(metric, TRAIN, HOLDOUT, TRAIN)
    assert copy.value == copy.details["ratio"] == copy.details["score"] == 0.0
    assert against(copy) < 1e-12
    assert copy.interval == (0.0, 0.0)


def test_holdout_in_the_synthetic_place_is_its_own_baseline():
    for metric in (DCRPercentile(), NNDR()):
        held = evaluate(metric, TRAIN, HOLDOUT, HOLDOUT)
        assert held.value == held.baseline
        assert held.details["ratio"] == 1.0
        assert against(held) > 0.5


@pytest.mark.parametrize("metric", [DCRPercentile(20), NNDR(20), NNDR(20, query="train")])
@pytest.mark.slow
def test_p_values_fall_with_the_leak(metric):
    p_values = []
    for leak in (0.0, 0.15, 0.4, 1.0):
        n = int(200 * leak)
        synthetic = pd.concat([TRAIN.iloc[:n], SYNTHETIC.iloc[n:]])
        p_values.append(against(evaluate(metric, TRAIN, HOLDOUT, synthetic)))
    assert p_values == sorted(p_values, reverse=True)
    assert p_values[-2] < 1e-3


@pytest.mark.slow
def test_doubled_rows():
    """Means stay, percentiles move to a neighbouring order statistic at most; medians stay."""
    doubled = pd.concat([SYNTHETIC, SYNTHETIC], ignore_index=True)
    for metric, values in ((DCRPercentile, "mean"), (NNDR, "mean")):
        once, twice = (evaluate(metric(), TRAIN, HOLDOUT, rows) for rows in (SYNTHETIC, doubled))
        assert once.details[values] == pytest.approx(twice.details[values])
        assert twice.value == pytest.approx(once.value, rel=0.05)
        halves = [evaluate(metric(50), TRAIN, HOLDOUT, rows).value for rows in (SYNTHETIC, doubled)]
        assert halves[0] == halves[1]


@pytest.mark.slow
def test_scale_names_and_order_do_not_matter():
    changed = [
        t.assign(age=3.0 * t["age"] - 7, city=t["city"].str.upper())
        .iloc[:, ::-1]
        .sample(frac=1.0, random_state=1)
        for t in (TRAIN, HOLDOUT, SYNTHETIC)
    ]
    for metric in (DCRPercentile(), NNDR(), NNDR(query="train")):
        plain, other = (evaluate(metric, *t) for t in ((TRAIN, HOLDOUT, SYNTHETIC), changed))
        assert plain.value == pytest.approx(other.value, abs=1e-9)
        assert plain.details["ratio_interval"] == pytest.approx(other.details["ratio_interval"])
        assert against(plain) == pytest.approx(against(other))


@pytest.mark.slow
def test_only_the_seed_of_the_resamples_matters():
    for kind in (DCRPercentile, NNDR):
        one, same, other = (
            evaluate(kind(random_state=seed), TRAIN, HOLDOUT, SYNTHETIC) for seed in (0, 0, 1)
        )
        assert one.details["ratio_interval"] == same.details["ratio_interval"]
        assert one.details["ratio_interval"] != other.details["ratio_interval"]
        assert (one.value, against(one), one.interval) == (
            other.value,
            against(other),
            other.interval,
        )


def brute(query, reference, columns, *, itself=False, span):
    """Gower distances to the two nearest rows, written out."""
    gaps = np.zeros((len(query), len(reference)))
    for name, width in columns.items():
        mine, theirs = query[name].to_numpy()[:, None], reference[name].to_numpy()[None, :]
        if width is None:
            away = (mine != theirs).astype(float)
        else:
            away = np.minimum(1.0, np.abs(mine - theirs).astype(float) / span[name])
        absent = pd.isna(mine), pd.isna(theirs)
        gaps += np.where(absent[0] & absent[1], 0.0, np.where(absent[0] | absent[1], 1.0, away))
    gaps /= len(columns)
    if itself:
        np.fill_diagonal(gaps, INF)
    return np.sort(gaps, axis=1)[:, :2]


def test_mixed_tables_against_brute_force():
    """Integers, missing cells, ties, and synthetic values beyond the real range."""
    rng = np.random.default_rng(3)
    tables = {}
    for role, n in (("train", 40), ("holdout", 25), ("synthetic", 30)):
        frame = pd.DataFrame(
            {
                "n": rng.integers(0, 5, n).astype(float),
                "x": rng.normal(size=n),
                "c": rng.choice(["a", "b", "c"], n).astype(object),
            }
        )
        frame.loc[rng.random(n) < 0.2, "n"] = np.nan
        frame.loc[rng.random(n) < 0.2, "c"] = None
        tables[role] = frame
    tables["synthetic"].loc[0, "x"] = 99.0
    real = pd.concat([tables["train"], tables["holdout"]])
    span = {name: real[name].max() - real[name].min() for name in ("n", "x")}
    columns = {"n": 1, "x": 1, "c": None}

    def near(query, reference):
        itself = query == reference
        return brute(tables[query], tables[reference], columns, itself=itself, span=span)

    context = Context.of(tables["train"], tables["holdout"]).with_synthetic(tables["synthetic"])
    result = DCRPercentile(30).evaluate_context(context)
    values = near("synthetic", "train")
    assert result.value == pytest.approx(np.quantile(values[:, 0], 0.3), abs=1e-8)
    assert result.baseline == pytest.approx(
        np.quantile(near("holdout", "train")[:, 0], 0.3), abs=1e-8
    )
    assert result.details["mean"] == pytest.approx(values[:, 0].mean(), abs=1e-8)
    ratios = neighbor_ratios(values)
    found = NNDR(30).evaluate_context(context)
    assert found.value == pytest.approx(np.quantile(ratios, 0.3), abs=1e-7)
    assert found.details["mean"] == pytest.approx(ratios.mean(), abs=1e-7)
    back = NNDR(30, query="train").evaluate_context(context)
    expected = np.quantile(neighbor_ratios(near("train", "synthetic")), 0.3)
    assert back.value == pytest.approx(expected, abs=1e-7)
    alone = Context.of(tables["train"]).with_synthetic(tables["synthetic"])
    base = NNDR(30).evaluate_context(alone)
    for name in span:  # the scale is that of the real rows at hand
        span[name] = tables["train"][name].max() - tables["train"][name].min()
    expected = np.quantile(neighbor_ratios(near("train", "train")), 0.3)
    assert base.baseline == pytest.approx(expected, abs=1e-7)


def test_missing_cells_of_the_reference_table():
    train = pd.DataFrame({"n": [0.0, 10.0, np.nan], "c": ["a", "b", None]})
    synthetic = pd.DataFrame({"n": [5.0, np.nan, 20.0], "c": ["a", None, "b"]})
    result = DCRPercentile(50).fit(train).evaluate(synthetic)
    assert result.value == 0.25
    assert result.details["mean"] == 0.25
    assert result.baseline == 1.0  # the train rows have nothing in common


def test_without_a_holdout():
    result = DCRPercentile().fit(TRAIN).evaluate(SYNTHETIC)
    assert result.details["baseline_kind"] == "train_loo"
    assert against(result) is result.details["passed"] is None
    loo = evaluate(DCRPercentile(baseline="train_loo"), TRAIN, HOLDOUT, SYNTHETIC)
    assert loo.details["baseline_kind"] == "train_loo"
    assert loo.value == evaluate(DCRPercentile(), TRAIN, HOLDOUT, SYNTHETIC).value
    found = NNDR().fit(TRAIN).evaluate(SYNTHETIC)
    assert found.details["baseline_kind"] == "train_loo"
    assert "tenth_smallest_to_holdout" not in found.details
    back = NNDR(query="train").fit(TRAIN).evaluate(SYNTHETIC)
    assert back.details["baseline_kind"] == "none"
    assert back.baseline is against(back) is None
    assert "ratio" not in back.details


@pytest.mark.slow
def test_unequal_sizes():
    many = make_mixed(500, random_state=7)
    for metric in (DCRPercentile(), NNDR(), NNDR(query="train")):
        for tables in ((TRAIN, HOLDOUT.iloc[:60], many), (TRAIN, many, SYNTHETIC.iloc[:60])):
            result = evaluate(metric, *tables)
            assert against(result) > 0.01
            assert result.baseline is not None


@pytest.mark.slow
def test_few_rows_are_their_least():
    for metric in (DCRPercentile(), NNDR()):
        with warns(DegenerateInputWarning):
            result = evaluate(metric, TRAIN, HOLDOUT, SYNTHETIC.iloc[:19])
        assert result.interval[0] == 0.0
        evaluate(metric, TRAIN, HOLDOUT, SYNTHETIC.iloc[:20])
    with warns(DegenerateInputWarning):
        evaluate(DCRPercentile(1), TRAIN, HOLDOUT, SYNTHETIC.iloc[:99])
    with warns(DegenerateInputWarning):
        evaluate(DCRPercentile(99.9), TRAIN, HOLDOUT, SYNTHETIC)
    least = evaluate(DCRPercentile(0), TRAIN, HOLDOUT, SYNTHETIC)  # who asks for it gets it
    most = evaluate(DCRPercentile(100), TRAIN, HOLDOUT, SYNTHETIC)
    assert least.value < least.details["median"] < most.value
    assert least.interval[0] == 0.0
    assert most.interval[1] == 1.0


@pytest.mark.slow
def test_one_row():
    for metric in (DCRPercentile(50), NNDR(50)):
        with warns(DegenerateInputWarning):
            result = evaluate(metric, TRAIN, HOLDOUT, SYNTHETIC.iloc[:1])
        assert result.interval == (0.0, 1.0)
    with warns(DegenerateInputWarning):
        assert np.isnan(NNDR().fit(TRAIN.iloc[:1], HOLDOUT).score(SYNTHETIC))
    with warns(DegenerateInputWarning):
        assert np.isnan(NNDR(query="train").fit(TRAIN, HOLDOUT).score(SYNTHETIC.iloc[:1]))
    alone = DCRPercentile().fit(TRAIN.iloc[:1]).evaluate(SYNTHETIC)
    assert (alone.details["baseline_kind"], alone.baseline) == ("none", None)
    two = NNDR().fit(TRAIN.iloc[:2]).evaluate(SYNTHETIC)
    assert two.details["baseline_kind"] == "none"
    held = NNDR().fit(TRAIN, HOLDOUT.iloc[:1]).evaluate(SYNTHETIC)
    assert "ratio_to_holdout" not in held.details
    assert held.details["baseline_kind"] == "holdout"


def test_nine_rows_have_no_tenth():
    result = told(NNDR(50), TRAIN, HOLDOUT, SYNTHETIC.iloc[:9])
    assert np.isnan(result.details["tenth_smallest"])
    assert np.isnan(result.details["ratio_to_holdout"])


def test_all_rows_duplicated():
    """0/0 is 1, because neither of two equal training rows is closer. A warning says so."""
    doubled = pd.concat([TRAIN, TRAIN], ignore_index=True)
    found = told(NNDR(), doubled, HOLDOUT, TRAIN)
    assert found.value == 1.0
    assert found.details["both_zero"] == 1.0
    assert "100% of the rows are equal to two or more rows of the train table" in str(
        found.warnings[0]
    )
    same = column(*([3.0] * 30))
    near = told(DCRPercentile(), same, same, same)
    assert near.value == near.baseline == 0.0
    assert near.details["ratio"] == near.details["score"] == 1.0
    assert against(near) == pytest.approx(1.0)
    assert "their ratio is 1" in str(near.warnings[0])
    shared = told(DCRPercentile(), TRAIN, TRAIN, SYNTHETIC)
    assert (shared.details["ratio"], shared.details["score"]) == (INF, 1.0)
    assert against(shared) == pytest.approx(1.0)


@pytest.mark.parametrize(
    "space",
    [
        "euclidean",
        FunctionTransformer(
            lambda f: f[["age", "visits"]] + f["joined"].astype("int64").to_numpy()[:, None] / 1e12
        ),
    ],
)
@pytest.mark.parametrize("kind", [DCRPercentile, NNDR])
@pytest.mark.slow
def test_other_spaces(space, kind):
    fresh = evaluate(kind(space=space), TRAIN, HOLDOUT, SYNTHETIC)
    assert np.isfinite(fresh.value)
    assert against(fresh) > 0.025
    copy = evaluate(kind(space=space), TRAIN, HOLDOUT, TRAIN)
    assert copy.value == 0.0
    assert against(copy) < 1e-6
    top = evaluate(kind(100, space=space), TRAIN, HOLDOUT, SYNTHETIC)
    assert top.interval[1] == (INF if kind is DCRPercentile else 1.0)


def test_chosen_columns_and_nothing_to_measure():
    for kind in (DCRPercentile, NNDR):
        chosen = evaluate(kind(columns=["income", "visits"]), TRAIN, HOLDOUT, SYNTHETIC)
        some = [t[["income", "visits"]] for t in (TRAIN, HOLDOUT, SYNTHETIC)]
        assert chosen.value == told(kind(), *some).value
        text = pd.DataFrame({"note": [f"a remark of more than five words, {i}" for i in range(20)]})
        context = Context.of(text, schema={"note": "text"}).with_synthetic(text)
        assert np.isnan(kind().evaluate_context(context).value)


def test_percentiles_are_percents():
    with raises(InvalidParameterError):
        DCRPercentile(101).fit(TRAIN)
    assert DCRPercentile(2.5).fit(TRAIN).score(SYNTHETIC) >= 0


@pytest.mark.calibration
@pytest.mark.parametrize(
    "metric", [DCRPercentile(baseline="train_loo"), NNDR(query="train"), NNDR(convention="d2/d1")]
)
def test_contract_of_other_parameters(metric):
    skeval.check_metric(metric)


def normal(n, seed, scale=1.0):
    values = scale * np.random.default_rng(seed).normal(size=(n, 3))
    return pd.DataFrame(values, columns=["a", "b", "c"])


@pytest.mark.parametrize("metric", [DCRPercentile(), DCRPercentile(50), NNDR()], ids=repr)
@pytest.mark.slow
def test_labels_tell_leaks_from_a_generator_that_keeps_to_the_middle(metric):
    train, holdout = normal(300, 0), normal(300, 1)
    shrunk = evaluate(metric, train, holdout, normal(300, 2, 0.6))
    assert shrunk.p_value > 0.05
    leaky = evaluate(metric, train, holdout, pd.concat([train[:90], normal(210, 2)]))
    assert leaky.p_value < 0.025


def test_shrunk_rows_fail_against_holdout_rows():
    result = evaluate(DCRPercentile(50), normal(300, 0), normal(300, 1), normal(300, 2, 0.6))
    assert against(result) < 0.001


def test_seen_from_synthetic_rows_both_tests_are_one():
    result = evaluate(NNDR(query="train"), normal(80, 0), normal(60, 1), normal(70, 2))
    assert result.p_value == against(result)
