"""A synthetic table alone: what a schema states is measured, all else is named with the reason."""

from __future__ import annotations

import datetime as dt
import warnings

import pandas as pd
import pytest

from skeval import SuiteResult, TableSchema
from skeval.exceptions import InvalidParameterError
from skeval.suites import evaluate_alone
from skeval.tables.declared_schema import StatedTable
from tests.snapshots import raises

STATED = {
    "id": {"kind": "id", "unique": True},
    "age": {"kind": "continuous", "minimum": 0, "maximum": 120, "required": True},
    "height": {"kind": "continuous", "minimum": 0},
    "plan": {"kind": "categorical", "enum": ["basic", "plus"]},
    "grade": {"kind": "categorical", "enum": [1, 2, 3], "required": True},
    "post": {"kind": "categorical", "pattern": "[0-9]{5}", "required": True},
    "day": {"kind": "datetime", "minimum": "2020-01-01", "format": "%Y-%m-%d"},
    "left": {"kind": "datetime", "maximum": "2023-12-31"},
    "note": "text",
    "rules": ["left >= day", "age >= 18 or plan == 'basic'"],
}
GOOD = pd.DataFrame(
    {
        "id": ["a", "b", "c", "d"],
        "age": [31, 47, 17, 90],
        "height": [1.7, None, 1.6, 1e6],
        "plan": ["basic", "plus", "basic", None],
        "grade": [1, 2, 3, 1],
        "post": ["12345", "00001", "55555", "55555"],
        "day": ["2021-01-01", "2020-01-01", "2022-02-02", None],
        "left": ["2021-01-02", None, "2022-02-03", "2022-02-02"],
        "note": ["one", "two", "three", "four"],
    }
)
BAD = GOOD.assign(
    id=["a", "a", "c", None],
    age=[31, 340, 17, None],
    height=[-1.0, None, 1.6, 1e6],
    plan=["basic", "plus", "plus", "pro"],
    grade=[1, 2, None, 4],
    post=["1234", None, "55555", "55555"],
    day=["2021-01-01", "2019-01-01", "2022-02-02", "2.2.2022"],
    left=["2021-01-02", "2018-01-01", "2022-02-03", "2025-02-02"],
)
MEASURED = {
    "table_structure",
    "key_uniqueness",
    "boundary_adherence",
    "category_adherence",
    "format_adherence",
    "rule_adherence",
}


def evaluated(table: pd.DataFrame, schema=STATED) -> SuiteResult:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return evaluate_alone(table, schema)


def test_what_keeps_all_that_is_stated_scores_one():
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # nor is anything said of a table that nobody gave
        result = evaluate_alone(GOOD, STATED)
    assert {name: one.value for name, one in result.items() if not one.error} == dict.fromkeys(
        MEASURED, 1.0
    )
    assert [str(one) for one in result.notices] == [
        "No real data were given. The synthetic data are compared with the schema."
    ]


def test_each_constraint_is_held_against_its_column():
    columns = {
        name: one.details["columns"]
        for name, one in evaluated(BAD).items()
        if "columns" in one.details
    }
    assert columns["key_uniqueness"] == {"id": 0.5}
    ranges = {"age": 0.5, "height": 2 / 3, "day": 0.5, "left": 0.75}
    assert columns["boundary_adherence"] == pytest.approx(ranges)
    assert columns["category_adherence"] == {"plan": 0.75, "grade": 0.5}
    assert columns["format_adherence"] == {"post": 0.75, "day": 0.75}
    rules = columns["rule_adherence"]
    assert rules["age >= 18 or plan == 'basic'"] == pytest.approx(2 / 3)
    assert rules["post is there"] == 0.75
    assert set(rules) == {*STATED["rules"], "post is there"}


def test_structure_is_of_names_and_of_numbers():
    table = BAD.drop(columns="note").assign(further=1, age=["old"] * 4)
    details = evaluated(table)["table_structure"].details
    assert (details["missing"], details["extra"]) == (["note"], ["further"])
    assert list(details["retyped"]) == ["age"]


@pytest.mark.parametrize(
    "cells",
    [
        [True, False, True],
        [True, None, False],
        ["yes", "no", None],
        [1, 0, 1],
        pd.Series([1, None, 0], dtype=object),
        pd.to_datetime(["2020-01-01", None, "2020-01-03"]),
        [dt.date(2020, 1, 1), None, dt.date(2020, 1, 3)],
    ],
)
@pytest.mark.parametrize("kind", ["boolean", "categorical", "id", "text", "datetime"])
def test_any_type_but_for_numbers_is_no_fault_of_structure(kind, cells):
    result = evaluated(pd.DataFrame({"a": cells}), {"a": kind})["table_structure"]
    assert (result.value, result.details["retyped"]) == (1.0, {})


def test_levels_may_be_stated_twice_and_missing_ones_among_them():
    table = pd.DataFrame({"a": ["x", "y", "z", None]})
    for levels in (["x", "x", "y"], ["x", "y", None], ["y", None, "x", None]):
        result = evaluated(table, {"a": {"kind": "categorical", "enum": levels}})
        assert result["category_adherence"].value == 0.75


def test_what_a_table_schema_states_in_vain_is_named():
    fields = [
        {"name": "plan", "type": "string", "constraints": {"minLength": 3, "required": True}},
        {"name": "grade", "type": "integer", "constraints": {"enum": [1, 2, 3], "minimum": 1}},
    ]
    stated = StatedTable.from_schema({"fields": fields})
    assert stated.not_held == ("minLength of plan", "minimum of grade")
    assert stated.schema.kinds["grade"] == "categorical"
    result = evaluated(GOOD[["plan", "grade"]], {"fields": fields})
    assert result["category_adherence"].value == 1.0
    assert str(result.notices[1]) == (
        "The schema also contains entries that are not compared: minLength of plan, "
        "minimum of grade."
    )


def test_what_needs_real_rows_is_named_with_the_reason():
    result = evaluated(BAD, {"age": "continuous"})
    assert [name for name, one in result.items() if not one.error] == ["table_structure"]
    assert result["boundary_adherence"].error == "the schema contains no minimum and no maximum."
    for name in ("ks_complement", "similarity", "dcr_overfitting", "membership", "exact_matches"):
        assert result[name].error.startswith("it compares with real rows or their statistics")


def test_nothing_of_the_stand_in_is_in_the_result():
    result = evaluated(BAD)
    assert [one.role for one in result.provenance.inputs] == ["synthetic"]
    assert set(result.provenance.metrics) == MEASURED
    assert list(result.sizes) in ([], ["synthetic"])
    assert not [name for name, one in result.items() if {"train", "rules"} & set(one.details)]
    again = SuiteResult.from_json(result.to_json())
    assert {name: one.value for name, one in again.items() if not one.error}.keys() == MEASURED


def test_a_table_schema_is_read():
    fields = [
        {"name": "age", "type": "integer", "constraints": {"minimum": 0, "required": True}},
        {"name": "plan", "type": "string", "constraints": {"enum": ["basic", "plus"]}},
        {"name": "day", "type": "date", "format": "%Y-%m-%d"},
        {"name": "id", "type": "string", "constraints": {"minLength": 3}},
    ]
    stated = StatedTable.from_schema({"fields": fields, "primaryKey": "id", "rules": ["age < 100"]})
    assert list(stated.schema.kinds.values()) == [
        *("continuous", "categorical", "datetime", "categorical")
    ]
    assert stated.schema.primary_key == ("id",)
    assert stated.schema.datetime_formats == {"day": "%Y-%m-%d"}
    assert stated.of_all("minimum") == {"age": 0}
    assert stated.rules == ("age < 100",)
    assert set(StatedTable.from_schema(TableSchema({"age": "continuous"})).schema.kinds) == {"age"}
    assert StatedTable.from_schema({"rules": "categorical"}).schema.kinds == {
        "rules": "categorical"
    }


@pytest.mark.parametrize(
    "schema",
    [
        [],
        {},
        {"age": {"kind": "continuous", "lowest": 0}},
        {"age": {"minimum": 0}},
        {"age": {"kind": "categorical", "enum": []}},
        {"age": {"kind": "number"}},
        {"age": {"kind": "number", "minimum": 0}},
        {"age": "continuous", "rules": [1]},
        {"age": "continuous", "rules": ["aged > 1"]},
        {"age": "continuous", "primaryKey": ["id"]},
        {"age": {"kind": "continuous", "minimum": 2, "maximum": 1}},
        {"fields": [{"type": "string"}]},
        {"fields": [{"name": "a"}, {"name": "a"}]},
        {"fields": [{"name": "age"}], "primaryKey": 5},
        {"age": {"kind": "continuous", "required": "yes"}},
        {"age": {"kind": "continuous", "unique": 1}},
        {"age": {"kind": "continuous", "enum": [1]}},
        {"age": {"kind": "continuous", "minimum": True}},
        {"age": {"kind": "continuous", "minimum": float("inf")}},
        {"age": {"kind": "continuous", "maximum": float("nan")}},
        {"age": {"kind": "continuous", "maximum": 10**400}},
        {"age": {"kind": "continuous", "minimum": None}},
        {"age": {"kind": "id", "minimum": 1}},
        {"fields": [{"name": "a", "constraints": [1]}]},
    ],
)
def test_schemas_that_cannot_be_read(schema):
    with raises(InvalidParameterError):
        evaluated(GOOD[["age"]], schema)
