from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import gaussian_kde

from skeval import check_metric
from skeval.datasets import make_mixed
from skeval.diagnostic import OutlierCoverage, SmoothnessSimilarity
from skeval.diagnostic.coverage import outside, tukey_fences
from skeval.diagnostic.smoothness import full_width
from skeval.exceptions import InvalidValueWarning
from skeval.stats.intervals import wilson
from tests.snapshots import warns

BULK = list(range(10))


def result(metric, train, synthetic):
    train, synthetic = pd.DataFrame({"x": train}), pd.DataFrame({"x": synthetic})
    return metric.fit(train).evaluate(synthetic)


@pytest.mark.parametrize(
    ("synthetic", "value"),
    [
        ([*BULK, 50, 5], 0.5),
        ([*BULK, 50, -40], 1.0),
        (BULK, 0.0),
        ([50, 60, 70], 1.0),
        ([*BULK, 5, 50, np.nan, np.nan], 0.5),
        ([-6.5, 15.5], 0.0),  # on the fences
    ],
)
def test_outliers_by_hand(synthetic, value):
    found = result(OutlierCoverage(), [*BULK, 50, -40], synthetic)
    assert found.value == pytest.approx(value)
    assert found.interval[0] <= found.value <= found.interval[1]
    assert found.details["shares"]["x"]["train"] == pytest.approx(1 / 6)


def test_outliers_interval_is_that_of_the_synthetic_share():
    found = result(OutlierCoverage(), [*BULK, 50, -40], [*BULK * 10, 50])
    low, high = wilson(1, 101)
    assert found.interval == pytest.approx((low * 6, high * 6))
    assert found.details["intervals"]["x"] == pytest.approx((low * 6, high * 6))


def test_infinite_values_are_outliers():
    with warns(InvalidValueWarning):
        found = result(OutlierCoverage(), [*BULK, 50, -40], [*BULK, np.inf, 5])
    assert found.value == pytest.approx(0.5)


def test_fences_further_out(warned):
    assert result(OutlierCoverage(k=6.0), [*BULK, 50, -40], [*BULK, 45, 5]).value == pytest.approx(
        0.5
    )
    with warned("no score for x: the training data have no outlier"):
        assert np.isnan(result(OutlierCoverage(k=9.0), [*BULK, 50, -40], BULK).value)


def test_columns_without_outliers_or_values(warned):
    days = pd.date_range("2020", periods=12)
    train = pd.DataFrame(
        {"x": [*BULK, 50, -40], "none": np.nan, "same": 3.0, "y": [*BULK, 50, -40], "d": days}
    )
    with warned(
        "The training data have no value in none, so there is no score",
        "no score for same, d: the training data have no outlier",
        "The synthetic data have no value in x, but the training data do. The score is the worst",
    ):
        found = OutlierCoverage().fit(train).evaluate(train.assign(x=np.nan))
    assert found.value == 0.5
    assert (found.details["n_used"], found.details["n_total"]) == (2, 5)


def test_absent_columns_score_zero():
    train = pd.DataFrame({"x": [*BULK, 50, -40], "y": [*BULK, 50, -40]})
    for metric in (OutlierCoverage(), SmoothnessSimilarity()):
        with warns(InvalidValueWarning) as caught:
            found = metric.fit(train).evaluate(train[["y"]])
        assert len(caught) == 1
        assert found.details["columns"] == {"x": 0.0, "y": 1.0}


def normals(scale, n=2000):
    rng = np.random.default_rng(0)
    return rng.normal(size=2000)[:n], rng.normal(0, scale, size=2000)[:n]


def test_smoothness_of_two_normals():
    x, y = normals(2)
    assert full_width(x, 2000**-0.2) == pytest.approx(2.5289, abs=5e-5)
    assert full_width(y, 2000**-0.2) == pytest.approx(4.8337, abs=5e-5)
    found = result(SmoothnessSimilarity(), x, y)
    assert found.value == pytest.approx(0.5232, abs=5e-5)
    assert result(SmoothnessSimilarity(), y, x).value == pytest.approx(found.value)
    assert result(SmoothnessSimilarity(), x, y + 100).value == pytest.approx(found.value, abs=1e-3)
    assert found.interval is None


def test_dates_and_scales():
    x, y = normals(2)
    start = pd.Timestamp("2020-01-01")
    dates = [start + pd.to_timedelta(np.round(values * 1e6), unit="s") for values in (x, y)]
    assert result(SmoothnessSimilarity(), *dates).value == pytest.approx(0.5232, abs=2e-4)
    assert result(SmoothnessSimilarity(), x * 1e-200, y * 1e-200).value == pytest.approx(
        0.5232, abs=2e-4
    )
    assert result(SmoothnessSimilarity(), x * 1e200, y * 1e200).value == pytest.approx(
        0.5232, abs=2e-4
    )


def test_tables_of_unequal_size_are_smoothed_equally():
    rng = np.random.default_rng(0)
    train, few = rng.normal(size=20_000), rng.normal(size=500)
    assert result(SmoothnessSimilarity(), train, few).value > 0.93
    wide = full_width(few, 500**-0.2)
    assert full_width(train, 500**-0.2) > full_width(train, 20_000**-0.2)
    expected = 1 - abs(full_width(train, 500**-0.2) - wide) / max(
        full_width(train, 500**-0.2), wide
    )
    assert result(SmoothnessSimilarity(), train, few).value == pytest.approx(expected)


def test_silverman_is_a_little_wider():
    x, y = normals(2, 200)
    scott, silverman = (
        result(SmoothnessSimilarity(bandwidth=rule), x, y).value for rule in ("scott", "silverman")
    )
    assert scott != silverman
    assert scott == pytest.approx(silverman, abs=0.05)


def test_constant_columns_of_smoothness(warned):
    x, _ = normals(1, 100)
    assert result(SmoothnessSimilarity(), x, np.zeros(100)).value == 0.0
    with warned("no score for x: the training data have only one value"):
        assert np.isnan(result(SmoothnessSimilarity(), np.zeros(100), x).value)
    with warned("no score for x: the synthetic data have only one value, no width"):
        assert np.isnan(result(SmoothnessSimilarity(), x, x[:1]).value)
    with warned(
        "The synthetic data have no value in x, but the training data do. The score is the worst"
    ):
        assert result(SmoothnessSimilarity(), x, [np.nan, np.nan]).value == 0.0


def test_infinite_values_have_no_width():
    x, y = normals(2)
    with warns(InvalidValueWarning):
        found = result(SmoothnessSimilarity(), x, [*y, np.inf, -np.inf])
    assert found.value == pytest.approx(0.5232, abs=5e-5)


@pytest.mark.slow
def test_many_columns_and_booleans():
    rng = np.random.default_rng(0)
    train = pd.DataFrame(rng.standard_cauchy(size=(100, 200))).rename(columns=str)
    for metric in (OutlierCoverage(), SmoothnessSimilarity()):
        metric.fit(train.assign(flag=rng.random(100) < 0.5))
        found = metric.evaluate(train.assign(flag=True))
        assert found.value == 1.0
        assert "flag" not in found.details["columns"]
        assert found.details["n_total"] == 201


@pytest.mark.slow
def test_the_contract_holds_with_parameters():
    check_metric(OutlierCoverage(k=0.5, columns=["income", "visits"]))
    check_metric(SmoothnessSimilarity("silverman", 256, ["income"]))


@pytest.mark.filterwarnings("ignore:no score for age, visits")
def test_baselines():
    train, holdout = (make_mixed(400, random_state=seed) for seed in range(2))
    for metric in (OutlierCoverage(), SmoothnessSimilarity()):
        found = metric.fit(train, holdout).evaluate(train)
        assert found.value == 1.0
        assert 0.5 < found.baseline <= 1.0
        assert set(found.details["baseline_columns"]) == set(found.details["columns"])


RNG = np.random.default_rng(0)


def test_fences_by_hand():
    x = np.array([*range(10), 50, -40])
    assert tukey_fences(x) == (-6.5, 15.5)
    assert tukey_fences(x, k=0.0) == (1.75, 7.25)
    assert outside(x, (-6.5, 15.5)) == 2
    assert outside(np.array([np.nan, np.inf, -np.inf, -6.5, 15.5]), (-6.5, 15.5)) == 2


def test_width_of_a_normal_density():
    """A normal kernel on a normal sample: FWHM 2.3548 times the root of the summed variances."""
    x = np.random.default_rng(1).normal(size=200_000)
    h = 0.3
    expected = 2 * np.sqrt(2 * np.log(2)) * np.hypot(1.0, h)
    assert full_width(x, h) == pytest.approx(expected, rel=0.01)


@pytest.mark.parametrize(
    "x",
    [
        RNG.normal(size=500),
        RNG.lognormal(size=500),
        RNG.poisson(1.0, 500).astype(float),
        np.r_[RNG.normal(size=300), RNG.normal(9.0, 1.0, 250)],
        RNG.standard_t(2, 500),
        np.array([0.0, 1.0]),
    ],
)
def test_width_against_the_exact_density(x):
    kde = gaussian_kde(x)
    h = kde.factor * x.std(ddof=1)
    grid = np.linspace(x.min() - 3 * h, x.max() + 3 * h, 20_001)
    density = kde(grid)
    above = grid[density >= density.max() / 2]
    step = grid[1] - grid[0]
    assert full_width(x, kde.factor) == pytest.approx(above[-1] - above[0], rel=2e-3, abs=2 * step)


def test_equal_values_have_no_width():
    assert full_width(np.full(5, 0.1), 0.3) == 0.0
    assert full_width(np.zeros(2), 0.3) == 0.0


def test_a_fine_grid_is_taken_where_the_range_is_wide():
    x = np.append(np.random.default_rng(0).normal(size=20_000), 3000.0)
    bulk = full_width(x[:-1], 0.1 * x.std(ddof=1) / x[:-1].std(ddof=1))
    assert full_width(x, 0.1, n_grid=16) == pytest.approx(bulk, rel=0.01)


def test_scale_and_place_do_not_matter():
    x = np.random.default_rng(0).normal(size=1000)
    width = full_width(x, 0.25)
    assert full_width(7.0 * x, 0.25) == pytest.approx(7.0 * width)
    assert full_width(x + 1000.0, 0.25) == pytest.approx(width)
    assert full_width(-x, 0.25) == pytest.approx(width)
    assert full_width(x[::-1], 0.25) == pytest.approx(width)
