from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binomtest, fisher_exact, mannwhitneyu
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression

from skeval import Context, Result, check_metric
from skeval.datasets import make_mixed
from skeval.exceptions import DegenerateInputWarning, MetricWarning
from skeval.fidelity import (
    ClassifierPRD,
    ClassifierTwoSampleTest,
    JensenShannonLowerBound,
    TotalVariationLowerBound,
)
from skeval.fidelity.two_sample import permutation_p_value, score_interval, score_statistic
from skeval.privacy.distance_screens.dcr_baseline import random_rows
from skeval.stats.roc import auc
from skeval.steps.classifiers import Scores, out_of_fold, split
from tests.calibrations import LEVEL, Claim, all_hold, rates_of
from tests.counting import CountingContext
from tests.snapshots import warns

TRAIN, HOLDOUT, SYNTHETIC = (make_mixed(120, random_state=seed) for seed in range(3))


class NearestMean(ClassifierMixin, BaseEstimator):
    """The fastest classifier there is, for simulations."""

    def fit(self, X, y):
        self.classes_ = np.array([0, 1])
        self.means_ = [X[y == label].mean(axis=0) for label in (0, 1)]
        return self

    def decision_function(self, X):
        return sum(
            sign * ((X - m) ** 2).sum(1) for sign, m in zip((1, -1), self.means_, strict=True)
        )

    def predict(self, X):
        return (self.decision_function(X) > 0).astype(int)


def evaluate(train, holdout, synthetic, **settings):
    return ClassifierTwoSampleTest(**settings).fit(train, holdout).evaluate(synthetic)


@pytest.mark.slow
def test_confidences_and_fidelity_score():
    train, fresh = make_mixed(200, random_state=0), make_mixed(200, random_state=1)
    shifted = fresh.assign(visits=fresh["visits"] + 9)
    apart, alike = (
        evaluate(train, None, table, scoring="auc").details for table in (shifted, fresh)
    )
    assert apart["synthetic_confidence"] > 0.9
    assert apart["original_confidence"] < 0.1
    assert apart["fidelity_score"] < 0.05
    assert alike["synthetic_confidence"] == pytest.approx(0.5, abs=0.1)
    assert alike["original_confidence"] == pytest.approx(0.5, abs=0.1)
    assert alike["fidelity_score"] > 0.8
    area = alike["models"]["xgboost"]["auc"]
    assert alike["fidelity_score"] == pytest.approx(1 - 2 * abs(area - 0.5))


@pytest.mark.filterwarnings("ignore:The synthetic rows appear to be copies")
def test_fidelity_score_of_copies_is_not_high():
    train = make_mixed(200, random_state=0)
    result = evaluate(train, None, train, scoring="auc")
    assert result.value == 0.5
    assert result.summary.endswith("which indicates copies and not fidelity.")
    details = result.details
    assert details["similarity"] == 1.0
    assert details["fidelity_score"] == pytest.approx(2 * details["split"]["auc"])
    assert details["fidelity_score"] < 0.9


def test_copies_tell_a_classifier_nothing_and_frequent_rows_do():
    numbers = np.random.default_rng(0).normal(size=(60, 3))
    twice = np.concatenate([numbers, numbers[:20]])
    for copies in (numbers, twice):
        scores = out_of_fold("cart", numbers, copies, [False] * 3)
        assert auc(scores.synthetic, scores.real) == pytest.approx(0.5, abs=0.1)
    often, seldom = (np.repeat([[0.0], [1.0]], sizes, axis=0) for sizes in ((50, 10), (10, 50)))
    scores = out_of_fold("cart", often, seldom, [False])
    assert auc(scores.synthetic, scores.real) > 0.75


def test_fresh_rows_that_repeat_are_not_told_apart():
    rng = np.random.default_rng(0)
    areas = []
    for _ in range(30):
        first, second = (rng.integers(30, size=(100, 1)).astype(float) for _ in range(2))
        scores = out_of_fold("cart", first, second, [False])
        areas.append(auc(scores.synthetic, scores.real))
    assert np.mean(areas) == pytest.approx(0.5, abs=0.03)


def test_few_rows_that_are_all_equal_are_divided():
    rows = np.repeat([[0.0], [1.0]], 5, axis=0)
    scores = out_of_fold("cart", rows, rows, [False])
    assert np.isfinite([scores.real, scores.synthetic]).all()


@pytest.mark.slow
def test_the_published_values(cancer):
    train, _, synthetic = cancer
    accuracy, area = (
        evaluate(train, None, synthetic, scoring=which) for which in ("accuracy", "auc")
    )
    assert accuracy.value == pytest.approx(0.952, abs=0.02)
    assert area.value == pytest.approx(0.992, abs=0.01)
    assert accuracy.details["model"] == "xgboost"
    linear = accuracy.details["models"]["logistic"]
    assert linear["accuracy"] == pytest.approx(0.545, abs=0.02)
    assert linear["auc"] == pytest.approx(0.523, abs=0.02)
    assert accuracy.p_value < 1e-20
    assert accuracy.details["similarity"] == pytest.approx(2 - 2 * area.value)
    assert accuracy.baseline == area.baseline == 0.5


@pytest.mark.slow
def test_the_estimator_given_is_the_headline(cancer):
    train, holdout, synthetic = cancer
    found = evaluate(train, holdout, synthetic, estimator=LogisticRegression(max_iter=1000))
    assert list(found.details["models"]) == ["LogisticRegression", "xgboost", "logistic"]
    assert found.details["model"] == "LogisticRegression"
    assert found.value == found.details["models"]["LogisticRegression"]["accuracy"]
    assert found.value == pytest.approx(0.545, abs=0.02)
    assert found.details["models"]["xgboost"]["accuracy"] > 0.9


@pytest.mark.slow
@pytest.mark.parametrize("holdout", [None, HOLDOUT])
def test_the_test_is_of_the_split(holdout):
    context = Context.of(TRAIN, holdout).with_synthetic(SYNTHETIC)
    scores = split(context, "xgboost", None, 0.5, 10_000, 0).scores
    called = [int((part > 0.5).sum()) for part in (scores.synthetic, scores.real)]
    table = [[called[0], 60 - called[0]], [called[1], 60 - called[1]]]
    by_accuracy = evaluate(TRAIN, holdout, SYNTHETIC)
    assert by_accuracy.p_value == pytest.approx(fisher_exact(table, "greater").pvalue)
    about = by_accuracy.details["split"]
    assert about["p_value_below"] == pytest.approx(fisher_exact(table, "less").pvalue)
    by_auc = evaluate(TRAIN, holdout, SYNTHETIC, scoring="auc")
    expected = mannwhitneyu(scores.synthetic, scores.real, alternative="greater").pvalue
    assert by_auc.p_value == pytest.approx(expected)
    low, high = about["auc_interval"]
    assert low < about["auc"] < high
    assert about["accuracy"] == pytest.approx((called[0] + 60 - called[1]) / 120)
    assert by_accuracy.details["test"]["real_rows"] == ("train" if holdout is None else "holdout")


@pytest.mark.slow
def test_published_p_values_of_an_accuracy():
    """220 of 400 rows right: the normal law, the exact one, and the one of fixed numbers."""
    from scipy.stats import norm

    from skeval.stats.permutation_tests import share_p_value

    assert norm.sf((0.55 - 0.5) * 2 * np.sqrt(400)) == pytest.approx(0.02275, abs=5e-6)
    assert binomtest(220, 400, alternative="greater").pvalue == pytest.approx(0.025520, abs=5e-7)
    exact = fisher_exact([[110, 90], [90, 110]], "greater").pvalue
    assert share_p_value(110, 200, 90, 200) == pytest.approx(exact)
    assert exact == pytest.approx(0.0285, abs=5e-4)


@pytest.mark.slow
def test_copies_are_told():
    metric = ClassifierTwoSampleTest("auc", RandomForestClassifier(50, random_state=0))
    for holdout in (None, HOLDOUT):
        with warns(MetricWarning):
            found = metric.fit(TRAIN, holdout).evaluate(TRAIN)
        assert found.value == 0.5
        assert "indicates copies and not fidelity" in found.summary
        assert found.details["copied_share"] == 1.0
        assert found.details["split"]["p_value_below"] < 1e-4
        assert found.p_value > 0.5
        assert found.details["similarity"] == 1.0


@pytest.mark.slow
def test_a_share_of_copies_is_told_best_against_a_holdout():
    train, holdout, fresh = (make_mixed(600, random_state=seed) for seed in range(3))
    table = pd.concat([train.iloc[:300], fresh.iloc[300:]])
    forest = RandomForestClassifier(50, random_state=0)
    with warns(MetricWarning):
        found = evaluate(train, holdout, table, estimator=forest, scoring="auc")
    assert found.details["copied_share"] == 0.5
    assert found.details["split"]["auc"] < 0.42


@pytest.mark.slow
def test_a_fresh_table_is_not_told_apart():
    train, holdout, fresh = (make_mixed(600, random_state=seed) for seed in range(3))
    for scoring in ("accuracy", "auc"):
        found = evaluate(train, holdout, fresh, scoring=scoring)
        low, high = found.interval
        assert low < 0.5 < high
        assert found.p_value > 0.05
        assert found.warnings == ()


@pytest.mark.slow
def test_it_falls_with_noise():
    noise = random_rows(Context.of(TRAIN).train, 600, np.random.default_rng(0))
    train, fresh = make_mixed(600, random_state=3), make_mixed(600, random_state=4)
    values = []
    for share in (0.0, 0.5, 1.0):
        n = int(600 * share)
        table = pd.concat([noise.iloc[:n], Context.of(fresh).train.iloc[n:]])
        values.append(evaluate(train, None, table).value)
    assert values == sorted(values)


@pytest.mark.slow
def test_permuted_labels():
    shifted = SYNTHETIC.assign(age=SYNTHETIC["age"] + 15)
    settings = {"test": "permutation", "estimator": NearestMean(), "n_permutations": 39}
    for holdout, role in ((None, "train"), (HOLDOUT, "holdout")):
        far, near = (evaluate(TRAIN, holdout, rows, **settings) for rows in (shifted, SYNTHETIC))
        assert far.p_value == pytest.approx(1 / 40)
        assert near.p_value > 0.05
        assert far.details["test"] == {"kind": "permutation", "real_rows": role}


@pytest.mark.slow
def test_permutations_of_equal_tables_all_reach_the_score():
    same = pd.DataFrame({"x": np.ones(20)})
    context = Context.of(same).with_synthetic(same)
    assert permutation_p_value(context, "logistic", "auc", "train", 19, None, 5, None, 0) == 1.0


@pytest.mark.slow
def test_few_rows():
    with warns(DegenerateInputWarning):
        found = evaluate(TRAIN, None, SYNTHETIC.iloc[:1])
    assert np.isnan(found.value)
    found = evaluate(TRAIN.iloc[:10], None, SYNTHETIC.iloc[:10])
    assert found.details["split"]["n_tested"] == 5


@pytest.mark.slow
def test_scores_are_computed_once():
    context = CountingContext.of(TRAIN, HOLDOUT).with_synthetic(SYNTHETIC)
    CountingContext.runs.clear()
    for metric in (
        ClassifierTwoSampleTest(),
        ClassifierTwoSampleTest("auc"),
        TotalVariationLowerBound(),
        TotalVariationLowerBound(method="ks"),
        JensenShannonLowerBound(),
        ClassifierPRD(n_angles=11),
    ):
        metric.fit_context(context.real).evaluate_context(context)
    # by a logistic regression, and by trees
    names = CountingContext.names()
    assert (names.count("fold_scores"), names.count("split")) == (2, 2)


@pytest.mark.slow
def test_the_result_holds_no_rows_and_goes_through_json():
    found = evaluate(TRAIN, HOLDOUT, SYNTHETIC)
    text = found.to_json()
    assert Result.from_dict(json.loads(text)).to_json() == text
    assert len(text) < 4000
    assert len(found.details["top_features"]) == 5


@pytest.mark.slow
def test_an_estimator_keeps_the_contract():
    known = {"check_repr_names_the_parameters": "a class of this file"}
    metric = ClassifierTwoSampleTest("auc", NearestMean(), n_folds=2)
    check_metric(metric, expected_failures=known)


@pytest.mark.calibration
@pytest.mark.parametrize("with_holdout", [True, False])
def test_p_values_hold_their_size(with_holdout):
    """A column with about a level a row among the others: whose levels they are must not help."""

    def rejects(seed):
        rng = np.random.default_rng(seed)
        train, holdout, fresh = (
            pd.DataFrame(rng.normal(size=(n, 2)), columns=["a", "b"]).assign(
                c=[f"v{i}" for i in rng.integers(0, 80, n)]
            )
            for n in (100, 60, 100)
        )
        metrics = {
            "accuracy": ClassifierTwoSampleTest(),
            "auc": ClassifierTwoSampleTest("auc"),
            "permutation": ClassifierTwoSampleTest(
                "auc", NearestMean(), test="permutation", n_permutations=39, n_folds=2
            ),
        }
        context = Context.of(train, holdout if with_holdout else None).with_synthetic(fresh)
        for metric in metrics.values():
            metric.fit_context(context.real)
        return {
            name: metric.evaluate_context(context).p_value <= 0.05
            for name, metric in metrics.items()
        }

    conservative = Claim(0.03, 0.01, 0.06)  # whole numbers
    claims = {"accuracy": conservative, "auc": LEVEL, "permutation": LEVEL}
    found = rates_of(map(rejects, range(200)), claims)
    assert all_hold(found), found


@pytest.mark.parametrize(("shift", "times"), [(0.0, 1.7), (2.0, 1.2)])
def test_scores_depend_less_on_each_other_if_tables_differ(shift, times):
    """The variance of the interval in relation to that of independent scores."""
    rng, n = np.random.default_rng(0), 2_000
    scores = Scores(*(rng.normal(0.5 + sign * shift / 2, size=n) for sign in (-1, 1)))
    value = score_statistic(scores, "accuracy")
    low, high = score_interval(scores, value, "accuracy")
    independent = 2.0 * 1.96 * np.sqrt(value * (1.0 - value) / (2.0 * n))
    assert ((high - low) / independent) ** 2 == pytest.approx(times, rel=0.05)


@pytest.mark.calibration
@pytest.mark.parametrize(("n", "d", "mu"), [(50, 20, 0.0), (200, 5, 0.0), (200, 5, 0.5)])
def test_intervals_allow_for_dependent_folds(n, d, mu):
    for scoring in ("accuracy", "auc"):
        values, intervals = [], []
        for seed in range(200):
            rng = np.random.default_rng(seed)
            rows, others = rng.normal(size=(2, n, d))
            others[:, 0] += mu
            scores = out_of_fold("logistic", rows, others, [False] * d, seed=seed)
            values.append(score_statistic(scores, scoring))
            intervals.append(score_interval(scores, values[-1], scoring))
        low, high = np.array(intervals).T
        assert np.mean((low <= np.mean(values)) & (np.mean(values) <= high)) >= 0.93
