from __future__ import annotations

import numpy as np
import pytest

from skeval.tables.preprocessing import OneHot, Ranks

NAN = np.nan


def test_ranks_by_hand():
    seen = np.array([[3.0], [1.0], [NAN], [3.0], [7.0]])
    ranks = Ranks.from_rows(seen, [False])
    found = ranks.transform(np.array([[1.0], [2.0], [3.0], [7.0], [9.0], [-np.inf], [NAN]]))
    assert found[:, 0] == pytest.approx([0, 0.5, 1, 2, 2.5, -0.5, NAN], nan_ok=True)


def test_ranks_keep_what_single_precision_loses():
    seconds = 1.7e9 + np.arange(5.0)[:, None]
    assert Ranks.from_rows(seconds, [False]).transform(seconds).astype(np.float32)[:, 0].tolist() == [
        0, 1, 2, 3, 4
    ]  # fmt: skip
    large = np.array([[1e300], [np.inf], [-np.inf], [5.0]])
    assert Ranks.from_rows(large, [False]).transform(large)[:, 0].tolist() == [2, 3, 0, 1]


def test_levels_go_from_frequent_to_rare():
    codes = np.array([[0.0], [2.0], [2.0], [2.0], [5.0], [5.0], [NAN]])
    ranks = Ranks.from_rows(codes, [True])
    found = ranks.transform(np.array([[2.0], [5.0], [0.0], [1.0], [4.0], [99.0], [NAN]]))
    # levels that were not seen are all one, and the rarest
    assert found[:, 0] == pytest.approx([0, 1, 2, 3, 3, 3, NAN], nan_ok=True)


def test_a_column_without_values():
    empty = np.full((3, 2), NAN)
    assert np.isnan(Ranks.from_rows(empty, [False, True]).transform(empty)).all()
    seen = Ranks.from_rows(empty, [False, True]).transform(np.array([[1.0, 4.0]]))
    assert seen.tolist() == [[-0.5, 0.0]]
    assert OneHot.from_rows(empty, [False, True]).transform(empty).shape == (3, 0)


def test_one_hot_by_hand():
    rows = np.column_stack(
        [np.tile([1.0, 3.0], 15), np.repeat([4.0, 0.0, 2.0], [12, 15, 3]), np.full(30, 5.0)]
    )
    design = OneHot.from_rows(rows, [False, True, False])
    # the number; two levels with ten rows or more, the most frequent first; one for the others
    assert design.owners.tolist() == [0, 1, 1, 1]
    new = np.array([[1.0, 0.0, 5.0], [5.0, 4.0, 9.0], [2.0, 2.0, 5.0], [2.0, 77.0, 5.0]])
    assert design.transform(new).tolist() == [
        [-1, 1, 0, 0],
        [3, 0, 1, 0],
        [0, 0, 0, 1],
        [0, 0, 0, 1],
    ]


def test_one_hot_tells_missing_and_infinite_numbers():
    rows = np.array([[1.0], [3.0], [NAN], [np.inf], [1e200]])
    design = OneHot.from_rows(rows, [False])
    assert design.transform(rows).tolist() == [[-1, 0], [1, 0], [0, 1], [0, 1], [0, 1]]
    codes = np.repeat([[0.0], [NAN]], 10, axis=0)
    assert OneHot.from_rows(codes, [True]).transform(codes)[[0, 19]].tolist() == [[1, 0], [0, 1]]


@pytest.mark.parametrize("n_columns", [1, 40])
def test_many_levels_share_a_column(n_columns):
    codes = np.random.default_rng(0).integers(0, 500, (10_000, n_columns)).astype(float)
    design = OneHot.from_rows(codes, [True] * n_columns)
    assert len(design.owners) <= max(51, 500 + n_columns)
    assert (np.bincount(design.owners) == min(50, 500 // n_columns) + 1).all()
