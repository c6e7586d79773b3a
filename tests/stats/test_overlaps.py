"""Overlap of intervals: by hand, and in the mean over samples of one population."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import norm

from skeval.stats.intervals import expected_overlap, interval_overlap


def overlap(first, second, clip=False):
    ends = (np.array([end], dtype=float) for end in (*first, *second))
    return interval_overlap(*ends, clip=clip)[0]


@pytest.mark.parametrize(
    ("first", "second", "value", "clipped"),
    [
        ((0, 2), (1, 3), 0.5, 0.5),
        ((0, 2), (0.5, 1.5), 0.75, 0.75),
        ((0, 1), (2, 4), -0.75, 0.0),
        ((0, 1), (1, 2), 0.0, 0.0),
        ((-1, 4), (-1, 4), 1.0, 1.0),
    ],
)
def test_by_hand(first, second, value, clipped):
    assert overlap(first, second) == value == overlap(second, first)
    assert overlap(first, second, clip=True) == clipped


@pytest.mark.parametrize(
    ("first", "second"),
    [((0, 0), (0, 1)), ((0, 1), (1, 1)), ((0, np.inf), (0, 1)), ((np.nan, 1), (0, 1))],
)
def test_no_interval_has_no_overlap(first, second):
    assert np.isnan(overlap(first, second))
    assert np.isnan(overlap(second, first, clip=True))


def test_intervals_of_means_of_like_samples():
    z = norm.ppf(0.975)
    assert expected_overlap(2 * z, 2 * z, 2**0.5) == pytest.approx(1 - 1 / (z * np.pi**0.5))
    # centres that vary around those of train, as of rows from a model with its coefficients
    assert expected_overlap(2 * z, 2 * z, 1.0) == pytest.approx(1 - 1 / (z * (2 * np.pi) ** 0.5))
    assert expected_overlap(1.0, 1.0, 0.0) == 1.0
    assert expected_overlap(4.0, 1.0, 0.0) == 0.5 * (1 / 4 + 1)


@pytest.mark.parametrize(("width", "other"), [(1.0, 1.0), (1.0, 0.3), (0.5, 2.0)])
@pytest.mark.parametrize("error", [0.1, 0.5, 2.0])
@pytest.mark.parametrize("clip", [False, True])
def test_expected_overlap_is_the_mean(width, other, error, clip):
    centres = error * norm.ppf((np.arange(40_000) + 0.5) / 40_000)
    found = interval_overlap(
        np.full(centres.size, -width / 2),
        np.full(centres.size, width / 2),
        centres - other / 2,
        centres + other / 2,
        clip=clip,
    )
    assert found.mean() == pytest.approx(expected_overlap(width, other, error, clip=clip), abs=1e-3)
