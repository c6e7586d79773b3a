from __future__ import annotations

import datetime as dt

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from skeval import Context
from skeval.datasets import make_mixed
from skeval.exceptions import (
    DegenerateInputWarning,
    InvalidValueWarning,
    MetricWarning,
    SchemaMismatchError,
    SharedRowsWarning,
    TableError,
)
from skeval.fidelity import KSComplement, TVComplement
from skeval.tables import as_frame

TRAIN = pd.DataFrame({"x": [1.0, 2.0, 3.0], "c": ["a", "b", "a"]})


def read(train, synthetic=None, holdout=None, **schema):
    context = Context.of(train, holdout, schema=schema or None)
    return context if synthetic is None else context.with_synthetic(synthetic)


def notices(context):
    return [(type(notice), str(notice)) for notice in context.notices]


def test_names_become_strings_and_the_index_is_plain():
    frame = as_frame(pd.DataFrame({0: [1, 2]}, index=["r", "r"]), "train")
    assert list(frame.columns) == ["0"]
    assert list(frame.index) == [0, 1]


@pytest.mark.parametrize(
    "convert", [pl.DataFrame, lambda t: pl.DataFrame(t).lazy(), pa.Table.from_pandas]
)
def test_other_libraries(convert):
    train, synthetic = make_mixed(random_state=0), make_mixed(random_state=1)
    for metric in (KSComplement(), TVComplement()):
        expected = metric.fit(train).score(synthetic)
        assert metric.fit(convert(train)).score(convert(synthetic)) == expected


@pytest.mark.parametrize(
    "table", [[[1, 2]], np.ones((2, 2)), {"a": [1]}, "table", None, pl.Series([1])]
)
def test_no_table(table):
    with pytest.raises(TableError, match="train must be a pandas, polars or pyarrow table, got"):
        as_frame(table, "train")


@pytest.mark.parametrize("table", [TRAIN.iloc[:0], TRAIN[[]]])
def test_empty(table):
    with pytest.raises(TableError, match=r"synthetic has \d rows and \d columns; at least one"):
        as_frame(table, "synthetic")


def test_doubled_names():
    doubled = pd.DataFrame(np.ones((2, 3)), columns=["a", "b", "a"])
    with pytest.raises(TableError, match=r"holdout has columns of the same name: a\. Rename"):
        as_frame(doubled, "holdout")


def test_names_equal_as_strings():
    with pytest.raises(TableError, match="same name: 1"):
        as_frame(pd.DataFrame({1: [1], "1": [2]}), "train")


def test_unhashable_cells():
    with pytest.raises(TableError, match="tags holds values that are no categories"):
        read(pd.DataFrame({"tags": [["a"], ["b"]]}))


@pytest.mark.parametrize(
    "values",
    [
        [1, 2, None],
        pd.array([1, 2, None], dtype="Int64"),
        pd.array([1, 2, None], dtype="int64[pyarrow]"),
        ["1", "2", None],
        np.array([1, "2", None], dtype=object),
        pd.Categorical([1, 2, None]),
    ],
)
def test_numbers(values):
    frame = read(TRAIN, pd.DataFrame({"x": values, "c": "a"})).synthetic
    np.testing.assert_array_equal(frame["x"], [1.0, 2.0, np.nan])
    assert frame["x"].dtype == np.float64


@pytest.mark.parametrize(
    "values",
    [
        ["2020-01-01", "2020-01-02T12:00:00", None],
        pd.to_datetime(["2020-01-01T00:00", "2020-01-02T12:00", None]),
        pd.to_datetime(["2020-01-01T01:00+01:00", "2020-01-02T13:00+01:00", None]),
        [dt.datetime(2020, 1, 1), dt.datetime(2020, 1, 2, 12), None],
        pd.array(
            [dt.datetime(2020, 1, 1), dt.datetime(2020, 1, 2, 12), None],
            dtype="timestamp[us][pyarrow]",
        ),
        pd.array(["2020-01-01", "2020-01-02 12:00", None], dtype="string"),
        ["01.01.2020 00:00", "02.01.2020 12:00", None],
    ],
)
def test_dates(values):
    train = pd.DataFrame({"when": ["2019-01-01", "2019-05-01"]})
    frame = read(train, pd.DataFrame({"when": values})).synthetic
    expected = np.array(["2020-01-01T00", "2020-01-02T12", "NaT"], dtype="datetime64[us]")
    np.testing.assert_array_equal(frame["when"].to_numpy(), expected)


@pytest.mark.parametrize(
    "values", [[1, 2], [1.0, 2.0], ["1", "2"], ["1.0", "2.0"], pd.array([1, 2], dtype="Int64")]
)
def test_categories_of_integers_agree_whatever_their_type(values):
    train = pd.DataFrame({"code": [1, 2, 3]})
    frame = read(train, pd.DataFrame({"code": values}), code="categorical").synthetic
    assert frame["code"].cat.codes.tolist() == [0, 1]
    assert list(frame["code"].cat.categories) == ["1", "2", "3"]


@pytest.mark.parametrize(
    "values", [[True, False, None], [1, 0, None], ["true", "FALSE", None], [1.0, 0.0, np.nan]]
)
def test_booleans(values):
    frame = read(pd.DataFrame({"ok": [True, True]}), pd.DataFrame({"ok": values})).synthetic
    assert frame["ok"].cat.codes.tolist() == [1, 0, -1]


def test_unseen_levels_stand_behind_the_real_ones():
    holdout = pd.DataFrame({"x": [1.0], "c": ["z"]})
    context = read(TRAIN, pd.DataFrame({"x": [1.0] * 3, "c": ["m", "z", "c"]}), holdout)
    assert list(context.train["c"].cat.categories) == ["a", "b", "z"]
    assert list(context.synthetic["c"].cat.categories) == ["a", "b", "z", "c", "m"]


def test_levels_sort_as_numbers():
    assert read(pd.DataFrame({"c": [10, 9, 100]}), c="categorical").levels == {
        "c": ["9", "10", "100"]
    }


def test_all_faulty_columns_are_named_at_once():
    with pytest.raises(SchemaMismatchError, match=r"misses x \(did you mean xx\?\), c"):
        read(TRAIN, pd.DataFrame({"xx": [1.0]}))


def test_holdout_has_no_further_columns():
    with pytest.raises(
        SchemaMismatchError, match="holdout does not have the columns of train: it has unexpected z"
    ):
        read(TRAIN, holdout=TRAIN.assign(z=1))


def test_synthetic_may_have_further_columns():
    context = read(TRAIN, TRAIN.assign(z=1))
    assert notices(context) == [
        (MetricWarning, "synthetic has columns that train lacks; ignored: z.")
    ]


@pytest.mark.parametrize(
    ("column", "values", "wanted"),
    [("x", ["p", "q", "r"], "numbers"), ("x", pd.date_range("2020", periods=3), "numbers")],
)
def test_columns_of_another_type(column, values, wanted):
    with pytest.raises(
        SchemaMismatchError,
        match=rf"synthetic has columns of another type .*{column} \(expected {wanted}",
    ):
        read(TRAIN, TRAIN.assign(**{column: values}))


def test_numbers_are_no_dates():
    train = pd.DataFrame({"when": pd.date_range("2020", periods=3)})
    with pytest.raises(SchemaMismatchError, match="expected dates, got int64"):
        read(train, pd.DataFrame({"when": [1, 2, 3]}))


def test_some_unreadable_cells_are_counted():
    context = read(TRAIN, pd.DataFrame({"x": np.array([1, "?", "-"], dtype=object), "c": "a"}))
    ((kind, text),) = notices(context)
    assert kind is InvalidValueWarning
    assert "x (2 cells)" in text
    assert context.synthetic["x"].isna().sum() == 2


def test_real_tables_must_be_readable_throughout():
    train = pd.DataFrame({"x": np.array([1, 2, "?"], dtype=object)})
    with pytest.raises(SchemaMismatchError, match="train has columns of another type"):
        read(train, x="continuous")


def test_infinities():
    with pytest.raises(TableError, match=r"train has infinite values in x\. Replace them"):
        read(TRAIN.assign(x=[1.0, np.inf, -np.inf]))
    context = read(TRAIN, TRAIN.assign(x=[1.0, np.inf, -np.inf]))
    assert notices(context) == [
        (InvalidValueWarning, "synthetic has infinite values, taken as beyond all real ones: x.")
    ]


def test_columns_without_a_value():
    assert notices(read(TRAIN, TRAIN.assign(x=np.nan)))[0][0] is DegenerateInputWarning
    context = read(TRAIN.assign(x=np.nan))
    assert "train has no value at all in x." in notices(context)[0][1]


def test_shared_rows_are_told():
    holdout = pd.DataFrame({"x": [1.0, 9.0, 9.0, 9.0], "c": list("abab")})
    ((kind, text),) = notices(read(TRAIN, holdout=holdout))
    assert kind is SharedRowsWarning
    assert text.startswith("25.00% of the holdout rows also stand in train")
    assert notices(read(TRAIN, holdout=holdout.iloc[1:])) == []


def test_missing_cells_can_be_shared():
    train, holdout = TRAIN.assign(x=np.nan), pd.DataFrame({"x": [np.nan, 1.0], "c": ["a", "a"]})
    assert SharedRowsWarning in [kind for kind, _ in notices(read(train, holdout=holdout))]


def test_input_is_left_alone():
    table = make_mixed()
    before = table.copy(deep=True)
    read(table, table)
    pd.testing.assert_frame_equal(table, before)
