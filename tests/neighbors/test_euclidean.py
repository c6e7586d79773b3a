"""Nearest rows in Euclidean distance, compared with all distances."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from skeval.neighbors.euclidean import EuclideanNeighbors


def by_all_distances(
    rows: np.ndarray, queries: np.ndarray, k: int, exclude: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray]:
    distances = np.sqrt(((queries[:, None] - rows) ** 2).sum(axis=2))
    if exclude is not None:
        some = np.flatnonzero(exclude >= 0)
        distances[some, exclude[some]] = np.inf
    order = np.argsort(distances, axis=1, kind="stable")[:, :k]
    return np.take_along_axis(distances, order, 1), order


def changed(rows: np.ndarray, kind: str) -> np.ndarray:
    if kind == "tied":
        return np.round(rows)
    if kind == "outliers":
        return rows * np.where(np.arange(len(rows)) == 0, 1e9, 1.0)[:, None]
    if kind == "tiny":
        return rows * 1e-200
    if kind == "huge":
        return rows * 1e120
    if kind == "far from zero":
        return rows + 1e6
    if kind == "few rows":
        return np.repeat(rows[:3], len(rows) // 3, axis=0)
    return rows


@pytest.mark.parametrize(
    "kind", ["normal", "tied", "outliers", "tiny", "huge", "far from zero", "few rows"]
)
@pytest.mark.parametrize("n_columns", [1, 5, 20])
@pytest.mark.parametrize("n_rows", [12, 300])
def test_distances_and_rows_are_exact(kind: str, n_columns: int, n_rows: int) -> None:
    rng = np.random.default_rng(n_rows + n_columns)
    rows, queries = (changed(rng.normal(size=(n, n_columns)), kind) for n in (n_rows, 60))
    for exclude in (None, rng.integers(-1, len(rows), len(queries))):
        for k in (1, 3):
            found = EuclideanNeighbors().fit(rows).kneighbors(queries, k, exclude=exclude)
            for one, other in zip(found, by_all_distances(rows, queries, k, exclude), strict=True):
                assert_array_equal(one, other)


@pytest.mark.parametrize("n_columns", [2, 20])
def test_a_row_is_not_its_own_neighbor_but_its_duplicate_is(n_columns: int) -> None:
    rows = np.repeat(np.random.default_rng(0).normal(size=(50, n_columns)), 2, axis=0)
    distances, places = EuclideanNeighbors().fit(rows).kneighbors(rows, 1, exclude=np.arange(100))
    assert_array_equal(places[:, 0], np.arange(100) ^ 1)
    assert_array_equal(distances, 0.0)


@pytest.mark.parametrize("n_columns", [2, 20])
def test_rows_that_are_all_equal_need_little_memory(n_columns: int) -> None:
    rows = np.ones((3_000, n_columns))
    search = EuclideanNeighbors().fit(rows)
    tracemalloc.start()
    assert_array_equal(search.kneighbors(rows[:700], 1)[1], 0)
    assert tracemalloc.get_traced_memory()[1] < 3_000 * 3_000 * 16  # all pairs need 200 MB
    tracemalloc.stop()


def test_missing_values_are_refused() -> None:
    with pytest.raises(ValueError, match="NaN"):
        EuclideanNeighbors().fit(np.array([[0.0], [np.nan]]))


@pytest.mark.parametrize("n_columns", [2, 20])
@pytest.mark.parametrize("in_rows", [False, True])
def test_distances_beyond_the_largest_number_are_infinite(n_columns: int, in_rows: bool) -> None:
    rng = np.random.default_rng(0)
    rows, queries = rng.normal(size=(40, n_columns)), rng.normal(size=(9, n_columns))
    (rows if in_rows else queries)[0, 0] = 1e200
    found = EuclideanNeighbors().fit(rows).kneighbors(queries, 40)
    with np.errstate(over="ignore"):
        expected = by_all_distances(rows, queries, 40, None)
    for one, other in zip(found, expected, strict=True):
        assert_array_equal(one, other)


@pytest.mark.parametrize("n_columns", [2, 20])
def test_a_single_row_has_no_other_row(n_columns: int) -> None:
    rows = np.zeros((1, n_columns))
    distances, _ = EuclideanNeighbors().fit(rows).kneighbors(rows, 1, exclude=np.array([0]))
    assert distances.shape == (1, 0)
