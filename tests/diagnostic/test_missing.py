from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from skeval import check_metric
from skeval.datasets import make_mixed
from skeval.diagnostic import MissingPatternSimilarity, MissingValueSimilarity
from skeval.diagnostic.missing import difference_interval, pack_missing, pooled_patterns
from skeval.exceptions import DegenerateInputWarning, InvalidParameterError, InvalidValueWarning
from skeval.fidelity import TVComplement
from skeval.stats.intervals import newcombe
from skeval.stats.joint_classes import distinct_codes
from tests.snapshots import raises, warns


def with_missing(shares, n, rng):
    """A table of numbers with independent missing cells."""
    table = pd.DataFrame({f"x{i}": rng.normal(size=n) for i in range(len(shares))})
    return table.mask(rng.random(table.shape) < np.array(shares))


@pytest.mark.parametrize(
    ("train", "synthetic", "value"),
    [
        ([1, np.nan, 3, 4], [1, 2], 0.75),
        ([1, 2], [1, np.nan], 0.5),
        ([1, 2], [2, 1], 1.0),
        (["a", None, "b", None], ["a", None], 1.0),
        (pd.array([1, None], dtype="Int64"), [1.0, 2.0], 0.5),
    ],
)
def test_shares_by_hand(train, synthetic, value):
    train, synthetic = pd.DataFrame({"x": train}), pd.DataFrame({"x": synthetic})
    found = MissingValueSimilarity().fit(train).evaluate(synthetic)
    assert found.value == value
    assert found.interval == pytest.approx(found.details["intervals"]["x"])
    assert found.interval[0] <= value <= found.interval[1]


def test_text_and_id_columns_count():
    train = pd.DataFrame({"id": [f"A-{i}" for i in range(30)], "x": np.arange(30.0)})
    with warns(DegenerateInputWarning):
        found = MissingValueSimilarity().fit(train).evaluate(train.assign(id=None))
    assert found.details["columns"] == {"id": 0.0, "x": 1.0}
    assert found.details["shares"]["id"] == {"train": 0.0, "synthetic": 1.0}
    assert MissingValueSimilarity(columns=1).fit(train).evaluate(train).details["n_used"] == 1
    with raises(InvalidParameterError):
        MissingValueSimilarity(columns=["id", "y"]).fit(train)


def test_unreadable_cells_are_not_missing():
    train = pd.DataFrame({"x": [1.0, 2.0, np.nan, 3.0]})
    synthetic = pd.DataFrame({"x": [1.0, "much", None, 3.0]})
    for metric in (MissingValueSimilarity(), MissingPatternSimilarity()):
        with warns(InvalidValueWarning):
            assert metric.fit(train).score(synthetic) == 1.0


def test_an_absent_column_scores_zero():
    train = pd.DataFrame({"x": [1.0, np.nan, 2.0, 3.0], "y": [1.0, 2.0, 3.0, 4.0]})
    with warns(InvalidValueWarning):
        found = MissingValueSimilarity().fit(train).evaluate(train[["y"]])
    assert found.details["columns"] == {"x": 0.0, "y": 1.0}
    with warns(InvalidValueWarning):
        assert MissingPatternSimilarity().fit(train).score(train[["y"]]) == 0.25


def test_all_missing_on_both_sides_agrees():
    train = pd.DataFrame({"x": [np.nan, np.nan], "y": [1.0, 2.0]})
    for metric in (MissingValueSimilarity(), MissingPatternSimilarity()):
        with pytest.warns(DegenerateInputWarning):
            assert metric.fit(train).score(train) == 1.0


@pytest.mark.parametrize(
    ("train", "synthetic", "value"),
    [
        ([[0, 0], [1, 1], [0, 0], [1, 1]], [[0, 1], [1, 0], [0, 1], [1, 0]], 0.0),
        ([[0, 0], [1, 1], [0, 0], [1, 1]], [[0, 0], [1, 1]], 1.0),
        ([[0, 0], [1, 1], [0, 1], [0, 1]], [[0, 0], [0, 0], [1, 1], [1, 0]], 0.5),
        ([[0, 0], [0, 0]], [[0, 0]], 1.0),
    ],
)
def test_patterns_by_hand(train, synthetic, value):
    tables = [
        pd.DataFrame(np.where(np.array(cells) == 1, np.nan, 1.0), columns=["x", "y"])
        for cells in (train, synthetic)
    ]
    assert MissingPatternSimilarity().fit(tables[0]).score(tables[1]) == value
    if value == 0.0:
        assert MissingValueSimilarity().fit(tables[0]).score(tables[1]) == 1.0


def test_patterns_are_the_total_variation_of_their_labels():
    rng = np.random.default_rng(0)
    train, synthetic = (
        with_missing(shares, 300, rng) for shares in ([0.3] * 5, [0.1, 0.5] * 2 + [0])
    )
    found = MissingPatternSimilarity().fit(train).evaluate(synthetic)
    labels = [
        pd.DataFrame({"c": table.isna().astype(int).astype(str).agg("".join, axis=1)})
        for table in (train, synthetic)
    ]
    by_label = TVComplement().fit(labels[0], schema={"c": "categorical"}).evaluate(labels[1])
    assert found.value == pytest.approx(by_label.value)
    assert found.details["ceiling"] == pytest.approx(by_label.details["ceiling"])
    distinct = [set(table["c"]) for table in labels]
    assert found.details["n_patterns"] == {
        "train": len(distinct[0]),
        "synthetic": len(distinct[1]),
        "shared": len(distinct[0] & distinct[1]),
    }
    incomplete = [table["c"][table["c"].str.contains("1")] for table in labels]
    shares = [part.value_counts(normalize=True) for part in incomplete]
    tv = shares[0].sub(shares[1], fill_value=0.0).abs().sum() / 2
    assert found.details["among_incomplete"] == pytest.approx(1 - tv)
    assert found.details["incomplete_rows"]["train"] == pytest.approx(len(incomplete[0]) / 300)


def test_the_pattern_that_differs_most_is_named_by_its_columns():
    train = pd.DataFrame(1.0, index=range(10), columns=["a", "b", "c"])
    synthetic = train.copy()
    train.loc[:3, ["a", "c"]] = np.nan
    synthetic.loc[:1, ["b"]] = np.nan
    found = MissingPatternSimilarity().fit(train).evaluate(synthetic)
    assert found.details["largest_difference"] == {
        "columns": ["a", "c"],
        "train": 0.4,
        "synthetic": 0.0,
    }
    assert found.details["among_incomplete"] == 0.0
    assert found.value == pytest.approx(0.6)


def test_complete_tables_have_no_pattern_to_name():
    train = pd.DataFrame({"x": [1.0, 2.0]})
    details = MissingPatternSimilarity().fit(train).evaluate(train).details
    assert details["n_used"] == 0
    assert np.isnan(details["among_incomplete"])
    assert details["largest_difference"]["columns"] == []


@pytest.mark.calibration
def test_many_columns():
    rng = np.random.default_rng(0)
    train = with_missing([0.02] * 200, 100, rng)
    found = MissingPatternSimilarity().fit(train).evaluate(train.iloc[::-1])
    assert found.value == 1.0
    assert found.details["n_patterns"]["train"] == len(train.isna().drop_duplicates())


@pytest.mark.slow
def test_ceilings():
    rng = np.random.default_rng(0)
    pairs = [[with_missing([0.3, 0.1], 200, rng) for _ in range(2)] for _ in range(40)]
    for metric in (MissingValueSimilarity(), MissingPatternSimilarity()):
        found = [metric.fit(train).evaluate(synthetic) for train, synthetic in pairs]
        gap = np.mean([result.value - result.details["ceiling"] for result in found])
        assert abs(gap) < 0.01


@pytest.mark.slow
def test_intervals_hold_the_truth():
    rng = np.random.default_rng(0)
    held = []
    for _ in range(200):
        train, synthetic = (
            with_missing(shares, 150, rng) for shares in ([0.3, 0, 0.1], [0.2, 0.05, 0.1])
        )
        low, high = MissingValueSimilarity().fit(train).evaluate(synthetic).interval
        held.append(low <= 1 - 0.05 <= high)  # of 0.1, 0.05 and 0
    assert np.mean(held) >= 0.95


@pytest.mark.slow
def test_the_contract_holds_with_columns():
    check_metric(MissingValueSimilarity(columns=["income", "city"]))
    check_metric(MissingPatternSimilarity(columns=["income", "city", "joined"]))


def test_a_copy_agrees_and_the_baseline_is_fresh():
    train, holdout = make_mixed(random_state=0), make_mixed(random_state=1)
    for metric in (MissingValueSimilarity(), MissingPatternSimilarity()):
        found = metric.fit(train, holdout).evaluate(train)
        assert found.value == 1.0
        assert 0.85 < found.baseline < 1.0


@pytest.mark.parametrize("n_columns", [1, 3, 62, 63, 130])
def test_patterns_of_both_tables_are_told_apart_and_counted(n_columns):
    rng = np.random.default_rng(n_columns)
    cells = rng.random((300, n_columns)) < 0.03
    codes = pd.DataFrame(cells).groupby(list(range(n_columns)), sort=False).ngroup()
    of_tables = [
        distinct_codes(pack_missing(iter(x.T), len(x))) for x in (cells[:200], cells[200:])
    ]
    words, p, q = pooled_patterns(*of_tables)
    assert len(words) == -(-n_columns // 62)
    for counts, part in ((p, codes[:200]), (q, codes[200:])):
        np.testing.assert_array_equal(counts, np.bincount(part, minlength=codes.max() + 1))


def test_patterns_that_differ_in_far_columns_only():
    cells = np.zeros((4, 130), dtype=bool)
    cells[0, 0] = cells[1, 62] = cells[2, 129] = True
    assert np.array(pack_missing(iter(cells.T), 4)).T.tolist() == [
        [1, 0, 0],
        [0, 1, 0],
        [0, 0, 32],
        [0] * 3,
    ]


def test_no_column_is_one_pattern():
    (word,) = pack_missing(iter([]), 3)
    assert word.tolist() == [0, 0, 0]


@pytest.mark.slow
def test_the_columns_of_the_pattern_that_differs_most_are_named():
    names = [f"x{j}" for j in range(70)]
    train = pd.DataFrame(1.0, index=range(50), columns=names)
    synthetic = train.copy()
    synthetic.loc[:30, ["x3", "x62", "x69"]] = np.nan
    synthetic.loc[31:35, "x5"] = np.nan
    worst = MissingPatternSimilarity().fit(train).evaluate(synthetic).details["largest_difference"]
    assert worst == {"columns": ["x3", "x62", "x69"], "train": 0.0, "synthetic": 0.62}


@pytest.mark.parametrize("counts", [(3, 10, 7, 20), (7, 20, 3, 10), (0, 10, 0, 10), (10, 10, 0, 5)])
def test_difference_interval_is_newcombes_without_sign(counts):
    low, high = newcombe(*counts)
    found = difference_interval(*counts)
    assert found[1] == max(abs(low), abs(high))
    assert found[0] == (0.0 if low <= 0.0 <= high else min(abs(low), abs(high)))
    k, n, j, m = counts
    assert found[0] <= abs(k / n - j / m) <= found[1]
    assert difference_interval(j, m, k, n) == pytest.approx(found)
