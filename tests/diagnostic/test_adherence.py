from __future__ import annotations

import datetime as dt
import re

import numpy as np
import pandas as pd
import pytest

from skeval import TableSchema, check_metric
from skeval.datasets import make_mixed
from skeval.diagnostic import BoundaryAdherence, CategoryAdherence, FormatAdherence
from skeval.exceptions import (
    DegenerateInputWarning,
    InvalidParameterError,
    InvalidValueWarning,
    MetricWarning,
)
from skeval.stats.intervals import wilson
from tests.snapshots import raises, warns

A, B = list("aaabbc"), list("aabbbd")
DAYS = pd.date_range("2020-01-01", periods=4)


def result(metric, train, synthetic, **kinds):
    train, synthetic = pd.DataFrame({"x": train}), pd.DataFrame({"x": synthetic})
    return metric.fit(train, schema=kinds or None).evaluate(synthetic)


@pytest.mark.parametrize(
    ("train", "synthetic", "value"),
    [
        ([1, 2, 3, 4], [2, 3, 4, 5], 0.75),
        ([1, 2, 3, 4], [2, np.nan], 0.5),
        ([1, 4, np.nan], [2, np.nan], 1.0),
        ([5, 5], [5, 6], 0.5),
        (DAYS, DAYS + pd.Timedelta("1D"), 0.75),
        (DAYS.strftime("%Y-%m-%d"), ["2019-12-31", "2020-01-04"], 0.5),
        (pd.array([1, 2, None], dtype="Int64"), pd.array([2.0, 3.0], dtype="Float64"), 0.5),
        (pd.to_timedelta([1, 5], unit="h"), pd.to_timedelta([3, 6], unit="h"), 0.5),
    ],
)
def test_boundaries_by_hand(train, synthetic, value):
    found = result(BoundaryAdherence(), train, synthetic)
    assert found.value == value
    n = 1 if found.value == 1.0 else len(synthetic)  # the missing cell does not count
    assert found.interval == pytest.approx(wilson(value * n, n))
    assert found.details["intervals"]["x"] == pytest.approx(wilson(value * n, n))


def test_infinite_values_are_beyond():
    with warns(InvalidValueWarning):
        found = result(BoundaryAdherence(), [1, 2], [1.0, np.inf, -np.inf, 2.0])
    assert found.value == 0.5
    assert found.details["violations"] == {"x": {"below": 1, "above": 1}}


def test_unreadable_cells_are_violations_even_where_missing_ones_are_allowed():
    with warns(InvalidValueWarning):
        found = result(BoundaryAdherence(), [1.0, 2.0, None], [1.5, "much", None, None])
    assert found.value == 0.5
    assert found.details["violations"] == {"x": {"unreadable": 1}}


def test_a_column_of_another_type_scores_zero(warned):
    train = pd.DataFrame({"x": [1.0, 2.0], "y": [1.0, 2.0]})
    synthetic = pd.DataFrame({"x": ["a", "b"], "y": [1.0, 2.0]})
    with warned("synthetic has cells of another type, treated as missing: x (2 cells: other text)"):
        found = BoundaryAdherence().fit(train).evaluate(synthetic)
    assert found.details["columns"] == {"x": 0.0, "y": 1.0}
    assert found.details["worst"] == {"column": "x", "value": 0.0}


@pytest.mark.parametrize("metric", [BoundaryAdherence(), CategoryAdherence()])
def test_absent_columns_score_zero(metric):
    train = make_mixed()
    names = list(metric.fit(train).evaluate(train).details["columns"])
    with warns(InvalidValueWarning):
        found = metric.evaluate(train.drop(columns=names[0]))
    assert found.details["columns"] == {name: float(name != names[0]) for name in names}
    assert found.value == pytest.approx(1 - 1 / len(names))
    assert found.details["violations"] == {names[0]: {"absent": len(train)}}


def test_bounds_that_a_user_sets():
    train = pd.DataFrame({"x": [1.0, 2.0], "d": DAYS[:2]})
    synthetic = pd.DataFrame({"x": [-3.0, 9.0], "d": [dt.datetime(2019, 1, 1), DAYS[1]]})
    assert BoundaryAdherence().fit(train).evaluate(synthetic).details["columns"] == {
        "x": 0.0,
        "d": 0.5,
    }
    metric = BoundaryAdherence(
        lower={"x": 0, "d": "2018-05-05"}, upper={"x": 10.5, "d": dt.date(2020, 1, 1)}
    )
    found = metric.fit(train).evaluate(synthetic)
    assert found.details["columns"] == {"x": 0.5, "d": 0.5}
    assert found.details["violations"] == {"x": {"below": 1}, "d": {"above": 1}}
    assert BoundaryAdherence(lower={"x": -np.inf}).fit(train).evaluate(synthetic).details[
        "violations"
    ] == {"x": {"above": 1}, "d": {"below": 1}}


@pytest.mark.parametrize(
    "params",
    [
        {"lower": {"c": 1}},
        {"upper": {"y": 1}},
        {"upper": {"x": "much"}},
        {"lower": {"d": 5}},
        {"lower": {"x": 3}, "upper": {"x": 2}},
        {"lower": 3},
        {"lower": {"x": None}},
        {"nullable": "never"},
    ],
)
def test_bounds_are_checked_at_fit(params):
    train = pd.DataFrame({"x": [1.0, 2.0], "d": DAYS[:2], "c": ["a", "b"]})
    with raises(InvalidParameterError):
        BoundaryAdherence(**params).fit(train)


@pytest.mark.parametrize(("nullable", "value"), [("auto", 0.5), (True, 1.0), (False, 0.5)], ids=str)
def test_whether_a_cell_may_be_missing(nullable, value):
    metric = BoundaryAdherence(nullable=nullable)
    assert result(metric, [1, 2, 3, 4], [2, np.nan]).value == value
    assert result(metric, [1, 2, np.nan], [2, np.nan]).value == (1.0 if nullable else 0.5)


def test_columns_without_a_value(warned):
    train = pd.DataFrame({"x": [1.0, None], "none": [np.nan, np.nan], "y": [1.0, 2.0]})
    with warned(
        "The training data have no value in none, so there is no score",
        "The synthetic data have no value in x, but the training data do. The score is the worst",
    ):
        found = BoundaryAdherence().fit(train).evaluate(train.assign(x=np.nan))
    assert found.details["columns"] == pytest.approx(
        {"x": 0.0, "none": np.nan, "y": 1.0}, nan_ok=True
    )
    assert (found.value, found.details["n_used"], found.details["n_total"]) == (0.5, 2, 3)
    with pytest.warns(DegenerateInputWarning):
        assert BoundaryAdherence({"none": 0}, {"none": 1}).fit(train).score(train) == pytest.approx(
            2 / 3
        )


@pytest.mark.parametrize(
    ("train", "synthetic", "value"),
    [
        (A, B, 5 / 6),
        (A, ["a", None], 0.5),
        ([*A, None], ["a", None], 1.0),
        ([True, False], [True, True], 1.0),
        ([True, True], [True, False], 0.5),
        (["1", "2"], [1, 2.0], 1.0),
        (pd.Categorical(A), pd.Categorical(B), 5 / 6),
        (pd.Categorical(["a"], categories=["a", "b"]), ["a", "b"], 0.5),
    ],
)
def test_categories_by_hand(train, synthetic, value):
    found = result(CategoryAdherence(), train, synthetic)
    assert found.value == pytest.approx(value, abs=1e-12)
    n = len(synthetic)
    assert found.interval == pytest.approx(wilson(value * n, n))


def test_a_category_of_the_holdout_alone_is_not_known():
    tables = [pd.DataFrame({"x": values}) for values in (A, list("zzzz"), list("abz"))]
    found = CategoryAdherence().fit(*tables[:2]).evaluate(tables[2])
    assert found.value == pytest.approx(2 / 3)
    assert found.baseline == 0.0
    assert found.details["violations"] == {"x": {"unseen": 1, "unseen_categories": 1}}


def test_violations_are_counted_never_named():
    found = result(CategoryAdherence(), A, ["a", "secret-1", "secret-1", "secret-2", None])
    assert found.details["violations"] == {"x": {"unseen": 3, "unseen_categories": 2, "missing": 1}}
    assert "secret" not in found.to_json()


def test_unreadable_booleans():
    with warns(InvalidValueWarning):
        found = result(
            CategoryAdherence(), [True, False, None], ["yes", "maybe", None], x="boolean"
        )
    assert found.value == pytest.approx(2 / 3)
    assert found.details["violations"] == {"x": {"unreadable": 1}}


def test_categories_that_a_user_lists():
    metric = CategoryAdherence({"x": ["a", "d"]})
    assert result(metric, A, B).value == 0.5
    assert result(
        CategoryAdherence({"x": ["a", "d", None]}), A, ["d", None, "b"]
    ).value == pytest.approx(2 / 3)
    codes = CategoryAdherence({"x": [1, 2, 3]})
    assert result(codes, [1, 2], ["1.0", 3.0, "4"], x="categorical").value == pytest.approx(2 / 3)
    assert result(CategoryAdherence({"x": {True}}), [True, False], [True, False]).value == 0.5


@pytest.mark.parametrize(
    "params",
    [
        {"categories": {"n": [1]}},
        {"categories": {"c": "ab"}},
        {"categories": {"c": []}},
        {"categories": {"b": ["perhaps"]}},
    ],
)
def test_categories_are_checked_at_fit(params):
    train = pd.DataFrame({"c": ["a", "b"], "n": [1.5, 2.5], "b": [True, False]})
    with raises(InvalidParameterError):
        CategoryAdherence(**params).fit(train)


def test_train_without_a_category_leaves_the_rule_open(warned):
    with warned("The training data have no value in x, so there is no score"):
        found = result(CategoryAdherence(), [None, None], ["a", None], x="categorical")
    assert np.isnan(found.value)


def test_all_missing_where_missing_is_a_value():
    with warns(DegenerateInputWarning):
        assert result(CategoryAdherence(), ["a", None], [None, None], x="categorical").value == 1.0
    with warns(DegenerateInputWarning):
        assert result(CategoryAdherence(), ["a", "b"], [None, None], x="categorical").value == 0.0


@pytest.mark.slow
def test_many_categories_and_columns():
    rng = np.random.default_rng(0)
    levels = np.array([f"k{i}" for i in range(5000)], dtype=object)
    train = pd.DataFrame({"x": levels[rng.integers(0, 4000, 20_000)]})
    synthetic = pd.DataFrame({"x": levels[rng.integers(0, 5000, 20_000)]})
    expected = synthetic["x"].isin(set(train["x"])).mean()
    assert CategoryAdherence().fit(train).score(synthetic) == pytest.approx(expected)
    wide = pd.DataFrame(rng.normal(size=(50, 200))).rename(columns=str)
    found = BoundaryAdherence().fit(wide).evaluate(wide + 0.1)
    inside = (wide + 0.1).le(wide.max()) & (wide + 0.1).ge(wide.min())
    assert found.value == pytest.approx(inside.mean().mean())
    assert found.details["n_used"] == 200


@pytest.mark.parametrize("metric", [BoundaryAdherence(), CategoryAdherence()])
def test_a_copy_and_one_row_score_one(metric):
    train, holdout = make_mixed(random_state=0), make_mixed(random_state=1)
    assert metric.fit(train, holdout).score(train) == 1.0
    one = train[train.notna().all(axis=1)].iloc[:1]
    found = metric.evaluate(one)
    assert found.value == 1.0
    assert found.interval[0] < 0.3
    assert 0.9 < metric.evaluate(train).baseline <= 1.0


def test_columns_are_chosen():
    train = make_mixed()
    found = BoundaryAdherence(columns=["age", "city"]).fit(train).evaluate(train)
    assert list(found.details["columns"]) == ["age"]
    with warns(MetricWarning):
        assert np.isnan(CategoryAdherence(columns=["age"]).fit(train).score(train))


@pytest.mark.slow
def test_the_contract_holds_with_parameters():
    check_metric(BoundaryAdherence(lower={"age": 0}, nullable=True))
    check_metric(CategoryAdherence(categories={"plan": ["basic", "family"]}))


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
    with warns(MetricWarning):
        found = FormatAdherence({"x": pattern}).fit(train).evaluate(pd.DataFrame({"x": cells}))
    assert found.value == value
    assert found.interval == pytest.approx(wilson(value * len(cells), len(cells)))
    assert found.details["train"] == {"x": 0.0}


def test_formats_that_train_shows():
    train = pd.DataFrame({"d": DATES, "x": [1.0, 2.0, 3.0], "t": pd.to_datetime(DATES)})
    synthetic = train.assign(d=["2020-01-02", "02.01.2020", "2020-05-05"])
    metric = FormatAdherence().fit(train)
    with warns(InvalidValueWarning):
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
        with warned("no score for d: the cells are datetimes without a format"):
            found = FormatAdherence().fit(train).evaluate(synthetic)
        assert np.isnan(found.value)
        assert found.interval is None
    objects = pd.DataFrame({"d": pd.Series(list(pd.to_datetime(DATES[:2])), dtype=object)})
    with warned("the cells are datetimes without a format"):
        assert np.isnan(FormatAdherence().fit(train).score(objects))


def test_no_format_is_known():
    train = make_mixed()
    with warns(MetricWarning):
        assert np.isnan(FormatAdherence().fit(train).score(train))


def test_an_absent_column_scores_zero():
    train = pd.DataFrame({"d": DATES, "x": [1.0, 2.0, 3.0]})
    with warns(InvalidValueWarning):
        assert FormatAdherence().fit(train).score(train[["x"]]) == 0.0


def test_several_columns_share_an_interval_by_rows():
    train = pd.DataFrame({"a": ["1", "2"], "b": ["1", "2"]})
    synthetic = pd.DataFrame({"a": list("1234x"), "b": list("1234x")})
    found = FormatAdherence({"a": "[0-9]", "b": "[0-9]"}).fit(train).evaluate(synthetic)
    assert found.value == pytest.approx(0.8)
    assert found.interval == pytest.approx(wilson(4, 5))  # both cells of a row fail together


@pytest.mark.parametrize("patterns", [{"y": "a"}, {"x": "["}, {"x": "%Y-%Q"}, {"x": 3}, {}])
def test_patterns_are_checked_at_fit(patterns):
    with raises(InvalidParameterError):
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
