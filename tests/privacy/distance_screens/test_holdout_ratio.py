from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import ks_2samp
from sklearn.preprocessing import FunctionTransformer

from skeval import Context
from skeval.datasets import make_mixed
from skeval.exceptions import MissingInputError
from skeval.privacy.distance_screens.percentiles import HoldoutDistanceRatio
from skeval.reporting.displays.distances import DistancesDisplay
from skeval.steps.neighbors import nearest
from tests.snapshots import raises

TRAIN, HOLDOUT, SYNTHETIC = (make_mixed(200, random_state=seed) for seed in range(3))


def against(result):
    """The p-value of synthetic against holdout rows."""
    return result.details["p_value_against_holdout"]


def column(*values):
    return pd.DataFrame({"x": np.array(values, dtype=float)})


def evaluate(metric, train, holdout, synthetic):
    return metric.fit(train, holdout).evaluate(synthetic)


def test_toy_table():
    """Distances to train: synthetic 0, .2, 1, 11 and holdout 1, 2, 2, 3, of a range of 12."""
    tables = column(0, 1, 4, 9), column(2, 6, 7, 12), column(0, 1.2, 5, 20)
    result = evaluate(HoldoutDistanceRatio(), *tables)
    assert result.value == pytest.approx(0.3)
    assert result.details["median_synthetic"] == pytest.approx(0.6 / 12)
    assert result.details["median_holdout"] == pytest.approx(2 / 12)
    assert result.details["nearer"] == 0.5
    assert result.baseline == 1.0


def test_second_toy_table():
    """All of 1, 2, 4, 1 lie under both of 5, 10: one choice of 15."""
    result = evaluate(HoldoutDistanceRatio(), column(0, 10), column(5, 20), column(1, 2, 6, 11))
    assert result.value == pytest.approx(0.2)
    assert against(result) == pytest.approx(1 / 15)
    assert result.details["nearer"] == result.details["kolmogorov"] == 1.0


@pytest.mark.parametrize(
    ("name", "median"),
    [("over", 0.007998), ("gauss", 0.109806), ("holdout", 0.078738), ("train", 0.0)],
)
def test_wine(wine, name, median):
    synthetic = getattr(wine, name)
    context = Context.of(wine.train, wine.holdout).with_synthetic(synthetic)
    result = HoldoutDistanceRatio().evaluate_context(context)
    assert result.details["median_synthetic"] == pytest.approx(median, abs=1e-6)
    assert result.value == pytest.approx(median / 0.078738, abs=1e-4)
    expected = ks_2samp(
        nearest(context, "synthetic", "train")[0][:, 0],
        nearest(context, "holdout", "train")[0][:, 0],
        alternative="greater",
    )
    assert against(result) == pytest.approx(expected.pvalue)
    assert (against(result) < 0.025) == (name in {"over", "train"})


@pytest.mark.slow
def test_fresh_rows_copies_and_holdout():
    fresh = evaluate(HoldoutDistanceRatio(), TRAIN, HOLDOUT, SYNTHETIC)
    assert fresh.interval[0] < 1.0 < fresh.interval[1]
    assert against(fresh) > 0.025
    copy = evaluate(HoldoutDistanceRatio(), TRAIN, HOLDOUT, TRAIN)
    assert (copy.value, copy.interval) == (0.0, (0.0, 0.0))
    assert against(copy) < 1e-12
    held = evaluate(HoldoutDistanceRatio(), TRAIN, HOLDOUT, HOLDOUT)
    assert (held.value, against(held)) == (1.0, 1.0)


def test_a_leak_of_a_quarter_is_seen_by_the_test():
    synthetic = pd.concat([TRAIN.iloc[:50], SYNTHETIC.iloc[50:]])
    result = evaluate(HoldoutDistanceRatio(), TRAIN, HOLDOUT, synthetic)
    assert against(result) < 0.001
    assert result.details["nearer"] >= 0.2


@pytest.mark.slow
def test_ratios_fall_with_the_leak():
    values = []
    for leak in (0.0, 0.2, 0.4, 0.6):
        n = int(200 * leak)
        synthetic = pd.concat([TRAIN.iloc[:n], SYNTHETIC.iloc[n:]])
        values.append(evaluate(HoldoutDistanceRatio(), TRAIN, HOLDOUT, synthetic).value)
    assert values == sorted(values, reverse=True)
    assert values[-1] == 0.0


def test_doubled_rows_and_affine_changes():
    plain = evaluate(HoldoutDistanceRatio(), TRAIN, HOLDOUT, SYNTHETIC)
    doubled = evaluate(HoldoutDistanceRatio(), TRAIN, HOLDOUT, pd.concat([SYNTHETIC, SYNTHETIC]))
    assert doubled.value == plain.value
    changed = [
        t.assign(age=3.0 * t["age"] - 7, city=t["city"].str.upper())
        .iloc[:, ::-1]
        .sample(frac=1.0, random_state=1)
        for t in (TRAIN, HOLDOUT, SYNTHETIC)
    ]
    other = evaluate(HoldoutDistanceRatio(), *changed)
    assert other.value == pytest.approx(plain.value, abs=1e-9)
    assert other.interval == pytest.approx(plain.interval)


def test_the_seed_moves_the_interval_only():
    one, other = (
        evaluate(HoldoutDistanceRatio(random_state=seed), TRAIN, HOLDOUT, SYNTHETIC)
        for seed in (0, 1)
    )
    assert (one.value, against(one)) == (other.value, against(other))
    assert one.interval != other.interval
    assert one.interval == pytest.approx(other.interval, rel=0.1)


@pytest.mark.parametrize("holdout", [TRAIN, pd.concat([TRAIN.iloc[:101], HOLDOUT.iloc[:99]])])
@pytest.mark.parametrize("synthetic", [TRAIN, SYNTHETIC])
def test_no_ratio_to_a_distance_of_zero(holdout, synthetic):
    context = Context.of(TRAIN, holdout).with_synthetic(synthetic)
    result = HoldoutDistanceRatio().evaluate_context(context)
    assert np.isnan(result.value)
    assert "half of the holdout rows equal training rows" in str(result.warnings[0])
    assert result.details["median_holdout"] == 0.0


def test_it_needs_a_holdout_and_a_column():
    with raises(MissingInputError):
        HoldoutDistanceRatio().fit(TRAIN)
    text = pd.DataFrame({"note": [f"a remark of more than five words, {i}" for i in range(20)]})
    context = Context.of(text, text, schema={"note": "text"}).with_synthetic(text)
    assert np.isnan(HoldoutDistanceRatio().evaluate_context(context).value)


def test_one_row_unequal_sizes_and_missing_cells():
    one = evaluate(HoldoutDistanceRatio(), TRAIN, HOLDOUT.iloc[:1], SYNTHETIC)
    assert np.isfinite(one.value)
    one = evaluate(HoldoutDistanceRatio(), TRAIN, HOLDOUT, SYNTHETIC.iloc[:1])
    assert 0 < against(one) <= 1
    train = pd.DataFrame({"n": [0.0, 10.0, np.nan], "c": ["a", "b", None]})
    holdout = pd.DataFrame({"n": [4.0, 6.0], "c": ["a", None]})
    synthetic = pd.DataFrame({"n": [5.0, np.nan, 20.0], "c": ["a", None, "b"]})
    context = Context.of(train, holdout).with_synthetic(synthetic)
    # (4, a) is .2 from train, (6, missing) .5: both columns of (b, 10) differ, c of the third not
    result = HoldoutDistanceRatio().evaluate_context(context)
    assert result.details["median_synthetic"] == 0.25
    assert result.value == pytest.approx(0.25 / 0.35)


@pytest.mark.parametrize(
    "space",
    [
        "euclidean",
        FunctionTransformer(
            lambda f: f[["age", "visits"]] + f["joined"].astype("int64").to_numpy()[:, None] / 1e12
        ),
    ],
)
@pytest.mark.slow
def test_other_spaces(space):
    metric = HoldoutDistanceRatio(space=space)
    assert evaluate(metric, TRAIN, HOLDOUT, SYNTHETIC).value == pytest.approx(1.0, abs=0.5)
    assert evaluate(metric, TRAIN, HOLDOUT, TRAIN).value == 0.0


def test_chosen_columns():
    chosen = evaluate(HoldoutDistanceRatio(columns=["income"]), TRAIN, HOLDOUT, SYNTHETIC)
    context = Context.of(TRAIN[["income"]], HOLDOUT[["income"]])
    alone = HoldoutDistanceRatio().evaluate_context(context.with_synthetic(SYNTHETIC[["income"]]))
    assert chosen.value == alone.value


def test_distributions_are_drawn_and_coarse():
    result = evaluate(HoldoutDistanceRatio(), TRAIN, HOLDOUT, SYNTHETIC)
    assert set(result.details["histogram"]["shares"]) == {"synthetic to train", "holdout to train"}
    assert len(result.details["histogram"]["edges"]) == 21
    display = result.display()
    assert isinstance(display, DistancesDisplay)
    assert display.n_panels == 1
    display.plot()
    few = evaluate(HoldoutDistanceRatio(), TRAIN, HOLDOUT, SYNTHETIC.iloc[:15])
    assert len(few.details["histogram"]["edges"]) == 5


def test_labels_tell_leaks_from_a_generator_that_keeps_to_the_middle():
    train, holdout, other = (
        pd.DataFrame(np.random.default_rng(seed).normal(size=(300, 3)), columns=["a", "b", "c"])
        for seed in range(3)
    )
    shrunk = evaluate(HoldoutDistanceRatio(), train, holdout, 0.6 * other)
    assert against(shrunk) < 0.001
    assert shrunk.p_value > 0.05
    leaky = evaluate(HoldoutDistanceRatio(), train, holdout, pd.concat([train[:120], other[:180]]))
    assert leaky.p_value < 0.025
