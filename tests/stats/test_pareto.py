"""Points in several directions, with intervals."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from skeval.exceptions import InvalidParameterError
from skeval.stats.pareto import dominated_points, ends_of, points_of

POINTS = np.array([[0.9, 0.9], [0.5, 0.5], [0.9, 0.4]])


@pytest.mark.parametrize("seed", range(5))
def test_dominated_by_definition(seed):
    rng = np.random.default_rng(seed)
    points = rng.integers(0, 4, (12, 3)).astype(float)
    points[rng.random((12, 3)) < 0.1] = np.nan
    half = rng.choice([0.0, 0.4, 1.2], (12, 3))
    known = ~np.isnan(points).any(axis=1)
    for ends in ((), (points - half, points + half)):
        low, high = ends or (points, points)
        expected = [
            any(
                known[i]
                and known[j]
                and (points[j] >= points[i]).all()
                and (low[j] > high[i]).any()
                for j in range(12)
            )
            for i in range(12)
        ]
        assert dominated_points(points, *ends).tolist() == expected


def test_values_stand_for_missing_ends():
    nothing = np.full(POINTS.shape, np.nan)
    assert dominated_points(POINTS, nothing, nothing).tolist() == [False, True, True]
    assert dominated_points(POINTS, POINTS - 0.2, nothing).tolist() == [False, True, True]
    assert dominated_points(POINTS, POINTS - 0.6, nothing).tolist() == [False, False, False]


def test_intervals_beside_their_values_reach_to_them():
    """Else the worse of two could be better for sure."""
    points = np.array([[0.5], [0.6]])
    low, high = np.array([[0.9], [0.1]]), np.array([[0.95], [0.2]])
    assert dominated_points(points, low, high).tolist() == [False, False]


def test_one_end_alone_is_refused():
    with pytest.raises(InvalidParameterError, match="both low and high"):
        dominated_points(POINTS, POINTS)
    with pytest.raises(InvalidParameterError, match="both low and high"):
        dominated_points(POINTS, high=POINTS)


def test_points_of_tables():
    table = pd.DataFrame(
        {"x": pd.array([1, None], dtype="Int64"), "y": [0.5, 1.0], "z": ["a", "b"]}
    )
    actual = points_of(table, ("y", "x"), "f")
    np.testing.assert_array_equal(actual, [[0.5, 1.0], [1.0, np.nan]])
    assert ends_of(table, None, None, ["x"], "f") is None
    with pytest.raises(InvalidParameterError, match=r"^f, low: no column w"):
        ends_of(table, table, table, ["w"], "f")
