"""Sums over pairs under many labels."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics.pairwise import euclidean_distances, manhattan_distances

from skeval.stats import pair_sums


def test_sums_equal_those_of_the_whole_matrix(monkeypatch):
    monkeypatch.setattr(pair_sums, "_BLOCK", 100)  # several blocks, the last one not full
    rows = np.random.default_rng(0).normal(size=(37, 3))
    labels = pair_sums.permuted_labels(15, 22, 6, seed=1)
    found = pair_sums.pair_sums(rows, labels, pair_sums.euclidean)
    whole = euclidean_distances(rows)
    for i in range(labels.shape[1]):
        x, y = labels[:, i], ~labels[:, i]
        expected = whole[np.ix_(x, x)].sum(), whole[np.ix_(x, y)].sum(), whole[np.ix_(y, y)].sum()
        assert [part[i] for part in found] == pytest.approx(expected, rel=1e-7)


def test_the_first_labels_are_the_actual_ones_and_all_keep_the_sizes():
    labels = pair_sums.permuted_labels(4, 7, 50, seed=0)
    assert labels[:, 0].tolist() == [True] * 4 + [False] * 7
    assert (labels.sum(axis=0) == 4).all()
    assert np.unique(labels, axis=1).shape[1] > 40


@pytest.mark.parametrize("n_features", [1, 5, 32, 33, 200])
def test_distances(n_features):
    rng = np.random.default_rng(n_features)
    x, y = rng.normal(size=(20, n_features)), rng.normal(size=(30, n_features))
    differences = x[:, None, :] - y[None, :, :]
    squares = (differences**2).sum(axis=2)
    assert pair_sums.squared_euclidean(x, y) == pytest.approx(squares, abs=1e-10)
    assert pair_sums.euclidean(x, y) == pytest.approx(np.sqrt(squares), abs=1e-10)
    assert pair_sums.manhattan(x, y) == pytest.approx(manhattan_distances(x, y), abs=1e-10)
    assert pair_sums.euclidean(x, x).diagonal() == pytest.approx(0.0, abs=1e-6)


def test_large_numbers_keep_their_digits():
    x = np.full((2, 50), 1e9)
    x[1, 0] += 1.0
    assert pair_sums.squared_euclidean(x, x).tolist() == [[0.0, 1.0], [1.0, 0.0]]


def test_p_value_counts_the_actual_labels_and_ties():
    assert pair_sums.permutation_p_value(np.array([1.0])) is None
    assert pair_sums.permutation_p_value(np.array([1.0, 0.0, 0.0, 0.0])) == 0.25
    assert pair_sums.permutation_p_value(np.array([1.0, 1.0 - 1e-12, 2.0, 0.0])) == 0.75
    assert pair_sums.permutation_p_value(np.zeros(4)) == 1.0
