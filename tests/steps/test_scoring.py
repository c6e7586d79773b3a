"""Scores under weights are scikit-learn's, which takes the weights as sample_weight."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn import metrics

from skeval.steps.scoring import SCORES, Predictions

N = 200
RNG = np.random.default_rng(0)
WEIGHTS = np.vstack([np.ones(N), RNG.integers(0, 4, (5, N))]).astype(float)


def labelled(n_labels: int) -> tuple[np.ndarray, Predictions]:
    truth = RNG.integers(0, n_labels, N)
    raw = RNG.random((N, n_labels)).round(1) + 0.05 + 0.8 * np.eye(n_labels)[truth]
    scores = raw / raw.sum(axis=1, keepdims=True)
    return truth, Predictions(scores.argmax(axis=1), scores, True)


BINARY, SEVERAL = labelled(2), labelled(4)


@pytest.mark.parametrize(
    ("name", "theirs"),
    [
        ("accuracy", lambda y, f, w: metrics.accuracy_score(y, f.values, sample_weight=w)),
        (
            "balanced_accuracy",
            lambda y, f, w: metrics.balanced_accuracy_score(y, f.values, sample_weight=w),
        ),
        ("precision", lambda y, f, w: metrics.precision_score(y, f.values, sample_weight=w)),
        ("recall", lambda y, f, w: metrics.recall_score(y, f.values, sample_weight=w)),
        ("f1", lambda y, f, w: metrics.f1_score(y, f.values, sample_weight=w)),
        ("roc_auc", lambda y, f, w: metrics.roc_auc_score(y, f.scores[:, 1], sample_weight=w)),
        (
            "average_precision",
            lambda y, f, w: metrics.average_precision_score(y, f.scores[:, 1], sample_weight=w),
        ),
        ("log_loss", lambda y, f, w: metrics.log_loss(y, f.scores, sample_weight=w)),
        ("brier", lambda y, f, w: metrics.brier_score_loss(y, f.scores[:, 1], sample_weight=w)),
    ],
)
def test_two_labels(name, theirs):
    truth, predictions = BINARY
    expected = [theirs(truth, predictions, row) for row in WEIGHTS]
    assert SCORES[name].of(truth, predictions, WEIGHTS, 1) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(
    ("name", "theirs"),
    [
        ("accuracy", lambda y, f, w: metrics.accuracy_score(y, f.values, sample_weight=w)),
        (
            "balanced_accuracy",
            lambda y, f, w: metrics.balanced_accuracy_score(y, f.values, sample_weight=w),
        ),
        (
            "precision",
            lambda y, f, w: metrics.precision_score(y, f.values, average="macro", sample_weight=w),
        ),
        (
            "recall",
            lambda y, f, w: metrics.recall_score(y, f.values, average="macro", sample_weight=w),
        ),
        ("f1", lambda y, f, w: metrics.f1_score(y, f.values, average="macro", sample_weight=w)),
        (
            "roc_auc",
            lambda y, f, w: metrics.roc_auc_score(y, f.scores, multi_class="ovr", sample_weight=w),
        ),
        ("log_loss", lambda y, f, w: metrics.log_loss(y, f.scores, sample_weight=w)),
    ],
)
def test_several_labels(name, theirs):
    truth, predictions = SEVERAL
    expected = [theirs(truth, predictions, row) for row in WEIGHTS]
    assert SCORES[name].of(truth, predictions, WEIGHTS, None) == pytest.approx(expected, abs=1e-12)


def test_brier_of_several_labels_is_the_sum_of_squares():
    truth, predictions = SEVERAL
    expected = np.mean(((predictions.scores - np.eye(4)[truth]) ** 2).sum(axis=1))
    assert SCORES["brier"].of(truth, predictions, WEIGHTS[:1], None) == pytest.approx([expected])


def test_average_precision_of_several_labels_is_their_mean():
    truth, predictions = SEVERAL
    each = [metrics.average_precision_score(truth == k, predictions.scores[:, k]) for k in range(4)]
    got = SCORES["average_precision"].of(truth, predictions, WEIGHTS[:1], None)
    assert got == pytest.approx([np.mean(each)])


@pytest.mark.parametrize(
    ("name", "theirs"),
    [
        ("mse", metrics.mean_squared_error),
        ("rmse", metrics.root_mean_squared_error),
        ("mae", metrics.mean_absolute_error),
        ("r2", metrics.r2_score),
    ],
)
def test_numbers(name, theirs):
    truth = RNG.normal(1e6, 3.0, N)
    predictions = Predictions(truth + RNG.normal(size=N))
    expected = [theirs(truth, predictions.values, sample_weight=row) for row in WEIGHTS]
    assert SCORES[name].of(truth, predictions, WEIGHTS, None) == pytest.approx(expected, rel=1e-9)


def test_areas_count_only_labels_that_are_tested():
    truth, predictions = SEVERAL
    kept = truth < 3
    less = Predictions(predictions.values[kept], predictions.scores[kept], True)
    each = [metrics.roc_auc_score(truth[kept] == k, less.scores[:, k]) for k in range(3)]
    assert SCORES["roc_auc"].of(truth[kept], less, np.ones((1, kept.sum())), None)[0] == (
        pytest.approx(np.mean(each))
    )


def test_scores_that_are_not_defined_are_nan():
    one = np.zeros(5, dtype=np.int64)
    predictions = Predictions(one, np.column_stack([np.ones(5), np.zeros(5)]), True)
    assert np.isnan(SCORES["roc_auc"].of(one, predictions, np.ones((1, 5)), 1)).all()
    assert np.isnan(SCORES["average_precision"].of(one, predictions, np.ones((1, 5)), 1)).all()
    margins = Predictions(one, predictions.scores, are_probabilities=False)
    for name in ("log_loss", "brier"):
        assert np.isnan(SCORES[name].of(one, margins, np.ones((1, 5)), 1)).all()
    assert np.isnan(SCORES["r2"].of(np.ones(5), Predictions(np.zeros(5)), np.ones((1, 5)), None))[0]


def test_a_label_that_only_synthetic_rows_have_is_always_wrong():
    truth = np.array([0, 0, 1, 1])
    predictions = Predictions(np.array([0, 2, 1, 3]), np.full((4, 2), 0.3), True)
    ones = np.ones((1, 4))
    assert SCORES["accuracy"].of(truth, predictions, ones, 1)[0] == 0.5
    assert SCORES["balanced_accuracy"].of(truth, predictions, ones, 1)[0] == 0.5
    assert SCORES["precision"].of(truth, predictions, ones, 1)[0] == 1.0
    assert SCORES["f1"].of(truth, predictions, ones, 1)[0] == pytest.approx(2 / 3)


def test_nothing_called_has_precision_0():
    truth = np.array([0, 1])
    predictions = Predictions(np.zeros(2, dtype=np.int64), np.full((2, 2), 0.5), True)
    assert SCORES["precision"].of(truth, predictions, np.ones((1, 2)), 1)[0] == 0.0
    never = Predictions(np.zeros(2, dtype=np.int64), np.full((2, 3), 0.5), True)
    assert SCORES["recall"].of(np.zeros(2, dtype=np.int64), never, np.ones((1, 2)), 2)[0] == 0.0


def test_log_loss_of_an_impossible_label_is_finite():
    truth = np.array([1])
    predictions = Predictions(np.array([0]), np.array([[1.0, 0.0]]), True)
    assert SCORES["log_loss"].of(truth, predictions, np.ones((1, 1)), 1)[0] == pytest.approx(
        metrics.log_loss([1], [[1.0, 0.0]], labels=[0, 1])
    )


@pytest.mark.parametrize("name", ["roc_auc", "average_precision", "log_loss", "brier"])
def test_a_label_that_only_tested_rows_have_gets_no_chance(name):
    truth = np.array([0, 1, 3, 1])
    known = Predictions(np.array([0, 1, 0, 1]), np.array([[0.9, 0.1], [0.2, 0.8]] * 2), True)
    padded = np.pad(known.scores, ((0, 0), (0, 2)))
    every = Predictions(known.values, padded, True)
    ones = np.ones((1, 4))
    found, expected = (SCORES[name].of(truth, each, ones, None)[0] for each in (known, every))
    assert found == expected
    assert np.isfinite(found)
