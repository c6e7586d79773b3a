"""Rows of several tables: positions of parents, faults of keys, folders, divisions by subject."""

import json
from functools import partial

import numpy as np
import pandas as pd
import pytest
import sqlalchemy as sa

from skeval.datasets import make_relational
from skeval.exceptions import InvalidParameterError, MissingInputError, TableError
from skeval.relational import ForeignKey, RelationalData, RelationalSchema, split_by_subject
from skeval.tables.keys import key_codes
from skeval.tables.relational_data import NULL, ORPHAN, n_endless, parent_positions
from tests.snapshots import raises

KEY = ForeignKey("orders", "user", "users", "id")


@pytest.mark.parametrize(
    ("child", "parent"),
    [
        ([2, 9, None, 1], [1, 2]),
        (["2", "9", None, "1"], [1, 2]),
        ([2.0, 9.0, None, 1.0], ["1", "2"]),
        (pd.Categorical(["b", "z", None, "a"]), ["a", "b"]),
        (
            pd.to_datetime(["2024-01-02", "2030-01-01", None, "2024-01-01"]),
            ["2024-01-01", "2024-01-02"],
        ),
        ([True, "x", None, False], [False, True]),
    ],
)
def test_keys_join_whatever_they_are_stored_in(child, parent):
    rows = pd.DataFrame({"user": child}), pd.DataFrame({"id": parent})
    assert parent_positions(*rows, KEY).tolist() == [1, ORPHAN, NULL, 0]


def test_composite_keys_join_cell_by_cell():
    key = ForeignKey("items", ("a", "b"), "orders", ("x", "y"))
    child = pd.DataFrame({"a": [1, 1, 2, None], "b": ["p", "q", "q", "p"]})
    parent = pd.DataFrame({"x": [2, 1], "y": ["q", "p"]})
    assert parent_positions(child, parent, key).tolist() == [1, ORPHAN, 0, NULL]


def test_of_rows_with_one_key_the_first_is_the_parent():
    child, parent = pd.DataFrame({"user": [1]}), pd.DataFrame({"id": [2, 1, 1]})
    assert parent_positions(child, parent, KEY).tolist() == [1]


def test_cells_that_cannot_be_keys_are_refused():
    lists = pd.DataFrame({"user": [[1], [2]]})
    with raises(TableError):
        key_codes(lists, lists)


@pytest.mark.parametrize(
    ("positions", "n"), [([-1, 0, 1], 0), ([0], 1), ([1, 2, 0, 0, -1], 4), ([-2, -1], 0), ([], 0)]
)
def test_rows_that_lead_into_a_circle_are_counted(positions, n):
    assert n_endless(np.array(positions, dtype=np.int64)) == n


def test_every_fault_is_counted():
    data = make_relational(40, random_state=1)
    broken = dict(data)
    broken["people"] = pd.concat([data["people"], data["people"].iloc[:3]], ignore_index=True)
    broken["people"].loc[5, "person"] = None
    broken["people"].loc[0, "referrer"] = 1  # of itself
    broken["messages"] = data["messages"].assign(receiver=[999] * 4 + [1] * 36)
    broken["items"] = data["items"].drop(columns="visit")
    del broken["shops"]
    frame = RelationalData(broken, data.schema).validate()
    faults = {(t, k, f): n for t, k, f, n in frame.iloc[:, :4].itertuples(index=False)}
    assert faults["shops", "", "missing table"] == 0
    assert faults["items", "visit", "missing columns"] == 0
    assert faults["people", "person", "duplicate key"] == 3
    assert faults["people", "person", "null key"] == 1
    assert faults["messages", "receiver", "orphan"] == 4
    assert faults["people", "referrer", "circle"] >= 1
    assert frame.query("fault == 'duplicate key'")["share"].item() == 3 / 43


def test_a_circle_of_tables_is_counted_in_rows():
    schema = RelationalSchema(
        ["a", "b"],
        {"a": "id", "b": "id"},
        [ForeignKey("a", "b", "b", "id"), ForeignKey("b", "a", "a", "id")],
    )
    a = pd.DataFrame({"id": [1, 2], "b": [1, 9]})
    b = pd.DataFrame({"id": [1, 2], "a": [1, 2]})
    faults = RelationalData({"a": a, "b": b}, schema).validate()
    assert faults[["fault", "n_rows"]].values.tolist() == [["orphan", 1], ["circle", 1]]


@pytest.mark.parametrize("ending", ["csv", "tsv", "parquet", "csv.gz"])
@pytest.mark.parametrize("given", ["nothing", "file", "schema"])
def test_folders(tmp_path, ending, given):
    data = make_relational(30)
    for name, table in data.items():
        path = tmp_path / f"{name}.{ending}"
        write = partial(table.to_csv, index=False, sep="\t" if ending == "tsv" else ",")
        (table.to_parquet if ending == "parquet" else write)(path)
    (tmp_path / "notes.json").write_text('{"by": "us"}')
    (tmp_path / "schema.json").write_text(json.dumps(data.schema.to_dict()))
    schema = {"nothing": None, "file": tmp_path / "schema.json", "schema": data.schema}[given]
    read = RelationalData.from_folder(tmp_path, schema)
    assert read.schema == data.schema
    assert {name: table.shape for name, table in read.items()} == {
        name: table.shape for name, table in data.items()
    }
    assert read.validate().equals(data.validate())


def test_folders_that_cannot_be_read_are_refused(tmp_path):
    with raises(TableError):
        RelationalData.from_folder(tmp_path / "none")
    with raises(TableError):
        RelationalData.from_folder(tmp_path)
    with raises(TableError):
        RelationalData.from_folder(tmp_path, RelationalSchema(["users"]))
    for name in ("users.csv", "users.tsv"):
        (tmp_path / name).write_text(
            "id\tage\n1\t2\n".replace("\t", "," if "csv" in name else "\t")
        )
    with raises(TableError):
        RelationalData.from_folder(tmp_path)
    for name in ("a.json", "b.json"):
        (tmp_path / name).write_text(json.dumps(RelationalSchema(["users"]).to_dict()))
    with raises(InvalidParameterError):
        RelationalData.from_folder(tmp_path)


def test_a_database_is_read_with_its_keys(tmp_path):
    engine = sa.create_engine(f"sqlite:///{tmp_path}/shop.db")
    with engine.begin() as connection:
        connection.exec_driver_sql("create table users (id integer primary key, age integer)")
        connection.exec_driver_sql(
            "create table orders (id integer primary key, user integer references users (id))"
        )
        connection.exec_driver_sql("insert into users values (1, 31), (2, 45)")
        connection.exec_driver_sql("insert into orders values (1, 1), (2, 7)")
    data = RelationalData.from_sqlalchemy(engine)
    assert data.validate()[["table", "fault", "n_rows"]].values.tolist() == [
        ["orders", "orphan", 1]
    ]
    engine.dispose()


class TestSplit:
    def test_rows_follow_their_subject(self):
        data = make_relational(60)
        train, holdout = split_by_subject(data, 0.25, random_state=3)
        assert len(holdout["people"]) == 15
        for name in data:
            if name != "shops":
                assert len(train[name]) + len(holdout[name]) == len(data[name])
        for half in (train, holdout):
            people = set(half["people"]["person"])
            assert set(half["visits"]["person"]) <= people
            assert set(half["items"]["person"]) <= people
            assert set(half["messages"]["sender"]) <= people
            pd.testing.assert_frame_equal(half["shops"], data["shops"])

    def test_orphans_are_divided_with_what_belongs_to_them(self):
        data = make_relational(200, orphans=0.4)
        for half in split_by_subject(data, 0.5, random_state=0):
            lost = ~half["visits"]["person"].isin(half["people"]["person"])
            assert 0.3 < lost.mean() < 0.5
            visits = set(half["visits"][["person", "visit"]].itertuples(index=False, name=None))
            items = set(half["items"][["person", "visit"]].itertuples(index=False, name=None))
            assert items <= visits

    def test_one_seed_one_division(self):
        data = make_relational(30)
        first, second = (split_by_subject(data, 10, random_state=5) for _ in range(2))
        for one, other in zip(first, second, strict=True):
            for name in data:
                pd.testing.assert_frame_equal(one[name], other[name])
        assert len(first[1]["people"]) == 10

    def test_refusals(self):
        data = make_relational(10)
        for size in (0.0, 1.0, 10, -1):
            with raises(InvalidParameterError):
                split_by_subject(data, size)
        with raises(MissingInputError):
            split_by_subject(RelationalData(data, RelationalSchema(list(data))))
