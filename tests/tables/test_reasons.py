"""Reasons of kinds: what a reader should doubt, and no value of anybody."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from skeval import TableSchema
from skeval.datasets import make_mixed
from skeval.exceptions import InvalidParameterError
from skeval.tables.reasons import column_reasons
from tests.snapshots import raises

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
        ("mrn", "integers", "may be a key"),
        ("sex", "only 2 distinct integers", ""),
        ("dose", "numbers", None),
        ("zip", "integers", "only 20 distinct"),
        ("postal", "codes with leading zeros", None),
        ("note", "30 distinct values", "30 distinct values in 40 rows"),
        ("day", "texts that are all dates", "the day may be first"),
        ("later", "texts that are all dates", None),
        ("nothing", "no value", "no value"),
        ("flag", "true and false", None),
        ("span", "durations", None),
        ("as_text", "texts that are all numbers", None),
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
    assert reason == ("categorical", "specified in the schema", "", None)
    changed = schema.with_kinds(mrn="id")
    assert column_reasons(TABLE, changed)["mrn"].why == "specified in the schema"


def test_a_schema_that_was_inferred_twice_stays_inferred():
    table = make_mixed(50)
    once = TableSchema.infer(table)
    assert TableSchema.infer(table, once).inferred == once.inferred == set(table)


def test_many_codes_are_known_by_their_name():
    table = pd.DataFrame({"zip": [10_000 + i // 2 for i in range(100)]})
    assert "leading zeros" in column_reasons(table, TableSchema.infer(table))["zip"].doubt


CODES = pd.DataFrame(
    {
        "sex": [1, 2] * 20,
        "kept": [0.0, 1.0, np.nan, 0.0] * 10,  # whole numbers with missing cells, as pandas reads
        "stage": [1, 2, 3, 4] * 10,
        "days": [*range(13), 0] * 2 + [1] * 12,
        "dose": [0.5, 1.5] * 20,
        "one": 1,
    }
)
TAKEN = {"sex": "categorical", "kept": "categorical"}
NUMBERS = dict.fromkeys(["stage", "days", "dose", "one"], "continuous")


def test_whole_numbers_of_two_values_are_categories_and_of_few_more_in_doubt():
    reasons = column_reasons(CODES, TableSchema.infer(CODES))
    assert {name: one.kind for name, one in reasons.items()} == TAKEN | NUMBERS
    proposed = {name: one.proposed for name, one in reasons.items() if one.proposed}
    assert proposed == {"stage": "categorical"}
    assert reasons["stage"].column_entry == {
        "kind": "continuous",
        "proposed": "categorical",
        "doubt": "may be categorical, because it has only 4 distinct integers",
    }
    few = TableSchema.infer(CODES.iloc[:19])
    assert set(few.kinds.values()) == {"continuous"}


def test_doubts_are_accepted_by_one_word_and_names_go_before():
    accepted = {**TAKEN, **NUMBERS, "stage": "categorical"}
    assert TableSchema.infer(CODES, "accept").kinds == accepted
    named = TableSchema({"sex": "continuous"}, accept=True)
    schema = TableSchema.infer(CODES, named)
    assert schema.kinds == {**accepted, "sex": "continuous"}
    assert not schema.accept  # which others are to be inferred so is another question
    assert column_reasons(CODES, schema)["stage"].proposed is None
    with raises(InvalidParameterError):
        TableSchema.infer(CODES, "accepted")


def test_durations_of_two_lengths_are_no_codes():
    spans = pd.Series(pd.to_timedelta([1, 2] * 20, "D"))
    table = pd.DataFrame({"a": spans, "b": spans.astype(object)})
    assert set(TableSchema.infer(table, "accept").kinds.values()) == {"continuous"}


def test_a_file_may_say_more_of_a_column_than_its_kind():
    said = {"stage": {"kind": "continuous", "proposed": "categorical", "doubt": "?"}}
    assert TableSchema.infer(CODES, said).kinds["stage"] == "continuous"
    said["stage"]["kind"] = "number"
    with raises(InvalidParameterError):
        TableSchema.infer(CODES, said)
