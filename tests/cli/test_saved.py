"""Saved scores: drawn without their tables, and checked against files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from skeval import MetricSuite
from skeval.datasets import make_mixed
from skeval.fidelity import TVComplement

FILES = ("train.csv", "holdout.csv", "synthetic.csv")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Go to a folder with three tables and scores of them."""
    monkeypatch.chdir(tmp_path)
    tables = [make_mixed(80, random_state=seed) for seed in range(3)]
    for name, table in zip(FILES, tables, strict=True):
        table.to_csv(name, index=False)
    suite = MetricSuite([("tv", TVComplement())]).fit(*tables[:2])
    result = suite.evaluate(tables[2], date="2026-11-22")
    roles = ("train", "holdout", "synthetic")
    result.provenance = result.provenance.with_files(dict(zip(roles, FILES, strict=True)))
    result.to_json("scores.json")
    return tmp_path


def test_files_are_known_again(folder, run):
    code, out, err = run("verify", "scores.json", *FILES)
    assert code == 0
    assert out.count("the same bytes") == 3
    assert "2026-11-22" in err


def test_another_file_ends_with_code_one_and_its_name(folder, run):
    make_mixed(80, random_state=9).to_csv("other.csv", index=False)
    code, out, err = run("verify", "scores.json", "other.csv", "train.csv")
    assert code == 1
    assert "not among the inputs of scores.json: other.csv" in err
    assert out.count("not looked at") == 2


def test_other_versions_are_named(folder, run):
    content = json.loads((folder / "scores.json").read_text())
    content["provenance"]["packages"]["numpy"] = "1.0"
    (folder / "scores.json").write_text(json.dumps(content))
    assert "numpy 1.0, here" in run("verify", "scores.json", "train.csv")[2]


@pytest.mark.slow
def test_what_cannot_be_verified_says_so(folder, run):
    assert run("verify", "scores.json", "none.csv")[0] == 2
    content = json.loads((folder / "scores.json").read_text())
    (folder / "scores.json").write_text(json.dumps({**content, "provenance": None}))
    code, _, err = run("verify", "scores.json", "train.csv")
    assert code == 2
    assert "says nothing of where" in err
    (folder / "scores.json").write_text(json.dumps({**content, "schema_version": 0}))
    assert "version 0 of their schema" in run("verify", "scores.json", "train.csv")[2]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["report.html", "report.pdf"])
def test_a_report_is_drawn_of_scores_alone(name, folder, run):
    for file in FILES:
        (folder / file).unlink()
    code, _, err = run("render", "scores.json", "-o", name, "--title", "Mine")
    assert code == 0
    assert name in err
    assert (folder / name).stat().st_size > 2_000


def test_render_never_overwrites_its_input(folder, run):
    (folder / "scores.html").write_text("not scores")
    assert run("render", "scores.html", "-o", "scores.html")[0] == 2
    code, _, err = run("render", "train.csv", "-o", "a.html")
    assert code == 2
    assert "holds no scores" in err
    assert "there is no file none.json" in run("render", "none.json")[2]


@pytest.mark.slow
def test_evaluate_writes_names_hashes_and_the_date(folder, run):
    command = ("evaluate", *FILES, "--suite", "quality", "--date", "2026-01-02", "-o", "q.json")
    assert run(*command)[0] == 0
    first = (folder / "q.json").read_bytes()
    provenance = json.loads(first)["provenance"]
    assert provenance["date"] == "2026-01-02"
    assert [one["file"] for one in provenance["inputs"]] == list(FILES)
    assert run(*command)[0] == 0
    assert (folder / "q.json").read_bytes() == first
    assert run(*command, "--no-hashes")[0] == 0
    train, _, synthetic = json.loads((folder / "q.json").read_text())["provenance"]["inputs"]
    assert (train["cells"], train["file_bytes"], train["file"]) == ("", "", "train.csv")
    assert synthetic["cells"]


class TestSuites:
    """A release measured by a saved suite: no real table is needed."""

    @pytest.fixture
    def suite(self, folder):
        tables = [make_mixed(80, random_state=seed) for seed in range(2)]
        return MetricSuite([("tv", TVComplement())]).fit(*tables)

    @pytest.mark.parametrize("rows", [False, True])
    def test_a_release(self, suite, run, rows):
        suite.save("suite.file", rows=rows)
        flag = ["--rows"] if rows else []
        given = ("--saved", "suite.file", *flag, "-o", "out.json", "--require", "tv > 0")
        code, out, err = run("evaluate", "synthetic.csv", *given)
        assert (code, "tv" in out) == (0, True), err
        saved = json.loads(Path("out.json").read_text())
        assert saved["provenance"]["inputs"][-1]["file"] == "synthetic.csv"

    def test_rows_are_asked_for(self, suite, run):
        suite.save("rows.zip", rows=True)
        suite.save("suite.json")
        code, _, err = run("evaluate", "synthetic.csv", "--saved", "rows.zip")
        assert code == 2
        assert "can run any code when it is loaded" in err
        assert "load it with --rows" in err
        code, _, err = run("evaluate", "synthetic.csv", "--saved", "suite.json", "--rows")
        assert code == 2
        assert "leave --rows out" in err

    @pytest.mark.parametrize(
        ("arguments", "said"),
        [
            (("train.csv", "synthetic.csv", "--saved", "suite.json"), "takes one file"),
            (("synthetic.csv", "--saved", "suite.json", "--target", "plan"), "--target: --saved"),
            (("synthetic.csv", "--saved", "nosuch.json"), "no file nosuch.json"),
            (("synthetic.csv", "--saved", "scores.json"), "holds no suite that was saved"),
            (("train.csv", "synthetic.csv", "--rows"), "--rows needs --saved"),
            (("synthetic.csv", "--saved", "suite.json", "-o", "suite.json"), "would destroy"),
        ],
    )
    def test_what_does_not_fit(self, suite, run, arguments, said):
        suite.save("suite.json")
        code, _, err = run("evaluate", *arguments)
        assert code == 2
        assert said in err
