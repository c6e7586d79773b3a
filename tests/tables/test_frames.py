from __future__ import annotations

import datetime as dt
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from skeval import Context, TableSchema
from skeval.datasets import make_mixed
from skeval.exceptions import (
    DegenerateInputWarning,
    IgnoredColumnsWarning,
    InvalidValueWarning,
    MostlySharedRowsWarning,
    SchemaMismatchError,
    SharedRowsWarning,
    TableError,
    UnreadCellsWarning,
)
from skeval.fidelity import KSComplement, TVComplement
from skeval.tables.one_table import as_frame
from tests.snapshots import raises

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


@pytest.mark.parametrize("table", [[[1, 2]], np.ones((2, 2)), {"a": [1]}, None, pl.Series([1])])
def test_no_table(table):
    with raises(TableError):
        as_frame(table, "train")


@pytest.mark.parametrize("table", [TRAIN.iloc[:0], TRAIN[[]]])
def test_empty(table):
    with raises(TableError):
        as_frame(table, "synthetic")


def test_doubled_names():
    doubled = pd.DataFrame(np.ones((2, 3)), columns=["a", "b", "a"])
    with raises(TableError):
        as_frame(doubled, "holdout")


def test_names_equal_as_strings():
    with raises(TableError):
        as_frame(pd.DataFrame({1: [1], "1": [2]}), "train")


def test_unhashable_cells():
    with raises(TableError):
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
    "values",
    [[True, False], pd.array([True, False], dtype="boolean"), ["True", "False"], [True, 0]],
)
def test_truth_values_are_the_codes_of_a_column_of_0_and_1(values):
    """Which kind such a column has is not what a generator that writes truth values gets wrong."""
    train = pd.DataFrame({"flag": [0, 1] * 20})
    synthetic = read(train, pd.DataFrame({"flag": values}))["synthetic"]["flag"]
    assert synthetic.tolist() == ["1", "0"]
    holdout = read(train, holdout=pd.DataFrame({"flag": values}))
    assert holdout["holdout"]["flag"].tolist() == ["1", "0"]
    assert holdout.levels["flag"] == ["0", "1"]
    others = read(pd.DataFrame({"flag": [1, 2] * 20}), pd.DataFrame({"flag": values}))
    assert others["synthetic"]["flag"].tolist() == [str(value) for value in values]


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
    with raises(SchemaMismatchError):
        read(TRAIN, pd.DataFrame({"xx": [1.0]}))


def test_holdout_has_no_further_columns():
    with raises(SchemaMismatchError):
        read(TRAIN, holdout=TRAIN.assign(z=1))


def test_synthetic_may_have_further_columns():
    context = read(TRAIN, TRAIN.assign(z=1))
    assert notices(context) == [
        (
            IgnoredColumnsWarning,
            "synthetic has columns that are not in the training data, which are ignored: z. Drop "
            "them, or add them to all tables.",
        )
    ]


def test_names_of_further_columns_are_cut_since_they_may_hold_a_row():
    context = read(TRAIN, TRAIN.assign(**{"{'name': 'Ann', 'income': 1200}" * 3: 1}))
    assert "ignored: {'name': 'An..." in notices(context)[0][1]


@pytest.mark.parametrize(
    "values",
    [
        pd.Series(["p", "q", "r"], dtype=object),
        pd.Series(pd.date_range("2020", periods=3), dtype="datetime64[ns]"),
    ],
    ids=["texts", "dates"],
)
def test_columns_of_another_type(values):
    with raises(SchemaMismatchError):
        read(TRAIN, TRAIN.assign(x=values))


def test_intervals_are_no_numbers():
    values = pd.Categorical([pd.Interval(0, 1), None, pd.Interval(1, 2)])
    with raises(SchemaMismatchError):
        read(TRAIN, pd.DataFrame({"x": values, "c": "a"}))


def test_numbers_are_no_dates():
    train = pd.DataFrame({"when": pd.date_range("2020", periods=3)})
    with raises(SchemaMismatchError):
        read(train, pd.DataFrame({"when": [1, 2, 3]}))


def test_some_unreadable_cells_are_counted():
    context = read(TRAIN, pd.DataFrame({"x": np.array([1, "?", "-"], dtype=object), "c": "a"}))
    ((kind, text),) = notices(context)
    assert kind is UnreadCellsWarning
    assert "x (2 cells: '-', '?')" in text
    (notice,) = (one for one in context.notices if isinstance(one, UnreadCellsWarning))
    assert notice.columns == notice.with_prefix("visits").columns == ("x",)
    assert context.synthetic["x"].isna().sum() == 2


def test_real_tables_must_be_readable_for_the_most_part():
    train = pd.DataFrame({"x": np.array([1, "p", "q"], dtype=object)})
    with raises(SchemaMismatchError):
        read(train, x="continuous")


def test_infinities():
    with raises(TableError):
        read(TRAIN.assign(x=[1.0, np.inf, -np.inf]))
    context = read(TRAIN, TRAIN.assign(x=[1.0, np.inf, -np.inf]))
    assert notices(context) == [
        (
            InvalidValueWarning,
            "synthetic has infinite values, treated as outside the range of real values: x.",
        )
    ]


def test_columns_without_a_value():
    assert notices(read(TRAIN, TRAIN.assign(x=np.nan)))[0][0] is DegenerateInputWarning
    context = read(TRAIN.assign(x=np.nan))
    assert "train has only missing values in x." in notices(context)[0][1]


def test_shared_rows_are_told():
    holdout = pd.DataFrame({"x": [1.0, 9.0, 9.0, 9.0], "c": list("abab")})
    ((kind, text),) = notices(read(TRAIN, holdout=holdout))
    assert kind is SharedRowsWarning
    assert text.startswith("25.00% of the holdout rows also occur in the training data")
    assert notices(read(TRAIN, holdout=holdout.iloc[1:])) == []


def test_missing_cells_can_be_shared():
    train, holdout = TRAIN.assign(x=np.nan), pd.DataFrame({"x": [np.nan, 1.0], "c": ["a", "a"]})
    assert SharedRowsWarning in [kind for kind, _ in notices(read(train, holdout=holdout))]


def test_input_is_left_alone():
    table = make_mixed()
    before = table.copy(deep=True)
    read(table, table)
    pd.testing.assert_frame_equal(table, before)


DAYS = ["05/06/2020", "25/06/2020", "07/08/2020"]


@pytest.mark.parametrize("convert", [list, pd.Categorical, lambda days: pd.array(days, "string")])
def test_dates_read_in_the_format_of_train_whatever_their_type(convert):
    train = pd.DataFrame({"when": DAYS})
    frame = read(train, pd.DataFrame({"when": convert([DAYS[0], None])})).synthetic
    expected = np.array(["2020-06-05", "NaT"], dtype="datetime64[us]")
    np.testing.assert_array_equal(frame["when"].to_numpy(), expected)


def test_category_of_dates_as_train():
    train = pd.DataFrame({"when": pd.Categorical([*DAYS, None])})
    frame = read(train, pd.DataFrame({"when": DAYS}), when="datetime").synthetic
    assert frame["when"].dt.day.tolist() == [5, 25, 7]


@pytest.mark.parametrize(
    "values", [pd.Categorical(["1", None, "2.5"]), pd.Categorical([1.0, None, 2.5])]
)
def test_categories_read_as_numbers(values):
    frame = read(TRAIN, pd.DataFrame({"x": values, "c": "a"})).synthetic
    np.testing.assert_array_equal(frame["x"], [1.0, np.nan, 2.5])


@pytest.mark.parametrize(
    "values",
    [
        pd.to_timedelta([60, None, 90], unit="s"),
        pd.Categorical(pd.to_timedelta([60, None, 90], unit="s")),
        pd.array(
            [dt.timedelta(minutes=1), None, dt.timedelta(minutes=1.5)], "duration[us][pyarrow]"
        ),
        [dt.timedelta(minutes=1), None, dt.timedelta(minutes=1.5)],
    ],
)
def test_durations_are_seconds_whatever_their_type(values):
    frame = read(pd.DataFrame({"took": values})).train
    np.testing.assert_array_equal(frame["took"], [60.0, np.nan, 90.0])
    assert frame["took"].dtype == np.float64


def test_only_a_whole_number_with_zero_decimals_is_its_integer():
    train = pd.DataFrame({"code": [10, 20, -3]})
    values = ["10.0", "-3.00", "0010", "1_0", "1e1", "10.", " 10"]
    frame = read(train, pd.DataFrame({"code": values}), code="categorical").synthetic
    expected = ["10", "-3", "10", "1_0", "1e1", "10.", "10"]  # padding is no other level
    assert frame["code"].astype(str).tolist() == expected


@pytest.mark.parametrize("values", [[True, 1, "a"], [1, True, "a"], ["a", 1.0, True]])
def test_true_is_not_one(values):
    frame = read(pd.DataFrame({"c": np.array(values, dtype=object)}), c="categorical").train
    expected = ["True" if value is True else str(value).removesuffix(".0") for value in values]
    assert frame["c"].astype(str).tolist() == expected


HUGE = 2**60


@pytest.mark.parametrize(
    "values",
    [
        np.arange(HUGE, HUGE + 100),
        np.arange(100, dtype="uint64") + np.uint64(2**63),
        pd.array(np.arange(HUGE, HUGE + 100), dtype="Int64"),
        pd.array(np.arange(HUGE, HUGE + 100), dtype="int64[pyarrow]"),
        np.array([2**70 + i for i in range(100)], dtype=object),
        pd.Categorical(np.arange(HUGE, HUGE + 100)),
        -np.arange(HUGE, HUGE + 100),
    ],
)
def test_integers_that_float64_cannot_tell_apart_are_told(values):
    ((kind, text),) = notices(read(pd.DataFrame({"n": values}), n="continuous"))
    assert kind is InvalidValueWarning
    assert text.startswith("train has different integers larger than 2**53 that are equal")
    assert "Subtract an offset" in text


@pytest.mark.parametrize("values", [np.arange(2) * HUGE, np.array([1e300, 1e301]), [2**53 - 1, 1]])
def test_large_numbers_that_float64_holds_are_fine(values):
    assert notices(read(pd.DataFrame({"n": values}))) == []


def test_dates_that_do_not_read_in_the_format_of_train():
    train, later = pd.DataFrame({"when": ["05/06/2020"] * 3}), pd.DataFrame({"when": DAYS})
    with raises(SchemaMismatchError):
        read(train, holdout=later)
    ((_, notice),) = notices(read(train, later))
    assert "when (1 cell: not dates as %m/%d/%Y)" in notice
    schema = TableSchema({"when": "datetime"}, datetime_formats={"when": "%d/%m/%Y"})
    context = Context.of(train, later, schema=schema)
    assert context.train["when"].dt.month.tolist() == [6, 6, 6]
    assert context.holdout["when"].dt.day.tolist() == [5, 25, 7]


def test_keys_make_no_row_another_and_texts_do():
    train = TRAIN.assign(id=[1, 2, 3], tags=[["a"], ["b"], None])
    kinds = {"id": "id", "tags": "text"}
    holdout = train.assign(id=[7, 8, 9], x=[1.0, 2.0, 9.0])
    ((kind, text),) = notices(read(train, holdout=holdout, **kinds))
    assert kind is MostlySharedRowsWarning
    assert text.startswith("66.67%")
    ((_, text),) = notices(read(train, holdout=holdout.assign(tags=["a", ["b"], "c"]), **kinds))
    assert text.startswith("33.33%")
    only_keys = train[["id"]]
    assert notices(read(only_keys, holdout=only_keys, id="id")) == []


@pytest.mark.parametrize("as_train", [True, False])
def test_categories_of_dates_agree_with_their_names(as_train):
    times = pd.DataFrame({"day": pd.Categorical(pd.to_datetime(["2020-01-01", "2020-01-02"]))})
    names = pd.DataFrame({"day": pd.Categorical(["2020-01-01", "2020-01-02"])})
    tables = (times, names) if as_train else (names, times)
    assert TVComplement().fit(tables[0]).score(tables[1]) == 1.0


def test_labels_of_times():
    times = ["2020-01-01T10:30", "2020-01-02T00:00"]
    utc = pd.to_datetime(times, utc=True)
    frame = read(
        pd.DataFrame({"a": pd.to_datetime(times), "b": utc}), a="categorical", b="categorical"
    ).train
    assert frame["a"].tolist() == ["2020-01-01T10:30:00", "2020-01-02"]
    assert frame["b"].tolist() == ["2020-01-01T10:30:00+00:00", "2020-01-02T00:00:00+00:00"]


def test_labels_of_times_beyond_the_year_9999():
    times = np.array([10**15, 86400 * 10**10], dtype="datetime64[s]")
    frame = read(pd.DataFrame({"a": times}), a="categorical").train
    assert frame["a"].tolist() == ["31690708-07-05T01:46:40", "27381040-01-27"]


def test_nested_arrow_cells():
    table = pa.table({"tags": [["a"], ["b"]]})
    nested = pd.DataFrame(
        {"tags": pd.Series(table["tags"], dtype=pd.ArrowDtype(table["tags"].type))}
    )
    with raises(TableError):
        read(nested)


@pytest.mark.parametrize("values", [["yes", "No"], ["Y", "n"], ["t", "F"], ["1.0", "0.0"]])
def test_words_for_truth(values):
    frame = read(pd.DataFrame({"ok": [True, False]}), pd.DataFrame({"ok": values})).synthetic
    assert frame["ok"].tolist() == ["True", "False"]


def test_other_words_than_truth():
    with raises(SchemaMismatchError):
        read(
            pd.DataFrame({"ok": [True, False]}), pd.DataFrame({"ok": ["high", "low"]}, dtype=object)
        )


def test_column_names_of_numbers_in_the_schema():
    table = pd.DataFrame({0: [1, 2], 1: [1.5, 2.5]})
    assert Context.of(table, schema={0: "categorical"}).levels == {"0": ["1", "2"]}


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (pd.Series([3, 1, 2]), "continuous"),
        (pd.Series([0.5, np.nan, 2.0]), "continuous"),
        (pd.Series([True, False, True]), "boolean"),
        (pd.to_datetime(pd.Series(["2024-02-29", None, "1969-12-31T23:59:59.5"], dtype=object),
                        format="ISO8601"), "datetime"),
    ],
)  # fmt: skip
def test_typed_columns_are_read_as_their_cells_are(values, kind):
    cells = pd.Series([None if pd.isna(v) else v for v in values], dtype=object)
    typed, loose = (Context.of(pd.DataFrame({"x": v}), schema={"x": kind}) for v in (values, cells))
    pd.testing.assert_frame_equal(typed.train, loose.train)


def test_texts_stay_objects_beside_other_columns():
    table = pd.DataFrame({"x": [1.0, 2.0], "note": ["some words", None], "c": ["a", "b"]})
    train = read(table, note="text").train
    assert train["note"].dtype == object
    assert train["note"].tolist() == ["some words", None]
    assert list(train.columns) == ["x", "note", "c"]


def objects(*cells):
    return pd.DataFrame({"x": pd.Series(cells, dtype=object)})


def test_numbers_whose_differences_overflow_are_refused_or_infinite():
    with raises(TableError):
        read(pd.DataFrame({"x": [1.7e308, -1.7e308]}))
    context = read(TRAIN[["x"]], pd.DataFrame({"x": [1.7e308, -1.7e308, 1.0]}))
    assert context.synthetic["x"].tolist() == [np.inf, -np.inf, 1.0]
    assert "larger than 4.5e+307, treated as infinite: x" in str(context.notices[0])


def test_integers_that_no_float_holds_are_infinite():
    with raises(TableError):
        read(objects(10**400, 5))
    assert read(objects(1.5, 2), objects(10**400, -(10**400), 5)).synthetic["x"].tolist() == [
        np.inf,
        -np.inf,
        5.0,
    ]


def test_longest_durations_are_seconds():
    train = read(objects(dt.timedelta.max, dt.timedelta(seconds=1), None)).train
    assert train["x"].tolist()[:2] == [dt.timedelta.max.total_seconds(), 1.0]
    assert np.isnan(train["x"][2])


@pytest.mark.parametrize("kind", ["categorical", "id", "text", "datetime"])
def test_halves_of_surrogate_pairs_are_spelled(kind):
    broken = b"\x80".decode(errors="surrogateescape")
    table = pd.DataFrame({"x": pd.Series([broken, "b"], dtype=object), "y": [1, 2]}).set_axis(
        pd.Index([broken, "y"], dtype=object), axis=1
    )
    context = Context.of(table, table, schema={broken: kind} if kind != "datetime" else None)
    assert list(context.train) == ["\\udc80", "y"]
    assert context.train["\\udc80"].tolist() == ["\\udc80", "b"]


def test_complex_columns_are_refused():
    with raises(TableError):
        read(pd.DataFrame({"x": np.array([1 + 2j, 3])}))


def test_complex_cells_among_numbers_cannot_be_read():
    with raises(SchemaMismatchError):
        read(objects(1 + 2j, 3.0), x="continuous")


def test_signalling_nans_are_missing():
    assert read(objects(Decimal("sNaN"), Decimal(5))).train["x"].isna().tolist() == [True, False]


def test_categories_of_fractions_beyond_floats():
    context = read(objects(Fraction(10**400), Fraction(1, 2)), x="categorical")
    assert context.levels["x"] == ["0.5", str(10**400)]


def test_types_that_pandas_lacks_are_named():
    table = pl.DataFrame({"x": pl.Series([1, 2], dtype=pl.Int128), "y": [1, 2]})
    with raises(TableError):
        read(table)


@pytest.mark.parametrize("freq", ["M", "Q", "W", "D", "Y"])
@pytest.mark.parametrize("as_objects", [False, True])
def test_periods_are_read_as_the_dates_they_begin_with(freq, as_objects):
    periods = pd.Series(pd.period_range("2001-01", periods=60, freq=freq)).shift(1)
    table = pd.DataFrame({"when": periods.astype(object) if as_objects else periods})
    context = Context.of(table)
    assert context.schema.kinds["when"] == "datetime"
    read = context.train["when"]
    assert read.isna().tolist() == [True, *[False] * 59]
    assert read.iloc[1].tz_localize(None) == periods.iloc[1].start_time
    assert TableSchema.infer(table).kinds["when"] == "datetime"


def test_periods_of_several_lengths_stay_categories():
    mixed = [pd.Period("2001-01", freq) for freq in ("M", "Q")] * 30
    assert Context.of(pd.DataFrame({"mixed": mixed})).schema.kinds == {"mixed": "categorical"}


def test_durations_are_numbers_and_intervals_categories():
    hours, bins = pd.to_timedelta(np.arange(60), unit="h"), pd.cut(np.arange(60), 4)
    context = Context.of(pd.DataFrame({"hours": hours, "bins": bins}))
    assert context.schema.kinds == {"hours": "continuous", "bins": "categorical"}
