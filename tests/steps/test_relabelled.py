"""Nearest rows under relabellings against brute force."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from skeval.context import Context
from skeval.steps.neighbors import pool_index
from skeval.steps.relabelled import contrast_test, first_two, relabelled_nearest


def context_of(*sizes):
    tables = [
        pd.DataFrame(np.random.default_rng(n).normal(size=(n, 2)), columns=["a", "b"])
        for n in sizes
    ]
    return Context.of(*tables[:2]).with_synthetic(tables[2])


@pytest.mark.parametrize("space", ["gower", "euclidean"])
@pytest.mark.parametrize("sizes", [(9, 6, 20), (5, 1, 3)])
def test_distances_to_either_label(space, sizes):
    context = context_of(*sizes)
    found = relabelled_nearest(context, space, None, 30, 0)
    n_pool = sizes[0] + sizes[1]
    index = pool_index(context, space)
    queries = context.synthetic.to_numpy()
    if space == "euclidean":
        from skeval.steps.neighbors import encoded

        queries = encoded(context, "synthetic", space)
    distances, rows = index.kneighbors(queries, n_pool)
    assert found.labels.shape == (31, n_pool)
    assert set(found.labels.sum(axis=1)) == {sizes[0]}
    np.testing.assert_array_equal(found.labels[0], np.arange(n_pool) < sizes[0])
    for i, is_train in enumerate(found.labels):
        for label, mine in enumerate((is_train, ~is_train)):
            for query in range(sizes[2]):
                listed = mine[rows[query]]
                expected = [*distances[query][listed], np.inf, np.inf][:2]
                assert list(found.distances[i, label, query]) == expected
                assert found.rows[i, label, query] == rows[query][listed][0]


def test_first_two_of_too_few():
    distances, rows = np.array([[1.0, 2.0, 3.0]] * 3), np.array([[7, 8, 9]] * 3)
    listed = np.array([[0, 0, 0], [0, 1, 0], [1, 0, 1]], bool)
    found, at = first_two(distances, rows, listed)
    assert found.tolist() == [[np.inf, np.inf], [2.0, np.inf], [1.0, 3.0]]
    assert at.tolist() == [-1, 8, 7]


def test_contrast_counts_equal_values_as_reached():
    assert contrast_test(np.array([0.5, 0.5, 0.1, 0.9])).p_value == 0.75
    assert contrast_test(np.array([np.nan, 0.1, -0.1])).p_value == pytest.approx(2 / 3)
    assert contrast_test(np.array([1.0, np.inf, 0.0])).p_value == pytest.approx(2 / 3)


def test_a_large_synthetic_table_is_sampled(monkeypatch):
    monkeypatch.setattr("skeval.steps.relabelled._MOST_QUERIES", 7)
    assert relabelled_nearest(context_of(9, 6, 20), "gower", None, 2, 0).distances.shape == (
        3,
        2,
        7,
        2,
    )
