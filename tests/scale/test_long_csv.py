"""Long CSV files as sources: the same types and values as reading them at once, and no file left."""

import gzip
import tempfile
import warnings

import numpy as np
import pytest

from skeval.exceptions import MetricWarning
from skeval.scale import long_csv
from skeval.scale.long_csv import is_long, stream_csv
from skeval.tables.reading import Dialect, read_table

N_ROWS = 40


@pytest.fixture(autouse=True)
def few_rows(monkeypatch, tmp_path):
    monkeypatch.setattr(long_csv, "_CHUNK", 7)
    monkeypatch.setattr(long_csv, "_MIN_BYTES", 10)
    monkeypatch.setattr(long_csv, "MANY_ROWS", N_ROWS // 2)
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))


def late(first, last, n_last=1):
    """Return cells of which the last ones are of another kind."""
    return [first] * (N_ROWS - n_last) + [last] * n_last


COLUMNS = {
    "whole": [str(i) for i in range(N_ROWS)],
    "gap_in_the_last": late("3", ""),
    "number_in_the_last": late("3", "3.5"),
    "word_in_the_last": late("3", "many"),
    "word_after_decimals": late("3.10", "n/k"),
    "code_in_the_last": late("123", "0123"),
    "codes_and_gaps": ["", *late("123", "007")[1:]],
    "truth": late("True", "False"),
    "truth_with_gaps": late("True", "", 9),
    "truth_and_a_word": late("True", "maybe"),
    "truth_and_a_number": late("False", "1"),
    "gaps_then_truth": late("", "False", 9),
    "gaps_then_a_number": late("", "5", 9),
    "gaps_then_a_word": late("", "x", 9),
    "never": [""] * N_ROWS,
    "date": [f"2024-01-{1 + i % 28:02}" for i in range(N_ROWS)],
    "quoted": ['"a, ""b"""'] * N_ROWS,
    "lines": late("x", '"two\nlines"'),
    "precise": [repr(x) for x in np.random.default_rng(0).normal(size=N_ROWS)],
}


def text_of(columns, sep=","):
    lines = [sep.join(columns), *map(sep.join, zip(*columns.values(), strict=True))]
    return "\n".join(lines) + "\n"


def both(path, **how):
    """Return a file read at once and from its copy, and what was said each time."""
    tables, said = [], []
    for read in (read_table, lambda path, **how: stream_csv(path, "train", **how)):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            tables.append(read(path, **how))
        said.append([str(one.message) for one in caught if one.category is MetricWarning])
    whole, source = tables
    return whole, source and source.read(source.names), said


def assert_same(whole, copied):
    assert list(whole) == list(copied)
    for name in whole:
        one, other = whole[name], copied[name]
        assert one.dtype == other.dtype, name
        np.testing.assert_array_equal(one.isna(), other.isna())
        assert one.dropna().tolist() == other.dropna().tolist(), name


@pytest.mark.parametrize("name", COLUMNS)
def test_each_kind_of_column(tmp_path, name):
    path = tmp_path / "train.csv"
    path.write_text(text_of({"key": COLUMNS["word_in_the_last"], name: COLUMNS[name]}))
    whole, copied, _ = both(path)
    assert_same(whole, copied)


def test_columns_in_another_dialect(tmp_path):
    pointed = {"number_in_the_last", "word_after_decimals", "precise"}
    columns = {name: cells for name, cells in COLUMNS.items() if name not in pointed}
    columns |= {"price": late("12,5", "13,25"), "city": late("Köln", "Orléans")}
    path = tmp_path / "train.csv"
    path.write_bytes(text_of(columns, ";").encode("cp1252"))
    whole, copied, (once, then) = both(path)
    assert_same(whole, copied)
    assert copied["price"].iloc[-1] == 13.25
    assert once == then
    assert len(then) == 1
    given, again, _ = both(path, dialect=Dialect(";", "cp1252", ","))
    assert_same(given, again)


@pytest.mark.parametrize(("head", "row"), [(",a,b", "{i},{i},x"), ("a,b,", "{i},x,")])
def test_a_saved_index_and_an_empty_last_column(tmp_path, head, row):
    path = tmp_path / "train.csv"
    path.write_text("\n".join([head, *(row.format(i=i) for i in range(N_ROWS))]) + "\n")
    whole, copied, (once, then) = both(path)
    assert_same(whole, copied)
    assert list(copied) == ["a", "b"]
    assert once == then
    assert len(then) == 1


@pytest.mark.parametrize(
    "text",
    [
        "a,b\n" + "1,2,3\n" * N_ROWS,  # longer than the header
        "1.5,2.7\n" + "3,4\n" * N_ROWS,  # no header
        "a,a\n" + "3,4\n" * N_ROWS,
        "a,b\n" + "1,2\n" * N_ROWS + f"{2**63},3\n",  # unsigned
    ],
)
def test_what_is_odd_is_left_to_reading_at_once(tmp_path, text):
    path = tmp_path / "train.csv"
    path.write_text(text)
    assert stream_csv(path, "train") is None
    assert not list((tmp_path / "temporary").iterdir())


def test_packed_files(tmp_path):
    path = tmp_path / "train.csv.gz"
    path.write_bytes(gzip.compress(text_of(COLUMNS).encode()))
    assert is_long(path)
    whole, copied, _ = both(path)
    assert_same(whole, copied)


def test_which_files_are_long(tmp_path, monkeypatch):
    path = tmp_path / "train.csv"
    path.write_text("a\n" + "1\n" * (N_ROWS // 2 - 1))
    assert not is_long(path)
    path.write_text("a\n" + "1\n" * (N_ROWS // 2))
    assert is_long(path)
    assert not is_long(tmp_path)
    monkeypatch.setattr(long_csv, "find_spec", lambda name: None)
    assert not is_long(path)


@pytest.mark.parametrize("nameless", [True, False])
def test_nothing_is_left_of_the_copy(tmp_path, monkeypatch, nameless):
    if not nameless:
        monkeypatch.setattr(long_csv, "_OPEN_FILES", tmp_path / "none")
    path = tmp_path / "train.csv"
    path.write_text(text_of(COLUMNS))
    source = stream_csv(path, "train")
    copies = list((tmp_path / "temporary").iterdir())
    assert len(copies) == (0 if nameless else 1)
    assert all(copy.stat().st_mode & 0o077 == 0 for copy in copies)
    assert source.n_rows == N_ROWS
    del source
    assert not list((tmp_path / "temporary").iterdir())


def test_nothing_is_left_where_the_copy_fails(tmp_path, monkeypatch):
    path = tmp_path / "train.csv"
    path.write_text(text_of(COLUMNS))

    def fail(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(long_csv, "ArrowSource", fail)
    with pytest.raises(KeyboardInterrupt):
        stream_csv(path, "train")
    assert not list((tmp_path / "temporary").iterdir())
