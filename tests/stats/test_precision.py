from __future__ import annotations

import numpy as np
import pytest

from skeval.privacy.attacks.membership.rates import (
    bayes_precision,
    f1_at,
    precision_at,
    relative_f1,
)
from skeval.stats.intervals import clopper_pearson


def test_precision_of_two_normals():
    rs = np.random.RandomState(0)
    normal = rs.normal(1, 1, 1000), rs.normal(0, 1, 1000)
    precision, interval = precision_at(*normal, 100)
    assert precision == 0.91
    assert interval == clopper_pearson(91, 100)


def test_precision_counts_ties_by_their_share():
    positives, negatives = np.array([5.0, 1.0, 1.0]), np.array([1.0, 0.0, 0.0])
    precision, (low, high) = precision_at(positives, negatives, 2)  # one hit, and 2 of 3 tie
    assert precision == pytest.approx((1 + 2 / 3) / 2)
    assert (low, high) == (clopper_pearson(1, 2)[0], clopper_pearson(2, 2)[1])


def test_precision_by_bayes():
    assert bayes_precision(0.4, 0.1, 0.5) == pytest.approx(0.8)
    assert bayes_precision(0.4, 0.0, 0.01) == 1.0
    assert np.isnan(bayes_precision(0.0, 0.0, 0.5))


def test_f1_by_hand():
    f1 = f1_at(40 / 50, 20 / 50, 0.5)  # 40 right, 20 wrong, 10 missed
    assert f1 == pytest.approx(0.727273, abs=1e-6)
    assert f1_at(1.0, 1.0, 0.5) == pytest.approx(2 / 3)
    assert relative_f1(f1, 0.5) == pytest.approx(0.181818, abs=1e-6)
    assert f1_at(1.0, 1.0, 0.2) == pytest.approx(0.4 / 1.2)
    assert f1_at(0.0, 0.0, 0.5) == 0.0


def test_precision_where_all_scores_tie():
    ones = np.ones(20)
    assert precision_at(ones, ones, 5)[0] == 0.5
    assert precision_at(ones, ones, 40)[0] == 0.5
