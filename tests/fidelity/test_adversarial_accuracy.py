"""Adversarial accuracy alone; tests/privacy/distance_screens/test_nnaa.py compares it with its loss."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from skeval.fidelity import NearestNeighborAdversarialAccuracy


def normal_table(n_rows, seed):
    values = np.random.default_rng(seed).normal(size=(n_rows, 3))
    return pd.DataFrame(values, columns=["x0", "x1", "x2"])


def test_many_more_rows_do_not_shift_the_null():
    values = [
        NearestNeighborAdversarialAccuracy(n_resample=5)
        .fit(normal_table(60, seed))
        .score(normal_table(240, 1000 + seed))
        for seed in range(20)
    ]
    assert np.mean(values) == pytest.approx(0.5, abs=0.03)


def test_discrete_copies_of_the_population_are_half_with_half_ties():
    train, synthetic = (
        pd.DataFrame(np.random.default_rng(seed).integers(0, 2, (200, 2)), columns=["a", "b"])
        for seed in range(2)
    )
    assert NearestNeighborAdversarialAccuracy(ties="half").fit(train).score(synthetic) == 0.5
    assert NearestNeighborAdversarialAccuracy().fit(train).score(synthetic) == 0.0
