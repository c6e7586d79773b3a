"""Tables, columns and keys that are there or not, and keys that name one row."""

import numpy as np
import pandas as pd
import pytest

from skeval import MetricSuite
from skeval.datasets import make_relational
from skeval.exceptions import InvalidValueWarning, MetricWarning, NothingToMeasureWarning
from skeval.relational import PrimaryKeyUniqueness, RelationalSchema, SchemaStructure
from tests.snapshots import warns


@pytest.fixture
def data():
    return make_relational(40)


def test_the_same_structure_is_1_at_any_size(data):
    result = SchemaStructure().fit(data).evaluate(make_relational(20, 1))
    assert result.value == 1.0
    assert result.summary.startswith("0 tables, 0 columns and 0 keys are missing")


def test_missing_tables_count_with_their_columns_and_keys(data):
    made = {name: table for name, table in data.items() if name != "items"} | {
        "extra": pd.DataFrame({"a": [1]})
    }
    n_columns = sum(table.shape[1] for table in data.values())
    with warns(MetricWarning):
        result = SchemaStructure().fit(data).evaluate(made)
    shares = result.details["columns"]
    assert shares["tables"] == 4 / 6
    assert shares["columns"] == (n_columns - 4) / (n_columns + 1)
    assert shares["keys"] == 8 / 9
    assert result.value == pytest.approx(np.mean(list(shares.values())))
    assert result.details["missing"]["keys"] == ["items.(person, visit) -> visits.(person, visit)"]
    assert result.details["extra"] == {"tables": ["extra"], "columns": ["extra.a"], "keys": []}


def test_public_tables_count_as_there(data):
    made = {name: table for name, table in data.items() if name != "shops"}
    assert SchemaStructure().fit(data).score(made) == 1.0


def test_a_missing_key_column_is_a_missing_key(data):
    made = {**data, "visits": data["visits"].drop(columns="person")}
    suite = MetricSuite([("structure", SchemaStructure()), ("keys", PrimaryKeyUniqueness())])
    with warns(InvalidValueWarning):
        results = suite.fit(data).evaluate(made)
    assert len(results["structure"].details["missing"]["keys"]) == 3
    assert results["keys"].details["columns"] == {
        "people.person": 1.0,
        "visits.person, visit": 0.0,
        "shops.shop": 1.0,
    }


def test_composite_keys_repeat_as_a_whole(data):
    visits = data["visits"]
    made = {**data, "visits": pd.concat([visits, visits.iloc[: len(visits) // 2]])}
    result = PrimaryKeyUniqueness().fit(data).evaluate(made)
    assert result.details["columns"]["visits.person, visit"] == pytest.approx(2 / 3, abs=0.01)
    assert result.details["train"]["visits.person, visit"] == 1.0


def test_null_keys_are_skipped_where_train_has_some():
    schema = RelationalSchema(["users"], {"users": "id"})
    whole, gaps = ({"users": pd.DataFrame({"id": ids})} for ids in ([1, 2, 3], [1, None, 3]))
    made = {"users": pd.DataFrame({"id": [1, 1, None, 4]})}
    of_whole, of_gaps = (
        PrimaryKeyUniqueness().fit(train, schema=schema).evaluate(made) for train in (whole, gaps)
    )
    assert of_whole.value == 0.5
    assert of_gaps.value == pytest.approx(2 / 3)
    assert of_whole.details["null"] == of_gaps.details["null"] == {"users.id": 0.25}


@pytest.mark.slow
def test_the_holdout_and_a_missing_table(data):
    holdout = {**make_relational(40, 1)}
    holdout["people"] = holdout["people"].assign(person=np.arange(40) // 2)
    suite = MetricSuite([("keys", PrimaryKeyUniqueness()), ("all", SchemaStructure())])
    made = {name: table for name, table in data.items() if name != "visits"}
    with warns(InvalidValueWarning):
        result = suite.fit(data, holdout).evaluate(made)
    assert result["keys"].value == pytest.approx(2 / 3)
    assert result["keys"].baseline == pytest.approx(2.5 / 3)
    assert result["all"].baseline == 1.0


def test_without_keys_there_is_nothing_to_measure(data):
    schema = RelationalSchema(list(data))
    with warns(NothingToMeasureWarning):
        result = PrimaryKeyUniqueness().fit(dict(data), schema=schema).evaluate(dict(data))
    assert np.isnan(result.value)
    structure = SchemaStructure().fit(dict(data), schema=schema).evaluate(dict(data))
    assert set(structure.details["columns"]) == {"tables", "columns"}
