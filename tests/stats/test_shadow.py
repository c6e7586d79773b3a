"""Rates and advantages of games."""

from __future__ import annotations

import numpy as np
import pytest

from skeval.privacy.attacks.shadow.duels import Duel, largest_by_chance, mean_advantage, midway
from skeval.stats.dp_audit import two_world_epsilon
from skeval.stats.intervals import clopper_pearson, newcombe
from skeval.stats.roc import delong


def test_a_duel_tells_rates_and_bounds():
    rng = np.random.default_rng(0)
    inside, outside = rng.normal(1, 1, 60), rng.normal(0, 1, 40)
    true, false = int((inside >= 0.5).sum()), int((outside >= 0.5).sum())
    told = Duel(inside, outside, 0.5).told(0.9)
    assert told["tpr"] == true / 60
    assert told["fpr_interval"] == list(clopper_pearson(false, 40, 0.9))
    assert told["advantage"] == pytest.approx(true / 60 - false / 40)
    assert told["interval"] == list(newcombe(true, 60, false, 40, 0.9))
    assert told["privacy_gain"] == 1 - told["advantage"]
    assert told["auc"] == delong(inside, outside).value
    assert told["epsilon"] == two_world_epsilon(true, 60, false, 40, confidence=0.9)
    assert told["p_value"] < 0.01


def test_the_ceiling_of_epsilon():
    duel = Duel(np.ones(500), np.zeros(500), 0.5)
    assert duel.epsilon() == pytest.approx(4.9055942)
    assert duel.advantage == 1.0
    assert Duel(np.ones(50), np.ones(50), 0.5).epsilon() == 0.0


def test_a_score_at_the_threshold_is_called_in():
    assert Duel(np.array([0.5]), np.array([0.49]), 0.5).advantage == 1.0


def test_the_largest_of_many_is_above_nothing():
    found = [largest_by_chance([(0.5, 50, 50)] * k) for k in (1, 2, 5, 20)]
    assert found[0] == 0.0
    assert found == sorted(found)
    # of two normal variables it is sd / sqrt(pi)
    assert found[1] == pytest.approx(0.1 / np.sqrt(np.pi), abs=0.005)
    assert largest_by_chance([(0.0, 50, 50)] * 5) == 0.0


def test_the_mean_of_targets_tested_on_tables_of_their_own():
    calls = [np.arange(40) < k for k in (40, 20, 10, 10)]
    value, interval = mean_advantage(calls[:2], calls[2:])
    assert value == 0.5
    assert interval == pytest.approx(newcombe(60, 80, 20, 80), abs=1e-9)


def test_tables_of_all_targets_count_once():
    inside, outside = [np.ones(40, dtype=bool)] * 2, [np.arange(40) < 10] * 2
    alone = mean_advantage(inside, outside)[1]
    value, shared = mean_advantage(inside, outside, shared_outside=True)
    assert value == 0.75
    assert shared[1] - shared[0] > alone[1] - alone[0]
    assert shared[0] <= value <= shared[1]


def test_midway():
    scores = np.array([0.1, 0.3, 0.7])
    assert midway(scores, 0.7) == 0.5
    assert midway(scores, 0.1) == 0.1
    assert midway(scores, np.inf) == np.inf
