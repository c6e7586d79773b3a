from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import norm

from skeval.fidelity.prd import curve_of_scores, least_risk, max_f_beta, slopes

SLOPES = np.array([0.25, 1.0, 4.0])
THEORY = SLOPES * norm.sf(0.5 + np.log(SLOPES)) + norm.cdf(np.log(SLOPES) - 0.5)


def normal(n, seed):
    rng = np.random.default_rng(seed)
    return rng.normal(size=n), rng.normal(1.0, 1.0, size=n)


def test_two_normal_laws():
    assert pytest.approx([0.2327, 0.6171, 0.9308], abs=5e-5) == THEORY
    found = [least_risk(*normal(20_000, 0), slope) for slope in SLOPES]
    assert found == pytest.approx([0.2322, 0.6077, 0.9231], abs=0.015)
    assert found == pytest.approx(THEORY, abs=0.01)


def test_halves_undo_the_bias_of_the_minimum():
    halves = [(normal(40, seed), normal(40, seed + 1000)) for seed in range(150)]
    apart = [curve_of_scores([pair], 3)[0][1] for pair in halves]
    together = [least_risk(*pair[0], 1.0) for pair in halves]
    assert np.mean(together) < THEORY[1] - 0.02
    assert np.mean(apart) >= THEORY[1] - 0.01


def test_the_middle_is_one_minus_the_distance():
    scored = normal(4000, 3), normal(4000, 4)
    precision, recall = curve_of_scores([scored], 101)
    assert precision[50] == pytest.approx(THEORY[1], abs=0.02)
    assert recall[50] == pytest.approx(precision[50])
    assert (precision <= np.minimum(slopes(101), 1.0) + 1e-12).all()
    assert (recall <= 1.0).all()
    assert (recall >= 0.0).all()


def test_the_same_and_the_disjoint():
    same = np.full(20, 0.5), np.full(20, 0.5)
    precision, recall = curve_of_scores([(same, same)], 101)
    assert (precision[50], recall[50]) == pytest.approx((1.0, 1.0))
    assert max_f_beta(precision, recall, 8.0) == pytest.approx(1.0)
    apart = np.zeros(20), np.ones(20)
    assert max_f_beta(*curve_of_scores([(apart, apart)], 101), 8.0) == 0.0


def test_the_better_classifier_counts():
    useless = np.full(20, 0.5), np.full(20, 0.5)
    good = np.zeros(20), np.ones(20)
    for models in ([useless, good], [good, useless]):
        precision, _ = curve_of_scores([(one, one) for one in models], 11)
        assert precision.max() == 0.0


def test_f_scores_of_known_points():
    p, r = np.array([1, 1, 0, 0, 0.5, 1, 0.5]), np.array([1, 0, 1, 0, 0.5, 0.5, 1])
    one = [max_f_beta(p[[i]], r[[i]], 1.0) for i in range(7)]
    assert one == pytest.approx([1, 0, 0, 0, 0.5, 2 / 3, 2 / 3])
    two = [max_f_beta(p[[i]], r[[i]], 2.0) for i in range(7)]
    assert two[-2:] == pytest.approx([5 / 9, 5 / 6])
