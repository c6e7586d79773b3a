"""A reference in parts gives the bits of one index, however it is cut and wherever it is searched."""

from __future__ import annotations

import pickle
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone

from skeval.exceptions import InvalidParameterError
from skeval.neighbors.mixed import MixedNearestNeighbors
from skeval.scale.part_tasks import MAX_CELLS
from skeval.scale.partitioned import PartitionedNearestNeighbors
from skeval.scale.parts import Part
from tests.neighbors.test_mixed import (
    ADULT_LIKE,
    BACKENDS,
    INF,
    assert_same,
    brute_neighbors,
    finite_ranges,
    mixed_table,
    problems,
)
from tests.snapshots import raises

SOME, FEW = (settings(max_examples=n, deadline=None) for n in (40, 15))
ALONE = 1  # byte: every row is an index of its own, up to 256 of them
MEMORY = st.sampled_from([None, ALONE, 300, 1500])


def cut(rows, n_parts):
    """Parts of unequal size, every second one read when needed; some may be empty."""
    borders = [len(rows) * i * i // (n_parts * n_parts) for i in range(n_parts + 1)]
    parts = [rows[start:stop] for start, stop in pairwise(borders)]
    return [Part(len(p), p.copy) if i % 2 else p for i, p in enumerate(parts)]


@pytest.mark.slow
@SOME
@given(problems(), st.integers(1, 4), st.sampled_from([1, 3, 7]), MEMORY, st.booleans())
def test_parts_are_one_index_bit_for_bit(problem, k, n_parts, max_memory, given_ranges):
    X, Y, categorical = problem
    with np.errstate(over="ignore"):
        ranges = finite_ranges(X)
    own = np.where(np.arange(len(Y)) % 3 == 2, -1, np.arange(len(Y)) % len(X))
    own = own if k % 2 and len(X) > 1 else None
    k = min(k, len(X) - (own is not None))
    for backend in BACKENDS:
        settled = {"leaf_size": 2, "backend": backend}
        near = PartitionedNearestNeighbors(
            ranges if given_ranges else None, categorical, max_memory=max_memory, **settled
        ).fit(cut(X, n_parts))
        one = MixedNearestNeighbors(ranges if given_ranges else None, categorical, **settled).fit(X)
        assert near.n_indexes_ == {None: 1, ALONE: len(X)}.get(max_memory, near.n_indexes_)
        expected = one.kneighbors(Y, k, exclude=own)
        assert_same(near.kneighbors(Y, k, exclude=own), expected)
        if len(Y):
            assert_same(near.kneighbors(cut(Y, 3), k, exclude=own), expected)
        if given_ranges:
            assert_same(expected, brute_neighbors(X, Y, ranges, categorical, k, own))


@pytest.mark.slow
@FEW
@given(problems(), st.sampled_from([1, 3, 7]), MEMORY, st.sampled_from([0.0, 0.2, 0.5]))
def test_a_radius_and_counts_and_masses_too(problem, n_parts, max_memory, radius):
    X, Y, categorical = problem
    Y = np.vstack([Y, X[:3]])
    for backend in BACKENDS:
        settled = {"leaf_size": 2, "backend": backend}
        near = PartitionedNearestNeighbors(None, categorical, max_memory=max_memory, **settled)
        near.fit(cut(X, n_parts))
        one = MixedNearestNeighbors(None, categorical, **settled).fit(X)
        own = np.arange(len(Y)) % len(X) if len(X) > 1 else None
        given_radius = np.where(np.arange(len(Y)) % 4 == 3, -1.0, radius)
        assert_same(
            near.kneighbors(Y, 2, exclude=own, radius=given_radius),
            one.kneighbors(Y, 2, exclude=own, radius=given_radius),
        )
        radii = np.where(np.arange(len(X)) % 5 == 4, -1.0, one.kneighbors(X, 1)[0][:, 0] + radius)
        for limit in (None, 1):
            np.testing.assert_array_equal(
                near.count_within(Y, radii, limit=limit), one.count_within(Y, radii, limit=limit)
            )
        for parts, whole in zip(
            near.count_around(Y, given_radius), one.count_around(Y, given_radius), strict=True
        ):
            np.testing.assert_array_equal(parts, whole)
        np.testing.assert_array_equal(
            near.nearest_mass(Y, exclude=own), one.nearest_mass(Y, exclude=own)
        )
        labels = np.arange(len(X)) % 2 == 0
        parts, whole = near.nearest_labels(cut(Y, 3), labels), one.nearest_labels(Y, labels)
        for found, expected in zip(parts, whole, strict=True):
            np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("max_memory", [30_000, 100_000])
def test_masses_of_many_queries_have_the_bits_of_one_index(max_memory):
    X, Y = np.floor(mixed_table(3000, 5)), np.floor(mixed_table(700, 6))
    one = MixedNearestNeighbors(categorical=ADULT_LIKE).fit(X)
    near = PartitionedNearestNeighbors(categorical=ADULT_LIKE, max_memory=max_memory, n_jobs=2)
    assert 2 < near.fit(cut(X, 7)).n_indexes_ < 20
    np.testing.assert_array_equal(near.nearest_mass(Y), one.nearest_mass(Y))
    assert_same(near.kneighbors(Y, 3), one.kneighbors(Y, 3))


def test_a_table_is_cut_into_cells_only_where_its_index_does_not_fit():
    X = mixed_table(3000, 0)
    counts = [
        PartitionedNearestNeighbors(categorical=ADULT_LIKE, max_memory=n).fit(cut(X, 7)).n_indexes_
        for n in (None, 10**9, 100_000, ALONE)
    ]
    assert counts[:2] == [1, 1]
    assert 1 < counts[2] < 20
    assert counts[3] == MAX_CELLS


def test_rows_are_read_again_for_each_cell_and_held_where_there_is_one():
    X, reads = mixed_table(400, 0), []

    def load():
        reads.append(1)
        return X

    for max_memory, n_indexes, expected in [(None, 1, 2), (25_000, 2, 6)]:
        reads.clear()
        near = PartitionedNearestNeighbors(categorical=ADULT_LIKE, max_memory=max_memory)
        assert near.fit([Part(400, load), X[:0], X[:10]]).n_indexes_ == n_indexes
        near.kneighbors(X[:5])
        near.kneighbors(X[:5])
        assert len(reads) == expected


def test_a_table_is_one_part_and_lists_are_rows():
    table = [[20.0, 1.0], [36.0, 1.0], [60.0, 0.0]]
    near = PartitionedNearestNeighbors(categorical=[1])
    assert near.fit(table).kneighbors([[40.0, 1.0]])[1].tolist() == [[1]]
    assert pickle.loads(pickle.dumps(near)).kneighbors([[40.0, 1.0]])[1].tolist() == [[1]]
    assert clone(near).max_memory is None


def test_codes_of_other_parts_are_seen_and_new_ones_differ_from_all():
    parts = [np.array([[0.0]] * 3), np.array([[7.0], [np.nan]])]
    near = PartitionedNearestNeighbors(categorical=[0], max_memory=ALONE).fit(parts)
    distances, rows = near.kneighbors([[7.0], [np.nan], [5.0]])
    assert rows.tolist() == [[3], [4], [0]]
    assert distances.tolist() == [[0.0], [0.0], [1.0]]


@pytest.mark.parametrize(
    "parts",
    [[np.zeros((2, 2)), np.zeros((2, 3))], [Part(3, lambda: np.zeros((2, 2)))], [np.zeros((0, 2))]],
)
def test_parts_that_do_not_fit_are_refused(parts):
    with raises(InvalidParameterError):
        PartitionedNearestNeighbors().fit(parts)


def test_a_code_that_is_none_is_named():
    near = PartitionedNearestNeighbors(categorical=[0], max_memory=ALONE)
    with raises(InvalidParameterError):
        near.fit([np.array([[1.0]]), np.array([[0.5]])])


def test_as_many_neighbours_as_there_are_rows_in_all_parts():
    near = PartitionedNearestNeighbors(max_memory=ALONE).fit(cut(np.arange(9.0)[:, None], 7))
    distances, rows = near.kneighbors([[4.0]], 9)
    assert rows.tolist() == [[4, 3, 5, 2, 6, 1, 7, 0, 8]]
    assert np.isfinite(distances).all()
    with raises(InvalidParameterError):
        near.kneighbors([[4.0]], 10)
    assert near.kneighbors([[4.0]], 10, radius=INF)[1][0, -1] == -1
