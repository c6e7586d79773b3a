"""Rows that equal a unique row in all columns but one."""

from __future__ import annotations

import numpy as np
import pytest

from skeval.stats.partial_repeats import partial_copies

SIZES = (200, 200, 200)


def codes(seed, n_columns=6, n_levels=50):
    drawn = np.random.default_rng(seed).integers(-1, n_levels, (n_columns, sum(SIZES)))
    return {f"c{i}": column for i, column in enumerate(drawn)}


def with_copies(of, changed, n=12):
    """Let the first rows of the release be those of train but for one column."""
    for name, column in of.items():
        if name != changed:
            column[400 : 400 + n] = column[:n]
    return of


@pytest.mark.parametrize("changed", ["c0", "c3", "c5"])
def test_the_changed_column_is_named(changed):
    left_out, count = partial_copies(with_copies(codes(0), changed), SIZES)
    assert (left_out, count.n) == ((changed,), 12)
    assert count.beyond_chance


def test_a_column_that_the_release_leaves_empty_is_left_out_with_another():
    of = with_copies(codes(1), "c2")
    of["c4"][400:] = -1
    left_out, count = partial_copies(of, SIZES)
    assert (set(left_out), count.n) == ({"c2", "c4"}, 12)


def test_fresh_rows_are_no_copies_whatever_their_columns():
    found = [
        partial_copies(codes(seed, n_columns, n_levels), SIZES)
        for seed in range(40)
        for n_columns, n_levels in ((1, 3), (2, 4), (3, 8), (8, 2), (6, 50))
    ]
    assert sum(one is not None for one in found) <= 4  # 2% of 200


def test_without_holdout_pairs_of_train_rows_tell():
    of = {name: np.delete(column, range(200, 400)) for name, column in codes(2).items()}
    assert partial_copies(of, (200, 0, 200)) is None
    for name in list(of)[1:]:
        of[name][200:220] = of[name][:20]
    assert partial_copies(of, (200, 0, 200))[0] == ("c0",)
