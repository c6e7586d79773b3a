"""Reasons of kinds: what a reader should doubt, and no value of anybody."""

from __future__ import annotations

import pandas as pd
import pytest

from skeval import TableSchema
from skeval.datasets import make_mixed
from skeval.tables.reasons import column_reasons

N = 40
TABLE = pd.DataFrame(
    {
        "mrn": range(100_000, 100_000 + N),
        "sex": [1, 2] * (N // 2),
        "dose": [0.25 * i for i in range(N)],
        "zip": [10_000 + i // 2 for i in range(N)],
        "postal": [f"{i // 2:05d}" for i in range(N)],
        "note": [f"word{i}" for i in range(N - 10)] + ["word0"] * 10,
        "day": [f"0{1 + i % 9}/0{1 + i % 7}/2024" for i in range(N)],
        "later": [f"{1 + i % 9}/{13 + i % 9}/2024" for i in range(N)],
        "nothing": [None] * N,
        "flag": [True, False] * (N // 2),
        "span": pd.to_timedelta(range(N), unit="h"),
        "as_text": [f"{i}.5" for i in range(N)],
        "comment": [f"this is the long comment number {i}" for i in range(N)],
        "user_id": [f"u{i}" for i in range(N)],
    }
)


@pytest.mark.parametrize(
    ("column", "why", "doubt"),
    [
        ("mrn", "whole numbers", "every whole number occurs once"),
        ("sex", "whole numbers", "only 2 different whole numbers"),
        ("dose", "numbers", None),
        ("zip", "whole numbers", "only 20 different"),
        ("postal", "codes with leading zeros", None),
        ("note", "30 different values", "30 different values in 40 rows"),
        ("day", "texts that all read as dates", "month first?"),
        ("later", "texts that all read as dates", None),
        ("nothing", "no value", "no value"),
        ("flag", "true and false", None),
        ("span", "durations", None),
        ("as_text", "texts that all read as numbers", None),
        ("comment", "texts of many words", None),
        ("user_id", "every value occurs once", None),
    ],
)
def test_a_kind_has_its_reason(column, why, doubt):
    reason = column_reasons(TABLE, TableSchema.infer(TABLE))[column]
    assert reason.why.startswith(why)
    assert (doubt or "") in reason.doubt
    assert bool(reason.doubt) == bool(doubt)


def test_what_the_schema_names_is_not_doubted():
    schema = TableSchema.infer(TABLE, {"sex": "categorical"})
    reason = column_reasons(TABLE, schema)["sex"]
    assert reason == ("categorical", "named in the schema", "", None)
    changed = schema.with_kinds(mrn="id")
    assert column_reasons(TABLE, changed)["mrn"].why == "named in the schema"


def test_a_schema_that_was_inferred_twice_stays_inferred():
    table = make_mixed(50)
    once = TableSchema.infer(table)
    assert TableSchema.infer(table, once).inferred == once.inferred == set(table)


def test_many_codes_are_known_by_their_name():
    table = pd.DataFrame({"zip": [10_000 + i // 2 for i in range(100)]})
    assert "leading zeros" in column_reasons(table, TableSchema.infer(table))["zip"].doubt


def test_codes_are_proposed_as_categories_where_the_schema_does_not_name_them():
    table = pd.DataFrame({"sex": [1, 2] * 20, "days": [*range(13), 0] * 2 + [1] * 12, "one": 1})
    reasons = column_reasons(table, TableSchema.infer(table))
    assert {name: one.accepted for name, one in reasons.items()} == {
        "sex": "categorical",
        "days": "continuous",
        "one": "continuous",
    }
    named = TableSchema.infer(table, {"sex": "continuous"})
    assert column_reasons(table, named)["sex"].proposed is None
