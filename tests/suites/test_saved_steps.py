"""Joint counts under disclosure control: what is kept, what is spread, and that nothing is lost."""

from __future__ import annotations

import numpy as np
import pytest

from skeval.steps.pairs import JointTables
from skeval.suites.saved_steps import MIN_COUNT, PooledTables, protected

N_CELLS, MISSING = (7, 6, 8), (5, 4, 6)  # each with a cell of pooled, missing and unseen values


def tables(n, seed=0, spread=1.0):
    rng = np.random.default_rng(seed)
    level = rng.normal(size=n)
    columns = [
        np.clip((level + spread * rng.normal(size=n) + 2).astype(int), 0, k - 4) for k in N_CELLS
    ]
    return JointTables.of(np.column_stack(columns), N_CELLS, MISSING)


@pytest.mark.parametrize("n", [0, 5, 60, 3000])
def test_what_is_written_is_read(n):
    kept = PooledTables.of(tables(n))
    again = PooledTables.read(kept.to_dict(), N_CELLS)
    for one, other in zip(
        [*kept.single, *kept.pairs.values()], [*again.single, *again.pairs.values()], strict=True
    ):
        assert np.array_equal(one[0], other[0])
        assert one[1] == other[1]


@pytest.mark.parametrize("n", [60, 700, 3000])
def test_all_rows_are_counted_and_the_kept_cells_stand(n):
    train, other = tables(n), tables(n, seed=1, spread=0.5)
    kept = PooledTables.of(train)
    filled, pooled = kept.filled(n, N_CELLS, MISSING), kept.pooled(other)
    rounding = 2 * max(table.size for table, _ in kept.pairs.values())
    for i, j, table in filled.pairs():
        cells, rarer = kept.pairs[i, j]
        assert (table >= cells).all()
        assert abs(table.sum() - n) <= (rounding if rarer else 0)
    for _, _, table in pooled.pairs():
        assert table.sum() == n
        assert (table >= 0).all()
    for single in (*filled.single, *pooled.single):
        assert abs(single.sum() - n) <= rounding


def test_tables_without_rare_cells_are_as_they_were():
    counts = np.repeat(np.array([[0, 0, 0], [0, 1, 1], [1, 0, 1], [1, 1, 0]]), 25, axis=0)
    train = JointTables.of(counts, N_CELLS, MISSING)
    kept, other = PooledTables.of(train), tables(50)
    for mine, theirs in ((kept.filled(100, N_CELLS, MISSING), train), (kept.pooled(other), other)):
        for one, same in zip(mine.blocks, theirs.blocks, strict=True):
            assert np.array_equal(one, same)


def test_no_count_can_be_had_by_subtraction():
    """Of a row of 40, of which 37 are kept, the 3 others may be none to five."""
    kept, rarer = protected(np.array([[37, 3], [20, 40]]))
    assert rarer
    assert kept.tolist() == [[35, 0], [20, 40]]
    assert (kept[kept > 0] >= MIN_COUNT).all()
