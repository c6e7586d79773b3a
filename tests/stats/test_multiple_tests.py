from __future__ import annotations

import numpy as np
import pytest

from skeval.stats.relabelling import holm


def test_by_hand():
    assert holm([0.04, 0.01, 0.03]) == pytest.approx([0.06, 0.03, 0.06])
    assert holm([0.9, 0.6]) == [1.0, 1.0]
    assert holm([0.02, 0.02]) == [0.04, 0.04]
    assert holm([0.3]) == [0.3]
    assert holm([]) == []


def test_rejects_what_the_steps_of_holm_reject():
    rng = np.random.default_rng(0)
    for n in (2, 5, 9):
        for _ in range(50):
            p_values = rng.random(n) ** 3
            adjusted = holm(p_values)
            # each test with as few hypotheses as are left, until the first that is not rejected
            rejected = set()
            for left, i in zip(range(n, 0, -1), np.argsort(p_values), strict=True):
                if p_values[i] > 0.05 / left:
                    break
                rejected.add(int(i))
            assert {i for i, p_value in enumerate(adjusted) if p_value <= 0.05} == rejected
            assert min(adjusted) == pytest.approx(min(1.0, n * p_values.min()))


def test_few_false_alarms():
    rng = np.random.default_rng(1)
    alarms = [min(holm(rng.random(6))) <= 0.05 for _ in range(2_000)]
    assert np.mean(alarms) <= 0.065
