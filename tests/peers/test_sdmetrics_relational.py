"""Several tables: SDMetrics' numbers where its definition is kept, and its faults, which ours lacks."""

from __future__ import annotations

import json
import math

import numpy as np
import pandas as pd
import pytest

from skeval import make_suite
from skeval.relational import (
    CardinalityBoundaryAdherence,
    CardinalityShapeSimilarity,
    CardinalityStatisticSimilarity,
    ForeignKey,
    InterTableTrends,
    ReferentialIntegrity,
    RelationalSchema,
)

pytestmark = [
    pytest.mark.peers,
    pytest.mark.filterwarnings("ignore::skeval.exceptions.NothingToMeasureWarning"),
]

SCRIPT = """
import pandas as pd
train, synthetic = (
    {name: pd.DataFrame(columns) for name, columns in tables.items()} for tables in given["tables"]
)
metadata = given["metadata"]
"""
METRICS = """
from sdmetrics import column_pairs, multi_table

(link,) = metadata["relationships"]
sides = [
    (t[link["parent_table_name"]][link["parent_primary_key"]],
     t[link["child_table_name"]][link["child_foreign_key"]])
    for t in (train, synthetic)
]
found = {
    "shape": multi_table.CardinalityShapeSimilarity.compute(train, synthetic, metadata),
    "boundary": column_pairs.CardinalityBoundaryAdherence.compute(*sides),
    "integrity": column_pairs.ReferentialIntegrity.compute(*sides),
    **{
        kind: multi_table.CardinalityStatisticSimilarity.compute(
            train, synthetic, metadata, statistic=kind
        )
        for kind in ("mean", "median", "std")
    },
}
found = {name: float(score) for name, score in found.items()}
"""
REPORT = """
from sdmetrics.reports.multi_table import DiagnosticReport, QualityReport

found = {}
for kind in (QualityReport, DiagnosticReport):
    report = kind()
    report.generate(train, synthetic, metadata, verbose=False)
    scores = report.get_properties()
    found |= {name: float(score) for name, score in zip(scores["Property"], scores["Score"])}
"""
DETAILS = """
from sdmetrics.multi_table import CardinalityShapeSimilarity
found = len(CardinalityShapeSimilarity.compute_breakdown(train, synthetic, metadata))
"""


def shop(seed, n=200, tie=1.0, orphans=0.0):
    """Customers with orders that follow them; all columns that are binned nowhere."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=n)
    owner = np.repeat(np.arange(n), rng.poisson(2.0 + tie, n))
    y = tie * x[owner] + 0.5 * rng.normal(size=owner.size)
    names = np.where(rng.random(owner.size) < orphans, 10_000 + owner, owner)
    return {
        "users": pd.DataFrame({"id": np.arange(n), "x": x, "g": np.where(x > 0, "p", "q")}),
        "orders": pd.DataFrame({"user": names, "y": y, "h": np.where(y > 0, "u", "v")}),
    }


SCHEMA = RelationalSchema(
    ["users", "orders"], {"users": "id"}, [ForeignKey("orders", "user", "users", "id")]
)
KINDS = {
    "users": {"id": "id", "x": "numerical", "g": "categorical"},
    "orders": {"user": "id", "y": "numerical", "h": "categorical"},
}


def described(keys, kinds=KINDS, primary="id"):
    tables = {
        name: {"columns": {column: {"sdtype": kind} for column, kind in columns.items()}}
        for name, columns in kinds.items()
    }
    for key in keys:
        tables[key.parent]["primary_key"] = primary
    names = ("parent_table_name", "parent_primary_key", "child_table_name", "child_foreign_key")
    links = [(k.parent, *k.parent_columns, k.child, *k.columns) for k in keys]
    return {
        "tables": tables,
        "relationships": [dict(zip(names, link, strict=True)) for link in links],
    }


def theirs(peer, script, tables, metadata=None):
    frames = [{name: listed(rows) for name, rows in t.items()} for t in tables]
    given = {"tables": frames, "metadata": metadata or described(SCHEMA.foreign_keys)}
    return peer("sdmetrics", SCRIPT + script, given)


def listed(rows):
    return {
        name: json.loads(rows[name].to_json(orient="values", double_precision=15)) for name in rows
    }


@pytest.fixture(scope="module")
def tables():
    return shop(0), shop(1, tie=0.4, orphans=0.1)


def test_cardinalities_and_integrity_agree(peer, tables):
    found = theirs(peer, METRICS, tables)
    metrics = {
        "shape": CardinalityShapeSimilarity(),
        "boundary": CardinalityBoundaryAdherence(),
        "integrity": ReferentialIntegrity(),
        **{kind: CardinalityStatisticSimilarity(kind) for kind in ("mean", "median", "std")},
    }
    ours = {n: m.fit(tables[0], schema=SCHEMA).score(tables[1]) for n, m in metrics.items()}
    assert ours == pytest.approx(found, abs=1e-12)


def ours(tables, schema=SCHEMA):
    scores = {}
    for preset in ("quality", "diagnostic"):
        suite = make_suite(preset, schema=schema).fit(tables[0], schema=schema)
        scores |= suite.evaluate(tables[1]).properties()["score"].to_dict()
    return scores


def test_properties_of_the_reports_agree(peer, tables):
    found, own = theirs(peer, REPORT, tables), ours(tables)
    for name in ("Column Shapes", "Cardinality", "Data Structure", "Relationship Validity"):
        assert own[name.lower().replace(" ", "_")] == pytest.approx(found[name], abs=1e-7), name


def test_trends_across_keys_agree_where_nothing_is_binned(peer):
    tables = [
        {"users": t["users"].drop(columns="x"), "orders": t["orders"].drop(columns="y")}
        for t in (shop(0), shop(1, tie=0.4))
    ]
    kinds = {
        "users": {"id": "id", "g": "categorical"},
        "orders": {"user": "id", "h": "categorical"},
    }
    found = theirs(peer, REPORT, tables, described(SCHEMA.foreign_keys, kinds))
    own = ours(tables)["intertable_trends"]
    assert own == pytest.approx(found["Intertable Trends"], abs=1e-9)
    assert 0.5 < own < 0.95


def test_orphans_vanish_from_its_trends(peer):
    """An inner join: nine rows in ten name no customer, and the trends are as ever."""
    train = shop(0)
    lost = train["orders"]["user"].where(np.arange(len(train["orders"])) % 10 == 0, 77_777)
    tables = train, {**train, "orders": train["orders"].assign(user=lost)}
    found = theirs(peer, REPORT, tables)
    assert found["Intertable Trends"] > 0.85
    columns = InterTableTrends().fit(train, schema=SCHEMA).evaluate(tables[1]).details["columns"]
    assert columns["users.g, orders.h (user)"] < 0.2


def test_no_strong_pair_leaves_its_property_empty(peer):
    """Independent columns: it has no score, and the overall mean is of what is left."""
    rng = np.random.default_rng(0)
    tables = [
        {**t, "orders": t["orders"].assign(y=rng.normal(size=len(t["orders"])), h="u")}
        for t in (shop(0), shop(1))
    ]
    assert math.isnan(theirs(peer, REPORT, tables)["Intertable Trends"])
    assert InterTableTrends().fit(tables[0], schema=SCHEMA).score(tables[1]) > 0.9


def test_another_scale_is_the_same_to_it(peer):
    """Each table is cut on edges of its own."""
    train = shop(0)
    scaled = {**train, "orders": train["orders"].assign(y=1000.0 * train["orders"]["y"] + 5e6)}
    kinds = {"users": {"id": "id", "g": "categorical"}, "orders": {"user": "id", "y": "numerical"}}
    tables = [
        {"users": t["users"].drop(columns="x"), "orders": t["orders"].drop(columns="h")}
        for t in (train, scaled)
    ]
    found = theirs(peer, REPORT, tables, described(SCHEMA.foreign_keys, kinds))
    assert found["Intertable Trends"] == pytest.approx(1.0)
    assert InterTableTrends().fit(tables[0], schema=SCHEMA).score(tables[1]) < 0.05


def test_of_two_keys_between_two_tables_it_keeps_one(peer):
    keys = [ForeignKey("legs", end, "ports", "id") for end in ("start", "end")]
    schema = RelationalSchema(["ports", "legs"], {"ports": "id"}, keys)
    train = {
        "ports": pd.DataFrame({"id": [1, 2, 3]}),
        "legs": pd.DataFrame({"start": [1, 1, 2], "end": [2, 3, 3]}),
    }
    kinds = {"ports": {"id": "id"}, "legs": {"start": "id", "end": "id"}}
    assert theirs(peer, DETAILS, (train, train), described(keys, kinds)) == 1
    result = CardinalityShapeSimilarity().fit(train, schema=schema).evaluate(train)
    assert len(result.details["columns"]) == 2
