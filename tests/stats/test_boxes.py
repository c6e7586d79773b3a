"""Boxes against all pairs compared."""

from __future__ import annotations

import numpy as np
import pytest

from skeval.privacy.hitting_rate import BoxScale, any_within, box_points, lists_within


def agree(s, t, low, span, relative, tolerance):
    """Tell whether row t of numbers lies in the box around row s."""
    for j in range(s.size):
        if np.isnan(s[j]) or np.isnan(t[j]):
            if np.isnan(s[j]) != np.isnan(t[j]):
                return False
            continue
        if np.isinf(s[j]):
            return False
        if relative[j]:
            if abs(t[j] - s[j]) > tolerance * abs(s[j]) * (1 + 1e-9) + 1e-300:
                return False
        elif span[j] == 0:
            if t[j] != s[j]:
                return False
        elif abs(t[j] - s[j]) > (tolerance + 1e-9) * span[j]:
            return False
    return True


def tables(seed):
    rng = np.random.default_rng(seed)
    real = np.column_stack(
        [
            rng.normal(size=60),
            rng.integers(-3, 4, 60) * 10.0,
            np.full(60, 5.0),
            rng.lognormal(0, 2, 60),
        ]
    )
    real[rng.random(real.shape) < 0.1] = np.nan
    synthetic = real[rng.integers(0, 60, 80)] * rng.choice([1.0, 1.0, 1.02, 0.97, 1.1], (80, 4))
    synthetic[rng.random(synthetic.shape) < 0.03] = np.inf
    synthetic[rng.random(synthetic.shape) < 0.03] = -np.inf
    codes = rng.integers(-1, 2, (60, 1)), rng.integers(-1, 3, (80, 1))
    synthetic[:10], codes[1][:10] = real[:10], codes[0][:10]
    return real, codes[0], synthetic, codes[1]


@pytest.mark.parametrize("tolerance", [0.0, 0.01, 0.05, 0.5, 1.0])
@pytest.mark.parametrize("relative", [True, False])
@pytest.mark.parametrize("seed", [0, 1])
def test_boxes_are_brute_force(tolerance, relative, seed):
    tolerance = min(tolerance, 0.99) if relative else tolerance
    real, codes, synthetic, other_codes = tables(seed)
    low, span = np.nanmin(real, axis=0), np.nanmax(real, axis=0) - np.nanmin(real, axis=0)
    is_relative = np.array([relative, relative, False, relative])
    scale = BoxScale(low, span, is_relative, tolerance)
    s, t = box_points([(synthetic, other_codes), (real, codes)], [True, False], scale)
    expected = np.array(
        [
            [
                (c == d).all() and agree(x, y, low, span, is_relative, tolerance)
                for y, d in zip(real, codes, strict=True)
            ]
            for x, c in zip(synthetic, other_codes, strict=True)
        ]
    )
    assert expected.any()
    np.testing.assert_array_equal(any_within(s, t), expected.any(axis=1))
    for found, row in zip(lists_within(s, t, 60), expected, strict=True):
        assert sorted(found[found >= 0]) == np.flatnonzero(row).tolist()


def points(synthetic, real, scale):
    none = [np.empty((len(values), 0), dtype=np.int64) for values in (synthetic, real)]
    columns = [np.array(values, dtype=float)[:, None] for values in (synthetic, real)]
    return box_points(list(zip(columns, none, strict=True)), [True, False], scale)


def relative(tolerance):
    return BoxScale(np.zeros(1), np.ones(1), np.array([True]), tolerance)


def of_range(low, span, tolerance):
    return BoxScale(np.array([low]), np.array([span]), np.array([False]), tolerance)


@pytest.mark.parametrize(
    ("synthetic", "real", "tolerance", "match"),
    [
        (100.0, 101.0, 0.01, True),  # the bounds belong to the box
        (100.0, 99.0, 0.01, True),
        (100.0, 101.0001, 0.01, False),
        (101.0, 100.0, 0.01, True),  # the share is of the synthetic number
        (99.0, 100.0, 0.01, False),
        (0.0, 0.0, 0.01, True),
        (0.0, 1e-300, 0.01, False),
        (1e-300, 0.0, 0.01, False),
        (-100.0, -101.0, 0.01, True),
        (-100.0, 101.0, 0.9, False),
        (5.0, 5.0, 0.0, True),
        (5.0, 5.001, 0.0, False),
        (np.inf, 1e308, 0.9, False),
        (1e308, 1.005e308, 0.01, True),
        (5e-324, 5e-324, 0.01, True),
        (100.0, 0.5, 0.99, False),
        (100.0, 1.0, 0.99, True),
    ],
)
def test_relative_boxes(synthetic, real, tolerance, match):
    assert any_within(*points([synthetic], [real], relative(tolerance)))[0] == match


@pytest.mark.parametrize(
    ("synthetic", "match"),
    [
        (1.3, True),
        (1.3 + 1e-10, True),
        (1.3001, False),
        (0.7, True),
        (np.inf, False),
        (-1e308, False),
    ],
)
def test_boxes_of_a_range(synthetic, match):
    assert any_within(*points([synthetic], [1.0, 9.0], of_range(0.0, 9.0, 1 / 30)))[0] == match


def test_large_numbers_keep_their_digits():
    seconds = 1.7e9 + np.array([0.0, 1e-3])
    found = any_within(*points(seconds, [1.7e9], of_range(1.7e9, 1.0, 1e-4)))
    assert found.tolist() == [True, False]


def test_a_column_without_range():
    assert any_within(*points([5.0, 5.1], [5.0], of_range(5.0, 0.0, 1.0))).tolist() == [True, False]


def test_a_column_without_values():
    found = any_within(*points([np.nan, 0.0], [np.nan, np.nan], of_range(0.0, 0.0, 1.0)))
    assert found.tolist() == [True, False]


def test_only_the_nearest_are_listed():
    s, t = points([5.0], np.arange(10), of_range(0.0, 9.0, 0.5))
    found = lists_within(s, t, 3)
    assert found.shape == (1, 3)
    assert found[0, 0] == 5
    assert set(found[0]) == {4, 5, 6}


def test_many_equal_points():
    s, t = points(np.repeat([1.0, 2.0], 50), np.ones(5000), of_range(0.0, 9.0, 0.01))
    assert any_within(s, t).tolist() == [True] * 50 + [False] * 50
