from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from skeval.diagnostic.missing import difference_interval, pattern_codes, pattern_counts
from skeval.stats.intervals import newcombe


@pytest.mark.parametrize("n_columns", [1, 3, 62, 63, 130])
def test_codes_tell_patterns_apart(n_columns):
    rng = np.random.default_rng(n_columns)
    cells = rng.random((300, n_columns)) < 0.03
    codes = pattern_codes(iter(cells.T), 300)
    expected = pd.DataFrame(cells).groupby(list(range(n_columns)), sort=False).ngroup()
    np.testing.assert_array_equal(codes, expected)


def test_patterns_that_differ_in_far_columns_only():
    cells = np.zeros((4, 130), dtype=bool)
    cells[0, 0] = cells[1, 62] = cells[2, 129] = True
    assert pattern_codes(iter(cells.T), 4).tolist() == [0, 1, 2, 3]


def test_no_column_is_one_pattern():
    codes = pattern_codes(iter([]), 3)
    assert codes.tolist() == [0, 0, 0]
    assert [part.tolist() for part in pattern_counts(codes, 2)] == [[2], [1]]


@pytest.mark.parametrize("counts", [(3, 10, 7, 20), (7, 20, 3, 10), (0, 10, 0, 10), (10, 10, 0, 5)])
def test_difference_interval_is_newcombes_without_sign(counts):
    low, high = newcombe(*counts)
    found = difference_interval(*counts)
    assert found[1] == max(abs(low), abs(high))
    assert found[0] == (0.0 if low <= 0.0 <= high else min(abs(low), abs(high)))
    k, n, j, m = counts
    assert found[0] <= abs(k / n - j / m) <= found[1]
    assert difference_interval(j, m, k, n) == pytest.approx(found)
