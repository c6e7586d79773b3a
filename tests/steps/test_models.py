"""Each family learns each task, on odd rows too."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.svm import LinearSVC
from xgboost import XGBClassifier

from skeval import Context
from skeval.datasets import make_mixed
from skeval.steps.models import (
    FAMILIES,
    HOLDOUT,
    SYNTHETIC,
    TRAIN,
    Native,
    augmented_training,
    fit_model,
    learn,
    out_of_fold,
    predict_part,
    rows_of,
    synthetic_split,
    training_rows,
)
from skeval.steps.problem import Question, problem_of, rows_of_role


@pytest.fixture(scope="module")
def mixed() -> Context:
    train, holdout, synthetic = (make_mixed(150, random_state=seed) for seed in range(3))
    return Context.of(train, holdout).with_synthetic(synthetic)


@pytest.mark.parametrize("target", ["member", "plan", "income"])
@pytest.mark.parametrize("family", FAMILIES)
def test_each_family_learns_each_task(mixed, family, target):
    question = Question(target)
    problem = problem_of(mixed, question)
    predictions = predict_part(mixed, TRAIN, HOLDOUT, family, question, 0)
    truth = rows_of_role(mixed, "holdout", question).target
    assert predictions.values.shape == truth.shape
    if problem.has_labels:
        assert predictions.are_probabilities
        assert predictions.scores.sum(axis=1) == pytest.approx(np.ones(truth.size), abs=1e-6)
        assert (predictions.values == predictions.scores.argmax(axis=1)).all()
        assert (predictions.values == truth).mean() > 0.4
    else:
        assert np.corrcoef(predictions.values, truth)[0, 1] > 0.3
        assert 0.3 < predictions.values.mean() / truth.mean() < 3


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("n_rows", [1, 2, 7])
def test_few_rows(mixed, family, n_rows):
    for target in ("member", "plan", "age"):
        question = Question(target)
        problem, rows = problem_of(mixed, question), rows_of_role(mixed, "train", question)
        few = rows.take(np.linspace(0, len(rows) - 1, n_rows).astype(int))
        predictions = learn(family, few, problem, 0).predict(
            rows_of_role(mixed, "holdout", question)
        )
        assert np.isfinite(predictions.values).all()


def test_levels_that_were_not_learned_are_missing():
    rows = np.array([[1.0, 0.0], [3.0, 2.0], [np.nan, 2.0]])
    encoder = Native.from_rows(rows, (False, True))
    actual = encoder.transform(np.array([[2.0, 1.0], [np.inf, 2.0], [np.nan, 0.0], [3.0, np.nan]]))
    assert actual[:, 0] == pytest.approx([0.0, 1e30, np.nan, 1.0], nan_ok=True)
    assert actual[:, 1] == pytest.approx([np.nan, 1.0, 0.0, np.nan], nan_ok=True)


@pytest.mark.slow
def test_a_boosting_of_the_users_sees_categories(mixed):
    question = Question("member")
    model = XGBClassifier(
        n_estimators=5, enable_categorical=True, feature_types=["q", "c", "q", "q", "c", "q"]
    )
    assert isinstance(fit_model(mixed, TRAIN, model, question, 0).encoder, Native)
    plain = fit_model(mixed, TRAIN, HistGradientBoostingClassifier(max_iter=5), question, 0)
    assert not isinstance(plain.encoder, Native)


def test_margins_rank_where_there_are_no_probabilities(mixed):
    for target in ("member", "plan"):
        predictions = predict_part(mixed, TRAIN, HOLDOUT, LinearSVC(), Question(target), 0)
        assert not predictions.are_probabilities
        assert (predictions.scores.argmax(axis=1) == predictions.values).all()


def test_parts_of_the_synthetic_rows_are_disjoint(mixed):
    question = Question("plan")
    training, part = synthetic_split(0.4)
    learned = training_rows(mixed, training, question, 0)
    tested = rows_of(mixed, part, question, 0)
    every = rows_of_role(mixed, "synthetic", question)
    assert len(learned) + len(tested) == len(every)
    joined = np.sort(np.concatenate([learned.features[:, 0], tested.features[:, 0]]))
    np.testing.assert_array_equal(joined, np.sort(every.features[:, 0]))
    shares = [np.bincount(rows.target, minlength=3) / len(rows) for rows in (learned, tested)]
    assert shares[0] == pytest.approx(shares[1], abs=0.02)


def test_added_rows(mixed):
    question = Question("member")
    assert len(training_rows(mixed, augmented_training(1.0), question, 0)) == 300
    assert len(training_rows(mixed, augmented_training(0.2), question, 0)) == 180
    assert len(training_rows(mixed, augmented_training(9.0), question, 0)) == 300
    assert len(training_rows(mixed, TRAIN._replace(max_rows=40), question, 0)) == 40


@pytest.mark.slow
def test_out_of_fold_predictions_have_not_seen_their_row(mixed):
    """On labels drawn at random the model itself is right, and those without the row are not."""
    rng = np.random.default_rng(0)
    train, holdout = mixed.train, mixed.holdout
    train["member"] = rng.random(len(train)) < 0.5
    context = Context.of(train, holdout).with_synthetic(mixed.synthetic)
    question = Question("member")
    truth = rows_of_role(context, "train", question).target
    own = predict_part(context, TRAIN, TRAIN.rows, "forest", question, 0).values
    unseen = out_of_fold(context, TRAIN, "forest", question, 5, 0).values
    assert (own == truth).mean() > 0.75
    assert 0.3 < (unseen == truth).mean() < 0.7
    added = out_of_fold(context, augmented_training(1.0), "forest", question, 5, 0)
    assert added.values.shape == truth.shape


def test_out_of_fold_numbers(mixed):
    question = Question("age")
    predictions = out_of_fold(mixed, SYNTHETIC, "linear", question, 3, 0)
    truth = rows_of_role(mixed, "synthetic", question).target
    assert predictions.scores is None
    assert np.corrcoef(predictions.values, truth)[0, 1] > 0.3


def test_targets_far_beyond_those_of_train_are_bounded():
    train = pd.DataFrame({"x": np.arange(20.0), "y": np.arange(20.0) * 5e-324})
    context = Context.of(train, train).with_synthetic(train.assign(y=np.arange(20.0)))
    question = Question("y")
    model = fit_model(context, SYNTHETIC, "xgboost", question, 0)
    assert np.isfinite(model.predict(rows_of_role(context, "train", question)).values).all()
