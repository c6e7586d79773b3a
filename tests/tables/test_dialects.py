"""How CSV files are written: found out, given, and said; codes stay text."""

from __future__ import annotations

import gzip
import re
import warnings
import zipfile

import pandas as pd
import pytest

from skeval import TableSchema
from skeval.exceptions import InvalidParameterError, MetricWarning, TableError
from skeval.tables.csv_dialect import Dialect
from skeval.tables.reading import read_table
from tests.snapshots import raises, warns

TABLE = pd.DataFrame({"n": [1.5, 2.25, -3.0], "name": ["Zo\u00eb", "a, b", "c; d"], "k": [1, 2, 3]})


def written(path, **settings):
    TABLE.to_csv(path, index=False, **settings)
    return path


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({}, None),
        ({"sep": ";", "decimal": ","}, "semicolons, the comma as decimal sign"),
        ({"sep": ";"}, "cells separated by semicolons. These"),
        ({"sep": "\t"}, "tabs"),
        ({"sep": "|", "encoding": "cp1252"}, "bars, the encoding cp1252"),
        ({"encoding": "latin-1"}, "the encoding cp1252"),
        ({"encoding": "utf-16"}, "the encoding utf-16"),
        ({"encoding": "utf-8-sig"}, None),
    ],
)
def test_dialects_are_found_and_said(tmp_path, settings, said):
    path = written(tmp_path / "t.csv", **settings)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        table = read_table(path)
    pd.testing.assert_frame_equal(table, TABLE, check_dtype=False)
    texts = [str(warning.message) for warning in caught]
    assert texts == [] if said is None else len(texts) == 1 and said in texts[0]


@pytest.mark.parametrize("packing", ["gz", "zip", "bz2", "xz"])
def test_packed_files(tmp_path, packing):
    path = written(tmp_path / f"t.csv.{packing}", sep=";", decimal=",")
    with warns(MetricWarning):
        pd.testing.assert_frame_equal(read_table(path), TABLE, check_dtype=False)


def test_what_is_given_is_not_said(tmp_path, recwarn):
    path = written(tmp_path / "t.csv", sep=";", decimal=",", encoding="latin-1")
    table = read_table(path, dialect=Dialect(";", "latin-1", ","))
    pd.testing.assert_frame_equal(table, TABLE, check_dtype=False)
    assert not recwarn.list
    with raises(TableError):
        read_table(path, dialect=Dialect(";", "utf-8", ","))


@pytest.mark.parametrize(
    ("lines", "columns"),
    [
        ("a,b\n1,x;y;z\n2,u;v;w\n", ["a", "b"]),
        ('"Weight; kg",b\n1,2\n', ["Weight; kg", "b"]),
        ("a\n1;2\n3\n", ["a"]),
        ("a;b\n1,5;2\n", ["a", "b"]),
        ("a;b\n1.5;2,5\n", ["a", "b"]),
    ],
)
@pytest.mark.filterwarnings("ignore::skeval.exceptions.MetricWarning")
def test_separators_are_those_of_the_header_too(tmp_path, lines, columns):
    (tmp_path / "t.csv").write_text(lines)
    assert list(read_table(tmp_path / "t.csv")) == columns


@pytest.mark.filterwarnings("ignore::skeval.exceptions.MetricWarning")
def test_points_and_commas_together_are_no_decimal_commas(tmp_path):
    (tmp_path / "t.csv").write_text("a;b\n1.5;2,5\n2.5;3,5\n")
    table = read_table(tmp_path / "t.csv")
    assert table["a"].tolist() == [1.5, 2.5]
    assert table["b"].tolist() == ["2,5", "3,5"]


@pytest.mark.parametrize(
    "given",
    [
        {"sep": ""},
        {"sep": '"'},
        {"decimal": "-"},
        {"sep": ",", "decimal": ","},
        {"encoding": "none"},
    ],
)
def test_dialects_that_cannot_be(given):
    with raises(InvalidParameterError):
        Dialect(**given)


def test_leading_zeros_are_kept(tmp_path):
    lines = ["zip,gap,mixed,n,date"]
    lines += [
        f"{i:05},{'' if i % 3 else f'{i:03}'},{i},{i}.5,0{i % 9 + 1}/02/2020" for i in range(30)
    ]
    (tmp_path / "t.csv").write_text("\n".join(lines))
    table = read_table(tmp_path / "t.csv")
    assert table["zip"].tolist() == [f"{i:05}" for i in range(30)]
    assert table["gap"].dropna().tolist() == [f"{i:03}" for i in range(0, 30, 3)]
    assert table["mixed"].tolist() == list(range(30))
    kinds = TableSchema.infer(table).kinds
    assert kinds["zip"] != "continuous"
    assert kinds["mixed"] == kinds["n"] == "continuous"
    assert kinds["date"] == "datetime"


def test_a_zero_alone_and_decimals_are_numbers(tmp_path):
    (tmp_path / "t.csv").write_text("a,b,c\n0,0.5,-0\n10,00.5,7\n")
    table = read_table(tmp_path / "t.csv")
    assert [values.dtype.kind for _, values in table.items()] == ["i", "f", "i"]


@pytest.mark.slow
def test_leading_zeros_far_down_a_packed_file(tmp_path):
    with gzip.open(tmp_path / "t.csv.gz", "wt") as file:
        file.write("a;b\n" + "\n".join(f"{i + 10};{i}" for i in range(250_000)) + "\n007;1\n")
    with warns(MetricWarning):
        table = read_table(tmp_path / "t.csv.gz")
    assert table["a"].iloc[-1] == "007"
    assert table["b"].dtype.kind == "i"


def test_an_archive_of_two_tables(tmp_path):
    with zipfile.ZipFile(tmp_path / "t.csv.zip", "w") as archive:
        archive.writestr("a.csv", "a\n1\n")
        archive.writestr("b.csv", "a\n1\n")
    with raises(TableError):
        read_table(tmp_path / "t.csv.zip")


class Metadata:
    """As SDV's: says what it holds as a dict."""

    def __init__(self, content):
        self.content = content

    def to_dict(self):
        return self.content


def test_metadata_of_sdv_is_taken_as_a_schema():
    from skeval.datasets import make_mixed
    from skeval.fidelity import KSComplement, TVComplement

    table = make_mixed(60)
    metadata = Metadata({"tables": {"t": {"columns": {"visits": {"sdtype": "categorical"}}}}})
    fitted = TVComplement().fit(table, schema=metadata)
    assert "visits" in fitted.evaluate(table).details["columns"]
    assert (
        "visits"
        not in KSComplement().fit(table, schema=metadata).evaluate(table).details["columns"]
    )
    with raises(InvalidParameterError):
        KSComplement().fit(table, schema=Metadata({"anything": 1}))
    with raises(InvalidParameterError):
        KSComplement().fit(table, schema=pd.DataFrame({"columns": [1]}))


def test_metadata_of_several_tables():
    from skeval import make_suite
    from skeval.core.reading import read_context
    from skeval.datasets import make_relational

    data = make_relational(20)
    columns = {"person": {"sdtype": "id"}}
    tables = {name: {"columns": columns} for name in data if "person" in data[name]}
    tables["people"]["primary_key"] = "person"
    kept = {name: data[name] for name in tables}
    context = read_context(kept, schema=Metadata({"tables": tables, "relationships": []}))
    assert context.relations.tables["people"].primary_key == ("person",)
    assert make_suite("diagnostic", schema=context.relations).metrics


@pytest.mark.parametrize("header", ["age,sex,pay", "age;sex;pay"])
@pytest.mark.parametrize(
    "title", ["Patients", "Patients of 2024\n\nAll wards", "Patients{sep}{sep}"]
)
def test_a_title_above_the_header_is_named(tmp_path, header, title):
    sep = header[3]
    rows = [sep.join(row) for row in ("1a3", "2b4", "3a5")]
    lines = [title.format(sep=sep), header, *rows]
    (tmp_path / "t.csv").write_text("\n".join(lines) + "\n")
    with pytest.raises(TableError) as told:
        read_table(tmp_path / "t.csv")
    assert re.search("title|above the names", str(told.value))


@pytest.mark.parametrize("line", ["sep=;", '"sep=,"', "SEP=,;;"])
def test_an_instruction_for_spreadsheets_is_named(tmp_path, line):
    (tmp_path / "t.csv").write_text(f"{line}\nage;sex;pay\n1;a;3\n2;b;4\n")
    with pytest.raises(TableError) as told:
        read_table(tmp_path / "t.csv")
    assert "an instruction for spreadsheets" in str(told.value)


@pytest.mark.parametrize(
    "text", ["tags\nred;blue\ngreen;red\n", "x\n1,\n2,\n", "price\n1;5\n2;5\n"]
)
@pytest.mark.filterwarnings("ignore::skeval.exceptions.MetricWarning")
def test_one_column_has_no_title(tmp_path, text):
    (tmp_path / "t.csv").write_text(text)
    assert read_table(tmp_path / "t.csv").columns.tolist() == [text.partition("\n")[0]]
