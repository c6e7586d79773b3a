"""What commands read: folders that hold the parts of one table, and folders of tables."""

from __future__ import annotations

import os

import pandas as pd
import pytest

from skeval import SuiteResult
from skeval.datasets import make_mixed
from skeval.tables.sources import MANY_ROWS, is_large
from tests.tables.test_files_with_many_tables import URL, engine_of, in_lines, in_sqlite
from tests.tables.test_sources import write_parts

ROLES = ("train", "holdout", "synthetic")


def assert_alike(some, others):
    """Hold results to each other: the same bits, whatever form a table has.

    Large tables are read as they are stored, tables in memory in an order of content. Counts and
    sorted values do not depend on it; sums of products, of which correlations are made, round to
    other last bits. To sum those exactly takes several products of matrices for each one.
    """
    assert list(some) == list(others)
    for name, one in some.items():
        contents = [result.to_dict() | {"seconds": 0} for result in (one, others[name])]
        if name == "column_pair_trends/correlation":
            alike(*contents)
        else:
            assert contents[0] == contents[1], name


def alike(one, other):
    if isinstance(one, dict):
        assert list(one) == list(other)
        one, other = list(one.values()), list(other.values())
    if isinstance(one, list):
        assert len(one) == len(other)
        for part, its in zip(one, other, strict=True):
            alike(part, its)
    elif isinstance(one, float):
        assert one == pytest.approx(other, rel=1e-11, abs=1e-13, nan_ok=True)
    else:
        assert one == other


@pytest.mark.slow
def test_folders_of_parts_give_what_files_give(folder, run):
    for role in ROLES:
        table = pd.read_csv(f"{role}.csv")
        table.to_parquet(f"{role}.parquet")
        write_parts(table, folder / role, 3)
    files = [f"{role}.parquet" for role in ROLES]
    for tables, saved in ((ROLES, "parts.json"), (files, "files.json")):
        assert run("evaluate", *tables, "--suite", "quality", "-o", saved)[0] == 0
    parts, whole = (SuiteResult.from_json(name) for name in ("parts.json", "files.json"))
    assert_alike(parts, whole)
    cells = [[record.cells for record in one.provenance.inputs] for one in (parts, whole)]
    assert cells[0] == cells[1]
    code, out, err = run("evaluate", "train", "synthetic.csv", "--suite", "quality")
    assert code == 0, err
    assert "read column by column" in out + err


@pytest.mark.slow
def test_long_files_give_what_tables_in_memory_give(tmp_path, run, monkeypatch):
    monkeypatch.chdir(tmp_path)
    metrics = ("KSComplement", "TVComplement")
    tables = [make_mixed(MANY_ROWS + 1, i)[["age", "city", "income"]] for i in range(3)]
    for role, table in zip(ROLES, tables, strict=True):
        table.to_csv(f"{role}.csv", index=False)
        table.to_feather(f"{role}.feather")
    found = []
    for ending in ("feather", "csv"):
        files = [f"{role}.{ending}" for role in ROLES]
        code, out, err = run("evaluate", *files, "--metrics", ",".join(metrics), "-o", "s.json")
        assert code == 0, err
        assert ("read column by column" in out + err) is (ending != "feather")
        found.append(SuiteResult.from_json("s.json"))
    assert_alike(*found)
    cells = [[record.cells for record in one.provenance.inputs] for one in found]
    assert cells[0] == cells[1]


@pytest.mark.slow
def test_a_long_csv_is_read_as_parquet_is(tmp_path, run, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pd.DataFrame({"a": range(10**15, 10**15 + 2**18 + 1)}).to_csv("long.csv", index=False)
    code, out, err = run("evaluate", "long.csv", "long.csv", "--metrics", "MissingValueSimilarity")
    assert code == 0, err
    assert "read column by column" in out + err


@pytest.mark.slow
def test_a_report_of_many_rows_says_how_it_takes_less_time(folder, run):
    pd.DataFrame({"age": range(100_001)}).to_csv("train.csv", index=False)
    pd.DataFrame({"other": range(9)}).to_csv("holdout.csv", index=False)  # which is an error
    files = [f"{role}.csv" for role in ROLES]
    assert "--n-max-train 20000" in run("report", *files)[2]
    assert "--n-max-train 20000" not in run("report", *files, "--n-max-train", "50")[2]


def test_which_folders_hold_parts(tmp_path):
    one, other = pd.DataFrame({"a": [1], "b": [2]}), pd.DataFrame({"a": [1], "c": [2]})
    assert not is_large(tmp_path)
    one.to_parquet(tmp_path / "users.parquet")
    assert not is_large(tmp_path)  # a table of that name
    one[["b", "a"]].to_parquet(tmp_path / "more.parquet")
    (tmp_path / "_SUCCESS").write_text("")
    assert is_large(tmp_path)
    other.to_parquet(tmp_path / "orders.parquet")
    assert not is_large(tmp_path)
    (tmp_path / "part").mkdir()
    one.to_parquet(tmp_path / "part" / "part-0.parquet")
    assert is_large(tmp_path / "part")
    (tmp_path / "part" / "orders.csv").write_text("a,b")
    assert not is_large(tmp_path / "part")
    os.truncate(tmp_path / "orders.parquet", 2**29 + 1)
    assert is_large(tmp_path / "orders.parquet")


@pytest.mark.parametrize("options", [[], ["--max-memory", "2"]])
@pytest.mark.slow
def test_no_metric_takes_more_memory_than_is_free(folder, run, monkeypatch, options):
    given = []
    monkeypatch.setattr(
        "skeval.suites.suite.within_limits",
        lambda work, seconds, n_bytes: given.append(n_bytes) or work(),
    )
    files = [f"{role}.csv" for role in ROLES]
    assert run("evaluate", *files, "--metrics", "KSComplement", *options)[0] == 0
    (n_bytes,) = given
    assert n_bytes == 2**31 if options else 0 < n_bytes < 2**50


def scores_of(saved):
    result = SuiteResult.from_json(saved)
    return {name: (one.value, one.baseline) for name, one in result.items()}, result


@pytest.mark.slow
def test_any_form_of_the_tables_gives_what_csv_gives(folder, run):
    # SQLite knows no truth values
    read = {role: pd.read_csv(f"{role}.csv").drop(columns="member") for role in ROLES}
    with pd.ExcelWriter("book.xlsx") as book:
        for role, table in read.items():
            table.to_excel(book, sheet_name=role, index=False)
    in_sqlite(folder / "base.sqlite", **read)
    for role, table in read.items():
        table.to_csv(f"{role}.csv", index=False)
        in_lines(folder / f"{role}.jsonl", table)
    forms = {
        "csv": [f"{role}.csv" for role in ROLES],
        "book": [f"book.xlsx#{role}" for role in ROLES],
        "mixed": ["base.sqlite#train", "holdout.jsonl", "base.sqlite#select * from synthetic"],
    }
    for name, tables in forms.items():
        code, _, err = run("evaluate", *tables, "--suite", "quality", "-o", f"{name}.json")
        assert code == 0, err
    (expected, _), (book, named), (mixed, _) = (scores_of(f"{name}.json") for name in forms)
    assert book == mixed == expected
    assert [one.file for one in named.provenance.inputs] == forms["book"]
    code, out, _ = run("verify", "book.json", "book.xlsx#holdout", "base.sqlite#train")
    assert code == 0
    assert "the same bytes" in out
    assert "the same cells" in out
    code, _, err = run("evaluate", "book.xlsx", "synthetic.csv")
    assert code == 2
    assert "there are 3 sheets (train, holdout, synthetic). Append #" in err


def test_an_input_is_not_overwritten_in_any_form(folder, run):
    in_sqlite(folder / "base.sqlite", train=pd.read_csv("train.csv"))
    for table in ("base.sqlite#train", f"sqlite:///{folder}/base.sqlite#train"):
        code, _, err = run("report", table, "synthetic.csv", "--junit", "base.sqlite")
        assert code == 2
        assert "would overwrite the input" in err or "must end in" in err


def test_no_output_holds_a_password(folder, run, monkeypatch):
    engine_of(folder, monkeypatch)
    shown = ""
    code, out, err = run(
        "evaluate", URL, f"{URL}#people", "--metrics", "KSComplement", "-o", "s.json"
    )
    assert code == 0, err
    shown += out + err + (folder / "s.json").read_text()
    code, out, err = run("evaluate", f"{URL}#none", URL, "--metrics", "KSComplement")
    assert code == 2
    assert "s3cret" not in shown + out + err
    assert "me:" not in shown + out + err


def test_folders_hold_tables_of_any_form(folder, run):
    (folder / "data").mkdir()
    users = pd.DataFrame({"user_id": range(40), "age": [20 + i % 30 for i in range(40)]})
    visits = pd.DataFrame(
        {"user_id": [i % 40 for i in range(90)], "cost": [i / 7 for i in range(90)]}
    )
    users.to_excel("data/users.xlsx", index=False)
    in_lines(folder / "data" / "visits.jsonl", visits)
    code, out, err = run("schema", "data")
    assert code == 0, err
    assert "visits.user_id" in out + err
    assert run("schema", "data/users.xlsx")[0] == 0
