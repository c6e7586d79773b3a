"""Contexts of several tables: roles of rows, missing tables, detected keys, shared subjects."""

import pickle
import uuid

import numpy as np
import pandas as pd
import pytest

from skeval import TableSchema
from skeval.datasets import make_relational
from skeval.exceptions import (
    InvalidParameterError,
    MetricWarning,
    MostlySharedRowsWarning,
    NotRememberedError,
    SchemaMismatchError,
    SharedRowsWarning,
    TableError,
)
from skeval.relational import (
    ForeignKey,
    ReferentialIntegrity,
    RelationalContext,
    RelationalData,
    RelationalSchema,
    split_by_subject,
)
from tests.snapshots import raises, warns


@pytest.fixture(scope="module")
def halves():
    return split_by_subject(make_relational(80), 0.5, random_state=0)


def without(data, *names):
    return {name: table for name, table in data.items() if name not in names}


def padded_keys(width):
    shops = pd.DataFrame({"shop": [f"{i:0{width}d}" for i in range(20)], "size": range(20)})
    sales = pd.DataFrame({"sale": range(60), "shop": [str(i % 20) for i in range(60)]})
    schema = RelationalSchema(
        ["shops", "sales"], {"shops": "shop"}, [ForeignKey("sales", "shop", "shops", "shop")]
    )
    return {"shops": shops, "sales": sales}, schema


def test_a_link_of_train_that_joins_nothing_is_named():
    tables, schema = padded_keys(5)
    with warns(MetricWarning):
        ReferentialIntegrity().fit(tables, schema=schema)
    tables["sales"]["shop"] = tables["sales"]["shop"].str.zfill(5)
    assert not RelationalContext.of(tables, schema=schema).notices


def test_public_tables_need_not_be_given_again(halves):
    train, holdout = halves
    context = RelationalContext.of(train, without(holdout, "shops"))
    context = context.with_synthetic(without(make_relational(40, 1), "shops"))
    for role in ("train", "holdout", "synthetic"):
        pd.testing.assert_frame_equal(context.original_frame(role)["shops"], train["shops"])
    assert set(context["holdout"]) == set(train)
    assert "holdout" not in context.table("shops")


def test_a_missing_table_is_missing(halves):
    train, holdout = halves
    context, made = RelationalContext.of(train, holdout), without(make_relational(40, 1), "items")
    with raises(SchemaMismatchError):
        context.with_synthetic(made)
    lenient = context.with_synthetic(made, lenient=True)
    assert "items" not in lenient["synthetic"]
    assert "items" not in lenient.original_frame("synthetic")
    assert any("Missing synthetic tables: items" in str(notice) for notice in lenient.notices)
    assert "synthetic" not in lenient.replace_role("synthetic").table("items")


def test_faults_name_the_table_and_the_role(halves):
    train, holdout = halves
    lacking = {**holdout, "visits": holdout["visits"].drop(columns="amount")}
    with raises(SchemaMismatchError):
        RelationalContext.of(train, lacking)
    empty = {**holdout, "visits": holdout["visits"].iloc[:0]}
    with raises(TableError):
        RelationalContext.of(train, empty)
    with raises(TableError):
        RelationalContext.of(train, holdout["visits"])
    with raises(TableError):
        RelationalContext.of(train).with_synthetic(train["people"])


@pytest.mark.parametrize("schema", [TableSchema({}), "schema.json", ["people"]])
def test_schemas_of_another_kind_are_refused(halves, schema):
    with raises(InvalidParameterError):
        RelationalContext.of(halves[0], schema=schema)


def test_tables_that_the_schema_does_not_name_are_skipped():
    data = make_relational(20)
    schema = RelationalSchema(["people"], {"people": "person"})
    context = RelationalContext.of(dict(data), schema=schema)
    assert list(context["train"]) == list(context.original_frame("train")) == ["people"]
    assert "not in the schema: visits, items, messages, shops" in str(context.notices[0])


def test_detected_keys_are_said_and_can_be_seen():
    users, orders = pd.DataFrame({"id": range(9)}), pd.DataFrame({"user_id": [0, 1, 1, 2]})
    train = {"users": users, "orders": orders.assign(cost=1.5)}
    with warns(MetricWarning):
        metric = ReferentialIntegrity().fit(train)
    assert metric.context_.relations.role("orders") == "dependent"
    assert metric.score({**train, "orders": train["orders"].assign(user_id=[0, 0, 77, 78])}) == 0.5
    kinds = RelationalContext.of(train, schema={"orders": {"cost": "categorical"}}).relations
    assert kinds.tables["orders"].kinds["cost"] == "categorical"
    assert not RelationalContext.of(RelationalData(train)).notices


def test_rows_are_pickled_only_if_asked_for(halves):
    context = RelationalContext.of(*halves)
    with pytest.raises(NotRememberedError):
        pickle.loads(pickle.dumps(context))["train"]
    context.remember_rows = True
    again = pickle.loads(pickle.dumps(context))
    for name, table in context["holdout"].items():
        pd.testing.assert_frame_equal(again["holdout"][name], table)
    assert not context.table("people").remember_rows


class TestSharedSubjects:
    def shared(self, train, holdout):
        return [
            n
            for n in RelationalContext.of(train, holdout).notices
            if isinstance(n, SharedRowsWarning)
        ]

    def test_a_division_by_subject_shares_none(self, halves):
        assert not self.shared(*halves)

    def test_a_division_by_rows_shares_most(self):
        data = make_relational(300, n_children=(6, 12))
        half = np.random.default_rng(0).random(len(data["visits"])) < 0.5
        keyed = data["people"].assign(person=data["people"]["person"] * 7919)
        people = {"people": keyed}
        sides = [
            RelationalData(
                {
                    **people,
                    "visits": data["visits"][rows].assign(person=lambda t: t["person"] * 7919),
                },
                RelationalSchema(
                    ["people", "visits"], {"people": "person"}, data.schema.foreign_keys[1:2]
                ),
            )
            for rows in (half, ~half)
        ]
        (notice,) = self.shared(*sides)  # their rows differ, their keys do not
        assert isinstance(notice, MostlySharedRowsWarning)
        assert "100.00% of the holdout subjects (people)" in str(notice)

    def test_the_same_people_under_other_numbers(self, halves):
        train, holdout = halves
        ten = {
            "people": np.arange(10),
            "visits": np.flatnonzero(
                train["visits"]["person"].isin(train["people"]["person"][:10])
            ),
        }
        ten["items"] = np.flatnonzero(train["items"]["person"].isin(train["people"]["person"][:10]))
        ten["messages"] = np.flatnonzero(
            train["messages"]["sender"].isin(train["people"]["person"][:10])
        )
        copied = train.taken(ten)
        tables = {}
        for name, table in holdout.items():
            rows = copied[name].sample(frac=1.0, random_state=0) if name != "shops" else table[:0]
            rows = rows.assign(
                **{
                    c: rows[c] + 1000
                    for c in ("person", "sender", "receiver", "referrer")
                    if c in rows
                }
            )
            tables[name] = pd.concat([table, rows], ignore_index=True)
        (notice,) = self.shared(train, RelationalData(tables, train.schema))
        assert type(notice) is SharedRowsWarning
        assert "20.00%" in str(notice)

    @pytest.mark.parametrize(
        ("name", "told"),
        [
            (lambda i: i, False),
            (lambda i: f"user-{i:03d}", False),
            (lambda i: str(uuid.uuid5(uuid.NAMESPACE_DNS, str(i))), True),
            (lambda i: 10**9 + 7919**2 * i % 10**8, True),
        ],
    )
    def test_keys_that_number_rows_are_not_compared(self, name, told):
        train, holdout = make_relational(50, 1)["people"], make_relational(50, 2)["people"]
        schema = RelationalSchema(["people"], {"people": "person"})
        train, holdout = (
            {"people": table.assign(person=table["person"].map(name))} for table in (train, holdout)
        )
        notices = RelationalContext.of(train, holdout, schema=schema).notices
        assert any(isinstance(n, MostlySharedRowsWarning) for n in notices) == told


def test_keys_that_are_too_large_for_floating_point_numbers_are_named():
    tables, schema = padded_keys(1)
    large = {
        name: table.assign(shop=2**60 + table["shop"].astype(int)) for name, table in tables.items()
    }
    assert not RelationalContext.of(large, schema=schema).notices
    large["sales"]["shop"] = large["sales"]["shop"].astype(float)
    with warns(MetricWarning):
        ReferentialIntegrity().fit(large, schema=schema)
