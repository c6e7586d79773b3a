"""Metrics of cells see what becomes of a value that most rows have."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from skeval.fidelity import (
    BNLikelihood,
    ChiSquaredTest,
    ContingencySimilarity,
    ContinuousKLDivergence,
    CramersVDifference,
    HellingerDistance,
    JensenShannonDistance,
    KLDivergence,
    KMarginalSimilarity,
    KSComplement,
    MixedAssociationDifference,
    MutualInformationDifference,
    QuantileMSE,
    SimilarityMatrix,
    SimilarityScore,
    TheilsUDifference,
    TVComplement,
)
from skeval.reporting.displays.marginal import MarginalDisplay
from skeval.reporting.displays.pair import PairDisplay

TAIL = np.arange(1000.0, 2000.0, 100.0)
# 90 zeros have become 10 zeros and 80 fives: a Kolmogorov-Smirnov complement of 0.2
REAL = pd.DataFrame({"x": np.r_[np.zeros(90), TAIL], "y": np.arange(100.0)})
MADE = pd.DataFrame({"x": np.r_[np.zeros(10), np.full(80, 5.0), TAIL], "y": np.arange(100.0)})
# the fives of one level are zeros of the other: an association that has no other trace
LEVELS = pd.DataFrame(
    {
        "x": np.r_[np.zeros(45), np.full(45, 5.0), TAIL],
        "c": ["a"] * 45 + ["b"] * 45 + ["a", "b"] * 5,
    }
)
SHUFFLED = LEVELS.assign(c=["a", "b"] * 50)


def of_column(metric):
    return metric.fit(REAL).evaluate(MADE).details["columns"]["x"]


def of_pair(metric):
    return metric.fit(REAL).evaluate(MADE).details["matrix"][0, 1]


def of_all(metric):
    return metric.fit(REAL).score(MADE)


def nearness(metric):
    return 1.0 - of_column(metric)


def likelihood(metric):
    """Return how likely train's values are to one who expects those of the other table."""
    return math.exp(-of_column(metric))


def likelihood_of_rows(metric):
    """Compare with rows of train itself."""
    return metric.fit(REAL).score(MADE) / metric.score(REAL)


def better_than_worst(metric):
    """Compare with the worst table there is: all rows where train has none."""
    worst = metric.fit(REAL).evaluate(REAL.assign(x=-1.0)).details["columns"]["x"]
    return 1.0 - of_column(metric) / worst


BINNED = [
    (SimilarityMatrix(), of_column),
    (SimilarityMatrix(), of_pair),
    (SimilarityScore(), of_column),
    (SimilarityScore(scale=1.0, columns=["x"]), of_all),
    (KMarginalSimilarity(k=1, columns=["x"]), of_all),
    (KMarginalSimilarity(), of_all),
    (ContingencySimilarity(), of_all),
    (ContinuousKLDivergence(), of_all),
    (TVComplement(n_bins=10), of_column),
    (JensenShannonDistance(), nearness),
    (HellingerDistance(), nearness),
    (ChiSquaredTest(), nearness),
    (KLDivergence(), likelihood),
    (QuantileMSE(), better_than_worst),
    (BNLikelihood(n_bins=10, columns=["x"]), likelihood_of_rows),
]
WITHOUT_CHOICE = (TVComplement, QuantileMSE, BNLikelihood)
BOTH = [
    pytest.param(
        clone(metric).set_params(strategy=strategy), of, id=f"{metric}-{strategy}-{of.__name__}"
    )
    for metric, of in BINNED
    if not isinstance(metric, WITHOUT_CHOICE)
    for strategy in ("uniform", "quantile")
]
BOTH += [
    pytest.param(metric, of, id=repr(metric))
    for metric, of in BINNED
    if isinstance(metric, WITHOUT_CHOICE)
]


def test_the_curves_are_far_apart():
    assert KSComplement(columns=["x"]).fit(REAL).score(MADE) == pytest.approx(0.2)


@pytest.mark.parametrize(("metric", "of"), BOTH)
def test_zeros_that_have_become_fives(metric, of):
    assert of(metric) < 0.3


@pytest.mark.parametrize("strategy", ["uniform-plain", "quantile-plain"])
@pytest.mark.slow
def test_the_published_cells_are_blind(strategy):
    assert of_column(SimilarityScore(strategy=strategy)) == 1.0
    assert of_column(HellingerDistance(strategy=strategy)) == 0.0


@pytest.mark.parametrize(
    "metric",
    [
        CramersVDifference(),
        TheilsUDifference(),
        MutualInformationDifference(),
        MixedAssociationDifference(mixed="cramers_v"),
    ],
    ids=repr,
)
def test_an_association_with_zeros_that_is_lost(metric):
    assert metric.fit(LEVELS).score(SHUFFLED) > 0.7


def test_values_that_train_has_nowhere_near():
    """All rows of train have one of two values; the others lie between."""
    train = pd.DataFrame({"x": np.repeat([0.0, 10.0], 20)})
    between = pd.DataFrame({"x": np.repeat([4.0, 10.0], 20)})
    number = {"x": "continuous"}
    assert TVComplement(n_bins=10).fit(train, schema=number).score(between) == 0.5
    measured = QuantileMSE().fit(train, schema=number)
    assert measured.score(between) == pytest.approx(2 * 0.5**2 / 3)


def test_a_frequent_number_is_drawn_beside_the_others():
    real, made = (pd.concat([table] * 10, ignore_index=True) for table in (REAL, MADE))
    details = SimilarityScore().fit(real).evaluate(made).details
    shown = details["marginals"]["x"]
    assert shown["labels"] == ["= 0"]
    assert shown["edges"][0] >= 900.0  # the axis is that of the other values
    frame = MarginalDisplay("x", shown).frame().set_index("bar")
    assert frame.loc["= 0", ["train", "synthetic"]].tolist() == [0.9, 0.1]
    first = frame.iloc[0]
    assert first["synthetic"] - first["train"] == pytest.approx(0.8)  # the fives, at this end
    frame = PairDisplay(details["pairs"][0]).frame()
    assert frame.loc[frame["x"] == "= 0", "train"].sum() == pytest.approx(0.9)


def test_numbers_with_bars_of_their_own_stay_among_them():
    counts = pd.DataFrame({"x": np.repeat([0.0, 1.0, 2.0, 3.0], [600, 200, 150, 50])})
    shown = SimilarityScore().fit(counts).evaluate(counts).details["marginals"]["x"]
    assert (shown["labels"], shown["edges"]) == ([], [-0.5, 0.5, 1.5, 2.5, 3.5])


def test_a_frequent_date_is_written_as_one():
    dates = pd.to_datetime(["1900-01-01"] * 500 + list(pd.date_range("2020-01-01", periods=500)))
    table = pd.DataFrame({"x": dates})
    shown = SimilarityScore().fit(table).evaluate(table).details["marginals"]["x"]
    assert shown["labels"] == ["= 1900-01-01"]
    assert shown["shares"]["train"][-3:].tolist() == [0.5, 0.0, 0.0]
