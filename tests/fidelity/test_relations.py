from __future__ import annotations

import zlib

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.tree import DecisionTreeClassifier

from skeval import MetricSuite, check_metric, compare, make_suite
from skeval.datasets import make_mixed
from skeval.exceptions import MetricWarning
from skeval.fidelity import RelationScore, SimilarityScore
from skeval.generators import GaussianCopula, SequentialCART
from skeval.steps.relations import areas_of_halves
from tests.counting import CountingContext
from tests.report_text import report_text
from tests.snapshots import warns

N_ROWS = 400


def related(n_rows=N_ROWS, seed=0):
    """Return numbers and a category that depend on each other, and one that does not."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=n_rows)
    y = x**2 + rng.normal(scale=0.5, size=n_rows)
    z = np.where(x * y > 0, "up", "down")
    flipped = np.where(rng.random(n_rows) < 0.1, "other", z)
    return pd.DataFrame({"x": x, "y": y, "z": flipped, "free": rng.normal(size=n_rows)})


def apart(table, seed=0):
    rng = np.random.default_rng(seed)
    return table.apply(lambda column: rng.permutation(column.to_numpy()))


TRAIN, HOLDOUT, FRESH = (related(seed=seed) for seed in range(3))


@pytest.fixture(scope="module")
def metric():
    return RelationScore().fit(TRAIN, HOLDOUT)


def test_fresh_rows_keep_all_and_columns_shuffled_apart_none(metric):
    fresh, shuffled = metric.evaluate(FRESH), metric.evaluate(apart(TRAIN))
    assert fresh.value > 0.85
    assert fresh.baseline > 0.85
    assert fresh.difference[0] < 0.0 < fresh.difference[1]
    assert shuffled.value < 0.1
    assert shuffled.difference[1] < -0.5
    assert shuffled.interval[0] == 0.0


def test_what_a_column_is_does_not_matter(metric):
    far = apart(FRESH).assign(x=lambda table: table["x"] + 50, z="up")
    assert metric.score(far) < 0.1
    assert metric.score(pd.concat([FRESH.iloc[[0]]] * 100)) < 0.1


def test_half_of_the_rows_keep_half(metric):
    half = pd.concat([FRESH.iloc[:200], apart(FRESH.iloc[200:])])
    assert metric.score(half) == pytest.approx(0.5, abs=0.15)


def test_the_noise_of_what_was_learned_counts_more_for_larger_values(metric):
    """The value is a ratio, so its upper bound is farther away than its lower bound."""
    result = metric.evaluate(pd.concat([FRESH.iloc[:200], apart(FRESH.iloc[200:])]))
    low, high = result.interval
    assert high < 1.0
    assert high - result.value > 1.02 * (result.value - low)


def test_copies_keep_as_much_as_fresh_rows_and_no_more(metric):
    result = metric.evaluate(TRAIN)
    assert result.value == 1.0
    assert result.details["unclipped"] > 1.0
    comparison = MetricSuite([("relations", metric)]).fit(TRAIN, HOLDOUT)
    told = comparison.compare({"copies": TRAIN, "fresh": FRESH})
    assert told.standing().loc["fidelity"].unique().tolist() == ["not distinguishable"]


def test_the_parts_of_the_value(metric):
    details = metric.evaluate(FRESH).details
    kept = (details["auc"] - 0.5) / (details["auc_train"] - 0.5)
    assert details["unclipped"] == pytest.approx(kept)
    assert details["n_rows"] == N_ROWS


def test_what_is_learned_of_train_is_learned_once():
    metric = RelationScore().fit_context(CountingContext.of(TRAIN, HOLDOUT))
    CountingContext.runs.clear()
    for table in (FRESH, apart(FRESH), FRESH.iloc[:100]):
        metric.evaluate(table)
    assert CountingContext.names().count("learned_relations") == 1
    assert CountingContext.names().count("learned_halvings") == 1


def test_unrelated_columns_have_no_relation_to_keep():
    rng = np.random.default_rng(0)
    train, made = (pd.DataFrame(rng.normal(size=(200, 3)), columns=list("abc")) for _ in range(2))
    with warns(MetricWarning):
        assert np.isnan(RelationScore().fit(train).score(made))
    with warns(MetricWarning):
        assert np.isnan(RelationScore().fit(train[["a"]]).score(made[["a"]]))
    with warns(MetricWarning):
        assert np.isnan(RelationScore().fit(TRAIN.iloc[:5]).score(FRESH))


@pytest.mark.parametrize(("n_rows", "max_rows"), [(20, None), (39, None), (200, 20)])
def test_folds_of_a_single_row_have_no_value(n_rows, max_rows):
    """A single row has no standard error, so that no interval would say what the value means."""
    metric = RelationScore(n_folds=20, max_rows=max_rows).fit(make_mixed(n_rows, 0))
    with pytest.warns(MetricWarning):
        result = metric.evaluate(make_mixed(n_rows, 1))
    assert np.isnan(result.value)
    assert result.interval is None


def test_any_classifier_will_do():
    tree = DecisionTreeClassifier(min_samples_leaf=10)
    metric = RelationScore(tree, n_folds=3, max_rows=200).fit(TRAIN)
    assert metric.score(FRESH) > 0.6
    assert metric.score(apart(TRAIN)) < 0.2


@pytest.mark.calibration
def test_it_keeps_the_contract():
    check_metric(RelationScore())


def test_halves_vary_as_two_samples_do():
    """The variance of the whole is half of that of halves, which half their squared gap is."""
    rng = np.random.default_rng(0)
    wholes, gaps = [], []
    for _ in range(60):
        scores = np.array([[rng.normal(0.7, size=100), rng.normal(size=100)]])
        wholes.append((scores[0, 0][:, None] > scores[0, 1]).mean())
        gaps.append(np.diff(areas_of_halves(scores, 5), axis=1).ravel() ** 2)
    assert np.mean(gaps) / 4 == pytest.approx(np.var(wholes), rel=0.6)


@pytest.mark.slow
def test_intervals_of_large_tables_include_what_other_classifiers_would_have_learned():
    """Small trees of other rows differ by more than the standard error of an AUC."""
    small = DecisionTreeClassifier(max_leaf_nodes=20)
    found = []
    for seed in range(40):
        train, shifted = (make_mixed(4200, random_state=900 + 2 * seed + i) for i in range(2))
        shifted = shifted.assign(age=shifted["age"] + 8, income=1.3 * shifted["income"])
        result = RelationScore(small).fit(train).evaluate(shifted)
        found.append((result.value, *result.interval))
    values, low, high = np.array(found).T
    assert np.mean((low <= values.mean()) & (values.mean() <= high)) >= 0.8


class OneOfTwoRelations(ClassifierMixin, BaseEstimator):
    """Classifier of x*y and x*z, which differs between training data however many rows they have."""

    def fit(self, rows, labels):
        self.classes_ = np.unique(labels)
        self.share_ = np.random.default_rng(zlib.crc32(rows.tobytes())).random()
        return self

    def decision_function(self, rows):
        x, y, z = rows.T
        return x * (self.share_ * y + (1.0 - self.share_) * z)

    def predict(self, rows):
        return self.classes_[(self.decision_function(rows) > 0).astype(int)]


@pytest.mark.slow
def test_classifiers_may_differ_as_much_if_they_learn_from_more_rows():
    """Parts of the rows may not be assumed to vary by more, as they would if rows were averaged."""
    found = []
    for seed in range(400):
        rng = np.random.default_rng(seed)
        x, others = rng.normal(size=(800, 1)), rng.normal(scale=0.3, size=(800, 2))
        rows = pd.DataFrame(np.hstack([x, x + others]), columns=list("xyz"))
        train, fresh = rows[:400], rows[400:].assign(z=rng.permutation(rows["z"][400:]))
        result = RelationScore(OneOfTwoRelations()).fit(train).evaluate(fresh)
        found.append((result.value, *result.interval))
    values, low, high = np.array(found).T
    assert np.mean((low <= values.mean()) & (values.mean() <= high)) >= 0.92
    assert np.mean(high - low) <= 1.5 * 2 * 1.96 * values.std()


@pytest.mark.slow
def test_the_shuffled_table_comes_last():
    """Its similarity is above that of others, which the first page must not go by alone."""
    train, holdout = (make_mixed(500, random_state=seed) for seed in range(2))
    tables = {
        "shuffled": apart(train),
        "copula": GaussianCopula(random_state=0).fit(train).sample(500),
        "older": SequentialCART(random_state=0).fit(train).sample(500),
    }
    tables["older"]["age"] += 12
    metrics = [("similarity", SimilarityScore()), ("relations", RelationScore())]
    suite = MetricSuite(metrics, check_holdout=False).fit(train, holdout)
    comparison = suite.compare(tables)
    values = comparison.frame()
    assert values.loc["similarity", "shuffled"] > values.loc["similarity", "older"]
    assert values.loc["relations", "shuffled"] < 0.15
    assert comparison.standing().loc["fidelity", "shuffled"] == "behind"
    assert "shuffled" not in comparison.choice()
    assert "Do not choose shuffled: relations of shuffled" in comparison.sentence
    again = compare({name: comparison[name] for name in tables})
    assert again.standing().loc["fidelity", "shuffled"] == "behind"


@pytest.mark.slow
def test_no_summary_and_no_first_page_has_similarity_alone():
    train, holdout = (make_mixed(300, random_state=seed) for seed in range(2))
    report = make_suite("report").metrics
    metrics = [(n, m) for n, m in report if m.tags.aspect == "fidelity" and "text" not in n]
    suite = MetricSuite(metrics, check_holdout=False).fit(train, holdout)
    result = suite.evaluate(apart(train))
    page = report_text(result, "decision")
    assert "Pairs of columns" in page
    assert "All columns at once" in page
    assert "relations" in result.to_dict()["results"]
    said = result.summary()
    assert "Single columns are similar" in said
    assert "Relations between columns are not" in said


@pytest.mark.slow
def test_fresh_rows_score_one_on_average():
    values = []
    for seed in range(20):
        tables = (related(200, seed=100 + 3 * seed + i) for i in range(2))
        train, fresh = tables
        values.append(RelationScore().fit(train).evaluate(fresh).details["unclipped"])
    error = np.std(values) / np.sqrt(len(values))
    assert abs(np.mean(values) - 1.0) < 3 * error + 0.05
