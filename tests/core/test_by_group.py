"""Any metric by groups: the same as on the rows of the group, the worst first, small ones pooled."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from skeval import Metric, MetricSuite, MetricTags, Result, SuiteResult, check_metric
from skeval.core import ByGroup
from skeval.core.by_group import goodness
from skeval.datasets import make_mixed
from skeval.diagnostic import RangeCoverage
from skeval.exceptions import DegenerateInputWarning, InvalidParameterError, MissingInputError
from skeval.fidelity import (
    ClassifierTwoSampleTest,
    KMarginalSimilarity,
    KSComplement,
    SimilarityMatrix,
    SimilarityScore,
    TVComplement,
    WassersteinDistance,
)
from skeval.privacy import DCRShare, ExactMatchShare
from skeval.results.verdict import Contrast
from skeval.stats.multiple_testing import holm
from skeval.utility import TSTR
from tests.snapshots import raises, warns

TRAIN, HOLDOUT, SYNTHETIC = (make_mixed(400, random_state=seed) for seed in range(3))
PLANS = ["basic", "family", "premium"]


def rows_of(table: pd.DataFrame, plan: str) -> pd.DataFrame:
    return table[table["plan"] == plan].drop(columns="plan").reset_index(drop=True)


@pytest.mark.slow
@pytest.mark.parametrize(
    "metric",
    [KSComplement(), DCRShare(), WassersteinDistance(), TSTR("member", estimators="linear")],
)
def test_groups_are_measured_as_if_alone(metric):
    result = ByGroup(metric, "plan").fit(TRAIN, HOLDOUT).evaluate(SYNTHETIC)
    for plan in PLANS:
        own = [rows_of(table, plan) for table in (TRAIN, HOLDOUT, SYNTHETIC)]
        alone = metric.fit(*own[:2]).evaluate(own[2])
        assert result.details["columns"][plan] == alone.value
        assert result.details["baseline_columns"][plan] == alone.baseline
        if alone.interval is not None:
            assert result.details["intervals"][plan] == list(alone.interval)
    worst = min if metric.tags.greater_is_better else max
    assert result.value == worst(result.details["columns"].values())
    assert result.baseline == worst(result.details["baseline_columns"].values())
    assert result.tags.greater_is_better == metric.tags.greater_is_better


@pytest.mark.slow
def test_leak_of_one_group_is_found_after_holm():
    copied = pd.concat(
        [rows[rows["plan"] != "premium"] for rows in (SYNTHETIC,)]
        + [TRAIN[TRAIN["plan"] == "premium"]],
        ignore_index=True,
    )
    result = ByGroup(DCRShare(), "plan").fit(TRAIN, HOLDOUT).evaluate(copied)
    assert result.details["worst"]["column"] == "premium"
    groups = result.details["groups"]
    raw = [groups[plan]["p_value"] for plan in groups]
    assert [groups[plan]["holm_p_value"] for plan in groups] == holm(raw)
    assert result.p_value == min(holm(raw)) < 0.001
    assert groups["basic"]["holm_p_value"] > 0.05
    assert result.interval is None
    assert result.tags.evidence == "screen"
    assert result.summary.startswith("The worst of 3 groups by plan is premium. ")


class Told(Metric):
    """Share of synthetic rows that are train rows; says which two numbers its test compared."""

    tags = MetricTags("privacy", greater_is_better=False, needs={"holdout"}, evidence="screen")

    def _compute(self, context):
        share, other = (
            context.synthetic.merge(context[role].drop_duplicates()).shape[0]
            / context.n_rows("synthetic")
            for role in ("train", "holdout")
        )
        p_value = 0.001 if share > other + 0.5 else 1.0
        contrast = Contrast("rows closer to train", share, other)
        return Result(share, p_value=p_value, contrast=contrast)


def test_verdict_names_the_group():
    others = SYNTHETIC[SYNTHETIC["plan"] != "premium"]
    copied = pd.concat([others, TRAIN[TRAIN["plan"] == "premium"]], ignore_index=True)
    result = ByGroup(Told(), "plan").fit(TRAIN, HOLDOUT).evaluate(copied)
    assert result.contrast.what == "rows closer to train, for plan = premium"
    assert result.contrast.observed == result.details["columns"]["premium"]
    assert result.contrast.n_tests == 3
    verdict = SuiteResult({"by_plan": result}).verdict()
    assert verdict.alarm
    assert "for plan = premium" in verdict.sentence


def test_no_p_value_where_the_metric_has_none():
    result = ByGroup(RangeCoverage(), "plan").fit(TRAIN, HOLDOUT).evaluate(SYNTHETIC)
    assert result.p_value is None
    assert "p_value" not in result.details["groups"]["basic"]


def test_small_groups_are_pooled():
    sizes = TRAIN["plan"].value_counts()
    least = int(sizes.sort_values().iloc[1]) + 1  # all but the largest
    result = ByGroup(KSComplement(), "plan", min_size=least).fit(TRAIN).evaluate(SYNTHETIC)
    assert list(result.details["columns"]) == [sizes.index[0], "(small groups)"]
    pooled = [
        table[table["plan"] != sizes.index[0]].drop(columns="plan") for table in (TRAIN, SYNTHETIC)
    ]
    alone = KSComplement().fit(pooled[0]).score(pooled[1])
    assert result.details["columns"]["(small groups)"] == alone


def test_a_pool_that_is_small_too_is_skipped():
    table = TRAIN.assign(g=["a"] * 390 + ["b"] * 6 + ["c"] * 4)
    result = ByGroup(KSComplement(), "g", min_size=20).fit(table).evaluate(table)
    assert list(result.details["columns"]) == ["a"]
    assert result.details["n_outside"] == 10
    assert result.details["n_small"] == 2


@pytest.mark.parametrize("fewer", [1, 9])
def test_no_score_of_few_persons(fewer):
    """A level of one person would be printed, and value by value that person's other cells."""
    for metric in (
        ByGroup(KSComplement(), "plan", min_size=fewer),
        KMarginalSimilarity(group_by="plan", min_count=fewer),
        SimilarityScore(min_count=fewer),
        SimilarityMatrix(min_count=fewer),
    ):
        with raises(InvalidParameterError):
            metric.fit(TRAIN)


def test_sizes_of_the_holdout_count_too():
    train, holdout = TRAIN.assign(g=["a", "b"] * 200), HOLDOUT.assign(g=["a"] * 395 + ["b"] * 5)
    result = ByGroup(KSComplement(), "g").fit(train, holdout).evaluate(train)
    assert list(result.details["columns"]) == ["a"]
    assert result.details["groups"]["a"] == {
        "n_train": 200,
        "n_holdout": 395,
        "n_synthetic": 200,
        "p_value": 1.0,
        "holm_p_value": 1.0,
    }


def test_missing_is_a_group_and_new_categories_are_none():
    train = TRAIN.assign(g=pd.Series(["a", None] * 200, dtype=object))
    synthetic = SYNTHETIC.assign(g=pd.Series(["a", None, "z", "z"] * 100, dtype=object))
    result = ByGroup(KSComplement(), "g").fit(train).evaluate(synthetic)
    assert list(result.details["columns"]) == ["a", "(missing)"]
    assert result.details["n_outside"] == 200


def test_a_group_that_synthetic_lacks():
    metric = ByGroup(KSComplement(), "plan").fit(TRAIN)
    with warns(DegenerateInputWarning):
        result = metric.evaluate(SYNTHETIC[SYNTHETIC["plan"] != "family"])
    assert np.isnan(result.details["columns"]["family"])
    assert result.details["groups"]["family"]["n_synthetic"] == 0
    assert not np.isnan(result.value)


@pytest.mark.slow
def test_without_a_direction_the_worst_lies_furthest_from_the_middle():
    between = MetricTags("fidelity", greater_is_better=None, bounds=(0.0, 1.0))
    values = [0.45, 0.52, 0.1, 0.8]
    assert min(values, key=lambda value: goodness(value, between)) == 0.1
    metric = ByGroup(ClassifierTwoSampleTest(scoring="auc", n_folds=2), "plan")
    result = metric.fit(TRAIN, HOLDOUT).evaluate(SYNTHETIC)
    values = result.details["columns"]
    assert result.value == max(values.values(), key=lambda value: abs(value - 0.5))


def test_tags_are_those_of_the_metric():
    by = ByGroup(ExactMatchShare(), "plan")
    assert by.tags.aspect == "privacy"
    assert by.tags.evidence == "screen"
    assert by.tags.greater_is_better is False
    assert ByGroup(TSTR("member"), "plan").tags.needs == {"holdout", "target"}


@pytest.mark.slow
def test_in_a_suite_and_saved(tmp_path):
    suite = MetricSuite([("all", TVComplement()), ("by_plan", ByGroup(TVComplement(), "plan"))])
    result = suite.fit(TRAIN, HOLDOUT).evaluate(SYNTHETIC)
    frame = result["by_plan"].display().frame()
    assert frame["column"].iloc[0] == result["by_plan"].details["worst"]["column"]
    assert result.to_html(tmp_path / "report.html").exists()


@pytest.mark.calibration
@pytest.mark.parametrize("metric", [KSComplement(), DCRShare()])
def test_keeps_the_contract(metric):
    records = check_metric(ByGroup(metric, "plan", min_size=10))
    assert {record["status"] for record in records} == {"passed"}


def test_refusals():
    with raises(InvalidParameterError):
        ByGroup(KSComplement(), "age").fit(TRAIN)
    with raises(InvalidParameterError):
        ByGroup(KSComplement(), "plan", min_size=1_000).fit(TRAIN)
    with raises(InvalidParameterError):
        ByGroup("ks", "plan").fit(TRAIN)
    with raises(InvalidParameterError):
        ByGroup(KSComplement(columns=["nowhere"]), "plan").fit(TRAIN)
    with raises(MissingInputError):
        ByGroup(DCRShare(), "plan").fit(TRAIN)


def test_an_alarm_says_what_to_do_and_where():
    copied = SYNTHETIC.copy()
    rows = np.flatnonzero(TRAIN["plan"] == "family")
    copied.iloc[rows] = TRAIN.iloc[rows]
    result = ByGroup(ExactMatchShare(), "plan").fit(TRAIN, HOLDOUT).evaluate(copied)
    assert result.p_value < 0.001
    assert result.contrast.what.endswith("for plan = family")
    assert result.advice.startswith("For plan = family: Drop the copied rows")


@pytest.mark.slow
def test_the_test_of_groups_is_none_of_the_whole_table():
    """Both count: they look at other rows."""
    metrics = [("whole", DCRShare()), ("by_plan", ByGroup(DCRShare(), "plan"))]
    suite = MetricSuite(metrics).fit(TRAIN, HOLDOUT)
    assert suite.evaluate(SYNTHETIC).verdict().n_tests == 2


def test_copies_and_facts_of_groups_are_handed_on():
    release = pd.concat([TRAIN[:12], SYNTHETIC[12:]], ignore_index=True)
    result = ByGroup(ExactMatchShare(), "plan").fit(TRAIN, HOLDOUT).evaluate(release)
    assert sum(one.train.n for one in result.copies) == 12
    assert {one.what for one in result.copies} >= {"rows for plan = basic"}
    assert "For plan = basic: " in result.fact
    assert SuiteResult({"by_plan": result}).verdict().copies


def test_bounds_of_copies_are_for_as_many_counts_as_there_are_groups():
    (alone,) = ExactMatchShare().fit(TRAIN, HOLDOUT).evaluate(SYNTHETIC).copies
    assert alone.of_several(50, "in a").train.most > alone.train.most
    assert alone.of_several(1, "in a").train == alone.train
