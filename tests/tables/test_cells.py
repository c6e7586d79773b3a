"""Columns of numbers and dates stay what they are if a few cells are something else."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from skeval import Context, TableSchema, make_suite, report
from skeval.datasets import make_mixed
from skeval.exceptions import UnreadCellsWarning
from skeval.fidelity import CorrelationSimilarity, KSComplement, SimilarityScore
from skeval.privacy import DCRShare, ExactMatchShare
from skeval.tables.cells import describe_unread_cells
from skeval.tables.reasons import column_reasons
from tests.report_text import report_text

N = 300


def numeric(seed, n=N):
    rng = np.random.default_rng(seed)
    base = rng.normal(size=(n, 6)) + rng.normal(size=(n, 1))
    return pd.DataFrame(base.round(3), columns=list("abcdef"))


def with_cell(values, cell, n=1, at=7):
    """Return a column as text, as a file is read, with some cells replaced."""
    texts = values.astype(str).astype(object)
    texts.iloc[at : at + n] = cell
    return texts


def unread(context):
    return [notice for notice in context.notices if isinstance(notice, UnreadCellsWarning)]


@pytest.mark.parametrize(
    "cell", ["?", "-", "<5", ">100", "unknown", "Total", "n/a", " ", "pay", "seven"]
)
def test_one_cell_that_is_not_a_number_counts_as_missing_and_is_named(cell):
    pay = numeric(0)["a"].rename("pay")
    train = pd.DataFrame({"pay": with_cell(pay, cell), "sex": ["f", "m"] * (N // 2)})
    context = Context.of(train)
    assert context.schema.kinds["pay"] == "continuous"
    np.testing.assert_array_equal(context.train["pay"].drop(7), pay.drop(7))
    assert np.isnan(context.train["pay"][7])
    assert context.original_frame("train")["pay"].isna().sum() == 1
    (notice,) = unread(context)
    assert "pay (1 cell" in str(notice)
    assert "schema={" in str(notice)
    assert "seven" not in str(notice)


@pytest.mark.parametrize("role", ["train", "holdout", "synthetic"])
def test_the_cell_may_be_in_any_table(role):
    tables = {name: numeric(seed) for seed, name in enumerate(("train", "holdout", "synthetic"))}
    tables[role]["a"] = with_cell(tables[role]["a"], "<5", 3)
    real = Context.of(tables["train"], tables["holdout"])
    context = real.with_synthetic(tables["synthetic"])
    (notice,) = [*unread(real), *unread(context)]
    assert str(notice).startswith(role)
    assert "a (3 cells: '<' before a number)" in str(notice)
    assert context[role]["a"].isna().sum() == 3


def test_dates_with_an_unknown_one_are_dates():
    days = pd.Series(pd.date_range("2020-01-01", periods=N)).dt.strftime("%d.%m.%Y")
    stamps = pd.Series(list(pd.date_range("2020-01-01", periods=N)), dtype=object)
    stamps[7] = "?"
    context = Context.of(pd.DataFrame({"day": with_cell(days, "unknown"), "at": stamps}))
    assert set(context.schema.kinds.values()) == {"datetime"}
    assert context.train.isna().sum().tolist() == [1, 1]
    assert len(unread(context)) == 1


def test_numbers_with_groups_of_digits_are_read():
    train = pd.DataFrame({"pay": with_cell(numeric(0)["a"], "1,234.00")})
    context = Context.of(train)
    assert context.train["pay"][7] == 1234.0
    assert not unread(context)


def test_a_notice_names_three_columns_and_counts_the_others():
    train = numeric(0).apply(with_cell, cell="?")
    (notice,) = unread(Context.of(train))
    assert "c (1 cell: '?') and 3 more columns" in str(notice)
    assert "d (1" not in str(notice)


def test_no_cell_of_a_person_is_quoted():
    train = pd.DataFrame({"pay": with_cell(numeric(0)["a"], "Ann Lee, 12 Elm Street")})
    context = Context.of(train)
    said = str(unread(context)[0]) + column_reasons(train, context.schema)["pay"].why
    assert "Ann" not in said
    assert "other text" in said


def test_codes_with_letters_among_them_stay_categories():
    rng = np.random.default_rng(0)
    grades = pd.Series(rng.integers(1, 6, N)).astype(str).astype(object)
    grades[::30] = "K"
    zips = pd.Series(rng.integers(0, 9000, N)).map("{:05d}".format)
    zips[3] = "?"
    kinds = TableSchema.infer(pd.DataFrame({"grade": grades, "zip": zips})).kinds
    assert set(kinds.values()) == {"categorical"}


def test_whole_numbers_with_a_placeholder_are_numbers():
    age = pd.Series(np.random.default_rng(0).integers(17, 60, N))
    assert (
        TableSchema.infer(pd.DataFrame({"age": with_cell(age, "?")})).kinds["age"] == "continuous"
    )


def test_many_other_cells_are_a_doubt_that_the_option_settles():
    train = pd.DataFrame({"pay": with_cell(numeric(0)["a"], "<5", 60)})
    schema = TableSchema.infer(train)
    reason = column_reasons(train, schema)["pay"]
    assert (schema.kinds["pay"], reason.proposed) == ("categorical", "continuous")
    assert reason.doubt
    context = Context.of(train, schema={"pay": "continuous"})
    assert context.train["pay"].isna().sum() == 60
    assert len(unread(context)) == 1


PAY = pd.Series(np.random.default_rng(1).gamma(2, 800, N)).round(2)
DAYS = pd.Series(pd.date_range("2020-01-01", periods=N))
DRESSES = {
    "percent": (lambda x: f"{x:.2f}%", PAY / 100),
    "groups": (lambda x: f"{x:,.2f}", PAY),
    "currency": (lambda x: f"${x:,.2f}", PAY),
    "currency behind": (lambda x: f"{x:.2f} \u20ac", PAY),
    "negative": (lambda x: f"-${x:.2f}", -PAY),
}


@pytest.mark.parametrize("dress", DRESSES)
def test_numbers_with_signs_and_groups_are_read(dress):
    write, expected = DRESSES[dress]
    train = pd.DataFrame({"pay": PAY.map(write)})
    context = Context.of(train, train).with_synthetic(train)
    assert context.schema.kinds["pay"] == "continuous"
    for role in ("train", "holdout", "synthetic"):
        np.testing.assert_allclose(context[role]["pay"], expected)


def test_whole_numbers_in_groups_of_three_are_no_decimals():
    texts = PAY.map("{:,.0f}".format)
    assert Context.of(texts.to_frame("pay")).train["pay"].max() > 1000
    commas = PAY.map(lambda x: f"{x:.1f}".replace(".", ","))
    schema = TableSchema.infer(commas.to_frame("pay"))
    reason = column_reasons(commas.to_frame("pay"), schema)["pay"]
    assert reason.kind != "continuous"
    assert "--decimal" in reason.doubt


@pytest.mark.parametrize("form", ["%d-%b-%Y", "%d %B %Y", "%B %d, %Y", "%m/%d/%y"])
def test_dates_with_names_of_months_and_short_years_are_read(form):
    context = Context.of(DAYS.dt.strftime(form).to_frame("day"))
    np.testing.assert_array_equal(context.train["day"], DAYS)
    reason = column_reasons(DAYS.dt.strftime(form).to_frame("day"), context.schema)["day"]
    assert not reason.doubt


MIXED_DATES = DAYS.dt.strftime("%Y-%m-%d").where(DAYS.dt.day > 15, DAYS.dt.strftime("%d.%m.%Y"))


@pytest.mark.parametrize(
    "days",
    [DAYS.dt.strftime("%Y%m%d").astype(int), MIXED_DATES],
    ids=["whole numbers", "two forms"],
)
def test_what_may_be_a_date_is_a_doubt_that_a_schema_settles(days):
    train = days.to_frame("day")
    schema = TableSchema.infer(train)
    reason = column_reasons(train, schema)["day"]
    assert reason.kind != "datetime"
    assert reason.proposed == "datetime"
    np.testing.assert_array_equal(Context.of(train, schema={"day": "datetime"}).train["day"], DAYS)


def test_some_percent_signs_are_a_doubt():
    train = pd.DataFrame({"rate": [f"{x:.2f}{'%' * (i % 2)}" for i, x in enumerate(PAY)]})
    assert "percent" in column_reasons(train, TableSchema.infer(train))["rate"].doubt


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::skeval.exceptions.UnreadCellsWarning")
def test_one_placeholder_in_each_column_changes_no_score():
    tables = [numeric(seed) for seed in range(3)]
    marked = [
        table.apply(
            lambda column, i=i: with_cell(column, "?", at=30 * "abcdef".index(column.name) + i)
        )
        for i, table in enumerate(tables[:2])
    ]
    for metric in (SimilarityScore(), CorrelationSimilarity(), KSComplement()):
        clean, with_marks = (metric.fit(*real).score(tables[2]) for real in (tables[:2], marked))
        assert with_marks == pytest.approx(clean, rel=0.02)
    jittered = tables[0] + np.random.default_rng(9).normal(0, 0.005, tables[0].shape)
    clean, with_marks = (DCRShare().fit(*real).score(jittered) for real in (tables[:2], marked))
    assert clean > 0.95
    assert with_marks == pytest.approx(clean, abs=0.02)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::skeval.exceptions.UnreadCellsWarning")
def test_the_notice_reaches_the_result_and_the_first_page():
    train, holdout, synthetic = (numeric(seed, 120) for seed in range(3))
    train["a"] = with_cell(train["a"], "?")
    result = make_suite("screens").fit(train, holdout).evaluate(synthetic)
    assert any(isinstance(notice, UnreadCellsWarning) for notice in result.notices)
    assert "a (1 cell: '?')" in report_text(result, "numbers")


def test_bytes_and_lone_surrogates_are_described():
    cells = pd.Series([b"\xff", "\ud800", "?"], dtype=object)
    assert describe_unread_cells(cells, "x") == "'?', other text"


def test_a_release_with_cells_of_bytes_is_evaluated():
    train = make_mixed(60, random_state=0)
    train.loc[:4, "income"] = np.nan
    synthetic = make_mixed(60, random_state=1).astype({"income": object})
    synthetic.loc[:4, "income"] = b"\xff"
    with pytest.warns(UnreadCellsWarning, match="income"):
        result = ExactMatchShare().fit(train).evaluate(synthetic)
    assert result.value == 0


@pytest.mark.filterwarnings("ignore:no key is known")
def test_a_column_of_bytes_is_described_and_reported(tmp_path):
    tables = [make_mixed(60, random_state=i).assign(code=b"\xff") for i in range(3)]
    for table in tables:
        table.loc[::2, "code"] = b"\xfe\xff"
    result = report(*tables, tmp_path / "report.html", suite=make_suite("diagnostic"))
    assert result["data_validity/category_adherence"].value == 1
