"""Scores of classifiers: published values, roles of the tables, and what must not matter."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.model_selection import StratifiedKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skeval import Context, TableSchema
from skeval.datasets import make_mixed
from skeval.fidelity import ClassifierPRD, ClassifierTwoSampleTest
from skeval.stats.distance_bounds import Confusion, jensen_shannon_terms
from skeval.stats.roc import auc
from skeval.steps.classifiers import (
    candidates,
    copied_share,
    fold_scores,
    importances,
    learn,
    ordered_rows,
    out_of_fold,
    split,
    too_few,
    with_defaults,
)
from skeval.utils.parameters import legal_sets

TRAIN, HOLDOUT, SYNTHETIC = (make_mixed(120, random_state=seed) for seed in range(3))
FOLDS = (None, 5, None, 0)
HALVES = (None, 0.5, None, 0)


def context_of(train, holdout, synthetic, **settings):
    return Context.of(train, holdout, **settings).with_synthetic(synthetic)


@pytest.mark.slow
def test_the_published_scores_of_a_linear_model_and_a_tree(cancer):
    train, _, synthetic = (table.to_numpy() for table in cancer)
    linear, tree, light = (
        out_of_fold(which, train, synthetic, [False] * 30)
        for which in ("logistic", "xgboost", "light xgboost")
    )
    assert Confusion.from_scores(linear.real, linear.synthetic).accuracy == pytest.approx(
        0.545, abs=0.005
    )
    assert auc(linear.synthetic, linear.real) == pytest.approx(0.523, abs=0.001)
    assert jensen_shannon_terms(linear.real, linear.synthetic)[0] == pytest.approx(
        -0.0388, abs=5e-5
    )
    assert Confusion.from_scores(tree.real, tree.synthetic).accuracy == pytest.approx(
        0.952, abs=0.01
    )
    assert auc(tree.synthetic, tree.real) == pytest.approx(0.992, abs=0.005)
    assert auc(light.synthetic, light.real) == pytest.approx(0.99, abs=0.02)
    assert not np.array_equal(light.real, tree.real)


def test_folds_are_those_of_scikit_learn(cancer):
    train, _, synthetic = (table.to_numpy() for table in cancer)
    rows, labels = (
        np.concatenate([train, synthetic]),
        np.repeat([0, 1], [len(train), len(synthetic)]),
    )
    scores = np.empty(len(rows))
    for seen, unseen in StratifiedKFold(5, shuffle=True, random_state=0).split(rows, labels):
        model = make_pipeline(StandardScaler(), LogisticRegression(tol=1e-8, max_iter=1000))
        scores[unseen] = model.fit(rows[seen], labels[seen]).predict_proba(rows[unseen])[:, 1]
    found = out_of_fold("logistic", train, synthetic, [False] * 30)
    assert np.concatenate([found.real, found.synthetic]) == pytest.approx(scores, abs=1e-3)


def test_scores_without_probabilities_keep_their_order():
    rng = np.random.default_rng(0)
    rows, labels = rng.normal(size=(60, 2)), np.repeat([0, 1], 30)
    rows[labels == 1] += 0.5
    model = learn(RidgeClassifier(), rows, labels, [False, False], 0)
    margin = model.classifier.decision_function(model.encoder.transform(rows))
    assert (np.argsort(margin) == np.argsort(model.scores(rows))).all()
    assert ((margin > 0) == (model.scores(rows) > 0.5)).all()


def test_a_classifier_that_only_predicts():
    class Above(GaussianNB):
        @property
        def predict_proba(self):
            raise AttributeError

    model = learn(
        Above(), np.array([[0.0], [0.1], [5.0], [5.1]]), np.array([0, 0, 1, 1]), [False], 0
    )
    assert model.scores(np.array([[0.0], [5.0]])).tolist() == [0.0, 1.0]


def test_nothing_to_learn_from_is_one_half():
    model = learn("logistic", np.ones((6, 1)), np.arange(6) >= 3, [False], 0)
    assert model.scores(np.arange(3.0)[:, None]).tolist() == [0.5, 0.5, 0.5]


def test_names_of_classifiers():
    assert list(with_defaults(None)) == ["xgboost", "logistic"]
    assert list(with_defaults(GaussianNB())) == ["GaussianNB", "xgboost", "logistic"]
    assert list(candidates([GaussianNB(), GaussianNB(), LogisticRegression()])) == [
        "GaussianNB", "GaussianNB 2", "LogisticRegression"
    ]  # fmt: skip
    one = legal_sets(ClassifierTwoSampleTest)["estimator"]
    several = legal_sets(ClassifierPRD)["estimator"]
    assert one.accepts(None)
    assert one.accepts(GaussianNB())
    assert not one.accepts([GaussianNB()])
    assert not one.accepts(GaussianNB)
    assert several.accepts([GaussianNB()])
    assert not several.accepts([])
    assert "list" in several.description


def test_ids_texts_and_keys_are_skipped():
    keyed = [
        table.assign(number=np.arange(120.0) + i, note=[f"a b c d e f {i} {j}" for j in range(120)])
        for i, table in enumerate((TRAIN, SYNTHETIC))
    ]
    schema = TableSchema({"number": "continuous"}, primary_key=("number",))
    keyed_context = context_of(keyed[0], None, keyed[1], schema=schema)
    plain = context_of(TRAIN, None, SYNTHETIC)
    assert ordered_rows(keyed_context, "train").shape == ordered_rows(plain, "train").shape
    first, second = (fold_scores(c, "logistic", *FOLDS) for c in (keyed_context, plain))
    assert first.real == pytest.approx(second.real)


def test_levels_are_in_order_whoever_has_them():
    """Codes of a context put levels that no real row has last; classifiers must not see that."""
    tables = [pd.DataFrame({"c": levels * 10}) for levels in (["b", "d"], ["a", "c"])]
    context = context_of(tables[0], None, tables[1])
    assert set(ordered_rows(context, "train").ravel()) == {1.0, 3.0}
    assert set(ordered_rows(context, "synthetic").ravel()) == {0.0, 2.0}


def test_a_level_a_row_tells_nothing():
    # mixed names, so that their order tells nothing either
    names = np.random.default_rng(0).permutation(600).astype(str)
    tables = [pd.DataFrame({"c": "v" + pd.Series(names[i::3])}) for i in range(3)]
    context = context_of(*tables, schema={"c": "categorical"})
    for which in ("xgboost", "logistic"):
        found = split(context, which, *HALVES).scores
        assert auc(found.synthetic, found.real) == pytest.approx(0.5, abs=0.1)


def test_balance_and_sample_size():
    context = context_of(TRAIN, HOLDOUT, SYNTHETIC.iloc[:40])
    scores = fold_scores(context, "logistic", *FOLDS)
    assert scores.real.size == scores.synthetic.size == 40
    fewer = fold_scores(context, "logistic", None, 5, 30, 0)
    assert fewer.real.size == fewer.synthetic.size == 30


@pytest.mark.parametrize(
    ("n_holdout", "n_synthetic", "real_rows", "n_tested", "n_learned"),
    [
        (120, 120, "holdout", 60, 60),
        (20, 120, "holdout", 20, 100),
        (9, 120, "train", 60, 60),
        (None, 60, "train", 30, 30),
    ],
)
def test_roles_in_the_split(n_holdout, n_synthetic, real_rows, n_tested, n_learned):
    holdout = None if n_holdout is None else HOLDOUT.iloc[:n_holdout]
    context = context_of(TRAIN, holdout, SYNTHETIC.iloc[:n_synthetic])
    found = split(context, "logistic", *HALVES)
    assert found.real_rows == real_rows
    assert found.scores.real.size == found.scores.synthetic.size == n_tested
    assert found.n_learned == n_learned


def test_what_the_classifier_goes_by():
    context = context_of(TRAIN, HOLDOUT, SYNTHETIC.assign(visits=SYNTHETIC["visits"] + 9))
    for which in ("xgboost", "logistic"):
        falls = importances(context, which, *HALVES)
        assert next(iter(falls)) == "visits"
        assert falls["visits"] > 0.2
        assert set(falls) == set(TRAIN.columns)


def test_copies_are_counted():
    mixed = pd.concat([TRAIN.iloc[:30], SYNTHETIC.iloc[:90]], ignore_index=True)
    assert copied_share(context_of(TRAIN, None, mixed)) == 0.25
    with_gaps = TRAIN.assign(age=np.nan, city=None)
    assert copied_share(context_of(with_gaps, None, with_gaps, schema={"age": "continuous"})) == 1.0


def test_too_few_rows():
    assert too_few(context_of(TRAIN, None, SYNTHETIC), None) == ""
    assert "synthetic has 9" in too_few(context_of(TRAIN, None, SYNTHETIC.iloc[:9]), None)
    assert "requires 30 rows" in too_few(context_of(TRAIN, None, SYNTHETIC.iloc[:20]), None, 30)


def test_seeds_are_given_to_who_has_none():
    from sklearn.ensemble import RandomForestClassifier

    forest = RandomForestClassifier(n_estimators=5)
    before = np.random.get_state()[1].copy()
    first, second = (
        fold_scores(context_of(TRAIN, None, SYNTHETIC), forest, *FOLDS).real for _ in range(2)
    )
    assert (first == second).all()
    assert (before == np.random.get_state()[1]).all()
    assert forest.random_state is None
