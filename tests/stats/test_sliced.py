"""Wasserstein distances along random directions."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import wasserstein_distance

from skeval.fidelity.wasserstein import coupling, random_directions, sliced_powers
from skeval.stats.distributions import wasserstein_of_sorted

ONE = np.array([[1.0]])


def two_gaussians() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    return rng.normal(size=(200, 3)), rng.normal(0.5, 1.0, size=(200, 3))


def test_reference_values():
    x, y = two_gaussians()
    directions = random_directions(3, 20_000, seed=0)
    squares = sliced_powers(x, y, directions, 2.0)
    assert np.sqrt(squares.mean()) == pytest.approx(0.5165, rel=0.01)
    assert np.sqrt(squares.max()) == pytest.approx(0.8785, rel=0.01)
    assert sliced_powers(x, y, directions, 1.0).mean() == pytest.approx(0.4442, rel=0.01)


def test_reference_values_of_a_thousand_directions():
    x, y = two_gaussians()
    directions = random_directions(3, 1000, seed=0)
    squares = sliced_powers(x, y, directions, 2.0)
    assert np.sqrt(squares.mean()) == pytest.approx(0.5206, rel=0.03)
    assert np.sqrt(squares.max()) == pytest.approx(0.874, rel=0.03)
    assert sliced_powers(x, y, directions, 1.0).mean() == pytest.approx(0.4485, rel=0.03)


@pytest.mark.parametrize("n_features", [1, 3, 10])
def test_a_shift_has_its_length_over_the_root_of_the_features(n_features):
    x = np.random.default_rng(0).normal(size=(50, n_features))
    squares = sliced_powers(x, x + 0.5, random_directions(n_features, 20_000, seed=1), 2.0)
    # the shift's length is 0.5 * sqrt(n_features)
    assert np.sqrt(squares.mean()) == pytest.approx(0.5, rel=0.02)


def test_hand_values():
    x, y = np.array([[0.0], [1.0]]), np.array([[2.0], [3.0]])
    assert sliced_powers(x, y, ONE, 2.0).tolist() == [4.0]
    assert sliced_powers(x, y, -ONE, 1.0).tolist() == [2.0]
    assert sliced_powers(x, np.array([[3.0]]), ONE, 2.0).tolist() == [6.5]


@pytest.mark.parametrize("m", [1, 7, 12, 18, 25])
@pytest.mark.parametrize("p", [1.0, 2.0, 3.5])
def test_unequal_sizes_meet_by_quantiles(m, p):
    rng = np.random.default_rng(m)
    x, y = rng.normal(size=(12, 1)), rng.normal(size=(m, 1))
    found = sliced_powers(x, y, ONE, p)[0]
    expected = wasserstein_of_sorted(np.sort(x.ravel()), np.sort(y.ravel()), p)
    assert found ** (1.0 / p) == pytest.approx(expected, abs=1e-12)
    if p == 1.0:
        assert found == pytest.approx(wasserstein_distance(x.ravel(), y.ravel()), abs=1e-12)


def test_coupling_spends_all_mass_of_both():
    first, second, weights = coupling(6, 4)
    assert weights.sum() == pytest.approx(1.0)
    assert np.bincount(first, weights) == pytest.approx(1 / 6)
    assert np.bincount(second, weights) == pytest.approx(1 / 4)
    assert coupling(5, 5)[2] == pytest.approx(1 / 5)


def test_blocks_of_directions_change_nothing(monkeypatch):
    x, y = two_gaussians()
    directions = random_directions(3, 25, seed=0)
    whole = sliced_powers(x, y, directions, 2.0)
    monkeypatch.setattr("skeval.fidelity.wasserstein._BLOCK", 1200)
    assert sliced_powers(x, y, directions, 2.0) == pytest.approx(whole, rel=1e-12)


def test_directions_are_uniform():
    drawn = random_directions(4, 20_000, seed=0)
    assert (drawn**2).sum(axis=1) == pytest.approx(1.0)
    assert drawn.mean(axis=0) == pytest.approx(0.0, abs=0.02)
    assert (drawn**2).mean(axis=0) == pytest.approx(0.25, abs=0.01)
