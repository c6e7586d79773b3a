"""Telling synthetic from real texts: calibrated, powerful, by whatever makes vectors."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn.ensemble import (
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.feature_extraction.text import HashingVectorizer, TfidfVectorizer
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.naive_bayes import GaussianNB, MultinomialNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from skeval.exceptions import InvalidParameterError, MetricWarning
from skeval.fidelity import ClassifierTwoSampleTest
from skeval.steps.text_features import hstack_features
from skeval.text import TextTwoSampleTest
from tests.calibrations import Claim, all_hold, rates_of
from tests.snapshots import raises, warns

SCHEMA = {"note": "text"}
WORDS = np.array([f"word{i}" for i in range(60)])


class Encoder:
    def encode(self, texts):
        return HashingVectorizer(n_features=32).transform(texts).toarray()


def notes(n_rows, seed, offset=0.0):
    rng = np.random.default_rng(seed)
    weights = 1.0 / (np.arange(1, 61) + offset)
    words = rng.choice(WORDS, (n_rows, 8), p=weights / weights.sum())
    return pd.DataFrame({"note": [" ".join(row) for row in words], "x": rng.normal(size=n_rows)})


TRAIN, HOLDOUT, FRESH, OTHER = notes(200, 0), notes(200, 1), notes(200, 2), notes(200, 3, 20.0)


@pytest.mark.parametrize(
    "metric",
    [
        TextTwoSampleTest(),
        TextTwoSampleTest("auc", vectorizer=TfidfVectorizer()),
        TextTwoSampleTest(vectorizer=Encoder()),
        TextTwoSampleTest(estimator=MultinomialNB()),
        ClassifierTwoSampleTest(),
    ],
    ids=["tfidf", "transformer", "encode", "estimator", "with other columns"],
)
@pytest.mark.slow
def test_tells_other_texts_and_not_fresh_ones(metric):
    metric.fit(TRAIN, HOLDOUT, schema=SCHEMA)
    fresh, other = metric.evaluate(FRESH), metric.evaluate(OTHER)
    assert fresh.p_value > 0.01
    assert other.p_value < 1e-4
    assert other.value > 0.6 > fresh.value
    assert next(iter(other.details["top_features"])) == "note"
    assert "word1" not in other.to_json()


@pytest.mark.parametrize(
    "classifier",
    [
        RandomForestClassifier(20),
        ExtraTreesClassifier(20),
        DecisionTreeClassifier(max_depth=4),
        GradientBoostingClassifier(n_estimators=20),
        SVC(),
        HistGradientBoostingClassifier(max_iter=2, min_samples_leaf=5),
        make_pipeline(StandardScaler(), LogisticRegression()),
        GaussianNB(),
        KNeighborsClassifier(),
    ],
    ids=lambda classifier: type(classifier).__name__,
)
@pytest.mark.parametrize("made", [ClassifierTwoSampleTest, TextTwoSampleTest])
@pytest.mark.slow
def test_any_classifier_reads_texts(made, classifier):
    tables = (table[:60] for table in (TRAIN, HOLDOUT))
    metric = made("auc", estimator=classifier).fit(*tables, schema=SCHEMA)
    assert metric.evaluate(OTHER[:60]).value > 0.55
    assert 0.0 <= metric.score(FRESH[:60]) <= 1.0


class Unmarked(GaussianNB):
    """Has no tags to say what it reads."""

    __sklearn_tags__ = property()


def test_who_reads_sparse_features():
    from skeval.steps.text_features import reads_sparse

    assert reads_sparse(SVC())
    assert reads_sparse(Unmarked())
    assert not reads_sparse(GaussianNB())


def test_features_are_made_dense_within_a_budget():
    words = HashingVectorizer(n_features=2**20)
    sparse = TextTwoSampleTest("auc", estimator=SGDClassifier(loss="log_loss"), vectorizer=words)
    assert 0.0 <= sparse.fit(TRAIN, HOLDOUT, schema=SCHEMA).score(FRESH) <= 1.0
    dense = TextTwoSampleTest("auc", estimator=HistGradientBoostingClassifier(), vectorizer=words)
    dense.fit(TRAIN, HOLDOUT, schema=SCHEMA)
    with raises(InvalidParameterError):
        dense.score(FRESH)


def test_indices_have_32_bits():
    wide = csr_array((np.ones(2), np.array([0, 5], dtype=np.int64), np.array([0, 1, 2])))
    joined = hstack_features([wide, np.ones((2, 1))])
    assert joined.indices.dtype == joined.indptr.dtype == np.int32
    assert joined.shape == (2, 7)


@pytest.mark.slow
def test_the_table_test_can_leave_texts_out():
    metric = ClassifierTwoSampleTest(text=None).fit(TRAIN, HOLDOUT, schema=SCHEMA)
    without = ClassifierTwoSampleTest().fit(TRAIN[["x"]], HOLDOUT[["x"]]).evaluate(OTHER[["x"]])
    assert metric.score(OTHER) == without.value
    chosen = ClassifierTwoSampleTest(columns=["x"]).fit(TRAIN, HOLDOUT, schema=SCHEMA)
    assert chosen.score(OTHER) == without.value


@pytest.mark.slow
def test_permuted_labels():
    metric = TextTwoSampleTest(test="permutation", n_permutations=19, n_folds=2)
    assert metric.fit(TRAIN[:60], HOLDOUT[:60], schema=SCHEMA).evaluate(OTHER[:60]).p_value == 0.05


def test_copied_texts_are_said():
    metric = TextTwoSampleTest().fit(TRAIN, schema=SCHEMA)
    with warns(MetricWarning):
        result = metric.evaluate(TRAIN.iloc[::-1])
    assert result.details["copied_share"] == 1.0
    assert result.value == 0.5
    assert result.summary.endswith("which indicates copies and not fidelity.")


def test_whether_a_text_is_missing_is_seen():
    gaps = FRESH.assign(note=FRESH["note"].where(np.arange(200) % 2 == 0))
    assert TextTwoSampleTest().fit(TRAIN, HOLDOUT, schema=SCHEMA).score(gaps) > 0.7


@pytest.mark.filterwarnings("ignore::skeval.exceptions.SharedRowsWarning")
@pytest.mark.parametrize(
    "texts", [[""], ["one"], ["\U0001f642"], ["same words here"], ["x " * 50_000]]
)
def test_odd_texts_have_values(texts):
    odd = pd.DataFrame({"note": texts * 40})
    result = TextTwoSampleTest().fit(odd, odd, schema=SCHEMA).evaluate(odd)
    assert result.value == 0.5
    assert TextTwoSampleTest().fit(TRAIN, HOLDOUT, schema=SCHEMA).score(odd.assign(x=0.0)) > 0.9


@pytest.mark.calibration
@pytest.mark.filterwarnings("ignore::skeval.exceptions.MetricWarning")  # 1 in 100 reads as copies
def test_p_values_of_fresh_texts_are_uniform_or_larger():
    def rejects(seed):
        tables = [notes(80, 10 * seed + i) for i in range(3)]
        metric = TextTwoSampleTest().fit(*tables[:2], schema=SCHEMA)
        p_value = metric.evaluate(tables[2]).p_value
        return {"5%": p_value <= 0.05, "20%": p_value <= 0.2}

    claims = {"5%": Claim(0.05, high=0.1), "20%": Claim(0.2, high=0.3)}
    found = rates_of(map(rejects, range(100)), claims)
    assert all_hold(found), found
