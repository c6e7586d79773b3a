"""Precision and recall at thresholds, with and without synthetic rows."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import precision_recall_curve, precision_score, recall_score

from skeval import Context
from skeval.datasets import make_mixed
from skeval.exceptions import DegenerateInputWarning, InvalidParameterError, MissingInputError
from skeval.steps.models import HOLDOUT, TRAIN, augmented_training, out_of_fold, predict_part
from skeval.steps.problem import Question, rows_of_role
from skeval.utility import PrecisionEfficacy, RecallEfficacy
from skeval.utility.efficacy import called_shares, threshold_at
from tests.snapshots import raises, warns


def by_hand(cancer, model, fixed, level, oof):
    """Thresholds by trying each score, precision and recall by scikit-learn."""
    context, question = Context.of(*cancer[:2]).with_synthetic(cancer.synthetic), Question("y")
    learned = rows_of_role(context, "train", question).target
    truth = rows_of_role(context, "holdout", question).target
    free = precision_score if fixed is recall_score else recall_score
    values = []
    for training in (TRAIN, augmented_training(1.0)):
        known = (
            out_of_fold(context, training, model, question, 2, 0)
            if oof
            else predict_part(context, training, TRAIN.rows, model, question, 0)
        ).scores[:, 1]
        tried = {t: fixed(learned, known >= t) for t in np.unique(known)}
        least = min(value for value in tried.values() if value >= level - 1e-12)
        best = max(
            (t for t, value in tried.items() if value == least),
            key=lambda t: free(learned, known >= t),
        )
        tested = predict_part(context, training, HOLDOUT, model, question, 0).scores[:, 1]
        values.append(free(truth, tested >= best))
    return values


@pytest.mark.slow
@pytest.mark.parametrize("oof", [True, False])
@pytest.mark.parametrize(
    ("kind", "fixed", "level"),
    [(PrecisionEfficacy, recall_score, 0.97), (RecallEfficacy, precision_score, 0.97)],
)
def test_against_trying_each_threshold(cancer, kind, fixed, level, oof):
    threshold = "out-of-fold" if oof else "train"
    metric = kind("y", level, estimator="bayes", threshold=threshold)
    result = metric.fit(*cancer[:2]).evaluate(cancer.synthetic)
    alone, added = by_hand(cancer, "bayes", fixed, level, oof)
    free = "precision" if kind is PrecisionEfficacy else "recall"
    assert result.details["models"]["train"][free] == pytest.approx(alone)
    assert result.details["models"]["augmented"][free] == pytest.approx(added)
    assert result.value == pytest.approx((added - alone) / 2 + 0.5)


def test_the_scale():
    """A precision that rises from .6 to .8 scores .6."""
    assert pytest.approx(0.6) == (0.8 - 0.6) / 2 + 0.5
    train, holdout, synthetic = (make_mixed(300, random_state=seed) for seed in range(3))
    result = PrecisionEfficacy("member", estimator="linear").fit(train, holdout).evaluate(synthetic)
    models = result.details["models"]
    gain = models["augmented"]["precision"] - models["train"]["precision"]
    assert result.details["gain"] == pytest.approx(gain)
    assert result.value == pytest.approx(gain / 2 + 0.5)


def test_harm_is_seen(cancer):
    """Wrong labels harm, and rows of the right distribution do not."""
    wrong = cancer.train.assign(y=1 - cancer.train["y"])
    metric = PrecisionEfficacy("y", estimator="bayes").fit(*cancer[:2])
    harmed = metric.evaluate(pd.concat([wrong] * 2, ignore_index=True))
    assert harmed.value < 0.45
    assert harmed.interval[1] < 0.5
    copies = metric.evaluate(cancer.train)
    assert copies.value == pytest.approx(0.5, abs=0.01)


@pytest.mark.slow
def test_a_model_is_too_sure_of_its_own_rows():
    """Thresholds of the training rows miss the recall on others; out-of-fold ones reach it."""
    rng = np.random.default_rng(0)
    tables = []
    for _ in range(3):
        x = rng.normal(size=(800, 5))
        y = rng.random(800) < 1 / (1 + np.exp(1 - x[:, 0]))
        tables.append(pd.DataFrame(x, columns=list("abcde")).assign(y=y))
    reached = {
        threshold: PrecisionEfficacy(
            "y", 0.9, estimator="xgboost", threshold=threshold, n_bootstrap=0
        )
        .fit(*tables[:2])
        .evaluate(tables[2])
        .details["models"]["train"]["recall"]
        for threshold in ("out-of-fold", "train")
    }
    assert reached["train"] < reached["out-of-fold"] - 0.1
    assert reached["out-of-fold"] == pytest.approx(0.9, abs=0.07)


# the larger tumours, of one label, are measured to fewer decimals
@pytest.mark.filterwarnings("ignore::skeval.exceptions.DifferentFormWarning")
def test_refusals_and_odd_tables(cancer):
    train, holdout, synthetic = (make_mixed(100, random_state=seed) for seed in range(3))
    with raises(MissingInputError):
        RecallEfficacy("plan").fit(train, holdout)
    with raises(InvalidParameterError):
        RecallEfficacy("plan", task="multiclass").fit(train, holdout)
    one = RecallEfficacy("plan", 0.5, estimator="tree", task="binary", pos_label="basic")
    assert 0 <= one.fit(train, holdout).score(synthetic) <= 1
    metric = RecallEfficacy("y", estimator="bayes").fit(
        cancer.train, cancer.holdout[cancer.holdout["y"] == 0]
    )
    with warns(DegenerateInputWarning):
        assert np.isnan(metric.score(cancer.synthetic))


TRUTH = np.array([1, 1, 0, 1, 0, 0], dtype=bool)
SCORES = np.array([0.9, 0.8, 0.7, 0.6, 0.5, 0.1])


@pytest.mark.parametrize(
    ("level", "of", "threshold"),
    [
        (1.0, "recall", 0.6),
        (0.6, "recall", 0.8),
        (2 / 3, "recall", 0.8),  # 0.8 and 0.7 both reach 2/3: the first has the better precision
        (0.7, "precision", 0.6),  # .75 is the least of what reaches .7
        (0.9, "precision", 0.8),  # 0.9 and 0.8 have precision 1: 0.8 finds more
        (0.5, "precision", 0.1),
    ],
)
def test_by_hand(level, of, threshold):
    assert threshold_at(TRUTH, SCORES, level, of) == threshold


def test_none_reaches():
    assert threshold_at(np.zeros(3, dtype=bool), np.ones(3) * 0.5, 0.5, "recall") == 1.0
    assert threshold_at(np.array([False, True]), np.array([0.9, 0.1]), 0.9, "precision") == 1.0


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 10_000), st.floats(0.05, 1.0), st.sampled_from(["precision", "recall"]))
@pytest.mark.slow
def test_it_is_the_least_value_of_the_curve_that_reaches_the_level(seed, level, of):
    rng = np.random.default_rng(seed)
    truth, scores = rng.random(30) < 0.4, rng.random(30).round(1)
    if not truth.any():
        return
    curves = dict(
        zip(("precision", "recall"), precision_recall_curve(truth, scores)[:2], strict=True)
    )
    values = curves[of][:-1]  # the last point belongs to no threshold
    threshold = threshold_at(truth, scores, level, of)
    reached = values[values >= level - 1e-12]
    if reached.size == 0:
        assert threshold == 1.0
        return
    score = precision_score if of == "precision" else recall_score
    assert score(truth, scores >= threshold) == pytest.approx(reached.min())


def test_shares_of_calls():
    called = np.array([1, 0, 1, 1, 0, 0], dtype=bool)
    weights = np.array([np.ones(6), [2, 0, 1, 0, 0, 3], [0, 0, 0, 0, 1, 1]])
    precision, recall = called_shares(TRUTH, called, weights).T
    assert precision == pytest.approx([2 / 3, 2 / 3, 0.0])
    assert recall[:2] == pytest.approx([2 / 3, 1.0])
    assert np.isnan(recall[2])
