"""The first searches of a machine: NumPy's while that is quicker than compiling, with the same bits."""

from __future__ import annotations

import numpy as np
import pytest

from skeval.neighbors import MixedNearestNeighbors, brute, first, tree


@pytest.fixture
def nothing_compiled(monkeypatch):
    monkeypatch.setattr(first, "SPENT", first._Spent())
    monkeypatch.setattr(first, "is_compiled", lambda: False)


def rows(n: int, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    table = np.column_stack([rng.normal(size=(n, 2)), rng.integers(0, 3, (n, 2))])
    table[rng.random(table.shape) < 0.05] = np.nan
    return table


def found(near: MixedNearestNeighbors) -> list[np.ndarray]:
    queries, every = rows(70, 1), np.arange(70)
    return [
        *near.kneighbors(queries, 3, exclude=every),
        *near.nearest_labels(queries, np.arange(200) < 90),
        near.count_within(queries, 0.2),
        *near.count_around(queries, 0.2),
    ]


def refuse(*arguments, **settings):
    raise AssertionError("it compiles")


@pytest.mark.slow
def test_small_tables_are_searched_by_numpy_with_the_bits_of_trees(nothing_compiled, monkeypatch):
    trees = found(MixedNearestNeighbors(categorical=[2, 3], backend="numba").fit(rows(200, 0)))
    monkeypatch.setattr(tree.TreeIndex, "build", refuse)
    near = MixedNearestNeighbors(categorical=[2, 3]).fit(rows(200, 0))
    assert near.backend_ == "numba"
    for one, other in zip(found(near), trees, strict=True):
        np.testing.assert_array_equal(one, other)
    assert first.SPENT.cells > 0


def test_trees_are_grown_where_numpy_would_take_longer(nothing_compiled, monkeypatch):
    near = MixedNearestNeighbors(categorical=[2, 3]).fit(rows(200, 0))
    near.kneighbors(rows(70, 1))
    monkeypatch.setattr(first, "_MOST", first.SPENT.cells + 1)
    monkeypatch.setattr(brute.BruteIndex, "nearest", refuse)
    near.kneighbors(rows(70, 1))
    assert first.SPENT.compiled
    assert not first.would_compile(200)


def test_large_tables_do_not_ask(nothing_compiled):
    assert first.would_compile(first.MOST_ROWS)
    assert not first.would_compile(first.MOST_ROWS + 1)


def test_while_others_compile_only_quick_searches_are_numpys(nothing_compiled, monkeypatch):
    monkeypatch.setattr(first, "at_work", lambda: True)
    near = MixedNearestNeighbors(categorical=[2, 3]).fit(rows(200, 0))
    assert isinstance(near._search_for(near._encode(rows(70, 1))), brute.BruteIndex)
    monkeypatch.setattr(first, "_QUICK", 1.0)
    assert isinstance(near._search_for(near._encode(rows(70, 1))), tree.TreeIndex)
