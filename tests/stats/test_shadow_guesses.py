"""Guesses of random secrets."""

from __future__ import annotations

import pytest
from scipy.stats import binomtest

from skeval.privacy.attacks.shadow.shadow_attribute import Guessing
from skeval.stats.intervals import clopper_pearson, newcombe
from skeval.stats.relabelling import share_p_value


def test_against_chance():
    found = Guessing(15, 20, 4)
    assert found.advantage == 0.5
    assert found.p_value == pytest.approx(binomtest(15, 20, 0.25, alternative="greater").pvalue)
    low, high = clopper_pearson(15, 20)
    assert found.interval() == (low - 0.25, high - 0.25)


def test_against_tables_without_the_person():
    found = Guessing(15, 20, 4, 8, 30)
    assert found.advantage == 15 / 20 - 8 / 30
    assert found.interval(0.9) == newcombe(15, 20, 8, 30, 0.9)
    assert found.p_value == share_p_value(15, 20, 8, 30)
    assert found.told()["by_chance"] == 8 / 30


def test_nothing_right():
    found = Guessing(0, 20, 2)
    assert (found.advantage, found.p_value) == (-0.5, 1.0)
