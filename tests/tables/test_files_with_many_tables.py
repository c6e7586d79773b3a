"""Workbooks, JSON lines, Arrow and databases: read as the same rows of a CSV file are, and what a stranger may send."""

import contextlib
import datetime as dt
import gzip
import json
import shutil
import sqlite3
import sys
import tracemalloc
import warnings
import zipfile

import duckdb
import numpy as np
import openpyxl
import pandas as pd
import pyarrow as pa
import pytest
import sqlalchemy as sa

from skeval.datasets import make_mixed
from skeval.exceptions import MetricWarning, MissingDependencyError, TableError
from skeval.tables import files_with_many_tables, gathered_cells
from skeval.tables.gathered_cells import MAX_CELLS
from skeval.tables.place import Place
from skeval.tables.reading import read_table
from tests.snapshots import raises, warns

TABLE = make_mixed(60, random_state=0)[["age", "income", "city"]]
CODED = TABLE.assign(code=[f"{i:04d}" for i in range(60)])


def in_workbook(path, **sheets):
    with pd.ExcelWriter(path, engine="openpyxl") as book:
        for name, table in sheets.items():
            table.to_excel(book, sheet_name=name, index=False)
    return path


def in_sqlite(path, **tables):
    with contextlib.closing(sqlite3.connect(path)) as base:
        for name, table in tables.items():
            table.to_sql(name, base, index=False)
    return path


def in_duckdb(path, **tables):
    with contextlib.closing(duckdb.connect(str(path))) as base:
        for name, table in tables.items():
            base.register("given", table)
            base.execute(f'CREATE TABLE "{name}" AS SELECT * FROM given')
    return path


def in_lines(path, table):
    path.write_text("".join(f"{json.dumps(row)}\n" for row in table.to_dict("records")))


def in_stream(path):
    table = pa.Table.from_pandas(CODED, preserve_index=False)
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_stream(file, table.schema) as writer:
        writer.write_table(table)


WRITERS = {
    "t.xlsx": lambda path: in_workbook(path, people=CODED),
    "t.xlsm": lambda path: in_workbook(path, people=CODED),
    "t.jsonl": lambda path: in_lines(path, CODED),
    "t.ndjson.gz": lambda path: path.write_bytes(
        gzip.compress(CODED.to_json(orient="records", lines=True, double_precision=15).encode())
    ),
    "t.feather": lambda path: CODED.to_feather(path),
    "t.arrow": in_stream,
    "t.sqlite": lambda path: in_sqlite(path, people=CODED),
    "t.db": lambda path: in_duckdb(path, people=CODED),
}


@pytest.mark.parametrize("name", WRITERS)
def test_the_rows_are_those_that_were_written(tmp_path, name):
    WRITERS[name](tmp_path / name)
    read = read_table(tmp_path / name)
    pd.testing.assert_frame_equal(read, CODED, check_dtype=False)
    assert read["code"].tolist() == CODED["code"].tolist()


@pytest.mark.parametrize(
    ("writer", "ending"), [(in_workbook, ".xlsx"), (in_sqlite, ".sqlite"), (in_duckdb, ".duckdb")]
)
def test_one_of_several_is_named(tmp_path, writer, ending):
    path = writer(tmp_path / f"t{ending}", first=TABLE, second=CODED)
    pd.testing.assert_frame_equal(read_table(f"{path}#second"), CODED, check_dtype=False)
    with raises(TableError):
        read_table(path)
    with raises(TableError):
        read_table(f"{path}#third")


@pytest.mark.parametrize(("writer", "ending"), [(in_sqlite, ".sqlite"), (in_duckdb, ".duckdb")])
def test_a_query_reads_and_never_writes(tmp_path, writer, ending):
    path = writer(tmp_path / f"t{ending}", people=TABLE)
    before = path.read_bytes()
    read = read_table(
        f"{path}#SELECT city, count(*) AS n FROM people WHERE city > '' GROUP BY city ORDER BY city"
    )
    expected = TABLE["city"].value_counts().sort_index()
    assert dict(zip(read["city"], read["n"], strict=True)) == expected.to_dict()
    scheme = f"{'sqlite' if ending == '.sqlite' else 'duckdb'}:///{path}"
    assert (
        len(read_table(f"{scheme}#select * from people where age > 30")) == (TABLE.age > 30).sum()
    )
    with pytest.raises(TableError, match=r"no such column: agee|BinderException.*agee"):
        read_table(f"{path}#select agee from people")
    with pytest.raises(TableError, match=r"readonly|read-only|cannot be read"):
        read_table(f"{path}#with x as (select 1) delete from people")
    with raises(TableError):
        read_table(f"{path}#drop table people")
    assert path.read_bytes() == before


def test_a_foreign_database_reads_no_other_file(tmp_path):
    (tmp_path / "secret.csv").write_text("a\n1\n")
    path = in_duckdb(tmp_path / "t.duckdb", people=TABLE)
    with contextlib.closing(duckdb.connect(str(path))) as base:
        base.execute(f"CREATE VIEW trap AS SELECT * FROM read_csv('{tmp_path}/secret.csv')")
    with raises(TableError):
        read_table(f"{path}#trap")
    assert len(read_table(path)) == len(TABLE)  # a view is read where it is named


def engine_of(tmp_path, monkeypatch):
    """Let any URL lead to a file of SQLite."""
    in_sqlite(tmp_path / "t.sqlite", people=TABLE)
    made = sa.create_engine(f"sqlite:///{tmp_path / 't.sqlite'}")
    monkeypatch.setattr(sa, "create_engine", lambda url, **settings: made)


URL = "postgresql://me:s3cret@host/base"


def test_databases_by_url(tmp_path, monkeypatch):
    engine_of(tmp_path, monkeypatch)
    pd.testing.assert_frame_equal(read_table(URL), TABLE, check_dtype=False)
    pd.testing.assert_frame_equal(read_table(f"{URL}#people"), TABLE, check_dtype=False)
    query = "SELECT age, ':a %s' AS text FROM people"
    assert read_table(f"{URL}#{query}")["text"].unique().tolist() == [":a %s"]


@pytest.mark.parametrize("part", ["", "#other", "#select x from people"])
def test_no_message_holds_a_password(tmp_path, monkeypatch, part):
    engine_of(tmp_path, monkeypatch)
    in_sqlite(tmp_path / "t.sqlite", further=TABLE)
    with pytest.raises(TableError) as raised:
        read_table(URL + part)
    shown = f"{raised.value!r} {raised.value.__context__!r} {Place.from_path(URL + part)!r}"
    assert "s3cret" not in shown
    assert "the postgresql database cannot be read from: " in str(raised.value)


@pytest.mark.parametrize(
    "url",
    [
        "nosuch://a:s3cret@b",
        "postgresql://a:s3c#ret@b/c",
        "sqlite2:/x",
        "postgresql+nodriver://a:s3cret@b/c",
    ],
)
def test_wrong_urls_are_refused(url):
    with pytest.raises((TableError, MissingDependencyError)) as raised:
        read_table(url)
    assert "s3c" not in str(raised.value)
    assert "ret@" not in str(raised.value)


@pytest.mark.parametrize(
    ("package", "name"),
    [
        pytest.param("openpyxl", "t.xlsx", id="openpyxl"),
        pytest.param("duckdb", "t.db", id="duckdb"),
        pytest.param("sqlalchemy", "", id="sqlalchemy"),
    ],
)
def test_what_is_not_installed_is_named(tmp_path, monkeypatch, package, name):
    if name:
        WRITERS[name](tmp_path / name)

    monkeypatch.setitem(sys.modules, package, None)
    with raises(MissingDependencyError):
        read_table(tmp_path / name if name else URL)


def sheet_of(path, rows):
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(row)
    book.save(path)
    return path


def test_what_is_odd_in_a_sheet(tmp_path):
    rows = [
        [None, None],
        [None, "a", None, "b", 2019],
        [],
        [None, 1, None, "#N/A", dt.datetime(2020, 1, 1)],
        [None, 2.5, None, "", None],
    ]
    read = read_table(sheet_of(tmp_path / "t.xlsx", rows))
    expected = pd.DataFrame(
        {"a": [1, 2.5], "b": [None, None], "2019": [dt.datetime(2020, 1, 1), None]}
    )
    pd.testing.assert_frame_equal(read, expected, check_dtype=False)
    with raises(TableError):
        read_table(sheet_of(tmp_path / "t.xlsx", [["Patients of 2019"], ["a", "b"], [1, 2]]))
    with raises(TableError):
        read_table(sheet_of(tmp_path / "t.xlsx", []))


def test_a_saved_index_of_a_sheet_is_skipped(tmp_path):
    TABLE.to_excel(tmp_path / "t.xlsx")
    with warns(MetricWarning):
        pd.testing.assert_frame_equal(read_table(tmp_path / "t.xlsx"), TABLE, check_dtype=False)


def test_formulas_are_not_run_and_those_without_a_value_are_named(tmp_path):
    path = sheet_of(tmp_path / "t.xlsx", [["a", "b", "c"], [1, "=1+1", None], [2, "=A2", 3]])
    with warns(MetricWarning):
        read = read_table(path)
    assert read["b"].isna().all()
    assert read["a"].tolist() == [1, 2]


def with_stated_size(path, size):
    """Have a packed file say in its list of files that the first has this number of bytes."""
    content = path.read_bytes()
    entry = content.index(b"PK\x01\x02")
    path.write_bytes(content[: entry + 24] + size.to_bytes(4, "little") + content[entry + 28 :])


def test_workbooks_that_unpack_to_too_much_are_refused(tmp_path):
    path = in_workbook(tmp_path / "t.xlsx", people=TABLE)
    with_stated_size(path, 2**29 + 1)
    with raises(TableError):
        read_table(path)


@pytest.mark.slow
def test_a_workbook_that_states_a_wrong_size_fills_no_memory(tmp_path):
    path, sheet = tmp_path / "book.xlsx", "xl/worksheets/sheet1.xml"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(sheet, b" " * 100 * 2**20)
    with_stated_size(path, 1000)
    tracemalloc.start()
    with pytest.raises(TableError):
        read_table(path)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 2**25


def test_a_cell_far_away_fills_no_memory(tmp_path, monkeypatch):
    for module in (files_with_many_tables, gathered_cells):
        monkeypatch.setattr(module, "MAX_CELLS", 2**14)
    book = openpyxl.Workbook()
    book.active["A1"], book.active["B2"], book.active["XFD1000"] = "a", 1, 2
    book.save(tmp_path / "t.xlsx")
    with raises(TableError):
        read_table(tmp_path / "t.xlsx")


def test_a_wrong_size_of_a_sheet_is_not_believed(tmp_path):
    in_workbook(tmp_path / "whole.xlsx", people=TABLE)
    with (
        zipfile.ZipFile(tmp_path / "whole.xlsx") as whole,
        zipfile.ZipFile(tmp_path / "t.xlsx", "w") as cut,
    ):
        for name in whole.namelist():
            content = whole.read(name)
            cut.writestr(
                name, content.replace(b'<dimension ref="A1:C61"', b'<dimension ref="A1:A2"')
            )
    pd.testing.assert_frame_equal(read_table(tmp_path / "t.xlsx"), TABLE, check_dtype=False)


@pytest.mark.parametrize(
    "content",
    [b"PK\x03\x04" + bytes(99), b"\xd0\xcf\x11\xe0" + bytes(99), b"a,b\n1,2\n"],
    ids=["archive", "old", "text"],
)
def test_what_is_no_workbook_is_refused(tmp_path, content):
    (tmp_path / "t.xlsx").write_bytes(content)
    with raises(TableError):
        read_table(tmp_path / "t.xlsx")


@pytest.mark.parametrize(
    "line",
    ["[1, 2]", "{", '{"a": ' + "[" * 10_000, "\udcff", '{"a": [1]}', '{"a": {"b": 1}}'],
    ids=["list", "cut", "deep", "bytes", "list in a cell", "object in a cell"],
)
def test_what_is_no_line_of_json_is_refused(tmp_path, line):
    (tmp_path / "t.jsonl").write_text('{"a": 1}\n' + line, errors="surrogateescape")
    with raises(TableError):
        read_table(tmp_path / "t.jsonl")


def test_lines_need_not_have_all_names(tmp_path):
    (tmp_path / "t.jsonl").write_text('{"a": 1}\n\n{"b": "007", "a": 0.1234567890123456789}\n')
    read = read_table(tmp_path / "t.jsonl")
    assert read["a"].tolist() == [1, 0.1234567890123456789]
    assert read["b"].tolist()[1] == "007"


def test_new_names_on_each_line_fill_no_memory(tmp_path, monkeypatch):
    monkeypatch.setattr(gathered_cells, "MAX_CELLS", 2**10)
    (tmp_path / "t.jsonl").write_text("".join(f'{{"a{i}": 1}}\n' for i in range(99)))
    with raises(TableError):
        read_table(tmp_path / "t.jsonl")
    assert MAX_CELLS > 10**7


@pytest.mark.parametrize(
    "content", [b"ARROW1\0\0" + bytes(64), b"\xff\xff\xff\xff" + bytes(64), b"a,b\n1,2\n", b"FEA1"]
)
def test_what_is_no_arrow_file_is_refused(tmp_path, content):
    (tmp_path / "t.feather").write_bytes(content)
    with pytest.raises(TableError, match=r"t.feather cannot be read as feather"):
        read_table(tmp_path / "t.feather")


@pytest.mark.parametrize(
    "content",
    [b"", b"nothing of this kind", b"SQLite format 3\0" + bytes(99)],
    ids=["empty", "other", "broken"],
)
def test_what_is_no_database_is_refused(tmp_path, content):
    (tmp_path / "t.db").write_bytes(content)
    with raises(TableError):
        read_table(tmp_path / "t.db")


def test_a_name_with_the_sign_of_parts_is_a_name(tmp_path):
    folder = tmp_path / "a.xlsx#b"
    folder.mkdir()
    in_workbook(folder / "t.xlsx", people=TABLE)
    assert len(read_table(folder / "t.xlsx")) == len(TABLE)
    TABLE.to_csv(tmp_path / "t#1.csv", index=False)
    assert len(read_table(tmp_path / "t#1.csv")) == len(TABLE)


def test_types_of_databases_are_those_that_kinds_are_inferred_from(tmp_path):
    path = tmp_path / "t.duckdb"
    with contextlib.closing(duckdb.connect(str(path))) as base:
        base.execute(
            "CREATE TABLE t AS SELECT DATE '2020-01-01' + CAST(i AS INT) AS day, i / 7::DECIMAL(9, 2) AS cost, "
            "CAST(i / 8 AS DECIMAL(9, 2)) AS money, i % 2 = 0 AS even FROM range(60) r(i)"
        )
    from skeval.tables.schema import TableSchema

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        kinds = TableSchema.infer(read_table(path)).kinds
    assert kinds == {
        "day": "datetime",
        "cost": "continuous",
        "money": "continuous",
        "even": "boolean",
    }
    assert np.isfinite(read_table(path)["cost"].astype(float)).all()


SPINS = "WITH RECURSIVE r(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM r) SELECT max(x) AS x FROM r"


@pytest.mark.parametrize(
    "view", [SPINS, "SELECT hex(zeroblob(20000000)) AS x"], ids=["endless", "large"]
)
def test_a_view_of_a_stranger_ends_and_has_no_cell_without_bound(tmp_path, monkeypatch, view):
    path = tmp_path / "t.sqlite"
    with contextlib.closing(sqlite3.connect(path)) as base:
        base.execute(f"CREATE VIEW people AS {view}")
        base.commit()
    monkeypatch.setattr(files_with_many_tables, "MAX_STEPS", 2**22)
    with raises(TableError):
        read_table(f"{path}#people")


def test_the_bytes_of_all_texts_of_a_database_are_bounded(tmp_path, monkeypatch):
    monkeypatch.setattr(files_with_many_tables, "MAX_BYTES", 2**20)
    path = tmp_path / "base.sqlite"
    with contextlib.closing(sqlite3.connect(path)) as base:
        base.execute(
            "CREATE VIEW large AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n "
            "WHERE i < 1000) SELECT i, hex(zeroblob(100000)) AS cell FROM n"
        )
    with raises(TableError):
        read_table(f"{path}#large")


@pytest.mark.parametrize("is_open", [False, True], ids=["log left behind", "writer connected"])
def test_a_database_with_a_log_is_read_whole_and_gets_no_files_beside_it(tmp_path, is_open):
    writer = sqlite3.connect(tmp_path / "live.sqlite")
    writer.execute("PRAGMA journal_mode=WAL")
    writer.execute("CREATE TABLE people (age INTEGER)")
    writer.executemany("INSERT INTO people VALUES (?)", [(age,) for age in range(50)])
    writer.commit()
    folder = tmp_path
    if not is_open:  # rows that only the log has
        folder = tmp_path / "copied"
        folder.mkdir()
        for ending in ("", "-wal"):
            shutil.copyfile(
                f"{tmp_path / 'live.sqlite'}{ending}", f"{folder / 'live.sqlite'}{ending}"
            )
    before = sorted(path.name for path in folder.iterdir())
    assert len(read_table(folder / "live.sqlite")) == 50
    assert sorted(path.name for path in folder.iterdir()) == before
    writer.close()


def test_a_database_whose_log_is_empty_gets_no_files_beside_it(tmp_path):
    path = tmp_path / "base.sqlite"
    with contextlib.closing(sqlite3.connect(path)) as writer:
        writer.execute("PRAGMA journal_mode=WAL")
        writer.execute("CREATE TABLE people (age INTEGER)")
        writer.execute("INSERT INTO people VALUES (3)")
        writer.commit()
    assert len(read_table(path)) == 1
    assert [one.name for one in tmp_path.iterdir()] == ["base.sqlite"]
