"""Statistics of groups against pandas', whatever the order of the rows."""

import numpy as np
import pandas as pd
import pytest

from skeval.stats.grouped import NUMBER_STATS, grouped_levels, grouped_numbers


def rows(n=500, n_groups=60, seed=0):
    rng = np.random.default_rng(seed)
    values = np.where(rng.random(n) < 0.1, np.nan, rng.normal(size=n).round(2))
    return values, rng.integers(-1, n_groups, n), rng.integers(-1, 4, n)


def test_numbers_agree_with_pandas():
    values, groups, _ = rows()
    found = grouped_numbers(values, groups, 70)
    by = pd.Series(values[groups >= 0]).groupby(groups[groups >= 0])
    expected = {name: getattr(by, name)() for name in ("mean", "median", "min", "max")}
    expected |= {"std": by.std(ddof=0), "span": by.max() - by.min()}
    assert set(found) == set(NUMBER_STATS)
    for name, values in expected.items():
        assert found[name] == pytest.approx(values.reindex(range(70)), nan_ok=True, abs=1e-12)


def test_the_order_of_the_rows_does_not_change_a_bit():
    values, groups, codes = rows()
    order = np.random.default_rng(1).permutation(len(values))
    one, other = (
        grouped_numbers(values, groups, 60),
        grouped_numbers(values[order], groups[order], 60),
    )
    assert all(np.array_equal(one[name], other[name], equal_nan=True) for name in one)
    one, other = (grouped_levels(codes[at], groups[at], 60, 4) for at in (slice(None), order))
    assert all(np.array_equal(*pair, equal_nan=True) for pair in zip(one, other, strict=True))


def test_equal_numbers_do_not_spread():
    found = grouped_numbers(np.full(7, 0.1), np.zeros(7, dtype=int), 1, ("mean", "std"))
    assert found["mean"][0] == 0.1
    assert found["std"][0] == 0.0


def test_levels_agree_with_pandas():
    _, groups, codes = rows()
    n_unique, modes, shares = grouped_levels(codes, groups, 70, 4)
    kept = (groups >= 0) & (codes >= 0)
    by = pd.Series(codes[kept]).groupby(groups[kept])
    assert n_unique == pytest.approx(by.nunique().reindex(range(70)), nan_ok=True)
    first = by.agg(lambda own: own.mode()[0]).reindex(range(70))
    assert np.array_equal(modes, first.fillna(-1))
    share = by.agg(lambda own: own.value_counts(normalize=True).max()).reindex(range(70))
    assert shares == pytest.approx(share, nan_ok=True)


def test_no_row_at_all():
    none, groups = np.empty(0), np.empty(0, dtype=int)
    assert all(np.isnan(part).all() for part in grouped_numbers(none, groups, 2).values())
    n_unique, modes, _ = grouped_levels(groups, groups, 2, 3)
    assert np.isnan(n_unique).all()
    assert modes.tolist() == [-1, -1]
