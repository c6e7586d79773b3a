from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.preprocessing import FunctionTransformer

from skeval import Context, Result
from skeval.datasets import make_mixed
from skeval.exceptions import DegenerateInputWarning, InvalidParameterError
from skeval.fidelity.mda_resemblance import MDAResemblance
from skeval.privacy.distance_screens.accumulation import MinimumDistanceAccumulation
from tests.calibrations import Claim, rate_of
from tests.counting import CountingContext
from tests.snapshots import raises, warns

TRAIN, HOLDOUT, SYNTHETIC = (make_mixed(200, random_state=seed) for seed in range(3))
DIRECTIONS = ("symmetric", "synthetic", "real")


def column(*values):
    return pd.DataFrame({"x": np.array(values, dtype=float)})


def normal(rng, n, columns=3):
    return pd.DataFrame(rng.normal(size=(n, columns)), columns=list("abcdefgh")[:columns])


def evaluate(metric, train, holdout, synthetic):
    return metric.fit(train, holdout).evaluate(synthetic)


def brute(query, reference, span):
    gaps = np.minimum(1, np.abs(query.to_numpy()[:, None] - reference.to_numpy()) / span)
    return gaps.mean(axis=2).min(axis=1)


@pytest.mark.parametrize(
    ("name", "left", "right"),
    [
        ("over", 0.960020, 1.0),
        ("gauss", 0.445790, 0.999454),
        ("holdout", 0.575445, 1.0),
        ("train", 1.0, 1.0),
    ],
)
def test_the_reference_table(wine, name, left, right):
    synthetic = getattr(wine, name)
    found = evaluate(MinimumDistanceAccumulation(), wine.train, wine.holdout, synthetic)
    assert found.value == pytest.approx(left, abs=1e-6)
    assert found.details["resemblance"][0] == pytest.approx(right, abs=1e-6)
    assert found.baseline == pytest.approx(0.575445, abs=1e-6)
    other = evaluate(MDAResemblance(), wine.train, wine.holdout, synthetic)
    assert other.value == pytest.approx(right, abs=1e-6)
    assert other.baseline == pytest.approx(1.0, abs=1e-6)


def test_details_of_the_reference_table(wine):
    found = evaluate(MinimumDistanceAccumulation(), wine.train, wine.holdout, wine.over)
    assert found.details["privacy"] == pytest.approx(1 - found.value)
    expected = (1 - found.value) / (1 - found.baseline)
    assert found.details["relative_privacy"] == pytest.approx(expected)
    assert set(found.details["curve"]) == {"synthetic", "holdout"}
    assert found.p_value == 1 / 2000
    gauss = evaluate(MinimumDistanceAccumulation(), wine.train, wine.holdout, wine.gauss)
    assert gauss.details["relative_privacy"] > 1
    assert gauss.p_value > 0.05


# one column of range 1 with training rows at both ends, so distances are not rescaled
@pytest.mark.parametrize(
    ("direction", "left", "right"),
    [
        ("synthetic", (0.2 + 0.1) / 4 / 0.2, (0.8 + 0.8 + 0.7 + 0.6) / 4 / 0.8),
        ("real", (0.2 + 0) / 2 / 0.2, (0.8 + 0.6) / 2 / 0.8),
    ],
)
def test_a_table_by_hand(direction, left, right):
    tables = column(0, 1), None, column(0, 0.1, 0.3, 0.6)
    with warns(DegenerateInputWarning):
        found = evaluate(MinimumDistanceAccumulation(direction=direction), *tables)
    assert found.value == pytest.approx(left)
    assert found.details["resemblance"][0] == pytest.approx(right)
    assert found.details["directions"] == {direction: pytest.approx(left)}


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("scale", ["max", "observed"])
def test_areas_are_those_of_brute_force(direction, scale):
    rng = np.random.default_rng(0)
    train, holdout, synthetic = normal(rng, 70), normal(rng, 60), normal(rng, 60)
    span = np.ptp(np.vstack([train, holdout]), axis=0)
    parts = {"synthetic": brute(synthetic, train, span), "real": brute(train, synthetic, span)}
    fresh = {"synthetic": brute(holdout, train, span), "real": brute(train, holdout, span)}
    used = ("synthetic", "real") if direction == "symmetric" else (direction,)
    largest = max(parts[name].max() for name in used) if scale == "observed" else 1.0
    metric = MinimumDistanceAccumulation([0.1, 0.3], direction, scale)
    found = evaluate(metric, train, holdout, synthetic)
    for k, t in enumerate((0.1, 0.3)):
        for of, distances in ((found.details, parts), (found.details["holdout"], fresh)):
            scaled = [np.minimum(1, distances[name] / largest) for name in used]
            left = np.mean([np.maximum(0, t - x).mean() / t for x in scaled])
            right = np.mean([(1 - np.maximum(x, t)).mean() / (1 - t) for x in scaled])
            assert of["privacy_area"][k] == pytest.approx(left, abs=1e-8)
            assert of["resemblance"][k] == pytest.approx(right, abs=1e-8)
    assert found.value == found.details["privacy_area"][0]
    assert found.baseline == found.details["holdout"]["privacy_area"][0]
    parts_of_the_value = list(found.details["directions"].values())
    assert found.value == pytest.approx(np.mean(parts_of_the_value))


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_the_standard_error_is_that_of_leaving_out_each_synthetic_row(direction):
    rng = np.random.default_rng(1)
    train, synthetic = normal(rng, 40), normal(rng, 25)
    for kind in (MinimumDistanceAccumulation, MDAResemblance):
        metric = kind(0.08, direction).fit(train)
        left_out = [metric.score(synthetic.drop(index=i)) for i in range(25)]
        expected = np.sqrt(24 / 25 * np.sum((left_out - np.mean(left_out)) ** 2))
        found = metric.evaluate(synthetic).details["standard_error"]
        assert found == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("threshold", [0.05, 0.5, "loo-median"])
def test_copies_have_both_areas_full(direction, threshold):
    shuffled = TRAIN.sample(frac=1.0, random_state=0)
    metric = MinimumDistanceAccumulation(threshold, direction)
    found = evaluate(metric, TRAIN, HOLDOUT, shuffled)
    assert found.value == 1.0
    assert found.details["resemblance"].tolist() == [1.0]
    assert found.details["relative_privacy"] == 0.0
    assert found.p_value == 1 / 2000
    low, high = found.interval
    assert 0.95 < low < high == 1.0


@pytest.mark.parametrize("threshold", [0.1, "loo-median"])
def test_copies_have_a_largest_distance_of_zero(threshold):
    metric = MinimumDistanceAccumulation(threshold, scale="observed")
    found = evaluate(metric, TRAIN, HOLDOUT, TRAIN)
    assert found.value == 1.0
    assert found.baseline < 0.05  # rows that are not copies have the maximum distance
    assert 0 < found.details["threshold"] < 1


def test_rows_that_differ_in_everything_are_as_far_as_can_be():
    train = pd.DataFrame({"a": ["x", "y"] * 20, "b": ["u", "u", "v", "v"] * 10})
    other = pd.DataFrame({"a": ["z"] * 40, "b": ["w"] * 40})
    found = evaluate(MinimumDistanceAccumulation(), train, None, other)
    assert found.value == 0.0
    assert found.details["resemblance"].tolist() == [0.0]
    assert found.interval == pytest.approx((0.0, 0.0881), abs=1e-4)


def test_the_holdout_is_its_own_baseline():
    for direction in DIRECTIONS:
        metric = MinimumDistanceAccumulation(0.1, direction)
        found = evaluate(metric, TRAIN, HOLDOUT, HOLDOUT)
        assert found.value == pytest.approx(found.baseline, abs=1e-12)
        assert found.details["relative_privacy"] == pytest.approx(1.0)
        assert found.p_value > 0.5


def test_thresholds_may_be_many():
    many = [0.1, 0.05, 0.2, 0.4]
    found = evaluate(MinimumDistanceAccumulation(many), TRAIN, HOLDOUT, SYNTHETIC)
    assert found.details["thresholds"].tolist() == many
    singles = [evaluate(MinimumDistanceAccumulation(t), TRAIN, HOLDOUT, SYNTHETIC) for t in many]
    assert found.details["privacy_area"].tolist() == [single.value for single in singles]
    assert (found.value, found.interval) == (singles[0].value, singles[0].interval)
    assert found.p_value == singles[0].p_value
    by_threshold = found.details["privacy_area"][np.argsort(many)]
    assert (np.diff(by_threshold) > 0).all()


def test_the_median_of_train_is_a_threshold():
    rng = np.random.default_rng(2)
    train, synthetic = normal(rng, 50), normal(rng, 50)
    span = np.ptp(train.to_numpy(), axis=0)
    gaps = np.abs(train.to_numpy()[:, None] - train.to_numpy()) / span
    among = gaps.mean(axis=2) + np.where(np.eye(50), np.inf, 0)
    found = evaluate(MinimumDistanceAccumulation("loo-median"), train, None, synthetic)
    median = np.median(among.min(axis=1))
    assert found.details["threshold"] == pytest.approx(median, abs=1e-8)
    fixed = MinimumDistanceAccumulation(found.details["threshold"])
    assert evaluate(fixed, train, None, synthetic).value == found.value


def test_a_median_of_zero_or_of_one_row_is_no_threshold():
    doubled = pd.concat([TRAIN, TRAIN], ignore_index=True)
    metric = MinimumDistanceAccumulation("loo-median")
    for kind in (metric, MDAResemblance("loo-median")):
        with warns(DegenerateInputWarning):
            assert np.isnan(kind.fit(doubled).score(SYNTHETIC))
    with warns(DegenerateInputWarning):
        assert np.isnan(metric.fit(TRAIN.iloc[:1]).score(SYNTHETIC))


def test_a_median_beyond_the_scale_is_cut():
    train = pd.DataFrame({"a": list("abcdefghijkl")})
    found = evaluate(MinimumDistanceAccumulation("loo-median"), train, None, train)
    assert found.details["threshold"] == 0.999


@pytest.mark.parametrize(
    ("threshold", "legal"),
    [
        (0.0, False),
        (1.0, False),
        ([0.1, 1.5], False),
        ([], False),
        ("median", False),
        (True, False),
        (None, False),
        ([0.1, 0.9], True),
        ((0.1, 0.9), True),
        ("loo-median", True),
    ],
)
def test_thresholds_are_checked(threshold, legal):
    metric = MinimumDistanceAccumulation(threshold)
    if legal:
        metric.fit(TRAIN)
        return
    with raises(InvalidParameterError):
        metric.fit(TRAIN)


@pytest.mark.parametrize("kind", [MinimumDistanceAccumulation, MDAResemblance])
@pytest.mark.slow
def test_other_spaces_have_no_largest_distance(kind):
    with raises(InvalidParameterError):
        kind(space="euclidean").fit(TRAIN)
    numeric = FunctionTransformer(lambda table: table[["age", "visits"]])
    for space in ("euclidean", numeric):
        found = evaluate(kind(0.1, scale="observed", space=space), TRAIN, HOLDOUT, SYNTHETIC)
        assert 0 < found.value < 1
        assert found.interval[0] < found.value < found.interval[1]
        assert kind(scale="observed", space=space).fit(TRAIN, HOLDOUT).score(TRAIN) == 1.0


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_rows_columns_and_units_do_not_matter(direction):
    metric = MinimumDistanceAccumulation([0.05, 0.2], direction)
    plain = evaluate(metric, TRAIN, HOLDOUT, SYNTHETIC)
    changed = [
        table.sample(frac=1.0, random_state=7)[table.columns[::-1]].assign(
            age=lambda t: 3.0 * t["age"] - 7, city=lambda t: t["city"].str.upper()
        )
        for table in (TRAIN, HOLDOUT, SYNTHETIC)
    ]
    other = evaluate(metric, *changed)
    for name in ("privacy_area", "resemblance"):
        np.testing.assert_allclose(other.details[name], plain.details[name], rtol=1e-7)
    assert other.interval == pytest.approx(plain.interval)
    assert other.baseline == pytest.approx(plain.baseline)


def test_doubled_rows_change_nothing_from_the_synthetic_side():
    doubled = pd.concat([SYNTHETIC, SYNTHETIC], ignore_index=True)
    metric = MinimumDistanceAccumulation(0.1, "synthetic")
    once, twice = (evaluate(metric, TRAIN, HOLDOUT, rows) for rows in (SYNTHETIC, doubled))
    assert twice.value == pytest.approx(once.value, abs=1e-12)
    assert "at_baseline_size" not in twice.details
    assert twice.p_value == once.p_value
    both = evaluate(MinimumDistanceAccumulation(0.1), TRAIN, HOLDOUT, doubled)
    alone = evaluate(MinimumDistanceAccumulation(0.1), TRAIN, HOLDOUT, SYNTHETIC)
    assert both.value == pytest.approx(alone.value, abs=1e-12)  # nor from the other: equal rows
    assert both.details["at_baseline_size"]["value"] < both.value  # of 200 of them, some are equal


def test_a_smaller_holdout_is_compared_at_its_size():
    many = pd.concat([SYNTHETIC, make_mixed(400, random_state=5)], ignore_index=True)
    metric = MinimumDistanceAccumulation(0.1, random_state=3)
    found = evaluate(metric, TRAIN, HOLDOUT.iloc[:60], many)
    smaller = found.details["at_baseline_size"]
    assert smaller["n_rows"] == 60
    assert smaller["value"] < found.value  # train rows find fewer near ones
    assert smaller["value"] == pytest.approx(found.baseline, abs=0.05)
    quotient = (1 - smaller["value"]) / (1 - found.baseline)
    assert found.details["relative_privacy"] == pytest.approx(quotient)
    assert "synthetic at baseline size" in found.details["curve"]
    again = evaluate(metric, TRAIN, HOLDOUT.iloc[:60], many)
    assert again.details["at_baseline_size"] == smaller
    seeds = {
        evaluate(
            MinimumDistanceAccumulation(0.1, random_state=seed), TRAIN, HOLDOUT.iloc[:60], many
        ).details["at_baseline_size"]["value"]
        for seed in range(3)
    }
    assert len(seeds) == 3


def test_a_larger_holdout_is_sampled():
    many = pd.concat([HOLDOUT, make_mixed(400, random_state=5)], ignore_index=True)
    few = SYNTHETIC.iloc[:60]
    found = evaluate(MinimumDistanceAccumulation(0.1), TRAIN, many, few)
    assert "at_baseline_size" not in found.details
    context = Context.of(TRAIN, many)
    whole = MinimumDistanceAccumulation(0.1).evaluate_context(
        context.with_rows_as_synthetic(context.holdout)
    )
    assert found.baseline < whole.baseline
    assert found.baseline == pytest.approx(found.value, abs=0.06)
    other = MinimumDistanceAccumulation(0.1, "synthetic")
    assert evaluate(other, TRAIN, many, few).baseline == pytest.approx(
        other.evaluate_context(context.with_rows_as_synthetic(context.holdout)).value
    )


def test_without_a_holdout_there_is_no_contrast():
    found = MinimumDistanceAccumulation().fit(TRAIN).evaluate(SYNTHETIC)
    assert found.baseline is None
    assert found.p_value is None
    assert "relative_privacy" not in found.details
    assert set(found.details["curve"]) == {"synthetic"}
    assert found.interval[0] < found.value < found.interval[1]


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_one_row_on_each_side(direction):
    metric = MinimumDistanceAccumulation(0.1, direction)
    with warns(DegenerateInputWarning):
        found = evaluate(metric, TRAIN, HOLDOUT, SYNTHETIC.iloc[:1])
    assert 0 <= found.value <= 1
    assert found.interval is None
    beside = evaluate(metric, TRAIN, HOLDOUT.iloc[:1], SYNTHETIC)
    assert 0 <= beside.baseline <= 1
    if direction != "real":  # the curve would tell that row's distance
        assert found.details["curve"] == {}
        assert beside.details["curve"]["holdout"] == {}
    found = evaluate(metric, TRAIN.iloc[:1], HOLDOUT, SYNTHETIC)
    assert 0 <= found.value <= 1


def test_missing_values_are_values():
    train = pd.DataFrame({"n": [0.0, 10.0, np.nan] * 5, "c": ["a", "b", None] * 5})
    synthetic = pd.DataFrame({"n": [5.0, np.nan, 20.0] * 5, "c": ["a", None, "b"] * 5})
    found = evaluate(MinimumDistanceAccumulation(0.4, "synthetic"), train, None, synthetic)
    # distances .25, 0 and .5
    assert found.value == pytest.approx((0.15 + 0.4 + 0) / 3 / 0.4)
    holed = TRAIN.mask(np.random.default_rng(0).random(TRAIN.shape) < 0.1)
    assert evaluate(MinimumDistanceAccumulation(), holed, HOLDOUT, holed).value == 1.0


def test_no_column_that_can_be_measured():
    table = pd.DataFrame({"note": [f"a remark of more than five words, {i}" for i in range(20)]})
    context = Context.of(table, schema={"note": "text"}).with_synthetic(table)
    for metric in (MinimumDistanceAccumulation(), MDAResemblance()):
        found = metric.evaluate_context(context)
        assert np.isnan(found.value)
        assert "no column of this table" in str(found.warnings[0])


def test_columns_can_be_chosen():
    chosen = MinimumDistanceAccumulation(columns=["age"])
    alone = [table[["age"]] for table in (TRAIN, HOLDOUT, SYNTHETIC)]
    found = evaluate(chosen, TRAIN, HOLDOUT, SYNTHETIC)
    with warns(UserWarning):
        metric = MinimumDistanceAccumulation().fit(*alone[:2])
    expected = metric.evaluate(alone[2])
    assert found.value == expected.value
    # relabelings are drawn by what rows hold, in all columns
    assert found.p_value == pytest.approx(expected.p_value, abs=0.1)


def test_results_go_through_json():
    found = evaluate(MinimumDistanceAccumulation([0.1, 0.2]), TRAIN, HOLDOUT.iloc[:90], SYNTHETIC)
    again = Result.from_dict(json.loads(found.to_json()))
    assert again.to_json() == found.to_json()
    assert again.details["privacy_area"] == found.details["privacy_area"].tolist()
    copy = evaluate(MinimumDistanceAccumulation(), TRAIN, TRAIN.iloc[::-1].assign(age=1), TRAIN)
    assert json.loads(copy.to_json())["details"]["relative_privacy"] == 0.0


def test_nothing_left_to_compare_with_is_nan():
    train = column(*range(30))
    with warns(UserWarning):
        metric = MinimumDistanceAccumulation().fit(train, train.iloc[::-1])
    found = metric.evaluate(train)
    assert found.baseline == 1.0
    assert np.isnan(found.details["relative_privacy"])
    assert found.p_value == 1.0


def test_both_metrics_share_their_work():
    context = CountingContext.of(TRAIN, HOLDOUT).with_synthetic(SYNTHETIC)
    CountingContext.runs.clear()
    for metric in (MinimumDistanceAccumulation(), MDAResemblance()):
        metric.fit_context(context.real).evaluate_context(context)
    # synthetic and holdout rows in train, train rows in either, holdout rows in the synthetic table
    assert CountingContext.names().count("_nearest") == 5


@pytest.mark.slow
def test_areas_grow_with_the_leak():
    values, p_values = [], []
    rng = np.random.default_rng(0)
    train, holdout, fresh = (normal(rng, 300) for _ in range(3))
    for leak in (0.0, 0.1, 0.3, 0.6, 1.0):
        n = int(300 * leak)
        rows = pd.concat([train.iloc[:n], fresh.iloc[n:]], ignore_index=True)
        found = evaluate(MinimumDistanceAccumulation("loo-median"), train, holdout, rows)
        values.append(found.value)
        p_values.append(found.p_value)
    assert values == sorted(values)
    assert p_values[0] > 0.025
    assert p_values[2:] == [1 / 2000] * 3


@pytest.mark.slow
def test_a_table_from_the_middle_is_no_leak():
    """It is equally close to train and to the holdout, so the test is not significant."""
    p_values = []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        train, holdout, synthetic = normal(rng, 150), normal(rng, 150), 0.6 * normal(rng, 150)
        metric = MinimumDistanceAccumulation(0.1, "synthetic")
        found = evaluate(metric, train, holdout, synthetic)
        assert found.interval[0] > found.baseline
        p_values.append(found.p_value)
    assert np.mean(np.array(p_values) < 0.05) <= 0.2
    assert 0.3 < np.mean(p_values) < 0.7


@pytest.mark.calibration
@pytest.mark.parametrize("threshold", [0.2, 0.04, "loo-median"])
@pytest.mark.parametrize("leak", [0.0, 0.3])
def test_intervals_hold_the_value_of_the_generator(threshold, leak):
    """Given train, over tables that the generator draws; conservative from the real side."""
    held = {direction: [] for direction in DIRECTIONS}
    for which in range(3):
        rng = np.random.default_rng(which)
        train = normal(rng, 200)
        context = Context.of(train)
        drawn = {direction: [] for direction in DIRECTIONS}
        for _ in range(100):
            rows = normal(rng, 200)
            copied = rng.random(200) < leak
            rows[copied] = train.to_numpy()[rng.integers(0, 200, int(copied.sum()))]
            there = context.with_synthetic(rows)
            for direction in DIRECTIONS:
                metric = MinimumDistanceAccumulation(threshold, direction)
                drawn[direction].append(metric.evaluate_context(there))
        for direction, results in drawn.items():
            truth = np.mean([result.value for result in results])
            held[direction] += [r.interval[0] <= truth <= r.interval[1] for r in results]
    assert 0.92 <= np.mean(held["synthetic"]) <= 0.98
    assert 0.92 <= np.mean(held["symmetric"]) <= 0.98
    assert 0.94 <= np.mean(held["real"]) <= 1.0


@pytest.mark.calibration
@pytest.mark.parametrize("sizes", [(100, 100, 100), (150, 40, 300)])
@pytest.mark.parametrize("shrunk", [1.0, 0.7])
def test_p_values_are_calibrated(sizes, shrunk):
    def rejects(seed):
        rng = np.random.default_rng(seed)
        train, holdout, synthetic = (normal(rng, n) for n in sizes)
        metric = MinimumDistanceAccumulation("loo-median" if seed % 2 else 0.2)
        return evaluate(metric, train, holdout, shrunk * synthetic).p_value <= 0.05

    found = rate_of(map(rejects, range(200)), Claim(0.05, 0.015, 0.085))
    assert found.holds, found
