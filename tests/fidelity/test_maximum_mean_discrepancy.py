"""The maximum mean discrepancy of two samples of rows."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest
from sklearn.metrics.pairwise import laplacian_kernel, rbf_kernel

from skeval.fidelity import maximum_mean_discrepancy
from skeval.fidelity.maximum_mean_discrepancy import median_distance
from skeval.stats.pair_sums import permutation_p_value
from tests.calibrations import LEVEL, rate_of

X, Y = np.array([[0.0], [1.0]]), np.array([[2.0], [3.0]])


class Discrepancy(NamedTuple):
    biased: np.ndarray
    unbiased: np.ndarray


def kernel_discrepancy(*samples, **settings):
    return Discrepancy(*maximum_mean_discrepancy.kernel_discrepancy(*samples, **settings))


def random_feature_discrepancy(*samples, **settings):
    return Discrepancy(*maximum_mean_discrepancy.random_feature_discrepancy(*samples, **settings))


def two_gaussians() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    return rng.normal(size=(200, 3)), rng.normal(0.5, 1.0, size=(200, 3))


def test_reference_values():
    x, y = two_gaussians()
    median = median_distance(x, y)
    gamma = 1.0 / (2.0 * median**2)
    found = kernel_discrepancy(x, y, gamma, n_permutations=199)
    assert median == pytest.approx(2.174169, abs=1e-6)
    assert gamma == pytest.approx(0.105775, abs=1e-6)
    assert found.unbiased[0] == pytest.approx(0.0594625, abs=1e-6)
    assert found.biased[0] == pytest.approx(0.0634342, abs=1e-6)
    assert permutation_p_value(found.unbiased) == permutation_p_value(found.biased) == 0.005


def test_hand_values():
    found = kernel_discrepancy(X, Y, 0.5)
    assert found.unbiased[0] == pytest.approx(0.7689062, abs=1e-7)
    assert found.biased[0] == pytest.approx(1.1623755, abs=1e-7)


@pytest.mark.parametrize(
    ("kernel", "matrix"), [("rbf", rbf_kernel), ("laplacian", laplacian_kernel)]
)
@pytest.mark.parametrize("n_features", [2, 40])
def test_kernels_are_those_of_scikit_learn(kernel, matrix, n_features):
    rng = np.random.default_rng(n_features)
    x, y = rng.normal(size=(25, n_features)), rng.normal(0.3, 1.0, size=(40, n_features))
    gamma = 0.3 / n_features
    xx, yy, xy = matrix(x, x, gamma), matrix(y, y, gamma), matrix(x, y, gamma)
    found = kernel_discrepancy(x, y, gamma, kernel=kernel)
    assert found.biased[0] == pytest.approx(xx.mean() + yy.mean() - 2 * xy.mean(), abs=1e-12)
    pairs = (xx.sum() - 25) / (25 * 24) + (yy.sum() - 40) / (40 * 39)
    assert found.unbiased[0] == pytest.approx(pairs - 2 * xy.mean(), abs=1e-12)


def test_median_distance():
    assert median_distance(X, Y) == 1.5
    assert median_distance(X, Y, "laplacian") == 1.5
    assert median_distance(np.zeros((9, 1)), np.ones((1, 1))) == 1.0  # most pairs are alike
    assert median_distance(np.zeros((3, 2)), np.zeros((3, 2))) == 0.0
    assert median_distance(np.zeros((1, 2)), np.zeros((0, 2))) == 0.0


def test_median_distance_of_many_rows_is_that_of_some():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(3000, 4)), rng.normal(size=(2000, 4))
    few = median_distance(x, y)
    assert few == pytest.approx(2.595, rel=0.02)  # sqrt(2 * median of chi-square with 4)


def test_one_row_has_no_unbiased_value():
    found = kernel_discrepancy(X[:1], Y, 0.5, n_permutations=3)
    assert np.isnan(found.unbiased).all()
    assert np.isfinite(found.biased).all()


def test_extreme_scales_are_numbers():
    far = kernel_discrepancy(X * 1e140, Y * 1e140, 1e30)
    assert far.biased[0] == pytest.approx(1.0)
    alike = kernel_discrepancy(X * 0.0, Y * 0.0, 1.0, n_permutations=9)
    assert alike.biased[0] == alike.unbiased[0] == 0.0
    assert permutation_p_value(alike.unbiased) == 1.0


def test_bounds_of_the_unbiased_estimate():
    points = np.array([[0.0], [1e9]])
    assert kernel_discrepancy(points, points, 1.0).unbiased[0] == pytest.approx(-1.0)
    assert kernel_discrepancy(points[:1].repeat(3, 0), points[1:].repeat(3, 0), 1.0).unbiased[
        0
    ] == pytest.approx(2.0)


@pytest.mark.parametrize("kernel", ["rbf", "laplacian"])
def test_random_features_come_near(kernel):
    x, y = two_gaussians()
    exact = kernel_discrepancy(x, y, 0.1, kernel=kernel)
    near = random_feature_discrepancy(x, y, 0.1, n_components=4000, kernel=kernel)
    assert near.unbiased[0] == pytest.approx(exact.unbiased[0], rel=0.1)
    assert near.biased[0] == pytest.approx(exact.biased[0], rel=0.1)


def test_random_features_permute_too():
    x, y = two_gaussians()
    near = random_feature_discrepancy(x, y, 0.1, n_components=50, n_permutations=199)
    assert permutation_p_value(near.unbiased) == 0.005
    same = random_feature_discrepancy(x, x, 0.1, n_components=50)
    assert same.biased[0] == pytest.approx(0.0, abs=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("n_components", [None, 50])
def test_p_values_have_their_size(n_components):
    def rejects(seed):
        rng = np.random.default_rng(1000 + seed)
        x, y = rng.normal(size=(40, 3)), rng.normal(size=(60, 3))
        gamma = 1.0 / (2.0 * median_distance(x, y) ** 2)
        if n_components is None:
            found = kernel_discrepancy(x, y, gamma, n_permutations=199, seed=seed)
        else:
            found = random_feature_discrepancy(
                x, y, gamma, n_components=n_components, n_permutations=199, seed=seed
            )
        p_value = permutation_p_value(found.unbiased)
        return p_value is not None and p_value <= 0.05

    found = rate_of(map(rejects, range(200)), LEVEL)
    assert found.holds, found
