from __future__ import annotations

from collections import Counter
from itertools import combinations

import numpy as np
import pandas as pd
import pytest

from skeval import Context, MetricSuite
from skeval.datasets import make_mixed
from skeval.fidelity import (
    ContingencySimilarity,
    CramersVDifference,
    MutualInformationDifference,
    PhikMatrixDifference,
    SimilarityScore,
    TheilsUDifference,
)
from skeval.stats.distributions import expected_total_variation, total_variation
from skeval.steps.pairs import Binning, Drawn, JointTables, joint_tables, matrices

# more rows than are counted at a time
CODES = np.random.default_rng(0).integers(0, [2, 3, 4, 5], size=(20_000, 4))
CELLS, MISSING = (2, 3, 4, 5), (1, 1, 1, 1)


def some_codes(kept):
    """Return codes and their numbers of cells: few, or more than are kept for all pairs."""
    return (CODES, CELLS) if kept else (np.tile(CODES[:500], 15), (200,) * 60)


def crossed(codes, n_cells, i, j):
    table = np.zeros((n_cells[i], n_cells[j]), dtype=int)
    np.add.at(table, (codes[:, i], codes[:, j]), 1)
    return table


@pytest.mark.parametrize("kept", [True, False])
def test_tables_by_brute_force(kept):
    codes, n_cells = some_codes(kept)
    tables = JointTables.from_codes(codes, n_cells, (1,) * len(n_cells))
    assert bool(tables.blocks) is kept
    found = []
    for i, j, table in tables.pairs():
        found.append((i, j))
        np.testing.assert_array_equal(table, crossed(codes, n_cells, i, j))
    assert found == list(combinations(range(len(n_cells)), 2))
    for i, n in enumerate(n_cells):
        np.testing.assert_array_equal(tables.column(i), np.bincount(codes[:, i], minlength=n))


def test_columns_beyond_one_call_are_counted_too():
    """Eight columns a call of ten, and rows that miss a value skipped of the numbers of rows."""
    codes = np.hstack([CODES, CODES[::-1], (CODES[:, :2] + CODES[::-1, 2:]) % 2])
    n_cells = (*CELLS, *CELLS, 2, 2)
    tables = JointTables.from_codes(codes, n_cells, (1,) * 10)
    n_rows = tables.n_rows("drop")
    for i, j, table in tables.pairs():
        expected = pd.crosstab(codes[:, i], codes[:, j])
        np.testing.assert_array_equal(table, expected)
        assert n_rows[i, j] == ((codes[:, i] != 1) & (codes[:, j] != 1)).sum()
    assert not np.tril(n_rows).any()


@pytest.mark.parametrize("kept", [True, False])
def test_rows_that_miss_a_value_can_be_dropped(kept):
    codes, n_cells = some_codes(kept)
    tables = JointTables.from_codes(codes, n_cells, (1,) * len(n_cells))
    for i, j, table in tables.pairs("drop"):
        present = codes[(codes[:, i] != 1) & (codes[:, j] != 1)]
        np.testing.assert_array_equal(table, crossed(present, n_cells, i, j))
    assert tables.column(2, "drop")[1] == 0
    assert tables.column(2)[1] > 0


@pytest.mark.parametrize("n_rows", [1, 255, 256, 70_000])
def test_counts_fit_their_numbers(n_rows):
    """Counts are stored in the smallest type that holds them, and read as int64."""
    same = np.zeros((n_rows, 2), dtype=np.int32)
    tables = JointTables.from_codes(same, (2, 2), (1, 1))
    assert tables.blocks[0].dtype.itemsize <= 4
    ((_, _, table),) = tables.pairs()
    assert table.dtype == np.int64
    assert table[0, 0] == n_rows


def test_one_column_and_none():
    assert list(JointTables.from_codes(CODES[:, :1], (2,), (1,)).pairs()) == []
    assert list(JointTables.from_codes(CODES[:, :0], (), ()).pairs()) == []


def test_columns_are_found_by_name():
    context = Context.of(make_mixed())
    names = tuple(context.schema.measured)
    whole, some = (
        joint_tables(context, "train", chosen, Binning()) for chosen in (names, names[2:5])
    )
    by_pair = {(names[i], names[j]): table for i, j, table in whole.pairs()}
    for i, j, table in some.pairs():
        np.testing.assert_array_equal(table, by_pair[names[2 + i], names[2 + j]])


def test_rows_can_be_drawn():
    context = Context.of(make_mixed(300))
    names = tuple(context.schema.measured)
    drawn = [
        joint_tables(context, "train", names, Binning(), Drawn(50, seed)) for seed in (0, 0, 1)
    ]
    assert drawn[0] is drawn[1]
    assert {int(tables.column(0).sum()) for tables in drawn} == {50}
    assert (drawn[0].column(0) != drawn[2].column(0)).any()
    assert int(joint_tables(context, "train", names, Binning(), Drawn(999)).column(0).sum()) == 300


def test_similarity_without_missing_values():
    train, synthetic = make_mixed(200, random_state=0), make_mixed(150, random_state=1)
    context = Context.of(train).with_synthetic(synthetic)
    names = tuple(context.schema.measured)
    found = matrices(context, names, Binning(), "drop")
    tables = [joint_tables(context, role, names, Binning()) for role in ("train", "synthetic")]
    pairs = zip(*(table.pairs("drop") for table in tables), strict=True)
    for (i, j, p), (_, _, q) in pairs:
        assert found.similarity[i, j] == 1 - total_variation(p, q)
        assert found.ceiling[j, i] == pytest.approx(1 - expected_total_variation(p, q), abs=1e-14)
    for i in range(len(names)):
        counts = [table.column(i, "drop") for table in tables]
        assert found.similarity[i, i] == 1 - total_variation(*counts)


def test_similarity_where_pairs_have_no_rows():
    train, synthetic = make_mixed(200, random_state=0), make_mixed(150, random_state=1)
    context = Context.of(train).with_synthetic(synthetic.assign(income=np.nan))
    names = tuple(context.schema.measured)
    compared, at = matrices(context, names, Binning(), "drop"), names.index("income")
    assert (compared.similarity[at] == 0.0).all()
    assert np.isnan(compared.ceiling[at]).all()
    others = [i for i in range(len(names)) if i != at]
    assert (compared.similarity[np.ix_(others, others)] > 0.5).all()


@pytest.mark.slow
def test_all_metrics_share_one_count_a_role(monkeypatch):
    counted = Counter()
    of = JointTables.from_codes.__func__

    def counting(cls, found, *rest):
        counted[len(found)] += 1
        return of(cls, found, *rest)

    monkeypatch.setattr(JointTables, "from_codes", classmethod(counting))
    metrics = [
        ContingencySimilarity(),
        ContingencySimilarity(nan="drop", min_association=0.1),
        CramersVDifference(),
        CramersVDifference(bias_correction=False),
        TheilsUDifference(),
        MutualInformationDifference(),
        PhikMatrixDifference(),
        SimilarityScore(n_pairs=4),
    ]
    suite = MetricSuite([(f"m{i}", metric) for i, metric in enumerate(metrics)])
    train, holdout, synthetic = (make_mixed(n, random_state=n) for n in (90, 60, 60))
    suite.fit(train, holdout).evaluate(synthetic)
    # train; synthetic, the holdout and the shuffled columns in its place; phik has plain bins, and
    # no shuffled columns; two halves of eight splits of train, synthetic and holdout rows, by both bins
    assert counted == {90: 1 + 1, 60: 3 + 2, 45: 2 * 8 * 2, 30: 2 * 8 * 2 * 2}
    suite.evaluate(synthetic.iloc[::-1])
    assert counted == {90: 1 + 1, 60: 4 + 3, 45: 2 * 8 * 2, 30: 2 * 8 * 2 * 3}


def test_many_levels_are_not_crossed_densely():
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.integers(0, 5_000, (8_000, 3)).astype(str), columns=list("abc"))
    context = Context.of(table, schema=dict.fromkeys("abc", "categorical"))
    tables = joint_tables(context, "train", ("a", "b", "c"), Binning())
    assert max(tables.n_cells) == 53
