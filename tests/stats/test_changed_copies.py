"""Rows that equal a unique row in all columns but one."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from skeval.datasets import make_census
from skeval.stats.changed_copies import (
    changed_copies,
    partial_copies,
    repeated_copies,
    scattered_copies,
    strange_copies,
)

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
    skipped, count = partial_copies(with_copies(codes(0), changed), SIZES)
    assert (skipped, count.n) == ((changed,), 12)
    assert count.beyond_chance


def test_a_column_that_the_release_leaves_empty_is_skipped_with_another():
    of = with_copies(codes(1), "c2")
    of["c4"][400:] = -1
    skipped, count = partial_copies(of, SIZES)
    assert (set(skipped), count.n) == ({"c2", "c4"}, 12)


@pytest.mark.slow
def test_fresh_rows_are_no_copies_whatever_their_columns():
    found = [
        partial_copies(codes(seed, n_columns, n_levels), SIZES)
        for seed in range(40)
        for n_columns, n_levels in ((1, 3), (2, 4), (3, 8), (8, 2), (6, 50))
    ]
    assert sum(one is not None for one in found) <= 4  # 2% of 200


def repeated(of, row, changed, n=25):
    """Let the first rows of the release be one real row but for one column."""
    for name, column in of.items():
        if name != changed:
            column[400 : 400 + n] = column[row]
    return of


def test_one_row_of_train_that_the_release_repeats_many_times():
    of = repeated(codes(3), 7, "c2")
    assert partial_copies(of, SIZES) is None
    skipped, count = repeated_copies(of, SIZES)
    assert (skipped, count.n) == (("c2",), 1)
    assert (
        changed_copies(of, SIZES, strange_in(of))[0]
        == "c2 skipped, 11 times or more in the release"
    )


def test_one_row_that_is_repeated_with_new_cells_in_the_columns_of_most_values():
    sizes, rng = (1_000, 1_000, 1_000), np.random.default_rng(0)
    varied = {"c1", "c4", "c6"}
    of = {
        f"c{i}": rng.integers(0, 2_000 if f"c{i}" in varied else 50, sum(sizes)) for i in range(8)
    }
    assert repeated_copies(of, sizes) is None
    for name in of.keys() - varied:
        of[name][2_000:2_025] = of[name][7]
    skipped, count = repeated_copies(of, sizes)
    assert (set(skipped), count.n) == (varied, 1)
    strange = {name: np.zeros(1_000, dtype=bool) for name in of}
    assert changed_copies(of, sizes, strange)[0].endswith("times or more in the release")


@pytest.mark.parametrize("row", [207, 420])
def test_a_row_that_is_not_of_train_may_be_repeated(row):
    assert repeated_copies(repeated(codes(3), row, "c2"), SIZES) is None


def test_a_row_that_is_common_among_real_rows_may_be_repeated():
    """A fifth of the population is one kind of row, and the release has more rows than train."""
    found = []
    for seed in range(60):
        rng = np.random.default_rng(seed)
        kinds = rng.integers(0, 9, (30, 6))
        weights = rng.dirichlet(np.full(30, 0.3))
        rows = kinds[rng.choice(30, 2_300, p=weights)]
        rows = np.where(rng.random(rows.shape) < 0.15, rng.integers(0, 9, rows.shape), rows)
        of = {f"c{i}": column for i, column in enumerate(rows.T)}
        found.append(repeated_copies(of, (200, 100, 2_000)))
    assert sum(one is not None for one in found) <= 2


def test_rows_that_a_generator_makes_common_are_no_copies():
    """Independent columns repeat combinations that are rare among real rows of a census."""
    n, found = 10_000, []
    for seed in range(12):
        rows = make_census(3 * n, random_state=seed)
        of = {name: pd.factorize(column)[0].astype(np.int64) for name, column in rows.items()}
        rng = np.random.default_rng(seed)
        for column in of.values():
            column[2 * n :] = rng.permutation(column[2 * n :])
        found.append(repeated_copies(of, (n, n, n)))
    assert sum(one is not None for one in found) <= 1


@pytest.mark.parametrize("n_copies", [1, 5])
def test_a_common_combination_does_not_hide_a_repeated_row(n_copies):
    rng, n = np.random.default_rng(0), 2_000
    of = {f"x{j}": rng.integers(0, 50, 3 * n) for j in range(8)}
    repeated = 2 * n + np.arange(40 * (n_copies + 1))
    rows = np.repeat(np.append(np.arange(n_copies), 100), 40)
    for column in of.values():
        column[[100, 101, n, n + 1]] = 7  # common in both real tables
        column[repeated] = column[rows]
    of["x0"][repeated] = rng.integers(0, 50, repeated.size)
    found = repeated_copies(of, (n, n, n))
    assert found is not None
    assert found[1].n >= n_copies
    assert found[1].beyond_chance


def test_without_holdout_pairs_of_train_rows_tell():
    of = {name: np.delete(column, range(200, 400)) for name, column in codes(2).items()}
    assert partial_copies(of, (200, 0, 200)) is None
    for name in list(of)[1:]:
        of[name][200:220] = of[name][:20]
    assert partial_copies(of, (200, 0, 200))[0] == ("c0",)


def blanked(of, n, k, seed=0):
    """Let the first rows of the release be those of train with `k` cells missing, each others."""
    rng = np.random.default_rng(seed)
    for i in range(n):
        left = set(rng.choice(list(of), k, replace=False))
        for name, column in of.items():
            column[400 + i] = -1 if name in left else column[i]
    return of


def strange_in(of):
    return {name: column[400:] == -1 for name, column in of.items()}


@pytest.mark.parametrize("k", [1, 2, 3])
def test_copies_with_different_cells_blanked_are_found(k):
    of = blanked(codes(3), 12, k)
    what, count = changed_copies(of, SIZES, strange_in(of))
    assert "skipped" in what
    assert count.beyond_chance
    assert count.n >= 10


@pytest.mark.parametrize("k", [1, 2])
def test_copies_with_different_cells_changed_are_found(k):
    of, rng = codes(4, n_columns=8), np.random.default_rng(0)
    for column in of.values():
        column[400:412] = column[:12]
    for i in range(400, 412):
        for name in rng.choice(list(of), k, replace=False):
            of[name][i] = rng.integers(0, 50)
    strange = {name: np.zeros(200, dtype=bool) for name in of}
    assert changed_copies(of, SIZES, strange)[1].n >= 8


@pytest.mark.slow
def test_rows_with_strange_cells_are_no_copies_by_themselves():
    found = [
        changed_copies(of, SIZES, strange_in(of))
        for seed in range(20)
        for n_columns, n_levels in ((2, 4), (3, 8), (8, 2), (6, 50))
        for of in [blanked(codes(100 + seed, n_columns, n_levels), 0, 1)]
    ]
    assert sum(one is not None for one in found) <= 2  # 2% of 80


def test_a_release_of_cells_that_no_real_row_has_repeats_none():
    of = codes(5)
    strange = {name: np.ones(200, dtype=bool) for name in of}
    assert not strange_copies(of, SIZES, strange).beyond_chance


def test_narrow_rows_are_not_compared_in_some_of_their_cells():
    """Of two to four columns, 4% of clean releases of weather and a census were copies by them."""
    narrow, wide = (blanked(codes(3, n_columns=n), 12, 1) for n in (4, 5))
    assert strange_copies(narrow, SIZES, strange_in(narrow)) is None
    assert strange_copies(wide, SIZES, strange_in(wide)).beyond_chance


def test_any_cell_is_skipped_only_where_a_holdout_shows_chance():
    of = {name: np.delete(column, range(200, 400)) for name, column in codes(2).items()}
    assert scattered_copies(of, (200, 0, 200), 1) is None
    assert scattered_copies(codes(2, n_columns=2), SIZES, 1) is None
