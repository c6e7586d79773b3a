"""The energy distance of two samples of rows."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from skeval.fidelity.energy_distance import energy_distance
from skeval.stats.pair_sums import permutation_p_value


def column(*values: float) -> np.ndarray:
    return np.array(values, dtype=float)[:, None]


def two_gaussians() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    return rng.normal(size=(200, 3)), rng.normal(0.5, 1.0, size=(200, 3))


def test_reference_values():
    x, y = two_gaussians()
    values, _ = energy_distance(x, y, n_permutations=199)
    assert values[0] == pytest.approx(0.2836642, abs=1e-6)
    assert permutation_p_value(values) == 0.005


def test_hand_values():
    # between 25 / 6, within 12 / 9 and 2 / 4
    values, between = energy_distance(column(0, 1, 3), column(5, 6))
    assert values[0] == pytest.approx(50 / 6 - 12 / 9 - 0.5, abs=1e-12)
    assert between == pytest.approx(25 / 6)
    values, between = energy_distance(column(0), column(3))
    assert (values.tolist(), between) == ([6.0], 3.0)


@pytest.mark.parametrize("seed", range(5))
def test_one_dimension_is_the_square_of_scipys(seed):
    rng = np.random.default_rng(seed)
    x, y = rng.normal(size=(30 + seed, 1)), rng.integers(-2, 3, size=(41, 1)).astype(float)
    expected = stats.energy_distance(x.ravel(), y.ravel()) ** 2
    assert energy_distance(x, y)[0] == pytest.approx(expected, abs=1e-12)


def test_permuted_values_are_those_of_the_permuted_samples():
    from skeval.stats.pair_sums import permuted_labels

    x, y = two_gaussians()
    x = x[:50]
    rows, labels = np.concatenate([x, y]), permuted_labels(50, 200, 3, seed=5)
    found = energy_distance(x, y, n_permutations=3, seed=5)[0]
    for i in range(4):
        again = energy_distance(rows[labels[:, i]], rows[~labels[:, i]])
        assert found[i] == pytest.approx(again[0][0], abs=1e-12)


def test_copies_have_none_and_alike_rows_neither():
    x, _ = two_gaussians()
    assert energy_distance(x, x)[0] == pytest.approx(0.0, abs=1e-12)
    wide = np.random.default_rng(0).normal(size=(60, 50))
    assert energy_distance(wide, wide[::-1])[0] == pytest.approx(0.0, abs=1e-8)
    values, between = energy_distance(np.zeros((4, 2)), np.zeros((3, 2)))
    assert (values.tolist(), between) == ([0.0], 0.0)


@pytest.mark.slow
def test_p_values_have_their_size():
    rejected = 0
    for seed in range(200):
        rng = np.random.default_rng(seed)
        x, y = rng.normal(size=(40, 3)), rng.normal(size=(60, 3))
        p_value = permutation_p_value(energy_distance(x, y, n_permutations=199, seed=seed)[0])
        rejected += p_value is not None and p_value <= 0.05
    assert 4 <= rejected <= 16
