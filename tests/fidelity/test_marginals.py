"""Scores of columns by themselves: known values, ceilings, p-values."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from skeval.datasets import make_mixed
from skeval.exceptions import DegenerateInputWarning, MetricWarning
from skeval.fidelity import KSComplement, QuantileMSE, TVComplement
from tests.snapshots import warns


def score(metric, train, synthetic, **schema):
    train, synthetic = pd.DataFrame({"x": train}), pd.DataFrame({"x": synthetic})
    return metric.fit(train, schema=schema or None).score(synthetic)


@pytest.mark.parametrize(
    ("train", "synthetic", "value"),
    [
        ([1, 2, 3, 4], [2, 3, 4, 5], 0.75),
        ([1], [2], 0.0),
        ([True, False], [True, True], 0.5),
        (pd.date_range("2020", periods=4), pd.date_range("2020-01-02", periods=4), 0.75),
        ([5, 5, 5], [5, 5], 1.0),
        ([1.0, np.nan, 2.0], [1.0, 2.0], 1.0),
        ([1.0, 2.0], [1.0, np.inf], 0.5),
    ],
)
def test_ks_by_hand(train, synthetic, value):
    metric = KSComplement()
    if np.inf in list(synthetic):
        with warns(MetricWarning):
            assert score(metric, train, synthetic) == value
    else:
        assert score(metric, train, synthetic) == value


def test_ks_of_iris_halves(iris_halves):
    columns = KSComplement().fit(iris_halves[0]).evaluate(iris_halves[1]).details["columns"]
    assert list(columns) == ["sl", "sw", "pl", "pw"]
    np.testing.assert_allclose(
        list(columns.values()), [0.933333, 0.933333, 0.92, 0.933333], atol=1e-6
    )


A, B = list("aaabbc"), list("aabbbd")


@pytest.mark.parametrize(
    ("train", "synthetic", "params", "value"),
    [
        (A, B, {}, 2 / 3),
        (A, [*A, None, None], {}, 0.75),
        (A, [*A, None, None], {"nan": "drop"}, 1.0),
        ([True, False], [True, True], {}, 0.5),
        (A, A, {}, 1.0),
        (A, ["z"], {}, 0.0),
    ],
)
def test_tv_by_hand(train, synthetic, params, value):
    assert score(TVComplement(**params), train, synthetic) == pytest.approx(value, abs=1e-12)


def test_tv_of_numbers_needs_bins():
    with warns(DegenerateInputWarning):
        assert np.isnan(score(TVComplement(), [1, 2, 3], [1, 2, 3]))
    values = np.arange(100.0)
    assert score(TVComplement(n_bins=10), values, values + 10) == pytest.approx(0.9)


def test_ks_of_categories_only():
    with warns(DegenerateInputWarning):
        assert np.isnan(score(KSComplement(), A, B))


@pytest.mark.parametrize("metric", [KSComplement(), TVComplement(nan="drop", n_bins=5)])
def test_a_destroyed_column_scores_worst_and_an_absent_one_does_not_count(metric):
    train = pd.DataFrame({"x": [1.0, 2.0, 3.0], "y": [1.0, 2.0, 3.0], "none": [np.nan] * 3})
    with warns(DegenerateInputWarning):
        result = metric.fit(train).evaluate(train.assign(x=np.nan))
    assert result.value == 0.5
    assert result.details["columns"]["x"] == 0.0
    assert np.isnan(result.details["columns"]["none"])
    assert result.details["worst"] == {"column": "x", "value": 0.0}
    assert (result.details["n_used"], result.details["n_total"]) == (2, 3)


@pytest.mark.parametrize("metric", [KSComplement(), TVComplement()])
def test_equal_tables_score_one_and_intervals_hold_the_value(metric):
    table = make_mixed()
    result = metric.fit(table).evaluate(table)
    assert result.value == 1.0
    assert result.interval[1] == 1.0
    assert 0.5 < result.interval[0] < 1.0


def test_p_values_are_those_of_the_holdout():
    train, holdout, synthetic = (make_mixed(300, random_state=seed) for seed in range(3))
    synthetic = synthetic.assign(age=synthetic["age"] + 20)
    result = KSComplement().fit(train, holdout).evaluate(synthetic)
    assert result.details["p_values_against"] == "holdout"
    assert result.details["p_values"]["age"] < 1e-6 < 0.01 < result.details["p_values"]["income"]
    assert result.p_value == pytest.approx(result.details["p_values"]["age"] * 5)
    alone = KSComplement().fit(train).evaluate(synthetic)
    assert "conservative" in alone.details["p_values_against"]


def test_p_values_agree_with_scipy():
    from scipy.stats import ks_2samp

    rng = np.random.default_rng(0)
    x, y = rng.normal(size=300), rng.normal(0.2, 1, size=200)
    result = KSComplement().fit(pd.DataFrame({"x": x})).evaluate(pd.DataFrame({"x": y}))
    assert result.p_value == pytest.approx(ks_2samp(x, y, method="asymp").pvalue)


def test_p_value_of_one_row_each():
    result = KSComplement().fit(pd.DataFrame({"x": [1.0]})).evaluate(pd.DataFrame({"x": [2.0]}))
    assert 0.0 <= result.p_value <= 1.0


@pytest.mark.calibration
def test_p_values_are_calibrated():
    found = []
    for seed in range(400):
        rng = np.random.default_rng(seed)
        tables = [pd.DataFrame({"x": rng.normal(size=n)}) for n in (300, 300, 200)]
        found.append(KSComplement().fit(*tables[:2]).evaluate(tables[2]).p_value)
    assert 0.02 <= np.mean(np.array(found) < 0.05) <= 0.08


def test_ceilings_of_total_variation():
    train, synthetic = make_mixed(random_state=0), make_mixed(random_state=1)
    details = TVComplement().fit(train).evaluate(synthetic).details
    assert set(details["ceilings"]) == set(details["columns"]) == {"city", "plan", "member"}
    assert details["ceiling"] == pytest.approx(np.mean(list(details["ceilings"].values())))
    assert 0.9 < details["ceiling"] < 1.0


def test_monotone_in_the_share_of_noise():
    train, fresh = make_mixed(400, random_state=0), make_mixed(400, random_state=1)
    rng = np.random.default_rng(0)
    noise = fresh.assign(age=rng.integers(0, 300, 400), city="nowhere")
    for metric in (KSComplement(), TVComplement()):
        metric.fit(train)
        scores = []
        for share in (0.0, 0.25, 0.5, 1.0):
            n = int(400 * share)
            scores.append(metric.score(pd.concat([noise.iloc[:n], fresh.iloc[n:]])))
        assert scores == sorted(scores, reverse=True)
        assert scores[0] > scores[-1] + 0.1


R = [1, 2, 3, 4]


def evaluated(metric, train, synthetic):
    return metric.fit(pd.DataFrame({"x": train})).evaluate(pd.DataFrame({"x": synthetic}))


def test_emptied_columns_have_the_worst_error():
    train = pd.DataFrame({"x": R, "none": [np.nan] * 4})
    with warns(DegenerateInputWarning):
        assert QuantileMSE(2).fit(train).evaluate(train.assign(x=np.nan)).value >= 0.25


def test_infinite_values_are_in_the_last_cell():
    with warns(MetricWarning):
        assert evaluated(QuantileMSE(4), R, [1, 2, 3, np.inf]).value == 0.0


@pytest.mark.parametrize("n", [2, 4, 10])
def test_cells_hold_equal_shares(n):
    x = np.random.default_rng(0).normal(size=1000)
    assert evaluated(QuantileMSE(n), x, x).value == 0.0
    everything_above = evaluated(QuantileMSE(n), x, x + 100).value
    assert everything_above == pytest.approx(((1 - 1 / n) ** 2 + (n - 1) / n**2) / n, rel=1e-6)


def test_quantile_error_by_hand():
    assert evaluated(QuantileMSE(4), R, [1, 1, 2, 3]).value == pytest.approx(0.125 / 4)
    # two values have a cell each, whatever the number of quantiles
    assert evaluated(QuantileMSE(10), [0, 1], [0, 0]).value == 0.25
    # constant: below, at and above
    assert evaluated(QuantileMSE(10), [5, 5], [5, 6, 6, 4]).value == pytest.approx(
        (0.75**2 + 0.25**2 + 0.5**2) / 3
    )


def test_a_value_of_many_quantiles_is_a_cell():
    train = np.repeat([0.0, *range(1, 21)], [80, *[1] * 20])
    result = evaluated(QuantileMSE(10), train, np.repeat([0.0, 0.5, 15.0], [50, 20, 30]))
    # zero, and the deciles of 1 to 20 closed on the right: 2.9, 4.8, ..., 18.1 part them into twos
    p = np.array([0.8, *[0.02] * 10])
    q = np.array([0.5, 0.2, *[0.0] * 6, 0.3, 0.0, 0.0])
    assert result.value == pytest.approx(((p - q) ** 2).mean())


def test_quantile_cells_are_closed_on_the_right():
    train = np.arange(11.0)  # quartiles 2.5, 5, 7.5
    result = evaluated(QuantileMSE(4), train, [2.5, 5.0, 7.5, 7.6])
    assert result.value == pytest.approx(((np.array([3, 3, 2, 3]) / 11 - 0.25) ** 2).mean())


@pytest.mark.slow
def test_ceilings_are_what_fresh_rows_have_in_the_mean():
    found = []
    for seed in range(60):
        rng = np.random.default_rng(seed)
        result = evaluated(QuantileMSE(5), rng.normal(size=90), rng.normal(size=60))
        found.append((result.value, result.details["ceiling"]))
    values, ceilings = np.array(found).T
    assert values.mean() == pytest.approx(ceilings.mean(), rel=0.2)
