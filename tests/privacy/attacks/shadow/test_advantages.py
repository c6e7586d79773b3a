"""Advantages over chance, and the largest of several."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binomtest

from skeval.privacy.attacks.shadow.advantages import Advantage, largest_by_chance
from skeval.stats.intervals import clopper_pearson, newcombe
from skeval.stats.permutation_tests import share_p_value


def test_against_chance():
    advantage = Advantage(15, 20, chance=0.25)
    assert advantage.value == 0.5
    assert advantage.p_value == pytest.approx(binomtest(15, 20, 0.25, alternative="greater").pvalue)
    low, high = clopper_pearson(15, 20)
    assert advantage.interval() == (low - 0.25, high - 0.25)


def test_against_tables_without_the_target():
    advantage = Advantage(15, 20, 8, 30, chance=0.25)
    assert advantage.value == 15 / 20 - 8 / 30
    assert advantage.interval(0.9) == newcombe(15, 20, 8, 30, 0.9)
    assert advantage.p_value == share_p_value(15, 20, 8, 30)
    assert advantage.by_chance == 8 / 30


def test_nothing_right():
    advantage = Advantage(0, 20, chance=0.5)
    assert (advantage.value, advantage.p_value) == (-0.5, 1.0)


def test_the_largest_of_many_is_above_nothing():
    values = [largest_by_chance([(0.5, 50, 50)] * k) for k in (1, 2, 5, 20)]
    assert values[0] == 0.0
    assert values == sorted(values)
    # of two normal variables it is sd / sqrt(pi)
    assert values[1] == pytest.approx(0.1 / np.sqrt(np.pi), abs=0.005)
    assert largest_by_chance([(0.0, 50, 50)] * 5) == 0.0
