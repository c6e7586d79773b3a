"""The interval of a value covers the expected value at the sizes of the tables, and is narrow."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from skeval.core.context import Context
from skeval.datasets import make_mixed
from skeval.fidelity import (
    ContingencySimilarity,
    CorrelationSimilarity,
    KSComplement,
    MutualInformationDifference,
    PhikMatrixDifference,
    SimilarityScore,
    TVComplement,
    WassersteinDistance,
)

METRICS = [
    KSComplement(),
    TVComplement(),
    SimilarityScore(),
    PhikMatrixDifference(),
    CorrelationSimilarity(),
    ContingencySimilarity(),
    MutualInformationDifference(),
    WassersteinDistance(),
]


def drawn(seed, n_rows=200, shift=0):
    train, synthetic = (make_mixed(n_rows, random_state=2 * seed + i) for i in range(2))
    synthetic["age"] += shift
    return Context.of(train, ordered=True).with_synthetic(synthetic)


def value_of(metric, context):
    return (
        clone(metric)
        .fit(context.original_frame("train"))
        .score(context.original_frame("synthetic"))
    )


@pytest.mark.calibration
@pytest.mark.parametrize("metric", METRICS, ids=lambda metric: type(metric).__name__)
def test_the_interval_is_at_most_half_as_wide_again_as_the_values_vary(metric):
    results = [metric.evaluate_context(drawn(seed)) for seed in range(12)]
    values = np.array([value_of(metric, drawn(seed)) for seed in range(60)])
    widths = [high - low for low, high in (result.interval for result in results)]
    # the standard deviation of 60 values and the mean of 12 widths have noise of their own
    assert np.mean(widths) <= 1.5 * 1.25 * 2 * 1.96 * values.std(ddof=1)
    assert all(low <= one.value <= high for one in results for low, high in [one.interval])


@pytest.mark.calibration
@pytest.mark.parametrize("shift", [0, 5])
@pytest.mark.parametrize("metric", [KSComplement(), SimilarityScore()], ids=["ks", "similarity"])
def test_the_expected_value_is_covered(metric, shift):
    results = [metric.evaluate_context(drawn(seed, shift=shift)) for seed in range(150)]
    expected = np.mean([result.value for result in results])
    held = [low <= expected <= high for low, high in (result.interval for result in results)]
    assert 0.90 <= np.mean(held) <= 0.99


@pytest.mark.calibration
@pytest.mark.parametrize("metric", [ContingencySimilarity(), PhikMatrixDifference()], ids=str)
def test_the_noise_of_the_largest_value_is_included(metric):
    """The largest income determines bins of equal width, and its noise does not shrink."""
    results = [metric.evaluate_context(drawn(seed, 9_000, shift=7)) for seed in range(60)]
    expected = np.mean([result.value for result in results])
    held = [low <= expected <= high for low, high in (result.interval for result in results)]
    assert np.mean(held) >= 0.87


def test_what_large_samples_tend_to_is_told():
    train, synthetic = (make_mixed(400, random_state=seed) for seed in range(2))
    result = SimilarityScore().fit(train).evaluate(synthetic)
    assert result.value < 90.0
    assert result.details["large_sample_value"] == pytest.approx(100.0, abs=3.0)


def test_a_few_rows_have_no_interval():
    train = pd.DataFrame({"x": np.arange(19.0)})
    assert KSComplement().fit(train).evaluate(train).interval is None
