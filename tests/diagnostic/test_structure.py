from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from skeval import TableSchema, check_metric
from skeval.datasets import make_mixed
from skeval.diagnostic import KeyUniqueness, TableStructure
from skeval.exceptions import InvalidParameterError, InvalidValueWarning, MetricWarning, TableError
from tests.snapshots import raises, warns


def keyed(random_state):
    """The tables of the common checks with a key and a key of two columns."""
    table = make_mixed(120, random_state=random_state)
    n = np.arange(120)
    ids = [f"c{random_state}-{i:03d}" for i in n]
    return table.assign(customer_id=ids, shop=[f"s{i // 12}" for i in n], visit=n % 12)


@pytest.mark.parametrize(
    ("keys", "value"),
    [
        ([1, 1, 2, None], 0.5),
        ([1, 2, 3, 4], 1.0),
        ([1, 1, 1, 1], 0.25),
        ([None, None, None, 5], 0.25),
        (["a", "a", "b", "A"], 0.75),
        (pd.array([7, 7, None, 1], dtype="Int64"), 0.5),
        ([2**60, 2**60 + 1, 2**60 + 2, 2**60], 0.75),
    ],
)
def test_keys_by_hand(keys, value):
    train = pd.DataFrame({"id": [1, 2, 3]})
    found = KeyUniqueness("id").fit(train).evaluate(pd.DataFrame({"id": keys}))
    assert found.value == value
    assert found.interval is None
    assert found.details["train"] == {"id": 1.0}


def test_whole_numbers_beyond_float_are_told_apart_in_any_kind():
    train = pd.DataFrame({"n": [2**60, 2**60 + 1, 5]})
    with warns(InvalidValueWarning):
        found = KeyUniqueness("n").fit(train, schema={"n": "continuous"}).evaluate(train)
    assert found.value == 1.0


@pytest.mark.parametrize(("missing", "value"), [("any", 0.4), ("all", 0.6)])
def test_a_key_of_two_columns(missing, value):
    train = pd.DataFrame({"a": [1, 1, 2], "b": ["x", "y", "x"]})
    synthetic = pd.DataFrame({"a": [1, 1, 1, None, None], "b": ["x", "x", "y", "x", None]})
    metric = KeyUniqueness([("a", "b")], missing=missing).fit(train)
    found = metric.evaluate(synthetic)
    assert found.details["columns"] == {"a + b": pytest.approx(value)}
    assert metric.score(train) == 1.0


def test_several_keys():
    train = pd.DataFrame({"a": [1, 2], "b": [1, 2], "c": [1, 2]})
    found = KeyUniqueness(["a", ("b", "c")]).fit(train).evaluate(train.assign(a=1))
    assert found.details["columns"] == {"a": 0.5, "b + c": 1.0}
    assert found.value == 0.75
    assert found.details["worst"] == {"column": "a", "value": 0.5}
    assert (found.details["n_used"], found.details["n_total"]) == (2, 2)


def test_keys_that_the_schema_knows():
    train = keyed(0)
    schema = TableSchema.infer(train)
    assert schema.columns("id") == ["customer_id"]
    assert list(KeyUniqueness().fit(train).evaluate(train).details["columns"]) == ["customer_id"]
    named = TableSchema(schema.kinds, primary_key=("shop", "visit"))
    found = KeyUniqueness().fit(train, schema=named).evaluate(train)
    assert found.details["columns"] == {"shop + visit": 1.0}


def test_ids_that_train_repeats_are_no_keys():
    orders = pd.DataFrame({"id": [1, 2, 3], "customer": ["a", "a", "b"], "x": [0.1, 0.2, 0.3]})
    schema = {"id": "id", "customer": "id"}
    found = KeyUniqueness().fit(orders, schema=schema).evaluate(orders)
    assert list(found.details["columns"]) == ["id"]
    with warns(MetricWarning):
        found = KeyUniqueness("customer").fit(orders, schema=schema).evaluate(orders)
    assert found.value == found.details["train"]["customer"] == pytest.approx(2 / 3)


def test_no_key_is_known():
    train = make_mixed()
    with warns(MetricWarning):
        assert np.isnan(KeyUniqueness().fit(train).score(train))


def test_an_absent_key_scores_zero():
    train = keyed(0)
    with warns(InvalidValueWarning):
        assert KeyUniqueness().fit(train).score(train.drop(columns="customer_id")) == 0.0
    with warns(InvalidValueWarning):
        assert (
            KeyUniqueness([("shop", "visit")]).fit(train).score(train.drop(columns="visit")) == 0.0
        )


def test_unreadable_parts_of_a_key_are_missing():
    train = pd.DataFrame({"day": pd.date_range("2020", periods=3)})
    with pytest.warns(InvalidValueWarning):
        score = KeyUniqueness("day").fit(train).score(pd.DataFrame({"day": ["2020-01-01", "soon"]}))
    assert score == 0.5


def test_keys_are_checked():
    train = pd.DataFrame({"a": [1, 2]})
    with raises(InvalidParameterError):
        KeyUniqueness(["a", ("b", "c")]).fit(train)
    for wrong in ([], 3, [()], [["a", 1]]):
        with raises(InvalidParameterError):
            KeyUniqueness(wrong).fit(train)
    lists = pd.DataFrame({"a": [[1], [2]], "b": [1, 2]})
    with raises(TableError):
        KeyUniqueness([("a", "b")]).fit(lists, schema={"a": "id"}).score(lists)


@pytest.mark.slow
def test_a_copy_of_train_shows_in_no_cell_of_the_result():
    tables = tuple(keyed(seed) for seed in range(3))
    found = KeyUniqueness().fit(*tables[:2]).evaluate(tables[0])
    assert found.value == found.baseline == 1.0
    assert "c0-001" not in found.to_json()
    check_metric(KeyUniqueness(), tables=tables)


A, B, C = {"a": [1, 2]}, {"b": [0.5, 1.5]}, {"c": ["x", "y"]}


@pytest.mark.parametrize(
    ("train", "synthetic", "value"),
    [
        ({**A, **B, **C}, {**A, "b": [1, 2], **C}, 0.5),
        ({**A, **B, **C}, {**C, **B, **A}, 1.0),
        ({**A, **B}, A, 0.5),
        (A, {**A, **B}, 0.5),
        (A, {"a": ["1", "2"]}, 0.0),
    ],
)
@pytest.mark.filterwarnings("ignore::skeval.exceptions.MetricWarning")
def test_structure_by_hand(train, synthetic, value):
    found = TableStructure().fit(pd.DataFrame(train)).evaluate(pd.DataFrame(synthetic))
    assert found.value == value


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ([1, 2, 3], [1.0, None, 3.0]),
        ([1, 2, 3], pd.array([1, None, 3], dtype="Int64")),
        ([1, 2, 3], np.array([1, 2, 3], dtype="int8")),
        ([0.5, 1.5, 2.0], np.array([0.5, 1.0, 2.0], dtype="float32")),
        ([0.5, 1.5, 2.0], pd.array([0.5, None, 2.0], dtype="Float64")),
        ([True, False, True], [True, None, False]),
        ([True, False, True], pd.array([True, None, False], dtype="boolean")),
        (["a", "b", "a"], pd.array(["a", None, "b"], dtype="string")),
        (["a", "b", "a"], pd.Categorical(["a", None, "b"])),
        (["a", "b", "a"], np.array(["a", None, "b"], dtype=object)),
        (pd.date_range("2020", periods=3), [pd.Timestamp("2020"), None, pd.Timestamp("2021")]),
    ],
)
@pytest.mark.filterwarnings("ignore::skeval.exceptions.MetricWarning")
def test_types_do_not_depend_on_blanks_and_storage(one, other):
    one, other = pd.DataFrame({"a": one}), pd.DataFrame({"a": other})
    for tables in ((one, other), (other, one)):
        assert TableStructure().fit(tables[0]).score(tables[1]) == 1.0


def test_a_placeholder_in_train_changes_no_type():
    ages = pd.Series(np.arange(30) + 0.5)
    texts = ages.astype(str).astype(object)
    texts[3] = "?"
    with pytest.warns(MetricWarning):
        metric = TableStructure().fit(texts.to_frame("age"))
    assert metric.score(ages.to_frame("age")) == 1.0


def test_what_differs_is_named():
    train = pd.DataFrame({**A, **B, **C})
    with pytest.warns(MetricWarning):
        found = (
            TableStructure().fit(train).evaluate(pd.DataFrame({"a": [1.5, 2.0], "d": [1, 2], **C}))
        )
    assert found.details["missing"] == ["b"]
    assert found.details["extra"] == ["d"]
    assert found.details["retyped"] == {"a": {"train": "whole number", "synthetic": "number"}}
    assert found.value == pytest.approx(1 / 5)


def test_kinds_of_types():
    days = pd.date_range("2020", periods=2)
    train = pd.DataFrame(
        {"n": [1, 2], "b": [True, False], "d": days, "t": days - days[0], "s": ["x", "y"]}
    )
    same = pd.DataFrame(
        {
            "n": pd.array([1.5, None], dtype="Float64"),
            "b": pd.Series([True, None], dtype=object),
            "d": pd.Series(list(days), dtype=object),
            "t": pd.Series(list(days - days[0]), dtype=object),
            "s": pd.Categorical(["x", "z"]),
        }
    )
    assert TableStructure().fit(train).score(same) == pytest.approx(4 / 6)  # decimals in n
    assert TableStructure(dtypes="kind").fit(train).score(same) == 1.0
    other = same.assign(n=["1", "2"], s=pd.Categorical([1, 2]), d=["2020-01-01", "2020-01-02"])
    found = TableStructure(dtypes="kind").fit(train).evaluate(other)
    assert found.details["retyped"] == {
        "n": {"train": "number", "synthetic": "text"},
        "d": {"train": "date", "synthetic": "text"},
        "s": {"train": "text", "synthetic": "number"},
    }
    assert found.value == pytest.approx(2 / 8)


def test_structure_of_the_holdout_is_the_baseline():
    train, holdout = make_mixed(random_state=0), make_mixed(random_state=1)
    found = TableStructure().fit(train, holdout).evaluate(train.assign(age=train["age"] + 0.5))
    assert found.baseline == 1.0
    assert found.value == pytest.approx(6 / 8)


@pytest.mark.slow
def test_the_contract_holds_with_parameters():
    tables = tuple(keyed(seed) for seed in range(3))
    check_metric(KeyUniqueness(["customer_id", ("shop", "visit")]), tables=tables)
    check_metric(TableStructure(dtypes="kind"))
