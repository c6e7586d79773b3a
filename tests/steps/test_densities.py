from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import gaussian_kde, multivariate_normal

from skeval.steps.densities import (
    Axes,
    diagonal_log_density,
    kernel_log_density,
    mixture_log_density,
)


def sample(n: int, d: int, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)) @ rng.normal(size=(d, d))


@pytest.mark.parametrize("d", [1, 3, 10])
def test_kernels_are_those_of_scipy(d):
    centres, points = sample(200, d), sample(50, d, 1)
    expected = gaussian_kde(centres.T, "scott").logpdf(points.T)
    np.testing.assert_allclose(kernel_log_density(points, centres), expected, rtol=1e-3, atol=1e-3)


def test_kernels_of_many_points_go_in_blocks(monkeypatch):
    from skeval.steps import densities

    centres, points = sample(100, 2), sample(70, 2, 1)
    whole = kernel_log_density(points, centres)
    monkeypatch.setattr(densities, "_BLOCK", 7)
    np.testing.assert_allclose(kernel_log_density(points, centres), whole, atol=1e-12)


def test_equal_points_have_equal_densities():
    centres, points = sample(300, 4), sample(40, 4, 1)
    twice = np.concatenate([points, points[::-1]])
    for found in (
        kernel_log_density(twice, centres),
        mixture_log_density(twice, centres),
        diagonal_log_density(twice, centres),
    ):
        assert (found[:40] == found[40:][::-1]).all()


@pytest.mark.parametrize("seed", range(1, 7))
def test_a_density_does_not_depend_on_the_other_points(seed):
    centres, points = sample(5000, 10), sample(27, 10, seed)
    whole = kernel_log_density(points, centres)
    assert (kernel_log_density(points[1:], centres) == whole[1:]).all()
    assert (kernel_log_density(points[:-1], centres) == whole[:-1]).all()


def test_far_points_stay_finite_and_in_order():
    centres = sample(50, 2)
    far = kernel_log_density(np.array([[1e3, 0.0], [1e5, 0.0], [1e6, 1e6]]), centres)
    assert np.isfinite(far).all()
    assert (np.diff(far) < 0).all()


def test_one_gaussian_is_that_of_scipy():
    rows, points = np.random.default_rng(0).normal(size=(100, 3)), sample(10, 3)
    expected = multivariate_normal(rows.mean(axis=0), np.diag(rows.var(axis=0, ddof=1))).logpdf(
        points
    )
    np.testing.assert_allclose(diagonal_log_density(points, rows), expected, rtol=1e-4)


def test_a_mixture_finds_two_lumps():
    rng = np.random.default_rng(0)
    rows = np.concatenate([rng.normal(-5, 1, (100, 1)), rng.normal(5, 1, (100, 1))])
    between, within = mixture_log_density(np.array([[0.0], [5.0]]), rows)
    assert within > between + 5


def test_axes_have_variance_one_and_leave_out_what_does_not_vary():
    rows = np.column_stack([sample(200, 3), np.full(200, 7.0)])
    rows = np.column_stack([rows, rows[:, 0] + rows[:, 1]])
    axes = Axes.from_rows(rows)
    assert axes.axes.shape == (5, 3)
    np.testing.assert_allclose(np.cov(axes.project(rows).T), np.eye(3), atol=1e-9)
    assert Axes.from_rows(rows, most=2).axes.shape == (5, 2)
    assert Axes.from_rows(np.ones((5, 2))).axes.shape == (2, 0)
    assert Axes.from_rows(rows[:3]).axes.shape[1] <= 2


def test_no_axis_is_no_density():
    nothing = np.empty((4, 0))
    assert (kernel_log_density(nothing, np.empty((9, 0))) == 0.0).all()
    assert (diagonal_log_density(nothing, np.empty((9, 0))) == 0.0).all()
