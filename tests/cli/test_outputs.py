"""No command writes to what it reads: files in folders, policies and schemas, by whatever name."""

from __future__ import annotations

import os

import pytest

from skeval.datasets import make_mixed, make_relational
from skeval.exceptions import InvalidParameterError
from tests.snapshots import raises

DESTROYS, TWICE, JOINS = "would overwrite the input", "are the same file", "read as one of its"


@pytest.fixture
def folders(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for seed, name in enumerate(("d1", "d2")):
        (tmp_path / name).mkdir()
        for table, rows in make_relational(20, random_state=seed).items():
            rows.to_csv(tmp_path / name / f"{table}.csv", index=False)
    return tmp_path


def contents(folder):
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("command", ["evaluate", "report"])
def test_tables_in_folders(folders, run, command):
    before = contents(folders)
    table = next(folders.glob("d1/*.csv"))
    ending = {"evaluate": "csv", "report": "pdf"}[command]
    (folders / f"hard.{ending}").hardlink_to(table)
    (folders / f"soft.{ending}").symlink_to(table)
    outputs = [f"hard.{ending}", f"soft.{ending}"]
    if command == "evaluate":
        outputs += [f"d1/{table.name}", f"d2/../d1/./{table.name}", table]
    for output in outputs:
        code, _, err = run(command, "d1", "d2", "-o", output)
        assert code == 2
        assert DESTROYS in err
    assert {path: path.read_bytes() for path in before} == before


def test_files_that_would_become_tables(folders, run):
    for output in ("d1/scores.csv", "d2/scores.json"):
        code, _, err = run("evaluate", "d1", "d2", "-o", output)
        assert code == 2
        assert JOINS in err


def test_in_folders_of_parts_nothing_is_written(tmp_path):
    from skeval.cli.inputs import check_apart

    parts = tmp_path / "parts"
    parts.mkdir()
    make_mixed(20, random_state=0).to_parquet(parts / "part-0.parquet")
    with raises(InvalidParameterError):
        check_apart([parts / "report.pdf"], [parts])


def test_reports_may_lie_beside_tables(folders):
    from skeval.cli.inputs import check_apart

    check_apart([folders / "d1" / "report.pdf", folders / "scores.csv"], [folders / "d1"])


@pytest.mark.parametrize("command", ["evaluate", "report"])
def test_junit_and_what_is_read(folder, run, command):
    policy, schema = folder / "p.xml", folder / "s.xml"
    policy.write_text('fail_on = ["leak"]\n')
    schema.write_text("{}")
    (folder / "link.xml").symlink_to("synthetic.csv")
    before = contents(folder)
    read = ("train.csv", "holdout.csv", "synthetic.csv", "--policy", "p.xml", "--schema", "s.xml")
    for junit in ("p.xml", "./s.xml", "link.xml"):
        code, _, err = run(command, *read, "--junit", junit)
        assert code == 2
        assert DESTROYS in err
    assert contents(folder) == before


@pytest.mark.parametrize(("command", "ending"), [("evaluate", "csv"), ("report", "html")])
def test_junit_and_the_output(folder, run, command, ending):
    (folder / "out.xml").symlink_to(f"out.{ending}")
    read = ("train.csv", "synthetic.csv", "--fail-on", "leak")
    code, _, err = run(command, *read, "-o", f"out.{ending}", "--junit", "out.xml")
    assert code == 2
    assert TWICE in err


def test_saved_scores(folder, run):
    scores = folder / "scores.json"
    assert (
        run("evaluate", "train.csv", "synthetic.csv", "--metrics", "KSComplement", "-o", scores)[0]
        == 0
    )
    os.link(scores, "hard.json")
    code, _, err = run("compare", "scores.json", "scores.json", "-o", "hard.json")
    assert code == 2
    assert DESTROYS in err
    (folder / "page.html").symlink_to("scores.json")
    code, _, err = run("render", "scores.json", "-o", "page.html")
    assert code == 2
    assert DESTROYS in err
