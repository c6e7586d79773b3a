"""The sample gate of examples/ci: the very commands of it fail for a planted leak only."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from xml.etree import ElementTree

import pandas as pd
import pytest

from skeval import SuiteResult
from skeval.datasets import make_mixed
from skeval.results import Release, assert_release
from tests.snapshots import raises

CI = Path(__file__).parent.parent / "examples" / "ci"
N_ROWS, N_COPIES = 400, 20


@pytest.fixture
def gate(tmp_path, monkeypatch, run):
    """Go to a folder with the data and the policy; return what runs the commands of the file."""
    monkeypatch.chdir(tmp_path)
    tables = [make_mixed(N_ROWS, random_state=seed) for seed in (3, 4, 5)]
    for name, table in zip(("train", "holdout", "synthetic"), tables, strict=True):
        table.to_csv(f"{name}.csv", index=False)
    (tmp_path / "policy.toml").write_bytes((CI / "policy.toml").read_bytes())
    text = (CI / "release-gate.yml").read_text(encoding="utf-8")
    commands = re.findall(r"^ +(skeval (?:.*\\\n)*.*)$", text, re.MULTILINE)
    assert len(commands) == 1

    def run_all():
        words = [shlex.split(command.replace("\\\n", " ")) for command in commands]
        return [run(*arguments)[0] for _, *arguments in words]

    return run_all


@pytest.mark.slow
def test_fresh_rows_pass(gate):
    assert gate() == [0]
    suite = ElementTree.parse("gate.xml").getroot()
    assert (suite.attrib["tests"], suite.attrib["failures"]) == ("5", "0")
    assert json.loads(Path("scores.json").read_text())["verdict"]["alarm"] is False
    assert_release(SuiteResult.from_json("scores.json"), "policy.toml")


@pytest.mark.slow
def test_a_planted_leak_fails(gate):
    copies = pd.read_csv("train.csv").iloc[:N_COPIES]
    fresh = pd.read_csv("synthetic.csv").iloc[N_COPIES:]
    pd.concat([copies, fresh]).to_csv("synthetic.csv", index=False)
    assert gate() == [1]
    failed = [
        case.attrib["name"] for case in ElementTree.parse("gate.xml").iter("testcase") if len(case)
    ]
    assert failed == ["no leak found", "exact_matches <= baseline + 0.001"]
    with raises(AssertionError):
        assert_release(SuiteResult.from_json("scores.json"), "policy.toml")


METRICS = ("--metrics", "ks_complement,exact_matches,dcr_share")
STATED = ("--release", "release.toml", "--junit", "gate.xml", "--output", "scores.json")


@pytest.mark.usefixtures("gate")
@pytest.mark.parametrize("n_copies", [0, N_COPIES])
@pytest.mark.slow
def test_thresholds_of_a_release_are_a_gate(run, n_copies):
    Path("release.toml").write_bytes((CI / "release.toml").read_bytes())
    table, copies = pd.read_csv("synthetic.csv"), pd.read_csv("train.csv").iloc[:n_copies]
    pd.concat([copies, table.iloc[n_copies:]]).to_csv("synthetic.csv", index=False)
    files = ("train.csv", "holdout.csv", "synthetic.csv")
    code, _, _ = run("evaluate", *files, *METRICS, *STATED)
    assert bool(code) == bool(n_copies)
    results = SuiteResult.from_json("scores.json")
    assert results.provenance.release == Release.from_toml("release.toml")
    cases = ElementTree.parse("gate.xml").iter("testcase")
    failed = [case.attrib["name"] for case in cases if len(case)]
    assert failed == (["no leak found", "exact_matches <= 0.001"] if n_copies else [])
    if n_copies:
        with raises(AssertionError):
            assert_release(results)
    else:
        assert_release(results)
