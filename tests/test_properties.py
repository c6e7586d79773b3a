from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from skeval import MetricSuite, Result, SuiteResult
from skeval.datasets import make_mixed
from skeval.exceptions import DegenerateInputWarning
from skeval.fidelity import (
    ContingencySimilarity,
    CorrelationSimilarity,
    KSComplement,
    PhikMatrixDifference,
    TVComplement,
)
from skeval.properties import property_scores

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


def test_means_over_columns_and_pairs():
    result = suite().fit(TRAIN, HOLDOUT).evaluate(SYNTHETIC)
    found = property_scores(result)
    assert found.index.tolist() == ["shapes", "trends", "overall"]
    ks, tv = (result[f"shapes/{name}"].details["columns"] for name in ("ks", "tv"))
    shapes = np.mean(list({**ks, **tv}.values()))  # a boolean counts as a category
    assert found.loc["shapes", "score"] == pytest.approx(shapes)
    pairs = [result[f"trends/{name}"] for name in ("correlation", "contingency")]
    trends = (6 * pairs[0].value + 15 * pairs[1].value) / 21
    assert found.loc["trends", "score"] == pytest.approx(trends)
    fresh = (6 * pairs[0].baseline + 15 * pairs[1].baseline) / 21
    assert found.loc["trends", "baseline"] == pytest.approx(fresh)
    assert found.loc["overall", "score"] == pytest.approx((shapes + trends) / 2)
    assert found["n_used"].tolist() == [7, 21, 28]
    again = property_scores(SuiteResult.from_dict(result.to_dict()))
    pd.testing.assert_frame_equal(again, found)


def test_fresh_rows_of_their_own_columns():
    result = suite().fit(TRAIN, HOLDOUT).evaluate(SYNTHETIC)
    fresh = property_scores(suite().fit(TRAIN).evaluate(HOLDOUT))["score"]
    found = property_scores(result)["baseline"]
    np.testing.assert_allclose(found, fresh, atol=1e-12)


def test_without_a_holdout_there_is_no_baseline():
    found = property_scores(suite().fit(TRAIN).evaluate(SYNTHETIC))
    assert found["baseline"].isna().all()
    assert found["score"].notna().all()


def test_a_property_without_any_pair_does_not_pull_the_mean():
    metrics = [
        ("shapes/ks", KSComplement()),
        ("trends/correlation", CorrelationSimilarity(min_correlation=0.99)),
    ]
    with pytest.warns(DegenerateInputWarning):
        found = property_scores(MetricSuite(metrics).fit(TRAIN).evaluate(SYNTHETIC))
    assert np.isnan(found.loc["trends", "score"])
    assert found.loc["overall", "score"] == found.loc["shapes", "score"]
    assert found["n_used"].tolist() == [5, 0, 5]


def test_metrics_that_failed_are_left_out():
    found = property_scores({"a/x": Result(float("nan"), error="broken"), "b": Result(1.0)})
    assert found.index.tolist() == ["a", "overall"]
    assert found["score"].isna().all()
    assert property_scores({})["n_used"].tolist() == [0]
