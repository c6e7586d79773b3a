"""Keys, roles and paths: what is inferred, what is asked for, what is refused."""

import copy
import pickle

import pytest

from skeval import TableSchema
from skeval.datasets import make_relational
from skeval.exceptions import InvalidParameterError, SchemaMismatchError
from skeval.relational import ForeignKey, RelationalSchema, SequenceKey
from tests.snapshots import raises

ORDERS = ForeignKey("orders", "user", "users", "id")
ITEMS = ForeignKey("items", "order", "orders", "id")
SHIPPED = ForeignKey("orders", "port", "ports", "code")


@pytest.mark.parametrize(
    ("tables", "keys", "given", "roles"),
    [
        ("users", [], {}, ["subject"]),
        ("users orders items", [ORDERS, ITEMS], {}, ["subject", "dependent", "dependent"]),
        (
            "users orders",
            [ORDERS, ForeignKey("users", "boss", "users", "id")],
            {},
            ["subject", "dependent"],
        ),
        ("users orders ports", [ORDERS, SHIPPED], {}, [None, None, None]),
        (
            "users orders ports",
            [ORDERS, SHIPPED],
            {"ports": "reference"},
            ["subject", "dependent", "reference"],
        ),
        (
            "users orders ports",
            [ORDERS, SHIPPED],
            {"users": "subject"},
            ["subject", "dependent", None],
        ),
        ("users orders", [ORDERS, ForeignKey("orders", "payer", "users", "id")], {}, [None, None]),
        ("users logs", [], {}, [None, None]),
        ("users orders", [ORDERS, ForeignKey("users", "last", "orders", "id")], {}, [None, None]),
    ],
)
def test_roles_are_inferred_where_there_is_one_way(tables, keys, given, roles):
    schema = RelationalSchema(tables.split(), foreign_keys=keys, roles=given)
    assert [schema.role(name) for name in schema.tables] == roles
    assert bool(schema.undetermined) == (None in roles)
    if None in roles:
        missing = [name for name in schema.tables if schema.role(name) is None]
        assert f"roles of {', '.join(missing)} cannot be inferred" in schema.undetermined


def test_a_path_is_asked_for_where_there_are_several():
    schema = make_relational(2).schema
    assert schema.path("messages", "people")[0].columns == ("sender",)
    open_ways = RelationalSchema(
        schema.tables, schema.primary_keys, schema.foreign_keys, schema.roles
    )
    assert "messages (sender, receiver) has several paths" in open_ways.undetermined
    with raises(InvalidParameterError):
        open_ways.path("messages", "people")
    lost = RelationalSchema(["a", "b"], roles={"a": "subject", "b": "dependent"})
    assert "there is none for b" in lost.undetermined


def test_kinds_of_keys():
    data = make_relational(60)
    kinds = {name: dict(own.kinds) for name, own in data.schema.infer(data).tables.items()}
    assert kinds["people"]["person"] == kinds["people"]["referrer"] == "id"
    assert kinds["visits"]["person"] == kinds["items"]["person"] == "id"
    assert kinds["visits"]["visit"] == kinds["items"]["visit"] == "continuous"
    assert kinds["visits"]["shop"] == "categorical"  # it names a row of a reference table
    assert kinds["shops"]["shop"] == "id"


def test_all_that_train_lacks_is_said_at_once():
    data = make_relational(20)
    tables = {**data, "visits": data["visits"].drop(columns=["shop", "day"])}
    del tables["items"]
    with raises(SchemaMismatchError):
        data.schema.infer(tables)


def test_faults_are_one_sentence():
    with raises(InvalidParameterError):
        RelationalSchema(
            ["users"],
            {"orders": "id"},
            [ORDERS],
            {"users": "boss"},
            {"users": "x"},
            {"logs": SequenceKey("user")},
        )
    with raises(InvalidParameterError):
        ForeignKey("a", ("x", "y"), "b", "z")
    with raises(InvalidParameterError):
        RelationalSchema([])
    with raises(InvalidParameterError):
        RelationalSchema(["a", "b"], foreign_keys=[("a", "x", "b", "y")])
    with raises(InvalidParameterError):
        RelationalSchema(["a"], sequences={"a": "x"})


def test_copies_pickles_and_json_are_equal():
    schema = make_relational(5).schema.infer(make_relational(5))
    assert copy.deepcopy(schema) == schema == pickle.loads(pickle.dumps(schema))
    assert RelationalSchema.from_dict(schema.to_dict()) == schema


def test_the_key_of_a_table_schema_counts():
    schema = RelationalSchema({"users": TableSchema({"id": "id"}, primary_key=("id",))})
    assert schema.primary_keys["users"] == ("id",)


def test_circles():
    assert [str(key) for ring in make_relational(2).schema.circles() for key in ring] == [
        "people.referrer -> people.person"
    ]
    keys = [
        ForeignKey("a", "b", "b", "id"),
        ForeignKey("b", "c", "c", "id"),
        ForeignKey("c", "a", "a", "id"),
    ]
    (ring,) = RelationalSchema(["a", "b", "c"], foreign_keys=keys).circles()
    assert [key.child for key in ring] == ["a", "b", "c"]


def test_many_tables_that_all_refer_to_each_other_take_no_time():
    names = [f"t{i:02d}" for i in range(40)]
    keys = [ForeignKey(b, a, a, "id") for i, a in enumerate(names) for b in names[i + 1 :]]
    schema = RelationalSchema(names, foreign_keys=keys, roles={"t00": "subject"})
    assert schema.role("t39") == "dependent"
    assert "has several paths" in schema.undetermined
    assert len(schema.paths_to("t39", "t00")) == 100


def test_kinds_of_tables_that_are_not_there_are_refused():
    data = make_relational(20)
    with raises(SchemaMismatchError):
        data.schema.infer(data, {"user": {"age": "categorical"}})
