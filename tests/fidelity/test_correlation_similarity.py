from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import pearsonr

from skeval.datasets import make_mixed
from skeval.exceptions import (
    ConstantColumnWarning,
    DegenerateInputWarning,
    InvalidValueWarning,
    NothingToMeasureWarning,
)
from skeval.fidelity import CorrelationSimilarity
from skeval.stats.correlation import Correlations, difference_p_value
from tests.snapshots import warns

LINE = pd.DataFrame({"x": [1, 2, 3, 4, 5], "y": [1, 2, 3, 4, 5]})
TRAIN, HOLDOUT, SYNTHETIC = (make_mixed(300, random_state=seed) for seed in range(3))
METHODS = ["pearson", "spearman", "kendall"]


@pytest.mark.parametrize("method", ["pearson", "spearman"])
def test_known_values(method):
    metric = CorrelationSimilarity(method).fit(LINE)
    assert metric.score(LINE.assign(y=[5, 4, 3, 2, 1])) == 0.0
    assert metric.score(LINE.assign(y=[2, 1, 4, 3, 5])) == pytest.approx(0.9)
    assert metric.score(LINE) == 1.0


def test_kendall_by_hand():
    """Of 10 pairs of rows 8 are in order: tau is 0.6."""
    score = CorrelationSimilarity("kendall").fit(LINE).score(LINE.assign(y=[2, 1, 4, 3, 5]))
    assert score == pytest.approx(0.8)


def test_halves_of_iris(iris_halves):
    train, synthetic = iris_halves
    result = CorrelationSimilarity().fit(train).evaluate(synthetic)
    assert result.value == pytest.approx(0.933416, abs=1e-6)
    assert result.details["n_used"] == result.details["n_total"] == 6
    i, j = 0, 2
    rho = [pearsonr(half["sl"], half["pl"]).statistic for half in iris_halves]
    assert result.details["names"] == ["sl", "sw", "pl", "pw"]
    assert result.details["train"][i, j] == pytest.approx(rho[0])
    assert result.details["synthetic"][j, i] == pytest.approx(rho[1])
    assert result.details["matrix"][i, j] == pytest.approx(1 - abs(rho[0] - rho[1]) / 2)
    worst = result.details["worst"]
    assert worst["value"] == np.nanmin(result.details["matrix"])
    assert worst["columns"] == ["sl", "sw"]


@pytest.mark.parametrize("method", METHODS)
def test_dates_and_numbers_count_and_nothing_else(method):
    result = CorrelationSimilarity(method).fit(TRAIN).evaluate(SYNTHETIC)
    assert result.details["names"] == ["age", "income", "visits", "joined"]
    theirs = TRAIN.assign(joined=TRAIN["joined"].astype("int64").where(TRAIN["joined"].notna()))
    theirs = theirs[["age", "income", "visits", "joined"]].astype(float).corr(method)
    tolerance = 0.02 if method == "spearman" else 1e-6  # pandas ranks anew pair by pair
    np.testing.assert_allclose(result.details["train"], theirs, atol=tolerance)


def test_dates_as_strings():
    train, synthetic = (
        t.assign(joined=t["joined"].dt.strftime("%Y-%m-%d")) for t in (TRAIN, SYNTHETIC)
    )
    as_dates = CorrelationSimilarity().fit(TRAIN).score(SYNTHETIC)
    assert CorrelationSimilarity().fit(train).score(synthetic) == pytest.approx(as_dates)


def test_weak_pairs_are_skipped_and_counted():
    metric = CorrelationSimilarity(min_correlation=0.2)
    result = metric.fit(TRAIN).evaluate(SYNTHETIC)
    train = result.details["train"][np.triu_indices(4, 1)]
    strong = np.abs(train) > 0.2
    assert result.details["n_used"] == strong.sum() < 6
    assert result.details["skipped"] == {"not above min_correlation": 6 - strong.sum()}
    scores = 1 - np.abs(result.details["difference"][np.triu_indices(4, 1)][strong]) / 2
    assert result.value == pytest.approx(scores.mean())
    assert np.isnan(result.details["matrix"]).sum() == 4 + 2 * (6 - strong.sum())


def test_a_pair_without_any_correlation_counts_by_default():
    train = pd.DataFrame({"x": [1.0, 2, 3, 4], "y": [1.0, 2, 2, 1]})
    result = CorrelationSimilarity().fit(train).evaluate(train)
    assert result.details["train"][0, 1] == 0.0
    assert result.value == 1.0


def test_no_strong_pair():
    with warns(NothingToMeasureWarning):
        result = CorrelationSimilarity(min_correlation=0.99).fit(TRAIN).evaluate(SYNTHETIC)
    assert np.isnan(result.value)
    assert (result.details["n_used"], result.details["n_total"]) == (0, 6)


def test_constant_in_train_is_skipped():
    train, synthetic = (t.assign(k=7.0) for t in (TRAIN, SYNTHETIC))
    with warns(ConstantColumnWarning):
        result = CorrelationSimilarity().fit(train).evaluate(synthetic)
    without = CorrelationSimilarity().fit(TRAIN).score(SYNTHETIC)
    # a matrix product rounds by the number of its columns
    assert result.value == pytest.approx(without, abs=1e-12)
    assert result.details["skipped"] == {"constant in train": 4}


@pytest.mark.parametrize("collapsed", [41.0, np.nan])
def test_a_collapsed_column_does_not_vanish_from_the_mean(collapsed):
    """Its correlations count as 0: it is no gain to have none."""
    synthetic = SYNTHETIC.assign(age=collapsed)
    with warns((ConstantColumnWarning, DegenerateInputWarning)):
        result = CorrelationSimilarity().fit(TRAIN).evaluate(synthetic)
    assert result.details["n_used"] == 6
    rho = result.details["train"][0, 1:]
    np.testing.assert_allclose(result.details["matrix"][0, 1:], 1 - np.abs(rho) / 2)


def test_columns_that_share_no_synthetic_row():
    rng = np.random.default_rng(0)
    x = rng.normal(size=100)
    train = pd.DataFrame({"x": x, "y": x})
    synthetic = train.mask(np.column_stack([np.arange(100) < 50, np.arange(100) >= 50]))
    with warns(DegenerateInputWarning):
        assert CorrelationSimilarity().fit(train).score(synthetic) == 0.5


def test_columns_that_share_no_train_row():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(100, 3))
    train = pd.DataFrame(x, columns=list("xyz"))
    holed = train.assign(
        x=train["x"].where(train.index < 50), y=train["y"].where(train.index >= 50)
    )
    result = CorrelationSimilarity().fit(holed).evaluate(train)
    assert result.details["skipped"] == {"too few rows in train": 1}
    assert result.details["n_used"] == 2


def test_one_synthetic_row_and_one_column():
    with warns(DegenerateInputWarning):
        assert np.isnan(CorrelationSimilarity().fit(TRAIN).score(SYNTHETIC.iloc[:1]))
    for table in (TRAIN[["age"]], TRAIN[["city", "plan"]]):
        with warns(DegenerateInputWarning):
            assert np.isnan(CorrelationSimilarity().fit(table).score(table))


def test_infinite_values_are_skipped_with_a_warning():
    synthetic = SYNTHETIC.assign(income=SYNTHETIC["income"].where(SYNTHETIC.index != 3, np.inf))
    finite = synthetic.replace(np.inf, np.nan)
    with warns(InvalidValueWarning):
        score = CorrelationSimilarity().fit(TRAIN).score(synthetic)
    assert score == pytest.approx(CorrelationSimilarity().fit(TRAIN).score(finite))


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
def test_p_values_are_against_the_holdout_where_there_is_one(method):
    result = CorrelationSimilarity(method).fit(TRAIN, HOLDOUT).evaluate(SYNTHETIC)
    assert result.details["p_values_against"] == "holdout"
    alone = CorrelationSimilarity(method).fit(HOLDOUT).evaluate(SYNTHETIC)
    assert "conservative" in alone.details["p_values_against"]
    np.testing.assert_array_equal(result.details["p_values"], alone.details["p_values"])
    assert np.isnan(np.diag(result.details["p_values"])).all()
    low, high = result.details["intervals"]["low"], result.details["intervals"]["high"]
    difference = result.details["difference"]
    assert (low <= difference + 1e-12).all()
    assert (difference <= high + 1e-12).all()
    if method == "pearson":
        pair = [
            Correlations(table.corr(numeric_only=True).loc["age", "visits"], np.array(300))
            for table in (HOLDOUT, SYNTHETIC)
        ]
        assert result.details["p_values"][0, 2] == pytest.approx(difference_p_value(*pair))


def test_the_baseline_is_the_score_of_the_holdout():
    result = CorrelationSimilarity().fit(TRAIN, HOLDOUT).evaluate(SYNTHETIC)
    low, high = result.interval
    assert low < result.value <= high
    assert result.p_value is None
    expected = CorrelationSimilarity().fit(TRAIN).score(HOLDOUT)
    assert result.baseline == expected


@pytest.mark.slow
def test_rows_are_drawn_by_seed():
    scores = [
        CorrelationSimilarity("kendall", max_rows=80, random_state=seed).fit(TRAIN).score(SYNTHETIC)
        for seed in (0, 0, 1)
    ]
    assert scores[0] == scores[1] != scores[2]
    whole = CorrelationSimilarity("kendall").fit(TRAIN).score(SYNTHETIC)
    assert CorrelationSimilarity("kendall", max_rows=300).fit(TRAIN).score(SYNTHETIC) == whole
    details = CorrelationSimilarity(max_rows=80).fit(TRAIN).evaluate(SYNTHETIC[:50]).details
    assert details["n_rows"] == {"train": 80, "synthetic": 50}


def test_a_flipped_correlation_is_seen():
    x = np.linspace(0, 1, 50)
    train = pd.DataFrame({"x": x, "y": x})
    assert CorrelationSimilarity().fit(train).score(train.assign(y=1 - x)) == pytest.approx(0.0)
