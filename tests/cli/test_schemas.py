"""Kinds of columns on the command line: `schema`, dialects of CSV files, and what is said."""

from __future__ import annotations

import json

import pandas as pd
import pytest

from skeval import SuiteResult
from skeval.datasets import make_relational


@pytest.mark.slow
def test_schema_is_printed_written_and_read(folder, run, monkeypatch):
    monkeypatch.setenv("COLUMNS", "160")  # a line a column, however narrow the terminal
    table = pd.read_csv("train.csv")
    table.assign(mrn=range(100, 220), zip=[f"{i % 40:05}" for i in range(120)]).to_csv(
        "codes.csv", index=False
    )
    code, out, err = run("schema", "codes.csv", "-o", "kinds.json")
    assert code == 0
    lines = {line.split()[0]: line for line in out.splitlines() if line.strip()}
    assert "may be a key, because every integer occurs once" in lines["mrn"]
    assert "codes with leading zeros" in lines["zip"]
    assert "may be categorical, because it has only" in lines["visits"]
    assert "Saved: kinds.json" in err
    kinds = json.loads((folder / "kinds.json").read_text())
    assert kinds["mrn"] == "continuous"
    (folder / "kinds.json").write_text(json.dumps({**kinds, "mrn": "id"}))
    arguments = ("--suite", "quality", "--schema", "kinds.json", "-o", "s.json")
    code, _, err = run("evaluate", "codes.csv", "codes.csv", *arguments)
    assert code == 0
    assert "note: columns: " in err
    assert "mrn" not in err
    assert "mrn" not in SuiteResult.from_json("s.json")["column_shapes/ks_complement"].details


def test_doubts_about_codes_are_accepted_by_one_option(folder, run):
    pd.DataFrame(
        {
            "sex": [1, 2] * 30,
            "stage": [1, 2, 3, 4] * 15,
            "visits": range(60),
            "dose": [0.5, 1.5] * 30,
            "kept": [0, 1] * 30,
        }
    ).to_csv("codes.csv", index=False)
    (folder / "known.json").write_text(json.dumps({"kept": "continuous"}))
    accepted = ("--accept-doubts", "--schema", "known.json", "-o", "kinds.json")
    assert run("schema", "codes.csv", *accepted)[0] == 0
    assert json.loads((folder / "kinds.json").read_text()) == {
        "sex": "categorical",
        "stage": "categorical",
        "visits": "continuous",
        "dose": "continuous",
        "kept": "continuous",
    }


@pytest.fixture
def codes(folder):
    stage = {"stage": [1, 2, 3, 4] * 15, "grade": [1, 2, 3] * 20, "left": [0, 1] * 30}
    table = pd.DataFrame({**stage, "age": range(20, 80)})
    table.to_csv("codes.csv", index=False)
    return table


def kinds_of_scores(path):
    return {one.column: one.kind for one in SuiteResult.from_json(path).provenance.columns}


def test_what_is_proposed_is_written_beside_what_is_taken(codes, run, folder):
    assert run("schema", "codes.csv", "-o", "kinds.json")[0] == 0
    said = json.loads((folder / "kinds.json").read_text())
    assert said["left"] == "categorical"
    assert said["stage"] == {
        "kind": "continuous",
        "proposed": "categorical",
        "doubt": "may be categorical, because it has only 4 distinct integers",
    }
    said["stage"]["kind"] = "categorical"
    (folder / "kinds.json").write_text(json.dumps(said))
    arguments = ("--suite", "quality", "--schema", "kinds.json", "-o", "s.json")
    assert run("evaluate", "codes.csv", "codes.csv", *arguments)[0] == 0
    kinds = kinds_of_scores("s.json")
    assert (kinds["stage"], kinds["grade"]) == ("categorical", "continuous")


@pytest.mark.parametrize(
    ("options", "stage", "grade", "left"),
    [
        ((), "continuous", "continuous", "categorical"),
        (("--accept-doubts",), "categorical", "categorical", "categorical"),
        (("--accept-doubts", "--numeric", "grade, left"), "categorical", *["continuous"] * 2),
        (("--categorical", "grade"), "continuous", "categorical", "categorical"),
    ],
)
def test_kinds_are_stated_by_options(codes, run, options, stage, grade, left):
    arguments = ("--suite", "quality", *options, "-o", "s.json")
    assert run("evaluate", "codes.csv", "codes.csv", *arguments)[0] == 0
    kinds = kinds_of_scores("s.json")
    assert (kinds["stage"], kinds["grade"], kinds["left"]) == (stage, grade, left)


@pytest.mark.slow
def test_a_report_accepts_doubts_too(codes, run):
    arguments = ("--suite", "quality", "--accept-doubts", "-o", "r.html")
    _, _, err = run("report", "codes.csv", "codes.csv", *arguments)
    assert "3 categorical" in err
    assert "may be categorical" not in err


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (
            ("--categorical", "stage,nil"),
            "--categorical and --numeric name nil, not in the training",
        ),
        (("--categorical", "stage", "--numeric", "stage"), "both name stage. Remove it"),
    ],
)
def test_kinds_of_no_column_and_of_two_kinds(codes, run, options, said):
    code, _, err = run("evaluate", "codes.csv", "codes.csv", *options)
    assert code == 2
    assert said in err


def test_kinds_of_folders_are_stated_by_files(folder, run):
    (folder / "real").mkdir()
    pd.DataFrame({"a": [1, 2]}).to_csv("real/a.csv", index=False)
    for arguments in (("evaluate", "real", "real"), ("schema", "real")):
        code, _, err = run(*arguments, "--accept-doubts", "--numeric", "a")
        assert code == 2
        assert "--accept-doubts and --numeric cannot be used with a folder" in err


@pytest.mark.slow
def test_doubts_are_said_with_every_evaluation(folder, run):
    table = pd.read_csv("train.csv").assign(mrn=range(120))
    table.to_csv("train.csv", index=False)
    for command in (("evaluate", "--suite", "quality"), ("report", "-o", "r.html")):
        _, _, err = run(command[0], "train.csv", "train.csv", *command[1:])
        assert "mrn is continuous (may be a key, because every integer occurs once)" in err


@pytest.mark.slow
def test_schema_of_a_folder(folder, run):
    data = make_relational(30, random_state=0)
    (folder / "real").mkdir()
    for name, table in data.items():
        table.to_csv(folder / "real" / f"{name}.csv", index=False)
    code, out, _ = run("schema", "real", "-o", "schema.json")
    assert code == 0
    assert "people.person" in out
    assert (
        run("evaluate", "real", "real", "--suite", "diagnostic", "--schema", "schema.json")[0] == 0
    )


@pytest.mark.slow
def test_dialects_are_seen_and_said(folder, run):
    table = pd.read_csv("train.csv").rename(columns={"city": "Größe"})
    table.to_csv("european.csv", index=False, sep=";", decimal=",", encoding="cp1252")
    table.to_csv("plain.csv", index=False)
    code, _, err = run(
        "evaluate", "plain.csv", "european.csv", "--suite", "quality", "-o", "a.json"
    )
    assert code == 0, err
    assert (
        "european.csv was read with cells separated by semicolons, the comma as decimal sign, the "
        "encoding cp1252" in err
    )
    assert SuiteResult.from_json("a.json")["column_shapes/ks_complement"].value == 1.0
    given = ("--sep", ";", "--decimal", ",", "--encoding", "latin-1")
    code, _, err = run("schema", "european.csv", *given)
    assert code == 0
    assert "was read with" not in err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--sep", ";;"), "--sep"),
        (("--decimal", ";"), "--decimal"),
        (("--encoding", "klingon"), "got klingon"),
        (("--sep", ",", "--decimal", ","), "sep and decimal"),
        (("-o", "train.csv"), "would overwrite the input train.csv"),
        (("-o", "kinds.txt"), "must end in .json"),
    ],
)
def test_faults(folder, run, arguments, message):
    code, _, err = run("schema", "train.csv", *arguments)
    assert code == 2
    assert message in err
