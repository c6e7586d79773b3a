from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest

from skeval import TableSchema, check_metric
from skeval.datasets import make_mixed
from skeval.diagnostic import FormatAdherence
from skeval.exceptions import InvalidParameterError, InvalidValueWarning, MetricWarning
from skeval.stats.intervals import wilson

DATES = ["2020-01-02", "2020-02-29", None]


def dated(random_state):
    """The tables of the common checks with the dates as text."""
    table = make_mixed(120, random_state=random_state)
    return table.assign(joined=table["joined"].dt.strftime("%Y-%m-%d"))


@pytest.mark.parametrize(
    ("pattern", "cells", "value"),
    [
        ("[0-9]{5}", ["02139", "2139", "021390", "x02139"], 0.25),
        (re.compile("[a-c]+"), ["abc", "ABC"], 0.5),
        (re.compile("[a-c]+", re.IGNORECASE), ["abc", "ABC"], 1.0),
        ("a|ab", ["ab", None], 1.0),  # in full, and missing passes
        ("%Y-%m-%d", ["2020-02-29", "2021-02-29", "2020-02-29 10:00", None], 0.5),
        ("%d/%m/%Y", ["31/12/2020", "12/31/2020"], 0.5),
        ("ISO8601", ["2020-01-01T10:00Z", "01.01.2020", "now", "2020-01-01"], 0.5),
        (re.compile("%d"), ["%d", "12"], 0.5),
        ("[0-9]{4}", [2139.0, 12.0, 3.5, np.nan], 0.5),
        ("True|1", [True, 1], 1.0),
    ],
)
def test_patterns_by_hand(pattern, cells, value):
    train = pd.DataFrame({"x": pd.Series(["p", "q"], dtype=object)})
    with pytest.warns(MetricWarning, match="train itself does not keep to the format of x"):
        found = FormatAdherence({"x": pattern}).fit(train).evaluate(pd.DataFrame({"x": cells}))
    assert found.value == value
    assert found.interval == pytest.approx(wilson(value * len(cells), len(cells)))
    assert found.details["train"] == {"x": 0.0}


def test_formats_that_train_shows():
    train = pd.DataFrame({"d": DATES, "x": [1.0, 2.0, 3.0], "t": pd.to_datetime(DATES)})
    synthetic = train.assign(d=["2020-01-02", "02.01.2020", "2020-05-05"])
    metric = FormatAdherence().fit(train)
    with pytest.warns(InvalidValueWarning, match="1 cells"):
        found = metric.evaluate(synthetic)
    assert found.details["columns"] == {"d": pytest.approx(2 / 3)}
    assert (found.details["n_used"], found.details["n_total"]) == (1, 3)
    assert metric.score(train) == 1.0


def test_all_dates_in_another_format():
    train = pd.DataFrame({"d": DATES})
    assert FormatAdherence().fit(train).score(pd.DataFrame({"d": ["01/02/2020", None]})) == 0.5


def test_a_format_of_the_schema():
    schema = TableSchema({"d": "datetime"}, datetime_formats={"d": "%d/%m/%Y"})
    train = pd.DataFrame({"d": ["01/02/2020", "03/02/2020"]})
    metric = FormatAdherence().fit(train, schema=schema)
    with pytest.warns(InvalidValueWarning):
        assert metric.score(pd.DataFrame({"d": ["01/12/2020", "12/13/2020"]})) == 0.5


def test_true_dates_have_no_format(warned):
    train = pd.DataFrame({"d": DATES})
    for dates in (pd.to_datetime(DATES), pd.to_datetime(DATES[:2]).to_pydatetime()):
        synthetic = pd.DataFrame({"d": pd.Series(dates, dtype=None)})
        with warned("true dates in d: no format, no score"):
            found = FormatAdherence().fit(train).evaluate(synthetic)
        assert np.isnan(found.value)
        assert found.interval is None
    objects = pd.DataFrame({"d": pd.Series(list(pd.to_datetime(DATES[:2])), dtype=object)})
    with warned("true dates in d"):
        assert np.isnan(FormatAdherence().fit(train).score(objects))


def test_no_format_is_known():
    train = make_mixed()
    with pytest.warns(MetricWarning, match="no format is known: pass patterns"):
        assert np.isnan(FormatAdherence().fit(train).score(train))


def test_an_absent_column_scores_zero():
    train = pd.DataFrame({"d": DATES, "x": [1.0, 2.0, 3.0]})
    with pytest.warns(InvalidValueWarning, match="lacks"):
        assert FormatAdherence().fit(train).score(train[["x"]]) == 0.0


def test_several_columns_share_an_interval_by_rows():
    train = pd.DataFrame({"a": ["1", "2"], "b": ["1", "2"]})
    synthetic = pd.DataFrame({"a": list("1234x"), "b": list("1234x")})
    found = FormatAdherence({"a": "[0-9]", "b": "[0-9]"}).fit(train).evaluate(synthetic)
    assert found.value == pytest.approx(0.8)
    assert found.interval == pytest.approx(wilson(4, 5))  # both cells of a row fail together


@pytest.mark.parametrize(
    ("patterns", "message"),
    [
        ({"y": "a"}, "patterns names y"),
        ({"x": "["}, "the pattern of x cannot be read"),
        ({"x": "%Y-%Q"}, "the pattern of x cannot be read"),
        ({"x": 3}, "patterns must be None or a mapping"),
        ({}, "patterns must be None or a mapping"),
    ],
)
def test_patterns_are_checked_at_fit(patterns, message):
    with pytest.raises(InvalidParameterError, match=message):
        FormatAdherence(patterns).fit(pd.DataFrame({"x": ["a", "b"]}))


def test_text_and_id_columns_can_be_matched():
    train = pd.DataFrame({"id": [f"A-{i}" for i in range(30)], "x": range(30)})
    assert TableSchema.infer(train).kinds["id"] == "id"
    metric = FormatAdherence({"id": "A-[0-9]+"}).fit(train)
    assert metric.score(train.assign(id=["B-1"] * 15 + ["A-1"] * 15)) == 0.5


@pytest.mark.slow
def test_the_contract_holds_where_a_format_is_known():
    tables = tuple(dated(seed) for seed in range(3))
    assert FormatAdherence().fit(*tables[:2]).evaluate(tables[2]).baseline == 1.0
    check_metric(FormatAdherence(), tables=tables)
