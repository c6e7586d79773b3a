"""Nearest rows in all columns but one, against a search in these columns."""

from __future__ import annotations

import numpy as np
import pytest

from skeval.neighbors.left_out import N_LISTED, leave_each_out
from skeval.neighbors.mixed import MixedNearestNeighbors


def tables(n_rows: int, n_columns: int, step: float):
    """Return rows, queries, ranges and which columns are categorical."""
    rng = np.random.default_rng(n_columns)
    both = (rng.normal(size=(n_rows + 40, n_columns)) / step).round() * step
    categorical = np.arange(n_columns) % 3 == 1
    both[:, categorical] = rng.integers(0, 3, (len(both), categorical.sum()))
    both[:, 1] = rng.integers(0, 600, len(both))  # too many codes for one byte
    both[rng.random(both.shape) < 0.05] = np.nan
    both[:, -1], both[0, 0], both[1, 0] = 1.0, np.inf, 1e250
    ranges = np.where(np.arange(n_columns) == n_columns - 1, 0.0, 5.0)
    return both[:n_rows], both[n_rows:], ranges, categorical


@pytest.mark.parametrize("backend", ["numpy", "numba"])
@pytest.mark.parametrize(
    ("n_rows", "n_columns", "step"), [(700, 24, 0.01), (900, 12, 1.0), (N_LISTED - 4, 6, 2.0)]
)
def test_rows_and_distances_are_those_of_a_search_without_the_column(
    n_rows, n_columns, step, backend
):
    rows, queries, ranges, categorical = tables(n_rows, n_columns, step)
    search = MixedNearestNeighbors(ranges, categorical, backend=backend).fit(rows)
    found, n_complete = leave_each_out(search, rows, queries), 0
    for j in range(n_columns):
        kept = np.arange(n_columns) != j
        without = MixedNearestNeighbors(ranges[kept], categorical[kept], backend="numpy")
        distances, nearest = without.fit(rows[:, kept]).kneighbors(queries[:, kept], 8)
        nearest[distances > distances[:, :1]] = -1
        sure = found.complete[j]
        n_complete += sure.sum()
        np.testing.assert_array_equal(found.distances[j][sure], distances[sure, 0])
        np.testing.assert_array_equal(found.rows_without(j, 8)[sure], nearest[sure])
    assert n_complete > 0.4 * n_columns * len(queries)


def test_a_query_is_not_complete_if_a_row_that_is_not_listed_may_be_as_near():
    rows, queries, ranges, categorical = tables(N_LISTED + 20, 12, 0.01)
    rows[:] = rows[0]
    search = MixedNearestNeighbors(ranges, categorical).fit(rows)
    assert not leave_each_out(search, rows, queries).complete.any()
