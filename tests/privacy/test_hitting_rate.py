from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import fisher_exact

from skeval import Context, MetricSuite, check_metric
from skeval.datasets import make_mixed
from skeval.exceptions import DegenerateInputWarning, InvalidParameterError
from skeval.privacy import ExactMatchShare
from skeval.privacy.hitting_rate import (
    BoxScale,
    HittingRate,
    NewRowShare,
    any_within,
    box_points,
    lists_within,
)
from skeval.stats.intervals import newcombe, wilson
from tests.calibrations import LEVEL, rate_of
from tests.snapshots import warns

TRAIN, HOLDOUT, SYNTHETIC = (make_mixed(200, random_state=seed) for seed in range(3))


def column(*values):
    return pd.DataFrame({"x": np.array(values, dtype=float)})


def evaluate(metric, train, holdout, synthetic):
    context = Context.of(train, holdout)
    metric.fit_context(context)
    return metric.evaluate_context(context.with_synthetic(synthetic))


@pytest.mark.slow
@pytest.mark.parametrize(
    "metric",
    [
        HittingRate(0.3, columns=["age", "city"]),
        NewRowShare(0.2, "range", columns=["age", "visits"]),
    ],
    ids=repr,
)
def test_contract(metric):
    check_metric(metric)


# ---------------------------------------------------------------------------------- hitting rate


def test_toy_table():
    tables = column(0, 1, 4, 9), column(2, 6, 7, 12), column(0, 1.2, 5, 20)
    result = evaluate(HittingRate(), *tables[:2], tables[2])
    assert result.value == 0.5
    assert result.baseline == 0.0
    # a range of 12 and a third of it: 0, 1, 4 and 9 are hit, and so are 2, 6 and 7
    result = evaluate(HittingRate(1 / 3), *tables)
    assert (result.value, result.baseline) == (1.0, 0.75)


@pytest.mark.parametrize(
    ("name", "narrow", "wide", "on_holdout"),
    [
        ("over", 0.977528, 1.0, 0.0),
        ("gauss", 0.0, 0.0, 0.0),
        ("holdout", 0.0, 0.0, 1.0),
        ("train", 1.0, 1.0, 0.0),
    ],
)
def test_hitting_rate_of_wine(wine, name, narrow, wide, on_holdout):
    synthetic = getattr(wine, name)
    result = HittingRate().fit(wine.train, wine.holdout).evaluate(synthetic)
    assert result.value == pytest.approx(narrow, abs=1e-6)
    result = HittingRate(0.1).fit(wine.train, wine.holdout).evaluate(synthetic)
    assert (result.value, result.baseline) == (wide, on_holdout)


@pytest.mark.parametrize("tau", [0.0, 0.02, 0.1, 1 / 3, 1.0])
def test_hitting_rate_is_brute_force(tau):
    result = evaluate(HittingRate(tau), TRAIN, HOLDOUT, SYNTHETIC)
    real = pd.concat([TRAIN, HOLDOUT])

    def rate(rows):
        hits = np.ones((len(rows), len(SYNTHETIC)), dtype=bool)
        for name in rows.columns:
            a, b, both = rows[name], SYNTHETIC[name], real[name]
            if name in ("age", "income", "visits", "joined"):
                if name == "joined":
                    a, b, both = ((c - pd.Timestamp(0)).dt.total_seconds() for c in (a, b, both))
                span = both.max() - both.min()
                same = np.abs(a.to_numpy()[:, None] - b.to_numpy()) <= (tau + 1e-9) * span
            else:
                same = a.astype(object).to_numpy()[:, None] == b.astype(object).to_numpy()
            hits &= same | (a.isna().to_numpy()[:, None] & b.isna().to_numpy())
        return hits.any(axis=1).mean()

    assert result.value == pytest.approx(rate(TRAIN))
    assert result.baseline == pytest.approx(rate(HOLDOUT))
    assert tau < 0.3 or result.value > 0


def test_evidence_of_hits():
    synthetic = pd.concat([TRAIN[:20], SYNTHETIC[20:]])
    result = evaluate(HittingRate(), TRAIN, HOLDOUT[:150], synthetic)
    k, other = result.details["n_hit"], result.details["n_hit_holdout"]
    assert k >= 20
    assert result.interval == wilson(k, 200)
    assert result.details["excess"] == pytest.approx(k / 200 - other / 150)
    assert result.details["excess_interval"] == newcombe(k, 200, other, 150)
    table = [[k, 200 - k], [other, 150 - other]]
    assert result.p_value == pytest.approx(fisher_exact(table, "greater")[1])
    assert result.p_value < 0.01


def test_hits_without_a_holdout():
    result = HittingRate().fit(TRAIN).evaluate(TRAIN)
    assert (result.value, result.p_value, result.baseline) == (1.0, None, None)


def test_missing_values_agree_with_missing_ones_only():
    train = pd.DataFrame({"x": [1.0, np.nan, 3.0], "c": ["a", None, "a"]})
    synthetic = pd.DataFrame({"x": [1.0, np.nan, np.nan], "c": [None, None, "a"]})
    assert evaluate(HittingRate(1.0), train, None, synthetic).value == pytest.approx(1 / 3)


def test_a_column_without_range_needs_the_same_value():
    train = pd.DataFrame({"x": [5.0, 5.0], "y": [0.0, 1.0]})
    synthetic = pd.DataFrame({"x": [5.0, 5.1], "y": [0.0, 1.0]})
    assert evaluate(HittingRate(0.5), train, None, synthetic).value == 0.5


@pytest.mark.filterwarnings("ignore::skeval.exceptions.InvalidValueWarning")
def test_infinite_values_hit_nothing():
    assert evaluate(HittingRate(1.0), column(0, 1), None, column(np.inf, -np.inf)).value == 0.0


def test_new_categories_hit_nothing():
    train, synthetic = pd.DataFrame({"c": ["a", "b"]}), pd.DataFrame({"c": ["z", "a"]})
    assert evaluate(HittingRate(), train, None, synthetic).value == 0.5


# --------------------------------------------------------------------------------------- new rows


def test_published_example():
    assert NewRowShare().fit(column(100)).score(column(100.9, 101.5)) == 0.5


def test_zero_matches_zero_only():
    relative = NewRowShare().fit(column(0, 100))
    assert relative.score(column(0, 0.0001)) == 0.5
    of_range = NewRowShare(tolerance_kind="range").fit(column(0, 100))
    assert of_range.score(column(0, 0.9)) == 0.0
    assert of_range.score(column(0, 1.1)) == 0.5


def test_dates_are_held_to_their_range():
    dates = pd.DataFrame({"d": pd.to_datetime(["2020-01-01", "2020-04-10"])})
    synthetic = pd.DataFrame({"d": pd.to_datetime(["2020-01-02", "2020-01-03"])})
    for kind in ("relative", "range"):
        assert evaluate(NewRowShare(0.01, kind), dates, None, synthetic).value == 0.5


@pytest.mark.parametrize(
    ("name", "value"), [("gauss", 1.0), ("holdout", 1.0), ("over", 1.0), ("train", 0.0)]
)
def test_new_rows_of_wine(wine, name, value):
    result = NewRowShare().fit(wine.train, wine.holdout).evaluate(getattr(wine, name))
    assert result.value == value
    assert result.baseline == 1.0


@pytest.mark.parametrize("kind", ["relative", "range"])
@pytest.mark.parametrize("tolerance", [0.0, 0.01, 0.2])
def test_new_rows_are_brute_force(kind, tolerance):
    names = ["age", "income", "visits", "plan"]
    rows = [pd.concat([TRAIN[:50], SYNTHETIC])[names], TRAIN[names], HOLDOUT[names]]
    result = evaluate(NewRowShare(tolerance, kind), rows[1], rows[2], rows[0])
    real = pd.concat(rows[1:])

    def share(table, reference):
        match = np.ones((len(table), len(reference)), dtype=bool)
        for name in names[:3]:
            s, t = table[name].to_numpy(float)[:, None], reference[name].to_numpy(float)
            span = real[name].max() - real[name].min()
            unit = np.abs(s) if kind == "relative" else span
            near = np.abs(t - s) <= tolerance * unit * (1 + 1e-9) + 1e-9 * (kind == "range") * span
            match &= near | (np.isnan(s) & np.isnan(t))
        plans = [t["plan"].astype(object).to_numpy() for t in (table, reference)]
        match &= plans[0][:, None] == plans[1]
        return 1.0 - match.any(axis=1).mean()

    assert result.value == pytest.approx(share(rows[0], rows[1]))
    assert result.details["new_to_holdout"] == pytest.approx(share(rows[0], rows[2]))
    assert result.baseline == pytest.approx(share(rows[2], rows[1]))
    difference = result.details["new_to_holdout"] - result.value
    assert result.details["difference"] == pytest.approx(difference)
    assert tolerance == 0.2 or result.p_value <= 0.001


@pytest.mark.parametrize("n_holdout", [200, 40])
def test_new_rows_and_leaks(n_holdout):
    p_values = []
    for leak in (0, 20, 200):
        synthetic = pd.concat([TRAIN[:leak], SYNTHETIC[leak:]])
        result = evaluate(NewRowShare(), TRAIN, HOLDOUT[:n_holdout], synthetic)
        assert result.value == pytest.approx(1.0 - leak / 200, abs=0.03)
        p_values.append(result.p_value)
    assert p_values[0] > 0.05
    assert p_values[2] < 1e-40


def test_new_rows_without_a_holdout():
    result = NewRowShare().fit(TRAIN).evaluate(SYNTHETIC)
    assert (result.p_value, result.baseline) == (None, None)
    assert result.interval == wilson(result.details["n_new"], 200)


# ------------------------------------------------------------------------------------------ both


def coarse(seed, n=150):
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {"x": rng.integers(1, 60, n) * 1.0, "y": rng.normal(size=n), "c": rng.choice(["a", "b"], n)}
    )


BOTH = (HittingRate(0.1), NewRowShare(0.2), NewRowShare(0.1, "range"))


@pytest.mark.parametrize("metric", BOTH, ids=repr)
def test_rows_written_out_twice(metric):
    train, holdout, synthetic = (coarse(seed) for seed in range(3))
    once = evaluate(metric, train, holdout, synthetic)
    twice = evaluate(metric, train, holdout, pd.concat([synthetic, synthetic]))
    assert 0.0 < once.value < 1.0
    assert twice.value == once.value
    assert twice.p_value == once.p_value
    for name in {"expected", "null_standard_error"} & set(once.details):
        assert twice.details[name] == pytest.approx(once.details[name], abs=1e-12)


@pytest.mark.parametrize("metric", BOTH, ids=repr)
def test_names_scales_and_places_do_not_matter(metric):
    tables = [coarse(seed) for seed in range(3)]
    shift = 0.0 if metric.get_params().get("tolerance_kind") == "relative" else 5.0
    changed = [
        table.assign(x=-3.0 * table["x"] + shift, c=table["c"].map({"a": "z", "b": "y"})).sample(
            frac=1.0, random_state=i
        )[["c", "y", "x"]]
        for i, table in enumerate(tables)
    ]
    there, back = (evaluate(metric, *ts) for ts in (tables, changed))
    assert there.value == back.value
    assert there.baseline == back.baseline
    # other random choices, since real rows are numbered by their values
    assert there.p_value == pytest.approx(back.p_value, abs=0.08)
    again = evaluate(metric, *(t.sample(frac=1.0, random_state=9) for t in tables))
    assert again.p_value == there.p_value


@pytest.mark.parametrize("metric", [HittingRate(), NewRowShare()], ids=repr)
def test_a_table_of_texts_only(metric):
    texts = pd.DataFrame({"note": ["a", "b"]})
    with warns(DegenerateInputWarning):
        assert np.isnan(metric.fit(texts, schema={"note": "text"}).score(texts))


@pytest.mark.parametrize("metric", [HittingRate(), NewRowShare()], ids=repr)
def test_a_table_of_categories_only(metric):
    train = pd.DataFrame({"c": ["a", "b"], "d": ["x", "x"]})
    synthetic = pd.DataFrame({"c": ["a", "a"], "d": ["x", "y"]})
    assert evaluate(metric, train, None, synthetic).value == 0.5


@pytest.mark.parametrize(
    "metric",
    [HittingRate(-0.1), HittingRate(1.1), NewRowShare(1.0), NewRowShare(tolerance_kind="x")],
)
def test_illegal_parameters(metric):
    with pytest.raises(InvalidParameterError):
        metric.fit(TRAIN)


@pytest.mark.calibration
@pytest.mark.parametrize("sizes", [(200, 200, 200), (200, 50, 300)])
@pytest.mark.parametrize(
    "metric", [HittingRate(0.01), NewRowShare(0.1, n_permutations=199)], ids=repr
)
def test_p_value_is_calibrated(metric, sizes):
    def alarms(seed):
        rng = np.random.default_rng(seed)
        tables = [
            pd.DataFrame(
                {
                    "x": rng.lognormal(size=n),
                    "k": rng.poisson(2, n).astype(float),
                    "c": rng.choice(list("ab"), n),
                }
            )
            for n in sizes
        ]
        result = evaluate(metric, *tables)
        assert 0.02 < result.value < 0.98
        return result.p_value < 0.05

    found = rate_of(map(alarms, range(200)), LEVEL)
    assert found.holds, found


def drawn_rows(rng, n):
    return pd.DataFrame({"x": rng.normal(3, 1, n), "c": rng.choice(["a", "b"], n)})


@pytest.mark.calibration
@pytest.mark.parametrize("metric", [HittingRate(0.003), NewRowShare(0.01)], ids=repr)
def test_intervals_cover(metric):
    rng = np.random.default_rng(0)
    fixed, held = drawn_rows(rng, 60), []
    extremes = pd.DataFrame({"x": [-9.0, 15.0], "c": ["a", "b"]})

    def result(n):
        drawn = drawn_rows(rng, n)
        train, synthetic = (drawn, fixed) if isinstance(metric, HittingRate) else (fixed, drawn)
        return evaluate(metric, train, extremes, synthetic)

    truth = result(100_000).value
    for _ in range(200):
        low, high = result(200).interval
        held.append(low <= truth <= high)
    assert 0.1 < truth < 0.9
    assert 0.92 <= np.mean(held) <= 0.98


# ------------------------------------------------------------------------- boxes against all pairs


def agree(s, t, low, span, relative, tolerance):
    """Tell whether row t of numbers lies in the box around row s."""
    for j in range(s.size):
        if np.isnan(s[j]) or np.isnan(t[j]):
            if np.isnan(s[j]) != np.isnan(t[j]):
                return False
            continue
        if np.isinf(s[j]):
            return False
        if relative[j]:
            if abs(t[j] - s[j]) > tolerance * abs(s[j]) * (1 + 1e-9) + 1e-300:
                return False
        elif span[j] == 0:
            if t[j] != s[j]:
                return False
        elif abs(t[j] - s[j]) > (tolerance + 1e-9) * span[j]:
            return False
    return True


def tables(seed):
    rng = np.random.default_rng(seed)
    real = np.column_stack(
        [
            rng.normal(size=60),
            rng.integers(-3, 4, 60) * 10.0,
            np.full(60, 5.0),
            rng.lognormal(0, 2, 60),
        ]
    )
    real[rng.random(real.shape) < 0.1] = np.nan
    synthetic = real[rng.integers(0, 60, 80)] * rng.choice([1.0, 1.0, 1.02, 0.97, 1.1], (80, 4))
    synthetic[rng.random(synthetic.shape) < 0.03] = np.inf
    synthetic[rng.random(synthetic.shape) < 0.03] = -np.inf
    codes = rng.integers(-1, 2, (60, 1)), rng.integers(-1, 3, (80, 1))
    synthetic[:10], codes[1][:10] = real[:10], codes[0][:10]
    return real, codes[0], synthetic, codes[1]


@pytest.mark.parametrize("tolerance", [0.0, 0.01, 0.05, 0.5, 1.0])
@pytest.mark.parametrize("relative", [True, False])
@pytest.mark.parametrize("seed", [0, 1])
def test_boxes_are_brute_force(tolerance, relative, seed):
    tolerance = min(tolerance, 0.99) if relative else tolerance
    real, codes, synthetic, other_codes = tables(seed)
    low, span = np.nanmin(real, axis=0), np.nanmax(real, axis=0) - np.nanmin(real, axis=0)
    is_relative = np.array([relative, relative, False, relative])
    scale = BoxScale(low, span, is_relative, tolerance)
    s, t = box_points([(synthetic, other_codes), (real, codes)], [True, False], scale)
    expected = np.array(
        [
            [
                (c == d).all() and agree(x, y, low, span, is_relative, tolerance)
                for y, d in zip(real, codes, strict=True)
            ]
            for x, c in zip(synthetic, other_codes, strict=True)
        ]
    )
    assert expected.any()
    np.testing.assert_array_equal(any_within(s, t), expected.any(axis=1))
    for found, row in zip(lists_within(s, t, 60), expected, strict=True):
        assert sorted(found[found >= 0]) == np.flatnonzero(row).tolist()


def points(synthetic, real, scale):
    none = [np.empty((len(values), 0), dtype=np.int64) for values in (synthetic, real)]
    columns = [np.array(values, dtype=float)[:, None] for values in (synthetic, real)]
    return box_points(list(zip(columns, none, strict=True)), [True, False], scale)


def relative(tolerance):
    return BoxScale(np.zeros(1), np.ones(1), np.array([True]), tolerance)


def of_range(low, span, tolerance):
    return BoxScale(np.array([low]), np.array([span]), np.array([False]), tolerance)


@pytest.mark.parametrize(
    ("synthetic", "real", "tolerance", "match"),
    [
        (100.0, 101.0, 0.01, True),  # the bounds belong to the box
        (100.0, 99.0, 0.01, True),
        (100.0, 101.0001, 0.01, False),
        (101.0, 100.0, 0.01, True),  # the share is of the synthetic number
        (99.0, 100.0, 0.01, False),
        (0.0, 0.0, 0.01, True),
        (0.0, 1e-300, 0.01, False),
        (1e-300, 0.0, 0.01, False),
        (-100.0, -101.0, 0.01, True),
        (-100.0, 101.0, 0.9, False),
        (5.0, 5.0, 0.0, True),
        (5.0, 5.001, 0.0, False),
        (np.inf, 1e308, 0.9, False),
        (1e308, 1.005e308, 0.01, True),
        (5e-324, 5e-324, 0.01, True),
        (100.0, 0.5, 0.99, False),
        (100.0, 1.0, 0.99, True),
    ],
)
def test_relative_boxes(synthetic, real, tolerance, match):
    assert any_within(*points([synthetic], [real], relative(tolerance)))[0] == match


@pytest.mark.parametrize(
    ("synthetic", "match"),
    [
        (1.3, True),
        (1.3 + 1e-10, True),
        (1.3001, False),
        (0.7, True),
        (np.inf, False),
        (-1e308, False),
    ],
)
def test_boxes_of_a_range(synthetic, match):
    assert any_within(*points([synthetic], [1.0, 9.0], of_range(0.0, 9.0, 1 / 30)))[0] == match


def test_large_numbers_keep_their_digits():
    seconds = 1.7e9 + np.array([0.0, 1e-3])
    found = any_within(*points(seconds, [1.7e9], of_range(1.7e9, 1.0, 1e-4)))
    assert found.tolist() == [True, False]


def test_a_column_without_range():
    assert any_within(*points([5.0, 5.1], [5.0], of_range(5.0, 0.0, 1.0))).tolist() == [True, False]


def test_a_column_without_values():
    found = any_within(*points([np.nan, 0.0], [np.nan, np.nan], of_range(0.0, 0.0, 1.0)))
    assert found.tolist() == [True, False]


def test_only_the_nearest_are_listed():
    s, t = points([5.0], np.arange(10), of_range(0.0, 9.0, 0.5))
    found = lists_within(s, t, 3)
    assert found.shape == (1, 3)
    assert found[0, 0] == 5
    assert set(found[0]) == {4, 5, 6}


def test_many_equal_points():
    s, t = points(np.repeat([1.0, 2.0], 50), np.ones(5000), of_range(0.0, 9.0, 0.01))
    assert any_within(s, t).tolist() == [True] * 50 + [False] * 50


@pytest.mark.parametrize(("factor", "n_tests"), [(1.0, 1), (1.002, 2)])
def test_boxes_that_hold_equal_rows_only_are_the_test_of_equal_rows(factor, n_tests):
    train, holdout, others = (make_mixed(200, random_state=seed) for seed in range(3))
    synthetic = pd.concat([others[:150], train[:40], holdout[:10]], ignore_index=True)
    synthetic["income"] *= factor
    suite = MetricSuite([("equal", ExactMatchShare()), ("new", NewRowShare())])
    result = suite.fit(train, holdout).evaluate(synthetic)
    assert result.verdict().n_tests == n_tests
    equal, new = (result[name].contrast.tests for name in ("equal", "new"))
    assert (equal == new) == (n_tests == 1)
    alone = NewRowShare(columns=["income"]).fit(train, holdout).evaluate(synthetic)
    assert alone.contrast.tests != equal
