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
from skeval.scale.long_csv import stream_csv
from skeval.tables import reading
from skeval.tables.reading import read_table


def test_a_saved_index_is_left_out(tmp_path):
    make_mixed(20).to_csv(tmp_path / "plain.csv", index=False)
    table = read_table(tmp_path / "plain.csv")
    for index in (table.index, table.index[::-1] * 3):
        table.set_axis(index).to_csv(tmp_path / "indexed.csv")
        with pytest.warns(MetricWarning, match="indexed.csv was saved with its row index"):
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
    with pytest.raises(TableError, match="rows have 4 cells, its header has 3 names"):
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
        (in_parquet(TABLE), "it is a Parquet file; rename it to end in .parquet."),
        (gzip.compress(PLAIN), "it is packed by gzip; rename it to end in .csv.gz."),
        (bz2.compress(PLAIN), "it is packed by bzip2; rename it to end in .csv.bz2."),
        (lzma.compress(PLAIN), "it is packed by xz; rename it to end in .csv.xz."),
        (zipped(["t.csv"]), "it is packed by zip; rename it to end in .csv.zip."),
        (zipped(["[Content_Types].xml"]), "it is a workbook of Excel; rename it to end in .xlsx."),
        (
            b"\xd0\xcf\x11\xe0" + bytes(512),
            "it is an old workbook of Excel; save it as .xlsx, without a password.",
        ),
        (pickle.dumps(TABLE), "it is a pickle; write the table as CSV or Parquet."),
        (
            b"ARROW1\0\0" + bytes(64),
            "it is an Arrow or Feather file; rename it to end in .feather.",
        ),
        (b"", "it is empty; a table has its names in the first line."),
        (b"\x89PNG\r\n\x1a\n" + bytes(range(256)), "it holds bytes of 0, as no text does; write"),
        (b"x\n" + bytes(range(128, 256)), "it is no text in UTF-8 or cp1252; name its enc"),
    ],
    "t.parquet": [
        (PLAIN, "it is no Parquet file; rename it to end in what it is, such as .csv."),
        (gzip.compress(PLAIN), "it is packed by gzip; rename it to end in .csv.gz."),
        (b"", "it is empty; "),
    ],
    "t.csv.gz": [(PLAIN, "it is not packed; rename it to end in .csv."), (b"", "it is empty; ")],
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
    with pytest.raises(
        TableError, match=r"it is an SQLite database; rename it to end in \.sqlite\."
    ):
        read_table(tmp_path / "t.csv")


@pytest.mark.parametrize("name", ["PAR1", "ARROW1", "SQLite format 3", "BZh91AY&SY", "PK"])
def test_names_may_begin_as_other_files_do(tmp_path, name):
    TABLE.rename(columns={"age": name}).to_csv(tmp_path / "t.csv", index=False)
    assert read_table(tmp_path / "t.csv").columns[0] == name


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-32"])
def test_wide_encodings_are_found(tmp_path, encoding):
    TABLE.to_csv(tmp_path / "t.csv", index=False, encoding=encoding)
    with pytest.warns(MetricWarning, match=f"its text as {encoding}"):
        pd.testing.assert_frame_equal(read_table(tmp_path / "t.csv"), TABLE, check_dtype=False)


@pytest.mark.parametrize(
    ("line", "n_lines", "said"),
    [
        pytest.param(b"," * 2**20, 1, "a line of over 0 MiB; write each row", id="line"),
        pytest.param(b"1,2\n", 2**19, "over 1 MiB; unpack it before", id="rows"),
    ],
)
def test_a_small_file_that_unpacks_to_much_is_refused(tmp_path, monkeypatch, line, n_lines, said):
    monkeypatch.setattr(reading, "_MAX_LINE_LENGTH", 2**19)
    monkeypatch.setattr(reading, "_MAX_PACKED", 2**20)
    path = tmp_path / "a.csv.gz"
    path.write_bytes(gzip.compress(b"a,b\n" + line * n_lines))
    with pytest.raises(TableError, match=said):
        read_table(path)


def test_a_line_without_end_is_not_streamed(tmp_path, monkeypatch):
    monkeypatch.setattr(reading, "_MAX_LINE_LENGTH", 2**19)
    path = tmp_path / "a.csv.gz"
    path.write_bytes(gzip.compress(b"a,b\n" + b"1,2\n" * 10 + b"," * 2**20))
    assert stream_csv(path, "train") is None
