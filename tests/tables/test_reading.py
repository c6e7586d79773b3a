"""Tables from files: row indices, separators at the ends of lines, rows longer than the header."""

import bz2
import contextlib
import gzip
import io
import lzma
import pickle
import sqlite3
import warnings
import zipfile

import pandas as pd
import pytest

from skeval.datasets import make_mixed
from skeval.exceptions import MetricWarning, TableError
from skeval.tables.long_csv import stream_csv
from skeval.tables.reading import read_table
from tests.snapshots import raises, warns


def test_a_saved_index_is_skipped(tmp_path):
    make_mixed(20).to_csv(tmp_path / "plain.csv", index=False)
    table = read_table(tmp_path / "plain.csv")
    for index in (table.index, table.index[::-1] * 3):
        table.set_axis(index).to_csv(tmp_path / "indexed.csv")
        with warns(MetricWarning):
            pd.testing.assert_frame_equal(read_table(tmp_path / "indexed.csv"), table)
    table.set_axis([1] * len(table)).to_csv(tmp_path / "unnamed.csv")
    assert read_table(tmp_path / "unnamed.csv").shape[1] == table.shape[1] + 1


def written(tmp_path, lines):
    (tmp_path / "lines.csv").write_text("\n".join(lines) + "\n")
    return tmp_path / "lines.csv"


@pytest.mark.parametrize(
    "lines",
    [
        ["a,b,c", "1,2,x,", "4,5,y,"],
        ["a,b,c", "1,2,x,,", "4,5,y,,"],
        ["a,b,c", "1,2,x,", "4,5,y"],
        ["a,b,c,", "1,2,x,", "4,5,y,"],
        ["a,b,c,", "1,2,x", "4,5,y"],
    ],
)
def test_separators_at_the_ends_of_lines_shift_no_column(tmp_path, lines):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MetricWarning)  # of separators that are ignored
        table = read_table(written(tmp_path, lines))
    expected = pd.DataFrame({"a": [1, 4], "b": [2, 5], "c": ["x", "y"]})
    pd.testing.assert_frame_equal(table, expected)


@pytest.mark.parametrize("last", ["9", '"x, y"'])
def test_rows_longer_than_the_header_are_refused(tmp_path, last):
    path = written(tmp_path, ["a,b,c", f"1,2,3,{last}", f"4,5,6,{last}"])
    with raises(TableError):
        read_table(path)


def in_parquet(table):
    written = io.BytesIO()
    table.to_parquet(written)
    return written.getvalue()


def zipped(names):
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w") as archive:
        for name in names:
            archive.writestr(name, PLAIN)
    return written.getvalue()


TABLE = make_mixed(60)[["age", "income", "city"]]
PLAIN = TABLE.to_csv(index=False).encode()
KINDS = {
    "t.csv": [
        (in_parquet(TABLE), "the file is a Parquet file. Rename it to end in .parquet."),
        (gzip.compress(PLAIN), "the file is compressed with gzip. Rename it to end in .csv.gz."),
        (bz2.compress(PLAIN), "the file is compressed with bzip2. Rename it to end in .csv.bz2."),
        (lzma.compress(PLAIN), "the file is compressed with xz. Rename it to end in .csv.xz."),
        (zipped(["t.csv"]), "the file is compressed with zip. Rename it to end in .csv.zip."),
        (
            zipped(["[Content_Types].xml"]),
            "the file is an Excel workbook. Rename it to end in .xlsx.",
        ),
        (
            b"\xd0\xcf\x11\xe0" + bytes(512),
            "the file is an old Excel workbook. Save it as .xlsx without a password.",
        ),
        (pickle.dumps(TABLE), "the file is a pickle. Write the table as CSV or Parquet."),
        (
            b"ARROW1\0\0" + bytes(64),
            "the file is an Arrow or Feather file. Rename it to end in .feather.",
        ),
        (b"", "the file is empty. The first line of a table"),
        (b"\x89PNG\r\n\x1a\n" + bytes(range(256)), "the file contains null bytes. Write"),
        (b"x\n" + bytes(range(128, 256)), "the file is not text in UTF-8 or cp1252. Specify"),
    ],
    "t.parquet": [
        (PLAIN, "the file is not Parquet. Rename it to end in its format, for example .csv."),
        (gzip.compress(PLAIN), "the file is compressed with gzip. Rename it to end in .csv.gz."),
        (b"", "the file is empty. "),
    ],
    "t.csv.gz": [
        (PLAIN, "the file is not compressed. Rename it to end in .csv."),
        (b"", "the file is empty. "),
    ],
}


@pytest.mark.parametrize(
    ("name", "content", "said"), [(name, *one) for name, of in KINDS.items() for one in of]
)
def test_another_kind_of_file_is_named(tmp_path, name, content, said):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(TableError) as raised:
        read_table(tmp_path / name)
    kind = "parquet" if name == "t.parquet" else "csv"
    assert f"{name} cannot be read as {kind}: {said}" in str(raised.value)
    assert "\n" not in str(raised.value)


def test_a_database_is_named(tmp_path):
    with contextlib.closing(sqlite3.connect(tmp_path / "t.csv")) as base:
        TABLE.to_sql("t", base)
    with raises(TableError):
        read_table(tmp_path / "t.csv")


@pytest.mark.parametrize("name", ["PAR1", "ARROW1", "SQLite format 3", "BZh91AY&SY", "PK"])
def test_names_may_begin_as_other_files_do(tmp_path, name):
    TABLE.rename(columns={"age": name}).to_csv(tmp_path / "t.csv", index=False)
    assert read_table(tmp_path / "t.csv").columns[0] == name


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-32"])
def test_wide_encodings_are_found(tmp_path, encoding):
    TABLE.to_csv(tmp_path / "t.csv", index=False, encoding=encoding)
    with warns(MetricWarning):
        pd.testing.assert_frame_equal(read_table(tmp_path / "t.csv"), TABLE, check_dtype=False)


def test_a_small_file_of_one_long_line_is_refused(tmp_path):
    path = tmp_path / "a.csv.gz"
    path.write_bytes(gzip.compress(b"a,b\n" + b"," * 2**25))
    with raises(TableError):
        read_table(path)


@pytest.mark.slow
def test_a_small_file_that_unpacks_to_much_is_refused(tmp_path):
    path, part = tmp_path / "a.csv.gz", gzip.compress(b"1,2\n" * 2**20)
    path.write_bytes(gzip.compress(b"a,b\n") + part * 257)
    with raises(TableError):
        read_table(path)


def test_a_line_without_end_is_not_streamed(tmp_path):
    path = tmp_path / "a.csv.gz"
    path.write_bytes(gzip.compress(b"a,b\n" + b"1,2\n" * 10 + b"," * 2**25))
    assert stream_csv(path, "train") is None
