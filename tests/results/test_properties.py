from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest

from skeval import MetricSuite, Result, SuiteResult, make_suite
from skeval.datasets import make_mixed
from skeval.exceptions import ConstantColumnWarning, NothingToMeasureWarning
from skeval.fidelity import (
    ContingencySimilarity,
    CorrelationSimilarity,
    KSComplement,
    PhikMatrixDifference,
    TVComplement,
)
from skeval.results.properties import property_scores
from tests.snapshots import raises, warns

TRAIN, HOLDOUT, SYNTHETIC = (make_mixed(300, random_state=seed) for seed in range(3))


def suite(least=0.0):
    return MetricSuite(
        [
            ("shapes/ks", KSComplement()),
            ("shapes/tv", TVComplement(nan="drop")),
            ("trends/correlation", CorrelationSimilarity(min_correlation=least)),
            ("trends/contingency", ContingencySimilarity(numeric_pairs=False)),
            ("phik", PhikMatrixDifference()),
        ]
    )


@pytest.mark.slow
def test_means_over_columns_and_pairs():
    result = suite().fit(TRAIN, HOLDOUT).evaluate(SYNTHETIC)
    actual = property_scores(result)
    assert actual.index.tolist() == ["shapes", "trends", "overall"]
    ks, tv = (result[f"shapes/{name}"].details["columns"] for name in ("ks", "tv"))
    shapes = np.mean(list({**ks, **tv}.values()))  # a boolean counts as a category
    assert actual.loc["shapes", "score"] == pytest.approx(shapes)
    pairs = [result[f"trends/{name}"] for name in ("correlation", "contingency")]
    trends = (6 * pairs[0].value + 15 * pairs[1].value) / 21
    assert actual.loc["trends", "score"] == pytest.approx(trends)
    fresh = (6 * pairs[0].baseline + 15 * pairs[1].baseline) / 21
    assert actual.loc["trends", "baseline"] == pytest.approx(fresh)
    assert actual.loc["overall", "score"] == pytest.approx((shapes + trends) / 2)
    assert actual["n_used"].tolist() == [7, 21, 28]
    again = property_scores(SuiteResult.from_dict(result.to_dict()))
    pd.testing.assert_frame_equal(again, actual)


@pytest.mark.slow
def test_fresh_rows_of_their_own_columns():
    result = suite().fit(TRAIN, HOLDOUT).evaluate(SYNTHETIC)
    fresh = property_scores(suite().fit(TRAIN).evaluate(HOLDOUT))["score"]
    actual = property_scores(result)["baseline"]
    np.testing.assert_allclose(actual, fresh, atol=1e-12)


@pytest.mark.slow
def test_without_a_holdout_there_is_no_baseline():
    actual = property_scores(suite().fit(TRAIN).evaluate(SYNTHETIC))
    assert actual["baseline"].isna().all()
    assert actual["score"].notna().all()


def test_a_property_without_any_pair_does_not_pull_the_mean():
    metrics = [
        ("shapes/ks", KSComplement()),
        ("trends/correlation", CorrelationSimilarity(min_correlation=0.99)),
    ]
    with warns(NothingToMeasureWarning):
        actual = property_scores(MetricSuite(metrics).fit(TRAIN).evaluate(SYNTHETIC))
    assert np.isnan(actual.loc["trends", "score"])
    assert actual.loc["overall", "score"] == actual.loc["shapes", "score"]
    assert actual["n_used"].tolist() == [5, 0, 5]


def independent(seed, n=200):
    """Numbers without any correlation, and a category that follows one of them."""
    rng = np.random.default_rng(seed)
    x, y = rng.normal(size=(2, n))
    return pd.DataFrame({"x": x, "y": y, "sign": np.where(x > 0, "up", "down")})


def given(suite, *tables):
    """Return the warnings of one evaluation, the last table being the synthetic one."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        result = suite.fit(*tables[:-1]).evaluate(tables[-1])
    return result, [warning.message for warning in said]


def test_that_no_two_numbers_are_correlated_is_nothing_to_warn_of():
    result, said = given(make_suite("quality"), *(independent(seed) for seed in range(3)))
    assert said == []
    lacking = result["column_pair_trends/correlation"]
    assert np.isnan(lacking.value)
    assert [str(warning) for warning in lacking.warnings] == [
        "no pair of numerical or datetime columns has a correlation above 0.5."
    ]
    assert result.properties().loc["column_pair_trends", "n_used"] == 1


@pytest.mark.parametrize(
    ("columns", "why"),
    [
        (["x", "y"], "above 0.5; all columns are numerical or datetime columns"),
        (["x"], "has a correlation; fewer than two columns can be measured."),
        (["sign"], "has a correlation; fewer than two columns can be measured."),
    ],
)
def test_a_property_without_a_score_says_why_once(columns, why):
    tables = [independent(seed)[columns] for seed in range(2)]
    result, said = given(make_suite("quality"), *tables)
    assert len(said) == 1  # a table without categories has shapes all the same
    assert str(said[0]).startswith("column_pair_trends has no score: no pair of numerical")
    assert why in str(said[0])
    assert result.properties()["score"].isna().tolist() == [False, True, False]


def test_weak_categories_are_named_by_their_threshold():
    rng = np.random.default_rng(0)
    tables = [pd.DataFrame({c: rng.choice(list("pq"), 300) for c in "ab"}) for _ in range(2)]
    _, said = given(make_suite("quality"), *tables)
    assert [str(warning) for warning in said] == [
        "column_pair_trends has no score: no pair of numerical or datetime columns has a "
        "correlation; no pair of columns has a Cramer's V above 0.3 in the training data."
    ]


def test_what_is_wrong_with_a_table_is_still_said():
    tables = [independent(seed).assign(x=1.0) for seed in range(2)]
    _, said = given(make_suite("quality"), *tables)
    assert any(isinstance(warning, ConstantColumnWarning) for warning in said)
    alone, said = given(KSComplement(), *(t[["sign"]] for t in tables))
    assert np.isnan(alone.value)
    assert [type(warning) for warning in said] == [NothingToMeasureWarning]
    alone, said = given(MetricSuite([("ks", KSComplement())]), *(t[["sign"]] for t in tables))
    assert [type(warning) for warning in said] == [NothingToMeasureWarning]  # of no property


def test_metrics_that_failed_are_skipped():
    actual = property_scores({"a/x": Result(float("nan"), error="broken"), "b": Result(1.0)})
    assert actual.index.tolist() == ["a", "overall"]
    assert actual["score"].isna().all()
    assert property_scores({})["n_used"].tolist() == [0]


def test_a_misspelt_name_of_a_result_is_answered_with_the_near_one():
    results = SuiteResult({"dcr_overfitting": Result(0.5)})
    with raises(KeyError):
        results["dcr_overfit"]
    assert results.get("dcr_overfit") is None
    assert "dcr_overfit" not in results
