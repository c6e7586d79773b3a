"""The presets "quality" and "diagnostic" of several tables, under SDMetrics' names of properties."""

import numpy as np
import pandas as pd
import pytest

from skeval import SuiteResult, make_suite
from skeval.exceptions import NothingToMeasureWarning
from skeval.relational import RelationalSchema
from tests.snapshots import warns

pytestmark = pytest.mark.filterwarnings("ignore::skeval.exceptions.NothingToMeasureWarning")


def test_quality_of_the_worked_example(f3):
    train, synthetic, schema = f3
    result = make_suite("quality", schema=schema).fit(train, schema=schema).evaluate(synthetic)
    found = result.properties()
    assert found.index.tolist() == [
        "column_shapes",
        "column_pair_trends",
        "cardinality",
        "intertable_trends",
        "overall",
    ]
    assert found.loc["cardinality", ["score", "n_used"]].tolist() == [1.0, 2]
    assert found.loc["intertable_trends", "score"] == pytest.approx(11 / 12)
    assert np.isnan(found.loc["column_pair_trends", "score"])  # no table has two columns
    again = SuiteResult.from_dict(result.to_dict())
    pd.testing.assert_frame_equal(again.properties(), found)
    pd.testing.assert_frame_equal(again.details("cardinality"), result.details("cardinality"))


def test_a_property_without_a_score_says_so(f3):
    train, synthetic, schema = f3
    suite = make_suite("quality", schema=schema).fit(train, schema=schema)
    with warns(NothingToMeasureWarning):
        suite.evaluate(synthetic)


def test_columns_of_one_name_in_two_tables_count_twice():
    train = {name: pd.DataFrame({"x": [0.5, 1.5, 2.5, 3.5]}) for name in "ab"}
    synthetic = {**train, "b": pd.DataFrame({"x": [2.5, 3.5, 4.5, 5.5]})}
    schema = RelationalSchema(list("ab"))
    result = make_suite("quality", schema=schema).fit(train, schema=schema).evaluate(synthetic)
    assert result.properties().loc["column_shapes"].tolist()[::2] == [0.75, 2]


def test_diagnostic_of_broken_keys(f3):
    train, _, schema = f3
    broken = {**train, "items": train["items"].assign(oid=[10, 10, 11, 12, 13, 99])}
    result = make_suite("diagnostic", schema=schema).fit(train, schema=schema).evaluate(broken)
    scores = result.properties()["score"]
    assert scores.index.tolist() == [
        "data_validity",
        "data_structure",
        "relationship_validity",
        "overall",
    ]
    assert scores["data_structure"] == 1.0
    assert scores["relationship_validity"] == pytest.approx((1 + 5 / 6 + 1 + 1) / 4)
