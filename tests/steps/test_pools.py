"""Lists of near real rows against brute force, in every space."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from skeval.core.context import Context
from skeval.datasets import make_mixed
from skeval.stats.permutation_tests import relabelling_test
from skeval.steps.encoded_rows import encoded_matrix
from skeval.steps.neighbors import MAX_LENGTH, nearest, pool_index, pooled_masses


@pytest.fixture(scope="module")
def context():
    train, holdout, synthetic = (make_mixed(n, random_state=i) for i, n in enumerate((40, 25, 30)))
    return Context.of(train, holdout).with_synthetic(synthetic)


def pooled_distances(context, space, query):
    """All distances of query rows to the pooled real rows."""
    index = pool_index(context, space)
    rows = index.rows if query is None else query
    distances, order = index.kneighbors(rows, len(index.rows))
    full = np.empty_like(distances)
    np.put_along_axis(full, order, distances, axis=1)
    return full


def listed(rows, kept):
    """Return which of the 65 pooled rows each list holds."""
    holds = np.zeros((len(rows), 65), dtype=bool)
    at, place = np.nonzero(kept)
    holds[at, rows[at, place]] = True
    return holds


def pooled_lists(context, query, radius, space, longest):
    pool = pool_index(context, space)
    if query is None:
        return pool.others(np.arange(len(pool.rows)), longest, radius)
    return pool.kneighbors(query, longest, radius)


@pytest.mark.parametrize("space", ["gower", "euclidean"])
@pytest.mark.parametrize("itself", [True, False])
def test_lists_are_brute_force(context, space, itself):
    query = None if itself else encoded_matrix(context, "synthetic", space)
    full = pooled_distances(context, space, query)
    if itself:
        np.fill_diagonal(full, np.inf)
    radius = np.sort(full, axis=1)[:, 3]
    radius[::5] = -1.0
    distances, rows = pooled_lists(context, query, radius, space, 100)
    within = full <= radius[:, None]
    np.testing.assert_array_equal(listed(rows, rows >= 0), within)
    np.testing.assert_array_equal(listed(rows, distances < radius[:, None]), full < radius[:, None])


@pytest.mark.parametrize("space", ["gower", "euclidean"])
def test_the_nearest_are_kept(context, space):
    query = encoded_matrix(context, "synthetic", space)
    distances, rows = pooled_lists(context, query, np.full(len(query), 9.9), space, 5)
    assert (rows >= 0).all()
    nearest_five = np.sort(pooled_distances(context, space, query), axis=1)[:, :5]
    np.testing.assert_array_equal(distances, nearest_five)


def test_one_pass_serves_first_and_second_neighbours(context, monkeypatch):
    fresh = Context.of(context.train, context.holdout).with_synthetic(context.synthetic)
    first = nearest(fresh, "synthetic", "train")
    assert first[0].shape == (30, 1)
    from skeval.neighbors.mixed import MixedNearestNeighbors

    monkeypatch.setattr(MixedNearestNeighbors, "kneighbors", None)
    second = nearest(fresh, "synthetic", "train", k=2)
    np.testing.assert_array_equal(second[0][:, :1], first[0])


def test_one_reference_row_has_one_neighbour():
    table = pd.DataFrame({"x": [1.0, 2.0, 3.0]})
    context = Context.of(table.iloc[:1], table).with_synthetic(table)
    assert nearest(context, "synthetic", "train")[0].shape == (3, 1)


def test_masses_are_linear_in_the_labels(context):
    masses, _ = pooled_masses(context, None, None, 0)
    found = relabelling_test(lambda labels: masses @ labels, 40, 25, n_permutations=4000, seed=0)
    assert found.mean == pytest.approx(40 / 65, abs=0.01)


@pytest.mark.parametrize("space", ["gower", "euclidean"])
def test_which_of_equal_rows_are_found_does_not_depend_on_labels(space):
    tables = [
        pd.DataFrame(
            np.random.default_rng(n).integers(0, 2, (n, 2)).astype(float), columns=["a", "b"]
        )
        for n in (200, 200, 50)
    ]
    context = Context.of(*tables[:2]).with_synthetic(tables[2])
    query = encoded_matrix(context, "synthetic", space)
    _, rows = pooled_lists(context, query, np.zeros(len(query)), space, MAX_LENGTH)
    assert (rows >= 0).all()
    assert np.mean(rows < 200) == pytest.approx(0.5, abs=0.1)
    _, rows = pooled_lists(context, None, np.zeros(400), space, MAX_LENGTH)
    assert np.mean(rows < 200) == pytest.approx(0.5, abs=0.1)
