from __future__ import annotations

import copy
import datetime as dt
import decimal
import json
import pickle

import numpy as np
import pandas as pd
import pytest

from skeval import TableSchema
from skeval.datasets import make_mixed
from skeval.exceptions import InvalidParameterError, SchemaMismatchError
from skeval.fidelity import KSComplement
from skeval.tables.cells import datetime_format
from tests.snapshots import raises

N = 40
WORDS = ["north", "south", "east", "west"] * (N // 4)


def kind_of(values, name="x"):
    return TableSchema.infer(pd.DataFrame({name: values})).kinds[name]


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (np.arange(N), "continuous"),
        (pd.array([1, None] * (N // 2), dtype="Int64"), "continuous"),
        (pd.array([1.5, None] * (N // 2), dtype="float64[pyarrow]"), "continuous"),
        (pd.array(np.arange(N), dtype="int32[pyarrow]"), "continuous"),
        ([decimal.Decimal("1.5")] * N, "continuous"),
        (pd.to_timedelta(np.arange(N), unit="s"), "continuous"),
        ([dt.timedelta(seconds=1)] * N, "continuous"),
        (np.array([1, 2.5, None, 3] * (N // 4), dtype=object), "continuous"),
        ([True, False] * (N // 2), "boolean"),
        (pd.array([True, None] * (N // 2), dtype="boolean"), "boolean"),
        (pd.array([True, None] * (N // 2), dtype="bool[pyarrow]"), "boolean"),
        (np.array([True, None] * (N // 2), dtype=object), "boolean"),
        (WORDS, "categorical"),
        (pd.Categorical(WORDS), "categorical"),
        (pd.Categorical(np.arange(N) % 3), "categorical"),
        (pd.array(WORDS, dtype="string"), "categorical"),
        (pd.array(WORDS, dtype="string[pyarrow]"), "categorical"),
        (np.array([1, "a"] * (N // 2), dtype=object), "categorical"),
        ([None] * N, "categorical"),
        (pd.date_range("2020-01-01", periods=N), "datetime"),
        (pd.date_range("2020-01-01", periods=N, tz="Europe/Rome"), "datetime"),
        (pd.array(pd.date_range("2020", periods=N), dtype="timestamp[us][pyarrow]"), "datetime"),
        ([dt.date(2020, 1, 1)] * N, "datetime"),
        (pd.array([dt.date(2020, 1, 1)] * N, dtype="date32[day][pyarrow]"), "datetime"),
        (["2020-01-02", None] * (N // 2), "datetime"),
        (["2020-01-02T10:00:00Z"] * N, "datetime"),
        (["31/12/2020"] * N, "datetime"),
        (["12/31/2020 10:30"] * N, "datetime"),
        (["2020"] * N, "categorical"),
        (["1-2"] * N, "categorical"),
        ([f"a rather long remark number {i} on this row" for i in range(N)], "text"),
        ([f"k{i}" for i in range(N)], "id"),
    ],
)
def test_kinds(values, kind):
    assert kind_of(values) == kind


@pytest.mark.parametrize("name", ["id", "user_id", "customerId", "order key", "UUID"])
def test_integers_named_as_keys(name):
    assert kind_of(np.arange(N), name) == "id"
    assert kind_of(np.arange(N) % 5, name) == "continuous"


@pytest.mark.parametrize("name", ["paid", "grid", "monkey"])
def test_names_that_only_end_like_keys(name):
    assert kind_of(np.arange(N), name) == "continuous"


def test_given_kinds_win():
    table = pd.DataFrame({"code": [1, 2, 3], "x": [1.0, 2.0, 3.0]})
    schema = TableSchema.infer(table, {"code": "categorical"})
    assert dict(schema.kinds) == {"code": "categorical", "x": "continuous"}
    assert schema.with_kinds(x="id").measured == ["code"]


def test_given_kinds_of_unknown_columns():
    with raises(SchemaMismatchError):
        TableSchema.infer(pd.DataFrame({"x": [1]}), {"y": "continuous"})


def test_wrong_kind():
    with raises(InvalidParameterError):
        TableSchema({"x": "number"})  # type: ignore[dict-item]


def test_unknown_key():
    with raises(InvalidParameterError):
        TableSchema({"x": "id"}, primary_key=("y",))


def test_is_frozen_copies_and_pickles():
    schema = TableSchema.infer(make_mixed())
    assert pickle.loads(pickle.dumps(schema)) == schema == copy.deepcopy(schema)
    with pytest.raises(TypeError):
        schema.kinds["age"] = "id"  # type: ignore[index]


def test_a_partial_schema_is_completed():
    table = pd.DataFrame({"code": [1, 2], "when": ["2020-01-01", "2020-01-02"]})
    schema = TableSchema.infer(table, TableSchema({"code": "categorical"}, primary_key=("code",)))
    assert dict(schema.kinds) == {"code": "categorical", "when": "datetime"}
    assert schema.primary_key == ("code",)
    assert schema.datetime_formats["when"] == "ISO8601"


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("2020-02-03", "ISO8601"),
        ("02/03/2020", "%m/%d/%Y"),
        ("25/03/2020", "%d/%m/%Y"),
        ("5.3.2020 10:20", "%d.%m.%Y %H:%M"),
    ],
)
def test_datetime_formats(text, form):
    assert datetime_format(pd.Series([text, None])) == form


def test_no_format_reads_all():
    assert datetime_format(pd.Series(["2020-02-03", "2020-02-31"])) is None
    assert datetime_format(pd.Series(["2020-02-03", "unknown"])) is None


COLUMNS = {
    "id": {"sdtype": "id"},
    "age": {"sdtype": "numerical"},
    "sex": {"sdtype": "categorical"},
    "ok": {"sdtype": "boolean"},
    "level": {"sdtype": "ordinal", "range_values": ["low", "high"]},
    "born": {"sdtype": "datetime", "datetime_format": "%d.%m.%Y"},
    "mail": {"sdtype": "email", "pii": True},
}
ONE = {"primary_key": "id", "columns": COLUMNS}


@pytest.mark.parametrize(
    "metadata",
    [
        ONE,
        {"METADATA_SPEC_VERSION": "SINGLE_TABLE_V1", **ONE},
        {"METADATA_SPEC_VERSION": "V1", "tables": {"people": ONE}, "relationships": []},
        {"METADATA_SPEC_VERSION": "V2", "tables": {"people": ONE}},
        {
            "METADATA_SPEC_VERSION": "MULTI_TABLE_V1",
            "tables": {"people": ONE, "b": {"columns": {}}},
        },
    ],
    ids=["sdmetrics", "single table", "V1", "V2", "multi table"],
)
@pytest.mark.parametrize("form", ["mapping", "path", "object"])
def test_from_sdv(metadata, form, tmp_path):
    source = metadata
    if form == "path":
        source = tmp_path / "metadata.json"
        source.write_text(json.dumps(metadata))
    elif form == "object":
        source = type("Metadata", (), {"to_dict": lambda self: metadata})()
    schema = TableSchema.from_sdv(source, table="people" if "tables" in metadata else None)
    kinds = ["id", "continuous", "categorical", "boolean", "categorical", "datetime", "text"]
    assert dict(schema.kinds) == dict(zip(COLUMNS, kinds, strict=True))
    assert schema.primary_key == ("id",)
    assert dict(schema.datetime_formats) == {"born": "%d.%m.%Y"}


# what Metadata.detect_from_dataframes of SDV 2.0.0 makes of make_mixed with a key
DETECTED = """{"tables": {"people": {"primary_key": "person", "columns": {
"person": {"sdtype": "id"},
"age": {"sdtype": "numerical", "range_is_nullable": false, "range_min": 18, "range_max": 82,
 "decimal_places": 0},
"income": {"sdtype": "numerical", "range_is_nullable": true, "range_min": 5356.7,
 "range_max": 99877.45, "decimal_places": 2},
"visits": {"sdtype": "ordinal", "range_is_nullable": false, "range_values": [0, 2, 1, 3, 4, 5, 6],
 "high_cardinality": false},
"city": {"pii": true, "sdtype": "city", "range_is_nullable": true},
"plan": {"sdtype": "categorical", "range_is_nullable": false,
 "range_values": ["basic", "family", "premium"], "high_cardinality": false},
"member": {"sdtype": "categorical", "range_is_nullable": false, "range_values": [false, true],
 "high_cardinality": false},
"joined": {"sdtype": "datetime", "range_is_nullable": true, "range_min": "2015-07-01 00:00:00",
 "range_max": "2024-12-31 00:00:00"}}}}, "relationships": [], "METADATA_SPEC_VERSION": "V2"}"""


@pytest.mark.parametrize("form", ["mapping", "path", "object"])
def test_what_sdv_detects_is_a_schema(form, tmp_path):
    metadata = json.loads(DETECTED)
    path = tmp_path / "metadata.json"
    path.write_text(DETECTED)
    stand_in = type("Metadata", (), {"to_dict": lambda self: metadata})()
    table = make_mixed(200, random_state=0).assign(person=[f"P{i:04d}" for i in range(200)])
    given = (
        stand_in
        if form == "object"
        else TableSchema.from_sdv(metadata if form == "mapping" else path)
    )
    schema = KSComplement().fit(table, schema=given).context_.schema
    assert dict(schema.kinds) == {
        "age": "continuous",
        "income": "continuous",
        "visits": "categorical",
        "city": "text",  # taken for personal data
        "plan": "categorical",
        "member": "categorical",
        "joined": "datetime",
        "person": "id",
    }
    assert schema.primary_key == ("person",)


def test_from_sdv_composite_key():
    metadata = {
        "primary_key": ["a", "b"],
        "columns": {"a": {"sdtype": "id"}, "b": {"sdtype": "id"}},
    }
    assert TableSchema.from_sdv(metadata).primary_key == ("a", "b")


def test_from_sdv_several_tables():
    metadata = {"tables": {"a": ONE, "b": ONE}}
    with raises(InvalidParameterError):
        TableSchema.from_sdv(metadata)
    with raises(InvalidParameterError):
        TableSchema.from_sdv({})


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([f"{i}.50" for i in range(N)], "continuous"),
        (pd.array([f"{i}.50" for i in range(N)], dtype="string[pyarrow]"), "continuous"),
        (["12", None] * (N // 2), "categorical"),
        ([str(i) for i in range(60)], "continuous"),
        (["0", "0.5", "-3", "1e5"] * (N // 4), "continuous"),
        (["007", "12"] * (N // 2), "categorical"),
        ([f"{i:05}" for i in range(N)], "id"),
        ([str(2**60 + i) for i in range(N)], "id"),
        (["12", "inf"] * (N // 2), "categorical"),
        (["12", "1_0"] * (N // 2), "categorical"),
        (["12", ""] * (N // 2), "categorical"),
        (["1"] * 200 + ["x"], "categorical"),
        (pd.array([dt.timedelta(1)] * N, dtype="duration[us][pyarrow]"), "continuous"),
        (pd.Categorical(pd.to_timedelta([1, 2] * (N // 2), unit="s")), "continuous"),
    ],
)
def test_numbers_in_strings_and_durations(values, kind):
    assert kind_of(values) == kind


def test_numbers_in_strings_named_as_keys():
    assert kind_of([str(i) for i in range(N)], "user_id") == "id"


def test_skipped():
    schema = TableSchema({"a": "id", "b": "continuous", "c": "text"})
    assert schema.skipped == ["a", "c"]
    assert schema.measured == ["b"]


def test_names_are_strings():
    table = pd.DataFrame({0: [1, 2], 1: ["01.02.2020", "03.02.2020"]})
    schema = TableSchema.infer(table, {0: "categorical"})
    assert dict(schema.kinds) == {"0": "categorical", "1": "datetime"}
    given = TableSchema({0: "id"}, primary_key=(0,), datetime_formats={1: "%m.%d.%Y"})
    completed = TableSchema.infer(table, given)
    assert completed.kinds["0"] == "id"
    assert completed.primary_key == ("0",)
    assert completed.datetime_formats == {"1": "%m.%d.%Y"}


@pytest.mark.parametrize("schema", [["x"], "categorical", 3])
def test_no_schema(schema):
    with raises(InvalidParameterError):
        TableSchema.infer(pd.DataFrame({"x": [1]}), schema)


@pytest.mark.parametrize(
    "metadata",
    [{"columns": {"age": 5}}, {"columns": ["age"]}, {"tables": {"a": 5}}, {"tables": [5]}, []],
)
def test_broken_metadata(metadata):
    with raises(InvalidParameterError):
        TableSchema.from_sdv(metadata)


def test_format_of_dates_in_categories():
    assert datetime_format(pd.Series(["25/03/2020", None], dtype="category")) == "%d/%m/%Y"
