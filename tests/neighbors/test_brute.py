"""Distances of pairs of rows, against the engine's."""

from __future__ import annotations

import numpy as np
import pytest

from skeval.neighbors.brute import euclidean_pairs, gower_pairs
from skeval.neighbors.mixed import MixedNearestNeighbors


def test_gower_pairs_are_those_of_the_engine():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(40, 7)).round(1)
    rows[:, 3:5] = rng.integers(0, 3, (40, 2))
    rows[:, 5] = 1.0
    rows[rng.random(rows.shape) < 0.1] = np.nan
    others = rows[rng.permutation(40)]
    others[0, 0], others[1, 5], others[2, 1] = np.inf, 2.0, 1e250
    categorical = np.isin(np.arange(7), [3, 4])
    ranges = np.array([3.0, 2.0, 1e-310, 2.0, 2.0, 0.0, 7.0])
    engine = MixedNearestNeighbors(ranges=ranges, categorical=categorical)
    expected = [
        engine.fit(b[None]).kneighbors(a[None])[0][0, 0] for a, b in zip(rows, others, strict=True)
    ]
    np.testing.assert_array_equal(gower_pairs(rows, others, ranges, categorical), expected)


def test_infinite_numbers_are_equal_to_each_other():
    rows, ranges, number = np.array([[np.inf], [np.inf]]), np.ones(1), np.zeros(1, dtype=bool)
    assert gower_pairs(rows, np.array([[np.inf], [0.0]]), ranges, number).tolist() == [0.0, 1.0]


def test_euclidean_pairs():
    rows, others = np.random.default_rng(0).normal(size=(2, 5, 3))
    expected = np.linalg.norm(rows - others, axis=1)
    assert euclidean_pairs(rows, others) == pytest.approx(expected)
