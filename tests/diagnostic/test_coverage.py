from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from skeval.datasets import make_mixed
from skeval.diagnostic import CategoryCoverage, RangeCoverage
from skeval.diagnostic.coverage import (
    expected_category_coverage,
    expected_range_coverage,
    range_coverage,
)
from skeval.exceptions import DegenerateInputWarning, InvalidValueWarning
from tests.snapshots import warns

A, B = list("aaabbc"), list("aabbbd")
DAYS = pd.date_range("2020-01-01", periods=5)


def score(metric, train, synthetic, **kinds):
    train, synthetic = pd.DataFrame({"x": train}), pd.DataFrame({"x": synthetic})
    return metric.fit(train, schema=kinds or None).score(synthetic)


@pytest.mark.parametrize(
    ("train", "synthetic", "value"),
    [
        ([1, 2, 3, 4], [2, 3, 4, 5], 2 / 3),
        ([37, 97.7], [45, 95], 0.823723),
        ([0, 10], [20, 30], 0.0),
        ([0, 10], [5], 0.0),
        ([0, 10], [-5, 50], 1.0),
        ([0, 10, np.nan], [np.nan, 0, 5], 0.5),
        (DAYS, DAYS[1:], 0.75),
        (DAYS.strftime("%Y-%m-%d"), DAYS[:4].strftime("%Y-%m-%d"), 0.75),
    ],
)
def test_ranges_by_hand(train, synthetic, value):
    assert score(RangeCoverage(digits=None), train, synthetic) == pytest.approx(value, abs=1e-6)
    assert score(RangeCoverage(), train, synthetic) == round(value, 2)


@pytest.mark.parametrize("with_others", [False, True])
def test_no_extreme_of_one_person_can_be_computed(with_others):
    """From the saved result, the public table, and a least value that everyone knows."""
    rng = np.random.default_rng(0)
    secret = 987654.32
    train = pd.DataFrame({"gains": [secret, 0.0, *rng.integers(0, 9000, 198)], "y": range(200)})
    synthetic = pd.DataFrame({"gains": rng.integers(0, 9000, 200), "y": range(200)})
    columns = None if with_others else ["gains"]
    full, shown = (
        json.loads(RangeCoverage(columns, digits).fit(train).evaluate(synthetic).to_json())
        for digits in (None, 2)
    )

    def recovered(result):
        details = result["details"]
        n_others = len(details["columns"]) - 1  # of full coverage, as can be seen
        low, high = synthetic["gains"].min(), synthetic["gains"].max()
        shares = [
            details["columns"]["gains"],
            result["value"] * (1 + n_others) - n_others,
            details["worst"]["value"],
        ]
        return [abs((high - low) / share - secret) / secret for share in shares if share > 0]

    assert min(recovered(full)) < 1e-3
    assert all(error > 0.05 for error in recovered(shown))


def test_infinite_values_cover_nothing():
    with warns(InvalidValueWarning):
        assert score(RangeCoverage(), [0, 10], [0, 4, np.inf]) == pytest.approx(0.4)


def test_constant_and_empty_columns(warned):
    train = pd.DataFrame({"x": [1.0, 2.0], "same": [3.0, 3.0], "none": [np.nan, np.nan]})
    with warned(
        "no score for same: the training data have only one value",
        "The training data have no value in none, so there is no score",
        "The synthetic data have no value in x, but the training data do. The score is the worst",
    ):
        found = RangeCoverage().fit(train).evaluate(train.assign(x=np.nan))
    assert found.value == 0.0
    assert found.details["n_used"] == 1


@pytest.mark.parametrize("metric", [RangeCoverage(), CategoryCoverage()])
def test_absent_columns_score_zero(metric):
    train = make_mixed()
    names = list(metric.fit(train).evaluate(train).details["columns"])
    with warns(InvalidValueWarning) as caught:
        found = metric.evaluate(train.drop(columns=names[0]))
    assert len(caught) == 1
    assert found.details["columns"] == {name: float(name != names[0]) for name in names}


@pytest.mark.slow
def test_ceiling_of_ranges_is_what_fresh_rows_score():
    rng = np.random.default_rng(0)
    metric, values, ceilings = RangeCoverage(), [], []
    for _ in range(150):
        train = pd.DataFrame({"x": rng.normal(size=80)})
        found = metric.fit(train).evaluate(pd.DataFrame({"x": rng.normal(size=60)}))
        values.append(found.value)
        ceilings.append(found.details["ceiling"])
    assert np.mean(ceilings) == pytest.approx(np.mean(values), abs=0.03)
    assert found.details["ceilings"] == {"x": found.details["ceiling"]}


def test_the_ceiling_knows_of_missing_values():
    values = np.arange(100.0)
    train = pd.DataFrame({"x": values, "gaps": np.where(values % 2 == 0, values, np.nan)})
    ceilings = RangeCoverage().fit(train).evaluate(train).details["ceilings"]
    assert ceilings["gaps"] < ceilings["x"]


@pytest.mark.parametrize(
    ("train", "synthetic", "value"),
    [
        (A, B, 2 / 3),
        (A, [*A, None], 1.0),
        ([*A, None], A, 1.0),
        (A, ["z"], 0.0),
        ([True, False], [True, True], 0.5),
        (["1", "2"], [1, 1], 0.5),
    ],
)
def test_categories_by_hand(train, synthetic, value):
    assert score(CategoryCoverage(), train, synthetic) == pytest.approx(value)


def test_rare_categories_can_be_skipped(warned):
    assert score(CategoryCoverage(min_count=2), A, B) == 1.0
    with warned("no score for x: no category has 4 training rows"):
        assert np.isnan(score(CategoryCoverage(min_count=4), A, B))


def test_a_category_of_the_holdout_alone_does_not_count():
    tables = [pd.DataFrame({"x": values}) for values in (A, ["z"] * 6, A)]
    found = CategoryCoverage().fit(*tables[:2]).evaluate(tables[2])
    assert (found.value, found.baseline) == (1.0, 0.0)
    assert found.details["n_categories"] == found.details["n_covered"] == {"x": 3}


def test_ceiling_of_categories_by_hand():
    train = pd.DataFrame({"x": A})
    found = CategoryCoverage().fit(train).evaluate(pd.DataFrame({"x": ["a", "b"]}))
    shares = np.array([3, 2, 1]) / 6
    assert found.details["ceiling"] == pytest.approx(np.mean(1 - (1 - shares) ** 2))
    train = pd.DataFrame({"x": ["a", "a"]})
    assert CategoryCoverage().fit(train).evaluate(train).details["ceiling"] == pytest.approx(1.0)


def test_columns_without_a_category(warned):
    train = pd.DataFrame({"x": ["a", "b"], "none": [None, None]})
    metric = CategoryCoverage()
    with warned(
        "The training data have no value in none, so there is no score",
        "The synthetic data have no value in x, but the training data do. The score is the worst",
    ):
        found = metric.fit(train, schema={"none": "categorical"}).evaluate(train.assign(x=None))
    assert found.value == 0.0


def test_many_categories():
    rng = np.random.default_rng(0)
    levels = np.array([f"k{i}" for i in range(5000)], dtype=object)
    train, synthetic = (pd.DataFrame({"x": levels[rng.integers(0, 5000, 9_000)]}) for _ in range(2))
    found = CategoryCoverage().fit(train).evaluate(synthetic)
    assert found.value == pytest.approx(
        len(set(train["x"]) & set(synthetic["x"])) / train["x"].nunique()
    )
    assert found.value == pytest.approx(found.details["ceiling"], abs=0.03)


def test_only_numbers_or_only_categories():
    with warns(DegenerateInputWarning):
        assert np.isnan(score(RangeCoverage(), A, B))
    with warns(DegenerateInputWarning):
        assert np.isnan(score(CategoryCoverage(), [1.5, 2.5], [1.5]))


@pytest.mark.parametrize(
    ("train", "synthetic", "value"),
    [
        ((1, 4), (2, 5), 2 / 3),
        ((37, 97.7), (45, 95), 0.823723),
        ((0, 10), (0, 10), 1.0),
        ((0, 10), (-1e308, 1e308), 1.0),
        ((-1.5e308, 1.5e308), (-1.5e308, 0), 0.5),
        ((0, 10), (11, 12), 0.0),
        ((0, 10), (-9, -8), 0.0),
        ((0, 1e-300), (0, 5e-301), 0.5),
    ],
)
def test_ranges_by_hand_of_coverage(train, synthetic, value):
    assert range_coverage(train, synthetic) == pytest.approx(value, abs=1e-6)


def test_a_range_of_one_value_is_none():
    assert np.isnan(range_coverage((3, 3), (3, 3)))


def brute_force(values, n_fresh, rng, n_draws=20_000):
    """Ranks of fresh rows are those of a shuffled pool; a row between two lies in their middle."""
    x = np.sort(values)
    ends = np.concatenate([[x[0]], (x[1:] + x[:-1]) / 2, [x[-1]]])
    score = np.empty(n_draws)
    for i in range(n_draws):
        # gaps fill as an urn does in which each drawn ball is put back with another like it
        shares = rng.dirichlet(np.ones(x.size + 1))
        gaps = np.flatnonzero(rng.multinomial(n_fresh, shares))
        score[i] = max(0.0, ends[gaps[-1]] - ends[gaps[0]])
    return score.mean() / np.ptp(values)


@pytest.mark.parametrize("n_fresh", [1, 4, 30])
def test_expected_range_coverage_against_draws(n_fresh):
    values = np.array([0.0, 0.5, 1.0, 4.0, 4.0, 4.0, 7.0, 20.0])
    expected = brute_force(values, n_fresh, np.random.default_rng(0))
    assert expected_range_coverage(values, n_fresh) == pytest.approx(expected, abs=0.01)


def test_expected_range_coverage_of_uniform_rows():
    """Two of n uniform values lie 1/(n+1) from the ends in the mean."""
    rng = np.random.default_rng(0)
    found = np.mean([expected_range_coverage(rng.random(200), 200) for _ in range(50)])
    assert found == pytest.approx(0.9947, abs=0.004)


def test_expected_range_coverage_uses_the_ends_only():
    values = np.sort(np.random.default_rng(0).normal(size=100_000))
    middle = values.copy()
    middle[1000:-1000] = 0.0
    assert expected_range_coverage(values, 50_000) == expected_range_coverage(middle, 50_000)


def test_expected_range_coverage_edges():
    assert np.isnan(expected_range_coverage(np.array([]), 3))
    assert np.isnan(expected_range_coverage(np.array([2.0, 2.0]), 3))
    assert np.isnan(expected_range_coverage(np.array([1.0, 2.0]), 0))
    assert expected_range_coverage(np.array([1.0, 2.0]), 10**9) == pytest.approx(1.0)


def test_expected_category_coverage_against_draws():
    shares, rng = np.array([0.6, 0.3, 0.09, 0.01]), np.random.default_rng(0)
    drawn = [(rng.multinomial(20, shares) > 0).mean() for _ in range(5000)]
    assert expected_category_coverage(shares, 20) == pytest.approx(np.mean(drawn), abs=0.01)
    assert expected_category_coverage(np.array([1.0]), 5) == 1.0
    assert np.isnan(expected_category_coverage(np.array([]), 5))
