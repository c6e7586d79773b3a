"""Advantages over chance, and the largest of several."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binomtest

from skeval.privacy.attacks.shadow.base import Advantage, largest_by_chance
from skeval.stats.intervals import clopper_pearson, newcombe
from skeval.stats.relabelling import share_p_value


def test_against_chance():
    found = Advantage(15, 20, chance=0.25)
    assert found.value == 0.5
    assert found.p_value == pytest.approx(binomtest(15, 20, 0.25, alternative="greater").pvalue)
    low, high = clopper_pearson(15, 20)
    assert found.interval() == (low - 0.25, high - 0.25)


def test_against_tables_without_the_target():
    found = Advantage(15, 20, 8, 30, chance=0.25)
    assert found.value == 15 / 20 - 8 / 30
    assert found.interval(0.9) == newcombe(15, 20, 8, 30, 0.9)
    assert found.p_value == share_p_value(15, 20, 8, 30)
    assert found.by_chance == 8 / 30


def test_nothing_right():
    found = Advantage(0, 20, chance=0.5)
    assert (found.value, found.p_value) == (-0.5, 1.0)


def test_the_largest_of_many_is_above_nothing():
    found = [largest_by_chance([(0.5, 50, 50)] * k) for k in (1, 2, 5, 20)]
    assert found[0] == 0.0
    assert found == sorted(found)
    # of two normal variables it is sd / sqrt(pi)
    assert found[1] == pytest.approx(0.1 / np.sqrt(np.pi), abs=0.005)
    assert largest_by_chance([(0.0, 50, 50)] * 5) == 0.0
