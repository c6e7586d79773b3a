from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import precision_recall_curve, precision_score, recall_score

from skeval.utility.efficacy import called_shares, threshold_at

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
